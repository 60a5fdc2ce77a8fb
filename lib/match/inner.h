/* What the files of match share: the node-shared layout, inboxes, tables, and the matcher they hang on.
 *
 * A matcher is one rank's side of everything here; it comes by pointer, so that tests can run several ranks
 * as threads of one process.
 *
 *   send.c   a message leaves: eager, cell, or request to send; pending lists
 *   ring.c   slots and cells in node-shared memory
 *   inbox.c  who owns an inbox, commands for its owner, one service of it
 *   table.c  posted receives and unexpected messages, plain data under the inbox's ownership
 *   recv.c   receives, claims for any source over several inboxes, delivery
 *   rndv.c   large messages: requests to send answered, data moved, control messages
 *   probe.c  probes, matched messages, cancel
 *   port.c   the same over the network */
#ifndef HL_MATCH_INNER_H
#define HL_MATCH_INNER_H

#include "atomic.h"
#include "lock.h"
#include "match.h"
#include "prog.h"
#include "util.h"

/* ---- Messages ---- */

enum hl_msg_kind {
    /* matched */
    HL_MSG_EAGER = 1, /* payload behind the header */
    HL_MSG_CELL,      /* payload in a cell of the sender's */
    HL_MSG_RTS,       /* payload still with the sender */
    /* control: handled by whoever polls, never matched */
    HL_MSG_PULL, /* to the sender: send me the first n bytes */
    HL_MSG_DATA, /* to the receiver: some of them */
    HL_MSG_FIN,  /* to the sender: I have what I want */
};

struct hl_msg_head {
    uint64_t ctx;
    int32_t src, tag;
    uint32_t len; /* payload bytes; of an RTS see there */
    uint8_t kind; /* enum hl_msg_kind */
    uint8_t flags;
    uint16_t from; /* node rank of the sender */
};

struct hl_msg_rts {
    uint64_t len;    /* bytes of the message */
    uint64_t cookie; /* names the send */
    uint64_t addr;   /* the sender's buffer if it is one block, else 0 */
    uint64_t key;    /* its registration over the network, 0: none */
};

struct hl_msg_pull {
    uint64_t cookie; /* names the send */
    uint64_t back;   /* names the receive */
    uint64_t n;
    uint64_t spare;
};

struct hl_msg_data {
    uint64_t cookie; /* names the receive */
    uint64_t offset;
    uint32_t cell, n;
    uint64_t spare;
};

struct hl_msg_fin {
    uint64_t cookie; /* names the send */
    uint64_t spare[3];
};

#define HL_MATCH_INLINE 32

union hl_msg_area {
    unsigned char data[HL_MATCH_INLINE];
    uint32_t cell;
    struct hl_msg_rts rts;
    struct hl_msg_pull pull;
    struct hl_msg_data piece;
    struct hl_msg_fin fin;
};

struct hl_slot {
    hl_a64 stamp; /* atomic: ticket + 1 when the slot holds that ticket's message */
    struct hl_msg_head head;
    union hl_msg_area area;
};
_Static_assert(sizeof(struct hl_slot) == 64, "a slot is one line");

/* ---- Node-shared memory ---- */

#define HL_RING_SLOTS 1024u
#define HL_CELL_BYTES 8192u
#define HL_CELLS 64u
#define HL_INBOXES_MAX 16u

/* Many producers, one consumer (the inbox's owner).
 * tail = ticket << 1 | armed. A producer claims a ticket by CAS, writes the slot, releases its stamp; if it
 * cleared `armed`, it rings the door. The consumer publishes `head` now and then. */
struct hl_ring {
    HL_ALIGNED_LINE hl_a64 tail; /* atomic */
    HL_ALIGNED_LINE hl_a64 head; /* atomic: written by the owner */
    HL_ALIGNED_LINE struct hl_slot slots[HL_RING_SLOTS];
};

/* One rank's part of the board. Zero is its initial state. */
struct hl_home {
    hl_a32 inboxes; /* atomic: number of inboxes; 0: not open. Release: publishes the rest of this line */
    int32_t pid;    /* for reading from its memory */
    uint64_t probe_addr;  /* where `probe_value` stands in that process */
    uint64_t probe_value; /* random */
    HL_ALIGNED_LINE struct hl_prog_door door;
    HL_ALIGNED_LINE hl_a64 cells_taken; /* atomic: a bit a cell; set by my senders, cleared by receivers */
    struct hl_ring rings[HL_INBOXES_MAX];
    _Alignas(4096) unsigned char cells[HL_CELLS][HL_CELL_BYTES];
};

/* ---- Tables: posted receives, unexpected messages ---- */

enum hl_post_op {
    HL_POST_RECV,   /* a receive; in a request's body */
    HL_POST_MPROBE, /* a receive of the message itself; in a request's body */
    HL_POST_WILD,   /* one inbox's node of a claim record */
    HL_POST_PROBE,  /* look, in a request's body: answered at once */
    HL_POST_TAKE,   /* take the message if there: answered at once */
    HL_POST_CANCEL, /* take a posted receive off: answered at once */
    HL_POST_ARRIVE, /* a message from the network, in an entry */
};

/* What an inbox's owner is asked to do; posted receives stay in its lists. */
struct hl_post {
    struct hl_post *next;
    uint64_t seq; /* order of posting within the inbox */
    uint32_t op;  /* enum hl_post_op */
    uint32_t spare;
};

/* Where a matched message's data is still to come from. */
struct hl_fetch {
    uint64_t name; /* of the send */
    uint64_t addr; /* of the sender's buffer, or 0; then: bytes that came */
    int32_t from;  /* as in struct hl_entry */
    uint32_t spare;
};

/* Body of a receive's (or probe's) request: posted before the match, fetching after it. */
struct hl_recv_body {
    union {
        struct hl_post post;
        struct hl_fetch fetch;
    };
    int32_t src, tag; /* wanted */
    void *buf;
    int64_t count;
    struct hl_type *type; /* capacity of the receive, or NULL */
    union {
        struct hl_claim *claim;     /* RECV from any source over several inboxes: until it is finished */
        struct hl_message *message; /* MPROBE, TAKE: the result */
        struct hl_req *target;      /* CANCEL */
    } u;
};
_Static_assert(sizeof(struct hl_recv_body) <= HL_REQ_BODY, "a receive fits its request");

/* A message without its receive. Payload (or RTS area) follows. */
struct hl_entry {
    struct hl_post post;               /* for ARRIVE */
    struct hl_entry *next, **back;     /* in its bin */
    struct hl_entry *younger, **older; /* in the inbox's order of arrival */
    uint64_t ctx;
    uint64_t len; /* bytes of the message */
    int32_t src, tag;
    int32_t from; /* who sent it: node rank, or ~world rank when it came over the network */
    uint32_t kind;
    unsigned char payload[];
};

struct hl_message {
    struct hl_handle h;
    struct hl_entry *entry;
};

/* A receive from any source that stands in several inboxes; the first match takes it.
 *   OPEN -> CLAIMED (by an inbox's owner, who then delivers) or CANCELLED */
enum hl_claim_state { HL_CLAIM_OPEN, HL_CLAIM_CLAIMED, HL_CLAIM_CANCELLED };

struct hl_claim_node {
    struct hl_post post;
    struct hl_claim *claim;
};

struct hl_claim {
    hl_a32 state;       /* atomic: CAS from OPEN decides who delivers */
    hl_a32 left;        /* atomic: nodes not dropped yet, and one for the request; 0 frees it */
    struct hl_req *req; /* read only by who claimed it */
    uint64_t ctx;
    int32_t tag;
    struct hl_claim_node node[];
};

struct hl_post_list {
    struct hl_post *head, **tail;
};
struct hl_entry_list {
    struct hl_entry *head, **tail;
};

struct hl_bin {
    struct hl_post_list posted;
    struct hl_entry_list unexpected;
};

/* All of it is guarded by the inbox's ownership. */
struct hl_table {
    struct hl_bin *bins;
    size_t n_bins;                /* power of two */
    size_t n_posted, n_entries;   /* in bins */
    struct hl_post_list wild;     /* receives from any source, in order */
    struct hl_entry_list arrival; /* all unexpected messages, oldest first */
    uint64_t seq;
};

int hl_table_open(struct hl_table *t);
void hl_table_close(struct hl_table *t); /* frees entries and claims that nobody received */

/* Appends a receive (specific or any source, or a claim's node) behind all others. */
void hl_table_post(struct hl_table *t, struct hl_post *p);

/* Takes the first posted receive that matches, claiming it; NULL if none. */
struct hl_req *hl_table_match(struct hl_table *t, uint64_t ctx, int src, int tag);

/* The oldest unexpected message that matches (left in place), or NULL. */
struct hl_entry *hl_table_find(struct hl_table *t, uint64_t ctx, int src, int tag);
void hl_table_add(struct hl_table *t, struct hl_entry *e);
void hl_table_remove(struct hl_table *t, struct hl_entry *e);

/* Takes exactly this posted receive off; false if it is not there. */
bool hl_table_cancel(struct hl_table *t, struct hl_req *r);

/* Drops one count of a claim; the last one frees it. */
void hl_claim_drop(struct hl_claim *c, uint32_t n);

/* ---- Inboxes ---- */

struct hl_inbox {
    struct hl_ring *ring;
    HL_ALIGNED_LINE hl_a32 owned;    /* atomic: xchg to 1 owns all below, xchg to 0 leaves */
    HL_ALIGNED_LINE hl_aptr command; /* atomic: stack of struct hl_post, youngest first */
    HL_ALIGNED_LINE hl_a64 head;     /* next ticket to read: written by the owner, glanced at by others */
    struct hl_table table;
};

/* What one pass leaves to do once no inbox is owned. */
struct hl_work {
    struct hl_req *todo, **todo_tail; /* matched requests to send, by hl_req.next */
    int n;                            /* things that moved */
};

/* ---- Peers ---- */

/* A control message that did not find room. */
struct hl_owed {
    struct hl_owed *next;
    struct hl_slot slot;
};

#define HL_PORTS_MAX 8

struct hl_peer {
    hl_a32 pending;              /* atomic: sends in the list; lowered only after the send was published */
    hl_a32 owing;                /* atomic: control messages in the list */
    int32_t world, node;         /* node: -1 when reached by the network */
    uint32_t ports;              /* node -1: how many both of us have */
    uint64_t addr[HL_PORTS_MAX]; /* its address in each of my ports */
    hl_a32 cma;                  /* 0: not tried, 1: its memory can be read, 2: it cannot */
    struct hl_mutex lock;
    struct hl_req *head, **tail HL_MEMBER_GUARDED_BY(lock); /* by hl_req.next */
    struct hl_owed *owed, **owed_tail HL_MEMBER_GUARDED_BY(lock);
};

/* Body of a send's request that could not leave at once. */
struct hl_send_body {
    const void *buf;
    int64_t count;
    struct hl_type *type;
    int32_t me, tag, dest, mode;
    uint64_t cookie;
    uint64_t back;   /* the receive that asked for data */
    uint64_t offset; /* packed bytes handed over so far */
};
_Static_assert(sizeof(struct hl_send_body) <= HL_REQ_BODY, "a send fits its request");

/* Names for requests that peers answer to: checked, never reused at once. */
struct hl_names {
    struct hl_mutex lock;
    struct hl_name {
        struct hl_req *req; /* NULL while free */
        uint32_t generation, next_free;
    } * rows HL_MEMBER_GUARDED_BY(lock);
    uint32_t n_rows, free HL_MEMBER_GUARDED_BY(lock); /* free: index + 1 of the first free row */
};

#define HL_REQ_HOLDS_TYPE 1u /* in hl_req.spare: a reference to drop at completion */

/* ---- The matcher ---- */

struct hl_matcher {
    int world_rank, world_size, node_rank, node_size;
    const int *node_world;     /* [node_size] */
    int (*node_of)(int world); /* node rank or -1 */
    struct hl_home *homes;     /* [node_size], shared */
    unsigned n_inboxes;        /* power of two */
    bool threads;              /* several threads call */
    bool cma;                  /* reading peers' memory is allowed */
    struct hl_inbox *inbox;    /* [n_inboxes] */
    struct hl_peer *near;      /* [node_size] */
    hl_aptr *far;              /* [world_size] struct hl_peer *, made on first use; NULL on one node */
    struct hl_peer **far_list; /* those made, for polling */
    hl_a32 n_far;              /* atomic: release after far_list is extended */
    struct hl_mutex far_lock;
    hl_a32 backlog;   /* atomic: peers' pending + owing, summed */
    hl_a32 n_streams; /* atomic: sends that are being pulled */
    struct hl_mutex stream_lock;
    struct hl_req *streams, **streams_tail HL_MEMBER_GUARDED_BY(stream_lock);
    struct hl_names names;
    struct hl_net *net; /* ports, or NULL */
    uint64_t probe_value;
    hl_a32 turn; /* rotates where any-source looks first */
};

/* match.c */
struct hl_matcher_setup {
    int world_rank, world_size, node_rank, node_size;
    const int *node_world;
    int (*node_of)(int world);
    void *board;
    unsigned inboxes; /* power of two */
    bool threads, cma;
};
int hl_matcher_open(struct hl_matcher *m, const struct hl_matcher_setup *s);
void hl_matcher_close(struct hl_matcher *m);
int hl_matcher_poll(void *matcher);
bool hl_matcher_arm(void *matcher);
bool hl_matcher_idle(void *matcher); /* nothing owed to anybody */

/* The peer record of a world rank; NULL: HL_ERR_OTHER was recorded. */
struct hl_peer *hl_matcher_peer(struct hl_matcher *m, int world);

HL_INLINE uint64_t hl_match_hash(uint64_t ctx, int src)
{
    return hl_mix64(ctx + (uint64_t)(uint32_t)src * 0x9e3779b97f4a7c15ULL);
}

/* ring.c */
bool hl_ring_push(struct hl_home *to, unsigned inbox, const struct hl_slot *slot);
int hl_cell_take(struct hl_home *mine);               /* index, or -1: none free */
void hl_cell_give(struct hl_home *owner, uint32_t i); /* by the receiver, or the sender that did not use it */

/* inbox.c */
struct hl_inbox *hl_inbox_of(struct hl_matcher *m, uint64_t ctx, int src);
/* Has `post` done by the owner: the caller if he can be, else whoever is. */
void hl_inbox_command(struct hl_matcher *m, struct hl_inbox *ib, struct hl_post *post, struct hl_work *w);
/* Serves it if something is there and nobody else does. */
void hl_inbox_poll(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w);
bool hl_inbox_waiting(const struct hl_inbox *ib);

/* What arrived, wherever its bytes are now. */
struct hl_arrival {
    uint64_t ctx, len;
    int32_t src, tag, from;
    uint32_t kind;
    const void *payload; /* or the RTS area */
};
/* Matches or stores it; the owner of its inbox only. */
void hl_inbox_arrive(struct hl_matcher *m, struct hl_inbox *ib, const struct hl_arrival *a,
                     struct hl_work *w);
struct hl_entry *hl_entry_new(const struct hl_arrival *a);

/* recv.c */
void hl_recv_deliver(struct hl_matcher *m, struct hl_req *r, const struct hl_arrival *a, struct hl_work *w);
void hl_recv_result(struct hl_req *r, int src, int tag, uint64_t bytes);
void hl_recv_finish(struct hl_req *r); /* drops the type, completes */
void hl_recv_setup(struct hl_req *req, const struct hl_recv *r, enum hl_post_op op);
int hl_recv_post(struct hl_matcher *m, struct hl_req *req);
int hl_recv_put(struct hl_req *r, uint64_t offset, const void *data, uint64_t n); /* into its buffer */
int hl_matcher_irecv(struct hl_matcher *m, const struct hl_recv *r, struct hl_req **out);
int hl_matcher_recv(struct hl_matcher *m, const struct hl_recv *r, MPI_Status *status);

/* send.c */
int hl_matcher_isend(struct hl_matcher *m, const struct hl_send *s, struct hl_req **out);
int hl_matcher_send(struct hl_matcher *m, const struct hl_send *s);
void hl_send_finish(struct hl_matcher *m, struct hl_req *r); /* frees its name, drops the type, completes */
int hl_peer_drain(struct hl_matcher *m, struct hl_peer *p);
bool hl_send_cancel(struct hl_matcher *m, struct hl_req *r);

/* rndv.c */
void hl_rndv_run(struct hl_matcher *m, struct hl_req *r); /* answers a matched request to send */
/* Handles a control message; `data`: the bytes of a DATA. */
void hl_rndv_control(struct hl_matcher *m, const struct hl_slot *slot, const void *data);
bool hl_control_push(struct hl_matcher *m, struct hl_peer *p,
                     const struct hl_slot *slot); /* false: no room */
void hl_owed_free(struct hl_owed *o);
int hl_rndv_stream(struct hl_matcher *m);
void hl_work_run(struct hl_matcher *m, struct hl_work *w);
/* Names a request whose body is complete but for `name`; false: no memory. */
bool hl_name_give(struct hl_names *n, struct hl_req *r, uint64_t *name);
struct hl_req *hl_name_find(struct hl_names *n, uint64_t name);
struct hl_req *hl_name_take(struct hl_names *n, uint64_t name);

/* probe.c */
/* Without progress: what is known now. */
int hl_matcher_iprobe(struct hl_matcher *m, const struct hl_recv *p, bool *found, MPI_Status *status);
int hl_matcher_improbe(struct hl_matcher *m, const struct hl_recv *p, struct hl_message **message,
                       MPI_Status *status);
int hl_matcher_mprobe(struct hl_matcher *m, const struct hl_recv *p, struct hl_message **message,
                      MPI_Status *status);
int hl_matcher_imrecv(struct hl_matcher *m, struct hl_message *message, const struct hl_recv *r,
                      struct hl_req **out);
int hl_matcher_mrecv(struct hl_matcher *m, struct hl_message *message, const struct hl_recv *r,
                     MPI_Status *status);
int hl_matcher_cancel(struct hl_matcher *m, struct hl_req *r);
struct hl_message *hl_message_new(struct hl_entry *e);

HL_INLINE struct hl_recv_body *hl_recv_body(struct hl_req *r)
{
    return (struct hl_recv_body *)(void *)r->body;
}

HL_INLINE struct hl_send_body *hl_send_body(struct hl_req *r)
{
    return (struct hl_send_body *)(void *)r->body;
}

HL_INLINE struct hl_req *hl_post_req(struct hl_post *p)
{
    return HL_CONTAINER_OF(p, struct hl_req, body);
}

HL_INLINE struct hl_home *hl_home_of(const struct hl_matcher *m, int node)
{
    return &m->homes[node];
}

HL_INLINE void hl_work_start(struct hl_work *w)
{
    w->todo = NULL;
    w->todo_tail = &w->todo;
    w->n = 0;
}

#endif
