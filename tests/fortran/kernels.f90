! Kernels as programs of users have them, by messages and by one-sided operations on array sections, each with a result that is known:
! a transpose of a matrix that lies in blocks of columns, a pipeline along the columns of a grid, a star-shaped stencil on a grid of
! ranks, updates of a table by accumulates in any order, and a reduction of every second element.
module kernels
    use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int64_t, c_ptr
    use mpi_f08
    use hotlane
    use checks
    implicit none
    integer, parameter :: dp = kind(1d0), words = 8
    type(MPI_Datatype) :: double
    integer :: me, ranks

contains

    ! Elements before part r of n, which are divided among `parts` as evenly as they can be.
    pure integer function begin_of(r, n, parts)
        integer, intent(in) :: r, n, parts

        begin_of = int(int(r, c_int64_t) * n / parts)
    end function

    ! Memory of a window as an array of doubles.
    subroutine open_window(n, memory, win)
        integer, intent(in) :: n
        real(dp), pointer, contiguous, intent(out) :: memory(:)
        type(MPI_Win), intent(out) :: win
        type(c_ptr) :: place

        call MPI_Win_allocate(int(words, MPI_ADDRESS_KIND) * n, words, MPI_INFO_NULL, MPI_COMM_WORLD, place, win)
        call c_f_pointer(place, memory, [n])
        memory = 0
        call MPI_Barrier(MPI_COMM_WORLD)
    end subroutine

    ! b = transpose(a) of n x n, three ways: blocks are exchanged by messages that are sections at both ends; each rank gets the
    ! rows of others into sections of its own; blocks go by a collective.
    subroutine transpose_blocks(n)
        integer, intent(in) :: n
        real(dp), pointer, contiguous :: memory(:), a(:, :)
        real(dp), allocatable :: b(:, :), packed(:)
        type(MPI_Win) :: win
        integer :: first, mine, most, i, j, k, to, from, lo, hi, counts(0:ranks - 1), places(0:ranks - 1)

        first = begin_of(me, n, ranks)
        mine = begin_of(me + 1, n, ranks) - first
        most = (n + ranks - 1) / ranks
        call open_window(n * most, memory, win)
        a(1:n, 1:mine) => memory(:n * mine)
        do j = 1, mine
            a(:, j) = [(real(n * (first + j - 1) + i - 1, dp), i = 1, n)]
        end do
        allocate (b(n, mine), packed(n * mine))

        b = -1
        do k = 0, ranks - 1
            to = mod(me + k, ranks)
            from = mod(me - k + ranks, ranks)
            packed = -1
            lo = begin_of(to, n, ranks) + 1
            hi = begin_of(to + 1, n, ranks)
            call MPI_Sendrecv(a(lo:hi, :), (hi - lo + 1) * mine, double, to, k, packed, mine * count_of(from, n), double, from, k, &
                              MPI_COMM_WORLD, MPI_STATUS_IGNORE)
            lo = begin_of(from, n, ranks) + 1
            hi = begin_of(from + 1, n, ranks)
            b(lo:hi, :) = transpose(reshape(packed(:mine * (hi - lo + 1)), [mine, hi - lo + 1]))
        end do
        call look_at_transpose('transpose by messages', n, first, b)

        b = -1
        call MPI_Win_fence(MPI_MODE_NOPRECEDE, win)
        do k = 0, ranks - 1
            lo = begin_of(k, n, ranks)
            do i = 1, count_of(k, n) ! columns there
                do j = 1, mine
                    call MPI_Get(b(lo + i, j), 1, double, k, int((i - 1) * n + first + j - 1, MPI_ADDRESS_KIND), 1, double, win)
                end do
            end do
        end do
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
        call look_at_transpose('transpose by elements', n, first, b)

        b = -1
        call MPI_Win_lock_all(0, win)
        do k = 0, ranks - 1
            lo = begin_of(k, n, ranks)
            do i = 1, count_of(k, n) ! a row of mine is a piece of a column there
                call MPI_Get(b(lo + i, :), mine, double, k, int((i - 1) * n + first, MPI_ADDRESS_KIND), mine, &
                             double, win)
            end do
        end do
        call MPI_Win_unlock_all(win)
        call look_at_transpose('transpose by rows', n, first, b)

        b = -1
        counts = [(mine * count_of(k, n), k = 0, ranks - 1)]
        places = [(mine * begin_of(k, n, ranks), k = 0, ranks - 1)]
        call MPI_Alltoallv(transpose(a), counts, places, double, packed, counts, places, double, MPI_COMM_WORLD)
        do k = 0, ranks - 1 ! packed: of rank k the pieces of its columns, one beside the other
            lo = begin_of(k, n, ranks)
            b(lo + 1:lo + count_of(k, n), :) = reshape(packed(places(k) + 1:places(k) + counts(k)), [count_of(k, n), mine])
        end do
        call look_at_transpose('transpose by MPI_Alltoallv', n, first, b)
        call MPI_Win_free(win)
    end subroutine

    pure integer function count_of(r, n)
        integer, intent(in) :: r, n

        count_of = begin_of(r + 1, n, ranks) - begin_of(r, n, ranks)
    end function

    subroutine look_at_transpose(what, n, first, b)
        character(len=*), intent(in) :: what
        integer, intent(in) :: n, first
        real(dp), intent(in) :: b(:, :)
        integer :: i, j

        do j = 1, size(b, 2)
            call check(all(b(:, j) == [(real(n * (i - 1) + first + j - 1, dp), i = 1, n)]), what // ', column', first + j)
        end do
    end subroutine

    ! g(i, j) = g(i - 1, j) + g(i, j - 1) - g(i - 1, j - 1) with g(0, j) = j and g(i, 0) = i, so g(i, j) = i + j. Ranks have columns side
    ! by side; element i of the last one goes to the next rank when it is known: by a message, or by a put whose flag says how far
    ! the column is.
    subroutine pipeline(rows, columns)
        integer, intent(in) :: rows, columns
        real(dp), allocatable, asynchronous :: g(:, :)
        real(dp), pointer, contiguous :: inbox(:)
        type(MPI_Win) :: win
        integer(c_int64_t) :: seen
        integer(MPI_ADDRESS_KIND), parameter :: flag = 0
        integer :: first, last, i, j, way

        first = begin_of(me, columns, ranks)
        last = begin_of(me + 1, columns, ranks)
        allocate (g(0:rows, first:last))
        call open_window(rows + 1, inbox, win) ! the flag, and the column to the left
        call MPI_Win_lock_all(MPI_MODE_NOCHECK, win)
        do way = 1, 2
            g = -1
            g(0, :) = [(real(j, dp), j = first, last)]
            if (me == 0) g(:, 0) = [(real(i, dp), i = 0, rows)]
            do i = 1, rows
                if (me > 0 .and. way == 1) then
                    call MPI_Recv(g(i, first), 1, double, me - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
                else if (me > 0) then
                    call MPIX_Win_flag_wait(flag, MPIX_CMP_GE, int(i, c_int64_t), seen, win)
                    g(i, first) = inbox(1 + i)
                end if
                do j = first + 1, last
                    g(i, j) = g(i - 1, j) + g(i, j - 1) - g(i - 1, j - 1)
                end do
                if (me < ranks - 1 .and. way == 1) then
                    call MPI_Send(g(i, last), 1, double, me + 1, i, MPI_COMM_WORLD)
                else if (me < ranks - 1) then
                    call MPIX_Put_notify(g(i, last), 1, double, me + 1, int(i, MPI_ADDRESS_KIND), 1, double, &
                                         flag, int(i, c_int64_t), win)
                    call MPI_Win_flush(me + 1, win) ! flags of one target may overtake each other without it
                end if
            end do
            do j = first, last
                call check(all(g(:, j) == [(real(i + j, dp), i = 0, rows)]), 'pipeline, column', j)
            end do
        end do
        call MPI_Win_unlock_all(win)
        call MPI_Win_free(win)
    end subroutine

    ! Of f(x, y) = x + y the star-shaped difference of radius 2 is 2 in every inner point. Ghost zones come as sections: by messages, and
    ! by puts of sections into the neighbours' slots between fences.
    subroutine stencil(nx, ny)
        integer, intent(in) :: nx, ny
        integer, parameter :: radius = 2
        real(dp), parameter :: weights(radius) = [0.5_dp, 0.25_dp]
        real(dp), allocatable, asynchronous :: f(:, :)
        real(dp), pointer, contiguous :: slots(:)
        type(MPI_Request) :: requests(8)
        type(MPI_Comm) :: grid
        type(MPI_Win) :: win
        integer :: dims(2), at(2), near(4), x0, x1, y0, y1, x, y, way, most, k
        real(dp) :: found

        dims = 0
        call MPI_Dims_create(ranks, 2, dims)
        call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., grid)
        call MPI_Cart_coords(grid, me, 2, at)
        call MPI_Cart_shift(grid, 0, 1, near(1), near(2)) ! of smaller and of greater x
        call MPI_Cart_shift(grid, 1, 1, near(3), near(4))
        x0 = begin_of(at(1), nx, dims(1)) + 1
        x1 = begin_of(at(1) + 1, nx, dims(1))
        y0 = begin_of(at(2), ny, dims(2)) + 1
        y1 = begin_of(at(2) + 1, ny, dims(2))
        most = radius * max((nx + dims(1) - 1) / dims(1), (ny + dims(2) - 1) / dims(2))
        call open_window(4 * most, slots, win)
        allocate (f(x0 - radius:x1 + radius, y0 - radius:y1 + radius))
        do way = 1, 2
            f = -1d6
            do y = y0, y1
                f(x0:x1, y) = [(real(x + y, dp), x = x0, x1)]
            end do
            if (way == 1) then
                call MPI_Irecv(f(x0 - radius:x0 - 1, y0:y1), radius * (y1 - y0 + 1), double, near(1), 1, grid, requests(1))
                call MPI_Irecv(f(x1 + 1:x1 + radius, y0:y1), radius * (y1 - y0 + 1), double, near(2), 2, grid, requests(2))
                call MPI_Irecv(f(x0:x1, y0 - radius:y0 - 1), radius * (x1 - x0 + 1), double, near(3), 3, grid, requests(3))
                call MPI_Irecv(f(x0:x1, y1 + 1:y1 + radius), radius * (x1 - x0 + 1), double, near(4), 4, grid, requests(4))
                call MPI_Isend(f(x1 - radius + 1:x1, y0:y1), radius * (y1 - y0 + 1), double, near(2), 1, grid, requests(5))
                call MPI_Isend(f(x0:x0 + radius - 1, y0:y1), radius * (y1 - y0 + 1), double, near(1), 2, grid, requests(6))
                call MPI_Isend(f(x0:x1, y1 - radius + 1:y1), radius * (x1 - x0 + 1), double, near(4), 3, grid, requests(7))
                call MPI_Isend(f(x0:x1, y0:y0 + radius - 1), radius * (x1 - x0 + 1), double, near(3), 4, grid, requests(8))
                call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE)
            else
                call MPI_Win_fence(MPI_MODE_NOPRECEDE, win)
                call put_box(f(x1 - radius + 1:x1, y0:y1), near(2), 0)
                call put_box(f(x0:x0 + radius - 1, y0:y1), near(1), 1)
                call put_box(f(x0:x1, y1 - radius + 1:y1), near(4), 2)
                call put_box(f(x0:x1, y0:y0 + radius - 1), near(3), 3)
                call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
                if (near(1) /= MPI_PROC_NULL) f(x0 - radius:x0 - 1, y0:y1) = slot(0, radius, y1 - y0 + 1)
                if (near(2) /= MPI_PROC_NULL) f(x1 + 1:x1 + radius, y0:y1) = slot(1, radius, y1 - y0 + 1)
                if (near(3) /= MPI_PROC_NULL) f(x0:x1, y0 - radius:y0 - 1) = slot(2, x1 - x0 + 1, radius)
                if (near(4) /= MPI_PROC_NULL) f(x0:x1, y1 + 1:y1 + radius) = slot(3, x1 - x0 + 1, radius)
            end if
            do y = max(y0, radius + 1), min(y1, ny - radius)
                do x = max(x0, radius + 1), min(x1, nx - radius)
                    found = 0
                    do k = 1, radius
                        found = found + weights(k) / k * (f(x + k, y) - f(x - k, y) + f(x, y + k) - f(x, y - k))
                    end do
                    call check(found == 4 * sum(weights), 'stencil', y)
                end do
            end do
        end do
        call MPI_Win_free(win)
        call MPI_Comm_free(grid)

    contains

        subroutine put_box(box, rank, number)
            real(dp), intent(in), asynchronous :: box(:, :)
            integer, intent(in) :: rank, number

            call MPI_Put(box, size(box), double, rank, int(number * most, MPI_ADDRESS_KIND), size(box), double, win)
        end subroutine

        function slot(number, m, n)
            integer, intent(in) :: number, m, n
            real(dp) :: slot(m, n)

            slot = reshape(slots(number * most + 1:number * most + m * n), [m, n])
        end function
    end subroutine

    ! Exclusive or of pseudo-random values at pseudo-random places of a table that all ranks share: twice the same restores it.
    subroutine updates(places, count)
        integer, intent(in) :: places, count
        integer(c_int64_t), pointer :: table(:)
        integer(c_int64_t), allocatable, asynchronous :: values(:)
        integer(c_int64_t) :: state
        type(c_ptr) :: memory
        type(MPI_Win) :: win
        integer :: i, turn, target

        call MPI_Win_allocate(int(words * places, MPI_ADDRESS_KIND), words, MPI_INFO_NULL, MPI_COMM_WORLD, memory, win)
        call c_f_pointer(memory, table, [places])
        table = [(int(me * places + i, c_int64_t), i = 1, places)]
        allocate (values(count))
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Win_lock_all(0, win)
        do turn = 1, 2
            state = 7 * me + 1
            do i = 1, count
                state = ieor(state, ishft(state, 13))
                state = ieor(state, ishft(state, -7))
                state = ieor(state, ishft(state, 17))
                values(i) = state
                target = int(modulo(state, int(places * ranks, c_int64_t)))
                call MPI_Accumulate(values(i), 1, MPI_INTEGER8, target / places, int(mod(target, places), MPI_ADDRESS_KIND), 1, &
                                    MPI_INTEGER8, MPI_BXOR, win)
            end do
            call MPI_Win_flush_all(win)
            call MPI_Barrier(MPI_COMM_WORLD)
            call MPI_Win_sync(win)
            if (turn == 1) call check(any(table /= [(int(me * places + i, c_int64_t), i = 1, places)]), 'no update arrived')
            call MPI_Barrier(MPI_COMM_WORLD)
        end do
        call check(all(table == [(int(me * places + i, c_int64_t), i = 1, places)]), 'updates made twice leave another table')
        call MPI_Win_unlock_all(win)
        call MPI_Win_free(win)
    end subroutine

    ! Of n elements every second one, into every third one, backwards.
    subroutine reduction(n)
        integer, intent(in) :: n
        real(dp) :: from(2 * n), to(3 * n), sums(n)
        integer :: i, root

        from = [(real(me + i, dp), i = 1, 2 * n)]
        do root = 0, ranks - 1
            to = -1
            call MPI_Reduce(from(1::2), to(3 * n:1:-3), n, double, MPI_SUM, root, MPI_COMM_WORLD)
            if (me == root) then
                sums = [(real(ranks * (ranks - 1) / 2 + ranks * i, dp), i = 1, 2 * n, 2)]
                call check(all(to(3 * n:1:-3) == sums), 'a reduction to', root)
                to(3 * n:1:-3) = -1
            end if
            call check(all(to == -1), 'a reduction wrote elsewhere', root)
        end do
    end subroutine
end module

program kernels_of_users
    use kernels
    implicit none

    call MPI_Init()
    double = MPI_DOUBLE_PRECISION
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call transpose_blocks(37)
    call pipeline(23, 29)
    call stencil(24, 31)
    call updates(64, 500)
    call reduction(101)
    call MPI_Finalize()
    if (failures > 0) stop 1
end program
