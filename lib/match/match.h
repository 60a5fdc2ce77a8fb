/* Matched messages: send, receive, probe and cancel between world ranks.
 *
 * This module knows no communicators: a message is (ctx, src, tag) from a sending process. Receives and
 * probes may have MPI_ANY_SOURCE and MPI_ANY_TAG as `src` and `tag`. MPI_PROC_NULL never reaches this module.
 * Any thread, at every thread level; the caller holds no lease or lock. All functions return 0 or a negative
 * HL_ERR_*. */
#ifndef HL_MATCH_H
#define HL_MATCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attr.h"
#include "req.h"

struct hl_type;

/* One rank's side of all messages. Unit tests drive several of them in one process. */
struct hl_matcher;

/* This process's. */
HL_HIDDEN extern struct hl_matcher hl_match_self;

enum hl_send_mode {
    HL_SEND_STANDARD, /* standard and ready sends */
    HL_SEND_SYNC,     /* completes when matched */
    /* no data, because a rank that had it has died: the receive ends with HL_ERR_PROC_ABORTED */
    HL_SEND_LOST,
};

/* The buffer is (buf, count, type); the type is committed and stays alive until the call returns; for an
 * operation that is incomplete then, the module takes a reference of its own. */
struct hl_send {
    uint64_t ctx;
    int me;         /* my rank in the communicator: what receivers match */
    int dest_world; /* world rank */
    int tag;        /* 0 .. INT_MAX */
    enum hl_send_mode mode;
    const void *buf;
    int64_t count;
    struct hl_type *type;
};

struct hl_recv {
    uint64_t ctx;
    int src;       /* rank in the communicator, or MPI_ANY_SOURCE */
    int src_world; /* its world rank, or -1: not known; tells the user, and whether it has died */
    int tag;       /* or MPI_ANY_TAG */
    /* the hint says that no message is shorter than the buffer; a shorter one gets one line of log, or
     * HL_ERR_COUNT */
    bool exact;
    void *buf;
    int64_t count;
    struct hl_type *type;
};

/* A message taken off the queues by a matched probe; MPI_Message handles are its address. */
struct hl_message;

/* Bytes of node-shared memory that this module needs for `node_size` ranks: the same on all of them. */
size_t hl_match_board_bytes(int node_size);

/* Opens the module. `board`: that many zeroed bytes shared by the node group. `threads`: THREAD_MULTIPLE was
 * granted. It waits for nobody; a peer that opens later gets its messages then. This call comes before the
 * network opens, since the ports open with it. HL_ERR_NO_MEM. */
int hl_match_open(void *board, bool threads);

/* Sets the function that receives and probes from any source ask when ranks have died: it returns a dead
 * member of the communicator with this context (any plane), or -1. After opening. */
void hl_match_on_lost(int (*lost_member)(uint64_t ctx));

/* Called when all ranks of the job have met and will close: what is sent to this rank from now on belongs to
 * the next opening, and waits for it. */
void hl_match_leave(void);

/* Closes the module, after a fence: no rank of the job has a message for another one. Unmatched messages and
 * receives are dropped. */
void hl_match_close(void);

/* Waits until every message that this process has to send has left, control messages, too. MPI_Finalize calls
 * it before its fence. */
void hl_match_quiet(void);

/* Starts a send. *out is a request (what = HL_REQ_SEND); if the message has left already, it is the shared
 * completed one. Never waits for a peer. HL_ERR_NO_MEM. */
int hl_match_isend(struct hl_matcher *m, const struct hl_send *s, struct hl_req **out);

/* Starts a receive: *out (HL_REQ_RECV) ends with source, tag, bytes, and HL_ERR_TRUNCATE when the message was
 * longer than the buffer. HL_ERR_NO_MEM. */
int hl_match_irecv(struct hl_matcher *m, const struct hl_recv *r, struct hl_req **out);

/* Persistent forms: *out is INACTIVE (hl_req_start), and each start is the plain operation on the same
 * request. The type is referenced until the request goes away. HL_ERR_NO_MEM. */
int hl_match_send_init(const struct hl_send *s, struct hl_req **out);
int hl_match_recv_init(const struct hl_recv *r, struct hl_req **out);

/* A persistent request to or from MPI_PROC_NULL: each start completes at once. HL_ERR_NO_MEM. */
int hl_match_nobody_init(enum hl_req_what what, uint64_t ctx, struct hl_req **out);
bool hl_match_is_nobody(const struct hl_req *r); /* true when hl_match_nobody_init made it */

/* Blocking send and receive, without allocation. *status may be MPI_STATUS_IGNORE; its MPI_ERROR is never
 * set. */
int hl_match_send(struct hl_matcher *m, const struct hl_send *s);
int hl_match_recv(struct hl_matcher *m, const struct hl_recv *r, MPI_Status *status);

/* Sends and receives at once (MPI_Sendrecv); returns when both are complete. */
int hl_match_sendrecv(struct hl_matcher *m, const struct hl_send *s, const struct hl_recv *r,
                      MPI_Status *status);

/* Cancels a receive that has not been matched, or a send that has not left: it becomes DONE with
 * HL_REQ_CANCELLED. If a send has left but not its data, the receiver is asked to forget it, and the send is
 * done, cancelled or not, when the receiver has answered. Else nothing happens. Never waits for a peer. */
int hl_match_cancel(struct hl_matcher *m, struct hl_req *req);

/* Probes; p's buffer does not matter. hl_match_iprobe makes one pass of progress, and *found tells whether
 * such a message is there; hl_match_probe waits for one. */
int hl_match_iprobe(struct hl_matcher *m, const struct hl_recv *p, bool *found, MPI_Status *status);
int hl_match_probe(struct hl_matcher *m, const struct hl_recv *p, MPI_Status *status);

/* Matched probes: *message is the message, taken off the queues. hl_match_improbe sets NULL if none is
 * there. */
int hl_match_improbe(struct hl_matcher *m, const struct hl_recv *p, struct hl_message **message,
                     MPI_Status *status);
int hl_match_mprobe(struct hl_matcher *m, const struct hl_recv *p, struct hl_message **message,
                    MPI_Status *status);

/* True when private memory of a node peer (or of this rank) can be read and written through the kernel; it is
 * tried once. Any thread. */
bool hl_match_can_read(int node_rank);

/* Copies `n` bytes from address `from` of that rank to `to`. HL_ERR_PROC_ABORTED: the rank has died.
 * HL_ERR_OTHER: the address is bad. */
int hl_match_read(int node_rank, uint64_t from, void *to, uint64_t n);

/* Copies `n` bytes to address `to` of that rank. Errors as in hl_match_read. */
int hl_match_write(int node_rank, uint64_t to, const void *from, uint64_t n);

/* The message behind a handle; NULL if the handle names no living message. */
struct hl_message *hl_match_message_of(MPI_Message handle);
MPI_Message hl_match_message_handle(struct hl_message *message);
uint64_t hl_match_message_ctx(const struct hl_message *message); /* the context in which it was sent */

/* Receives a message that a matched probe took; the message is gone afterwards. Of `r` only buffer, count and
 * type matter. */
struct hl_req *hl_match_imrecv(struct hl_matcher *m, struct hl_message *message, const struct hl_recv *r);
int hl_match_mrecv(struct hl_matcher *m, struct hl_message *message, const struct hl_recv *r,
                   MPI_Status *status);

#endif
