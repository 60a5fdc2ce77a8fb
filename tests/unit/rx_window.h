/* Messages that complete in any order: the window by itself, records between receive endpoints, and lanes'
 * messages at a receive endpoint of the model provider. Part of test_rx.c. */
#ifndef RX_WINDOW_H
#define RX_WINDOW_H

#include "fab_lib.h"
#include "job.h"
#include "model.h"
#include "rx_streams.h"
#include "sends.h"
#include "util.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void shuffle(uint64_t *at, size_t n, unsigned *seed)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = (unsigned)rand_r(seed) % i;
        uint64_t kept = at[i - 1];
        at[i - 1] = at[k];
        at[k] = kept;
    }
}

/* Several streams, each number once or more, in any order. */
START_TEST(a_window_gives_each_message_once_and_in_turn)
{
    enum { STREAMS = 5, EACH = 200 };
    unsigned seed = (unsigned)seed_of_run();
    printf("TEST_SEED=%u\n", seed);
    struct hl_rx_window w = {0};
    uint64_t order[STREAMS * EACH], next[STREAMS];
    for (size_t i = 0; i < STREAMS * EACH; i++) {
        order[i] = i;
    }
    for (int i = 0; i < STREAMS; i++) {
        next[i] = 1;
    }
    shuffle(order, STREAMS * EACH, &seed);
    for (size_t i = 0; i < STREAMS * EACH; i++) {
        uint64_t stream = order[i] % STREAMS, seq = order[i] / STREAMS + 1;
        for (int times = rand_r(&seed) % 4 == 0 ? 2 : 1; times > 0; times--) {
            hl_rx_window_park(&w, stream, seq, &order[i], sizeof order[i]);
        }
        struct hl_rx_parked *m;
        while ((m = hl_rx_window_take(&w, stream, next[stream])) != NULL) {
            uint64_t was;
            memcpy(&was, m->bytes, sizeof was);
            ck_assert_uint_eq(m->len, sizeof was);
            ck_assert_uint_eq(was, (next[stream] - 1) * STREAMS + stream);
            next[stream]++;
            free(m);
        }
    }
    for (int i = 0; i < STREAMS; i++) {
        ck_assert_uint_eq(next[i], EACH + 1);
    }
    ck_assert_ptr_null(w.gaps); /* nothing is kept of streams without a gap */
    hl_rx_window_park(&w, 7, 3, order, 8);
    hl_rx_window_free(&w);
    ck_assert_ptr_null(w.gaps);
}
END_TEST

START_TEST(a_gap_is_a_loss_after_two_probes_of_it)
{
    const uint64_t s = HL_RX_WINDOW_NS;
    struct hl_rx_window w = {0};
    ck_assert(!hl_rx_window_probe(&w, 7, 4, 4, s)); /* none */
    ck_assert_ptr_null(w.gaps);
    ck_assert(!hl_rx_window_probe(&w, 7, 4, 6, s)); /* it may have overtaken them */
    ck_assert(!hl_rx_window_probe(&w, 7, 4, 6, 2 * s - 1));
    ck_assert(!hl_rx_window_probe(&w, 8, 4, 6, 2 * s)); /* another stream */
    ck_assert(!hl_rx_window_probe(&w, 7, 5, 6, 2 * s)); /* another gap: one of them has come */
    ck_assert(!hl_rx_window_probe(&w, 7, 5, 9, 3 * s - 1));
    ck_assert(hl_rx_window_probe(&w, 7, 5, 9, 3 * s));
    ck_assert(!hl_rx_window_probe(&w, 7, 9, 9, 4 * s)); /* no: they came */
    ck_assert(!hl_rx_window_probe(&w, 7, 9, 10, 5 * s));
    hl_rx_window_park(&w, 7, 11, &s, sizeof s);
    ck_assert_ptr_null(hl_rx_window_take(&w, 7, 10));
    ck_assert(hl_rx_window_probe(&w, 7, 9, 11, 6 * s)); /* what waits behind the gap changes nothing */
    hl_rx_window_free(&w);
}
END_TEST

/* ---- records between receive endpoints ---- */

static void open_unordered(void)
{
    open_streams();
    hl_fab.ordered = false;
}

/* The numbers 3 to 12, any order; a COUNT that overtakes them is no loss. */
START_TEST(records_in_any_order_run_in_theirs)
{
    open_unordered();
    unsigned seed = (unsigned)seed_of_run();
    uint64_t order[10], heard = 2;
    for (uint64_t i = 0; i < HL_COUNT_OF(order); i++) {
        order[i] = i + 3;
    }
    shuffle(order, HL_COUNT_OF(order), &seed);
    for (size_t i = 0; i < HL_COUNT_OF(order); i++) {
        ck_assert_int_eq(record_in(HL_WIRE_COUNT, 12), HL_RX_DONE);
        enum hl_rx_turn turn = record_in(HL_WIRE_GRANT, order[i]);
        ck_assert_int_eq(turn, order[i] == heard + 1 ? HL_RX_NEXT : HL_RX_DONE);
        heard += turn == HL_RX_NEXT;
        for (struct hl_rx_parked *m; turn == HL_RX_NEXT && (m = hl_rx_streams_next(1)) != NULL; free(m)) {
            ck_assert_uint_eq(((const struct hl_wire_head *)(const void *)m->bytes)->seq, ++heard);
        }
        ck_assert_int_eq(record_in(HL_WIRE_GRANT, order[i]), order[i] <= heard ? HL_RX_OLD : HL_RX_DONE);
    }
    ck_assert_uint_eq(heard, 12);
    hl_rx_streams_close();
}
END_TEST

/* Of the dead nothing is waited for. */
START_TEST(records_of_the_dead_wait_for_none)
{
    open_unordered();
    ck_assert_int_eq(record_in(HL_WIRE_GRANT, 4), HL_RX_DONE);
    ck_assert_int_eq(record_in(HL_WIRE_GONE, 6), HL_RX_NEXT);
    ck_assert_ptr_null(hl_rx_streams_next(1));
    hl_a8_store_release(&hl_rx.dead[1], 1);
    ck_assert_int_eq(record_in(HL_WIRE_GRANT, 9), HL_RX_NEXT);
    hl_rx_streams_close();
}
END_TEST

static void nap(void)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
}

/* Not before a second has passed, in which more may come. */
START_TEST(a_record_that_stays_away_ends_the_job)
{
    uint64_t begin = hl_now_ns();
    int status;
    pid_t child = fork();
    if (child == 0) {
        open_unordered();
        (void)record_in(HL_WIRE_GRANT, 4);
        while (hl_now_ns() - begin < 20 * HL_RX_WINDOW_NS) {
            (void)record_in(HL_WIRE_COUNT, 4);
            nap();
        }
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    ck_assert(hl_now_ns() - begin >= HL_RX_WINDOW_NS);
}
END_TEST

/* ---- lanes ---- */

#define LANES 3
#define LANE_MESSAGES 400
#define LANE_NONCE 77

/* Of lanes of rank 1: the number that runs next, and what was acknowledged. */
static struct {
    uint64_t ran[LANES];
    uint8_t acked[LANES][LANE_MESSAGES + 2]; /* times, by number */
    int lost;
    uint64_t lost_seq;
} far;

static int note_turn(const struct hl_rx_msg *msg)
{
    unsigned lane = msg->rec->index;
    ck_assert_uint_eq(msg->rec->aux, ++far.ran[lane]);
    return 0;
}

static void acknowledgement_in(uint64_t name, const void *bytes, size_t len)
{
    const struct hl_wire_head *head = bytes;
    ck_assert_ptr_null(hl_wire_check(bytes, len, LANE_NONCE, 2));
    ck_assert_uint_eq(head->kind, HL_WIRE_ACK);
    ck_assert_uint_eq(name, 2 * MODEL_NAMES + head->lane);
    if (head->flags == HL_WIRE_LOST) {
        far.lost++;
        far.lost_seq = head->seq;
    } else {
        ck_assert_uint_eq(head->flags, HL_WIRE_ONE);
        ck_assert_uint_le(head->seq, far.ran[head->lane]);
        far.acked[head->lane][head->seq]++;
    }
}

static uint8_t lane_op = HL_WIRE_NOTICE; /* what the records of lanes are; others than this one are refused */

/* Without records: a ping behind message `seq`. */
static void send_from_lane(unsigned lane, uint64_t seq, bool hello, bool records)
{
    struct {
        struct hl_wire_head head;
        struct hl_wire_hello hello;
        struct hl_wire_rec rec;
    } m = {.hello.len = 8};
    uint64_t name = 2 * MODEL_NAMES + lane;
    uint8_t out[sizeof m];
    size_t len = sizeof m.head;
    m.rec = (struct hl_wire_rec){.op = lane_op, .aux = seq, .index = lane};
    memcpy(m.hello.name, &name, sizeof name);
    if (hello) {
        memcpy(out + len, &m.hello, sizeof m.hello);
        len += sizeof m.hello;
    }
    if (records) {
        memcpy(out + len, &m.rec, sizeof m.rec);
        len += sizeof m.rec;
    }
    m.head = (struct hl_wire_head){.nonce = LANE_NONCE,
                                   .seq = seq,
                                   .from = 1,
                                   .lane = (uint16_t)lane,
                                   .kind = HL_WIRE_DATA,
                                   .flags = hello ? HL_WIRE_HELLO : 0,
                                   .len = (uint32_t)len,
                                   .count = records};
    memcpy(out, &m.head, sizeof m.head);
    ck_assert_int_eq((int)model_route(model_eps->number, out, len), 0);
}

static void open_endpoint(void)
{
    printf("TEST_SEED=%u\n", model_seed = (unsigned)seed_of_run());
    ck_assert_int_eq(hl_conf_load(), 0);
    hl_conf.provider = "model";
    hl_job.size = 2;
    hl_job.nonce = LANE_NONCE;
    model.any_order = true;
    model_stranger = acknowledgement_in;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    ck_assert_int_eq(hl_fab_open(), 0);
    hl_fab.ordered = false;
    hl_rx.dead = calloc(2, sizeof *hl_rx.dead);
    ck_assert_int_eq(hl_rx_handle(HL_WIRE_NOTICE, note_turn), 0);
    ck_assert_int_eq(hl_rx_net_open(), 0);
}

/* The first ones say HELLO, and others come before it. Each message has one acknowledgement, its own. */
START_TEST(messages_of_lanes_in_any_order_run_in_theirs)
{
    model.inject = _i == 0 ? 0 : 64;
    model.recv_again = 40;
    open_endpoint();
    uint64_t sent[LANES] = {0}, all = 0;
    unsigned seed = model_seed;
    while (all < LANES * LANE_MESSAGES) {
        unsigned lane = (unsigned)rand_r(&seed) % LANES;
        if (sent[lane] < LANE_MESSAGES && sent[lane] < far.ran[lane] + HL_WIRE_CREDITS &&
            model_eps->arrival_count < MODEL_RECVS) {
            sent[lane]++;
            send_from_lane(lane, sent[lane], sent[lane] == 1, true);
        }
        if (rand_r(&seed) % 4 == 0) {
            (void)hl_rx_net_poll();
        }
        all = far.ran[0] + far.ran[1] + far.ran[2];
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (int i = 1; i <= LANE_MESSAGES; i++) {
            ck_assert_int_eq(far.acked[lane][i], 1);
        }
    }
    ck_assert_int_eq(far.lost, 0);
    hl_rx_net_close();
}
END_TEST

static void poll_all(void)
{
    while (model_eps->arrival_count > 0 || hl_rx_net_poll() > 0) {
        (void)hl_rx_net_poll();
    }
}

/* An acknowledgement waits for room and for descriptors; what cannot be sent is dropped: its peer is gone. */
START_TEST(an_acknowledgement_that_is_refused_waits_or_is_dropped)
{
    static const struct {
        int code;
        bool waits;
    } rows[] = {{-FI_EAGAIN, true}, {-FI_EMFILE, true}, {-ENFILE, true}, {-FI_ECONNREFUSED, false}};
    model.inject = 0;
    open_endpoint();
    for (int i = 0; i < (int)HL_COUNT_OF(rows); i++) {
        model.post_error = rows[i].code;
        send_from_lane(0, (uint64_t)i + 1, i == 0, true);
        poll_all();
        ck_assert_int_eq(hl_rx_sends_wait(), rows[i].waits);
        ck_assert_int_eq(far.acked[0][i + 1], 0);
        model.post_error = 0;
        poll_all();
        ck_assert_int_eq(far.acked[0][i + 1], rows[i].waits);
        ck_assert(!hl_rx_sends_wait());
    }
    hl_rx_net_close();
}
END_TEST

/* A number that stays away; pings behind it ask. 0: they learn that it is lost, and what is sent after HELLO
 * runs. 1: the lane knew, and has said HELLO since: it goes on from there. */
START_TEST(a_lanes_message_that_stays_away_is_missed)
{
    open_endpoint();
    send_from_lane(0, 1, true, true);
    send_from_lane(0, 3, _i == 1, true);
    poll_all();
    ck_assert_uint_eq(far.ran[0], 1);
    far.ran[0] = _i == 1 ? 2 : 1;
    uint64_t begin = hl_now_ns();
    while (_i == 0 ? far.lost == 0 : far.ran[0] < 3) {
        send_from_lane(0, 3, true, false);
        poll_all();
        nap();
        ck_assert(hl_now_ns() - begin < 20 * HL_RX_WINDOW_NS);
    }
    ck_assert(hl_now_ns() - begin >= HL_RX_WINDOW_NS);
    ck_assert_int_gt(far.acked[0][0], 0); /* before that: all is well so far */
    ck_assert_int_eq(far.lost, _i == 0);
    ck_assert_uint_eq(far.lost_seq, _i == 0 ? 3 : 0);
    ck_assert_int_eq(far.acked[0][3], _i == 1);
    far.ran[0] = 3;
    send_from_lane(0, 4, true, true);
    poll_all();
    ck_assert_int_eq(far.acked[0][4], 1);
    hl_rx_net_close();
}
END_TEST

static void add_window(TCase *t)
{
    tcase_add_test(t, a_window_gives_each_message_once_and_in_turn);
    tcase_add_test(t, a_gap_is_a_loss_after_two_probes_of_it);
    tcase_add_test(t, records_in_any_order_run_in_theirs);
    tcase_add_test(t, records_of_the_dead_wait_for_none);
    tcase_add_test(t, a_record_that_stays_away_ends_the_job);
    tcase_add_loop_test(t, messages_of_lanes_in_any_order_run_in_theirs, 0, 2);
    tcase_add_test(t, an_acknowledgement_that_is_refused_waits_or_is_dropped);
    tcase_add_loop_test(t, a_lanes_message_that_stays_away_is_missed, 0, 2);
}

#endif
