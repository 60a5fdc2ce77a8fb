/* Partitioned operations: a channel from a send to its receive.
 *
 * At its init a send tells the receive its channel (a context of its own) and how it cuts the data into
 * messages: one for each partition, or for several when there are many. This plan is one message, and the
 * init calls of both sides pair in order. From then on message k of each start is matched by (channel, k),
 * whatever is started first. The thread that readies the last partition of a message sends it. A receive is a
 * flight: when it has the plan, it posts the messages, and marks those that came. Both sides may cut the same
 * bytes differently. */
#include "partitioned.h"

#include "deaths.h"
#include "err.h"
#include "flight.h"
#include "match_internal.h"
#include "prog.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGES_MAX 1024

/* What a send tells its receive. */
struct plan {
    uint64_t channel;
    int64_t bytes;     /* bytes of all messages */
    int64_t unit;      /* bytes of each message but the last */
    uint32_t messages; /* number of messages */
    uint32_t spare;
};

/* What a send and a receive have in common. */
struct plan_side {
    struct hl_req_more more;
    struct hl_flight flight;
    struct hl_req *request;
    /* message with the plan; NULL when it has gone or come; only the flight uses it */
    struct hl_req *telling;
    struct plan plan;
    struct hl_type *type; /* the type, with a reference */
    char *buf;
    int64_t count; /* elements of a partition */
    int partitions;
    void (*release)(struct plan_side *x);
};

struct psend {
    struct plan_side side;
    struct hl_send send; /* the send of one message */
    int tag;             /* the user's tag */
    int per_message;     /* partitions in each message */
    uint32_t left;       /* messages below this have left; only the flight uses it */
    hl_a64 *ready;       /* atomic: a bit for each partition */
    hl_a32 *missing;     /* atomic: for each message, the number of partitions that are not ready */
    hl_aptr *sent;       /* struct hl_req * of each message. atomic: release by the sending thread */
};

enum part_state { PART_MISSING, PART_HERE, PART_LOST };

struct precv {
    struct plan_side side;
    struct hl_recv recv; /* the receive of one message */
    int tag;             /* the user's tag */
    int source;
    int64_t bytes; /* bytes of the receive buffer */
    hl_a32 known;  /* atomic: release after the plan and what depends on it */
    int err;       /* the error for which there is no plan; each start gets it */
    bool posted;   /* only the flight uses it and the fields below, except the atomic ones */
    struct hl_req **open;
    uint32_t *index; /* number of each open message */
    uint32_t n_open;
    hl_a8 *arrived; /* atomic: for each message, enum part_state; release after its data */
    hl_a8 moving;   /* atomic: a message's data are on their way, for the watchdog */
    char *aside;    /* packed data for layouts that are not one block */
};

static struct plan_side *side_of(const struct hl_req *r)
{
    return HL_CONTAINER_OF((struct hl_req_more *)(uintptr_t)r->more, struct plan_side, more);
}

static struct psend *psend_of(struct plan_side *x)
{
    return HL_CONTAINER_OF(x, struct psend, side);
}

static struct precv *precv_of(struct plan_side *x)
{
    return HL_CONTAINER_OF(x, struct precv, side);
}

/* ---- Both ---- */

/* The request fails; in its `parts` it names the rank that has died. */
static void fail_side(struct plan_side *x, int err)
{
    struct hl_req *r = x->request;

    if (err == HL_ERR_PROC_ABORTED &&
        hl_a32_load_relaxed(&r->error) == 0) { /* relaxed: the first one counts */
        int world = r->what == HL_REQ_PSEND ? psend_of(x)->send.dest_world : precv_of(x)->recv.src_world;
        hl_a32_store_relaxed(&r->parts, (uint32_t)world + 1); /* relaxed: published with DONE */
    }
    hl_req_fail(r, err);
}

/* True when the message that carries the plan is over: the sender's has gone, or the receiver's has come. Its
 * error is in *err. */
static bool has_told(struct plan_side *x, int *err)
{
    *err = 0;
    if (x->telling != NULL) {
        if (!hl_req_is_done(x->telling)) {
            return false;
        }
        *err = hl_req_finish(x->telling, MPI_STATUS_IGNORE);
        x->telling = NULL;
    }
    return true;
}

static void release_side(struct plan_side *x)
{
    hl_type_unref(x->type);
    x->release(x);
}

static bool step_gone(struct hl_flight *f)
{
    int err;
    return has_told(HL_CONTAINER_OF(f, struct plan_side, flight), &err);
}

static void end_gone(struct hl_flight *f)
{
    release_side(HL_CONTAINER_OF(f, struct plan_side, flight));
}

/* Frees the request's side when the plan has gone or come: the other side's plan pairs with it in any
 * case. */
static void drop_plan(struct hl_req *r)
{
    struct plan_side *x = side_of(r);
    x->flight = (struct hl_flight){.step = step_gone, .end = end_gone};
    hl_flight_start(&x->flight);
}

static int no_memory(void)
{
    return hl_err_say(HL_ERR_NO_MEM, "no memory for a partitioned operation");
}

/* The bytes of all partitions. */
static int measure_partitions(const struct hl_type *type, int64_t count, int partitions, int64_t *bytes)
{
    int64_t all;

    if (__builtin_mul_overflow(count, (int64_t)partitions, &all) || !hl_type_bytes(type, all, bytes)) {
        return hl_err_say(HL_ERR_COUNT, "%d partitions of %lld elements of %lld bytes do not fit 63 bits",
                          partitions, (long long)count, (long long)type->size);
    }
    return 0;
}

/* ---- Send ---- */

static bool step_send(struct hl_flight *f)
{
    struct plan_side *x = HL_CONTAINER_OF(f, struct plan_side, flight);
    struct psend *p = psend_of(x);
    int err;

    while (p->left < x->plan.messages) {
        /* acquire: the request is initialised; pairs with the release in send_part. */
        struct hl_req *r = hl_aptr_load_acquire(&p->sent[p->left]);
        if (r == NULL || !hl_req_is_done(r)) {
            return false;
        }
        err = hl_req_finish(r, MPI_STATUS_IGNORE);
        if (err != 0) {
            fail_side(x, err);
        }
        p->left++;
    }
    bool told = has_told(x, &err);
    if (err != 0) {
        fail_side(x, err);
    }
    return told;
}

static void end_send(struct hl_flight *f)
{
    hl_req_done(HL_CONTAINER_OF(f, struct plan_side, flight)->request);
}

static int partitions_of(const struct psend *p, uint32_t message)
{
    int left = p->side.partitions - (int)message * p->per_message;
    return left < p->per_message ? left : p->per_message;
}

static int start_part_send(struct hl_req *r)
{
    struct plan_side *x = side_of(r);
    struct psend *p = psend_of(x);
    p->left = 0;
    for (uint32_t k = 0; k < x->plan.messages; k++) {
        /* relaxed: the user orders other threads after the start. */
        hl_a32_store_relaxed(&p->missing[k], (uint32_t)partitions_of(p, k));
        hl_aptr_store_relaxed(&p->sent[k], NULL);
    }
    for (int i = 0; i <= x->partitions / 64; i++) {
        hl_a64_store_relaxed(&p->ready[i], 0); /* relaxed: the user orders it */
    }
    x->flight = (struct hl_flight){.step = step_send, .end = end_send};
    return hl_flight_start(&x->flight);
}

static int send_part(struct psend *p, uint32_t k)
{
    struct plan_side *x = &p->side;
    struct hl_send s = p->send;
    struct hl_req *r;

    s.me = (int)k;
    s.buf = x->buf + (int64_t)k * p->per_message * x->count * (x->type->ub - x->type->lb);
    s.count = partitions_of(p, k) * x->count;
    int err = hl_match_isend(&hl_match_self, &s, &r);
    if (err != 0) {
        fail_side(x, err);
        r = hl_req_completed();
    }
    /* release: the request is there; pairs with the acquire in step_send. */
    hl_aptr_store_release(&p->sent[k], r);
    return err;
}

int hl_part_ready(struct hl_req *r, int first, int last)
{
    struct psend *p = psend_of(side_of(r));
    bool sent = false;
    int err = 0;

    if (first < 0 || last >= p->side.partitions || first > last) {
        return hl_err_say(HL_ERR_ARG, "partitions %d to %d: the request has %d, counted from 0", first, last,
                          p->side.partitions);
    }
    for (int i = first; i <= last && err == 0; i++) {
        uint64_t bit = UINT64_C(1) << (i % 64);
        /* full: if two threads ready one partition, the second one sees the bit. */
        if ((hl_a64_or_full(&p->ready[i / 64], bit) & bit) != 0) {
            err = hl_err_say(HL_ERR_ARG, "partition %d of %d is ready already", i, p->side.partitions);
            break;
        }
        uint32_t k = (uint32_t)(i / p->per_message);
        /* full: the thread that readies a message's last partition sees the data of the others. */
        if (hl_a32_add_full(&p->missing[k], (uint32_t)-1) == 1) {
            err = send_part(p, k);
            sent = true;
        }
    }
    if (sent) {
        hl_prog_wake(); /* a waiting thread may find the request done */
    }
    return err;
}

/* A send with partitions that are not ready waits for its own rank. */
static void describe_part_send(const struct hl_req *r, struct hl_wait_desc *t)
{
    const struct psend *p = psend_of(side_of(r));
    uint32_t missing = 0;

    for (uint32_t k = 0; k < p->side.plan.messages; k++) {
        missing += hl_a32_load_relaxed(&p->missing[k]); /* relaxed: may be old */
    }
    hl_match_describe_dest(t, r->ctx, p->send.dest_world, p->tag);
    if (missing > 0) {
        hl_desc_say(t, ", %u of %d partitions not ready", missing, p->side.partitions);
    } else {
        hl_desc_say(t, ", %lld bytes", (long long)p->side.plan.bytes);
        hl_desc_await(t, p->send.dest_world);
    }
}

static void release_send(struct plan_side *x)
{
    struct psend *p = psend_of(x);
    free(p->ready);
    free(p->missing);
    free(p->sent);
    free(p);
}

static int tell_plan(struct psend *p, const struct hl_send *s)
{
    struct hl_send plan = *s;
    plan.buf = &p->side.plan;
    plan.count = sizeof p->side.plan;
    plan.type = hl_type_of(MPI_PACKED);
    plan.mode = HL_SEND_STANDARD;
    return hl_match_isend(&hl_match_self, &plan, &p->side.telling);
}

int hl_part_send_init(const struct hl_send *s, int partitions, uint64_t channel, struct hl_req **out)
{
    int64_t bytes, part = 0;
    int err = measure_partitions(s->type, s->count, partitions, &bytes);
    int per = (int)(((int64_t)partitions + MESSAGES_MAX - 1) / MESSAGES_MAX);
    struct psend *p = err == 0 ? calloc(1, sizeof *p) : NULL;
    struct hl_req *r = p != NULL ? hl_req_new(HL_REQ_PSEND) : NULL;

    if (r == NULL) {
        free(p);
        return err != 0 ? err : no_memory();
    }
    per = per > 0 ? per : 1;
    uint32_t n = (uint32_t)(((int64_t)partitions + per - 1) / per);
    hl_type_bytes(s->type, s->count, &part);
    p->side = (struct plan_side){{.start = start_part_send, .drop = drop_plan},
                                 .request = r,
                                 .type = s->type,
                                 .buf = (char *)(uintptr_t)s->buf,
                                 .count = s->count,
                                 .partitions = partitions,
                                 .plan = {channel, bytes, part * per, n, 0},
                                 .release = release_send};
    p->send = *s;
    p->send.ctx = channel;
    p->send.tag = 0;
    p->tag = s->tag;
    p->per_message = per;
    p->ready = calloc((size_t)partitions / 64 + 1, sizeof *p->ready);
    p->missing = calloc((size_t)n + 1, sizeof *p->missing);
    p->sent = calloc((size_t)n + 1, sizeof *p->sent);
    err = p->ready != NULL && p->missing != NULL && p->sent != NULL ? tell_plan(p, s) : no_memory();
    if (err != 0) {
        release_send(&p->side);
        hl_req_free(r);
        return err;
    }
    hl_type_ref(s->type);
    r->ctx = s->ctx;
    hl_req_set_again(r, &p->side.more);
    *out = r;
    return 0;
}

/* ---- Receive ---- */

/* Takes memory for what the plan says. After an error no start has messages. */
static void learn_plan(struct precv *p, int err)
{
    struct plan_side *x = &p->side;
    size_t n = err == 0 ? x->plan.messages : 0;
    char *block;

    p->open = calloc(n + 1, sizeof *p->open);
    p->index = calloc(n + 1, sizeof *p->index);
    p->arrived = calloc(n + 1, sizeof *p->arrived);
    bool is_block = hl_type_block(x->type, x->count * x->partitions, x->buf, &block);
    if (is_block) {
        x->buf = block;
    } else {
        p->aside = malloc((size_t)p->bytes + 1);
    }
    if (p->open == NULL || p->index == NULL || p->arrived == NULL || (!is_block && p->aside == NULL)) {
        err = no_memory();
    }
    if (err != 0) {
        x->plan.messages = 0;
        p->err = err;
    }
    /* release: the plan and this memory; pairs with the acquire in look_at_part. */
    hl_a32_store_release(&p->known, 1);
}

/* Bytes of message k that there is room for; *offset is where they belong. */
static int64_t locate_message(const struct precv *p, uint32_t k, int64_t *offset)
{
    const struct plan *plan = &p->side.plan;
    int64_t end = k + 1 < plan->messages ? (k + 1) * plan->unit : plan->bytes;
    *offset = k * plan->unit < p->bytes ? k * plan->unit : p->bytes;
    return (end < p->bytes ? end : p->bytes) - *offset;
}

static void post_partitioned(struct precv *p)
{
    struct plan_side *x = &p->side;
    p->posted = true;
    if (p->err != 0) {
        fail_side(x, p->err);
    }
    for (uint32_t k = 0; k < x->plan.messages; k++) {
        struct hl_recv r = p->recv;
        int64_t offset;
        r.ctx = x->plan.channel;
        r.src = (int)k;
        r.count = locate_message(p, k, &offset);
        r.buf = (p->aside != NULL ? p->aside : x->buf) + offset;
        int err = hl_match_irecv(&hl_match_self, &r, &p->open[p->n_open]);
        if (err != 0) {
            fail_side(x, err);
            hl_a8_store_release(&p->arrived[k], PART_LOST); /* release: the error; as in take_message */
            continue;
        }
        p->index[p->n_open++] = k;
    }
}

/* Message k has come, with error `err`. */
static void take_message(struct precv *p, uint32_t k, int err)
{
    struct plan_side *x = &p->side;
    int64_t offset, n = locate_message(p, k, &offset);
    if (err == 0 && p->aside != NULL) {
        err = hl_type_unpack(x->type, x->count * x->partitions, x->buf, offset, p->aside + offset, n);
    }
    if (err != 0) {
        fail_side(x, err);
    }
    /* release: its data, or the error; pairs with the acquire in look_at_part. */
    hl_a8_store_release(&p->arrived[k], err == 0 ? PART_HERE : PART_LOST);
}

static bool step_recv(struct hl_flight *f)
{
    struct plan_side *x = HL_CONTAINER_OF(f, struct plan_side, flight);
    struct precv *p = precv_of(x);
    int err;

    /* relaxed: only this flight changes it. */
    if (hl_a32_load_relaxed(&p->known) == 0) {
        if (!has_told(x, &err)) {
            return false;
        }
        learn_plan(p, err);
    }
    if (!p->posted) {
        post_partitioned(p);
    }
    bool moving = false;
    for (uint32_t i = 0; i < p->n_open;) {
        if (!hl_req_is_done(p->open[i])) {
            moving = moving || hl_req_has(p->open[i], HL_REQ_MOVING);
            i++;
            continue;
        }
        uint32_t k = p->index[i];
        take_message(p, k, hl_req_finish(p->open[i], MPI_STATUS_IGNORE));
        p->n_open--;
        p->open[i] = p->open[p->n_open];
        p->index[i] = p->index[p->n_open];
    }
    hl_a8_store_relaxed(&p->moving, moving); /* relaxed: may be old */
    return p->n_open == 0;
}

static void end_recv(struct hl_flight *f)
{
    struct plan_side *x = HL_CONTAINER_OF(f, struct plan_side, flight);
    const struct precv *p = precv_of(x);
    struct hl_req *r = x->request;
    r->source = p->source;
    r->tag = p->tag;
    r->bytes = x->plan.bytes < p->bytes ? x->plan.bytes : p->bytes;
    hl_req_done(r);
}

static int start_part_recv(struct hl_req *r)
{
    struct plan_side *x = side_of(r);
    struct precv *p = precv_of(x);
    p->posted = false;
    /* relaxed: an earlier start's flight set it, and the user waited for its end. */
    if (hl_a32_load_relaxed(&p->known) != 0) {
        for (uint32_t k = 0; k < x->plan.messages; k++) {
            /* relaxed: the user orders other threads after the start. */
            hl_a8_store_relaxed(&p->arrived[k], PART_MISSING);
        }
    }
    x->flight = (struct hl_flight){.step = step_recv, .end = end_recv};
    return hl_flight_start(&x->flight);
}

/* What has become of the messages that hold bytes of the partition: one that is lost counts first. */
static enum part_state look_at_part(const struct precv *p, int partition)
{
    const struct plan *plan = &p->side.plan;
    int64_t part = p->bytes / p->side.partitions, from = partition * part;
    /* acquire: the plan; pairs with the release in learn_plan. */
    if (hl_a32_load_acquire(&p->known) == 0) {
        return PART_MISSING;
    }
    enum part_state all = p->err == 0 ? PART_HERE : PART_LOST;
    uint32_t first = 0, end = plan->messages;
    if (end > 0 && part > 0 && plan->unit > 0 && from + part <= plan->bytes) {
        first = (uint32_t)(from / plan->unit);
        end = (uint32_t)((from + part - 1) / plan->unit) + 1;
    }
    for (uint32_t k = first; k < end && all != PART_LOST; k++) {
        uint8_t is = hl_a8_load_acquire(&p->arrived[k]); /* acquire: pairs with take_message */
        all = is == PART_HERE ? all : (enum part_state)is;
    }
    return all;
}

int hl_part_arrived(struct hl_req *r, int partition, bool *arrived)
{
    const struct precv *p = precv_of(side_of(r));
    if (partition < 0 || partition >= p->side.partitions) {
        return hl_err_say(HL_ERR_ARG, "partition %d: the request has %d, counted from 0", partition,
                          p->side.partitions);
    }
    enum part_state state = hl_req_is_active(r) ? look_at_part(p, partition) : PART_HERE;
    if (state == PART_MISSING) {
        hl_prog_look();
        state = look_at_part(p, partition);
    }
    *arrived = state == PART_HERE;
    if (state != PART_LOST) {
        return 0;
    }
    /* relaxed: the acquire in look_at_part ordered it. */
    int err = p->err != 0 ? p->err : (int)hl_a32_load_relaxed(&r->error);
    return err == HL_ERR_PROC_ABORTED
               ? hl_deaths_error(p->recv.src_world)
               : hl_err_say(err, "partition %d of %d is lost: completing the request tells why", partition,
                            p->side.partitions);
}

static void describe_part_recv(const struct hl_req *r, struct hl_wait_desc *t)
{
    const struct precv *p = precv_of(side_of(r));
    int missing = 0;
    for (int i = 0; i < p->side.partitions; i++) {
        missing += look_at_part(p, i) != PART_HERE;
    }
    /* relaxed: may be old */
    hl_match_describe_message(t, r->ctx, p->source, p->tag, hl_a8_load_relaxed(&p->moving));
    hl_desc_say(t, ", %d of %d partitions missing", missing, p->side.partitions);
}

static void release_recv(struct plan_side *x)
{
    struct precv *p = precv_of(x);
    free(p->open);
    free(p->index);
    free(p->arrived);
    free(p->aside);
    free(p);
}

int hl_part_recv_init(const struct hl_recv *v, int partitions, struct hl_req **out)
{
    int64_t bytes;
    int err = measure_partitions(v->type, v->count, partitions, &bytes);
    struct precv *p = err == 0 ? calloc(1, sizeof *p) : NULL;
    struct hl_req *r = p != NULL ? hl_req_new(HL_REQ_PRECV) : NULL;

    if (r == NULL) {
        free(p);
        return err != 0 ? err : no_memory();
    }
    p->side = (struct plan_side){{.start = start_part_recv, .drop = drop_plan},
                                 .request = r,
                                 .type = v->type,
                                 .buf = v->buf,
                                 .count = v->count,
                                 .partitions = partitions,
                                 .release = release_recv};
    p->recv = *v;
    p->recv.type = hl_type_of(MPI_PACKED);
    p->recv.tag = 0;
    p->source = v->src;
    p->tag = v->tag;
    p->bytes = bytes;
    struct hl_recv plan = *v;
    plan.buf = &p->side.plan;
    plan.count = sizeof p->side.plan;
    plan.type = p->recv.type;
    err = hl_match_irecv(&hl_match_self, &plan, &p->side.telling);
    if (err != 0) {
        release_recv(&p->side);
        hl_req_free(r);
        return err;
    }
    hl_type_ref(v->type);
    r->ctx = v->ctx;
    hl_req_set_again(r, &p->side.more);
    *out = r;
    return 0;
}

void hl_part_describe_open(void)
{
    hl_req_on_describe(HL_REQ_PSEND, describe_part_send);
    hl_req_on_describe(HL_REQ_PRECV, describe_part_recv);
}
