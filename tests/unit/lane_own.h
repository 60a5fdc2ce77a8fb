/* Lanes that belong to an owner, flushes of one lane, and fences. Part of test_lane.c. */
#ifndef LANE_OWN_H
#define LANE_OWN_H

#include "stat.h"

static uint64_t issued_by(const struct hl_lane *lane)
{
    return hl_a64_load_acquire(&lane->issued);
}

START_TEST(half_of_the_pool_can_be_owned)
{
    start((uint32_t)_i);
    struct hl_lane *own[HL_LANES_MAX];
    for (int round = 0; round < 3; round++) {
        int got = 0;
        while ((own[got] = hl_lane_own()) != NULL) {
            ck_assert_ptr_ne(own[got], hl_pool.head.lanes[0]);
            got++;
        }
        ck_assert_int_eq(got, _i / 2);
        while (got > 0) {
            hl_lane_disown(own[--got]);
        }
    }
    ck_assert_uint_eq(hl_a64_load_relaxed(&hl_pool.owned), 0);
    ck_assert_uint_eq(hl_a64_load_relaxed(&hl_pool.apart), 0);
    stop();
    ck_assert_ptr_null(hl_lane_own()); /* closed */
}
END_TEST

START_TEST(others_leave_an_owned_lane)
{
    chain = _i == 0 ? 0 : UINT64_MAX;
    start(2);
    static uint64_t sink[4];
    uint64_t source = 3;
    hl_a32 error = {0};
    struct hl_xfer x = transfer(1, &sink[0], &source, &error);
    hl_lane_preferred = 1;
    ck_assert_int_eq(hl_lane_write(&x), 0);
    struct hl_lane *own = hl_lane_own();
    ck_assert_ptr_eq(own, hl_pool.head.lanes[1]);
    ck_assert_uint_eq(sink[0], 3); /* its owner need not wait for what others had there */
    uint64_t before = issued_by(own);
    for (int i = 1; i < 4; i++) {
        hl_lane_preferred = i == 1 ? 1 : i == 2 ? UINT32_MAX : 0;
        hl_a32_store_relaxed(&hl_pool.next, 1);
        x = transfer(1, &sink[i], &source, &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
        ck_assert_uint_eq(hl_lane_preferred, 0);
    }
    ck_assert_uint_eq(issued_by(own), before);
    x = transfer(1, &sink[0], &(uint64_t){4}, &error);
    ck_assert_int_eq(hl_lane_write_on(own, &x), 0);
    ck_assert_uint_gt(issued_by(own), before);
    ck_assert_uint_eq(hl_lane_preferred, 0);
    hl_lane_flush_on(own, 1, HL_REMOTE);
    ck_assert_uint_eq(sink[0], 4);
    hl_lane_flush_on(NULL, 1, HL_REMOTE);
    ck_assert(sink[1] == 3 && sink[2] == 3 && sink[3] == 3);
    hl_lane_disown(own);
    hl_lane_preferred = 1;
    ck_assert_int_eq(hl_lane_write(&x), 0);
    ck_assert_uint_eq(hl_lane_preferred, 1);
    hl_lane_flush(-1, HL_REMOTE);
    stop();
}
END_TEST

START_TEST(flushes_see_their_own_lanes_only)
{
    chain = _i == 0 ? 0 : UINT64_MAX;
    start(2);
    static uint64_t sink[2];
    uint64_t source = 3;
    hl_a32 error = {0};
    struct hl_lane *own = hl_lane_own();
    struct hl_xfer mine = transfer(1, &sink[0], &source, &error);
    struct hl_xfer shared = transfer(1, &sink[1], &source, &error);
    model.hold = true;
    ck_assert_int_eq(hl_lane_write_on(own, &mine), 0);
    hl_lane_flush_on(NULL, 1, HL_REMOTE); /* both return although nothing completes */
    hl_lane_flush_on(NULL, -1, HL_REMOTE);
    ck_assert(!is_quiet(1));
    model.hold = false;
    hl_lane_flush_on(own, -1, HL_LOCAL);
    hl_lane_flush_on(own, -1, HL_REMOTE);
    ck_assert_uint_eq(sink[0], 3);
    model.hold = true;
    ck_assert_int_eq(hl_lane_write(&shared), 0);
    hl_lane_flush_on(own, 1, HL_REMOTE);
    hl_lane_flush_on(own, -1, HL_REMOTE);
    model.hold = false;
    hl_lane_flush_on(NULL, -1, HL_REMOTE);
    ck_assert_uint_eq(sink[1], 3);
    hl_lane_disown(own);
    stop();
}
END_TEST

/* Ordered operations are bound to a lane, owned or not; then flushes of the others cover it. */
START_TEST(ordered_operations_go_to_owned_lanes_all_the_same)
{
    chain = _i == 0 ? 0 : UINT64_MAX;
    start(4);
    struct hl_lane *own[2] = {hl_lane_own(), hl_lane_own()};
    static uint64_t one = 1, sum;
    hl_a32 error = {0};
    for (uint64_t key = 0; key < 32; key++) {
        add_ordered(&sum, &one, key, &error);
        key % 2 ? hl_lane_flush_on(NULL, -1, HL_REMOTE) : hl_lane_flush_on(NULL, 2, HL_REMOTE);
        ck_assert_uint_eq(sum, key + 1);
    }
    ck_assert_uint_gt(issued_by(own[0]) + issued_by(own[1]), 0);
    hl_lane_disown(own[0]);
    hl_lane_disown(own[1]);
    stop();
}
END_TEST

START_TEST(operations_of_a_dead_rank_end_on_owned_lanes) HL_NO_TSA
{
    start(2);
    struct hl_lane *own = hl_lane_own();
    static uint64_t source = 9, sink;
    hl_a32 error = {0};
    model.hold = true;
    struct hl_xfer x = transfer(2, &sink, &source, &error);
    ck_assert_int_eq(hl_lane_write_on(own, &x), 0);
    hl_lane_fence(own, NULL);
    ck_assert(!hl_lease_try(&own->lease));
    ck_assert(hl_lease_try_any(&own->lease));
    hl_lane_slot_fail_peer(own, hl_way_find(own, 2));
    hl_lane_leave(own);
    hl_lane_flush_on(own, 2, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
    ck_assert_int_eq(hl_lane_write_on(own, &x), HL_ERR_PROC_ABORTED);
    model.hold = false;
    hl_lane_disown(own);
    stop();
}
END_TEST

/* ---- many owners beside others ---- */

/* Puts and gets of a thread, now and then with a lane of its own; somebody else ticks. */
static void *own_now_and_then(void *arg)
{
    struct worker *w = arg;
    uint8_t *large = calloc(2, 8192);
    for (int i = 0; i < w->rounds; i++) {
        struct hl_lane *lane = rand_r(&w->state) % 4 != 0 ? hl_lane_own() : NULL;
        int peer = rand_r(&w->state) % RANKS, n = rand_r(&w->state) % CELLS;
        uint64_t result = 0, there = (uint64_t)rand_r(&w->state);
        for (int k = 0; k < n; k++) {
            w->local[peer][k] = (uint64_t)rand_r(&w->state) << 8 | 1;
            struct hl_xfer x = transfer(peer, &w->remote[peer][k], &w->local[peer][k], &w->errors[peer]);
            ck_assert_int_eq(hl_lane_write_on(lane, &x), 0);
        }
        large[i % 8192] = (uint8_t)i;
        struct hl_xfer x = {.peer = peer,
                            .addr = (uint64_t)(uintptr_t)large + 8192,
                            .buf = large,
                            .len = 8192,
                            .error = &w->errors[peer]};
        ck_assert_int_eq(hl_lane_write_on(lane, &x), 0);
        x = transfer(peer, &there, &result, &w->errors[peer]);
        ck_assert_int_eq(hl_lane_read_on(lane, &x), 0);
        hl_lane_flush_on(lane, peer, HL_LOCAL);
        ck_assert_uint_eq(result, there);
        hl_lane_flush_on(lane, rand_r(&w->state) % 2 ? peer : -1, HL_REMOTE);
        ck_assert_int_eq(memcmp(w->remote[peer], w->local[peer], (size_t)n * 8), 0);
        ck_assert_int_eq(memcmp(large, large + 8192, 8192), 0);
        if (lane != NULL) {
            hl_lane_disown(lane);
        }
    }
    free(large);
    return NULL;
}

static void *tick_along(void *arg)
{
    while (hl_a32_load_relaxed(&enough) == 0) {
        (void)hl_pool_tick(&hl_pool);
        sched_yield();
    }
    return arg;
}

START_TEST(owners_come_and_go_beside_others)
{
    model.again = 5;
    model.idle = 40;
    chain = _i % 2 == 0 ? 0 : UINT64_MAX;
    start(_i < 2 ? 2 : 6);
    enum { THREADS = 8 };
    struct worker *w = calloc(THREADS, sizeof *w);
    pthread_t t[THREADS], ticker;
    pthread_create(&ticker, NULL, tick_along, NULL);
    for (int i = 0; i < THREADS; i++) {
        w[i].state = seed + 1000u * (unsigned)i;
        w[i].rounds = 100;
        pthread_create(&t[i], NULL, i % 4 == 3 ? run_worker : own_now_and_then, &w[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
    }
    hl_a32_store_relaxed(&enough, 1);
    pthread_join(ticker, NULL);
    ck_assert_uint_eq(hl_a64_load_relaxed(&hl_pool.owned), 0);
    free(w);
    stop();
}
END_TEST

/* ---- fences ---- */

#define FENCED 40

struct cell {
    uint64_t word;
    uint8_t rest[8192 - 8];
};

/* What was applied of puts, each to its cell, of which some are of one group: nothing before all of the
 * groups before it. */
static void look_at_order(const struct cell *there, const int *group, int n, uint64_t value)
{
    int newest = -1;
    for (int i = 0; i < n; i++) {
        if (hl_a64_load_relaxed((const hl_a64 *)&there[i].word) == value && group[i] > newest) {
            newest = group[i];
        }
    }
    for (int i = 0; i < n; i++) {
        ck_assert_msg(group[i] >= newest || there[i].word == value, "seed %u: %d of group %d after group %d",
                      seed, i, group[i], newest);
    }
}

static const struct {
    uint32_t lanes;
    bool owned;
    uint64_t chain;
} fences[] = {{4, true, UINT64_MAX}, {4, true, 0},           {1, false, UINT64_MAX},
              {1, false, 0},         {3, false, UINT64_MAX}, {3, false, 0}};

START_TEST(what_is_fenced_is_applied_first)
{
    static struct cell there[FENCED], here[FENCED];
    int group[FENCED];
    chain = fences[_i].chain;
    start(fences[_i].lanes);
    model.again = 5;
    model.idle = 60;
    struct hl_lane *lane = fences[_i].owned ? hl_lane_own() : NULL;
    unsigned state = seed;
    hl_a32 error = {0};
    for (uint64_t value = 1; value < 400; value++) {
        int n = rand_r(&state) % FENCED, now = 0, small = rand_r(&state) % 4;
        for (int i = 0; i < n; i++) {
            hl_lane_preferred = fences[_i].owned ? 0 : (uint32_t)rand_r(&state) % fences[_i].lanes;
            group[i] = now;
            here[i].word = value;
            struct hl_xfer x = transfer(1, &there[i].word, &here[i].word, &error);
            x.len = rand_r(&state) % 4 < small ? 8 : sizeof here[i];
            ck_assert_int_eq(hl_lane_write_on(lane != NULL ? lane : hl_lane_bound(), &x), 0);
            look_at_order(there, group, i + 1, value);
            if (rand_r(&state) % 2 == 0) {
                hl_lane_fence(lane, NULL);
                look_at_order(there, group, i + 1, value);
                now++;
            }
            for (int ticks = rand_r(&state) % 4 == 0 ? rand_r(&state) % 5 : 0; ticks > 0; ticks--) {
                (void)hl_pool_tick(&hl_pool); /* sends what is open for long */
                look_at_order(there, group, i + 1, value);
            }
        }
        hl_lane_flush_on(lane, 1, HL_REMOTE);
        look_at_order(there, (int[FENCED]){0}, n, value);
        ck_assert(n == 0 || there[0].word == value);
    }
    if (lane != NULL) {
        hl_lane_disown(lane);
    }
    stop();
}
END_TEST

/* One put in a chain goes as an operation of its own, but not when another one was fenced against it. */
START_TEST(puts_that_travel_alone_keep_a_fence)
{
    start(1);
    uint64_t source[2];
    hl_a32 error = {0};
    for (uint64_t value = 1; value < 200; value++) {
        static uint64_t sink[2];
        model.hold = true;
        for (int i = 0; i < 2; i++) {
            source[i] = value;
            struct hl_xfer x = transfer(1, &sink[i], &source[i], &error);
            ck_assert_int_eq(hl_lane_write(&x), 0);
            if (i == 0) {
                hl_lane_fence(NULL, NULL);
            }
            for (int ticks = 0; ticks < 4; ticks++) {
                (void)hl_pool_tick(&hl_pool);
            }
        }
        model.hold = false;
        TICK_UNTIL(sink[0] == value || sink[1] == value);
        ck_assert_uint_eq(sink[0], value);
        hl_lane_flush(1, HL_REMOTE);
    }
    stop();
}
END_TEST

static bool everybody(int peer)
{
    return peer >= 0;
}

START_TEST(a_fence_of_one_stream_is_free)
{
    start(_i == 0 ? 2 : 1);
    static uint64_t sink[3];
    static uint8_t large[2][8192];
    uint64_t source = 7;
    hl_a32 error = {0};
    struct hl_lane *own = hl_lane_own(), *lane = own != NULL ? own : hl_pool.head.lanes[0];
    model.hold = true; /* nothing completes: who waits does not return */
    uint64_t before = issued_by(lane);
    for (int i = 0; i < 3; i++) {
        struct hl_xfer x = transfer(1, &sink[i], &source, &error);
        ck_assert_int_eq(hl_lane_write_on(own, &x), 0);
        hl_lane_fence(own, NULL);
    }
    ck_assert_uint_eq(issued_by(lane), before + 1);
    struct hl_xfer read = {
        .peer = 1, .addr = (uint64_t)(uintptr_t)large[0], .buf = large[1], .len = 8192, .error = &error};
    ck_assert_int_eq(hl_lane_read_on(own, &read), 0);
    struct hl_xfer other = {
        .peer = 2, .addr = (uint64_t)(uintptr_t)large[0], .buf = large[1], .len = 8192, .error = &error};
    ck_assert_int_eq(hl_lane_write_on(own, &other), 0); /* to a rank that nothing was fenced for */
    model.hold = false;
    other.peer = 1;
    ck_assert_int_eq(hl_lane_write_on(own, &other), 0);
    ck_assert(sink[0] == 7 && sink[2] == 7); /* it leaves the stream: it waited */
    hl_lane_flush_on(own, -1, HL_REMOTE);
    struct hl_xfer x = transfer(1, &sink[0], &(uint64_t){8}, &error);
    ck_assert_int_eq(hl_lane_write_on(own, &x), 0);
    hl_lane_fence(own, everybody); /* the caller's next store may go by another way */
    ck_assert_uint_eq(sink[0], 8);
    if (own != NULL) {
        hl_lane_disown(own);
    }
    stop();
}
END_TEST

/* Of several lanes one was used: later operations take that one, until what was fenced is done. */
START_TEST(a_fence_binds_to_the_lane_that_is_busy)
{
    start(4);
    static uint64_t sink[3];
    uint64_t source = 7;
    hl_a32 error = {0};
    struct hl_lane *lane = hl_pool.head.lanes[1];
    model.hold = true; /* who waits does not return */
    hl_lane_preferred = 1;
    for (int i = 0; i < 2; i++) {
        struct hl_xfer x = transfer(1, &sink[i], &source, &error);
        ck_assert_int_eq(hl_lane_write_on(hl_lane_bound(), &x), 0);
        hl_lane_preferred = 2;
        hl_lane_fence(NULL, NULL);
        ck_assert_ptr_eq(hl_lane_bound(), lane);
    }
    ck_assert_uint_eq(issued_by(lane), 1);
    ck_assert_uint_eq(issued_by(hl_pool.head.lanes[2]), 0);
    model.hold = false;
    hl_lane_flush_on(NULL, 1, HL_REMOTE);
    ck_assert_ptr_null(hl_lane_bound());
    ck_assert(sink[0] == 7 && sink[1] == 7);
    struct hl_xfer x = transfer(1, &sink[2], &source, &error);
    ck_assert_int_eq(hl_lane_write_on(hl_lane_bound(), &x), 0);
    ck_assert_uint_eq(issued_by(hl_pool.head.lanes[2]), 1);
    hl_lane_fence(NULL, NULL); /* of a lane that might be owned: waits */
    ck_assert_uint_eq(sink[2], 7);
    stop();
}
END_TEST

struct late_put {
    uint64_t source, sink;
};

static void *put_late(void *arg)
{
    struct late_put *p = arg;
    hl_a32 error = {0};
    struct hl_xfer x = transfer(1, &p->sink, &p->source, &error);
    ck_assert_int_eq(hl_lane_write(&x), 0);
    return NULL;
}

static uint64_t counter(const char *name)
{
    uint64_t n = 0;
    ck_assert_int_eq(hl_stat_get(name, &n), 0);
    return n;
}

/* All lanes are taken: a thread queues once, and gets its lane when it is left. */
START_TEST(who_queues_for_a_lane_is_counted) HL_NO_TSA
{
    start(1);
    struct hl_lane *lane = hl_pool.head.lanes[0];
    struct late_put p = {7, 0};
    pthread_t t;
    put_late(&p);
    ck_assert_uint_eq(counter("lease_waits"), 0);
    ck_assert_uint_eq(counter("leases_contended"), 0);
    ck_assert(hl_lease_try(&lane->lease));
    ck_assert_int_eq(pthread_create(&t, NULL, put_late, &p), 0);
    while (hl_a32_load_acquire(&lane->lease.wanted) == 0) {
        sched_yield();
    }
    hl_lane_leave(lane);
    pthread_join(t, NULL);
    ck_assert_uint_eq(counter("lease_waits"), 1);
    ck_assert_uint_eq(counter("leases_contended"), 1);
    ck_assert_uint_eq(hl_a32_load_relaxed(&lane->lease.wanted), 0);
    hl_lane_flush(1, HL_REMOTE);
    ck_assert_uint_eq(p.sink, 7);
    stop();
}
END_TEST

#ifdef HL_ATOMIC_COUNTING_H
/* Read-modify-writes of leases since the last reset. */
static uint64_t lease_changes(void)
{
    FILE *f = tmpfile();
    ck_assert_ptr_nonnull(f);
    hotlane_atomic_report(fileno(f));
    rewind(f);
    uint64_t sum = 0;
    unsigned long long hits;
    for (char where[256]; fscanf(f, "%llu %255s %*s", &hits, where) == 2;) {
        sum += strstr(where, "lane/lease.h:") != NULL ? hits : 0;
    }
    fclose(f);
    return sum;
}

/* The lane is taken and another thread has the place in its queue: who waits besides looks, and changes
 * nothing. Before, each of its looks was an exchange, which took the line from the holder. */
START_TEST(who_waits_for_a_lane_leaves_it_its_line) HL_NO_TSA
{
    start(1);
    struct hl_lane *lane = hl_pool.head.lanes[0];
    struct late_put p = {7, 0};
    pthread_t t;
    put_late(&p);
    ck_assert(hl_lease_try(&lane->lease));
    ck_assert(hl_lease_want(&lane->lease, 1000000));
    hotlane_atomic_reset();
    ck_assert_int_eq(pthread_create(&t, NULL, put_late, &p), 0);
    usleep(50000);
    ck_assert_uint_eq(lease_changes(), 0);
    hl_lease_unwant(&lane->lease);
    hl_lane_leave(lane);
    pthread_join(t, NULL);
    ck_assert_uint_gt(lease_changes(), 0);
    hl_lane_flush(1, HL_REMOTE);
    ck_assert_uint_eq(p.sink, 7);
    stop();
}
END_TEST

static void add_counted(TCase *t)
{
    tcase_add_test(t, who_waits_for_a_lane_leaves_it_its_line);
}
#else
static void add_counted(TCase *t)
{
    (void)t;
}
#endif

static void *fence_late(void *unused)
{
    (void)unused;
    hl_lane_fence(NULL, NULL);
    return NULL;
}

/* A fence that began before another one, and looks after it, leaves what that one has found. */
START_TEST(a_late_fence_takes_nothing_back) HL_NO_TSA
{
    start(1);
    static uint64_t sink[2];
    static uint8_t large[2][8192];
    struct hl_lane *lane = hl_pool.head.lanes[0];
    hl_a32 error = {0};
    for (uint64_t value = 1; value <= 20; value++) {
        uint64_t source = value;
        struct hl_xfer first = transfer(1, &sink[0], &source, &error), second = first;
        struct hl_xfer long_one = {
            .peer = 1, .addr = (uint64_t)(uintptr_t)large[0], .buf = large[1], .len = 8192, .error = &error};
        second.addr = (uint64_t)(uintptr_t)&sink[1];
        model.hold = true;
        ck_assert_int_eq(hl_lane_write(&first), 0);
        ck_assert(hl_lease_try(&lane->lease));
        ck_assert_int_eq(hl_chain_send(lane, hl_way_find(lane, 1), HL_CHAIN_AS_MESSAGE), 0);
        pthread_t t;
        ck_assert_int_eq(pthread_create(&t, NULL, fence_late, NULL), 0);
        usleep(5000); /* it waits for the lease, most likely */
        hl_lane_leave(lane);
        ck_assert_int_eq(hl_lane_write(&second), 0);
        hl_lane_fence(NULL, NULL);
        pthread_join(t, NULL);
        model.hold = false;
        ck_assert_int_eq(hl_lane_write(&long_one), 0);
        ck_assert_uint_eq(sink[1], value); /* it leaves the stream: it waited */
        hl_lane_flush(1, HL_REMOTE);
    }
    stop();
}
END_TEST

static void add_own(TCase *t)
{
    tcase_add_test(t, a_late_fence_takes_nothing_back);
    tcase_add_test(t, who_queues_for_a_lane_is_counted);
    add_counted(t);
    tcase_add_loop_test(t, half_of_the_pool_can_be_owned, 1, 7);
    tcase_add_loop_test(t, others_leave_an_owned_lane, 0, 2);
    tcase_add_loop_test(t, flushes_see_their_own_lanes_only, 0, 2);
    tcase_add_loop_test(t, ordered_operations_go_to_owned_lanes_all_the_same, 0, 2);
    tcase_add_test(t, operations_of_a_dead_rank_end_on_owned_lanes);
    tcase_add_loop_test(t, owners_come_and_go_beside_others, 0, 4);
    tcase_add_loop_test(t, what_is_fenced_is_applied_first, 0, (int)HL_COUNT_OF(fences));
    tcase_add_test(t, a_fence_binds_to_the_lane_that_is_busy);
    tcase_add_test(t, puts_that_travel_alone_keep_a_fence);
    tcase_add_loop_test(t, a_fence_of_one_stream_is_free, 0, 2);
}

#endif
