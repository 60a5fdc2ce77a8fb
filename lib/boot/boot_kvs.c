/* The node's cache: values that its ranks have fetched or put. */
#include "boot_kvs.h"
#include "err.h"
#include "stat.h"
#include "util.h"

#include <string.h>
#include <time.h>

enum { STORED = 1, WHO_SHIFT = 1, WHO_BITS = 23, VERSION_SHIFT = WHO_SHIFT + WHO_BITS };

static int claimer_of(uint64_t state)
{
    return (int)(state >> WHO_SHIFT & ((1u << WHO_BITS) - 1)) - 1;
}

static uint64_t next_version(uint64_t state)
{
    return (state >> VERSION_SHIFT) + 1;
}

/* Claims the slot if its state is still `seen`; *mine is its new state. */
static bool claim_slot(const struct hl_kvs_cache *s, struct hl_kvs_slot *slot, uint64_t seen, uint64_t *mine)
{
    *mine = next_version(seen) << VERSION_SHIFT | (uint64_t)(s->me + 1) << WHO_SHIFT;
    /* acquire: comes after the last claimer's bytes; pairs with the release in store_value. */
    if (!hl_a64_cas_acquire(&slot->state, &seen, *mine)) {
        return false;
    }
    hl_fence_release(); /* the claim is seen before the bytes; pairs with the fence in copy_cached_value. */
    return true;
}

/* Ends a claim and stores the value; one that is too long is left out. */
static void store_value(struct hl_kvs_slot *slot, uint64_t mine, const char *key, const void *data,
                        size_t len)
{
    size_t key_len = strlen(key);
    if (len > HL_KVS_VALUE || key_len >= HL_KVS_KEY) {
        key_len = len = 0;
    }
    memcpy(slot->key, key, key_len);
    slot->key[key_len] = 0;
    memcpy(slot->value, data, len);
    slot->len = (uint32_t)len;
    /* release: publishes the value; pairs with the acquire in hl_kvs_cache_get. */
    hl_a64_store_release(&slot->state, mine >> VERSION_SHIFT << VERSION_SHIFT | STORED);
}

/* Copies the value if it is that of `key`. Returns 0, HL_ERR_TRUNCATE, or HL_ERR_FOUND_NONE: the slot has
 * another key's value, or was changed during the copy. */
static int copy_cached_value(struct hl_kvs_slot *slot, uint64_t seen, const char *key, void *data, size_t cap,
                             size_t *len)
{
    size_t n = HL_ONCE(slot->len);
    bool right = strncmp(slot->key, key, HL_KVS_KEY) == 0 && n <= HL_KVS_VALUE;
    if (right) {
        memcpy(data, slot->value, hl_min_size(n, cap));
    }
    hl_fence_acquire(); /* the bytes are read before the second look; pairs with the fence in claim_slot. */
    /* relaxed: the fence orders it. */
    if (!right || hl_a64_load_relaxed(&slot->state) != seen) {
        return HL_ERR_FOUND_NONE;
    }
    *len = n;
    if (n > cap) {
        return hl_err_say(HL_ERR_TRUNCATE, "value of key %s: %zu bytes, room for %zu", key, n, cap);
    }
    hl_stat_rank_add(HL_STAT_RANK_shelf_gets, 1);
    return 0;
}

/* Waits a little for the claimer. False: it has been waited for long enough. */
static bool await_slot(const struct hl_kvs_cache *s, uint64_t begin)
{
    struct timespec t = {0, 50000};
    nanosleep(&t, NULL);
    return hl_now_ns() - begin < s->timeout_ns;
}

/* What a caller wants: the arguments of hl_kvs_cache_get. */
struct kvs_wish {
    int rank;
    const char *key;
    void *data;
    size_t cap, *len;
    hl_kvs_ask_fn *ask;
};

static int ask_for(const struct kvs_wish *w)
{
    return w->ask(w->rank, w->key, w->data, w->cap, w->len);
}

/* One look: copies the value, or asks for it if nobody does. HL_ERR_AGAIN: somebody does; `doubts`: look
 * whether he still lives. */
static int look_in_slot(const struct hl_kvs_cache *s, const struct kvs_wish *w, bool doubts)
{
    struct hl_kvs_slot *slot = &s->slot[w->rank];
    /* acquire: the value is stored; pairs with the release in store_value. */
    uint64_t mine, seen = hl_a64_load_acquire(&slot->state);
    int who = claimer_of(seen);
    int rc = who < 0 ? copy_cached_value(slot, seen, w->key, w->data, w->cap, w->len) : HL_ERR_FOUND_NONE;
    if (rc != HL_ERR_FOUND_NONE) {
        return rc;
    }
    if ((who >= 0 && (!doubts || s->lives(who))) || !claim_slot(s, slot, seen, &mine)) {
        return HL_ERR_AGAIN;
    }
    rc = ask_for(w);
    store_value(slot, mine, rc ? "" : w->key, w->data, rc ? 0 : *w->len);
    return rc;
}

int hl_kvs_cache_get(struct hl_kvs_cache *s, int rank, const char *key, void *data, size_t cap, size_t *len,
                     hl_kvs_ask_fn *ask)
{
    const struct kvs_wish w = {rank, key, data, cap, len, ask};
    uint64_t looks = 0, begin = hl_now_ns();
    int rc = s->slot ? HL_ERR_AGAIN : ask_for(&w);
    while (rc == HL_ERR_AGAIN) {
        rc = look_in_slot(s, &w, ++looks % 64 == 0);
        rc = rc == HL_ERR_AGAIN && !await_slot(s, begin) ? ask_for(&w) : rc;
    }
    return rc;
}

int hl_kvs_cache_try(struct hl_kvs_cache *s, int rank, const char *key, void *data, size_t cap, size_t *len,
                     hl_kvs_ask_fn *ask)
{
    const struct kvs_wish w = {rank, key, data, cap, len, ask};
    return s->slot ? look_in_slot(s, &w, true) : ask_for(&w);
}

void hl_kvs_cache_put(struct hl_kvs_cache *s, int rank, const char *key, const void *data, size_t len)
{
    uint64_t mine;
    if (!s->slot || len > HL_KVS_VALUE) {
        return;
    }
    struct hl_kvs_slot *slot = &s->slot[rank];
    /* relaxed: a guess; the claim orders. */
    uint64_t seen = hl_a64_load_relaxed(&slot->state);
    if (claimer_of(seen) < 0 && claim_slot(s, slot, seen, &mine)) {
        store_value(slot, mine, key, data, len);
    }
}
