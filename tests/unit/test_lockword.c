/* The lock word of a window's target and its queue. */
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lockword.h"
#include "util.h"

static int granted_peer, grants;

static void note_grant(const struct hl_lock_ask *ask)
{
    granted_peer = ask->peer;
    grants++;
}

static void ask_for(struct hl_lockq *q, int peer, bool exclusive)
{
    struct hl_lock_ask ask = {.peer = peer, .exclusive = exclusive, .grant = note_grant};
    ck_assert_int_eq(hl_lockq_ask(q, &ask), 0);
}

START_TEST(readers_share_and_a_writer_is_alone)
{
    hl_a64 word = {0};
    ck_assert(hl_lockword_try(&word, false));
    ck_assert(hl_lockword_try(&word, false));
    ck_assert(!hl_lockword_try(&word, true));
    ck_assert(hl_lockword_leave(&word, false));
    ck_assert(hl_lockword_leave(&word, false));
    ck_assert(hl_lockword_try(&word, true));
    ck_assert(!hl_lockword_try(&word, false));
    ck_assert(!hl_lockword_try(&word, true));
    ck_assert(hl_lockword_leave(&word, true));
    ck_assert_uint_eq(hl_a64_load_relaxed(&word), 0);
}
END_TEST

/* Readers behind a writer that waits for other readers pass it when the lock has not changed for a while, which
 * doubles each time; not while a writer has the lock. */
START_TEST(readers_pass_a_writer_that_waits_long)
{
    hl_a64 word = {0};
    struct hl_lockq q = {.word = &word};

    grants = 0;
    ck_assert(hl_lockword_try(&word, false));
    ck_assert_uint_eq(hl_lockq_due(&q), HL_LOCK_NEVER);
    uint64_t before = hl_now_ns();
    ask_for(&q, 1, true);
    ck_assert_uint_eq(hl_lockq_due(&q), HL_LOCK_NEVER); /* nobody would pass */
    ask_for(&q, 2, false);
    ask_for(&q, 3, true);
    ask_for(&q, 4, false);
    uint64_t due = hl_lockq_due(&q);
    ck_assert(due >= before + HL_LOCK_PASS_NS && due <= hl_now_ns() + HL_LOCK_PASS_NS);
    hl_lockq_pass(&q, due - 1);
    ck_assert_int_eq(grants, 0);
    hl_lockq_pass(&q, due);
    ck_assert_int_eq(grants, 2);
    ck_assert_int_eq(granted_peer, 4);
    ck_assert_uint_eq(hl_lockq_due(&q), HL_LOCK_NEVER);
    before = hl_now_ns();
    hl_lockq_leave(&q, false);
    ask_for(&q, 5, false);
    ck_assert_uint_ge(hl_lockq_due(&q), before + 2 * HL_LOCK_PASS_NS);
    hl_lockq_pass(&q, before + HL_LOCK_PASS_NS);
    hl_lockq_leave(&q, false);
    ck_assert_int_eq(grants, 2);
    hl_lockq_leave(&q, false);
    ck_assert_int_eq(granted_peer, 1); /* the writer has it: nobody passes the next one */
    ck_assert_uint_eq(hl_lockq_due(&q), HL_LOCK_NEVER);
    hl_lockq_pass(&q, UINT64_MAX - 1);
    ck_assert_int_eq(grants, 3);
    hl_lockq_leave(&q, true);
    ck_assert_int_eq(granted_peer, 3);
    hl_lockq_leave(&q, true);
    ck_assert_int_eq(granted_peer, 5);
    ck_assert_ptr_null(q.head);
    ck_assert(hl_lockword_leave(&word, false));
}
END_TEST

/* What readers wait before they pass grows to a limit, and the death of a rank that asks leaves the right ones to
 * pass. */
START_TEST(passing_has_a_limit_and_survives_deaths)
{
    hl_a64 word = {0};
    struct hl_lockq q = {.word = &word};

    grants = 0;
    ck_assert(hl_lockword_try(&word, false));
    ask_for(&q, 1, true);
    for (int i = 0; i < 20; i++) { /* a reader that stays, and one that comes again */
        ask_for(&q, 2, false);
        ck_assert_uint_le(hl_lockq_due(&q), hl_now_ns() + HL_LOCK_PASS_MOST_NS);
        hl_lockq_pass(&q, hl_lockq_due(&q));
        hl_lockq_leave(&q, false);
    }
    ck_assert_int_eq(grants, 20);
    ask_for(&q, 3, true);
    ask_for(&q, 4, false);
    ask_for(&q, 5, false);
    hl_lockq_drop_peer(&q, 1); /* the first */
    hl_lockq_drop_peer(&q, 5); /* the last */
    ck_assert_int_eq(grants, 20);
    hl_lockq_pass(&q, hl_lockq_due(&q));
    ck_assert_int_eq(granted_peer, 4);
    ask_for(&q, 6, false);
    hl_lockq_drop_peer(&q, 6);
    ck_assert_uint_eq(hl_lockq_due(&q), HL_LOCK_NEVER); /* no reader is left to pass */
    hl_lockq_leave(&q, false);
    hl_lockq_leave(&q, false);
    ck_assert_int_eq(granted_peer, 3);
    ck_assert(hl_lockword_leave(&word, true));
}
END_TEST

START_TEST(requests_are_granted_in_order)
{
    hl_a64 word = {0};
    struct hl_lockq q = {.word = &word};

    grants = 0;
    ck_assert(hl_lockword_try(&word, false));
    ask_for(&q, 1, true);
    ask_for(&q, 2, false);
    ck_assert_int_eq(grants, 0);
    ck_assert(!hl_lockword_try(&word, false)); /* behind the writer */
    ck_assert(!hl_lockword_leave(&word, false));
    hl_lockq_leave(&q, false);
    ck_assert_int_eq(grants, 1);
    ck_assert_int_eq(granted_peer, 1);
    ck_assert(!hl_lockword_leave(&word, true));
    hl_lockq_leave(&q, true);
    ck_assert_int_eq(grants, 2);
    ck_assert_int_eq(granted_peer, 2);
    ck_assert(hl_lockword_leave(&word, false)); /* the queue is empty: no message */
    ck_assert_uint_eq(hl_a64_load_relaxed(&word), 0);
}
END_TEST

START_TEST(a_free_lock_is_granted_at_once)
{
    hl_a64 word = {0};
    struct hl_lockq q = {.word = &word};

    grants = 0;
    ask_for(&q, 3, true);
    ck_assert_int_eq(grants, 1);
    ck_assert_uint_eq(hl_a64_load_relaxed(&word), HL_LOCK_EXCLUSIVE);
    hl_lockq_leave(&q, true); /* a holder far away */
    ck_assert_uint_eq(hl_a64_load_relaxed(&word), 0);
}
END_TEST

START_TEST(readers_behind_a_writer_go_together)
{
    hl_a64 word = {0};
    struct hl_lockq q = {.word = &word};

    grants = 0;
    ck_assert(hl_lockword_try(&word, true));
    for (int i = 0; i < 5; i++) {
        ask_for(&q, i, false);
    }
    hl_lockq_leave(&q, true);
    ck_assert_int_eq(grants, 5);
    ck_assert_uint_eq(hl_a64_load_relaxed(&word), 5);
}
END_TEST

static int refused_peers; /* a bit for each */

static void note_refusal(const struct hl_lock_ask *ask, int holder)
{
    ck_assert_int_eq(holder, 9);
    refused_peers |= 1 << ask->peer;
}

START_TEST(what_the_dead_asked_for_goes_to_the_next)
{
    hl_a64 word = {0};
    struct hl_lockq q = {.word = &word};

    grants = 0;
    ck_assert(hl_lockword_try(&word, false));
    ask_for(&q, 1, true);
    ask_for(&q, 2, false);
    ask_for(&q, 1, true);
    hl_lockq_drop_peer(&q, 1);
    ck_assert_int_eq(grants, 1);
    ck_assert_int_eq(granted_peer, 2);
    ask_for(&q, 3, true);
    hl_lockq_drop_peer(&q, 3);
    ck_assert(hl_lockword_leave(&word, false)); /* nobody is queued any more */
    ck_assert(hl_lockword_leave(&word, false));
    ck_assert_uint_eq(hl_a64_load_relaxed(&word), 0);
}
END_TEST

START_TEST(a_lock_that_a_dead_rank_keeps_is_refused)
{
    hl_a64 word = {0};
    struct hl_lockq q = {.word = &word};

    grants = refused_peers = 0;
    ck_assert(hl_lockword_try(&word, false)); /* its, for ever */
    ask_for(&q, 1, true);
    ask_for(&q, 2, false);
    ask_for(&q, 3, true);
    hl_lockq_refuse(&q, note_refusal, 9);
    ck_assert_int_eq(refused_peers, 1 << 1 | 1 << 3);
    ck_assert_int_eq(grants, 1);
    ck_assert_uint_eq(hl_a64_load_relaxed(&word), 2);
    ck_assert(hl_lockword_leave(&word, false));
    ck_assert(hl_lockword_try(&word, false));
}
END_TEST

/* Ranks as threads; the receive thread is whoever holds `rx`. */
struct arena {
    hl_a64 word;
    pthread_mutex_t rx;
    struct hl_lockq q;
    hl_a32 granted[32];
    hl_a32 inside_writers, inside_readers;
    long long value; /* guarded by the lock word: what ThreadSanitizer watches */
    int rounds;
};
static struct arena arena;

static void grant_thread(const struct hl_lock_ask *ask)
{
    hl_a32_store_release(&arena.granted[ask->peer], 1);
}

struct rank {
    int me;
    unsigned seed;
};

static void take(struct rank *r, bool exclusive)
{
    if (hl_lockword_try(&arena.word, exclusive)) {
        return;
    }
    hl_a32_store_relaxed(&arena.granted[r->me], 0);
    pthread_mutex_lock(&arena.rx);
    hl_lockq_ask(&arena.q,
                 &(struct hl_lock_ask){.peer = r->me, .exclusive = exclusive, .grant = grant_thread});
    if (rand_r(&r->seed) % 4 == 0) { /* readers may pass at any time */
        hl_lockq_pass(&arena.q, HL_LOCK_NEVER - 1);
    }
    pthread_mutex_unlock(&arena.rx);
    while (hl_a32_load_acquire(&arena.granted[r->me]) == 0) {
        sched_yield();
    }
}

static void leave(bool exclusive)
{
    if (!hl_lockword_leave(&arena.word, exclusive)) {
        pthread_mutex_lock(&arena.rx);
        hl_lockq_leave(&arena.q, exclusive);
        pthread_mutex_unlock(&arena.rx);
    }
}

static void *rank_main(void *arg)
{
    struct rank *r = arg;
    for (int i = 0; i < arena.rounds; i++) {
        bool exclusive = rand_r(&r->seed) % 3 == 0;
        take(r, exclusive);
        if (exclusive) {
            ck_assert_uint_eq(hl_a32_add_relaxed(&arena.inside_writers, 1), 0);
            ck_assert_uint_eq(hl_a32_load_relaxed(&arena.inside_readers), 0);
            arena.value++;
            hl_a32_add_relaxed(&arena.inside_writers, (uint32_t)-1);
        } else {
            hl_a32_add_relaxed(&arena.inside_readers, 1);
            ck_assert_uint_eq(hl_a32_load_relaxed(&arena.inside_writers), 0);
            ck_assert_int_ge(arena.value, 0);
            hl_a32_add_relaxed(&arena.inside_readers, (uint32_t)-1);
        }
        leave(exclusive);
    }
    return NULL;
}

START_TEST(threads_exclude_each_other)
{
    static const int counts[] = {1, 2, 8, 32};
    int n = counts[_i];
    pthread_t threads[32];
    struct rank ranks[32];

    memset(&arena, 0, sizeof arena);
    pthread_mutex_init(&arena.rx, NULL);
    arena.q = (struct hl_lockq){.word = &arena.word};
    arena.rounds = 20000 / n;
    for (int i = 0; i < n; i++) {
        ranks[i] = (struct rank){i, 17u * (unsigned)i + 1};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, rank_main, &ranks[i]), 0);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_uint_eq(hl_a64_load_relaxed(&arena.word), 0);
    ck_assert_ptr_null(arena.q.head);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("lockword");
    TCase *t = tcase_create("lockword");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, readers_share_and_a_writer_is_alone);
    tcase_add_test(t, readers_pass_a_writer_that_waits_long);
    tcase_add_test(t, passing_has_a_limit_and_survives_deaths);
    tcase_add_test(t, requests_are_granted_in_order);
    tcase_add_test(t, a_free_lock_is_granted_at_once);
    tcase_add_test(t, readers_behind_a_writer_go_together);
    tcase_add_test(t, what_the_dead_asked_for_goes_to_the_next);
    tcase_add_test(t, a_lock_that_a_dead_rank_keeps_is_refused);
    tcase_add_loop_test(t, threads_exclude_each_other, 0, 4);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(make_suite)
