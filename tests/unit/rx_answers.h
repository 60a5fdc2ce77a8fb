/* Answers of a receive endpoint that do not leave, or get lost. Part of test_rx.c. */
#ifndef RX_ANSWERS_H
#define RX_ANSWERS_H

#include "rx_window.h"
#include "senders.h"

/* Allocations that fail: the n-th from now, 0: none; of all later ones, too, if n is negative. */
static int fail_send, fail_calloc;

static bool fails_now(int *countdown)
{
    return *countdown < 0 || (*countdown > 0 && --*countdown == 0);
}

struct hl_rx_outbound *__real_hl_rx_sends_new(void);
struct hl_rx_outbound *__wrap_hl_rx_sends_new(void);
struct hl_rx_outbound *__wrap_hl_rx_sends_new(void)
{
    return fails_now(&fail_send) ? NULL : __real_hl_rx_sends_new();
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now(&fail_calloc) ? NULL : __real_calloc(count, size);
}

/* What has come back to lane 0, oldest first. */
static struct {
    struct hl_wire_head head[20];
    int count;
    bool deaf; /* nothing arrives */
} arrived;

static void answer_in(uint64_t name, const void *bytes, size_t len)
{
    ck_assert_ptr_null(hl_wire_check(bytes, len, LANE_NONCE, 2));
    ck_assert_uint_eq(name, 2 * MODEL_NAMES);
    if (!arrived.deaf) {
        ck_assert_int_lt(arrived.count, (int)HL_COUNT_OF(arrived.head));
        memcpy(&arrived.head[arrived.count++], bytes, sizeof arrived.head[0]);
    }
}

static void open_answers(bool ordered)
{
    open_endpoint();
    model_stranger = answer_in;
    hl_fab.ordered = ordered;
    model.any_order = !ordered;
}

static void poll_often(void)
{
    for (int i = 0; i < 200; i++) {
        (void)hl_rx_net_poll();
    }
}

/* Takes the oldest of what has come arrived. */
static void must_come(unsigned flags, uint64_t seq, uint32_t count)
{
    poll_often();
    ck_assert_int_gt(arrived.count, 0);
    ck_assert_uint_eq(arrived.head[0].flags, flags);
    ck_assert_uint_eq(arrived.head[0].seq, seq);
    ck_assert_uint_eq(arrived.head[0].count, count);
    memmove(&arrived.head[0], &arrived.head[1], (size_t)--arrived.count * sizeof arrived.head[0]);
}

/* The lane learns of its message by the ping that follows. */
START_TEST(an_acknowledgement_without_memory_is_asked_for)
{
    open_answers(true);
    fail_send = 2; /* the first one is for answers, of which there are none */
    send_from_lane(0, 1, true, true);
    poll_often();
    ck_assert_uint_eq(far.ran[0], 1);
    ck_assert_int_eq(arrived.count, 0);
    send_from_lane(0, 1, true, false);
    must_come(0, 1, 0);
    send_from_lane(0, 2, false, true);
    must_come(0, 2, 0);
    hl_rx_net_close();
}
END_TEST

START_TEST(senders_are_found_where_there_is_no_memory_for_more)
{
    struct hl_rx_senders s = {0};
    int rank = 0;
    fail_calloc = -1;
    ck_assert_ptr_null(hl_rx_senders_get(&s, 1, 0));
    fail_calloc = 0;
    ck_assert_ptr_null(hl_rx_senders_find(&s, 1, 0));
    ck_assert_ptr_nonnull(hl_rx_senders_get(&s, 0, 0));
    fail_calloc = -1;
    while (hl_rx_senders_get(&s, rank + 1, 0) != NULL) {
        rank++;
    }
    ck_assert_int_gt(rank, 40); /* more than half of the places that there are */
    for (int i = 0; i <= rank; i++) {
        ck_assert_ptr_nonnull(hl_rx_senders_get(&s, i, 0));
        ck_assert_ptr_eq(hl_rx_senders_get(&s, i, 0), hl_rx_senders_find(&s, i, 0));
    }
    ck_assert_ptr_null(hl_rx_senders_find(&s, rank + 1, 0));
    fail_calloc = 0;
    ck_assert_ptr_nonnull(hl_rx_senders_get(&s, rank + 1, 0));
    hl_rx_senders_free(&s);
}
END_TEST

static void add_answers(TCase *t)
{
    tcase_add_test(t, an_acknowledgement_without_memory_is_asked_for);
    tcase_add_test(t, senders_are_found_where_there_is_no_memory_for_more);
}

#endif
