/* Litmus: who sees the flag that was put after a fence sees all that was put before it, whatever sizes,
 * operations and context they had. Each thread has a partner thread at the next PE.
 *
 * usage: ctx_order THREADS ROUNDS */
#include "shmem_test.h"

#define BLOCK 30000
#define PUTS 6

struct pair {
    char data[PUTS][BLOCK];
    long flag[1024]; /* the first is looked at */
    long seen;       /* by the partner; at the one who puts */
};

static struct pair *pairs; /* [threads] */
static int threads, rounds, right, left;

static long look(const long *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static size_t some_size(uint64_t *state)
{
    static const size_t sizes[] = {8, 8, 24, 1000, 8192, BLOCK};
    return sizes[test_random(state) % 6];
}

#ifdef __SANITIZE_THREAD__
#define FLAGS 3 /* a block is no atomic access to the word that the partner looks at */
#else
#define FLAGS 4
#endif

static void put_flag(shmem_ctx_t ctx, struct pair *p, long round, uint64_t *state)
{
    static __thread long block[1024];
    switch (test_random(state) % FLAGS) {
    case 0:
        shmem_ctx_long_p(ctx, &p->flag[0], round, right);
        break;
    case 1:
        shmem_ctx_long_atomic_set(ctx, &p->flag[0], round, right);
        break;
    case 2:
        shmem_ctx_long_atomic_add(ctx, &p->flag[0], 1, right);
        break;
    default:
        for (int i = 0; i < 1024; i++) {
            block[i] = round;
        }
        shmem_ctx_putmem(ctx, p->flag, block, sizeof block, right);
    }
}

/* Some rounds of nothing but puts and fences between: the order must hold over several fences. */
static void put_round(shmem_ctx_t ctx, struct pair *p, char (*source)[BLOCK], long round, uint64_t *state)
{
    int n = 1 + (int)(test_random(state) % PUTS);
    for (int i = 0; i < PUTS; i++) {
        size_t len = i < n ? some_size(state) : 8;
        memset(source[i], (int)(round & 127), len);
        memcpy(source[i], &(uint32_t){(uint32_t)len}, 4);
        if (test_random(state) % 2 != 0) {
            shmem_ctx_putmem(ctx, p->data[i], source[i], len, right);
        } else {
            shmem_ctx_putmem_nbi(ctx, p->data[i], source[i], len, right);
        }
        if (test_random(state) % 4 == 0) {
            shmem_ctx_fence(ctx);
        }
    }
    shmem_ctx_fence(ctx);
    put_flag(ctx, p, round, state);
}

static void check_round(struct pair *p, long round)
{
    while (look(&p->flag[0]) != round) {
        usleep(1);
    }
    shmem_fence(); /* ThreadSanitizer knows of this one */
    for (int i = 0; i < PUTS; i++) {
        uint32_t len;
        memcpy(&len, p->data[i], 4);
        CHECK(len >= 8 && len <= BLOCK);
        for (uint32_t at = 4; at < len; at++) {
            CHECK_EQ(p->data[i][at], round & 127);
        }
    }
    shmem_fence();
    shmem_long_p(&p->seen, round, left);
    shmem_quiet();
}

/* 0: the default context, then those of all kinds. */
static shmem_ctx_t make_context(int kind)
{
    static const long options[] = {0, 0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE,
                                   SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE};
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    if (kind % 5 != 0) {
        CHECK_EQ(shmem_ctx_create(options[kind % 5], &ctx), 0);
    }
    return ctx;
}

static void *put(void *arg)
{
    int thread = (int)(intptr_t)arg;
    struct pair *p = &pairs[thread];
    char(*source)[BLOCK] = malloc(PUTS * BLOCK);
    uint64_t state = (uint64_t)me << 32 | (uint64_t)thread;
    shmem_ctx_t ctx = make_context(thread);
    for (long round = 1; round <= rounds; round++) {
        if (round % 50 == 0 && ctx != SHMEM_CTX_DEFAULT) {
            shmem_ctx_destroy(ctx);
            ctx = make_context(thread + (int)(round / 50));
        }
        put_round(ctx, p, source, round, &state);
        while (look(&p->seen) != round) {
            usleep(1);
        }
        shmem_ctx_quiet(ctx); /* the sources are mine again */
    }
    if (ctx != SHMEM_CTX_DEFAULT) {
        shmem_ctx_destroy(ctx);
    }
    free(source);
    return NULL;
}

static void *check(void *arg)
{
    for (long round = 1; round <= rounds; round++) {
        check_round(&pairs[(intptr_t)arg], round);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[64];
    threads = argc > 1 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 200;
    test_start(1);
    right = (me + 1) % n_pes;
    left = (me + n_pes - 1) % n_pes;
    pairs = shmem_malloc((size_t)threads * sizeof *pairs);
    CHECK(pairs != NULL);
    memset(pairs, 0, (size_t)threads * sizeof *pairs);
    shmem_barrier_all();
    for (intptr_t i = 0; i < threads; i++) {
        pthread_create(&t[2 * i], NULL, put, (void *)i);
        pthread_create(&t[2 * i + 1], NULL, check, (void *)i);
    }
    for (int i = 0; i < 2 * threads; i++) {
        pthread_join(t[i], NULL);
    }
    shmem_barrier_all();
    shmem_free(pairs);
    shmem_finalize();
    return 0;
}
