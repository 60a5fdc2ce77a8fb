/* Flushes that nobody waits in: what they wait for, and what not. Part of test_lane.c. */
#ifndef LANE_GOALS_H
#define LANE_GOALS_H

static struct hl_lane_goals *goals_of(struct hl_lane *lane, int peer, enum hl_lane_scope scope)
{
    struct hl_lane_goals *goals;
    ck_assert_int_eq(hl_lane_goals_make(lane, peer, scope, &goals), 0);
    return goals;
}

/* A hang shows as the test's time limit. */
static void reach(struct hl_lane_goals *goals)
{
    while (goals != NULL && !hl_lane_goals_reached(goals)) {
    }
    hl_lane_goals_free(goals);
}

/* Bit 0 of the case: of all peers; bit 1: local; bit 2: nothing is chained; bit 3: a get. */
START_TEST(goals_are_reached_with_their_operations)
{
    int peer = _i & 1 ? -1 : 1;
    enum hl_lane_scope scope = _i & 2 ? HL_LOCAL : HL_REMOTE;
    bool get = (_i & 8) != 0, copied = !get && (_i & 4) == 0;
    chain = _i & 4 ? 0 : UINT64_MAX;
    start(2);
    static uint64_t there;
    uint64_t mine = 5, result = 0;
    hl_a32 error = {0};
    there = get ? 5 : 0;
    ck_assert_ptr_null(goals_of(NULL, peer, scope)); /* nothing was issued */
    model.hold = true;
    struct hl_xfer x = transfer(1, &there, get ? &result : &mine, &error);
    ck_assert_int_eq(get ? hl_lane_read(&x) : hl_lane_write(&x), 0);
    ck_assert_ptr_null(goals_of(NULL, 2, scope));
    struct hl_lane_goals *goals = goals_of(NULL, peer, scope);
    ck_assert_int_eq(goals == NULL, copied && scope == HL_LOCAL);
    for (int i = 0; goals != NULL && i < 100; i++) {
        ck_assert(!hl_lane_goals_reached(goals));
    }
    model.hold = false;
    reach(goals);
    ck_assert(goals == NULL || (get ? result : there) == 5);
    hl_lane_flush(-1, HL_REMOTE);
    ck_assert_ptr_null(goals_of(NULL, peer, scope));
    stop();
}
END_TEST

/* Later operations are under way, some of them for longer, when the goals of earlier ones are reached. */
START_TEST(goals_wait_for_nothing_later)
{
    enum { LATER = 20 };
    chain = 0; /* each is an operation of the provider, which ends them in any order */
    start(1);
    model.idle = 60;
    int overtook = 0;
    for (int round = 0; round < 200; round++) {
        uint64_t mine = (uint64_t)round + 1, there[1 + LATER] = {0};
        hl_a32 error = {0};
        struct hl_xfer x = transfer(1, &there[0], &mine, &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
        struct hl_lane_goals *goals = goals_of(NULL, _i == 0 ? 1 : -1, HL_REMOTE);
        for (int i = 1; i <= LATER; i++) {
            x = transfer(1, &there[i], &mine, &error);
            ck_assert_int_eq(hl_lane_write(&x), 0);
        }
        reach(goals);
        ck_assert_uint_eq(there[0], mine);
        overtook += !is_quiet(1);
        hl_lane_flush(1, HL_REMOTE);
    }
    printf("%d of 200 ended before what was issued later\n", overtook);
    ck_assert_int_gt(overtook, 100);
    stop();
}
END_TEST

/* More connections than there is room for at first; each result is there. */
START_TEST(goals_of_many_connections)
{
    start(4);
    model.idle = 50;
    uint64_t there[4][RANKS], results[4][RANKS] = {{0}};
    hl_a32 error = {0};
    for (uint32_t lane = 0; lane < 4; lane++) {
        hl_lane_preferred = lane;
        for (int peer = 0; peer < RANKS; peer++) {
            there[lane][peer] = 100 * lane + (uint64_t)peer + 1;
            struct hl_xfer x = transfer(peer, &there[lane][peer], &results[lane][peer], &error);
            ck_assert_int_eq(hl_lane_read(&x), 0);
        }
    }
    reach(goals_of(NULL, -1, _i == 0 ? HL_LOCAL : HL_REMOTE));
    ck_assert_int_eq(memcmp(there, results, sizeof there), 0);
    stop();
}
END_TEST

START_TEST(goals_of_a_dead_rank_are_reached) HL_NO_TSA
{
    start(1);
    uint64_t mine = 9, there = 0;
    hl_a32 error = {0};
    model.hold = true;
    struct hl_xfer x = transfer(2, &there, &mine, &error);
    ck_assert_int_eq(hl_lane_write(&x), 0);
    struct hl_lane_goals *goals = goals_of(NULL, 2, HL_REMOTE);
    ck_assert(!hl_lane_goals_reached(goals));
    struct hl_lane *lane = hl_pool.head.lanes[0];
    ck_assert(hl_lease_try(&lane->lease));
    hl_lane_slot_fail_peer(lane, hl_way_find(lane, 2));
    hl_lane_leave(lane);
    reach(goals);
    ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
    model.hold = false;
    stop();
}
END_TEST

/* Whoever waits for a dead rank's operations is woken, also while older ones of others are open. */
START_TEST(the_end_of_a_dead_ranks_operations_wakes) HL_NO_TSA
{
    chain = 0;
    start(1);
    uint64_t mine = 9, there[3] = {0};
    hl_a32 error = {0};
    model.hold = true;
    for (int peer = 1; peer <= 2; peer++) {
        struct hl_xfer x = transfer(peer, &there[peer], &mine, &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
    struct hl_lane *lane = hl_pool.head.lanes[0];
    ck_assert(hl_lease_try(&lane->lease));
    lane->wake = false;
    hl_lane_slot_fail_peer(lane, hl_way_find(lane, 2));
    ck_assert(lane->wake);
    hl_lane_leave(lane);
    model.hold = false;
    hl_lane_flush(1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
    stop();
}
END_TEST

/* Of a lane's owner, and of all others. */
START_TEST(goals_of_owned_lanes_are_their_own)
{
    start(2);
    struct hl_lane *own = hl_lane_own();
    uint64_t mine = 3, there[2] = {0};
    hl_a32 error = {0};
    model.hold = true;
    struct hl_xfer x = transfer(1, &there[0], &mine, &error);
    ck_assert_int_eq(hl_lane_write_on(own, &x), 0);
    ck_assert_ptr_null(goals_of(NULL, 1, HL_REMOTE));
    ck_assert_ptr_null(goals_of(NULL, -1, HL_REMOTE));
    struct hl_lane_goals *goals = goals_of(own, -1, HL_REMOTE);
    ck_assert(!hl_lane_goals_reached(goals));
    model.hold = false;
    reach(goals);
    ck_assert_uint_eq(there[0], 3);
    hl_lane_disown(own);
    stop();
}
END_TEST

/* Whoever forgets a request beyond the end meets lanes that are gone, or new ones. */
START_TEST(goals_do_not_outlive_their_lanes)
{
    start(1);
    uint64_t mine = 9, there = 0;
    hl_a32 error = {0};
    struct hl_xfer x = transfer(2, &there, &mine, &error);
    ck_assert_int_eq(hl_lane_write(&x), 0);
    struct hl_lane_goals *goals = goals_of(NULL, 2, HL_REMOTE), *more = goals_of(NULL, -1, HL_REMOTE);
    hl_lane_flush(-1, HL_REMOTE);
    stop();
    ck_assert(hl_lane_goals_reached(goals));
    ck_assert_ptr_null(goals_of(NULL, 2, HL_REMOTE));
    start(1);
    ck_assert(hl_lane_goals_reached(more));
    hl_lane_goals_free(goals);
    hl_lane_goals_free(more);
    stop();
}
END_TEST

static hl_a32 stood_back;

void __real_hl_prog_stand_back(unsigned pauses);
void __wrap_hl_prog_stand_back(unsigned pauses);
void __wrap_hl_prog_stand_back(unsigned pauses)
{
    hl_a32_add_relaxed(&stood_back, 1);
    __real_hl_prog_stand_back(pauses);
}

/* A look at them costs who does not wait no time beside a lane that is taken. */
START_TEST(looks_at_goals_do_not_stand_back) HL_NO_TSA
{
    start(1);
    uint64_t mine = 9, there = 0;
    hl_a32 error = {0};
    struct hl_xfer x = transfer(1, &there, &mine, &error);
    model.hold = true;
    ck_assert_int_eq(hl_lane_write(&x), 0);
    struct hl_lane_goals *goals = goals_of(NULL, 1, HL_REMOTE);
    hl_a32_store_relaxed(&stood_back, 0);
    ck_assert(hl_lease_try(&hl_pool.head.lanes[0]->lease));
    for (int i = 0; i < 20; i++) {
        ck_assert(!hl_lane_goals_reached(goals));
    }
    hl_lane_leave(hl_pool.head.lanes[0]);
    ck_assert_uint_eq(hl_a32_load_relaxed(&stood_back), 0);
    model.hold = false;
    reach(goals);
    ck_assert_uint_eq(there, 9);
    stop();
}
END_TEST

/* Beside threads that never stop issuing, and that flush as well. */
START_TEST(goals_are_reached_beside_others)
{
    start(2);
    pthread_t t[3];
    hl_a32_store_relaxed(&enough, 0);
    for (int i = 0; i < 3; i++) {
        pthread_create(&t[i], NULL, pour, NULL);
    }
    for (int i = 0; i < 200; i++) {
        uint64_t mine = (uint64_t)i + 1, there = 0;
        hl_a32 error = {0};
        struct hl_xfer x = transfer(1, &there, &mine, &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
        i % 3 == 0 ? hl_lane_flush(1, HL_REMOTE) : reach(goals_of(NULL, i % 3 == 1 ? 1 : -1, HL_REMOTE));
        ck_assert_uint_eq(there, mine);
    }
    hl_a32_store_relaxed(&enough, 1);
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
    }
    stop();
}
END_TEST

static void add_goals(TCase *t)
{
    tcase_add_loop_test(t, goals_are_reached_with_their_operations, 0, 16);
    tcase_add_loop_test(t, goals_wait_for_nothing_later, 0, 2);
    tcase_add_loop_test(t, goals_of_many_connections, 0, 2);
    tcase_add_test(t, goals_of_a_dead_rank_are_reached);
    tcase_add_test(t, the_end_of_a_dead_ranks_operations_wakes);
    tcase_add_test(t, goals_of_owned_lanes_are_their_own);
    tcase_add_test(t, goals_do_not_outlive_their_lanes);
    tcase_add_test(t, looks_at_goals_do_not_stand_back);
    tcase_add_test(t, goals_are_reached_beside_others);
}

#endif
