/* coherence-timed CALL THREADS RUNS
 *
 * The same calls by true threads, of which nobody counts anything: prints the nanoseconds of an operation of
 * one thread, from the first thread's begin to the last one's end. */
#include "coherence.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct coherence_call *call;
static int runs;
static pthread_barrier_t start, end;

void coherence_count(bool counts)
{
    (void)counts;
}

static void *work(void *number)
{
    int thread = (int)(intptr_t)number;
    for (int i = 0; i < runs / 10 + 1; i++) {
        call->run(thread);
    }
    pthread_barrier_wait(&start);
    for (int i = 0; i < runs; i++) {
        call->run(thread);
    }
    pthread_barrier_wait(&end);
    return NULL;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    const struct coherence_call *const groups[] = {coherence_truth, coherence_near, coherence_far};
    for (size_t g = 0; argc == 4 && g < sizeof groups / sizeof groups[0]; g++) {
        for (const struct coherence_call *c = groups[g]; c->name != NULL; c++) {
            call = strcmp(argv[1], c->name) == 0 ? c : call;
        }
    }
    if (call == NULL) {
        return 2;
    }
    int threads = atoi(argv[2]);
    runs = atoi(argv[3]);
    if (call->prepare != NULL) {
        call->prepare(threads);
    }
    pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&end, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, work, (void *)(intptr_t)i) != 0) {
            return 1;
        }
    }
    pthread_barrier_wait(&start);
    double begun = now_ns();
    pthread_barrier_wait(&end);
    printf("%.2f\n", (now_ns() - begun) / runs / call->of);
    fflush(stdout);
    _exit(0);
}
