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
#define HL_IDLE_LEASES 64          /* leases after which an idle way's bit is taken back */

/* Positive: not errors, but what the issuer has to do before it tries again. */
enum hl_lane_verdict {
    HL_LANE_NEED_CARD = 1, /* the way is new: fetch the peer's card, without the lease */
    HL_LANE_ELSEWHERE,     /* this lane is full or refuses: another one may do */
    HL_LANE_STAY,          /* not yet (connecting, no credits): this lane again */
    HL_LANE_BROKEN,        /* this lane could not be opened */
};

/* Open parts of a slot: closed by the provider's completion, by the target's acknowledgement. */
enum hl_slot_part { HL_PART_POST = 1, HL_PART_ACK = 2 };

/* One operation in flight. Changed under the lane's lease.
 *
 *   free --take, post--> open (parts left) --last part--> finished --tail passes--> free
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
    struct hl_letter *letter; /* of a message, else NULL */
    uint64_t message;         /* number of the message on its way */
    void *reply;              /* where its answer goes, or NULL */
    size_t reply_cap;
    bool answered;
};

/* The record of (lane, target): made on first use, never freed before the lane. issued and done are read by
 * flushers of all threads, everything is written under the lease. */
struct hl_way {
    HL_ALIGNED_LINE hl_a64 issued; /* operations posted. atomic: release by the holder, acquire by flushers */
    hl_a64 done;                   /* operations ended, in order: none before it is open. atomic: the same */
    int peer;                      /* world rank */
    bool marked;                   /* my bit in the pool's used[peer] is set, and the peer is not dead */
    bool hello_said;
    bool greeted;            /* a message was acknowledged: atomics may go (issue.c) */
    bool dead;               /* the launcher said so: posts fail at once */
    uint32_t unacked;        /* messages without acknowledgement */
    fi_addr_t addr;          /* the peer's receive endpoint */
    struct hl_slot *first;   /* oldest one not ended */
    struct hl_slot *last;    /* newest one, valid when first is */
    uint64_t messages;       /* sent on this way */
    uint64_t touched;        /* the lane's leases at the last issue */
    uint64_t refused_ns;     /* since when the provider has refused every post, 0: it does not */
    uint64_t done_at_refuse; /* done then */
    hl_a32 greeting; /* error word of the message before the first atomic: the atomic meets the same */
};

/* A lane's ways by peer: open addressing. Replaced by a larger one when half full; old ones stay readable. */
struct hl_way_table {
    struct hl_way_table *older;
    uint32_t room;  /* a power of two */
    uint32_t count; /* under the lease */
    hl_aptr at[];   /* struct hl_way, NULL: free. atomic: release when added, acquire by flushers */
};

/* A message under way, or one awaited. */
struct hl_letter {
    struct hl_letter *next;      /* while unused */
    struct fi_context2 context;  /* of a posted receive */
    _Alignas(8) uint8_t bytes[]; /* hl_fab.eager */
};

/* Fields without a word on protection are changed under the lease. (clang's C cannot say "guarded by" of a
 * sibling field: the functions that touch them say HL_REQUIRES instead.) */
struct hl_lane {
    struct hl_lease lease;
    /* On the lease's line: what every operation of the holder touches. */
    struct hl_way *recent; /* way of the last issue, or NULL */
    struct fid_ep *ep;     /* NULL until opened */
    struct hl_pool *pool;  /* read-only */
    uint32_t index;        /* read-only */
    bool broken;           /* could not be opened */
    bool wake;             /* somebody may wait for what ended: hl_prog_wake after leaving */
    uint32_t deaths_seen;  /* of the pool's */

    HL_ALIGNED_LINE hl_a64 issued; /* slots taken. atomic: release by the holder, acquire by flushers */
    hl_a64 tail;                   /* slots before it are free. atomic: the same */
    hl_aptr ways;                  /* struct hl_way_table. atomic: the same */
    struct hl_fab_ep fab;
    struct hl_letter *letters;  /* unused ones for sending */
    struct hl_letter *receives; /* array of HL_MAIL, NULL until the first message */
    uint32_t mail;              /* messages without acknowledgement */
    uint64_t swept;             /* leases at the last sweep of idle bits */
    struct hl_stat_lane stat;
    struct hl_slot slots[HL_SLOTS];
};

struct hl_pool {
    uint32_t count;                      /* lanes; 0: closed. Read-only while open */
    int ranks;                           /* of the job */
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
    bool wake = lane->wake;
    lane->wake = false;
    if (hl_lease_leave(&lane->lease) || HL_UNLIKELY(wake)) {
        hl_prog_wake();
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
/* Posts a message for `slot`: 0, a verdict, or a (negative) code of the provider. */
int hl_mail_post(struct hl_lane *lane, struct hl_way *way, struct hl_slot *slot,
                 const struct hl_lane_message *m) HL_REQUIRES(lane->lease);
/* An acknowledgement arrived in a posted receive; the buffer is posted again. */
void hl_mail_in(struct hl_lane *lane, struct hl_letter *letter, size_t len) HL_REQUIRES(lane->lease);
/* The posted receive that owns this context, or NULL. */
struct hl_letter *hl_mail_receive_of(struct hl_lane *lane, const void *context) HL_REQUIRES(lane->lease);
void hl_mail_again(struct hl_lane *lane, struct hl_letter *letter) HL_REQUIRES(lane->lease);
void hl_mail_unuse(struct hl_lane *lane, struct hl_letter *letter) HL_REQUIRES(lane->lease);
void hl_mail_free(struct hl_lane *lane) HL_NO_TSA;

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

/* Waits for a lane and posts; `verdict` is what the first try said, or 0 when its lane was taken. */
int hl_lane_issue_slow(struct hl_pool *p, struct hl_issue *op, int verdict) HL_COLD;

/* The thread's preferred lane, chosen on its first call; HL_LANES_MAX: the pool is closed. */
uint32_t hl_lane_assign(struct hl_pool *p) HL_COLD;
extern __thread uint32_t hl_lane_preferred __attribute__((tls_model("initial-exec")));

/* ---- flush.c ---- */
int hl_pool_flush(struct hl_pool *p, int peer);
int hl_pool_flush_all(struct hl_pool *p);

#endif
