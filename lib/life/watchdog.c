/* What the watchdog needs from several modules: names, and the posts of ranks on other nodes (hang.h). */
#include "life.h"
#include "modules.h"

#include "comm.h"
#include "err.h"
#include "hang.h"
#include "job.h"
#include "rx.h"
#include "util.h"

#include <stdio.h>
#include <string.h>

struct words {
    char *out;
    size_t cap;
};

static void put_name(struct hl_comm *c, void *words)
{
    const struct words *w = words;
    char name[MPI_MAX_OBJECT_NAME];
    hl_comm_get_name(c, name);
    if (name[0] != '\0') {
        snprintf(w->out, w->cap, "communicator %s", name);
    } else {
        snprintf(w->out, w->cap, "communicator of %d rank%s without a name", c->n_peers,
                 hl_plural(c->n_peers));
    }
}

static void name_comm(uint64_t ctx, char *out, size_t cap)
{
    hl_comm_look(ctx, put_name, &(struct words){out, cap});
}

static void put_world(struct hl_comm *c, void *peer)
{
    int *rank = peer;
    *rank = *rank >= 0 && *rank < c->n_peers ? hl_comm_world(c, *rank) : -1;
}

static int world_rank_in(uint64_t ctx, int rank)
{
    return hl_comm_look(ctx, put_world, &rank) ? rank : -1;
}

static const char *name_some_call(void)
{
    bool mpi = hl_life_opened(HL_LIFE_MPI) || hl_life_opened(HL_LIFE_SESSION);
    if (hl_life_opened(HL_LIFE_SHMEM)) {
        return mpi ? "a call of MPI or OpenSHMEM" : HL_HANG_SHMEM_CALL;
    }
    return mpi ? "an MPI call" : "a call of the library";
}

/* ---- Other nodes: a question is a record with flags 0; its answers have flags 1 and one post each, or flags
 * 2 and the holder of a lock ---- */

static void ask_rank(int world, uint64_t id)
{
    struct hl_wire_rec rec = {.op = HL_WIRE_HANG, .aux = id};
    if (hl_rx_has_network()) {
        (void)hl_rx_send(world, &rec, NULL); /* if it fails, the watchdog asks again */
    }
}

static void answer_hang(void *asker, const struct hl_wait_desc *post)
{
    struct hl_wire_rec rec = {.op = HL_WIRE_HANG, .flags = 1, .len = sizeof *post};
    (void)hl_rx_send(*(const int *)asker, &rec, post); /* the asker asks again */
}

static void answer_holder(int asker, uint64_t id)
{
    int holder = id != 0 && hl_hang_names.holder != NULL ? hl_hang_names.holder(id) : -1;
    struct hl_wire_rec rec = {.op = HL_WIRE_HANG, .flags = 2, .aux = id, .count = (uint64_t)(holder + 1)};
    if (id != 0) {
        (void)hl_rx_send(asker, &rec, NULL);
    }
}
_Static_assert(sizeof(struct hl_wait_desc) <= HL_WIRE_NEAR_MAX - sizeof(struct hl_wire_rec),
               "a post fits a record");

static int serve_question(const struct hl_rx_msg *msg)
{
    struct hl_wait_desc post;
    int from = msg->from;
    if (msg->rec->flags == 0) {
        answer_holder(from, msg->rec->aux);
        hl_hang_serve(answer_hang, &from);
        return 0;
    }
    if (msg->rec->flags == 2) {
        hl_hang_heard_holder(from, msg->rec->aux, (int)(msg->rec->count % INT32_MAX) - 1);
        return 0;
    }
    if (msg->rec->len != sizeof post) {
        return hl_err_say(HL_ERR_ARG, "a wait of %u bytes", msg->rec->len);
    }
    memcpy(&post, msg->payload, sizeof post);
    hl_hang_heard(from, &post);
    return 0;
}

int hl_modules_watch(void *board, bool threads)
{
    hl_hang_names.comm = name_comm;
    hl_hang_names.world = world_rank_in;
    hl_hang_names.ask = ask_rank;
    hl_hang_names.unnamed = name_some_call;
    hl_hang_names.threads = threads;
    hl_hang_open(board, hl_job.rank, hl_job.node_rank, hl_job.node_size, hl_job.node_world);
    return hl_rx_handle(HL_WIRE_HANG, serve_question);
}
