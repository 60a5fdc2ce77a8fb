! What threads of C do at the same time, for ThreadSanitizer (racing.c): sections that are put, kept and started anew, callbacks
! and lists. OpenMP's own library is not instrumented, so no thread here is of OpenMP.
module racing
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: C_INT
    implicit none
    private
    integer, parameter :: N = 16, TIMES = 20
    type(MPI_Win) :: win
    integer, pointer :: memory(:)
    ! A partition of N elements for each thread.
    type(MPI_Request) :: parts(2)
    integer, allocatable, asynchronous :: ready(:, :), arrived(:, :)

contains

    subroutine greatest(in, inout, len, datatype)
        use, intrinsic :: iso_c_binding, only: C_PTR, C_F_POINTER
        type(C_PTR), value :: in, inout
        integer :: len
        type(MPI_Datatype) :: datatype
        integer, pointer :: a(:), b(:)

        call C_F_POINTER(in, a, [len])
        call C_F_POINTER(inout, b, [len])
        b = max(a, b)
    end subroutine

    ! Each thread's part of the window is N integers.
    subroutine racing_begin(threads) bind(C)
        use, intrinsic :: iso_c_binding, only: C_PTR, C_F_POINTER
        integer(C_INT), value :: threads
        type(C_PTR) :: base
        integer(MPI_ADDRESS_KIND) :: size
        integer :: rank, ranks

        size = threads * N * 4
        call MPI_Win_allocate(size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
        call C_F_POINTER(base, memory, [threads * N])
        memory = 0
        call MPI_Win_lock_all(0, win)
        allocate(ready(2, threads * N), arrived(2, threads * N))
        arrived = -1
        call MPI_Comm_rank(MPI_COMM_WORLD, rank)
        call MPI_Comm_size(MPI_COMM_WORLD, ranks)
        call MPI_Psend_init(ready(1, :), threads, int(N, MPI_COUNT_KIND), MPI_INTEGER, mod(rank + 1, ranks), 2, &
            MPI_COMM_WORLD, MPI_INFO_NULL, parts(1))
        call MPI_Precv_init(arrived(2, :), threads, int(N, MPI_COUNT_KIND), MPI_INTEGER, mod(rank + ranks - 1, ranks), 2, &
            MPI_COMM_WORLD, MPI_INFO_NULL, parts(2))
        call MPI_Startall(2, parts)
        call MPI_Barrier(MPI_COMM_WORLD)
    end subroutine

    subroutine racing_end() bind(C)
        call MPI_Waitall(2, parts, MPI_STATUSES_IGNORE)
        call MPI_Request_free(parts(1))
        call MPI_Request_free(parts(2))
        deallocate(ready, arrived)
        call MPI_Win_unlock_all(win)
        call MPI_Win_free(win)
    end subroutine

    ! Returns how much was wrong.
    function racing_work(thread, comm_number) bind(C) result(wrong)
        integer(C_INT), value :: thread, comm_number
        integer(C_INT) :: wrong
        type(MPI_Comm) :: comm
        type(MPI_Op) :: op
        type(MPI_Request) :: requests(2), kept(2)
        integer, asynchronous :: from(2 * N), to(3 * N), all(2 * N), back(2 * N)
        integer :: i, j, rank, size, left, right

        comm = MPI_Comm(comm_number)
        call MPI_Comm_rank(comm, rank)
        call MPI_Comm_size(comm, size)
        right = mod(rank + 1, size)
        left = mod(rank + size - 1, size)
        wrong = race_partitions(thread, rank, left)
        call MPI_Send_init(from(2::2), N, MPI_INTEGER, right, 1, comm, kept(1))
        call MPI_Recv_init(to(3::3), N, MPI_INTEGER, left, 1, comm, kept(2))
        do i = 1, TIMES
            from = [(1000 * thread + 10 * i + rank + j, j = 1, 2 * N)]
            to = -1
            all = -1
            call MPI_Startall(2, kept)
            call MPI_Put(from(1::2), N, MPI_INTEGER, right, int(thread * N, MPI_ADDRESS_KIND), N, MPI_INTEGER, win)
            call MPI_Win_flush(right, win)
            call MPI_Op_create(greatest, .true., op)
            call MPI_Iallreduce(from(1::2), all(2::2), N, MPI_INTEGER, op, comm, requests(1))
            call MPI_Ibarrier(comm, requests(2))
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
            call MPI_Waitall(2, kept, MPI_STATUSES_IGNORE)
            call MPI_Op_free(op)
            wrong = wrong + count(to(3::3) /= [(1000 * thread + 10 * i + left + 2 * j, j = 1, N)])
            wrong = wrong + count(to(1::3) /= -1) + count(to(2::3) /= -1)
            wrong = wrong + count(all(2::2) /= [(1000 * thread + 10 * i + size + 2 * j - 2, j = 1, N)]) + count(all(1::2) /= -1)
            back = -1
            call MPI_Get(back(1::2), N, MPI_INTEGER, right, int(thread * N, MPI_ADDRESS_KIND), N, MPI_INTEGER, win)
            call MPI_Win_flush(right, win)
            wrong = wrong + count(back(1::2) /= from(1::2)) + count(back(2::2) /= -1)
        end do
        call MPI_Request_free(kept(1))
        call MPI_Request_free(kept(2))
    end function

    ! Each thread has a partition, and the first one waits for all meanwhile.
    integer function race_partitions(thread, rank, left) result(wrong)
        integer, intent(in) :: thread, rank, left
        integer :: i, first
        logical :: here

        first = thread * N
        ready(1, first + 1:first + N) = [(1000 * rank + first + i, i = 1, N)]
        call MPI_Pready(thread, parts(1))
        if (thread == 0) call MPI_Wait(parts(2), MPI_STATUS_IGNORE)
        here = .false.
        do while (.not. here)
            call MPI_Parrived(parts(2), thread, here)
        end do
        wrong = count(arrived(2, first + 1:first + N) /= [(1000 * left + first + i, i = 1, N)])
        wrong = wrong + count(arrived(1, first + 1:first + N) /= -1)
    end function
end module
