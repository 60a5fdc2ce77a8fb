/* What the short ways touch: the lease of a lane, what its last operation has left there, and the heads of
 * chains and of the pool, with which those begin. The rest stands in internal/state.h. */
#ifndef HL_LANE_SHORT_STATE_H
#define HL_LANE_SHORT_STATE_H

#include "lane.h"
#include "lease.h"

struct hl_way;

#define HL_LANES_MAX 64
#define HL_CHAIN_ASKS 256 /* answers that the records of one chain may want */

/* What a record of a chain wants back. */
struct hl_ask {
    void *reply;        /* where the answer goes */
    struct hl_req *req; /* or NULL */
    uint32_t len;       /* bytes that the answer must have */
    uint32_t record;    /* number of the asking record in the message */
    int err;            /* 0 or HL_ERR_*, valid when answered */
    bool answered;
};

/* The head of a chain. `opener` stands between the two counts: side by side, gcc would raise both by vector
 * instructions, which are two more. */
struct hl_chain_head {
    uint8_t *end;       /* end of the records */
    uint8_t *limit;     /* end of the room for records, less that of their answers */
    uint32_t records;   /* number of records, KEY records included */
    const void *opener; /* the thread that opened it; NULL: several threads wait for what is in it */
    uint32_t ask_count; /* answers that the records want */
};

/* A chain begins with its head; what its records want back follows HL_CACHELINE bytes behind. */
#define HL_CHAIN_ASKS_AT HL_CACHELINE

HL_INLINE struct hl_ask *hl_chain_asks(struct hl_chain_head *chain)
{
    return (struct hl_ask *)(void *)((char *)chain + HL_CHAIN_ASKS_AT);
}

/* What the last operation on a lane has left; for the next one. It changes under the lease. */
struct hl_lane_last {
    struct hl_way *way;          /* way of the last issue, or NULL */
    struct hl_chain_head *chain; /* the chain that got the last record, while it is open; else NULL */
    /* hl_xfer.token of the last record if that named memory by key: puts and gets of the same window and
     * target may follow it at once. Else 0. atomic: threads without the lease read it as a hint */
    hl_a64 takes;
};

/* A lane begins with its lease, which fills HL_CACHELINE bytes, and `last` follows; the rest is known to lane
 * alone. */
#define HL_LANE_LAST_AT sizeof(struct hl_lease)

HL_INLINE struct hl_lease *hl_lane_lease(struct hl_lane *lane)
{
    return (struct hl_lease *)(void *)lane;
}

HL_INLINE struct hl_lane_last *hl_lane_last(struct hl_lane *lane)
{
    return (struct hl_lane_last *)(void *)((char *)lane + HL_LANE_LAST_AT);
}

/* The head of a pool. */
struct hl_pool_head {
    hl_a32 count;     /* number of lanes; 0: closed. Nobody changes it while lanes are open. atomic */
    size_t chain_max; /* bytes of the largest put or get that is chained, 0: nothing is */
    struct hl_lane *lanes[HL_LANES_MAX]; /* read-only while open; kept when closed, for the next opening */
    HL_ALIGNED_LINE hl_a64 bound; /* 0, or a slot's number * 64 + its lane: see hl_lane_bound. atomic */
};

struct hl_lane_pool;

/* The process's pool. */
extern struct hl_lane_pool hl_pool;

/* A pool begins with its head. */
HL_INLINE const struct hl_pool_head *hl_pool_head(const struct hl_lane_pool *p)
{
    return (const struct hl_pool_head *)(const void *)p;
}

/* The number of lanes; 0: the pool is not open. Any thread, also while another thread opens the pool. */
HL_INLINE uint32_t hl_pool_count(const struct hl_lane_pool *p)
{
    return hl_a32_load_acquire(&hl_pool_head(p)->count); /* acquire: the lanes that hl_pool_open made. */
}

/* Bytes that are left for records. */
HL_INLINE size_t hl_chain_left(const struct hl_chain_head *chain)
{
    return (size_t)(chain->limit - chain->end);
}

/* Index of the thread's preferred lane. Not below the number of lanes: the thread has none yet, or borrows
 * one (issue.c). */
extern HL_THREAD_LOCAL uint32_t hl_lane_preferred;

#endif
