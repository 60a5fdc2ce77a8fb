/* A PE that waits in a blocking call sleeps: PE 0 waits in each, PE 1 comes later. */
#include "shmem_test.h"

#include "../idle.h"

static long *flag, *lock;
static uint64_t *sig;
static int *much;
static shmem_team_t team;
static int wait_ms;
static long value; /* of this wait */

static void wait_until(void)
{
    shmem_long_wait_until(flag, SHMEM_CMP_EQ, value);
}

static void put(void)
{
    shmem_long_p(flag, value, 0);
    shmem_quiet();
}

static void signal_wait(void)
{
    shmem_signal_wait_until(sig, SHMEM_CMP_EQ, (uint64_t)value);
}

static void put_signal(void)
{
    shmem_putmem_signal(flag + 1, &value, sizeof value, sig, (uint64_t)value, SHMEM_SIGNAL_SET, 0);
}

static void set_lock(void)
{
    shmem_set_lock(lock);
    shmem_clear_lock(lock);
}

static void clear_lock(void)
{
    shmem_clear_lock(lock);
}

static void team_sync(void)
{
    shmem_team_sync(team);
}

static void barrier(void)
{
    shmem_barrier_all();
}

static const struct scene {
    const char *name;
    void (*waiter)(void), (*peer)(void);
    bool rings; /* its end rings: naps grow long; a word may be stored plainly */
} scenes[] = {{"wait_until", wait_until, put, false},
              {"signal_wait_until", signal_wait, put_signal, false},
              {"set_lock", set_lock, clear_lock, true},
              {"team_sync", team_sync, team_sync, true},
              {"barrier_all", barrier, barrier, true}};

/* All PEs: whether it was too much. */
static int play_once(const struct scene *s, bool last)
{
    value++;
    if (s->waiter == set_lock && me == 1) {
        shmem_set_lock(lock);
    }
    shmem_barrier_all();
    if (me == 1) {
        usleep((useconds_t)wait_ms * 1000);
        s->peer();
    } else if (me == 0) {
        struct idle i = idle_begin(RUSAGE_SELF);
        s->waiter();
        i = idle_took(&i);
        *much = idle_is_much(&i, s->rings);
        if (*much && last) {
            printf(IDLE_FORMAT, IDLE_VALUES(s->name, i));
            fflush(stdout);
            shmem_global_exit(1);
        }
        shmem_int_p(much, *much, 1);
    }
    shmem_barrier_all();
    return *much;
}

int main(void)
{
    test_start(2);
    flag = test_zeroed(2 * sizeof *flag);
    lock = test_zeroed(sizeof *lock);
    sig = test_zeroed(sizeof *sig);
    much = test_zeroed(sizeof *much);
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team), 0);
    for (int i = 0; i < 6; i++) {
        shmem_team_sync(team); /* what is made on the way is made */
    }
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        int turn = 1;
        do {
            wait_ms = IDLE_MS * turn;
        } while (play_once(&scenes[i], turn == IDLE_TURNS) && ++turn <= IDLE_TURNS);
    }
    shmem_finalize();
    return 0;
}
