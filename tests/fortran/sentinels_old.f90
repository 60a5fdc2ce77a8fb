! The special variables of mpif.h, in free form: the same as those of module mpi.
subroutine old_style(failures)
    implicit none
    include 'mpif.h'
    integer, intent(inout) :: failures
    integer, external :: faults
    external :: MPI_Allreduce, MPI_Comm_rank, MPI_Comm_size
    integer :: ierror, rank, size, total(2)

    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    total = [rank, 1]
    call MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (.not. (total(1) == size * (size - 1) / 2 .and. total(2) == size)) then
        print *, 'wrong: MPI_IN_PLACE of mpif.h'
        failures = failures + 1
    end if
    if (.not. (faults(MPI_STATUS_IGNORE) == 1)) then
        print *, 'wrong: MPI_STATUS_IGNORE of mpif.h can be written'
        failures = failures + 1
    end if
end subroutine
