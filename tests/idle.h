/* What waits do, for tests of idle ranks: the naps of the waiting thread and of its whole process are
 * counted, which a busy machine makes only fewer. CPU time is judged by what no machine makes of naps: one
 * that takes a quarter of a core in each of several waits does not sleep. */
#ifndef IDLE_H
#define IDLE_H

#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    IDLE_MS = 300,
    IDLE_TURNS = 4
}; /* a wait of the first turn; the second takes twice as long, and so on */

struct idle {
    double since, cpu; /* seconds */
    long naps, all;    /* of the thread; of `who` */
    int who;           /* RUSAGE_SELF: receive thread included; RUSAGE_THREAD */
};

static inline double idle_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* How often it slept goes to *naps. */
static inline double idle_cpu(int who, long *naps)
{
    struct rusage u;
    getrusage(who, &u);
    *naps = u.ru_nvcsw;
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static inline struct idle idle_begin(int who)
{
    struct idle i = {.since = idle_now(), .who = who};
    (void)idle_cpu(RUSAGE_THREAD, &i.naps);
    i.cpu = idle_cpu(who, &i.all);
    return i;
}

/* Since `then`. */
static inline struct idle idle_took(const struct idle *then)
{
    struct idle now = idle_begin(then->who);
    return (struct idle){now.since - then->since, now.cpu - then->cpu, now.naps - then->naps,
                         now.all - then->all, then->who};
}

/* Whether a wait took so much: short naps, then of 10 ms where its end rings, else of 1 ms. Other threads of
 * the process slept less often than that. */
static inline bool idle_is_much(const struct idle *took, bool rings)
{
    double most = 20 + took->since * (rings ? 250 : 1500);
    return (double)took->naps > most || (double)took->all > 2 * most || took->cpu > took->since / 4;
}

#define IDLE_FORMAT "%s: %ld naps, %ld of the process, and %.2f %% of a core in %.0f ms\n"
#define IDLE_VALUES(name, took)                                                                              \
    name, (took).naps, (took).all, (took).cpu / (took).since * 100, (took).since * 1e3

#endif
