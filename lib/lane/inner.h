/* What the files of lane share: slots, ways, lanes, the pool. All take their state by pointer. */
#ifndef HL_LANE_INNER_H
#define HL_LANE_INNER_H

#include "fab.h"
#include "lane.h"
#include "lease.h"
#include "prog.h"
#include "rx.h"
#include "stat.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define HL_LANES_MAX 64
#define HL_SLOTS 256u              /* operations in flight on a lane; a power of two */
#define HL_PIECE ((size_t)1 << 20) /* bytes of one post: the lease is free in between */
#define HL_MAIL 32                 /* messages in flight on a lane = receives posted for their answers */
#define HL_CHAIN_ASKS 256          /* answers that the records of one chain may want */
#define HL_CHAIN_ERRORS 16         /* error words that they may have, in turns */
#define HL_PULSE_TICKS 50          /* ticks without acknowledgement after which a peer's pulse is felt */
#define HL_IDLE_LEASES 64          /* leases after which an idle way's bit is taken back */

/* Positive: not errors, but what the issuer has to do before it tries again. */
enum hl_lane_verdict {
    HL_LANE_NEED_CARD = 1, /* the way is new: fetch the peer's card, without the lease */
    HL_LANE_ELSEWHERE,     /* this lane is full or refuses: another one may do */
    HL_LANE_STAY,          /* not yet (connecting, no credits): this lane again */
    HL_LANE_BROKEN,        /* this lane could not be opened */
};

/* Open parts of a slot: closed by the provider's completion, by the target's acknowledgement, by sending. */
enum hl_slot_part { HL_PART_POST = 1, HL_PART_ACK = 2, HL_PART_CHAIN = 4 };

/* One operation in flight, or one chain of them. Changed under the lane's lease.
 *
 *   free --take, post--> open (parts left) --last part--> finished --tail passes--> free
 *   free --open chain--> open (CHAIN) --send--> open (POST, ACK; or POST when its one record goes directly)
 *                          open --target dead--> quarantined (finished for everybody, but the provider may
 * still write into its buffers) --completion--> free */
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
    uint64_t message;       /* number of the chain's message on its way */
};

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
    uint8_t *limit;              /* less than the buffer's end: answers must fit into one message as well */
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
    uint64_t tick;            /* of the lane, when it was opened, then sent */
    uint32_t ask_count, next_ask, error_count;
    struct hl_chain_error errors[HL_CHAIN_ERRORS];
    struct hl_ask asks[HL_CHAIN_ASKS];
    _Alignas(8) uint8_t bytes[]; /* hl_fab.eager: head, HELLO, records; the head moves up without HELLO */
};

/* The record of (lane, target): made on first use, never freed before the lane. issued and done are read by
 * flushers of all threads, everything is written under the lease. */
struct hl_way {
    HL_ALIGNED_LINE hl_a64 issued; /* slots taken. atomic: release by the holder, acquire by flushers */
    hl_a64 done;                   /* slots ended, in order: none before it is open. atomic: the same */
    hl_a64 local_issued;           /* last slot whose end the origin's buffers wait for. atomic: the same */
    hl_a64 local_done; /* none before it is open but chains that copied their data. atomic: the same */
    int peer;          /* world rank */
    bool marked;       /* my bit in the pool's used[peer] is set, and the peer is not dead */
    bool hello_said;
    bool greeted;                   /* a message was acknowledged: atomics may go (issue.c) */
    bool dead;                      /* the launcher said so: posts fail at once */
    uint32_t unacked;               /* messages without acknowledgement */
    fi_addr_t addr;                 /* the peer's receive endpoint */
    struct hl_chain *chain;         /* the open one, or NULL */
    struct hl_slot *first;          /* oldest one not ended */
    struct hl_slot *local;          /* oldest one that local_done has not passed, NULL: none */
    struct hl_slot *last;           /* newest one, valid when first is */
    uint64_t messages;              /* sent on this way */
    uint64_t touched;               /* the lane's leases at the last issue */
    uint64_t refused_ns;            /* since when the provider has refused every post, 0: it does not */
    uint64_t done_at_refuse;        /* done then */
    hl_a32 greeting;                /* error word of operations that nobody asked for: GREET, pulse */
    uint64_t pulse_addr, pulse_key; /* 8 bytes of the peer */
    uint64_t pulse;                 /* and what was read there */
    uint64_t pulse_tick;            /* when its pulse was felt last */
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

/* Fields without a word on protection are changed under the lease. (clang's C cannot say "guarded by" of a
 * sibling field: the functions that touch them say HL_REQUIRES instead.) */
struct hl_lane {
    struct hl_lease lease;
    /* On the lease's line: what every operation of the holder touches. */
    struct hl_way *recent;  /* way of the last issue, or NULL */
    struct hl_chain *chain; /* its open chain, or NULL */
    struct fid_ep *ep;      /* NULL until opened */
    struct hl_pool *pool;   /* read-only */
    uint32_t index;         /* read-only */
    bool broken;            /* could not be opened */
    bool wake;              /* somebody may wait for what ended: hl_prog_wake after leaving */
    bool tick;              /* a chain was opened: hl_rx_tick after leaving */
    uint32_t deaths_seen;   /* of the pool's */

    HL_ALIGNED_LINE hl_a64 issued; /* slots taken. atomic: release by the holder, acquire by flushers */
    hl_a64 tail;                   /* slots before it are free. atomic: the same */
    hl_aptr ways;                  /* struct hl_way_table. atomic: the same */
    struct hl_fab_ep fab;
    struct hl_chain *open;      /* chains not sent yet, newest first */
    struct hl_chain *unused;    /* buffers */
    struct hl_letter *receives; /* array of HL_MAIL, NULL until the first message */
    uint32_t mail;              /* messages without acknowledgement */
    uint64_t ticks;             /* of the receive thread */
    uint64_t swept;             /* leases at the last sweep of idle bits */
    struct hl_stat_lane stat;
    struct hl_slot slots[HL_SLOTS];
};

struct hl_pool {
    uint32_t count;                      /* lanes; 0: closed. Read-only while open */
    int ranks;                           /* of the job */
    size_t chain;                        /* bytes of the largest put or get that is chained, 0: nothing is */
    struct hl_lane *lanes[HL_LANES_MAX]; /* read-only while open */
    HL_ALIGNED_LINE hl_a64 opened;       /* bit i: lane i has an endpoint. atomic */
    hl_a64 *used;  /* [ranks] bit i: lane i may have something open to that rank. atomic, see hl_way_mark */
    hl_a32 deaths; /* counts reports of dead ranks. atomic */
    hl_a32 next;   /* preferred lane of the next new thread. atomic */
};

/* The process's pool. */
extern struct hl_pool hl_pool;

/* Leaves and wakes whoever waits for the lane or for what ended. */
HL_INLINE void hl_lane_leave(struct hl_lane *lane) HL_RELEASE(lane->lease) HL_NO_TSA
{
    bool wake = lane->wake, tick = lane->tick;
    lane->wake = lane->tick = false;
    if (hl_lease_leave(&lane->lease) || HL_UNLIKELY(wake)) {
        hl_prog_wake();
    }
    if (HL_UNLIKELY(tick)) {
        hl_rx_tick();
    }
}

/* ---- pool.c ---- */
int hl_pool_open(struct hl_pool *p, uint32_t lanes, int ranks);
void hl_pool_close(struct hl_pool *p);
int hl_lane_make_ready(struct hl_lane *lane) HL_REQUIRES(lane->lease); /* 0, HL_LANE_BROKEN */

/* ---- way.c ---- */
/* The way to `peer`, or NULL. Any thread. */
struct hl_way *hl_way_find(const struct hl_lane *lane, int peer);
/* Makes it; the peer's card tells the address. Returns NULL with the error in *rc. */
struct hl_way *hl_way_make(struct hl_lane *lane, int peer, const struct hl_rx_card *card, int *rc)
    HL_REQUIRES(lane->lease);
void hl_way_mark(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease);
/* Takes back the bits of ways that were idle for HL_IDLE_LEASES leases. */
void hl_way_sweep(struct hl_lane *lane) HL_REQUIRES(lane->lease);
void hl_way_free_all(struct hl_lane *lane) HL_NO_TSA;

/* ---- slot.c ---- */
/* Closes a part with an error or 0. */
void hl_slot_close(struct hl_lane *lane, struct hl_slot *slot, unsigned part, int err)
    HL_REQUIRES(lane->lease);
/* Marks the peer dead and ends everything open to it. */
void hl_slot_bury(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease);
/* The connection is lost: what only waits for an acknowledgement will not get it. */
void hl_slot_lost(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease);
void hl_slot_advance(struct hl_lane *lane) HL_REQUIRES(lane->lease);

/* ---- poll.c ---- */
/* Reads what has ended; returns how much. */
int hl_lane_progress(struct hl_lane *lane) HL_REQUIRES(lane->lease);

/* ---- mail.c ---- */
/* Posts the receives for acknowledgements; before the first message. 0 or a code of the provider. */
int hl_mail_open(struct hl_lane *lane) HL_REQUIRES(lane->lease);
/* An acknowledgement arrived in a posted receive; the buffer is posted again. */
void hl_mail_in(struct hl_lane *lane, struct hl_letter *letter, size_t len) HL_REQUIRES(lane->lease);
/* The posted receive that owns this context, or NULL. */
struct hl_letter *hl_mail_receive_of(struct hl_lane *lane, const void *context) HL_REQUIRES(lane->lease);
void hl_mail_again(struct hl_lane *lane, struct hl_letter *letter) HL_REQUIRES(lane->lease);
void hl_mail_free(struct hl_lane *lane) HL_NO_TSA;

/* ---- chain.c ---- */
struct hl_issue;
/* True: the operation travels as a record of a chain. */
bool hl_chain_takes(const struct hl_pool *p, const struct hl_issue *op);
/* Bytes of payload (or of an answer) that the largest put, get or atomic record takes. */
size_t hl_chain_room(void);
/* Copies the operation into the way's open chain, opening one if need be: 0, a verdict, or an error. */
int hl_chain_append(struct hl_lane *lane, struct hl_way *way, const struct hl_issue *op)
    HL_REQUIRES(lane->lease);

/* ---- send.c ---- */
/* Sends the way's open chain, if any: 0, a verdict (it stays open), or an error, which all its operations
 * got. `alone`: a single put or get may go as a direct operation. */
int hl_chain_send(struct hl_lane *lane, struct hl_way *way, bool alone) HL_REQUIRES(lane->lease);
/* Sends all open chains whose slot's number is below `before`, as far as that is possible now. */
void hl_chain_send_all(struct hl_lane *lane, uint64_t before) HL_REQUIRES(lane->lease);
/* Sends those that the calling thread opened, or that several threads wait for. */
void hl_chain_send_mine(struct hl_lane *lane) HL_REQUIRES(lane->lease);
/* The receive thread's look at all lanes: sends chains that are open for long, feels the pulse of peers that
 * are silent for long. False: nothing was open anywhere. */
bool hl_pool_tick(struct hl_pool *p);
/* Ends the open chain with an error for all its operations. */
void hl_chain_fail(struct hl_lane *lane, struct hl_way *way, int err) HL_REQUIRES(lane->lease);
/* Its slot has ended: errors and requests of its operations. */
void hl_chain_finish(struct hl_lane *lane, struct hl_chain *chain, int err) HL_REQUIRES(lane->lease);
/* Record number `record` was refused by the target. */
void hl_chain_refuse(struct hl_lane *lane, struct hl_chain *chain, uint32_t record, int err)
    HL_REQUIRES(lane->lease);
/* The word that record number `record` reports to. */
hl_a32 *hl_chain_error_of(const struct hl_chain *chain, uint32_t record);
/* The calling thread, as chain->opener names it. */
const void *hl_chain_me(void);
/* Its buffer may be used again. */
void hl_chain_unuse(struct hl_lane *lane, struct hl_chain *chain) HL_REQUIRES(lane->lease);
void hl_chain_free_all(struct hl_lane *lane) HL_NO_TSA;

/* ---- post.c, issue.c ---- */
enum hl_op_what { HL_ISSUE_WRITE, HL_ISSUE_READ, HL_ISSUE_ATOMIC, HL_ISSUE_MESSAGE };

/* One post: a piece of a transfer, of an atomic, or a message. */
struct hl_issue {
    enum hl_op_what what;
    bool ordered;
    int peer;
    uint32_t at; /* lane to begin with */
    hl_a32 *error;
    struct hl_req *req;
    uint64_t addr, key;
    void *buf;
    size_t len;
    const struct hl_lane_atomic *atomic; /* with buf, result: of this piece; len counts elements */
    void *result;
    const struct hl_lane_message *message;
    const struct hl_rx_card *card; /* fetched when a way is made, else NULL */
};

/* Posts on this lane: 0, a verdict, or an error. */
int hl_lane_post(struct hl_lane *lane, const struct hl_issue *op) HL_REQUIRES(lane->lease);
/* The same for an operation that goes by itself, on a way that is ready for it. */
int hl_lane_post_direct(struct hl_lane *lane, struct hl_way *way, const struct hl_issue *op)
    HL_REQUIRES(lane->lease);

/* A free slot, or NULL. Polls once when the ring is full. */
struct hl_slot *hl_slot_take(struct hl_lane *lane) HL_REQUIRES(lane->lease);
/* Gives it its place in ring and way: from now on flushes wait for it. `local`: the origin's buffers do too.
 */
void hl_slot_commit(struct hl_lane *lane, struct hl_way *way, struct hl_slot *slot, bool local)
    HL_REQUIRES(lane->lease);
/* The operation of the way's newest slot, a chain, makes the origin wait as well. */
void hl_slot_make_local(struct hl_way *way, const struct hl_slot *slot);
/* The provider takes nothing for this way at the moment: a verdict, or an error when that lasts too long. */
int hl_lane_refused(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease);

/* Waits for a lane and posts; `verdict` is what the first try said, or 0 when its lane was taken. */
int hl_lane_issue_slow(struct hl_pool *p, struct hl_issue *op, int verdict) HL_COLD;

/* The thread's preferred lane, chosen on its first call; HL_LANES_MAX: the pool is closed. */
uint32_t hl_lane_assign(struct hl_pool *p) HL_COLD;
extern __thread uint32_t hl_lane_preferred __attribute__((tls_model("initial-exec")));

/* ---- flush.c ---- */
int hl_pool_flush(struct hl_pool *p, int peer, enum hl_lane_scope scope);
int hl_pool_flush_all(struct hl_pool *p, enum hl_lane_scope scope);

#endif
