/* Nonblocking and persistent calls: the same schedules, run by threads that poll. */
#include <stdlib.h>

#include "algos.h"
#include "coll.h"
#include "err.h"
#include "exchange.h"
#include "flight.h"
#include "util.h"

/* A schedule, or an exchange by mailboxes, and the request that it ends. */
struct launch {
    struct hl_req_more more; /* used by persistent requests */
    struct hl_flight flight;
    struct hl_req *request;
    struct hl_comm *comm;         /* with a reference */
    bool again;                   /* persistent: it lives as long as the request */
    int tag;                      /* tag of the schedule that replaces an exchange without mailboxes */
    int broken;                   /* the error if that schedule could not be built */
    struct hl_exchange *exchange; /* NULL: the schedule is used */
    struct hl_sched sched;
};

static struct launch *launch_of(const struct hl_req *r)
{
    return HL_CONTAINER_OF((struct hl_req_more *)(uintptr_t)r->more, struct launch, more);
}

static void drop_launch(struct launch *l)
{
    if (l->exchange != NULL) {
        hl_exchange_free(l->exchange);
    } else {
        hl_sched_fini(&l->sched);
    }
    hl_comm_unref(l->comm);
    free(l);
}

static int build_schedule(struct launch *l, const struct hl_coll_call *call)
{
    int err = hl_coll_build(&l->sched, call);

    if (err == 0) {
        hl_sched_hold(&l->sched);
    }
    return err;
}

/* Called when there will be no mailboxes: a schedule does the operation. Its error ends the operation. */
static void schedule_instead(struct launch *l)
{
    hl_sched_init_tagged(&l->sched, &hl_coll_net_match, l->comm, l->again ? HL_PLANE_AGAIN : HL_PLANE_COLL,
                         l->tag);
    l->broken = build_schedule(l, hl_exchange_call(l->exchange));
    hl_exchange_free(l->exchange);
    l->exchange = NULL;
}

static hl_a32 *note_of(const struct hl_req *r)
{
    return (hl_a32 *)(uintptr_t)r->body;
}

void hl_coll_describe(const struct hl_req *r, struct hl_wait_desc *t)
{
    hl_desc_comm(t, r->ctx);
    hl_desc_await(t, (int)hl_a32_load_relaxed(note_of(r)) - 1); /* relaxed: may be old */
}

static bool step_launch(struct hl_flight *f)
{
    struct launch *l = HL_CONTAINER_OF(f, struct launch, flight);
    enum hl_boxes_state state = l->exchange != NULL ? hl_exchange_state(l->exchange) : HL_BOXES_REFUSED;

    if (state == HL_BOXES_REFUSED && l->exchange != NULL) {
        schedule_instead(l);
    }
    if (state != HL_BOXES_REFUSED) {
        return state == HL_BOXES_READY && hl_exchange_step(l->exchange);
    }
    return l->broken != 0 || hl_sched_try(&l->sched);
}

/* A step; it also leaves in the request's body whom the operation waits for: threads that wait must not read
 * the flight itself. */
static bool step_and_note(struct hl_flight *f)
{
    struct launch *l = HL_CONTAINER_OF(f, struct launch, flight);
    struct hl_wait_desc t = {0};
    bool over = step_launch(f);

    if (!over && hl_hang_is_on() && l->broken == 0) {
        l->exchange != NULL ? hl_exchange_describe(l->exchange, &t) : hl_sched_describe(&l->sched, &t);
        hl_a32_store_relaxed(note_of(l->request),
                             t.n > 0 ? (uint32_t)t.ranks[0] + 1 : 0); /* relaxed: may be old */
    }
    return over;
}

static void land_launch(struct hl_flight *f)
{
    struct launch *l = HL_CONTAINER_OF(f, struct launch, flight);
    struct hl_req *r = l->request;
    int err = l->exchange != NULL ? hl_exchange_error(l->exchange) : l->broken;

    err = err == 0 && l->exchange == NULL ? l->sched.err : err;
    if (err != 0) {
        hl_req_fail(r, err);
    }
    if (!l->again) {
        drop_launch(l);
    }
    hl_req_done(r);
}

static int prepare_schedule(struct launch *l, const struct hl_coll_call *call, enum hl_plane plane)
{
    hl_sched_init_tagged(&l->sched, &hl_coll_net_match, call->comm, plane,
                         hl_coll_tag(call->comm, call->what));
    int err = build_schedule(l, call);

    if (err != 0) {
        hl_sched_fini(&l->sched);
    }
    return err;
}

/* A persistent operation has mailboxes of its own, because others on the communicator may be started in
 * another order on other ranks. The mailboxes may still be in the making, on some ranks longer than on
 * others: so all ranks take a tag. */
static int prepare_exchange(struct launch *l, const struct hl_coll_call *call)
{
    struct hl_exchange_how how = {.own = l->again};
    int err = l->again ? hl_boxes_make(call->comm, &how.boxes) : hl_boxes_of(call->comm, &how.boxes);

    if (err == 0 && hl_boxes_state(how.boxes) == HL_BOXES_REFUSED) {
        if (l->again) {
            hl_boxes_drop(how.boxes);
        }
        return 0; /* prepare_schedule takes the tag */
    }
    if (err == 0) {
        how.tag = l->tag = hl_coll_tag(call->comm, call->what);
        err = hl_exchange_new(call, &how, &l->exchange);
    }
    if (err != 0 && l->again) {
        hl_boxes_drop(how.boxes);
    }
    return err;
}

/* Builds a launch that keeps everything that it needs. */
static int prepare_launch(const struct hl_coll_call *call, enum hl_plane plane, struct launch **made)
{
    struct launch *l = aligned_alloc(_Alignof(struct launch), sizeof *l);

    if (l == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a nonblocking operation");
    }
    l->flight = (struct hl_flight){.step = step_and_note, .end = land_launch};
    l->request = NULL;
    l->comm = call->comm;
    l->again = plane == HL_PLANE_AGAIN;
    l->exchange = NULL;
    l->broken = 0;
    hl_comm_ref(l->comm);
    int err = hl_exchange_fits(call) ? prepare_exchange(l, call) : 0;
    if (err == 0 && l->exchange == NULL) {
        err = prepare_schedule(l, call, plane);
    }
    if (err != 0) {
        hl_comm_unref(l->comm);
        free(l);
        return err;
    }
    *made = l;
    return 0;
}

/* Makes a request with its launch; nothing is begun. */
static int make_launch(const struct hl_coll_call *call, enum hl_plane plane, struct launch **made)
{
    struct hl_req *r = hl_req_new(HL_REQ_COLL);

    if (r == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a request");
    }
    int err = prepare_launch(call, plane, made);
    if (err != 0) {
        hl_req_free(r);
        return err;
    }
    r->ctx = call->comm->ctx;
    hl_a32_store_relaxed(note_of(r), 0); /* relaxed: may be old */
    (*made)->request = r;
    return 0;
}

int hl_coll_start(const struct hl_coll_call *call, struct hl_req **request)
{
    struct launch *l = NULL;
    int err = make_launch(call, HL_PLANE_COLL, &l);

    if (err != 0) {
        return err;
    }
    struct hl_req *r = l->request;
    if (l->exchange != NULL) {
        hl_exchange_begin(l->exchange);
    }
    err = hl_flight_start(&l->flight);
    if (err != 0) {
        drop_launch(l);
        hl_req_free(r);
        return err;
    }
    *request = r;
    return 0;
}

static int start_again(struct hl_req *r)
{
    struct launch *l = launch_of(r);

    if (l->exchange != NULL) {
        hl_exchange_begin(l->exchange);
    } else {
        hl_sched_rewind(&l->sched);
    }
    return hl_flight_start(&l->flight);
}

static void drop_again(struct hl_req *r)
{
    drop_launch(launch_of(r));
}

int hl_coll_persist(const struct hl_coll_call *call, struct hl_req **request)
{
    struct launch *l = NULL;
    int err = make_launch(call, HL_PLANE_AGAIN, &l);

    if (err != 0) {
        return err;
    }
    l->more = (struct hl_req_more){.start = start_again, .drop = drop_again};
    hl_req_set_again(l->request, &l->more);
    *request = l->request;
    return 0;
}
