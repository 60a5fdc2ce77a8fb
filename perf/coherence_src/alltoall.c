/* MPI_Alltoall of 8 bytes by two ranks of a node, each with half of the threads: thread 2i of the one and thread
 * 2i + 1 of the other have a communicator of their own. Both ranks are this process, so what is the process's
 * own is shared by twice as many threads as in a job. */
#include "coherence.h"

#include "boxes.h"

#include "prog.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 2, LINE = 128, OWN = 2 * LINE };

static struct hl_comm **comms; /* of each thread */
static char *mine;             /* of each thread: what it sends, and LINE bytes on what it receives */

static void *lines(size_t bytes)
{
    void *p = aligned_alloc(LINE, hl_round_up(bytes, LINE));
    memset(p, 0, bytes);
    return p;
}

/* Mailboxes as two ranks make them, without rings; `boxes[r]` is in the memory of rank r. */
static struct hl_boxes *boxes_of(int rank, struct hl_mailbox *const boxes[RANKS])
{
    static struct hl_board board;
    static int near_ranks[RANKS - 1];
    struct hl_boxes *b = lines(sizeof *b + RANKS * sizeof b->pair[0]);
    b->epoch = HL_MAIL_FIRST - 1;
    b->board = &board;
    b->near_ranks = near_ranks;
    b->n_near = RANKS - 1;
    hl_mail_pair_init(&b->pair[1 - rank], boxes[1 - rank], boxes[rank]);
    hl_a32_store_relaxed(&b->state, HL_BOXES_READY); /* relaxed: no other thread yet. */
    return b;
}

static void open_comms(int threads)
{
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    hl_prog_crowd(1, threads); /* a machine that has a CPU for each */
    comms = calloc((size_t)threads, sizeof(struct hl_comm *));
    mine = lines((size_t)threads * OWN);
    comms[threads - 1] = hl_comm_of(MPI_COMM_SELF); /* the last one of an odd number has nobody to talk to */
    for (int i = 0; i + 1 < threads; i += RANKS) {
        struct hl_group *group;
        struct hl_mailbox *boxes[RANKS] = {lines(sizeof *boxes[0]), lines(sizeof *boxes[0])};
        uint64_t ctx = hl_comm_ctx_new();
        coherence_must(hl_group_make_strided(0, 1, RANKS, &group));
        group->stride = 0; /* both are this process */
        for (int rank = 0; rank < RANKS; rank++) {
            coherence_must(hl_comm_make(group, ctx, &comms[i + rank]));
            comms[i + rank]->rank = rank;
            comms[i + rank]->parts[HL_PART_BOXES] = &boxes_of(rank, boxes)->part;
        }
    }
}

static void alltoall(int thread)
{
    char *sent = mine + (size_t)thread * OWN;
    MPI_Alltoall(sent, 1, MPI_INT64_T, sent + LINE, 1, MPI_INT64_T, comms[thread]->handle);
}

const struct coherence_call coherence_alltoall[] = {
    {"alltoall", 1, open_comms, alltoall, NULL},
    {"alltoall_global", 1, open_comms, alltoall, "HOTLANE_CS=global"},
    {"alltoall_object", 1, open_comms, alltoall, OBJECT},
    {NULL, 0, NULL, NULL, NULL}};
