/* prog: sources are polled as often as asked, waits end when their condition comes true, sleepers are woken.
 */
#include "unit.h"

#include "cs.h"
#include "prog.h"
#include "prog_internal.h"
#include "stat.h"
#include "util.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static hl_a32 calls, rare;

static int count_poll(void *arg)
{
    hl_a32_add_relaxed(arg, 1);
    ck_assert_int_eq(hl_prog_poll(), 0); /* no recursion */
    return 0;
}

START_TEST(sources_are_polled_at_their_rate)
{
    ck_assert_int_eq(hl_prog_register(count_poll, &calls, 1), 0);
    ck_assert_int_eq(hl_prog_register(count_poll, &rare, 64), 0);
    for (int i = 0; i < 640; i++) {
        hl_prog_poll();
    }
    ck_assert_uint_eq(hl_a32_load_relaxed(&calls), 640);
    ck_assert_uint_eq(hl_a32_load_relaxed(&rare), 10);
    hl_prog_unregister(count_poll, &calls);
    hl_prog_unregister(count_poll, &rare);
    hl_prog_poll();
    ck_assert_uint_eq(hl_a32_load_relaxed(&calls), 640);
}
END_TEST

START_TEST(a_full_table_is_an_error)
{
    static hl_a32 n[17];
    for (int i = 0; i < 16; i++) {
        ck_assert_int_eq(hl_prog_register(count_poll, &n[i], 1), 0);
    }
    ck_assert_int_ne(hl_prog_register(count_poll, &n[16], 1), 0);
    for (int i = 0; i < 16; i++) {
        hl_prog_unregister(count_poll, &n[i]);
    }
}
END_TEST

#define ROUNDS 2000

struct turns {
    hl_a32 turn; /* whose: thread number */
    uint32_t threads;
    bool wake;
};

struct player {
    struct turns *t;
    uint32_t me;
    pthread_t thread;
};

static bool my_turn(void *arg)
{
    struct player *p = arg;
    return hl_a32_load_acquire(&p->t->turn) == p->me;
}

static void *play(void *arg)
{
    struct player *p = arg;
    for (int i = 0; i < ROUNDS; i++) {
        hl_prog_wait(my_turn, p);
        hl_a32_store_release(&p->t->turn, (p->me + 1) % p->t->threads);
        if (p->t->wake) {
            hl_prog_wake();
        }
    }
    return NULL;
}

/* Threads pass a token round; returns nanoseconds. */
static uint64_t token_ring(uint32_t threads, bool wake)
{
    struct turns t = {{0}, threads, wake};
    struct player p[32];
    uint64_t start = hl_now_ns();
    for (uint32_t i = 0; i < threads; i++) {
        p[i] = (struct player){&t, i, 0};
        ck_assert_int_eq(pthread_create(&p[i].thread, NULL, play, &p[i]), 0);
    }
    for (uint32_t i = 0; i < threads; i++) {
        pthread_join(p[i].thread, NULL);
    }
    return hl_now_ns() - start;
}

START_TEST(every_wait_ends)
{
    const uint32_t threads[] = {1, 2, 8, 32};
    for (size_t i = 0; i < HL_COUNT_OF(threads); i++) {
        token_ring(threads[i], true);
    }
}
END_TEST

START_TEST(waits_without_a_waker_end_too)
{
    token_ring(2, false);
}
END_TEST

struct once {
    int calls, at;
};

static bool true_once(void *arg)
{
    struct once *o = arg;
    return ++o->calls == o->at;
}

/* A condition may be the step that ends something, wherever the wait asks for it. */
START_TEST(a_condition_need_be_true_only_once)
{
    for (int at = 1; at <= 400; at++) {
        struct once o = {0, at};
        hl_prog_wait(true_once, &o);
        ck_assert_int_eq(o.calls, at);
    }
}
END_TEST

struct sleeper {
    hl_a32 go;
    hl_a32 armed;
};

static bool gone(void *arg)
{
    struct sleeper *s = arg;
    return hl_a32_load_acquire(&s->go) != 0;
}

static enum hl_prog_armed arm(void *arg)
{
    struct sleeper *s = arg;
    hl_a32_add_full(&s->armed, 1);
    return HL_PROG_RINGS;
}

static void *sleep_at_door(void *arg)
{
    hl_prog_wait(gone, arg);
    return NULL;
}

/* Until somebody lies down again, who was woken is not rung for a second time: he may just not have run yet.
 */
START_TEST(sleepers_are_rung_for_once)
{
    static struct hl_prog_door door;
    struct sleeper s = {{0}, {0}};
    hl_prog_set_door(&door, arm, &s);
    hl_a32_store_relaxed(&door.awaited, 1);
    hl_prog_wake();
    hl_prog_wake();
    ck_assert_uint_eq(hl_a32_load_relaxed(&door.word), 1);
    hl_a32_store_relaxed(&door.awaited, 1);
    hl_prog_wake();
    ck_assert_uint_eq(hl_a32_load_relaxed(&door.word), 2);
    hl_prog_set_door(NULL, NULL, NULL);
}
END_TEST

/* Of the node's ranks those are woken that are named and sleep; doors lie in larger records. */
START_TEST(peers_are_woken_by_their_ranks)
{
    static struct {
        struct hl_prog_door door;
        char more[56];
    } ranks[4];
    static const int named[] = {3, 1};
    hl_prog_know_doors(&ranks[0].door, sizeof ranks[0]);
    for (size_t i = 0; i < HL_COUNT_OF(ranks) - 1; i++) {
        hl_a32_store_relaxed(&ranks[i].door.awaited, 1);
    }
    hl_prog_wake_peers(named, (int)HL_COUNT_OF(named));
    hl_prog_wake_peer(2);
    for (size_t i = 0; i < HL_COUNT_OF(ranks); i++) {
        ck_assert_uint_eq(hl_a32_load_relaxed(&ranks[i].door.word), i == 1 || i == 2);
    }
}
END_TEST

START_TEST(a_shared_door_is_armed_and_rung)
{
    static struct hl_prog_door door;
    struct sleeper s = {{0}, {0}};
    pthread_t thread;
    hl_prog_set_door(&door, arm, &s);
    ck_assert_int_eq(pthread_create(&thread, NULL, sleep_at_door, &s), 0);
    while (hl_a32_load_acquire(&s.armed) == 0) {
        hl_pause();
    }
    hl_a32_store_release(&s.go, 1);
    hl_prog_ring(&door);
    pthread_join(thread, NULL);
    ck_assert_uint_ne(hl_a32_load_relaxed(&door.word), 0);
    hl_prog_set_door(NULL, NULL, NULL);
}
END_TEST

static bool is_time(void *until_ns)
{
    return hl_now_ns() >= *(const uint64_t *)until_ns;
}

static void wait_for(uint64_t ns)
{
    uint64_t until_ns = hl_now_ns() + ns;
    hl_prog_wait(is_time, &until_ns);
}

static bool is_told(void *until_ns)
{
    return is_time(until_ns) || hl_prog_waits_for_long(hl_now_ns());
}

/* Peers are called for a wait that is long, not for many that are short. A busy machine may take its time
 * between two naps. */
START_TEST(a_long_wait_is_told_from_many)
{
    for (int i = 0; i < 110; i++) {
        wait_for(10000000);
        ck_assert(!hl_prog_waits_for_long(hl_now_ns()));
    }
    uint64_t until_ns = hl_now_ns() + UINT64_C(20000000000);
    hl_prog_wait(is_told, &until_ns);
    ck_assert(hl_prog_waits_for_long(hl_now_ns()));
    ck_assert(!hl_prog_waits_for_long(hl_now_ns() + 1000000000));
}
END_TEST

static int awaited[8], n_awaited;

static void note_awaited(int world)
{
    awaited[n_awaited++ % 8] = world;
}

static void describe_two(const void *unused, struct hl_wait_desc *t)
{
    (void)unused;
    hl_desc_await(t, 5);
    t->asked = 1 + 7;
}

static bool is_noted(void *until_ns)
{
    return is_time(until_ns) || n_awaited > 0;
}
HL_HANG_WORDS(is_noted, describe_two);

/* Who waits for long tells whom it waits for: also the rank that only owes an answer, and with a watchdog. */
START_TEST(a_long_wait_tells_for_whom)
{
    hl_conf.watchdog = _i * 100;
    for (int on = 1; on >= 0; on--) {
        hl_prog_on_long(on ? note_awaited : NULL);
        uint64_t until_ns = hl_now_ns() + UINT64_C(1000000000) * (on ? 20 : 2);
        n_awaited = 0;
        hl_prog_wait(is_noted, &until_ns);
        ck_assert_int_eq(n_awaited, on ? 2 : 0);
        ck_assert(!on || (awaited[0] == 5 && awaited[1] == 7));
    }
    hl_conf.watchdog = 0;
}
END_TEST

#define MANY 15

static bool told_of[MANY];

static void note_told(int world)
{
    told_of[world] = true;
}

static void describe_many(const void *unused, struct hl_wait_desc *t)
{
    (void)unused;
    for (int i = 0; i < MANY; i++) {
        hl_desc_await(t, i);
    }
}

static bool are_all_told(void *until_ns)
{
    bool all = true;
    for (int i = 0; i < MANY; i++) {
        all = all && told_of[i];
    }
    return all || is_time(until_ns);
}
HL_HANG_WORDS(are_all_told, describe_many);

/* More than have room in its words: others each time. */
START_TEST(a_long_wait_tells_for_all_in_turn)
{
    hl_prog_on_long(note_told);
    uint64_t until_ns = hl_now_ns() + UINT64_C(20000000000);
    hl_prog_wait(are_all_told, &until_ns);
    hl_prog_on_long(NULL);
    for (int i = 0; i < MANY; i++) {
        ck_assert_msg(told_of[i], "nobody was told of rank %d", i);
    }
}
END_TEST

static void *wait_for_ring(void *arg)
{
    hl_prog_wait_rung(gone, arg);
    return NULL;
}

/* Ten naps: nine that double from 20 us to 5 ms, and one. After long ones it is looked for rings that were
 * missing. */
START_TEST(who_waits_for_a_ring_sleeps_long)
{
    static struct hl_prog_door door;
    struct sleeper s = {{0}, {0}};
    uint64_t since = hl_now_ns();
    pthread_t thread;
    hl_prog_set_door(&door, arm, &s);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_ring, &s), 0);
    while (hl_a32_load_acquire(&s.armed) < 14) {
        sched_yield();
    }
    uint64_t took = hl_now_ns() - since;
    ck_assert_uint_ge(took, 15000000);
    hl_a32_store_release(&s.go, 1);
    hl_prog_ring(&door);
    pthread_join(thread, NULL);
    hl_prog_set_door(NULL, NULL, NULL);
}
END_TEST

/* What a wait without a ring does: its polls, and looks at its word, of which the last are judged. */
struct looks {
    hl_a32 polls;
    uint32_t polls_before;
    int seen, outer;
};

enum { LOOKS_FIRST = 400, LOOKS = 240 }; /* the first: spins, yields and naps that double */

static bool has_looked(void *arg)
{
    struct looks *l = arg;
    if (++l->seen == LOOKS_FIRST) {
        l->polls_before = hl_a32_load_relaxed(&l->polls);
    }
    return l->seen == LOOKS_FIRST + LOOKS;
}

/* The condition of a wait for a ring that waits for a word itself. */
static bool looks_inside(void *arg)
{
    struct looks *l = arg;
    if (++l->outer == 1) {
        return false;
    }
    hl_prog_wait(has_looked, l);
    return true;
}

/* Twelve looks to a poll: one before and nine within naps of 1 ms, and two around the poll. */
START_TEST(who_waits_for_a_word_seldom_polls)
{
    static struct hl_prog_door door;
    for (int inside = 0; inside < 2; inside++) {
        struct sleeper s = {{0}, {0}};
        struct looks l = {{0}, 0, 0, 0};
        hl_prog_set_door(&door, arm, &s);
        ck_assert_int_eq(hl_prog_register(count_poll, &l.polls, 1), 0);
        if (inside) {
            hl_prog_wait_rung(looks_inside, &l);
        } else {
            hl_prog_wait(has_looked, &l);
        }
        hl_prog_unregister(count_poll, &l.polls);
        hl_prog_set_door(NULL, NULL, NULL);
        uint32_t polls = hl_a32_load_relaxed(&l.polls) - l.polls_before;
        ck_assert_uint_le(polls, LOOKS / 12 + 2);
        ck_assert_uint_ge(polls, LOOKS / 12 - 2);
    }
}
END_TEST

/* The condition of a wait for a ring that waits for another ring first, and then goes on looking. */
static bool looks_after(void *arg)
{
    struct looks *l = arg;
    if (++l->outer == 2) {
        uint64_t until_ns = hl_now_ns() + 1000000;
        hl_prog_wait_rung(is_time, &until_ns);
    }
    return has_looked(l);
}

/* Three looks to a poll: one before each nap of 10 ms, and two around the poll. */
START_TEST(a_wait_inside_leaves_the_outer_one_as_it_was)
{
    static struct hl_prog_door door;
    struct sleeper s = {{0}, {0}};
    struct looks l = {{0}, 0, 0, 0};
    hl_prog_set_door(&door, arm, &s);
    ck_assert_int_eq(hl_prog_register(count_poll, &l.polls, 1), 0);
    hl_prog_wait_rung(looks_after, &l);
    hl_prog_unregister(count_poll, &l.polls);
    hl_prog_set_door(NULL, NULL, NULL);
    ck_assert_uint_ge(hl_a32_load_relaxed(&l.polls) - l.polls_before, LOOKS / 5);
}
END_TEST

static enum hl_prog_armed arm_served(void *arg)
{
    struct sleeper *s = arg;
    if (hl_a32_add_full(&s->armed, 1) == 20) {
        hl_a32_store_release(&s->go, 1);
    }
    return HL_PROG_SERVED;
}

/* While another thread reads what comes nobody sleeps. */
START_TEST(who_is_served_does_not_sleep)
{
    static struct hl_prog_door door;
    struct sleeper s = {{0}, {0}};
    uint64_t before, after;
    ck_assert_int_eq(hl_stat_get("naps", &before), 0);
    hl_prog_set_door(&door, arm_served, &s);
    wait_for_ring(&s);
    hl_prog_set_door(NULL, NULL, NULL);
    ck_assert_int_eq(hl_stat_get("naps", &after), 0);
    ck_assert_uint_eq(after, before);
}
END_TEST

/* What becomes true during a nap, without a ring, is found after it, and counted. */
START_TEST(a_ring_that_is_missing_is_counted)
{
    static struct hl_prog_door door;
    uint64_t before, after;
    ck_assert_int_eq(hl_stat_get("late_wakes", &before), 0);
    for (after = before; after == before;) { /* between two naps it is not late */
        struct sleeper s = {{0}, {0}};
        pthread_t thread;
        hl_prog_set_door(&door, arm, &s);
        ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_ring, &s), 0);
        while (hl_a32_load_acquire(&s.armed) < 9) {
            sched_yield();
        }
        hl_a32_store_release(&s.go, 1);
        pthread_join(thread, NULL);
        ck_assert_int_eq(hl_stat_get("late_wakes", &after), 0);
    }
    hl_prog_set_door(NULL, NULL, NULL);
}
END_TEST

static HL_THREAD_LOCAL int yields;

/* In front of libc's. */
int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
}

static int yields_in_looks(int looks)
{
    int before = yields;
    while (looks-- > 0) {
        hl_prog_look();
    }
    return yields - before;
}

START_TEST(who_looks_in_vain_yields_where_cores_are_few)
{
    hl_prog_crowd(4, 2);
    ck_assert_int_eq(yields_in_looks(64), 2);
    hl_prog_crowd(1, 1 << 20);
    ck_assert_int_eq(yields_in_looks(64), 0);
}
END_TEST

/* A condition that costs time, as a look at a network does. */
struct costly {
    uint64_t ns; /* of one look */
    int looks, until, yields;
};

static bool look_at_cost(void *arg)
{
    struct costly *c = arg;
    for (uint64_t end = c->ns > 0 ? hl_now_ns() + c->ns : 0; end > 0 && hl_now_ns() < end;) {
    }
    c->yields = yields;
    return ++c->looks == c->until;
}

START_TEST(who_spins_does_not_keep_the_core_for_long)
{
    hl_prog_crowd(1, 1 << 20);
    /* 5 us a look, two looks a pass: yields begin within ten passes, where cheap ones are 100 */
    struct costly dear = {.ns = 5000, .until = 60};
    yields = 0;
    hl_prog_wait_rung(look_at_cost, &dear);
    ck_assert_int_ge(dear.yields, 10);
    /* six cheap passes: in one of many tries nothing else takes the core meanwhile */
    for (int i = 0; i < 100; i++) {
        struct costly cheap = {.until = 12};
        yields = 0;
        hl_prog_wait_rung(look_at_cost, &cheap);
        if (cheap.yields == 0) {
            return;
        }
    }
    ck_abort_msg("cheap passes do not spin");
}
END_TEST

START_TEST(crowds_do_not_spin)
{
    hl_prog_crowd(1, 1 << 20);
    ck_assert(!hl_prog_crowded());
    ck_assert_uint_eq(hl_prog_ranks_per_cpu(), 1);
    hl_prog_crowd(4, 2);
    ck_assert(hl_prog_crowded());
    ck_assert_uint_eq(hl_prog_ranks_per_cpu(), 2);
    hl_prog_crowd(5, 2);
    ck_assert_uint_eq(hl_prog_ranks_per_cpu(), 3);
}
END_TEST

#include "prog_keeper.h"
#include "prog_sections.h"

static Suite *make_suite(void)
{
    Suite *s = suite_create("prog");
    TCase *c = tcase_create("prog");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, sources_are_polled_at_their_rate);
    tcase_add_test(c, a_full_table_is_an_error);
    tcase_add_test(c, every_wait_ends);
    tcase_add_test(c, waits_without_a_waker_end_too);
    tcase_add_test(c, a_condition_need_be_true_only_once);
    tcase_add_test(c, peers_are_woken_by_their_ranks);
    tcase_add_test(c, a_shared_door_is_armed_and_rung);
    tcase_add_test(c, sleepers_are_rung_for_once);
    tcase_add_test(c, a_long_wait_is_told_from_many);
    tcase_add_loop_test(c, a_long_wait_tells_for_whom, 0, 2);
    tcase_add_test(c, a_long_wait_tells_for_all_in_turn);
    tcase_add_test(c, who_waits_for_a_ring_sleeps_long);
    tcase_add_test(c, who_waits_for_a_word_seldom_polls);
    tcase_add_test(c, a_wait_inside_leaves_the_outer_one_as_it_was);
    tcase_add_test(c, who_is_served_does_not_sleep);
    tcase_add_test(c, a_ring_that_is_missing_is_counted);
    tcase_add_test(c, who_waits_gives_the_one_lock_away);
    tcase_add_test(c, the_one_lock_excludes);
    tcase_add_test(c, conditions_are_looked_at_inside);
    tcase_add_test(c, a_mode_says_which_sections_exclude);
    tcase_add_test(c, who_waits_gives_his_sections_away);
    tcase_add_test(c, who_looks_in_vain_yields_where_cores_are_few);
    tcase_add_test(c, who_spins_does_not_keep_the_core_for_long);
    tcase_add_test(c, crowds_do_not_spin);
    tcase_add_loop_test(c, descriptors_wake_a_sleeper, 1, KEPT_THREADS + 1);
    tcase_add_test(c, every_wait_of_a_keeper_ends);
    tcase_add_test(c, a_keepers_inner_wait_sleeps_at_descriptors);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(make_suite)
