/* Litmus tests of near: what its fences forbid, on threads and on processes. Included by test_near.c. */
#ifndef HL_NEAR_LITMUS_H
#define HL_NEAR_LITMUS_H

#include "near.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CELLS 20000

struct cell { /* each its own line: the store buffers must hold them apart */
    _Alignas(64) uint64_t v;
};
struct litmus {
    hl_a32 arrived;
    struct cell x[CELLS], y[CELLS];
    uint64_t seen[4][CELLS], seen2[4][CELLS];
    char data[CELLS][48];
};
static struct litmus *lit;

static void put(uint64_t *at, uint64_t v)
{
    hl_near_copy(at, &v, sizeof v);
}

static uint64_t get(const uint64_t *at)
{
    uint64_t v;
    hl_near_copy(&v, at, sizeof v);
    return v;
}

static void meet(uint32_t actors)
{
    hl_a32_add_full(&lit->arrived, 1);
    while (hl_a32_load_acquire(&lit->arrived) % actors != 0) {
        sched_yield();
    }
}

typedef void actor_fn(int me);

/* Store buffering: put mine; flush; get the other's. Never both old. */
static void sb_actor(int me)
{
    meet(2);
    for (int i = 0; i < CELLS; i++) {
        put(me == 0 ? &lit->x[i].v : &lit->y[i].v, 1);
        hl_near_fence();
        lit->seen[me][i] = get(me == 0 ? &lit->y[i].v : &lit->x[i].v);
    }
}

static void sb_check(void)
{
    for (int i = 0; i < CELLS; i++) {
        ck_assert_msg(lit->seen[0][i] + lit->seen[1][i] > 0, "store buffering at %d", i);
    }
}

/* Message passing: put data; flush; put flag | get flag; flush; get data. */
static void mp_actor(int me)
{
    meet(2);
    for (int i = 0; i < CELLS; i++) {
        char data[48];
        if (me == 0) {
            memset(data, 7, sizeof data);
            hl_near_copy(lit->data[i], data, sizeof data);
            hl_near_fence();
            put(&lit->x[i].v, 1);
        } else {
            uint64_t flag = get(&lit->x[i].v);
            hl_near_fence();
            lit->seen[0][i] = flag;
            hl_near_copy(data, lit->data[i], flag ? sizeof data : 0);
            lit->seen[1][i] = flag && memchr(data, 0, sizeof data) != NULL;
        }
    }
}

static void mp_check(void)
{
    for (int i = 0; i < CELLS; i++) {
        ck_assert_msg(lit->seen[1][i] == 0, "message passing at %d", i);
    }
}

/* Independent reads of independent writes: two readers agree on the order. */
static void iriw_actor(int me)
{
    meet(4);
    for (int i = 0; i < CELLS; i++) {
        if (me < 2) {
            put(me == 0 ? &lit->x[i].v : &lit->y[i].v, 1);
        } else {
            lit->seen[me][i] = get(me == 2 ? &lit->x[i].v : &lit->y[i].v);
            hl_near_fence();
            lit->seen2[me][i] = get(me == 2 ? &lit->y[i].v : &lit->x[i].v);
        }
    }
}

static void iriw_check(void)
{
    for (int i = 0; i < CELLS; i++) {
        bool first = lit->seen[2][i] == 1 && lit->seen2[2][i] == 0,
             second = lit->seen[3][i] == 1 && lit->seen2[3][i] == 0;
        ck_assert_msg(!(first && second), "independent reads at %d", i);
    }
}

static actor_fn *acting;

static void *actor_thread(void *arg)
{
    acting((int)(intptr_t)arg);
    return NULL;
}

static const struct {
    actor_fn *act;
    void (*check)(void);
    int actors;
} litmus_tests[] = {{sb_actor, sb_check, 2}, {mp_actor, mp_check, 2}, {iriw_actor, iriw_check, 4}};

static void run_litmus(int which, bool processes)
{
    int actors = litmus_tests[which].actors;
    lit = mmap(NULL, sizeof *lit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(lit != MAP_FAILED);
    acting = litmus_tests[which].act;
    for (int round = 0; round < 5; round++) {
        memset(lit, 0, sizeof *lit);
        pthread_t t[4];
        pid_t p[4];
        for (int i = 0; i < actors; i++) {
            if (!processes) {
                ck_assert_int_eq(pthread_create(&t[i], NULL, actor_thread, (void *)(intptr_t)i), 0);
            } else if ((p[i] = fork()) == 0) {
                acting(i);
                _exit(0);
            }
        }
        for (int i = 0; i < actors; i++) {
            int status = 0;
            if (processes) {
                ck_assert_int_eq(waitpid(p[i], &status, 0), p[i]);
            } else {
                pthread_join(t[i], NULL);
            }
            ck_assert_int_eq(status, 0);
        }
        litmus_tests[which].check();
    }
    munmap(lit, sizeof *lit);
}

START_TEST(fences_forbid_between_threads)
{
    run_litmus(_i, false);
}
END_TEST

START_TEST(fences_forbid_between_processes)
{
    run_litmus(_i, true);
}
END_TEST

#endif
