/* Deprecated routines that old programs use: part of shmem.h. New programs take what is named behind "now".
 */
#ifndef HOTLANE_SHMEM_OLD_H
#define HOTLANE_SHMEM_OLD_H

#include <stddef.h>
#include <stdint.h>

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Start, PE numbers and memory: names from before OpenSHMEM ----
 * now shmem_init (npes is not used), shmem_my_pe, shmem_n_pes, shmem_malloc, shmem_free, shmem_realloc,
 * shmem_align */
void start_pes(int npes);
int _my_pe(void);
int _num_pes(void);
void *shmalloc(size_t size);
void shfree(void *ptr);
void *shrealloc(void *ptr, size_t size);
void *shmemalign(size_t alignment, size_t size);

/* ---- Caches (deprecated in 1.3): they are coherent, and nothing is done; now none is needed ---- */
void shmem_clear_cache_inv(void);
void shmem_set_cache_inv(void);
void shmem_clear_cache_line_inv(void *object);
void shmem_set_cache_line_inv(void *object);
void shmem_udcflush(void);
void shmem_udcflush_line(void *object);

/* ---- Atomics, now shmem_TYPE_atomic_... ---- */
float shmem_float_fetch(const float *source, int pe);
double shmem_double_fetch(const double *source, int pe);
int shmem_int_fetch(const int *source, int pe);
long shmem_long_fetch(const long *source, int pe);
long long shmem_longlong_fetch(const long long *source, int pe);
unsigned int shmem_uint_fetch(const unsigned int *source, int pe);
unsigned long shmem_ulong_fetch(const unsigned long *source, int pe);
unsigned long long shmem_ulonglong_fetch(const unsigned long long *source, int pe);
int32_t shmem_int32_fetch(const int32_t *source, int pe);
int64_t shmem_int64_fetch(const int64_t *source, int pe);
uint32_t shmem_uint32_fetch(const uint32_t *source, int pe);
uint64_t shmem_uint64_fetch(const uint64_t *source, int pe);
size_t shmem_size_fetch(const size_t *source, int pe);
ptrdiff_t shmem_ptrdiff_fetch(const ptrdiff_t *source, int pe);

void shmem_float_set(float *dest, float value, int pe);
void shmem_double_set(double *dest, double value, int pe);
void shmem_int_set(int *dest, int value, int pe);
void shmem_long_set(long *dest, long value, int pe);
void shmem_longlong_set(long long *dest, long long value, int pe);
void shmem_uint_set(unsigned int *dest, unsigned int value, int pe);
void shmem_ulong_set(unsigned long *dest, unsigned long value, int pe);
void shmem_ulonglong_set(unsigned long long *dest, unsigned long long value, int pe);
void shmem_int32_set(int32_t *dest, int32_t value, int pe);
void shmem_int64_set(int64_t *dest, int64_t value, int pe);
void shmem_uint32_set(uint32_t *dest, uint32_t value, int pe);
void shmem_uint64_set(uint64_t *dest, uint64_t value, int pe);
void shmem_size_set(size_t *dest, size_t value, int pe);
void shmem_ptrdiff_set(ptrdiff_t *dest, ptrdiff_t value, int pe);

int shmem_int_cswap(int *dest, int cond, int value, int pe);
long shmem_long_cswap(long *dest, long cond, long value, int pe);
long long shmem_longlong_cswap(long long *dest, long long cond, long long value, int pe);
unsigned int shmem_uint_cswap(unsigned int *dest, unsigned int cond, unsigned int value, int pe);
unsigned long shmem_ulong_cswap(unsigned long *dest, unsigned long cond, unsigned long value, int pe);
unsigned long long shmem_ulonglong_cswap(unsigned long long *dest, unsigned long long cond,
                                         unsigned long long value, int pe);
int32_t shmem_int32_cswap(int32_t *dest, int32_t cond, int32_t value, int pe);
int64_t shmem_int64_cswap(int64_t *dest, int64_t cond, int64_t value, int pe);
uint32_t shmem_uint32_cswap(uint32_t *dest, uint32_t cond, uint32_t value, int pe);
uint64_t shmem_uint64_cswap(uint64_t *dest, uint64_t cond, uint64_t value, int pe);
size_t shmem_size_cswap(size_t *dest, size_t cond, size_t value, int pe);
ptrdiff_t shmem_ptrdiff_cswap(ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe);

float shmem_float_swap(float *dest, float value, int pe);
double shmem_double_swap(double *dest, double value, int pe);
int shmem_int_swap(int *dest, int value, int pe);
long shmem_long_swap(long *dest, long value, int pe);
long long shmem_longlong_swap(long long *dest, long long value, int pe);
unsigned int shmem_uint_swap(unsigned int *dest, unsigned int value, int pe);
unsigned long shmem_ulong_swap(unsigned long *dest, unsigned long value, int pe);
unsigned long long shmem_ulonglong_swap(unsigned long long *dest, unsigned long long value, int pe);
int32_t shmem_int32_swap(int32_t *dest, int32_t value, int pe);
int64_t shmem_int64_swap(int64_t *dest, int64_t value, int pe);
uint32_t shmem_uint32_swap(uint32_t *dest, uint32_t value, int pe);
uint64_t shmem_uint64_swap(uint64_t *dest, uint64_t value, int pe);
size_t shmem_size_swap(size_t *dest, size_t value, int pe);
ptrdiff_t shmem_ptrdiff_swap(ptrdiff_t *dest, ptrdiff_t value, int pe);

int shmem_int_finc(int *dest, int pe);
long shmem_long_finc(long *dest, int pe);
long long shmem_longlong_finc(long long *dest, int pe);
unsigned int shmem_uint_finc(unsigned int *dest, int pe);
unsigned long shmem_ulong_finc(unsigned long *dest, int pe);
unsigned long long shmem_ulonglong_finc(unsigned long long *dest, int pe);
int32_t shmem_int32_finc(int32_t *dest, int pe);
int64_t shmem_int64_finc(int64_t *dest, int pe);
uint32_t shmem_uint32_finc(uint32_t *dest, int pe);
uint64_t shmem_uint64_finc(uint64_t *dest, int pe);
size_t shmem_size_finc(size_t *dest, int pe);
ptrdiff_t shmem_ptrdiff_finc(ptrdiff_t *dest, int pe);

void shmem_int_inc(int *dest, int pe);
void shmem_long_inc(long *dest, int pe);
void shmem_longlong_inc(long long *dest, int pe);
void shmem_uint_inc(unsigned int *dest, int pe);
void shmem_ulong_inc(unsigned long *dest, int pe);
void shmem_ulonglong_inc(unsigned long long *dest, int pe);
void shmem_int32_inc(int32_t *dest, int pe);
void shmem_int64_inc(int64_t *dest, int pe);
void shmem_uint32_inc(uint32_t *dest, int pe);
void shmem_uint64_inc(uint64_t *dest, int pe);
void shmem_size_inc(size_t *dest, int pe);
void shmem_ptrdiff_inc(ptrdiff_t *dest, int pe);

int shmem_int_fadd(int *dest, int value, int pe);
long shmem_long_fadd(long *dest, long value, int pe);
long long shmem_longlong_fadd(long long *dest, long long value, int pe);
unsigned int shmem_uint_fadd(unsigned int *dest, unsigned int value, int pe);
unsigned long shmem_ulong_fadd(unsigned long *dest, unsigned long value, int pe);
unsigned long long shmem_ulonglong_fadd(unsigned long long *dest, unsigned long long value, int pe);
int32_t shmem_int32_fadd(int32_t *dest, int32_t value, int pe);
int64_t shmem_int64_fadd(int64_t *dest, int64_t value, int pe);
uint32_t shmem_uint32_fadd(uint32_t *dest, uint32_t value, int pe);
uint64_t shmem_uint64_fadd(uint64_t *dest, uint64_t value, int pe);
size_t shmem_size_fadd(size_t *dest, size_t value, int pe);
ptrdiff_t shmem_ptrdiff_fadd(ptrdiff_t *dest, ptrdiff_t value, int pe);

void shmem_int_add(int *dest, int value, int pe);
void shmem_long_add(long *dest, long value, int pe);
void shmem_longlong_add(long long *dest, long long value, int pe);
void shmem_uint_add(unsigned int *dest, unsigned int value, int pe);
void shmem_ulong_add(unsigned long *dest, unsigned long value, int pe);
void shmem_ulonglong_add(unsigned long long *dest, unsigned long long value, int pe);
void shmem_int32_add(int32_t *dest, int32_t value, int pe);
void shmem_int64_add(int64_t *dest, int64_t value, int pe);
void shmem_uint32_add(uint32_t *dest, uint32_t value, int pe);
void shmem_uint64_add(uint64_t *dest, uint64_t value, int pe);
void shmem_size_add(size_t *dest, size_t value, int pe);
void shmem_ptrdiff_add(ptrdiff_t *dest, ptrdiff_t value, int pe);

/* ---- Waiting, now wait_until: wait returns when *ivar differs from cmp_value. ---- */
void shmem_wait(long *ivar, long cmp_value);
void shmem_short_wait(short *ivar, short cmp_value);
void shmem_int_wait(int *ivar, int cmp_value);
void shmem_long_wait(long *ivar, long cmp_value);
void shmem_longlong_wait(long long *ivar, long long cmp_value);
void shmem_ushort_wait(unsigned short *ivar, unsigned short cmp_value);
void shmem_uint_wait(unsigned int *ivar, unsigned int cmp_value);
void shmem_ulong_wait(unsigned long *ivar, unsigned long cmp_value);
void shmem_ulonglong_wait(unsigned long long *ivar, unsigned long long cmp_value);
void shmem_int32_wait(int32_t *ivar, int32_t cmp_value);
void shmem_int64_wait(int64_t *ivar, int64_t cmp_value);
void shmem_uint32_wait(uint32_t *ivar, uint32_t cmp_value);
void shmem_uint64_wait(uint64_t *ivar, uint64_t cmp_value);
void shmem_size_wait(size_t *ivar, size_t cmp_value);
void shmem_ptrdiff_wait(ptrdiff_t *ivar, ptrdiff_t cmp_value);
void shmem_wait_until(long *ivar, int cmp, long cmp_value);

/* ---- Collectives of active sets, now those of teams ----
 * The set is the PE_size PEs PE_start + i * 2^logPE_stride. pSync is a symmetric array of
 * SHMEM_<call>_SYNC_SIZE longs that every PE of the set filled with SHMEM_SYNC_VALUE before its first use; it
 * holds that value again on return. A second call must not use the same pSync (and pWrk) while a PE may still
 * be in the first: alternate between two, or have a barrier. barrier completes the default context's
 * operations, sync does not. */
void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync);
void shmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync);

/* By size of the element: nelems elements as in the forms for teams. broadcast leaves the root's dest alone;
 * PE_root counts in the set. */
void shmem_broadcast32(void *dest, const void *source, size_t nelems, int PE_root, int PE_start,
                       int logPE_stride, int PE_size, long *pSync);
void shmem_broadcast64(void *dest, const void *source, size_t nelems, int PE_root, int PE_start,
                       int logPE_stride, int PE_size, long *pSync);
void shmem_collect32(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,
                     int PE_size, long *pSync);
void shmem_collect64(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,
                     int PE_size, long *pSync);
void shmem_fcollect32(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,
                      int PE_size, long *pSync);
void shmem_fcollect64(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,
                      int PE_size, long *pSync);
void shmem_alltoall32(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,
                      int PE_size, long *pSync);
void shmem_alltoall64(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,
                      int PE_size, long *pSync);
void shmem_alltoalls32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,
                       int PE_start, int logPE_stride, int PE_size, long *pSync);
void shmem_alltoalls64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,
                       int PE_start, int logPE_stride, int PE_size, long *pSync);

/* Reductions; pWrk is symmetric and holds max(nreduce / 2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE) elements. */
void shmem_short_and_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride,
                            int PE_size, short *pWrk, long *pSync);
void shmem_int_and_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride,
                          int PE_size, int *pWrk, long *pSync);
void shmem_long_and_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride,
                           int PE_size, long *pWrk, long *pSync);
void shmem_longlong_and_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
                               int logPE_stride, int PE_size, long long *pWrk, long *pSync);

void shmem_short_or_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride,
                           int PE_size, short *pWrk, long *pSync);
void shmem_int_or_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride,
                         int PE_size, int *pWrk, long *pSync);
void shmem_long_or_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride,
                          int PE_size, long *pWrk, long *pSync);
void shmem_longlong_or_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
                              int logPE_stride, int PE_size, long long *pWrk, long *pSync);

void shmem_short_xor_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride,
                            int PE_size, short *pWrk, long *pSync);
void shmem_int_xor_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride,
                          int PE_size, int *pWrk, long *pSync);
void shmem_long_xor_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride,
                           int PE_size, long *pWrk, long *pSync);
void shmem_longlong_xor_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
                               int logPE_stride, int PE_size, long long *pWrk, long *pSync);

void shmem_short_max_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride,
                            int PE_size, short *pWrk, long *pSync);
void shmem_int_max_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride,
                          int PE_size, int *pWrk, long *pSync);
void shmem_long_max_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride,
                           int PE_size, long *pWrk, long *pSync);
void shmem_longlong_max_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
                               int logPE_stride, int PE_size, long long *pWrk, long *pSync);
void shmem_float_max_to_all(float *dest, const float *source, int nreduce, int PE_start, int logPE_stride,
                            int PE_size, float *pWrk, long *pSync);
void shmem_double_max_to_all(double *dest, const double *source, int nreduce, int PE_start, int logPE_stride,
                             int PE_size, double *pWrk, long *pSync);
void shmem_longdouble_max_to_all(long double *dest, const long double *source, int nreduce, int PE_start,
                                 int logPE_stride, int PE_size, long double *pWrk, long *pSync);

void shmem_short_min_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride,
                            int PE_size, short *pWrk, long *pSync);
void shmem_int_min_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride,
                          int PE_size, int *pWrk, long *pSync);
void shmem_long_min_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride,
                           int PE_size, long *pWrk, long *pSync);
void shmem_longlong_min_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
                               int logPE_stride, int PE_size, long long *pWrk, long *pSync);
void shmem_float_min_to_all(float *dest, const float *source, int nreduce, int PE_start, int logPE_stride,
                            int PE_size, float *pWrk, long *pSync);
void shmem_double_min_to_all(double *dest, const double *source, int nreduce, int PE_start, int logPE_stride,
                             int PE_size, double *pWrk, long *pSync);
void shmem_longdouble_min_to_all(long double *dest, const long double *source, int nreduce, int PE_start,
                                 int logPE_stride, int PE_size, long double *pWrk, long *pSync);

void shmem_short_sum_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride,
                            int PE_size, short *pWrk, long *pSync);
void shmem_int_sum_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride,
                          int PE_size, int *pWrk, long *pSync);
void shmem_long_sum_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride,
                           int PE_size, long *pWrk, long *pSync);
void shmem_longlong_sum_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
                               int logPE_stride, int PE_size, long long *pWrk, long *pSync);
void shmem_float_sum_to_all(float *dest, const float *source, int nreduce, int PE_start, int logPE_stride,
                            int PE_size, float *pWrk, long *pSync);
void shmem_double_sum_to_all(double *dest, const double *source, int nreduce, int PE_start, int logPE_stride,
                             int PE_size, double *pWrk, long *pSync);
void shmem_longdouble_sum_to_all(long double *dest, const long double *source, int nreduce, int PE_start,
                                 int logPE_stride, int PE_size, long double *pWrk, long *pSync);
__extension__
void shmem_complexd_sum_to_all(double _Complex *dest, const double _Complex *source, int nreduce,
                               int PE_start, int logPE_stride, int PE_size, double _Complex *pWrk,
                               long *pSync);
__extension__
void shmem_complexf_sum_to_all(float _Complex *dest, const float _Complex *source, int nreduce, int PE_start,
                               int logPE_stride, int PE_size, float _Complex *pWrk, long *pSync);

void shmem_short_prod_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride,
                             int PE_size, short *pWrk, long *pSync);
void shmem_int_prod_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride,
                           int PE_size, int *pWrk, long *pSync);
void shmem_long_prod_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride,
                            int PE_size, long *pWrk, long *pSync);
void shmem_longlong_prod_to_all(long long *dest, const long long *source, int nreduce, int PE_start,
                                int logPE_stride, int PE_size, long long *pWrk, long *pSync);
void shmem_float_prod_to_all(float *dest, const float *source, int nreduce, int PE_start, int logPE_stride,
                             int PE_size, float *pWrk, long *pSync);
void shmem_double_prod_to_all(double *dest, const double *source, int nreduce, int PE_start, int logPE_stride,
                              int PE_size, double *pWrk, long *pSync);
void shmem_longdouble_prod_to_all(long double *dest, const long double *source, int nreduce, int PE_start,
                                  int logPE_stride, int PE_size, long double *pWrk, long *pSync);
__extension__
void shmem_complexd_prod_to_all(double _Complex *dest, const double _Complex *source, int nreduce,
                                int PE_start, int logPE_stride, int PE_size, double _Complex *pWrk,
                                long *pSync);
__extension__
void shmem_complexf_prod_to_all(float _Complex *dest, const float _Complex *source, int nreduce, int PE_start,
                                int logPE_stride, int PE_size, float _Complex *pWrk, long *pSync);

#ifdef __cplusplus
}
#endif

#endif
