/* Counters: where they are kept, and their sums. */
#include "stat.h"

#include "err.h"
#include "lock.h"
#include "util.h"

#include <ctype.h>
#include <hotlane.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each has a cache line of its own, since the receive thread and callers count at the same time. */
struct rank_counter {
    HL_ALIGNED_LINE hl_a64 value;
};

static struct rank_counter rank_counters[HL_STAT_RANK_COUNT];
static struct hl_mutex lanes_lock = HL_MUTEX_INIT;
static const struct hl_stat_lane *lanes[HL_STAT_LANES] HL_GUARDED_BY(lanes_lock);
static int lane_count HL_GUARDED_BY(lanes_lock);
static uint64_t retired[HL_STAT_LANE_COUNT] HL_GUARDED_BY(lanes_lock);
static uint64_t retired_count HL_GUARDED_BY(lanes_lock);
static struct hl_mutex kept_lock = HL_MUTEX_INIT;
static uint64_t (*kept[HL_STAT_RANK_COUNT])(void) HL_GUARDED_BY(kept_lock);
static int (*get_above)(const char *name, uint64_t *value); /* set while opening */

static const struct {
    const char *name, *help;
} rows[] = {{"lanes", "lanes that were opened"},
#define ROW(name, help) {#name, help},
            HL_STAT_LANE_ROWS(ROW) HL_STAT_RANK_ROWS(ROW)
#undef ROW
};

void hl_stat_rank_add(enum hl_stat_rank_row row, uint64_t by)
{
    /* relaxed: only a count; it orders nothing. */
    hl_a64_add_relaxed(&rank_counters[row].value, by);
}

void hl_stat_lane_enrol(const struct hl_stat_lane *s)
{
    hl_mutex_lock(&lanes_lock);
    bool known = lane_count == HL_STAT_LANES;
    for (int i = 0; i < lane_count && !known; i++) {
        known = lanes[i] == s;
    }
    if (!known) {
        lanes[lane_count++] = s;
    }
    hl_mutex_unlock(&lanes_lock);
}

void hl_stat_lane_retire(const struct hl_stat_lane *s)
{
    hl_mutex_lock(&lanes_lock);
    for (int i = 0; i < lane_count; i++) {
        if (lanes[i] != s) {
            continue;
        }
        for (int row = 0; row < HL_STAT_LANE_COUNT; row++) {
            retired[row] +=
                hl_a64_load_relaxed(&s->at[row]); /* relaxed: nothing is counted there any more. */
        }
        retired_count++;
        lanes[i] = lanes[--lane_count];
        break;
    }
    hl_mutex_unlock(&lanes_lock);
}

/* Sum of a lane row, or the number of lanes for row -1. */
static uint64_t lane_sum(int row)
{
    hl_mutex_lock(&lanes_lock);
    uint64_t sum = row < 0 ? retired_count + (uint64_t)lane_count : retired[row];
    for (int i = 0; i < lane_count && row >= 0; i++) {
        sum += hl_a64_load_relaxed(&lanes[i]->at[row]); /* relaxed: a recent value. */
    }
    hl_mutex_unlock(&lanes_lock);
    return sum;
}

/* What the row's module has counted, where it counts by itself. */
static uint64_t kept_value(int row) HL_REQUIRES(kept_lock)
{
    return kept[row] != NULL ? kept[row]() : 0;
}

void hl_stat_keep(enum hl_stat_rank_row row, uint64_t (*get)(void))
{
    hl_mutex_lock(&kept_lock);
    if (get == NULL) {
        hl_stat_rank_add(row, kept_value(row));
    }
    kept[row] = get;
    hl_mutex_unlock(&kept_lock);
}

static uint64_t counter_value(int row)
{
    if (row <= HL_STAT_LANE_COUNT) {
        return lane_sum(row - 1);
    }
    row -= 1 + HL_STAT_LANE_COUNT;
    hl_mutex_lock(&kept_lock);
    uint64_t value = kept_value(row);
    value += hl_a64_load_relaxed(&rank_counters[row].value); /* relaxed: a recent value. */
    hl_mutex_unlock(&kept_lock);
    return value;
}

void hl_stat_values(uint64_t *out)
{
    for (int i = 0; i < hl_stat_count(); i++) {
        out[i] = counter_value(i);
    }
}

/* Value of a counter of one lane; `name` is "row:number". HL_ERR_ARG without a text: there is none. */
static int get_of_lane(const char *name, uint64_t *value)
{
    size_t len = strcspn(name, ":");
    char *end;
    long lane =
        name[len] == ':' && isdigit((unsigned char)name[len + 1]) ? strtol(name + len + 1, &end, 10) : -1;
    if (lane < 0 || *end != '\0') {
        return HL_ERR_ARG;
    }
    int rc = HL_ERR_ARG;
    hl_mutex_lock(&lanes_lock);
    for (int row = 0; row < HL_STAT_LANE_COUNT && lane < lane_count; row++) {
        const char *known = rows[row + 1].name; /* rows[0] is the number of lanes */
        if (strncmp(known, name, len) == 0 && known[len] == '\0') {
            *value = hl_a64_load_relaxed(&lanes[lane]->at[row]); /* relaxed: a recent value. */
            rc = 0;
        }
    }
    hl_mutex_unlock(&lanes_lock);
    return rc;
}

int hl_stat_get(const char *name, uint64_t *value)
{
    for (int i = 0; i < hl_stat_count(); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *value = counter_value(i);
            return 0;
        }
    }
    int rc = get_of_lane(name, value);
    return rc != 0 && get_above != NULL ? get_above(name, value) : rc;
}

void hl_stat_ask_too(int (*get)(const char *name, uint64_t *value))
{
    get_above = get;
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

void hl_stat_words(char *out, size_t cap)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < hl_stat_count(); i++) {
        uint64_t value = counter_value(i);
        if (value != 0 && used + 64 < cap) {
            used +=
                (size_t)snprintf(out + used, cap - used, " %s=%llu", rows[i].name, (unsigned long long)value);
        }
    }
    if (used == 0) {
        snprintf(out, cap, " all zero");
    }
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
