/* All living windows by id, for records that arrive: a late record of a freed window finds none. */
#include "win.h"

#include "err.h"
#include "lock.h"

#define BUCKETS 256

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_win *buckets[BUCKETS]; /* chains through `next`; guarded by lock */

static struct hl_win **bucket_of(uint64_t id)
{
    return &buckets[hl_mix64(id) % BUCKETS];
}

void hl_win_table_add(struct hl_win *w)
{
    struct hl_win **b = bucket_of(w->id);
    hl_mutex_lock(&lock);
    w->next = *b;
    *b = w;
    hl_mutex_unlock(&lock);
}

void hl_win_table_remove(struct hl_win *w)
{
    hl_mutex_lock(&lock);
    for (struct hl_win **at = bucket_of(w->id); *at != NULL; at = &(*at)->next) {
        if (*at == w) {
            *at = w->next;
            break;
        }
    }
    hl_lockq_fini(&w->lockq);
    hl_mutex_unlock(&lock);
}

int hl_win_table_with(uint64_t id, int (*fn)(struct hl_win *w, void *arg), void *arg)
{
    hl_mutex_lock(&lock);
    struct hl_win *w = *bucket_of(id);
    while (w != NULL && w->id != id) {
        w = w->next;
    }
    int rc = w != NULL ? fn(w, arg) : HL_ERR_WIN;
    hl_mutex_unlock(&lock);
    return rc;
}

void hl_win_table_each(void (*fn)(struct hl_win *w, void *arg), void *arg)
{
    hl_mutex_lock(&lock);
    for (int i = 0; i < BUCKETS; i++) {
        for (struct hl_win *w = buckets[i]; w != NULL; w = w->next) {
            fn(w, arg);
        }
    }
    hl_mutex_unlock(&lock);
}

struct overlay {
    uint64_t from, len;
};

static void end_rows_of_overlaid(struct hl_win *w, void *arg)
{
    const struct overlay *o = arg;
    uint64_t mine = (uint64_t)(uintptr_t)w->base;
    if (o->from < mine + w->bytes && mine < o->from + o->len) {
        hl_near_end_rows(&hl_win_ctl(w)->acc);
    }
}

void hl_win_overlay(const void *base, uint64_t len, int owner)
{
    if (owner >= 0 && owner != hl_job.node_rank) {
        hl_near_overlay(owner);
        return;
    }
    hl_win_table_each(end_rows_of_overlaid, &(struct overlay){(uint64_t)(uintptr_t)base, len});
}

struct hl_win *hl_win_table_of_word(const void *word)
{
    struct hl_win *found = NULL;
    hl_mutex_lock(&lock);
    for (int i = 0; i < BUCKETS && found == NULL; i++) {
        for (found = buckets[i]; found != NULL; found = found->next) {
            size_t at = (uintptr_t)word - (uintptr_t)found->errors;
            if (found->errors != NULL && at < (size_t)found->size * sizeof *found->errors) {
                break;
            }
        }
    }
    hl_mutex_unlock(&lock);
    return found;
}

static void bereave_window(struct hl_win *w, void *arg)
{
    int world = *(const int *)arg, target = hl_group_rank(w->comm->peers, world);
    if (target >= 0) {
        hl_win_bereave_lock(w, world);
    }
    if (target >= 0 && !hl_target_is_far(&w->targets[target])) {
        hl_a8_store_relaxed(&w->news, 1);  /* relaxed: a flush that misses it counts as earlier. */
        hl_a8_store_relaxed(&w->waits, 1); /* relaxed: a flush that misses it counts as earlier. */
        hl_epoch_flush_is_more(&w->epoch);
    }
}

void hl_win_bereave(int world)
{
    hl_win_table_each(bereave_window, &world);
}
