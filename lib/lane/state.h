/* The state of lanes: slots, ways, chains, lanes, the pool. For the files of lane, and for short.h. */
#ifndef HL_LANE_STATE_H
#define HL_LANE_STATE_H

#include "fab.h"
#include "lane.h"
#include "lease.h"
#include "stat.h"
#include "util.h"

#define HL_LANES_MAX 64
_Static_assert(HL_LANES_MAX <= HL_WIRE_LANES && HL_LANES_MAX <= HL_STAT_LANES, "all are named and counted");
#define HL_SLOTS 256u              /* operations in flight on a lane; a power of two */
#define HL_PIECE ((size_t)1 << 20) /* bytes of one post: the lease is free in between */
#define HL_MAIL 32                 /* messages in flight on a lane = receives posted for their answers */
#define HL_CHAIN_ASKS 256          /* answers that the records of one chain may want */
#define HL_CHAIN_ERRORS 16         /* error words that they may have, in turns */
#define HL_PULSE_TICKS 50          /* ticks without acknowledgement after which a peer's pulse is felt */
#define HL_MEND_READS 256          /* of the queue after a connection was lost, before it is tried again */
#define HL_CHAIN_WORD (sizeof(struct hl_wire_short) + 8) /* bytes of the record of a put of 8 bytes */
#define HL_IDLE_LEASES 64 /* leases after which an idle way's bit is taken back */

/* Open parts of a slot: closed by the provider's completion, by the target's acknowledgement, by sending. */
enum hl_slot_part { HL_PART_POST = 1, HL_PART_ACK = 2, HL_PART_CHAIN = 4 };

/* One operation in flight, or one chain of them. Changed under the lane's lease.
 *
 *   free --take, post--> open (parts left) --last part--> finished --tail passes--> free
 *   free --open chain--> open (CHAIN) --send--> open (POST, ACK; or POST when its one record goes directly)
 *                        open --target dead--> quarantined --completion--> free
 *
 * One in quarantine is finished for everybody, but the provider may still write into its buffers. */
struct hl_slot {
    struct fi_context2 context; /* the provider's while HL_PART_POST is open; first */
    struct hl_way *way;
    struct hl_slot *next; /* of the same way, issued after this one */
    hl_a32 *error;
    struct hl_req *req;
    uint64_t number;  /* of the lane's issues: place in the ring */
    uint64_t way_seq; /* of the way's issues */
    int err;          /* 0 or HL_ERR_* */
    uint8_t open;     /* enum hl_slot_part */
    bool quarantined;
    struct hl_chain *chain; /* what it stands for, or NULL: then error and req are the operation's */
};

_Static_assert(sizeof(struct hl_slot) == 128, "its place in the array is found by a shift");

/* What a record of a chain wants back. */
struct hl_ask {
    void *reply;        /* where the answer goes */
    struct hl_req *req; /* or NULL */
    uint32_t len;       /* bytes that the answer must have */
    uint32_t record;    /* number of the record in the message */
    int err;            /* 0 or HL_ERR_*, valid when answered */
    bool answered;
};

/* Records from `first` on, up to the next of these, report errors here. */
struct hl_chain_error {
    hl_a32 *word;
    uint32_t first;
};

/* Operations that travel in one message: records are copied behind each other, then it is sent, then
 * answered. Open (way->chain, in lane->open) until sent; kept by its slot until that ends. */
struct hl_chain {
    /* What an append looks at; on one line. */
    HL_ALIGNED_LINE uint8_t *at; /* end of the records */
    uint8_t *limit;              /* a record of 8 bytes fits while at <= limit, see hl_chain_left */
    uint64_t key;                /* registration that put and get records name now; valid when keys > 0 */
    hl_a32 *error;               /* word of the last record */
    uint32_t records;            /* with the KEY ones */
    uint32_t keys;               /* KEY records among them */
    uint32_t counted;            /* records whose lease is in the statistics */
    int peer;                    /* world rank */

    struct hl_way *way;
    struct hl_slot *slot;
    struct hl_chain *next;    /* in lane->open, or while unused */
    struct hl_chain *earlier; /* in lane->open */
    const void *opener;       /* the thread that opened it; NULL: several wait for what is in it */
    uint64_t message;         /* its number on the way; valid when sent as one */
    uint64_t tick;            /* of the lane, when it was opened, then sent */
    uint32_t ask_count, next_ask, error_count;
    struct hl_chain_error errors[HL_CHAIN_ERRORS];
    struct hl_ask asks[HL_CHAIN_ASKS];
    _Alignas(8) uint8_t bytes[]; /* hl_fab.eager: head, HELLO, records; the head moves up without HELLO */
};

/* How long something has been waited for, by looks at it again and again. Who was stopped meanwhile, or had
 * no CPU, has asked nobody: from one look to the next at most HL_PATIENCE_STEP_NS count. */
#define HL_PATIENCE_STEP_NS UINT64_C(100000000)
struct hl_patience {
    uint64_t waited_ns, looked_ns; /* looked_ns 0: nobody waits */
};

HL_INLINE uint64_t hl_patience_look(struct hl_patience *p)
{
    uint64_t now = hl_now_ns(), step = now - p->looked_ns;
    step = step < HL_PATIENCE_STEP_NS ? step : HL_PATIENCE_STEP_NS;
    p->waited_ns = p->looked_ns != 0 ? p->waited_ns + step : 0;
    p->looked_ns = now;
    return p->waited_ns;
}

/* The record of (lane, target): made on first use, never freed before the lane. issued and done are read by
 * flushers of all threads, everything is written under the lease. */
struct hl_way {
    HL_ALIGNED_LINE hl_a64 issued; /* slots taken. atomic: release by the holder, acquire by flushers */
    hl_a64 done;                   /* slots ended, in order: none before it is open. atomic: the same */
    hl_a64 local_issued;           /* last slot whose end the origin's buffers wait for. atomic: the same */
    hl_a64 local_done; /* none before it is open but chains that copied their data. atomic: the same */
    int peer;          /* world rank */
    bool marked;       /* my bit in the pool's used[peer] is set, the peer not dead, no fence to be kept */
    bool hello_said;
    bool heard;                 /* an acknowledgement came */
    bool greeted;               /* a message was acknowledged: atomics may go (issue.c) */
    bool dead;                  /* the launcher said so: posts fail at once */
    uint64_t fenced;            /* not 0: what is later goes behind it in the stream, or when it is done */
    bool lost;                  /* nothing is posted before the connection is mended (mend.c) */
    uint32_t reads;             /* of the queue until it may be tried */
    struct hl_slot *probe;      /* the read that tries it, NULL: none */
    uint64_t probe_seq;         /* its way_seq */
    struct hl_patience mend;    /* with that */
    uint64_t greeted_from;      /* messages sent before this connection */
    uint32_t unacked;           /* messages without acknowledgement */
    fi_addr_t addr;             /* the peer's receive endpoint */
    struct hl_chain *chain;     /* the open one, or NULL */
    struct hl_slot *first;      /* oldest one not ended */
    struct hl_slot *local;      /* oldest one that local_done has not passed, NULL: none */
    struct hl_slot *last;       /* newest one, valid when first is */
    uint64_t messages;          /* sent on this way */
    uint64_t touched;           /* the lane's leases at the last issue */
    struct hl_patience refused; /* with a provider that refuses every post */
    uint64_t done_at_refuse;    /* done then */
    hl_a32 greeting;            /* error word of operations that nobody asked for: GREET, pulse */
    uint64_t pulse_addr, pulse_key; /* 8 bytes of the peer */
    uint64_t pulse;                 /* and what was read there */
    uint64_t pulse_tick;            /* when its pulse was felt last */
    uint64_t pulse_seq;             /* way_seq of that read, 0: none */
    uint64_t pulse_ns;              /* its time */
};

/* A lane's ways by peer: open addressing. Replaced by a larger one when half full; old ones stay readable. */
struct hl_way_table {
    struct hl_way_table *older;
    uint32_t room;  /* a power of two */
    uint32_t count; /* under the lease */
    hl_aptr at[];   /* struct hl_way, NULL: free. atomic: release when added, acquire by flushers */
};

/* A buffer posted for an acknowledgement. */
struct hl_letter {
    struct fi_context2 context;
    _Alignas(8) uint8_t bytes[]; /* hl_fab.eager */
};

/* A message without records: it connects a lane (warm.c), or asks what came of those before it (send.c). */
struct hl_knock {
    struct fi_context2 context;
    struct hl_wire_head head;
    struct hl_wire_hello hello;
    const struct hl_way *way; /* NULL: none was sent */
    bool posted;              /* the provider has it */
};

/* Fields without a word on protection are changed under the lease. (clang's C cannot say "guarded by" of a
 * sibling field: the functions that touch them say HL_REQUIRES instead.) */
struct hl_lane {
    struct hl_lease lease;
    /* On the lease's line: what every operation of the holder touches. */
    struct hl_way *recent;  /* way of the last issue, or NULL */
    struct hl_chain *chain; /* the one that got the last record, while it is open; else NULL */
    /* hl_xfer.token of that record when it named memory by key: puts and gets of the same window and target
     * may follow it at once. Else 0. atomic: for others a hint */
    hl_a64 takes;
    struct fid_ep *ep;    /* NULL until opened */
    struct hl_pool *pool; /* read-only */
    uint32_t index;       /* read-only */
    bool broken;          /* could not be opened */
    bool wake;            /* somebody may wait for what ended: hl_prog_wake after leaving */
    bool tick;            /* a chain was opened: hl_rx_tick after leaving */
    uint32_t deaths_seen; /* of the pool's */

    HL_ALIGNED_LINE hl_a64 issued; /* slots taken. atomic: release by the holder, acquire by flushers */
    hl_a64 tail;                   /* slots before it are free. atomic: the same */
    struct hl_fab_ep fab;
    struct hl_chain *open;      /* chains not sent yet, newest first */
    struct hl_chain *unused;    /* buffers */
    struct hl_letter *receives; /* array of HL_MAIL, NULL until the first message */
    uint32_t mail;              /* messages without acknowledgement */
    uint64_t ticks;             /* of the receive thread */
    uint64_t swept;             /* leases at the last sweep of idle bits */
    struct hl_knock knock;
    struct hl_stat_lane stat;
    /* On a line that only a new way changes: flushes of all threads look there. */
    HL_ALIGNED_LINE hl_aptr
        ways; /* struct hl_way_table. atomic: release by the holder, acquire by flushers */
    HL_ALIGNED_LINE struct hl_slot slots[HL_SLOTS];
    uint64_t words[HL_SLOTS]; /* what slot i writes, when its operation is a word that was copied */
};

struct hl_pool {
    hl_a32 count;                        /* lanes; 0: closed. Read-only while open. atomic */
    uint32_t closings;                   /* how often it was closed; read-only while open */
    int ranks;                           /* of the job */
    size_t chain;                        /* bytes of the largest put or get that is chained, 0: nothing is */
    bool greets;                         /* a way's first direct atomic waits for an answer: see post.c */
    struct hl_lane *lanes[HL_LANES_MAX]; /* read-only while open; kept when closed: threads remember them */
    HL_ALIGNED_LINE hl_a64 opened;       /* bit i: lane i has an endpoint. atomic */
    hl_a64 coming;   /* bit i: lane i is being opened by the helper thread (warm.c). atomic */
    hl_a64 owned;    /* bit i: lane i is taken out, or about to be (own.c). atomic */
    hl_a64 apart;    /* bit i: nothing but its owner's operations is open on lane i. atomic */
    hl_a64 bound;    /* 0, or a slot's number * 64 + its lane: see hl_lane_bound. atomic */
    hl_a64 *used;    /* [ranks] bit i: lane i may have something open to that rank. atomic, see hl_way_mark */
    hl_a32 deaths;   /* counts reports of dead ranks. atomic */
    hl_a32 next;     /* preferred lane of the next new thread. atomic */
    hl_a32 expected; /* hl_lane_expect was called. atomic */
};

/* Its lanes; 0: it is not open. Any thread: some may look while another one opens it. */
HL_INLINE uint32_t hl_pool_count(const struct hl_pool *p)
{
    return hl_a32_load_acquire(&p->count); /* acquire: the lanes; pairs with the release in hl_pool_open. */
}

/* The process's pool. */
extern struct hl_pool hl_pool;

/* Room for records, in bytes. */
HL_INLINE size_t hl_chain_left(const struct hl_chain *chain)
{
    return (size_t)(chain->limit - chain->at) + HL_CHAIN_WORD;
}

/* The thread's preferred lane; no lane: it has none yet, or is a guest (issue.c). */
extern HL_THREAD_LOCAL uint32_t hl_lane_preferred;

/* A thread's last put of 8 bytes that went into a chain, as the user's call named it (short.h). */
struct hl_lane_last {
    const void *win;
    uintptr_t type;
    uint64_t reach;      /* displacements at which 8 bytes are in the target's window */
    uint64_t unit, addr; /* of a displacement, of displacement 0 */
    uint64_t token;
    struct hl_lane *lane;
    int target; /* -1, and reach is 0: nothing is remembered */
    int count;  /* elements */
};

extern HL_THREAD_LOCAL struct hl_lane_last hl_lane_last;

#endif
