/* The names for profilers (OpenSHMEM 1.6, section 10): part of shmem.h.
 *
 * Every function shmem_NAME is also there as pshmem_NAME, of the same type; the library's shmem_NAME is weak, so that a
 * profiler may define its own and call pshmem_NAME. Each line below declares the twins of one operation. (The old names
 * without shmem_ in front have no twins but pshmem_start_pes.) */
#ifndef HOTLANE_SHMEM_PROFILE_H
#define HOTLANE_SHMEM_PROFILE_H

#ifdef __cplusplus
extern "C" {
#endif

/* pshmem_NAME for shmem_NAME; for all types of a table: pre##T##op, pre empty or ctx_. */
#define SHMEM_TWIN_(name) extern __typeof__(shmem_##name) pshmem_##name
#define SHMEM_TWINS_BIT_(pre, op)                                                                            \
    SHMEM_TWIN_(pre##uint##op); SHMEM_TWIN_(pre##ulong##op); SHMEM_TWIN_(pre##ulonglong##op);                \
    SHMEM_TWIN_(pre##int32##op); SHMEM_TWIN_(pre##int64##op); SHMEM_TWIN_(pre##uint32##op);                  \
    SHMEM_TWIN_(pre##uint64##op)
#define SHMEM_TWINS_AMO_(pre, op)                                                                            \
    SHMEM_TWIN_(pre##int##op); SHMEM_TWIN_(pre##long##op); SHMEM_TWIN_(pre##longlong##op);                   \
    SHMEM_TWIN_(pre##size##op); SHMEM_TWIN_(pre##ptrdiff##op); SHMEM_TWINS_BIT_(pre, op)
#define SHMEM_TWINS_EXT_(pre, op)                                                                            \
    SHMEM_TWIN_(pre##float##op); SHMEM_TWIN_(pre##double##op); SHMEM_TWINS_AMO_(pre, op)
#define SHMEM_TWINS_SYNC_(pre, op)                                                                           \
    SHMEM_TWIN_(pre##short##op); SHMEM_TWIN_(pre##ushort##op); SHMEM_TWINS_AMO_(pre, op)
#define SHMEM_TWINS_RMA_(pre, op)                                                                            \
    SHMEM_TWIN_(pre##longdouble##op); SHMEM_TWIN_(pre##char##op); SHMEM_TWIN_(pre##schar##op);               \
    SHMEM_TWIN_(pre##short##op); SHMEM_TWIN_(pre##uchar##op); SHMEM_TWIN_(pre##ushort##op);                  \
    SHMEM_TWIN_(pre##int8##op); SHMEM_TWIN_(pre##int16##op); SHMEM_TWIN_(pre##uint8##op);                    \
    SHMEM_TWIN_(pre##uint16##op); SHMEM_TWINS_EXT_(pre, op)
#define SHMEM_TWINS_REDUCE_BITS_(pre, op)                                                                    \
    SHMEM_TWIN_(pre##uchar##op); SHMEM_TWIN_(pre##ushort##op); SHMEM_TWIN_(pre##uint##op);                   \
    SHMEM_TWIN_(pre##ulong##op); SHMEM_TWIN_(pre##ulonglong##op); SHMEM_TWIN_(pre##int8##op);                \
    SHMEM_TWIN_(pre##int16##op); SHMEM_TWIN_(pre##int32##op); SHMEM_TWIN_(pre##int64##op);                   \
    SHMEM_TWIN_(pre##uint8##op); SHMEM_TWIN_(pre##uint16##op); SHMEM_TWIN_(pre##uint32##op);                 \
    SHMEM_TWIN_(pre##uint64##op); SHMEM_TWIN_(pre##size##op)
#define SHMEM_TWINS_REDUCE_ORDER_(pre, op)                                                                   \
    SHMEM_TWIN_(pre##char##op); SHMEM_TWIN_(pre##schar##op); SHMEM_TWIN_(pre##short##op);                    \
    SHMEM_TWIN_(pre##int##op); SHMEM_TWIN_(pre##long##op); SHMEM_TWIN_(pre##longlong##op);                   \
    SHMEM_TWIN_(pre##ptrdiff##op); SHMEM_TWIN_(pre##float##op); SHMEM_TWIN_(pre##double##op);                \
    SHMEM_TWIN_(pre##longdouble##op); SHMEM_TWINS_REDUCE_BITS_(pre, op)
#define SHMEM_TWINS_ASET_BITS_(pre, op)                                                                      \
    SHMEM_TWIN_(pre##short##op); SHMEM_TWIN_(pre##int##op); SHMEM_TWIN_(pre##long##op);                      \
    SHMEM_TWIN_(pre##longlong##op)
#define SHMEM_TWINS_ASET_ORDER_(pre, op)                                                                     \
    SHMEM_TWIN_(pre##float##op); SHMEM_TWIN_(pre##double##op); SHMEM_TWIN_(pre##longdouble##op);             \
    SHMEM_TWINS_ASET_BITS_(pre, op)
#define SHMEM_TWINS_COMPLEX_(op) SHMEM_TWIN_(complexd##op); SHMEM_TWIN_(complexf##op)
#define SHMEM_TWINS_REDUCE_SUM_(pre, op) SHMEM_TWINS_COMPLEX_(op); SHMEM_TWINS_REDUCE_ORDER_(pre, op)
#define SHMEM_TWINS_ASET_SUM_(pre, op) SHMEM_TWINS_COMPLEX_(op); SHMEM_TWINS_ASET_ORDER_(pre, op)
#define SHMEM_TWINS_SIZES_(name, end)                                                                        \
    SHMEM_TWIN_(name##8##end); SHMEM_TWIN_(name##16##end); SHMEM_TWIN_(name##32##end);                       \
    SHMEM_TWIN_(name##64##end); SHMEM_TWIN_(name##128##end)
#define SHMEM_TWINS_PAIR_(name) SHMEM_TWIN_(name); SHMEM_TWIN_(ctx_##name)

/* ---- rma.h, signal.h ---- */
SHMEM_TWINS_RMA_(, _put); SHMEM_TWINS_RMA_(ctx_, _put); SHMEM_TWINS_SIZES_(put, ); SHMEM_TWINS_SIZES_(ctx_put, ); SHMEM_TWINS_PAIR_(putmem);
SHMEM_TWINS_RMA_(, _iput); SHMEM_TWINS_RMA_(ctx_, _iput); SHMEM_TWINS_SIZES_(iput, ); SHMEM_TWINS_SIZES_(ctx_iput, );
SHMEM_TWINS_RMA_(, _ibput); SHMEM_TWINS_RMA_(ctx_, _ibput); SHMEM_TWINS_SIZES_(ibput, ); SHMEM_TWINS_SIZES_(ctx_ibput, );
SHMEM_TWINS_RMA_(, _get); SHMEM_TWINS_RMA_(ctx_, _get); SHMEM_TWINS_SIZES_(get, ); SHMEM_TWINS_SIZES_(ctx_get, ); SHMEM_TWINS_PAIR_(getmem);
SHMEM_TWINS_RMA_(, _iget); SHMEM_TWINS_RMA_(ctx_, _iget); SHMEM_TWINS_SIZES_(iget, ); SHMEM_TWINS_SIZES_(ctx_iget, );
SHMEM_TWINS_RMA_(, _ibget); SHMEM_TWINS_RMA_(ctx_, _ibget); SHMEM_TWINS_SIZES_(ibget, ); SHMEM_TWINS_SIZES_(ctx_ibget, );
SHMEM_TWINS_RMA_(, _p); SHMEM_TWINS_RMA_(ctx_, _p);
SHMEM_TWINS_RMA_(, _g); SHMEM_TWINS_RMA_(ctx_, _g);
SHMEM_TWINS_RMA_(, _put_nbi); SHMEM_TWINS_RMA_(ctx_, _put_nbi); SHMEM_TWINS_SIZES_(put, _nbi); SHMEM_TWINS_SIZES_(ctx_put, _nbi); SHMEM_TWINS_PAIR_(putmem_nbi);
SHMEM_TWINS_RMA_(, _get_nbi); SHMEM_TWINS_RMA_(ctx_, _get_nbi); SHMEM_TWINS_SIZES_(get, _nbi); SHMEM_TWINS_SIZES_(ctx_get, _nbi); SHMEM_TWINS_PAIR_(getmem_nbi);
SHMEM_TWINS_RMA_(, _put_signal); SHMEM_TWINS_RMA_(ctx_, _put_signal); SHMEM_TWINS_SIZES_(put, _signal); SHMEM_TWINS_SIZES_(ctx_put, _signal); SHMEM_TWINS_PAIR_(putmem_signal);
SHMEM_TWINS_RMA_(, _put_signal_nbi); SHMEM_TWINS_RMA_(ctx_, _put_signal_nbi); SHMEM_TWINS_SIZES_(put, _signal_nbi); SHMEM_TWINS_SIZES_(ctx_put, _signal_nbi); SHMEM_TWINS_PAIR_(putmem_signal_nbi);
SHMEM_TWINS_PAIR_(signal_add); SHMEM_TWINS_PAIR_(signal_set); SHMEM_TWIN_(signal_fetch); SHMEM_TWIN_(signal_wait_until);

/* ---- atomic.h ---- */
SHMEM_TWINS_EXT_(, _atomic_fetch); SHMEM_TWINS_EXT_(ctx_, _atomic_fetch);
SHMEM_TWINS_EXT_(, _atomic_set); SHMEM_TWINS_EXT_(ctx_, _atomic_set);
SHMEM_TWINS_EXT_(, _atomic_swap); SHMEM_TWINS_EXT_(ctx_, _atomic_swap);
SHMEM_TWINS_AMO_(, _atomic_compare_swap); SHMEM_TWINS_AMO_(ctx_, _atomic_compare_swap);
SHMEM_TWINS_AMO_(, _atomic_fetch_inc); SHMEM_TWINS_AMO_(ctx_, _atomic_fetch_inc);
SHMEM_TWINS_AMO_(, _atomic_inc); SHMEM_TWINS_AMO_(ctx_, _atomic_inc);
SHMEM_TWINS_AMO_(, _atomic_fetch_add); SHMEM_TWINS_AMO_(ctx_, _atomic_fetch_add);
SHMEM_TWINS_AMO_(, _atomic_add); SHMEM_TWINS_AMO_(ctx_, _atomic_add);
SHMEM_TWINS_BIT_(, _atomic_fetch_and); SHMEM_TWINS_BIT_(ctx_, _atomic_fetch_and);
SHMEM_TWINS_BIT_(, _atomic_and); SHMEM_TWINS_BIT_(ctx_, _atomic_and);
SHMEM_TWINS_BIT_(, _atomic_fetch_or); SHMEM_TWINS_BIT_(ctx_, _atomic_fetch_or);
SHMEM_TWINS_BIT_(, _atomic_or); SHMEM_TWINS_BIT_(ctx_, _atomic_or);
SHMEM_TWINS_BIT_(, _atomic_fetch_xor); SHMEM_TWINS_BIT_(ctx_, _atomic_fetch_xor);
SHMEM_TWINS_BIT_(, _atomic_xor); SHMEM_TWINS_BIT_(ctx_, _atomic_xor);
SHMEM_TWINS_EXT_(, _atomic_fetch_nbi); SHMEM_TWINS_EXT_(ctx_, _atomic_fetch_nbi);
SHMEM_TWINS_EXT_(, _atomic_swap_nbi); SHMEM_TWINS_EXT_(ctx_, _atomic_swap_nbi);
SHMEM_TWINS_AMO_(, _atomic_compare_swap_nbi); SHMEM_TWINS_AMO_(ctx_, _atomic_compare_swap_nbi);
SHMEM_TWINS_AMO_(, _atomic_fetch_inc_nbi); SHMEM_TWINS_AMO_(ctx_, _atomic_fetch_inc_nbi);
SHMEM_TWINS_AMO_(, _atomic_fetch_add_nbi); SHMEM_TWINS_AMO_(ctx_, _atomic_fetch_add_nbi);
SHMEM_TWINS_BIT_(, _atomic_fetch_and_nbi); SHMEM_TWINS_BIT_(ctx_, _atomic_fetch_and_nbi);
SHMEM_TWINS_BIT_(, _atomic_fetch_or_nbi); SHMEM_TWINS_BIT_(ctx_, _atomic_fetch_or_nbi);
SHMEM_TWINS_BIT_(, _atomic_fetch_xor_nbi); SHMEM_TWINS_BIT_(ctx_, _atomic_fetch_xor_nbi);

/* ---- coll.h ---- */
SHMEM_TWIN_(barrier_all); SHMEM_TWIN_(team_sync); SHMEM_TWIN_(sync_all);
SHMEM_TWINS_RMA_(, _alltoall); SHMEM_TWIN_(alltoallmem);
SHMEM_TWINS_RMA_(, _alltoalls); SHMEM_TWIN_(alltoallsmem);
SHMEM_TWINS_RMA_(, _broadcast); SHMEM_TWIN_(broadcastmem);
SHMEM_TWINS_RMA_(, _collect); SHMEM_TWIN_(collectmem);
SHMEM_TWINS_RMA_(, _fcollect); SHMEM_TWIN_(fcollectmem);
SHMEM_TWINS_REDUCE_BITS_(, _and_reduce);
SHMEM_TWINS_REDUCE_BITS_(, _or_reduce);
SHMEM_TWINS_REDUCE_BITS_(, _xor_reduce);
SHMEM_TWINS_REDUCE_ORDER_(, _max_reduce);
SHMEM_TWINS_REDUCE_ORDER_(, _min_reduce);
SHMEM_TWINS_REDUCE_SUM_(, _sum_reduce);
SHMEM_TWINS_REDUCE_SUM_(, _prod_reduce);
SHMEM_TWINS_REDUCE_SUM_(, _sum_inscan);
SHMEM_TWINS_REDUCE_SUM_(, _sum_exscan);

/* ---- wait.h ---- */
SHMEM_TWINS_SYNC_(, _wait_until);
SHMEM_TWINS_SYNC_(, _test);
SHMEM_TWINS_SYNC_(, _wait_until_all);
SHMEM_TWINS_SYNC_(, _wait_until_any);
SHMEM_TWINS_SYNC_(, _wait_until_some);
SHMEM_TWINS_SYNC_(, _test_all);
SHMEM_TWINS_SYNC_(, _test_any);
SHMEM_TWINS_SYNC_(, _test_some);
SHMEM_TWINS_SYNC_(, _wait_until_all_vector);
SHMEM_TWINS_SYNC_(, _wait_until_any_vector);
SHMEM_TWINS_SYNC_(, _wait_until_some_vector);
SHMEM_TWINS_SYNC_(, _test_all_vector);
SHMEM_TWINS_SYNC_(, _test_any_vector);
SHMEM_TWINS_SYNC_(, _test_some_vector);

/* ---- old.h ---- */
extern __typeof__(start_pes) pshmem_start_pes;
extern __typeof__(shmem_clear_cache_inv) pshmem_clear_cache_inv;
extern __typeof__(shmem_set_cache_inv) pshmem_set_cache_inv;
extern __typeof__(shmem_clear_cache_line_inv) pshmem_clear_cache_line_inv;
extern __typeof__(shmem_set_cache_line_inv) pshmem_set_cache_line_inv;
extern __typeof__(shmem_udcflush) pshmem_udcflush;
extern __typeof__(shmem_udcflush_line) pshmem_udcflush_line;
SHMEM_TWINS_EXT_(, _fetch);
SHMEM_TWINS_EXT_(, _set);
SHMEM_TWINS_EXT_(, _swap);
SHMEM_TWINS_AMO_(, _cswap);
SHMEM_TWINS_AMO_(, _finc);
SHMEM_TWINS_AMO_(, _inc);
SHMEM_TWINS_AMO_(, _fadd);
SHMEM_TWINS_AMO_(, _add);
SHMEM_TWINS_SYNC_(, _wait); SHMEM_TWIN_(wait); SHMEM_TWIN_(wait_until);
SHMEM_TWIN_(barrier); SHMEM_TWIN_(sync);
SHMEM_TWIN_(broadcast32); SHMEM_TWIN_(broadcast64);
SHMEM_TWIN_(collect32); SHMEM_TWIN_(collect64);
SHMEM_TWIN_(fcollect32); SHMEM_TWIN_(fcollect64);
SHMEM_TWIN_(alltoall32); SHMEM_TWIN_(alltoall64);
SHMEM_TWIN_(alltoalls32); SHMEM_TWIN_(alltoalls64);
SHMEM_TWINS_ASET_BITS_(, _and_to_all);
SHMEM_TWINS_ASET_BITS_(, _or_to_all);
SHMEM_TWINS_ASET_BITS_(, _xor_to_all);
SHMEM_TWINS_ASET_ORDER_(, _max_to_all);
SHMEM_TWINS_ASET_ORDER_(, _min_to_all);
SHMEM_TWINS_ASET_SUM_(, _sum_to_all);
SHMEM_TWINS_ASET_SUM_(, _prod_to_all);

/* ---- shmem.h ---- */
SHMEM_TWIN_(init); SHMEM_TWIN_(finalize); SHMEM_TWIN_(query_initialized); SHMEM_TWIN_(global_exit);
SHMEM_TWIN_(init_thread); SHMEM_TWIN_(query_thread); SHMEM_TWIN_(my_pe); SHMEM_TWIN_(n_pes);
SHMEM_TWIN_(pe_accessible); SHMEM_TWIN_(addr_accessible); SHMEM_TWIN_(ptr); SHMEM_TWIN_(team_ptr);
SHMEM_TWIN_(info_get_version); SHMEM_TWIN_(info_get_name); SHMEM_TWIN_(pcontrol);
SHMEM_TWIN_(malloc); SHMEM_TWIN_(align); SHMEM_TWIN_(calloc); SHMEM_TWIN_(malloc_with_hints);
SHMEM_TWIN_(free); SHMEM_TWIN_(realloc);
SHMEM_TWIN_(team_my_pe); SHMEM_TWIN_(team_n_pes); SHMEM_TWIN_(team_get_config); SHMEM_TWIN_(team_translate_pe);
SHMEM_TWIN_(team_split_strided); SHMEM_TWIN_(team_split_2d); SHMEM_TWIN_(team_destroy);
SHMEM_TWIN_(ctx_create); SHMEM_TWIN_(team_create_ctx); SHMEM_TWIN_(ctx_destroy); SHMEM_TWIN_(ctx_get_team);
SHMEM_TWIN_(ctx_session_start); SHMEM_TWIN_(ctx_session_stop);
SHMEM_TWINS_PAIR_(fence); SHMEM_TWINS_PAIR_(quiet); SHMEM_TWINS_PAIR_(pe_quiet);
SHMEM_TWIN_(set_lock); SHMEM_TWIN_(test_lock); SHMEM_TWIN_(clear_lock);

#undef SHMEM_TWIN_
#undef SHMEM_TWINS_BIT_
#undef SHMEM_TWINS_AMO_
#undef SHMEM_TWINS_EXT_
#undef SHMEM_TWINS_SYNC_
#undef SHMEM_TWINS_RMA_
#undef SHMEM_TWINS_REDUCE_BITS_
#undef SHMEM_TWINS_REDUCE_ORDER_
#undef SHMEM_TWINS_ASET_BITS_
#undef SHMEM_TWINS_ASET_ORDER_
#undef SHMEM_TWINS_REDUCE_SUM_
#undef SHMEM_TWINS_ASET_SUM_
#undef SHMEM_TWINS_COMPLEX_
#undef SHMEM_TWINS_SIZES_
#undef SHMEM_TWINS_PAIR_

#ifdef __cplusplus
}
#endif

#endif
