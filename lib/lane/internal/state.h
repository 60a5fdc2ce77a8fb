/* The state of lanes: slots, ways, chains, lanes, the pool. Chains and the pool begin with the heads that the
 * short ways touch (short_state.h). For the files of lane. */
#ifndef HL_LANE_STATE_H
#define HL_LANE_STATE_H

#include "short_state.h"
#include "stat.h"
#include "util.h"

#include <rdma/fabric.h>

struct hl_fab_ep;

_Static_assert(HL_LANES_MAX == 64, "a bit of a word for each, and sets of them are turned (flush.c)");
_Static_assert(HL_LANES_MAX <= HL_WIRE_LANES && HL_LANES_MAX <= HL_STAT_LANES, "all are named and counted");
#define HL_LANE_SLOTS 256u         /* operations in flight on a lane; a power of two */
#define HL_CHAIN_ERRORS 16         /* error words that the records of one chain may have, in turns */
#define HL_PIECE ((size_t)1 << 20) /* most bytes of one post: the lease is free in between */
#define HL_ACK_BUFS 32             /* messages in flight on a lane = receives posted for their answers */
#define HL_HEARTBEAT_TICKS 50      /* ticks without acknowledgement after which the peer is probed */
/* reads of the queue after a connection was lost, before it is tried again */
#define HL_RECONNECT_READS 256
/* where a chain's records begin: behind the longest head */
#define HL_CHAIN_RECORDS_AT (sizeof(struct hl_wire_head) + sizeof(struct hl_wire_hello))
#define HL_IDLE_LEASES 64 /* leases of the lane after which an idle way's bit is taken back */

/* What a slot still waits for: the provider's completion; the target's acknowledgement; to be sent. With
 * CHAIN, POST is that of a read that tries a lost way (reconnect.c). */
enum hl_lane_slot_part { HL_PART_POST = 1, HL_PART_ACK = 2, HL_PART_CHAIN = 4 };

/* One operation in flight, or one chain of them. It changes under the lane's lease.
 *
 *   free --take, post--> open (parts left) --last part--> finished --tail passes--> free
 *   free --open chain--> open (CHAIN) --send--> open (POST, ACK; or POST when its one record goes directly)
 *                        open (CHAIN) --way lost, tried--> open (CHAIN, POST) --completion--> open (CHAIN)
 *                        open --target dead, chain given up--> quarantined --completion--> free
 *
 * A quarantined slot has been reported as ended, but the provider may still use its buffers, so it stays
 * taken. */
struct hl_lane_slot {
    struct fi_context2 context; /* owned by the provider while HL_PART_POST is open; must come first */
    struct hl_way *way;
    struct hl_lane_slot *next; /* the slot issued next on the same way */
    hl_a32 *error;
    struct hl_req *req;
    uint64_t number;  /* number among the lane's operations; gives the place in the ring */
    uint64_t way_seq; /* number among the way's operations */
    int err;          /* 0 or HL_ERR_* */
    uint8_t open;     /* enum hl_lane_slot_part */
    bool quarantined;
    struct hl_chain *chain; /* the chain that it stands for; NULL: one operation, whose are error and req */
};

_Static_assert(sizeof(struct hl_lane_slot) == 128, "its place in the array is found by a shift");

/* Records from number `first` on, up to the `first` of the next such entry, report errors to `word`. */
struct hl_chain_error {
    hl_a32 *word;
    uint32_t first;
};

/* Operations that travel in one message. Their records are copied one behind the other; then the message is
 * sent, and the target acknowledges it. A chain is open (way->chain, and in the list lane->open) until it is
 * sent; then its slot keeps it until the slot ends. */
struct hl_chain {
    /* All fields up to `asks`, and so all that an append reads, share HL_CACHELINE bytes. */
    HL_ALIGNED_LINE struct hl_chain_head head;
    uint64_t key;     /* key in force for the next put and get records; valid when keys > 0 */
    hl_a32 *error;    /* error word of the last record */
    uint32_t keys;    /* KEY records among the records */
    uint32_t counted; /* records that the statistics have counted as leases */
    uint32_t error_count, next_ask;
    struct hl_way *way;
    struct hl_lane_slot *slot;
    struct hl_chain *next;    /* next buffer in the list lane->unused */
    struct hl_chain *earlier; /* the chain opened before it, in the list lane->open */
    uint64_t message;         /* number of the message on the way; valid once it was sent as a message */
    uint64_t at_tick;         /* lane->ticks when it was opened; later: when it was sent */
    HL_ALIGNED_LINE struct hl_ask asks[HL_CHAIN_ASKS];
    struct hl_chain_error errors[HL_CHAIN_ERRORS];
    /* hl_fab.eager: head, HELLO, records; without HELLO the head lies where HELLO would */
    _Alignas(8) uint8_t bytes[];
};

_Static_assert(offsetof(struct hl_chain, head) == 0 && offsetof(struct hl_chain, asks) == HL_CHAIN_ASKS_AT,
               "the short ways find both without the rest (short_state.h)");

/* How long a thread has waited for something that it looks at again and again. A process may be stopped or
 * without a CPU between two looks, and then it has asked nobody: so at most HL_STALL_STEP_NS are counted
 * from one look to the next. */
#define HL_STALL_STEP_NS UINT64_C(100000000)
struct hl_stall_timer {
    uint64_t waited_ns, looked_ns; /* looked_ns 0: no wait has begun */
};

HL_INLINE uint64_t hl_stall_timer_read(struct hl_stall_timer *p)
{
    uint64_t now = hl_now_ns(), step = now - p->looked_ns;
    step = step < HL_STALL_STEP_NS ? step : HL_STALL_STEP_NS;
    p->waited_ns = p->looked_ns != 0 ? p->waited_ns + step : 0;
    p->looked_ns = now;
    return p->waited_ns;
}

/* What a lane knows of one target. It is made on first use and freed with the lane. Flushing threads read the
 * atomic fields; everything is written under the lease. */
struct hl_way {
    /* All four are stored with release by the leaseholder, and read with acquire by flushing threads. */
    HL_ALIGNED_LINE hl_a64 issued; /* slots taken */
    hl_a64 done;                   /* slots ended, in order: none up to this number is open */
    hl_a64 local_issued;           /* last slot that local flushes wait for */
    hl_a64 local_done; /* none up to it is open, but chains whose data was copied and that want no answer */
    int peer;          /* world rank */
    /* the lane's bit in pool->used[peer] is set, the peer is not dead, and no fence is pending */
    bool marked;
    bool hello_said;
    bool heard;   /* an acknowledgement came */
    bool greeted; /* a message was acknowledged: atomics may go (post.c) */
    bool dead;    /* the launcher said so: posts fail at once */
    /* not 0: operations after this number go behind it in the stream, or wait until it is done */
    uint64_t fenced;
    bool lost;                  /* nothing is posted before the connection is reconnected (reconnect.c) */
    uint32_t reads;             /* reads of the queue left until the way may be tried */
    struct hl_lane_slot *probe; /* the slot of the read that tries the lost way, NULL: none */
    uint64_t probe_seq;         /* way_seq of `probe` */
    struct hl_stall_timer reconnect; /* how long reconnecting has lasted */
    uint64_t greeted_from;         /* number of messages that were sent before the connection was lost last */
    uint32_t unacked;              /* messages without acknowledgement */
    fi_addr_t addr;                /* the peer's receive endpoint */
    struct hl_chain *chain;        /* the open one, or NULL */
    struct hl_lane_slot *first;    /* oldest slot that has not ended */
    struct hl_lane_slot *local;    /* oldest slot that local_done has not passed, NULL: none */
    struct hl_lane_slot *last;     /* newest slot, valid when first is not NULL */
    uint64_t messages;             /* number of messages sent on this way */
    uint64_t touched;              /* the lane's count of leases at the last issue on this way */
    struct hl_stall_timer refused; /* how long the provider has refused every post */
    uint64_t done_at_refuse;       /* `done` at the first of these refusals */
    hl_a32 greeting;               /* error word of GREET and of the heartbeat, which no caller asked for */
    uint64_t heartbeat_addr, heartbeat_key; /* 8 bytes of the peer */
    uint64_t heartbeat;                     /* what was read there */
    uint64_t heartbeat_tick;                /* lane->ticks when the heartbeat was read last */
    uint64_t heartbeat_seq;                 /* way_seq of the last such read, 0: none */
    uint64_t heartbeat_ns;                  /* when the last read was posted */
};

/* A lane's ways by peer: open addressing. A larger one replaces it when it is half full; old ones
 * stay readable. */
struct hl_way_table {
    struct hl_way_table *older;
    uint32_t room;  /* a power of two */
    uint32_t count; /* number of ways; changed under the lease */
    struct hl_way_row {
        hl_aptr way; /* struct hl_way, NULL: free. atomic: release when added, acquire by flushing threads */
        int peer;    /* the way's, written before it: a search for another one does not touch that way */
    } at[];
};

/* A message without records: it connects a lane (open_async.c), or asks what came of those before it
 * (send.c). It is the provider's until it is completed, and a ping of a rank that dies may never be
 * completed: so each has memory of its own, and each way one at most. */
struct hl_ping {
    struct fi_context2 context;
    struct hl_ping *next; /* in the list lane->pings */
    const struct hl_way *way;
    _Alignas(8) uint8_t message[HL_CHAIN_RECORDS_AT];
};

/* Fields without a word on protection are changed under the lease. (clang's C cannot say "guarded by" of a
 * sibling field: the functions that touch them say HL_REQUIRES instead.) */
struct hl_lane {
    struct hl_lease lease;
    /* The fields that every operation touches lie on one cache line of 64 bytes. */
    struct hl_lane_last last;
    struct fid_ep *ep;         /* NULL until opened */
    struct hl_lane_pool *pool; /* read-only */
    uint32_t index;            /* read-only */
    bool broken;               /* the endpoint could not be opened */
    bool kept;                 /* its descriptor wakes sleepers; written before anything is issued */
    bool wake;                 /* somebody may wait for what ended: hl_prog_wake after leaving */
    bool wants_ticks;          /* a chain was opened: hl_rx_want_ticks after leaving */
    uint32_t deaths_seen;      /* pool->deaths when it was last compared */

    /* slots taken. atomic: release by the leaseholder, acquire by flushing threads */
    HL_ALIGNED_LINE hl_a64 issued;
    /* slots before it are free. atomic: release by the leaseholder, acquire by flushing threads */
    hl_a64 tail;
    struct hl_fab_ep *fab;   /* in the lane's memory, behind this structure; valid while it is opened */
    struct hl_chain *open;   /* chains not sent yet, newest first */
    struct hl_chain *unused; /* buffers for chains */
    uint32_t unacked;        /* messages without acknowledgement */
    uint32_t breaks;         /* how often a way was found lost or dead */
    uint64_t ticks;          /* ticks of the receive thread */
    uint64_t swept;          /* leases at the last sweep of idle bits */
    struct hl_ping *pings;   /* those that the provider holds */
    const struct hl_way *connected; /* the helper has pinged it (open_async.c), NULL: none */
    bool lent; /* its endpoint did not close: its memory is the provider's until the process ends (pool.c) */
    struct hl_lane *older; /* a lane of this index that is lent, or NULL */
    struct hl_stat_lane stat;
    /* On a cache line that only a new way changes, since flushes of all threads read it. */
    HL_ALIGNED_LINE hl_aptr
        ways; /* struct hl_way_table. atomic: release by the leaseholder, acquire by flushing threads */
    HL_ALIGNED_LINE struct hl_lane_slot slots[HL_LANE_SLOTS];
    uint64_t copied[HL_LANE_SLOTS]; /* the data of slot i, when its operation writes a word that was copied */
};

_Static_assert(offsetof(struct hl_lane, lease) == 0 && offsetof(struct hl_lane, last) == HL_LANE_LAST_AT,
               "the short ways find both without the rest (short_state.h)");

struct hl_lane_pool {
    struct hl_pool_head head;
    uint32_t closings; /* how often the pool was closed; read-only while open */
    int ranks;         /* ranks of the job */
    size_t piece;      /* bytes of the largest put or get that goes in one post: HL_PIECE, or fewer */
    /* a way's first direct atomic operation waits for an answer, see post.c */
    bool greets;
    HL_ALIGNED_LINE hl_a64 opened; /* bit i: lane i has an endpoint. atomic */
    hl_a64 opening;  /* bit i: lane i is being opened by the helper thread (open_async.c). atomic */
    hl_a64 owned;    /* bit i: lane i has an owner, or is about to get one (own.c). atomic */
    hl_a64 apart;    /* bit i: nothing but its owner's operations is open on lane i. atomic */
    hl_a64 *used;    /* [ranks] bit i: lane i may have something open to that rank. atomic, see hl_way_mark */
    hl_a32 deaths;   /* counts reports of dead ranks. atomic */
    hl_a32 next;     /* preferred lane of the next new thread. atomic */
    hl_a32 expected; /* hl_lane_expect was called. atomic */
};

_Static_assert(offsetof(struct hl_lane_pool, head) == 0, "the short ways find it without the rest");

#endif
