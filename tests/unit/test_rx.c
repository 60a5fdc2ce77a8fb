/* The near ring (rx_ring.h). The table of senders. Chains: every record does what it says or is refused, and no byte
 * outside the region changes. */
#include "../seed.h"
#include "conf.h"
#include "err.h"
#include "fab_lib.h"
#include "hosts.h"
#include "job.h"
#include "model.h"
#include "mr.h"
#include "rx_answers.h"
#include "rx_doubts.h"
#include "rx_internal.h"
#include "rx_kick.h"
#include "rx_ring.h"
#include "rx_window.h"
#include "rx_wire.h"
#include "senders.h"
#include "unit.h"
#include "util.h"

#include <stdint.h>
#include <string.h>

START_TEST(senders_are_kept_apart)
{
    struct hl_rx_senders s = {0};
    for (int rank = 0; rank < 500; rank++) {
        for (unsigned lane = 0; lane < 4; lane++) {
            struct hl_rx_sender *p = hl_rx_senders_get(&s, rank, lane);
            ck_assert(!p->known);
            p->known = true;
            p->applied = (uint64_t)rank * 4 + lane;
        }
    }
    for (int rank = 0; rank < 500; rank++) {
        for (unsigned lane = 0; lane < 4; lane++) {
            struct hl_rx_sender *p = hl_rx_senders_get(&s, rank, lane);
            ck_assert(p->known);
            ck_assert_uint_eq(p->applied, (uint64_t)rank * 4 + lane);
        }
    }
    hl_rx_senders_free(&s);
}
END_TEST

/* ---- chains ---- */

#define NONCE 77
#define WORDS 64
#define GUARD 16

/* A region with guards around it, what it should hold, and the message under construction. */
static struct {
    uint64_t guarded[GUARD + WORDS + GUARD], expected[WORDS];
    struct hl_mr mr;
    struct hl_fab_ep ep;
    _Alignas(8) uint8_t message[MODEL_EAGER];
    size_t len;
    uint32_t count;
    uint64_t answers[WORDS]; /* those expected, in order; UINT64_MAX: an error */
    uint32_t records[WORDS]; /* and of which record */
    int answer_count;
    unsigned seed;
} c;

static void open_region(void)
{
    c.seed = (unsigned)seed_of_run();
    printf("TEST_SEED=%u\n", c.seed);
    ck_assert_int_eq(hl_conf_load(), 0);
    hl_conf.provider = "model";
    hl_job.size = 2;
    hl_job.nonce = NONCE;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    ck_assert_int_eq(hl_fab_open(), 0);
    ck_assert_int_eq(hl_fab_ep_open(HL_FAB_RX, &c.ep), 0);
    ck_assert_int_eq(hl_mr_open(&c.ep), 0);
    ck_assert_int_eq(hl_mr_register(c.guarded + GUARD, sizeof c.expected, &c.mr), 0);
    for (size_t i = 0; i < HL_COUNT_OF(c.guarded); i++) {
        c.guarded[i] = UINT64_C(0xabababababababab);
    }
    memset(c.expected, 0xab, sizeof c.expected);
}

static void begin(void)
{
    c.len = sizeof(struct hl_wire_head);
    c.count = 0;
    c.answer_count = 0;
}

static void add(struct hl_wire_short rec, const uint64_t *payload, size_t words)
{
    memcpy(c.message + c.len, &rec, sizeof rec);
    c.len += sizeof rec;
    for (size_t i = 0; i < words; i++, c.len += 8) {
        memcpy(c.message + c.len, &payload[i], 8);
    }
    c.count++;
}

static void expect(uint64_t answer)
{
    c.records[c.answer_count] = c.count;
    c.answers[c.answer_count++] = answer;
}

/* One record on word `at`; `wrong` bends its address so that it does not fit any more. */
static void add_random(void)
{
    static const enum hl_wire_op ops[] = {HL_WIRE_PUT, HL_WIRE_GET, HL_WIRE_ATOMIC, HL_WIRE_FETCH,
                                          HL_WIRE_SWAP};
    enum hl_wire_op op = ops[rand_r(&c.seed) % HL_COUNT_OF(ops)];
    unsigned at = (unsigned)rand_r(&c.seed) % WORDS;
    bool fetches = op == HL_WIRE_ATOMIC && rand_r(&c.seed) % 2;
    uint64_t words[2] = {rand_r(&c.seed) % 2 ? c.expected[at] : 5, (uint64_t)rand_r(&c.seed) + 9};
    struct hl_wire_short rec = {.op = (uint8_t)op,
                                .kind = HL_OP_SUM,
                                .basic = HL_BASIC_U64,
                                .flags = fetches ? HL_WIRE_FETCHES : 0,
                                .len = op == HL_WIRE_SWAP ? 16 : 8,
                                .addr = c.mr.addr + 8 * at};
    size_t payload = op == HL_WIRE_GET || op == HL_WIRE_FETCH ? 0 : rec.len / 8;
    if (rand_r(&c.seed) % 4 == 0) { /* before, behind, across both ends, far away */
        static const uint64_t shifts[] = {8 * WORDS, 8 * WORDS - 4, (uint64_t)-4, (uint64_t)-8,
                                          UINT64_C(1) << 40};
        rec.addr = c.mr.addr + shifts[rand_r(&c.seed) % HL_COUNT_OF(shifts)];
        expect(UINT64_MAX);
    } else if (op == HL_WIRE_GET || op == HL_WIRE_FETCH || op == HL_WIRE_SWAP || fetches) {
        expect(c.expected[at]);
    }
    if (rec.addr == c.mr.addr + 8 * at) {
        c.expected[at] = op == HL_WIRE_PUT                                  ? words[0]
                         : op == HL_WIRE_ATOMIC                             ? c.expected[at] + words[0]
                         : op == HL_WIRE_SWAP && words[0] == c.expected[at] ? words[1]
                                                                            : c.expected[at];
    }
    add(rec, words, payload);
}

static void run_and_compare(void)
{
    _Alignas(8) uint8_t out[MODEL_EAGER];
    struct hl_wire_head head = {
        .nonce = NONCE, .seq = 3, .kind = HL_WIRE_DATA, .len = (uint32_t)c.len, .count = c.count};
    memcpy(c.message, &head, sizeof head);
    ck_assert_ptr_null(hl_wire_check(c.message, c.len, NONCE, 2));
    struct hl_rx_answers a = {.bytes = out, .len = sizeof head};
    hl_rx_apply_records((const void *)c.message, &a);
    ck_assert_int_eq(memcmp(c.expected, c.guarded + GUARD, sizeof c.expected), 0);
    for (int i = 0; i < GUARD; i++) {
        ck_assert_uint_eq(c.guarded[i], UINT64_C(0xabababababababab));
        ck_assert_uint_eq(c.guarded[GUARD + WORDS + i], UINT64_C(0xabababababababab));
    }
    ck_assert_int_eq((int)a.count, c.answer_count);
    const uint8_t *at = out + sizeof head;
    for (int i = 0; i < c.answer_count; i++) {
        const struct hl_wire_ans *ans = (const void *)at;
        ck_assert_uint_eq(ans->message, 3);
        ck_assert_uint_eq(ans->record, c.records[i]);
        ck_assert((ans->rc != 0) == (c.answers[i] == UINT64_MAX));
        ck_assert(ans->rc != 0 || *(const uint64_t *)(ans + 1) == c.answers[i]);
        at += sizeof *ans + HL_WIRE_PAD(ans->len);
    }
}

START_TEST(chains_do_what_they_say_within_their_region)
{
    open_region();
    for (int i = 0; i < 3000; i++) {
        begin();
        add((struct hl_wire_short){.op = HL_WIRE_KEY, .addr = c.mr.key}, NULL, 0);
        for (int n = rand_r(&c.seed) % 20; n >= 0; n--) {
            add_random();
        }
        run_and_compare();
    }
    hl_mr_unregister(c.mr.id);
    begin();
    add((struct hl_wire_short){.op = HL_WIRE_KEY, .addr = c.mr.key}, NULL, 0);
    expect(UINT64_MAX); /* the memory is gone */
    add((struct hl_wire_short){.op = HL_WIRE_PUT, .len = 8, .addr = c.mr.addr}, c.expected, 1);
    run_and_compare();
    hl_mr_close();
    hl_fab_ep_close(&c.ep);
    ck_assert_int_eq(model.objects, 0);
}
END_TEST

START_TEST(odd_atomics_are_refused)
{
    open_region();
    static const struct hl_wire_short bad[] = {
        {.op = HL_WIRE_ATOMIC, .kind = HL_OP_SUM, .basic = HL_BASICS, .len = 8},
        {.op = HL_WIRE_ATOMIC, .kind = HL_OP_KINDS, .basic = HL_BASIC_U64, .len = 8},
        {.op = HL_WIRE_ATOMIC, .kind = HL_OP_BXOR, .basic = HL_BASIC_F64, .len = 8},
        {.op = HL_WIRE_ATOMIC, .kind = HL_OP_SUM, .basic = HL_BASIC_U64, .len = 12},
        {.op = HL_WIRE_ATOMIC, .kind = HL_OP_SUM, .basic = HL_BASIC_U64, .len = 8, .addr = 4},
        {.op = HL_WIRE_SWAP, .basic = HL_BASIC_U64, .len = 8},
        {.op = HL_WIRE_SWAP, .basic = HL_BASIC_F64, .len = 16},
        {.op = HL_WIRE_FETCH, .basic = HL_BASIC_C128, .len = 16},
    };
    uint64_t words[2] = {1, 2};
    for (size_t i = 0; i < HL_COUNT_OF(bad); i++) {
        begin();
        add((struct hl_wire_short){.op = HL_WIRE_KEY, .addr = c.mr.key}, NULL, 0);
        struct hl_wire_short rec = bad[i];
        rec.addr += c.mr.addr;
        expect(UINT64_MAX);
        add(rec, words, rec.op == HL_WIRE_FETCH ? 0 : (rec.len + 7) / 8);
        run_and_compare();
    }
}
END_TEST

static void add_signal(struct hl_wire_signal_rec rec, const uint64_t *data)
{
    rec.op = HL_WIRE_SIGNAL;
    memcpy(c.message + c.len, &rec, sizeof rec);
    memcpy(c.message + c.len + sizeof rec, data, rec.len);
    c.len += sizeof rec + rec.len;
    c.count++;
}

START_TEST(signals_follow_their_data_or_nothing_is_stored)
{
    open_region();
    const uint64_t data[2] = {11, 12}, key = c.mr.key, at = c.mr.addr;
    struct hl_wire_signal_rec good = {.kind = HL_WIRE_SIGNAL_SET,
                                      .len = sizeof data,
                                      .data_key = key,
                                      .data_addr = at + 8,
                                      .word_key = key,
                                      .word_addr = at,
                                      .value = 5};
    struct hl_wire_signal_rec bad[5] = {good, good, good, good, good};
    bad[0].data_addr = at + 8 * WORDS - 8;
    bad[1].word_addr = at + 8 * WORDS;
    bad[2].word_addr = at + 4;
    bad[3].word_key = key + 1000;
    bad[4].data_key = key + 1000;
    begin();
    for (size_t i = 0; i < HL_COUNT_OF(bad); i++) {
        expect(UINT64_MAX);
        add_signal(bad[i], data);
    }
    run_and_compare();
    begin();
    add_signal(good, data);
    memcpy(&c.expected[1], data, sizeof data);
    add_signal(
        (struct hl_wire_signal_rec){.kind = HL_WIRE_SIGNAL_ADD, .word_key = key, .word_addr = at, .value = 3},
        data);
    c.expected[0] = 8;
    add_signal((struct hl_wire_signal_rec){.len = 8, .data_key = key, .data_addr = at + 80}, data);
    c.expected[10] = 11;
    run_and_compare();
}
END_TEST

/* Nothing outside the region changes whatever the bytes say, as long as the checker lets them pass. */
START_TEST(damaged_chains_stay_within_their_region)
{
    open_region();
    for (int i = 0; i < 30000; i++) {
        begin();
        add((struct hl_wire_short){.op = HL_WIRE_KEY, .addr = c.mr.key}, NULL, 0);
        for (int n = 0; n < 6; n++) {
            add_random();
        }
        size_t from = sizeof(struct hl_wire_head) + 16;
        for (int flips = rand_r(&c.seed) % 4 + 1; flips > 0; flips--) {
            c.message[from + (size_t)rand_r(&c.seed) % (c.len - from)] = (uint8_t)rand_r(&c.seed);
        }
        struct hl_wire_head head = {
            .nonce = NONCE, .kind = HL_WIRE_DATA, .len = (uint32_t)c.len, .count = c.count};
        memcpy(c.message, &head, sizeof head);
        if (hl_wire_check(c.message, c.len, NONCE, 2) != NULL) {
            continue;
        }
        _Alignas(8) uint8_t out[MODEL_EAGER];
        struct hl_rx_answers a = {.bytes = out, .len = sizeof head};
        hl_rx_apply_records((const void *)c.message, &a);
        for (int g = 0; g < GUARD; g++) {
            ck_assert_uint_eq(c.guarded[g], UINT64_C(0xabababababababab));
            ck_assert_uint_eq(c.guarded[GUARD + WORDS + g], UINT64_C(0xabababababababab));
        }
    }
}
END_TEST

/* ---- hosts that are silent ---- */

#define MS UINT64_C(1000000)

static struct hl_rx_hosts hosts;

static struct hl_fab_link link_to(uint64_t host, uint16_t port, bool asked, uint64_t heard_ms)
{
    return (struct hl_fab_link){.host = {{0, host}},
                                .port = port,
                                .connected = true,
                                .used = true,
                                .asked = asked,
                                .heard_ms = heard_ms};
}

/* A look every second: one link that has no answer since `asked_from` ms and was heard last at `heard` ms. */
static uint64_t dead_at(uint64_t asked_from, uint64_t heard, uint64_t timeout_ms)
{
    memset(&hosts, 0, sizeof hosts);
    for (uint64_t now = 100000; now < 200000; now += 1000) {
        uint64_t last = now >= heard ? heard : now - 10;
        struct hl_fab_link l = link_to(7, 1, now >= asked_from, now - last);
        hl_rx_hosts_see(&hosts, &l, now * MS);
        if (hl_rx_hosts_judge(&hosts, now * MS, timeout_ms * MS) > 0) {
            hl_rx_hosts_free(&hosts);
            return now;
        }
    }
    hl_rx_hosts_free(&hosts);
    return 0;
}

START_TEST(the_thread_looks_on_while_messages_come_quickly)
{
    struct hl_rx_pace p = {0};
    uint64_t now = 5 * HL_RX_AWAKE_NS;
    ck_assert(!hl_rx_pace_is_quick(&p, true, now)); /* alone */
    ck_assert(!hl_rx_pace_is_quick(&p, false, now + 1));
    ck_assert(!hl_rx_pace_is_quick(&p, true, now += HL_RX_QUICK_NS)); /* as rare as that */
    ck_assert(hl_rx_pace_is_quick(&p, true, now += HL_RX_QUICK_NS - 1));
    ck_assert(hl_rx_pace_is_quick(&p, false, now + HL_RX_QUICK_NS - 1));
    ck_assert(!hl_rx_pace_is_quick(&p, false, now + HL_RX_QUICK_NS));
    ck_assert(!hl_rx_pace_is_quick(&p, true, now += 2 * HL_RX_QUICK_NS));
}
END_TEST

START_TEST(a_stream_without_end_leaves_time_for_other_descriptors)
{
    struct hl_rx_pace p = {0};
    uint64_t now = 5 * HL_RX_AWAKE_NS;
    (void)hl_rx_pace_is_quick(&p, true, now);
    for (uint64_t awake_ns = 0, i = 0; i < 1000; i++) {
        now += HL_RX_QUICK_NS / 2;
        awake_ns = hl_rx_pace_is_quick(&p, true, now) ? awake_ns + HL_RX_QUICK_NS / 2 : 0;
        ck_assert_uint_lt(awake_ns, HL_RX_AWAKE_NS);
    }
}
END_TEST

START_TEST(a_host_dies_of_questions_without_answer_only)
{
    ck_assert_uint_eq(dead_at(UINT64_MAX, 50000, 5000), 0); /* idle for long, nobody asked */
    ck_assert_uint_eq(dead_at(UINT64_MAX, UINT64_MAX, 5000), 0);
    ck_assert_uint_eq(dead_at(120000, 119500, 5000),
                      125000); /* from the first question, not from the last word */
    ck_assert_uint_eq(dead_at(120000, 100000, 5000), 125000);
    ck_assert_uint_eq(dead_at(120000, UINT64_MAX, 5000), 0); /* asked again and again, and answered */
    ck_assert_uint_eq(dead_at(120000, 119500, 0), 0);        /* 0: never */
}
END_TEST

START_TEST(an_answer_on_any_connection_counts)
{
    memset(&hosts, 0, sizeof hosts);
    int died = 0;
    for (uint64_t now = 100000; now < 160000; now += 1000) {
        struct hl_fab_link mute = link_to(7, 1, true, now - 90000), lively = link_to(7, 2, false, now % 4000);
        struct hl_fab_link other = link_to(8, 1, true, now - 90000);
        hl_rx_hosts_see(&hosts, &mute, now * MS);
        hl_rx_hosts_see(&hosts, &lively, now * MS);
        hl_rx_hosts_see(&hosts, &other, now * MS);
        died += hl_rx_hosts_judge(&hosts, now * MS, 10000 * MS);
    }
    ck_assert_int_eq(died, 1);
    struct hl_fab_link back = link_to(8, 3, false, 90000);
    ck_assert(!hl_rx_hosts_see(&hosts, &back, 160000 * MS)); /* the connections of the dead are ended */
    back.heard_ms = 51000;                                   /* after it was silent, before it was dead */
    ck_assert(!hl_rx_hosts_see(&hosts, &back, 160500 * MS));
    back.heard_ms = 5;
    ck_assert(hl_rx_hosts_see(&hosts, &back, 161000 * MS)); /* until the host answers again */
    ck_assert(hl_rx_hosts_get(&hosts, &back.host)->dead);
    hl_rx_hosts_free(&hosts);
}
END_TEST

START_TEST(a_connection_that_ends_is_missed_once)
{
    memset(&hosts, 0, sizeof hosts);
    struct hl_fab_link l[3] = {link_to(7, 1, false, 1), link_to(8, 1, false, 1), link_to(7, 2, false, 1)};
    bool there[][3] = {{1, 1, 1}, {1, 1, 1}, {1, 0, 1}, {0, 0, 1}, {0, 1, 1}, {0, 1, 0}};
    bool lost[][2] = {{0, 0}, {0, 0}, {0, 1}, {1, 0}, {0, 0}, {1, 0}}; /* of hosts 7 and 8 */
    for (size_t i = 0; i < HL_COUNT_OF(there); i++) {
        for (int k = 0; k < 3; k++) {
            if (there[i][k]) {
                hl_rx_hosts_see(&hosts, &l[k], (i + 1) * 1000 * MS);
            }
        }
        ck_assert_int_eq(hl_rx_hosts_judge(&hosts, (i + 1) * 1000 * MS, 5000 * MS), 0);
        for (int k = 0; k < 2; k++) {
            ck_assert_int_eq(hl_rx_hosts_get(&hosts, &l[k].host)->lost, lost[i][k]);
        }
    }
    hl_rx_hosts_free(&hosts);
}
END_TEST

/* Else each call, ours or a peer's, would lead to calls of all ranks of its host, and these to more. */
START_TEST(a_call_that_ends_is_not_missed)
{
    memset(&hosts, 0, sizeof hosts);
    struct hl_fab_link call = link_to(7, 1, false, 1);
    call.used = false;
    for (uint64_t second = 1; second <= 4; second++) {
        if (second % 2 != 0) {
            ck_assert(hl_rx_hosts_see(&hosts, &call, second * 1000 * MS));
        }
        ck_assert_int_eq(hl_rx_hosts_judge(&hosts, second * 1000 * MS, 5000 * MS), 0);
        ck_assert(!hl_rx_hosts_get(&hosts, &call.host)->lost);
    }
    ck_assert(hl_rx_hosts_get(&hosts, &call.host)->heard); /* its host has answered all the same */
    hl_rx_hosts_free(&hosts);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("rx");
    TCase *t = tcase_create("rx");
    tcase_set_timeout(t, 100);
    tcase_add_test(t, good_messages_pass);
    tcase_add_test(t, bad_messages_are_named);
    tcase_add_test(t, random_damage_is_survived);
    tcase_add_test(t, entries_arrive_once_and_in_order);
    tcase_add_test(t, a_full_ring_refuses);
    tcase_add_test(t, slots_of_killed_producers_are_passed_over);
    tcase_add_test(t, a_lying_length_is_cut);
    tcase_add_test(t, a_slot_goes_to_another_thread_by_way_of_another_process);
    tcase_add_test(t, senders_are_kept_apart);
    add_streams(t);
    add_window(t);
    add_answers(t);
    add_doubts(t);
    tcase_add_test(t, chains_do_what_they_say_within_their_region);
    tcase_add_test(t, odd_atomics_are_refused);
    tcase_add_test(t, signals_follow_their_data_or_nothing_is_stored);
    tcase_add_test(t, damaged_chains_stay_within_their_region);
    tcase_add_test(t, the_thread_looks_on_while_messages_come_quickly);
    tcase_add_test(t, a_stream_without_end_leaves_time_for_other_descriptors);
    tcase_add_test(t, a_host_dies_of_questions_without_answer_only);
    tcase_add_test(t, an_answer_on_any_connection_counts);
    tcase_add_test(t, a_connection_that_ends_is_missed_once);
    tcase_add_test(t, a_call_that_ends_is_not_missed);
    tcase_add_test(t, a_kick_writes_into_nothing_but_the_bell);
    tcase_add_test(t, a_receive_side_that_does_not_open_leaves_nothing);
    tcase_add_test(t, a_process_that_holds_all_descriptors_and_needs_none_goes_on);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(make_suite)
