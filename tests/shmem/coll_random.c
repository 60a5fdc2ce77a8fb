/* Random sequences of collective operations on random teams give the computed answers: all operations and
 * types, from nothing to a MiB, in place where that is allowed, by several threads on teams of their own.
 *
 *     coll_random STEPS THREADS
 */
#include "shmem_test.h"

#include "../../shmem/internal/types.h"

#define TEAMS 5

struct worker {
    uint64_t seed; /* the same at all PEs */
    int steps;
    shmem_team_t teams[TEAMS];                    /* INVALID at PEs outside */
    int start[TEAMS], stride[TEAMS], size[TEAMS]; /* of all of them, known everywhere */
    size_t most;                                  /* bytes that one PE brings */
    char *src, *dst;                              /* for n_pes times that */
};

/* One operation, seen by a member. */
struct step {
    shmem_team_t team;
    int size, rank;
    uint64_t key;
    size_t n;
    bool in_place;
    char *src, *dst;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t s = a * 0x9e3779b97f4a7c15ULL + b;
    return test_random(&s);
}

/* Element i of member r: small, so that sums of floating-point numbers are exact. */
static int value(const struct step *s, int r, size_t i)
{
    return 1 + (int)(mix(s->key + (uint64_t)r, i) % 3);
}

#define WRONG(T, NAME, what, i)                                                                              \
    fprintf(stderr, "PE %d: %s of %zu " #T " by %d PEs: element %zu is wrong\n", me, what, s->n, s->size,    \
            i);                                                                                              \
    shmem_global_exit(1)

/* ---- reductions and scans ---- */

#define COMBINE(T, OP, first, last, EXPR)                                                                    \
    for (int r = first; r < last; r++) {                                                                     \
        T b = (T)value(s, r, i);                                                                             \
        a = r == 0 ? b : (T)(EXPR);                                                                          \
    }

#define FOLD(T, NAME, OP, LAST, EXPR)                                                                        \
    static void NAME##OP(const struct step *s)                                                               \
    {                                                                                                        \
        T *src = (T *)s->src, *dst = s->in_place ? src : (T *)s->dst;                                        \
        for (size_t i = 0; i < s->n; i++) {                                                                  \
            src[i] = (T)value(s, s->rank, i);                                                                \
        }                                                                                                    \
        CHECK_EQ(shmem_##NAME##OP(s->team, dst, src, s->n), 0);                                              \
        for (size_t i = 0; i < s->n; i++) {                                                                  \
            T a = 0;                                                                                         \
            COMBINE(T, OP, 0, LAST, EXPR)                                                                    \
            if (dst[i] != a) {                                                                               \
                WRONG(T, NAME, #OP, i);                                                                      \
            }                                                                                                \
        }                                                                                                    \
    }
#define BITS(T, NAME)                                                                                        \
    FOLD(T, NAME, _and_reduce, s->size, a &b)                                                                \
    FOLD(T, NAME, _or_reduce, s->size, a | b)                                                                \
    FOLD(T, NAME, _xor_reduce, s->size, a ^ b)
#define ORDER(T, NAME)                                                                                       \
    FOLD(T, NAME, _max_reduce, s->size, a > b ? a : b)                                                       \
    FOLD(T, NAME, _min_reduce, s->size, a < b ? a : b)
#define SUMS(T, NAME)                                                                                        \
    FOLD(T, NAME, _sum_reduce, s->size, a + b)                                                               \
    FOLD(T, NAME, _prod_reduce, s->size, a *b)                                                               \
    FOLD(T, NAME, _sum_inscan, s->rank + 1, a + b)                                                           \
    FOLD(T, NAME, _sum_exscan, s->rank, a + b)
HL_SHMEM_REDUCE_BIT_TYPES(BITS)
HL_SHMEM_REDUCE_ORDER_TYPES(ORDER)
HL_SHMEM_REDUCE_SUM_TYPES(SUMS)

/* ---- moves ---- */

static unsigned char byte(const struct step *s, int r, size_t i)
{
    return (unsigned char)(mix(s->key + (uint64_t)r, i / 8) >> (i % 8 * 8));
}

static void fill(const struct step *s, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        s->src[i] = (char)byte(s, s->rank, i);
    }
}

static void expect(const struct step *s, const char *what, const char *got, size_t bytes, int r, size_t from)
{
    for (size_t i = 0; i < bytes; i++) {
        if ((unsigned char)got[i] != byte(s, r, from + i)) {
            fprintf(stderr, "PE %d: %s of %zu by %d PEs: byte %zu of member %d is wrong\n", me, what, s->n,
                    s->size, i, r);
            shmem_global_exit(1);
        }
    }
}

/* Different amounts of collect. */
static size_t part(const struct step *s, int r)
{
    return s->n == 0 ? 0 : mix(s->key, (uint64_t)r + 77) % (s->n + 1);
}

#define MOVES(T, NAME)                                                                                       \
    static void NAME##_broadcast(const struct step *s)                                                       \
    {                                                                                                        \
        int root = (int)(s->key % (uint64_t)s->size);                                                        \
        fill(s, s->n * sizeof(T));                                                                           \
        CHECK_EQ(shmem_##NAME##_broadcast(s->team, (T *)(s->in_place ? s->src : s->dst), (T *)s->src, s->n,  \
                                          root),                                                             \
                 0);                                                                                         \
        expect(s, "broadcast", s->in_place ? s->src : s->dst, s->n * sizeof(T), root, 0);                    \
    }                                                                                                        \
    static void NAME##_fcollect(const struct step *s)                                                        \
    {                                                                                                        \
        size_t bytes = s->n * sizeof(T);                                                                     \
        fill(s, bytes);                                                                                      \
        CHECK_EQ(shmem_##NAME##_fcollect(s->team, (T *)s->dst, (T *)s->src, s->n), 0);                       \
        for (int r = 0; r < s->size; r++) {                                                                  \
            expect(s, "fcollect", s->dst + (size_t)r * bytes, bytes, r, 0);                                  \
        }                                                                                                    \
    }                                                                                                        \
    static void NAME##_collect(const struct step *s)                                                         \
    {                                                                                                        \
        size_t at = 0;                                                                                       \
        fill(s, part(s, s->rank) * sizeof(T));                                                               \
        CHECK_EQ(shmem_##NAME##_collect(s->team, (T *)s->dst, (T *)s->src, part(s, s->rank)), 0);            \
        for (int r = 0; r < s->size; r++) {                                                                  \
            expect(s, "collect", s->dst + at, part(s, r) * sizeof(T), r, 0);                                 \
            at += part(s, r) * sizeof(T);                                                                    \
        }                                                                                                    \
    }                                                                                                        \
    static void NAME##_alltoall(const struct step *s)                                                        \
    {                                                                                                        \
        size_t bytes = s->n * sizeof(T);                                                                     \
        fill(s, bytes *(size_t)s->size);                                                                     \
        CHECK_EQ(shmem_##NAME##_alltoall(s->team, (T *)s->dst, (T *)s->src, s->n), 0);                       \
        for (int r = 0; r < s->size; r++) {                                                                  \
            expect(s, "alltoall", s->dst + (size_t)r * bytes, bytes, r, (size_t)s->rank * bytes);            \
        }                                                                                                    \
    }                                                                                                        \
    static void NAME##_alltoalls(const struct step *s)                                                       \
    {                                                                                                        \
        size_t n = s->n % 200, dst = 1 + s->key % 3, sst = 1 + s->key / 3 % 3, size = (size_t)s->size;       \
        fill(s, n *size *sst * sizeof(T));                                                                   \
        memset(s->dst, 0x55, n *size *dst * sizeof(T));                                                      \
        CHECK_EQ(                                                                                            \
            shmem_##NAME##_alltoalls(s->team, (T *)s->dst, (T *)s->src, (ptrdiff_t)dst, (ptrdiff_t)sst, n),  \
            0);                                                                                              \
        for (size_t i = 0; i < n * size; i++) {                                                              \
            size_t from = ((size_t)s->rank * n + i % n) * sst * sizeof(T);                                   \
            expect(s, "alltoalls", s->dst + i * dst * sizeof(T), sizeof(T), (int)(i / n), from);             \
            for (size_t k = sizeof(T); k < dst * sizeof(T) && i + 1 < n * size; k++) {                       \
                CHECK_EQ(s->dst[i * dst * sizeof(T) + k], 0x55);                                             \
            }                                                                                                \
        }                                                                                                    \
    }
HL_SHMEM_RMA_TYPES(MOVES)

/* ---- the same bits ---- */

static uint64_t hash(const void *p, size_t len)
{
    const unsigned char *b = p;
    uint64_t h = len;
    for (size_t i = 0; i < len; i++) {
        h = mix(h, b[i]);
    }
    return h;
}

/* A sum whose rounding depends on the order: all members have the same one, and have it again. */
static void double_bits(const struct step *s)
{
    double *src = (double *)s->src, *dst = (double *)s->dst;
    uint64_t first, *mine = (uint64_t *)s->src, *all = (uint64_t *)s->dst;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t x = mix(s->key + (uint64_t)s->rank, i);
        src[i] = ((double)(x >> 20) - 1e13) / (double)(1 + (x & 1023));
    }
    CHECK_EQ(shmem_double_sum_reduce(s->team, dst, src, s->n), 0);
    first = hash(dst, s->n * sizeof *dst);
    CHECK_EQ(shmem_double_sum_reduce(s->team, dst, src, s->n), 0);
    CHECK_EQ(hash(dst, s->n * sizeof *dst) == first, 1);
    *mine = first;
    CHECK_EQ(shmem_uint64_fcollect(s->team, all, mine, 1), 0);
    for (int r = 0; r < s->size; r++) {
        CHECK_EQ(all[r] == first, 1);
    }
}

struct op {
    void (*run)(const struct step *);
    size_t size;
    bool may_in_place;
};

#define ROW(T, NAME, OP, IN) {NAME##OP, sizeof(T), IN},
#define BIT_ROWS(T, NAME)                                                                                    \
    ROW(T, NAME, _and_reduce, true) ROW(T, NAME, _or_reduce, true) ROW(T, NAME, _xor_reduce, true)
#define ORDER_ROWS(T, NAME) ROW(T, NAME, _max_reduce, true) ROW(T, NAME, _min_reduce, true)
#define SUM_ROWS(T, NAME)                                                                                    \
    ROW(T, NAME, _sum_reduce, true)                                                                          \
    ROW(T, NAME, _prod_reduce, true) ROW(T, NAME, _sum_inscan, true) ROW(T, NAME, _sum_exscan, true)
#define MOVE_ROWS(T, NAME)                                                                                   \
    ROW(T, NAME, _broadcast, true)                                                                           \
    ROW(T, NAME, _fcollect, false)                                                                           \
    ROW(T, NAME, _collect, false) ROW(T, NAME, _alltoall, false) ROW(T, NAME, _alltoalls, false)

static const struct op ops[] = {HL_SHMEM_REDUCE_BIT_TYPES(BIT_ROWS) HL_SHMEM_REDUCE_ORDER_TYPES(ORDER_ROWS)
                                    HL_SHMEM_REDUCE_SUM_TYPES(SUM_ROWS) HL_SHMEM_RMA_TYPES(MOVE_ROWS)};
static const struct op bits = {double_bits, sizeof(double), false};

/* ---- sequences ---- */

/* Mostly small, sometimes at the edge of what travels in boxes, now and then large. */
static size_t draw_bytes(uint64_t *seed, size_t most)
{
    uint64_t x = test_random(seed);
    switch (x % 16) {
    case 0:
        return 0;
    case 1:
        return x / 16 % most;
    case 2:
    case 3:
        return x / 16 % 65536;
    case 4:
    case 5:
        return 960 + x / 16 % 80;
    default:
        return x / 16 % 400;
    }
}

/* Team k becomes another part of an earlier one; all PEs of that one take part. */
static void renew(struct worker *w, int k)
{
    int from = (int)(test_random(&w->seed) % (uint64_t)k);
    int psize = w->size[from];
    int start = (int)(test_random(&w->seed) % (uint64_t)psize);
    int stride = 1 + (int)(test_random(&w->seed) % 3);
    stride = test_random(&w->seed) % 4 == 0 ? -stride : stride;
    int most = 1 + (stride > 0 ? psize - 1 - start : start) / abs(stride);
    int size = 1 + (int)(test_random(&w->seed) % (uint64_t)most);
    if (w->teams[k] != SHMEM_TEAM_INVALID) {
        shmem_team_destroy(w->teams[k]);
        w->teams[k] = SHMEM_TEAM_INVALID;
    }
    if (w->teams[from] != SHMEM_TEAM_INVALID) {
        CHECK_EQ(shmem_team_split_strided(w->teams[from], start, stride, size, NULL, 0, &w->teams[k]), 0);
    }
    w->start[k] = w->start[from] + start * w->stride[from];
    w->stride[k] = stride * w->stride[from];
    w->size[k] = size;
}

static void one_step(struct worker *w)
{
    int k = (int)(test_random(&w->seed) % TEAMS);
    if (k > 0 && test_random(&w->seed) % 12 == 0) {
        renew(w, k);
    }
    uint64_t x = test_random(&w->seed);
    const struct op *op = x % 16 == 0 ? &bits : &ops[x / 16 % (sizeof ops / sizeof *ops)];
    struct step s = {.team = w->teams[k], .size = w->size[k], .src = w->src, .dst = w->dst};
    s.key = test_random(&w->seed);
    s.n = draw_bytes(&w->seed, w->most) / op->size;
    s.in_place = op->may_in_place && test_random(&w->seed) % 3 == 0;
    if (s.team == SHMEM_TEAM_INVALID) {
        return;
    }
    s.rank = shmem_team_my_pe(s.team);
    CHECK_EQ(shmem_team_n_pes(s.team), s.size);
    CHECK_EQ(w->start[k] + s.rank * w->stride[k], me);
    op->run(&s);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int k = 1; k < TEAMS; k++) {
        renew(w, k);
    }
    for (int i = 0; i < w->steps; i++) {
        one_step(w);
        if (i % 64 == 0) {
            CHECK_EQ(shmem_team_sync(w->teams[0]), 0);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 100, threads = argc > 2 ? atoi(argv[2]) : 1;
    test_start(1);
    struct worker *w = calloc((size_t)threads, sizeof *w);
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    for (int t = 0; t < threads; t++) {
        w[t] = (struct worker){.seed = (uint64_t)t + 1, .steps = steps, .start[0] = 0, .stride[0] = 1};
        w[t].size[0] = n_pes;
        w[t].most = threads == 1 ? (size_t)1 << 20 : (size_t)1 << 17;
        w[t].src = shmem_malloc(w[t].most * (size_t)n_pes + ((size_t)1 << 17));
        w[t].dst = shmem_malloc(w[t].most * (size_t)n_pes + ((size_t)1 << 17));
        CHECK(w[t].src != NULL && w[t].dst != NULL);
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &w[t].teams[0]), 0);
    }
    for (int t = 1; t < threads; t++) {
        CHECK_EQ(pthread_create(&ids[t], NULL, work, &w[t]), 0);
    }
    work(&w[0]);
    for (int t = 1; t < threads; t++) {
        CHECK_EQ(pthread_join(ids[t], NULL), 0);
    }
    shmem_barrier_all();
    for (int t = 0; t < threads; t++) {
        shmem_team_destroy(w[t].teams[0]);
    }
    free(w);
    free(ids);
    shmem_finalize();
    return 0;
}
