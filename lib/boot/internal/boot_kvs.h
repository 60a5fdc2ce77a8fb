/* Inside the module: the node's cache. Values that one rank has fetched from the launcher lie there for
 * its node peers, and so do values that they have put. So a node asks the launcher for the card of a
 * far rank only once.
 *
 * There is one slot of shared memory for each rank of the job, with the last value of that rank that was
 * fetched or put. A rank that wants a value that is not there claims the slot, asks the launcher and
 * stores the answer; others that want it meanwhile wait. A slot that a dead rank has claimed is taken
 * over, and a rank that is stopped is not waited for, so no single rank can keep values from the others.
 * States of a slot, by `state`:
 *
 *      version | 0    | STORED     a value under `key` (an empty key: no value)
 *      version | who  | 0        claimed by node rank who - 1: only it writes, and ends the claim
 *
 * The version grows with each claim, so that a reader can tell whether it has copied one whole value. */
#ifndef HL_BOOT_KVS_H
#define HL_BOOT_KVS_H

#include "atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HL_KVS_KEY = 28, HL_KVS_VALUE = 2008 };

struct hl_kvs_slot {
    hl_a64 state; /* atomic */
    /* The claimer writes these; a reader looks at `state` before and after it copies them. */
    char key[HL_KVS_KEY];
    uint32_t len;
    unsigned char value[HL_KVS_VALUE];
};

struct hl_kvs_cache {
    struct hl_kvs_slot *slot; /* [ranks of the job], zeroed at first; NULL: no cache */
    int me;                   /* node rank */
    bool (*lives)(int node_rank);
    uint64_t timeout_ns; /* how long a living claimer is waited for */
};

/* Reads the value of `key` of rank `rank` from the cache, or gets it by `ask` and stores it there. Arguments
 * and result are those of hl_boot_get. Any thread. */
typedef int hl_kvs_ask_fn(int rank, const char *key, void *data, size_t cap, size_t *len);
int hl_kvs_cache_get(struct hl_kvs_cache *s, int rank, const char *key, void *data, size_t cap, size_t *len,
                     hl_kvs_ask_fn *ask);

/* Gets a value as hl_kvs_cache_get does, but without waiting: HL_ERR_AGAIN while somebody else asks for a
 * value of that rank, or when `ask` says so. */
int hl_kvs_cache_try(struct hl_kvs_cache *s, int rank, const char *key, void *data, size_t cap, size_t *len,
                     hl_kvs_ask_fn *ask);

/* Stores a value that this rank has put, unless it is longer than HL_KVS_VALUE or the slot is claimed. */
void hl_kvs_cache_put(struct hl_kvs_cache *s, int rank, const char *key, const void *data, size_t len);

#endif
