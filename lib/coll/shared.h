/* Blocking collectives over node-shared memory: how the members on one node hand data to each other.
 *
 * A call consists of operations; they are numbered, all members alike, and each call has HL_SHARED_CALL
 * numbers of its own: members whose arguments differ may take different numbers of operations, and meet again
 * in the next call. Each member has an area with HL_SHARED_SLOTS notes that are used in turn: in operation k
 * a member may post one note, in the next slot, which any member may read; a call begins a few slots behind
 * the call before it. A note holds data or names an address of the poster that readers copy from.
 *
 *   post:  wait until all members are done with what stands in the slot, write, release `op` = k
 *   read:  wait for `op` = k
 *   end:   release `done` = k: I read nothing more that was posted in operations up to k (the last one ends
 *          all numbers of its call)
 *
 * A slot is written again only when all are done with what stood there, so `op` cannot pass k before a
 * reader has ended k. Who posted an address waits until its readers are done. Flags only grow; nothing is
 * reset. A member that fails posts what it has with its error and goes on, so that nobody waits in vain; who
 * waits for a member that has died, or has ended the call without posting, stops waiting.
 *
 * One thread at a time, as collectives on one communicator are called. */
#ifndef HL_SHARED_H
#define HL_SHARED_H

#include "algos.h"
#include "board.h"
#include "copy.h"

#define HL_SHARED_SLOTS 8
#define HL_SHARED_STEP 3 /* slots from one call to the next, odd: short calls meet free ones */
/* Numbers of a call. One of more operations takes the next calls' numbers, too. */
#define HL_SHARED_CALL ((uint64_t)1 << 16)
#define HL_SHARED_DATA 8192  /* bytes that a note holds */
#define HL_SHARED_APART 1056 /* and more, so that notes in use are not in the same cache sets */
#define HL_SHARED_FOLDED ((uint64_t)64 << 10)  /* bytes of all operands that each member folds by itself */
#define HL_SHARED_PAIR ((uint64_t)8 << 20)     /* the same of two members: slices would save them little */
#define HL_SHARED_ROOTED ((uint64_t)4 << 20)   /* that the root folds alone, or sends to all */
#define HL_SHARED_STREAM ((uint64_t)256 << 10) /* of a block that goes by notes; larger: the kernel reads */
#define HL_SHARED_DEALT ((uint64_t)128 << 10)  /* of blocks for others that one member puts into notes */
#define HL_SHARED_WIDTH 8                      /* members that one waits for at a level of a tree */

enum hl_note_kind {
    HL_NOTE_DATA,
    HL_NOTE_MORE,  /* data, and the next operation's note of the same poster goes on */
    HL_NOTE_ADDR,  /* the data is at `addr` in the poster's memory */
    HL_NOTE_PIECE, /* data, of a block of `addr` bytes that goes in pieces of known size */
};

struct hl_note {
    HL_ALIGNED_LINE hl_a64 op; /* atomic: released after the rest */
    uint64_t len;              /* bytes of data */
    uint64_t addr;
    int32_t err; /* the poster's */
    uint32_t kind;
    char data[HL_SHARED_DATA + HL_SHARED_APART]; /* begins in the head's line */
};

struct hl_shared_area {
    HL_ALIGNED_LINE hl_a64 done; /* atomic */
    hl_a32 cpu; /* atomic: where its member last waited, + 1; 0: unknown. Only where ranks take turns */
    struct hl_note notes[HL_SHARED_SLOTS];
};

/* A new area, which others do not look at yet. */
HL_INLINE void hl_shared_clear(struct hl_shared_area *a)
{
    /* relaxed, all: its maker lets the others begin. */
    hl_a64_store_relaxed(&a->done, 0);
    hl_a32_store_relaxed(&a->cpu, 0);
    for (int i = 0; i < HL_SHARED_SLOTS; i++) {
        hl_a64_store_relaxed(&a->notes[i].op, 0);
    }
}

/* What a member has. Places are the board's. */
struct hl_shared {
    struct hl_comm_part part;
    struct hl_board *board;
    const struct hl_comm *comm;
    struct hl_comm leads; /* the first member of each node, for messages; no handle */
    int tag;              /* of their messages in this call */
    int n, me;
    unsigned slots;         /* HL_SHARED_SLOTS; tests use fewer. A power of two */
    int *others;            /* [n - 1] node ranks, to be woken */
    uint64_t op;            /* the last number given out */
    uint64_t free;          /* all others are known to be done with this one */
    struct hl_copy_out out; /* into my notes */
    int err;                /* the first error of this call */
    void *temp;             /* packed data that others read until the call ends */
    char *operand, *packed; /* [HL_SHARED_DATA] each, of whoever folds and of hl_shared_fill: the stack may be
                             * short */
    void (*wake)(const int *node_ranks, int n);
    uint64_t posted[HL_SHARED_SLOTS]; /* the last operation in each of my slots, whose lines others have */
    struct hl_shared_area *areas[];   /* [n] */
};

/* The next number is the current one. The first in a call is the first of the call's. */
HL_INLINE void hl_shared_begin(struct hl_shared *s)
{
    s->op++;
}

/* Where to write the data of my note (at most HL_SHARED_DATA): after the slot is free. At a multiple of 32.
 */
void *hl_shared_room(struct hl_shared *s);

/* Posts my note: what stands in the room, or `addr`. Wakes nobody. */
void hl_shared_post(struct hl_shared *s, enum hl_note_kind kind, uint64_t len, const void *addr);

/* Wakes who may be waiting for what I have posted or ended: one place, or everybody. */
void hl_shared_wake(const struct hl_shared *s, int place);
HL_INLINE void hl_shared_wake_all(const struct hl_shared *s)
{
    s->wake(s->others, s->n - 1);
}

/* Waits for a place's note of this operation, whose data is there if it is not of kind ADDR; takes its error
 * over. NULL: it has died, or ended the call without this operation; the error is kept. */
const struct hl_note *hl_shared_await(struct hl_shared *s, int place);

/* Where ranks take turns: waits for the notes of those who share my CPU, who cannot write them while I wait
 * for others. Elsewhere nothing. */
void hl_shared_await_mates(struct hl_shared *s);

/* A place's note of this operation if it is there already; what it says is for hl_shared_await. */
const struct hl_note *hl_shared_seen(const struct hl_shared *s, int place);

/* I need nothing more of this operation. Wakes nobody. */
void hl_shared_end(struct hl_shared *s);

/* The last number of the call. */
HL_INLINE uint64_t hl_shared_last(const struct hl_shared *s)
{
    return s->op | (HL_SHARED_CALL - 1);
}

/* The same for the last operation of a call, in one store. */
HL_INLINE void hl_shared_end_last(struct hl_shared *s)
{
    s->op = hl_shared_last(s);
    hl_shared_end(s);
}

/* The last thing in a call, unless hl_shared_end_last was. Wakes all after an error: who has taken more
 * operations may wait for me. */
HL_INLINE void hl_shared_close(struct hl_shared *s)
{
    if (s->op != hl_shared_last(s)) {
        hl_shared_end_last(s);
    }
    if (HL_UNLIKELY(s->err != 0)) {
        hl_shared_wake_all(s);
    }
}

/* Waits until a place, or everybody, has ended this operation. */
void hl_shared_await_end(struct hl_shared *s, int place);
void hl_shared_await_all(struct hl_shared *s);

/* Keeps an error, if it is the first. */
HL_INLINE void hl_shared_fail(struct hl_shared *s, int err)
{
    if (HL_UNLIKELY(err != 0) && s->err == 0) {
        s->err = err;
    }
}

/* The bytes of a note are not the `room` for them. */
void hl_shared_fail_size(struct hl_shared *s, const struct hl_note *note, uint64_t room) HL_COLD;

/* Copies `n` bytes at `addr` of a place. */
void hl_shared_read(struct hl_shared *s, int place, uint64_t addr, void *to, uint64_t n);

/* The same in the other direction. */
void hl_shared_write(struct hl_shared *s, int place, uint64_t addr, const void *from, uint64_t n);

/* Packs all `bytes` of a typed buffer. */
void hl_shared_pack(struct hl_shared *s, struct hl_data from, void *to, int64_t bytes);

/* Packs `bytes` of a typed buffer, from byte `at` on, into the room of my note. */
void hl_shared_fill(struct hl_shared *s, struct hl_data from, int64_t at, void *room, int64_t bytes);

/* Posts a typed buffer: its data if that fits, else an address (packed data of the call if it is not one
 * block). True: readers copy from there, so I must wait for them. */
bool hl_shared_give(struct hl_shared *s, struct hl_data from);

/* Copies `len` bytes at an address of a place's to `to`. */
void hl_shared_take_from(struct hl_shared *s, int place, uint64_t addr, uint64_t len, struct hl_data to);

/* Copies what a place gave in this operation to `to`. */
void hl_shared_take(struct hl_shared *s, int place, const struct hl_note *note, struct hl_data to);

/* Unpacks a note that holds a piece of the data, behind `at` bytes that came before. */
void hl_shared_take_piece(struct hl_shared *s, const struct hl_note *note, struct hl_data data, int64_t at);

/* Packed room that lives until the call ends, or NULL with the error kept. */
void *hl_shared_temp(struct hl_shared *s, uint64_t len);

/* ---- Choice ---- */

/* One call, and what it needs to know beyond it. */
struct hl_shared_call {
    struct hl_shared *s;
    const struct hl_coll_call *c;
    struct hl_coll_facts facts;
    struct hl_reducer reducer;
};

/* A reduction of few enough members, whose elements fit a note. */
HL_INLINE bool hl_shared_notes(const struct hl_shared_call *x)
{
    return x->facts.count > 0 && x->s->n <= HL_SHARED_WIDTH && x->c->recv.type->size <= HL_SHARED_DATA;
}

/* One of so few bytes that reading all operands costs less than another meeting. */
HL_INLINE bool hl_shared_pieces(const struct hl_shared_call *x)
{
    uint64_t folded = x->s->n == 2 ? HL_SHARED_PAIR : HL_SHARED_FOLDED;
    uint64_t most = x->c->what == HL_COLL_REDUCE ? HL_SHARED_ROOTED : folded;

    return hl_shared_notes(x) && x->facts.bytes <= most / (uint64_t)x->s->n;
}

/* Runs a blocking call if it has a row here; false: it is for messages. The communicator's board is made by
 * the HOTLANE_COLL_SHARED-th such call. */
bool hl_shared_run(const struct hl_coll_call *c, int *err);

/* The same for a barrier, and for a broadcast. */
bool hl_shared_meet(struct hl_comm *comm, int *err);
bool hl_shared_spread(struct hl_comm *comm, struct hl_data data, int root, int *err);

void hl_shared_barrier(struct hl_shared *s);
void hl_shared_bcast(struct hl_shared *s, struct hl_data data, int root_place);
void hl_shared_allreduce(struct hl_shared_call *x);
void hl_shared_allreduce_rounds(struct hl_shared_call *x);
void hl_shared_allreduce_slices(struct hl_shared_call *x);
void hl_shared_reduce(struct hl_shared_call *x);
void hl_shared_gather(struct hl_shared_call *x);
void hl_shared_scatter(struct hl_shared_call *x);
void hl_shared_allgather(struct hl_shared_call *x);
void hl_shared_gather_pieces(struct hl_shared_call *x);
void hl_shared_scatter_pieces(struct hl_shared_call *x);
void hl_shared_allgather_pieces(struct hl_shared_call *x);

/* Bytes of a note that holds a block of `bytes` for each of `n` members. */
HL_INLINE uint64_t hl_shared_table(uint64_t bytes, uint64_t n)
{
    return n * (bytes + 2 * sizeof(uint64_t));
}

/* ---- For the parts above and tests ---- */

/* Over areas that are there already, and cleared: no board, no communicator. [n] areas. */
struct hl_shared *hl_shared_make(struct hl_shared_area *const *areas, int n, int me);

/* The first members of all nodes call an operation by messages. */
void hl_shared_leads_run(struct hl_shared *s, struct hl_coll_call *c);

#endif
