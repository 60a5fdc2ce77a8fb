/* Every atomic of every type, plain, on a context, not blocking, and by its old name: each PE on a word of
 * its right neighbour that nobody else touches, so that every result is known.
 * usage: amo_types [OPTIONS of the context] */
#include "../../shmem/internal/types.h"
#include "shmem_test.h"

static int right;
static shmem_ctx_t context;

static void all_quiet(void)
{
    shmem_quiet();
    shmem_ctx_quiet(context);
}

/* What the word of `right` holds; what a quiet has brought. */
#define SEE(T, NAME, value) CHECK(shmem_##NAME##_atomic_fetch(word, right) == (T)(value))
#define QUIET_GIVES(value)                                                                                   \
    do {                                                                                                     \
        all_quiet();                                                                                         \
        CHECK(got == (value));                                                                               \
    } while (0)

#define STANDARD(T, NAME)                                                                                    \
    static void standard_##NAME(shmem_ctx_t ctx, T *word)                                                    \
    {                                                                                                        \
        T got = 0;                                                                                           \
        shmem_##NAME##_atomic_set(word, 5, right);                                                           \
        all_quiet();                                                                                         \
        shmem_##NAME##_atomic_add(word, 3, right);                                                           \
        shmem_ctx_##NAME##_atomic_add(ctx, word, 2, right);                                                  \
        shmem_##NAME##_add(word, 10, right);                                                                 \
        shmem_##NAME##_atomic_inc(word, right);                                                              \
        shmem_ctx_##NAME##_atomic_inc(ctx, word, right);                                                     \
        shmem_##NAME##_inc(word, right);                                                                     \
        all_quiet();                                                                                         \
        SEE(T, NAME, 23);                                                                                    \
        CHECK(shmem_##NAME##_atomic_fetch_add(word, 1, right) == 23);                                        \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_add(ctx, word, 1, right) == 24);                               \
        CHECK(shmem_##NAME##_fadd(word, 1, right) == 25);                                                    \
        shmem_##NAME##_atomic_fetch_add_nbi(&got, word, 1, right);                                           \
        QUIET_GIVES(26);                                                                                     \
        shmem_ctx_##NAME##_atomic_fetch_add_nbi(ctx, &got, word, 1, right);                                  \
        QUIET_GIVES(27);                                                                                     \
        CHECK(shmem_##NAME##_atomic_fetch_inc(word, right) == 28);                                           \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_inc(ctx, word, right) == 29);                                  \
        CHECK(shmem_##NAME##_finc(word, right) == 30);                                                       \
        shmem_##NAME##_atomic_fetch_inc_nbi(&got, word, right);                                              \
        QUIET_GIVES(31);                                                                                     \
        shmem_ctx_##NAME##_atomic_fetch_inc_nbi(ctx, &got, word, right);                                     \
        QUIET_GIVES(32);                                                                                     \
        CHECK(shmem_##NAME##_atomic_compare_swap(word, 1, 2, right) == 33);                                  \
        CHECK(shmem_##NAME##_atomic_compare_swap(word, 33, 2, right) == 33);                                 \
        CHECK(shmem_ctx_##NAME##_atomic_compare_swap(ctx, word, 2, (T)-4, right) == 2);                      \
        CHECK(shmem_##NAME##_cswap(word, (T)-4, 6, right) == (T)-4);                                         \
        shmem_##NAME##_atomic_compare_swap_nbi(&got, word, 6, 7, right);                                     \
        QUIET_GIVES(6);                                                                                      \
        shmem_ctx_##NAME##_atomic_compare_swap_nbi(ctx, &got, word, 6, 8, right);                            \
        QUIET_GIVES(7);                                                                                      \
        SEE(T, NAME, 7);                                                                                     \
    }
HL_SHMEM_AMO_TYPES(STANDARD)

#define EXTENDED(T, NAME)                                                                                    \
    static void extended_##NAME(shmem_ctx_t ctx, T *word)                                                    \
    {                                                                                                        \
        T got = 0;                                                                                           \
        shmem_##NAME##_atomic_set(word, (T)1.5, right);                                                      \
        all_quiet();                                                                                         \
        SEE(T, NAME, 1.5);                                                                                   \
        shmem_ctx_##NAME##_atomic_set(ctx, word, (T)2.5, right);                                             \
        all_quiet();                                                                                         \
        CHECK(shmem_ctx_##NAME##_atomic_fetch(ctx, word, right) == (T)2.5);                                  \
        shmem_##NAME##_set(word, (T)3.5, right);                                                             \
        all_quiet();                                                                                         \
        CHECK(shmem_##NAME##_fetch(word, right) == (T)3.5);                                                  \
        shmem_##NAME##_atomic_fetch_nbi(&got, word, right);                                                  \
        QUIET_GIVES((T)3.5);                                                                                 \
        CHECK(shmem_##NAME##_atomic_swap(word, (T)-4.25, right) == (T)3.5);                                  \
        shmem_ctx_##NAME##_atomic_fetch_nbi(ctx, &got, word, right);                                         \
        QUIET_GIVES((T)-4.25);                                                                               \
        CHECK(shmem_ctx_##NAME##_atomic_swap(ctx, word, (T)6, right) == (T)-4.25);                           \
        CHECK(shmem_##NAME##_swap(word, (T)7, right) == (T)6);                                               \
        shmem_##NAME##_atomic_swap_nbi(&got, word, (T)8, right);                                             \
        QUIET_GIVES((T)7);                                                                                   \
        shmem_ctx_##NAME##_atomic_swap_nbi(ctx, &got, word, (T)9, right);                                    \
        QUIET_GIVES((T)8);                                                                                   \
        SEE(T, NAME, 9);                                                                                     \
    }
HL_SHMEM_EXT_AMO_TYPES(EXTENDED)

/* One bit operation in all its forms: `before` and `operand` give `after`; then `after` again. */
#define BIT_OP(T, NAME, op, before, operand, after)                                                          \
    do {                                                                                                     \
        shmem_##NAME##_atomic_set(word, before, right);                                                      \
        all_quiet();                                                                                         \
        shmem_##NAME##_atomic_##op(word, operand, right);                                                    \
        all_quiet();                                                                                         \
        SEE(T, NAME, after);                                                                                 \
        shmem_##NAME##_atomic_set(word, before, right);                                                      \
        all_quiet();                                                                                         \
        shmem_ctx_##NAME##_atomic_##op(ctx, word, operand, right);                                           \
        all_quiet();                                                                                         \
        CHECK(shmem_##NAME##_atomic_swap(word, before, right) == (T)(after));                                \
        CHECK(shmem_##NAME##_atomic_fetch_##op(word, operand, right) == (T)(before));                        \
        CHECK(shmem_##NAME##_atomic_swap(word, before, right) == (T)(after));                                \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_##op(ctx, word, operand, right) == (T)(before));               \
        CHECK(shmem_##NAME##_atomic_swap(word, before, right) == (T)(after));                                \
        shmem_##NAME##_atomic_fetch_##op##_nbi(&got, word, operand, right);                                  \
        QUIET_GIVES((T)(before));                                                                            \
        CHECK(shmem_##NAME##_atomic_swap(word, before, right) == (T)(after));                                \
        shmem_ctx_##NAME##_atomic_fetch_##op##_nbi(ctx, &got, word, operand, right);                         \
        QUIET_GIVES((T)(before));                                                                            \
        SEE(T, NAME, after);                                                                                 \
    } while (0)

#define BITWISE(T, NAME)                                                                                     \
    static void bitwise_##NAME(shmem_ctx_t ctx, T *word)                                                     \
    {                                                                                                        \
        T got = 0, high = (T)1 << (8 * sizeof(T) - 2);                                                       \
        BIT_OP(T, NAME, and, high | 0x5a, high | 0x3c, high | 0x18);                                         \
        BIT_OP(T, NAME, or, 0x5a, high | 0x3c, high | 0x7e);                                                 \
        BIT_OP(T, NAME, xor, high | 0x5a, high | 0x3c, 0x66);                                                \
    }
HL_SHMEM_BIT_AMO_TYPES(BITWISE)

int main(int argc, char **argv)
{
    test_start(1);
    right = (me + 1) % n_pes;
    uint64_t *words = test_zeroed(8 * sizeof *words);
    CHECK_EQ(shmem_ctx_create(argc > 1 ? atol(argv[1]) : 0, &context), 0);
    shmem_barrier_all();
#define RUN_STANDARD(T, NAME) standard_##NAME(context, (T *)(void *)(words + 4));
    HL_SHMEM_AMO_TYPES(RUN_STANDARD)
#define RUN_EXTENDED(T, NAME) extended_##NAME(context, (T *)(void *)(words + 4));
    HL_SHMEM_EXT_AMO_TYPES(RUN_EXTENDED)
#define RUN_BITWISE(T, NAME) bitwise_##NAME(context, (T *)(void *)(words + 4));
    HL_SHMEM_BIT_AMO_TYPES(RUN_BITWISE)
    shmem_barrier_all();
    CHECK(words[3] == 0 && words[5] == 0);
    shmem_ctx_destroy(context);
    shmem_free(words);
    shmem_finalize();
    return 0;
}
