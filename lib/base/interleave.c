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
    struct hl_interleave_walk *walk; /* NULL: by `random` */
    bool cut;                        /* a choice did not fit */
    void (*fn)(void *, int);
    void *arg;
    sem_t all_done;
} sched;

static _Thread_local struct thread *self;

static struct thread *alive_after(const struct thread *from, int skip)
{
    int at = from != NULL ? from->index + 1 : 0;
    for (;; at++) {
        struct thread *t = &sched.threads[at % sched.count];
        if (t->alive && skip-- == 0) {
            return t;
        }
    }
}

/* The walk's next choice of `of`. */
static int step(struct hl_interleave_walk *w, int of)
{
    if (of <= 1 || w->depth == HL_INTERLEAVE_CHOICES) {
        sched.cut |= of > 1;
        return 0;
    }
    w->of[w->depth] = (unsigned char)of;
    return w->at[w->depth++];
}

/* Who goes on: `self` may (first choice), or cannot. */
static struct thread *choose_next(struct hl_interleave_walk *w, bool may_stay)
{
    if (!may_stay) {
        return alive_after(self, step(w, sched.alive - (self != NULL && self->alive && sched.alive > 1)));
    }
    int chosen = w->left > 0 ? step(w, sched.alive) : 0;
    w->left -= chosen != 0;
    return chosen == 0 ? self : alive_after(self, chosen - 1);
}

static struct thread *choose(bool may_stay)
{
    if (sched.walk != NULL) {
        return choose_next(sched.walk, may_stay);
    }
    sched.random += 0x9e3779b97f4a7c15ULL;
    return alive_after(NULL, (int)(hl_mix64(sched.random) % (uint64_t)sched.alive));
}

static void wait_turn(struct thread *t)
{
    while (sem_wait(&t->turn) != 0) {
    }
}

static void hand_over(bool may_stay)
{
    if (self == NULL) {
        return;
    }
    struct thread *next = choose(may_stay);
    if (next != self) {
        sem_post(&next->turn);
        wait_turn(self);
    }
}

void hl_interleave_point(void)
{
    hand_over(true);
}

void hl_interleave_pause(void)
{
    hand_over(false);
}

static void *body(void *arg)
{
    struct thread *t = arg;
    wait_turn(t);
    self = t;
    sched.fn(sched.arg, t->index);
    t->alive = false;
    if (--sched.alive == 0) {
        sem_post(&sched.all_done);
    } else {
        sem_post(&choose(false)->turn);
    }
    self = NULL;
    return NULL;
}

static int run(int threads, void (*fn)(void *arg, int thread), void *arg)
{
    sched.threads = calloc((size_t)threads, sizeof *sched.threads);
    if (sched.threads == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for %d scheduled threads", threads);
    }
    sched.count = sched.alive = threads;
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
    sem_post(&choose(false)->turn);
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

int hl_interleave_run(uint64_t seed, int threads, void (*fn)(void *arg, int thread), void *arg)
{
    sched.random = seed;
    sched.walk = NULL;
    return run(threads, fn, arg);
}

/* The next sequence of choices: the last one that has a successor is raised, later ones begin anew. */
static bool advance(struct hl_interleave_walk *w)
{
    while (w->depth > 0 && w->at[w->depth - 1] + 1 == w->of[w->depth - 1]) {
        w->at[--w->depth] = 0;
    }
    if (w->depth == 0) {
        return false;
    }
    w->at[w->depth - 1]++;
    return true;
}

int hl_interleave_next(struct hl_interleave_walk *walk, int threads, void (*fn)(void *arg, int thread),
                       void *arg, bool *more)
{
    walk->depth = 0;
    walk->left = walk->switches;
    sched.walk = walk;
    sched.cut = false;
    int rc = run(threads, fn, arg);
    sched.walk = NULL;
    *more = rc == 0 && advance(walk);
    return rc == 0 && sched.cut
               ? hl_err_say(HL_ERR_OTHER, "a run makes more than %d choices", HL_INTERLEAVE_CHOICES)
               : rc;
}
