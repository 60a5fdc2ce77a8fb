/* Reductions and scans of teams. (OpenSHMEM 1.6, section 9.9.) */
#include "collective.h"
#include "entry.h"
#include "types.h"
#include "xfer.h"

static int fold(shmem_team_t team, struct hl_fold f, const char *func)
{
    struct hl_team *t = hl_team_must(team, func);
    if (t == NULL) {
        return -1;
    }
    size_t bytes = hl_shmem_bytes(f.n, f.size);
    struct hl_call c = {
        func, hl_call_what(f.what == HL_FOLD_ALL ? HL_CALL_REDUCE : HL_CALL_SCAN, hl_fold_detail(&f), bytes),
        t, NULL};
    hl_collective_check(&c, &(struct hl_pair){f.dest, bytes, f.source, bytes});
    hl_fold(&c, &f);
    return 0;
}

#define FOLD(T, NAME, WHAT, OP, END)                                                                         \
    HL_SHMEM_API(shmem_##NAME##END)                                                                          \
    int pshmem_##NAME##END(shmem_team_t team, T *dest, const T *source, size_t nelems)                       \
    {                                                                                                        \
        struct hl_fold f = {HL_FOLD_##WHAT, HL_OP_##OP, HL_BASIC_OF(T), sizeof(T), dest, source, nelems};    \
        return fold(team, f, "shmem_" #NAME #END);                                                           \
    }

#define BITS(T, NAME)                                                                                        \
    FOLD(T, NAME, ALL, BAND, _and_reduce)                                                                    \
    FOLD(T, NAME, ALL, BOR, _or_reduce)                                                                      \
    FOLD(T, NAME, ALL, BXOR, _xor_reduce)
HL_SHMEM_REDUCE_BIT_TYPES(BITS)

#define ORDER(T, NAME)                                                                                       \
    FOLD(T, NAME, ALL, MAX, _max_reduce)                                                                     \
    FOLD(T, NAME, ALL, MIN, _min_reduce)
HL_SHMEM_REDUCE_ORDER_TYPES(ORDER)

#define SUMS(T, NAME)                                                                                        \
    FOLD(T, NAME, ALL, SUM, _sum_reduce)                                                                     \
    FOLD(T, NAME, ALL, PROD, _prod_reduce)                                                                   \
    FOLD(T, NAME, IN, SUM, _sum_inscan)                                                                      \
    FOLD(T, NAME, EX, SUM, _sum_exscan)
HL_SHMEM_REDUCE_SUM_TYPES(SUMS)
