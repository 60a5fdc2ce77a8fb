! Fortran procedures that MPI calls, in mpi_f08, each with the interface that the module declares for it: reductions, also of
! large counts, attributes of all kinds of objects, error handlers, generalized requests and data representations.
module called
    use mpi_f08
    use checks
    use, intrinsic :: iso_c_binding, only: C_PTR, c_f_pointer
    implicit none
    integer, parameter :: MINE = 77
    integer :: copies = 0, errors = 0, last_error = MPI_SUCCESS, last_number = -1
    integer :: queries = 0, frees = 0, cancels = 0, conversions = 0, large_conversions = 0
    logical :: was_complete = .false.
    integer(MPI_ADDRESS_KIND) :: last_extra = -1, last_value = -1
    type(MPI_Comm) :: last_comm
    type(MPI_Datatype) :: last_type
    type(MPI_Win) :: last_win
    type(MPI_File) :: last_file
    type(MPI_Session) :: last_session

contains

    ! ---- Reductions, one of which does not commute ----
    subroutine add(invec, inoutvec, len, datatype)
        type(C_PTR), value :: invec, inoutvec
        integer :: len
        type(MPI_Datatype) :: datatype
        integer, pointer :: in(:), inout(:)

        call check(datatype == MPI_INTEGER, 'datatype of a reduction')
        call c_f_pointer(invec, in, [len])
        call c_f_pointer(inoutvec, inout, [len])
        inout = inout + in
    end subroutine

    subroutine keep_first(invec, inoutvec, len, datatype)
        type(C_PTR), value :: invec, inoutvec
        integer(MPI_COUNT_KIND) :: len
        type(MPI_Datatype) :: datatype
        integer, pointer :: in(:), inout(:)

        call check(datatype == MPI_INTEGER, 'datatype of a reduction of a large count')
        call c_f_pointer(invec, in, [len])
        call c_f_pointer(inoutvec, inout, [len])
        inout = in
    end subroutine

    ! ---- Attributes: a copy is one more than what was copied ----
    subroutine note_copy(keyval, extra, in, out, flag, ierror)
        integer, intent(in) :: keyval
        integer(MPI_ADDRESS_KIND), intent(in) :: extra, in
        integer(MPI_ADDRESS_KIND), intent(out) :: out
        logical, intent(out) :: flag
        integer, intent(out) :: ierror

        copies = copies + 1
        last_extra = extra
        last_number = keyval
        out = in + 1
        flag = in >= 0
        ierror = MPI_SUCCESS
    end subroutine

    subroutine note_deletion(value, extra, ierror)
        integer(MPI_ADDRESS_KIND), intent(in) :: value, extra
        integer, intent(out) :: ierror

        last_value = value
        last_extra = extra
        ierror = merge(MINE, MPI_SUCCESS, value == 2013)
    end subroutine

    subroutine copy_comm(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
        type(MPI_Comm) :: oldcomm
        integer :: comm_keyval, ierror
        integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
        logical :: flag

        last_comm = oldcomm
        call note_copy(comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    end subroutine

    subroutine delete_comm(comm, comm_keyval, attribute_val, extra_state, ierror)
        type(MPI_Comm) :: comm
        integer :: comm_keyval, ierror
        integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state

        last_comm = comm
        call note_deletion(attribute_val, extra_state, ierror)
    end subroutine

    subroutine copy_type(oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
        type(MPI_Datatype) :: oldtype
        integer :: type_keyval, ierror
        integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
        logical :: flag

        last_type = oldtype
        call note_copy(type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    end subroutine

    subroutine delete_type(datatype, type_keyval, attribute_val, extra_state, ierror)
        type(MPI_Datatype) :: datatype
        integer :: type_keyval, ierror
        integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state

        last_type = datatype
        call note_deletion(attribute_val, extra_state, ierror)
    end subroutine

    subroutine delete_win(win, win_keyval, attribute_val, extra_state, ierror)
        type(MPI_Win) :: win
        integer :: win_keyval, ierror
        integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state

        last_win = win
        call note_deletion(attribute_val, extra_state, ierror)
    end subroutine

    ! ---- Error handlers ----
    subroutine on_comm(comm, error_code)
        type(MPI_Comm) :: comm
        integer :: error_code

        errors = errors + 1
        last_comm = comm
        last_error = error_code
    end subroutine

    subroutine on_win(win, error_code)
        type(MPI_Win) :: win
        integer :: error_code

        errors = errors + 1
        last_win = win
        last_error = error_code
    end subroutine

    subroutine on_file(file, error_code)
        type(MPI_File) :: file
        integer :: error_code

        errors = errors + 1
        last_file = file
        last_error = error_code
    end subroutine

    subroutine on_session(session, error_code)
        type(MPI_Session) :: session
        integer :: error_code

        errors = errors + 1
        last_session = session
        last_error = error_code
    end subroutine

    ! ---- Generalized requests ----
    subroutine query(extra_state, status, ierror)
        integer(MPI_ADDRESS_KIND) :: extra_state
        type(MPI_Status) :: status
        integer :: ierror

        queries = queries + 1
        call MPI_Status_set_elements(status, MPI_INTEGER, 42)
        call MPI_Status_set_cancelled(status, .false.)
        status%MPI_SOURCE = int(extra_state)
        status%MPI_TAG = 5
        ierror = MPI_SUCCESS
    end subroutine

    subroutine free_it(extra_state, ierror)
        integer(MPI_ADDRESS_KIND) :: extra_state
        integer :: ierror

        frees = frees + 1
        last_extra = extra_state
        ierror = MPI_SUCCESS
    end subroutine

    subroutine cancel(extra_state, complete, ierror)
        integer(MPI_ADDRESS_KIND) :: extra_state
        logical :: complete
        integer :: ierror

        cancels = cancels + 1
        was_complete = complete
        ierror = MPI_SUCCESS
    end subroutine

    ! ---- A data representation: integers with all bits turned ----
    subroutine turn(user, file, count, position, outward)
        type(C_PTR), intent(in) :: user, file
        integer(MPI_COUNT_KIND), intent(in) :: count
        integer(MPI_OFFSET_KIND), intent(in) :: position
        logical, intent(in) :: outward
        integer(4), pointer :: in_memory(:), in_file(:)

        call c_f_pointer(user, in_memory, [position + count])
        call c_f_pointer(file, in_file, [count])
        if (outward) then
            in_file = not(in_memory(position + 1:))
        else
            in_memory(position + 1:) = not(in_file)
        end if
    end subroutine

    subroutine turn_in(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        type(C_PTR), value :: userbuf, filebuf
        type(MPI_Datatype) :: datatype
        integer :: count, ierror
        integer(MPI_OFFSET_KIND) :: position
        integer(MPI_ADDRESS_KIND) :: extra_state

        conversions = conversions + 1
        last_extra = extra_state
        last_type = datatype
        call turn(userbuf, filebuf, int(count, MPI_COUNT_KIND), position, .false.)
        ierror = MPI_SUCCESS
    end subroutine

    subroutine turn_out(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        type(C_PTR), value :: userbuf, filebuf
        type(MPI_Datatype) :: datatype
        integer :: count, ierror
        integer(MPI_OFFSET_KIND) :: position
        integer(MPI_ADDRESS_KIND) :: extra_state

        conversions = conversions + 1
        last_extra = extra_state
        last_type = datatype
        call turn(userbuf, filebuf, int(count, MPI_COUNT_KIND), position, .true.)
        ierror = MPI_SUCCESS
    end subroutine

    subroutine turn_in_large(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        type(C_PTR), value :: userbuf, filebuf
        type(MPI_Datatype) :: datatype
        integer :: ierror
        integer(MPI_COUNT_KIND) :: count
        integer(MPI_OFFSET_KIND) :: position
        integer(MPI_ADDRESS_KIND) :: extra_state

        large_conversions = large_conversions + 1
        last_extra = extra_state
        last_type = datatype
        call turn(userbuf, filebuf, count, position, .false.)
        ierror = MPI_SUCCESS
    end subroutine

    subroutine turn_out_large(userbuf, datatype, count, filebuf, position, extra_state, ierror)
        type(C_PTR), value :: userbuf, filebuf
        type(MPI_Datatype) :: datatype
        integer :: ierror
        integer(MPI_COUNT_KIND) :: count
        integer(MPI_OFFSET_KIND) :: position
        integer(MPI_ADDRESS_KIND) :: extra_state

        large_conversions = large_conversions + 1
        last_extra = extra_state
        last_type = datatype
        call turn(userbuf, filebuf, count, position, .true.)
        ierror = MPI_SUCCESS
    end subroutine

    subroutine extent_of(datatype, extent, extra_state, ierror)
        type(MPI_Datatype) :: datatype
        integer(MPI_ADDRESS_KIND) :: extent, extra_state
        integer :: ierror

        extent = 4
        ierror = MPI_SUCCESS
    end subroutine
end module

program callbacks_f08
    use called
    implicit none
    integer :: rank, size

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    call reductions
    call attributes_of_communicators
    call attributes_of_others
    call error_handlers
    call requests
    call representations('turned')
    call representations('turned, large')
    call MPI_Finalize()
    if (failures > 0) stop 1

contains

    subroutine reductions
        integer, asynchronous :: in(3), out(3), first(3)
        type(MPI_Op) :: op(2)
        type(MPI_Request) :: request(2)
        logical :: commutes

        call MPI_Op_create(add, .true., op(1))
        call MPI_Op_create_c(keep_first, .false., op(2))
        call MPI_Op_commutative(op(2), commutes)
        call check(.not. commutes, 'keep_first does not commute')
        in = [rank, 1, 2]
        call MPI_Iallreduce(in, out, 3, MPI_INTEGER, op(1), MPI_COMM_WORLD, request(1))
        call MPI_Iallreduce(in, first, 3_MPI_COUNT_KIND, MPI_INTEGER, op(2), MPI_COMM_WORLD, request(2))
        call MPI_Op_free(op(1))
        call check(op(1) == MPI_OP_NULL, 'an operation that was freed')
        call MPI_Waitall(2, request, MPI_STATUSES_IGNORE)
        call check(all(out == [size * (size - 1) / 2, size, 2 * size]), 'sum')
        call check(all(first == [0, 1, 2]), 'what rank 0 has')
        call MPI_Op_free(op(2))
    end subroutine

    subroutine attributes_of_communicators
        integer :: keyval, ierror
        integer(MPI_ADDRESS_KIND) :: value
        integer(MPI_ADDRESS_KIND), parameter :: big = 2_MPI_ADDRESS_KIND**40 + 5
        type(MPI_Comm) :: comm, second
        logical :: flag

        call MPI_Comm_create_keyval(copy_comm, delete_comm, keyval, big)
        call MPI_Comm_dup(MPI_COMM_SELF, comm)
        call MPI_Comm_set_attr(comm, keyval, big)
        call MPI_Comm_dup(comm, second)
        call check(copies == 1 .and. last_extra == big .and. last_comm == comm .and. last_number == keyval, &
            'the copy function and its arguments')
        call MPI_Comm_get_attr(second, keyval, value, flag)
        call check(flag .and. value == big + 1, 'the copy')
        call MPI_Comm_delete_attr(second, keyval)
        call check(last_value == big + 1 .and. last_comm == second, 'the delete function')
        call MPI_Comm_free(second)
        call MPI_Comm_set_attr(comm, keyval, -5_MPI_ADDRESS_KIND)
        call MPI_Comm_dup(comm, second)
        call MPI_Comm_get_attr(second, keyval, value, flag)
        call check(.not. flag, 'an attribute that is not copied')
        call MPI_Comm_free(second)
        call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
        call MPI_Comm_set_attr(comm, keyval, 2013_MPI_ADDRESS_KIND)
        call MPI_Comm_delete_attr(comm, keyval, ierror)
        call check(ierror /= MPI_SUCCESS, 'an error of the delete function')
        call MPI_Comm_free_keyval(keyval)
        call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND)
        call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 31_MPI_ADDRESS_KIND)
        call MPI_Comm_dup(MPI_COMM_SELF, second)
        call MPI_Comm_get_attr(second, keyval, value, flag)
        call check(flag .and. value == 31, 'MPI_COMM_DUP_FN')
        call MPI_Comm_free(second)
        call MPI_Comm_free_keyval(keyval)
    end subroutine

    subroutine attributes_of_others
        integer :: keyval
        integer, allocatable, asynchronous :: memory(:)
        integer(MPI_ADDRESS_KIND) :: value
        type(MPI_Datatype) :: datatype, second, freed
        type(MPI_Win) :: win, was
        logical :: flag

        call MPI_Type_create_keyval(copy_type, delete_type, keyval, 3_MPI_ADDRESS_KIND)
        call MPI_Type_contiguous(2, MPI_INTEGER, datatype)
        call MPI_Type_set_attr(datatype, keyval, 9_MPI_ADDRESS_KIND)
        copies = 0
        call MPI_Type_dup(datatype, second)
        call MPI_Type_get_attr(second, keyval, value, flag)
        call check(flag .and. value == 10 .and. copies == 1 .and. last_extra == 3 .and. last_type == datatype, &
            'attribute of a datatype')
        freed = second
        call MPI_Type_free(second)
        call check(last_value == 10 .and. last_type == freed, 'deleted with the datatype')
        call MPI_Type_free(datatype)
        call MPI_Type_free_keyval(keyval)

        allocate (memory(10))
        call MPI_Win_create(memory, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
        call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, keyval, 4_MPI_ADDRESS_KIND)
        call MPI_Win_set_attr(win, keyval, 21_MPI_ADDRESS_KIND)
        call MPI_Win_get_attr(win, keyval, value, flag)
        call check(flag .and. value == 21, 'attribute of a window')
        call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag)
        call check(flag .and. value == 40, 'MPI_WIN_SIZE')
        was = win
        call MPI_Win_free(win)
        call check(last_value == 21 .and. last_extra == 4 .and. last_win == was, 'deleted with the window')
        call MPI_Win_free_keyval(keyval)
    end subroutine

    subroutine error_handlers
        type(MPI_Errhandler) :: handler
        type(MPI_Win) :: win
        type(MPI_File) :: file
        type(MPI_Session) :: session
        integer, asynchronous :: memory(1)
        integer :: ierror, class

        call MPI_Comm_create_errhandler(on_comm, handler)
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)
        call MPI_Errhandler_free(handler)
        call MPI_Send(rank, 1, MPI_INTEGER, size + 5, 0, MPI_COMM_WORLD, ierror)
        call MPI_Error_class(ierror, class)
        call check(errors == 1 .and. last_comm == MPI_COMM_WORLD .and. last_error == ierror .and. class == MPI_ERR_RANK, &
            'error of a communicator')
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)

        call MPI_Win_create(memory, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
        call MPI_Win_create_errhandler(on_win, handler)
        call MPI_Win_set_errhandler(win, handler)
        call MPI_Errhandler_free(handler)
        call MPI_Win_call_errhandler(win, MPI_ERR_ARG)
        call check(errors == 2 .and. last_win == win .and. last_error == MPI_ERR_ARG, 'error of a window')
        call MPI_Win_free(win)

        call MPI_File_create_errhandler(on_file, handler)
        call MPI_File_set_errhandler(MPI_FILE_NULL, handler)
        call MPI_Errhandler_free(handler)
        call MPI_File_open(MPI_COMM_SELF, 'no/such/folder/file', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
        call check(errors == 3 .and. last_file == MPI_FILE_NULL .and. last_error == ierror, 'error of a file')
        call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN)

        call MPI_Session_create_errhandler(on_session, handler)
        call MPI_Session_init(MPI_INFO_NULL, handler, session)
        call MPI_Errhandler_free(handler)
        call MPI_Session_call_errhandler(session, MPI_ERR_OTHER)
        call check(errors == 4 .and. last_session == session .and. last_error == MPI_ERR_OTHER, 'error of a session')
        call MPI_Session_finalize(session)
    end subroutine

    subroutine requests
        type(MPI_Request) :: request
        type(MPI_Status) :: status
        integer :: count
        logical :: flag

        call MPI_Grequest_start(query, free_it, cancel, 12_MPI_ADDRESS_KIND, request)
        call MPI_Test(request, flag, status)
        call check(.not. flag .and. queries == 0, 'a request that is not complete')
        call MPI_Cancel(request)
        call check(cancels == 1 .and. .not. was_complete, 'cancelled before it was complete')
        call MPI_Grequest_complete(request)
        call MPI_Cancel(request)
        call check(cancels == 2 .and. was_complete, 'cancelled when it was complete')
        call MPI_Wait(request, status)
        call MPI_Get_count(status, MPI_INTEGER, count)
        call check(queries == 1 .and. frees == 1 .and. last_extra == 12, 'query and free')
        call check(count == 42 .and. status%MPI_SOURCE == 12 .and. status%MPI_TAG == 5, 'status of a generalized request')
        call check(request == MPI_REQUEST_NULL, 'a generalized request that is complete')
    end subroutine

    subroutine representations(name)
        character(len=*), intent(in) :: name
        character(len=32) :: path
        type(MPI_File) :: file, raw
        integer :: i, mode, before
        integer, asynchronous :: out(5), in(5)
        integer(MPI_OFFSET_KIND), parameter :: zero = 0

        write (path, '(a, i0)') 'callbacks_f08_of_rank_', rank
        if (name == 'turned') then
            call MPI_Register_datarep(name, turn_in, turn_out, extent_of, 99_MPI_ADDRESS_KIND)
        else
            call MPI_Register_datarep_c(name, turn_in_large, turn_out_large, extent_of, 100_MPI_ADDRESS_KIND)
        end if
        before = conversions
        mode = ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE))
        call MPI_File_open(MPI_COMM_SELF, path, mode, MPI_INFO_NULL, file)
        call MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, raw)
        call MPI_File_set_view(file, zero, MPI_INTEGER, MPI_INTEGER, name, MPI_INFO_NULL)
        out = [(100 * rank + i, i=1, 5)]
        call MPI_File_write_at(file, zero, out, 5, MPI_INTEGER, MPI_STATUS_IGNORE)
        call check(last_type == MPI_INTEGER, 'datatype of a conversion')
        call MPI_File_sync(file)
        call MPI_File_read_at(raw, zero, in, 5, MPI_INTEGER, MPI_STATUS_IGNORE)
        call check(all(in == not(out)), 'what stands in the file, ' // name)
        in = 0
        call MPI_File_read_at(file, zero, in, 5, MPI_INTEGER, MPI_STATUS_IGNORE)
        call check(all(in == out), 'what is read back, ' // name)
        if (name == 'turned') then
            call check(conversions >= before + 2 .and. last_extra == 99, 'conversions')
        else
            call check(large_conversions >= 2 .and. conversions == before .and. last_extra == 100, 'conversions of large counts')
        end if
        call MPI_File_close(raw)
        call MPI_File_close(file)
    end subroutine
end program
