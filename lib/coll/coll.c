/* The blocking calls, and agreements. */
#include "coll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "algos.h"
#include "exchange.h"
#include "job.h"
#include "log.h"
#include "prog.h"
#include "rx.h"
#include "shared.h"
#include "util.h"

#define NEWS_NS UINT64_C(2000000000) /* how long a rank waits for the launcher's news of a death */

int hl_coll_unable(const struct hl_comm *comm, int err)
{
    char call[sizeof((struct hl_wait_desc *)NULL)->call];

    if (comm->size == 1 && !hl_comm_is_inter(comm)) {
        return err;
    }
    hl_hang_call(call, sizeof call);
    hl_log(HL_LOG_ERROR, "%s: %s; the other ranks wait for this one and cannot be told: %s", call,
           hl_err_text(err), hl_job_end_words());
    hl_job_abort(1);
}

int hl_coll_exchange(struct hl_sched *s)
{
    const struct hl_comm *comm = s->comm;
    int err = hl_sched_run(s);

    hl_sched_give(s);
    return err == HL_ERR_NO_MEM ? hl_coll_unable(comm, err) : err;
}

static int run_tagged(const struct hl_coll_call *call, enum hl_plane plane, int tag)
{
    struct hl_sched *s = hl_sched_take();

    if (s == NULL) {
        return plane == HL_PLANE_MAKE ? hl_coll_unable(call->comm, HL_ERR_NO_MEM) : HL_ERR_NO_MEM;
    }
    hl_sched_init_tagged(s, &hl_coll_net_match, call->comm, plane, tag);
    hl_coll_build(s, call);
    if (plane == HL_PLANE_MAKE) {
        return hl_coll_exchange(s);
    }
    int err = hl_sched_run(s);
    hl_sched_give(s);
    return err;
}

static int run_on(const struct hl_coll_call *call, enum hl_plane plane)
{
    return run_tagged(call, plane, hl_coll_tag(call->comm, call->what));
}

int hl_coll_run(const struct hl_coll_call *call)
{
    if (call->what == HL_COLL_BCAST) {
        return hl_coll_bcast(call->comm, call->recv.buf, call->recv.count, call->recv.type, call->root);
    }
    if (hl_exchange_fits(call)) {
        struct hl_boxes *boxes;
        int err = hl_boxes_of(call->comm, &boxes);
        if (err != 0) {
            return err;
        }
        if (hl_boxes_wait(boxes)) {
            return hl_exchange_run(call, boxes);
        }
    }
    int err;
    return hl_shared_run(call, &err) ? err : run_on(call, HL_PLANE_COLL);
}

int hl_coll_barrier(struct hl_comm *comm)
{
    int err;

    if (!hl_shared_try_barrier(comm, &err)) {
        struct hl_coll_call call = {.what = HL_COLL_BARRIER, .comm = comm};
        err = run_on(&call, HL_PLANE_COLL);
    }
    return err == HL_ERR_NO_MEM ? hl_coll_unable(comm, err) : err;
}

int hl_coll_bcast(struct hl_comm *comm, void *buf, int64_t count, struct hl_type *type, int root)
{
    int err;

    if (hl_shared_try_bcast(comm, hl_data(buf, count, type), root, &err)) {
        return err;
    }
    struct hl_coll_call call = {.what = HL_COLL_BCAST,
                                .comm = comm,
                                .root = root,
                                .recv = {.buf = buf, .count = count, .type = type}};

    return run_on(&call, HL_PLANE_COLL);
}

int hl_coll_allgather_bytes(struct hl_comm *comm, const void *mine, size_t len, void *all)
{
    struct hl_coll_call call = {.what = HL_COLL_ALLGATHER,
                                .comm = comm,
                                .send = hl_coll_bytes(mine, len),
                                .recv = hl_coll_bytes(all, len)};

    return run_on(&call, HL_PLANE_MAKE);
}

int hl_coll_allgather_local(struct hl_comm *inter, const void *mine, size_t len, void *all)
{
    struct hl_coll_call call = {
        .what = HL_COLL_ALLGATHER, .send = hl_coll_bytes(mine, len), .recv = hl_coll_bytes(all, len)};
    struct hl_coll_call whole = {.comm = inter};
    struct hl_sched *s = hl_sched_take();

    if (s == NULL) {
        return hl_coll_unable(inter, HL_ERR_NO_MEM);
    }
    hl_sched_init(s, &hl_coll_net_match, inter, HL_PLANE_MAKE);
    hl_build_local(s, &whole, &call);
    return hl_coll_exchange(s);
}

int hl_coll_bcast_bytes(struct hl_comm *comm, void *buf, size_t len, int root)
{
    struct hl_coll_call call = {
        .what = HL_COLL_BCAST, .comm = comm, .root = root, .recv = hl_coll_bytes(buf, len)};

    return run_on(&call, HL_PLANE_MAKE);
}

/* A communicator's last two agreements. Two are enough: a rank that has lost one asks for it before the next
 * but one begins. */
struct agreed {
    struct hl_comm_part part;
    struct hl_agreement last[2];
    unsigned turn;
};

static void drop_agreed(struct hl_comm_part *part)
{
    struct agreed *a = HL_CONTAINER_OF(part, struct agreed, part);

    hl_agreement_close(&a->last[0]);
    hl_agreement_close(&a->last[1]);
    free(a);
}

static struct hl_agreement *next_agreement(struct hl_comm *comm)
{
    if (comm->parts[HL_PART_AGREED] == NULL) {
        struct agreed *a = calloc(1, sizeof *a);
        if (a == NULL) {
            return NULL;
        }
        a->part.drop = drop_agreed;
        comm->parts[HL_PART_AGREED] = &a->part;
    }
    struct agreed *a = HL_CONTAINER_OF(comm->parts[HL_PART_AGREED], struct agreed, part);
    struct hl_agreement *v = &a->last[a->turn++ % 2];
    hl_agreement_close(v);
    return v;
}

static bool is_agreement_in(void *agreement)
{
    return hl_agreement_ask(agreement);
}

static void describe_agreement(const void *agreement, struct hl_wait_desc *t)
{
    const struct hl_agreement *v = agreement;

    hl_desc_comm(t, v->ctx);
    hl_desc_say(t, ", what its members have agreed on before one of them ended");
}
HL_HANG_WORDS(is_agreement_in, describe_agreement);

int hl_coll_settle(const struct hl_coll_call *call, hl_coll_result_fn *result, void *arg, int32_t *got)
{
    struct hl_agreement *v = next_agreement(call->comm);
    int tag = hl_comm_coll_tag(call->comm);

    if (v != NULL) { /* without memory it works as long as nobody dies */
        hl_agreement_open(v, call->comm, tag);
    }
    int err = run_tagged(call, HL_PLANE_MAKE, tag);
    if (err == 0) {
        *got = result(arg);
    }
    if (v != NULL && err == 0) {
        hl_agreement_know(v, *got);
    } else if (v != NULL && err == HL_ERR_PROC_ABORTED) {
        hl_agreement_lose(v);
        hl_prog_wait(is_agreement_in, v);
        err = hl_agreement_is(v, got) ? 0 : err;
    }
    return err;
}

int hl_coll_guard(const struct hl_comm *comm)
{
    return comm->size > 1 ? hl_rx_start() : 0;
}

static int32_t take_least(void *least)
{
    return *(int32_t *)least;
}

int hl_coll_least(struct hl_comm *comm, int value, int *least)
{
    int32_t mine = value, all;
    struct hl_type *type = hl_type_of(MPI_INT32_T);
    struct hl_coll_call call = {.what = HL_COLL_ALLREDUCE,
                                .comm = comm,
                                .op = MPI_MIN,
                                .send = {.buf = &mine, .count = 1, .type = type},
                                .recv = {.buf = &all, .count = 1, .type = type}};

    return hl_coll_settle(&call, take_least, &all, least);
}

int hl_coll_agree(struct hl_comm *comm, int value)
{
    int least;
    int err = hl_coll_least(comm, value, &least);

    return err != 0 ? err : least;
}

/* A wait for the news of a death that another rank knows of. */
struct news {
    const struct hl_comm *comm;
    uint64_t until_ns;
    int dead; /* world rank, or -1 */
};

static bool has_news(void *news)
{
    struct news *n = news;

    for (int i = 0; i < n->comm->size && n->dead < 0; i++) {
        int world = hl_comm_world(n->comm, i);
        n->dead = hl_rx_is_dead(world) ? world : -1;
    }
    return n->dead >= 0 || hl_now_ns() > n->until_ns;
}

static void describe_news(const void *news, struct hl_wait_desc *t)
{
    hl_desc_comm(t, ((const struct news *)news)->comm->ctx);
    hl_desc_say(t, ", which of its members has ended");
}
HL_HANG_WORDS(has_news, describe_news);

int hl_coll_all_or_none(struct hl_comm *comm, int err, const char *what)
{
    int all = hl_coll_agree(comm, err);
    struct news n = {.comm = comm, .dead = -1};

    if (err != 0 || all == 0) {
        return err;
    }
    if (all == HL_ERR_PROC_ABORTED) {
        n.until_ns = hl_now_ns() + NEWS_NS;
        hl_prog_wait(has_news, &n);
    }
    return n.dead >= 0 ? hl_err_say(all, "rank %d has ended", n.dead)
                       : hl_err_say(all, "%s failed on another rank", what);
}

/* Gives all ranks the text that `rank` has for its error `code`: theirs may be the only line that the user
 * sees. */
static void share_words(struct hl_comm *comm, int rank, int code, char text[HL_ERR_TEXT])
{
    snprintf(text, HL_ERR_TEXT, "%s", comm->rank == rank ? hl_err_text(code) : "");
    int told = hl_coll_bcast_bytes(comm, text, HL_ERR_TEXT, rank);
    text[HL_ERR_TEXT - 1] = 0;
    if (told != 0) {
        snprintf(text, HL_ERR_TEXT, "it does not answer");
    }
}

int hl_coll_first_failed(struct hl_comm *comm, int code, int *rank, char text[HL_ERR_TEXT])
{
    int least; /* rank - size of the first rank that failed */
    int err = hl_coll_least(comm, code != 0 ? comm->rank - comm->size : 0, &least);
    if (err == 0 && least < 0) {
        *rank = comm->size + least;
        share_words(comm, *rank, code, text);
    }
    return err;
}
