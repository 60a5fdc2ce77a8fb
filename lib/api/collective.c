/* Checks the arguments of a collective call that matter on this rank, and runs the operation. */
#include "collective.h"

#include <stdlib.h>

#include "args.h"
#include "shape.h"

/* On which ranks an argument of a kind of operation matters: never, on the root only, on all. */
enum significance { NEVER, ROOT, ALL };

static const struct {
    bool rooted, reduces;
    enum significance send, recv;       /* where the side's arguments are significant */
    enum significance in_send, in_recv; /* where the side may be MPI_IN_PLACE */
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
    [HL_COLL_NEIGHBOR_ALLGATHER] = {false, false, ALL, ALL, NEVER, NEVER},
    [HL_COLL_NEIGHBOR_ALLTOALL] = {false, false, ALL, ALL, NEVER, NEVER},
};

/* Does a rule hold on this rank? In an intercommunicator the root is alone in its group: it needs only what a
 * root needs, and the other ranks of its group need nothing. */
static bool does_rule_hold(const struct hl_api_coll *a, const struct hl_comm *c, enum significance where)
{
    if (where == NEVER || !rules[a->what].rooted || !hl_comm_is_inter(c)) {
        return where == ALL || (where == ROOT && rules[a->what].rooted && c->rank == a->root);
    }
    if (a->root == MPI_ROOT) {
        return where == ROOT || a->what == HL_COLL_BCAST;
    }
    return where == ALL && a->root != MPI_PROC_NULL;
}

static bool is_in_place(const struct hl_api_coll *a, const struct hl_comm *c, enum significance where)
{
    return !hl_comm_is_inter(c) && does_rule_hold(a, c, where);
}

/* Memory of a side's arrays, kept until the call is over. */
struct kept_args {
    int64_t *counts, *displs;
    struct hl_type **types;
};

static void drop_kept(struct kept_args *k)
{
    if (k->counts != NULL) { /* the others are set only after it */
        free(k->counts);
        free(k->displs);
        free(k->types);
    }
}

/* Gets the objects of n datatypes. Programs leave the types of empty blocks MPI_DATATYPE_NULL, so those are
 * not checked. */
static int get_block_types(const MPI_Datatype *handles, const int64_t *counts, int n, struct hl_type ***types)
{
    int err = 0;

    if (n > 0 && !hl_is_address(handles)) {
        return hl_err_say(HL_ERR_ARG, "the array of %d datatype%s is NULL or no address", n, hl_plural(n));
    }
    *types = malloc(((size_t)n + 1) * sizeof(void *));
    if (*types == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for %d datatypes", n);
    }
    for (int i = 0; i < n && err == 0; i++) {
        bool none = handles[i] == MPI_DATATYPE_NULL && counts[i] == 0;
        err = hl_api_get_committed(none ? MPI_BYTE : handles[i], &(*types)[i]);
    }
    return err;
}

static int say_blocks_too_large(int64_t count, const struct hl_type *type, int n)
{
    return hl_err_say(HL_ERR_COUNT,
                      "%lld elements of %lld bytes, and those of all %d blocks, do not fit 63 bits",
                      (long long)count, (long long)type->size, n);
}

#define SOMEWHERE ((void *)64) /* replaces an address that does not matter, so that it is not checked */

/* Is neighbour `i` beyond the end of a grid (MPI_PROC_NULL)? Nothing goes there. */
static bool is_nobody(const int *peers, int i)
{
    return peers != NULL && peers[i] == MPI_PROC_NULL;
}

static bool is_anybody(const int *peers, int n)
{
    int i = 0;

    while (i < n && is_nobody(peers, i)) {
        i++;
    }
    return i < n;
}

static int check_blocks(const void *buf, int n, const int *peers, const struct hl_coll_side *to)
{
    int64_t bytes, all = 0;
    int err = 0;

    for (int i = 0; i < n && err == 0; i++) {
        const struct hl_type *type = to->types != NULL ? to->types[i] : to->type;
        bool unjudged =
            (buf == MPI_BOTTOM && to->displs != NULL && to->displs[i] != 0) || is_nobody(peers, i);
        err = hl_api_check_count(to->counts[i]);
        err = err == 0 ? hl_api_check_buffer(unjudged ? SOMEWHERE : buf, to->counts[i], type) : err;
        if (err == 0 && (__builtin_mul_overflow(to->counts[i], type->size, &bytes) ||
                         __builtin_add_overflow(all, bytes, &all))) {
            err = say_blocks_too_large(to->counts[i], type, n);
        }
    }
    return err;
}

/* Gets the arrays of the forms with a count or type for each rank. */
static int get_arrays(const struct hl_api_side *side, int n, const int *peers, struct hl_coll_side *to,
                      struct kept_args *k)
{
    const struct hl_api_arrays *from = side->arrays;
    int err = hl_api_widen(&from->counts, n, &k->counts);

    if (err == 0 && from->has_displs) {
        err = hl_api_widen(&from->displs, n, &k->displs);
    }
    if (err == 0 && from->has_types) {
        err = get_block_types(from->types, k->counts, n, &k->types);
    } else if (err == 0) {
        err = hl_api_get_committed(side->type, &to->type);
    }
    to->counts = k->counts;
    to->displs = k->displs;
    to->types = k->types;
    return err == 0 ? check_blocks(side->buf, n, peers, to) : err;
}

/* Fills a side of n blocks that matters on this rank; `peers`: its neighbours (NULL: all ranks of a group). A
 * rank without neighbours may have no buffer. */
static int get_side(const struct hl_api_side *from, int n, const int *peers, bool in_place,
                    struct hl_coll_side *to, struct kept_args *k)
{
    to->buf = (void *)(uintptr_t)from->buf;
    to->count = from->count;
    if (from->buf == MPI_IN_PLACE && in_place) {
        return 0;
    }
    if (from->arrays != NULL) {
        return from->buf == MPI_IN_PLACE
                   ? hl_err_say(HL_ERR_BUFFER, "MPI_IN_PLACE is not possible for this buffer of this call")
                   : get_arrays(from, n, peers, to, k);
    }
    int64_t all;
    int err = hl_api_get_data(from->buf != NULL || is_anybody(peers, n) ? from->buf : SOMEWHERE, from->count,
                              from->type, &to->type);
    if (err == 0 && (__builtin_mul_overflow(from->count, to->type->size, &all) ||
                     __builtin_mul_overflow(all, (int64_t)n, &all))) {
        err = say_blocks_too_large(from->count, to->type, n);
    }
    return err;
}

/* Checks the operand of a reduction, whose count and type are those of the result. */
static int check_operand(const struct hl_coll_side *send, int n, bool in_place,
                         const struct hl_coll_side *recv)
{
    if (send->buf == MPI_IN_PLACE && in_place) {
        return 0;
    }
    if (recv->counts != NULL) {
        return check_blocks(send->buf, n, NULL, recv);
    }
    return recv->type != NULL ? hl_api_check_buffer(send->buf, recv->count, recv->type) : 0;
}

static int get_reduction(const struct hl_api_coll *a, struct hl_coll_call *call, struct kept_args *k)
{
    const struct hl_comm *c = call->comm;
    struct hl_api_side recv = a->recv;
    bool may_stay = is_in_place(a, c, rules[a->what].in_send);
    /* With counts for all ranks, a rank's own block is the recvcount; with MPI_IN_PLACE the operand has all
     * blocks. */
    bool share = recv.arrays != NULL && !(may_stay && a->send.buf == MPI_IN_PLACE);
    int err;

    if (a->root == MPI_PROC_NULL) {
        return 0;
    }
    call->send.buf = (void *)(uintptr_t)a->send.buf;
    if (!hl_coll_has_result(call) || share) {
        recv.buf = SOMEWHERE;
    }
    err = get_side(&recv, c->size, NULL, false, &call->recv, k);
    call->recv.buf = (void *)(uintptr_t)a->recv.buf;
    if (err == 0 && share) {
        err = hl_api_check_buffer(a->recv.buf, call->recv.counts[c->rank], call->recv.type);
    }
    if (err != 0 || !does_rule_hold(a, c, rules[a->what].send)) {
        return err;
    }
    return check_operand(&call->send, c->size, may_stay, &call->recv);
}

static int get_coll_args(const struct hl_api_coll *a, struct hl_coll_call *call, struct kept_args k[2])
{
    const struct hl_comm *c = call->comm;
    int n_send = c->n_peers, n_recv = c->n_peers;
    const int *to = NULL, *from = NULL;
    int err = rules[a->what].rooted ? hl_api_check_root(c, a->root) : 0;

    if (a->what >= HL_COLL_NEIGHBOR_ALLGATHER) {
        if (c->shape == NULL) {
            return hl_err_say(HL_ERR_TOPOLOGY, "the communicator has no topology");
        }
        n_send = c->shape->n_out;
        n_recv = c->shape->n_in;
        to = c->shape->out;
        from = c->shape->in;
    }
    if (a->what == HL_COLL_SCAN || a->what == HL_COLL_EXSCAN) {
        err = hl_api_check_intra(c);
    }
    if (err == 0 && rules[a->what].reduces) {
        return get_reduction(a, call, &k[1]);
    }
    if (err == 0 && does_rule_hold(a, c, rules[a->what].send)) {
        err = get_side(&a->send, n_send, to, is_in_place(a, c, rules[a->what].in_send), &call->send, &k[0]);
    }
    if (err == 0 && does_rule_hold(a, c, rules[a->what].recv)) {
        err = get_side(&a->recv, n_recv, from, is_in_place(a, c, rules[a->what].in_recv), &call->recv, &k[1]);
    }
    return err;
}

static int check_aliases(const struct hl_coll_call *call)
{
    return hl_coll_is_aliased(call)
               ? hl_err_say(HL_ERR_BUFFER,
                            "data are sent from %p, where others are to be received: give "
                            "MPI_IN_PLACE, or another buffer",
                            call->send.buf)
               : 0;
}

/* Runs or starts an operation whose arguments were checked. */
typedef int use_call(const struct hl_coll_call *call, struct hl_req **request);

static int check_and(use_call *use, struct hl_api_on on, const struct hl_api_coll *a, MPI_Request *request)
{
    struct hl_coll_call call;
    struct kept_args k[2] = {{0}};
    struct hl_req *r = NULL;
    int err = hl_api_enter(hl_api_get_comm(on.comm, &call.comm));

    /* Field by field: compilers clear the whole structure by an instruction that takes as long as a short
     * call. */
    call.what = a->what;
    call.root = a->root;
    call.op = a->op;
    call.send = (struct hl_coll_side){0};
    call.recv = (struct hl_coll_side){0};

    err = err == 0 ? get_coll_args(a, &call, k) : err;
    err = err == 0 ? check_aliases(&call) : err;
    err = err == 0 ? use(&call, &r) : err;
    if (err == 0 && request != NULL) {
        *request = hl_req_handle(r);
    }
    drop_kept(&k[0]);
    drop_kept(&k[1]);
    return hl_api_leave(call.comm, on.func, err);
}

static int run_call(const struct hl_coll_call *call, struct hl_req **request)
{
    (void)request;
    return hl_coll_run(call);
}

/* A barrier has no arguments to check. */
static int call_barrier(struct hl_api_on on)
{
    struct hl_comm *comm;
    int err = hl_api_enter(hl_api_get_comm(on.comm, &comm));

    err = err == 0 ? hl_coll_barrier(comm) : err;
    return hl_api_leave(comm, on.func, err);
}

/* A broadcast has one side, which matters on all ranks except those beside the root in an intercommunicator.
 * It has less to check than check_and does, which shows in short calls. */
static int call_bcast(struct hl_api_on on, const struct hl_api_coll *a)
{
    struct hl_comm *comm;
    struct hl_type *type = NULL;
    int err = hl_api_enter(hl_api_get_comm(on.comm, &comm));

    err = err == 0 ? hl_api_check_root(comm, a->root) : err;
    if (err == 0 && (a->root != MPI_PROC_NULL || !hl_comm_is_inter(comm))) {
        err = hl_api_get_data(a->recv.buf, a->recv.count, a->recv.type, &type);
    }
    if (err == 0) {
        err = hl_coll_bcast(comm, (void *)(uintptr_t)a->recv.buf, a->recv.count, type, a->root);
    }
    return hl_api_leave(comm, on.func, err);
}

int hl_api_collective(struct hl_api_on on, const struct hl_api_coll *a)
{
    if (a->what == HL_COLL_BARRIER) {
        return call_barrier(on);
    }
    return a->what == HL_COLL_BCAST ? call_bcast(on, a) : check_and(run_call, on, a, NULL);
}

int hl_api_icollective(struct hl_api_on on, const struct hl_api_coll *a, MPI_Request *request)
{
    int err = hl_api_check_out(request, "request");

    return err != 0 ? hl_api_end(hl_comm_of(on.comm), on.func, err)
                    : check_and(hl_coll_start, on, a, request);
}

int hl_api_collective_init(struct hl_api_on on, const struct hl_api_coll *a, MPI_Info info,
                           MPI_Request *request)
{
    struct hl_info *hints;
    int err = hl_api_check_out(request, "request");

    err = err == 0 ? hl_api_get_info(info, &hints) : err;
    return err != 0 ? hl_api_end(hl_comm_of(on.comm), on.func, err)
                    : check_and(hl_coll_persist, on, a, request);
}
