/* The waiting routine. Whoever waits goes through here, so how a thread waits is decided in one place. */
#include "inner.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define SPINS 100
#define YIELDS 50
#define NAP_MIN_NS 20000
#define NAP_MAX_NS 1000000

static hl_a32 ranks_here; /* 0: not told yet */
static hl_a32 cpus_here;
static hl_a32 waiters; /* living threads of this process that ever waited: a guess at its active ones */
static HL_THREAD_LOCAL bool counted;

static pthread_key_t leave_key; /* its destructor takes a thread out of `waiters` */
static pthread_once_t leave_once = PTHREAD_ONCE_INIT;

static void leave(void *unused)
{
    /* relaxed: a hint, see hl_prog_crowd. */
    hl_a32_add_relaxed(&waiters, (uint32_t)-1);
}

static void make_key(void)
{
    pthread_key_create(&leave_key, leave); /* without a key, threads stay counted: spinning ends earlier */
}

/* A thread's first wait. */
static HL_COLD void count_me(void)
{
    counted = true;
    pthread_once(&leave_once, make_key);
    pthread_setspecific(leave_key, &waiters);
    hl_a32_add_relaxed(&waiters, 1); /* relaxed: as above */
}

void hl_prog_crowd(int ranks, int cpus)
{
    /* relaxed: a hint about speed; nothing is ordered by it. */
    hl_a32_store_relaxed(&ranks_here, (uint32_t)ranks);
    hl_a32_store_relaxed(&cpus_here, (uint32_t)cpus);
}

bool hl_prog_crowded(void)
{
    /* relaxed: as above. */
    uint32_t cpus = hl_a32_load_relaxed(&cpus_here);
    if (HL_UNLIKELY(cpus == 0)) {
        hl_prog_crowd(1, (int)sysconf(_SC_NPROCESSORS_ONLN));
        cpus = hl_a32_load_relaxed(&cpus_here);
    }
    uint32_t threads = hl_a32_load_relaxed(&waiters);
    return hl_a32_load_relaxed(&ranks_here) * (threads > 0 ? threads : 1) > cpus;
}

/* One step of idling after `idle` passes without progress. */
static void idle_step(unsigned idle, unsigned spins, hl_prog_cond *cond, void *arg)
{
    if (idle <= spins) {
        hl_pause();
        return;
    }
    if (idle <= spins + YIELDS) {
        sched_yield();
        return;
    }
    unsigned doublings = idle - spins - YIELDS - 1;
    uint64_t ns = doublings < 6 ? (uint64_t)NAP_MIN_NS << doublings : NAP_MAX_NS;
    hl_prog_sleep(cond, arg, ns);
}

void hl_prog_wait_slow(hl_prog_cond *cond, void *arg)
{
    if (HL_UNLIKELY(!counted)) {
        count_me();
    }
    unsigned spins = hl_prog_crowded() ? 0 : SPINS;
    unsigned idle = 0;
    while (!cond(arg)) {
        if (hl_prog_poll() > 0) {
            idle = 0;
            hl_prog_give_way(); /* the progress may be for others */
            hl_prog_come_back();
            continue;
        }
        if (!cond(arg)) {
            hl_prog_give_way();
            idle_step(++idle, spins, cond, arg);
            hl_prog_come_back();
        }
    }
}
