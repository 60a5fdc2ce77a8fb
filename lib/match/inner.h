/* What the files of match share: the node-shared layout, inboxes, tables, and the matcher they hang on.
 *
 * A matcher is one rank's side of everything here; it comes by pointer, so that tests can run several ranks
 * as threads of one process.
 *
 *   send.c   a message leaves: eager, cell, or request to send; pending lists
 *   ring.c   slots and cells in node-shared memory (claim.h)
 *   claim.c  who is about to fill which slot
 *   inbox.c  who owns an inbox, commands for its owner, one service of it
 *   table.c  posted receives and unexpected messages, plain data under the inbox's ownership
 *   recv.c   receives, claims for any source over several inboxes, delivery
 *   rndv.c   large messages: requests to send answered, data moved, control messages; both.c, cma.c
 *   reach.c  large messages without their sender's help
 *   names.c  names of the requests that peers answer to
 *   probe.c  probes, matched messages, cancel
 *   choke.c  bounded memory for unexpected messages; entry.c: that memory
 *   bury.c   peers that have died
 *   far.c    the same over the network: what leaves and what comes
 *   port.c   its endpoints (port.h); bell.c: they wake sleepers
 *   tail.c   what it has lost is missed */
#ifndef HL_MATCH_INNER_H
#define HL_MATCH_INNER_H

#include "atomic.h"
#include "choke.h"
#include "cs.h"
#include "lock.h"
#include "match.h"
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
_Static_assert(sizeof(struct hl_ring_slot) == 64, "a slot is one line");

/* ---- Node-shared memory ---- */

#define HL_RING_SLOTS 1024u /* at most: HOTLANE_RING */
#define HL_CELL_BYTES 8192u
#define HL_CELLS 64u
#define HL_INBOXES_MAX 16u
#define HL_OPENING_SHIFT 8 /* in hl_home.inboxes */
#define HL_CLAIMING 256u   /* threads of a rank that have a place; the last one is everybody else's */

/* Many producers, one consumer (the inbox's owner).
 * tail = ticket << 1 | armed. A producer claims a ticket by CAS, writes the slot, releases its stamp; if it
 * cleared `armed`, it rings the door. The consumer publishes `head` now and then. */
struct hl_ring {
    HL_ALIGNED_LINE hl_a64 tail; /* atomic */
    uint64_t mark;               /* tells rings of the node apart, above the bits of tickets; see claim.c */
    HL_ALIGNED_LINE hl_a64 head; /* atomic: written by the owner */
    HL_ALIGNED_LINE struct hl_ring_slot slots[HL_RING_SLOTS];
};

/* What one thread claims or has claimed last. It is said before the claim, so of a slot that stays empty the
 * node knows whether a living rank is still going to fill it (claim.c). */
struct hl_claiming {
    HL_ALIGNED_LINE hl_a64 what; /* atomic: ticket + the mark of its ring; 0: never used */
};

#define HL_JOINT_BITS 6
#define HL_JOINTS (1u << HL_JOINT_BITS)

/* A message that both ends copy (both.c). */
struct hl_joint {
    HL_ALIGNED_LINE hl_a64 left; /* atomic: what nobody has claimed, under its generation */
    hl_a64 done;                 /* atomic: what has been copied, and whether the receiver has left */
    hl_a32 failed;               /* atomic: 1: a piece could not be copied */
    uint64_t back;               /* names the receive; written before the receiver leaves */
};

/* One rank's part of the board. Zero is its initial state. */
struct hl_home {
    hl_a32 inboxes; /* atomic: number of inboxes (0: not open) and, above HL_OPENING_SHIFT, how often the job
                       has closed the library. Release: publishes the rest of this line */
    int32_t pid;    /* for reading from its memory */
    uint64_t probe_addr;  /* where `probe_value` stands in that process; 0: it wants no CMA */
    uint64_t probe_value; /* random */
    uint64_t process;     /* random, hl_cma_process of its process */
    uint32_t ring_room;   /* messages that a ring takes */
    HL_ALIGNED_LINE struct hl_prog_door door;
    HL_ALIGNED_LINE hl_a64 cells_taken; /* atomic: a bit a cell; set by my senders, cleared by receivers */
    struct hl_ring rings[HL_INBOXES_MAX];
    struct hl_claiming claiming[HL_CLAIMING];
    HL_ALIGNED_LINE hl_a64 joints_taken; /* atomic: a bit a joint; mine alone change it */
    struct hl_joint joints[HL_JOINTS];
    _Alignas(4096) unsigned char cells[HL_CELLS][HL_CELL_BYTES];
};

/* ---- Posted receives, unexpected messages ---- */

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
    uint64_t seq;   /* order of posting within the inbox */
    uint32_t op;    /* enum hl_post_op */
    uint32_t spare; /* of a receive or probe: world rank of its source, or -1 */
};

/* Where a matched message's data is still to come from. */
struct hl_fetch {
    uint64_t name;    /* of the send */
    uint64_t addr;    /* of the sender's buffer, or 0; then: bytes that came */
    int32_t from;     /* as in struct hl_entry */
    uint32_t offered; /* enum hl_fetch_addr */
};

/* What `addr` of a fetch is. */
enum hl_fetch_addr {
    HL_FETCH_PLAIN, /* as said there */
    HL_FETCH_OFFER, /* a struct hl_offer *: how the buffer can be reached */
    HL_FETCH_JOINT, /* my joint in which the sender still copies */
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

/* A message without its receive. Payload (or RTS area) follows; a million of them may wait, so what only few
 * need lies in front. */
struct hl_entry {
    struct hl_entry_block *block;      /* what it was cut from; NULL: malloc, behind a struct hl_post */
    struct hl_entry *next, **back;     /* in its bin, by (ctx, src, tag) */
    struct hl_entry *sibling, **elder; /* in the bin of any tag, by (ctx, src) */
    struct hl_entry *younger, **older; /* in the inbox's order of arrival */
    uint64_t ctx;
    uint64_t len; /* bytes of the message */
    int32_t src, tag;
    int32_t from; /* who sent it: node rank, or ~world rank when it came over the network */
    uint32_t kind;
    unsigned char payload[];
};

/* A matched message: in a request's place, which has its context, source, tag and bytes. */
struct hl_message {
    struct hl_req req; /* its body is a struct hl_message_body */
};

struct hl_message_body {
    struct hl_entry *entry; /* NULL: the payload is here */
    int32_t from;
    uint32_t kind;
    unsigned char payload[HL_MATCH_INLINE];
};
_Static_assert(sizeof(struct hl_message_body) <= HL_REQ_BODY, "a message fits a request");

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

/* ---- Entries (entry.c) ---- */

/* What arrived, wherever its bytes are now. */
struct hl_arrival {
    uint64_t ctx, len;
    int32_t src, tag, from;
    uint32_t kind;
    const void *payload; /* or the RTS area */
};

#define HL_ENTRY_STEP 16 /* sizes of the payloads in blocks: 0, 16, ... HL_MATCH_INLINE */
#define HL_ENTRY_SIZES (HL_MATCH_INLINE / HL_ENTRY_STEP + 1)

/* Of an inbox; only its owner's. */
struct hl_entry_pool {
    struct hl_entry *spare; /* for short messages, by their `next` */
    unsigned n_spare;
    struct hl_entry_block *open[HL_ENTRY_SIZES]; /* blocks with room, by the payload of their entries */
};

/* Bytes that an entry has of it: payload, or the area of an RTS. */
HL_INLINE size_t hl_entry_payload(const struct hl_arrival *a)
{
    return a->kind == HL_MSG_RTS ? sizeof(struct hl_msg_rts) : a->len;
}

/* By malloc; ends the job when there is no memory. Any thread. */
struct hl_entry *hl_entry_new(const struct hl_arrival *a);
void hl_entry_free(struct hl_entry *e);

/* The command by which one of malloc goes to an inbox's owner, and back. */
HL_INLINE struct hl_post *hl_entry_post(struct hl_entry *e)
{
    return (struct hl_post *)(void *)e - 1;
}

HL_INLINE struct hl_entry *hl_entry_posted(struct hl_post *p)
{
    return (struct hl_entry *)(void *)(p + 1);
}

/* One for the inbox's table, in which `waiting` others are. */
struct hl_entry *hl_entry_keep(struct hl_entry_pool *pool, const struct hl_arrival *a, size_t waiting);
void hl_entry_drop(struct hl_entry_pool *pool, struct hl_entry *e);

/* All entries of blocks have been dropped. */
void hl_entry_pool_close(struct hl_entry_pool *pool);

/* ---- Inboxes ---- */

struct hl_inbox {
    struct hl_ring *ring;
    HL_ALIGNED_LINE hl_a32 owned;    /* atomic: xchg to 1 owns all below, xchg to 0 leaves */
    HL_ALIGNED_LINE hl_aptr command; /* atomic: stack of struct hl_post, youngest first */
    struct hl_mutex section;         /* in place of `owned` where modes have sections (cs.h) */
    HL_ALIGNED_LINE hl_a64 head;     /* next ticket to read: written by the owner, glanced at by others */
    uint32_t publish;                /* bits of head that are 0 when it is published */
    hl_a64 mark;                     /* atomic: bytes of entries above which the owner looks at the sum */
    uint64_t first;                  /* ticket that this generation begins with */
    hl_a64 cells, others;            /* of the messages read: in a cell; without data. atomic, by the owner */
    hl_a64 cell_bytes;               /* of those in a cell; the same */
    struct hl_entry_pool pool;
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
    struct hl_ring_slot slot;
};

#define HL_PORTS_MAX 8

/* A peer's state. */
#define HL_PEER_CHOKED 0x80000000u       /* set and cleared by the peer: payloads stay here */
#define HL_PEER_DEAD 0x40000000u         /* never cleared */
#define HL_PEER_SENDS(s) ((s)&0xffffffu) /* sends in the list; lowered only after the send was published */

struct hl_peer {
    hl_a32 *state;               /* atomic, HL_PEER_*: not 0 sends the slow way. Near: in shared memory */
    hl_a32 far_state;            /* what it points to for a peer by the network */
    hl_a32 inboxes;              /* atomic: how many it has, once it is seen open; near */
    bool choked;                 /* its payloads stay there until we say otherwise; guarded by choke.lock */
    hl_a32 owing;                /* atomic: control messages in the list */
    int32_t world, node;         /* node: -1 when reached by the network */
    uint32_t ports;              /* node -1: how many both of us have */
    uint64_t addr[HL_PORTS_MAX]; /* its address in each of my ports */
    uint64_t sent[HL_PORTS_MAX]; /* messages posted from each of them; changed by the port's owner */
    hl_a64 refused_ns, refusing_ns; /* node -1: when its connection took nothing, and since when. atomic */
    struct hl_mutex section;        /* of putting into its ring; for cs.h */
    hl_a32 cma;                     /* 0: not tried, 1: its memory can be read, 2: it cannot */
    struct hl_mutex lock;
    struct hl_req *head, **tail HL_MEMBER_GUARDED_BY(lock); /* by hl_req.next */
    struct hl_owed *owed, **owed_tail HL_MEMBER_GUARDED_BY(lock);
    struct hl_rx_tail ends[HL_PORTS_MAX]; /* of what was sent from each port; changed by its owner */
};

/* Body of a send's request that could not leave at once. */
struct hl_send_body {
    const void *buf;
    int64_t count;
    struct hl_type *type;
    int32_t me, tag, dest, mode;
    uint64_t cookie;
    uint64_t back;   /* the receive that asked for data; HL_REQ_REGISTERED: the registration's id */
    uint64_t offset; /* packed bytes handed over so far; HL_REQ_REGISTERED: its key */
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

#define HL_REQ_EXACT 4u      /* the message must be as long as the buffer */
#define HL_REQ_REVOKED 8u    /* no receive: its sender is told that its message was not matched */
#define HL_REQ_HOLDS_TYPE 1u /* in hl_req.spare: a reference to drop at completion */
#define HL_REQ_REGISTERED 4u /* in a send's: its buffer is registered for the receiver */

/* ---- The matcher ---- */

struct hl_matcher {
    int world_rank, world_size, node_rank, node_size;
    const int *node_world;        /* [node_size] */
    struct hl_home *homes;        /* [node_size], shared */
    hl_a32 *states;               /* behind them a row of peers' states for each rank, see hl_state_of */
    unsigned n_inboxes;           /* power of two */
    uint32_t opening;             /* how often the job had closed the library before */
    bool threads;                 /* several threads call, and own inboxes in turn (not by sections) */
    bool cma;                     /* reading peers' memory is allowed */
    struct hl_inbox *inbox;       /* [n_inboxes] */
    struct hl_claiming *claiming; /* this rank's, in its home */
    struct hl_peer *near;         /* [node_size] */
    hl_aptr *peers; /* [world_size] struct hl_peer *: near ones, and far ones from their first use */
    struct hl_peer **far_list; /* far ones, for polling; NULL on one node */
    hl_a32 n_far;              /* atomic: release after far_list is extended */
    struct hl_mutex far_lock;
    hl_a32 backlog; /* atomic: peers' sends + owing, summed, and choke.busy, and deaths */
    hl_a32 deaths;  /* atomic: 1 when ranks of the job have died */
    hl_a32 passes;  /* atomic: of bury.c, as the next one */
    hl_a64 visited_ns;
    bool (*is_dead)(int world);
    int (*lost_member)(uint64_t ctx); /* a dead member of that communicator, or -1; NULL: unknown */
    struct hl_choke choke;
    hl_a32 n_streams; /* atomic: sends that are being pulled, and those of others to help with */
    struct hl_mutex stream_lock;
    struct hl_req *streams, **streams_tail HL_MEMBER_GUARDED_BY(stream_lock);
    struct hl_help *helps, **helps_tail HL_MEMBER_GUARDED_BY(stream_lock);
    struct hl_names names;
    struct hl_net *net; /* ports, or NULL */
    uint64_t probe_value;
    hl_a32 turn; /* rotates where any-source looks first */
};

/* match.c */
struct hl_matcher_setup {
    int world_rank, world_size, node_rank, node_size;
    const int *node_world;
    void *board;
    unsigned inboxes; /* power of two */
    bool threads, cma;
    uint32_t ring;              /* messages that a ring takes, a power of two from 8 on; 0: HL_RING_SLOTS */
    bool (*is_dead)(int world); /* NULL: hl_rx_is_dead */
    uint64_t unex_mem;          /* bytes of unexpected messages above which sources are choked; 0: no limit */
};
struct hl_matcher *hl_matcher_self(void); /* this process's */
int hl_matcher_open(struct hl_matcher *m, const struct hl_matcher_setup *s);
void hl_matcher_close(struct hl_matcher *m);
void hl_matcher_part(struct hl_matcher *m); /* hl_match_part */
int hl_matcher_poll(void *matcher);
enum hl_prog_armed hl_matcher_arm(void *matcher);
bool hl_matcher_idle(void *matcher); /* nothing owed to anybody */

/* After something that another thread may sleep for. */
HL_INLINE void hl_matcher_wake(const struct hl_matcher *m)
{
    if (m->threads || hl_cs_has_locks()) {
        hl_prog_wake();
    }
}

/* The peer record of a world rank; NULL: HL_ERR_OTHER was recorded. */
struct hl_peer *hl_matcher_peer(struct hl_matcher *m, int world);

/* Where messages of one source go: the same at both ends. Both halves of a wide product, so that every bit of
 * the result depends on every bit of the context. */
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
/* Receives the next message of the ring if it is the one for `r`, all of it is there, and nothing stands
 * before it. False: nothing was done. */
bool hl_inbox_take(struct hl_matcher *m, const struct hl_recv *r, struct hl_got *got);
/* The same of the message itself; NULL: nothing was done. */
struct hl_message *hl_inbox_take_message(struct hl_matcher *m, const struct hl_recv *r);
/* Has `post` done by the owner: the caller if he can be, else whoever is. */
void hl_inbox_command(struct hl_matcher *m, struct hl_inbox *ib, struct hl_post *post, struct hl_work *w);
/* Calls `fn` as its owner, if it can be owned at once. */
void hl_inbox_visit(struct hl_matcher *m, struct hl_inbox *ib,
                    void (*fn)(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w),
                    struct hl_work *w);
/* Serves it if something is there and nobody else does. */
void hl_inbox_poll(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w);
bool hl_inbox_waiting(const struct hl_inbox *ib);
void hl_inbox_close(struct hl_inbox *ib); /* drops what nobody received */

/* recv.c */
void hl_recv_deliver(struct hl_matcher *m, struct hl_req *r, const struct hl_arrival *a, struct hl_work *w);
void hl_recv_result(struct hl_req *r, int src, int tag, uint64_t bytes);
int hl_recv_results(struct hl_req *r, MPI_Status *status, bool end); /* and lets its claim go */
void hl_recv_finish(struct hl_req *r);                               /* drops the type, completes */
void hl_recv_setup(struct hl_req *req, const struct hl_recv *r, enum hl_post_op op);
int hl_recv_post(struct hl_matcher *m, struct hl_req *req);
/* Posts a receive on the caller's stack, which is over before he leaves; an error leaves nothing posted. */
int hl_recv_begin(struct hl_matcher *m, const struct hl_recv *r, struct hl_req *req);
int hl_recv_put(struct hl_req *r, uint64_t offset, const void *data, uint64_t n); /* into its buffer */
int hl_matcher_irecv(struct hl_matcher *m, const struct hl_recv *r, struct hl_req **out);
int hl_matcher_recv(struct hl_matcher *m, const struct hl_recv *r, MPI_Status *status);

/* send.c */
int hl_matcher_isend(struct hl_matcher *m, const struct hl_send *s, struct hl_req **out);
/* The same on an ACTIVE request of the caller's, which holds no type. */
int hl_matcher_isend_on(struct hl_matcher *m, const struct hl_send *s, struct hl_req *r);
int hl_matcher_send(struct hl_matcher *m, const struct hl_send *s);
void hl_send_finish(struct hl_matcher *m, struct hl_req *r); /* frees its name, drops the type, completes */
void hl_send_end(struct hl_req *r);                          /* the same without the name, which is taken */
int hl_peer_drain(struct hl_matcher *m, struct hl_peer *p);
void hl_send_cancel(struct hl_matcher *m, struct hl_req *r);

/* rndv.c */
struct hl_peer *hl_peer_from(struct hl_matcher *m, int from); /* `from` as in struct hl_entry; or NULL */
/* Sends a control message of this kind, behind those that are owed. `area` NULL: zeros. */
void hl_control_send(struct hl_matcher *m, struct hl_peer *p, enum hl_msg_kind kind,
                     const union hl_msg_area *area);
/* Handles a control message; `data`: the bytes of a DATA. */
void hl_rndv_control(struct hl_matcher *m, const struct hl_ring_slot *slot, const void *data);
/* The same of a whole one: a REVOKE needs the head of its RTS. */
void hl_control_put(struct hl_matcher *m, struct hl_peer *p, const struct hl_ring_slot *slot);
bool hl_control_push(struct hl_matcher *m, struct hl_peer *p,
                     const struct hl_ring_slot *slot); /* false: no room */
void hl_owed_free(struct hl_owed *o);
int hl_rndv_stream(struct hl_matcher *m);
void hl_work_run(struct hl_matcher *m, struct hl_work *w);
/* Names a request whose body is complete but for `name`; false: no memory. */
bool hl_name_give(struct hl_names *n, struct hl_req *r, uint64_t *name);
struct hl_req *hl_name_find(struct hl_names *n, uint64_t name);
struct hl_req *hl_name_take(struct hl_names *n, uint64_t name);
/* Takes the first name that `is` accepts; NULL if none. */
struct hl_req *hl_name_take_if(struct hl_names *n, bool (*is)(void *arg, struct hl_req *r, uint64_t name),
                               void *arg);

/* A fetch over the network has ended: with an error that the peer's death is not, the bytes are asked for. */
void hl_rndv_fetched(struct hl_matcher *m, struct hl_req *r, int err);

/* reach.c */
/* Fills addr and key of a request to send for `len` bytes at `block` (NULL: not one block). */
void hl_reach_offer(const struct hl_peer *p, struct hl_req *r, char *block, uint64_t len,
                    struct hl_msg_rts *rts);
/* The sender's request is over, or asked for the bytes: nobody reads its buffer from afar any more. */
void hl_reach_withdraw(struct hl_req *r);
/* At the match: keeps in the receive what the request to send offers. */
void hl_reach_note(struct hl_matcher *m, struct hl_req *r, const struct hl_msg_rts *rts, int from);
/* Takes the offer out again, to be freed by the caller; NULL: there is none. */
struct hl_offer *hl_reach_take(struct hl_req *r);
/* Copies the message if its buffer is mapped here. */
bool hl_reach_copy(const struct hl_peer *p, struct hl_req *r, const struct hl_offer *o);
/* Starts reads over the network: they own the offer then and end with hl_rndv_fetched. False: impossible. */
bool hl_reach_read(const struct hl_peer *p, struct hl_req *r, struct hl_offer *o);

void hl_match_counts_open(struct hl_matcher *m); /* counts.c: what is counted here is a counter of the rank */
void hl_match_counts_close(void);
void hl_match_tell_open(void); /* tell.c: open requests in words, for the watchdog */
/* That is to come, or (moving) has come in part: that waits for no rank. */
void hl_match_tell_message(struct hl_told *t, uint64_t ctx, int src, int tag, bool moving);
void hl_match_tell_dest(struct hl_told *t, uint64_t ctx, int dest, int tag); /* of one that is to leave */
void hl_part_tell_open(void);                                                /* partitioned.c: the same */

/* probe.c */
/* Without progress: what is known now. */
int hl_matcher_iprobe(struct hl_matcher *m, const struct hl_recv *p, bool *found, MPI_Status *status);
int hl_matcher_improbe(struct hl_matcher *m, const struct hl_recv *p, struct hl_message **message,
                       MPI_Status *status);
int hl_matcher_mprobe(struct hl_matcher *m, const struct hl_recv *p, struct hl_message **message,
                      MPI_Status *status);
struct hl_req *hl_matcher_imrecv(struct hl_matcher *m, struct hl_message *message, const struct hl_recv *r);
int hl_matcher_mrecv(struct hl_matcher *m, struct hl_message *message, const struct hl_recv *r,
                     MPI_Status *status);
int hl_matcher_cancel(struct hl_matcher *m, struct hl_req *r);
/* Of an arrival, or of an entry (then its own), both of them alive. */
struct hl_message *hl_message_new(const struct hl_arrival *a, struct hl_entry *e);

/* The references of modes that count them: a new request's to its communicator, and the completer's to the
 * request, unless that lives on a stack. */
HL_INLINE void hl_match_count_new(const struct hl_req *r)
{
    if (HL_UNLIKELY(hl_cs_any())) {
        hl_cs_count(HL_CS_comm, r->ctx, 1);
    }
}

void hl_match_done_counted(struct hl_req *r);

/* Completes it. */
HL_INLINE void hl_match_done(struct hl_req *r)
{
    if (HL_UNLIKELY(hl_cs_any())) {
        hl_match_done_counted(r);
    } else {
        hl_req_done(r);
    }
}

/* Both of a receive that is over at once. */
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

HL_INLINE struct hl_req *hl_post_req(struct hl_post *p)
{
    return HL_CONTAINER_OF(p, struct hl_req, body);
}

/* What rank `of` of the node keeps of `peer`: a row is its own lines, peers write there only to choke it. */
HL_INLINE size_t hl_state_row(int node_size)
{
    return hl_round_up((size_t)node_size * sizeof(hl_a32), HL_CACHELINE) / sizeof(hl_a32);
}

HL_INLINE hl_a32 *hl_state_of(const struct hl_matcher *m, int of, int peer)
{
    return &m->states[(size_t)of * hl_state_row(m->node_size) + (size_t)peer];
}

/* How many inboxes a node peer has; 0: it has not opened yet. Who has left the library's last opening may
 * meet peers that are still about to: they count as not open. */
uint32_t hl_peer_look(struct hl_matcher *m, struct hl_peer *p) HL_COLD;
HL_INLINE uint32_t hl_peer_inboxes(struct hl_matcher *m, struct hl_peer *p)
{
    /* acquire: the peer's board is ready; pairs with the release in hl_peer_look. */
    uint32_t n = hl_a32_load_acquire(&p->inboxes);
    return HL_LIKELY(n != 0) ? n : hl_peer_look(m, p);
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

HL_INLINE void hl_work_add(struct hl_work *w, struct hl_req *r)
{
    r->next = NULL;
    *w->todo_tail = r;
    w->todo_tail = &r->next;
}

#endif
