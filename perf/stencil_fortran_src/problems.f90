! The problems of perf/stencil_src, by the same formulas: their domains, gases and first states.
module problems
    use mhd, only: dp, gas_type, variables, cons_of
    implicit none
    private
    public :: problem_type, problem_find, problem_zone

    real(dp), parameter :: pi = 3.14159265358979323846_dp
    real(dp), parameter :: wave_cos = 0.86602540378443864676_dp, wave_sin = 0.5_dp, wave_amplitude = 0.1_dp

    type :: problem_type
        character(len=16) :: name
        type(gas_type) :: gas
        real(dp) :: lower(3), size(3)  ! of the domain; size 0: as many zones of the x axis's width as there are
        real(dp) :: end_time
        logical :: outflow
        ! Of a run.
        integer :: n(3) = 1, dims = 2
        real(dp) :: width(3) = 0
    end type

contains

    ! The problem with this name on a grid of n zones; `found` is false if there is none.
    subroutine problem_find(name, n, p, found)
        character(len=*), intent(in) :: name
        integer, intent(in) :: n(3)
        type(problem_type), intent(out) :: p
        logical, intent(out) :: found
        real(dp) :: gamma
        integer :: a

        p%lower = 0
        p%size = 0
        p%outflow = .false.
        found = .true.
        gamma = 5.0_dp / 3.0_dp
        select case (name)
        case ('orszag-tang')
            p%size(1:2) = 1
            p%end_time = 0.5_dp
        case ('brio-wu')
            gamma = 2
            p%size(1) = 1
            p%end_time = 0.1_dp
            p%outflow = .true.
        case ('alfven')
            p%size(1:2) = [1.0_dp / wave_cos, 2.0_dp]
            p%end_time = 1
        case ('blast')
            p%lower = -0.5_dp
            p%size = 1
            p%end_time = 0.2_dp
        case ('sedov')
            gamma = 1.4_dp
            p%lower = -0.5_dp
            p%size = 1
            p%end_time = 0.08_dp
            p%outflow = .true.
        case default
            found = .false.
        end select
        p%name = name
        p%gas = gas_type(gamma, 1.0_dp / (gamma - 1.0_dp))
        p%n = n
        p%dims = merge(3, 2, n(3) > 1)
        do a = 1, 3
            p%width(a) = p%width(1)
            if (p%size(a) > 0 .and. a <= p%dims) p%width(a) = p%size(a) / n(a)
        end do
    end subroutine

    ! Coordinate of half-zone h (odd: a centre, even: a face) on an axis.
    pure real(dp) function coordinate(p, axis, h)
        type(problem_type), intent(in) :: p
        integer, intent(in) :: axis, h

        coordinate = (p%lower(axis) + 0.5_dp * p%n(axis) * p%width(axis)) + (h - p%n(axis)) * (0.5_dp * p%width(axis))
    end function

    pure real(dp) function wave_phase(x, y)
        real(dp), intent(in) :: x, y

        wave_phase = 2.0_dp * pi * (x * wave_cos + y * wave_sin)
    end function

    pure real(dp) function potential(x, y)
        real(dp), intent(in) :: x, y

        potential = wave_amplitude * cos(wave_phase(x, y)) / (2.0_dp * pi) + (wave_cos * y - wave_sin * x)
    end function

    ! The primitive state at a point.
    pure function state(p, x, y, z) result(w)
        type(problem_type), intent(in) :: p
        real(dp), intent(in) :: x, y, z
        real(dp) :: w(variables), b, c, s, bell

        select case (p%name)
        case ('orszag-tang')
            b = 1.0_dp / sqrt(4.0_dp * pi)
            w = [25.0_dp / (36.0_dp * pi), -sin(2.0_dp * pi * y), sin(2.0_dp * pi * x), 0.0_dp, &
                 5.0_dp / (12.0_dp * pi), -b * sin(2.0_dp * pi * y), b * sin(4.0_dp * pi * x), 0.0_dp]
        case ('brio-wu')
            w = [0.125_dp, 0.0_dp, 0.0_dp, 0.0_dp, 0.1_dp, 0.75_dp, -1.0_dp, 0.0_dp]
            if (x < 0.5_dp) w = [1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp, 0.75_dp, 1.0_dp, 0.0_dp]
        case ('alfven')
            s = wave_amplitude * sin(wave_phase(x, y))
            c = wave_amplitude * cos(wave_phase(x, y))
            w = [1.0_dp, -s * wave_sin, s * wave_cos, c, 0.1_dp, wave_cos - s * wave_sin, wave_sin + s * wave_cos, c]
        case ('blast')
            b = sqrt(1.0_dp / p%dims)
            w = [1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 0.1_dp, b, b, merge(b, 0.0_dp, p%dims == 3)]
            if (x * x + y * y + z * z < 0.01_dp) w(5) = 10
        case default
            bell = 2.5_dp * p%width(1)
            w = [1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1e-5_dp, 0.0_dp, 0.0_dp, 0.0_dp]
            s = (1.4_dp - 1.0_dp) * exp(-((x * x + y * y) + z * z) / (bell * bell))
            w(5) = 1e-5_dp + s / (pi**1.5_dp * (bell * bell * bell))
        end select
    end function

    ! The first conserved state of the zone at[], which counts from 0.
    pure function problem_zone(p, at) result(u)
        type(problem_type), intent(in) :: p
        integer, intent(in) :: at(3)
        real(dp) :: u(variables), w(variables), xm, xp, ym, yp, mm, pm, mp, pp, z

        z = 0
        if (p%dims == 3) z = coordinate(p, 3, 2 * at(3) + 1)
        w = state(p, coordinate(p, 1, 2 * at(1) + 1), coordinate(p, 2, 2 * at(2) + 1), z)
        if (p%name == 'alfven') then
            xm = coordinate(p, 1, 2 * at(1))
            xp = coordinate(p, 1, 2 * at(1) + 2)
            ym = coordinate(p, 2, 2 * at(2))
            yp = coordinate(p, 2, 2 * at(2) + 2)
            mm = potential(xm, ym)
            pm = potential(xp, ym)
            mp = potential(xm, yp)
            pp = potential(xp, yp)
            w(6) = 0.5_dp * ((mp - mm) + (pp - pm)) / p%width(2)
            w(7) = -0.5_dp * ((pm - mm) + (pp - mp)) / p%width(1)
        end if
        u = cons_of(w, p%gas, 1)
    end function
end module
