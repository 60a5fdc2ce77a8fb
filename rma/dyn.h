/* Dynamic windows: which memory is attached.
 *
 * An address of a target is looked for in what this rank remembers of it (dyn_cache.c); a miss asks the
 * target's receive thread, which answers with the region that holds it and notes who knows. Before a region
 * is detached its owner has everybody who knows it forget it, so what is remembered needs no check of a
 * version: attach and detach are local calls of the user and cost the others nothing.
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
    uint64_t id;                       /* of this window at its owner, never reused */
    uint64_t seg_id, seg_len, seg_off; /* the owner's segment that holds it; 0: private memory */
    uint64_t addr, key;                /* for RMA operations, when the network is open */
    uint64_t home;                     /* whose lock guards its elements: hl_near_lock.home */
};

/* Memory at some address of a target: how it is reached (`where` includes the address), and how many bytes
 * follow in the same region. */
struct hl_place {
    struct hl_target t;
    uint64_t len;
    struct hl_near_lock lock; /* of the elements there, for accumulates where it is mapped */
};

/* Finds `at`; may wait for the target's receive thread. HL_ERR_RMA_RANGE: not attached. HL_ERR_NO_MEM,
 * HL_ERR_PROC_ABORTED. Any thread but the receive thread. */
int hl_dyn_find(struct hl_win *w, int target, uint64_t at, struct hl_place *place);

/* Are all bytes attached that an operation on [lo, hi) touches? Errors as above. */
int hl_dyn_check(const struct hl_move *m, const struct hl_span *span, uint64_t lo, uint64_t hi);

/* My own memory, when all of it is attached in one region; else NULL. Under the lock of table.c. */
char *hl_dyn_locate(const struct hl_win *w, uint64_t at, uint64_t len);

/* The lock of the elements there; hl_dyn_locate has found it. Under the same lock. */
struct hl_near_lock *hl_dyn_lock(const struct hl_win *w, const void *there);

/* What a new dynamic window needs, and its end: after the last operation of any rank. HL_ERR_NO_MEM. */
int hl_dyn_open(struct hl_win *w);
void hl_dyn_close(struct hl_win *w);

/* The handler of HL_WIRE_REGION. */
int hl_dyn_serve(const struct hl_rx_msg *msg);

/* ---- between win_dyn.c and dyn_cache.c ---- */

enum hl_dyn_kind { HL_DYN_ASK, HL_DYN_HERE, HL_DYN_GONE, HL_DYN_LEFT };

/* What this rank remembers of others. */
struct hl_dyn_cache;
struct hl_dyn_cache *hl_dyn_cache_new(void);
void hl_dyn_cache_free(struct hl_dyn_cache *c);

/* Forgets a region. Any thread, also the receive thread. */
void hl_dyn_cache_drop(struct hl_dyn_cache *c, int target, uint64_t id);

/* An answer came. On the receive thread. */
void hl_dyn_answered(const struct hl_rx_msg *msg);

/* The region of mine that holds `at`, told to `world`, who will be sent GONE. HL_ERR_RMA_RANGE (silent). */
int hl_dyn_tell(struct hl_win *w, uint64_t at, int world, struct hl_region *out);

struct hl_dyn_cache *hl_dyn_cache_of(const struct hl_win *w);

#endif
