/* Waits for symmetric objects of this PE that others change, and tests of them. (OpenSHMEM 1.6, section
 * 9.10.)
 *
 * Writers do not know which PEs wait for an object: a waiting thread spins, yields, then sleeps. Puts with
 * signal, collectives and locks wake it; it sees plain puts within a millisecond. */
#include <shmem.h>
#include <string.h>

#include "entry.h"
#include "prog.h"
#include "shm.h"
#include "sym.h"
#include "turn.h"
#include "types.h"

/* A list of conditions. Values are widened to 64 bits, and signed ones shifted, so that unsigned comparison
 * gives their order. */
struct condition_list {
    const void *vars;
    size_t n;
    const int *status; /* an object with a nonzero status is left out; NULL: none is */
    int cmp;
    unsigned size;      /* bytes of an object */
    uint64_t flip;      /* the sign bit of signed types, else 0 */
    const void *values; /* values that the objects are compared with */
    size_t step;        /* bytes from one value to the next; 0: one value for all objects */
    size_t hit;         /* set by is_any_met: the index of a condition that holds */
    uint64_t seen;      /* value that was read last */
    size_t from, of;    /* of != 0: the list is one object, number `from` of so many */
    size_t first;       /* index that is_any_met looks at first */
};

static uint64_t widen_value(uint64_t bits, const struct condition_list *w)
{
    unsigned shift = 64 - 8 * w->size;
    bits <<= shift;
    return w->flip != 0 ? (uint64_t)((int64_t)bits >> shift) ^ w->flip : bits >> shift;
}

static uint64_t var_value(const struct condition_list *w, size_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)w->values + i * w->step, w->size);
    return widen_value(bits, w);
}

/* Reads object i. acquire: what the writer had put before; pairs with the releases of signals, and with the
 * fence that ends quiet and atomics at the writer. */
static uint64_t load_var(const struct condition_list *w, size_t i)
{
    const char *p = (const char *)w->vars + i * w->size;
    switch (w->size) {
    case 2:
        return widen_value(hl_a16_load_acquire((const hl_a16 *)p), w);
    case 4:
        return widen_value(hl_a32_load_acquire((const hl_a32 *)p), w);
    default:
        return widen_value(hl_a64_load_acquire((const hl_a64 *)p), w);
    }
}

static bool does_condition_hold(struct condition_list *w, size_t i)
{
    uint64_t a = load_var(w, i), b = var_value(w, i);
    w->seen = a;
    switch (w->cmp) {
    case SHMEM_CMP_EQ:
        return a == b;
    case SHMEM_CMP_NE:
        return a != b;
    case SHMEM_CMP_GT:
        return a > b;
    case SHMEM_CMP_GE:
        return a >= b;
    case SHMEM_CMP_LT:
        return a < b;
    default:
        return a <= b;
    }
}

static bool is_condition_masked(const struct condition_list *w, size_t i)
{
    return w->status != NULL && w->status[i] != 0;
}

static bool is_any_met(void *arg)
{
    struct condition_list *w = arg;
    for (size_t k = 0, i = w->first; k < w->n; k++, i = i + 1 < w->n ? i + 1 : 0) {
        if (!is_condition_masked(w, i) && does_condition_hold(w, i)) {
            w->hit = i;
            return true;
        }
    }
    return false;
}

/* Names no PE: every PE may write to the object. */
static void describe_condition_wait(const void *arg, struct hl_wait_desc *t)
{
    const struct condition_list *w = arg;
    static const char *const signs[] = {"==", "!=", ">", ">=", "<", "<="};
    size_t first = 0, of = w->of != 0 ? w->of : w->n;
    while (first + 1 < w->n && is_condition_masked(w, first)) {
        first++;
    }
    const char *at = (const char *)w->vars + first * w->size;
    hl_desc_say(t, "a word that any PE may write: ");
    if (of > 1) {
        hl_desc_say(t, w->n > 1 ? "%zu objects, such as index %zu: " : "%zu objects, index %zu: ", of,
                    w->from + first);
    }
    /* Unsigned: an address below the heap gives a number that is too large. */
    bool in_heap = (uintptr_t)at - (uintptr_t)hl_sym.heap.base < hl_sym.heap.len;
    hl_desc_say(t, "%p in %s, is %lld, to be %s %lld", (const void *)at,
                in_heap ? "the symmetric heap" : "static data", (long long)(load_var(w, first) ^ w->flip),
                signs[w->cmp - SHMEM_CMP_EQ], (long long)(var_value(w, first) ^ w->flip));
}
HL_HANG_WORDS(is_any_met, describe_condition_wait);

static bool is_empty(const struct condition_list *w)
{
    size_t i = 0;
    while (i < w->n && is_condition_masked(w, i)) {
        i++;
    }
    return i == w->n;
}

/* ---- the operations ---- */

static void check_conditions(const struct condition_list *w, const char *func)
{
    size_t bytes;
    hl_shmem_need_open(func);
    if (HL_UNLIKELY(w->cmp < SHMEM_CMP_EQ || w->cmp > SHMEM_CMP_LE)) {
        hl_shmem_die(func, "comparison %d is none of SHMEM_CMP_*", w->cmp);
    }
    bytes = __builtin_mul_overflow(w->n, w->size, &bytes) ? SIZE_MAX : bytes;
    if (HL_UNLIKELY(w->n != 0 && !hl_sym_is(w->vars, bytes))) {
        hl_shmem_bad_access(func, w->vars, bytes, hl_sym.my_pe);
    }
    if (HL_UNLIKELY((uintptr_t)w->vars % w->size != 0)) {
        hl_shmem_die(func, "address %p is not aligned to %u bytes", w->vars, w->size);
    }
    if (w->n != 0) {
        hl_shmem_need(w->values, func, "cmp_values");
    }
}

/* Checks the arguments of calls that return which objects they found. */
static void check_some(const struct condition_list *w, const size_t *indices, const char *func)
{
    check_conditions(w, func);
    if (w->n != 0) {
        hl_shmem_need(indices, func, "indices");
    }
}

/* Waits for one object after the other: a condition that has held once need not be tested again. */
static void wait_all(struct condition_list *w, const char *func)
{
    check_conditions(w, func);
    for (size_t i = 0; i < w->n; i++) {
        struct condition_list one = *w;
        one.vars = (const char *)w->vars + i * w->size;
        one.values = (const char *)w->values + i * w->step;
        one.status = NULL;
        one.n = 1;
        one.from = i;
        one.of = w->n;
        if (!is_condition_masked(w, i)) {
            hl_prog_wait(is_any_met, &one);
        }
    }
}

static size_t wait_any_condition(struct condition_list *w, const char *func)
{
    check_conditions(w, func);
    if (is_empty(w)) {
        return SIZE_MAX;
    }
    w->first = hl_turn_begin(w->vars, w->n);
    hl_prog_wait(is_any_met, w);
    hl_turn_told(w->vars, w->n, w->hit);
    return w->hit;
}

/* Writes to indices[] all conditions that hold now and returns their number. */
static size_t list_met(struct condition_list *w, size_t *indices)
{
    size_t count = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (!is_condition_masked(w, i) && does_condition_hold(w, i)) {
            indices[count++] = i;
        }
    }
    return count;
}

/* A condition that is_any_met saw may no longer hold when the list is made, since values can go back: then it
 * waits again. */
static size_t wait_some(struct condition_list *w, size_t *indices, const char *func)
{
    size_t count = 0;
    check_some(w, indices, func);
    while (count == 0 && !is_empty(w)) {
        hl_prog_wait(is_any_met, w);
        count = list_met(w, indices);
    }
    return count;
}

/* Returns `yes`; makes progress if it is false, since a program that tests in a loop would hold up what it
 * waits for. */
static bool poll_unless(bool yes)
{
    if (!yes) {
        hl_prog_look();
    }
    return yes;
}

static int test_all(struct condition_list *w, const char *func)
{
    bool yes = true;
    check_conditions(w, func);
    for (size_t i = 0; yes && i < w->n; i++) {
        yes = is_condition_masked(w, i) || does_condition_hold(w, i);
    }
    return poll_unless(yes);
}

static size_t test_any(struct condition_list *w, const char *func)
{
    check_conditions(w, func);
    w->first = hl_turn_begin(w->vars, w->n);
    if (!poll_unless(is_any_met(w))) {
        return SIZE_MAX;
    }
    hl_turn_told(w->vars, w->n, w->hit);
    return w->hit;
}

static size_t test_some(struct condition_list *w, size_t *indices, const char *func)
{
    check_some(w, indices, func);
    size_t count = list_met(w, indices);
    (void)poll_unless(count != 0);
    return count;
}

/* ---- the functions ---- */

/* A condition_list of `count` objects of type T at `vars`. */
#define WATCH(T, vars, count, status, cmp, values, step)                                                     \
    {                                                                                                        \
        vars, count, status, cmp, sizeof(T), (T)-1 < (T)1 ? (uint64_t)1 << 63 : 0, values, step, 0, 0, 0, 0, \
            0                                                                                                \
    }

#define ONE(T, NAME)                                                                                         \
    HL_SHMEM_API(shmem_##NAME##_wait_until);                                                                 \
    void pshmem_##NAME##_wait_until(T *ivar, int cmp, T cmp_value)                                           \
    {                                                                                                        \
        struct condition_list w = WATCH(T, ivar, 1, NULL, cmp, &cmp_value, 0);                               \
        wait_all(&w, "shmem_" #NAME "_wait_until");                                                          \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_test);                                                                       \
    int pshmem_##NAME##_test(T *ivar, int cmp, T cmp_value)                                                  \
    {                                                                                                        \
        struct condition_list w = WATCH(T, ivar, 1, NULL, cmp, &cmp_value, 0);                               \
        return test_all(&w, "shmem_" #NAME "_test");                                                         \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_wait);                                                                       \
    void pshmem_##NAME##_wait(T *ivar, T cmp_value)                                                          \
    {                                                                                                        \
        struct condition_list w = WATCH(T, ivar, 1, NULL, SHMEM_CMP_NE, &cmp_value, 0);                      \
        wait_all(&w, "shmem_" #NAME "_wait");                                                                \
    }
/* Defines: shmem_short_wait_until shmem_short_test shmem_short_wait shmem_ushort_wait_until shmem_ushort_test
 * shmem_ushort_wait shmem_int_wait_until shmem_int_test shmem_int_wait shmem_long_wait_until shmem_long_test
 * shmem_long_wait shmem_longlong_wait_until shmem_longlong_test shmem_longlong_wait shmem_size_wait_until
 * shmem_size_test shmem_size_wait shmem_ptrdiff_wait_until shmem_ptrdiff_test shmem_ptrdiff_wait
 * shmem_uint_wait_until shmem_uint_test shmem_uint_wait shmem_ulong_wait_until shmem_ulong_test
 * shmem_ulong_wait shmem_ulonglong_wait_until shmem_ulonglong_test shmem_ulonglong_wait
 * shmem_int32_wait_until shmem_int32_test shmem_int32_wait shmem_int64_wait_until shmem_int64_test
 * shmem_int64_wait shmem_uint32_wait_until shmem_uint32_test shmem_uint32_wait shmem_uint64_wait_until
 * shmem_uint64_test shmem_uint64_wait */
HL_SHMEM_SYNC_TYPES(ONE)

/* The functions on lists, with one value for all objects or one for each. */
#define LIST(T, NAME, END, VALUE, values, step)                                                              \
    HL_SHMEM_API(shmem_##NAME##_wait_until_all##END);                                                        \
    void pshmem_##NAME##_wait_until_all##END(T *ivars, size_t nelems, const int *status, int cmp, VALUE)     \
    {                                                                                                        \
        struct condition_list w = WATCH(T, ivars, nelems, status, cmp, values, step);                        \
        wait_all(&w, "shmem_" #NAME "_wait_until_all" #END);                                                 \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_wait_until_any##END);                                                        \
    size_t pshmem_##NAME##_wait_until_any##END(T *ivars, size_t nelems, const int *status, int cmp, VALUE)   \
    {                                                                                                        \
        struct condition_list w = WATCH(T, ivars, nelems, status, cmp, values, step);                        \
        return wait_any_condition(&w, "shmem_" #NAME "_wait_until_any" #END);                                \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_wait_until_some##END);                                                       \
    size_t pshmem_##NAME##_wait_until_some##END(T *ivars, size_t nelems, size_t *indices, const int *status, \
                                                int cmp, VALUE)                                              \
    {                                                                                                        \
        struct condition_list w = WATCH(T, ivars, nelems, status, cmp, values, step);                        \
        return wait_some(&w, indices, "shmem_" #NAME "_wait_until_some" #END);                               \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_test_all##END);                                                              \
    int pshmem_##NAME##_test_all##END(T *ivars, size_t nelems, const int *status, int cmp, VALUE)            \
    {                                                                                                        \
        struct condition_list w = WATCH(T, ivars, nelems, status, cmp, values, step);                        \
        return test_all(&w, "shmem_" #NAME "_test_all" #END);                                                \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_test_any##END);                                                              \
    size_t pshmem_##NAME##_test_any##END(T *ivars, size_t nelems, const int *status, int cmp, VALUE)         \
    {                                                                                                        \
        struct condition_list w = WATCH(T, ivars, nelems, status, cmp, values, step);                        \
        return test_any(&w, "shmem_" #NAME "_test_any" #END);                                                \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_test_some##END);                                                             \
    size_t pshmem_##NAME##_test_some##END(T *ivars, size_t nelems, size_t *indices, const int *status,       \
                                          int cmp, VALUE)                                                    \
    {                                                                                                        \
        struct condition_list w = WATCH(T, ivars, nelems, status, cmp, values, step);                        \
        return test_some(&w, indices, "shmem_" #NAME "_test_some" #END);                                     \
    }
#define LISTS(T, NAME)                                                                                       \
    LIST(T, NAME, , T cmp_value, &cmp_value, 0)                                                              \
    LIST(T, NAME, _vector, const T *cmp_values, cmp_values, sizeof(T))
/* Defines: shmem_short_wait_until_all shmem_short_wait_until_any shmem_short_wait_until_some
 * shmem_short_test_all shmem_short_test_any shmem_short_test_some shmem_short_wait_until_all_vector
 * shmem_short_wait_until_any_vector shmem_short_wait_until_some_vector shmem_short_test_all_vector
 * shmem_short_test_any_vector shmem_short_test_some_vector shmem_ushort_wait_until_all
 * shmem_ushort_wait_until_any shmem_ushort_wait_until_some shmem_ushort_test_all shmem_ushort_test_any
 * shmem_ushort_test_some shmem_ushort_wait_until_all_vector shmem_ushort_wait_until_any_vector
 * shmem_ushort_wait_until_some_vector shmem_ushort_test_all_vector shmem_ushort_test_any_vector
 * shmem_ushort_test_some_vector shmem_int_wait_until_all shmem_int_wait_until_any shmem_int_wait_until_some
 * shmem_int_test_all shmem_int_test_any shmem_int_test_some shmem_int_wait_until_all_vector
 * shmem_int_wait_until_any_vector shmem_int_wait_until_some_vector shmem_int_test_all_vector
 * shmem_int_test_any_vector shmem_int_test_some_vector shmem_long_wait_until_all shmem_long_wait_until_any
 * shmem_long_wait_until_some shmem_long_test_all shmem_long_test_any shmem_long_test_some
 * shmem_long_wait_until_all_vector shmem_long_wait_until_any_vector shmem_long_wait_until_some_vector
 * shmem_long_test_all_vector shmem_long_test_any_vector shmem_long_test_some_vector
 * shmem_longlong_wait_until_all shmem_longlong_wait_until_any shmem_longlong_wait_until_some
 * shmem_longlong_test_all shmem_longlong_test_any shmem_longlong_test_some
 * shmem_longlong_wait_until_all_vector shmem_longlong_wait_until_any_vector
 * shmem_longlong_wait_until_some_vector shmem_longlong_test_all_vector shmem_longlong_test_any_vector
 * shmem_longlong_test_some_vector shmem_size_wait_until_all shmem_size_wait_until_any
 * shmem_size_wait_until_some shmem_size_test_all shmem_size_test_any shmem_size_test_some
 * shmem_size_wait_until_all_vector shmem_size_wait_until_any_vector shmem_size_wait_until_some_vector
 * shmem_size_test_all_vector shmem_size_test_any_vector shmem_size_test_some_vector
 * shmem_ptrdiff_wait_until_all shmem_ptrdiff_wait_until_any shmem_ptrdiff_wait_until_some
 * shmem_ptrdiff_test_all shmem_ptrdiff_test_any shmem_ptrdiff_test_some shmem_ptrdiff_wait_until_all_vector
 * shmem_ptrdiff_wait_until_any_vector shmem_ptrdiff_wait_until_some_vector shmem_ptrdiff_test_all_vector
 * shmem_ptrdiff_test_any_vector shmem_ptrdiff_test_some_vector shmem_uint_wait_until_all
 * shmem_uint_wait_until_any shmem_uint_wait_until_some shmem_uint_test_all shmem_uint_test_any
 * shmem_uint_test_some shmem_uint_wait_until_all_vector shmem_uint_wait_until_any_vector
 * shmem_uint_wait_until_some_vector shmem_uint_test_all_vector shmem_uint_test_any_vector
 * shmem_uint_test_some_vector shmem_ulong_wait_until_all shmem_ulong_wait_until_any
 * shmem_ulong_wait_until_some shmem_ulong_test_all shmem_ulong_test_any shmem_ulong_test_some
 * shmem_ulong_wait_until_all_vector shmem_ulong_wait_until_any_vector shmem_ulong_wait_until_some_vector
 * shmem_ulong_test_all_vector shmem_ulong_test_any_vector shmem_ulong_test_some_vector
 * shmem_ulonglong_wait_until_all shmem_ulonglong_wait_until_any shmem_ulonglong_wait_until_some
 * shmem_ulonglong_test_all shmem_ulonglong_test_any shmem_ulonglong_test_some
 * shmem_ulonglong_wait_until_all_vector shmem_ulonglong_wait_until_any_vector
 * shmem_ulonglong_wait_until_some_vector shmem_ulonglong_test_all_vector shmem_ulonglong_test_any_vector
 * shmem_ulonglong_test_some_vector shmem_int32_wait_until_all shmem_int32_wait_until_any
 * shmem_int32_wait_until_some shmem_int32_test_all shmem_int32_test_any shmem_int32_test_some
 * shmem_int32_wait_until_all_vector shmem_int32_wait_until_any_vector shmem_int32_wait_until_some_vector
 * shmem_int32_test_all_vector shmem_int32_test_any_vector shmem_int32_test_some_vector
 * shmem_int64_wait_until_all shmem_int64_wait_until_any shmem_int64_wait_until_some shmem_int64_test_all
 * shmem_int64_test_any shmem_int64_test_some shmem_int64_wait_until_all_vector
 * shmem_int64_wait_until_any_vector shmem_int64_wait_until_some_vector shmem_int64_test_all_vector
 * shmem_int64_test_any_vector shmem_int64_test_some_vector shmem_uint32_wait_until_all
 * shmem_uint32_wait_until_any shmem_uint32_wait_until_some shmem_uint32_test_all shmem_uint32_test_any
 * shmem_uint32_test_some shmem_uint32_wait_until_all_vector shmem_uint32_wait_until_any_vector
 * shmem_uint32_wait_until_some_vector shmem_uint32_test_all_vector shmem_uint32_test_any_vector
 * shmem_uint32_test_some_vector shmem_uint64_wait_until_all shmem_uint64_wait_until_any
 * shmem_uint64_wait_until_some shmem_uint64_test_all shmem_uint64_test_any shmem_uint64_test_some
 * shmem_uint64_wait_until_all_vector shmem_uint64_wait_until_any_vector shmem_uint64_wait_until_some_vector
 * shmem_uint64_test_all_vector shmem_uint64_test_any_vector shmem_uint64_test_some_vector */
HL_SHMEM_SYNC_TYPES(LISTS)

/* ---- without a type in the name ---- */

HL_SHMEM_API(shmem_wait_until);
void pshmem_wait_until(long *ivar, int cmp, long cmp_value)
{
    struct condition_list w = WATCH(long, ivar, 1, NULL, cmp, &cmp_value, 0);
    wait_all(&w, "shmem_wait_until");
}

HL_SHMEM_API(shmem_wait);
void pshmem_wait(long *ivar, long cmp_value)
{
    struct condition_list w = WATCH(long, ivar, 1, NULL, SHMEM_CMP_NE, &cmp_value, 0);
    wait_all(&w, "shmem_wait");
}

HL_SHMEM_API(shmem_signal_wait_until);
uint64_t pshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    struct condition_list w = WATCH(uint64_t, sig_addr, 1, NULL, cmp, &cmp_value, 0);
    check_conditions(&w, "shmem_signal_wait_until");
    hl_prog_wait(is_any_met, &w);
    return w.seen;
}
