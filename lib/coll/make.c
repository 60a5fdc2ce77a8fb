/* New communicators from old ones. The new communicator's rank 0 issues its context; of two groups' contexts
 * the smaller one counts. All messages go over the parent's creation plane, so that they never meet the
 * user's messages, and no retry is needed. */
#include <stdlib.h>

#include "algos.h"
#include "err.h"
#include "flight.h"
#include "job.h"
#include "keyval.h"
#include "util.h"

/* Dup: an empty communicator that gets its contexts when all ranks have them */

struct dup {
    struct hl_flight flight; /* only for idup, as is `request` */
    struct hl_req *request;
    int err; /* this rank's own: it takes part only because the others need it */
    struct hl_comm *parent, *made;
    struct hl_sched sched;
    struct {
        uint64_t ctx, local;
    } ids[2]; /* issued by rank 0 of my group, and of the other group */
};

/* Makes the communicator without contexts: no message can be sent over it yet. */
static int make_empty(const struct hl_comm *parent, struct hl_comm **made)
{
    struct hl_comm *local;

    if (!hl_comm_is_inter(parent)) {
        return hl_comm_make(parent->group, 0, made);
    }
    int err = hl_comm_make(parent->group, 0, &local);
    return err != 0 ? err : hl_comm_make_inter(local, parent->peers, 0, made);
}

static void begin_dup(struct dup *d, struct hl_comm *parent)
{
    struct hl_coll_call call = {.what = HL_COLL_BCAST, .comm = parent};

    d->parent = parent;
    if (parent->rank == 0) {
        d->ids[0].ctx = hl_comm_ctx_new();
        d->ids[0].local = hl_comm_is_inter(parent) ? hl_comm_ctx_new() : 0;
    }
    d->made = NULL;
    d->err = make_empty(parent, &d->made);
    hl_sched_init(&d->sched, &hl_coll_net_match, parent, HL_PLANE_MAKE);
    if (hl_comm_is_inter(parent)) {
        hl_build_agree(&d->sched, &call, d->ids, sizeof d->ids[0]);
    } else {
        call.recv =
            (struct hl_coll_side){.buf = d->ids, .count = sizeof d->ids[0].ctx, .type = hl_type_of(MPI_BYTE)};
        hl_coll_build(&d->sched, &call);
    }
}

static int end_dup(struct dup *d)
{
    int err = d->sched.err;

    hl_sched_fini(&d->sched);
    if (err == HL_ERR_NO_MEM) {
        return hl_coll_unable(d->parent, err);
    }
    err = d->err != 0 ? d->err : err;
    if (err != 0) {
        return err;
    }
    d->made->ctx = d->ids[0].ctx;
    if (hl_comm_is_inter(d->parent)) {
        d->made->ctx = d->ids[0].ctx < d->ids[1].ctx ? d->ids[0].ctx : d->ids[1].ctx;
        d->made->local->ctx = d->ids[0].local;
    }
    return 0;
}

int hl_coll_comm_dup(struct hl_comm *comm, struct hl_comm **made)
{
    struct dup *d = aligned_alloc(_Alignof(struct dup), sizeof *d);

    if (d == NULL) {
        return hl_coll_unable(comm, hl_err_say(HL_ERR_NO_MEM, "no memory for a communicator"));
    }
    begin_dup(d, comm);
    hl_sched_run(&d->sched);
    int err = end_dup(d);
    if (err == 0) {
        *made = d->made;
    } else if (d->made != NULL) {
        hl_comm_free(d->made);
    }
    free(d);
    return err;
}

static bool step_dup(struct hl_flight *f)
{
    return hl_sched_try(&HL_CONTAINER_OF(f, struct dup, flight)->sched);
}

static void land_dup(struct hl_flight *f)
{
    struct dup *d = HL_CONTAINER_OF(f, struct dup, flight);
    struct hl_req *r = d->request;
    int err = end_dup(d);

    /* After an error it stays without contexts: the user has its handle, and frees it. Of a rank's own error
     * the call has told, and given no handle. */
    if (err != 0 && d->err == 0) {
        hl_req_fail(r, err);
    } else if (d->err != 0 && d->made != NULL) {
        hl_comm_free(d->made);
    }
    hl_comm_unref(d->parent);
    free(d);
    hl_req_done(r);
}

int hl_coll_comm_idup(struct hl_comm *comm, hl_coll_fill_fn *fill, void *arg, struct hl_comm **made,
                      struct hl_req **request)
{
    struct dup *d = aligned_alloc(_Alignof(struct dup), sizeof *d);
    struct hl_req *r = hl_req_new(HL_REQ_COLL);
    int err = d == NULL || r == NULL ? hl_err_say(HL_ERR_NO_MEM, "no memory for a nonblocking dup")
                                     : hl_flight_ready();

    if (err != 0) {
        free(d);
        if (r != NULL) {
            hl_req_free(r);
        }
        return hl_coll_unable(comm, err);
    }
    begin_dup(d, comm);
    struct hl_comm *empty = d->made;
    d->err = d->err == 0 ? fill(arg, empty) : d->err;
    int wrong = d->err;
    d->flight = (struct hl_flight){.step = step_dup, .end = land_dup};
    d->request = r;
    r->ctx = comm->ctx;
    hl_comm_ref(comm);
    (void)hl_flight_start(&d->flight); /* its only error was ruled out by hl_flight_ready */
    if (wrong != 0) {
        hl_req_orphan(r);
        return wrong;
    }
    *made = empty;
    *request = r;
    return 0;
}

/* ---- Split ---- */

/* What a rank tells the others in a split. */
struct vote {
    int32_t color, key;
    int64_t err;         /* the error of this rank's call; 64 bits, so that no padding is sent */
    uint64_t ctx, local; /* used if this rank becomes rank 0 */
};

/* A rank of the parent that joins my group. */
struct joiner {
    int32_t key, rank;
};

static int compare_key_then_rank(const void *a, const void *b)
{
    const struct joiner *x = a, *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->rank < y->rank ? -1 : 1;
}

/* Makes the group of the members of `from` whose votes have this color; *first is the vote of its first
 * member. */
static int make_color_group(const struct hl_group *from, const struct vote *votes, int color,
                            struct hl_group **group, struct vote *first)
{
    struct joiner *joiners = malloc(((size_t)from->size + 1) * sizeof *joiners);
    int *world = malloc(((size_t)from->size + 1) * sizeof *world), n = 0;
    int err;

    for (int i = 0; joiners != NULL && i < from->size; i++) {
        if (votes[i].color == color) {
            joiners[n++] = (struct joiner){votes[i].key, i};
        }
    }
    if (joiners != NULL && world != NULL) {
        qsort(joiners, (size_t)n, sizeof *joiners, compare_key_then_rank);
        for (int i = 0; i < n; i++) {
            world[i] = hl_group_world(from, joiners[i].rank);
        }
        *first = n > 0 ? votes[joiners[0].rank] : (struct vote){0};
        err = hl_group_make(world, n, group);
    } else {
        err = hl_err_say(HL_ERR_NO_MEM, "no memory for a part of %d ranks", from->size);
    }
    free(joiners);
    free(world);
    return err;
}

/* Makes the communicator of this color. *made stays NULL when the other group has no member with it. */
static int join_both(const struct hl_comm *comm, const struct vote *votes, int color, struct hl_comm **made)
{
    const struct vote *theirs = votes + comm->size;
    struct hl_group *mine = NULL, *other = NULL;
    struct vote first, their_first;
    struct hl_comm *local;
    int err = make_color_group(comm->group, votes, color, &mine, &first);

    if (err == 0 && !hl_comm_is_inter(comm)) {
        err = hl_comm_make(mine, first.ctx, made);
    } else if (err == 0) {
        err = make_color_group(comm->peers, theirs, color, &other, &their_first);
        if (err == 0 && other->size > 0) {
            err = hl_comm_make(mine, first.local, &local);
            err = err != 0
                      ? err
                      : hl_comm_make_inter(local, other,
                                           first.ctx < their_first.ctx ? first.ctx : their_first.ctx, made);
        }
    }
    if (other != NULL) {
        hl_group_unref(other);
    }
    if (mine != NULL) {
        hl_group_unref(mine);
    }
    return err;
}

/* A wrong call of one rank is an error on all. */
static int check_votes(const struct vote *votes, const struct hl_comm *comm)
{
    int all = comm->size + (hl_comm_is_inter(comm) ? comm->n_peers : 0);

    for (int i = 0; i < all; i++) {
        if (votes[i].err != 0) {
            const struct hl_group *from = i < comm->size ? comm->group : comm->peers;
            return hl_err_say(votes[i].err, "rank %d of the job gave a wrong argument",
                              hl_group_world(from, i < comm->size ? i : i - comm->size));
        }
    }
    return 0;
}

/* `wrong`: the error of my call, or 0. */
static int split_comm(struct hl_comm *comm, int wrong, int color, int key, struct hl_comm **made)
{
    struct vote mine = {color, key, wrong, hl_comm_ctx_new(), hl_comm_is_inter(comm) ? hl_comm_ctx_new() : 0};
    size_t all = (size_t)comm->size + (size_t)comm->n_peers;
    struct vote *votes = malloc(all * sizeof *votes);
    int err;

    if (votes == NULL) {
        return hl_coll_unable(comm, hl_err_say(HL_ERR_NO_MEM, "no memory to split %zu ranks", all));
    }
    if (hl_comm_is_inter(comm)) {
        err = hl_coll_allgather_local(comm, &mine, sizeof mine, votes);
        int their_err = hl_coll_allgather_bytes(comm, &mine, sizeof mine, votes + comm->size);
        err = err != 0 ? err : their_err;
    } else {
        err = hl_coll_allgather_bytes(comm, &mine, sizeof mine, votes);
    }
    *made = NULL;
    err = wrong != 0 ? wrong : err != 0 ? err : check_votes(votes, comm);
    if (err == 0 && color != MPI_UNDEFINED) {
        err = join_both(comm, votes, color, made);
    }
    free(votes);
    return err;
}

int hl_coll_comm_split(struct hl_comm *comm, int color, int key, struct hl_comm **made)
{
    return split_comm(comm, 0, color, key, made);
}

void hl_coll_comm_refuse(struct hl_comm *comm, int wrong)
{
    struct hl_comm *none;
    split_comm(comm, wrong, MPI_UNDEFINED, 0, &none);
}

int hl_coll_comm_split_node(struct hl_comm *comm, int key, struct hl_comm **made)
{
    /* A node is named by its lowest world rank. */
    return hl_coll_comm_split(comm, hl_job.node_world[0], key, made);
}

int hl_coll_check_subgroup(const struct hl_comm *comm, const struct hl_group *group)
{
    for (int i = 0; i < group->size; i++) {
        int world = hl_group_world(group, i);
        if (hl_group_rank(comm->group, world) == MPI_UNDEFINED) {
            return hl_err_say(HL_ERR_GROUP,
                              "member %d of the group (rank %d of the job) is not in the communicator", i,
                              world);
        }
    }
    return 0;
}

int hl_coll_comm_create(struct hl_comm *comm, struct hl_group *group, struct hl_comm **made)
{
    int color = MPI_UNDEFINED;

    if (group->rank != MPI_UNDEFINED) { /* disjoint groups have different first members */
        color = hl_comm_is_inter(comm) ? 0 : hl_group_rank(comm->group, hl_group_world(group, 0));
    }
    return split_comm(comm, 0, color, group->rank, made);
}

/* ---- By the members of a group only ---- */

/* What goes down the tree: a context, or an error in whose subtree nobody gets a communicator. */
struct handed {
    uint64_t ctx;
    int64_t err;
};

/* Broadcasts what the group's rank 0 has by a binomial tree. A rank with an error hands down that instead.
 * Messages go over `comm`, with the user's tag. */
static int hand_down(const struct hl_comm *comm, const struct hl_group *group, int tag, struct handed *mine)
{
    int me = group->rank, low = me == 0 ? hl_pow2_below(group->size) * 2 : me & -me;
    struct hl_data out = hl_data_bytes(mine, sizeof *mine);
    struct handed dropped;
    struct hl_data in = mine->err == 0 ? out : hl_data_bytes(&dropped, sizeof dropped);
    struct hl_sched *s = hl_sched_take();

    if (s == NULL) {
        return hl_coll_unable(comm, HL_ERR_NO_MEM);
    }
    hl_sched_init_tagged(s, &hl_coll_net_match, comm, HL_PLANE_TAGGED, tag);
    if (me != 0) {
        hl_sched_recv(s, hl_group_rank(comm->group, hl_group_world(group, me - low)), in);
        hl_sched_wait(s);
    }
    for (int far = low / 2; far > 0; far /= 2) {
        if (me + far < group->size) {
            hl_sched_send(s, hl_group_rank(comm->group, hl_group_world(group, me + far)), out);
        }
    }
    return hl_coll_exchange(s);
}

int hl_coll_comm_create_group(struct hl_comm *comm, const struct hl_coll_some *some, struct hl_comm **made)
{
    struct hl_group *group = some->group;
    struct handed mine = {.ctx = group->rank == 0 ? hl_comm_ctx_new() : 0, .err = some->wrong};
    int err = hl_coll_check_subgroup(comm, group);

    *made = NULL;
    if (err != 0 || group->rank == MPI_UNDEFINED) {
        return err != 0 ? err : some->wrong;
    }
    err = hand_down(comm, group, some->tag, &mine);
    if (some->wrong == 0 && err == 0 && mine.err != 0) {
        err = hl_err_say((int)mine.err, "another rank of the group gave a wrong argument");
    }
    return some->wrong != 0 ? some->wrong : err != 0 ? err : hl_comm_make(group, mine.ctx, made);
}

int hl_coll_comm_from_group(struct hl_group *group, int wrong, const char *string, struct hl_comm **made)
{
    struct hl_comm meet = {.ctx = hl_comm_ctx_named(group, string),
                           .rank = group->rank,
                           .size = group->size,
                           .group = group,
                           .peers = group,
                           .n_peers = group->size};

    return hl_coll_comm_create_group(&meet, &(struct hl_coll_some){group, 0, wrong}, made);
}
