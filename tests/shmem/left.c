/* usage: left SCENE: MPI is open, too, and a thread of PE 0 is in a call of OpenSHMEM that does not end, as PE 1 is stopped, when PE 0 calls
 * shmem_finalize; left.py reads what is said. */
#include <mpi.h>
#include <shmemx.h>
#include <signal.h>
#include <sys/prctl.h>

#include "../process.h"
#include "shmem_test.h"

enum { STRIDE = 3, MUCH = 1 << 21 };
static char *sym, mine[MUCH];
static long *word;
static pid_t caller;

static void quiet(void)
{
    shmem_putmem_nbi(sym, mine, MUCH, 1);
    shmem_quiet();
}

static void ctx_quiet(void)
{
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    shmem_ctx_putmem_nbi(ctx, sym, mine, MUCH, 1);
    shmem_ctx_quiet(ctx);
}

static void pe_quiet(void)
{
    int one = 1;
    shmem_putmem_nbi(sym, mine, MUCH, 1);
    shmem_pe_quiet(&one, 1);
}

static void put(void)
{
    shmem_putmem(sym, mine, MUCH, 1);
}

static void get(void)
{
    mine[0] = (char)shmem_long_g(word, 1);
}

static void getmem(void)
{
    shmem_getmem(mine, sym, MUCH, 1);
}

static void iput(void)
{
    shmem_long_iput(word, (long *)(void *)mine, STRIDE, STRIDE, 10000, 1);
    shmem_quiet();
}

static void fetch(void)
{
    mine[0] = (char)shmem_long_atomic_fetch_add(word, 1, 1);
}

static void set_lock(void)
{
    shmem_set_lock(word + 1);
}

static void wait_until(void)
{
    shmem_long_wait_until(word + 3, SHMEM_CMP_EQ, 1);
}

static void barrier(void)
{
    shmem_barrier_all();
}

static void alloc(void)
{
    sym = shmem_malloc(64);
}

static void release(void)
{
    shmem_free(sym);
}

static void grow(void)
{
    sym = shmem_realloc(sym, 2 * MUCH);
}

static const struct {
    const char *name;
    void (*run)(void);
} scenes[] = {{"quiet", quiet},       {"ctx_quiet", ctx_quiet},   {"pe_quiet", pe_quiet}, {"put", put},
              {"get", get},           {"getmem", getmem},         {"iput", iput},         {"fetch", fetch},
              {"set_lock", set_lock}, {"wait_until", wait_until}, {"barrier", barrier},   {"malloc", alloc},
              {"realloc", grow},      {"free", release}};

static void *call(void *scene)
{
    __atomic_store_n(&caller, gettid(), __ATOMIC_RELEASE);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (strcmp(scene, scenes[i].name) == 0) {
            scenes[i].run();
        }
    }
    return NULL;
}

/* Waits until the thread sleeps in its call. */
static void await_sleep(void)
{
    while (__atomic_load_n(&caller, __ATOMIC_ACQUIRE) == 0) {
        usleep(1000);
    }
    for (int slept = 0; slept < 10; usleep(10000)) {
        char state = thread_state(caller);
        CHECK(state != 0); /* the call has not returned */
        slept += state == 'S';
    }
}

int main(int argc, char **argv)
{
    pthread_t t;
    int level;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    CHECK_EQ(argc, 2);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    test_start(2);
    sym = test_zeroed(MUCH);
    word = test_zeroed(STRIDE * 10000 * sizeof *word);
    shmem_long_p(word, 2, 1 - me);
    shmem_quiet();
    if (me == 1) {
        shmem_set_lock(word + 1);
    }
    shmem_barrier_all();
    if (me == 1) {
        raise(SIGSTOP);
    }
    usleep(200000);
    pthread_create(&t, NULL, call, argv[1]);
    await_sleep();
    shmem_finalize();
    return 0;
}
