/* How the PEs of a collective call meet: a tree whose edges are boxes in symmetric memory.
 *
 * Member `r` of [0, size) is the root of an interval [r, end). The rest of the interval is cut into up to
 * HL_TREE_WIDTH intervals whose first members are the children of `r`. So a subtree is a run of members, a
 * group of up to 9 is flat, and a thousand members are four steps deep.
 *
 * When all meet, a member first waits for the messages of its children, then sends one up to its parent; the
 * answer then comes down from the root. A box is written by one member only (the up boxes by one child each,
 * the down box by the parent). It holds its message until its owner has read it, because nobody begins the
 * next operation before the owner has sent on what it read. Flags hold the number of the operation, so
 * nothing is reset.
 *
 * Members of other nodes send a matched message, whose tag names the box; the owner receives it into the box.
 *
 * Broadcasts only go down, so a root may run ahead: they use HL_TREE_CASTS boxes in turn, and when those are
 * used up all members meet once.
 *
 * Active sets have no boxes: they meet in their pSync, without data. */
#ifndef HL_TREE_H
#define HL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "team.h"

#define HL_TREE_WIDTH 8
#define HL_TREE_CASTS 4
#define HL_TREE_SPARE (1 + HL_TREE_WIDTH) /* the first word of pSync that meetings do not use */
#define HL_BOX_BYTES 1024
#define HL_BOX_DATA (HL_BOX_BYTES - 24)

/* The place of a member in the tree of [0, size). */
struct hl_tree_node {
    int parent, index; /* parent -1: the root; index: which of its parent's children it is */
    int children, child[HL_TREE_WIDTH];
};
void hl_tree_place(int size, int rank, struct hl_tree_node *p);

struct hl_box {
    hl_a64 flag;   /* number of the message's operation; stored with release after the rest */
    uint64_t call; /* hl_call.what of the sender */
    uint64_t len;  /* bytes of data */
    char data[HL_BOX_DATA];
};

/* A member's boxes of a team. */
struct hl_team_boxes {
    uint64_t told[8]; /* offsets that splits tell the others between two meetings */
    struct hl_box down, cast[HL_TREE_CASTS];
    struct hl_box up[]; /* one for each child that a member may have */
};

size_t hl_tree_bytes(int size);

/* Kinds of collective calls. All members of a meeting must be in the same call: same kind, details (type,
 * operation, root) and bytes. */
enum hl_call_kind {
    HL_CALL_SYNC = 1,
    HL_CALL_BROADCAST,
    HL_CALL_COLLECT,
    HL_CALL_FCOLLECT,
    HL_CALL_ALLTOALL,
    HL_CALL_ALLTOALLS,
    HL_CALL_REDUCE,
    HL_CALL_SCAN,
    HL_CALL_SPLIT,
    HL_CALL_ALLOC,
    HL_CALL_FINALIZE,
    HL_CALL_KINDS
};

/* One call of the user: what it is, and which PEs take part. */
struct hl_call {
    const char *func;
    uint64_t what;        /* hl_call_what */
    struct hl_team *team; /* for an active set: a team for this call, without boxes */
    long *sync;           /* the active set's pSync, else NULL */
};

HL_INLINE uint64_t hl_call_what(enum hl_call_kind kind, unsigned detail, uint64_t bytes)
{
    return (uint64_t)kind << 56 | (uint64_t)(detail & 0xffff) << 40 | (bytes & 0xffffffffff);
}

/* Joins what a child's subtree sent (in its box, aligned to 8) to m->data. */
struct hl_meet;
typedef void hl_meet_fn(struct hl_meet *m, const void *theirs, size_t len);

/* The data of a meeting. `data` (of `room` bytes, at most HL_BOX_DATA, aligned to 16) holds my part before
 * the meeting, and afterwards what the root has made of all parts. */
struct hl_meet {
    void *data;
    size_t room, len;
    hl_meet_fn *join;
    void *arg;
};

/* All members meet; `m` NULL: without data. After it, all see what any member stored or completed before it.
 * A member that is in another call ends the job. */
void hl_tree_meet(const struct hl_call *c, struct hl_meet *m);

/* All members meet; *mine, which each member brings, becomes the sum of those of the members before me. Teams
 * only. */
void hl_tree_offset(const struct hl_call *c, uint64_t *mine);

/* Sends `len` (at most HL_BOX_DATA) bytes of `data` from `root` to `data` of all members; the root does not
 * wait for them. Teams only. */
void hl_tree_cast(const struct hl_call *c, void *data, size_t len, int root);

#endif
