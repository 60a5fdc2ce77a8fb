/* A model of matching that carries the schedules of all ranks in one process: messages between two ranks
 * arrive in order but as late as chance wants, some sends end at once and others only when they are received.
 * It fails the test when a message and its receive differ in length. */
#ifndef COLL_SIM_H
#define COLL_SIM_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "algos.h"
#include "util.h"

#define SIM_RANKS 40

/* Check writes a file at every ck_assert: too slow for inner loops. */
#define NEED(cond, ...)                                                                                      \
    do {                                                                                                     \
        if (!(cond)) {                                                                                       \
            ck_abort_msg(__VA_ARGS__);                                                                       \
        }                                                                                                    \
    } while (0)

struct sim_op {
    struct sim_op *next;
    struct hl_coll_msg m;
    char *eager; /* packed when it was sent, or NULL */
    bool arrived, done;
};

static struct sim_op *sim_sent[SIM_RANKS][SIM_RANKS]; /* [from][to], oldest first, not yet received */
static struct sim_op *sim_posted[SIM_RANKS][SIM_RANKS];
static struct {
    int from, to;
} sim_air[SIM_RANKS * SIM_RANKS * 4]; /* one entry for each message in sim_sent */
static int sim_flying;
static int sim_size;
static bool sim_all_eager, sim_none_eager;

static int64_t sim_bytes(const struct hl_data *d)
{
    return d->count * d->type->size;
}

static char *sim_pack(const struct hl_data *d)
{
    int64_t n = sim_bytes(d);
    char *packed = malloc((size_t)n + 1);

    NEED(hl_type_pack(d->type, d->count, d->buf, 0, packed, n) == 0, "packing failed");
    return packed;
}

static struct sim_op *sim_new(struct sim_op **queue, const struct hl_coll_msg *m)
{
    struct sim_op *op = calloc(1, sizeof *op);

    op->m = *m;
    while (*queue != NULL) {
        queue = &(*queue)->next;
    }
    *queue = op;
    return op;
}

/* Hands over the first message whose receive is there: true when there is one. Freed by sim_test, or here
 * when nobody waits for it.
 */
static bool sim_match(int from, int to)
{
    for (struct sim_op **s = &sim_sent[from][to]; *s != NULL && (*s)->arrived; s = &(*s)->next) {
        for (struct sim_op **r = &sim_posted[from][to]; *r != NULL; r = &(*r)->next) {
            struct sim_op *send = *s, *recv = *r;
            if (send->m.ctx != recv->m.ctx || send->m.tag != recv->m.tag) {
                continue;
            }
            const struct hl_data *in = &recv->m.data;
            NEED(sim_bytes(&send->m.data) == sim_bytes(in), "a message of another length than its receive");
            char *packed = send->eager != NULL ? send->eager : sim_pack(&send->m.data);
            NEED(hl_type_unpack(in->type, in->count, in->buf, 0, packed, sim_bytes(in)) == 0,
                 "unpacking failed");
            *s = send->next;
            *r = recv->next;
            recv->done = true;
            free(packed);
            if (send->eager != NULL) {
                free(send);
            } else {
                send->done = true;
            }
            return true;
        }
    }
    return false;
}

/* Something moves, by chance. */
static void sim_pump(void)
{
    if (sim_flying == 0) {
        return;
    }
    int at = rand() % sim_flying, from = sim_air[at].from, to = sim_air[at].to;
    struct sim_op *op = sim_sent[from][to];

    while (op != NULL && op->arrived) {
        op = op->next;
    }
    if (op != NULL) {
        op->arrived = true;
    }
    if (sim_match(from, to)) {
        sim_air[at] = sim_air[--sim_flying];
    }
}

static struct sim_op sim_left; /* the request of an eager send */

static int sim_send(const struct hl_coll_msg *m, void **request)
{
    struct sim_op *op = sim_new(&sim_sent[m->comm->rank][m->peer], m);
    NEED(sim_flying < (int)HL_COUNT_OF(sim_air), "too many messages");
    sim_air[sim_flying].from = m->comm->rank;
    sim_air[sim_flying++].to = m->peer;
    bool eager = sim_all_eager || (!sim_none_eager && rand() % 2);

    if (eager) {
        op->eager = sim_pack(&m->data);
    }
    *request = eager ? &sim_left : op;
    return 0;
}

static int sim_recv(const struct hl_coll_msg *m, void **request)
{
    *request = sim_new(&sim_posted[m->peer][m->comm->rank], m);
    return 0;
}

static bool sim_test(void *request, int *err)
{
    struct sim_op *op = request;

    sim_pump();
    *err = 0;
    if (op == &sim_left) {
        return rand() % 4 != 0;
    }
    if (!op->done || rand() % 4 == 0) {
        return false;
    }
    free(op);
    return true;
}

static const struct hl_coll_net sim_net = {sim_send, sim_recv, sim_test, NULL};

static struct hl_comm sim_comms[SIM_RANKS];
static struct hl_group sim_group;

/* A communicator of `size` ranks, all of them here. */
static void sim_open(int size)
{
    sim_size = size;
    sim_all_eager = rand() % 4 == 0;
    sim_none_eager = rand() % 4 == 0;
    sim_group = (struct hl_group){.size = size, .stride = 1};
    for (int i = 0; i < size; i++) {
        sim_comms[i] = (struct hl_comm){.ctx = 64, .rank = i, .size = size, .group = &sim_group};
    }
}

static struct hl_sched sim_scheds[SIM_RANKS];

/* Builds one operation on all ranks by the algorithm `row`. */
static void sim_build(const struct hl_coll_row *row, const struct hl_coll_call *calls)
{
    struct hl_sched *scheds = sim_scheds;
    int tag = -1;

    for (int i = 0; i < sim_size; i++) {
        struct hl_coll_facts facts;
        hl_sched_init(&scheds[i], &sim_net, &sim_comms[i], HL_PLANE_COLL);
        NEED(hl_coll_look(&scheds[i].reducer, &calls[i], &facts) == 0, "refused");
        row->build(&scheds[i], &calls[i]);
        NEED(scheds[i].err == 0, "%s: error %d", row->name, scheds[i].err);
        NEED(tag == -1 || tag == scheds[i].tag, "tags differ");
        tag = scheds[i].tag;
    }
}

/* Runs what was built. */
static void sim_go(const struct hl_coll_row *row)
{
    struct hl_sched *scheds = sim_scheds;
    bool ended[SIM_RANKS] = {false};
    int left = sim_size;

    for (int64_t turns = 0; left > 0; turns++) {
        int i = rand() % sim_size;
        NEED(turns < 2000000, "%s hangs with %d ranks", row->name, sim_size);
        sim_pump();
        if (!ended[i] && hl_sched_try(&scheds[i])) {
            NEED(scheds[i].err == 0, "%s: error %d", row->name, scheds[i].err);
            ended[i] = true;
            left--;
        }
    }
    /* Eager messages are gone from the queues only when received. */
    for (int i = 0; i < sim_size * sim_size; i++) {
        NEED(sim_sent[i / sim_size][i % sim_size] == NULL, "%s: a message is left", row->name);
        NEED(sim_posted[i / sim_size][i % sim_size] == NULL, "%s: a receive is left", row->name);
    }
}

/* Runs one operation on all ranks by the algorithm `row`. */
static void sim_run(const struct hl_coll_row *row, const struct hl_coll_call *calls)
{
    sim_build(row, calls);
    sim_go(row);
    for (int i = 0; i < sim_size; i++) {
        hl_sched_fini(&sim_scheds[i]);
    }
}

#endif
