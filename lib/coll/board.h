/* Memory that the members of a communicator on one node share: each has an area, which the others map.
 *
 * A collective call makes it; all members of the communicator use it, or none; it is freed with the
 * communicator. Areas are cut from the arenas that windows use, too, so most boards map nothing new. My area
 * returns to its arena when all peers that had mapped it have dropped it: members free a communicator at
 * different times. */
#ifndef HL_BOARD_H
#define HL_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agreement.h"
#include "comm.h"
#include "hang.h"
#include "mem.h"
#include "near_map.h"

/* Read-only once made. Members on my node have places 0 .. n - 1, in the order of their ranks in the
 * communicator. */
struct hl_board {
    int n, me; /* members on my node; my place */
    /* nodes of the communicator; like the next two fields the same on all members */
    int nodes;
    int node_most;              /* most members on a node */
    bool reads;                 /* members of one node can read each other's private memory: hl_match_read */
    int *ranks;                 /* [n] ranks in the communicator, ascending */
    int *node_ranks;            /* [n] node ranks, for hl_prog_wake_peer and hl_match_read */
    char **areas;               /* [n] each at a multiple of HL_CACHELINE */
    int *places;                /* [size] place of a member, or -1 on another node */
    int *leaders;               /* [nodes] the lowest member on each node, ascending */
    int *nodes_of;              /* [size] node of a member, an index in leaders */
    int my_node;                /* my node: index in leaders */
    struct hl_near_want *wants; /* [n] references to areas' segments */
    struct hl_piece piece;      /* holds my area */
    struct hl_agreement agreement; /* whether all members made it; open until the board is dropped */
    struct hl_board *next;         /* in the list of boards that wait for peers to drop them */
};

/* A length that says: this member has no room. */
#define HL_BOARD_NONE SIZE_MAX

/* Areas have `len` bytes; the first `clear` are zero, the others undefined. `prepare` (NULL: none) is called
 * when the areas are mapped, before the members agree: its error means that no member gets a board. */
typedef int hl_board_fn(struct hl_board *b, void *arg);
struct hl_board_plan {
    size_t len, clear;
    hl_board_fn *prepare;
    void *arg;
};

/* Makes a board. Collective over the intracommunicator `comm`, whose members call alike. *made is NULL on all
 * members when a member has no memory for its area or its `prepare` failed, or no node has two members (both
 * are counted); and on all that live when a rank dies meanwhile. Returns the errors of the exchange. Without
 * memory for that the job ends: a member that cannot even begin cannot tell the others, which wait. It waits
 * with progress; the receive thread may not call it. */
int hl_board_make(struct hl_comm *comm, const struct hl_board_plan *p, struct hl_board **made);

/* hl_board_make for callers that may not wait. hl_board_begin, in the order of collective calls; it returns
 * HL_ERR_NO_MEM to the only member of a communicator, and else 0. Then hl_board_step, by one thread at a
 * time, until it returns true; it waits for no more
 * than peers' receive threads. Then hl_board_end, once, which frees the maker. `comm` must outlive it. */
struct hl_board_maker;
int hl_board_begin(struct hl_comm *comm, const struct hl_board_plan *p, struct hl_board_maker **begun);
bool hl_board_step(struct hl_board_maker *m);
/* describes it in words; called between two steps */
void hl_board_describe(const struct hl_board_maker *m, struct hl_wait_desc *t);
int hl_board_end(struct hl_board_maker *m, struct hl_board **made);

/* Drops the board when its communicator is freed. Local: peers may still read my area. NULL is fine. Any
 * thread. */
void hl_board_drop(struct hl_board *b);

#endif
