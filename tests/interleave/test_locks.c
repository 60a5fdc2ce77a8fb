/* The scheduler finds a lost update that plain accesses leave, and none where a flag guards them; equal seeds
 * give equal interleavings. */
#include "../unit/unit.h"

#include "atomic.h"
#include "interleave.h"
#include "lock.h"

enum { SEEDS = 2000, THREADS = 3 };

struct counter {
    struct hl_flag flag;
    hl_a32 value;
    uint64_t trace; /* who stored, in order */
    bool guarded;
};

static void add_one(void *arg, int thread)
{
    struct counter *c = arg;
    while (c->guarded && !hl_flag_try(&c->flag)) {
        hl_pause();
    }
    /* relaxed: the scheduler runs one thread at a time; only the interleaving matters here. */
    uint32_t seen = hl_a32_load_relaxed(&c->value);
    hl_a32_store_relaxed(&c->value, seen + 1);
    c->trace = c->trace * 8 + (uint64_t)thread + 1;
    if (c->guarded) {
        hl_flag_leave(&c->flag);
    }
}

static struct counter run(uint64_t seed, bool guarded)
{
    struct counter c = {.guarded = guarded};
    ck_assert_int_eq(hl_interleave_run(seed, THREADS, add_one, &c), 0);
    return c;
}

START_TEST(an_unguarded_update_is_lost_in_some_interleaving)
{
    int lost = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        lost += run(seed, false).value.v != THREADS;
    }
    ck_assert_int_gt(lost, SEEDS / 20);
}
END_TEST

START_TEST(a_flag_loses_no_update_in_any_interleaving)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ck_assert_msg(run(seed, true).value.v == THREADS, "seed %llu", (unsigned long long)seed);
    }
}
END_TEST

START_TEST(equal_seeds_give_equal_interleavings)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        ck_assert_uint_eq(run(seed, true).trace, run(seed, true).trace);
    }
}
END_TEST

static Suite *locks_suite(void)
{
    Suite *s = suite_create("interleaved locks");
    TCase *c = tcase_create("flag");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, an_unguarded_update_is_lost_in_some_interleaving);
    tcase_add_test(c, a_flag_loses_no_update_in_any_interleaving);
    tcase_add_test(c, equal_seeds_give_equal_interleavings);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(locks_suite)
