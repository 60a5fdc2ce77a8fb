! What a program finds wrong is printed with the number beside it, if there is one, and counted; the program ends with
! `if (failures > 0) stop 1`.
module checks
    implicit none
    integer :: failures = 0

contains

    subroutine check(good, what, number)
        logical, intent(in) :: good
        character(len=*), intent(in) :: what
        integer, intent(in), optional :: number

        if (good) return
        failures = failures + 1
        if (failures > 20) return
        if (present(number)) then
            print "(3a, i0)", "wrong: ", what, ", ", number
        else
            print "(2a)", "wrong: ", what
        end if
    end subroutine
end module
