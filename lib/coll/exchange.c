/* The engine of exchanges: posts, takes and waits, for each peer. */
#include "exchange_internal.h"

#include <stdlib.h>
#include <string.h>

#include "algos.h"
#include "cs.h"
#include "err.h"
#include "match.h"
#include "near_map.h"
#include "prog.h"
#include "rx.h"

#define BOUNCE_BYTES ((int64_t)65536)
#define STREAM_BYTES ((int64_t)32768) /* for longer blocks reading the sender's memory is faster */
/* Limit where threads exceed CPUs: each wait for the reader's answer costs a turn of the scheduler there. */
#define STREAM_CROWDED ((int64_t)131072)
#define CHUNK_BYTES ((int64_t)32768) /* bytes of a stream that are published at once */
/* Up to this block size, over several nodes, Bruck's algorithm needs fewer messages. */
#define BRUCK_BYTES 256
/* Steps before waiting, which yields at once where threads exceed CPUs; the peer may be running. */
#define TRIES 10
#define FEW 32        /* up to so many members need no allocation */
#define DEAD_TURNS 64 /* steps between two questions whether peers live */

static void fail_exchange(struct hl_exchange *x, int err)
{
    if (x->err == 0) {
        x->err = err;
    }
}

static struct hl_data find_outgoing(const struct hl_exchange *x, int to)
{
    if (x->packed != NULL) {
        return hl_data_bytes(x->packed + x->at[to], (size_t)(x->at[to + 1] - x->at[to]));
    }
    return hl_coll_block(&x->call.send, to);
}

static void end_way(struct hl_exchange_way *w, int peer)
{
    w->phase[peer] = HL_XCHG_OVER;
    w->left--;
}

/* ---- Messages ---- */

static void start_flying(struct hl_exchange *x, struct hl_exchange_way *w, int peer,
                         const struct hl_data *data)
{
    struct hl_coll_msg m = {x->call.comm, x->ctx, x->tag, peer, *data, false};
    const struct hl_coll_net *net = &hl_coll_net_match;
    int err = w == &x->out ? net->send(&m, &w->at[peer].request) : net->recv(&m, &w->at[peer].request);

    if (err != 0) {
        fail_exchange(x, err);
        end_way(w, peer);
        return;
    }
    w->phase[peer] = HL_XCHG_FLYING;
    w->far += x->boxes->pair[peer].in == NULL;
}

static void land_data(struct hl_exchange *x, struct hl_exchange_way *w, int peer)
{
    int err = 0;

    if (hl_coll_net_match.test(w->at[peer].request, &err)) {
        fail_exchange(x, err);
        end_way(w, peer);
        w->far -= x->boxes->pair[peer].in == NULL;
    }
}

/* Begins a block for a member on another node; both sides know when it is empty. All members begin blocks in
 * the order of distance, so both sides have begun the least that is open anywhere. */
static void begin_far(struct hl_exchange *x, struct hl_exchange_way *w, int peer, const struct hl_data *data)
{
    if (data->count * data->type->size == 0) {
        end_way(w, peer);
    } else if (w->far < HL_SCHED_WINDOW) {
        start_flying(x, w, peer, data);
    }
}

/* ---- Out ---- */

static int put_bytes(struct hl_copy_out *o, const struct hl_data *data, int64_t from, char *to, int64_t n)
{
    char *start;

    if (!hl_type_block(data->type, data->count, data->buf, &start)) {
        return hl_type_pack(data->type, data->count, data->buf, from, to, n);
    }
    hl_copy_out(o, to, start + from, (size_t)n);
    return 0;
}

/* Goes on with a stream; true when it put something into the ring. */
static bool fill_ring(struct hl_exchange *x, int peer, const struct hl_data *data)
{
    struct hl_mail_pair *p = &x->boxes->pair[peer];
    int64_t bytes = data->count * data->type->size, *through = &x->out.at[peer].through;
    bool moved = false;
    char *at;

    while (*through < bytes) {
        int64_t n = (int64_t)hl_mail_may_fill(p, x->epoch, &at);
        if (n == 0) {
            return moved;
        }
        n = n < CHUNK_BYTES ? n : CHUNK_BYTES;
        n = n < bytes - *through ? n : bytes - *through;
        fail_exchange(x, put_bytes(&p->copy, data, *through, at, n));
        hl_mail_filled(p, (uint64_t)n);
        *through += n;
        moved = true;
    }
    hl_mail_settle(p, x->epoch);
    end_way(&x->out, peer);
    return moved;
}

static void stream_block(struct hl_exchange *x, int peer, const struct hl_data *data)
{
    hl_mail_post(&x->boxes->pair[peer], x->epoch, HL_MAIL_STREAM);
    x->out.phase[peer] = HL_XCHG_STREAMING;
    x->out.at[peer].through = 0;
    fill_ring(x, peer, data);
}

static bool is_for_stream(int64_t bytes)
{
    return bytes <= STREAM_BYTES || (bytes <= STREAM_CROWDED && hl_prog_crowded());
}

/* Posts a peer's block. False: it may not be posted yet. */
static bool post_data(struct hl_exchange *x, int peer, const struct hl_data *data)
{
    struct hl_mail_pair *p = &x->boxes->pair[peer];
    int64_t bytes = data->count * data->type->size;
    char *start;

    if (!hl_mail_may_post(p, x->epoch)) {
        return false;
    }
    struct hl_mail_slot *slot = hl_mail_slot(p, x->epoch);
    /* relaxed: 0 until its owner has set it */
    bool has_ring = p->ring != 0 && hl_a64_load_relaxed(&p->out->room) != 0;
    slot->len = (uint64_t)bytes;
    if (bytes <= HL_MAIL_BYTES) {
        fail_exchange(x, hl_type_pack(data->type, data->count, data->buf, 0, slot->data, bytes));
        hl_mail_post(p, x->epoch, HL_MAIL_DATA);
        hl_mail_settle(p, x->epoch);
        end_way(&x->out, peer);
    } else if (has_ring && is_for_stream(bytes)) {
        stream_block(x, peer, data);
    } else if (x->boxes->board->reads && hl_type_block(data->type, data->count, data->buf, &start)) {
        const struct hl_seg *seg = hl_mem_find(start, (size_t)bytes);
        slot->addr = (uint64_t)(uintptr_t)start;
        slot->seg = seg != NULL ? seg->id : 0;
        hl_mail_post(p, x->epoch, HL_MAIL_ADDR);
        x->out.phase[peer] = HL_XCHG_POSTED;
    } else if (has_ring) {
        stream_block(x, peer, data);
    } else {
        hl_mail_post(p, x->epoch, HL_MAIL_MESSAGE);
        hl_mail_settle(p, x->epoch);
        start_flying(x, &x->out, peer, data);
    }
    return true;
}

static void await_peer(struct hl_exchange *x, int peer)
{
    struct hl_mail_pair *p = &x->boxes->pair[peer];
    enum hl_mail_answer answer = hl_mail_acked(p, x->epoch);

    if (answer == HL_MAIL_WAIT) {
        return;
    }
    hl_mail_settle(p, x->epoch);
    if (answer == HL_MAIL_SEND) {
        struct hl_data data = find_outgoing(x, peer);
        start_flying(x, &x->out, peer, &data);
        return;
    }
    end_way(&x->out, peer);
}

/* True when there is something new for the peer to see. */
static bool step_out(struct hl_exchange *x, int peer)
{
    struct hl_data data;

    switch ((enum hl_exchange_phase)x->out.phase[peer]) {
    case HL_XCHG_WAITING:
        data = find_outgoing(x, peer);
        if (x->boxes->pair[peer].out != NULL) {
            return post_data(x, peer, &data);
        }
        begin_far(x, &x->out, peer, &data);
        break;
    case HL_XCHG_STREAMING:
        data = find_outgoing(x, peer);
        return fill_ring(x, peer, &data);
    case HL_XCHG_POSTED:
        await_peer(x, peer);
        break;
    case HL_XCHG_FLYING:
        land_data(x, &x->out, peer);
        break;
    case HL_XCHG_OVER:
        break;
    }
    return false;
}

/* ---- In ---- */

/* Reads through a buffer into a layout that is not one block. */
static int read_scattered(int node_rank, uint64_t from, const struct hl_data *to, int64_t bytes)
{
    char *bounce = malloc((size_t)(bytes < BOUNCE_BYTES ? bytes : BOUNCE_BYTES));
    int err = bounce != NULL ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory for a buffer of an alltoall");

    for (int64_t done = 0; err == 0 && done < bytes; done += BOUNCE_BYTES) {
        int64_t n = bytes - done < BOUNCE_BYTES ? bytes - done : BOUNCE_BYTES;
        err = hl_match_read(node_rank, from + (uint64_t)done, bounce, (uint64_t)n);
        err = err != 0 ? err : hl_type_unpack(to->type, to->count, to->buf, done, bounce, n);
    }
    free(bounce);
    return err;
}

/* Reads a block from a segment that is mapped here, or by the kernel. */
static int read_block(const struct hl_exchange *x, int peer, const struct hl_mail_slot *slot,
                      const struct hl_data *to, int64_t bytes)
{
    const struct hl_board *board = x->boxes->board;
    int node_rank = board->node_ranks[board->places[peer]];
    uint64_t seg = HL_ONCE(slot->seg), addr = HL_ONCE(slot->addr);
    char *start;

    if (seg != 0 && hl_near_borrow(node_rank, seg, addr, (size_t)bytes, &start)) {
        int err = hl_type_unpack(to->type, to->count, to->buf, 0, start, bytes);
        hl_near_unmap(node_rank, seg);
        return err;
    }
    if (hl_type_block(to->type, to->count, to->buf, &start)) {
        return hl_match_read(node_rank, addr, start, (uint64_t)bytes);
    }
    return read_scattered(node_rank, addr, to, bytes);
}

static int get_bytes(const struct hl_data *data, int64_t at, const char *from, int64_t n)
{
    char *start;

    if (!hl_type_block(data->type, data->count, data->buf, &start)) {
        return hl_type_unpack(data->type, data->count, data->buf, at, from, n);
    }
    hl_copy_in(start + at, from, (size_t)n);
    return 0;
}

/* Goes on with a stream; bytes that find no room are dropped. True when it took some. */
static bool drain_stream(struct hl_exchange *x, int peer, const struct hl_data *data)
{
    struct hl_mail_pair *p = &x->boxes->pair[peer];
    int64_t room = data->count * data->type->size, len = (int64_t)HL_ONCE(hl_mail_found(p, x->epoch)->len);
    int64_t *through = &x->in.at[peer].through;
    bool moved = false;
    const char *at;

    while (*through < len) {
        int64_t n = (int64_t)hl_mail_arrived(p, &at);
        if (n == 0) {
            return moved;
        }
        n = n < len - *through ? n : len - *through;
        int64_t kept = n < room - *through ? n : room - *through;
        if (HL_LIKELY(kept > 0)) {
            fail_exchange(x, get_bytes(data, *through, at, kept));
        }
        hl_mail_drained(p, (uint64_t)n);
        *through += n;
        moved = true;
    }
    hl_mail_take(p, x->epoch);
    end_way(&x->in, peer);
    return moved;
}

/* Takes a peer's post. True when the peer waits for an answer. */
static bool take_mail(struct hl_exchange *x, int peer, const struct hl_data *data, enum hl_mail_kind kind)
{
    struct hl_mail_pair *p = &x->boxes->pair[peer];
    const struct hl_mail_slot *slot = hl_mail_found(p, x->epoch);
    int64_t room = data->count * data->type->size;
    int64_t most = kind == HL_MAIL_DATA && room > HL_MAIL_BYTES ? HL_MAIL_BYTES : room;
    uint64_t len = HL_ONCE(slot->len);
    int64_t bytes = len < (uint64_t)most ? (int64_t)len : most;
    bool by_message = kind == HL_MAIL_MESSAGE;

    if (len > (uint64_t)most) {
        fail_exchange(x, hl_coll_say_long((int64_t)len, peer, room));
    }
    if (kind == HL_MAIL_STREAM) {
        x->in.phase[peer] = HL_XCHG_STREAMING;
        x->in.at[peer].through = 0;
        return drain_stream(x, peer, data);
    }
    if (kind == HL_MAIL_DATA) {
        fail_exchange(x, hl_type_unpack(data->type, data->count, data->buf, 0, slot->data, bytes));
    } else if (kind == HL_MAIL_ADDR) {
        by_message = bytes > 0 && read_block(x, peer, slot, data, bytes) != 0;
        hl_mail_ack(p, x->epoch, by_message ? HL_MAIL_SEND : HL_MAIL_READ);
    }
    hl_mail_take(p, x->epoch);
    if (by_message) {
        start_flying(x, &x->in, peer, data);
    } else {
        end_way(&x->in, peer);
    }
    return kind == HL_MAIL_ADDR;
}

/* True when there is something new for the peer to see. */
static bool step_in(struct hl_exchange *x, int peer)
{
    struct hl_data data;

    if (x->in.phase[peer] == HL_XCHG_FLYING) {
        land_data(x, &x->in, peer);
        return false;
    }
    if (x->in.phase[peer] == HL_XCHG_STREAMING) {
        data = hl_coll_block(&x->call.recv, peer);
        return drain_stream(x, peer, &data);
    }
    if (x->boxes->pair[peer].in == NULL) {
        data = hl_coll_block(&x->call.recv, peer);
        begin_far(x, &x->in, peer, &data);
        return false;
    }
    enum hl_mail_kind kind = hl_mail_look(&x->boxes->pair[peer], x->epoch);
    if (kind == HL_MAIL_NOTHING) {
        return false;
    }
    data = hl_coll_block(&x->call.recv, peer);
    return take_mail(x, peer, &data, kind);
}

/* ---- Deaths ---- */

static bool does_wait_for_peer(const struct hl_exchange_way *w, int peer)
{
    return w->phase[peer] != HL_XCHG_FLYING && w->phase[peer] != HL_XCHG_OVER;
}

/* Ends blocks that wait for a dead peer's mailboxes with an error, after taking what the peer had posted.
 * Messages end by themselves. */
static void fail_mailboxes(struct hl_exchange *x, int peer)
{
    int world = hl_comm_world(x->call.comm, peer);

    if (does_wait_for_peer(&x->out, peer)) {
        step_out(x, peer);
    }
    if (does_wait_for_peer(&x->in, peer)) {
        step_in(x, peer);
    }
    struct hl_exchange_way *const ways[] = {&x->out, &x->in};
    for (int i = 0; i < 2; i++) {
        if (does_wait_for_peer(ways[i], peer)) {
            fail_exchange(x, hl_err_say(HL_ERR_PROC_ABORTED, "rank %d has ended", world));
            end_way(ways[i], peer);
        }
    }
}

static void look_for_dead(struct hl_exchange *x)
{
    for (int i = 0; i < x->call.comm->size; i++) {
        if (x->boxes->pair[i].in != NULL && hl_rx_is_dead(hl_comm_world(x->call.comm, i))) {
            fail_mailboxes(x, i);
        }
    }
}

/* ---- The whole ---- */

static void wake_peers(const struct hl_exchange *x)
{
    hl_prog_wake_peers(x->boxes->near_ranks, x->boxes->n_near);
}

static void copy_own_block(struct hl_exchange *x)
{
    if (x->packed == NULL) {
        struct hl_data to = hl_coll_block(&x->call.recv, x->call.comm->rank);
        struct hl_data from = hl_coll_block(&x->call.send, x->call.comm->rank);
        fail_exchange(x, hl_data_copy(to, from));
    }
}

bool hl_exchange_step(struct hl_exchange *x)
{
    int size = x->call.comm->size, rank = x->call.comm->rank;
    bool tell = false;

    for (int k = 1; x->out.left > 0 && k < size; k++) {
        int to = hl_rank_behind(rank, k, size);
        tell = (x->out.phase[to] != HL_XCHG_OVER && step_out(x, to)) || tell;
    }
    if (tell) {
        wake_peers(x);
        tell = false;
    }
    if (!x->begun) {
        x->begun = true;
        copy_own_block(x);
    }
    for (int k = 1; x->in.left > 0 && k < size; k++) {
        int from = hl_rank_behind(rank, size - k, size);
        tell = (x->in.phase[from] != HL_XCHG_OVER && step_in(x, from)) || tell;
    }
    if (tell) {
        wake_peers(x);
    }
    if (x->out.left + x->in.left > 0 && ++x->turns % DEAD_TURNS == 0) {
        look_for_dead(x);
    }
    return x->out.left + x->in.left == 0;
}

/* In place, blocks are sent from a copy, since others arrive where they were. */
static void pack_in_place(struct hl_exchange *x)
{
    const struct hl_coll_side *side = &x->call.recv;

    for (int i = 0; i < x->call.comm->size && x->packed != NULL; i++) {
        struct hl_data b = hl_coll_block(side, i);
        fail_exchange(x,
                      hl_type_pack(b.type, b.count, b.buf, 0, x->packed + x->at[i], x->at[i + 1] - x->at[i]));
    }
}

void hl_exchange_begin(struct hl_exchange *x)
{
    int size = x->call.comm->size;

    x->epoch = ++x->boxes->epoch;
    x->tag = x->own ? x->tag : (int)(x->epoch & 0x3fffffff);
    x->err = 0;
    x->turns = 0;
    x->begun = false;
    memset(x->out.phase, HL_XCHG_WAITING, (size_t)size);
    memset(x->in.phase, HL_XCHG_WAITING, (size_t)size);
    x->out.left = x->in.left = size - 1;
    pack_in_place(x);
}

/* Bytes of the copy that an exchange in place needs. */
static int64_t packed_bytes(const struct hl_coll_call *c)
{
    int64_t sum = 0;

    for (int i = 0; i < c->comm->size; i++) {
        sum += hl_coll_block_bytes(&c->recv, i);
    }
    return sum;
}

int hl_exchange_init(struct hl_exchange *x, struct hl_boxes *boxes, void *few, size_t few_bytes)
{
    const struct hl_comm *comm = x->call.comm;
    size_t size = (size_t)comm->size;
    bool in_place = hl_coll_in_place(&x->call.send);
    size_t at = in_place ? (size + 1) * sizeof *x->at : 0;
    size_t all = 2 * size * (sizeof *x->out.at + 1) + at + (in_place ? (size_t)packed_bytes(&x->call) : 0);
    void *memory = few;

    if (all > few_bytes) {
        x->memory = memory = malloc(all);
    }
    if (memory == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for %zu bytes of an alltoall", all);
    }
    x->boxes = boxes;
    x->out.at = memory;
    x->in.at = x->out.at + size;
    x->at = (int64_t *)(void *)(x->in.at + size);
    char *rest = (char *)x->at + at;
    x->out.phase = (uint8_t *)rest;
    x->in.phase = (uint8_t *)rest + size;
    if (in_place) {
        x->packed = rest + 2 * size;
        x->at[0] = 0;
        for (int i = 0; i < comm->size; i++) {
            x->at[i + 1] = x->at[i] + hl_coll_block_bytes(&x->call.recv, i);
        }
    }
    return 0;
}

static bool is_exchange_over(void *exchange)
{
    return hl_exchange_step(exchange);
}

void hl_exchange_describe(const struct hl_exchange *x, struct hl_wait_desc *t)
{
    if (hl_exchange_state(x) == HL_BOXES_PENDING) {
        hl_boxes_describe(x->boxes, t);
        return;
    }
    hl_desc_comm(t, x->call.comm->ctx);
    for (int i = 0; i < x->call.comm->size; i++) {
        bool open = x->in.phase[i] != HL_XCHG_OVER || x->out.phase[i] != HL_XCHG_OVER;
        hl_desc_await(t, open && i != x->call.comm->rank ? hl_comm_world(x->call.comm, i) : -1);
    }
}

static void describe_exchange(const void *exchange, struct hl_wait_desc *t)
{
    hl_exchange_describe(exchange, t);
}
HL_HANG_WORDS(is_exchange_over, describe_exchange);

static int finish_exchange(struct hl_exchange *x)
{
    free(x->memory);
    return x->err;
}

int hl_exchange_run(const struct hl_coll_call *c, struct hl_boxes *boxes)
{
    void *few[FEW * 9 / 4];
    struct hl_exchange x = {.call = *c, .ctx = c->comm->ctx + HL_PLANE_MAIL};
    int err = hl_exchange_init(&x, boxes, few, sizeof few);

    if (err != 0) {
        return err;
    }
    hl_exchange_begin(&x);
    for (int i = 0; i < TRIES; i++) {
        if (hl_exchange_step(&x)) {
            return finish_exchange(&x);
        }
        hl_pause();
    }
    hl_prog_wait_rung(is_exchange_over, &x);
    return finish_exchange(&x);
}

bool hl_exchange_fits(const struct hl_coll_call *c)
{
    const struct hl_comm *comm = c->comm;

    if ((c->what != HL_COLL_ALLTOALL && c->what != HL_COLL_ALLTOALLV) || comm->size < 2 ||
        hl_comm_is_inter(comm) || hl_cs_has_locks()) {
        return false;
    }
    return c->what == HL_COLL_ALLTOALLV || comm->one_node || hl_coll_block_bytes(&c->recv, 0) > BRUCK_BYTES;
}
