/* Special variables of MPI in Fortran (MPI_BOTTOM, MPI_STATUS_IGNORE and so on): they are told by their
 * address and hold nothing. Each is a common block of its own, the same one in mpif.h and in the modules mpi
 * and mpi_f08:
 *
 *     COMMON /mpi_fortran_bottom/ MPI_BOTTOM
 *
 * The blocks are defined here as constants. The dynamic linker may copy such a block into the program; it
 * then stands in memory that is made read-only before the program starts. So a write ends the program,
 * wherever the block is. Addresses are compared as the dynamic linker gives them: neither -Bsymbolic nor
 * hidden visibility goes with this. (MPI 5.0, sections 2.5.4 and 19.1.5) */
#ifndef HL_FORT_SENTINEL_H
#define HL_FORT_SENTINEL_H

#include <mpi.h>

#define HL_FORT_PUBLIC __attribute__((visibility("default")))

HL_FORT_PUBLIC extern const int mpi_fortran_bottom_[1], mpi_fortran_in_place_[1],
    mpi_fortran_buffer_automatic_[1];
HL_FORT_PUBLIC extern const int mpi_fortran_errcodes_ignore_[1];
HL_FORT_PUBLIC extern const int mpi_fortran_unweighted_[1], mpi_fortran_weights_empty_[1];
HL_FORT_PUBLIC extern const int mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE];
HL_FORT_PUBLIC extern const int mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];
HL_FORT_PUBLIC extern const char mpi_fortran_argv_null_[1], mpi_fortran_argvs_null_[1];

/* A buffer as C knows it: MPI_BOTTOM, MPI_IN_PLACE and MPI_BUFFER_AUTOMATIC become C's, all else stays. */
static inline void *hl_fort_buffer(const void *buffer)
{
    if (__builtin_expect(buffer == mpi_fortran_bottom_, 0)) {
        return MPI_BOTTOM;
    }
    if (__builtin_expect(buffer == mpi_fortran_in_place_, 0)) {
        return MPI_IN_PLACE;
    }
    if (__builtin_expect(buffer == mpi_fortran_buffer_automatic_, 0)) {
        return MPI_BUFFER_AUTOMATIC;
    }
    return (void *)buffer;
}

/* A buffer that MPI gives back, as Fortran knows it: its own MPI_BUFFER_AUTOMATIC in the place of C's. */
static inline void *hl_fort_buffer_out(void *buffer)
{
    return buffer == MPI_BUFFER_AUTOMATIC ? (void *)mpi_fortran_buffer_automatic_ : buffer;
}

/* A status or an array of them: Fortran's INTEGER(MPI_STATUS_SIZE) and TYPE(MPI_Status) lie in memory as C's
 * structure does. Both names are taken for both, as programs mix them. */
static inline MPI_Status *hl_fort_status(void *status)
{
    _Static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(int), "a status is an array of INTEGER");
    return status == mpi_fortran_status_ignore_ || status == mpi_fortran_statuses_ignore_ ? MPI_STATUS_IGNORE
                                                                                          : status;
}

static inline int *hl_fort_errcodes(int *codes)
{
    return codes == mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes;
}

/* Weights of the edges of a graph of processes. */
static inline int *hl_fort_weights(const int *weights)
{
    if (weights == mpi_fortran_unweighted_) {
        return MPI_UNWEIGHTED;
    }
    return weights == mpi_fortran_weights_empty_ ? MPI_WEIGHTS_EMPTY : (int *)weights;
}

#endif
