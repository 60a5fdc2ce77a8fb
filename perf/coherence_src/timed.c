/* coherence-timed CALL THREADS RUNS
 *
 * The same calls by true threads, of which nobody counts anything, each on a CPU of its own. Prints the median
 * of the nanoseconds that an operation of one thread takes, of rounds of RUNS in which all threads ran at the
 * same time, and the number of those rounds (0: there were none, other work was in the way). */
#include "coherence.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 400 };

static const struct coherence_call *call;
static int runs, threads;
static atomic_int here;
static struct span {
    double begun, ended;
} * spans; /* of each thread in each round */

void coherence_count(bool counts)
{
    (void)counts;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* All begin a round when the last one is here. */
static void meet(int round)
{
    atomic_fetch_add(&here, 1);
    while (atomic_load(&here) < threads * (round + 1)) {
        sched_yield();
    }
}

static void *work(void *number)
{
    int thread = (int)(intptr_t)number;
    cpu_set_t cpu;
    CPU_ZERO(&cpu);
    CPU_SET(thread % (int)sysconf(_SC_NPROCESSORS_ONLN), &cpu);
    pthread_setaffinity_np(pthread_self(), sizeof cpu, &cpu);
    for (int round = 0; round < ROUNDS; round++) {
        struct span *s = &spans[round * threads + thread];
        meet(round);
        s->begun = now_ns();
        for (int i = 0; i < runs; i++) {
            call->run(thread);
        }
        s->ended = now_ns();
    }
    return NULL;
}

/* Of a round; HUGE_VAL: some thread ran while another did not. */
static double span_of(const struct span *s)
{
    double first = s[0].begun, last = s[0].ended, together = s[0].begun, apart = s[0].ended;
    for (int i = 1; i < threads; i++) {
        first = fmin(first, s[i].begun);
        together = fmax(together, s[i].begun);
        apart = fmin(apart, s[i].ended);
        last = fmax(last, s[i].ended);
    }
    return apart - together > 0.8 * (last - first) ? last - first : HUGE_VAL;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_median(void)
{
    double found[ROUNDS];
    int n = 0;
    for (int round = 1; round < ROUNDS; round++) { /* the first one warms up */
        double span = span_of(&spans[round * threads]);
        found[n] = span;
        n += span < HUGE_VAL;
    }
    qsort(found, (size_t)n, sizeof found[0], by_size);
    printf("%.2f %d\n", n > 0 ? found[n / 2] / runs / call->of : 0, n);
}

int main(int argc, char **argv)
{
    const struct coherence_call *const groups[] = {coherence_truth, coherence_near, coherence_far,
                                                   coherence_alltoall};
    for (size_t g = 0; argc == 4 && g < sizeof groups / sizeof groups[0]; g++) {
        for (const struct coherence_call *c = groups[g]; c->name != NULL; c++) {
            call = strcmp(argv[1], c->name) == 0 ? c : call;
        }
    }
    threads = argc == 4 ? atoi(argv[2]) : 0;
    if (call == NULL || threads < 1) {
        return 2;
    }
    runs = atoi(argv[3]);
    if (call->setting != NULL) {
        putenv((char *)(uintptr_t)call->setting);
    }
    if (call->prepare != NULL) {
        call->prepare(threads);
    }
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    spans = calloc((size_t)threads * ROUNDS, sizeof *spans);
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&ids[i], NULL, work, (void *)(intptr_t)i) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
    }
    print_median();
    fflush(stdout);
    _exit(0); /* nothing is closed, as in main.c */
}
