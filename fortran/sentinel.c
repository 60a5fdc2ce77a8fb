/* The memory of Fortran's special variables. */
#include "sentinel.h"

#define ALIGNED _Alignas(64) /* as much as compilers ask for a common block: gfortran 64 with AVX-512 */

ALIGNED const int mpi_fortran_bottom_[1] = {0};
ALIGNED const int mpi_fortran_in_place_[1] = {0};
ALIGNED const int mpi_fortran_buffer_automatic_[1] = {0};
ALIGNED const int mpi_fortran_errcodes_ignore_[1] = {0};
ALIGNED const int mpi_fortran_unweighted_[1] = {0};
ALIGNED const int mpi_fortran_weights_empty_[1] = {0};
ALIGNED const int mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE] = {0};
ALIGNED const int mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE] = {0};
ALIGNED const char mpi_fortran_argv_null_[1] = {0};
ALIGNED const char mpi_fortran_argvs_null_[1] = {0};
