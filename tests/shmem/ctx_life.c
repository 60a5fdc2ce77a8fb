/* Contexts are made and ended from many threads, by the thousand; what they say of themselves.
 *
 * usage: ctx_life THREADS */
#include <shmemx.h>

#include "shmem_test.h"

#define MANY 1000

static long *words; /* [threads] */
static int threads;

static const long options[] = {0,
                               SHMEM_CTX_SERIALIZED,
                               SHMEM_CTX_PRIVATE,
                               SHMEM_CTX_NOSTORE,
                               SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE,
                               SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE};
#define OPTIONS (sizeof options / sizeof options[0])

/* Each has a value of the target after its own quiet. */
static void use(shmem_ctx_t ctx, int thread, long value)
{
    int right = (me + 1) % n_pes;
    long got = -1;
    shmem_ctx_long_p(ctx, &words[thread], value, right);
    shmem_ctx_fence(ctx);
    shmem_ctx_quiet(ctx);
    shmem_ctx_getmem(ctx, &got, &words[thread], sizeof got, right);
    CHECK_EQ(got, value);
}

static void *storm(void *arg)
{
    int thread = (int)(intptr_t)arg;
    shmemx_thread_register();
    for (int i = 0; i < MANY / threads; i++) {
        shmem_ctx_t ctx = SHMEM_CTX_INVALID;
        CHECK_EQ(shmem_ctx_create(options[(size_t)(i + thread) % OPTIONS], &ctx), 0);
        CHECK(ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT);
        use(ctx, thread, 1000L * me + i);
        if (i % 3 == 0) { /* the end completes it as well */
            shmem_ctx_long_p(ctx, &words[thread], -i, (me + 1) % n_pes);
        }
        shmem_ctx_destroy(ctx);
        CHECK(i % 3 != 0 || shmem_long_g(&words[thread], (me + 1) % n_pes) == -i);
    }
    shmemx_thread_fence();
    shmemx_thread_quiet();
    shmemx_thread_unregister();
    return NULL;
}

static void many_at_once(void)
{
    static shmem_ctx_t all[MANY];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            CHECK_EQ(shmem_ctx_create(options[(size_t)i % OPTIONS], &all[i]), 0);
        }
        for (int i = 0; i < MANY; i += 37) {
            use(all[i], 0, i);
        }
        for (int i = 0; i < MANY; i++) {
            shmem_ctx_destroy(all[(i * 7) % MANY]);
        }
    }
}

static void questions(void)
{
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    CHECK_EQ(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team), 0);
    CHECK(team == SHMEM_TEAM_WORLD);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    CHECK_EQ(shmem_team_create_ctx(SHMEM_TEAM_WORLD, SHMEM_CTX_SERIALIZED, &ctx), 0);
    CHECK_EQ(shmem_ctx_get_team(ctx, &team), 0);
    CHECK(team == SHMEM_TEAM_WORLD);
    shmem_ctx_session_config_t config = {.total_ops = 10};
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    use(ctx, 0, 5);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_destroy(ctx);
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0);
    CHECK(ctx == SHMEM_CTX_INVALID);
    shmem_ctx_destroy(ctx);
}

/* No operation is performed: the job goes on. */
static void invalid(void)
{
    int pes[] = {0};
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, pes, 1);
    shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
}

/* Quiet of some PEs only. */
static void some_pes(void)
{
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
    int right = (me + 1) % n_pes, list[] = {right, me};
    shmem_ctx_long_p(ctx, &words[0], 77 + me, right);
    shmem_ctx_pe_quiet(ctx, list, 2);
    CHECK_EQ(shmem_long_g(&words[0], right), 77 + me);
    shmem_long_p(&words[0], 88 + me, right);
    shmem_pe_quiet(list, 1);
    CHECK_EQ(shmem_long_g(&words[0], right), 88 + me);
    shmem_pe_quiet(NULL, 0);
    shmem_ctx_destroy(ctx);
}

int main(int argc, char **argv)
{
    shmem_ctx_t left;
    threads = argc > 1 ? atoi(argv[1]) : 1;
    test_start(1);
    words = shmem_malloc((size_t)threads * sizeof *words);
    shmem_barrier_all();
    questions();
    invalid();
    some_pes();
    many_at_once();
    test_threads(threads, storm);
    shmem_ctx_create(0, &left); /* finalize ends them */
    shmem_ctx_create(SHMEM_CTX_PRIVATE, &left);
    shmem_ctx_long_p(left, words, 3, (me + 1) % n_pes);
    shmem_finalize();
    return 0;
}
