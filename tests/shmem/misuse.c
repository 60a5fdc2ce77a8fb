/* Wrong calls, one a run: the call ends the job. usage: misuse NAME, or --list: prints the names, what is
 * wrong, and what the message must say of it. Made by PE 0. */
#include "shmem_test.h"

#define BYTES 4096

static long *heap;   /* symmetric, BYTES */
static long outside; /* static data is symmetric, the stack is not: see main */
static shmem_ctx_t gone, private;
static long *stack, *dirty; /* dirty: symmetric, what no lock holds */
static shmem_team_t team;
static uint64_t signal_word;
static long taken; /* a lock that PE 1 holds */

static void *use_private(void *arg)
{
    shmem_ctx_long_p(private, heap, 1, 0);
    return arg;
}

/* Name, what is wrong, the words of the message that matter (what was asked, what was there), the call; `early`
 * ones are made before shmem_init, `late` ones after shmem_finalize. */
#define ROWS(X)                                                                                              \
    X(early_put, "a put before the start", "before shmem_init", shmem_long_p(&outside, 1, 0))                \
    X(early_get, "a get before the start", "before shmem_init", shmem_getmem(&outside, &outside, 8, 0))      \
    X(early_atomic, "an atomic before the start", "before shmem_init", shmem_long_atomic_inc(&outside, 0))   \
    X(early_ctx, "an operation on a context before the start", "before shmem_init",                          \
      shmem_ctx_putmem(SHMEM_CTX_DEFAULT, &outside, &outside, 8, 0))                                         \
    X(pe_large, "a PE that does not exist", "PE 77 does not exist", shmem_long_p(heap, 1, 77))               \
    X(pe_negative, "a negative PE", "PE -3 does not exist: there are PEs 0 to 1",                            \
      shmem_getmem(&outside, heap, 8, -3))                                                                   \
    X(pe_of_nothing, "no data for a PE that does not exist", "PE 77 does not exist",                         \
      shmem_putmem(heap, heap, 0, 77))                                                                       \
    X(pe_atomic, "an atomic on a PE that does not exist", "PE 77 does not exist",                            \
      shmem_int_atomic_fetch_add((int *)heap, 1, 77))                                                        \
    X(pe_signal, "a signal for a PE that does not exist", "PE 77 does not exist",                            \
      shmem_signal_set(&signal_word, 1, 77))                                                                 \
    X(pe_strided, "strided data for a PE that does not exist", "PE 77 does not exist",                       \
      shmem_long_iput(heap, heap, 1, 1, 2, 77))                                                              \
    X(stack_put, "a put to the stack", "is not symmetric", shmem_long_p(stack, 1, 0))                        \
    X(stack_get, "a get from the stack", "is not symmetric", shmem_long_get(heap, stack, 4, 0))              \
    X(stack_atomic, "an atomic on the stack", "is not symmetric", shmem_long_atomic_swap(stack, 4, 0))       \
    X(stack_signal, "a signal word on the stack", "is not symmetric",                                        \
      shmem_putmem_signal(heap, heap + 8, 8, (uint64_t *)stack, 1, SHMEM_SIGNAL_SET, 0))                     \
    X(null_dest, "a put to NULL", "is not symmetric", shmem_putmem(NULL, heap, 8, 0))                        \
    X(null_source, "a put from NULL", "source is NULL for 8 bytes", shmem_putmem(heap, NULL, 8, 0))          \
    X(null_get, "a get into NULL", "dest is NULL for 16 bytes",                                              \
      shmem_double_get_nbi(NULL, (double *)heap, 2, 0))                                                      \
    X(null_fetch, "a fetch into NULL", "fetch is NULL", shmem_long_atomic_fetch_nbi(NULL, heap, 0))          \
    X(null_team, "a split into NULL", "new_team is NULL",                                                    \
      shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, NULL))                                    \
    X(null_xaxis, "a split in two with NULL for rows", "xaxis_team is NULL",                                 \
      shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, NULL, NULL, 0, &team))                               \
    X(null_yaxis, "a split in two with NULL for columns", "yaxis_team is NULL",                              \
      shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &team, NULL, 0, NULL))                               \
    X(null_ctx, "a context into NULL", "ctx is NULL", shmem_ctx_create(0, NULL))                             \
    X(null_team_ctx, "a team's context into NULL", "ctx is NULL",                                            \
      shmem_team_create_ctx(SHMEM_TEAM_WORLD, 0, NULL))                                                      \
    X(null_get_team, "a context's team into NULL", "team is NULL",                                           \
      shmem_ctx_get_team(SHMEM_CTX_DEFAULT, NULL))                                                           \
    X(null_indices, "indices into NULL", "indices is NULL",                                                  \
      shmem_long_wait_until_some(heap, 2, NULL, NULL, SHMEM_CMP_EQ, 0))                                      \
    X(null_tested, "indices of a test into NULL", "indices is NULL",                                         \
      shmem_long_test_some(heap, 2, NULL, NULL, SHMEM_CMP_EQ, 0))                                            \
    X(null_values, "waiting for values at NULL", "cmp_values is NULL",                                       \
      shmem_long_wait_until_all_vector(heap, 2, NULL, SHMEM_CMP_EQ, NULL))                                   \
    X(null_values_tested, "testing for values at NULL", "cmp_values is NULL",                                \
      shmem_long_test_any_vector(heap, 2, NULL, SHMEM_CMP_EQ, NULL))                                         \
    X(null_thread, "the thread level into NULL", "provided is NULL", shmem_query_thread(NULL))               \
    X(null_initialized, "whether it has begun into NULL", "initialized is NULL",                             \
      shmem_query_initialized(NULL))                                                                         \
    X(null_major, "the version into NULL", "major is NULL", shmem_info_get_version(NULL, (int *)stack))      \
    X(null_minor, "the minor version into NULL", "minor is NULL",                                            \
      shmem_info_get_version((int *)stack, NULL))                                                            \
    X(null_name, "the name into NULL", "name is NULL", shmem_info_get_name(NULL))                            \
    X(too_long, "more than the object has", "70368744177664 bytes",                                          \
      shmem_putmem(heap, heap, (size_t)1 << 46, 0))                                                          \
    X(overflow, "elements whose bytes overflow", "18446744073709551615 bytes",                               \
      shmem_long_put(heap, heap, SIZE_MAX / 4, 0))                                                           \
    X(odd_atomic, "an atomic on a word that is not aligned", "not aligned to 8 bytes",                       \
      shmem_long_atomic_inc((long *)(void *)((char *)heap + 3), 0))                                          \
    X(odd_signal, "a signal word that is not aligned", "sig_addr 0x",                                        \
      shmem_signal_add((uint64_t *)(void *)((char *)heap + 4), 1, 0))                                        \
    X(odd_fetch, "reading a signal word that is not aligned", "sig_addr 0x",                                 \
      shmem_signal_fetch((uint64_t *)(void *)((char *)heap + 4)))                                            \
    X(signal_op, "a signal operation that there is not", "signal operation 9",                               \
      shmem_putmem_signal(heap, heap + 8, 8, &signal_word, 1, 9, 0))                                         \
    X(stride, "a stride of 0", "dst is 0, at least 1", shmem_long_iget(heap, heap + 64, 0, 1, 2, 0))         \
    X(block_stride, "blocks that overlap", "dst is 2, at least 3",                                           \
      shmem_long_ibput(heap, heap + 64, 2, 3, 3, 2, 0))                                                      \
    X(ctx_invalid, "SHMEM_CTX_INVALID", "SHMEM_CTX_INVALID",                                                 \
      shmem_ctx_long_p(SHMEM_CTX_INVALID, heap, 1, 0))                                                       \
    X(ctx_gone, "a context that was destroyed", "is no context", shmem_ctx_long_g(gone, heap, 0))            \
    X(ctx_garbage, "no context", "is no context",                                                            \
      shmem_ctx_long_atomic_add((shmem_ctx_t)(void *)heap, heap, 1, 0))                                      \
    X(ctx_pe, "a PE that the context's team does not have", "PE 77 does not exist in the context's team",    \
      shmem_ctx_long_p(private, heap, 1, 77))                                                                \
    X(ctx_thread, "a private context of another thread", "SHMEM_CTX_PRIVATE", in_thread())                   \
    X(team_garbage, "no team", "is no team", shmem_team_sync((shmem_team_t)(void *)heap))                    \
    X(team_world, "the end of SHMEM_TEAM_WORLD", "SHMEM_TEAM_WORLD", shmem_team_destroy(SHMEM_TEAM_WORLD))   \
    X(coll_other, "a collective call that another PE does not make", "PE 1 has called a sync or barrier",    \
      shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap, heap, 3))                                                \
    X(coll_stack, "a reduction to the stack", "is not symmetric",                                            \
      shmem_long_max_reduce(SHMEM_TEAM_WORLD, stack, heap, 1))                                               \
    X(coll_long, "a collect of more than the object has", "70368744177664 bytes",                            \
      shmem_fcollectmem(SHMEM_TEAM_WORLD, heap, heap, (size_t)1 << 45))                                      \
    X(coll_root, "a root that does not exist", "root 2 does not exist in the team",                          \
      shmem_broadcastmem(SHMEM_TEAM_WORLD, heap, heap + 8, 8, 2))                                            \
    X(coll_stride, "an alltoalls with stride 0", "dst is 0 and sst is 1",                                    \
      shmem_long_alltoalls(SHMEM_TEAM_WORLD, heap, heap + 64, 0, 1, 2))                                      \
    X(coll_stride_large, "an alltoalls whose extent overflows", "18446744073709551615 bytes",                \
      shmem_long_alltoalls(SHMEM_TEAM_WORLD, heap, heap + 32, 1, PTRDIFF_MAX, 2))                            \
    X(set_stride_large, "an alltoalls of an active set whose extent overflows",                              \
      "18446744073709551615 bytes",                                                                          \
      shmem_alltoalls64(heap, heap + 32, PTRDIFF_MAX, 1, 2, 0, 0, 2, heap + 64))                             \
    X(set_large, "an active set of PEs that do not exist", "PE_start 0, logPE_stride 1, PE_size 2",          \
      shmem_barrier(0, 1, 2, heap))                                                                          \
    X(set_outside, "an active set without this PE", "PE 0 is not in the active set",                         \
      shmem_barrier(1, 0, 1, heap))                                                                          \
    X(set_stack, "a pSync on the stack", "is not symmetric", shmem_barrier(0, 0, 2, stack))                  \
    X(set_odd, "a pSync that is not aligned", "pSync 0x",                                                    \
      shmem_barrier(0, 0, 2, (long *)(void *)((char *)heap + 4)))                                            \
    X(wait_cmp, "a comparison that there is not", "comparison 6", shmem_long_wait_until(heap, 6, 1))         \
    X(wait_stack, "waiting for a word on the stack", "is not symmetric",                                     \
      shmem_long_wait_until(stack, SHMEM_CMP_NE, 0))                                                         \
    X(wait_odd, "testing a word that is not aligned", "not aligned to 8 bytes",                              \
      shmem_long_test((long *)(void *)((char *)heap + 4), SHMEM_CMP_EQ, 0))                                  \
    X(lock_stack, "a lock on the stack", "is not symmetric", shmem_set_lock(stack))                          \
    X(lock_dirty, "a lock that was not 0 at first", "it names PE 76", shmem_set_lock(dirty))                 \
    X(lock_clear, "giving up a lock that this PE does not hold", "not held by this PE",                      \
      shmem_clear_lock(heap))                                                                                \
    X(lock_waited, "giving up a lock that a thread of this PE waits for", "not held by this PE",             \
      clear_waited())                                                                                        \
    X(lock_twice, "a lock that this thread holds already", "held by this thread", lock_twice())              \
    X(late_put, "a put after the end", "after shmem_finalize", shmem_long_p(heap, 1, 0))                     \
    X(late_signal, "a signal after the end", "after shmem_finalize", shmem_signal_set(&signal_word, 1, 0))   \
    X(late_quiet, "a quiet after the end", "after shmem_finalize", shmem_quiet())                            \
    X(late_sync, "a sync after the end", "after shmem_finalize", shmem_sync_all())

static void in_thread(void)
{
    pthread_t t;
    CHECK_EQ(pthread_create(&t, NULL, use_private, NULL), 0);
    pthread_join(t, NULL);
}

static void *wait_for_taken(void *arg)
{
    shmem_set_lock(&taken);
    return arg;
}

/* Once this PE stands in the lock's queue, which its home, any of the PEs, knows. */
static void clear_waited(void)
{
    pthread_t t;
    CHECK_EQ(pthread_create(&t, NULL, wait_for_taken, NULL), 0);
    for (int pe = 0; shmem_uint_atomic_fetch((unsigned *)&taken, pe) != 1; pe = 1 - pe) {
        sched_yield();
    }
    shmem_clear_lock(&taken);
}

static void lock_twice(void)
{
    shmem_set_lock(heap);
    CHECK_EQ(shmem_test_lock(heap), 1);
    shmem_set_lock(heap);
}

#define X(name, what, values, call)                                                                          \
    static void do_##name(void)                                                                              \
    {                                                                                                        \
        (void)(call);                                                                                        \
    }
ROWS(X)
#undef X

static const struct {
    const char *name, *what, *values;
    void (*call)(void);
} rows[] = {
#define X(name, what, values, call) {#name, what, values, do_##name},
    ROWS(X)
#undef X
};

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    long local = 0;
    size_t row = 0, n = sizeof rows / sizeof *rows;
    stack = &local;
    for (size_t i = 0; i < n && strcmp(name, "--list") == 0; i++) {
        printf("%s|%s|%s\n", rows[i].name, rows[i].what, rows[i].values);
    }
    while (row < n && strcmp(rows[row].name, name) != 0) {
        row++;
    }
    if (row == n) {
        return strcmp(name, "--list") != 0;
    }
    if (begins(name, "early")) {
        rows[row].call();
    }
    test_start(1);
    heap = test_zeroed(BYTES);
    dirty = test_zeroed(sizeof *dirty);
    *dirty = 77;
    shmem_barrier_all();
    CHECK_EQ(shmem_ctx_create(0, &gone), 0);
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &private), 0);
    shmem_ctx_destroy(gone);
    if (me == 1) {
        shmem_set_lock(&taken);
    }
    shmem_barrier_all();
    if (me == 0 && !begins(name, "late")) {
        rows[row].call();
    }
    shmem_barrier_all();
    shmem_finalize();
    if (me == 0 && begins(name, "late")) {
        rows[row].call();
    }
    pause(); /* ended by PE 0, or by the test's time */
    return 0;
}
