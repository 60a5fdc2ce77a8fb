! Memory that MPI gives, of module mpi: its address as an INTEGER and as a C_PTR, for each call that gives one; and what the library
! says of the compiler.
program memory
    use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_associated, c_f_pointer, c_loc, c_intptr_t
    use mpi
    use checks
    implicit none
    integer, parameter :: n = 8
    integer(MPI_ADDRESS_KIND), parameter :: bytes = 4 * n
    integer(MPI_ADDRESS_KIND) :: number, size
    type(c_ptr) :: place
    integer, pointer :: words(:)
    integer :: me, ranks, node, near, at, win, unit, err

    call MPI_Init(err)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, err)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, err)

    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, place, err)
    call use_words(place, 'MPI_Alloc_mem, C_PTR')
    call MPI_Free_mem(words, err)
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, number, err)
    call use_words(transfer(number, place), 'MPI_Alloc_mem, INTEGER')
    call MPI_Free_mem(words, err)

    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, place, win, err)
    call use_words(place, 'MPI_Win_allocate, C_PTR')
    call swap_with_next('MPI_Win_allocate, C_PTR')
    call MPI_Win_free(win, err)
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, number, win, err)
    call use_words(transfer(number, place), 'MPI_Win_allocate, INTEGER')
    call swap_with_next('MPI_Win_allocate, INTEGER')
    call MPI_Win_free(win, err)

    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, err)
    call MPI_Comm_rank(node, at, err)
    call MPI_Comm_size(node, near, err)
    call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, node, place, win, err)
    call use_words(place, 'MPI_Win_allocate_shared, C_PTR')
    call MPI_Win_fence(0, win, err)
    call MPI_Win_shared_query(win, mod(at + 1, near), size, unit, place, err)
    call look_at(place, 'MPI_Win_shared_query, C_PTR')
    call MPI_Win_shared_query(win, mod(at + 1, near), size, unit, number, err)
    call look_at(transfer(number, place), 'MPI_Win_shared_query, INTEGER')
    call check(c_associated(place, transfer(number, place)), 'both forms of MPI_Win_shared_query say the same')
    call MPI_Win_fence(0, win, err)
    call MPI_Win_free(win, err)
    call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, node, number, win, err)
    call use_words(transfer(number, place), 'MPI_Win_allocate_shared, INTEGER')
    call MPI_Win_free(win, err)
    call MPI_Comm_free(node, err)

    call compiler_is_known()
    call MPI_Finalize(err)
    if (failures > 0) stop 1

contains

    ! All words can be written, and hold what was.
    subroutine use_words(at, what)
        type(c_ptr), intent(in) :: at
        character(len=*), intent(in) :: what
        integer :: i

        call check(c_associated(at), what // ': an address')
        call c_f_pointer(at, words, [n])
        words = [(100 * me + i, i = 1, n)]
        call check(all(words == [(100 * me + i, i = 1, n)]), what // ': its words')
    end subroutine

    subroutine swap_with_next(what)
        character(len=*), intent(in) :: what
        integer :: got(n), i, next

        next = mod(me + 1, ranks)
        call MPI_Win_fence(0, win, err)
        call MPI_Get(got, n, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, n, MPI_INTEGER, win, err)
        call MPI_Win_fence(0, win, err)
        call check(all(got == [(100 * next + i, i = 1, n)]), what // ': a get')
    end subroutine

    ! The next rank's memory, whose rank in the program is told by its first word.
    subroutine look_at(at, what)
        type(c_ptr), intent(in) :: at
        character(len=*), intent(in) :: what
        integer, pointer :: theirs(:)
        integer :: i

        call c_f_pointer(at, theirs, [n])
        call check(size == bytes .and. unit == 4, what // ': size and unit')
        call check(all(theirs == [(theirs(1) - 1 + i, i = 1, n)]) .and. mod(theirs(1), 100) == 1, what // ': the words')
        call check(near == 1 .or. theirs(1) /= words(1), what // ": another rank's")
    end subroutine

    ! Sizes of default types as the compiler has them (MPI 5.0, chapter on the ABI).
    subroutine compiler_is_known()
        integer :: info

        call MPI_Abi_get_fortran_info(info, err)
        call check(info /= MPI_INFO_NULL, 'MPI_Abi_get_fortran_info')
        if (info == MPI_INFO_NULL) return
        call same(info, 'mpi_integer_size', storage_size(1) / 8)
        call same(info, 'mpi_real_size', storage_size(1.0) / 8)
        call same(info, 'mpi_double_precision_size', storage_size(1d0) / 8)
        call same(info, 'mpi_logical_size', storage_size(.true.) / 8)
        call MPI_Info_free(info, err)
    end subroutine

    subroutine same(info, key, bytes)
        integer, intent(in) :: info, bytes
        character(len=*), intent(in) :: key
        character(len=32) :: value
        integer :: found
        logical :: there

        call MPI_Info_get(info, key, len(value), value, there, err)
        call check(there, 'the compiler: ' // key)
        if (.not. there) return
        read (value, *) found
        call check(found == bytes, 'the compiler: ' // key, found)
    end subroutine
end program
