/* Generic forms (OpenSHMEM 1.6, C11): part of shmem.h.
 *
 * shmem_put(dest, ...) is shmem_long_put where dest is a long *, and shmem_put(ctx, dest, ...) is shmem_ctx_long_put. An
 * argument of another type does not compile. Needs _Generic: C11 and newer; C++ has no generic forms. Types that are one
 * type on this machine (long and int64_t) are one association; which function serves them makes no difference. */
#ifndef HOTLANE_SHMEM_GENERIC_H
#define HOTLANE_SHMEM_GENERIC_H
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L

/* ---- The associations of each table of types: pointer to T with pre##T##op, as in shmem_ long _put ---- */
#define SHMEM_G_AMO_(pre, op)                                                                                \
    int *: pre##int##op, long *: pre##long##op, long long *: pre##longlong##op,                              \
    unsigned int *: pre##uint##op, unsigned long *: pre##ulong##op,                                          \
    unsigned long long *: pre##ulonglong##op
#define SHMEM_G_EXT_(pre, op)                                                                                \
    float *: pre##float##op, double *: pre##double##op, SHMEM_G_AMO_(pre, op)
/* What programs wait for may be volatile, as in the prototypes of OpenSHMEM 1.3. */
#define SHMEM_G_SYNC_(pre, op)                                                                               \
    volatile short *: pre##short##op, volatile unsigned short *: pre##ushort##op,                            \
    volatile int *: pre##int##op, volatile long *: pre##long##op, volatile long long *: pre##longlong##op,   \
    volatile unsigned int *: pre##uint##op, volatile unsigned long *: pre##ulong##op,                        \
    volatile unsigned long long *: pre##ulonglong##op, short *: pre##short##op,                              \
    unsigned short *: pre##ushort##op, SHMEM_G_AMO_(pre, op)
#define SHMEM_G_BIT_(pre, op)                                                                                \
    unsigned int *: pre##uint##op, unsigned long *: pre##ulong##op,                                          \
    unsigned long long *: pre##ulonglong##op, int32_t *: pre##int32##op, int64_t *: pre##int64##op
#define SHMEM_G_RMA_(pre, op)                                                                                \
    long double *: pre##longdouble##op, char *: pre##char##op, signed char *: pre##schar##op,                \
    short *: pre##short##op, unsigned char *: pre##uchar##op, unsigned short *: pre##ushort##op, SHMEM_G_EXT_(pre, op)
#define SHMEM_G_REDUCE_BITS_(pre, op)                                                                        \
    unsigned char *: pre##uchar##op, unsigned short *: pre##ushort##op, unsigned int *: pre##uint##op,       \
    unsigned long *: pre##ulong##op, unsigned long long *: pre##ulonglong##op, int8_t *: pre##int8##op,      \
    int16_t *: pre##int16##op, int32_t *: pre##int32##op, int64_t *: pre##int64##op
#define SHMEM_G_REDUCE_SUM_(pre, op)                                                                         \
    double _Complex *: pre##complexd##op, float _Complex *: pre##complexf##op, SHMEM_G_RMA_(pre, op)
/* The same where the object is only read. */
#define SHMEM_G_EXT_CONST_(pre, op)                                                                          \
    const int *: pre##int##op, const long *: pre##long##op, const long long *: pre##longlong##op,            \
    const unsigned int *: pre##uint##op, const unsigned long *: pre##ulong##op,                              \
    const unsigned long long *: pre##ulonglong##op, const float *: pre##float##op,                           \
    const double *: pre##double##op, SHMEM_G_EXT_(pre, op)
#define SHMEM_G_RMA_CONST_(pre, op)                                                                          \
    const float *: pre##float##op, const double *: pre##double##op,                                          \
    const long double *: pre##longdouble##op, const char *: pre##char##op,                                   \
    const signed char *: pre##schar##op, const short *: pre##short##op, const int *: pre##int##op,           \
    const long *: pre##long##op, const long long *: pre##longlong##op,                                       \
    const unsigned char *: pre##uchar##op, const unsigned short *: pre##ushort##op,                          \
    const unsigned int *: pre##uint##op, const unsigned long *: pre##ulong##op,                              \
    const unsigned long long *: pre##ulonglong##op, SHMEM_G_RMA_(pre, op)

/* ---- Selection ----
 * By the first argument; with a context by the one behind it. The other branch must compile too, whatever stands second:
 * hence its default, which cannot be called. */
#define SHMEM_FIRST_(...) SHMEM_FIRST_OF_(__VA_ARGS__, 0)
#define SHMEM_FIRST_OF_(first, ...) (first)
#define SHMEM_BY_TYPE_(table, op, first, ...) _Generic((first), table(shmem_, op))(first, __VA_ARGS__)
/* The cast leaves volatile out, which the functions' parameters do not have; the type has been looked at before. */
#define SHMEM_BY_IVAR_(op, first, ...) _Generic((first), SHMEM_G_SYNC_(shmem_, op))((void *)(first), __VA_ARGS__)
#define SHMEM_BY_CTX_(table, op, first, ...) \
    _Generic((first), shmem_ctx_t: _Generic(SHMEM_FIRST_(__VA_ARGS__), table(shmem_ctx_, op), default: 0),    \
             table(shmem_, op))(first, __VA_ARGS__)
#define SHMEM_BY_SECOND_(table, op, first, ...) _Generic(SHMEM_FIRST_(__VA_ARGS__), table(shmem_, op))(first, __VA_ARGS__)

/* ---- rma.h, signal.h: (dest, ...) or (ctx, dest, ...); g by its source ---- */
#define shmem_put(first, ...) SHMEM_BY_CTX_(SHMEM_G_RMA_, _put, first, __VA_ARGS__)
#define shmem_p(first, ...) SHMEM_BY_CTX_(SHMEM_G_RMA_, _p, first, __VA_ARGS__)
#define shmem_iput(first, ...) SHMEM_BY_CTX_(SHMEM_G_RMA_, _iput, first, __VA_ARGS__)
#define shmem_ibput(first, ...) SHMEM_BY_CTX_(SHMEM_G_RMA_, _ibput, first, __VA_ARGS__)
#define shmem_get(first, ...) SHMEM_BY_CTX_(SHMEM_G_RMA_, _get, first, __VA_ARGS__)
#define shmem_iget(first, ...) SHMEM_BY_CTX_(SHMEM_G_RMA_, _iget, first, __VA_ARGS__)
#define shmem_ibget(first, ...) SHMEM_BY_CTX_(SHMEM_G_RMA_, _ibget, first, __VA_ARGS__)
#define shmem_put_nbi(first, ...) SHMEM_BY_CTX_(SHMEM_G_RMA_, _put_nbi, first, __VA_ARGS__)
#define shmem_get_nbi(first, ...) SHMEM_BY_CTX_(SHMEM_G_RMA_, _get_nbi, first, __VA_ARGS__)
#define shmem_put_signal(first, ...) SHMEM_BY_CTX_(SHMEM_G_RMA_, _put_signal, first, __VA_ARGS__)
#define shmem_put_signal_nbi(first, ...) SHMEM_BY_CTX_(SHMEM_G_RMA_, _put_signal_nbi, first, __VA_ARGS__)
#define shmem_g(first, ...) SHMEM_BY_CTX_(SHMEM_G_RMA_CONST_, _g, first, __VA_ARGS__)
#define shmem_signal_add(first, ...) _Generic((first), shmem_ctx_t: shmem_ctx_signal_add, default: shmem_signal_add)(first, __VA_ARGS__)
#define shmem_signal_set(first, ...) _Generic((first), shmem_ctx_t: shmem_ctx_signal_set, default: shmem_signal_set)(first, __VA_ARGS__)

/* ---- atomic.h: (dest, ...) or (ctx, dest, ...); fetch by its source; _nbi by fetch ---- */
#define shmem_atomic_fetch(first, ...) SHMEM_BY_CTX_(SHMEM_G_EXT_CONST_, _atomic_fetch, first, __VA_ARGS__)
#define shmem_atomic_set(first, ...) SHMEM_BY_CTX_(SHMEM_G_EXT_, _atomic_set, first, __VA_ARGS__)
#define shmem_atomic_swap(first, ...) SHMEM_BY_CTX_(SHMEM_G_EXT_, _atomic_swap, first, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(first, ...) SHMEM_BY_CTX_(SHMEM_G_EXT_, _atomic_fetch_nbi, first, __VA_ARGS__)
#define shmem_atomic_swap_nbi(first, ...) SHMEM_BY_CTX_(SHMEM_G_EXT_, _atomic_swap_nbi, first, __VA_ARGS__)
#define shmem_atomic_compare_swap(first, ...) SHMEM_BY_CTX_(SHMEM_G_AMO_, _atomic_compare_swap, first, __VA_ARGS__)
#define shmem_atomic_fetch_inc(first, ...) SHMEM_BY_CTX_(SHMEM_G_AMO_, _atomic_fetch_inc, first, __VA_ARGS__)
#define shmem_atomic_inc(first, ...) SHMEM_BY_CTX_(SHMEM_G_AMO_, _atomic_inc, first, __VA_ARGS__)
#define shmem_atomic_fetch_add(first, ...) SHMEM_BY_CTX_(SHMEM_G_AMO_, _atomic_fetch_add, first, __VA_ARGS__)
#define shmem_atomic_add(first, ...) SHMEM_BY_CTX_(SHMEM_G_AMO_, _atomic_add, first, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(first, ...) SHMEM_BY_CTX_(SHMEM_G_AMO_, _atomic_compare_swap_nbi, first, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(first, ...) SHMEM_BY_CTX_(SHMEM_G_AMO_, _atomic_fetch_inc_nbi, first, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(first, ...) SHMEM_BY_CTX_(SHMEM_G_AMO_, _atomic_fetch_add_nbi, first, __VA_ARGS__)
#define shmem_atomic_fetch_and(first, ...) SHMEM_BY_CTX_(SHMEM_G_BIT_, _atomic_fetch_and, first, __VA_ARGS__)
#define shmem_atomic_and(first, ...) SHMEM_BY_CTX_(SHMEM_G_BIT_, _atomic_and, first, __VA_ARGS__)
#define shmem_atomic_fetch_or(first, ...) SHMEM_BY_CTX_(SHMEM_G_BIT_, _atomic_fetch_or, first, __VA_ARGS__)
#define shmem_atomic_or(first, ...) SHMEM_BY_CTX_(SHMEM_G_BIT_, _atomic_or, first, __VA_ARGS__)
#define shmem_atomic_fetch_xor(first, ...) SHMEM_BY_CTX_(SHMEM_G_BIT_, _atomic_fetch_xor, first, __VA_ARGS__)
#define shmem_atomic_xor(first, ...) SHMEM_BY_CTX_(SHMEM_G_BIT_, _atomic_xor, first, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(first, ...) SHMEM_BY_CTX_(SHMEM_G_BIT_, _atomic_fetch_and_nbi, first, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(first, ...) SHMEM_BY_CTX_(SHMEM_G_BIT_, _atomic_fetch_or_nbi, first, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(first, ...) SHMEM_BY_CTX_(SHMEM_G_BIT_, _atomic_fetch_xor_nbi, first, __VA_ARGS__)

/* ---- coll.h: (team, dest, ...) ---- */
#define shmem_alltoall(first, ...) SHMEM_BY_SECOND_(SHMEM_G_RMA_, _alltoall, first, __VA_ARGS__)
#define shmem_alltoalls(first, ...) SHMEM_BY_SECOND_(SHMEM_G_RMA_, _alltoalls, first, __VA_ARGS__)
#define shmem_broadcast(first, ...) SHMEM_BY_SECOND_(SHMEM_G_RMA_, _broadcast, first, __VA_ARGS__)
#define shmem_collect(first, ...) SHMEM_BY_SECOND_(SHMEM_G_RMA_, _collect, first, __VA_ARGS__)
#define shmem_fcollect(first, ...) SHMEM_BY_SECOND_(SHMEM_G_RMA_, _fcollect, first, __VA_ARGS__)
#define shmem_and_reduce(first, ...) SHMEM_BY_SECOND_(SHMEM_G_REDUCE_BITS_, _and_reduce, first, __VA_ARGS__)
#define shmem_or_reduce(first, ...) SHMEM_BY_SECOND_(SHMEM_G_REDUCE_BITS_, _or_reduce, first, __VA_ARGS__)
#define shmem_xor_reduce(first, ...) SHMEM_BY_SECOND_(SHMEM_G_REDUCE_BITS_, _xor_reduce, first, __VA_ARGS__)
#define shmem_max_reduce(first, ...) SHMEM_BY_SECOND_(SHMEM_G_RMA_, _max_reduce, first, __VA_ARGS__)
#define shmem_min_reduce(first, ...) SHMEM_BY_SECOND_(SHMEM_G_RMA_, _min_reduce, first, __VA_ARGS__)
#define shmem_sum_reduce(first, ...) SHMEM_BY_SECOND_(SHMEM_G_REDUCE_SUM_, _sum_reduce, first, __VA_ARGS__)
#define shmem_prod_reduce(first, ...) SHMEM_BY_SECOND_(SHMEM_G_REDUCE_SUM_, _prod_reduce, first, __VA_ARGS__)
#define shmem_sum_inscan(first, ...) SHMEM_BY_SECOND_(SHMEM_G_REDUCE_SUM_, _sum_inscan, first, __VA_ARGS__)
#define shmem_sum_exscan(first, ...) SHMEM_BY_SECOND_(SHMEM_G_REDUCE_SUM_, _sum_exscan, first, __VA_ARGS__)
/* sync(team); with an active set (old.h) as well. */
#define shmem_sync(...) _Generic(SHMEM_FIRST_(__VA_ARGS__), shmem_team_t: shmem_team_sync, default: shmem_sync)(__VA_ARGS__)

/* ---- wait.h: (ivar, ...) ---- */
#define shmem_wait_until(first, ...) SHMEM_BY_IVAR_(_wait_until, first, __VA_ARGS__)
#define shmem_test(first, ...) SHMEM_BY_IVAR_(_test, first, __VA_ARGS__)
#define shmem_wait_until_all(first, ...) SHMEM_BY_IVAR_(_wait_until_all, first, __VA_ARGS__)
#define shmem_wait_until_all_vector(first, ...) SHMEM_BY_IVAR_(_wait_until_all_vector, first, __VA_ARGS__)
#define shmem_wait_until_any(first, ...) SHMEM_BY_IVAR_(_wait_until_any, first, __VA_ARGS__)
#define shmem_wait_until_any_vector(first, ...) SHMEM_BY_IVAR_(_wait_until_any_vector, first, __VA_ARGS__)
#define shmem_wait_until_some(first, ...) SHMEM_BY_IVAR_(_wait_until_some, first, __VA_ARGS__)
#define shmem_wait_until_some_vector(first, ...) SHMEM_BY_IVAR_(_wait_until_some_vector, first, __VA_ARGS__)
#define shmem_test_all(first, ...) SHMEM_BY_IVAR_(_test_all, first, __VA_ARGS__)
#define shmem_test_all_vector(first, ...) SHMEM_BY_IVAR_(_test_all_vector, first, __VA_ARGS__)
#define shmem_test_any(first, ...) SHMEM_BY_IVAR_(_test_any, first, __VA_ARGS__)
#define shmem_test_any_vector(first, ...) SHMEM_BY_IVAR_(_test_any_vector, first, __VA_ARGS__)
#define shmem_test_some(first, ...) SHMEM_BY_IVAR_(_test_some, first, __VA_ARGS__)
#define shmem_test_some_vector(first, ...) SHMEM_BY_IVAR_(_test_some_vector, first, __VA_ARGS__)

/* ---- old.h: (dest, ...) ---- */
#define shmem_fetch(first, ...) SHMEM_BY_TYPE_(SHMEM_G_EXT_CONST_, _fetch, first, __VA_ARGS__)
#define shmem_set(first, ...) SHMEM_BY_TYPE_(SHMEM_G_EXT_, _set, first, __VA_ARGS__)
#define shmem_swap(first, ...) SHMEM_BY_TYPE_(SHMEM_G_EXT_, _swap, first, __VA_ARGS__)
#define shmem_cswap(first, ...) SHMEM_BY_TYPE_(SHMEM_G_AMO_, _cswap, first, __VA_ARGS__)
#define shmem_finc(first, ...) SHMEM_BY_TYPE_(SHMEM_G_AMO_, _finc, first, __VA_ARGS__)
#define shmem_inc(first, ...) SHMEM_BY_TYPE_(SHMEM_G_AMO_, _inc, first, __VA_ARGS__)
#define shmem_fadd(first, ...) SHMEM_BY_TYPE_(SHMEM_G_AMO_, _fadd, first, __VA_ARGS__)
#define shmem_add(first, ...) SHMEM_BY_TYPE_(SHMEM_G_AMO_, _add, first, __VA_ARGS__)

#endif
#endif
