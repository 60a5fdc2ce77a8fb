/* Checks the arguments that matter on this rank, and runs the operation. */
#include "collective.h"

#include <stdlib.h>

#include "args.h"

/* What a kind of operation looks at: on every rank, on the root only, never. */
enum where { NEVER, ROOT, ALL };

static const struct {
    bool rooted, reduces;
    enum where send, recv;       /* where the side's arguments are significant */
    enum where in_send, in_recv; /* where the side may be MPI_IN_PLACE */
} rules[HL_COLLS] = {
    [HL_COLL_BARRIER] = {false, false, NEVER, NEVER, NEVER, NEVER},
    [HL_COLL_BCAST] = {true, false, NEVER, ALL, NEVER, NEVER},
    [HL_COLL_REDUCE] = {true, true, ALL, ROOT, ROOT, NEVER},
    [HL_COLL_ALLREDUCE] = {false, true, ALL, ALL, ALL, NEVER},
    [HL_COLL_SCAN] = {false, true, ALL, ALL, ALL, NEVER},
    [HL_COLL_EXSCAN] = {false, true, ALL, ALL, ALL, NEVER},
    [HL_COLL_REDUCE_SCATTER] = {false, true, ALL, ALL, ALL, NEVER},
    [HL_COLL_GATHER] = {true, false, ALL, ROOT, ROOT, NEVER},
    [HL_COLL_GATHERV] = {true, false, ALL, ROOT, ROOT, NEVER},
    [HL_COLL_SCATTER] = {true, false, ROOT, ALL, NEVER, ROOT},
    [HL_COLL_SCATTERV] = {true, false, ROOT, ALL, NEVER, ROOT},
    [HL_COLL_ALLGATHER] = {false, false, ALL, ALL, ALL, NEVER},
    [HL_COLL_ALLGATHERV] = {false, false, ALL, ALL, ALL, NEVER},
    [HL_COLL_ALLTOALL] = {false, false, ALL, ALL, ALL, NEVER},
    [HL_COLL_ALLTOALLV] = {false, false, ALL, ALL, ALL, NEVER},
};

/* Does a rule hold on this rank? Between two groups the root is alone on its side: nothing that only its
 * group would do matters there, and nothing at all beside it. */
static bool holds(const struct hl_api_coll *a, const struct hl_comm *c, enum where where)
{
    if (where == NEVER || !rules[a->what].rooted || !hl_comm_is_inter(c)) {
        return where == ALL || (where == ROOT && rules[a->what].rooted && c->rank == a->root);
    }
    if (a->root == MPI_ROOT) {
        return where == ROOT || a->what == HL_COLL_BCAST;
    }
    return where == ALL && a->root != MPI_PROC_NULL;
}

static bool in_place(const struct hl_api_coll *a, const struct hl_comm *c, enum where where)
{
    return !hl_comm_is_inter(c) && holds(a, c, where);
}

/* What a side keeps until the call is over. */
struct kept {
    int64_t *counts, *displs;
    struct hl_type **types;
};

static void drop(struct kept *k)
{
    free(k->counts);
    free(k->displs);
    free(k->types);
}

static int get_types(const MPI_Datatype *handles, int n, struct hl_type ***types)
{
    int err = 0;

    *types = malloc(((size_t)n + 1) * sizeof(void *));
    if (*types == NULL) {
        return HL_ERR_NO_MEM;
    }
    for (int i = 0; i < n && err == 0; i++) {
        err = hl_api_get_committed(handles[i], &(*types)[i]);
    }
    return err;
}

/* The forms with one count, or one type, for each rank. */
static int get_arrays(const struct hl_api_side *from, int n, struct hl_coll_side *to, struct kept *k)
{
    int err = hl_api_widen(&from->counts, n, &k->counts);

    for (int i = 0; i < n && err == 0; i++) {
        err = hl_api_check_count(k->counts[i]);
    }
    if (err == 0 && (from->displs.narrow != NULL || from->displs.wide != NULL)) {
        err = hl_api_widen(&from->displs, n, &k->displs);
    }
    if (err == 0 && from->types != NULL) {
        err = get_types(from->types, n, &k->types);
    } else if (err == 0) {
        err = hl_api_get_committed(from->type, &to->type);
    }
    to->counts = k->counts;
    to->displs = k->displs;
    to->types = k->types;
    return err;
}

/* Fills a side that matters here. */
static int get_side(const struct hl_api_side *from, int n, bool in_place, struct hl_coll_side *to,
                    struct kept *k)
{
    to->buf = (void *)(uintptr_t)from->buf;
    to->count = from->count;
    if (from->buf == MPI_IN_PLACE && in_place) {
        return 0;
    }
    if (from->counts.narrow != NULL || from->counts.wide != NULL) {
        return from->buf == MPI_IN_PLACE
                   ? hl_err_say(HL_ERR_BUFFER, "MPI_IN_PLACE is not possible for this buffer")
                   : get_arrays(from, n, to, k);
    }
    return hl_api_get_data(from->buf, from->count, from->type, &to->type);
}

/* The operand of a reduction has its count and type from the result's side. */
static int get_operand(const struct hl_api_coll *a, bool in_place, const struct hl_coll_side *recv,
                       struct hl_coll_side *send)
{
    send->buf = (void *)(uintptr_t)a->send.buf;
    if (send->buf == MPI_IN_PLACE && in_place) {
        return 0;
    }
    return recv->type != NULL ? hl_api_check_buffer(a->send.buf, recv->count, recv->type) : 0;
}

static int get_reduction(const struct hl_api_coll *a, struct hl_coll_call *call, struct kept *k)
{
    const struct hl_comm *c = call->comm;
    struct hl_api_side recv = a->recv;
    int err;

    if (a->root == MPI_PROC_NULL) {
        return 0;
    }
    if (!holds(a, c, rules[a->what].recv)) {
        recv.buf = (void *)64; /* not significant: no address to judge */
    }
    err = get_side(&recv, c->size, false, &call->recv, k);
    call->recv.buf = (void *)(uintptr_t)a->recv.buf;
    if (err != 0 || !holds(a, c, rules[a->what].send)) {
        return err;
    }
    return get_operand(a, in_place(a, c, rules[a->what].in_send), &call->recv, &call->send);
}

static int get_all(const struct hl_api_coll *a, struct hl_coll_call *call, struct kept k[2])
{
    const struct hl_comm *c = call->comm;
    int err = rules[a->what].rooted ? hl_api_check_root(c, a->root) : 0;

    if (a->what == HL_COLL_SCAN || a->what == HL_COLL_EXSCAN) {
        err = hl_api_check_intra(c);
    }
    if (err == 0 && rules[a->what].reduces) {
        return get_reduction(a, call, &k[1]);
    }
    if (err == 0 && holds(a, c, rules[a->what].send)) {
        err = get_side(&a->send, c->n_peers, in_place(a, c, rules[a->what].in_send), &call->send, &k[0]);
    }
    if (err == 0 && holds(a, c, rules[a->what].recv)) {
        err = get_side(&a->recv, c->n_peers, in_place(a, c, rules[a->what].in_recv), &call->recv, &k[1]);
    }
    return err;
}

int hl_api_collective(const struct hl_api_coll *a)
{
    struct hl_coll_call call = {.what = a->what, .root = a->root, .op = a->op};
    struct kept k[2] = {{0}};
    int err = hl_api_get_comm(a->comm, &call.comm);

    err = err == 0 ? get_all(a, &call, k) : err;
    err = err == 0 ? hl_coll_run(&call) : err;
    drop(&k[0]);
    drop(&k[1]);
    return hl_api_end(call.comm, a->func, err);
}
