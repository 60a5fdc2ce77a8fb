! Partitioned sends and receives of array sections: each partition is what the section holds when it is ready, and stands in
! the section as soon as it has arrived, whoever waits for the whole meanwhile.
module moves
    use mpi_f08
    use checks
    use omp_lib
    implicit none
    integer, parameter :: dp = kind(1d0), parts = 12, each = 10, coming = 5, most = parts * each
    integer :: me, ranks, left, right

contains

    real(dp) function sent(from, round, i)
        integer, intent(in) :: from, round, i
        sent = 1d6 * from + 1d3 * round + i
    end function

    ! Threads fill partitions and tell that they are ready, in an order of their own, while the first one looks for what comes.
    subroutine exchange(n)
        integer, intent(in) :: n
        real(dp), asynchronous :: a(3, most), b(4, 2 * most)
        type(MPI_Request) :: to, from
        integer :: round, thread, i

        a = -2
        b = -1
        call MPI_Psend_init(a(2, :), parts, int(each, MPI_COUNT_KIND), MPI_DOUBLE_PRECISION, right, n, &
            MPI_COMM_WORLD, MPI_INFO_NULL, to)
        ! As many elements in fewer partitions, backward.
        call MPI_Precv_init(b(3, 2 * most:2:-2), coming, int(most / coming, MPI_COUNT_KIND), MPI_DOUBLE_PRECISION, left, n, &
            MPI_COMM_WORLD, MPI_INFO_NULL, from)
        do round = 1, 3
            call MPI_Start(from)
            call MPI_Start(to)
            !$omp parallel num_threads(n + 1) private(thread)
            thread = omp_get_thread_num()
            if (omp_get_num_threads() == 1) then
                call fill(round, 0, 1)
                call look(round)
            else if (thread == 0) then
                call look(round)
            else
                call fill(round, thread - 1, omp_get_num_threads() - 1)
            end if
            !$omp end parallel
            call MPI_Wait(to, MPI_STATUS_IGNORE)
            call check(all(b(3, 2 * most:2:-2) == [(sent(left, round, i), i = 1, most)]), "what came", n)
            call check(all(b(3, 1::2) == -1) .and. all(b([1, 2, 4], :) == -1), "beside what came", n)
            call check(all(a([1, 3], :) == -2), "beside what was sent", n)
        end do
        call MPI_Request_free(to)
        call MPI_Request_free(from)
    contains
        subroutine fill(round, first, step)
            integer, intent(in) :: round, first, step
            integer :: p, i
            do p = parts - 1 - first, 0, -step
                do i = p * each + 1, (p + 1) * each
                    a(2, i) = sent(me, round, i)
                end do
                select case (mod(p, 3))
                case (0)
                    call MPI_Pready(p, to)
                case (1)
                    call MPI_Pready_range(p, p, to)
                case (2)
                    call MPI_Pready_list(1, [p], to)
                end select
            end do
        end subroutine

        ! Each partition stands in the section when it has arrived; what the program writes there afterwards stays.
        subroutine look(round)
            integer, intent(in) :: round
            integer :: p, i, at
            logical :: here
            do p = 0, coming - 1
                here = .false.
                do while (.not. here)
                    call MPI_Parrived(from, p, here)
                end do
                do i = p * most / coming + 1, (p + 1) * most / coming
                    at = 2 * (most - i + 1)
                    call check(b(3, at) == sent(left, round, i), "a partition that has arrived", n)
                    b(3, at) = -b(3, at)
                end do
            end do
            call MPI_Wait(from, MPI_STATUS_IGNORE)
            call check(all(b(3, 2 * most:2:-2) == [(-sent(left, round, i), i = 1, most)]), "what was written after it arrived", n)
            b(3, 2 * most:2:-2) = -b(3, 2 * most:2:-2)
        end subroutine
    end subroutine

    ! Partitions that end within an element.
    subroutine split_elements()
        complex(dp), asynchronous :: a(2, 9), b(3, 9)
        type(MPI_Request) :: requests(2)
        integer :: i

        a = 0
        b = -1
        call MPI_Psend_init(a(1, :), 6, 3_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, right, 77, &
            MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
        call MPI_Precv_init(b(2, :), 3, 3_MPI_COUNT_KIND, MPI_DOUBLE_COMPLEX, left, 77, &
            MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
        call MPI_Startall(2, requests)
        a(1, :) = [(cmplx(me, i, dp), i = 1, 9)]
        call MPI_Pready_range(3, 5, requests(1))
        call MPI_Pready_list(3, [1, 0, 2], requests(1))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call check(all(b(2, :) == [(cmplx(left, i, dp), i = 1, 9)]), "elements in two partitions")
        call check(all(b([1, 3], :) == -1), "beside elements in two partitions")
        call MPI_Request_free(requests(1))
        call MPI_Request_free(requests(2))
    end subroutine

    subroutine dense_on_one_side()
        integer, asynchronous :: a(6), b(2, 6)
        type(MPI_Request) :: requests(2)
        logical :: flag
        integer :: i

        b = -1
        call MPI_Psend_init(a, 2, 3_MPI_COUNT_KIND, MPI_INTEGER, right, 78, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
        call MPI_Precv_init(b(1, :), 2, 3_MPI_COUNT_KIND, MPI_INTEGER, left, 78, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
        call MPI_Parrived(requests(2), 1, flag) ! not started
        call check(flag .and. all(b == -1), "a request that is not active")
        call MPI_Startall(2, requests)
        a = [(10 * me + i, i = 1, 6)]
        call MPI_Pready(1, requests(1))
        call MPI_Pready(0, requests(1))
        flag = .false.
        do while (.not. flag)
            call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE)
        end do
        call check(all(b(1, :) == [(10 * left + i, i = 1, 6)]) .and. all(b(2, :) == -1), "from a dense array")
        b = -3
        call MPI_Request_free(requests(1))
        call MPI_Request_free(requests(2))
        call check(all(b == -3), "what was written before the requests were freed")
    end subroutine

    subroutine refused()
        integer, asynchronous :: a(2, 10), b(10)
        type(MPI_Request) :: request, from
        type(MPI_Datatype) :: wide
        integer :: ierror, class, i

        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
        call MPI_Psend_init(a(1, :), 4, 3_MPI_COUNT_KIND, MPI_INTEGER, right, 79, &
            MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
        call MPI_Error_class(ierror, class)
        call check(class == MPI_ERR_COUNT, "partitions of more than there is", class)
        call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, 2_MPI_ADDRESS_KIND, wide)
        call MPI_Type_commit(wide)
        call MPI_Precv_init(a(1, :), 2, 2_MPI_COUNT_KIND, wide, left, 79, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
        call MPI_Error_class(ierror, class)
        call check(class == MPI_ERR_TYPE, "items that overlap", class)
        call MPI_Type_free(wide)
        call MPI_Psend_init(a(1, :), 2, 5_MPI_COUNT_KIND, MPI_INTEGER, me, 79, MPI_COMM_WORLD, MPI_INFO_NULL, request)
        call MPI_Precv_init(b, 1, 10_MPI_COUNT_KIND, MPI_INTEGER, me, 79, MPI_COMM_WORLD, MPI_INFO_NULL, from)
        call MPI_Start(from)
        call MPI_Start(request)
        call MPI_Pready(7, request, ierror)
        class = MPI_SUCCESS
        if (ierror /= MPI_SUCCESS) call MPI_Error_class(ierror, class)
        call check(class == MPI_ERR_ARG, "a partition that there is not", class)
        a(1, :) = [(i, i = 1, 10)]
        call MPI_Pready_range(0, 1, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call MPI_Wait(from, MPI_STATUS_IGNORE)
        call check(all(b == a(1, :)), "after a refused partition")
        call MPI_Request_free(request)
        call MPI_Request_free(from)
    end subroutine
end module

program partitions
    use moves
    implicit none
    integer, parameter :: threads(4) = [1, 2, 8, 32]
    integer :: provided, at

    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    right = mod(me + 1, ranks)
    left = mod(me + ranks - 1, ranks)
    call check(provided == MPI_THREAD_MULTIPLE, "threads", provided)
    do at = 1, size(threads)
        call exchange(threads(at))
    end do
    call split_elements()
    call dense_on_one_side()
    call refused()
    call MPI_Finalize()
    if (failures > 0) stop 1
end program
