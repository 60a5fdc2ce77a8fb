/* Leases, ways, slots and flush against a provider that completes late, out of order and with errors. */
#include "../seed.h"
#include "lane_internal.h"

#include "buffer.h"
#include "conf.h"
#include "err.h"
#include "fab_lib.h"
#include "job.h"
#include "lane_quiet.h"
#include "model.h"
#include "short.h"
#include "unit.h"
#include "util.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#define RANKS 5
#define CELLS 48

static unsigned seed;
static uint64_t chain = UINT64_MAX; /* HOTLANE_CHAIN */
static uint64_t heartbeat;          /* of all ranks */
static size_t longest = SIZE_MAX;   /* bytes of the longest post */

/* ---- a pool on the model ---- */

static void start(uint32_t lanes) HL_NO_TSA
{
    seed = (unsigned)seed_of_run();
    printf("TEST_SEED=%u\n", seed);
    model_seed = seed;
    ck_assert_int_eq(hl_conf_load(), 0);
    hl_conf.provider = "model";
    hl_conf.peer_timeout = 1;
    hl_conf.chain = chain;
    hl_job.size = RANKS;
    hl_job.nonce = 77;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    ck_assert_int_eq(hl_fab_open(), 0);
    hl_fab.ordered = !model.any_order;
    hl_fab.post_max = model_longest = longest;
    struct hl_fab_ep rx;
    ck_assert_int_eq(hl_fab_ep_open(HL_FAB_RX, &rx), 0); /* asks which atomics there are */
    hl_fab_ep_close(&rx);
    ck_assert_int_eq(hl_pool_open(&hl_pool, lanes, RANKS), 0);
    for (uint32_t i = 0; i < lanes; i++) {
        struct hl_lane *lane = hl_pool.head.lanes[i];
        ck_assert(hl_lease_try(&lane->lease));
        ck_assert_int_eq(hl_lane_make_ready(lane), 0);
        for (int peer = 0; peer < RANKS; peer++) {
            struct hl_rx_card card = {
                .name_len = 8, .name = {(uint8_t)peer}, .heartbeat_addr = (uint64_t)(uintptr_t)&heartbeat};
            int rc = 0;
            ck_assert_ptr_nonnull(hl_way_make(lane, peer, &card, &rc));
        }
        hl_lane_leave(lane);
    }
}

static void stop(void)
{
    hl_pool_close(&hl_pool);
    ck_assert_int_eq(model.objects, 0);
    ck_assert_int_eq(model.busy, 0);
    ck_assert_uint_eq(hl_a64_load_relaxed(&model.overlaps), 0);
    ck_assert_uint_eq(hl_a64_load_relaxed(&model.credits_exceeded), 0);
}

static struct hl_xfer transfer(int peer, uint64_t *remote, uint64_t *local, hl_a32 *error)
{
    return (struct hl_xfer){
        .peer = peer, .addr = (uint64_t)(uintptr_t)remote, .buf = local, .len = 8, .error = error};
}

/* ---- random puts, gets and sums of many threads ---- */

struct worker {
    unsigned state;
    int rounds;
    uint64_t remote[RANKS][CELLS], local[RANKS][CELLS], back[CELLS];
    hl_a32 errors[RANKS];
    int used[RANKS];
    uint64_t added; /* successful additions to the shared sum */
    int failures;
};

static uint64_t shared_sum;

/* All puts to `peer` since the last flush are there, or failed and somebody says so. */
static void flush_and_look(struct worker *w, int peer)
{
    hl_lane_flush(peer, HL_REMOTE);
    int failed = 0;
    for (int i = 0; i < w->used[peer]; i++) {
        uint64_t got = w->remote[peer][i];
        failed += got == MODEL_FAILED;
        ck_assert_msg(got == w->local[peer][i] || got == MODEL_FAILED, "seed %u: cell %d holds %llx", seed, i,
                      (unsigned long long)got);
    }
    int rc = hl_lane_error_take(&w->errors[peer]);
    /* A lost connection makes errors of messages whose acknowledgement was still under way, too. */
    ck_assert_msg(rc != 0 || failed == 0, "seed %u: %d failures, no error", seed, failed);
    ck_assert_msg(rc == 0 || failed != 0 || model.lost != 0, "seed %u: error %d, no failure", seed, rc);
    ck_assert_int_eq(hl_lane_error_take(&w->errors[peer]), 0); /* reported once */
    w->failures += failed;
    w->used[peer] = 0;
}

static void put(struct worker *w, int peer)
{
    if (w->used[peer] == CELLS) {
        flush_and_look(w, peer);
    }
    int cell = w->used[peer]++;
    w->local[peer][cell] = (uint64_t)rand_r(&w->state) << 8 | 1;
    w->remote[peer][cell] = 0;
    struct hl_xfer x = transfer(peer, &w->remote[peer][cell], &w->local[peer][cell], &w->errors[peer]);
    ck_assert_int_eq(hl_lane_write(&x), 0);
}

static void get(struct worker *w, int peer)
{
    flush_and_look(w, peer);
    hl_a32 error = {0};
    for (int i = 0; i < 8; i++) {
        w->remote[peer][i] = (uint64_t)rand_r(&w->state);
        w->back[i] = 0;
        struct hl_xfer x = transfer(peer, &w->remote[peer][i], &w->back[i], &error);
        ck_assert_int_eq(hl_lane_read(&x), 0);
    }
    hl_lane_flush(peer, HL_LOCAL);
    bool failed = hl_lane_error_take(&error) != 0;
    for (int i = 0; i < 8; i++) {
        ck_assert(failed || w->back[i] == w->remote[peer][i]);
    }
}

static void sum(struct worker *w, int peer, bool ordered)
{
    static uint64_t one = 1;
    uint64_t before = UINT64_MAX;
    hl_a32 error = {0};
    struct hl_req req;
    hl_req_init(&req, HL_REQ_RMA);
    struct hl_lane_atomic a = {.x = transfer(peer, &shared_sum, &one, &error),
                               .op = HL_OP_SUM,
                               .basic = HL_BASIC_U64,
                               .n = 1,
                               .result = &before,
                               .ordered = ordered,
                               .order_key = (uint64_t)peer};
    a.x.req = &req;
    ck_assert_int_eq(hl_lane_atomic(&a), 0);
    hl_lane_flush(peer, HL_REMOTE);
    ck_assert(hl_req_is_done(&req));
    int rc = hl_lane_error_take(&error);
    ck_assert_int_eq(hl_req_finish(&req, MPI_STATUS_IGNORE), rc);
    ck_assert((before == UINT64_MAX) == (rc != 0));
    w->added += rc == 0;
}

static void *run_worker(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < w->rounds; i++) {
        int peer = rand_r(&w->state) % RANKS;
        switch (rand_r(&w->state) % 16) {
        case 0:
            flush_and_look(w, peer);
            break;
        case 1:
            hl_lane_flush(-1, HL_REMOTE);
            break;
        case 2:
            get(w, peer);
            break;
        case 3:
            sum(w, peer, rand_r(&w->state) % 2);
            break;
        default:
            put(w, peer);
        }
    }
    for (int peer = 0; peer < RANKS; peer++) {
        flush_and_look(w, peer);
    }
    return NULL;
}

static void run_workers(uint32_t lanes, int threads, int rounds)
{
    start(lanes);
    shared_sum = 0;
    struct worker *w = calloc((size_t)threads, sizeof *w);
    pthread_t t[32];
    for (int i = 0; i < threads; i++) {
        w[i].state = seed + 1000u * (unsigned)i;
        w[i].rounds = rounds;
        pthread_create(&t[i], NULL, run_worker, &w[i]);
    }
    uint64_t added = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(t[i], NULL);
        added += w[i].added;
    }
    if (model.lost == 0) {
        ck_assert_uint_eq(added, shared_sum);
    } else { /* some sums were made and their acknowledgements lost */
        ck_assert_uint_le(added, shared_sum);
    }
    hl_lane_flush(-1, HL_REMOTE);
    for (int peer = 0; peer < RANKS; peer++) {
        ck_assert(is_quiet(peer));
    }
    free(w);
    stop();
}

static const struct {
    uint32_t lanes;
    int threads, rounds;
    uint64_t chain;
} shapes[] = {{1, 1, 4000, UINT64_MAX}, {2, 2, 2000, UINT64_MAX}, {1, 8, 500, UINT64_MAX},
              {3, 8, 500, UINT64_MAX},  {4, 32, 150, UINT64_MAX}, {1, 1, 4000, 0},
              {3, 8, 500, 0},           {4, 32, 150, 0}};

#define SHAPES ((int)HL_COUNT_OF(shapes))

/* With acknowledgements in order, then in any order. */
static void run_shape(int i)
{
    model.any_order = i >= SHAPES;
    i %= SHAPES;
    chain = shapes[i].chain;
    run_workers(shapes[i].lanes, shapes[i].threads, shapes[i].rounds);
}

START_TEST(operations_end_before_their_flush)
{
    model.again = 5;
    model.recv_again = 40;
    model.idle = 50;
    run_shape(_i);
}
END_TEST

START_TEST(errors_reach_their_flush_and_no_other)
{
    model.again = 2;
    model.idle = 30;
    model.error = 3;
    model.stray = 3;
    model.lost = _i % 2 == 0 ? 30 : 0;
    model.refuse = 3;
    run_shape(_i);
    ck_assert_uint_gt(hl_a64_load_relaxed(&model.errors), 0);
}
END_TEST

/* ---- flush does not chase others ---- */

static hl_a32 enough;

static void *pour(void *arg)
{
    (void)arg;
    static uint64_t source = 5;
    uint64_t *sink = calloc(1, 8);
    hl_a32 error = {0};
    while (hl_a32_load_relaxed(&enough) == 0) {
        struct hl_xfer x = transfer(1, sink, &source, &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
    hl_lane_flush(1, HL_REMOTE);
    free(sink);
    return NULL;
}

START_TEST(flush_waits_for_no_later_operation)
{
    start(2);
    pthread_t t[3];
    for (int i = 0; i < 3; i++) {
        pthread_create(&t[i], NULL, pour, NULL);
    }
    for (int i = 0; i < 200; i++) { /* a flush that waits until nothing is open would not end */
        uint64_t mine = (uint64_t)i + 1, there = 0;
        hl_a32 error = {0};
        struct hl_xfer x = transfer(1, &there, &mine, &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
        if (i % 2) {
            hl_lane_flush(1, HL_REMOTE);
        } else {
            hl_lane_flush(-1, HL_REMOTE);
        }
        ck_assert_uint_eq(there, mine);
    }
    hl_a32_store_relaxed(&enough, 1);
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
    }
    stop();
}
END_TEST

/* ---- messages ---- */

/* The target: answers GET_ACC by 8 bytes, CAS by an error, the rest by nothing. */
static int answer(const struct hl_wire_rec *rec, uint64_t rank, uint8_t *out, size_t *len)
{
    (void)rank;
    *len = rec->op == HL_WIRE_GET_ACC ? 8 : 0;
    memcpy(out, &rec->aux, *len);
    return rec->op == HL_WIRE_CAS ? HL_ERR_RMA_RANGE : 0;
}

static void *send_messages(void *arg)
{
    unsigned state = seed + (unsigned)(uintptr_t)arg;
    enum { BATCH = 40 };
    uint64_t replies[BATCH], asked[BATCH];
    for (int round = 0; round < 30; round++) {
        hl_a32 good = {0}, bad = {0};
        int bad_ones = 0, peer = rand_r(&state) % RANKS;
        for (int i = 0; i < BATCH; i++) {
            static const enum hl_wire_op ops[] = {HL_WIRE_ACC, HL_WIRE_GET_ACC, HL_WIRE_CAS};
            enum hl_wire_op op = ops[rand_r(&state) % 3];
            asked[i] = op == HL_WIRE_GET_ACC ? (uint64_t)rand_r(&state) : 0;
            replies[i] = 0;
            struct hl_wire_rec rec = {
                .op = (uint8_t)op, .len = (uint32_t)rand_r(&state) % 200, .aux = asked[i]};
            uint8_t payload[200] = {0};
            struct hl_lane_message m = {.peer = peer,
                                        .rec = &rec,
                                        .payload = payload,
                                        .reply = op == HL_WIRE_GET_ACC ? &replies[i] : NULL,
                                        .reply_cap = op == HL_WIRE_GET_ACC ? 8 : 0,
                                        .error = op == HL_WIRE_CAS ? &bad : &good,
                                        .ordered = rand_r(&state) % 2,
                                        .order_key = (uint64_t)peer};
            bad_ones += op == HL_WIRE_CAS;
            ck_assert_int_eq(hl_lane_message(&m), 0);
        }
        hl_lane_flush(peer, HL_REMOTE);
        ck_assert_int_eq(hl_lane_error_take(&good), 0);
        ck_assert_int_eq(hl_lane_error_take(&bad), bad_ones > 0 ? HL_ERR_RMA_RANGE : 0);
        for (int i = 0; i < BATCH; i++) {
            ck_assert_uint_eq(replies[i], asked[i]);
        }
    }
    return NULL;
}

START_TEST(messages_are_answered_each_to_its_own)
{
    model.again = 5;
    model.recv_again = 40;
    model.idle = 40;
    model_record = answer;
    chain = _i % 2 == 0 ? 0 : UINT64_MAX;
    model.any_order = _i >= 2;
    start(2);
    pthread_t t[6];
    for (uintptr_t i = 0; i < 6; i++) {
        pthread_create(&t[i], NULL, send_messages, (void *)i);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(t[i], NULL);
    }
    model_record = NULL;
    stop();
}
END_TEST

/* ---- dead ranks ---- */

START_TEST(operations_to_a_dead_rank_end_and_their_places_come_back) HL_NO_TSA
{
    start(1);
    struct hl_lane *lane = hl_pool.head.lanes[0];
    static uint64_t source = 9, sink[600];
    hl_a32 error = {0}, other = {0};
    model.hold = true;
    for (int i = 0; i < 200; i++) {
        struct hl_xfer x = transfer(2, &sink[i], &source, &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
    ck_assert(hl_lease_try(&lane->lease));
    struct hl_way *way = hl_way_find(lane, 2);
    hl_lane_slot_fail_peer(lane, way);
    hl_lane_leave(lane);
    hl_lane_flush(2, HL_REMOTE);
    hl_lane_flush(-1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), HL_ERR_PROC_ABORTED);
    struct hl_xfer late = transfer(2, &sink[0], &source, &error);
    ck_assert_int_eq(hl_lane_write(&late), HL_ERR_PROC_ABORTED);
    for (int i = 0; i < 40; i++) { /* around the places that the provider still holds */
        struct hl_xfer x = transfer(1, &sink[200 + i], &source, &other);
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
    model.hold = false;
    for (int i = 40; i < 400; i++) {
        struct hl_xfer x = transfer(1, &sink[200 + i], &source, &other);
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
    hl_lane_flush(1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&other), 0);
    for (int i = 0; i < 400; i++) {
        ck_assert_uint_eq(sink[200 + i], 9);
    }
    while (model.objects > 0 && sink[0] != 9) { /* the model gives the last contexts back */
        ck_assert(hl_lease_try(&lane->lease));
        hl_lane_progress(lane);
        hl_lane_leave(lane);
    }
    stop();
}
END_TEST

START_TEST(a_rank_that_takes_nothing_is_reported)
{
    chain = _i == 0 ? 0 : UINT64_MAX;
    start(2);
    model.again = 100;
    uint64_t source = 1, sink = 0;
    hl_a32 error = {0};
    struct hl_xfer x = transfer(3, &sink, &source, &error);
    int rc = hl_lane_write(&x);
    if (_i == 1) { /* copied; the flush hears of it */
        ck_assert_int_eq(rc, 0);
        hl_lane_flush(3, HL_REMOTE);
        rc = hl_lane_error_take(&error);
    }
    ck_assert_int_eq(rc, HL_ERR_PROC_ABORTED);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_PROC_ABORTED), "cannot be reached"));
    model.again = 0;
    stop();
}
END_TEST

START_TEST(idle_bits_are_taken_back)
{
    start(2);
    uint64_t source = 1, sink = 0;
    hl_a32 error = {0};
    struct hl_xfer once = transfer(4, &sink, &source, &error), often = transfer(1, &sink, &source, &error);
    ck_assert_int_eq(hl_lane_write(&once), 0);
    hl_lane_flush(4, HL_REMOTE);
    ck_assert_uint_ne(hl_a64_load_relaxed(&hl_pool.used[4]), 0);
    for (int i = 0; i < 3 * HL_IDLE_LEASES; i++) {
        ck_assert_int_eq(hl_lane_write(&often), 0);
        hl_lane_flush(1, HL_REMOTE);
        hl_lane_flush(-1, HL_REMOTE);
    }
    ck_assert_uint_eq(hl_a64_load_relaxed(&hl_pool.used[4]), 0);
    ck_assert_uint_ne(hl_a64_load_relaxed(&hl_pool.used[1]), 0);
    stop();
}
END_TEST

START_TEST(ways_are_found_while_more_are_made) HL_NO_TSA
{
    start(1);
    struct hl_lane *lane = hl_pool.head.lanes[0];
    ck_assert(hl_lease_try(&lane->lease));
    for (int peer = RANKS; peer < 5000; peer++) {
        struct hl_rx_card card = {.name_len = 8};
        int rc = 0;
        ck_assert_ptr_null(hl_way_find(lane, peer));
        ck_assert_ptr_nonnull(hl_way_make(lane, peer, &card, &rc));
        ck_assert_int_eq(hl_way_find(lane, peer / 2)->peer, peer / 2);
        ck_assert_uint_eq((uintptr_t)hl_aptr_load_relaxed(&lane->ways) % HL_CACHELINE, 0);
    }
    hl_lane_leave(lane);
    stop();
}
END_TEST

/* ---- leases ---- */

#define CROWD 64

static struct hl_lease leases[4];
static struct {
    HL_ALIGNED_LINE hl_a64 entered[4];
} crowd[CROWD];
static int inside[4];
static int lease_count;
static hl_a32 overtaken_twice, waits;
static hl_a64 longest_ns;

/* Waits as the pool does: two scans, then a place in `wanted`; counts who entered before. */
static HL_NO_TSA int enter(int me, unsigned *state)
{
    int at = me % lease_count;
    for (int tries = 0; tries < 2 * lease_count; tries++, at = (at + 1) % lease_count) {
        if (hl_lease_try(&leases[at])) {
            return at;
        }
    }
    uint64_t before[CROWD], since = hl_now_ns();
    while (!hl_lease_want(&leases[at], (uint32_t)me + 1)) {
        sched_yield();
    }
    for (int i = 0; i < CROWD; i++) {
        before[i] = hl_a64_load_relaxed(&crowd[i].entered[at]);
    }
    hl_a32_add_relaxed(&waits, 1);
    while (!hl_lease_try_wanted(&leases[at])) {
        if (rand_r(state) % 4 == 0) {
            sched_yield();
        }
    }
    hl_lease_unwant(&leases[at]);
    for (int i = 0; i < CROWD; i++) {
        if (hl_a64_load_relaxed(&crowd[i].entered[at]) - before[i] > 1) {
            hl_a32_add_relaxed(&overtaken_twice, 1);
        }
    }
    uint64_t took = hl_now_ns() - since;
    if (took > hl_a64_load_relaxed(&longest_ns)) {
        hl_a64_store_relaxed(&longest_ns, took);
    }
    return at;
}

static HL_NO_TSA void *push(void *arg)
{
    int me = (int)(intptr_t)arg;
    unsigned state = (unsigned)me + 1;
    for (int i = 0; i < 400; i++) {
        int at = enter(me, &state);
        ck_assert_int_eq(inside[at]++, 0);
        hl_a64_add_full(&crowd[me].entered[at], 1); /* full: not in a store buffer when somebody counts */
        if (rand_r(&state) % 8 == 0) {
            sched_yield();
        }
        inside[at]--;
        (void)hl_lease_leave(&leases[at]);
    }
    return NULL;
}

START_TEST(nobody_overtakes_a_waiting_thread_twice)
{
    lease_count = _i;
    pthread_t t[CROWD];
    uint64_t begin = hl_now_ns();
    for (intptr_t i = 0; i < CROWD; i++) {
        pthread_create(&t[i], NULL, push, (void *)i);
    }
    for (int i = 0; i < CROWD; i++) {
        pthread_join(t[i], NULL);
    }
    printf("%d lanes: %u waits, longest %.1f ms of %.1f ms\n", lease_count, hl_a32_load_relaxed(&waits),
           (double)hl_a64_load_relaxed(&longest_ns) / 1e6, (double)(hl_now_ns() - begin) / 1e6);
    ck_assert_uint_eq(hl_a32_load_relaxed(&overtaken_twice), 0);
}
END_TEST

#include "lane_chains.h"
#include "lane_goals.h"
#include "lane_lost.h"
#include "lane_nested.h"
#include "lane_open_async.h"
#include "lane_own.h"

static Suite *make_suite(void)
{
    Suite *s = suite_create("lane");
    TCase *t = tcase_create("lane");
    tcase_set_timeout(t, 100);
    tcase_add_loop_test(t, operations_end_before_their_flush, 0, 2 * SHAPES);
    tcase_add_loop_test(t, errors_reach_their_flush_and_no_other, 0, 2 * SHAPES);
    add_chains(t);
    add_goals(t);
    add_lost(t);
    add_nested(t);
    add_own(t);
    add_open_async(t);
    tcase_add_test(t, flush_waits_for_no_later_operation);
    tcase_add_loop_test(t, messages_are_answered_each_to_its_own, 0, 4);
    tcase_add_test(t, operations_to_a_dead_rank_end_and_their_places_come_back);
    tcase_add_test(t, what_an_endpoint_that_stays_open_may_use_is_kept);
    tcase_add_loop_test(t, a_rank_that_takes_nothing_is_reported, 0, 2);
    tcase_add_test(t, idle_bits_are_taken_back);
    tcase_add_test(t, ways_are_found_while_more_are_made);
    tcase_add_loop_test(t, nobody_overtakes_a_waiting_thread_twice, 1, 5);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(make_suite)
