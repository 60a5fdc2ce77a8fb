/* What the files of match share: the node-shared layout, inboxes, tables, and the matcher.
 *
 * A matcher is one rank's side of all this. Every function takes it by pointer, so that tests can run several
 * ranks as threads of one process.
 *
 *   send.c   a message leaves: eager, cell, or request to send; pending lists
 *   ring.c   slots and cells in node-shared memory (slots.h)
 *   inbox.c  who owns an inbox, commands for its owner, taking messages from its ring
 *   table.c  posted receives and unexpected messages, plain data under the inbox's ownership
 *   recv.c   receives, from any source over several inboxes, too, delivery
 *   rndv.c   large messages: requests to send answered, data moved, control messages; split_copy.c, cma.c
 *   offer.c  large messages without their sender's help
 *   names.c  names of the requests that peers answer to
 *   probe.c  probes, matched messages, cancel
 *   flow.c  bounded memory for unexpected messages; entry.c: that memory
 *   deaths.c   peers that have died
 *   far.c    messages that come over the network
 *   port.c   the network's endpoints (port.h), and what leaves by them; bell.c: they wake sleepers
 *   tail.c   messages that the network has lost at the end of a stream */
#ifndef HL_MATCH_INTERNAL_H
#define HL_MATCH_INTERNAL_H

#include "atomic.h"
#include "cs.h"
#include "flow.h"
#include "lock.h"
#include "match.h"
#include "mpsc.h"
#include "msg.h"
#include "prog.h"
#include "table.h"
#include "tail.h"
#include "type.h"
#include "util.h"

/* ---- Messages (msg.h) ---- */

struct hl_ring_slot {
    hl_a64 stamp; /* atomic: ticket + 1 when the slot holds that ticket's message */
    struct hl_msg_head head;
    union hl_msg_area area;
};
_Static_assert(sizeof(struct hl_ring_slot) == 64, "a slot is 64 bytes, one cache line");

/* ---- Node-shared memory ---- */

#define HL_RING_SLOTS 1024u /* at most; HOTLANE_RING sets fewer */
#define HL_CELL_BYTES 8192u
#define HL_CELLS 64u
#define HL_EAGER_CELLS 2u /* most cells of one message, one behind the other; receivers fetch longer ones */
#define HL_INBOXES_MAX 16u
#define HL_OPENING_SHIFT 8 /* place of the opening's number in hl_match_part.inboxes */

/* The messages of one inbox: its owner is the consumer, and the sender that takes `armed` away rings the
 * rank's door. */
struct hl_ring {
    struct hl_mpsc q;
    HL_ALIGNED_LINE struct hl_ring_slot slots[HL_RING_SLOTS];
};

#define HL_SPLIT_BITS 6
#define HL_SPLITS (1u << HL_SPLIT_BITS)

/* A large message that both ends copy (split_copy.c). */
struct hl_split {
    HL_ALIGNED_LINE hl_a64 left; /* atomic: the generation, and what nobody has claimed yet */
    hl_a64 done;                 /* atomic: what has been copied, and whether the receiver has left */
    hl_a32 failed;               /* atomic: 1: a piece could not be copied */
    uint64_t back;               /* name of the receive; written before the receiver leaves */
};

/* One rank's part of the board. Zero is its initial state. */
struct hl_match_part {
    hl_a32 inboxes; /* atomic: number of inboxes (0: not open) and, above HL_OPENING_SHIFT, how often the job
                       has closed the library. Release: publishes the rest of this line */
    int32_t pid;    /* for reading from its memory */
    uint64_t probe_addr;  /* address of probe_value in that process; 0: the process allows no CMA */
    uint64_t probe_value; /* random */
    uint64_t process;     /* random, the same for all ranks of a process: hl_cma_process */
    uint32_t ring_room;   /* messages that each of its rings takes */
    HL_ALIGNED_LINE struct hl_prog_door door;
    HL_ALIGNED_LINE hl_a64 cells_taken; /* atomic: a bit for each cell: my senders set, receivers clear it */
    struct hl_ring rings[HL_INBOXES_MAX];
    struct hl_mpsc_place places[HL_MPSC_PLACES];
    HL_ALIGNED_LINE hl_a64 splits_taken; /* atomic: a bit for each split; only this rank changes it */
    struct hl_split splits[HL_SPLITS];
    _Alignas(4096) unsigned char cells[HL_CELLS][HL_CELL_BYTES];
};

/* ---- Posted receives, unexpected messages ---- */

enum hl_command_op {
    HL_COMMAND_RECV,   /* a receive; its command is in a request's body */
    HL_COMMAND_MPROBE, /* a matched probe that waits: it receives the message itself; in a request's body */
    HL_COMMAND_WILD,   /* the node of a receive from any source for one inbox */
    HL_COMMAND_PROBE,  /* a probe, in a request's body: answered at once */
    HL_COMMAND_TAKE,   /* a matched probe, in a request's body: answered at once */
    HL_COMMAND_CANCEL, /* takes off a posted receive, in a request's body: answered at once */
    HL_COMMAND_ARRIVE, /* a message from the network, in an entry */
};

/* A command for an inbox's owner; posted receives stay in its lists. */
struct hl_command {
    struct hl_command *next;
    uint64_t seq;   /* order of posting within the inbox */
    uint32_t op;    /* enum hl_command_op */
    uint32_t spare; /* world rank of the source of a receive or probe, or -1 */
};

/* Where the data of a matched message must be fetched from. */
struct hl_fetch {
    uint64_t name;    /* name of the send */
    uint64_t addr;    /* address of the sender's buffer, or 0; later: number of bytes that came */
    int32_t from;     /* node rank of the sender, or ~world rank, as in struct hl_entry */
    uint32_t offered; /* enum hl_fetch_addr */
};

/* What `addr` of a fetch is. */
enum hl_fetch_addr {
    HL_FETCH_PLAIN, /* an address or a number of bytes */
    HL_FETCH_OFFER, /* a struct hl_offer *: how the buffer can be reached */
    HL_FETCH_SPLIT, /* index of this rank's split in which the sender still copies */
};

/* Body of a receive's (or probe's) request: `command` before the match, `fetch` after it. */
struct hl_recv_body {
    union {
        struct hl_command command;
        struct hl_fetch fetch;
    };
    int32_t src, tag; /* wanted */
    void *buf;
    int64_t count;
    struct hl_type *type; /* type of the receive's buffer; NULL: the message itself is wanted */
    union {
        struct hl_wild_recv *wild;  /* RECV from any source over several inboxes */
        struct hl_message *message; /* MPROBE, TAKE: the result */
        struct hl_req *target;      /* CANCEL: the request to take off */
    } u;
};
_Static_assert(sizeof(struct hl_recv_body) <= HL_REQ_BODY, "a receive fits its request");

/* An unexpected message. Its payload (or the area of its RTS) follows. A million of them may wait, so data
 * that only few entries need lies in front. */
struct hl_entry {
    struct hl_entry_block *block;      /* its block; NULL: it is of malloc, behind a struct hl_command */
    struct hl_entry *next, **back;     /* in its bin, by (ctx, src, tag) */
    struct hl_entry *sibling, **elder; /* in the bin of any tag, by (ctx, src) */
    struct hl_entry *younger, **older; /* in the inbox's order of arrival */
    uint64_t ctx;
    uint64_t len; /* bytes of the message */
    int32_t src, tag;
    int32_t from; /* the sender: node rank, or ~world rank when it came over the network */
    uint32_t kind;
    unsigned char payload[];
};

/* A message that a matched probe took, in the form of a request, which has context, source, tag and bytes. */
struct hl_message {
    struct hl_req req; /* its body is a struct hl_message_body */
};

struct hl_message_body {
    struct hl_entry *entry; /* NULL: the payload is in this body */
    int32_t from;
    uint32_t kind;
    unsigned char payload[HL_MATCH_INLINE];
};
_Static_assert(sizeof(struct hl_message_body) <= HL_REQ_BODY, "a message fits a request");

/* A receive from any source that stands in several inboxes; the first match takes it.
 *
 *   OPEN -> TAKEN (by an inbox's owner, who then delivers) or CANCELLED */
enum hl_wild_state { HL_WILD_OPEN, HL_WILD_TAKEN, HL_WILD_CANCELLED };

struct hl_wild_node {
    struct hl_command command;
    struct hl_wild_recv *wild;
};

struct hl_wild_recv {
    hl_a32 state;       /* atomic: CAS from OPEN decides who delivers */
    hl_a32 left;        /* atomic: nodes not dropped yet, one for the request, and one for post_wild (recv.c)
                         * until it returns; at 0 it is freed */
    struct hl_req *req; /* read only by the thread that took it */
    uint64_t ctx;
    int32_t tag;
    struct hl_wild_node node[];
};

/* ---- Entries (entry.c) ---- */

/* A message that arrived, wherever its bytes are now. */
struct hl_arrival {
    uint64_t ctx, len;
    int32_t src, tag, from;
    uint32_t kind;
    const void *payload; /* the bytes, or the area of an RTS */
};

#define HL_ENTRY_STEP 16 /* sizes of the payloads in blocks: 0, 16, ... HL_MATCH_INLINE */
#define HL_ENTRY_SIZES (HL_MATCH_INLINE / HL_ENTRY_STEP + 1)

/* An inbox's memory for entries; only its owner uses it. */
struct hl_entry_pool {
    struct hl_entry *spare; /* for short messages, by their `next` */
    unsigned n_spare;
    struct hl_entry_block *open[HL_ENTRY_SIZES]; /* blocks with room, by the payload of their entries */
};

/* Bytes that an entry keeps of an arrival: payload, or the area of an RTS. */
HL_INLINE size_t hl_entry_payload(const struct hl_arrival *a)
{
    return a->kind == HL_MSG_RTS ? sizeof(struct hl_msg_rts) : a->len;
}

/* Makes an entry by malloc; ends the job when there is no memory. Any thread. */
struct hl_entry *hl_entry_new(const struct hl_arrival *a);
void hl_entry_free(struct hl_entry *e);

/* The command by which an entry of malloc goes to an inbox's owner; hl_entry_of_command goes back. */
HL_INLINE struct hl_command *hl_entry_command(struct hl_entry *e)
{
    return (struct hl_command *)(void *)e - 1;
}

HL_INLINE struct hl_entry *hl_entry_of_command(struct hl_command *p)
{
    return (struct hl_entry *)(void *)(p + 1);
}

/* Makes an entry for the inbox's table, in which `waiting` others are. */
struct hl_entry *hl_entry_keep(struct hl_entry_pool *pool, const struct hl_arrival *a, size_t waiting);
void hl_entry_drop(struct hl_entry_pool *pool, struct hl_entry *e);

/* Frees the pool; all entries of its blocks have been dropped. */
void hl_entry_pool_close(struct hl_entry_pool *pool);

/* ---- Inboxes ---- */

struct hl_inbox {
    struct hl_ring *ring;
    uint32_t publish;                /* `head` is published when these bits of it are 0 */
    HL_ALIGNED_LINE hl_a32 owned;    /* atomic: xchg to 1 owns all fields below, xchg to 0 leaves */
    HL_ALIGNED_LINE hl_aptr command; /* atomic: stack of struct hl_command, youngest first */
    struct hl_mutex section;         /* used instead of `owned` in modes that have sections (cs.h) */
    HL_ALIGNED_LINE hl_a64 head;     /* next ticket to read. atomic: the owner's; a guess for others */
    hl_a64 mark;                     /* atomic: bytes of entries above which the owner looks at all inboxes */
    uint64_t first;                  /* first ticket of this opening */
    hl_a64 cells, others;            /* messages read from cells, without data. atomic, by the owner */
    hl_a64 cell_bytes;               /* bytes of messages in cells. atomic, stored by the owner */
    struct hl_entry_pool pool;
    uint64_t dead_end;  /* the ring's end when `dead_seen` was changed; deaths.c's, as the next two */
    uint32_t dead_seen; /* hl_matcher.gone at the last visit */
    hl_a32 dead_read;   /* hl_matcher.gone whose messages are all read. atomic, stored by the owner */
    HL_ALIGNED_LINE struct hl_table table; /* a receive that is posted in time changes its first line alone */
};

/* What one pass leaves to do when no inbox is owned any more. */
struct hl_work {
    struct hl_req *todo, **todo_tail; /* matched requests to send, by hl_req.next */
    int n;                            /* things that moved */
};

/* ---- Peers ---- */

/* A control message that found no room yet. */
struct hl_deferred {
    struct hl_deferred *next;
    struct hl_ring_slot slot;
};

#define HL_PORTS_MAX 8

/* Bits of a peer's state. */
#define HL_PEER_XOFF 0x80000000u /* set and cleared by the peer: payloads stay here */
#define HL_PEER_DEAD 0x40000000u /* never cleared */
/* Sends listed; lowered after one was published. A rank has fewer requests (RANGE_MOST in prog/pool.c). */
#define HL_PEER_SENDS(s) ((s) & ~(HL_PEER_XOFF | HL_PEER_DEAD))

struct hl_peer {
    hl_a32 *state;       /* atomic, HL_PEER_*: if not 0, sends go the slow way. Near: in shared memory */
    hl_a32 far_state;    /* where `state` points for a peer reached by the network */
    hl_a32 inboxes;      /* of a near peer: number of its inboxes, 0 until it was seen open. atomic */
    bool throttled;      /* this rank told it to keep payloads; guarded by flow.lock */
    hl_a32 owing;        /* atomic: control messages in the list */
    int32_t world, node; /* node: -1 when reached by the network */
    uint32_t ports;      /* node -1: number of ports that both ranks have */
    uint64_t addr[HL_PORTS_MAX];    /* its address in each port of this rank */
    uint64_t sent[HL_PORTS_MAX];    /* messages posted from each port; changed by the port's owner */
    hl_a64 refused_ns, refusing_ns; /* node -1: last time it took nothing, and since when. atomic */
    struct hl_mutex section;        /* section for putting into its ring (cs.h) */
    hl_a32 cma;                     /* whether its memory can be read: 0: not tried, 1: yes, 2: no */
    struct hl_mutex lock;
    struct hl_req *head, **tail HL_MEMBER_GUARDED_BY(lock); /* by hl_req.next */
    struct hl_deferred *deferred, **deferred_tail HL_MEMBER_GUARDED_BY(lock);
    struct hl_rx_tail ends[HL_PORTS_MAX]; /* ends of the streams from each port; changed by its owner */
};

/* Body of the request of a send that could not leave at once. */
struct hl_send_body {
    const void *buf;
    int64_t count;
    struct hl_type *type;
    int32_t me, tag, dest, mode;
    uint64_t cookie;
    uint64_t back;   /* the receive that asked for data; HL_REQ_REGISTERED: the registration's id */
    uint64_t offset; /* packed bytes handed over so far; HL_REQ_REGISTERED: the registration's key */
};
_Static_assert(sizeof(struct hl_send_body) <= HL_REQ_BODY, "a send fits its request");

/* Names for requests that peers answer to: checked on use, and not reused soon. */
struct hl_names {
    struct hl_mutex lock;
    struct hl_name {
        struct hl_req *req; /* NULL while free */
        uint32_t generation, next_free;
    } * rows HL_MEMBER_GUARDED_BY(lock);
    uint32_t n_rows, free HL_MEMBER_GUARDED_BY(lock); /* free: index + 1 of the first free row */
};

#define HL_REQ_EXACT 4u      /* the message must be as long as the buffer */
#define HL_REQ_REVOKED 8u    /* no receive: its sender is told that its message was not matched */
#define HL_REQ_HOLDS_TYPE 1u /* in hl_req.spare: a reference to drop at completion */
#define HL_REQ_REGISTERED 4u /* in a send's spare: its buffer is registered for the receiver */

/* ---- The matcher ---- */

struct hl_matcher {
    int world_rank, world_size, node_rank, node_size;
    const int *node_world;        /* [node_size] */
    struct hl_match_part *parts;  /* [node_size], shared */
    hl_a32 *states;               /* behind `parts`: a row of peers' states for each rank (hl_state_of) */
    unsigned n_inboxes;           /* power of two */
    uint32_t opening;             /* how often the job has closed the library before */
    bool threads;                 /* several threads call; they own inboxes in turn (without sections) */
    bool cma;                     /* reading peers' memory is allowed */
    struct hl_inbox *inbox;       /* [n_inboxes] */
    struct hl_mpsc_place *places; /* this rank's, in its part of the board */
    struct hl_peer *near;         /* [node_size] */
    hl_aptr *peers;               /* [world_size] struct hl_peer *: near ones, and far ones in use. atomic */
    struct hl_peer **far_list;    /* far peers, for polling; NULL if all ranks are on one node */
    hl_a32 n_far;                 /* atomic: release after far_list is extended */
    struct hl_mutex far_lock;
    hl_a32 backlog; /* atomic: sum of all peers' sends and owing, of flow.busy, and of deaths */
    hl_a32 deaths;  /* atomic: 1 when ranks of the job have died */
    hl_a32 passes;  /* atomic: used by deaths.c only, as are the next two */
    hl_a32 gone;    /* atomic: node peers whose death was counted by a visit (HL_PEER_DEAD) */
    hl_a64 visited_ns;
    bool (*is_dead)(int world);
    int (*lost_member)(uint64_t ctx); /* a dead member of that communicator, or -1; NULL: not set */
    struct hl_flow flow;
    hl_a32 n_streams; /* atomic: sends that receivers pull, or that this rank helps to copy */
    struct hl_mutex stream_lock;
    struct hl_req *streams, **streams_tail HL_MEMBER_GUARDED_BY(stream_lock);
    struct hl_help *helps, **helps_tail HL_MEMBER_GUARDED_BY(stream_lock);
    struct hl_names names;
    struct hl_net *net; /* ports, or NULL */
    uint64_t probe_value;
    hl_a32 turn; /* rotates the inbox that a receive from any source looks at first. atomic */
};

/* match.c */
struct hl_matcher_setup {
    int world_rank, world_size, node_rank, node_size;
    const int *node_world;
    void *board;
    unsigned inboxes; /* power of two */
    bool threads, cma;
    uint32_t ring;              /* messages that a ring takes: a power of two, at least 8; 0: HL_RING_SLOTS */
    bool (*is_dead)(int world); /* NULL: hl_rx_is_dead */
    uint64_t unex_mem; /* bytes of unexpected messages above which sources are throttled; 0: no limit */
};
int hl_matcher_open(struct hl_matcher *m, const struct hl_matcher_setup *s);
void hl_matcher_close(struct hl_matcher *m);
void hl_matcher_leave(struct hl_matcher *m); /* see hl_match_leave */
int hl_matcher_poll(void *matcher);
bool hl_matcher_idle(void *matcher); /* true when nothing is left to send */

/* Called after an event that another thread may sleep for. */
HL_INLINE void hl_matcher_wake(const struct hl_matcher *m)
{
    if (m->threads || hl_cs_has_locks()) {
        hl_prog_wake();
    }
}

/* The record of a world rank; NULL: an error was recorded (HL_ERR_OTHER). */
struct hl_peer *hl_matcher_peer(struct hl_matcher *m, int world);

/* Chooses the inbox and port of (ctx, src): the same at both ends. It adds both halves of a wide product, so
 * that every bit of the result depends on every bit of the context. */
HL_INLINE uint64_t hl_match_hash(uint64_t ctx, int src)
{
    uint64_t x = ctx + (uint64_t)(uint32_t)src * 0x9e3779b97f4a7c15ULL;
    __uint128_t product = (__uint128_t)(x ^ 0x2d358dccaa6c78a5ULL) * 0x8bb84b93962eacc9ULL;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* inbox.c */
struct hl_inbox *hl_inbox_of(struct hl_matcher *m, uint64_t ctx, int src);
/* What a receive got. */
struct hl_got {
    int32_t src, tag;
    uint64_t bytes;
};
/* Receives the ring's next message if it matches `r`, is complete, and nothing stands before it. */
bool hl_inbox_take(struct hl_matcher *m, const struct hl_recv *r, struct hl_got *got);
/* Takes the ring's next message as a matched probe does, under the same conditions. Else NULL. */
struct hl_message *hl_inbox_take_message(struct hl_matcher *m, const struct hl_recv *r);
/* Has the owner do `command`: the caller if the inbox is free, else the thread that owns it. */
void hl_inbox_command(struct hl_matcher *m, struct hl_inbox *ib, struct hl_command *command,
                      struct hl_work *w);
/* Calls `fn` as the inbox's owner, if it can be owned at once. */
void hl_inbox_visit(struct hl_matcher *m, struct hl_inbox *ib,
                    void (*fn)(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w),
                    struct hl_work *w);
/* Takes messages and commands of the inbox, if there are any and no other thread owns it. */
void hl_inbox_poll(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w);
void hl_inbox_close(struct hl_inbox *ib); /* drops messages that nobody received */

/* recv.c */
void hl_recv_deliver(struct hl_matcher *m, struct hl_req *r, const struct hl_arrival *a, struct hl_work *w);
void hl_recv_result(struct hl_req *r, int src, int tag, uint64_t bytes);
int hl_recv_results(struct hl_req *r, MPI_Status *status, bool end); /* fills *status, drops u.wild */
void hl_recv_finish(struct hl_req *r); /* drops the type, completes the request */
void hl_recv_setup(struct hl_req *req, const struct hl_recv *r, enum hl_command_op op);
int hl_recv_post(struct hl_matcher *m, struct hl_req *req);
/* Posts a receive on the caller's stack; it ends before the caller returns. After an error none is posted. */
int hl_recv_begin(struct hl_matcher *m, const struct hl_recv *r, struct hl_req *req);
int hl_recv_put(struct hl_req *r, uint64_t offset, const void *data, uint64_t n); /* into its buffer */

/* send.c */
/* What becomes of a try to send; errors are negative. */
enum hl_try_send {
    HL_NO_ROOM, /* or the peer is not open yet, or the thread has not enrolled: a request tries again */
    HL_SENT,
    HL_NO_CELL, /* too long for a slot of the ring, and all cells are taken */
};
/* Starts a send on the caller's ACTIVE request, which holds no type. */
int hl_match_isend_on(struct hl_matcher *m, const struct hl_send *s, struct hl_req *r);
void hl_send_finish(struct hl_matcher *m, struct hl_req *r); /* frees name and type, completes */
void hl_send_end(struct hl_req *r);                          /* hl_send_finish without a name */
int hl_peer_drain(struct hl_matcher *m, struct hl_peer *p);
void hl_send_cancel(struct hl_matcher *m, struct hl_req *r);

/* rndv.c */
struct hl_peer *hl_peer_from(struct hl_matcher *m, int from); /* the peer that hl_entry.from names, or NULL */
/* Sends a control message of this kind, after those that wait for room. `area` NULL: zeros. */
void hl_control_send(struct hl_matcher *m, struct hl_peer *p, enum hl_msg_kind kind,
                     const union hl_msg_area *area);
/* Handles a control message; `data`: the bytes of a DATA. */
void hl_rndv_control(struct hl_matcher *m, const struct hl_ring_slot *slot, const void *data);
/* Sends a complete control message: a REVOKE has the head of its RTS. */
void hl_control_put(struct hl_matcher *m, struct hl_peer *p, const struct hl_ring_slot *slot);
bool hl_control_push(struct hl_matcher *m, struct hl_peer *p,
                     const struct hl_ring_slot *slot); /* tries to send it now; false: no room */
void hl_deferred_free(struct hl_deferred *o);
int hl_rndv_stream(struct hl_matcher *m);
void hl_work_run(struct hl_matcher *m, struct hl_work *w);
/* Names a request whose body is complete but for `name`; false: no memory. */
bool hl_name_give(struct hl_names *n, struct hl_req *r, uint64_t *name);
struct hl_req *hl_name_find(struct hl_names *n, uint64_t name);
struct hl_req *hl_name_take(struct hl_names *n, uint64_t name);
/* Takes the first name that `is` accepts; NULL: there is none. */
struct hl_req *hl_name_take_if(struct hl_names *n, bool (*is)(void *arg, struct hl_req *r, uint64_t name),
                               void *arg);

/* Ends a fetch over the network; after an error other than the peer's death the bytes are asked for. */
void hl_rndv_fetched(struct hl_matcher *m, struct hl_req *r, int err);

/* offer.c */
/* Fills addr and key of a request to send for `len` bytes at `block` (NULL: not one block). */
void hl_offer_make(const struct hl_peer *p, struct hl_req *r, char *block, uint64_t len,
                   struct hl_msg_rts *rts);
/* The send is over, or the receiver asked for the bytes: ends the registration for reads of its buffer. */
void hl_offer_withdraw(struct hl_req *r);
/* Called at the match: keeps the offer of the request to send in the receive. */
void hl_offer_keep(struct hl_matcher *m, struct hl_req *r, const struct hl_msg_rts *rts, int from);
/* Takes the offer out of the receive; the caller frees it. NULL: there is none. */
struct hl_offer *hl_offer_take(struct hl_req *r);
/* Copies the message if the sender's buffer is mapped here. False: it is not. */
bool hl_offer_copy(const struct hl_peer *p, struct hl_req *r, const struct hl_offer *o);
/* Starts reads over the network; they own the offer then, and end with hl_rndv_fetched. False: impossible. */
bool hl_offer_read(const struct hl_peer *p, struct hl_req *r, struct hl_offer *o);

void hl_match_counts_open(struct hl_matcher *m); /* counts.c: counts of this module */
void hl_match_counts_close(void);
void hl_match_describe_open(void); /* describe.c: open requests in words, for the watchdog */
/* A message that is to come, or (moving) has come in part, which waits for no rank. */
void hl_match_describe_message(struct hl_wait_desc *t, uint64_t ctx, int src, int tag, bool moving);
/* A message that is to leave. */
void hl_match_describe_dest(struct hl_wait_desc *t, uint64_t ctx, int dest, int tag);
void hl_part_describe_open(void); /* partitioned.c: its open requests */

/* probe.c. These functions make no progress: they tell what is known now. */
int hl_match_iprobe_now(struct hl_matcher *m, const struct hl_recv *p, bool *found, MPI_Status *status);
int hl_match_cancel_now(struct hl_matcher *m, struct hl_req *r);
/* Makes a message of an arrival, or of an entry, which the message then owns. Ends the job when there is no
 * memory. */
struct hl_message *hl_message_new(const struct hl_arrival *a, struct hl_entry *e);

/* In modes that count references: a new request's reference to its communicator, and its completer's to the
 * request, unless the request lives on a stack. */
HL_INLINE void hl_match_count_new(const struct hl_req *r)
{
    if (HL_UNLIKELY(hl_cs_any())) {
        hl_cs_count(HL_CS_comm, r->ctx, 1);
    }
}

void hl_match_done_counted(struct hl_req *r);

/* Completes the request. */
HL_INLINE void hl_match_done(struct hl_req *r)
{
    if (HL_UNLIKELY(hl_cs_any())) {
        hl_match_done_counted(r);
    } else {
        hl_req_done(r);
    }
}

/* In modes that count references: both references of a receive that is over at once. */
HL_INLINE void hl_match_count_both(struct hl_req *r, uint64_t ctx)
{
    if (HL_UNLIKELY(hl_cs_any())) {
        r->ctx = ctx;
        hl_cs_count(HL_CS_comm, ctx, 1);
        hl_cs_count(HL_CS_request, (uintptr_t)r, -1);
    }
}

HL_INLINE struct hl_recv_body *hl_recv_body(struct hl_req *r)
{
    return (struct hl_recv_body *)(void *)r->body;
}

HL_INLINE struct hl_send_body *hl_send_body(struct hl_req *r)
{
    return (struct hl_send_body *)(void *)r->body;
}

HL_INLINE struct hl_req *hl_command_req(struct hl_command *p)
{
    return HL_CONTAINER_OF(p, struct hl_req, body);
}

/* The words in which rank `of` of the node keeps the state of `peer`: a row has its own cache lines, and
 * peers write there only to throttle it. */
HL_INLINE size_t hl_state_row(int node_size)
{
    return hl_round_up((size_t)node_size * sizeof(hl_a32), HL_CACHELINE) / sizeof(hl_a32);
}

HL_INLINE hl_a32 *hl_state_of(const struct hl_matcher *m, int of, int peer)
{
    return &m->states[(size_t)of * hl_state_row(m->node_size) + (size_t)peer];
}

/* The number of inboxes of a node peer; 0: it has not opened yet. A rank that has left the library's last
 * opening may meet peers that are still in it: they count as not open. */
uint32_t hl_peer_look(struct hl_matcher *m, struct hl_peer *p) HL_COLD;
HL_INLINE uint32_t hl_peer_inboxes(struct hl_matcher *m, struct hl_peer *p)
{
    /* acquire: the peer's board is ready; pairs with the release in hl_peer_look. */
    uint32_t n = hl_a32_load_acquire(&p->inboxes);
    return HL_LIKELY(n != 0) ? n : hl_peer_look(m, p);
}

HL_INLINE struct hl_match_part *hl_match_part_of(const struct hl_matcher *m, int node)
{
    return &m->parts[node];
}

HL_INLINE void hl_work_start(struct hl_work *w)
{
    w->todo = NULL;
    w->todo_tail = &w->todo;
    w->n = 0;
}

HL_INLINE void hl_work_add(struct hl_work *w, struct hl_req *r)
{
    r->next = NULL;
    *w->todo_tail = r;
    w->todo_tail = &r->next;
}

#endif
