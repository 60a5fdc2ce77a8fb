/* Waiting and testing: all shapes, types and comparisons, in a ring; data put before a flag are there after
 * it; several threads wait for flags of their own.
 *
 *     wait_flags THREADS ROUNDS
 */
#include "shmem_test.h"

#include "../../shmem/internal/types.h"

#define N 8

static int right;
static char *room; /* symmetric: N objects of any type */

/* ---- one object ---- */

/* The left neighbour writes; each comparison becomes true by its write only. */
#define ONE(T, NAME)                                                                                         \
    static void one_##NAME(void)                                                                             \
    {                                                                                                        \
        T *flag = (T *)room;                                                                                 \
        const T lowest = (T)-1 < (T)1 ? (T)((uint64_t)1 << (8 * sizeof(T) - 1)) : 0;                         \
        const struct {                                                                                       \
            T write;                                                                                         \
            int cmp;                                                                                         \
            T value;                                                                                         \
        } steps[] = {{5, SHMEM_CMP_EQ, 5},     {6, SHMEM_CMP_NE, 5},           {7, SHMEM_CMP_GT, 6},         \
                     {9, SHMEM_CMP_GE, 9},     {3, SHMEM_CMP_LT, 4},           {2, SHMEM_CMP_LE, 2},         \
                     {(T)-1, SHMEM_CMP_NE, 2}, {lowest, SHMEM_CMP_LE, lowest}, {100, SHMEM_CMP_GT, 99}};     \
        *flag = 0;                                                                                           \
        shmem_barrier_all();                                                                                 \
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {                                          \
            if (i != 4 && i != 5 && i != 7) {                                                                \
                CHECK_EQ(shmem_##NAME##_test(flag, steps[i].cmp, steps[i].value), 0);                        \
            }                                                                                                \
            shmem_barrier_all();                                                                             \
            shmem_##NAME##_p(flag, steps[i].write, right);                                                   \
            shmem_quiet();                                                                                   \
            shmem_##NAME##_wait_until(flag, steps[i].cmp, steps[i].value);                                   \
            CHECK_EQ(shmem_##NAME##_test(flag, steps[i].cmp, steps[i].value), 1);                            \
            CHECK_EQ(*flag == steps[i].write, 1);                                                            \
            shmem_barrier_all();                                                                             \
        }                                                                                                    \
        shmem_##NAME##_p(flag, 1, right);                                                                    \
        shmem_quiet();                                                                                       \
        shmem_##NAME##_wait(flag, 100);                                                                      \
        CHECK_EQ(*flag == 1, 1);                                                                             \
        shmem_barrier_all();                                                                                 \
    }
HL_SHMEM_SYNC_TYPES(ONE)

/* ---- lists: object i becomes i + 1, in the order of `turn` ---- */

static const int turn[N] = {3, 0, 7, 5, 1, 2, 6, 4};

#define LIST(T, NAME)                                                                                        \
    static void write_##NAME(int from, int to)                                                               \
    {                                                                                                        \
        for (int k = from; k < to; k++) {                                                                    \
            shmem_##NAME##_p((T *)room + turn[k], (T)(turn[k] + 1), right);                                  \
        }                                                                                                    \
        shmem_quiet();                                                                                       \
    }                                                                                                        \
    static void clear_##NAME(int *status)                                                                    \
    {                                                                                                        \
        shmem_barrier_all();                                                                                 \
        memset(room, 0, N * sizeof(T));                                                                      \
        memset(status, 0, N * sizeof *status);                                                               \
        shmem_barrier_all();                                                                                 \
    }                                                                                                        \
    static void all_##NAME(const T *want)                                                                    \
    {                                                                                                        \
        T *flags = (T *)room;                                                                                \
        int status[N];                                                                                       \
        clear_##NAME(status);                                                                                \
        CHECK_EQ(shmem_##NAME##_test_all(flags, N, NULL, SHMEM_CMP_NE, 0), 0);                               \
        CHECK_EQ(shmem_##NAME##_test_all(flags, 0, NULL, SHMEM_CMP_NE, 0), 1);                               \
        shmem_##NAME##_wait_until_all(flags, 0, NULL, SHMEM_CMP_NE, 0);                                      \
        shmem_barrier_all();                                                                                 \
        write_##NAME(0, N - 1);                                                                              \
        status[turn[N - 1]] = 1;                                                                             \
        shmem_##NAME##_wait_until_all(flags, N, status, SHMEM_CMP_NE, 0);                                    \
        shmem_##NAME##_wait_until_all_vector(flags, N, status, SHMEM_CMP_EQ, want);                          \
        CHECK_EQ(shmem_##NAME##_test_all_vector(flags, N, status, SHMEM_CMP_EQ, want), 1);                   \
        CHECK_EQ(shmem_##NAME##_test_all_vector(flags, N, NULL, SHMEM_CMP_EQ, want), 0);                     \
        shmem_barrier_all();                                                                                 \
        write_##NAME(N - 1, N);                                                                              \
        shmem_##NAME##_wait_until_all_vector(flags, N, NULL, SHMEM_CMP_EQ, want);                            \
    }                                                                                                        \
    static void any_##NAME(const T *want)                                                                    \
    {                                                                                                        \
        T *flags = (T *)room;                                                                                \
        int status[N];                                                                                       \
        clear_##NAME(status);                                                                                \
        CHECK_EQ(shmem_##NAME##_test_any(flags, N, NULL, SHMEM_CMP_GT, 0) == SIZE_MAX, 1);                   \
        shmem_barrier_all();                                                                                 \
        for (int k = 0; k < N; k++) {                                                                        \
            write_##NAME(k, k + 1);                                                                          \
            size_t hit = k % 2 == 0                                                                          \
                             ? shmem_##NAME##_wait_until_any(flags, N, status, SHMEM_CMP_GT, 0)              \
                             : shmem_##NAME##_wait_until_any_vector(flags, N, status, SHMEM_CMP_EQ, want);   \
            CHECK(hit < N && status[hit] == 0);                                                              \
            CHECK_EQ(flags[hit], hit + 1);                                                                   \
            CHECK(shmem_##NAME##_test_any(flags, N, status, SHMEM_CMP_GT, 0) < N);                           \
            CHECK(shmem_##NAME##_test_any_vector(flags, N, status, SHMEM_CMP_EQ, want) < N);                 \
            status[hit] = 1;                                                                                 \
        }                                                                                                    \
        CHECK_EQ(shmem_##NAME##_wait_until_any(flags, N, status, SHMEM_CMP_GT, 0) == SIZE_MAX, 1);           \
        CHECK_EQ(shmem_##NAME##_test_any(flags, N, status, SHMEM_CMP_GT, 0) == SIZE_MAX, 1);                 \
    }                                                                                                        \
    static void some_##NAME(const T *want)                                                                   \
    {                                                                                                        \
        T *flags = (T *)room;                                                                                \
        int status[N];                                                                                       \
        size_t indices[N], done = 0;                                                                         \
        clear_##NAME(status);                                                                                \
        CHECK_EQ(shmem_##NAME##_test_some(flags, N, indices, NULL, SHMEM_CMP_GT, 0), 0);                     \
        CHECK_EQ(shmem_##NAME##_test_some_vector(flags, N, indices, NULL, SHMEM_CMP_EQ, want), 0);           \
        shmem_barrier_all();                                                                                 \
        write_##NAME(0, N);                                                                                  \
        for (int k = 0; done < N; k++) {                                                                     \
            size_t n =                                                                                       \
                k % 2 == 0                                                                                   \
                    ? shmem_##NAME##_wait_until_some(flags, N, indices, status, SHMEM_CMP_GT, 0)             \
                    : shmem_##NAME##_wait_until_some_vector(flags, N, indices, status, SHMEM_CMP_EQ, want);  \
            CHECK(n > 0);                                                                                    \
            CHECK(shmem_##NAME##_test_some(flags, N, indices, status, SHMEM_CMP_GT, 0) >= n);                \
            for (size_t i = 0; i < n; i++) {                                                                 \
                CHECK_EQ(status[indices[i]], 0);                                                             \
                CHECK_EQ(flags[indices[i]], indices[i] + 1);                                                 \
                status[indices[i]] = 1;                                                                      \
            }                                                                                                \
            done += n;                                                                                       \
        }                                                                                                    \
        CHECK_EQ(shmem_##NAME##_wait_until_some(flags, N, indices, status, SHMEM_CMP_GT, 0), 0);             \
    }                                                                                                        \
    static void lists_##NAME(void)                                                                           \
    {                                                                                                        \
        T want[N];                                                                                           \
        for (int i = 0; i < N; i++) {                                                                        \
            want[i] = (T)(i + 1);                                                                            \
        }                                                                                                    \
        all_##NAME(want);                                                                                    \
        any_##NAME(want);                                                                                    \
        some_##NAME(want);                                                                                   \
        shmem_barrier_all();                                                                                 \
    }
HL_SHMEM_AMO_TYPES(LIST)

/* ---- threads: data before the flag ---- */

#define DATA 64

struct lane {
    long flag, data[DATA];
};
static struct lane *lanes;
static int rounds;

static void *play(void *arg)
{
    struct lane *l = &lanes[(intptr_t)arg];
    long data[DATA];
    for (int i = 1; i <= rounds; i++) {
        if (me == 0 || n_pes == 1) { /* the others answer */
            for (int k = 0; k < DATA; k++) {
                data[k] = i * 1000 + k;
            }
            shmem_putmem(l->data, data, sizeof data, right);
            shmem_quiet();
            shmem_long_p(&l->flag, i, right);
        }
        shmem_long_wait_until(&l->flag, SHMEM_CMP_GE, i);
        for (int k = 0; k < DATA; k++) {
            CHECK_EQ(l->data[k], i * 1000 + k);
        }
        if (me != 0) {
            shmem_putmem(l->data, l->data, sizeof data, right);
            shmem_quiet();
            shmem_long_p(&l->flag, i, right);
        }
    }
    shmem_quiet();
    return NULL;
}

static void threads_play(int threads)
{
    pthread_t ids[64];
    lanes = shmem_malloc(64 * sizeof *lanes);
    memset(lanes, 0, 64 * sizeof *lanes);
    shmem_barrier_all();
    for (intptr_t t = 1; t < threads; t++) {
        CHECK_EQ(pthread_create(&ids[t], NULL, play, (void *)t), 0);
    }
    play(NULL);
    for (int t = 1; t < threads; t++) {
        CHECK_EQ(pthread_join(ids[t], NULL), 0);
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 20;
    test_start(1);
    right = (me + 1) % n_pes;
    room = shmem_malloc(N * 8);
    CHECK(room != NULL);
#define RUN_ONE(T, NAME) one_##NAME();
#define RUN_LIST(T, NAME) lists_##NAME();
    HL_SHMEM_SYNC_TYPES(RUN_ONE)
    HL_SHMEM_AMO_TYPES(RUN_LIST)
    threads_play(threads < 64 ? threads : 64);
    shmem_finalize();
    return 0;
}
