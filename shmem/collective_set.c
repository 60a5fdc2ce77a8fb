/* The deprecated collective operations of active sets: PEs PE_start + (i << logPE_stride), which meet in
 * their symmetric array pSync. (OpenSHMEM 1.5, section 9.9.) */
#include "collective.h"

#include "entry.h"
#include "shm.h"
#include "sym.h"
#include "types.h"
#include "xfer.h"

/* One call, with the set as a team without boxes. */
struct active_set {
    struct hl_team team;
    struct hl_call call;
};

/* The arguments at the end of all these calls. */
struct where {
    int start, log_stride, size;
    long *sync;
};

static void begin_set(struct active_set *s, const char *func, uint64_t what, struct where w)
{
    hl_shmem_need_open(func);
    int64_t stride = w.log_stride >= 0 && w.log_stride < 31 ? (int64_t)1 << w.log_stride : 0;
    int64_t last = w.start + stride * ((int64_t)w.size - 1), from_start = hl_sym.my_pe - (int64_t)w.start;
    if (stride == 0 || w.start < 0 || w.size < 1 || last >= hl_sym.n_pes) {
        hl_shmem_die(func,
                     "the active set with PE_start %d, logPE_stride %d, PE_size %d is not within PEs 0 to %d",
                     w.start, w.log_stride, w.size, hl_sym.n_pes - 1);
    }
    if (from_start < 0 || from_start % stride != 0 || from_start / stride >= w.size) {
        hl_shmem_die(func, "PE %d is not in the active set", hl_sym.my_pe);
    }
    if (!hl_sym_is(w.sync, (1 + HL_TREE_SPARE) * sizeof *w.sync)) {
        hl_shmem_bad_access(func, w.sync, (1 + HL_TREE_SPARE) * sizeof *w.sync, hl_sym.my_pe);
    }
    if ((uintptr_t)w.sync % sizeof *w.sync != 0) {
        hl_shmem_die(func, "pSync %p is not aligned to %zu bytes", (void *)w.sync, sizeof *w.sync);
    }
    s->team = (struct hl_team){
        .start = w.start, .stride = (int)stride, .size = w.size, .rank = (int)(from_start / stride)};
    s->call = (struct hl_call){func, what, &s->team, w.sync};
}

HL_SHMEM_API(shmem_barrier);
void pshmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    struct active_set s;
    begin_set(&s, "shmem_barrier", hl_call_what(HL_CALL_SYNC, 0, 0),
              (struct where){PE_start, logPE_stride, PE_size, pSync});
    hl_shmem_quiet(&hl_ctx_default, "shmem_barrier");
    hl_tree_meet(&s.call, NULL);
}

HL_SHMEM_API(shmem_sync);
void pshmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    struct active_set s;
    begin_set(&s, "shmem_sync", hl_call_what(HL_CALL_SYNC, 0, 0),
              (struct where){PE_start, logPE_stride, PE_size, pSync});
    hl_tree_meet(&s.call, NULL);
}

static void set_broadcast(struct active_set *s, struct hl_cast b)
{
    if (b.root < 0 || b.root >= s->team.size) {
        hl_shmem_die(s->call.func, "root %d does not exist in the active set: it has PEs 0 to %d", b.root,
                     s->team.size - 1);
    }
    hl_collective_check(&s->call, &(struct hl_call_objects){b.dest, b.bytes, b.source, b.bytes});
    hl_broadcast(&s->call, &b);
}

static void collect_set(struct active_set *s, void *dest, const void *source, size_t bytes, bool same)
{
    size_t all = same ? hl_shmem_bytes(bytes, (size_t)s->team.size) : bytes;
    hl_collective_check(&s->call, &(struct hl_call_objects){dest, all, source, bytes});
    hl_collect(&s->call, dest, source, bytes, same);
}

static void set_alltoall(struct active_set *s, struct hl_strided e)
{
    hl_alltoall_check(&s->call, &e);
    hl_alltoall(&s->call, &e);
}

#define SET_MOVES(BITS)                                                                                      \
    HL_SHMEM_API(shmem_broadcast##BITS);                                                                     \
    void pshmem_broadcast##BITS(void *dest, const void *source, size_t nelems, int PE_root, int PE_start,    \
                                int logPE_stride, int PE_size, long *pSync)                                  \
    {                                                                                                        \
        size_t bytes = hl_shmem_bytes(nelems, (BITS) / 8);                                                   \
        struct active_set s;                                                                                 \
        begin_set(&s, "shmem_broadcast" #BITS, hl_call_what(HL_CALL_BROADCAST, (unsigned)PE_root, bytes),    \
                  (struct where){PE_start, logPE_stride, PE_size, pSync});                                   \
        set_broadcast(&s, (struct hl_cast){dest, source, bytes, PE_root, false});                            \
    }                                                                                                        \
    HL_SHMEM_API(shmem_collect##BITS);                                                                       \
    void pshmem_collect##BITS(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, \
                              int PE_size, long *pSync)                                                      \
    {                                                                                                        \
        struct active_set s;                                                                                 \
        begin_set(&s, "shmem_collect" #BITS, hl_call_what(HL_CALL_COLLECT, 0, 0),                            \
                  (struct where){PE_start, logPE_stride, PE_size, pSync});                                   \
        collect_set(&s, dest, source, hl_shmem_bytes(nelems, (BITS) / 8), false);                            \
    }                                                                                                        \
    HL_SHMEM_API(shmem_fcollect##BITS);                                                                      \
    void pshmem_fcollect##BITS(void *dest, const void *source, size_t nelems, int PE_start,                  \
                               int logPE_stride, int PE_size, long *pSync)                                   \
    {                                                                                                        \
        size_t bytes = hl_shmem_bytes(nelems, (BITS) / 8);                                                   \
        struct active_set s;                                                                                 \
        begin_set(&s, "shmem_fcollect" #BITS, hl_call_what(HL_CALL_FCOLLECT, 0, bytes),                      \
                  (struct where){PE_start, logPE_stride, PE_size, pSync});                                   \
        collect_set(&s, dest, source, bytes, true);                                                          \
    }                                                                                                        \
    HL_SHMEM_API(shmem_alltoall##BITS);                                                                      \
    void pshmem_alltoall##BITS(void *dest, const void *source, size_t nelems, int PE_start,                  \
                               int logPE_stride, int PE_size, long *pSync)                                   \
    {                                                                                                        \
        struct active_set s;                                                                                 \
        begin_set(&s, "shmem_alltoall" #BITS, hl_call_what(HL_CALL_ALLTOALL, 0, nelems),                     \
                  (struct where){PE_start, logPE_stride, PE_size, pSync});                                   \
        set_alltoall(&s, (struct hl_strided){dest, source, 1, 1, nelems, (BITS) / 8});                       \
    }                                                                                                        \
    HL_SHMEM_API(shmem_alltoalls##BITS);                                                                     \
    void pshmem_alltoalls##BITS(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                                int PE_start, int logPE_stride, int PE_size, long *pSync)                    \
    {                                                                                                        \
        struct active_set s;                                                                                 \
        begin_set(&s, "shmem_alltoalls" #BITS,                                                               \
                  hl_call_what(HL_CALL_ALLTOALLS, (unsigned)((size_t)dst * 31 + (size_t)sst), nelems),       \
                  (struct where){PE_start, logPE_stride, PE_size, pSync});                                   \
        set_alltoall(&s, (struct hl_strided){dest, source, dst, sst, nelems, (BITS) / 8});                   \
    }
/* Defines: shmem_broadcast32 shmem_collect32 shmem_fcollect32 shmem_alltoall32 shmem_alltoalls32 */
SET_MOVES(32)
/* Defines: shmem_broadcast64 shmem_collect64 shmem_fcollect64 shmem_alltoall64 shmem_alltoalls64 */
SET_MOVES(64)

static void set_fold(struct active_set *s, struct hl_shmem_fold f)
{
    size_t bytes = f.n * f.size;
    s->call.what = hl_call_what(HL_CALL_REDUCE, hl_fold_detail(&f), bytes);
    hl_collective_check(&s->call, &(struct hl_call_objects){f.dest, bytes, f.source, bytes});
    hl_fold(&s->call, &f);
}

#define TO_ALL(T, NAME, OP, END)                                                                             \
    HL_SHMEM_API(shmem_##NAME##END);                                                                         \
    void pshmem_##NAME##END(T *dest, const T *source, int nreduce, int PE_start, int logPE_stride,           \
                            int PE_size, T *pWrk, long *pSync)                                               \
    {                                                                                                        \
        struct active_set s;                                                                                 \
        begin_set(&s, "shmem_" #NAME #END, 0, (struct where){PE_start, logPE_stride, PE_size, pSync});       \
        size_t n = nreduce > 0 ? (size_t)nreduce : 0;                                                        \
        set_fold(&s, (struct hl_shmem_fold){HL_FOLD_ALL, HL_OP_##OP, HL_BASIC_OF(T), sizeof(T), dest,        \
                                            source, n});                                                     \
    }

#define BITS(T, NAME)                                                                                        \
    TO_ALL(T, NAME, BAND, _and_to_all)                                                                       \
    TO_ALL(T, NAME, BOR, _or_to_all)                                                                         \
    TO_ALL(T, NAME, BXOR, _xor_to_all)
/* Defines: shmem_short_and_to_all shmem_short_or_to_all shmem_short_xor_to_all shmem_int_and_to_all
 * shmem_int_or_to_all shmem_int_xor_to_all shmem_long_and_to_all shmem_long_or_to_all shmem_long_xor_to_all
 * shmem_longlong_and_to_all shmem_longlong_or_to_all shmem_longlong_xor_to_all */
HL_SHMEM_ASET_BIT_TYPES(BITS)

#define ORDER(T, NAME)                                                                                       \
    TO_ALL(T, NAME, MAX, _max_to_all)                                                                        \
    TO_ALL(T, NAME, MIN, _min_to_all)
/* Defines: shmem_float_max_to_all shmem_float_min_to_all shmem_double_max_to_all shmem_double_min_to_all
 * shmem_longdouble_max_to_all shmem_longdouble_min_to_all shmem_short_max_to_all shmem_short_min_to_all
 * shmem_int_max_to_all shmem_int_min_to_all shmem_long_max_to_all shmem_long_min_to_all
 * shmem_longlong_max_to_all shmem_longlong_min_to_all */
HL_SHMEM_ASET_ORDER_TYPES(ORDER)

#define SUMS(T, NAME)                                                                                        \
    TO_ALL(T, NAME, SUM, _sum_to_all)                                                                        \
    TO_ALL(T, NAME, PROD, _prod_to_all)
/* Defines: shmem_complexd_sum_to_all shmem_complexd_prod_to_all shmem_complexf_sum_to_all
 * shmem_complexf_prod_to_all shmem_float_sum_to_all shmem_float_prod_to_all shmem_double_sum_to_all
 * shmem_double_prod_to_all shmem_longdouble_sum_to_all shmem_longdouble_prod_to_all shmem_short_sum_to_all
 * shmem_short_prod_to_all shmem_int_sum_to_all shmem_int_prod_to_all shmem_long_sum_to_all
 * shmem_long_prod_to_all shmem_longlong_sum_to_all shmem_longlong_prod_to_all */
HL_SHMEM_ASET_SUM_TYPES(SUMS)
