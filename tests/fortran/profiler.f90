! A tool in Fortran, as MPI 5.0 (15.2, 19.1.5) has it: it stands in for procedures by the names that the linker knows, and calls
! those that begin with PMPI_.
module seen
    implicit none
    integer :: barriers_f08 = 0, sends_f08 = 0, barriers = 0
end module

subroutine MPI_Barrier_f08(comm, ierror)
    use mpi_f08, only: MPI_Comm, PMPI_Barrier
    use seen
    implicit none
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    barriers_f08 = barriers_f08 + 1
    call PMPI_Barrier(comm, ierror)
end subroutine

subroutine MPI_Sendrecv_f08ts(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, &
        comm, status, ierror) bind(C, name="mpi_sendrecv_f08ts_")
    use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Status, PMPI_Sendrecv
    use seen
    implicit none
    type(*), dimension(..), intent(in) :: sendbuf
    type(*), dimension(..) :: recvbuf
    integer, intent(in) :: sendcount, dest, sendtag, recvcount, source, recvtag
    type(MPI_Datatype), intent(in) :: sendtype, recvtype
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Status) :: status
    integer, optional, intent(out) :: ierror
    sends_f08 = sends_f08 + 1
    call PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, &
        status, ierror)
end subroutine

subroutine MPI_Barrier(comm, ierror)
    use mpi, only: PMPI_Barrier
    use seen
    implicit none
    integer, intent(in) :: comm
    integer, intent(out) :: ierror
    barriers = barriers + 1
    call PMPI_Barrier(comm, ierror)
end subroutine

subroutine old_barrier()
    use mpi
    implicit none
    integer :: ierror
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
end subroutine

program profiler
    use mpi_f08
    use checks
    use seen
    implicit none
    integer :: me, ranks, a(2, 6), b(2, 6)

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    a = me
    b = -1
    call MPI_Barrier(MPI_COMM_WORLD)
    call check(barriers_f08 == 1 .and. barriers == 0, "a barrier of mpi_f08", barriers_f08)
    call old_barrier()
    call check(barriers_f08 == 1 .and. barriers == 1, "a barrier of mpi", barriers)
    call MPI_Sendrecv(a(1, :), 6, MPI_INTEGER, mod(me + 1, ranks), 1, b(2, :), 6, MPI_INTEGER, mod(me + ranks - 1, ranks), 1, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(sends_f08 == 1, "an exchange of sections", sends_f08)
    call check(all(b(2, :) == mod(me + ranks - 1, ranks)) .and. all(b(1, :) == -1), "what came", me)
    call MPI_Finalize()
    if (failures > 0) stop 1
end program
