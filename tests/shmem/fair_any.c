/* Of entries that hold for ever each is told of in time, by every call that tells of one; one that comes to
 * hold later is told of although others always hold; the calls that tell of some tell of all. Searches of two
 * lists in turn starve none either.
 *
 *     fair_any SEARCHES, at least 16 */
#include "shmem_test.h"

#include "../../shmem/internal/types.h"

#define N 7

static int searches, right;
static char *rooms[2]; /* two lists of N objects, symmetric */

static bool holds_in(int list, size_t i)
{
    return list == 0 ? i == 1 || i == 2 || i == 6 : i % 2 == 0;
}

/* Each that holds was told of, and nothing else. */
static void judge(int list, const int told[N], const char *type, int way)
{
    for (size_t i = 0; i < N; i++) {
        if ((told[i] > 0) != holds_in(list, i)) {
            fprintf(stderr, "PE %d: %s, way %d, list %d: entry %zu was told of %d times\n", me, type, way,
                    list, i, told[i]);
            TEST_END();
        }
    }
}

/* The ways to ask for any: 0 to 3. `lists`: 1, or 2 in turn. */
#define FAIR(T, NAME)                                                                                        \
    static size_t any_of_##NAME(int way, T *flags, size_t n, const T *ones)                                  \
    {                                                                                                        \
        return way == 0   ? shmem_##NAME##_test_any(flags, n, NULL, SHMEM_CMP_EQ, 1)                         \
               : way == 1 ? shmem_##NAME##_wait_until_any(flags, n, NULL, SHMEM_CMP_EQ, 1)                   \
               : way == 2 ? shmem_##NAME##_test_any_vector(flags, n, NULL, SHMEM_CMP_EQ, ones)               \
                          : shmem_##NAME##_wait_until_any_vector(flags, n, NULL, SHMEM_CMP_EQ, ones);        \
    }                                                                                                        \
    static void some_of_##NAME(T *flags, const T *ones)                                                      \
    {                                                                                                        \
        for (int way = 0; way < 4; way++) {                                                                  \
            int told[N] = {0};                                                                               \
            size_t at[N],                                                                                    \
                n = way == 0   ? shmem_##NAME##_test_some(flags, N, at, NULL, SHMEM_CMP_EQ, 1)               \
                    : way == 1 ? shmem_##NAME##_wait_until_some(flags, N, at, NULL, SHMEM_CMP_EQ, 1)         \
                    : way == 2                                                                               \
                        ? shmem_##NAME##_test_some_vector(flags, N, at, NULL, SHMEM_CMP_EQ, ones)            \
                        : shmem_##NAME##_wait_until_some_vector(flags, N, at, NULL, SHMEM_CMP_EQ, ones);     \
            for (size_t i = 0; i < n; i++) {                                                                 \
                told[at[i]]++;                                                                               \
            }                                                                                                \
            judge(0, told, #NAME " some", way);                                                              \
        }                                                                                                    \
    }                                                                                                        \
    static void fair_##NAME(void)                                                                            \
    {                                                                                                        \
        T ones[N], *flags[2] = {(T *)rooms[0], (T *)rooms[1]};                                               \
        for (size_t i = 0; i < N; i++) {                                                                     \
            ones[i] = 1;                                                                                     \
            flags[0][i] = holds_in(0, i);                                                                    \
            flags[1][i] = holds_in(1, i);                                                                    \
        }                                                                                                    \
        for (int way = 0; way < 4; way++) {                                                                  \
            int told[2][N] = {{0}};                                                                          \
            for (int k = 0; k < N; k++) { /* one list: within as many searches as it has entries */          \
                told[0][any_of_##NAME(way, flags[0], N, ones)]++;                                            \
            }                                                                                                \
            judge(0, told[0], #NAME, way);                                                                   \
            memset(told, 0, sizeof told);                                                                    \
            for (int k = 0; k < 32 * N; k++) {                                                               \
                told[k % 2][any_of_##NAME(way, flags[k % 2], N, ones)]++;                                    \
            }                                                                                                \
            judge(0, told[0], #NAME " in turn", way);                                                        \
            judge(1, told[1], #NAME " in turn", way);                                                        \
        }                                                                                                    \
        some_of_##NAME(flags[0], ones);                                                                      \
    }
HL_SHMEM_SYNC_TYPES(FAIR)

/* The right neighbour answers a question; meanwhile another entry always holds. */
static void later(int way)
{
    long *flags = (long *)rooms[0], ones[2] = {1, 1}, told[2] = {0, 0};
    flags[0] = 1;
    flags[1] = 0;
    shmem_barrier_all();
    shmem_long_p(&flags[1], 1, right); /* each is asked, and answered to, by its neighbours */
    shmem_quiet();
    while (told[1] < searches) {
        told[any_of_long(way, flags, 2, ones)]++;
    }
    CHECK(told[0] > 0);
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    test_start(1);
    searches = argc > 1 ? atoi(argv[1]) : 16;
    right = (me + 1) % n_pes;
    rooms[0] = shmem_malloc(N * 8);
    rooms[1] = shmem_malloc(N * 8);
    CHECK(rooms[0] != NULL && rooms[1] != NULL);
#define RUN(T, NAME) fair_##NAME();
    HL_SHMEM_SYNC_TYPES(RUN)
    for (int way = 0; way < 4; way++) {
        later(way);
    }
    shmem_finalize();
    return 0;
}
