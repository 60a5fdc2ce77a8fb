/* Wrong calls of contexts and of order, one a job; ctx_wrong.py reads what they say. */
#include "shmem_test.h"

static long word;

static shmem_ctx_t destroyed(void)
{
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    shmem_ctx_destroy(ctx);
    return ctx;
}

static void run(const char *name)
{
    int pes[] = {0, n_pes};
    shmem_ctx_t ctx;
    if (strcmp(name, "put_invalid") == 0) {
        shmem_ctx_long_p(SHMEM_CTX_INVALID, &word, 1, 0);
    } else if (strcmp(name, "destroyed") == 0) {
        shmem_ctx_fence(destroyed());
    } else if (strcmp(name, "twice") == 0) {
        shmem_ctx_destroy(destroyed());
    } else if (strcmp(name, "garbage") == 0) {
        shmem_ctx_quiet((shmem_ctx_t)(uintptr_t)0x1234);
    } else if (strcmp(name, "default") == 0) {
        shmem_ctx_destroy(SHMEM_CTX_DEFAULT);
    } else if (strcmp(name, "options") == 0) {
        shmem_ctx_create(64, &ctx);
    } else if (strcmp(name, "pes") == 0) {
        shmem_pe_quiet(pes, 2);
    } else if (strcmp(name, "no_pes") == 0) {
        shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, NULL, 1);
    } else if (strcmp(name, "config") == 0) {
        shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, SHMEM_CTX_SESSION_TOTAL_OPS);
    } else if (strcmp(name, "team") == 0) {
        shmem_team_create_ctx((shmem_team_t)(uintptr_t)0x4321, 0, &ctx);
    }
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "early") == 0) {
        shmem_quiet();
    }
    if (strcmp(name, "early_invalid") == 0) {
        shmem_ctx_quiet(SHMEM_CTX_INVALID);
    }
    if (strcmp(name, "early_fence") == 0) {
        shmem_ctx_fence(SHMEM_CTX_DEFAULT);
    }
    test_start(1);
    run(name);
    if (strcmp(name, "late") == 0) {
        shmem_finalize();
        shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
    }
    fprintf(stderr, "nothing was wrong\n");
    return 0;
}
