/* Every put and get of every type and size, plain and on a context, from each PE to its right neighbour.
 * usage: xfer_types [OPTIONS of the context] */
#include "../../shmem/internal/types.h"
#include "shmem_test.h"

#define N 12 /* elements that are moved; arrays are longer */
#define ROOM 64

static int right, left;
static shmem_ctx_t context;

static void all_quiet(void)
{
    shmem_quiet();
    shmem_ctx_quiet(context);
}

/* What element i of a PE's array is; for all types. */
#define VALUE(T, pe, i) ((T)(((pe)*31 + (i)*7) % 100 + 1))

/* Calls the plain form, then that of a context, with the arguments in front of nelems. */
static void settle(void)
{
    all_quiet();
    shmem_barrier_all();
}

#define FILL(T, at, pe)                                                                                      \
    do {                                                                                                     \
        for (int fill_i = 0; fill_i < ROOM; fill_i++) {                                                      \
            (at)[fill_i] = (pe) < 0 ? (T)0 : VALUE(T, pe, fill_i);                                           \
        }                                                                                                    \
    } while (0)

/* `check` looks at theirs (a put's target) when all PEs have done `put`. */
#define ROUND_PUT(T, put, check)                                                                             \
    do {                                                                                                     \
        FILL(T, theirs, -1);                                                                                 \
        shmem_barrier_all();                                                                                 \
        put;                                                                                                 \
        settle();                                                                                            \
        for (int i = 0; i < N; i++) {                                                                        \
            CHECK(check);                                                                                    \
        }                                                                                                    \
        shmem_barrier_all();                                                                                 \
    } while (0)

#define ROUND_GET(T, get, check)                                                                             \
    do {                                                                                                     \
        FILL(T, mine, -1);                                                                                   \
        get;                                                                                                 \
        for (int i = 0; i < N; i++) {                                                                        \
            CHECK(check);                                                                                    \
        }                                                                                                    \
    } while (0)

/* Both forms of a move; IN front of dest stands nothing or the context. */
#define MOVES(T, PUT, GET, PUT_NBI, GET_NBI, IN)                                                             \
    FILL(T, mine, me);                                                                                       \
    ROUND_PUT(T, PUT(IN theirs, mine, N, right), theirs[i] == VALUE(T, left, i));                            \
    CHECK(theirs[N] == (T)0);                                                                                \
    ROUND_PUT(T, PUT_NBI(IN theirs + 1, mine, N, right), theirs[i + 1] == VALUE(T, left, i));                \
    FILL(T, theirs, me);                                                                                     \
    shmem_barrier_all();                                                                                     \
    ROUND_GET(T, GET(IN mine, theirs + 3, N, right), mine[i] == VALUE(T, right, i + 3));                     \
    ROUND_GET(T, (GET_NBI(IN mine, theirs + 2, N, right), all_quiet()), mine[i] == VALUE(T, right, i + 2));  \
    shmem_barrier_all()

#define STRIDES(T, IPUT, IGET, IBPUT, IBGET, IN)                                                             \
    FILL(T, mine, me);                                                                                       \
    ROUND_PUT(T, IPUT(IN theirs, mine, 2, 3, N, right), theirs[2 * i] == VALUE(T, left, 3 * i));             \
    CHECK(theirs[1] == (T)0 && theirs[2 * N] == (T)0);                                                       \
    ROUND_PUT(T, IBPUT(IN theirs, mine, 4, 5, 3, N / 3, right),                                              \
              theirs[i / 3 * 4 + i % 3] == VALUE(T, left, i / 3 * 5 + i % 3));                               \
    CHECK(theirs[3] == (T)0);                                                                                \
    IBPUT(IN theirs, mine, 1, 1, 0, SIZE_MAX, right);                                                        \
    IBGET(IN mine, theirs, 1, 1, 0, SIZE_MAX, right);                                                        \
    FILL(T, theirs, me);                                                                                     \
    shmem_barrier_all();                                                                                     \
    ROUND_GET(T, IGET(IN mine, theirs, 4, 2, N, right), mine[4 * i] == VALUE(T, right, 2 * i));              \
    ROUND_GET(T, IBGET(IN mine, theirs, 3, 6, 2, N / 2, right),                                              \
              mine[i / 2 * 3 + i % 2] == VALUE(T, right, i / 2 * 6 + i % 2));                                \
    shmem_barrier_all()

#define NONE
#define IN_CTX ctx,

#define TYPED(T, NAME)                                                                                       \
    static void test_##NAME(shmem_ctx_t ctx, void *symmetric)                                                \
    {                                                                                                        \
        T mine[ROOM], *theirs = symmetric;                                                                   \
        MOVES(T, shmem_##NAME##_put, shmem_##NAME##_get, shmem_##NAME##_put_nbi, shmem_##NAME##_get_nbi,     \
              NONE);                                                                                         \
        MOVES(T, shmem_ctx_##NAME##_put, shmem_ctx_##NAME##_get, shmem_ctx_##NAME##_put_nbi,                 \
              shmem_ctx_##NAME##_get_nbi, IN_CTX);                                                           \
        STRIDES(T, shmem_##NAME##_iput, shmem_##NAME##_iget, shmem_##NAME##_ibput, shmem_##NAME##_ibget,     \
                NONE);                                                                                       \
        STRIDES(T, shmem_ctx_##NAME##_iput, shmem_ctx_##NAME##_iget, shmem_ctx_##NAME##_ibput,               \
                shmem_ctx_##NAME##_ibget, IN_CTX);                                                           \
        FILL(T, theirs, -1);                                                                                 \
        shmem_barrier_all();                                                                                 \
        shmem_##NAME##_p(theirs, VALUE(T, me, 5), right);                                                    \
        shmem_ctx_##NAME##_p(ctx, theirs + 2, VALUE(T, me, 6), right);                                       \
        settle();                                                                                            \
        CHECK(theirs[0] == VALUE(T, left, 5) && theirs[1] == (T)0 && theirs[2] == VALUE(T, left, 6));        \
        CHECK(shmem_##NAME##_g(theirs, right) == VALUE(T, me, 5));                                           \
        CHECK(shmem_ctx_##NAME##_g(ctx, theirs + 2, right) == VALUE(T, me, 6));                              \
        shmem_barrier_all();                                                                                 \
    }
HL_SHMEM_RMA_TYPES(TYPED)

/* By size: elements of that many bytes, told apart by their last byte. */
#define SIZED(BITS)                                                                                          \
    typedef struct {                                                                                         \
        unsigned char b[BITS / 8];                                                                           \
    } unit##BITS;                                                                                            \
    static void test_##BITS(shmem_ctx_t ctx, void *symmetric)                                                \
    {                                                                                                        \
        const int last = BITS / 8 - 1;                                                                       \
        unit##BITS mine[ROOM], *theirs = symmetric;                                                          \
        memset(theirs, 0, sizeof mine);                                                                      \
        for (int i = 0; i < ROOM; i++) {                                                                     \
            memset(&mine[i], VALUE(int, me, i), sizeof mine[i]);                                             \
        }                                                                                                    \
        shmem_barrier_all();                                                                                 \
        shmem_put##BITS(theirs, mine, 3, right);                                                             \
        shmem_ctx_put##BITS##_nbi(ctx, theirs + 3, mine + 3, 3, right);                                      \
        shmem_iput##BITS(theirs + 8, mine, 2, 1, 3, right);                                                  \
        shmem_ctx_ibput##BITS(ctx, theirs + 16, mine, 4, 2, 2, 3, right);                                    \
        settle();                                                                                            \
        for (int i = 0; i < 6; i++) {                                                                        \
            CHECK_EQ(theirs[i].b[last], VALUE(int, left, i));                                                \
            CHECK_EQ(theirs[8 + i].b[last], i % 2 == 0 ? VALUE(int, left, i / 2) : 0);                       \
            CHECK_EQ(theirs[16 + i / 2 * 4 + i % 2].b[0], VALUE(int, left, i));                              \
        }                                                                                                    \
        CHECK_EQ(theirs[6].b[0], 0);                                                                         \
        shmem_ctx_get##BITS(ctx, mine, theirs + 2, 4, right);                                                \
        shmem_get##BITS##_nbi(mine + 4, theirs + 2, 1, right);                                               \
        shmem_ctx_iget##BITS(ctx, mine + 8, theirs, 2, 1, 3, right);                                         \
        shmem_ibget##BITS(mine + 16, theirs, 3, 2, 2, 2, right);                                             \
        all_quiet();                                                                                         \
        for (int i = 0; i < 4; i++) {                                                                        \
            CHECK_EQ(mine[i].b[last], VALUE(int, me, i + 2));                                                \
            CHECK_EQ(mine[16 + i / 2 * 3 + i % 2].b[last], VALUE(int, me, i));                               \
        }                                                                                                    \
        CHECK_EQ(mine[4].b[0], VALUE(int, me, 2));                                                           \
        CHECK_EQ(mine[12].b[last], VALUE(int, me, 2));                                                       \
        shmem_barrier_all();                                                                                 \
    }
HL_SHMEM_SIZES(SIZED)

int main(int argc, char **argv)
{
    test_start(1);
    right = (me + 1) % n_pes;
    left = (me + n_pes - 1) % n_pes;
    void *symmetric = shmem_malloc(ROOM * 16);
    CHECK(symmetric != NULL);
    CHECK_EQ(shmem_ctx_create(argc > 1 ? atol(argv[1]) : 0, &context), 0);
#define RUN(T, NAME) test_##NAME(context, symmetric);
    HL_SHMEM_RMA_TYPES(RUN)
#define RUN_SIZE(BITS) test_##BITS(context, symmetric);
    HL_SHMEM_SIZES(RUN_SIZE)
    shmem_ctx_destroy(context);
    shmem_free(symmetric);
    shmem_finalize();
    return 0;
}
