/* Intercommunicators from two groups, and one communicator from an intercommunicator. */
#include <stdlib.h>

#include "algos.h"
#include "err.h"
#include "util.h"

void hl_build_agree(struct hl_sched *s, const struct hl_coll_call *c, void *both, size_t half)
{
    struct hl_coll_call phase = {.what = HL_COLL_BCAST, .recv = hl_coll_bytes(both, 2 * half)};

    hl_build_swap(s, c, hl_data_bytes(both, half), hl_data_bytes((char *)both + half, half));
    hl_build_local(s, c, &phase);
}

/* The leader sends `out` to the other leader and receives `in`. */
static int meet_leader(const struct hl_coll_meet *meet, struct hl_data out, struct hl_data in)
{
    struct hl_sched *s = hl_sched_take();

    if (s == NULL) {
        return hl_coll_unable(meet->peer, HL_ERR_NO_MEM);
    }
    hl_sched_init_tagged(s, &hl_coll_net_match, meet->peer, HL_PLANE_MEET, meet->tag);
    hl_sched_recv(s, meet->leader, in);
    hl_sched_send(s, meet->leader, out);
    return hl_coll_exchange(s);
}

/* What a leader tells the other one; then its group gets the result of both. */
struct group_hello {
    uint64_t ctx;
    int32_t size, err;
};

/* World ranks of a group; NULL: no memory. */
static int *world_ranks(const struct hl_group *g)
{
    int *world = malloc((size_t)g->size * sizeof *world);

    for (int i = 0; world != NULL && i < g->size; i++) {
        world[i] = hl_group_world(g, i);
    }
    if (world == NULL) {
        hl_err_say(HL_ERR_NO_MEM, "no memory for a list of %d rank%s", g->size, hl_plural(g->size));
    }
    return world;
}

/* The leader's part: learns the other group, or puts an error into theirs->err. */
static void lead_group(const struct hl_comm *local, const struct hl_coll_meet *meet,
                       struct group_hello *theirs, int **their_world)
{
    struct group_hello mine = {.ctx = hl_comm_ctx_new(), .size = local->size};
    int *world = world_ranks(local->group);
    int err = meet->err;

    if (err == 0) {
        mine.err = world == NULL ? HL_ERR_NO_MEM : meet->wrong;
        err = meet_leader(meet, hl_data_bytes(&mine, sizeof mine), hl_data_bytes(theirs, sizeof *theirs));
        err = err != 0 ? err : mine.err != 0 ? mine.err : theirs->err;
    }
    if (err == 0) {
        *their_world = malloc((size_t)theirs->size * sizeof(int));
        err = *their_world == NULL
                  ? hl_coll_unable(meet->peer, hl_err_say(HL_ERR_NO_MEM, "no memory for a group of %d rank%s",
                                                          theirs->size, hl_plural(theirs->size)))
                  : meet_leader(meet, hl_data_bytes(world, (size_t)local->size * sizeof(int)),
                                hl_data_bytes(*their_world, (size_t)theirs->size * sizeof(int)));
    }
    if (mine.ctx < theirs->ctx) {
        theirs->ctx = mine.ctx;
    }
    theirs->err = err;
    free(world);
}

/* Returns `code` if the groups have common members. */
static int check_disjoint(const struct hl_group *a, const struct hl_group *b, int code)
{
    struct hl_group *common;
    int err = hl_group_intersection(a, b, &common);

    if (err != 0) {
        return err;
    }
    if (common->size > 0) {
        err = hl_err_say(code, "the groups of an intercommunicator must be disjoint: %d rank%s in both",
                         common->size, common->size == 1 ? " is" : "s are");
    }
    hl_group_unref(common);
    return err;
}

static const char making[] = "making the intercommunicator";

/* Duplicates my group's communicator, and makes the intercommunicator; `err`: of the last exchange here. */
static int make_inter(struct hl_comm *local, const int *their_world, const struct group_hello *theirs,
                      int err, struct hl_comm **made)
{
    struct hl_group *other = NULL;
    struct hl_comm *own;

    err = err == 0 ? hl_group_make(their_world, theirs->size, &other) : err;
    err = err == 0 ? check_disjoint(local->group, other, HL_ERR_COMM) : err;
    err = hl_coll_all_or_none(local, err, making);
    err = err == 0 ? hl_coll_comm_dup(local, &own) : err;
    err = err == 0 ? hl_comm_make_inter(own, other, theirs->ctx, made) : err;
    if (other != NULL) {
        hl_group_unref(other);
    }
    return err;
}

int hl_coll_intercomm_create(struct hl_comm *local, int leader, const struct hl_coll_meet *meet,
                             struct hl_comm **made)
{
    struct group_hello theirs = {0};
    int *world = NULL;

    if (local->rank == leader) {
        lead_group(local, meet, &theirs, &world);
    }
    int err = hl_coll_bcast_bytes(local, &theirs, sizeof theirs, leader);
    if (err == 0 && theirs.err == 0) {
        err = meet->wrong;
    } else if (err == 0) {
        err = local->rank == leader
                  ? theirs.err
                  : hl_err_say(theirs.err, "the leader, rank %d, could not reach the other group", leader);
    }
    if (err == 0 && world == NULL) {
        world = malloc((size_t)theirs.size * sizeof *world);
        err = world == NULL ? hl_err_say(HL_ERR_NO_MEM, "no memory for a list of %d rank%s", theirs.size,
                                         hl_plural(theirs.size))
                            : 0;
    }
    err = hl_coll_all_or_none(local, err, making);
    if (err == 0) {
        err = hl_coll_bcast_bytes(local, world, (size_t)theirs.size * sizeof *world, leader);
        err = make_inter(local, world, &theirs, err, made);
    }
    free(world);
    return err;
}

int hl_coll_intercomm_from_groups(const struct hl_coll_sides *sides, const char *string,
                                  struct hl_comm **made)
{
    int leaders[2] = {hl_group_world(sides->mine, sides->leader),
                      hl_group_world(sides->other, sides->other_leader)};
    struct hl_coll_meet meet = {.leader = leaders[0] < leaders[1] ? 1 : 0, .wrong = sides->wrong};
    struct hl_group *pair = NULL;
    struct hl_comm *local = NULL, both = {.n_peers = 2};
    /* else leaders would wait for themselves */
    int err = check_disjoint(sides->mine, sides->other, HL_ERR_GROUP);

    err = err == 0 ? hl_coll_comm_from_group(sides->mine, 0, string, &local) : err;
    if (leaders[0] > leaders[1]) {
        leaders[0] = leaders[1];
        leaders[1] = hl_group_world(sides->mine, sides->leader);
    }
    err = err == 0 ? hl_group_make(leaders, 2, &pair) : err;
    if (err != 0) {
        return err == HL_ERR_NO_MEM ? hl_coll_unable(&both, err) : err;
    }
    both = (struct hl_comm){.ctx = hl_comm_ctx_named(pair, string),
                            .rank = pair->rank,
                            .group = pair,
                            .peers = pair,
                            .n_peers = 2};
    meet.peer = &both;
    err = hl_coll_intercomm_create(local, sides->leader, &meet, made);
    hl_group_unref(pair);
    hl_comm_free(local);
    return err;
}

int hl_coll_intercomm_merge(struct hl_comm *inter, bool high, struct hl_comm **made)
{
    struct {
        uint64_t ctx, high;
    } ids[2] = {{inter->rank == 0 ? hl_comm_ctx_new() : 0, high}};
    struct hl_coll_call call = {.comm = inter};
    struct hl_group *group;
    struct hl_sched *s = hl_sched_take();

    if (s == NULL) {
        return hl_coll_unable(inter, HL_ERR_NO_MEM);
    }
    hl_sched_init(s, &hl_coll_net_match, inter, HL_PLANE_MAKE);
    hl_build_agree(s, &call, ids, sizeof ids[0]);
    int err = hl_coll_exchange(s);
    if (err != 0) {
        return err;
    }
    bool first = ids[0].high != ids[1].high ? ids[1].high != 0 : ids[0].ctx < ids[1].ctx;
    struct hl_group *low = first ? inter->group : inter->peers, *top = first ? inter->peers : inter->group;
    err = hl_group_union(low, top, &group);
    if (err == 0) {
        err = hl_comm_make(group, ids[0].ctx < ids[1].ctx ? ids[0].ctx : ids[1].ctx, made);
        hl_group_unref(group);
    }
    return err;
}
