/* Token passing: each thread sleeps on its own semaphore until the one that runs hands over to it. */
#include "interleave.h"

#include "atomic.h"
#include "err.h"
#include "util.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct thread {
    sem_t turn;
    pthread_t id;
    bool alive;
    int index;
};

/* Changed only by the thread that runs; semaphores order the hand-over. */
static struct {
    struct thread *threads;
    int count, alive;
    uint64_t random;
    void (*fn)(void *, int);
    void *arg;
    sem_t all_done;
} sched;

static _Thread_local struct thread *self;

static struct thread *choose(void)
{
    sched.random += 0x9e3779b97f4a7c15ULL;
    int skip = (int)(hl_mix64(sched.random) % (uint64_t)sched.alive);
    for (int i = 0;; i++) {
        if (sched.threads[i].alive && skip-- == 0) {
            return &sched.threads[i];
        }
    }
}

static void wait_turn(struct thread *t)
{
    while (sem_wait(&t->turn) != 0) {
    }
}

void hl_interleave_point(void)
{
    if (self == NULL) {
        return;
    }
    struct thread *next = choose();
    if (next != self) {
        sem_post(&next->turn);
        wait_turn(self);
    }
}

static void *body(void *arg)
{
    struct thread *t = arg;
    wait_turn(t);
    self = t;
    sched.fn(sched.arg, t->index);
    self = NULL;
    t->alive = false;
    if (--sched.alive == 0) {
        sem_post(&sched.all_done);
    } else {
        sem_post(&choose()->turn);
    }
    return NULL;
}

int hl_interleave_run(uint64_t seed, int threads, void (*fn)(void *arg, int thread), void *arg)
{
    sched.threads = calloc((size_t)threads, sizeof *sched.threads);
    if (sched.threads == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for %d scheduled threads", threads);
    }
    sched.count = sched.alive = threads;
    sched.random = seed;
    sched.fn = fn;
    sched.arg = arg;
    sem_init(&sched.all_done, 0, 0);
    for (int i = 0; i < threads; i++) {
        struct thread *t = &sched.threads[i];
        t->index = i;
        t->alive = true;
        sem_init(&t->turn, 0, 0);
        if (pthread_create(&t->id, NULL, body, t) != 0) {
            abort(); /* a test without its threads proves nothing */
        }
    }
    sem_post(&choose()->turn);
    while (sem_wait(&sched.all_done) != 0) {
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(sched.threads[i].id, NULL);
        sem_destroy(&sched.threads[i].turn);
    }
    sem_destroy(&sched.all_done);
    free(sched.threads);
    return 0;
}
