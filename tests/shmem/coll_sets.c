/* The deprecated collectives of active sets: all of them on random sets, disjoint ones at once, the same work
 * arrays again and again.
 *
 *     coll_sets STEPS
 */
#include "shmem_test.h"

#include "../../shmem/internal/types.h"

#define MOST 20000 /* bytes of one PE */

static long syncs[2][SHMEM_SYNC_SIZE]; /* in turn, as the standard asks */
static long barrier_sync[SHMEM_BARRIER_SYNC_SIZE];
static double work[MOST];
static char *src, *dst;

struct set {
    int start, log_stride, size, rank;
    long *sync;
    size_t n;
    uint64_t key;
};

static int pe_of(const struct set *s, int r)
{
    return s->start + (r << s->log_stride);
}

static int value(const struct set *s, int r, size_t i)
{
    uint64_t x = s->key + (uint64_t)pe_of(s, r) * 31 + i;
    return 1 + (int)(test_random(&x) % 3);
}

static void wrong(const char *what, size_t i)
{
    fprintf(stderr, "PE %d: %s: element %zu is wrong\n", me, what, i);
    shmem_global_exit(1);
}

#define FOLD(T, NAME, OP, EXPR)                                                                              \
    static void NAME##OP(const struct set *s)                                                                \
    {                                                                                                        \
        T *from = (T *)src, *to = s->key % 2 == 0 ? from : (T *)dst;                                         \
        for (size_t i = 0; i < s->n; i++) {                                                                  \
            from[i] = (T)value(s, s->rank, i);                                                               \
        }                                                                                                    \
        shmem_##NAME##OP(to, from, (int)s->n, s->start, s->log_stride, s->size, (T *)work, s->sync);         \
        for (size_t i = 0; i < s->n; i++) {                                                                  \
            T a = (T)value(s, 0, i);                                                                         \
            for (int r = 1; r < s->size; r++) {                                                              \
                T b = (T)value(s, r, i);                                                                     \
                a = (T)(EXPR);                                                                               \
            }                                                                                                \
            if (to[i] != a) {                                                                                \
                wrong(#NAME #OP, i);                                                                         \
            }                                                                                                \
        }                                                                                                    \
    }
#define BITS(T, NAME)                                                                                        \
    FOLD(T, NAME, _and_to_all, a &b) FOLD(T, NAME, _or_to_all, a | b) FOLD(T, NAME, _xor_to_all, a ^ b)
#define ORDER(T, NAME) FOLD(T, NAME, _max_to_all, a > b ? a : b) FOLD(T, NAME, _min_to_all, a < b ? a : b)
#define SUMS(T, NAME) FOLD(T, NAME, _sum_to_all, a + b) FOLD(T, NAME, _prod_to_all, a *b)
HL_SHMEM_ASET_BIT_TYPES(BITS)
HL_SHMEM_ASET_ORDER_TYPES(ORDER)
HL_SHMEM_ASET_SUM_TYPES(SUMS)

#define MOVES(BITS)                                                                                          \
    static void fill##BITS(const struct set *s, size_t n)                                                    \
    {                                                                                                        \
        for (size_t i = 0; i < n; i++) {                                                                     \
            ((uint##BITS##_t *)src)[i] = (uint##BITS##_t)(value(s, s->rank, i) * 1000 + me);                 \
        }                                                                                                    \
    }                                                                                                        \
    static void same##BITS(const struct set *s, const char *what, size_t at, int r, size_t i)                \
    {                                                                                                        \
        if (((uint##BITS##_t *)dst)[at] != (uint##BITS##_t)(value(s, r, i) * 1000 + pe_of(s, r))) {          \
            wrong(what, at);                                                                                 \
        }                                                                                                    \
    }                                                                                                        \
    static void broadcast##BITS(const struct set *s)                                                         \
    {                                                                                                        \
        int root = (int)(s->key % (uint64_t)s->size);                                                        \
        fill##BITS(s, s->n);                                                                                 \
        memset(dst, 0x77, s->n * sizeof(uint##BITS##_t));                                                    \
        shmem_broadcast##BITS(dst, src, s->n, root, s->start, s->log_stride, s->size, s->sync);              \
        for (size_t i = 0; i < s->n; i++) {                                                                  \
            if (s->rank != root) {                                                                           \
                same##BITS(s, "broadcast" #BITS, i, root, i);                                                \
            } else if (dst[i] != 0x77) {                                                                     \
                wrong("broadcast" #BITS " at the root", i);                                                  \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static void fcollect##BITS(const struct set *s)                                                          \
    {                                                                                                        \
        fill##BITS(s, s->n);                                                                                 \
        shmem_fcollect##BITS(dst, src, s->n, s->start, s->log_stride, s->size, s->sync);                     \
        for (size_t i = 0; i < s->n * (size_t)s->size; i++) {                                                \
            same##BITS(s, "fcollect" #BITS, i, (int)(i / s->n), i % s->n);                                   \
        }                                                                                                    \
    }                                                                                                        \
    static void collect##BITS(const struct set *s)                                                           \
    {                                                                                                        \
        size_t at = 0;                                                                                       \
        fill##BITS(s, s->n / (size_t)(s->rank + 1));                                                         \
        shmem_collect##BITS(dst, src, s->n / (size_t)(s->rank + 1), s->start, s->log_stride, s->size,        \
                            s->sync);                                                                        \
        for (int r = 0; r < s->size; r++) {                                                                  \
            for (size_t i = 0; i < s->n / (size_t)(r + 1); i++) {                                            \
                same##BITS(s, "collect" #BITS, at++, r, i);                                                  \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static void alltoall##BITS(const struct set *s)                                                          \
    {                                                                                                        \
        size_t n = s->n / (size_t)s->size;                                                                   \
        fill##BITS(s, n *(size_t)s->size);                                                                   \
        shmem_alltoall##BITS(dst, src, n, s->start, s->log_stride, s->size, s->sync);                        \
        for (size_t i = 0; i < n * (size_t)s->size; i++) {                                                   \
            same##BITS(s, "alltoall" #BITS, i, (int)(i / n), (size_t)s->rank *n + i % n);                    \
        }                                                                                                    \
    }                                                                                                        \
    static void alltoalls##BITS(const struct set *s)                                                         \
    {                                                                                                        \
        size_t n = s->n % 50 / 3, all = n * (size_t)s->size;                                                 \
        fill##BITS(s, all * 3);                                                                              \
        shmem_alltoalls##BITS(dst, src, 2, 3, n, s->start, s->log_stride, s->size, s->sync);                 \
        for (size_t i = 0; i < all; i++) {                                                                   \
            same##BITS(s, "alltoalls" #BITS, i * 2, (int)(i / n), ((size_t)s->rank * n + i % n) * 3);        \
        }                                                                                                    \
    }
MOVES(32)
MOVES(64)

static void (*const ops[])(const struct set *) = {
#define BIT_ROWS(T, NAME) NAME##_and_to_all, NAME##_or_to_all, NAME##_xor_to_all,
#define ORDER_ROWS(T, NAME) NAME##_max_to_all, NAME##_min_to_all,
#define SUM_ROWS(T, NAME) NAME##_sum_to_all, NAME##_prod_to_all,
    HL_SHMEM_ASET_BIT_TYPES(BIT_ROWS) HL_SHMEM_ASET_ORDER_TYPES(ORDER_ROWS) HL_SHMEM_ASET_SUM_TYPES(SUM_ROWS)
#define MOVE_ROWS(BITS) broadcast##BITS, fcollect##BITS, collect##BITS, alltoall##BITS, alltoalls##BITS,
        MOVE_ROWS(32) MOVE_ROWS(64)};

/* The PEs are cut in two sets that do different things at once; strides as they fit. */
static void draw(struct set *s, uint64_t *seed)
{
    s->log_stride = (int)(test_random(seed) % 3);
    int stride = 1 << s->log_stride, cut = (int)(test_random(seed) % (uint64_t)n_pes);
    uint64_t keys[2] = {test_random(seed), test_random(seed)};
    int lo = me < cut ? 0 : cut, hi = me < cut ? cut : n_pes;
    s->start = lo + (me - lo) % stride;
    s->size = (hi - 1 - s->start) / stride + 1;
    s->rank = (me - s->start) / stride;
    s->key = keys[me < cut] + (uint64_t)s->start;
    uint64_t x = s->key;
    s->n = test_random(&x) % (test_random(&x) % 4 == 0 ? MOST / 16 : 100);
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 100;
    uint64_t seed = 4711;
    test_start(1);
    src = shmem_malloc(MOST * 8);
    dst = shmem_malloc((size_t)MOST * 8 * (size_t)n_pes);
    CHECK(src != NULL && dst != NULL);
    for (int i = 0; i < steps; i++) {
        struct set s = {.sync = syncs[i % 2]};
        draw(&s, &seed);
        ops[s.key % (sizeof ops / sizeof *ops)](&s);
        for (int k = 0; k < SHMEM_SYNC_SIZE; k++) {
            CHECK_EQ(s.sync[k], SHMEM_SYNC_VALUE);
        }
        /* The next sets are others: all meet, with one array again and again. */
        if (i % 2 == 0) {
            shmem_barrier(0, 0, n_pes, barrier_sync);
        } else {
            (shmem_sync)(0, 0, n_pes, barrier_sync);
        }
    }
    shmem_finalize();
    return 0;
}
