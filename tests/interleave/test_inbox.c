/* Inboxes under every interleaving a seed can make: no command is left behind by an owner that leaves, every
 * message is matched once, and a claim over several inboxes is taken once. */
#include "../unit/unit.h"

#include "../unit/match_ranks.h"
#include "interleave.h"

enum { SEEDS = 3000, THREADS = 3 };

struct story {
    bool wild;
    int got[THREADS];
    struct hl_req *req[THREADS];
};

/* Each posts a receive, sends one message to its own rank, and looks once. */
static void act(void *arg, int thread)
{
    struct story *s = arg;
    struct hl_recv r = receiving(s->wild ? MPI_ANY_SOURCE : thread, 1, &s->got[thread], sizeof(int));
    struct hl_send out = sending(thread, 0, 1, &thread, sizeof(thread));
    if (thread % 2 == 0) {
        ck_assert_int_eq(hl_matcher_irecv(&ranks[0], &r, &s->req[thread]), 0);
        ck_assert_int_eq(hl_matcher_send(&ranks[0], &out), 0);
    } else {
        ck_assert_int_eq(hl_matcher_send(&ranks[0], &out), 0);
        ck_assert_int_eq(hl_matcher_irecv(&ranks[0], &r, &s->req[thread]), 0);
    }
    hl_matcher_poll(&ranks[0]);
}

static void tell(uint64_t seed, unsigned inboxes, bool wild)
{
    struct story s = {.wild = wild};
    open_ranks(1, inboxes, true, true);
    ck_assert_int_eq(hl_interleave_run(seed, THREADS, act, &s), 0);
    for (unsigned i = 0; i < inboxes; i++) {
        /* relaxed: one thread is left. */
        ck_assert_msg(hl_aptr_load_relaxed(&ranks[0].inbox[i].command) == NULL,
                      "a command is left, seed %llu", (unsigned long long)seed);
    }
    for (int i = 0; i < 10; i++) {
        hl_matcher_poll(&ranks[0]);
    }
    int sum = 0;
    for (int t = 0; t < THREADS; t++) {
        MPI_Status st = {0};
        ck_assert_msg(hl_req_is_done(s.req[t]), "a receive is not matched, seed %llu",
                      (unsigned long long)seed);
        hl_req_finish(s.req[t], &st);
        ck_assert_int_eq(st.MPI_SOURCE, s.got[t]);
        sum += 1 << 4 * s.got[t];
    }
    ck_assert_msg(sum == 0x111, "a message came twice, seed %llu", (unsigned long long)seed);
    close_ranks();
}

START_TEST(no_command_is_left_behind)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        tell(seed, 1, false);
    }
}
END_TEST

START_TEST(any_source_over_one_inbox)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        tell(seed, 1, true);
    }
}
END_TEST

START_TEST(a_claim_is_taken_once)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        tell(seed, 4, true);
    }
}
END_TEST

static Suite *inbox_suite(void)
{
    Suite *s = suite_create("interleaved inboxes");
    TCase *c = tcase_create("inbox");
    tcase_set_timeout(c, 100);
    tcase_add_test(c, no_command_is_left_behind);
    tcase_add_test(c, any_source_over_one_inbox);
    tcase_add_test(c, a_claim_is_taken_once);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(inbox_suite)
