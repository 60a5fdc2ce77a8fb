/* A sleeper that descriptors wake. A part of test_prog.c. */
#ifndef PROG_KEEPER_H
#define PROG_KEEPER_H

#include <fcntl.h>

enum { KEPT_THREADS = 4, KEPT_ROUNDS = 30, KEPT_LATE = 6 }; /* a busy machine may be late itself */

struct kept {
    int pipe[2];
    hl_a32 got;
    pthread_t thread;
};

static bool takes_byte(void *arg)
{
    struct kept *k = arg;
    char byte;
    return read(k->pipe[0], &byte, 1) == 1;
}

static void *take_bytes(void *arg)
{
    struct kept *k = arg;
    for (int i = 0; i < KEPT_ROUNDS; i++) {
        hl_prog_wait_rung(takes_byte, k);
        hl_a32_add_full(&k->got, 1);
    }
    return NULL;
}

static uint64_t late_wakes(void)
{
    uint64_t n;
    ck_assert_int_eq(hl_stat_get("late_wakes", &n), 0);
    return n;
}

static void open_kept(struct kept *k, int n)
{
    for (int i = 0; i < n; i++) {
        k[i] = (struct kept){.pipe = {-1, -1}};
        ck_assert_int_eq(pipe2(k[i].pipe, O_NONBLOCK | O_CLOEXEC), 0);
        ck_assert(hl_prog_keeper_add(k[i].pipe[0]));
        ck_assert_int_eq(pthread_create(&k[i].thread, NULL, take_bytes, &k[i]), 0);
    }
}

static void close_kept(struct kept *k, int n)
{
    for (int i = 0; i < n; i++) {
        pthread_join(k[i].thread, NULL);
        hl_prog_keeper_drop(k[i].pipe[0]);
        close(k[i].pipe[0]);
        close(k[i].pipe[1]);
    }
}

/* What comes at a descriptor wakes the thread that waits for it, which no other one rings: the only sleeper, or
 * of several the one that is the keeper, or another one. */
START_TEST(descriptors_wake_a_sleeper)
{
    static struct hl_prog_door door;
    struct sleeper s = {{0}, {0}};
    struct kept kept[KEPT_THREADS];
    uint64_t late = late_wakes();
    hl_prog_set_door(&door, arm, &s);
    ck_assert(hl_prog_keeper_open());
    open_kept(kept, _i);
    for (int i = 0; i < KEPT_ROUNDS * _i; i++) {
        struct kept *k = &kept[i % _i];
        uint32_t before = hl_a32_load_acquire(&s.armed), got = hl_a32_load_acquire(&k->got);
        for (int turns = 0; turns < 200000 && hl_a32_load_acquire(&s.armed) < before + 2; turns++) {
            sched_yield();
        }
        ck_assert_int_eq(write(k->pipe[1], "", 1), 1);
        while (hl_a32_load_acquire(&k->got) == got) {
            sched_yield();
        }
    }
    close_kept(kept, _i);
    hl_prog_keeper_close();
    ck_assert_uint_le(late_wakes() - late, (uint64_t)(KEPT_LATE * _i));
    ck_assert(_i > 1 || hl_a32_load_relaxed(&door.word) == 0);
    hl_prog_set_door(NULL, NULL, NULL);
}
END_TEST

/* Threads that wake each other find the keeper, too. */
START_TEST(every_wait_of_a_keeper_ends)
{
    ck_assert(hl_prog_keeper_open());
    token_ring(2, true);
    token_ring(8, true);
    hl_prog_keeper_close();
    ck_assert(!hl_prog_keeper_add(0));
}
END_TEST

/* A condition of the keeper that waits itself sleeps at the descriptors, too: it counts among no others. */
START_TEST(a_keepers_inner_wait_sleeps_at_descriptors)
{
    struct kept k = {.pipe = {-1, -1}};
    ck_assert(hl_prog_keeper_open());
    ck_assert_int_eq(pipe2(k.pipe, O_NONBLOCK | O_CLOEXEC), 0);
    ck_assert(hl_prog_keeper_add(k.pipe[0]));
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(hl_prog_keeper_enter(), HL_PROG_KEEPER);
        ck_assert_int_eq(hl_prog_keeper_enter(), HL_PROG_INNER);
        ck_assert_int_eq(write(k.pipe[1], "", 1), 1);
        ck_assert(!hl_prog_keeper_sleep(900000000));
        hl_prog_keeper_leave(HL_PROG_INNER, NULL);
        /* the byte is still there: the descriptor speaks again where that is asked for */
        hl_prog_keeper_again(k.pipe[0]);
        ck_assert(!hl_prog_keeper_sleep(900000000));
        ck_assert(takes_byte(&k));
        hl_prog_keeper_leave(HL_PROG_KEEPER, NULL);
    }
    hl_prog_keeper_drop(k.pipe[0]);
    close(k.pipe[0]);
    close(k.pipe[1]);
    hl_prog_keeper_close();
}
END_TEST

#endif
