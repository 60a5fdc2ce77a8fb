/* Collective operations and the making of communicators.
 *
 * Every operation is a schedule: sends, receives, copies, reductions and waits, in an order that the
 * algorithm's one text writes down. A blocking call builds its schedule and runs it to the end, unless it
 * goes over memory that members on a node share (shared.h, boxes.h). A table (choose.c) gives the algorithm
 * by facts that all ranks share, never by facts that only one of them knows (its buffers, IN_PLACE, its own
 * counts).
 *
 * All functions return 0 or the first error of this rank: HL_ERR_NO_MEM, HL_ERR_COUNT, HL_ERR_OP,
 * HL_ERR_TRUNCATE and what matching reports. After an error in a transfer the schedule still runs to its end,
 * so that peers do not hang. The caller has checked the arguments. Any thread; all ranks must call the
 * collectives of one communicator in the same order, so by one thread at a time. */
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
    HL_COLL_BCAST, /* the data is in recv, on the root, too */
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
    HL_COLL_ALLTOALLV, /* with counts; also the form with types (alltoallw) */
    /* On communicators with a topology: a block for each neighbour; also the forms with arrays. */
    HL_COLL_NEIGHBOR_ALLGATHER,
    HL_COLL_NEIGHBOR_ALLTOALL,
    HL_COLLS
};

/* One side of a call. In operations with a block for each rank, block i is counts[i] elements at displs[i]
 * extents; without arrays it is `count` elements behind i * count others. With types[], block i has type
 * types[i], and displs[i] counts bytes. In reductions, recv has count and type, and send.buf is the
 * operand. */
struct hl_coll_side {
    void *buf; /* MPI_IN_PLACE where the standard allows it; never written on the sending side */
    int64_t count;
    const int64_t *counts, *displs; /* [blocks] or NULL; both or none, except in HL_COLL_REDUCE_SCATTER */
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

/* Is some memory that is read on this rank the very memory that is written? Only blocks of one type that
 * begin at one address are judged: others may lie in each other's gaps. */
bool hl_coll_is_aliased(const struct hl_coll_call *call);

/* Does a reduction's result matter on this rank? MPI_Exscan has none on its first rank, which reads the
 * receive buffer only where its operand lies there (MPI 4.1, 6.11.2). Only what, comm, root and send.buf are
 * read. */
bool hl_coll_has_result(const struct hl_coll_call *call);

/* Runs the operation and waits for its end; the call and the arrays that it points to stay the caller's. On
 * ranks where a side is not significant it may hold anything. */
int hl_coll_run(const struct hl_coll_call *call);

/* Nonblocking: begins the operation; *request is done when it ends. When this returns, the caller may reuse
 * everything that the call points to, except the data; communicator, types and operation may be freed while
 * the request is active. */
int hl_coll_start(const struct hl_coll_call *call, struct hl_req **request);

/* Persistent: *request is inactive and can be started again and again (hl_req_start). A collective call that
 * waits for nobody. Ranks may start several such requests in different orders. */
int hl_coll_persist(const struct hl_coll_call *call, struct hl_req **request);

/* Describes a request of hl_coll_start or hl_coll_persist in words (hl_req_on_describe). */
void hl_coll_describe(const struct hl_req *r, struct hl_wait_desc *t);

/* ---- The common ones in short ---- */

/* Without memory for this rank's part the job ends: hl_coll_unable. */
int hl_coll_barrier(struct hl_comm *comm);
/* `type` may be NULL on ranks beside the root in its group of an intercommunicator. */
int hl_coll_bcast(struct hl_comm *comm, void *buf, int64_t count, struct hl_type *type, int root);

/* ---- For the library itself, beside the user's collectives (plane HL_PLANE_MAKE), in call order too.
 * Without memory for this rank's part the job ends: hl_coll_unable ---- */

/* Ends the job with a line that says `err`: this rank cannot take its part in an exchange of the library in
 * which the other members of `comm` wait, and cannot tell them. Returns `err` where there are no others. */
int hl_coll_unable(const struct hl_comm *comm, int err) HL_COLD;

/* all[] gets the `len` bytes of each rank, in rank order; on an intercommunicator, of the other group's
 * ranks. */
int hl_coll_allgather_bytes(struct hl_comm *comm, const void *mine, size_t len, void *all);

/* hl_coll_allgather_bytes within my group of an intercommunicator. */
int hl_coll_allgather_local(struct hl_comm *inter, const void *mine, size_t len, void *all);
int hl_coll_bcast_bytes(struct hl_comm *comm, void *buf, size_t len, int root);

/* Sends `len` bytes to the rank `to`, and receives at most `room` bytes from the rank `from`: outside of the
 * call order, each waits. Messages with one `tag` (0 .. INT_MAX) arrive in order. For communicators that no
 * user has: on others they would meet the user's messages. */
int hl_coll_send_bytes(const struct hl_comm *comm, int to, int tag, const void *buf, size_t len);
int hl_coll_recv_bytes(const struct hl_comm *comm, int from, int tag, void *buf, size_t room);

/* Runs an exchange (whose results do not differ between ranks) and lets `result` make a number of what it
 * brought. When a member dies meanwhile, all others get the same number, or all get an error, if their
 * receive threads run (hl_coll_guard). */
typedef int32_t hl_coll_result_fn(void *arg);
int hl_coll_settle(const struct hl_coll_call *call, hl_coll_result_fn *result, void *arg, int32_t *got);

/* Has this rank's receive thread run, which answers the others when a member of `comm` dies while they agree.
 * Nothing is done for a communicator of one rank. Local. */
int hl_coll_guard(const struct hl_comm *comm);

/* *least is the smallest of all ranks' values, made by hl_coll_settle; after an error of the exchange it is
 * undefined. Ends when every member has called. */
int hl_coll_least(struct hl_comm *comm, int value, int *least);

/* hl_coll_least for 0 or error codes, so that every rank knows them: returns the error of the exchange, or
 * the smallest code. */
int hl_coll_agree(struct hl_comm *comm, int value);

/* A call uses it between two of its exchanges, since a death may have spoilt the first for some ranks.
 * Returns 0 on all, or an error on all that live: this rank's own if it has one; else an error that says that
 * `what` failed on another rank. */
int hl_coll_all_or_none(struct hl_comm *comm, int err, const char *what);

/* Called after a step that failed on some rank; `code` is mine, or 0. Sets the first rank that failed, and
 * its text. Returns the error of the exchange; then, and when no rank failed, neither is set. */
int hl_coll_first_failed(struct hl_comm *comm, int code, int *rank, char text[HL_ERR_TEXT]);

/* ---- New communicators. *made has one reference, the handle's; the caller sets error handler and
 * attributes. Errors come on all ranks or on none, except HL_ERR_NO_MEM, after which no other rank waits:
 * without memory to take part at all the job ends (hl_coll_unable). An intercommunicator gives an
 * intercommunicator. ---- */

/* MPI_Comm_dup, without attributes. */
int hl_coll_comm_dup(struct hl_comm *comm, struct hl_comm **made);

/* MPI_Comm_idup. `fill` copies what *made takes from *comm, before anything is sent. If it fails, its error
 * is returned at once, without a request or communicator, and this rank still does its part for the
 * others. When the request ends with an error, *made has no contexts and can only be freed. */
typedef int hl_coll_fill_fn(void *arg, struct hl_comm *made);
int hl_coll_comm_idup(struct hl_comm *comm, hl_coll_fill_fn *fill, void *arg, struct hl_comm **made,
                      struct hl_req **request);

/* MPI_Comm_split: *made is NULL for color MPI_UNDEFINED, or when nobody in the other group has my color. */
int hl_coll_comm_split(struct hl_comm *comm, int color, int key, struct hl_comm **made);

/* Makes a communicator of the members on my node (as boot has proved it), ordered by key. */
int hl_coll_comm_split_node(struct hl_comm *comm, int key, struct hl_comm **made);

/* Called instead of a split or of MPI_Comm_create by a rank whose call is wrong: the others get an error,
 * too. */
void hl_coll_comm_refuse(struct hl_comm *comm, int wrong);

/* HL_ERR_GROUP: `group` has members that are not in my group of `comm`. */
int hl_coll_check_subgroup(const struct hl_comm *comm, const struct hl_group *group);

/* MPI_Comm_create, with a group that hl_coll_check_subgroup accepts: *made is NULL for ranks outside. */
int hl_coll_comm_create(struct hl_comm *comm, struct hl_group *group, struct hl_comm **made);

/* MPI_Comm_create_group: the members of `group` call it; others get NULL at once. HL_ERR_GROUP. `wrong`: the
 * error of this rank's other arguments, or 0: then neither this rank nor those that hear of the new
 * communicator through it get one, and none of them waits. */
struct hl_coll_some {
    struct hl_group *group;
    int tag, wrong;
};
int hl_coll_comm_create_group(struct hl_comm *comm, const struct hl_coll_some *some, struct hl_comm **made);

/* MPI_Comm_create_from_group: the members of `group` call it. */
int hl_coll_comm_from_group(struct hl_group *group, int wrong, const char *string, struct hl_comm **made);

/* How the leader of a group finds the other leader: a communicator that holds both, the other's rank there, a
 * tag. */
struct hl_coll_meet {
    struct hl_comm *peer;
    int leader, tag;
    int err;   /* an error in these arguments, of which the other ranks are told */
    int wrong; /* one in arguments that every rank gives: a leader's is told to the other leader, too */
};

/* MPI_Intercomm_create: `meet` matters only on rank `leader` of `local`, but for `wrong`. HL_ERR_COMM: the
 * groups overlap. */
int hl_coll_intercomm_create(struct hl_comm *local, int leader, const struct hl_coll_meet *meet,
                             struct hl_comm **made);

/* MPI_Intercomm_create_from_groups, called by the members of `mine`; leaders are ranks of each group. */
struct hl_coll_sides {
    struct hl_group *mine, *other;
    int leader, other_leader;
    int wrong; /* the error of this rank's other arguments, or 0 */
};
int hl_coll_intercomm_from_groups(const struct hl_coll_sides *sides, const char *string,
                                  struct hl_comm **made);

/* MPI_Intercomm_merge; only `high` of both ranks 0 counts. */
int hl_coll_intercomm_merge(struct hl_comm *inter, bool high, struct hl_comm **made);

#endif
