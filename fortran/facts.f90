! What this compiler makes of Fortran, told to C: sizes, kinds, the bits of .TRUE. and .FALSE., and its array descriptors.
module hotlane_facts
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: integer_kinds, logical_kinds, real_kinds
    implicit none
    private
    public :: hl_fort_tell_facts, true_bits, false_bits

    ! As struct hl_fort_facts in facts.h.
    type, bind(C) :: facts_type
        integer(c_int) :: logical_size, integer_size, real_size, double_precision_size
        integer(c_int) :: logicals(5), integers(5), reals(4)
    end type

    integer(c_int), bind(C, name="hl_fort_true"), protected :: true_bits = transfer(.true., 0_c_int)
    integer(c_int), bind(C, name="hl_fort_false"), protected :: false_bits = transfer(.false., 0_c_int)

    interface
        ! 1 if C reads this array's descriptor as Fortran has written it.
        integer(c_int) function hl_fort_descriptor_is(array) bind(C)
            import :: c_int
            type(*), dimension(..), intent(in) :: array
        end function
    end interface

contains

    ! Fills facts; the result is 1 if C and Fortran agree about descriptors: of the section facts.c expects.
    integer(c_int) function hl_fort_tell_facts(facts) result(agreed) bind(C)
        type(facts_type), intent(out) :: facts
        double precision, target :: array(7, 5)
        integer :: i

        facts%logical_size = storage_size(.true.) / 8
        facts%integer_size = storage_size(1) / 8
        facts%real_size = storage_size(1.0) / 8
        facts%double_precision_size = storage_size(1.0d0) / 8
        do i = 1, 5
            facts%logicals(i) = merge(1, 0, any(logical_kinds == 2**(i - 1)))
            facts%integers(i) = merge(1, 0, any(integer_kinds == 2**(i - 1)))
        end do
        do i = 1, 4
            facts%reals(i) = merge(1, 0, any(real_kinds == 2**i))
        end do
        array = 0
        array(2, 5) = 42
        agreed = hl_fort_descriptor_is(array(2:6:2, 5:1:-1))
    end function
end module
