/*
 * Waiting in threads that may outnumber the cores.
 */
#include "gate.h"

#include <sched.h>
#include <time.h>

enum { SPINS = 300, YIELDS = 20, NAP_NS = 20000, DOUBLINGS = 6 };

int patience(long looks)
{
    if (looks < SPINS)
        return 0;
    if (looks < SPINS + YIELDS) {
        sched_yield();
        return 0;
    }
    long naps = looks - SPINS - YIELDS;
    const struct timespec nap = {0, (long)NAP_NS << (naps < DOUBLINGS ? naps : DOUBLINGS)};
    nanosleep(&nap, NULL);
    return 1;
}

int gate_arrive(struct gate *g)
{
    int round, now, arrived;

#pragma omp atomic read
    round = g->round;
    /* acquire and release: the last to arrive sees what all before it wrote; pairs with itself. */
#pragma omp atomic capture acq_rel
    arrived = ++g->arrived;
    if (arrived == g->threads)
        return 1;
    for (long looks = 0;; looks++) {
        /* acquire: pairs with the release in gate_open. */
#pragma omp atomic read acquire
        now = g->round;
        if (now != round)
            return 0;
        patience(looks);
    }
}

void gate_open(struct gate *g)
{
#pragma omp atomic write
    g->arrived = 0;
    /* release: pairs with the acquire in gate_arrive. */
#pragma omp atomic update release
    g->round++;
}
