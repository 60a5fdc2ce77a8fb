/* In every interleaving accumulates lose nothing and fetch each value once, and a dead holder's lock gets one
 * heir. */
#include "../unit/unit.h"

#include "err.h"
#include "interleave.h"
#include "job.h"
#include "log.h"
#include "near.h"
#include "near_lock.h"

#include <string.h>

enum { SEEDS = 1500, HEIR_SEEDS = 100, THREADS = 3, ROUNDS = 2 };

hl_op_fn *__real_hl_op_kernel(enum hl_op_kind op, enum hl_basic basic);
hl_op_fn *__wrap_hl_op_kernel(enum hl_op_kind op, enum hl_basic basic);

/* A loop has no atomic access in which another thread could go on: these have one between reads and
 * writes. */
static hl_a32 pause_of_loops;
static hl_op_fn *whole_loop;

static void split_loop(void *inout, const void *in, size_t n)
{
    unsigned char values[256];
    ck_assert_uint_le(n * 8, sizeof values);
    memcpy(values, inout, n * 8);
    hl_a32_add_relaxed(&pause_of_loops, 1); /* relaxed: nobody reads it. */
    whole_loop(values, in, n);
    memcpy(inout, values, n * 8);
}

hl_op_fn *__wrap_hl_op_kernel(enum hl_op_kind op, enum hl_basic basic)
{
    whole_loop = __real_hl_op_kernel(op, basic);
    return split_loop;
}

struct sum {
    _Alignas(16) unsigned char target[128];
    struct hl_near_lock lock;
    enum hl_basic basic;
    size_t shift, row; /* row: elements that odd threads add at once, the one that is looked at among them */
    bool all;          /* even threads do so, too */
    uint64_t fetched[THREADS * ROUNDS]; /* each thread its own places */
};

enum { MOST = 16, WATCHED = 4 }; /* elements of a row, and which of them */

static void add(void *arg, int thread)
{
    struct sum *s = arg;
    bool real = s->basic == HL_BASIC_F64;
    size_t n = thread % 2 == 1 || s->all ? s->row : 1, first = n > WATCHED ? 0 : WATCHED;
    uint64_t ones[MOST], seen[MOST];
    double ones_f[MOST], seen_f[MOST];
    for (size_t i = 0; i < n; i++) {
        ones[i] = 1;
        ones_f[i] = 1;
    }
    for (int r = 0; r < ROUNDS; r++) {
        ck_assert_int_eq(hl_near_acc(HL_OP_SUM, s->basic, s->target + s->shift + first * 8,
                                     real ? (void *)ones_f : (void *)ones,
                                     real ? (void *)seen_f : (void *)seen, n, &s->lock),
                         0);
        s->fetched[thread * ROUNDS + r] = real ? (uint64_t)seen_f[WATCHED - first] : seen[WATCHED - first];
    }
}

/* Every value from 0 on was fetched exactly once. */
static void check_fetched(const struct sum *s, uint64_t seed)
{
    unsigned seen = 0;
    for (int i = 0; i < THREADS * ROUNDS; i++) {
        seen |= 1u << s->fetched[i];
    }
    ck_assert_msg(seen == (1u << (THREADS * ROUNDS)) - 1, "seed %llu: %x", (unsigned long long)seed, seen);
}

/* held: rows go by loops under the lock until a single element is updated. */
static const struct {
    enum hl_basic basic;
    size_t shift, row;
    bool held, all;
} ways[] = {{HL_BASIC_I64, 0, 1, false, false}, {HL_BASIC_F64, 0, 1, false, false},
            {HL_BASIC_I64, 1, 1, false, false}, {HL_BASIC_F64, 4, 1, false, false},
            {HL_BASIC_I64, 0, 9, false, false}, {HL_BASIC_F64, 8, 8, false, false},
            {HL_BASIC_F64, 4, 9, false, false}, {HL_BASIC_I64, 0, 9, true, false},
            {HL_BASIC_F64, 8, 8, true, false},  {HL_BASIC_F64, 4, 9, true, false},
            {HL_BASIC_F64, 0, 9, true, true}};

/* The part of the one rank of this node. */
static struct hl_near_part *own_part(void)
{
    static struct hl_near_part part;
    hl_job.node_size = 1;
    hl_near_open(&part);
    return &part;
}

START_TEST(fetch_and_add_gives_each_value_once)
{
    struct hl_near_part *part = own_part();
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct sum s = {.basic = ways[_i].basic,
                        .shift = ways[_i].shift,
                        .row = ways[_i].row,
                        .all = ways[_i].all,
                        .lock = {.owner = 1, .rows = {ways[_i].held}}};
        ck_assert_int_eq(hl_interleave_run(seed, THREADS, add, &s), 0);
        check_fetched(&s, seed);
        ck_assert_uint_eq(part->lock.holder.v, 0);
        /* Singles end the rows, where they need no lock themselves; rows alone do not. */
        ck_assert_uint_eq(s.lock.rows.v, ways[_i].held && (ways[_i].all || ways[_i].shift % 8 != 0));
    }
}
END_TEST

/* A window that knows nothing of rows comes over the same memory: its lock is another one with the same
 * part. */
static void add_by_two_windows(void *arg, int thread)
{
    struct sum *s = arg;
    if (thread == 1) {
        hl_near_overlay(0);
        struct sum *other = s + 1;
        uint64_t one = 1;
        for (int r = 0; r < ROUNDS; r++) {
            ck_assert_int_eq(hl_near_acc(HL_OP_SUM, HL_BASIC_I64, s->target + WATCHED * 8, &one,
                                         &s->fetched[thread * ROUNDS + r], 1, &other->lock),
                             0);
        }
    } else {
        add(s, thread);
    }
}

START_TEST(rows_end_where_another_window_comes_over_them)
{
    struct hl_near_part *part = own_part();
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct sum s[2] = {{.basic = HL_BASIC_I64, .row = 9, .all = true, .lock = {.owner = 1, .rows = {1}}},
                           {.basic = HL_BASIC_I64, .lock = {.owner = 1}}};
        part->overlaid = (hl_a32){0};
        ck_assert_int_eq(hl_interleave_run(seed, THREADS, add_by_two_windows, s), 0);
        check_fetched(s, seed);
    }
}
END_TEST

static void count_by_cas(void *arg, int thread)
{
    struct sum *s = arg;
    for (int r = 0; r < ROUNDS; r++) {
        uint64_t seen = 0, was;
        for (;;) {
            uint64_t wish = seen + 1;
            ck_assert_int_eq(hl_near_cas(HL_BASIC_I64, s->target + s->shift, &wish, &seen, &was, &s->lock),
                             0);
            if (was == seen) {
                break;
            }
            seen = was;
        }
        s->fetched[thread * ROUNDS + r] = was;
    }
}

START_TEST(compare_and_swap_wins_once_for_each_value)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct sum s = {.shift = (size_t)_i};
        ck_assert_int_eq(hl_interleave_run(seed, THREADS, count_by_cas, &s), 0);
        check_fetched(&s, seed);
    }
}
END_TEST

static bool lives(int node_rank)
{
    return false;
}

struct estate {
    struct hl_near_lock lock;
    hl_a32 inside, entered;
};

static void inherit(void *arg, int thread)
{
    struct estate *e = arg;
    struct hl_near_lock *held = hl_near_lock_take(&e->lock);
    /* relaxed: the scheduler runs one thread at a time. */
    ck_assert_uint_eq(hl_a32_add_relaxed(&e->inside, 1), 0);
    hl_a32_add_relaxed(&e->entered, 1);
    hl_a32_add_relaxed(&e->inside, (uint32_t)-1);
    hl_near_lock_leave(held);
}

START_TEST(the_lock_of_a_dead_holder_has_one_heir_at_a_time)
{
    hl_log_limit(HL_LOG_ERROR);
    hl_job.node_lives = lives;
    hl_near_holder_timeout_ns = 0;
    hl_job.node_size = 2;
    for (uint64_t seed = 0; seed < HEIR_SEEDS; seed++) {
        struct estate e = {.lock = {{2}}};
        ck_assert_int_eq(hl_interleave_run(seed, THREADS, inherit, &e), 0);
        ck_assert_uint_eq(e.entered.v, THREADS);
        ck_assert_uint_eq(e.lock.holder.v, 0);
    }
}
END_TEST

static Suite *near_suite(void)
{
    Suite *s = suite_create("interleaved near");
    TCase *c = tcase_create("near");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, fetch_and_add_gives_each_value_once, 0, (int)(sizeof ways / sizeof ways[0]));
    tcase_add_test(c, rows_end_where_another_window_comes_over_them);
    tcase_add_loop_test(c, compare_and_swap_wins_once_for_each_value, 0, 2);
    tcase_add_test(c, the_lock_of_a_dead_holder_has_one_heir_at_a_time);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(near_suite)
