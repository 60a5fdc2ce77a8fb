/* A thread that waits for a lane polls, and what it polls needs a lane, too. Part of test_lane.c. */
#ifndef LANE_NESTED_H
#define LANE_NESTED_H

static struct {
    hl_a32 begun, free; /* 1: the operation within has begun; the lane may be left */
    uint64_t from, to[2];
    hl_a32 error;
    pthread_t waiter;
} nested;

static int issue_within(void *unused)
{
    (void)unused;
    if (!pthread_equal(pthread_self(), nested.waiter) || hl_a32_xchg_full(&nested.begun, 1) != 0) {
        return 0;
    }
    struct hl_xfer x = transfer(1, &nested.to[1], &nested.from, &nested.error);
    ck_assert_int_eq(hl_lane_write(&x), 0);
    return 1;
}

static void *hold_lane(void *unused) HL_NO_TSA
{
    (void)unused;
    struct hl_lane *lane = hl_pool.head.lanes[0];
    ck_assert(hl_lease_try(&lane->lease));
    hl_a32_store_release(&nested.free, 1);
    while (hl_a32_load_acquire(&nested.begun) == 0) {
        sched_yield();
    }
    usleep(20000); /* until both wait */
    hl_lane_leave(lane);
    return NULL;
}

START_TEST(a_thread_does_not_wait_behind_itself)
{
    pthread_t holder;
    start(1);
    nested.from = 9;
    nested.waiter = pthread_self();
    ck_assert_int_eq(hl_prog_register(issue_within, NULL, 1), 0);
    pthread_create(&holder, NULL, hold_lane, NULL);
    while (hl_a32_load_acquire(&nested.free) == 0) {
        sched_yield();
    }
    struct hl_xfer x = transfer(1, &nested.to[0], &nested.from, &nested.error);
    ck_assert_int_eq(hl_lane_write(&x), 0);
    hl_lane_flush(1, HL_REMOTE);
    ck_assert(nested.to[0] == 9 && nested.to[1] == 9);
    pthread_join(holder, NULL);
    hl_prog_unregister(issue_within, NULL);
    stop();
}
END_TEST

static void add_nested(TCase *t)
{
    tcase_add_test(t, a_thread_does_not_wait_behind_itself);
}

#endif
