/* Inboxes under every interleaving a seed can make: no command is left behind by an owner that leaves, every
 * message is matched once, and a receive from any source over several inboxes is taken once. With
 * -Dfaults=true the test also sees what either half of leaving and delegating is for: without it some
 * interleaving loses a command. */
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
        ck_assert_int_eq(hl_match_irecv(&ranks[0], &r, &s->req[thread]), 0);
        ck_assert_int_eq(hl_match_send(&ranks[0], &out), 0);
    } else {
        ck_assert_int_eq(hl_match_send(&ranks[0], &out), 0);
        ck_assert_int_eq(hl_match_irecv(&ranks[0], &r, &s->req[thread]), 0);
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

START_TEST(a_wild_receive_is_taken_once)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        tell(seed, 4, true);
    }
}
END_TEST

/* ---- A synchronous message that is already unexpected, and an owner that leaves for good ---- */

struct ask_story {
    int asked, other, got[2];
    struct hl_req *send, *recv[2];
};

/* One asks for it and the other serves the inbox once. Then both compute or sleep: nobody polls again. */
static void ask_or_serve(void *arg, int thread)
{
    struct ask_story *s = arg;
    if (thread == 0) {
        struct hl_recv r = receiving(1, 1, &s->got[0], sizeof(int));
        ck_assert_int_eq(hl_match_irecv(&ranks[0], &r, &s->recv[0]), 0);
        return;
    }
    hl_matcher_poll(&ranks[0]);
}

static void begin_ask(struct ask_story *s)
{
    *s = (struct ask_story){.asked = 5, .other = 6};
    open_ranks(2, 1, true, true);
    struct hl_send sync = sending(1, 0, 1, &s->asked, sizeof(int));
    sync.mode = HL_SEND_SYNC;
    ck_assert_int_eq(hl_match_isend(&ranks[1], &sync, &s->send), 0);
    hl_matcher_poll(&ranks[0]); /* it is unexpected now */
    struct hl_send more = sending(1, 0, 2, &s->other, sizeof(int));
    ck_assert_int_eq(hl_match_send(&ranks[1], &more), 0); /* and there is something to serve */
}

/* Returns whether the command was lost. */
static bool end_ask(struct ask_story *s)
{
    bool lost = !hl_req_is_done(s->recv[0]);
    struct hl_recv r = receiving(1, 2, &s->got[1], sizeof(int));
    ck_assert_int_eq(hl_match_irecv(&ranks[0], &r, &s->recv[1]), 0);
    for (int i = 0; i < 4; i++) {
        hl_matcher_poll(&ranks[0]);
        hl_matcher_poll(&ranks[1]);
    }
    ck_assert(hl_req_is_done(s->recv[0]) && hl_req_is_done(s->recv[1]) && hl_req_is_done(s->send));
    hl_req_finish(s->recv[0], MPI_STATUS_IGNORE);
    hl_req_finish(s->recv[1], MPI_STATUS_IGNORE);
    hl_req_finish(s->send, MPI_STATUS_IGNORE);
    ck_assert_int_eq(s->got[0], 5);
    ck_assert_int_eq(s->got[1], 6);
    close_ranks();
    return lost;
}

/* Interleavings with at most three switches in which the command was lost. */
static int count_lost(void)
{
    static struct hl_interleave_walk walk;
    walk = (struct hl_interleave_walk){.switches = 3};
    bool more = true;
    int lost = 0, runs = 0;
    for (; more; runs++) {
        struct ask_story s;
        begin_ask(&s);
        ck_assert_int_eq(hl_interleave_next(&walk, 2, ask_or_serve, &s, &more), 0);
        lost += end_ask(&s);
    }
    printf("%d of %d interleavings lose the command\n", lost, runs);
    ck_assert_int_gt(runs, 1000);
    return lost;
}

START_TEST(no_owner_leaves_a_command_for_good)
{
    ck_assert_int_eq(count_lost(), 0);
}
END_TEST

#ifdef HL_FAULTS
#include "fault.h"

static const char *const halves[] = {"leave_deaf", "ask_once"};

START_TEST(either_half_left_out_loses_commands)
{
    ck_assert_int_eq(hl_fault_plant(halves[_i]), 0);
    ck_assert_msg(count_lost() > 0, "%s was not seen", halves[_i]);
}
END_TEST

static void add_planted(TCase *c)
{
    tcase_add_loop_test(c, either_half_left_out_loses_commands, 0, 2);
}
#else
static void add_planted(TCase *c)
{
}
#endif

static Suite *inbox_suite(void)
{
    Suite *s = suite_create("interleaved inboxes");
    TCase *c = tcase_create("inbox");
    tcase_set_timeout(c, 100);
    tcase_add_test(c, no_command_is_left_behind);
    tcase_add_test(c, any_source_over_one_inbox);
    tcase_add_test(c, a_wild_receive_is_taken_once);
    tcase_add_test(c, no_owner_leaves_a_command_for_good);
    add_planted(c);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(inbox_suite)
