/* Collective operations and the making of communicators.
 *
 * Every operation is a schedule: sends, receives, copies, reductions and waits in an order that the
 * algorithm's one text writes down; a blocking call builds, runs and waits, unless it goes over memory that
 * members on a node share (shared.h, boxes.h). Which algorithm: a table
 * (choose.c) read with facts that all ranks share, never with what only one of them knows (its buffers,
 * IN_PLACE, its own counts).
 *
 * All functions return 0 or the first error of this rank: HL_ERR_NO_MEM, HL_ERR_COUNT, HL_ERR_OP,
 * HL_ERR_TRUNCATE and what matching reports. After an error in a transfer the schedule is still run to its
 * end, so that peers do not hang. Arguments have been checked by the caller. Any thread; collectives on one
 * communicator must be called in one order on all its ranks, so by one thread at a time. */
#ifndef HL_COLL_H
#define HL_COLL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm.h"
#include "err.h"
#include "req.h"

struct hl_type;

enum hl_coll {
    HL_COLL_BARRIER,
    HL_COLL_BCAST, /* data in recv, on the root too */
    HL_COLL_REDUCE,
    HL_COLL_ALLREDUCE,
    HL_COLL_SCAN,
    HL_COLL_EXSCAN,
    HL_COLL_REDUCE_SCATTER, /* recv.counts, or recv.count for each rank (the block form) */
    HL_COLL_GATHER,
    HL_COLL_GATHERV,
    HL_COLL_SCATTER,
    HL_COLL_SCATTERV,
    HL_COLL_ALLGATHER,
    HL_COLL_ALLGATHERV,
    HL_COLL_ALLTOALL,
    HL_COLL_ALLTOALLV, /* and the form with types */
    /* Of a communicator with a topology: a block for each neighbour; the forms with arrays too. */
    HL_COLL_NEIGHBOR_ALLGATHER,
    HL_COLL_NEIGHBOR_ALLTOALL,
    HL_COLLS
};

/* One side of a call. Where an operation has a block for each rank, block i is counts[i] elements at
 * displs[i] extents, or without arrays `count` elements behind i * count others. With types[], block i is of
 * types[i] and displs[i] counts bytes. Reductions: count and type in recv, send.buf the operand. */
struct hl_coll_side {
    void *buf; /* MPI_IN_PLACE where the standard allows it; never written on the sending side */
    int64_t count;
    const int64_t *counts, *displs; /* [blocks] or NULL; both or none, but for HL_COLL_REDUCE_SCATTER */
    struct hl_type *type;
    struct hl_type *const *types;
};

struct hl_coll_call {
    enum hl_coll what;
    struct hl_comm *comm;
    int root;
    MPI_Op op;
    struct hl_coll_side send, recv;
};

/* Runs the operation; the call and what it points to are the caller's. On a rank where a side is not
 * significant it may hold anything. */
int hl_coll_run(const struct hl_coll_call *call);

/* Nonblocking: begins the operation, which *request ends. What the call points to is the caller's again on
 * return, but for the data; communicator, types and operation may be freed while the request is active. */
int hl_coll_start(const struct hl_coll_call *call, struct hl_req **request);

/* Persistent: the same, ready to be started again and again (hl_req_start); a collective call that waits for
 * nobody. Ranks may start several of them in different orders. */
int hl_coll_persist(const struct hl_coll_call *call, struct hl_req **request);

/* Puts the request of one of these into words (hl_req_on_tell). */
void hl_coll_tell(const struct hl_req *r, struct hl_told *t);

/* ---- The common ones in short ---- */

int hl_coll_barrier(struct hl_comm *comm);
/* `type` may be NULL where the root of another group is not. */
int hl_coll_bcast(struct hl_comm *comm, void *buf, int64_t count, struct hl_type *type, int root);

/* ---- For the library itself, beside the user's collectives (plane HL_PLANE_MAKE), in call order too ---- */

/* all[] gets the `len` bytes of each rank, in rank order; of an intercommunicator those of the other group.
 */
int hl_coll_allgather_bytes(struct hl_comm *comm, const void *mine, size_t len, void *all);

/* The same within my group of an intercommunicator. */
int hl_coll_allgather_local(struct hl_comm *inter, const void *mine, size_t len, void *all);
int hl_coll_bcast_bytes(struct hl_comm *comm, void *buf, size_t len, int root);

/* Runs an exchange, not of results that differ, and has a number made of what it brought. When a member dies
 * meanwhile, all others get the same number, or all an error, if their receive threads run (hl_rx_start). */
typedef int32_t hl_coll_result_fn(void *arg);
int hl_coll_settle(const struct hl_coll_call *call, hl_coll_result_fn *result, void *arg, int32_t *got);

/* The smallest of all ranks' values, so settled; on an error of the exchange itself *least is anything. Ends
 * with everybody having called. */
int hl_coll_least(struct hl_comm *comm, int value, int *least);

/* The same for 0 or error codes, which every rank then knows: returns the error of the exchange, or the
 * smallest. */
int hl_coll_agree(struct hl_comm *comm, int value);

/* Between two exchanges of one call, as a death may have spoilt the first for some: 0 on all, or an error on
 * all that live, one's own where there is one; else `what` is said to have failed elsewhere. */
int hl_coll_all_or_none(struct hl_comm *comm, int err, const char *what);

/* What `rank` says of its error `code`, on all ranks: theirs may be the only line that the user sees. */
void hl_coll_words_of(struct hl_comm *comm, int rank, int code, char text[HL_ERR_TEXT]);

/* After an exchange that failed some rank, `code` being mine or 0: which failed first, and its words. Returns
 * the error of the exchange, with which neither is set, as when nobody failed. */
int hl_coll_first_failed(struct hl_comm *comm, int code, int *rank, char text[HL_ERR_TEXT]);

/* ---- New communicators. *made has one reference, the handle's; error handler and attributes are the
 * caller's work. Errors as above, on all ranks or on none but for HL_ERR_NO_MEM. From an intercommunicator
 * comes an intercommunicator. ---- */

/* MPI_Comm_dup, without attributes. */
int hl_coll_comm_dup(struct hl_comm *comm, struct hl_comm **made);

/* MPI_Comm_idup. `fill` writes into *made what is copied from *comm before anything is sent; where it fails,
 * that error is returned at once, without a request or communicator, and this rank still does its part for
 * the others. */
typedef int hl_coll_fill_fn(void *arg, struct hl_comm *made);
int hl_coll_comm_idup(struct hl_comm *comm, hl_coll_fill_fn *fill, void *arg, struct hl_comm **made,
                      struct hl_req **request);

/* MPI_Comm_split: *made is NULL for color MPI_UNDEFINED, or when nobody of the other group has my color. */
int hl_coll_comm_split(struct hl_comm *comm, int color, int key, struct hl_comm **made);

/* The members that share my proved node, ordered by key. */
int hl_coll_comm_split_node(struct hl_comm *comm, int key, struct hl_comm **made);

/* Instead of one of the two above and MPI_Comm_create: tells the others, for whom it is an error as well,
 * that my call is wrong. */
void hl_coll_comm_refuse(struct hl_comm *comm, int wrong);

/* HL_ERR_GROUP: `group` has members that are not mine of `comm`. */
int hl_coll_check_subgroup(const struct hl_comm *comm, const struct hl_group *group);

/* MPI_Comm_create, with such a group: *made is NULL for ranks outside. */
int hl_coll_comm_create(struct hl_comm *comm, struct hl_group *group, struct hl_comm **made);

/* MPI_Comm_create_group: called by the members of `group` only, of which others get NULL at once. */
int hl_coll_comm_create_group(struct hl_comm *comm, struct hl_group *group, int tag, struct hl_comm **made);

/* MPI_Comm_create_from_group: called by the members of `group`. */
int hl_coll_comm_from_group(struct hl_group *group, const char *string, struct hl_comm **made);

/* How the leader of a group finds the other's: a communicator of both, his rank there, a tag. */
struct hl_coll_meet {
    struct hl_comm *peer;
    int leader, tag;
    int err; /* what is wrong with these; other ranks are then told */
};

/* MPI_Intercomm_create: `meet` matters on rank `leader` of `local` only. HL_ERR_COMM: the groups overlap. */
int hl_coll_intercomm_create(struct hl_comm *local, int leader, const struct hl_coll_meet *meet,
                             struct hl_comm **made);

/* MPI_Intercomm_create_from_groups, called by the members of `mine`; leaders are ranks of each group. */
struct hl_coll_sides {
    struct hl_group *mine, *other;
    int leader, other_leader;
};
int hl_coll_intercomm_from_groups(const struct hl_coll_sides *sides, const char *string,
                                  struct hl_comm **made);

/* MPI_Intercomm_merge; `high` counts on the ranks 0. */
int hl_coll_intercomm_merge(struct hl_comm *inter, bool high, struct hl_comm **made);

#endif
