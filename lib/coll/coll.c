/* The blocking calls: build, run, wait. */
#include "coll.h"

#include <stdio.h>
#include <string.h>

#include "algos.h"
#include "exchange.h"
#include "shared.h"

static int run_on(const struct hl_coll_call *call, enum hl_plane plane)
{
    struct hl_sched s;

    hl_sched_init(&s, &hl_coll_net_match, call->comm, plane);
    int err = hl_coll_build(&s, call);
    if (err == 0) {
        err = hl_sched_run(&s);
    }
    hl_sched_fini(&s);
    return err;
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

    if (hl_shared_meet(comm, &err)) {
        return err;
    }
    struct hl_coll_call call = {.what = HL_COLL_BARRIER, .comm = comm};
    return run_on(&call, HL_PLANE_COLL);
}

int hl_coll_bcast(struct hl_comm *comm, void *buf, int64_t count, struct hl_type *type, int root)
{
    int err;

    if (hl_shared_spread(comm, hl_data(buf, count, type), root, &err)) {
        return err;
    }
    struct hl_coll_call call = {.what = HL_COLL_BCAST,
                                .comm = comm,
                                .root = root,
                                .recv = {.buf = buf, .count = count, .type = type}};

    return run_on(&call, HL_PLANE_COLL);
}

static struct hl_coll_side bytes(const void *buf, size_t len)
{
    return (struct hl_coll_side){
        .buf = (void *)(uintptr_t)buf, .count = (int64_t)len, .type = hl_type_of(MPI_BYTE)};
}

int hl_coll_allgather_bytes(struct hl_comm *comm, const void *mine, size_t len, void *all)
{
    struct hl_coll_call call = {
        .what = HL_COLL_ALLGATHER, .comm = comm, .send = bytes(mine, len), .recv = bytes(all, len)};

    return run_on(&call, HL_PLANE_MAKE);
}

int hl_coll_allgather_local(struct hl_comm *inter, const void *mine, size_t len, void *all)
{
    struct hl_coll_call call = {.what = HL_COLL_ALLGATHER, .send = bytes(mine, len), .recv = bytes(all, len)};
    struct hl_coll_call whole = {.comm = inter};
    struct hl_sched s;

    hl_sched_init(&s, &hl_coll_net_match, inter, HL_PLANE_MAKE);
    hl_build_local(&s, &whole, &call);
    int err = hl_sched_run(&s);
    hl_sched_fini(&s);
    return err;
}

int hl_coll_bcast_bytes(struct hl_comm *comm, void *buf, size_t len, int root)
{
    struct hl_coll_call call = {.what = HL_COLL_BCAST, .comm = comm, .root = root, .recv = bytes(buf, len)};

    return run_on(&call, HL_PLANE_MAKE);
}

int hl_coll_least(struct hl_comm *comm, int value, int *least)
{
    int32_t mine = value;
    struct hl_type *type = hl_type_of(MPI_INT32_T);
    struct hl_coll_call call = {.what = HL_COLL_ALLREDUCE,
                                .comm = comm,
                                .op = MPI_MIN,
                                .send = {.buf = &mine, .count = 1, .type = type},
                                .recv = {.buf = least, .count = 1, .type = type}};

    return run_on(&call, HL_PLANE_MAKE);
}

int hl_coll_agree(struct hl_comm *comm, int value)
{
    int least;
    int err = hl_coll_least(comm, value, &least);

    return err != 0 ? err : least;
}

void hl_coll_words_of(struct hl_comm *comm, int rank, int code, char text[HL_ERR_TEXT])
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
    int least; /* of negative numbers for who failed */
    int err = hl_coll_least(comm, code != 0 ? comm->rank - comm->size : 0, &least);
    if (err == 0 && least < 0) {
        *rank = comm->size + least;
        hl_coll_words_of(comm, *rank, code, text);
    }
    return err;
}
