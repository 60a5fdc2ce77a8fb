! Fortran procedures called from several threads at a time, each with operations, attributes and requests of its own.
module called
    use mpi
    implicit none
    integer :: copied = 0, deleted = 0, wrong = 0
contains
    subroutine greatest(in, inout, len, datatype)
        integer :: len, datatype, in(len), inout(len)
        inout = max(in, inout)
    end subroutine

    subroutine least(in, inout, len, datatype)
        integer :: len, datatype, in(len), inout(len)
        inout = min(in, inout)
    end subroutine

    subroutine copy_attr(old, keyval, extra, in, out, flag, ierror)
        integer :: old, keyval, ierror
        integer(MPI_ADDRESS_KIND) :: extra, in, out
        logical :: flag
        !$omp atomic
        copied = copied + 1
        out = in + extra
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine

    subroutine delete_attr(handle, keyval, value, extra, ierror)
        integer :: handle, keyval, ierror
        integer(MPI_ADDRESS_KIND) :: value, extra
        !$omp atomic
        deleted = deleted + 1
        ierror = MPI_SUCCESS
    end subroutine

    subroutine query(extra, status, ierror)
        integer(MPI_ADDRESS_KIND) :: extra
        integer :: status(MPI_STATUS_SIZE), ierror
        call MPI_Status_set_elements(status, MPI_BYTE, 0, ierror)
        call MPI_Status_set_cancelled(status, .false., ierror)
        status(MPI_TAG) = int(extra)
        ierror = MPI_SUCCESS
    end subroutine

    subroutine free_it(extra, ierror)
        integer(MPI_ADDRESS_KIND) :: extra
        integer :: ierror
        ierror = MPI_SUCCESS
    end subroutine

    subroutine cancel(extra, complete, ierror)
        integer(MPI_ADDRESS_KIND) :: extra
        logical :: complete
        integer :: ierror
        ierror = MPI_SUCCESS
    end subroutine

    subroutine note(good)
        logical, intent(in) :: good
        if (.not. good) then
            !$omp atomic
            wrong = wrong + 1
        end if
    end subroutine

    ! One thread's work, on a communicator of its own.
    subroutine work(thread, comm)
        integer, intent(in) :: thread, comm
        integer, parameter :: TIMES = 100
        integer :: op(2), i, keyval, second, request, ierror, rank, size, out(2), status(MPI_STATUS_SIZE)
        integer(MPI_ADDRESS_KIND) :: value
        logical :: flag

        call MPI_Comm_rank(comm, rank, ierror)
        call MPI_Comm_size(comm, size, ierror)
        call MPI_Comm_create_keyval(copy_attr, delete_attr, keyval, int(thread, MPI_ADDRESS_KIND), ierror)
        do i = 1, TIMES
            call MPI_Op_create(greatest, .true., op(1), ierror)
            call MPI_Op_create(least, .true., op(2), ierror)
            call MPI_Allreduce([rank, i], out, 2, MPI_INTEGER, op(1 + mod(i, 2)), comm, ierror)
            call note(out(1) == merge(0, size - 1, mod(i, 2) == 1) .and. out(2) == i)
            call MPI_Op_free(op(1), ierror)
            call MPI_Op_free(op(2), ierror)
            call MPI_Grequest_start(query, free_it, cancel, int(1000 * thread + i, MPI_ADDRESS_KIND), request, ierror)
            call MPI_Grequest_complete(request, ierror)
            call MPI_Wait(request, status, ierror)
            call note(status(MPI_TAG) == 1000 * thread + i)
        end do
        do i = 1, TIMES / 10
            call MPI_Comm_set_attr(comm, keyval, int(1000 * thread + i, MPI_ADDRESS_KIND), ierror)
            call MPI_Comm_dup(comm, second, ierror)
            call MPI_Comm_get_attr(second, keyval, value, flag, ierror)
            call note(flag .and. value == 1001 * thread + i)
            call MPI_Comm_free(second, ierror)
        end do
        call MPI_Comm_delete_attr(comm, keyval, ierror)
        call MPI_Comm_free_keyval(keyval, ierror)
    end subroutine
end module

program threads
    use called
    implicit none
    integer, parameter :: N = 8
    integer :: ierror, provided, comms(N), i

    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierror)
    do i = 1, N
        call MPI_Comm_dup(MPI_COMM_WORLD, comms(i), ierror)
    end do
    !$omp parallel do num_threads(N) schedule(static, 1)
    do i = 1, N
        call work(i, comms(i))
    end do
    !$omp end parallel do
    do i = 1, N
        call MPI_Comm_free(comms(i), ierror)
    end do
    call MPI_Finalize(ierror)
    if (wrong > 0 .or. copied /= 10 * N .or. deleted /= 20 * N) then
        print *, 'wrong: ', wrong, ' copied: ', copied, ' deleted: ', deleted
        stop 1
    end if
end program
