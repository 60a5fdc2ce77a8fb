/* Lanes that are opened in the background, and threads that borrow another meanwhile. Part of test_lane.c. */
#ifndef LANE_WARM_H
#define LANE_WARM_H

/* Two lanes, of which the second is not open as far as threads know, and the next thread's is the second. */
static void start_with_closed_lane(void)
{
    start(2);
    hl_a64_and_full(&hl_pool.opened, ~UINT64_C(2));
    hl_lane_preferred = UINT32_MAX;
    hl_a32_store_relaxed(&hl_pool.next, 1);
}

static uint64_t issued_on(int lane)
{
    return hl_a64_load_relaxed(&hl_pool.head.lanes[lane]->issued);
}

static bool is_coming(void)
{
    return hl_a64_load_acquire(&hl_pool.opening) != 0;
}

static void put_and_flush(uint64_t value)
{
    static uint64_t mine, there;
    hl_a32 error = {0};
    mine = value;
    struct hl_xfer x = transfer(2, &there, &mine, &error);
    ck_assert_int_eq(hl_lane_write(&x), 0);
    hl_lane_flush(2, HL_REMOTE);
    hl_lane_flush(-1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), 0);
    ck_assert_uint_eq(there, value);
}

/* The peer does not answer the ping: nobody waits for that, no flush either, and the borrower goes to its own lane all the
 * same when the helper has given up. */
START_TEST(borrowers_and_flushes_do_not_wait_for_a_lane_that_opens)
{
    chain = 0;
    start_with_closed_lane();
    model.mute = true;
    for (uint64_t i = 1; i <= 10; i++) {
        put_and_flush(i);
    }
    ck_assert(is_coming());
    ck_assert_uint_eq(issued_on(0), 10);
    ck_assert_uint_eq(issued_on(1), 0); /* the ping takes no slot */
    uint64_t begin = hl_now_ns();
    while (is_coming() && hl_now_ns() - begin < UINT64_C(20000000000)) {
        sched_yield();
    }
    put_and_flush(11);
    ck_assert_uint_eq(issued_on(0), 10);
    ck_assert_uint_eq(issued_on(1), 1);
    hl_lane_open_async_stop();
    model.mute = false;
    stop();
}
END_TEST

/* Many threads for one closed lane: one ping, all borrow, and all go to their own lane. */
static void *visit(void *unused)
{
    uint64_t mine = 1, there = 0;
    hl_a32 error = {0};
    do {
        struct hl_xfer x = transfer(2, &there, &mine, &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
        hl_lane_flush(2, HL_REMOTE);
    } while (hl_lane_preferred >= hl_pool_count(&hl_pool));
    return unused;
}

START_TEST(borrowers_go_to_their_own_lane_when_it_is_open)
{
    chain = _i == 0 ? 0 : UINT64_MAX;
    start_with_closed_lane();
    pthread_t all[8];
    for (size_t i = 0; i < HL_COUNT_OF(all); i++) {
        pthread_create(&all[i], NULL, visit, NULL);
    }
    for (size_t i = 0; i < HL_COUNT_OF(all); i++) {
        pthread_join(all[i], NULL);
    }
    ck_assert(!is_coming());
    ck_assert_uint_gt(issued_on(1), 0);
    struct hl_lane *lane = hl_pool.head.lanes[1];
    ck_assert(hl_way_find(lane, 2)->heard);
    ck_assert_ptr_eq(lane->connected, hl_way_find(lane, 2));
    hl_lane_open_async_stop();
    stop();
}
END_TEST

/* Who expects operations has them find a connection. */
START_TEST(what_is_expected_is_connected)
{
    start(1);
    hl_lane_expect(3);
    hl_lane_expect(4); /* the first call counts */
    struct hl_lane *lane = hl_pool.head.lanes[0];
    bool heard = false;
    while (!heard) {
        if (hl_lease_try(&lane->lease)) {
            heard = hl_way_find(lane, 3)->heard;
            hl_lane_leave(lane);
        }
        sched_yield();
    }
    hl_lane_open_async_stop();
    ck_assert(!hl_way_find(lane, 4)->heard);
    ck_assert_uint_eq(issued_on(0), 0);
    ck_assert_uint_eq(hl_a64_load_relaxed(&lane->stat.at[HL_STAT_LANE_stray]), 0);
    stop();
}
END_TEST

/* A ping to a rank that dies may never be completed: others are asked all the same. */
START_TEST(a_ping_that_does_not_end_keeps_none_to_others_back) HL_NO_TSA
{
    start(1);
    struct hl_lane *lane = hl_pool.head.lanes[0];
    ck_assert(hl_lease_try(&lane->lease));
    struct hl_way *one = hl_way_find(lane, 1), *two = hl_way_find(lane, 2);
    model.hold = true;
    ck_assert_int_eq(hl_lane_ping(lane, two), 0);
    ck_assert_int_eq(hl_lane_ping(lane, two), -FI_EAGAIN);
    hl_lane_slot_fail_peer(lane, two);
    ck_assert_int_eq(hl_lane_ping(lane, one), 0);
    model.hold = false;
    while (!one->heard || lane->pings != NULL) {
        (void)hl_lane_progress(lane);
    }
    ck_assert_uint_eq(hl_a64_load_relaxed(&lane->stat.at[HL_STAT_LANE_stray]), 0);
    ck_assert_int_eq(hl_lane_ping(lane, one), 0); /* and again */
    hl_lane_leave(lane);
    stop();
}
END_TEST

/* The lane that comes belongs to somebody by then: the borrower goes on borrowing. */
START_TEST(borrowers_stay_away_from_a_lane_with_an_owner)
{
    start_with_closed_lane();
    put_and_flush(1);
    struct hl_lane *own = NULL;
    for (uint64_t i = 2; own == NULL; i++) { /* not while the helper opens it */
        own = hl_lane_own();
        put_and_flush(i);
    }
    ck_assert_ptr_eq(own, hl_pool.head.lanes[1]);
    uint64_t before = issued_on(1);
    put_and_flush(99);
    hl_lane_preferred = UINT32_MAX;
    hl_a32_store_relaxed(&hl_pool.next, 1);
    put_and_flush(100);
    ck_assert_uint_eq(issued_on(1), before);
    hl_lane_disown(own);
    hl_lane_open_async_stop();
    stop();
}
END_TEST

/* What a provider does not take is tried again or told, by its reason alone, whichever way it was posted. */
START_TEST(a_refused_post_waits_or_is_told) HL_NO_TSA
{
    static const struct {
        int code, err;
        const char *words;
    } rows[] = {{-FI_EMFILE, HL_ERR_OTHER, "ulimit -n"},
                {-ENFILE, HL_ERR_OTHER, "fs.file-max"},
                {-FI_ENOMEM, HL_ERR_NO_MEM, "rank 1"},
                {-FI_ECONNREFUSED, HL_ERR_OTHER, "rank 1"}};
    chain = _i == 0 ? 0 : UINT64_MAX;
    start(1);
    for (size_t i = 0; i < HL_COUNT_OF(rows); i++) {
        uint64_t source = 5, sink = 0;
        hl_a32 error = {0};
        struct hl_xfer x = transfer(1, &sink, &source, &error);
        model.post_error = rows[i].code;
        int rc = hl_lane_write(&x);
        hl_lane_flush(1, HL_REMOTE);
        model.post_error = 0;
        rc = rc != 0 ? rc : hl_lane_error_take(&error);
        ck_assert_int_eq(rc, rows[i].err);
        ck_assert_msg(strstr(hl_err_text(rc), rows[i].words) != NULL, "%s", hl_err_text(rc));
        ck_assert_uint_eq(sink, 0);
        while (hl_lane_write(&x) != 0) { /* nothing of it is left; a chain's connection is made anew first */
        }
        hl_lane_flush(1, HL_REMOTE);
        ck_assert_int_eq(hl_lane_error_take(&error), 0);
        ck_assert_uint_eq(sink, 5);
    }
    stop();
}
END_TEST

/* Stopped for longer than a rank may take nothing: the time was not the other's. */
START_TEST(who_was_stopped_blames_nobody) HL_NO_TSA
{
    start(1);
    struct hl_lane *lane = hl_pool.head.lanes[0];
    int rc = 0;
    ck_assert(hl_lease_try(&lane->lease));
    struct hl_way *way = hl_way_find(lane, 3);
    ck_assert_int_ge(hl_lane_refused(lane, way, -FI_EAGAIN), 0);
    usleep(1200000); /* hl_conf.peer_timeout is 1 */
    rc = hl_lane_refused(lane, way, -FI_EAGAIN);
    ck_assert_msg(rc >= 0, "%s", hl_err_text(rc));
    hl_lane_leave(lane);
    stop();
}
END_TEST

static void add_open_async(TCase *t)
{
    tcase_add_test(t, borrowers_and_flushes_do_not_wait_for_a_lane_that_opens);
    tcase_add_loop_test(t, borrowers_go_to_their_own_lane_when_it_is_open, 0, 2);
    tcase_add_test(t, borrowers_stay_away_from_a_lane_with_an_owner);
    tcase_add_test(t, what_is_expected_is_connected);
    tcase_add_test(t, a_ping_that_does_not_end_keeps_none_to_others_back);
    tcase_add_test(t, who_was_stopped_blames_nobody);
    tcase_add_loop_test(t, a_refused_post_waits_or_is_told, 0, 2);
}

#endif
