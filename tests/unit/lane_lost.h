/* Connections that are lost and come back, or do not. Part of test_lane.c. */
#ifndef LANE_LOST_H
#define LANE_LOST_H

#include "model_stubborn.h"

/* A lost connection fails what was under way and nothing else, however late the provider connects again: what
 * comes later waits for that. */
START_TEST(a_lost_connection_is_made_anew)
{
    chain = _i % 2 == 0 ? UINT64_MAX : 0;
    start(1);
    model.reconnect = _i < 2 ? 130 : 1000;
    for (int turn = 0; turn < 5; turn++) {
        uint64_t mine[100], there[100] = {0};
        hl_a32 error = {0};
        for (int i = 0; i < 100; i++) {
            mine[i] = (uint64_t)i + 1;
            model.error = model.lost = i == 0 ? 100 : 0;
            struct hl_xfer x = transfer(1, &there[i], &mine[i], &error);
            ck_assert_int_eq(hl_lane_write(&x), 0);
            if (i % 30 == 0) {
                hl_lane_flush(1, HL_REMOTE);
                ck_assert_int_eq(hl_lane_error_take(&error), i == 0 ? HL_ERR_PROC_ABORTED : 0);
            }
        }
        hl_lane_flush(-1, HL_REMOTE);
        ck_assert_int_eq(hl_lane_error_take(&error), 0);
        ck_assert_int_eq(memcmp(&there[1], &mine[1], sizeof mine - sizeof mine[0]), 0);
    }
    stop();
}
END_TEST

/* One that never comes back is an error, and not after ever. */
START_TEST(a_connection_that_stays_lost_is_reported)
{
    start(1);
    model.reconnect = INT32_MAX;
    model.error = model.lost = 100;
    model.own_error = _i * MODEL_LOST;
    uint64_t mine = 1, there = 0;
    hl_a32 error = {0};
    struct hl_xfer x = transfer(1, &there, &mine, &error);
    ck_assert_int_eq(hl_lane_write(&x), 0);
    hl_lane_flush(1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
    ck_assert_int_eq(hl_lane_write(&x), HL_ERR_PROC_ABORTED);
    stop();
}
END_TEST

/* Each try may take its provider seconds. */
START_TEST(a_reconnect_that_is_refused_is_not_tried_again_at_once) HL_NO_TSA
{
    start(1);
    struct hl_lane *lane = hl_pool.head.lanes[0];
    ck_assert(hl_lease_try(&lane->lease));
    struct hl_way *way = hl_way_find(lane, 1);
    hl_lane_slot_lost(lane, way);
    while (way->reads > 0) {
        ck_assert_int_eq(hl_lane_reconnect(lane, way), HL_LANE_STAY);
    }
    model.again = 100;
    hl_a64_store_relaxed(&model.refusals, 0);
    ck_assert_int_eq(hl_lane_reconnect(lane, way), HL_LANE_STAY);
    ck_assert_uint_eq(hl_a64_load_relaxed(&model.refusals), 1);
    hl_lane_leave(lane);
    model.again = 0;
    stop();
}
END_TEST

/* A message whose post ends well after its connection was lost, and whose acknowledgement never comes. */
START_TEST(a_message_does_not_outlive_its_connection)
{
    start(1);
    model.mute = model.hold = true;
    uint64_t source[3] = {1, 2, 3}, sink[3] = {0};
    hl_a32 error = {0};
    for (int i = 0; i < 3; i++) {
        struct hl_xfer x = transfer(2, &sink[i], &source[i], &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
    struct hl_lane *lane = hl_pool.head.lanes[0];
    for (int i = 0; i < 5; i++) {
        (void)hl_pool_tick(&hl_pool);
    }
    struct hl_way *way = lane->last.way;
    uint64_t unacked = 0;
    if (hl_lease_try(&lane->lease)) {
        unacked = way->unacked;
        hl_lane_slot_lost(lane, way);
        hl_lane_leave(lane);
    }
    ck_assert_uint_gt(unacked, 0);
    model.hold = false;
    int ticks = 0;
    while (!is_quiet(2) && ticks++ < 5 * HL_HEARTBEAT_TICKS) {
        (void)hl_pool_tick(&hl_pool);
    }
    ck_assert_int_lt(ticks, 3 * HL_HEARTBEAT_TICKS);
    hl_lane_flush(2, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
    stop();
}
END_TEST

static void lose_connection(int peer) HL_NO_TSA
{
    struct hl_lane *lane = hl_pool.head.lanes[0];
    ck_assert(hl_lease_try(&lane->lease));
    hl_lane_slot_lost(lane, hl_way_find(lane, peer));
    hl_lane_leave(lane);
}

/* The provider still holds a message when its connection is lost, and later gives it back without an error;
 * it never arrives. The acknowledgement of the next one is not its own. */
START_TEST(an_acknowledgement_ends_no_message_from_before_a_loss)
{
    chain = 0; /* each message leaves at once */
    start(1);
    struct hl_wire_rec rec = {.op = HL_WIRE_NOTICE};
    hl_a32 error = {0}, later = {0};
    struct hl_lane_message m = {.peer = 2, .rec = &rec, .error = &error};
    model.hold = true;
    ck_assert_int_eq(hl_lane_message(&m), 0);
    lose_connection(2);
    model.swallow = 1;
    model.hold = false;
    m.error = &later;
    ck_assert_int_eq(hl_lane_message(&m), 0);
    hl_lane_flush(2, HL_REMOTE);
    ck_assert_int_eq(model.swallow, 0);
    ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
    ck_assert_int_eq(hl_lane_error_take(&later), 0);
    stop();
}
END_TEST

/* The provider has no memory for one message: the one before it is under way, and its connection stands. */
START_TEST(a_message_outlives_the_refusal_of_the_next)
{
    chain = 0;
    start(1);
    struct hl_wire_rec rec = {.op = HL_WIRE_NOTICE};
    hl_a32 error = {0}, later = {0};
    struct hl_lane_message m = {.peer = 2, .rec = &rec, .error = &error};
    model.hold = true;
    ck_assert_int_eq(hl_lane_message(&m), 0);
    model.post_error = -FI_ENOMEM;
    m.error = &later;
    int rc = hl_lane_message(&m);
    model.post_error = 0;
    model.hold = false;
    hl_lane_flush(2, HL_REMOTE);
    ck_assert_int_eq(rc != 0 ? rc : hl_lane_error_take(&later), HL_ERR_NO_MEM);
    ck_assert_int_eq(hl_lane_error_take(&error), 0);
    stop();
}
END_TEST

/* One that the provider never gives back: reconnecting goes on, and ticks do not begin it anew. */
START_TEST(a_message_that_is_not_given_back_begins_no_reconnect) HL_NO_TSA
{
    chain = 0;
    start(1);
    struct hl_lane *lane = hl_pool.head.lanes[0];
    struct hl_wire_rec rec = {.op = HL_WIRE_NOTICE};
    hl_a32 error = {0};
    struct hl_lane_message m = {.peer = 2, .rec = &rec, .error = &error};
    model.hold = true;
    ck_assert_int_eq(hl_lane_message(&m), 0);
    lose_connection(2);
    ck_assert(hl_lease_try(&lane->lease));
    struct hl_way *way = hl_way_find(lane, 2);
    ck_assert_int_eq(hl_lane_reconnect(lane, way), HL_LANE_STAY);
    hl_lane_leave(lane);
    uint32_t left = way->reads;
    ck_assert_uint_lt(left, HL_RECONNECT_READS);
    for (int i = 0; i < 2 * HL_HEARTBEAT_TICKS; i++) {
        (void)hl_pool_tick(&hl_pool);
        ck_assert_uint_le(way->reads, left);
    }
    model.hold = false;
    hl_lane_flush(2, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
    stop();
}
END_TEST

/* A message that has left and never arrives: the next one shows it, or, when none comes, a ping. Its
 * operations fail, those after the next HELLO do not. */
START_TEST(a_message_that_got_lost_is_missed)
{
    start(1);
    model.numbers = true;
    uint64_t source[3] = {1, 2, 3}, sink[3] = {0};
    hl_a32 error = {0};
    for (int turn = 0; turn < 3; turn++) {
        model.swallow = turn % 2 == _i ? 1 : 2; /* with two, one that says HELLO */
        for (int i = 0; i <= turn; i++) {
            struct hl_lane_message m = {.peer = 0, .error = &error};
            struct hl_wire_rec rec = {.op = HL_WIRE_NOTICE};
            m.rec = &rec;
            ck_assert_int_eq(hl_lane_message(&m), 0);
        }
        int ticks = 0;
        while (!is_quiet(0) && ticks++ < 20 * HL_HEARTBEAT_TICKS) {
            (void)hl_pool_tick(&hl_pool);
        }
        hl_lane_flush(0, HL_REMOTE);
        ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
        model.swallow = 0;
    }
    struct hl_xfer x = transfer(0, &sink[0], &source[0], &error);
    ck_assert_int_eq(hl_lane_write(&x), 0);
    hl_lane_flush(0, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), 0);
    ck_assert_uint_eq(sink[0], 1);
    stop();
}
END_TEST

/* What ends without the provider's word is over for those who wait for everything, too. */
START_TEST(a_chain_that_fails_unsent_leaves_nothing_open) HL_NO_TSA
{
    chain = UINT64_MAX;
    start(1);
    model.hold = true;
    uint64_t source = 1, sink = 0;
    hl_a32 error = {0};
    struct hl_xfer x = transfer(2, &sink, &source, &error);
    ck_assert_int_eq(hl_lane_write(&x), 0);
    struct hl_lane *lane = hl_pool.head.lanes[0];
    ck_assert(hl_lease_try(&lane->lease));
    struct hl_way *way = hl_way_find(lane, 2);
    ck_assert_ptr_nonnull(way->chain);
    hl_chain_fail(lane, way, HL_ERR_PROC_ABORTED);
    hl_lane_leave(lane);
    hl_lane_flush(-1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
    stop();
}
END_TEST

static void read_queue(void) HL_NO_TSA
{
    struct hl_lane *lane = hl_pool.head.lanes[0];
    ck_assert(hl_lease_try(&lane->lease));
    (void)hl_lane_progress(lane);
    hl_lane_leave(lane);
}

/* A put that goes by itself. */
static struct hl_xfer too_long_for_chains(int peer, hl_a32 *error)
{
    static uint8_t large[8192], there[8192];
    return (struct hl_xfer){
        .peer = peer, .addr = (uint64_t)(uintptr_t)there, .buf = large, .len = sizeof large, .error = error};
}

/* The chain that is open when its connection is lost stands at the tail of the ring, and operations to
 * another rank fill the ring behind it. Its connection is tried without a place in the ring: by the next
 * operation, or (second case) by ticks. */
START_TEST(a_full_ring_goes_on_when_its_oldest_chain_has_lost_its_connection)
{
    start(1);
    uint64_t mine = 7, sink = 0;
    hl_a32 error = {0};
    struct hl_xfer x = transfer(1, &sink, &mine, &error);
    ck_assert_int_eq(hl_lane_write(&x), 0);
    lose_connection(1);
    x = too_long_for_chains(2, &error);
    for (unsigned i = 1; i < HL_LANE_SLOTS; i++) {
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
    ck_assert_uint_eq(sink, 0);
    if (_i == 0) {
        ck_assert_int_eq(hl_lane_write(&x), 0);
    } else {
        TICK_UNTIL(sink != 0);
    }
    ck_assert_uint_eq(sink, 7);
    hl_lane_flush(-1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), 0);
    stop();
}
END_TEST

/* A chain that has not left is none of what is lost, however often its connection is tried in vain. */
START_TEST(a_chain_outlives_the_loss_of_its_connection)
{
    start(1);
    model.reconnect = 1000;
    uint64_t mine[2] = {7, 8}, sink[2] = {0};
    hl_a32 error = {0}, other = {0};
    struct hl_xfer direct = too_long_for_chains(1, &other);
    model.error = model.lost = 100;
    for (int i = 0; i < 2; i++) {
        struct hl_xfer x = transfer(1, &sink[i], &mine[i], &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
    ck_assert_int_eq(hl_lane_write(&direct), 0);
    const struct hl_way *way = hl_way_find(hl_pool.head.lanes[0], 1);
    while (!way->lost) {
        ck_assert_ptr_nonnull(way->chain);
        read_queue();
    }
    model.error = model.lost = 0;
    hl_lane_flush(1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&other), HL_ERR_PROC_ABORTED);
    ck_assert_int_eq(hl_lane_error_take(&error), 0);
    ck_assert(sink[0] == 7 && sink[1] == 8);
    stop();
}
END_TEST

/* Its operations end when the connection is given up, also while a read that tries it is not back. */
START_TEST(a_chain_is_given_up_while_its_connection_is_tried)
{
    start(1);
    uint64_t mine = 7, sink = 0;
    hl_a32 error = {0};
    struct hl_xfer x = transfer(1, &sink, &mine, &error);
    ck_assert_int_eq(hl_lane_write(&x), 0);
    lose_connection(1);
    model.hold = true;
    hl_lane_flush(1, HL_REMOTE);
    hl_lane_flush(-1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
    ck_assert_uint_eq(sink, 0);
    model.hold = false;
    while (hl_lane_write(&x) != 0) {
    }
    hl_lane_flush(-1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), 0);
    ck_assert_uint_eq(sink, 7);
    stop();
}
END_TEST

/* A ring that others fill for long says nothing of the rank whose connection is to be tried. */
START_TEST(nobody_is_given_up_for_a_full_ring) HL_NO_TSA
{
    chain = 0;
    start(1);
    uint64_t mine = 7, sink = 0;
    hl_a32 error = {0};
    struct hl_xfer x = transfer(2, &sink, &mine, &error);
    model.hold = true;
    for (unsigned i = 0; i < HL_LANE_SLOTS; i++) {
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
    lose_connection(1);
    struct hl_lane *lane = hl_pool.head.lanes[0];
    ck_assert(hl_lease_try(&lane->lease));
    uint64_t begin = hl_now_ns();
    while (hl_now_ns() - begin < UINT64_C(2200000000)) { /* 2 s is the limit */
        ck_assert_int_eq(hl_lane_reconnect(lane, hl_way_find(lane, 1)), HL_LANE_STAY);
    }
    hl_lane_leave(lane);
    model.hold = false;
    x.peer = 1;
    ck_assert_int_eq(hl_lane_write(&x), 0);
    hl_lane_flush(-1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), 0);
    stop();
}
END_TEST

/* The read of the queue that gives a message its credit may find the connection lost. */
START_TEST(no_message_is_posted_on_a_way_that_was_found_lost_meanwhile) HL_NO_TSA
{
    chain = 0; /* each message leaves at once */
    start(1);
    model.hold = true;
    model.reconnect = 100;
    hl_a32 error = {0}, last = {0};
    struct hl_wire_rec rec = {.op = HL_WIRE_NOTICE};
    for (int i = 0; i <= HL_WIRE_CREDITS; i++) {
        struct hl_lane_message m = {.peer = 1, .rec = &rec, .error = i < HL_WIRE_CREDITS ? &error : &last};
        ck_assert_int_eq(hl_lane_message(&m), 0);
    }
    struct hl_lane *lane = hl_pool.head.lanes[0];
    ck_assert(hl_lease_try(&lane->lease));
    struct hl_way *way = hl_way_find(lane, 1);
    model.hold = false;
    model.error = model.lost = 100;
    while (!way->lost) {
        ck_assert_int_eq(hl_chain_send(lane, way, HL_CHAIN_AS_MESSAGE), HL_LANE_STAY);
    }
    ck_assert_ptr_nonnull(way->chain);
    ck_assert_uint_eq(way->messages, HL_WIRE_CREDITS);
    model.error = model.lost = 0;
    hl_lane_leave(lane);
    hl_lane_flush(1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
    ck_assert_int_eq(hl_lane_error_take(&last), 0);
    stop();
}
END_TEST

/* So may the one that makes room in a full ring: then there is no slot, and who asked for it looks at its way
 * anew. */
START_TEST(no_slot_is_given_for_a_way_that_was_found_lost_meanwhile) HL_NO_TSA
{
    chain = 0;
    start(1);
    model.error = model.lost = 100;
    uint64_t mine = 7, sink = 0;
    hl_a32 error = {0};
    struct hl_xfer x = transfer(1, &sink, &mine, &error);
    ck_assert_int_eq(hl_lane_write(&x), 0);
    struct hl_lane *lane = hl_pool.head.lanes[0];
    ck_assert(hl_lease_try(&lane->lease));
    const struct hl_way *way = hl_way_find(lane, 1);
    hl_a64_store_relaxed(&lane->issued, HL_LANE_SLOTS); /* as if all others had ended */
    while (!way->lost) {
        ck_assert_ptr_null(hl_lane_slot_take(lane));
    }
    ck_assert_ptr_nonnull(hl_lane_slot_take(lane));
    model.error = model.lost = 0;
    hl_lane_leave(lane);
    hl_lane_flush(1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
    stop();
}
END_TEST

static void add_lost(TCase *t)
{
    tcase_add_loop_test(t, a_full_ring_goes_on_when_its_oldest_chain_has_lost_its_connection, 0, 2);
    tcase_add_test(t, a_chain_outlives_the_loss_of_its_connection);
    tcase_add_test(t, a_chain_is_given_up_while_its_connection_is_tried);
    tcase_add_test(t, nobody_is_given_up_for_a_full_ring);
    tcase_add_test(t, no_message_is_posted_on_a_way_that_was_found_lost_meanwhile);
    tcase_add_test(t, no_slot_is_given_for_a_way_that_was_found_lost_meanwhile);
    tcase_add_loop_test(t, a_lost_connection_is_made_anew, 0, 4);
    tcase_add_test(t, a_reconnect_that_is_refused_is_not_tried_again_at_once);
    tcase_add_loop_test(t, a_connection_that_stays_lost_is_reported, 0, 2);
    tcase_add_test(t, a_message_does_not_outlive_its_connection);
    tcase_add_test(t, an_acknowledgement_ends_no_message_from_before_a_loss);
    tcase_add_test(t, a_message_that_is_not_given_back_begins_no_reconnect);
    tcase_add_test(t, a_message_outlives_the_refusal_of_the_next);
    tcase_add_loop_test(t, a_message_that_got_lost_is_missed, 0, 2);
    tcase_add_test(t, a_chain_that_fails_unsent_leaves_nothing_open);
}

/* A provider that still holds an operation to a rank that died keeps its endpoint, and may write into the
 * receives posted there, the context of a slot, or a way's heartbeat, or send what it holds. So a later
 * opening has other memory for that lane. */
START_TEST(what_an_endpoint_that_stays_open_may_use_is_kept) HL_NO_TSA
{
    chain = UINT64_MAX;
    start(1);
    struct hl_lane *lane = hl_pool.head.lanes[0];
    uint64_t mine = 1, there[2] = {0};
    hl_a32 error = {0};
    for (int peer = 1; peer <= 2; peer++) {
        struct hl_xfer x = transfer(peer, &there[peer - 1], &mine, &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
        if (peer == 1) {
            hl_lane_flush(1, HL_REMOTE);
            model.hold = true;
        }
    }
    ck_assert(hl_lease_try(&lane->lease));
    struct hl_way *way = hl_way_find(lane, 2);
    (void)hl_chain_send(lane, way, HL_CHAIN_AS_MESSAGE);
    const struct hl_lane_slot *held = way->last;
    const struct hl_chain *sent = held->chain;
    hl_lane_slot_fail_peer(lane, way);
    hl_lane_leave(lane);
    const void *receives = lane->fab->receives;
    size_t bytes = lane->fab->receives_len;
    hl_pool_close(&hl_pool);
    ck_assert_int_gt(model.objects, 0);
    must_be_kept(receives, bytes, hl_mem_buffer_take);
    must_be_kept(sent, sizeof *sent + hl_fab.eager, hl_mem_buffer_take);
    must_be_kept(way, hl_round_up(sizeof *way, HL_CACHELINE), malloc);
    model.hold = false;
    for (int turn = 0; turn < 2; turn++) {
        ck_assert_int_eq(hl_pool_open(&hl_pool, 1, RANKS), 0);
        struct hl_lane *later = hl_pool.head.lanes[0];
        ck_assert_ptr_ne(later, lane);
        ck_assert(hl_lease_try(&later->lease));
        ck_assert_int_eq(hl_lane_make_ready(later), 0);
        hl_lane_leave(later);
        ck_assert(held->quarantined);
        ck_assert_ptr_eq(later->older, lane);
        hl_pool_close(&hl_pool);
    }
}
END_TEST

#endif
