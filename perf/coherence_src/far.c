/* Puts of 8 bytes by the lanes of one rank over the model provider of the unit tests: each to a line of the
 * thread's own, at one target for all. Completions come as late as the model likes. */
#include "coherence.h"

#include "inner.h"

#include "conf.h"
#include "err.h"
#include "fab_lib.h"
#include "job.h"
#include "lock.h"
#include "prog.h"

#include "../../tests/unit/model.h"

#include <stdlib.h>

enum { BATCH = 128, TARGET = 1, RANKS = 2 };

static struct own {
    HL_ALIGNED_LINE uint64_t from, to[8];
    HL_ALIGNED_LINE hl_a32 error;
} * own;
static struct hl_mutex one_lock = HL_MUTEX_INIT;

static void must(int rc)
{
    if (rc != 0) {
        fprintf(stderr, "far calls: %s\n", hl_err_text(rc));
        exit(1);
    }
}

/* A lane that has its endpoint, and knows the target. */
static void open_lane(struct hl_lane *lane) HL_NO_TSA
{
    static uint64_t heartbeat;
    struct hl_rx_card card = {
        .name_len = 8, .name = {TARGET}, .heartbeat_addr = (uint64_t)(uintptr_t)&heartbeat};
    int rc = hl_lease_try(&lane->lease) ? hl_lane_make_ready(lane) : HL_ERR_OTHER;
    if (rc == 0) {
        (void)hl_way_make(lane, TARGET, &card, &rc);
        hl_lane_leave(lane);
    }
    must(rc);
}

static void open_pool(int threads, uint32_t lanes)
{
    struct hl_fab_ep rx;
    must(hl_conf_load());
    hl_conf.provider = "model";
    hl_job.size = RANKS;
    hl_job.nonce = 77;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    must(hl_fab_open());
    must(hl_fab_ep_open(HL_FAB_RX, &rx)); /* asks which atomics there are */
    hl_fab_ep_close(&rx);
    hl_prog_crowd(1, threads);
    must(hl_pool_open(&hl_pool, lanes, RANKS));
    for (uint32_t i = 0; i < lanes; i++) {
        open_lane(hl_pool.lanes[i]);
    }
    own = aligned_alloc(HL_CACHELINE, (size_t)threads * sizeof *own);
    memset(own, 0, (size_t)threads * sizeof *own);
}

/* As many as a pool may have, or threads. */
static void open_lanes(int threads)
{
    open_pool(threads, threads < HL_LANES_MAX ? (uint32_t)threads : HL_LANES_MAX);
}

static void open_quarter(int threads)
{
    open_pool(threads, threads < 4 ? 1 : (uint32_t)threads / 4);
}

static void open_one(int threads)
{
    open_pool(threads, 1);
}

static void put(int thread, int i)
{
    struct own *o = &own[thread];
    (void)hl_lane_write(&(struct hl_xfer){.peer = TARGET,
                                          .addr = (uint64_t)(uintptr_t)&o->to[i % 8],
                                          .buf = &o->from,
                                          .len = 8,
                                          .error = &o->error});
}

static void put_flush(int thread)
{
    for (int i = 0; i < BATCH; i++) {
        put(thread, i);
    }
    hl_lane_flush(TARGET, HL_REMOTE);
}

static void put_only(int thread)
{
    for (int i = 0; i < BATCH; i++) {
        put(thread, i);
    }
    coherence_count(false);
    hl_lane_flush(TARGET, HL_REMOTE);
    coherence_count(true);
}

static void flush_only(int thread)
{
    coherence_count(false);
    for (int i = 0; i < BATCH; i++) {
        put(thread, i);
    }
    coherence_count(true);
    hl_lane_flush(TARGET, HL_REMOTE);
}

static void put_flush_locked(int thread)
{
    for (int i = 0; i <= BATCH; i++) {
        hl_mutex_lock(&one_lock);
        if (i < BATCH) {
            put(thread, i);
        } else {
            hl_lane_flush(TARGET, HL_REMOTE);
        }
        hl_mutex_unlock(&one_lock);
    }
}

const struct coherence_call coherence_far[] = {{"far_put_flush", BATCH, open_lanes, put_flush},
                                               {"far_put", BATCH, open_lanes, put_only},
                                               {"far_flush", 1, open_lanes, flush_only},
                                               {"far_quarter", BATCH, open_quarter, put_flush},
                                               {"far_one_lane", BATCH, open_one, put_flush},
                                               {"far_locked", BATCH, open_one, put_flush_locked},
                                               {NULL, 0, NULL, NULL}};
