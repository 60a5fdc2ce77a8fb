/* What the short ways read: the lease of a lane, what its last operation has left there, chains, and the
 * pool. The rest of a lane stands in state.h. Chains and the pool stand here whole, since the short ways read
 * words at both ends of them. */
#ifndef HL_LANE_SHORT_STATE_H
#define HL_LANE_SHORT_STATE_H

#include "lane.h"
#include "lease.h"

struct hl_slot;
struct hl_way;

#define HL_LANES_MAX 64
#define HL_CHAIN_ASKS 256  /* answers that the records of one chain may want */
#define HL_CHAIN_ERRORS 16 /* error words that they may have, in turns */

/* What a record of a chain wants back. */
struct hl_ask {
    void *reply;        /* where the answer goes */
    struct hl_req *req; /* or NULL */
    uint32_t len;       /* bytes that the answer must have */
    uint32_t record;    /* number of the asking record in the message */
    int err;            /* 0 or HL_ERR_*, valid when answered */
    bool answered;
};

/* Records from number `first` on, up to the `first` of the next such entry, report errors to `word`. */
struct hl_chain_error {
    hl_a32 *word;
    uint32_t first;
};

/* Operations that travel in one message. Their records are copied one behind the other; then the message is
 * sent, and the target acknowledges it. A chain is open (way->chain, and in the list lane->open) until it is
 * sent; then its slot keeps it until the slot ends. */
struct hl_chain {
    /* These fields are all that an append reads; they share one cache line. */
    HL_ALIGNED_LINE uint8_t *end; /* end of the records */
    uint8_t *limit;               /* end of the room for records, less that of their answers */
    uint64_t key;                 /* key in force for the next put and get records; valid when keys > 0 */
    hl_a32 *error;                /* error word of the last record */
    uint32_t records;             /* number of records, KEY records included */
    uint32_t keys;                /* KEY records among them */
    uint32_t counted;             /* records that the statistics have counted as leases */
    int peer;                     /* world rank */

    struct hl_way *way;
    struct hl_slot *slot;
    struct hl_chain *next;    /* next buffer in the list lane->unused */
    struct hl_chain *earlier; /* the chain opened before it, in the list lane->open */
    const void *opener;       /* the thread that opened it; NULL: several threads wait for what is in it */
    uint64_t message;         /* number of the message on the way; valid once it was sent as a message */
    uint64_t at_tick;         /* lane->ticks when it was opened; later: when it was sent */
    uint32_t ask_count, next_ask, error_count;
    struct hl_chain_error errors[HL_CHAIN_ERRORS];
    struct hl_ask asks[HL_CHAIN_ASKS];
    /* hl_fab.eager: head, HELLO, records; without HELLO the head lies where HELLO would */
    _Alignas(8) uint8_t bytes[];
};

/* What the last operation on a lane has left; for the next one. It changes under the lease. */
struct hl_lane_last {
    struct hl_way *way;     /* way of the last issue, or NULL */
    struct hl_chain *chain; /* the chain that got the last record, while it is open; else NULL */
    /* hl_xfer.token of the last record if that named memory by key: puts and gets of the same window and
     * target may follow it at once. Else 0. atomic: threads without the lease read it as a hint */
    hl_a64 takes;
};

/* A lane begins with its lease, and `last` follows on the next line; the rest is known to lane alone. */
#define HL_LANE_LAST_AT sizeof(struct hl_lease)

HL_INLINE struct hl_lease *hl_lane_lease(struct hl_lane *lane)
{
    return (struct hl_lease *)(void *)lane;
}

HL_INLINE struct hl_lane_last *hl_lane_last(struct hl_lane *lane)
{
    return (struct hl_lane_last *)(void *)((char *)lane + HL_LANE_LAST_AT);
}

struct hl_lane_pool {
    hl_a32 count;      /* number of lanes; 0: closed. Nobody changes it while lanes are open. atomic */
    uint32_t closings; /* how often the pool was closed; read-only while open */
    int ranks;         /* ranks of the job */
    size_t chain_max;  /* bytes of the largest put or get that is chained, 0: nothing is */
    size_t piece;      /* bytes of the largest put or get that goes in one post: HL_PIECE, or fewer */
    /* a way's first direct atomic operation waits for an answer, see post.c */
    bool greets;
    struct hl_lane *lanes[HL_LANES_MAX]; /* read-only while open; kept when closed, for the next opening */
    HL_ALIGNED_LINE hl_a64 opened;       /* bit i: lane i has an endpoint. atomic */
    hl_a64 opening;  /* bit i: lane i is being opened by the helper thread (open_async.c). atomic */
    hl_a64 owned;    /* bit i: lane i has an owner, or is about to get one (own.c). atomic */
    hl_a64 apart;    /* bit i: nothing but its owner's operations is open on lane i. atomic */
    hl_a64 bound;    /* 0, or a slot's number * 64 + its lane: see hl_lane_bound. atomic */
    hl_a64 *used;    /* [ranks] bit i: lane i may have something open to that rank. atomic, see hl_way_mark */
    hl_a32 deaths;   /* counts reports of dead ranks. atomic */
    hl_a32 next;     /* preferred lane of the next new thread. atomic */
    hl_a32 expected; /* hl_lane_expect was called. atomic */
};

/* The number of lanes; 0: the pool is not open. Any thread, also while another thread opens the pool. */
HL_INLINE uint32_t hl_pool_count(const struct hl_lane_pool *p)
{
    return hl_a32_load_acquire(&p->count); /* acquire: the lanes; pairs with the release in hl_pool_open. */
}

/* The process's pool. */
extern struct hl_lane_pool hl_pool;

/* Bytes that are left for records. */
HL_INLINE size_t hl_chain_left(const struct hl_chain *chain)
{
    return (size_t)(chain->limit - chain->end);
}

/* Index of the thread's preferred lane. Not below the number of lanes: the thread has none yet, or borrows
 * one (issue.c). */
extern HL_THREAD_LOCAL uint32_t hl_lane_preferred;

#endif
