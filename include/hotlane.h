/* What Hotlane offers beyond MPI and OpenSHMEM. */
#ifndef HOTLANE_H
#define HOTLANE_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets *value to a counter of this process: "lanes" (network endpoints opened), "leases", "leases_contended",
 * "flush_waits", "bytes_written", "bytes_read" and the others that HOTLANE_STATS prints at the end. With
 * ":" and a number those of a lane alone, in the order in which they were opened: "leases:0". With
 * HOTLANE_CS_COUNT=1 there are those of critical sections (HOTLANE_CS) too, of all threads or with ":me" of the
 * caller: "cs_KIND", "cs_KIND_contended" and "cs_KIND_wait_ns", where KIND is call, send, inbox, progress, pool,
 * request, comm or window.
 * Returns 0, or -1 for a name that is none. Any thread, before, during and after communication. */
int hotlane_counter(const char *name, long long *value);

/* ---- Put with notification ----
 *
 * MPIX_Put_notify is MPI_Put followed by a store of `value` into an 8-byte flag of the same target's window:
 * who sees the value (by MPIX_Win_flag_wait, MPIX_Win_flag_test or an atomic acquire load) sees the data of
 * this call. It says nothing about other operations: neither earlier puts nor other notifications to the same
 * flag are ordered with it. The flag is uint64_t, aligned, at flag_disp in the target's displacement units.
 *
 * The flag arrives without any further call of the origin: over the network after a millisecond or two, or at
 * once when the origin flushes or waits in the library. Like a put, the call needs an epoch, and origin
 * buffer and operation are complete after a flush; a target of MPI_PROC_NULL does nothing. Off the node it is
 * one message when the data are contiguous at the target and fit one (about 16 KB); otherwise the call
 * returns only when the data are there. Errors are those of MPI_Put, and MPI_ERR_DISP for a flag that is not
 * aligned. */
int MPIX_Put_notify(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Aint flag_disp,
                    uint64_t value, MPI_Win win);
int MPIX_Put_notify_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Aint flag_disp, uint64_t value, MPI_Win win);

/* How a flag is compared with a value, as unsigned numbers. */
enum { MPIX_CMP_EQ, MPIX_CMP_NE, MPIX_CMP_GT, MPIX_CMP_GE, MPIX_CMP_LT, MPIX_CMP_LE };

/* Waits until `flag CMP value` holds for a flag in the caller's own part of the window, then *seen (unless
 * NULL) is what was there. The thread sleeps when the wait is long, and a notification wakes it; progress is
 * made meanwhile. Any number of threads, no epoch needed. Errors: MPI_ERR_WIN, MPI_ERR_ARG (compare),
 * MPI_ERR_DISP, MPI_ERR_RMA_RANGE. */
int MPIX_Win_flag_wait(MPI_Aint flag_disp, int compare, uint64_t value, uint64_t *seen, MPI_Win win);

/* The same without waiting: *done tells whether it holds. */
int MPIX_Win_flag_test(MPI_Aint flag_disp, int compare, uint64_t value, uint64_t *seen, int *done,
                       MPI_Win win);

/* The same for `count` flags: waits until `flag_disps[i] CMP values[i]` holds for one of them; then *index is
 * its i and *seen (unless NULL) what was there. An entry of MPIX_FLAG_NONE is passed over (say, one that was
 * told before); when no other is there *index is MPI_UNDEFINED at once. Of several flags that hold none is
 * preferred, so none is passed over for ever. The arrays must not change meanwhile. Errors as above, of the
 * first entry that has one, and MPI_ERR_COUNT for a negative count. */
#define MPIX_FLAG_NONE ((MPI_Aint)-1)
int MPIX_Win_flag_wait_any(int count, const MPI_Aint flag_disps[], int compare, const uint64_t values[],
                           int *index, uint64_t *seen, MPI_Win win);

/* ---- Flush with a request ----
 *
 * MPI_Win_flush, _flush_all, _flush_local and _flush_local_all without their wait. The request ends when what
 * was issued before the call (by this thread, or by others in the order that the program made) has ended, and
 * waits for nothing that is issued later. It is completed by MPI_Wait, MPI_Test and their kin, alone or among
 * others, with an empty status; every call that makes progress carries it on. Nothing is left to wait for
 * where targets are on the node: then the request is done when the call returns.
 *
 * Errors of the operations are told once, as by the flush: by whichever comes first, the end of a request or
 * a flush, and of a request by the call that completes it, through the window's error handler. Errors of the
 * call itself are those of the flush (MPI_ERR_WIN, MPI_ERR_RANK, MPI_ERR_RMA_SYNC), and MPI_ERR_ARG for a
 * NULL request; *request is not written then. MPI_PROC_NULL as rank gives a request that is done.
 *
 * A request may outlive its epoch and its window: MPI_Win_unlock, MPI_Win_unlock_all and MPI_Win_free wait
 * for all operations themselves, so it is done soon afterwards, and MPI_Win_free ends it. It has to be
 * completed all the same, before MPI_Finalize. After MPI_Request_free nobody is told its errors. Any number
 * of threads. */
int MPIX_Win_iflush(int rank, MPI_Win win, MPI_Request *request);
int MPIX_Win_iflush_all(MPI_Win win, MPI_Request *request);
int MPIX_Win_iflush_local(int rank, MPI_Win win, MPI_Request *request);
int MPIX_Win_iflush_local_all(MPI_Win win, MPI_Request *request);

/* ---- Array sections, without datatypes ----
 *
 * A section says where the elements of an array lie, as compilers of Fortran describe an actual argument:
 * rank dimensions, of which dims[0] varies fastest. Strides are bytes from one element to the next, of any
 * sign and 0, too. `count` items of `datatype` are taken from the section's elements in their order, or put
 * there, as if these lay one behind the other: what a program says of a contiguous copy holds for the
 * section.
 *
 * The layout of a dimension is that of CFI_dim_t in ISO_Fortran_binding.h (gfortran, flang), so that dims may
 * point into a descriptor. lower_bound is not looked at. An extent of -1 in the last dimension is an array of
 * assumed size, which is contiguous. Rank 0, a contiguous section, or no section (NULL) is a plain buffer:
 * the call does what the MPI call of the same name does, whatever the count. An extent of 0 leaves no
 * elements. The section, its dims and the caller's descriptor may change or go when the call returns.
 *
 * Datatypes with holes are taken, too; items that fill whole elements, and any number of those without
 * holes, cost no more than what they copy. Errors are those of the MPI call, and MPI_ERR_ARG for a section
 * that is none (rank not 0 .. MPIX_SECTION_RANKS, a negative extent, a negative elem_len, strides past 2^63
 * bytes), MPI_ERR_COUNT for more data than a section with gaps has. */
#define MPIX_SECTION_RANKS 15

typedef struct MPIX_Section_dim {
    MPI_Aint lower_bound; /* not looked at */
    MPI_Aint extent;      /* elements */
    MPI_Aint stride;      /* bytes */
} MPIX_Section_dim;

typedef struct MPIX_Section {
    MPI_Aint elem_len; /* bytes of an element */
    int rank;
    const MPIX_Section_dim *dims; /* [rank] */
} MPIX_Section;

/* MPI_Put, MPI_Get and MPI_Accumulate. origin_addr is the address of the origin section's first element
 * (that with the lowest index in each dimension, not necessarily the lowest address); target_disp names that
 * of the target's section. */
int MPIX_Put_section(const void *origin_addr, const MPIX_Section *origin, MPI_Count origin_count,
                     MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                     const MPIX_Section *target, MPI_Count target_count, MPI_Datatype target_datatype,
                     MPI_Win win);
int MPIX_Get_section(void *origin_addr, const MPIX_Section *origin, MPI_Count origin_count,
                     MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                     const MPIX_Section *target, MPI_Count target_count, MPI_Datatype target_datatype,
                     MPI_Win win);
int MPIX_Accumulate_section(const void *origin_addr, const MPIX_Section *origin, MPI_Count origin_count,
                            MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                            const MPIX_Section *target, MPI_Count target_count, MPI_Datatype target_datatype,
                            MPI_Op op, MPI_Win win);

/* MPI_Send, MPI_Recv, MPI_Isend and MPI_Irecv. buf is the address of the section's first element. */
int MPIX_Send_section(const void *buf, const MPIX_Section *section, MPI_Count count, MPI_Datatype datatype,
                      int dest, int tag, MPI_Comm comm);
int MPIX_Recv_section(void *buf, const MPIX_Section *section, MPI_Count count, MPI_Datatype datatype,
                      int source, int tag, MPI_Comm comm, MPI_Status *status);
int MPIX_Isend_section(const void *buf, const MPIX_Section *section, MPI_Count count, MPI_Datatype datatype,
                       int dest, int tag, MPI_Comm comm, MPI_Request *request);
int MPIX_Irecv_section(void *buf, const MPIX_Section *section, MPI_Count count, MPI_Datatype datatype,
                       int source, int tag, MPI_Comm comm, MPI_Request *request);

/* The profiling names. */
int PMPIX_Put_notify(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                     MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Aint flag_disp,
                     uint64_t value, MPI_Win win);
int PMPIX_Put_notify_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                       int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                       MPI_Datatype target_datatype, MPI_Aint flag_disp, uint64_t value, MPI_Win win);
int PMPIX_Win_flag_wait(MPI_Aint flag_disp, int compare, uint64_t value, uint64_t *seen, MPI_Win win);
int PMPIX_Win_flag_test(MPI_Aint flag_disp, int compare, uint64_t value, uint64_t *seen, int *done,
                        MPI_Win win);
int PMPIX_Win_flag_wait_any(int count, const MPI_Aint flag_disps[], int compare, const uint64_t values[],
                            int *index, uint64_t *seen, MPI_Win win);
int PMPIX_Win_iflush(int rank, MPI_Win win, MPI_Request *request);
int PMPIX_Win_iflush_all(MPI_Win win, MPI_Request *request);
int PMPIX_Win_iflush_local(int rank, MPI_Win win, MPI_Request *request);
int PMPIX_Win_iflush_local_all(MPI_Win win, MPI_Request *request);
int PMPIX_Put_section(const void *origin_addr, const MPIX_Section *origin, MPI_Count origin_count,
                      MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                      const MPIX_Section *target, MPI_Count target_count, MPI_Datatype target_datatype,
                      MPI_Win win);
int PMPIX_Get_section(void *origin_addr, const MPIX_Section *origin, MPI_Count origin_count,
                      MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                      const MPIX_Section *target, MPI_Count target_count, MPI_Datatype target_datatype,
                      MPI_Win win);
int PMPIX_Accumulate_section(const void *origin_addr, const MPIX_Section *origin, MPI_Count origin_count,
                             MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                             const MPIX_Section *target, MPI_Count target_count, MPI_Datatype target_datatype,
                             MPI_Op op, MPI_Win win);
int PMPIX_Send_section(const void *buf, const MPIX_Section *section, MPI_Count count, MPI_Datatype datatype,
                       int dest, int tag, MPI_Comm comm);
int PMPIX_Recv_section(void *buf, const MPIX_Section *section, MPI_Count count, MPI_Datatype datatype,
                       int source, int tag, MPI_Comm comm, MPI_Status *status);
int PMPIX_Isend_section(const void *buf, const MPIX_Section *section, MPI_Count count, MPI_Datatype datatype,
                        int dest, int tag, MPI_Comm comm, MPI_Request *request);
int PMPIX_Irecv_section(void *buf, const MPIX_Section *section, MPI_Count count, MPI_Datatype datatype,
                        int source, int tag, MPI_Comm comm, MPI_Request *request);

#ifdef __cplusplus
}
#endif

#endif
