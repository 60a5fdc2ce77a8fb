/* usage: hangs SCENE: PEs that wait for each other for ever; tests/mpi/hangs.py reads what the watchdog says.
 */
#include "shmem_test.h"

#include <mpi.h>
#include <signal.h>
#include <sys/prctl.h>

static long *flag, *lock;

static void wait_until(void)
{
    shmem_long_wait_until(flag, SHMEM_CMP_EQ, 1);
}

static void wait_until_all(void)
{
    long *three = shmem_calloc(3, sizeof *three);
    three[1] = -7;
    shmem_long_wait_until_all(three, 3, NULL, SHMEM_CMP_GT, -5);
}

/* The first is left out. */
static void wait_until_any(void)
{
    static long three[3];
    int status[3] = {1, 0, 0};
    shmem_long_wait_until_any(three, 3, status, SHMEM_CMP_NE, 0);
}

static void signal_wait(void)
{
    uint64_t *signal = shmem_calloc(1, sizeof *signal);
    shmem_signal_wait_until(signal, SHMEM_CMP_GE, 9);
}

static void barrier_all(void)
{
    if (me == 1) {
        wait_until();
    }
    shmem_barrier_all();
}

/* Each holds one and wants the other's. */
static void both_lock(void)
{
    shmem_set_lock(&lock[me]);
    shmem_barrier_all();
    shmem_set_lock(&lock[1 - me]);
}

static void *also_lock(void *unused)
{
    shmem_set_lock(&lock[0]);
    return NULL;
}

static void lock_thread(void)
{
    pthread_t t;
    if (me == 0) {
        shmem_set_lock(&lock[0]);
        pthread_create(&t, NULL, also_lock, NULL);
        pthread_join(t, NULL);
    }
}

static void team_broadcast(void)
{
    shmem_team_t team;
    long *to = shmem_malloc(sizeof *to);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team);
    if (me == 0) {
        shmem_long_broadcast(team, to, flag, 1, 1);
    }
}

/* PE 1 is stopped: nothing that needs its receive thread ends. */
static void quiet(void)
{
    shmem_long_p(flag, 2, 1 - me);
    shmem_quiet();
    shmem_barrier_all();
    if (me == 1) {
        raise(SIGSTOP);
    }
    usleep(200000);
    shmem_long_p(flag, 3, 1);
    shmem_quiet();
}

/* PE 1 alone starts SHMEM. */
static void start_alone(bool finalizes)
{
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        shmem_init();
    }
    if (finalizes) {
        MPI_Finalize();
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenes[] = {
        {"wait_until", wait_until},   {"wait_until_all", wait_until_all}, {"wait_until_any", wait_until_any},
        {"signal_wait", signal_wait}, {"barrier_all", barrier_all},       {"both_lock", both_lock},
        {"lock_thread", lock_thread}, {"team_broadcast", team_broadcast}, {"quiet", quiet}};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc > 1 && strncmp(argv[1], "init", 4) == 0) {
        start_alone(strcmp(argv[1], "init_finalize") == 0);
    }
    if (argc > 1 && strcmp(argv[1], "late") == 0 && strcmp(getenv("PMI_RANK"), "1") == 0) {
        sleep(600); /* PE 0 is at the launcher meanwhile */
    }
    test_start(2);
    flag = shmem_calloc(1, sizeof *flag);
    lock = shmem_calloc(2, sizeof *lock);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (argc > 1 && strcmp(argv[1], scenes[i].name) == 0) {
            scenes[i].run();
            pause();
        }
    }
    return 2;
}
