! Sections of arrays of every rank go as they are to every kind of call, forward and backward, and nothing beside them changes.
! Each rank's element with number i is 10**6 * rank + i, so that what comes tells from where and from which element.
module moves
    use mpi_f08
    use checks
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: dp = kind(1d0), modes = 14
    character(len=16), parameter :: mode_names(modes) = [character(len=16) :: "Isend, Irecv", "Send, Recv_init", "Sendrecv", &
        "Put", "Get", "Accumulate", "Rput, Rget", "Get_accumulate", "Alltoallv", "Ialltoallw", "Bcast", "Allreduce", &
            "Iallreduce", &
        "Allreduce_init"]
    integer :: me, ranks, left, right
    type(MPI_Win) :: win
    real(dp), pointer :: memory(:)

contains

    subroutine open_window(most)
        integer, intent(in) :: most
        type(C_PTR) :: base

        call MPI_Win_allocate(int(most * 8, MPI_ADDRESS_KIND), 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
        call c_f_pointer(base, memory, [most])
    end subroutine

    ! What mode makes of the element x.
    elemental real(dp) function expected(mode, x)
        integer, intent(in) :: mode
        real(dp), intent(in) :: x

        select case (mode_names(mode))
        case ("Bcast")
            expected = x - 1d6 * me
        case ("Allreduce", "Iallreduce", "Allreduce_init")
            expected = (x - 1d6 * me) * ranks + 1d6 * ranks * (ranks - 1) / 2
        case default
            expected = x + 1d6 * (left - me)
        end select
    end function

    ! n elements of `from` go to the right neighbor's `into` (or what mode does).
    subroutine move(mode, from, into, n)
        integer, intent(in) :: mode, n
        type(*), dimension(..), intent(in), asynchronous :: from
        type(*), dimension(..), asynchronous :: into

        select case (mode_names(mode))
        case ("Isend, Irecv", "Send, Recv_init", "Sendrecv")
            call move_messages(mode, from, into, n)
        case ("Put", "Get", "Accumulate", "Rput, Rget", "Get_accumulate")
            call move_windows(mode, from, into, n)
        case default
            call move_collectively(mode, from, into, n)
        end select
    end subroutine

    subroutine move_messages(mode, from, into, n)
        integer, intent(in) :: mode, n
        type(*), dimension(..), intent(in), asynchronous :: from
        type(*), dimension(..), asynchronous :: into
        type(MPI_Request) :: request(2)
        type(MPI_Status) :: status
        integer :: got

        select case (mode_names(mode))
        case ("Isend, Irecv")
            call MPI_Irecv(into, n, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, request(1))
            call MPI_Isend(from, n, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, request(2))
            call MPI_Waitall(2, request, MPI_STATUSES_IGNORE)
        case ("Send, Recv_init")
            call MPI_Recv_init(into, int(n, MPI_COUNT_KIND), MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, request(1))
            call MPI_Start(request(1))
            call MPI_Send(from, n, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD)
            call MPI_Wait(request(1), status)
            call MPI_Get_count(status, MPI_DOUBLE_PRECISION, got)
            call check(got == n, "count of a received section", n)
            call MPI_Request_free(request(1))
        case ("Sendrecv")
            call MPI_Sendrecv(from, n, MPI_DOUBLE_PRECISION, right, 3, into, n, MPI_DOUBLE_PRECISION, left, 3, &
                MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        end select
    end subroutine

    subroutine move_windows(mode, from, into, n)
        integer, intent(in) :: mode, n
        type(*), dimension(..), intent(in), asynchronous :: from
        type(*), dimension(..), asynchronous :: into
        type(MPI_Request) :: request
        integer(MPI_ADDRESS_KIND), parameter :: start = 0

        memory(1:n) = 0
        call MPI_Win_fence(0, win)
        call MPI_Win_fence(MPI_MODE_NOPRECEDE, win)
        select case (mode_names(mode))
        case ("Put", "Get")
            call MPI_Put(from, n, MPI_DOUBLE_PRECISION, right, start, n, MPI_DOUBLE_PRECISION, win)
        case ("Accumulate", "Get_accumulate")
            call MPI_Accumulate(from, n, MPI_DOUBLE_PRECISION, right, start, n, MPI_DOUBLE_PRECISION, MPI_SUM, win)
        case ("Rput, Rget")
            call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
            call MPI_Win_lock_all(0, win)
            call MPI_Rput(from, n, MPI_DOUBLE_PRECISION, right, start, n, MPI_DOUBLE_PRECISION, win, request)
            call MPI_Wait(request, MPI_STATUS_IGNORE)
            call MPI_Win_flush(right, win)
            call MPI_Win_unlock_all(win)
        end select
        if (mode_names(mode) /= "Rput, Rget") call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win)
        select case (mode_names(mode))
        case ("Get_accumulate")
            call MPI_Get_accumulate(from, n, MPI_DOUBLE_PRECISION, into, n, MPI_DOUBLE_PRECISION, me, start, n, &
                MPI_DOUBLE_PRECISION, MPI_NO_OP, win)
        case ("Rput, Rget")
            call MPI_Rget(into, n, MPI_DOUBLE_PRECISION, me, start, n, MPI_DOUBLE_PRECISION, win, request)
            call MPI_Wait(request, MPI_STATUS_IGNORE)
        case default
            call MPI_Get(into, n, MPI_DOUBLE_PRECISION, me, start, n, MPI_DOUBLE_PRECISION, win)
        end select
        call MPI_Win_unlock(me, win)
        call MPI_Barrier(MPI_COMM_WORLD)
    end subroutine

    subroutine move_collectively(mode, from, into, n)
        integer, intent(in) :: mode, n
        type(*), dimension(..), intent(in), asynchronous :: from
        type(*), dimension(..), asynchronous :: into
        type(MPI_Request) :: request
        type(MPI_Datatype) :: types(ranks)
        integer :: sends(ranks), receives(ranks), none(ranks)
        logical :: flag

        sends = 0
        sends(right + 1) = n
        receives = 0
        receives(left + 1) = n
        none = 0
        types = MPI_DOUBLE_PRECISION
        select case (mode_names(mode))
        case ("Alltoallv")
            call MPI_Alltoallv(from, sends, none, MPI_DOUBLE_PRECISION, into, receives, none, MPI_DOUBLE_PRECISION, &
                MPI_COMM_WORLD)
        case ("Ialltoallw")
            call MPI_Ialltoallw(from, sends, none, types, into, receives, none, types, MPI_COMM_WORLD, request)
            call MPI_Wait(request, MPI_STATUS_IGNORE)
        case ("Bcast")
            ! The root's own section is `from`.
            if (me == 0) call MPI_Bcast(from, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
            if (me /= 0) call MPI_Bcast(into, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
            if (me == 0) call MPI_Sendrecv(from, n, MPI_DOUBLE_PRECISION, 0, 4, into, n, MPI_DOUBLE_PRECISION, 0, 4, &
                MPI_COMM_SELF, MPI_STATUS_IGNORE)
        case ("Allreduce")
            call MPI_Allreduce(from, into, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
        case ("Iallreduce")
            call MPI_Iallreduce(from, into, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request)
            flag = .false.
            do while (.not. flag)
                call MPI_Test(request, flag, MPI_STATUS_IGNORE)
            end do
        case ("Allreduce_init")
            call MPI_Allreduce_init(from, into, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request)
            call MPI_Start(request)
            call MPI_Wait(request, MPI_STATUS_IGNORE)
            call MPI_Start(request)
            call MPI_Wait(request, MPI_STATUS_IGNORE)
            call MPI_Request_free(request)
        end select
    end subroutine

end module

program sections_f08
    use moves
    implicit none
    integer :: i, mode

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, me)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    left = modulo(me - 1, ranks)
    right = modulo(me + 1, ranks)
    call open_window(60000)
    do mode = 1, modes
        call rank_1(mode)
        call rank_2(mode)
        call rank_3(mode)
        call rank_4(mode)
        call rank_5(mode)
        call rank_6(mode)
        call rank_7(mode)
        call other_arrays(mode)
    end do
    call other_types()
    call odd_counts()
    call several_at_once()
    call freed_later()
    call refused_frees()
    call MPI_Win_free(win)
    call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (me == 0 .and. failures == 0) print "(a)", "sections arrive"
    call MPI_Finalize()
    if (failures /= 0) error stop 1

contains
    subroutine rank_1(mode)
        integer, intent(in) :: mode
        real(dp), asynchronous :: a(40), b(40)

        a = reshape([(1d6 * me + i, i = 1, size(a))], shape(a))
        b = -1
        call move(mode, a(3:39:4), b(40:4:-4), size(a(3:39:4)))
        call check(all(pack(b(40:4:-4), .true.) == expected(mode, pack(a(3:39:4), .true.))), mode_names(mode), 1)
        call check(count(b /= -1) == size(b(40:4:-4)), "elements beside, " // mode_names(mode), 1)
        b = -1
        call move(mode, a(40:2:-2), b(1:20), size(a(40:2:-2)))
        call check(all(pack(b(1:20), .true.) == expected(mode, pack(a(40:2:-2), .true.))), mode_names(mode), 1)
        call check(count(b /= -1) == size(b(1:20)), "elements beside, " // mode_names(mode), 1)
        b = -1
        call move(mode, a(1:39), b(2:40), size(a(1:39)))
        call check(all(pack(b(2:40), .true.) == expected(mode, pack(a(1:39), .true.))), mode_names(mode), 1)
        call check(count(b /= -1) == size(b(2:40)), "elements beside, " // mode_names(mode), 1)
    end subroutine

    subroutine rank_2(mode)
        integer, intent(in) :: mode
        real(dp), asynchronous :: a(9, 6), b(9, 6)

        a = reshape([(1d6 * me + i, i = 1, size(a))], shape(a))
        b = -1
        call move(mode, a(1:9:2, 6:2:-2), b(2:6, 1:3), size(a(1:9:2, 6:2:-2)))
        call check(all(pack(b(2:6, 1:3), .true.) == expected(mode, pack(a(1:9:2, 6:2:-2), .true.))), mode_names(mode), 2)
        call check(count(b /= -1) == size(b(2:6, 1:3)), "elements beside, " // mode_names(mode), 2)
        b = -1
        call move(mode, a(4, 1:6), b(1:6, 3), size(a(4, 1:6)))
        call check(all(pack(b(1:6, 3), .true.) == expected(mode, pack(a(4, 1:6), .true.))), mode_names(mode), 2)
        call check(count(b /= -1) == size(b(1:6, 3)), "elements beside, " // mode_names(mode), 2)
        b = -1
        call move(mode, a(9:1:-1, :), b(1:9, 1:6), size(a(9:1:-1, :)))
        call check(all(pack(b(1:9, 1:6), .true.) == expected(mode, pack(a(9:1:-1, :), .true.))), mode_names(mode), 2)
        call check(count(b /= -1) == size(b(1:9, 1:6)), "elements beside, " // mode_names(mode), 2)
    end subroutine

    subroutine rank_3(mode)
        integer, intent(in) :: mode
        real(dp), asynchronous :: a(9, 6, 4), b(9, 6, 4)

        a = reshape([(1d6 * me + i, i = 1, size(a))], shape(a))
        b = -1
        call move(mode, a(1:9:3, :, 2:4:2), b(2:4, 6:1:-1, 1:2), size(a(1:9:3, :, 2:4:2)))
        call check(all(pack(b(2:4, 6:1:-1, 1:2), .true.) == expected(mode, pack(a(1:9:3, :, 2:4:2), .true.))), &
            mode_names(mode), 3)
        call check(count(b /= -1) == size(b(2:4, 6:1:-1, 1:2)), "elements beside, " // mode_names(mode), 3)
        b = -1
        call move(mode, a(2, 3, :), b(3:6, 1, 1), size(a(2, 3, :)))
        call check(all(pack(b(3:6, 1, 1), .true.) == expected(mode, pack(a(2, 3, :), .true.))), mode_names(mode), 3)
        call check(count(b /= -1) == size(b(3:6, 1, 1)), "elements beside, " // mode_names(mode), 3)
    end subroutine

    subroutine rank_4(mode)
        integer, intent(in) :: mode
        real(dp), asynchronous :: a(9, 6, 4, 4), b(9, 6, 4, 4)

        a = reshape([(1d6 * me + i, i = 1, size(a))], shape(a))
        b = -1
        call move(mode, a(1:9:4, 1:6:3, :, 1:4:3), b(7:9, 2:3, 4:1:-1, 2:3), size(a(1:9:4, 1:6:3, :, 1:4:3)))
        call check(all(pack(b(7:9, 2:3, 4:1:-1, 2:3), .true.) == expected(mode, pack(a(1:9:4, 1:6:3, :, 1:4:3), &
            .true.))), mode_names(mode), 4)
        call check(count(b /= -1) == size(b(7:9, 2:3, 4:1:-1, 2:3)), "elements beside, " // mode_names(mode), 4)
    end subroutine

    subroutine rank_5(mode)
        integer, intent(in) :: mode
        real(dp), asynchronous :: a(9, 6, 4, 4, 3), b(9, 6, 4, 4, 3)

        a = reshape([(1d6 * me + i, i = 1, size(a))], shape(a))
        b = -1
        call move(mode, a(2:8:3, 5:1:-4, 1:2, 4, :), b(1:3, 1:2, 1:4:3, 1, 3:1:-1), size(a(2:8:3, 5:1:-4, 1:2, 4, :)))
        call check(all(pack(b(1:3, 1:2, 1:4:3, 1, 3:1:-1), .true.) == expected(mode, pack(a(2:8:3, 5:1:-4, 1:2, 4, :), &
            .true.))), mode_names(mode), 5)
        call check(count(b /= -1) == size(b(1:3, 1:2, 1:4:3, 1, 3:1:-1)), "elements beside, " // mode_names(mode), 5)
    end subroutine

    subroutine rank_6(mode)
        integer, intent(in) :: mode
        real(dp), asynchronous :: a(9, 6, 4, 4, 3, 3), b(9, 6, 4, 4, 3, 3)

        a = reshape([(1d6 * me + i, i = 1, size(a))], shape(a))
        b = -1
        call move(mode, a(1:2, 1:3:2, 2, 1:4:3, 3:1:-2, :), b(8:9, 2:3, 1, 1:2, 1:2, 3:1:-1), size(a(1:2, 1:3:2, 2, &
            1:4:3, 3:1:-2, :)))
        call check(all(pack(b(8:9, 2:3, 1, 1:2, 1:2, 3:1:-1), .true.) == expected(mode, pack(a(1:2, 1:3:2, 2, 1:4:3, &
            3:1:-2, :), .true.))), mode_names(mode), 6)
        call check(count(b /= -1) == size(b(8:9, 2:3, 1, 1:2, 1:2, 3:1:-1)), "elements beside, " // mode_names(mode), 6)
    end subroutine

    subroutine rank_7(mode)
        integer, intent(in) :: mode
        real(dp), allocatable, asynchronous :: a(:, :, :, :, :, :, :), b(:, :, :, :, :, :, :)

        allocate (a(9, 6, 4, 4, 3, 3, 3), b(9, 6, 4, 4, 3, 3, 3))

        a = reshape([(1d6 * me + i, i = 1, size(a))], shape(a))
        b = -1
        call move(mode, a(1:9:8, 6:5:-1, 1:2, 2:3, 1, 1:3:2, 3:2:-1), b(1:2, 1:2, 3:4, 1:4:3, 3, 1:2, 2:3), &
            size(a(1:9:8, 6:5:-1, 1:2, 2:3, 1, 1:3:2, 3:2:-1)))
        call check(all(pack(b(1:2, 1:2, 3:4, 1:4:3, 3, 1:2, 2:3), .true.) == expected(mode, pack(a(1:9:8, 6:5:-1, 1:2, &
            2:3, 1, 1:3:2, 3:2:-1), .true.))), mode_names(mode), 7)
        call check(count(b /= -1) == size(b(1:2, 1:2, 3:4, 1:4:3, 3, 1:2, 2:3)), "elements beside, " // mode_names(mode), 7)
    end subroutine

    ! Assumed shape and size, allocatable, pointer, no elements, one element.
    subroutine other_arrays(mode)
        integer, intent(in) :: mode
        real(dp), allocatable, asynchronous :: a(:, :), b(:, :)
        real(dp), pointer, asynchronous :: p(:)
        real(dp), target, asynchronous :: whole(30)

        allocate (a(-3:4, 5), b(8, 0:4))
        a = reshape([(1d6 * me + i, i = 1, size(a))], shape(a))
        b = -1
        call move(mode, a, b, size(a))
        call check(all(b == expected(mode, a)), "allocatable, " // mode_names(mode))
        b = -1
        call by_shape(mode, a(-3:4:7, 5:1:-1), b(1:2, :))
        call check(all(b(1:2, :) == expected(mode, a(-3:4:7, 5:1:-1))), "assumed shape, " // mode_names(mode))
        b = -1
        call by_size(mode, a, b, size(a))
        call check(all(b == expected(mode, a)), "assumed size, " // mode_names(mode))
        whole = [(1d6 * me + i, i = 1, size(whole))]
        p => whole(29:1:-3)
        b = -1
        call move(mode, p, b(3, :), 5)
        call check(all(b(3, :) == expected(mode, p(1:5))), "pointer and a part of it, " // mode_names(mode))
        b = -1
        call move(mode, a(-3:4:2, 3:2), b(2:7:5, 4:0), 0)
        call move(mode, a(-3:-3, 2:2), b(7:7, 3:3), 1)
        call check(b(7, 3) == expected(mode, a(-3, 2)) .and. count(b /= -1) == 1, "one element, " // mode_names(mode))
        b = -1
        call move(mode, whole(3:2:2), b(2, 4:3), 0)
        call move(mode, whole(5:6:3), b(2, 4:4), 1)
        call check(b(2, 4) == expected(mode, whole(5)) .and. count(b /= -1) == 1, "one element of a line, " // mode_names(mode))
    end subroutine

    subroutine by_shape(mode, from, into)
        integer, intent(in) :: mode
        real(dp), intent(in), asynchronous :: from(:, :)
        real(dp), asynchronous :: into(:, :)

        call move(mode, from, into, size(from))
    end subroutine

    subroutine by_size(mode, from, into, n)
        integer, intent(in) :: mode, n
        real(dp), intent(in), asynchronous :: from(2, *)
        real(dp), asynchronous :: into(4, *)

        call move(mode, from(:, 1:n / 2), into(:, 1:n / 4), n)
        call move(mode, from, into, n)
    end subroutine

    ! Components of derived types, characters, complex numbers by their parts, polymorphic arrays.
    subroutine other_types()
        type cell
            integer :: number
            real(dp) :: value
            character(len=3) :: word
        end type
        type(cell), asynchronous :: a(12), b(12)
        complex(dp), asynchronous :: c(9), d(9)
        character(len=5), asynchronous :: words(10), heard(10)
        class(*), allocatable, asynchronous :: any_array(:)
        integer :: j

        a = [(cell(100 * me + j, 1d6 * me + j, achar(64 + j) // "yz"), j = 1, 12)]
        b = cell(-1, -1, "...")
        call move(1, a(2:12:2)%value, b(12:2:-2)%value, 6)
        call check(all(b(12:2:-2)%value == expected(1, a(2:12:2)%value)), "components")
        call check(all(b%number == -1) .and. all(b%word == "..."), "elements beside components")
        call move_integers(a%number, b%number)
        call check(all(b%number == a%number + 100 * (left - me)), "integer components")
        call move_texts(a(12:1:-1)%word, b%word, 36)
        call check(all(b%word == a(12:1:-1)%word), "character components")
        c = [(cmplx(1d6 * me + j, 1d6 * me + 100 + j, dp), j = 1, 9)]
        d = -1
        call move(1, c(1:9:2), d(9:1:-2), 10)
        call check(all(real(d(9:1:-2)) == expected(1, real(c(1:9:2)))) .and. all(aimag(d(9:1:-2)) == expected(1, &
            aimag(c(1:9:2)))), &
            "complex numbers as two numbers")
        words = [(repeat(achar(96 + j), 5), j = 1, 10)]
        heard = "-----"
        call move_texts(words(9:1:-4), heard(2:10:4), 15)
        call check(all(heard(2:10:4) == words(9:1:-4)) .and. count(heard /= "-----") == 3, "texts")
        heard = "-----"
        call move_texts(words(1:10:3)(2:3), heard(1:10:3)(3:4), 8)
        call check(all(heard(1:10:3) == "--" // words(1:10:3)(2:3) // "-"), "parts of texts")
        allocate (any_array(7), source=[(1d6 * me + j, j = 1, 7)])
        d = 0
        call move(1, any_array(7:1:-2), d(1:7:2)%re, 4)
        call check(all(d(1:7:2)%re == expected(1, [(1d6 * me + 9 - 2 * j, j = 1, 4)])), "polymorphic array")
    end subroutine

    subroutine move_integers(from, into)
        integer, intent(in), asynchronous :: from(:)
        integer, asynchronous :: into(:)

        call MPI_Sendrecv(from, size(from), MPI_INTEGER, right, 5, into, size(into), MPI_INTEGER, left, 5, MPI_COMM_WORLD, &
            MPI_STATUS_IGNORE)
    end subroutine

    subroutine move_texts(from, into, n)
        character(len=*), intent(in), asynchronous :: from(:)
        character(len=*), asynchronous :: into(:)
        integer, intent(in) :: n

        call MPI_Sendrecv(from, n, MPI_CHARACTER, right, 6, into, n, MPI_CHARACTER, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end subroutine

    ! Datatypes larger than an element, with holes, and such as end within an element; too much data.
    subroutine odd_counts()
        type(MPI_Datatype) :: pair, holes, byte5
        integer, asynchronous :: a(40), b(40), seen(20)
        type(MPI_Request) :: request
        integer :: j, ierror, class

        class = MPI_SUCCESS
        a = [(1000 * me + j, j = 1, 40)]
        call MPI_Type_contiguous(2, MPI_INTEGER, pair)
        call MPI_Type_commit(pair)
        b = -1
        call send_recv(a(1:40:2), 10, pair, b(40:1:-2), 10, pair)
        call check(all(b(40:1:-2) == a(1:40:2) + 1000 * (left - me)), "pairs")
        ! Elements 2 and 3 of each four, of every other element.
        call MPI_Type_create_resized(pair, 0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND, holes)
        call MPI_Type_commit(holes)
        b = -1
        call send_recv(a(1:40:2), 5, holes, b, 5, holes)
        do j = 1, 20
            seen(j) = merge(a(2 * j - 1) + 1000 * (left - me), -1, modulo(j - 1, 4) < 2)
        end do
        call check(all(b(1:20) == seen) .and. all(b(21:) == -1), "sending a type with holes")
        b = -1
        call send_recv(a, 5, holes, b(39:1:-2), 5, holes)
        do j = 1, 20
            seen(j) = merge(a(j) + 1000 * (left - me), -1, modulo(j - 1, 4) < 2)
        end do
        call check(all(b(39:1:-2) == seen) .and. all(b(2:40:2) == -1), "receiving a type with holes")
        call MPI_Type_contiguous(5, MPI_BYTE, byte5)
        call MPI_Type_commit(byte5)
        b = 0
        call send_recv(a(3:40:3), 1, byte5, b(40:1:-1), 1, byte5)
        call check(b(40) == a(3) + 1000 * (left - me) .and. ibits(b(39), 0, 8) == ibits(a(6) + 1000 * (left - me), 0, 8) &
            .and. ibits(b(39), 8, 24) == 0, "a part of an element")
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
        call MPI_Send(a(1:40:2), 21, MPI_INTEGER, right, 7, MPI_COMM_WORLD, ierror)
        if (ierror /= MPI_SUCCESS) call MPI_Error_class(ierror, class)
        call check(class == MPI_ERR_COUNT, "too much data", class)
        class = MPI_SUCCESS
        call MPI_Ssend_init(a(1:40:2), 2_MPI_COUNT_KIND**62 + 1, MPI_INTEGER, MPI_PROC_NULL, 7, MPI_COMM_WORLD, request, ierror)
        if (ierror /= MPI_SUCCESS) call MPI_Error_class(ierror, class)
        call check(class == MPI_ERR_COUNT, "more bytes than can be counted", class)
        class = MPI_SUCCESS
        call MPI_Win_attach(win, a(1:40:2), 80_MPI_ADDRESS_KIND, ierror)
        if (ierror /= MPI_SUCCESS) call MPI_Error_class(ierror, class)
        call check(class == MPI_ERR_BUFFER, "a section as memory of a window", class)
        call MPI_Type_free(pair)
        call MPI_Type_free(holes)
        call MPI_Type_free(byte5)
    end subroutine

    subroutine send_recv(from, n, from_type, into, m, into_type)
        type(*), dimension(..), intent(in), asynchronous :: from
        type(*), dimension(..), asynchronous :: into
        integer, intent(in) :: n, m
        type(MPI_Datatype), intent(in) :: from_type, into_type

        call MPI_Sendrecv(from, n, from_type, right, 8, into, m, into_type, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end subroutine

    ! Operations on parts of one array that are under way together, completed in every way; the rest changes meanwhile.
    subroutine several_at_once()
        integer, parameter :: many = 5
        integer, asynchronous :: a(20, many), b(20, many)
        type(MPI_Request) :: requests(many)
        integer :: j, how, n, one, done(many)
        logical :: flag

        do how = 1, 5
            do j = 1, many
                a(:, j) = me + 10 * j
            end do
            b = -1
            do j = 1, many
                call MPI_Iallreduce(a(1:20:2, j), b(2:20:2, j), 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(j))
            end do
            b(1, :) = 7
            select case (how)
            case (1)
                call MPI_Waitall(many, requests, MPI_STATUSES_IGNORE)
            case (2)
                do j = 1, many
                    call MPI_Waitany(many, requests, one, MPI_STATUS_IGNORE)
                    call check(one >= 1 .and. one <= many, "MPI_Waitany", one)
                end do
            case (3)
                n = 0
                do while (n < many)
                    call MPI_Testsome(many, requests, one, done, MPI_STATUSES_IGNORE)
                    n = n + one
                end do
            case (4)
                flag = .false.
                do while (.not. flag)
                    call MPI_Testall(many, requests, flag, MPI_STATUSES_IGNORE)
                end do
            case (5)
                flag = .false.
                do while (.not. flag)
                    call MPI_Request_get_status_all(many, requests, flag, MPI_STATUSES_IGNORE)
                end do
                call check(b(2, many) == ranks * (10 * many) + ranks * (ranks - 1) / 2, "MPI_Request_get_status_all")
                call MPI_Waitall(many, requests, MPI_STATUSES_IGNORE)
            end select
            do j = 1, many
                call check(all(b(2:20:2, j) == ranks * 10 * j + ranks * (ranks - 1) / 2), "several at once", how)
                call check(all(b(3:20:2, j) == -1) .and. b(1, j) == 7, "beside several at once", how)
            end do
        end do
    end subroutine

    ! What came stands in the section when the wait has returned. What the program writes there afterwards stays, also when the
    ! request is freed.
    subroutine freed_later()
        integer, asynchronous :: a(20), b(20)
        type(MPI_Request) :: request
        integer :: round

        b = -1
        call MPI_Allreduce_init(a(1:20:2), b(2:20:2), 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request)
        do round = 1, 2
            a = me + round
            call MPI_Start(request)
            call MPI_Wait(request, MPI_STATUS_IGNORE)
            call check(all(b(2:20:2) == ranks * round + ranks * (ranks - 1) / 2), "a persistent operation", round)
            call check(all(b(1:19:2) == -round), "beside a persistent operation", round)
            b = -round - 1
        end do
        call MPI_Request_free(request)
        call check(all(b == -3), "what was written behind a persistent operation that is freed then")
    end subroutine

    ! A collective operation under way is waited for, not freed: what was refused changes nothing. A persistent one that is
    ! complete may be freed. Other libraries need not look.
    subroutine refused_frees()
        integer, asynchronous :: a(20), b(20)
        type(MPI_Request) :: request
        integer :: how, ierror, class
        character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library

        call MPI_Get_library_version(library, class)
        if (index(library, "Hotlane") == 0) return
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
        do how = 1, merge(1, 2, ranks == 1)
            a = me
            b = -1
            if (how == 1) then
                call MPI_Allreduce_init(a(1:20:2), b(2:20:2), 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request)
                call MPI_Start(request)
            else
                if (me == 0) call MPI_Recv(class, 0, MPI_INTEGER, ranks - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
                call MPI_Iallreduce(a(1:20:2), b(2:20:2), 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
            end if
            ! Rank 0 may find the operation complete at once.
            if (how == 1 .or. me == ranks - 1) then
                call MPI_Request_free(request, ierror)
                class = MPI_SUCCESS
                if (ierror /= MPI_SUCCESS) call MPI_Error_class(ierror, class)
                call check(class == MPI_ERR_REQUEST .and. request /= MPI_REQUEST_NULL, "freeing an operation under way", how)
            end if
            if (how == 2 .and. me == ranks - 1) call MPI_Send(class, 0, MPI_INTEGER, 0, 9, MPI_COMM_WORLD)
            call MPI_Wait(request, MPI_STATUS_IGNORE)
            call check(all(b(2:20:2) == ranks * (ranks - 1) / 2) .and. all(b(1:19:2) == -1), "after a refused free", how)
            if (how == 1) call MPI_Request_free(request)
        end do
    end subroutine
end program
