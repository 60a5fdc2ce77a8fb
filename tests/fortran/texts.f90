! Characters: what is stripped on the way in, and blanks on the way out, in module mpi.
program texts
    use mpi
    use checks
    implicit none
    integer :: ierror, length, info, copy, n, code, class, comm, file, rank
    logical :: flag
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=MPI_MAX_ERROR_STRING) :: text
    character(len=MPI_MAX_PROCESSOR_NAME) :: host
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    character(len=8) :: short
    character(len=40) :: value
    character(len=:), allocatable :: path

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)

    ! Names: first blanks count, last ones do not.
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_set_name(comm, '  two blanks before   ', ierror)
    name = repeat('x', len(name))
    call MPI_Comm_get_name(comm, name, length, ierror)
    call check(name == '  two blanks before' .and. length == 19, 'name of a communicator')
    short = 'xxxxxxxx'
    call MPI_Comm_get_name(comm, short, length, ierror)
    call check(short == '  two bl', 'a name that does not fit')
    call MPI_Comm_set_name(comm, '', ierror)
    call MPI_Comm_get_name(comm, name, length, ierror)
    call check(name == ' ' .and. length == 0, 'an empty name')
    call MPI_Comm_free(comm, ierror)

    ! Keys and values: blanks on both sides do not count.
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, '  key one ', '   value one  ', ierror)
    call MPI_Info_set(info, 'k2', 'two', ierror)
    call MPI_Info_get_valuelen(info, 'key one  ', length, flag, ierror)
    call check(flag .and. length == 9, 'length of a value')
    value = repeat('x', len(value))
    call MPI_Info_get(info, ' key one', len(value) - 1, value, flag, ierror)
    call check(flag .and. value == 'value one', 'MPI_Info_get')
    value = repeat('x', len(value))
    call MPI_Info_get(info, 'key one', 5, value, flag, ierror)
    call check(flag .and. value == 'value', 'MPI_Info_get of 5 characters')
    value = repeat('x', len(value))
    length = len(value)
    call MPI_Info_get_string(info, 'key one', length, value, flag, ierror)
    call check(flag .and. value == 'value one' .and. length == 9, 'MPI_Info_get_string')
    length = 5
    call MPI_Info_get_string(info, 'key one', length, value, flag, ierror)
    call check(flag .and. value == 'value' .and. length == 9, 'MPI_Info_get_string of 5 characters')
    length = 0
    value = 'untouched'
    call MPI_Info_get_string(info, 'key one', length, value, flag, ierror)
    call check(flag .and. value == 'untouched' .and. length == 9, 'MPI_Info_get_string of the length alone')
    length = 3
    call MPI_Info_get_string(info, 'no such key', length, value, flag, ierror)
    call check(.not. flag .and. value == 'untouched' .and. length == 3, 'a key that is not there')
    call MPI_Info_dup(info, copy, ierror)
    call MPI_Info_get_nkeys(copy, n, ierror)
    value = repeat('x', len(value))
    call MPI_Info_get_nthkey(copy, 1, value, ierror)
    call check(n == 2 .and. value == 'k2', 'MPI_Info_get_nthkey counts from 0')
    call MPI_Info_free(copy, ierror)
    call MPI_Info_free(info, ierror)
    call check(info == MPI_INFO_NULL, 'an info that was freed')

    ! Errors.
    call MPI_Add_error_class(class, ierror)
    call MPI_Add_error_code(class, code, ierror)
    call MPI_Add_error_string(code, ' the error is mine   ', ierror)
    text = repeat('x', len(text))
    call MPI_Error_string(code, text, length, ierror)
    call check(text == ' the error is mine' .and. length == 18, 'text of an error')

    call MPI_Get_processor_name(host, length, ierror)
    call check(length > 0 .and. host(length + 1:) == ' ' .and. host(length:length) /= ' ', 'name of the processor')
    version = repeat('x', len(version))
    call MPI_Get_library_version(version, length, ierror)
    call check(length > 0 .and. version(length + 1:) == ' ', 'version of the library')

    ! File names.
    path = '  texts_of_rank_' // achar(iachar('0') + rank) // '   '
    call MPI_File_open(MPI_COMM_SELF, path, ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE)), MPI_INFO_NULL, &
        file, ierror)
    call check(ierror == MPI_SUCCESS, 'a file whose name has blanks around')
    inquire(file=trim(adjustl(path)), exist=flag)
    call check(flag, 'the name without blanks')
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, ' native ', MPI_INFO_NULL, ierror)
    value = repeat('x', len(value))
    call view_of(file, value)
    call check(value == 'native', 'MPI_File_get_view')
    call MPI_File_close(file, ierror)

    call MPI_Finalize(ierror)
    if (failures > 0) stop 1

contains

    subroutine view_of(file, datarep)
        integer, intent(in) :: file
        character(len=*), intent(out) :: datarep
        integer :: etype, filetype, ierror
        integer(MPI_OFFSET_KIND) :: disp

        call MPI_File_get_view(file, disp, etype, filetype, datarep, ierror)
        call check(disp == 0 .and. etype == MPI_INTEGER, 'displacement and type of a view')
    end subroutine
end program
