/* Lanes over models of providers whose hardware is not here: each row of model_rows.h is opened, and serves
 * puts, gets, atomics and messages, or is refused by name with the reason. */
#include "../seed.h"
#include "lane_internal.h"

#include "buffer.h"
#include "conf.h"
#include "err.h"
#include "fab_lib.h"
#include "job.h"
#include "model_rows.h"
#include "mr.h"
#include "unit.h"
#include "util.h"

#include <sys/resource.h>

#define RANKS 3
#define WORDS 64
#define LARGE (40 * 1024) /* no chain takes it */

/* What peers reach; all of them are this process. */
static struct {
    uint64_t words[WORDS], sum, heartbeat;
    uint8_t large[LARGE];
} there;
static struct hl_mr mr;
static struct hl_fab_ep rx;
static unsigned seed;

static int open_row(const struct model_provider *row)
{
    printf("%s, %s: TEST_SEED=%u\n", row->name, row->what, seed = model_seed = (unsigned)seed_of_run());
    model_name = row->name;
    model_libfabric = row->libfabric != 0 ? row->libfabric : FI_VERSION(1, 17);
    model_mr_mode = row->mr_mode;
    model_key_size = row->key_size;
    model_caps = FI_MSG | FI_RMA | (row->atomics ? FI_ATOMIC : 0);
    model_mode = row->mode;
    model_endpoints = row->endpoints;
    model.inject = row->inject;
    model.waits = row->waits;
    model.domain_error = row->domain_error;
    model.keys = true;
    ck_assert_int_eq(hl_conf_load(), 0);
    hl_conf.provider = row->name;
    hl_job.size = RANKS;
    hl_job.nonce = 77;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    int rc = hl_fab_open();
    /* after the opening, which has made messages as short as the model's receives are */
    hl_fab.post_max = model_longest = row->most;
    return rc == 0 ? hl_fab_ep_open(HL_FAB_RX, &rx) : rc;
}

static void open_pool(void) HL_NO_TSA
{
    ck_assert_int_eq(hl_mr_open(&rx), 0);
    ck_assert_int_eq(hl_mr_register(&there, sizeof there, &mr), 0);
    uint32_t lanes = (uint32_t)hl_min_size(hl_fab.lanes_max, 4);
    ck_assert_int_eq(hl_pool_open(&hl_pool, lanes, RANKS), 0);
    for (uint32_t i = 0; i < lanes; i++) {
        struct hl_lane *lane = hl_pool.head.lanes[i];
        ck_assert(hl_lease_try(&lane->lease));
        ck_assert_int_eq(hl_lane_make_ready(lane), 0);
        for (int peer = 0; peer < RANKS; peer++) {
            struct hl_rx_card card = {.name_len = 8,
                                      .name = {(uint8_t)peer},
                                      .heartbeat_addr = mr.addr + offsetof(__typeof__(there), heartbeat),
                                      .heartbeat_key = mr.key};
            int rc = 0;
            ck_assert_ptr_nonnull(hl_way_make(lane, peer, &card, &rc));
        }
        hl_lane_leave(lane);
    }
}

static void close_all(void)
{
    hl_pool_close(&hl_pool);
    hl_mr_unregister(mr.id);
    hl_mr_close();
    hl_fab_ep_close(&rx);
    hl_fab_close();
    ck_assert_int_eq(model.objects, 0);
    ck_assert_int_eq(model.busy, 0);
}

/* `offset` bytes into what peers reach. */
static struct hl_xfer transfer(size_t offset, void *buf, size_t len, hl_a32 *error)
{
    return (struct hl_xfer){
        .peer = 1, .addr = mr.addr + offset, .key = mr.key, .buf = buf, .len = len, .error = error};
}

static void flush(hl_a32 *error)
{
    hl_lane_flush(1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(error), 0);
}

static void put_and_get(void)
{
    static uint8_t large[LARGE], back[LARGE];
    hl_a32 error = {0};
    uint64_t words[WORDS], found[WORDS] = {0};
    for (size_t i = 0; i < WORDS; i++) {
        words[i] = (uint64_t)rand_r(&seed) + 1;
        struct hl_xfer x = transfer(8 * i, &words[i], 8, &error);
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
    for (size_t i = 0; i < LARGE; i++) {
        large[i] = (uint8_t)rand_r(&seed);
    }
    size_t at = offsetof(__typeof__(there), large);
    struct hl_xfer out = transfer(at, large, LARGE, &error), in = transfer(at, back, LARGE, &error);
    ck_assert_int_eq(hl_lane_write(&out), 0);
    flush(&error);
    ck_assert_int_eq(memcmp(there.words, words, sizeof words), 0);
    ck_assert_int_eq(memcmp(there.large, large, LARGE), 0);
    for (size_t i = 0; i < WORDS; i++) {
        struct hl_xfer x = transfer(8 * i, &found[i], 8, &error);
        ck_assert_int_eq(hl_lane_read(&x), 0);
    }
    ck_assert_int_eq(hl_lane_read(&in), 0);
    flush(&error);
    ck_assert_int_eq(memcmp(found, words, sizeof words), 0);
    ck_assert_int_eq(memcmp(back, large, LARGE), 0);
}

/* By its own atomics, by records, or without any. */
static void add(void)
{
    enum { TIMES = 50 };
    uint64_t one = 1, before[TIMES];
    hl_a32 error = {0};
    for (int i = 0; i < TIMES; i++) {
        struct hl_lane_atomic a = {.x = transfer(offsetof(__typeof__(there), sum), &one, 8, &error),
                                   .op = HL_OP_SUM,
                                   .basic = HL_BASIC_U64,
                                   .n = 1,
                                   .result = &before[i],
                                   .ordered = true};
        ck_assert_int_eq(hl_lane_atomic(&a), 0);
    }
    flush(&error);
    ck_assert_uint_eq(there.sum, TIMES);
    uint64_t all = 0;
    for (int i = 0; i < TIMES; i++) {
        all += before[i];
    }
    ck_assert_uint_eq(all, TIMES * (TIMES - 1) / 2);
}

static int answer(const struct hl_wire_rec *rec, uint64_t rank, uint8_t *out, size_t *len)
{
    (void)rank;
    *len = 8;
    memcpy(out, &rec->aux, *len);
    return 0;
}

static void ask(void)
{
    enum { TIMES = 100 };
    uint64_t replies[TIMES] = {0};
    hl_a32 error = {0};
    model_record = answer;
    for (uint64_t i = 0; i < TIMES; i++) {
        struct hl_wire_rec rec = {.op = HL_WIRE_GET_ACC, .aux = i + 7};
        struct hl_lane_message m = {
            .peer = (int)(i % RANKS), .rec = &rec, .reply = &replies[i], .reply_cap = 8, .error = &error};
        ck_assert_int_eq(hl_lane_message(&m), 0);
    }
    hl_lane_flush(-1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&error), 0);
    for (uint64_t i = 0; i < TIMES; i++) {
        ck_assert_uint_eq(replies[i], i + 7);
    }
}

/* Memory that the card does not get, because it may only be read (EFAULT), or because no more can be locked: puts,
 * atomics and, in the second case, gets are copied. */
static void hide(int reason)
{
    static uint8_t hidden[LARGE], back[LARGE];
    static uint64_t operand = 5;
    hl_a32 error = {0};
    struct hl_req req;
    size_t at = offsetof(__typeof__(there), large);
    bool reads = reason == -FI_ENOMEM;
    for (size_t i = 0; i < LARGE; i++) {
        hidden[i] = (uint8_t)rand_r(&seed);
    }
    model.hidden = hidden;
    model.hidden_len = LARGE;
    model.hidden_error = reason;
    hl_req_init(&req, HL_REQ_RMA);
    struct hl_xfer out = transfer(at, hidden, LARGE, &error),
                   in = transfer(at, reads ? hidden : back, LARGE, &error);
    out.req = &req;
    ck_assert_int_eq(hl_lane_write(&out), 0);
    flush(&error);
    ck_assert(hl_req_is_done(&req));
    ck_assert_int_eq(memcmp(there.large, hidden, LARGE), 0);
    memcpy(back, there.large, LARGE);
    memset(reads ? hidden : back, 0, LARGE);
    ck_assert_int_eq(hl_lane_read(&in), 0);
    flush(&error);
    ck_assert_int_eq(memcmp(back, hidden, LARGE), 0);
    model.hidden = (const uint8_t *)&operand;
    model.hidden_len = sizeof operand;
    there.sum = 1;
    struct hl_lane_atomic a = {.x = transfer(offsetof(__typeof__(there), sum), &operand, 8, &error),
                               .op = HL_OP_SUM,
                               .basic = HL_BASIC_U64,
                               .n = 1,
                               .ordered = true};
    ck_assert_int_eq(hl_lane_atomic(&a), 0);
    flush(&error);
    ck_assert_uint_eq(there.sum, 6);
    model.hidden = NULL;
}

/* Nothing outside, and nothing that is not registered any more. */
static void miss(void)
{
    uint64_t word = 1;
    hl_a32 error = {0};
    for (int i = 0; i < 2; i++) {
        struct hl_xfer x = transfer(i == 0 ? sizeof there : 0, &word, 8, &error);
        x.key += i == 1;
        ck_assert_int_eq(hl_lane_write(&x), 0);
        hl_lane_flush(1, HL_REMOTE);
        ck_assert_int_ne(hl_lane_error_take(&error), 0);
    }
}

/* As many as CPUs, where the row affords them: unasked no more than that, asked as many as there may be, and
 * never more than there are files for: 10 of a lane, and 2 of a connection to each other rank. */
static void lanes_are_planned(const struct model_provider *row)
{
    struct rlimit files, few;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    few = (struct rlimit){.rlim_cur = 10 + 64 + 12 * (10 + 2 * (RANKS - 1)), .rlim_max = files.rlim_max};
    ck_assert_uint_eq(hl_lane_plan(true, 272), row->lanes);
    ck_assert_uint_eq(hl_lane_plan(true, 3), 3);
    ck_assert_uint_eq(hl_lane_plan(false, 272), 1);
    hl_conf.lanes = 64;
    ck_assert_uint_eq(hl_lane_plan(true, 3), hl_min_size(hl_fab.lanes_max, 64));
    hl_conf.lanes = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    ck_assert_uint_eq(hl_lane_plan(true, 272), hl_min_size(row->lanes, 12));
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
}

START_TEST(each_provider_serves_or_is_refused_with_the_reason)
{
    const struct model_provider *row = &model_providers[_i];
    int rc = open_row(row);
    if (row->refused != NULL) {
        ck_assert_int_ne(rc, 0);
        ck_assert_msg(strstr(hl_err_text(rc), row->name) != NULL &&
                          strstr(hl_err_text(rc), row->refused) != NULL,
                      "%s", hl_err_text(rc));
        ck_assert_int_eq(model.objects, 0);
        return;
    }
    ck_assert_msg(rc == 0, "%s", hl_err_text(rc));
    model.any_order = !hl_fab.ordered;
    model.again = 5;
    model.idle = 20;
    ck_assert_str_eq(hl_fab.provider, row->name);
    ck_assert_uint_le(hl_fab.lanes_max, row->endpoints);
    lanes_are_planned(row);
    ck_assert_uint_eq(hl_fab.inject, row->inject);
    ck_assert(hl_fab.virt_addr == ((row->mr_mode & FI_MR_VIRT_ADDR) != 0));
    open_pool();
    put_and_get();
    add();
    ask();
    miss();
    hide(-EFAULT);
    hide(-FI_ENOMEM);
    put_and_get();
    close_all();
}
END_TEST

#include "lane_posts.h"

/* Their memory is not cleared: what malloc gives may name buffers that live. */
START_TEST(lanes_that_nobody_needed_give_nothing_back)
{
    static struct hl_lane_pool pool;
    hl_fab.row = hl_provider_find("any", 0); /* as the network leaves it that is open */
    void *living = hl_mem_buffer_take(4096);
    ck_assert_ptr_nonnull(living);
    ck_assert_int_eq(hl_pool_open(&pool, 1, RANKS), 0);
    pool.head.lanes[0]->slots[0] = (struct hl_lane_slot){.chain = living};
    hl_pool_close(&pool);
    void *next = hl_mem_buffer_take(4096);
    ck_assert_ptr_ne(next, living);
    hl_mem_buffer_give(next);
    hl_mem_buffer_give(living);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("lane_models");
    TCase *t = tcase_create("lane_models");
    tcase_set_timeout(t, 100);
    tcase_add_test(t, lanes_that_nobody_needed_give_nothing_back);
    tcase_add_loop_test(t, each_provider_serves_or_is_refused_with_the_reason, 0,
                        (int)HL_COUNT_OF(model_providers));
    tcase_add_loop_test(t, posts_and_completions_are_counted, 0, 4);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(make_suite)
