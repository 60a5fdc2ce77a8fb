/* Quiets with a request: what was put before has arrived when the request has ended, whoever puts meanwhile.
 *
 * usage: quiet_nb THREADS ROUNDS */
#include "shmem_test.h"

#include <shmemx.h>

#define PER_THREAD 512

static long *words; /* [threads][PER_THREAD] */
static int rounds, right;

static shmem_ctx_t context(int kind)
{
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    if (kind % 3 != 0) {
        CHECK_EQ(shmem_ctx_create(kind % 3 == 1 ? 0 : SHMEM_CTX_PRIVATE, &ctx), 0);
    }
    return ctx;
}

static void end(shmemx_request_t *request, bool waits)
{
    if (waits) {
        shmemx_quiet_wait(request);
    } else {
        while (!shmemx_quiet_test(request)) {
        }
    }
    CHECK(*request == SHMEMX_REQUEST_NULL);
    CHECK_EQ(shmemx_quiet_test(request), 1); /* one that has ended */
    shmemx_quiet_wait(request);
}

/* What a thread puts, it reads on another context when the request has ended: nothing orders the get behind the
 * puts but that. A second request, of later puts, is on its way at the same time and ends first or last. */
static void *put(void *arg)
{
    int thread = (int)(intptr_t)arg;
    long *mine = &words[(long)thread * PER_THREAD], values[PER_THREAD], got[PER_THREAD];
    shmem_ctx_t ctx = context(thread), other;
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &other), 0);
    for (long round = 1; round <= rounds; round++) {
        shmemx_request_t first, second;
        size_t half = PER_THREAD / 2;
        for (int i = 0; i < PER_THREAD; i++) {
            values[i] = round * 1000000 + thread * 1000 + i;
        }
        for (size_t i = 0; i < 8; i++) {
            shmem_ctx_long_p(ctx, &mine[i], values[i], right);
        }
        shmem_ctx_putmem_nbi(ctx, mine + 8, values + 8, (half - 8) * sizeof *mine, right);
        shmemx_ctx_quiet_nb(ctx, &first);
        shmem_ctx_putmem_nbi(ctx, mine + half, values + half, half * sizeof *mine, right);
        shmemx_ctx_quiet_nb(ctx, &second);
        end(round % 3 == 0 ? &second : &first, round % 2 == 0);
        shmem_ctx_getmem(other, got, mine, half * sizeof *mine, right);
        CHECK(memcmp(got, values, half * sizeof *mine) == 0);
        end(round % 3 == 0 ? &first : &second, round % 5 == 0);
        shmem_ctx_getmem(other, got, mine, sizeof got, right);
        CHECK(memcmp(got, values, sizeof got) == 0);
    }
    shmem_ctx_destroy(other);
    if (thread % 3 != 0) {
        shmem_ctx_destroy(ctx);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[64];
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 50;
    test_start(1);
    right = (me + 1) % n_pes;
    words = shmem_calloc((size_t)threads * PER_THREAD, sizeof *words);
    shmemx_request_t none = SHMEMX_REQUEST_NULL;
    CHECK_EQ(shmemx_quiet_test(&none), 1);
    shmemx_ctx_quiet_nb(SHMEM_CTX_INVALID, &none); /* of no operation */
    CHECK(none == SHMEMX_REQUEST_NULL);
    shmem_barrier_all();
    for (intptr_t i = 0; i < threads; i++) {
        pthread_create(&t[i], NULL, put, (void *)i);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(t[i], NULL);
    }
    /* One that the program leaves behind, and one that no context outlives. */
    shmem_ctx_t ctx = context(2);
    shmemx_request_t left, later;
    for (int i = 0; i < PER_THREAD; i++) {
        shmem_ctx_long_p(ctx, &words[i], i, right);
    }
    shmemx_ctx_quiet_nb(ctx, &later);
    shmem_ctx_destroy(ctx);
    end(&later, false);
    shmem_long_p(words, 1, right);
    shmemx_quiet_nb(&left);
    shmem_finalize();
    return 0;
}
