/* Memory that the members of a communicator on one node share: each has an area, mapped by the others.
 *
 * Made by a collective call, used by all members of the communicator or by none, freed with it. Areas are
 * cut from the arenas that windows use too, so most boards map nothing new. My area returns to its arena when
 * all that had it mapped have dropped theirs: members free a communicator at different times. */
#ifndef HL_BOARD_H
#define HL_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm.h"
#include "hang.h"
#include "mem.h"
#include "near.h"
#include "verdict.h"

/* Read-only once made. Members on my node have places, by their rank in the communicator: 0 .. n - 1. */
struct hl_board {
    int n, me;                  /* members on my node; my place */
    int nodes;                  /* of the communicator: the same on all members, as are the next two */
    int node_most;              /* members on the node that has most */
    bool reads;                 /* members of one node can read each other's private memory: hl_match_read */
    int *ranks;                 /* [n] in the communicator, ascending */
    int *node_ranks;            /* [n] for hl_prog_wake_peer and hl_match_read */
    char **areas;               /* [n] at multiples of HL_CACHELINE */
    int *places;                /* [size] place of a member, or -1 on another node */
    int *leaders;               /* [nodes] the lowest member on each node, ascending */
    int *nodes_of;              /* [size] node of a member: index in leaders */
    int my_node;                /* index in it */
    struct hl_near_want *wants; /* [n] references to areas' segments */
    struct hl_piece piece;      /* holds my area */
    struct hl_verdict verdict;  /* on making it, until it is dropped */
    struct hl_board *next;      /* among those that only wait for others */
};

/* Instead of a length: this member has no room. */
#define HL_BOARD_NONE SIZE_MAX

/* Areas of `len` bytes, of which the first `clear` are zero and the others anything. `prepare` (NULL:
 * nothing) is called once the areas are mapped and before the members agree: an error means no board on all
 * of them.
 */
typedef int hl_board_fn(struct hl_board *b, void *arg);
struct hl_board_plan {
    size_t len, clear;
    hl_board_fn *prepare;
    void *arg;
};

/* Makes a board. Collective over the intracommunicator `comm`, whose members call alike and which needs no
 * memory before: nothing when it fits nowhere. *made is NULL on all members when some member's memory is not
 * to be had or its `prepare` failed, or no node has two members (both counted); on all that live alike also
 * when somebody dies meanwhile. Errors are those of the exchange. Waits with progress; not from the receive
 * thread. */
int hl_board_make(struct hl_comm *comm, const struct hl_board_plan *p, struct hl_board **made);

/* The same for who may not wait: begun in the order of calls, HL_ERR_NO_MEM; then stepped, by one thread at a
 * time, until it returns true (waiting at most for peers' receive threads); then ended, once, which frees the
 * maker. `comm` must outlive it. */
struct hl_board_maker;
int hl_board_begin(struct hl_comm *comm, const struct hl_board_plan *p, struct hl_board_maker **begun);
bool hl_board_step(struct hl_board_maker *m);
void hl_board_tell(const struct hl_board_maker *m, struct hl_told *t); /* in words, between two steps */
int hl_board_end(struct hl_board_maker *m, struct hl_board **made);

/* Local, when the communicator dies: peers may still be reading what they need of my area. NULL is fine. Any
 * thread. */
void hl_board_drop(struct hl_board *b);

#endif
