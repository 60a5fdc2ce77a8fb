/* What the files of lane share. Every function takes the state that it works on by pointer. */
#ifndef HL_LANE_INTERNAL_H
#define HL_LANE_INTERNAL_H

#include "fab.h"
#include "prog.h"
#include "rx.h"
#include "state.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

/* Pauses after the first look that found a lease taken, and how often they double. The longest, 1,024, lasts
 * about ten microseconds; meanwhile the holder issues about a hundred operations without losing the cache
 * line. */
#define HL_BACK_FIRST 32u
#define HL_BACK_DOUBLINGS 5

/* Post statuses are positive: no errors, but what the issuer has to do before it tries again. */
enum hl_lane_post_status {
    HL_LANE_NEED_CARD = 1, /* there is no way yet: leave the lease and fetch the peer's card */
    HL_LANE_ELSEWHERE,     /* this lane is full or refuses: another one may do */
    HL_LANE_STAY,          /* not yet (connecting, no credits): this lane again */
    HL_LANE_BROKEN,        /* this lane could not be opened */
    HL_LANE_AS_RECORDS,    /* the provider cannot have the caller's memory: as records, which are copied */
};

/* Leaves the lease, and wakes threads that wait for the lane or for an operation that ended. */
HL_INLINE void hl_lane_leave(struct hl_lane *lane) HL_RELEASE(lane->lease) HL_NO_TSA
{
    bool wake = lane->wake, ticks = lane->wants_ticks;
    if (HL_UNLIKELY(wake || ticks)) {
        lane->wake = lane->wants_ticks = false;
    }
    if (hl_lease_leave(&lane->lease) || HL_UNLIKELY(wake)) {
        hl_prog_wake();
    }
    if (HL_UNLIKELY(ticks)) {
        hl_rx_want_ticks();
    }
}

/* Leaves the lease where no chain was opened and no queue read: only the thread that waits for the lane is
 * told. */
HL_INLINE void hl_lane_leave_quietly(struct hl_lane *lane) HL_RELEASE(lane->lease)
{
    if (hl_lease_leave(&lane->lease)) {
        hl_prog_wake();
    }
}

/* Pauses before the next look at a lease, after `looks` looks in a row that found it taken. */
HL_INLINE void hl_lane_stand_back(uint32_t looks)
{
    hl_prog_stand_back(HL_BACK_FIRST << (looks < HL_BACK_DOUBLINGS ? looks : HL_BACK_DOUBLINGS));
}

/* ---- pool.c ---- */
int hl_pool_open(struct hl_lane_pool *p, uint32_t lanes, int ranks);
void hl_pool_close(struct hl_lane_pool *p);
/* opens the endpoint: 0, HL_LANE_BROKEN */
int hl_lane_make_ready(struct hl_lane *lane) HL_REQUIRES(lane->lease);

/* ---- way.c ---- */
/* The way to `peer`, or NULL. Any thread. */
struct hl_way *hl_way_find(const struct hl_lane *lane, int peer);
/* Makes the way to `peer` at the address in its card. Returns NULL with the error in *rc. */
struct hl_way *hl_way_make(struct hl_lane *lane, int peer, const struct hl_rx_card *card, int *rc)
    HL_REQUIRES(lane->lease);
void hl_way_mark(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease);
/* Clears the bits in pool->used of ways that were idle for HL_IDLE_LEASES leases. */
void hl_way_sweep(struct hl_lane *lane) HL_REQUIRES(lane->lease);
void hl_way_free_all(struct hl_lane *lane) HL_NO_TSA;

/* True while an operation before the way's last fence is open. */
HL_INLINE bool hl_way_is_fenced(const struct hl_way *way)
{
    /* relaxed: written by the leaseholder only. */
    return HL_UNLIKELY(way->fenced != 0) && hl_a64_load_relaxed(&way->done) < way->fenced;
}

/* ---- slot.c ---- */
/* A free slot, or NULL. Polls once when the ring is full: NULL also when that has found ways lost or dead, so
 * that the caller's way is as it was if there is a slot. */
struct hl_lane_slot *hl_lane_slot_take(struct hl_lane *lane) HL_REQUIRES(lane->lease);
/* Gives the slot its place in the ring and among the way's operations: from now on flushes wait for it.
 * `local`: local flushes, too. */
void hl_lane_slot_commit(struct hl_lane *lane, struct hl_way *way, struct hl_lane_slot *slot, bool local)
    HL_REQUIRES(lane->lease);
/* Local flushes wait for this slot, too, whose chain got a record that wants an answer. It need not be the
 * way's newest. */
void hl_lane_slot_make_local(struct hl_way *way, const struct hl_lane_slot *slot);
/* Closes a part of the slot (enum hl_lane_slot_part) with an error or 0; with its last part the slot ends. */
void hl_lane_slot_close(struct hl_lane *lane, struct hl_lane_slot *slot, unsigned part, int err)
    HL_REQUIRES(lane->lease);
/* Reports the end of a slot, with the error in it, whose context the provider still holds. */
void hl_lane_slot_quarantine(struct hl_lane *lane, struct hl_lane_slot *slot) HL_REQUIRES(lane->lease);
/* Marks the peer dead and ends everything open to it. */
void hl_lane_slot_fail_peer(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease);
/* The connection is lost: all messages without acknowledgement fail, since that of a later message would
 * close them as done. Those that the provider holds end when it gives them back. The way must be reconnected
 * before its next post (hl_lane_reconnect). */
void hl_lane_slot_lost(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease);
/* Lets `tail` pass over slots that have ended. The caller that ends a slot sets lane->wake. */
void hl_lane_slot_advance(struct hl_lane *lane) HL_REQUIRES(lane->lease);

/* ---- reconnect.c ---- */
/* Posts a read of the peer's heartbeat (8 bytes that its card names), to see whether it still answers.
 * Returns what hl_lane_post_direct does. */
int hl_lane_read_heartbeat(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease);
/* Reads the queue, and tries whether a lost way works again: 0 when it may be used, HL_LANE_STAY when not
 * yet, HL_ERR_PROC_ABORTED when the peer is dead or the way has been lost for too long. */
int hl_lane_reconnect(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease) HL_COLD;

/* ---- poll.c ---- */
/* Reads the completion queue; returns how many completions there were. */
int hl_lane_progress(struct hl_lane *lane) HL_REQUIRES(lane->lease);

/* ---- ack.c ---- */
/* An acknowledgement arrived in a posted receive; the buffer is posted again. */
void hl_acks_in(struct hl_lane *lane, struct hl_fab_receive *buf, size_t len) HL_REQUIRES(lane->lease);

/* ---- chain.c ---- */
struct hl_issue;
/* True: the operation travels as a record of a chain. */
bool hl_issue_is_chained(const struct hl_issue *op);
/* Bytes of payload (or of an answer) that the largest put, get or atomic record takes. */
size_t hl_chain_room(void);
/* Copies the operation into the way's open chain, which it opens if need be: 0, a status, or an error. */
int hl_chain_append(struct hl_lane *lane, struct hl_way *way, const struct hl_issue *op)
    HL_REQUIRES(lane->lease);

/* ---- send.c ---- */
enum hl_chain_form { HL_CHAIN_AS_MESSAGE, HL_CHAIN_MAY_GO_ALONE }; /* one put or get goes directly then */
/* Sends the way's open chain, if there is one: 0; a status, and the chain stays open; or an error, with
 * which all operations in it ended. */
int hl_chain_send(struct hl_lane *lane, struct hl_way *way, enum hl_chain_form form) HL_REQUIRES(lane->lease);
/* Sends all open chains whose slot's number is below `before`, as far as that is possible now. */
void hl_chain_send_all(struct hl_lane *lane, uint64_t before) HL_REQUIRES(lane->lease);
/* Sends the open chains that the calling thread opened, or that several threads wait for. */
void hl_chain_send_mine(struct hl_lane *lane) HL_REQUIRES(lane->lease);
/* The receive thread calls it at each tick. It sends chains that have been open for long, and probes peers
 * that have not acknowledged for long. False: nothing was open on any lane. */
bool hl_pool_tick(struct hl_lane_pool *p);
/* Writes the head of a lane's message, and HELLO behind it where the flag is set. The caller fills in seq,
 * flags, len and count. */
void hl_lane_write_head(const struct hl_lane *lane, struct hl_wire_head head, uint8_t *at)
    HL_REQUIRES(lane->lease);
/* Ends the way's open chain, if there is one, and all its operations with an error. */
void hl_chain_fail(struct hl_lane *lane, struct hl_way *way, int err) HL_REQUIRES(lane->lease);
/* The chain's slot has ended: stores errors in the error words, and ends the requests of its operations. */
void hl_chain_finish(struct hl_lane *lane, struct hl_chain *chain, int err) HL_REQUIRES(lane->lease);
/* Record number `record` was refused by the target: stores `err` in its error word. */
void hl_chain_refuse(struct hl_lane *lane, struct hl_chain *chain, uint32_t record, int err)
    HL_REQUIRES(lane->lease);
/* The error word of record number `record`. */
hl_a32 *hl_chain_error_of(const struct hl_chain *chain, uint32_t record);
/* The calling thread, as chain->opener names it. */
const void *hl_chain_me(void);
/* Keeps the chain's buffer for the next chain of this lane. */
void hl_chain_unuse(struct hl_lane *lane, struct hl_chain *chain) HL_REQUIRES(lane->lease);
/* Gives all buffers back; if the endpoint is not closed, without those that the provider may use still. */
void hl_chain_free_all(struct hl_lane *lane, bool closed) HL_NO_TSA;

/* ---- post.c, issue.c ---- */
enum hl_op_what { HL_ISSUE_WRITE, HL_ISSUE_READ, HL_ISSUE_ATOMIC, HL_ISSUE_MESSAGE };

/* One post: a piece of a transfer or of an atomic operation, or a message. */
struct hl_issue {
    enum hl_op_what what;
    bool ordered;  /* goes on this lane and no other */
    bool named;    /* it is so because the caller named the lane */
    bool recorded; /* it travels as a record, whatever its length */
    int peer;
    uint32_t lane_index; /* lane to begin with */
    hl_a32 *error;
    uint64_t token;
    struct hl_req *req;
    uint64_t addr, key;
    void *buf;
    size_t len;
    /* the whole operation; buf and result are this piece's, and len counts elements */
    const struct hl_lane_atomic *atomic;
    void *result;
    const struct hl_lane_message *message;
    const struct hl_rx_card *card; /* the peer's card, fetched where a way has to be made; else NULL */
};

/* Posts on this lane: 0, a status, or an error. */
int hl_lane_post(struct hl_lane *lane, const struct hl_issue *op) HL_REQUIRES(lane->lease);
/* Posts an operation that goes by itself, on a way that is ready for it. Returns what hl_lane_post does. */
int hl_lane_post_direct(struct hl_lane *lane, struct hl_way *way, const struct hl_issue *op)
    HL_REQUIRES(lane->lease);

/* Posts a put or get with this slot: 0; or the provider's error, and nothing was posted. */
int hl_lane_post_rma(struct hl_lane *lane, const struct hl_way *way, struct hl_lane_slot *slot,
                     const struct hl_xfer *x, bool reads) HL_REQUIRES(lane->lease);
/* A post of any kind on this way was refused by the provider with `rc`. If a later try may succeed, it reads
 * the queue and returns a status, or an error when the refusals have lasted too long. Else it returns the
 * error. */
int hl_lane_refused(struct hl_lane *lane, struct hl_way *way, int rc) HL_REQUIRES(lane->lease);

/* Waits for a lane and posts there. `status`: what the first try returned, or 0 when its lane was taken. */
int hl_lane_issue_slow(struct hl_lane_pool *p, struct hl_issue *op, int status) HL_COLD;

/* The lane for a thread that prefers none. It is chosen on the thread's first call; a borrower
 * (open_async.c) asks each time. `peer`: the rank that the thread wants to reach. HL_LANES_MAX: the pool is
 * closed. */
uint32_t hl_lane_assign(struct hl_lane_pool *p, int peer) HL_COLD;

/* ---- open_async.c ---- */
/* Sends a ping, a message without records; the answer to it tells whether the messages before it came. 0, or
 * a code of the provider: -FI_EAGAIN while the way's last one is not completed. */
int hl_lane_ping(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease);
/* A completion with this context has come. True: that ended a ping, which is over now. */
bool hl_lane_end_ping(struct hl_lane *lane, const void *context) HL_REQUIRES(lane->lease);
/* Has the helper thread open the lane and connect it to `peer`, and then clear the lane's bit in `opening`.
 * False: the helper thread does not run and cannot be started. */
bool hl_lane_open_async(struct hl_lane_pool *p, uint32_t lane, int peer);
/* Ends the helper thread. */
void hl_lane_open_async_stop(void);

/* ---- flush.c ---- */
/* Waits until the way's operation number `seq` and all before it have ended. */
void hl_lane_await(struct hl_lane *lane, struct hl_way *way, uint64_t seq);

/* ---- own.c ---- */
/* The upper half of the lanes can be owned; the others are shared for ever. */
HL_INLINE bool hl_lane_is_ownable(const struct hl_lane_pool *p, uint32_t index)
{
    return index >= hl_pool_count(p) - hl_pool_count(p) / 2;
}

#endif
