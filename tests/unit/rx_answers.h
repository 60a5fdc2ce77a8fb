/* Answers of a receive endpoint that do not leave, or get lost. Part of test_rx.c. */
#ifndef RX_ANSWERS_H
#define RX_ANSWERS_H

#include "alive.h"
#include "model_counts.h"
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

static int records_came;

static void record_to_far(uint64_t name, const void *bytes, size_t len)
{
    const struct hl_wire_head *head = bytes;
    ck_assert_ptr_null(hl_wire_check(bytes, len, LANE_NONCE, 2));
    ck_assert_uint_eq(name, 2 * MODEL_NAMES);
    ck_assert_uint_eq(head->lane, HL_WIRE_RX);
    records_came++;
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

/* However many records are in a message, its target's NIC hears of two posts, and tells of the message, and
 * of the acknowledgement where that cannot be injected. (What the origin's hears: lane_posts.h.) */
START_TEST(a_message_of_many_records_is_two_posts_for_its_target)
{
    enum { RECORDS = 60 };
    struct {
        struct hl_wire_head head;
        struct hl_wire_rec rec[RECORDS];
    } m = {.head = {.nonce = LANE_NONCE,
                    .seq = 2,
                    .from = 1,
                    .kind = HL_WIRE_DATA,
                    .len = sizeof m,
                    .count = RECORDS}};
    bool ordered = _i > 0, injects = _i == 2;
    model.inject = injects ? 64 : 0;
    open_answers(ordered);
    send_from_lane(0, 1, true, true);
    must_come(ordered ? 0 : HL_WIRE_ONE, 1, 0);
    struct model_counts before = model_count(&(struct model_counts){0});
    for (uint64_t i = 0; i < RECORDS; i++) {
        m.rec[i] = (struct hl_wire_rec){.op = HL_WIRE_NOTICE, .aux = 2 + i};
    }
    ck_assert_int_eq((int)model_route(model_eps->number, &m, sizeof m), 0);
    must_come(ordered ? 0 : HL_WIRE_ONE, 2, 0);
    struct model_counts n = model_count(&before);
    ck_assert_uint_eq(far.ran[0], 1 + RECORDS);
    ck_assert_int_eq(n.posts, 1);
    ck_assert_int_eq(n.completions, !injects);
    ck_assert_int_eq(n.receives, 1);
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

/* How an answer gets lost; each where nothing can be injected, and where all of it could. */
enum { BY_ERROR, BY_REFUSAL, WAYS };

static void may_inject(bool may)
{
    model.inject = may ? 64 : 0;
}

/* Message `seq` arrives, and its answer does not. */
static void lose_the_answer(int way, uint64_t seq)
{
    model.error = way == BY_ERROR ? 100 : 0; /* then it was posted, and is in the model's hands */
    model.post_error = way == BY_REFUSAL ? -FI_ECONNREFUSED : 0;
    arrived.deaf = true;
    send_from_lane(0, seq, seq == 1, true);
    poll_often();
    ck_assert_int_eq(arrived.count, 0);
    arrived.deaf = false;
    model.error = 0;
    model.post_error = 0;
}

/* A refusal is lost. The lane asks, hears of a loss, and says HELLO: before that nothing runs, since its
 * acknowledgement would be that of the refused record, too. */
START_TEST(a_refusal_that_is_lost_is_no_success)
{
    may_inject(_i >= WAYS);
    open_answers(true);
    lane_op = HL_WIRE_HANG;
    lose_the_answer(_i % WAYS, 1);
    send_from_lane(0, 1, true, false);
    must_come(HL_WIRE_LOST, 1, 0);
    lane_op = HL_WIRE_NOTICE;
    send_from_lane(0, 2, false, true);
    must_come(HL_WIRE_LOST, 2, 0);
    ck_assert_uint_eq(far.ran[0], 0);
    far.ran[0] = 2;
    send_from_lane(0, 3, true, true);
    must_come(HL_WIRE_LOST, 1, 0); /* once more, if it knew of another loss only */
    must_come(0, 3, 0);
    send_from_lane(0, 4, false, true);
    must_come(0, 4, 0);
    ck_assert_uint_eq(far.ran[0], 4);
    ck_assert_int_eq(arrived.count, 0);
    hl_rx_net_close();
}
END_TEST

/* An acknowledgement of one message is lost, which no other one stands for. What comes later runs. */
START_TEST(an_acknowledgement_of_one_that_is_lost_is_told)
{
    may_inject(_i >= WAYS);
    open_answers(false);
    lose_the_answer(_i % WAYS, 1);
    send_from_lane(0, 1, true, false);
    must_come(HL_WIRE_LOST, 1, 0);
    send_from_lane(0, 2, false, true);
    must_come(HL_WIRE_ONE, 2, 0);
    send_from_lane(0, 2, true, false);
    must_come(HL_WIRE_LOST, 1, 0);
    send_from_lane(0, 3, true, true);
    must_come(HL_WIRE_LOST, 1, 0);
    must_come(HL_WIRE_ONE, 3, 0);
    send_from_lane(0, 3, true, false);
    must_come(HL_WIRE_ONE, 0, 0);
    ck_assert_uint_eq(far.ran[0], 3);
    hl_rx_net_close();
}
END_TEST

/* News of a loss that is lost itself is told again. */
START_TEST(news_of_a_loss_are_not_lost)
{
    may_inject(_i >= 2);
    open_answers(_i % 2 == 0);
    lane_op = HL_WIRE_HANG;
    lose_the_answer(BY_ERROR, 1);
    lane_op = HL_WIRE_NOTICE;
    far.ran[0] = 1;
    model.error = 100;
    arrived.deaf = true;
    send_from_lane(0, 2, true, true); /* by chance the lane says HELLO, and does not know */
    poll_often();
    arrived.deaf = false;
    model.error = 0;
    send_from_lane(0, 2, true, false);
    must_come(HL_WIRE_LOST, 2, 0);
    hl_rx_net_close();
}
END_TEST

/* The peer takes nothing for too long: an acknowledgement that waits behind the one that is given up does not
 * leave either. */
START_TEST(what_waits_behind_a_lost_answer_does_not_stand_for_it)
{
    model.inject = 0;
    open_answers(true);
    hl_conf.peer_timeout = 1;
    model.post_error = -FI_EAGAIN;
    lane_op = HL_WIRE_HANG;
    send_from_lane(0, 1, true, true);
    poll_often();
    uint64_t begin = hl_now_ns();
    while (hl_now_ns() - begin < 700000000) {
        nap();
    }
    lane_op = HL_WIRE_NOTICE;
    far.ran[0] = 1;
    send_from_lane(0, 2, false, true);
    while (hl_now_ns() - begin < 1200000000) {
        poll_often();
        nap();
    }
    model.post_error = 0;
    poll_often();
    ck_assert_int_eq(arrived.count, 0);
    ck_assert(!hl_rx_sends_wait());
    send_from_lane(0, 2, true, false);
    must_come(HL_WIRE_LOST, 2, 0);
    hl_rx_net_close();
}
END_TEST

/* ---- cards that are not to be had, since another thread is in a fence ---- */

static bool in_a_fence;
static struct hl_rx_card far_card;

__typeof__(hl_fab_card_try) __real_hl_fab_card_try, __wrap_hl_fab_card_try;
int __wrap_hl_fab_card_try(int peer, enum hl_fab_part part, const void **data, size_t *len)
{
    if (peer != 1 || far_card.name_len == 0) {
        return __real_hl_fab_card_try(peer, part, data, len);
    }
    *data = &far_card;
    *len = sizeof far_card;
    return in_a_fence ? HL_ERR_AGAIN : 0;
}

/* A record waits for its peer's card, however long the fence lasts, and the peer is not taken for dead. */
START_TEST(a_record_waits_for_its_peers_card)
{
    uint64_t name = 2 * MODEL_NAMES, begin = hl_now_ns();
    struct hl_wire_rec rec = {.op = HL_WIRE_NOTICE};
    open_endpoint();
    model_stranger = record_to_far;
    hl_a32_store_release(&hl_rx.has_network, 1);
    far_card.name_len = sizeof name;
    memcpy(far_card.name, &name, sizeof name);
    hl_conf.peer_timeout = 1;
    in_a_fence = true;
    ck_assert_int_eq(hl_rx_send(1, &rec, NULL), 0);
    while (hl_now_ns() - begin < 1500000000) {
        ck_assert_int_eq(hl_rx_out_poll(), 0);
        ck_assert(hl_rx_out_waits());
        ck_assert(!hl_rx_gives_up(1, 100 * HL_RX_SECOND_NS));
        nap();
    }
    struct hl_rx_question ask = {.rank = 1};
    hl_rx_question_ask(&ask, hl_now_ns());
    ck_assert_uint_eq(ask.since_ns, 0); /* it has not been asked, so it is not silent */
    in_a_fence = false;
    model.post_error = -FI_EAGAIN; /* the connection takes its time, which begins only now */
    ck_assert_int_eq(hl_rx_out_poll(), 0);
    ck_assert(hl_rx_out_waits());
    model.post_error = 0;
    ck_assert_int_eq(hl_rx_out_poll(), 1);
    poll_often();
    ck_assert_int_eq(records_came, 1);
    hl_rx_question_ask(&ask, hl_now_ns());
    ck_assert_uint_ne(ask.since_ns, 0);
    hl_rx_net_close();
}
END_TEST

static void add_answers(TCase *t)
{
    tcase_add_test(t, an_acknowledgement_without_memory_is_asked_for);
    tcase_add_loop_test(t, a_message_of_many_records_is_two_posts_for_its_target, 0, 3);
    tcase_add_test(t, senders_are_found_where_there_is_no_memory_for_more);
    tcase_add_loop_test(t, a_refusal_that_is_lost_is_no_success, 0, 2 * WAYS);
    tcase_add_loop_test(t, an_acknowledgement_of_one_that_is_lost_is_told, 0, 2 * WAYS);
    tcase_add_loop_test(t, news_of_a_loss_are_not_lost, 0, 4);
    tcase_add_test(t, a_record_waits_for_its_peers_card);
    tcase_add_test(t, what_waits_behind_a_lost_answer_does_not_stand_for_it);
}

#endif
