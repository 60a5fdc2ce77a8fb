/* The mailboxes of a communicator, or of one persistent operation: one for each ordered pair of members on
 * one node. */
#ifndef HL_BOXES_H
#define HL_BOXES_H

#include <stdint.h>

#include "board.h"
#include "comm.h"
#include "hang.h"
#include "mailbox.h"

#define HL_RINGS_BYTES ((size_t)256 << 10) /* of all rings of one member */
#define HL_RING_MOST ((size_t)128 << 10)   /* of one: larger ones leave the cache */
#define HL_RING_LEAST ((size_t)8 << 10)    /* smaller ones are not worth while */

/* PENDING until all members have agreed; then READY or REFUSED for good, the same on all of them. */
enum hl_boxes_state { HL_BOXES_PENDING, HL_BOXES_READY, HL_BOXES_REFUSED };

/* All but `state`, `refs` and `epoch` is read-only once they are READY, and to be read only then. */
struct hl_boxes {
    struct hl_comm_part part;   /* when a communicator keeps it */
    hl_a32 state;               /* atomic: enum hl_boxes_state; publishes the rest */
    hl_a32 refs;                /* atomic: who keeps it, and who is making it */
    uint64_t epoch;             /* last one that was begun; changed by who calls, as calls are in order */
    struct hl_board *board;     /* the memory */
    uint64_t ctx;               /* of the communicator; read-only */
    hl_a32 awaited;             /* for the watchdog: world rank + 1 that they wait for; atomic, a hint */
    size_t bytes;               /* of it, that count against HOTLANE_A2A_MEM */
    int n_near;                 /* other members on my node */
    int *near_ranks;            /* [n_near] their node ranks, to wake them */
    struct hl_mail_pair pair[]; /* [size] by rank; without boxes for members elsewhere and for me */
};

/* Begins to make mailboxes over the intracommunicator `comm`: collective, waits for nobody; whoever polls
 * goes on. They are refused when a member has no room, or no node has two members. HL_ERR_NO_MEM. */
int hl_boxes_make(struct hl_comm *comm, struct hl_boxes **made);

/* In words, while they are being made: for the watchdog. Any thread. */
void hl_boxes_tell(const struct hl_boxes *b, struct hl_told *t);

/* Local; NULL is fine. No operation that uses them is under way. Any thread. */
void hl_boxes_drop(struct hl_boxes *b);

/* Those of the communicator; begins to make them at the first call. HL_ERR_NO_MEM. */
int hl_boxes_of(struct hl_comm *comm, struct hl_boxes **boxes);

HL_INLINE enum hl_boxes_state hl_boxes_state(const struct hl_boxes *b)
{
    /* acquire: sees the rest; pairs with the release in boxes.c. */
    return (enum hl_boxes_state)hl_a32_load_acquire(&b->state);
}

/* Waits until they are not PENDING any more; true when they are READY. */
bool hl_boxes_wait(struct hl_boxes *b);

/* Waits until none are being made here: before the end. */
void hl_boxes_quiet(void);

#endif
