! The special variables of mpif.h, in free form: the same as those of module mpi.
subroutine old_style
    use, intrinsic :: iso_c_binding, only: c_loc, c_associated
    use checks
    implicit none
    include 'mpif.h'
    integer, external :: faults
    external :: MPI_Allreduce, MPI_Comm_rank, MPI_Comm_size
    integer :: ierror, rank, size, total(2)

    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    total = [rank, 1]
    call MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check(total(1) == size * (size - 1) / 2 .and. total(2) == size, 'MPI_IN_PLACE of mpif.h')
    call check(c_associated(c_loc(MPI_BUFFER_AUTOMATIC)), 'the address of MPI_BUFFER_AUTOMATIC of mpif.h')
    call check(faults(MPI_STATUS_IGNORE) == 1, 'MPI_STATUS_IGNORE of mpif.h can be written')
end subroutine
