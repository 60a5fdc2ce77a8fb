/* The node's shelf: what one rank fetched from the launcher lies there for its node peers, and so does what
 * they put themselves. A node asks for the card of a far rank once, however many of its ranks want it.
 * Private to boot.
 *
 * One slot of shared memory for each rank of the job, which holds the last value that was fetched or put of
 * that rank. Whoever wants a value that is not there claims the slot, asks the launcher and lays the answer
 * down; who comes meanwhile waits for it. So there is no rank whose death would leave the others without
 * values: a dead claimer's slot is taken over, a stopped one's is passed by. States of a slot, by `state`:
 *
 *      version | 0    | laid     a value under `key` (none, with an empty key)
 *      version | who  | 0        claimed by node rank who - 1: only it writes, and it alone leaves the state
 *
 * The version grows with each claim: a reader that copied finds out whether it copied one value. */
#ifndef HL_BOOT_SHELF_H
#define HL_BOOT_SHELF_H

#include "atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HL_SHELF_KEY = 28, HL_SHELF_VALUE = 2008 };

struct hl_shelf_slot {
    hl_a64 state;
    char key[HL_SHELF_KEY]; /* this and the rest: written by the claimer, read by anybody between two looks */
    uint32_t len;
    unsigned char value[HL_SHELF_VALUE];
};

struct hl_shelf {
    struct hl_shelf_slot *slot; /* [ranks of the job], zeroed at first; NULL: no shelf */
    int me;                     /* node rank */
    bool (*lives)(int node_rank);
    uint64_t patience_ns; /* how long a claimer that lives is waited for */
};

/* Reads the value of `key` of rank `rank`, or has `ask` fetch it: arguments and result as of hl_boot_get. Any
 * thread. */
typedef int hl_shelf_ask_fn(int rank, const char *key, void *data, size_t cap, size_t *len);
int hl_shelf_get(struct hl_shelf *s, int rank, const char *key, void *data, size_t cap, size_t *len,
                 hl_shelf_ask_fn *ask);

/* Lays down what I put myself, unless it is longer than HL_SHELF_VALUE or somebody has claimed the slot. */
void hl_shelf_put(struct hl_shelf *s, int rank, const char *key, const void *data, size_t len);

#endif
