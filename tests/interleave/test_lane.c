/* Lanes over the model of a provider, under every interleaving of few switches and under random ones: a flush
 * ends after what was issued before it and finds its error once; bits, rings, chains, ticks and deaths lose
 * nothing. Planted faults (lane_faults.h) are found. */
#include "lane_faults.h"
#include "lane_helper.h"

#include "err.h"

#include "../unit/model.h"
#include "conf.h"
#include "fab_lib.h"
#include "interleave.h"
#include "job.h"
#include "short.h"
#include "util.h"

#include <malloc.h>
#include <stdio.h>
#include <sys/wait.h>

enum { THREADS = 3, CELLS = 4 };

/* ---- a pool on the model ---- */

struct shape {
    uint32_t lanes;
    uint64_t chain;
    unsigned error, lost; /* percent */
    bool full;            /* the ring has two places left */
    bool death;           /* rank 2 is reported dead meanwhile */
    bool sweep;           /* two lanes have idle bits for rank 1, whose flushes sweep */
    bool tick;            /* the last thread is the receive thread */
    bool shorts;          /* small puts and gets by the short ways; all threads use one window */
    bool
        borrowers; /* the second lane is opened by the helper, the last thread; others are borrowers meanwhile */
};

struct story {
    struct shape shape;
    uint64_t seed;
    uint64_t remote[THREADS][RANKS][CELLS], local[THREADS][RANKS][CELLS];
    hl_a32 errors[THREADS][RANKS];
    hl_a32 told[THREADS]; /* puts to rank 1 whose calls have returned */
};

static bool dead;

bool __wrap_hl_rx_is_dead(int rank);
bool __wrap_hl_rx_is_dead(int rank)
{
    return dead && rank == 2;
}

static void open_fabric(void)
{
    ck_assert_int_eq(hl_conf_load(), 0);
    hl_conf.provider = "model";
    hl_conf.peer_timeout = 1000;
    hl_job.size = RANKS;
    hl_job.nonce = 77;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    ck_assert_int_eq(hl_fab_open(), 0);
    struct hl_fab_ep rx;
    ck_assert_int_eq(hl_fab_ep_open(HL_FAB_RX, &rx), 0); /* asks which atomics there are */
    hl_fab_ep_close(&rx);
}

/* Fills the ring but for two places with slots that have ended behind one that has not. */
static void fill(struct hl_lane *lane, struct story *s) HL_NO_TSA
{
    static uint64_t source = 1, sink[HL_LANE_SLOTS];
    uint64_t small = hl_pool.head.chain_max;
    hl_pool.head.chain_max = 0;
    model.hold = true;
    for (unsigned i = 0; i < HL_LANE_SLOTS - 2; i++) {
        struct hl_xfer x = {.peer = 0,
                            .addr = (uint64_t)(uintptr_t)&sink[i],
                            .buf = &source,
                            .len = 8,
                            .error = &s->errors[0][0]};
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
    model.hold = false;
    hl_pool.head.chain_max = small;
    (void)lane;
}

static void start(struct story *s) HL_NO_TSA
{
    model_seed = (unsigned)s->seed + 1;
    model.error = model.lost = 0;
    dead = false;
    idle_stay = s->shape.sweep;
    ck_assert_int_eq(hl_pool_open(&hl_pool, s->shape.lanes, RANKS), 0);
    hl_pool.head.chain_max = s->shape.chain;
    hl_a32_store_relaxed(&hl_pool.next, 1); /* relaxed: one thread; the next one's home is the second lane. */
    for (uint32_t i = 0; i < (s->shape.borrowers ? 1 : s->shape.lanes); i++) {
        struct hl_lane *lane = hl_pool.head.lanes[i];
        ck_assert(hl_lease_try(&lane->lease));
        ck_assert_int_eq(hl_lane_make_ready(lane), 0);
        for (int peer = 0; peer < RANKS; peer++) {
            int rc = 0;
            ck_assert_ptr_nonnull(hl_way_make(lane, peer, card_of(peer), &rc));
        }
        lane->swept = (uint64_t)0 - HL_IDLE_LEASES - 1; /* a sweep is due at once */
        hl_lane_leave(lane);
    }
    for (uint32_t i = 0; s->shape.sweep && i < s->shape.lanes; i++) {
        struct hl_lane *lane = hl_pool.head.lanes[i];
        ck_assert(hl_lease_try(&lane->lease));
        __real_hl_way_mark(lane, hl_way_find(lane, 1));
        hl_lane_leave(lane);
    }
    hl_lane_preferred = 0;
    if (s->shape.full) {
        fill(hl_pool.head.lanes[0], s);
    }
    model.error = s->shape.error;
    model.lost = s->shape.lost;
}

static void stop(const struct story *s)
{
    for (int i = 0; i < 1000 && s->shape.death; i++) { /* the model gives contexts of the dead back */
        (void)hl_lane_poll(NULL);
    }
    hl_pool_close(&hl_pool);
    /* relaxed: one thread is left. */
    PROMISE(model.objects == 0 && hl_a64_load_relaxed(&model.overlaps) == 0,
            "seed %llu: the provider is used badly", (unsigned long long)s->seed);
}

/* ---- what the threads do ---- */

static struct hl_xfer xfer_of(struct story *s, int me, int peer, int cell, void *mine)
{
    return (struct hl_xfer){.peer = peer,
                            .addr = (uint64_t)(uintptr_t)&s->remote[me][peer][cell],
                            .buf = mine,
                            .len = 8,
                            .error = &s->errors[s->shape.shorts ? 0 : me][peer],
                            .token = s->shape.shorts ? (uint64_t)peer + 1 : 0};
}

/* As MPI_Put does: into the lane's chain, else on any way. */
static int put_short(const struct hl_xfer *x)
{
    return hl_lane_put_short(x->token, x->addr, x->buf, x->len) ? 0 : hl_lane_write(x);
}

static void put(struct story *s, int me, int peer, int cell)
{
    s->local[me][peer][cell] = s->seed << 8 | (uint64_t)(me * 16 + peer * 4 + cell + 1);
    struct hl_xfer x = xfer_of(s, me, peer, cell, &s->local[me][peer][cell]);
    int rc = s->shape.shorts ? put_short(&x) : hl_lane_write(&x);
    set_late_bits();
    if (rc != 0) {
        PROMISE(s->shape.death || s->shape.error != 0, "seed %llu: %d", (unsigned long long)s->seed, rc);
        s->remote[me][peer][cell] = s->local[me][peer][cell]; /* its error was told */
    }
}

/* My first `count` puts to `peer` are there, or the flush before told of an error, once. */
static void look(struct story *s, int me, int peer, int count)
{
    int missing = 0;
    for (int i = 0; i < count; i++) {
        missing += s->remote[me][peer][i] != s->local[me][peer][i];
        s->remote[me][peer][i] = s->local[me][peer][i]; /* told once */
    }
    int rc = hl_lane_error_take(&s->errors[me][peer]);
    PROMISE(missing == 0 || rc != 0, "seed %llu: thread %d, rank %d: a flush returned early",
            (unsigned long long)s->seed, me, peer);
    PROMISE(rc == 0 || s->shape.error != 0 || s->shape.death, "seed %llu: an error from nowhere",
            (unsigned long long)s->seed);
    PROMISE(hl_lane_error_take(&s->errors[me][peer]) == 0, "seed %llu: an error came twice",
            (unsigned long long)s->seed);
}

/* What I put I get, or an error. */
static void get(struct story *s, int me, int peer, int cell)
{
    uint64_t back = 0;
    struct hl_xfer x = xfer_of(s, me, peer, cell, &back);
    bool done = s->shape.shorts && hl_lane_get_short(x.token, x.addr, x.buf, x.len);
    int rc = done ? 0 : hl_lane_read(&x);
    set_late_bits();
    hl_lane_flush(peer, HL_LOCAL);
    rc = rc != 0 ? rc : hl_lane_error_take(&s->errors[me][peer]);
    PROMISE(rc != 0 ? s->shape.error != 0 || s->shape.death : back == s->remote[me][peer][cell],
            "seed %llu: a get ended early", (unsigned long long)s->seed);
}

/* Flushes what another thread has issued, as far as that has told. */
static void flush_for(struct story *s, int other)
{
    /* acquire: its calls have returned; pairs with the release in issue_and_flush. */
    int count = (int)hl_a32_load_acquire(&s->told[other]);
    hl_lane_flush(1, HL_REMOTE);
    for (int i = 0; i < count && s->shape.error == 0; i++) {
        PROMISE(s->remote[other][1][i] == s->local[other][1][i],
                "seed %llu: thread %d's put %d was not waited for", (unsigned long long)s->seed, other, i);
    }
}

static void issue_and_flush(struct story *s, int me)
{
    put(s, me, 1, 0);
    hl_a32_store_release(&s->told[me], 1); /* release: pairs with the acquire in flush_for. */
    put(s, me, 2, 0);
    put(s, me, 1, 1);
    hl_a32_store_release(&s->told[me], 2); /* release: the same. */
    if (me % 2 == 0) {
        hl_lane_flush(1, HL_REMOTE);
        look(s, me, 1, 2);
    } else {
        flush_for(s, 0);
    }
    put(s, me, 1, 2);
    if (me % 2 == 0) {
        hl_lane_flush(1, HL_REMOTE);
        hl_lane_flush(2, HL_REMOTE);
    } else {
        hl_lane_flush(-1, HL_REMOTE);
    }
    look(s, me, 1, 3);
    look(s, me, 2, 1);
    hl_lane_flush(1, HL_REMOTE); /* nothing is open of mine: perhaps a sweep */
    put(s, me, 1, 3);
    hl_lane_flush(1, HL_REMOTE);
    look(s, me, 1, 4);
    get(s, me, 1, 3);
}

/* The first thread puts to rank 2, the others' flushes of rank 1 find nothing open and sweep. */
static void sweep_beside(struct story *s, int me)
{
    for (int i = 0; i < CELLS; i++) {
        if (me == 0) {
            hl_lane_preferred = 0;
            put(s, me, 2, i);
            for (int pauses = 0; pauses < 30; pauses++) { /* time for a sweep */
                hl_pause();
            }
            hl_lane_flush(2, HL_REMOTE);
            look(s, me, 2, i + 1);
        } else {
            hl_lane_flush(1, HL_REMOTE);
        }
    }
}

static void act(void *arg, int me)
{
    struct story *s = arg;
    if (s->shape.sweep) {
        sweep_beside(s, me);
    } else if (s->shape.death && me == THREADS - 1) {
        dead = true;
        hl_a32_add_full(&hl_pool.deaths, 1); /* full: as count_death. */
    } else if (s->shape.tick && me == THREADS - 1) {
        for (int i = 0; i < 3; i++) {
            (void)hl_pool_tick(&hl_pool);
            hl_pause();
        }
    } else if (s->shape.borrowers && me == THREADS - 1) {
        help_until(THREADS - 1);
    } else {
        issue_and_flush(s, me);
    }
    helper.others++;
}

/* Two threads, one operation each, one flush each: small enough for all interleavings. */
static void act_little(void *arg, int me)
{
    struct story *s = arg;
    put(s, me, 1, 0);
    hl_a32_store_release(&s->told[me], 1); /* release: pairs with the acquire in flush_for. */
    flush_for(s, 1 - me);
    look(s, me, 1, 1);
}

static void check_end(struct story *s)
{
    hl_lane_preferred = 0;
    hl_lane_flush(-1, HL_REMOTE);
    for (int peer = 0; peer < RANKS; peer++) {
        PROMISE(is_quiet(peer), "seed %llu: rank %d is not quiet", (unsigned long long)s->seed, peer);
    }
    for (uint32_t i = 0; i < s->shape.lanes; i++) {
        const struct hl_lane *lane = hl_pool.head.lanes[i]; /* one thread is left: plain reads */
        PROMISE(lane->lease.held.v == 0 && lane->lease.wanted.v == 0 && lane->tail.v == lane->issued.v,
                "seed %llu: lane %u is not free", (unsigned long long)s->seed, i);
    }
    if (s->shape.borrowers) {
        PROMISE(hl_a64_load_relaxed(&hl_pool.opening) == 0 && hl_a64_load_relaxed(&hl_pool.opened) == 3,
                "seed %llu: the second lane did not come",
                (unsigned long long)s->seed); /* relaxed: one thread */
        hl_lane_open_async_stop();
    }
    stop(s);
}

static const struct shape shapes[] = {
    {.lanes = 1},
    {.lanes = 2},
    {.lanes = 1, .chain = 64},
    {.lanes = 2, .chain = 64},
    {.lanes = 2, .chain = 64, .shorts = true},
    {.lanes = 1, .chain = 64, .shorts = true},
    {.lanes = 2, .chain = 64, .tick = true},
    {.lanes = 2, .borrowers = true},
    {.lanes = 2, .chain = 64, .borrowers = true},
    {.lanes = 2, .chain = 64, .sweep = true},
    {.lanes = 1, .full = true},
    {.lanes = 1, .chain = 64, .full = true},
    {.lanes = 2, .error = 20, .lost = 20},
    {.lanes = 2, .chain = 64, .error = 20, .lost = 20},
    {.lanes = 1, .death = true},
    {.lanes = 2, .chain = 64, .death = true},
};

static uint64_t seeds = 300; /* for each shape; an argument of the program */

static void tell(const struct shape *shape, uint64_t seed)
{
    struct story *s = calloc(1, sizeof *s);
    s->shape = *shape;
    s->seed = seed;
    helper = (struct helper){0};
    start(s);
    ck_assert_int_eq(hl_interleave_run(seed, THREADS, act, s), 0);
    check_end(s);
    free(s);
}

START_TEST(random_interleavings)
{
    open_fabric();
    for (uint64_t seed = 0; seed < seeds; seed++) {
        tell(&shapes[_i], seed);
    }
}
END_TEST

START_TEST(every_interleaving_of_two_switches)
{
    open_fabric();
    static struct hl_interleave_walk walk;
    walk = (struct hl_interleave_walk){.switches = 2};
    bool more = true;
    uint64_t runs = 0;
    for (; more; runs++) {
        struct story *s = calloc(1, sizeof *s);
        s->shape = shapes[_i];
        start(s);
        ck_assert_int_eq(hl_interleave_next(&walk, 2, act_little, s, &more), 0);
        check_end(s);
        free(s);
    }
    printf("%u lanes, chain %llu: %llu interleavings\n", shapes[_i].lanes,
           (unsigned long long)shapes[_i].chain, (unsigned long long)runs);
    ck_assert_uint_gt(runs, 100);
}
END_TEST

/* Runs stories with the fault in a process of its own; true when that broke a promise or stopped. */
static bool is_found(enum fault planted)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        fault = planted;
        for (uint64_t seed = 0; seed < 20000; seed++) { /* far more than any of them takes */
            for (size_t i = 0; i < HL_COUNT_OF(shapes); i++) {
                if (shapes[i].sweep != (planted == BIT_CLEARED_CHAIN)) {
                    continue;
                }
                tell(&shapes[i], seed);
            }
        }
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == FOUND || WEXITSTATUS(status) == 0),
                  "fault %d: status %x", (int)planted, (unsigned)status);
    return WEXITSTATUS(status) == FOUND;
}

START_TEST(planted_faults_are_found)
{
    open_fabric();
    ck_assert_msg(is_found((enum fault)_i), "fault %d is not found", _i);
}
END_TEST

static Suite *lane_suite(void)
{
    Suite *s = suite_create("interleaved lanes");
    TCase *c = tcase_create("lane");
    tcase_set_timeout(c, 3000);
    tcase_add_loop_test(c, random_interleavings, 0, (int)HL_COUNT_OF(shapes));
    tcase_add_loop_test(c, every_interleaving_of_two_switches, 0, 4);
    tcase_add_loop_test(c, planted_faults_are_found, 1, FAULTS);
    suite_add_tcase(s, c);
    return s;
}

int main(int argc, char **argv)
{
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 28); /* a pool for each run: its pages are used again */
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 28);
    seeds = argc > 1 ? strtoull(argv[1], NULL, 0) : seeds;
    SRunner *runner = srunner_create(lane_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
