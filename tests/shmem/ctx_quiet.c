/* A quiet ends while others go on putting, on the same context and on others, and does not stop them.
 *
 * usage: ctx_quiet THREADS ROUNDS */
#include "shmem_test.h"

#define PER_THREAD 64

static long *words; /* [threads][PER_THREAD] */
static int threads, rounds, right;
static int enough;
static long poured;
static shmem_ctx_t shared;

static shmem_ctx_t context(int kind)
{
    shmem_ctx_t ctx = kind == 1 ? shared : SHMEM_CTX_DEFAULT;
    if (kind == 2) {
        CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
    }
    return ctx;
}

static void *pour(void *arg)
{
    int thread = (int)(intptr_t)arg;
    long *mine = &words[(long)thread * PER_THREAD];
    shmem_ctx_t ctx = context(thread % 3);
    for (long i = 1; !__atomic_load_n(&enough, __ATOMIC_RELAXED); i++) {
        shmem_ctx_long_p(ctx, &mine[i % PER_THREAD], i, right);
        __atomic_fetch_add(&poured, 1, __ATOMIC_RELAXED);
    }
    shmem_ctx_quiet(ctx);
    if (thread % 3 == 2) {
        shmem_ctx_destroy(ctx);
    }
    return NULL;
}

/* Puts and completes; a quiet that waited until nobody has anything open would not return. */
static void complete(int kind)
{
    shmem_ctx_t ctx = context(kind);
    long before = __atomic_load_n(&poured, __ATOMIC_RELAXED), values[PER_THREAD], got[PER_THREAD];
    for (long round = 1; round <= rounds; round++) {
        for (int i = 0; i < PER_THREAD; i++) {
            values[i] = round * 1000 + i + kind;
        }
        shmem_ctx_putmem_nbi(ctx, words, values, sizeof values, right);
        round % 2 ? shmem_ctx_quiet(ctx) : shmem_ctx_pe_quiet(ctx, &right, 1);
        shmem_ctx_getmem(ctx, got, words, sizeof got, right);
        CHECK(memcmp(got, values, sizeof got) == 0);
    }
    if (threads > 1) {
        while (__atomic_load_n(&poured, __ATOMIC_RELAXED) == before) {
            usleep(10); /* nobody was stopped for good */
        }
    }
    if (kind == 2) {
        shmem_ctx_destroy(ctx);
    }
}

int main(int argc, char **argv)
{
    pthread_t t[64];
    threads = argc > 1 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 100;
    test_start(1);
    right = (me + 1) % n_pes;
    words = shmem_malloc((size_t)threads * PER_THREAD * sizeof *words);
    memset(words, 0, (size_t)threads * PER_THREAD * sizeof *words);
    CHECK_EQ(shmem_ctx_create(0, &shared), 0);
    shmem_barrier_all();
    for (intptr_t i = 1; i < threads; i++) {
        pthread_create(&t[i], NULL, pour, (void *)i);
    }
    for (int kind = 0; kind < 3; kind++) {
        complete(kind);
    }
    __atomic_store_n(&enough, 1, __ATOMIC_RELAXED);
    for (int i = 1; i < threads; i++) {
        pthread_join(t[i], NULL);
    }
    shmem_ctx_destroy(shared);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
