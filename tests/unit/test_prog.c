/* prog: sources are polled as often as asked, waits end when their condition comes true, sleepers are woken.
 */
#include "unit.h"

#include "prog.h"
#include "util.h"

#include <pthread.h>

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

struct sleeper {
    hl_a32 go;
    hl_a32 armed;
};

static bool gone(void *arg)
{
    struct sleeper *s = arg;
    return hl_a32_load_acquire(&s->go) != 0;
}

static bool arm(void *arg)
{
    struct sleeper *s = arg;
    hl_a32_store_release(&s->armed, 1);
    return false;
}

static void *sleep_at_door(void *arg)
{
    hl_prog_wait(gone, arg);
    return NULL;
}

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
    ck_assert_uint_eq(hl_a32_load_relaxed(&door.sleepers), 0);
    ck_assert_uint_ne(hl_a32_load_relaxed(&door.word), 0);
    hl_prog_set_door(NULL, NULL, NULL);
}
END_TEST

START_TEST(crowds_do_not_spin)
{
    hl_prog_crowd(1, 1 << 20);
    ck_assert(!hl_prog_crowded());
    hl_prog_crowd(4, 2);
    ck_assert(hl_prog_crowded());
}
END_TEST

/* Turns in the process's one lock. */
struct takers {
    hl_a32 stage; /* atomic: 1 when the first thread is inside, 2 when the second was */
    int inside;   /* guarded by the lock */
};

static bool second_was_inside(void *arg)
{
    struct takers *t = arg;
    return hl_a32_load_acquire(&t->stage) == 2;
}

static void *enter_second(void *arg)
{
    struct takers *t = arg;
    while (hl_a32_load_acquire(&t->stage) == 0) {
        hl_pause();
    }
    hl_prog_enter();
    t->inside++;
    hl_a32_store_release(&t->stage, 2);
    hl_prog_leave();
    return NULL;
}

START_TEST(who_waits_gives_the_one_lock_away)
{
    struct takers t = {.inside = 0};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, enter_second, &t), 0);
    hl_prog_enter();
    hl_prog_enter(); /* it nests */
    hl_a32_store_release(&t.stage, 1);
    hl_prog_wait(second_was_inside, &t);
    ck_assert_int_eq(t.inside, 1);
    hl_prog_leave();
    hl_prog_leave();
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(the_one_lock_excludes)
{
    struct takers t = {.inside = 0};
    pthread_t thread;
    hl_prog_enter();
    ck_assert_int_eq(pthread_create(&thread, NULL, enter_second, &t), 0);
    hl_a32_store_release(&t.stage, 1);
    for (int i = 0; i < 200000; i++) {
        hl_pause();
        ck_assert_uint_eq(hl_a32_load_acquire(&t.stage), 1);
    }
    hl_prog_leave();
    pthread_join(thread, NULL);
    ck_assert_int_eq(t.inside, 1);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("prog");
    TCase *c = tcase_create("prog");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, sources_are_polled_at_their_rate);
    tcase_add_test(c, a_full_table_is_an_error);
    tcase_add_test(c, every_wait_ends);
    tcase_add_test(c, waits_without_a_waker_end_too);
    tcase_add_test(c, a_shared_door_is_armed_and_rung);
    tcase_add_test(c, who_waits_gives_the_one_lock_away);
    tcase_add_test(c, the_one_lock_excludes);
    tcase_add_test(c, crowds_do_not_spin);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(make_suite)
