/* Matched messages: send, receive, probe and cancel between world ranks.
 *
 * Knows no communicator: a message is (ctx, src, tag) from a sending process. Wildcards: `src` and `tag` may
 * be MPI_ANY_SOURCE and MPI_ANY_TAG in receives and probes. MPI_PROC_NULL never reaches this module. Any
 * thread, at every thread level; the caller holds no lease or lock. All functions return 0 or a negative
 * HL_ERR_*. */
#ifndef HL_MATCH_H
#define HL_MATCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "req.h"

struct hl_type;

enum hl_send_mode {
    HL_SEND_STANDARD, /* also ready sends */
    HL_SEND_SYNC,     /* completes when matched */
    HL_SEND_LOST,     /* no data: a rank that had them has died. Its receive ends with HL_ERR_PROC_ABORTED */
};

/* The buffer is (buf, count, type); the type is committed and stays alive until the request is done: the
 * module takes its own reference only for operations that stay incomplete. */
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
    int src_world; /* its world rank, or -1: for messages to the user only */
    int tag;       /* or MPI_ANY_TAG */
    bool exact;    /* a message shorter than the buffer breaks a hint: one line, or HL_ERR_COUNT */
    void *buf;
    int64_t count;
    struct hl_type *type;
};

/* A message taken off the queues by a matched probe; MPI_Message handles are its address. */
struct hl_message;

/* Node-shared memory this module needs for `node_size` ranks: the same on all of them. */
size_t hl_match_board_bytes(int node_size);

/* Opens the module. `board`: that many zeroed bytes shared by the node group. `threads`: THREAD_MULTIPLE was
 * granted. Local; peers may send as soon as theirs is open. Before the network opens: the ports open with it.
 * HL_ERR_NO_MEM. */
int hl_match_open(void *board, bool threads);

/* Has receives and probes from any source ask `lost_member`, when ranks have died, for a dead member of the
 * communicator with this context (any plane); -1: none. After opening. */
void hl_match_on_lost(int (*lost_member)(uint64_t ctx));

/* All ranks of the job have met and will close: what is sent to this one from now on is of the next opening,
 * and waits for it. */
void hl_match_part(void);

/* Closes it: after all ranks of the job have no more messages for each other (a fence). Unmatched messages
 * and receives are dropped. */
void hl_match_close(void);

/* Waits until every message this process owes has left (pending sends, owed control). Before the fence of
 * Finalize. */
void hl_match_quiet(void);

/* Starts a send: *out is a request (what = HL_REQ_SEND), the shared completed one when the message has left
 * already. Never waits for a peer. HL_ERR_NO_MEM. */
int hl_match_isend(const struct hl_send *s, struct hl_req **out);

/* Starts a receive: *out (HL_REQ_RECV) ends with source, tag, bytes, and HL_ERR_TRUNCATE when the message was
 * longer than the buffer. HL_ERR_NO_MEM. */
int hl_match_irecv(const struct hl_recv *r, struct hl_req **out);

/* Persistent forms, INACTIVE (hl_req_start): each start is the plain operation on the same request. The type
 * is referenced until the request goes away. HL_ERR_NO_MEM. */
int hl_match_send_init(const struct hl_send *s, struct hl_req **out);
int hl_match_recv_init(const struct hl_recv *r, struct hl_req **out);

/* The same with MPI_PROC_NULL: each start completes at once. */
int hl_match_nobody_init(enum hl_req_what what, uint64_t ctx, struct hl_req **out);
bool hl_match_is_nobody(const struct hl_req *r); /* made by it? */

/* The blocking forms: no allocation. *status may be MPI_STATUS_IGNORE (never MPI_ERROR of it is set). */
int hl_match_send(const struct hl_send *s);
int hl_match_recv(const struct hl_recv *r, MPI_Status *status);

/* Send and receive at once. */
int hl_match_sendrecv(const struct hl_send *s, const struct hl_recv *r, MPI_Status *status);

/* Cancels a receive that has not been matched, or a send that has not left: it becomes DONE with
 * HL_REQ_CANCELLED. Of a send whose data has not left the receiver is asked to forget it; it is done, one way
 * or the other, when he has answered. Else nothing happens. Local. */
int hl_match_cancel(struct hl_req *req);

/* Of `p` the buffer does not matter. One pass of progress; *found tells whether such a message is there. */
int hl_match_iprobe(const struct hl_recv *p, bool *found, MPI_Status *status);
int hl_match_probe(const struct hl_recv *p, MPI_Status *status);

/* Matched probe: *message is NULL when nothing is there (improbe). */
int hl_match_improbe(const struct hl_recv *p, struct hl_message **message, MPI_Status *status);
int hl_match_mprobe(const struct hl_recv *p, struct hl_message **message, MPI_Status *status);

/* Whether memory of a node peer (or mine) can be read and written though it is private: reading is tried
 * once. Any thread. */
bool hl_match_can_read(int node_rank);

/* Copies `n` bytes at its address `from` to `to`. HL_ERR_PROC_ABORTED: it has died. HL_ERR_OTHER: its address
 * is bad. */
int hl_match_read(int node_rank, uint64_t from, void *to, uint64_t n);

/* The same in the other direction. */
int hl_match_write(int node_rank, uint64_t to, const void *from, uint64_t n);

/* The message behind a handle, or NULL for anything but a living one. */
struct hl_message *hl_match_message_of(MPI_Message handle);
MPI_Message hl_match_message_handle(struct hl_message *message);
uint64_t hl_match_message_ctx(const struct hl_message *message); /* whence it came */

/* Receives a message taken before; it is gone afterwards. Of `r` only buffer, count and type matter. */
struct hl_req *hl_match_imrecv(struct hl_message *message, const struct hl_recv *r);
int hl_match_mrecv(struct hl_message *message, const struct hl_recv *r, MPI_Status *status);

#endif
