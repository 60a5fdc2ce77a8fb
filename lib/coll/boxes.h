/* The mailboxes of a communicator, or of one persistent operation: one for each ordered pair of members on
 * one node. */
#ifndef HL_BOXES_H
#define HL_BOXES_H

#include <stdint.h>

#include "board.h"
#include "comm.h"
#include "hang.h"
#include "mailbox.h"

#define HL_RINGS_BYTES ((size_t)256 << 10) /* bytes of all rings of one member */
#define HL_RING_MOST ((size_t)128 << 10)   /* bytes of one ring: larger ones do not stay in the cache */
#define HL_RING_LEAST ((size_t)8 << 10)    /* smaller rings are not worth while */

/* PENDING until all members have agreed; then READY or REFUSED for ever, the same on all of them. */
enum hl_boxes_state { HL_BOXES_PENDING, HL_BOXES_READY, HL_BOXES_REFUSED };

/* All fields but `state`, `refs` and `epoch` are read-only once the boxes are READY, and must not be read
 * before. */
struct hl_boxes {
    struct hl_comm_part part; /* used when a communicator keeps the boxes */
    hl_a32 state;             /* atomic: enum hl_boxes_state; publishes the rest */
    hl_a32 refs;              /* atomic: references of its keeper and its maker */
    /* the last epoch that was begun; changed by the calling thread, in the order of calls */
    uint64_t epoch;
    struct hl_board *board; /* the memory of the boxes */
    uint64_t ctx;           /* context of the communicator; read-only */
    /* for the watchdog: 1 + the world rank that the making waits for; atomic, a hint */
    hl_a32 awaited;
    size_t bytes;               /* bytes of my area, which count against HOTLANE_A2A_MEM */
    int n_near;                 /* other members on my node */
    int *near_ranks;            /* [n_near] their node ranks, to wake them */
    struct hl_mail_pair pair[]; /* [size] by rank; no boxes for members on other nodes and for me */
};

/* Begins to make mailboxes over the intracommunicator `comm`. Collective, waits for nobody; threads that poll
 * go on with it. They are REFUSED when a member has no room, or no node has two members. HL_ERR_NO_MEM. */
int hl_boxes_make(struct hl_comm *comm, struct hl_boxes **made);

/* Describes in words, for the watchdog, what their making waits for. Any thread. */
void hl_boxes_describe(const struct hl_boxes *b, struct hl_wait_desc *t);

/* Drops a reference. Local; NULL is fine. No operation that uses the mailboxes is under way. Any thread. */
void hl_boxes_drop(struct hl_boxes *b);

/* Gets the mailboxes of the communicator; the first call begins to make them. HL_ERR_NO_MEM. */
int hl_boxes_of(struct hl_comm *comm, struct hl_boxes **boxes);

HL_INLINE enum hl_boxes_state hl_boxes_state(const struct hl_boxes *b)
{
    /* acquire: sees the other fields; pairs with the release in land_boxes. */
    return (enum hl_boxes_state)hl_a32_load_acquire(&b->state);
}

/* Waits while they are PENDING; true when they are READY then. */
bool hl_boxes_wait(struct hl_boxes *b);

/* Waits until no mailboxes are being made on this rank; called before the end. */
void hl_boxes_quiet(void);

#endif
