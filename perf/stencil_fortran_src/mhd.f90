! Ideal magnetohydrodynamics of one patch: MUSCL-Hancock with the monotonised central limiter, HLL fluxes, Toth's
! flux-constrained transport. The arithmetic is that of perf/stencil_src (physics.h), operation by operation, so that both
! programs have the same last bit; a state is an array of eight variables.
module mhd
    use, intrinsic :: iso_fortran_env, only: dp => real64
    implicit none
    private
    public :: dp, gas_type, scratch_type, ghosts, variables, cons_of, signal_speed, patch_step, patch_speed, scratch_make

    integer, parameter :: ghosts = 2, variables = 8
    ! Density, momentum or velocity along x, y, z, energy or pressure, magnetic field along x, y, z.
    integer, parameter :: d = 1, mx = 2, e = 5, bx = 6
    ! For each axis: itself, then the other two, as if x and the axis exchanged their roles.
    integer, parameter :: turn(3, 3) = reshape([1, 2, 3, 2, 1, 3, 3, 2, 1], [3, 3])

    ! Ratio of specific heats, and 1 / (gamma - 1).
    type :: gas_type
        real(dp) :: gamma, heat
    end type

    ! Derived values of a patch, (zones, variable); a thread's own.
    type :: scratch_type
        real(dp), allocatable :: w(:, :, :, :)
        real(dp), allocatable :: low(:, :, :, :, :), high(:, :, :, :, :)  ! predicted states at the faces; last: axis
        real(dp), allocatable :: flux(:, :, :, :, :)                      ! through the lower faces
        real(dp), allocatable :: edge(:, :, :, :)                         ! electric field: across xy, xz, yz
    end type

contains

    subroutine scratch_make(s, n, dims)
        type(scratch_type), intent(out) :: s
        integer, intent(in) :: n, dims
        integer :: lo, hi

        lo = merge(1 - ghosts, 1, dims == 3)
        hi = merge(n + ghosts, 1, dims == 3)
        allocate (s%w(variables, 1 - ghosts:n + ghosts, 1 - ghosts:n + ghosts, lo:hi))
        allocate (s%low(variables, 0:n + 1, 0:n + 1, lo:hi, dims), s%high(variables, 0:n + 1, 0:n + 1, lo:hi, dims))
        allocate (s%flux(variables, 0:n + 1, 0:n + 1, lo:hi, dims), s%edge(1:n + 1, 1:n + 1, lo:hi, 3))
    end subroutine

    pure real(dp) function square_sum(x, y, z)
        real(dp), intent(in) :: x, y, z

        square_sum = (x * x + y * y) + z * z
    end function

    pure function prim_of(u, gas) result(w)
        real(dp), intent(in) :: u(variables)
        type(gas_type), intent(in) :: gas
        real(dp) :: w(variables), inv, kinetic, magnetic

        inv = 1.0_dp / u(d)
        kinetic = 0.5_dp * (square_sum(u(2), u(3), u(4)) * inv)
        magnetic = 0.5_dp * square_sum(u(6), u(7), u(8))
        w = [u(d), u(2) * inv, u(3) * inv, u(4) * inv, (gas%gamma - 1.0_dp) * (u(e) - kinetic - magnetic), u(6), u(7), u(8)]
    end function

    ! `axis`: whose direction the sums begin with.
    pure function cons_of(w, gas, axis) result(u)
        real(dp), intent(in) :: w(variables)
        type(gas_type), intent(in) :: gas
        integer, intent(in) :: axis
        real(dp) :: u(variables), kinetic, magnetic
        integer :: t(3)

        t = turn(:, axis)
        kinetic = 0.5_dp * (w(d) * square_sum(w(1 + t(1)), w(1 + t(2)), w(1 + t(3))))
        magnetic = 0.5_dp * square_sum(w(5 + t(1)), w(5 + t(2)), w(5 + t(3)))
        u = [w(d), w(d) * w(2), w(d) * w(3), w(d) * w(4), gas%heat * w(e) + kinetic + magnetic, w(6), w(7), w(8)]
    end function

    pure real(dp) function limited(left, right)
        real(dp), intent(in) :: left, right
        real(dp) :: centre

        centre = 0.5_dp * (left + right)
        limited = 0.0_dp
        if (left * right > 0.0_dp) limited = sign(min(abs(centre), 2.0_dp * min(abs(left), abs(right))), centre)
    end function

    ! Rate of change by the slope `s` along an axis, times the zone's width.
    pure function rate_along(w, s, gas, axis) result(r)
        real(dp), intent(in) :: w(variables), s(variables)
        type(gas_type), intent(in) :: gas
        integer, intent(in) :: axis
        real(dp) :: r(variables), inv
        integer :: v, v1, v2, b, b1, b2

        v = 1 + turn(1, axis)
        v1 = 1 + turn(2, axis)
        v2 = 1 + turn(3, axis)
        b = v + 4
        b1 = v1 + 4
        b2 = v2 + 4
        inv = 1.0_dp / w(d)
        r(d) = -(w(v) * s(d) + w(d) * s(v))
        r(v) = -(w(v) * s(v) + (s(e) + (w(b1) * s(b1) + w(b2) * s(b2))) * inv)
        r(v1) = -(w(v) * s(v1) - w(b) * s(b1) * inv)
        r(v2) = -(w(v) * s(v2) - w(b) * s(b2) * inv)
        r(e) = -(w(v) * s(e) + gas%gamma * w(e) * s(v))
        r(b) = 0.0_dp
        r(b1) = -((s(v) * w(b1) + w(v) * s(b1)) - (s(v1) * w(b) + w(v1) * s(b)))
        r(b2) = -((s(v) * w(b2) + w(v) * s(b2)) - (s(v2) * w(b) + w(v2) * s(b)))
    end function

    ! Fast magnetosonic speed along an axis.
    pure real(dp) function fast_speed(w, gas, axis)
        real(dp), intent(in) :: w(variables)
        type(gas_type), intent(in) :: gas
        integer, intent(in) :: axis
        real(dp) :: inv, a2, b2, bn2, total, disc
        integer :: b(3)

        b = 5 + turn(:, axis)
        inv = 1.0_dp / w(d)
        a2 = gas%gamma * w(e) * inv
        b2 = square_sum(w(b(1)), w(b(2)), w(b(3))) * inv
        bn2 = w(b(1)) * w(b(1)) * inv
        total = a2 + b2
        disc = total * total - 4.0_dp * (a2 * bn2)
        fast_speed = sqrt(0.5_dp * (total + sqrt(max(disc, 0.0_dp))))
    end function

    ! Largest |v| + fast speed; infinite when density or pressure is not positive.
    pure real(dp) function signal_speed(w, gas, dims)
        real(dp), intent(in) :: w(variables)
        type(gas_type), intent(in) :: gas
        integer, intent(in) :: dims
        integer :: axis

        signal_speed = huge(signal_speed)
        if (.not. (w(d) > 0.0_dp .and. w(e) > 0.0_dp)) return
        signal_speed = 0.0_dp
        do axis = 1, dims
            signal_speed = max(signal_speed, abs(w(1 + axis)) + fast_speed(w, gas, axis))
        end do
    end function

    pure function flux_of(w, u, axis) result(f)
        real(dp), intent(in) :: w(variables), u(variables)
        integer, intent(in) :: axis
        real(dp) :: f(variables), pt, vb
        integer :: v, v1, v2, b, b1, b2

        v = 1 + turn(1, axis)
        v1 = 1 + turn(2, axis)
        v2 = 1 + turn(3, axis)
        b = v + 4
        b1 = v1 + 4
        b2 = v2 + 4
        pt = w(e) + 0.5_dp * square_sum(w(b), w(b1), w(b2))
        vb = (w(v) * w(b) + w(v1) * w(b1)) + w(v2) * w(b2)
        f(d) = u(v)
        f(v) = u(v) * w(v) + pt - w(b) * w(b)
        f(v1) = u(v) * w(v1) - w(b) * w(b1)
        f(v2) = u(v) * w(v2) - w(b) * w(b2)
        f(e) = (u(e) + pt) * w(v) - w(b) * vb
        f(b) = 0.0_dp
        f(b1) = w(v) * w(b1) - w(v1) * w(b)
        f(b2) = w(v) * w(b2) - w(v2) * w(b)
    end function

    ! HLL flux across an axis between two states.
    pure function flux_across(l, r, gas, axis) result(f)
        real(dp), intent(in) :: l(variables), r(variables)
        type(gas_type), intent(in) :: gas
        integer, intent(in) :: axis
        real(dp), dimension(variables) :: f, ul, ur, fl, fr
        real(dp) :: cl, cr, sl, sr, inv, a, b, c
        integer :: v

        v = 1 + axis
        ul = cons_of(l, gas, axis)
        ur = cons_of(r, gas, axis)
        fl = flux_of(l, ul, axis)
        fr = flux_of(r, ur, axis)
        cl = fast_speed(l, gas, axis)
        cr = fast_speed(r, gas, axis)
        sl = min(min(l(v) - cl, r(v) - cr), 0.0_dp)
        sr = max(max(l(v) + cl, r(v) + cr), 0.0_dp)
        inv = 1.0_dp / (sr - sl)
        a = sr * inv
        b = -sl * inv
        c = sl * sr * inv
        f = (a * fl + b * fr) + c * (ur - ul)
        f(v + 4) = 0.0_dp
    end function

    pure real(dp) function edge_field(low, high, left, right)
        real(dp), intent(in) :: low, high, left, right

        edge_field = 0.25_dp * ((left + right) - (low + high))
    end function

    ! Largest signal speed of the inner zones.
    pure real(dp) function patch_speed(u, n, dims, gas)
        integer, intent(in) :: n, dims
        real(dp), intent(in) :: u(1 - ghosts:, 1 - ghosts:, :, :)
        type(gas_type), intent(in) :: gas
        integer :: i, j, k, below

        below = merge(ghosts, 0, dims == 3)
        patch_speed = 0.0_dp
        do k = 1, merge(n, 1, dims == 3)
            do j = 1, n
                do i = 1, n
                    patch_speed = max(patch_speed, signal_speed(prim_of(u(i, j, below + k, :), gas), gas, dims))
                end do
            end do
        end do
    end function

    ! Predicted states of all zones whose faces count.
    subroutine predictions(s, n, dims, half, gas)
        type(scratch_type), intent(inout) :: s
        integer, intent(in) :: n, dims
        real(dp), intent(in) :: half(3)
        type(gas_type), intent(in) :: gas
        real(dp) :: c(variables), slope(variables, 3), change(variables), face(variables)
        integer :: i, j, k, v, a

        do k = merge(0, 1, dims == 3), merge(n + 1, 1, dims == 3)
            do j = 0, n + 1
                do i = 0, n + 1
                    c = s%w(:, i, j, k)
                    do v = 1, variables
                        slope(v, 1) = limited(c(v) - s%w(v, i - 1, j, k), s%w(v, i + 1, j, k) - c(v))
                        slope(v, 2) = limited(c(v) - s%w(v, i, j - 1, k), s%w(v, i, j + 1, k) - c(v))
                        if (dims == 3) slope(v, 3) = limited(c(v) - s%w(v, i, j, k - 1), s%w(v, i, j, k + 1) - c(v))
                    end do
                    change = half(1) * rate_along(c, slope(:, 1), gas, 1) + half(2) * rate_along(c, slope(:, 2), gas, 2)
                    if (dims == 3) change = change + half(3) * rate_along(c, slope(:, 3), gas, 3)
                    change = c + change
                    do a = 1, dims
                        face = change + (-0.5_dp) * slope(:, a)
                        s%low(:, i, j, k, a) = safe(face, c)
                        face = change + 0.5_dp * slope(:, a)
                        s%high(:, i, j, k, a) = safe(face, c)
                    end do
                end do
            end do
        end do
    end subroutine

    ! The face's state, with density and pressure of the zone where they would not be positive.
    pure function safe(face, c) result(f)
        real(dp), intent(in) :: face(variables), c(variables)
        real(dp) :: f(variables)

        f = face
        if (.not. f(d) > 0.0_dp) f(d) = c(d)
        if (.not. f(e) > 0.0_dp) f(e) = c(e)
    end function

    ! Fluxes through lower faces, and of the zones around where an edge needs them; the field at the edges.
    subroutine fluxes(s, n, dims, gas)
        type(scratch_type), intent(inout) :: s
        integer, intent(in) :: n, dims
        type(gas_type), intent(in) :: gas
        integer :: i, j, k, step(3), a, deep

        deep = merge(1, 0, dims == 3)
        do a = 1, dims
            step = 0
            step(a) = 1
            do k = merge(merge(1, 0, a == 3), 1, dims == 3), merge(n + 1, 1, dims == 3)
                do j = merge(1, 0, a == 2), n + 1
                    do i = merge(1, 0, a == 1), n + 1
                        s%flux(:, i, j, k, a) = flux_across(s%high(:, i - step(1), j - step(2), k - step(3), a), &
                                                            s%low(:, i, j, k, a), gas, a)
                    end do
                end do
            end do
        end do
        do k = 1, merge(n + 1, 1, dims == 3)
            do j = 1, n + 1
                do i = 1, n + 1
                    s%edge(i, j, k, 1) = edge_field(s%flux(bx + 1, i, j - 1, k, 1), s%flux(bx + 1, i, j, k, 1), &
                                                    s%flux(bx, i - 1, j, k, 2), s%flux(bx, i, j, k, 2))
                    if (deep == 0) cycle
                    s%edge(i, j, k, 2) = edge_field(s%flux(bx + 2, i, j, k - 1, 1), s%flux(bx + 2, i, j, k, 1), &
                                                    s%flux(bx, i - 1, j, k, 3), s%flux(bx, i, j, k, 3))
                    s%edge(i, j, k, 3) = edge_field(s%flux(bx + 2, i, j, k - 1, 2), s%flux(bx + 2, i, j, k, 2), &
                                                    s%flux(bx + 1, i, j - 1, k, 3), s%flux(bx + 1, i, j, k, 3))
                end do
            end do
        end do
    end subroutine

    ! Half the difference of four edges along the first axis, and along the second.
    pure real(dp) function along_first(mm, pm, mp, pp)
        real(dp), intent(in) :: mm, pm, mp, pp

        along_first = 0.5_dp * ((pm + pp) - (mm + mp))
    end function

    pure real(dp) function along_second(mm, pm, mp, pp)
        real(dp), intent(in) :: mm, pm, mp, pp

        along_second = 0.5_dp * ((mp + pp) - (mm + pm))
    end function

    ! The inner zones of `now` one step later in `next`; `width` of a zone. Returns their largest signal speed.
    real(dp) function patch_step(now, next, n, dims, dt, width, gas, s) result(speed)
        integer, intent(in) :: n, dims
        real(dp), intent(in) :: now(1 - ghosts:, 1 - ghosts:, :, :), dt, width(3)
        real(dp), intent(inout) :: next(1 - ghosts:, 1 - ghosts:, :, :)
        type(gas_type), intent(in) :: gas
        type(scratch_type), intent(inout) :: s
        real(dp) :: out(variables), u(variables), half(3), whole(3)
        integer :: i, j, k, below, z

        below = merge(ghosts, 0, dims == 3)
        half = [0.5_dp * dt / width(1), 0.5_dp * dt / width(2), 0.5_dp * dt / width(3)]
        whole = [dt / width(1), dt / width(2), dt / width(3)]
        do k = lbound(s%w, 4), ubound(s%w, 4)
            do j = 1 - ghosts, n + ghosts
                do i = 1 - ghosts, n + ghosts
                    s%w(:, i, j, k) = prim_of(now(i, j, below + k, :), gas)
                end do
            end do
        end do
        call predictions(s, n, dims, half, gas)
        call fluxes(s, n, dims, gas)
        speed = 0.0_dp
        do k = 1, merge(n, 1, dims == 3)
            z = below + k
            do j = 1, n
                do i = 1, n
                    u = now(i, j, z, :)
                    out = 0.0_dp + whole(1) * (s%flux(:, i + 1, j, k, 1) - s%flux(:, i, j, k, 1))
                    out = out + whole(2) * (s%flux(:, i, j + 1, k, 2) - s%flux(:, i, j, k, 2))
                    associate (e => s%edge)
                        u(6) = u(6) - whole(2) * along_second(e(i, j, k, 1), e(i + 1, j, k, 1), e(i, j + 1, k, 1), &
                                                              e(i + 1, j + 1, k, 1))
                        u(7) = u(7) + whole(1) * along_first(e(i, j, k, 1), e(i + 1, j, k, 1), e(i, j + 1, k, 1), &
                                                             e(i + 1, j + 1, k, 1))
                        if (dims == 3) then
                            out = out + whole(3) * (s%flux(:, i, j, k + 1, 3) - s%flux(:, i, j, k, 3))
                            u(6) = u(6) - whole(3) * along_second(e(i, j, k, 2), e(i + 1, j, k, 2), e(i, j, k + 1, 2), &
                                                                  e(i + 1, j, k + 1, 2))
                            u(7) = u(7) - whole(3) * along_second(e(i, j, k, 3), e(i, j + 1, k, 3), e(i, j, k + 1, 3), &
                                                                  e(i, j + 1, k + 1, 3))
                            u(8) = u(8) + (whole(1) * along_first(e(i, j, k, 2), e(i + 1, j, k, 2), e(i, j, k + 1, 2), &
                                                                  e(i + 1, j, k + 1, 2)) + &
                                           whole(2) * along_first(e(i, j, k, 3), e(i, j + 1, k, 3), e(i, j, k + 1, 3), &
                                                                  e(i, j + 1, k + 1, 3)))
                        else
                            u(8) = u(8) - out(8)
                        end if
                    end associate
                    u(1:5) = u(1:5) - out(1:5)
                    next(i, j, z, :) = u
                    speed = max(speed, signal_speed(prim_of(u, gas), gas, dims))
                end do
            end do
        end do
    end function
end module
