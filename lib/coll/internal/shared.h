/* Blocking collectives over node-shared memory: how the members on one node hand data to each other.
 *
 * A call consists of operations, which all members number alike. Each call has HL_SHARED_CALL numbers of its
 * own: members whose arguments differ may take different numbers of operations, and still meet again in the
 * next call. Each member has an area with HL_SHARED_SLOTS cells that are used in turn: in operation k a
 * member may post one cell, in the next slot, which any member may read; a call begins a few slots behind the
 * last call. A cell holds data, or names an address in the poster's memory that readers copy from.
 *
 *   post:  wait until all members are done with what stands in the slot, write, release `op` = k
 *   read:  wait for `op` = k
 *   end:   release `done` = k: I read no more cells of operations up to k (a call's last operation ends all
 *          its numbers)
 *
 * A slot is written again only when all are done with what stood there, so `op` cannot pass k before a reader
 * has ended k. A member that posted an address waits until its readers are done. Flags only grow; nothing is
 * reset. A member that fails posts what it has, with its error, and goes on, so that nobody waits in vain. A
 * member that waits for one that has died, or has ended the call without posting, stops waiting.
 *
 * One thread at a time, as collectives on one communicator are called. */
#ifndef HL_SHARED_H
#define HL_SHARED_H

#include "algos.h"
#include "board.h"
#include "copy.h"

#define HL_SHARED_SLOTS 8
#define HL_SHARED_STEP 3 /* slots from one call to the next; odd, so that short calls meet free slots */
/* Numbers of a call. A call with more operations also takes the numbers of the next calls. */
#define HL_SHARED_CALL ((uint64_t)1 << 16)
#define HL_SHARED_DATA 8192  /* bytes that a cell holds */
#define HL_SHARED_APART 1056 /* padding, so that cells in use are not in the same cache sets */
/* most bytes of all operands that each member folds by itself */
#define HL_SHARED_FOLDED ((uint64_t)64 << 10)
#define HL_SHARED_PAIR ((uint64_t)8 << 20)   /* the limit for two members: slices would save them little */
#define HL_SHARED_ROOTED ((uint64_t)4 << 20) /* most bytes that the root folds alone, or sends to all */
/* largest block that goes by cells; larger ones are read by the kernel */
#define HL_SHARED_STREAM ((uint64_t)256 << 10)
/* most bytes of all blocks for others that one member puts into cells */
#define HL_SHARED_DEALT ((uint64_t)128 << 10)
#define HL_SHARED_WIDTH 8 /* members that one member waits for at a level of a tree */

enum hl_cell_kind {
    HL_CELL_DATA,
    HL_CELL_MORE,  /* data; the same poster's cell of the next operation goes on */
    HL_CELL_ADDR,  /* the data is at `addr` in the poster's memory */
    HL_CELL_PIECE, /* data: a piece of a block of `addr` bytes, whose pieces have known sizes */
};

struct hl_cell {
    HL_ALIGNED_LINE hl_a64 op; /* atomic: number of the operation; release after the other fields */
    uint64_t len;              /* bytes of data */
    uint64_t addr;
    int32_t err;                                 /* the poster's error */
    uint16_t kind, what;                         /* enum hl_cell_kind; the poster's call, enum hl_coll */
    char data[HL_SHARED_DATA + HL_SHARED_APART]; /* begins in the cache line of the head */
};

struct hl_shared_area {
    HL_ALIGNED_LINE hl_a64 done; /* atomic */
    /* atomic: 1 + the CPU where its member last waited, 0: unknown. Only used where ranks take turns on
     * CPUs */
    hl_a32 cpu;
    struct hl_cell cells[HL_SHARED_SLOTS];
};

/* Clears a new area, which no other member reads yet. */
HL_INLINE void hl_shared_clear(struct hl_shared_area *a)
{
    /* relaxed, all: the making of the board orders them. */
    hl_a64_store_relaxed(&a->done, 0);
    hl_a32_store_relaxed(&a->cpu, 0);
    for (int i = 0; i < HL_SHARED_SLOTS; i++) {
        hl_a64_store_relaxed(&a->cells[i].op, 0);
    }
}

/* What a member keeps for its calls. Places are those of the board. */
struct hl_shared {
    struct hl_comm_part part;
    struct hl_board *board;
    const struct hl_comm *comm;
    struct hl_comm leads; /* the first members of all nodes, for messages; it has no handle */
    int tag;              /* tag of the first members' messages in this call */
    int n, me;
    unsigned slots;         /* a power of two: HL_SHARED_SLOTS, in tests fewer */
    int *others;            /* [n - 1] node ranks of the others, to wake them */
    uint16_t what;          /* the current call, enum hl_coll */
    uint64_t op;            /* number of the current operation */
    uint64_t free;          /* all others are known to have ended this operation */
    struct hl_copy_out out; /* copies into my cells */
    int err;                /* the first error of this call */
    void *temp;             /* packed data that others read until the call ends */
    /* [HL_SHARED_DATA] each, for folds and for hl_shared_fill: the stack may be small */
    char *operand, *packed;
    void (*wake)(const int *node_ranks, int n);
    /* last operation in each of my slots (others have the slots' own lines in their caches) */
    uint64_t posted[HL_SHARED_SLOTS];
    struct hl_shared_area *areas[]; /* [n] */
};

/* Begins the next operation; the first in a call takes the call's first number. */
HL_INLINE void hl_shared_begin(struct hl_shared *s)
{
    s->op++;
}

/* Waits until my slot is free, and returns where to write the data of my cell: at most HL_SHARED_DATA bytes,
 * at a multiple of 32. */
void *hl_shared_room(struct hl_shared *s);

/* Posts my cell: the data in the room, or `addr`. Wakes nobody. */
void hl_shared_post(struct hl_shared *s, enum hl_cell_kind kind, uint64_t len, const void *addr);

/* Wakes one place, or all, which may be waiting for what I have posted or ended. */
void hl_shared_wake(const struct hl_shared *s, int place);
HL_INLINE void hl_shared_wake_all(const struct hl_shared *s)
{
    s->wake(s->others, s->n - 1);
}

/* Waits for a place's cell of this operation, and takes over its error. The data is in the cell if its kind
 * is not ADDR. NULL: the member has died, is in another call, or has ended this one without the operation;
 * the error is kept. */
const struct hl_cell *hl_shared_await(struct hl_shared *s, int place);

/* Where ranks take turns on CPUs: waits for the cells of members on my CPU, which cannot write them while I
 * wait for others. Elsewhere does nothing. */
void hl_shared_await_mates(struct hl_shared *s);

/* A place's cell of this operation if it is there, else NULL. Only hl_shared_await makes it safe to read. */
const struct hl_cell *hl_shared_seen(const struct hl_shared *s, int place);

/* Ends the operation: I read nothing more of it. Wakes nobody. */
void hl_shared_end(struct hl_shared *s);

/* The last number of the call. */
HL_INLINE uint64_t hl_shared_last(const struct hl_shared *s)
{
    return s->op | (HL_SHARED_CALL - 1);
}

/* Ends the last operation of a call, and so the call. */
HL_INLINE void hl_shared_end_last(struct hl_shared *s)
{
    s->op = hl_shared_last(s);
    hl_shared_end(s);
}

/* Ends the call, unless hl_shared_end_last did. After an error it wakes all: members that have taken more
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

/* Waits until one place, or all, have ended this operation. */
void hl_shared_await_end(struct hl_shared *s, int place);
void hl_shared_await_all(struct hl_shared *s);

/* Keeps an error, if it is the first. */
HL_INLINE void hl_shared_fail(struct hl_shared *s, int err)
{
    if (HL_UNLIKELY(err != 0) && s->err == 0) {
        s->err = err;
    }
}

/* The rank in the communicator of a place, for messages; tests have no board. */
int hl_shared_rank_at(const struct hl_shared *s, int place) HL_COLD;

/* Fails the call: the bytes of a place's cell differ from the `room` for them. */
void hl_shared_fail_size(struct hl_shared *s, int place, const struct hl_cell *cell, uint64_t room) HL_COLD;

/* Copies `n` bytes from address `addr` of a place to `to`. */
void hl_shared_read(struct hl_shared *s, int place, uint64_t addr, void *to, uint64_t n);

/* Copies `n` bytes to address `addr` of a place. */
void hl_shared_write(struct hl_shared *s, int place, uint64_t addr, const void *from, uint64_t n);

/* Packs all `bytes` of a typed buffer. */
void hl_shared_pack(struct hl_shared *s, struct hl_data from, void *to, int64_t bytes);

/* Packs `bytes` of a typed buffer, from byte `at` on, into the room of my cell. */
void hl_shared_fill(struct hl_shared *s, struct hl_data from, int64_t at, void *room, int64_t bytes);

/* Posts a typed buffer: its data if that fits; else an address, which is that of packed data if the buffer is
 * not one block. True: readers copy from there, so I must wait for them. */
bool hl_shared_give(struct hl_shared *s, struct hl_data from);

/* Copies `len` bytes from an address of a place to `to`. */
void hl_shared_take_from(struct hl_shared *s, int place, uint64_t addr, uint64_t len, struct hl_data to);

/* Copies the data that a place gave in this operation to `to`. */
void hl_shared_take(struct hl_shared *s, int place, const struct hl_cell *cell, struct hl_data to);

/* Unpacks a cell that holds a piece of the data: it belongs at byte `at` of it. Returns the bytes for which
 * there was room. */
int64_t hl_shared_take_piece(struct hl_shared *s, const struct hl_cell *cell, struct hl_data data,
                             int64_t at);

/* Memory for `len` packed bytes until the call ends; NULL: none, the error is kept. */
void *hl_shared_temp(struct hl_shared *s, uint64_t len);

/* ---- Choice ---- */

/* A call, and what was found out about it. */
struct hl_shared_call {
    struct hl_shared *s;
    const struct hl_coll_call *c;
    struct hl_coll_facts facts;
    struct hl_reducer reducer;
};

/* True for a reduction of few enough members whose elements fit a cell. */
HL_INLINE bool hl_shared_by_cells(const struct hl_shared_call *x)
{
    return x->facts.count > 0 && x->s->n <= HL_SHARED_WIDTH && x->c->recv.type->size <= HL_SHARED_DATA;
}

/* True for such a reduction with so few bytes that reading all operands costs less than another meeting. */
HL_INLINE bool hl_shared_pieces(const struct hl_shared_call *x)
{
    uint64_t folded = x->s->n == 2 ? HL_SHARED_PAIR : HL_SHARED_FOLDED;
    uint64_t most = x->c->what == HL_COLL_REDUCE ? HL_SHARED_ROOTED : folded;

    return hl_shared_by_cells(x) && x->facts.bytes <= most / (uint64_t)x->s->n;
}

/* Runs a blocking call if it has a row here; *err is its error. False: it goes by messages. The
 * communicator's HOTLANE_COLL_SHARED-th such call makes its board. */
bool hl_shared_run(const struct hl_coll_call *c, int *err);

/* hl_shared_run for a barrier, and for a broadcast. */
bool hl_shared_try_barrier(struct hl_comm *comm, int *err);
bool hl_shared_try_bcast(struct hl_comm *comm, struct hl_data data, int root, int *err);

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

/* Bytes of a cell with a block of `bytes`, and an entry of its table, for each of `n` members. */
HL_INLINE uint64_t hl_shared_table(uint64_t bytes, uint64_t n)
{
    return n * (bytes + 2 * sizeof(uint64_t));
}

/* For tests, and for the parts of shared*.c */

/* Makes the member's state over [n] areas that exist and are cleared, without a board or communicator. NULL:
 * no memory. */
struct hl_shared *hl_shared_make(struct hl_shared_area *const *areas, int n, int me);

/* Runs a collective call by messages; the first members of all nodes call it. */
void hl_shared_leads_run(struct hl_shared *s, struct hl_coll_call *c);

#endif
