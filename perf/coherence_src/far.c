/* Puts of 8 bytes by the lanes of one rank over the model provider of the unit tests: each to a line of the
 * thread's own, at one target for all. Completions come as late as the model likes. By the lanes' own calls, and
 * by MPI's, to a window of one rank that is made to believe that its target is on another node. */
#include "coherence.h"

#include "lane_internal.h"
#include "win.h"

#include "conf.h"
#include "err.h"
#include "fab_lib.h"
#include "job.h"
#include "lock.h"
#include "prog.h"

#include "../../tests/unit/model.h"

#include <mpi.h>
#include <stdlib.h>

enum { BATCH = 128, LINE = 128, RANKS = 2 };

static struct own {
    HL_ALIGNED_LINE uint64_t from, to[8];
    HL_ALIGNED_LINE hl_a32 error;
} * own;
static struct hl_mutex one_lock = HL_MUTEX_INIT;
static int target = 1;
static MPI_Win win;

void coherence_must(int rc)
{
    if (rc != 0) {
        fprintf(stderr, "coherence: %s\n", hl_err_text(rc));
        exit(1);
    }
}

/* A lane that has its endpoint, and knows the target. */
static void open_lane(struct hl_lane *lane) HL_NO_TSA
{
    static uint64_t heartbeat;
    struct hl_rx_card card = {
        .name_len = 8, .name = {(uint8_t)target}, .heartbeat_addr = (uint64_t)(uintptr_t)&heartbeat};
    int rc = hl_lease_try(&lane->lease) ? hl_lane_make_ready(lane) : HL_ERR_OTHER;
    if (rc == 0) {
        (void)hl_way_make(lane, target, &card, &rc);
        hl_lane_leave(lane);
    }
    coherence_must(rc);
}

static void open_pool(int threads, uint32_t lanes)
{
    struct hl_fab_ep rx;
    hl_conf.provider = "model";
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    coherence_must(hl_fab_open());
    coherence_must(hl_fab_ep_open(HL_FAB_RX, &rx)); /* asks which atomics there are */
    hl_fab_ep_close(&rx);
    hl_prog_crowd(1, threads);
    coherence_must(hl_pool_open(&hl_pool, lanes, hl_job.size));
    for (uint32_t i = 0; i < lanes; i++) {
        open_lane(hl_pool.head.lanes[i]);
    }
    own = aligned_alloc(HL_CACHELINE, (size_t)threads * sizeof *own);
    memset(own, 0, (size_t)threads * sizeof *own);
}

/* A job of which nothing else is open. */
static void open_alone(int threads, uint32_t lanes)
{
    coherence_must(hl_conf_load());
    hl_job.size = RANKS;
    hl_job.nonce = 77;
    open_pool(threads, lanes);
}

/* As many as a pool may have, or threads. */
static void open_lanes(int threads)
{
    open_alone(threads, threads < HL_LANES_MAX ? (uint32_t)threads : HL_LANES_MAX);
}

static void open_quarter(int threads)
{
    open_alone(threads, threads < 4 ? 1 : (uint32_t)threads / 4);
}

static void open_one(int threads)
{
    open_alone(threads, 1);
}

/* A window whose target is me, on another node; as many lanes as a rank with a CPU for each thread has. */
static void open_window(int threads)
{
    int provided;
    char *base;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Win_allocate((MPI_Aint)threads * LINE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    hl_rx_stop(); /* its ticks would come when they like */
    target = 0;
    open_pool(threads, hl_lane_plan(true, threads));
    struct hl_win *w = hl_win_of(win);
    w->targets[0] = (struct hl_target){HL_TARGET_UNMAPPED | (uint64_t)(uintptr_t)base, 0};
    w->far = true;
    w->mapped = false;
    w->epoch.fence_only = 0;
    hl_a8_store_relaxed(&w->waits, 1); /* relaxed: no other thread yet. */
    w->errors = calloc(1, sizeof *w->errors);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
}

static void put(int thread, int i)
{
    struct own *o = &own[thread];
    (void)hl_lane_write(&(struct hl_xfer){.peer = target,
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
    hl_lane_flush(target, HL_REMOTE);
}

static void put_only(int thread)
{
    for (int i = 0; i < BATCH; i++) {
        put(thread, i);
    }
    coherence_count(false);
    hl_lane_flush(target, HL_REMOTE);
    coherence_count(true);
}

static void flush_only(int thread)
{
    coherence_count(false);
    for (int i = 0; i < BATCH; i++) {
        put(thread, i);
    }
    coherence_count(true);
    hl_lane_flush(target, HL_REMOTE);
}

static void put_flush_locked(int thread)
{
    for (int i = 0; i <= BATCH; i++) {
        hl_mutex_lock(&one_lock);
        if (i < BATCH) {
            put(thread, i);
        } else {
            hl_lane_flush(target, HL_REMOTE);
        }
        hl_mutex_unlock(&one_lock);
    }
}

static void burst(int thread)
{
    for (int i = 0; i < BATCH; i++) {
        MPI_Put(&own[thread].from, 1, MPI_INT64_T, 0, (MPI_Aint)thread * LINE, 1, MPI_INT64_T, win);
    }
    MPI_Win_flush(0, win);
}

const struct coherence_call coherence_far[] = {{"far_put_flush", BATCH, open_lanes, put_flush, NULL},
                                               {"far_put", BATCH, open_lanes, put_only, NULL},
                                               {"far_flush", 1, open_lanes, flush_only, NULL},
                                               {"far_quarter", BATCH, open_quarter, put_flush, NULL},
                                               {"far_one_lane", BATCH, open_one, put_flush, NULL},
                                               {"far_locked", BATCH, open_one, put_flush_locked, NULL},
                                               {"far_hot", BATCH, open_window, burst, NULL},
                                               {"far_global", BATCH, open_window, burst, GLOBAL},
                                               {"far_enqueue", BATCH, open_window, burst, ENQUEUE},
                                               {"far_object", BATCH, open_window, burst, OBJECT},
                                               {NULL, 0, NULL, NULL, NULL}};
