/* Dynamic windows: which memory is attached.
 *
 * This rank looks up an address of a target in what it remembers of that target (dyn_cache.c). If it is not
 * there, it asks the target's receive thread, which answers with the region that holds the address and notes
 * which rank was told. Before a region is detached, its owner has every rank that was told forget it. So what
 * is remembered needs no check of a version: attach and detach are local calls of the user and cost the other
 * ranks nothing.
 *
 *   origin                        target's receive thread
 *     ASK  {window, address} ------>  region found, origin noted
 *     HERE {region}  <--------------
 *                                   target's MPI_Win_detach: out of the table, then
 *     GONE {region}  <--------------  to each that was noted
 *     LEFT {region} --------------->  when all have answered, the memory is the user's again */
#ifndef HL_DYN_H
#define HL_DYN_H

#include "rx.h"
#include "win.h"

/* A region as its owner describes it to others. */
struct hl_region {
    uint64_t base, len;
    uint64_t id;                       /* of the region at its owner, never reused in this window */
    uint64_t seg_id, seg_len, seg_off; /* the owner's segment that holds it; 0: private memory */
    uint64_t addr, key;                /* for RMA operations over the network; 0 while it is closed */
    uint64_t lock_owner;               /* which rank's lock guards its elements: hl_near_lock.owner */
};

/* Memory at some address of a target: how it is reached (`where` includes the address), and how many bytes
 * from there on are in the same region. */
struct hl_place {
    struct hl_target t;
    uint64_t len;
    struct hl_near_lock lock; /* for accumulates on elements there, where the memory is mapped */
};

/* Finds the memory at address `at` of the target; may wait for the target's receive thread. HL_ERR_RMA_RANGE:
 * it is not attached. HL_ERR_NO_MEM, HL_ERR_PROC_ABORTED, errors of hl_rx_send. Any thread but the receive
 * thread. */
int hl_dyn_find(struct hl_win *w, int target, uint64_t at, struct hl_place *place);

/* The error of an operation on one element of which hl_dyn_find gives a part only. */
int hl_dyn_straddles(uint64_t at, int target) HL_COLD;

/* Checks that all bytes are attached that an operation touches, whose lowest and highest byte are lo and hi -
 * 1. Returns 0 or an error as hl_dyn_find. */
int hl_dyn_check(const struct hl_move *m, const struct hl_span *span, uint64_t lo, uint64_t hi);

/* The address of `len` bytes of my own memory at `at` when one region has all of them, else NULL. The caller
 * holds the lock of table.c. */
char *hl_dyn_locate(const struct hl_win *w, uint64_t at, uint64_t len);

/* The lock of the elements at `there`, which hl_dyn_locate has returned. The caller still holds the lock of
 * table.c. */
struct hl_near_lock *hl_dyn_lock(const struct hl_win *w, const void *there);

/* Makes w->dyn for a new dynamic window, and frees it, after the last operation of any rank.
 * HL_ERR_NO_MEM. */
int hl_dyn_open(struct hl_win *w);
void hl_dyn_close(struct hl_win *w);

/* The handler of HL_WIRE_REGION. On the receive thread. */
int hl_dyn_serve(const struct hl_rx_msg *msg);

/* ---- between win_dyn.c and dyn_cache.c ---- */

enum hl_dyn_kind { HL_DYN_ASK, HL_DYN_HERE, HL_DYN_GONE, HL_DYN_LEFT };

/* What this rank remembers of its targets' regions. hl_dyn_cache_new returns NULL without memory. */
struct hl_dyn_cache;
struct hl_dyn_cache *hl_dyn_cache_new(void);
void hl_dyn_cache_free(struct hl_dyn_cache *c);

/* Forgets region `id` of a target, if it is remembered. Any thread, also the receive thread. */
void hl_dyn_cache_drop(struct hl_dyn_cache *c, int target, uint64_t id);

/* Takes in the answer HERE. On the receive thread. */
void hl_dyn_answered(const struct hl_rx_msg *msg);

/* Copies the region of mine that holds `at` to *out and notes that `world` knows it, which will be sent GONE.
 * HL_ERR_RMA_RANGE without a text, HL_ERR_NO_MEM. */
int hl_dyn_describe(struct hl_win *w, uint64_t at, int world, struct hl_region *out);

struct hl_dyn_cache *hl_dyn_cache_of(const struct hl_win *w);

#endif
