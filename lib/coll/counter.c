/* A number that ranks add to. */
#include "counter.h"

#include "comm.h"
#include "err.h"
#include "job.h"
#include "lane.h"
#include "lock.h"
#include "mem.h"
#include "mr.h"
#include "near_map.h"
#include "rx.h"

#include <stdlib.h>

struct hl_counter {
    int owner;             /* world rank */
    struct hl_piece piece; /* the memory, at the owner; elsewhere seg is NULL */
    struct hl_counter_card card;
    /* address of the number where it is my memory, or mapped. It is set once, under lock; atomic */
    hl_a64 *word;
    struct hl_mutex lock; /* held while the first use maps the number */
    int near;             /* node rank of the owner where a mapping was made, else -1; under lock */
    uint64_t region;      /* hl_mr_register's id, at the owner; 0: none */
};

static int make_word(struct hl_counter *c)
{
    struct hl_mr mr;
    int err = hl_mem_alloc(sizeof *c->word, NULL, &c->piece);

    if (err != 0) {
        return err;
    }
    c->word = c->piece.addr;
    hl_a64_store_relaxed(c->word, 0); /* relaxed: others learn of it by messages. */
    err = hl_mr_register(c->word, sizeof *c->word, &mr);
    if (err != 0) {
        return err;
    }
    c->region = mr.id;
    c->card = (struct hl_counter_card){.seg_id = c->piece.seg->id,
                                       .seg_len = c->piece.seg->len,
                                       .off = c->piece.off,
                                       .addr = mr.addr,
                                       .key = mr.key};
    return 0;
}

int hl_counter_make(const struct hl_comm *comm, struct hl_counter **made)
{
    struct hl_counter *c = calloc(1, sizeof *c);

    *made = c;
    if (c == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a counter");
    }
    c->owner = hl_comm_world(comm, 0);
    c->near = -1;
    c->lock = (struct hl_mutex)HL_MUTEX_INIT;
    int err = comm->rank == 0 ? make_word(c) : 0;
    /* The owner's receive thread answers ranks that want to map the number. */
    return err == 0 && comm->size > 1 ? hl_rx_start() : err;
}

struct hl_counter_card *hl_counter_card(struct hl_counter *c)
{
    return &c->card;
}

void hl_counter_close(struct hl_counter *c)
{
    if (c == NULL) {
        return;
    }
    if (c->near >= 0) {
        hl_near_unmap(c->near, c->card.seg_id);
    }
    if (c->region != 0) {
        hl_mr_unregister(c->region);
    }
    if (c->piece.seg != NULL) {
        hl_mem_free(&c->piece);
    }
    free(c);
}

/* Maps the number if its owner is a node peer whose memory can be mapped. *word NULL: the network must
 * serve. */
static int map_word(struct hl_counter *c, hl_a64 **word)
{
    int node = hl_job_node_of(c->owner);
    char *base;
    int err = 0;

    hl_mutex_lock(&c->lock);
    if (c->word == NULL && node >= 0) {
        err = hl_near_map(node, c->card.seg_id, c->card.seg_len, &base);
        if (err == 0) {
            c->near = node;
            c->word = (hl_a64 *)(void *)(base + c->card.off);
        }
    }
    *word = c->word;
    hl_mutex_unlock(&c->lock);
    return err == HL_ERR_RMA_SHARED && hl_rx_has_network() ? 0 : err;
}

static int add_far(struct hl_counter *c, int64_t by, int64_t *before)
{
    hl_a32 error;
    struct hl_req r;

    hl_a32_store_relaxed(&error, 0); /* relaxed: no other thread knows it yet. */
    hl_req_init_rma(&r, c->owner);
    struct hl_lane_atomic a = {.x = {.peer = c->owner,
                                     .addr = c->card.addr,
                                     .key = c->card.key,
                                     .buf = &by,
                                     .len = sizeof by,
                                     .error = &error,
                                     .req = &r},
                               .op = HL_OP_SUM,
                               .basic = HL_BASIC_I64,
                               .n = 1,
                               .result = before};
    int err = hl_lane_open();
    err = err != 0 ? err : hl_lane_atomic(&a);
    if (err != 0) {
        return err;
    }
    hl_req_wait(&r);
    err = hl_req_finish(&r, MPI_STATUS_IGNORE);
    int kept = hl_lane_error_take(&error);
    return err != 0 ? err : kept;
}

int hl_counter_add(struct hl_counter *c, int64_t by, int64_t *before)
{
    hl_a64 *word;
    int err = map_word(c, &word);

    if (err != 0) {
        return err;
    }
    if (word == NULL) {
        return add_far(c, by, before);
    }
    /* full: a rank that gets a later value may rely on what the program ordered before this addition. */
    *before = (int64_t)hl_a64_add_full(word, (uint64_t)by);
    return 0;
}

void hl_counter_set(struct hl_counter *c, int64_t value)
{
    hl_a64_store_relaxed(c->word, (uint64_t)value); /* relaxed: the collective operation around it orders. */
}
