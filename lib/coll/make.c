/* New communicators. The new one's rank 0 issues its context; everything goes over the parent's creation
 * plane, so that it neither meets the user's messages nor needs a retry. */
#include <stdlib.h>

#include "boot.h"
#include "coll.h"
#include "err.h"

int hl_coll_comm_dup(struct hl_comm *comm, struct hl_comm **made)
{
    uint64_t ctx = comm->rank == 0 ? hl_comm_ctx_new() : 0;
    int err = hl_coll_bcast_bytes(comm, &ctx, sizeof ctx, 0);

    return err != 0 ? err : hl_comm_make(comm->group, ctx, made);
}

/* What a rank tells the others in a split. */
struct vote {
    int32_t color, key;
    uint64_t ctx; /* counts if it becomes rank 0 */
};

/* A rank of the parent that joins my group. */
struct joiner {
    int32_t key, rank;
};

static int by_key_then_rank(const void *a, const void *b)
{
    const struct joiner *x = a, *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->rank < y->rank ? -1 : 1;
}

/* Sorts out who is with me; votes[] and the scratch arrays have comm->size entries. */
static int join(const struct hl_comm *comm, const struct vote *votes, struct joiner *joiners, int *world,
                struct hl_comm **made)
{
    struct hl_group *group;
    int n = 0;

    for (int i = 0; i < comm->size; i++) {
        if (votes[i].color == votes[comm->rank].color) {
            joiners[n++] = (struct joiner){votes[i].key, i};
        }
    }
    qsort(joiners, (size_t)n, sizeof *joiners, by_key_then_rank);
    for (int i = 0; i < n; i++) {
        world[i] = hl_comm_world(comm, joiners[i].rank);
    }
    int err = hl_group_make(world, n, &group);
    if (err != 0) {
        return err;
    }
    err = hl_comm_make(group, votes[joiners[0].rank].ctx, made);
    hl_group_unref(group);
    return err;
}

int hl_coll_comm_split(struct hl_comm *comm, int color, int key, struct hl_comm **made)
{
    size_t size = (size_t)comm->size;
    struct vote mine = {color, key, hl_comm_ctx_new()};
    struct vote *votes = malloc(size * sizeof *votes);
    struct joiner *joiners = malloc(size * sizeof *joiners);
    int *world = malloc(size * sizeof *world);
    int err = HL_ERR_NO_MEM;

    if (votes == NULL || joiners == NULL || world == NULL) {
        hl_err_say(err, "no memory to split %zu ranks", size);
    } else {
        err = hl_coll_allgather_bytes(comm, &mine, sizeof mine, votes);
    }
    if (err == 0 && color == MPI_UNDEFINED) {
        *made = NULL;
    } else if (err == 0) {
        err = join(comm, votes, joiners, world, made);
    }
    free(votes);
    free(joiners);
    free(world);
    return err;
}

int hl_coll_comm_split_node(struct hl_comm *comm, int key, struct hl_comm **made)
{
    /* A node is named by its lowest world rank. */
    return hl_coll_comm_split(comm, hl_boot.node_world[0], key, made);
}

int hl_coll_comm_create(struct hl_comm *comm, struct hl_group *group, struct hl_comm **made)
{
    uint64_t mine = hl_comm_ctx_new();
    uint64_t *all = malloc((size_t)comm->size * sizeof *all);

    if (all == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the contexts of %d ranks", comm->size);
    }
    int err = hl_coll_allgather_bytes(comm, &mine, sizeof mine, all);
    if (err == 0 && group->rank == MPI_UNDEFINED) {
        *made = NULL;
    } else if (err == 0) {
        int issuer = hl_group_rank(comm->group, hl_group_world(group, 0));
        err = hl_comm_make(group, all[issuer], made);
    }
    free(all);
    return err;
}
