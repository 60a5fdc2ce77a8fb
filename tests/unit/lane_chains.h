/* Chains of a lane over the model provider: when they travel, what their origin waits for, that answers fit.
 */
#ifndef LANE_CHAINS_H
#define LANE_CHAINS_H

/* Ticks until `done`, or 1000 of them: as the receive thread does when nobody calls. */
#define TICK_UNTIL(done)                                                                                     \
    for (int tick_ = 0; tick_ < 1000 && !(done); tick_++) {                                                  \
        (void)hl_pool_tick(&hl_pool);                                                                        \
    }

START_TEST(a_put_arrives_without_further_calls)
{
    start(2);
    static uint64_t sink[3];
    uint64_t source[3] = {7, 8, 9};
    hl_a32 error = {0};
    for (int i = 0; i < 3; i++) {
        struct hl_xfer x = transfer(1, &sink[i], &source[i], &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
    ck_assert(hl_pool_tick(&hl_pool));
    ck_assert_uint_eq(sink[2], 0); /* younger than a tick: others may join */
    TICK_UNTIL(sink[2] == 9);
    ck_assert(sink[0] == 7 && sink[1] == 8 && sink[2] == 9);
    TICK_UNTIL(!hl_pool_tick(&hl_pool));
    ck_assert(!hl_pool_tick(&hl_pool)); /* nothing is open: ticks may end */
    ck_assert(is_quiet(1));
    stop();
}
END_TEST

/* Adds *one to *sum at rank 2, in the order of the key's other operations. */
static void add_ordered(uint64_t *sum, uint64_t *one, uint64_t key, hl_a32 *error)
{
    struct hl_lane_atomic a = {.x = transfer(2, sum, one, error),
                               .op = HL_OP_SUM,
                               .basic = HL_BASIC_U64,
                               .n = 1,
                               .ordered = true,
                               .order_key = key};
    ck_assert_int_eq(hl_lane_atomic(&a), 0);
}

/* Ordered operations have a lane by their key: a wait of their thread sends them there, without ticks. */
START_TEST(a_wait_sends_the_chains_of_its_thread_on_other_lanes)
{
    chain = UINT64_MAX;
    start(4);
    static uint64_t one = 1, sum;
    hl_a32 error = {0};
    for (uint64_t key = 0; key < 16; key++) {
        add_ordered(&sum, &one, key, &error);
        for (int pass = 0; pass < 100 && sum <= key; pass++) {
            (void)hl_lane_poll(NULL);
        }
        ck_assert_uint_eq(sum, key + 1);
    }
    hl_lane_flush(2, HL_REMOTE);
    stop();
}
END_TEST

START_TEST(puts_are_over_for_their_origin_with_the_copy)
{
    start(1);
    static uint64_t sink;
    uint64_t source = 5;
    hl_a32 error = {0};
    struct hl_req req;
    hl_req_init(&req, HL_REQ_RMA);
    struct hl_xfer x = transfer(1, &sink, &source, &error);
    x.req = &req;
    model.hold = true;
    ck_assert_int_eq(hl_lane_write(&x), 0);
    ck_assert(hl_req_is_done(&req));
    hl_lane_flush(1, HL_LOCAL); /* returns although nothing completes */
    hl_lane_flush(-1, HL_LOCAL);
    source = 6;
    ck_assert(!is_quiet(1));
    model.hold = false;
    hl_lane_flush(1, HL_REMOTE);
    ck_assert_uint_eq(sink, 5);
    stop();
}
END_TEST

/* Reads completions, and sends nothing, until what concerns the origin's buffers has ended. */
static void progress_until_local(int peer) HL_NO_TSA
{
    struct hl_lane *lane = hl_pool.head.lanes[0];
    const struct hl_way *way = hl_way_find(lane, peer);
    while (hl_a64_load_relaxed(&way->local_done) < hl_a64_load_relaxed(&way->local_issued)) {
        ck_assert(hl_lease_try(&lane->lease));
        (void)hl_lane_progress(lane);
        hl_lane_leave(lane);
    }
}

/* A get that joins an older chain takes back nothing of what local flushes wait for. */
START_TEST(a_local_flush_waits_for_what_came_behind_an_older_chain)
{
    start(1);
    static uint8_t large[8192], there[8192];
    static uint64_t remote[2] = {77, 78};
    uint64_t result[2] = {0};
    hl_a32 error = {0};
    struct hl_xfer first = transfer(1, &remote[0], &result[0], &error);
    struct hl_xfer second = transfer(1, &remote[1], &result[1], &error);
    struct hl_xfer direct = {
        .peer = 1, .addr = (uint64_t)(uintptr_t)there, .buf = large, .len = sizeof large, .error = &error};
    model.hold = true;
    ck_assert_int_eq(hl_lane_read(&first), 0);
    ck_assert_int_eq(hl_lane_write(&direct), 0);
    ck_assert_int_eq(hl_lane_read(&second), 0);
    const struct hl_way *way = hl_way_find(hl_pool.head.lanes[0], 1);
    ck_assert_uint_eq(hl_a64_load_relaxed(&way->local_issued), hl_a64_load_relaxed(&way->issued));
    model.hold = false;
    hl_lane_flush(1, HL_REMOTE);
    ck_assert(result[0] == 77 && result[1] == 78);
    stop();
}
END_TEST

/* A local flush passes over the chain of a put; a get that comes later must not slip into that chain. */
START_TEST(a_local_flush_waits_for_every_get)
{
    start(1);
    static uint8_t large[8192], there[8192];
    static uint64_t sink, remote = 77;
    uint64_t source = 5;
    model.idle = 60;
    for (int i = 0; i < 300; i++) {
        uint64_t result = 0;
        hl_a32 error = {0};
        struct hl_xfer put = transfer(1, &sink, &source, &error);
        struct hl_xfer get = transfer(1, &remote, &result, &error);
        struct hl_xfer direct = {.peer = 1,
                                 .addr = (uint64_t)(uintptr_t)there,
                                 .buf = large,
                                 .len = sizeof large,
                                 .error = &error};
        ck_assert_int_eq(hl_lane_write(&put), 0);
        if (i % 3 != 0) {
            ck_assert_int_eq(hl_lane_write(&direct), 0);
        }
        if (i % 3 == 2) { /* the direct one ends, the chain stays open */
            progress_until_local(1);
        }
        ck_assert_int_eq(hl_lane_read(&get), 0);
        i % 2 ? hl_lane_flush(1, HL_LOCAL) : hl_lane_flush(-1, HL_LOCAL);
        ck_assert_uint_eq(result, 77);
    }
    hl_lane_flush(-1, HL_REMOTE);
    stop();
}
END_TEST

/* The short way judges the whole length, not the 32 bits that a record has for it. */
START_TEST(a_long_transfer_joins_no_chain)
{
    start(1);
    uint64_t source = 6, sink[2] = {0, 0};
    hl_a32 error = {0};
    struct hl_xfer first = transfer(1, &sink[0], &source, &error);
    first.token = 7;
    ck_assert_int_eq(hl_lane_write(&first), 0);
    struct hl_wire_short rec = {.op = HL_WIRE_PUT, .addr = (uint64_t)(uintptr_t)&sink[1]};
    ck_assert(!hl_lane_record_short(NULL, 7, rec, &source, ((size_t)1 << 32) + 8));
    ck_assert(!hl_lane_put_short(7, rec.addr, &source, ((size_t)1 << 32) + 8));
    hl_lane_flush(1, HL_REMOTE);
    ck_assert(sink[0] == 6 && sink[1] == 0);
    ck_assert_int_eq(hl_lane_write(&first), 0);
    ck_assert(hl_lane_record_short(NULL, 7, rec, &source, 8));
    hl_lane_flush(1, HL_REMOTE);
    ck_assert_uint_eq(sink[1], 6);
    stop();
}
END_TEST

/* The peer takes messages and never answers; the read that asks whether it lives fails. */
START_TEST(a_peer_that_falls_silent_is_found_dead)
{
    start(2);
    model.mute = true;
    uint64_t source = 1, sink = 0;
    hl_a32 error = {0};
    for (int i = 0; i < 3; i++) {
        struct hl_xfer x = transfer(2, &sink, &source, &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
    TICK_UNTIL(sink == 1);
    model.error = model.lost = 100; /* it has died since */
    int ticks = 0;
    while (!is_quiet(2) && ticks++ < 5 * HL_HEARTBEAT_TICKS) {
        (void)hl_pool_tick(&hl_pool);
    }
    ck_assert_int_gt(ticks, HL_HEARTBEAT_TICKS / 2);
    ck_assert_int_lt(ticks, 3 * HL_HEARTBEAT_TICKS);
    hl_lane_flush(2, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
    stop();
}
END_TEST

/* Puts and gets of all sizes: the model ends the test when the answers of a chain do not fit into a message.
 */
START_TEST(answers_of_a_chain_fit_into_one_message)
{
    start(1);
    enum { AREA = 1 << 16 };
    static uint8_t remote[AREA], local[AREA];
    unsigned state = seed;
    hl_a32 error[3] = {{0}};
    for (int i = 0; i < AREA; i++) {
        remote[i] = (uint8_t)rand_r(&state);
    }
    for (int round = 0; round < 200; round++) {
        memset(local, 0, sizeof local);
        size_t at = 0;
        while (at < AREA - 4096) {
            size_t len = (size_t)(rand_r(&state) % 2 ? rand_r(&state) % 64 : rand_r(&state) % 4096) + 1;
            struct hl_xfer x = {.peer = 1,
                                .addr = (uint64_t)(uintptr_t)remote + at,
                                .buf = local + at,
                                .len = len,
                                .error = &error[rand_r(&state) % 3]};
            if (rand_r(&state) % 3 == 0) {
                memcpy(local + at, remote + at, len);
                ck_assert_int_eq(hl_lane_write(&x), 0);
            } else {
                ck_assert_int_eq(hl_lane_read(&x), 0);
            }
            at += len;
        }
        hl_lane_flush(1, HL_REMOTE);
        ck_assert_int_eq(memcmp(local, remote, at), 0);
    }
    stop();
}
END_TEST

START_TEST(words_are_put_from_copies)
{
    chain = 0;
    start(1);
    enum { N = 2 * HL_LANE_SLOTS };
    static uint64_t sink[N];
    uint64_t word = 0;
    hl_a32 error = {0};
    int copied = 0;
    for (int i = 0; i < N; i++) {
        struct hl_xfer x = transfer(1, &sink[i], &word, &error);
        x.len = i % 2 == 0 ? 8 : 3;
        word = (uint64_t)i + 7;
        if (hl_lane_write_word(NULL, &x)) {
            copied++;
        } else {
            ck_assert_int_eq(hl_lane_write(&x), 0);
            hl_lane_flush(1, HL_LOCAL);
        }
        word = UINT64_MAX; /* it is mine again */
    }
    hl_lane_flush(1, HL_REMOTE);
    for (int i = 0; i < N; i++) {
        ck_assert_uint_eq(sink[i], (uint64_t)i + 7);
    }
    ck_assert_int_gt(copied, N / 4);
    stop();
}
END_TEST

/* The second case: the provider takes no pieces as long as ours. */
START_TEST(long_transfers_go_in_pieces)
{
    longest = _i == 0 ? SIZE_MAX : 10000;
    start(2);
    ck_assert_uint_eq(hl_pool.piece, _i == 0 ? HL_PIECE : 9984);
    size_t len = 3 * HL_PIECE + 24;
    uint8_t *from = malloc(len), *to = calloc(1, len);
    for (size_t i = 0; i < len; i++) {
        from[i] = (uint8_t)(i * 7);
    }
    hl_a32 error = {0};
    struct hl_req req;
    hl_req_init(&req, HL_REQ_RMA);
    struct hl_xfer x = {
        .peer = 1, .addr = (uint64_t)(uintptr_t)to, .buf = from, .len = len, .error = &error, .req = &req};
    ck_assert_int_eq(hl_lane_write(&x), 0);
    hl_lane_flush(1, HL_REMOTE);
    ck_assert(hl_req_is_done(&req));
    ck_assert_int_eq(memcmp(from, to, len), 0);
    for (size_t n = hl_pool.piece - 1; n <= hl_pool.piece + 1; n++) { /* at once, and cut */
        memset(to, 0, n);
        x = (struct hl_xfer){.peer = 1, .addr = x.addr, .buf = from, .len = n, .error = &error};
        ck_assert_int_eq(hl_lane_write(&x), 0);
        hl_lane_flush(1, HL_REMOTE);
        ck_assert_int_eq(hl_lane_error_take(&error), 0);
        ck_assert_int_eq(memcmp(from, to, n), 0);
    }
    free(from);
    free(to);
    stop();
}
END_TEST

static void add_chains(TCase *t)
{
    tcase_add_loop_test(t, long_transfers_go_in_pieces, 0, 2);
    tcase_add_test(t, a_put_arrives_without_further_calls);
    tcase_add_test(t, a_wait_sends_the_chains_of_its_thread_on_other_lanes);
    tcase_add_test(t, puts_are_over_for_their_origin_with_the_copy);
    tcase_add_test(t, a_local_flush_waits_for_every_get);
    tcase_add_test(t, a_local_flush_waits_for_what_came_behind_an_older_chain);
    tcase_add_test(t, a_long_transfer_joins_no_chain);
    tcase_add_test(t, a_peer_that_falls_silent_is_found_dead);
    tcase_add_test(t, words_are_put_from_copies);
    tcase_add_test(t, answers_of_a_chain_fit_into_one_message);
}

#endif
