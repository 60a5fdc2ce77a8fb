! Flushes with a request, and a wait for any of many flags, of module hotlane: rank r puts to the next one.
program flushes
    use mpi_f08
    use hotlane
    use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int64_t, c_ptr
    implicit none
    integer, parameter :: n = 8
    type(MPI_Win) :: win
    type(MPI_Request) :: requests(2), request
    type(c_ptr) :: place
    integer(c_int64_t), pointer :: mine(:)
    integer(c_int64_t) :: values(3), seen
    integer(c_int64_t), asynchronous :: block(n)
    integer(MPI_ADDRESS_KIND) :: flags(3)
    integer :: me, ranks, next, i, at, told(3), code, class

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    next = mod(me + 1, ranks)
    call MPI_Win_allocate(int(8 * (n + 3), MPI_ADDRESS_KIND), 8, MPI_INFO_NULL, MPI_COMM_WORLD, place, win)
    call c_f_pointer(place, mine, [n + 3])
    mine = 0
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPIX_Win_iflush(next, win, request, code)
    call MPI_Error_class(code, class)
    call check(class == MPI_ERR_RMA_SYNC, 'a flush without an epoch')
    call MPI_Win_lock_all(0, win)
    block = [(int(100 * me + i, c_int64_t), i = 1, n)]
    call MPI_Put(block, n, MPI_INTEGER8, next, 0_MPI_ADDRESS_KIND, n, MPI_INTEGER8, win)
    call MPIX_Win_iflush_local(next, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPIX_Win_iflush_local_all(win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    block = -1
    call MPIX_Win_iflush(next, win, requests(1))
    call MPIX_Win_iflush_all(win, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_sync(win)
    call check(all(mine(:n) == [(int(100 * mod(me + ranks - 1, ranks) + i, c_int64_t), i = 1, n)]), 'what was put')

    values = [11, 12, 13]
    flags = [n, n + 1, n + 2]
    do i = 3, 1, -1
        call MPIX_Put_notify(block, 0, MPI_INTEGER8, next, 0_MPI_ADDRESS_KIND, 0, MPI_INTEGER8, flags(i), values(i), win)
    end do
    flags(2) = MPIX_FLAG_NONE
    told = 0
    do i = 1, 2
        call MPIX_Win_flag_wait_any(3, flags, MPIX_CMP_EQ, values, at, seen, win)
        told(at) = told(at) + 1
        call check(seen == values(at), 'the value of a flag')
        flags(at) = MPIX_FLAG_NONE
    end do
    call check(all(told == [1, 0, 1]), 'which flags are told')
    call MPIX_Win_flag_wait_any(3, flags, MPIX_CMP_EQ, values, at, seen, win)
    call check(at == MPI_UNDEFINED, 'a wait for no flag')
    call MPI_Win_unlock_all(win)
    call MPI_Win_free(win)
    call MPI_Finalize()

contains

    subroutine check(right, what)
        logical, intent(in) :: right
        character(len=*), intent(in) :: what
        if (.not. right) then
            print '(a, i0, 2a)', 'rank ', me, ': wrong: ', what
            call MPI_Abort(MPI_COMM_WORLD, 1)
        end if
    end subroutine
end program
