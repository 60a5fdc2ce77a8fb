/* How the PEs of a collective call meet: a tree whose edges are boxes in symmetric memory.
 *
 * Member `r` of [0, size) is the root of an interval [r, end); what follows it is cut into up to
 * HL_TREE_WIDTH intervals whose first members are its children. So a subtree is a run of members, a group of
 * up to 9 is flat, and a thousand are four steps deep.
 *
 * Everybody meets: up, a member waits for its children, then tells its parent; down, from the root, the
 * answer. A box is written by one member at a time (up boxes: one for each child; down: the parent) and
 * holds its message until its owner has read it, because nobody begins the next operation before the owner
 * has sent on what it read. Flags hold the number of the operation, so nothing is reset.
 *
 * Members of other nodes send a box's message as a matched one, tagged with the box, which its owner receives
 * into it.
 *
 * Broadcasts go down only, so a root may run ahead: they have HL_TREE_CASTS boxes in turn, and when those are
 * used up all meet once.
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

/* Where a member stands in the tree of [0, size). */
struct hl_tree_node {
    int parent, index; /* which of its parent's children it is; the root has parent -1 */
    int children, child[HL_TREE_WIDTH];
};
void hl_tree_place(int size, int rank, struct hl_tree_node *p);

struct hl_box {
    hl_a64 flag;   /* number of the operation whose message this is; released after the rest */
    uint64_t call; /* hl_call.what of the sender */
    uint64_t len;  /* bytes of data */
    char data[HL_BOX_DATA];
};

/* What a team has at each member. */
struct hl_team_boxes {
    uint64_t told[8]; /* what splits tell the others between two meetings */
    struct hl_box down, cast[HL_TREE_CASTS];
    struct hl_box up[]; /* one for each child that a member may have */
};

size_t hl_tree_bytes(int size);

/* What all members must have called alike: kind, details (type, operation, root), bytes. */
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

/* One call of the user: who takes part, and what it is. */
struct hl_call {
    const char *func;
    uint64_t what;        /* hl_call_what */
    struct hl_team *team; /* of an active set: one of this call, without boxes */
    long *sync;           /* of an active set, else NULL */
};

HL_INLINE uint64_t hl_call_what(enum hl_call_kind kind, unsigned detail, uint64_t bytes)
{
    return (uint64_t)kind << 56 | (uint64_t)(detail & 0xffff) << 40 | (bytes & 0xffffffffff);
}

/* Takes in what a child's subtree sent (from its box, aligned to 8). */
struct hl_meet;
typedef void hl_meet_fn(struct hl_meet *m, const void *theirs, size_t len);

/* What travels with a meeting: `data` (room for HL_BOX_DATA bytes, aligned to 16) holds my part before, what
 * the root has made of all parts after. */
struct hl_meet {
    void *data;
    size_t len;
    hl_meet_fn *join;
    void *arg;
};

/* All members meet; `m` NULL: without data. What a member stored or completed before is there for all after.
 * A member that is in another call ends the job. */
void hl_tree_meet(const struct hl_call *c, struct hl_meet *m);

/* All members meet, and *mine becomes the sum of what the members before me brought. Teams only. */
void hl_tree_offset(const struct hl_call *c, uint64_t *mine);

/* Sends `len` (at most HL_BOX_DATA) bytes from `root` to all, without waiting for them. Teams only. */
void hl_tree_cast(const struct hl_call *c, void *data, size_t len, int root);

#endif
