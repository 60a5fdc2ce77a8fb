! The stencil of docs/STENCIL.md in Fortran: patches, OpenMP threads that all communicate, one window. Sections of the state
! are put straight into the neighbours' slots, without a copy before them and without a datatype; a flag tells of each.
module stencil
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    use, intrinsic :: iso_fortran_env, only: int64, error_unit
    use omp_lib, only: omp_get_wtime, omp_get_max_threads, omp_get_num_threads, omp_get_thread_num
    use mpi_f08
    use hotlane
    use mhd
    use problems
    implicit none
    private
    public :: options_type, run_type, options_read, run_make, run_steps, run_tell

    type :: options_type
        character(len=16) :: problem = 'orszag-tang'
        integer :: zones(3) = [128, 128, 1], patch = 16, threads = 0, steps = 0
        real(dp) :: time = 0
        logical :: notify = .true.
    end type

    ! Where a thread's time goes. Communication is IN_TRANSFER, IN_FLUSH, IN_SIGNAL and IN_UNPACK.
    enum, bind(C)
        enumerator :: IN_COMPUTE = 1, IN_TRANSFER, IN_SIGNAL, IN_FLUSH, IN_WAIT, IN_UNPACK, IN_COPY, IN_SYNC
    end enum
    integer, parameter :: phases = 8
    real(dp), parameter :: courant(2:3) = [0.4_dp, 0.3_dp]

    ! Zones from, to along each axis.
    type :: box_type
        integer :: lo(3), hi(3)
    end type

    ! The neighbour of a patch: its owner, and its number there; rank -1: beyond an outflow boundary.
    type :: neighbour_type
        integer :: rank, patch
    end type

    type :: run_type
        type(options_type) :: options
        type(problem_type) :: problem
        integer :: rank, ranks
        integer :: n                        ! zones of a patch along each axis
        integer :: along(3), all            ! patches of the whole grid
        integer, allocatable :: first(:)    ! (0:ranks) first patch of each rank, counted from 0
        integer :: count                    ! my patches
        integer :: directions
        integer :: toward(3, 26)            ! row by row, layer by layer; directions + 1 - d is the opposite of d
        type(box_type) :: wanted(26), ghost(26) ! what the neighbour in a direction needs, and the ghost zones there
        integer :: offset(26), slots        ! doubles before a direction's slot, and of all slots of a patch
        type(neighbour_type), allocatable :: neighbours(:, :) ! (direction, 0:count-1)
        ! (i, j, k, variable, parity, patch), with ghost zones
        real(dp), allocatable :: u(:, :, :, :, :, :)
        real(dp), pointer, contiguous :: base(:) => null()
        type(MPI_Win) :: win
        integer :: step = 0
        real(dp) :: time = 0, dt = 0, end_time, seconds
        logical :: over = .false., failed = .false.
        real(dp), allocatable :: sums(:, :) ! (phase, thread) seconds
    end type

    ! A thread's own things.
    type :: worker_type
        type(scratch_type) :: scratch
        logical, allocatable :: targets(:)  ! (0:ranks-1) flushed before the flags go
        integer, allocatable :: pending(:)  ! rank of each flag that is due,
        integer(MPI_ADDRESS_KIND), allocatable :: places(:) ! and its place
        integer :: due = 0
        real(dp) :: last, sums(phases) = 0
    end type

contains

    ! ---- options ----

    subroutine stop_with(text)
        character(len=*), intent(in) :: text

        write (error_unit, '(2a)') 'stencil_fortran: ', trim(text)
        flush (error_unit) ! MPI_Abort does not
        call MPI_Abort(MPI_COMM_WORLD, 2)
    end subroutine

    subroutine usage()
        print '(a)', 'usage: stencil_fortran [options]', &
            '  --problem orszag-tang | brio-wu | alfven | blast | sedov', &
            '  --zones X,Y[,Z]       of the whole grid (128,128)', &
            '  --patch N             zones of a patch along each axis (16)', &
            '  --threads N           (what OpenMP says)', &
            '  --steps N, --time T   when to end (at the problem''s time)', &
            '  --signal notify | put how flags are written (notify)'
    end subroutine

    ! false: there is nothing to run.
    logical function options_read(o)
        type(options_type), intent(out) :: o
        character(len=256) :: word, value
        integer :: i, io

        options_read = .true.
        i = 1
        do while (i <= command_argument_count())
            call get_command_argument(i, word)
            if (word == '--help') then
                call usage()
                options_read = .false.
                return
            end if
            call get_command_argument(i + 1, value)
            io = 0
            select case (word)
            case ('--problem')
                o%problem = value(:16)
            case ('--zones')
                call read_zones(value, o%zones, io)
            case ('--patch')
                read (value, *, iostat=io) o%patch
            case ('--threads')
                read (value, *, iostat=io) o%threads
            case ('--steps')
                read (value, *, iostat=io) o%steps
            case ('--time')
                read (value, *, iostat=io) o%time
            case ('--signal')
                o%notify = value == 'notify'
                if (.not. o%notify .and. value /= 'put') io = 1
            case default
                call stop_with(trim(word)//' is no option: see --help')
            end select
            if (io /= 0) call stop_with(trim(word)//' '//trim(value)//' is not understood: see --help')
            i = i + 2
        end do
    end function

    subroutine read_zones(value, zones, io)
        character(len=*), intent(in) :: value
        integer, intent(out) :: zones(3), io
        integer :: i, commas

        zones = 1
        commas = 0
        do i = 1, len_trim(value)
            if (value(i:i) == ',') commas = commas + 1
        end do
        io = 1
        if (commas == 1) read (value, *, iostat=io) zones(1:2)
        if (commas == 2) read (value, *, iostat=io) zones
    end subroutine

    ! ---- the grid ----

    subroutine run_make(r, o)
        type(run_type), intent(out) :: r
        type(options_type), intent(in) :: o
        logical :: found
        integer :: k, d, dims

        r%options = o
        call MPI_Comm_rank(MPI_COMM_WORLD, r%rank)
        call MPI_Comm_size(MPI_COMM_WORLD, r%ranks)
        call problem_find(o%problem, o%zones, r%problem, found)
        if (.not. found) call stop_with('--problem '//trim(o%problem)//' is none: see --help')
        dims = r%problem%dims
        r%n = o%patch
        if (r%n < ghosts) call stop_with('--patch: at least 2 zones are needed')
        if (any(mod(o%zones(:dims), r%n) /= 0) .or. any(o%zones < 1)) call stop_with('--zones must be multiples of --patch')
        r%along = 1
        r%along(:dims) = o%zones(:dims) / r%n
        r%all = product(r%along)
        if (r%all < r%ranks) call stop_with('there are more ranks than patches')
        allocate (r%first(0:r%ranks))
        r%first = [(int(int(k, int64) * r%all / r%ranks), k=0, r%ranks)]
        r%count = r%first(r%rank + 1) - r%first(r%rank)
        r%end_time = merge(o%time, r%problem%end_time, o%time > 0)
        call find_directions(r)
        allocate (r%neighbours(r%directions, 0:r%count - 1))
        do k = 0, r%count - 1
            do d = 1, r%directions
                r%neighbours(d, k) = neighbour(r, k, d)
            end do
        end do
        allocate (r%u(1 - ghosts:r%n + ghosts, 1 - ghosts:r%n + ghosts, merge(r%n + 2 * ghosts, 1, dims == 3), variables, 0:1, &
                      0:r%count - 1))
        call open_window(r)
    end subroutine

    subroutine find_directions(r)
        type(run_type), intent(inout) :: r
        integer :: dx, dy, dz, d, deep

        deep = merge(1, 0, r%problem%dims == 3)
        d = 0
        r%slots = 0
        do dz = -deep, deep
            do dy = -1, 1
                do dx = -1, 1
                    if (dx == 0 .and. dy == 0 .and. dz == 0) cycle
                    d = d + 1
                    r%toward(:, d) = [dx, dy, dz]
                    r%wanted(d) = box_of(r, d, .false.)
                    r%ghost(d) = box_of(r, d, .true.)
                    r%offset(d) = r%slots
                    r%slots = r%slots + block_size(r, d)
                end do
            end do
        end do
        r%directions = d
    end subroutine

    subroutine open_window(r)
        type(run_type), intent(inout) :: r
        type(c_ptr) :: memory
        integer(MPI_ADDRESS_KIND) :: words

        words = int(2 * r%count, MPI_ADDRESS_KIND) * (r%slots + r%directions)
        call MPI_Win_allocate(8 * words, 8, MPI_INFO_NULL, MPI_COMM_WORLD, memory, r%win)
        call c_f_pointer(memory, r%base, [words])
        r%base = 0
        call MPI_Win_lock_all(MPI_MODE_NOCHECK, r%win)
        call MPI_Win_sync(r%win)
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Win_sync(r%win)
    end subroutine

    ! The box that the neighbour in direction d needs, or (`mine`) that of the ghost zones there.
    pure type(box_type) function box_of(r, d, mine) result(box)
        type(run_type), intent(in) :: r
        integer, intent(in) :: d
        logical, intent(in) :: mine
        integer :: a, side

        do a = 1, 3
            side = r%toward(a, d)
            box%lo(a) = merge(r%n - ghosts + 1, 1, side > 0)
            box%hi(a) = merge(ghosts, r%n, side < 0)
            if (mine .and. side /= 0) then
                box%lo(a) = merge(r%n + 1, 1 - ghosts, side > 0)
                box%hi(a) = merge(r%n + ghosts, 0, side > 0)
            end if
        end do
        if (r%problem%dims == 3) then
            box%lo(3) = box%lo(3) + ghosts
            box%hi(3) = box%hi(3) + ghosts
        else
            box%lo(3) = 1
            box%hi(3) = 1
        end if
    end function

    pure integer function block_size(r, d)
        type(run_type), intent(in) :: r
        integer, intent(in) :: d

        block_size = variables * product(r%wanted(d)%hi - r%wanted(d)%lo + 1)
    end function

    ! Place of my patch p in the grid of patches.
    pure function place_of(r, p) result(at)
        type(run_type), intent(in) :: r
        integer, intent(in) :: p
        integer :: at(3), all

        all = r%first(r%rank) + p
        at = [mod(all, r%along(1)), mod(all / r%along(1), r%along(2)), all / (r%along(1) * r%along(2))]
    end function

    pure type(neighbour_type) function neighbour(r, p, d)
        type(run_type), intent(in) :: r
        integer, intent(in) :: p, d
        integer :: at(3), rank, patch

        at = place_of(r, p) + r%toward(:, d)
        neighbour = neighbour_type(-1, 0)
        if (r%problem%outflow .and. any(at < 0 .or. at >= r%along)) return
        at = modulo(at, r%along)
        patch = (at(3) * r%along(2) + at(2)) * r%along(1) + at(1)
        rank = int((int(patch, int64) * r%ranks + r%ranks - 1) / r%all)
        rank = min(rank, r%ranks - 1)
        do while (r%first(rank) > patch)
            rank = rank - 1
        end do
        do while (r%first(rank + 1) <= patch)
            rank = rank + 1
        end do
        neighbour = neighbour_type(rank, patch - r%first(rank))
    end function

    ! Places in the window of a rank, in words: the slot of direction d of its patch, and its flag.
    pure integer(MPI_ADDRESS_KIND) function slot_at(r, rank, patch, d)
        type(run_type), intent(in) :: r
        integer, intent(in) :: rank, patch, d

        slot_at = int(mod(r%step, 2) * (r%first(rank + 1) - r%first(rank)) + patch, MPI_ADDRESS_KIND) * r%slots + r%offset(d)
    end function

    pure integer(MPI_ADDRESS_KIND) function flag_at(r, rank, patch, d)
        type(run_type), intent(in) :: r
        integer, intent(in) :: rank, patch, d
        integer(MPI_ADDRESS_KIND) :: count

        count = r%first(rank + 1) - r%first(rank)
        flag_at = 2 * count * r%slots + (mod(r%step, 2) * count + patch) * r%directions + d - 1
    end function

    ! ---- a step ----

    subroutine book(w, phase)
        type(worker_type), intent(inout) :: w
        integer, intent(in) :: phase
        real(dp) :: now

        now = omp_get_wtime()
        w%sums(phase) = w%sums(phase) + (now - w%last)
        w%last = now
    end subroutine

    ! Puts what the neighbours on other ranks need of my patch p.
    subroutine send(r, w, p)
        type(run_type), intent(inout), target :: r
        type(worker_type), intent(inout) :: w
        integer, intent(in) :: p
        integer :: d, rank, patch, there, size, now, lo(3), hi(3)

        now = mod(r%step, 2)
        do d = 1, r%directions
            rank = r%neighbours(d, p)%rank
            if (rank < 0 .or. rank == r%rank) cycle
            patch = r%neighbours(d, p)%patch
            there = r%directions + 1 - d
            size = block_size(r, d)
            w%targets(rank) = .true.
            lo = r%wanted(d)%lo
            hi = r%wanted(d)%hi
            associate (box => r%u(lo(1):hi(1), lo(2):hi(2), lo(3):hi(3), :, now, p))
                if (r%options%notify) then
                    call MPIX_Put_notify(box, size, MPI_DOUBLE_PRECISION, rank, slot_at(r, rank, patch, there), size, &
                                         MPI_DOUBLE_PRECISION, flag_at(r, rank, patch, there), int(r%step + 1, int64), r%win)
                else
                    call MPI_Put(box, size, MPI_DOUBLE_PRECISION, rank, slot_at(r, rank, patch, there), size, &
                                 MPI_DOUBLE_PRECISION, r%win)
                    w%due = w%due + 1
                    w%pending(w%due) = rank
                    w%places(w%due) = flag_at(r, rank, patch, there)
                end if
            end associate
        end do
        call book(w, IN_TRANSFER)
    end subroutine

    subroutine flush_targets(r, w)
        type(run_type), intent(in) :: r
        type(worker_type), intent(inout) :: w
        integer :: rank

        do rank = 0, r%ranks - 1
            if (w%targets(rank)) call MPI_Win_flush(rank, r%win)
        end do
        call book(w, IN_FLUSH)
    end subroutine

    ! Data first, then the flags that say so, if they have not gone along.
    subroutine finish_sends(r, w)
        type(run_type), intent(in) :: r
        type(worker_type), intent(inout) :: w
        integer(int64), asynchronous :: value
        integer :: k

        call flush_targets(r, w)
        if (w%due > 0) then
            value = r%step + 1
            do k = 1, w%due
                call MPI_Put(value, 1, MPI_INTEGER8, w%pending(k), w%places(k), 1, MPI_INTEGER8, r%win)
            end do
            call book(w, IN_SIGNAL)
            call flush_targets(r, w)
        end if
        w%due = 0
        w%targets = .false.
    end subroutine

    ! Fills the ghost zones of my patch p: from patches of this rank, from slots, and beyond outflow boundaries.
    subroutine fill_ghosts(r, w, p)
        type(run_type), intent(inout) :: r
        type(worker_type), intent(inout) :: w
        integer, intent(in) :: p
        integer :: d, now
        integer(int64) :: seen

        now = mod(r%step, 2)
        do d = 1, r%directions
            if (r%neighbours(d, p)%rank /= r%rank) cycle
            associate (to => r%ghost(d), from => r%wanted(r%directions + 1 - d))
                r%u(to%lo(1):to%hi(1), to%lo(2):to%hi(2), to%lo(3):to%hi(3), :, now, p) = &
                    r%u(from%lo(1):from%hi(1), from%lo(2):from%hi(2), from%lo(3):from%hi(3), :, now, r%neighbours(d, p)%patch)
            end associate
        end do
        call book(w, IN_COPY)
        do d = 1, r%directions
            if (r%neighbours(d, p)%rank < 0 .or. r%neighbours(d, p)%rank == r%rank) cycle
            call MPIX_Win_flag_wait(flag_at(r, r%rank, p, d), MPIX_CMP_EQ, int(r%step + 1, int64), seen, r%win)
            call book(w, IN_WAIT)
            call take(r%base(slot_at(r, r%rank, p, d) + 1:), r%u(:, :, :, :, now, p), r%ghost(d))
            call book(w, IN_UNPACK)
        end do
        if (r%problem%outflow) call fill_outflow(r, r%u(:, :, :, :, now, p), place_of(r, p))
    end subroutine

    ! A block without gaps to a box of a patch.
    subroutine take(block, u, box)
        real(dp), intent(in), contiguous :: block(:)
        real(dp), intent(inout) :: u(1 - ghosts:, 1 - ghosts:, :, :)
        type(box_type), intent(in) :: box
        integer :: at, j, k, v, row

        row = box%hi(1) - box%lo(1) + 1
        at = 0
        do v = 1, variables
            do k = box%lo(3), box%hi(3)
                do j = box%lo(2), box%hi(2)
                    u(box%lo(1):box%hi(1), j, k, v) = block(at + 1:at + row)
                    at = at + row
                end do
            end do
        end do
    end subroutine

    ! Ghost zones beyond the boundaries are as the zones at them.
    subroutine fill_outflow(r, u, place)
        type(run_type), intent(in) :: r
        real(dp), intent(inout) :: u(1 - ghosts:, 1 - ghosts:, :, :)
        integer, intent(in) :: place(3)
        integer :: i, j, k, deep, lo(3), hi(3), from(3)

        deep = merge(ghosts, 0, r%problem%dims == 3)
        lo = merge(1, 1 - ghosts, place == 0)
        hi = merge(r%n, r%n + ghosts, place == r%along - 1)
        do k = 1, size(u, 3)
            do j = 1 - ghosts, r%n + ghosts
                do i = 1 - ghosts, r%n + ghosts
                    from = max(min([i, j, k - deep], hi), lo)
                    if (deep == 0) from(3) = k
                    if (any(from /= [i, j, k - deep])) u(i, j, k, :) = u(from(1), from(2), from(3) + deep, :)
                end do
            end do
        end do
    end subroutine

    real(dp) function update(r, w, p) result(speed)
        type(run_type), intent(inout) :: r
        type(worker_type), intent(inout) :: w
        integer, intent(in) :: p
        integer :: now

        now = mod(r%step, 2)
        call fill_ghosts(r, w, p)
        speed = patch_step(r%u(:, :, :, :, now, p), r%u(:, :, :, :, 1 - now, p), r%n, r%problem%dims, r%dt, r%problem%width, &
                           r%problem%gas, w%scratch)
        call book(w, IN_COMPUTE)
    end function

    ! The largest speed of all ranks chooses the next step; one thread of each rank calls.
    subroutine choose(r, mine)
        type(run_type), intent(inout) :: r
        real(dp), intent(in) :: mine
        real(dp) :: speed

        call MPI_Allreduce(mine, speed, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
        if (r%options%steps > 0) then
            r%over = r%step >= r%options%steps
        else
            r%over = r%time >= r%end_time
        end if
        if (r%over) return
        if (.not. (speed > 0 .and. speed < huge(speed))) then
            if (r%rank == 0) write (error_unit, '(a, i0)') &
                'stencil_fortran: density or pressure is not positive after step ', r%step
            r%failed = .true.
            r%over = .true.
            return
        end if
        r%dt = courant(r%problem%dims) * minval(r%problem%width) / speed
        if (r%time + r%dt >= r%end_time) r%dt = r%end_time - r%time
    end subroutine

    subroutine fill_first(r, p)
        type(run_type), intent(inout) :: r
        integer, intent(in) :: p
        integer :: i, j, k, at(3), below

        below = merge(ghosts, 0, r%problem%dims == 3)
        at = place_of(r, p) * r%n
        r%u(:, :, :, :, :, p) = 0
        do k = 1, merge(r%n, 1, r%problem%dims == 3)
            do j = 1, r%n
                do i = 1, r%n
                    r%u(i, j, below + k, :, 0, p) = problem_zone(r%problem, at + [i, j, k] - 1)
                end do
            end do
        end do
    end subroutine

    subroutine run_steps(r)
        type(run_type), intent(inout), target :: r
        type(worker_type) :: w
        real(dp) :: speed, fast
        integer :: threads, p

        threads = merge(r%options%threads, omp_get_max_threads(), r%options%threads > 0)
        allocate (r%sums(phases, 0:threads - 1))
        r%sums = 0
        speed = 0
        !$omp parallel num_threads(threads) private(w, p, fast) shared(r, speed)
        call scratch_make(w%scratch, r%n, r%problem%dims)
        allocate (w%targets(0:r%ranks - 1), w%pending(r%count * r%directions), w%places(r%count * r%directions))
        w%targets = .false.
        w%due = 0
        w%sums = 0
        !$omp do schedule(dynamic) reduction(max: speed)
        do p = 0, r%count - 1
            call fill_first(r, p)
            speed = max(speed, patch_speed(r%u(:, :, :, :, 0, p), r%n, r%problem%dims, r%problem%gas))
        end do
        !$omp single
        call choose(r, speed)
        speed = 0
        call MPI_Barrier(MPI_COMM_WORLD)
        r%seconds = omp_get_wtime()
        !$omp end single
        w%last = omp_get_wtime()
        do while (.not. r%over)
            !$omp do schedule(dynamic)
            do p = 0, r%count - 1
                call send(r, w, p)
            end do
            !$omp end do nowait
            call finish_sends(r, w)
            fast = 0
            !$omp do schedule(dynamic)
            do p = 0, r%count - 1
                fast = max(fast, update(r, w, p))
            end do
            !$omp end do nowait
            !$omp critical
            speed = max(speed, fast)
            !$omp end critical
            !$omp barrier
            !$omp single
            r%time = merge(r%end_time, r%time + r%dt, r%time + r%dt >= r%end_time)
            r%step = r%step + 1
            call choose(r, speed)
            speed = 0
            !$omp end single
            call book(w, IN_SYNC)
        end do
        r%sums(:, omp_get_thread_num()) = w%sums
        !$omp end parallel
        r%seconds = omp_get_wtime() - r%seconds
    end subroutine

    ! ---- the end ----

    ! FNV-1a over the zones' variables, little endian.
    integer(int64) function hash_of(whole) result(hash)
        real(dp), intent(in) :: whole(:, :, :, :)
        integer(int64), parameter :: prime = int(z'100000001b3', int64)
        integer(int64) :: bits
        integer :: i, j, k, v, b

        hash = int(z'4bf29ce484222325', int64)
        hash = ibset(hash, 63) ! 0xcbf29ce484222325
        do k = 1, size(whole, 3)
            do j = 1, size(whole, 2)
                do i = 1, size(whole, 1)
                    do v = 1, variables
                        bits = transfer(whole(i, j, k, v), bits)
                        do b = 0, 56, 8
                            hash = ieor(hash, ibits(bits, b, 8)) * prime
                        end do
                    end do
                end do
            end do
        end do
    end function

    ! The state of all patches at rank 0, in the order of the grid.
    subroutine gather(r, whole)
        type(run_type), intent(in) :: r
        real(dp), allocatable, intent(out) :: whole(:, :, :, :)
        real(dp), allocatable :: mine(:, :, :, :, :), all(:, :, :, :, :)
        integer :: p, at(3), n, deep, below, block

        n = r%n
        deep = merge(n, 1, r%problem%dims == 3)
        below = merge(ghosts, 0, r%problem%dims == 3)
        block = n * n * deep * variables
        allocate (mine(n, n, deep, variables, 0:r%count - 1))
        mine = r%u(1:n, 1:n, below + 1:below + deep, :, mod(r%step, 2), :)
        allocate (all(n, n, deep, variables, 0:merge(r%all, 1, r%rank == 0) - 1))
        call MPI_Gatherv(mine, block * r%count, MPI_DOUBLE_PRECISION, all, block * (r%first(1:) - r%first(:r%ranks - 1)), &
                         block * r%first(:r%ranks - 1), MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
        allocate (whole(r%problem%n(1), r%problem%n(2), r%problem%n(3), variables))
        if (r%rank /= 0) return
        do p = 0, r%all - 1
            at = [mod(p, r%along(1)), mod(p / r%along(1), r%along(2)), p / (r%along(1) * r%along(2))] * [n, n, deep]
            whole(at(1) + 1:at(1) + n, at(2) + 1:at(2) + n, at(3) + 1:at(3) + deep, :) = all(:, :, :, :, p)
        end do
    end subroutine

    ! Prints the results as JSON.
    subroutine run_tell(r)
        type(run_type), intent(inout) :: r
        real(dp), allocatable :: whole(:, :, :, :)
        real(dp) :: sums(phases), total

        call gather(r, whole)
        call MPI_Reduce(sum(r%sums, 2), sums, phases, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
        if (r%rank == 0) then
            total = max(sum(sums), tiny(total))
            print '(a, i0, 2(a, es23.16), a)', '{"steps": ', r%step, ', "time": ', r%time, ', "seconds": ', r%seconds, ','
            print '(a, es12.5, a, z16.16, a)', ' "zones_per_s": ', product(real(r%problem%n, dp)) * r%step / r%seconds, &
                ', "hash": "', hash_of(whole), '",'
            print '(2(a, f8.6), a)', ' "communication_share": ', sum(sums([IN_TRANSFER, IN_SIGNAL, IN_FLUSH, IN_UNPACK])) / total, &
                ', "share_with_wait": ', sum(sums([IN_TRANSFER, IN_SIGNAL, IN_FLUSH, IN_UNPACK, IN_WAIT])) / total, '}'
        end if
        call MPI_Win_unlock_all(r%win)
        call MPI_Win_free(r%win)
    end subroutine
end module

program stencil_fortran
    use mpi_f08
    use stencil
    implicit none
    type(options_type) :: options
    type(run_type), target :: run
    integer :: provided

    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
    if (provided < MPI_THREAD_MULTIPLE) error stop 'stencil_fortran: this MPI does not let all threads communicate'
    if (options_read(options)) then
        call run_make(run, options)
        call run_steps(run)
        call run_tell(run)
    end if
    call MPI_Finalize()
    if (run%failed) stop 1
end program
