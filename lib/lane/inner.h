/* What the files of lane share. All take their state by pointer. */
#ifndef HL_LANE_INNER_H
#define HL_LANE_INNER_H

#include "prog.h"
#include "rx.h"
#include "state.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

/* Pauses after the first look that found a lease taken, and how often they double: 1,024 are some ten
 * microseconds, in which the holder issues a hundred operations without losing a line. */
#define HL_BACK_FIRST 32u
#define HL_BACK_DOUBLINGS 5

/* Positive: not errors, but what the issuer has to do before it tries again. */
enum hl_lane_verdict {
    HL_LANE_NEED_CARD = 1, /* the way is new: fetch the peer's card, without the lease */
    HL_LANE_ELSEWHERE,     /* this lane is full or refuses: another one may do */
    HL_LANE_STAY,          /* not yet (connecting, no credits): this lane again */
    HL_LANE_BROKEN,        /* this lane could not be opened */
};

/* Leaves and wakes whoever waits for the lane or for what ended. */
HL_INLINE void hl_lane_leave(struct hl_lane *lane) HL_RELEASE(lane->lease) HL_NO_TSA
{
    bool wake = lane->wake, tick = lane->tick;
    if (HL_UNLIKELY(wake || tick)) {
        lane->wake = lane->tick = false;
    }
    if (hl_lease_leave(&lane->lease) || HL_UNLIKELY(wake)) {
        hl_prog_wake();
    }
    if (HL_UNLIKELY(tick)) {
        hl_rx_tick();
    }
}

/* Before the next look, after `looks` in a row that found a lease taken. */
HL_INLINE void hl_lane_stand_back(uint32_t looks)
{
    hl_prog_stand_back(HL_BACK_FIRST << (looks < HL_BACK_DOUBLINGS ? looks : HL_BACK_DOUBLINGS));
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

/* What was fenced there is not done. */
HL_INLINE bool hl_way_is_fenced(const struct hl_way *way)
{
    /* relaxed: written by the leaseholder only. */
    return HL_UNLIKELY(way->fenced != 0) && hl_a64_load_relaxed(&way->done) < way->fenced;
}

/* ---- slot.c ---- */
/* Closes a part with an error or 0. */
void hl_slot_close(struct hl_lane *lane, struct hl_slot *slot, unsigned part, int err)
    HL_REQUIRES(lane->lease);
/* Marks the peer dead and ends everything open to it. */
void hl_slot_bury(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease);
/* The connection is lost: what only waits for an acknowledgement will not get it; the way must be mended. */
void hl_slot_lost(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease);
void hl_slot_advance(struct hl_lane *lane) HL_REQUIRES(lane->lease);

/* ---- mend.c ---- */
/* Asks the peer for a sign of life: posts a read of its pulse. As hl_lane_post_direct. */
int hl_way_feel_pulse(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease);
/* Of a lost way: 0 when it may be used again, HL_LANE_STAY, or an error when that lasts too long. Reads the
 * queue. */
int hl_way_mend(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease) HL_COLD;

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
    bool ordered;  /* on lane `at` and no other */
    bool named;    /* and because the caller named it */
    bool recorded; /* of atomics: they travel as records */
    int peer;
    uint32_t at; /* lane to begin with */
    hl_a32 *error;
    uint64_t token;
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
/* Puts or gets through this slot: 0, or the provider's error, and nothing was posted. */
int hl_lane_post_rma(struct hl_lane *lane, const struct hl_way *way, struct hl_slot *slot,
                     const struct hl_xfer *x, bool reads) HL_REQUIRES(lane->lease);
/* A post on this way had the provider's error `rc`, which here is judged for all that a lane posts. Where a
 * later try may do, the queue is read: a verdict, or an error when that lasts too long. Else an error. */
int hl_lane_refused(struct hl_lane *lane, struct hl_way *way, int rc) HL_REQUIRES(lane->lease);

/* Waits for a lane and posts; `verdict` is what the first try said, or 0 when its lane was taken. */
int hl_lane_issue_slow(struct hl_pool *p, struct hl_issue *op, int verdict) HL_COLD;

/* The lane of a thread that prefers none: chosen on its first call, and asked for by guests (warm.c) each
 * time. `peer`: whom it is to speak to. HL_LANES_MAX: the pool is closed. */
uint32_t hl_lane_assign(struct hl_pool *p, int peer) HL_COLD;
/* The peer's card; 0 or an error. No lease is held. */
int hl_lane_card_of(int peer, const struct hl_rx_card **card);

/* ---- warm.c ---- */
/* Sends a message without records, whose acknowledgement says what came of those before it: 0, or a code of
 * the provider. One at a time. */
int hl_way_knock(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease);
/* Has the helper thread open the lane and connect it to `peer`; then it takes the lane's bit out of `coming`.
 * False: there is no such thread. */
bool hl_warm_ask(struct hl_pool *p, uint32_t lane, int peer);
/* Ends the helper. */
void hl_warm_stop(void);

/* ---- flush.c ---- */
/* Waits until the way has done its operation number `seq`, and all before it. */
void hl_way_await(struct hl_lane *lane, struct hl_way *way, uint64_t seq);

/* ---- own.c ---- */
/* The upper half of the lanes can be owned; the others are shared for ever. */
HL_INLINE bool hl_lane_is_ownable(const struct hl_pool *p, uint32_t index)
{
    return index >= hl_pool_count(p) - hl_pool_count(p) / 2;
}

#endif
