/* Counters: where they are kept, their sums, the line at the end. */
#include "stat.h"

#include "conf.h"
#include "err.h"
#include "lock.h"
#include "log.h"
#include "util.h"

#include <hotlane.h>
#include <stdio.h>
#include <string.h>

#define LANES_MAX 64

/* One line each: the receive thread and callers count at the same time. */
struct rank_counter {
    HL_ALIGNED_LINE hl_a64 value;
};

static struct rank_counter rank_counters[HL_STAT_RANK_COUNT];
static hl_aptr lane_counters[LANES_MAX];
static hl_a32 lane_count;
static struct hl_mutex enrol_lock = HL_MUTEX_INIT;

static const struct {
    const char *name, *help;
} rows[] = {{"lanes", "lanes that were opened"},
#define ROW(name, help) {#name, help},
            HL_STAT_LANE_ROWS(ROW) HL_STAT_RANK_ROWS(ROW)
#undef ROW
};

void hl_stat_rank_add(enum hl_stat_rank_row row, uint64_t by)
{
    /* relaxed: a count orders nothing. */
    hl_a64_add_relaxed(&rank_counters[row].value, by);
}

void hl_stat_lane_enrol(const struct hl_stat_lane *s)
{
    hl_mutex_lock(&enrol_lock);
    uint32_t n = hl_a32_load_relaxed(&lane_count); /* relaxed: changed under the lock only. */
    bool known = n == LANES_MAX;
    for (uint32_t i = 0; i < n && !known; i++) {
        known = hl_aptr_load_relaxed(&lane_counters[i]) == s; /* relaxed: as above. */
    }
    if (!known) {
        hl_aptr_store_relaxed(&lane_counters[n], (void *)(uintptr_t)s); /* relaxed: published below. */
        hl_a32_store_release(&lane_count, n + 1); /* release: the pointer; pairs with lane_sum. */
    }
    hl_mutex_unlock(&enrol_lock);
}

static uint64_t lane_sum(int row)
{
    uint64_t sum = 0;
    uint32_t n = hl_a32_load_acquire(&lane_count); /* acquire: the pointers; pairs with hl_stat_lane_enrol. */
    for (uint32_t i = 0; i < n; i++) {
        const struct hl_stat_lane *s = hl_aptr_load_relaxed(&lane_counters[i]); /* relaxed: never changes. */
        sum += hl_a64_load_relaxed(&s->at[row]);                                /* relaxed: a recent value. */
    }
    return sum;
}

static uint64_t value_of(int row)
{
    if (row == 0) {
        return hl_a32_load_relaxed(&lane_count); /* relaxed: a recent value. */
    }
    if (row <= HL_STAT_LANE_COUNT) {
        return lane_sum(row - 1);
    }
    return hl_a64_load_relaxed(&rank_counters[row - 1 - HL_STAT_LANE_COUNT].value); /* relaxed: the same. */
}

int hl_stat_get(const char *name, uint64_t *value)
{
    for (int i = 0; i < hl_stat_count(); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *value = value_of(i);
            return 0;
        }
    }
    return HL_ERR_ARG;
}

int hl_stat_count(void)
{
    return (int)HL_COUNT_OF(rows);
}

const char *hl_stat_name(int i)
{
    return rows[i].name;
}

const char *hl_stat_help(int i)
{
    return rows[i].help;
}

void hl_stat_print(void)
{
    if (!hl_conf.stats) {
        return;
    }
    char line[1024];
    size_t used = 0;
    for (int i = 0; i < hl_stat_count(); i++) {
        uint64_t value = value_of(i);
        if (value != 0 && used + 64 < sizeof line) {
            used += (size_t)snprintf(line + used, sizeof line - used, " %s=%llu", rows[i].name,
                                     (unsigned long long)value);
        }
    }
    line[used] = '\0';
    hl_log(HL_LOG_ERROR, "counters:%s", used == 0 ? " all zero" : line);
}

HL_PUBLIC int hotlane_counter(const char *name, long long *value)
{
    uint64_t counted;
    if (name == NULL || value == NULL || hl_stat_get(name, &counted) != 0) {
        return -1;
    }
    *value = (long long)counted;
    return 0;
}
