/* The CPU time of waits, for tests of idle ranks. A busy machine only adds to it, so the least of several
 * waits is judged; a nap costs what the machine makes it cost, so bare naps are measured beside. */
#ifndef IDLE_H
#define IDLE_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    IDLE_MS = 300,
    IDLE_TURNS = 4
}; /* a wait of the first turn; the second takes twice as long, and so on */

struct idle {
    double since, cpu; /* seconds */
    long naps;
    int who; /* RUSAGE_SELF: receive thread included; RUSAGE_THREAD */
};

static inline double idle_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline double idle_cpu(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static inline long idle_naps(void)
{
    struct rusage u;
    getrusage(RUSAGE_THREAD, &u);
    return u.ru_nvcsw;
}

static inline struct idle idle_begin(int who)
{
    return (struct idle){idle_now(), idle_cpu(who), idle_naps(), who};
}

/* Of a core, since then; milliseconds and naps go to *ms and *naps. */
static inline double idle_share(const struct idle *i, double *ms, long *naps)
{
    double took = idle_now() - i->since;
    *ms = took * 1e3;
    *naps = idle_naps() - i->naps;
    return (idle_cpu(i->who) - i->cpu) / took;
}

/* What naps of 1 ms and nothing else take of a core. */
static inline double idle_bare(void)
{
    uint32_t word = 0;
    double ms;
    long naps;
    struct idle i = idle_begin(RUSAGE_THREAD);
    for (int n = 0; n < 60; n++) {
        struct timespec t = {0, 1000000};
        (void)syscall(SYS_futex, &word, FUTEX_WAIT, word, &t, NULL, 0);
    }
    return idle_share(&i, &ms, &naps);
}

/* 1 % of a core is allowed; or where a nap costs more than 10 us, for naps of 10 ms half, and for those of 1
 * ms, which nobody may end, one and a half of what bare ones take. */
static inline bool idle_is_little(double share, bool rings, double bare)
{
    double floor = bare * (rings ? 0.5 : 1.5);
    return share <= (floor > 0.01 ? floor : 0.01);
}

#endif
