! Fortran procedures that MPI calls, in module mpi: reductions (many at once), attributes of all kinds of objects, error handlers,
! generalized requests and data representations.
module called
    use mpi
    use checks
    implicit none
    integer :: copies = 0, deletions = 0, errors = 0, last_handle = -1, last_error = MPI_SUCCESS
    integer :: queries = 0, frees = 0, cancels = 0, conversions = 0
    logical :: was_complete = .false.
    integer(MPI_ADDRESS_KIND) :: last_extra = -1, last_value = -1
    integer, parameter :: MINE = 77

contains

    ! ---- Reductions, one of which does not commute ----
    subroutine add(in, inout, len, datatype)
        integer :: len, datatype, in(len), inout(len)
        if (datatype /= MPI_INTEGER) failures = failures + 1
        inout = inout + in
    end subroutine

    subroutine keep_first(in, inout, len, datatype)
        integer :: len, datatype, in(len), inout(len)
        if (datatype /= MPI_INTEGER) failures = failures + 1
        inout = in
    end subroutine

    ! ---- Attributes: a copy is one more than what was copied ----
    subroutine copy_attr(old, keyval, extra, in, out, flag, ierror)
        integer :: old, keyval, ierror
        integer(MPI_ADDRESS_KIND) :: extra, in, out
        logical :: flag
        copies = copies + 1
        last_extra = extra
        out = in + 1
        flag = in >= 0
        ierror = MPI_SUCCESS
    end subroutine

    subroutine delete_attr(handle, keyval, value, extra, ierror)
        integer :: handle, keyval, ierror
        integer(MPI_ADDRESS_KIND) :: value, extra
        deletions = deletions + 1
        last_handle = handle
        last_value = value
        last_extra = extra
        ierror = merge(MINE, MPI_SUCCESS, value == 2013)
    end subroutine

    subroutine old_copy(old, keyval, extra, in, out, flag, ierror)
        integer :: old, keyval, extra, in, out, ierror
        logical :: flag
        copies = copies + 1
        last_extra = extra
        out = in + 1
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine

    subroutine old_delete(comm, keyval, value, extra, ierror)
        integer :: comm, keyval, value, extra, ierror
        deletions = deletions + 1
        last_value = value
        ierror = MPI_SUCCESS
    end subroutine

    ! ---- Error handlers ----
    subroutine on_error(handle, code)
        integer :: handle, code
        errors = errors + 1
        last_handle = handle
        last_error = code
    end subroutine

    ! ---- Generalized requests ----
    subroutine query(extra, status, ierror)
        integer(MPI_ADDRESS_KIND) :: extra
        integer :: status(MPI_STATUS_SIZE), ierror
        queries = queries + 1
        call MPI_Status_set_elements(status, MPI_INTEGER, 42, ierror)
        call MPI_Status_set_cancelled(status, .false., ierror)
        status(MPI_SOURCE) = int(extra)
        status(MPI_TAG) = 5
        ierror = MPI_SUCCESS
    end subroutine

    subroutine free_it(extra, ierror)
        integer(MPI_ADDRESS_KIND) :: extra
        integer :: ierror
        frees = frees + 1
        last_extra = extra
        ierror = MPI_SUCCESS
    end subroutine

    subroutine cancel(extra, complete, ierror)
        integer(MPI_ADDRESS_KIND) :: extra
        logical :: complete
        integer :: ierror
        cancels = cancels + 1
        was_complete = complete
        ierror = MPI_SUCCESS
    end subroutine

    ! ---- A data representation: integers with all bits turned ----
    subroutine turn_in(user, datatype, count, file, position, extra, ierror)
        integer :: datatype, count, ierror, i
        integer(4) :: user(*), file(*)
        integer(MPI_OFFSET_KIND) :: position
        integer(MPI_ADDRESS_KIND) :: extra
        conversions = conversions + 1
        last_extra = extra
        do i = 1, count
            user(position + i) = not(file(i))
        end do
        ierror = MPI_SUCCESS
    end subroutine

    subroutine turn_out(user, datatype, count, file, position, extra, ierror)
        integer :: datatype, count, ierror, i
        integer(4) :: user(*), file(*)
        integer(MPI_OFFSET_KIND) :: position
        integer(MPI_ADDRESS_KIND) :: extra
        conversions = conversions + 1
        do i = 1, count
            file(i) = not(user(position + i))
        end do
        ierror = MPI_SUCCESS
    end subroutine

    subroutine extent_of(datatype, extent, extra, ierror)
        integer :: datatype, ierror
        integer(MPI_ADDRESS_KIND) :: extent, extra
        extent = 4
        ierror = MPI_SUCCESS
    end subroutine
end module

program callbacks
    use called
    implicit none
    integer :: ierror, rank, size

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    call reductions
    call attributes_of_communicators
    call attributes_of_others
    call predefined
    call old_attributes
    call error_handlers
    call requests
    call representations
    call MPI_Finalize(ierror)
    if (failures > 0) stop 1

contains

    subroutine reductions
        integer :: op(2), in(3), out(3), first(3), i, request(2)
        logical :: commutes

        call MPI_Op_create(add, .true., op(1), ierror)
        call MPI_Op_create(keep_first, .false., op(2), ierror)
        call MPI_Op_commutative(op(1), commutes, ierror)
        call check(commutes, 'add commutes')
        call MPI_Op_commutative(op(2), commutes, ierror)
        call check(.not. commutes, 'keep_first does not commute')
        in = [rank, 1, 2]
        call MPI_Iallreduce(in, out, 3, MPI_INTEGER, op(1), MPI_COMM_WORLD, request(1), ierror)
        call MPI_Iallreduce(in, first, 3, MPI_INTEGER, op(2), MPI_COMM_WORLD, request(2), ierror)
        call MPI_Op_free(op(1), ierror)
        call check(op(1) == MPI_OP_NULL, 'an operation that was freed')
        call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierror)
        call check(all(out == [size * (size - 1) / 2, size, 2 * size]), 'sum')
        call check(all(first == [0, 1, 2]), 'what rank 0 has')
        call MPI_Op_free(op(2), ierror)
        do i = 1, 10000
            call MPI_Op_create(add, .true., op(1), ierror)
            call MPI_Op_free(op(1), ierror)
        end do
        call MPI_Op_create(add, .true., op(1), ierror)
        call MPI_Reduce_local(in, out, 3, MPI_INTEGER, op(1), ierror)
        call check(out(2) == size + 1, 'an operation after 10000 others')
        call MPI_Op_free(op(1), ierror)
    end subroutine

    subroutine attributes_of_communicators
        integer :: keyval, comm, second, i
        integer(MPI_ADDRESS_KIND) :: value
        integer(MPI_ADDRESS_KIND), parameter :: big = 2_MPI_ADDRESS_KIND**40 + 5
        logical :: flag

        call MPI_Comm_create_keyval(copy_attr, delete_attr, keyval, big, ierror)
        call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
        call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
        call check(.not. flag, 'no attribute yet')
        call MPI_Comm_set_attr(comm, keyval, big, ierror)
        call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
        call check(flag .and. value == big, 'an attribute of 8 bytes')
        call MPI_Comm_dup(comm, second, ierror)
        call check(copies == 1 .and. last_extra == big, 'the copy function and its state')
        call MPI_Comm_get_attr(second, keyval, value, flag, ierror)
        call check(flag .and. value == big + 1, 'the copy')
        call MPI_Comm_delete_attr(second, keyval, ierror)
        call check(deletions == 1 .and. last_value == big + 1 .and. last_handle == second, 'the delete function')
        ! Values do not run out, and 0 and negative ones are values.
        do i = 1000, -1000, -1
            call MPI_Comm_set_attr(second, keyval, int(i, MPI_ADDRESS_KIND), ierror)
            call MPI_Comm_get_attr(second, keyval, value, flag, ierror)
            if (.not. flag .or. value /= i) exit
        end do
        call check(i == -1001, 'many values')
        call MPI_Comm_free(second, ierror)
        call check(last_value == -1000 .and. second == MPI_COMM_NULL, 'deleted with the communicator')
        ! No copy.
        call MPI_Comm_set_attr(comm, keyval, -5_MPI_ADDRESS_KIND, ierror)
        call MPI_Comm_dup(comm, second, ierror)
        call MPI_Comm_get_attr(second, keyval, value, flag, ierror)
        call check(.not. flag, 'an attribute that is not copied')
        call MPI_Comm_free(second, ierror)
        ! An error of the delete function.
        call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
        call MPI_Comm_set_attr(comm, keyval, 2013_MPI_ADDRESS_KIND, ierror)
        call MPI_Comm_delete_attr(comm, keyval, ierror)
        call check(ierror /= MPI_SUCCESS, 'an error of the delete function')
        call MPI_Comm_free_keyval(keyval, ierror)
        call check(keyval == MPI_KEYVAL_INVALID, 'a keyval that was freed')
    end subroutine

    subroutine attributes_of_others
        integer :: keyval, type, second, win, before
        integer(MPI_ADDRESS_KIND) :: value, bytes
        integer, allocatable :: memory(:)
        logical :: flag

        before = copies
        call MPI_Type_create_keyval(copy_attr, delete_attr, keyval, 3_MPI_ADDRESS_KIND, ierror)
        call MPI_Type_contiguous(2, MPI_INTEGER, type, ierror)
        call MPI_Type_set_attr(type, keyval, 9_MPI_ADDRESS_KIND, ierror)
        call MPI_Type_dup(type, second, ierror)
        call MPI_Type_get_attr(second, keyval, value, flag, ierror)
        call check(flag .and. value == 10 .and. copies == before + 1 .and. last_extra == 3, 'attribute of a datatype')
        call MPI_Type_free(second, ierror)
        call MPI_Type_free(type, ierror)
        call check(last_value == 9, 'deleted with the datatype')
        call MPI_Type_free_keyval(keyval, ierror)

        allocate (memory(10))
        bytes = 40
        call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
        call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_attr, keyval, 4_MPI_ADDRESS_KIND, ierror)
        call MPI_Win_set_attr(win, keyval, 21_MPI_ADDRESS_KIND, ierror)
        call MPI_Win_get_attr(win, keyval, value, flag, ierror)
        call check(flag .and. value == 21, 'attribute of a window')
        call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierror)
        call check(flag .and. value == 40, 'MPI_WIN_SIZE')
        call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierror)
        call check(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')
        call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierror)
        call check(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
        call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, flag, ierror)
        call check(flag .and. (value == MPI_WIN_UNIFIED .or. value == MPI_WIN_SEPARATE), 'MPI_WIN_MODEL')
        call MPI_Get_address(memory, bytes, ierror)
        call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierror)
        call check(flag .and. value == bytes, 'MPI_WIN_BASE')
        call MPI_Win_free(win, ierror)
        call check(last_value == 21 .and. last_extra == 4, 'deleted with the window')
        call MPI_Win_free_keyval(keyval, ierror)
    end subroutine

    subroutine predefined
        integer :: keyval, none, comm, second
        integer(MPI_ADDRESS_KIND) :: value
        logical :: flag

        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
        call check(flag .and. value >= 32767, 'MPI_TAG_UB')
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, ierror)
        call check(flag .and. (value == 0 .or. value == 1), 'MPI_WTIME_IS_GLOBAL')
        call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, ierror)
        call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, none, 0_MPI_ADDRESS_KIND, ierror)
        call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
        call MPI_Comm_set_attr(comm, keyval, 31_MPI_ADDRESS_KIND, ierror)
        call MPI_Comm_set_attr(comm, none, 32_MPI_ADDRESS_KIND, ierror)
        call MPI_Comm_dup(comm, second, ierror)
        call MPI_Comm_get_attr(second, keyval, value, flag, ierror)
        call check(flag .and. value == 31, 'MPI_COMM_DUP_FN')
        call MPI_Comm_get_attr(second, none, value, flag, ierror)
        call check(.not. flag, 'MPI_COMM_NULL_COPY_FN')
        call MPI_Comm_free(second, ierror)
        call MPI_Comm_free(comm, ierror)
    end subroutine

    subroutine old_attributes
        integer :: keyval, comm, second, value
        logical :: flag

        call MPI_Keyval_create(old_copy, old_delete, keyval, 55, ierror)
        call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
        call MPI_Attr_put(comm, keyval, -8, ierror)
        call MPI_Attr_get(comm, keyval, value, flag, ierror)
        call check(flag .and. value == -8, 'MPI_Attr_get')
        call MPI_Comm_dup(comm, second, ierror)
        call check(last_extra == 55, 'state of an old copy function')
        call MPI_Attr_get(second, keyval, value, flag, ierror)
        call check(flag .and. value == -7, 'an old copy function')
        call MPI_Attr_delete(second, keyval, ierror)
        call check(last_value == -7, 'an old delete function')
        call MPI_Attr_get(second, MPI_TAG_UB, value, flag, ierror)
        call MPI_Comm_free(second, ierror)
        call MPI_Comm_free(comm, ierror)
        call MPI_Keyval_free(keyval, ierror)
        call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
        call check(flag .and. value >= 32767, 'MPI_TAG_UB by MPI_Attr_get')
    end subroutine

    subroutine error_handlers
        integer :: handler, got, win, file, session, memory(1), before
        integer(MPI_ADDRESS_KIND) :: bytes

        call MPI_Comm_create_errhandler(on_error, handler, ierror)
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierror)
        call MPI_Comm_get_errhandler(MPI_COMM_WORLD, got, ierror)
        call check(got == handler, 'MPI_Comm_get_errhandler')
        call MPI_Errhandler_free(got, ierror)
        call MPI_Errhandler_free(handler, ierror)
        call MPI_Send(rank, 1, MPI_INTEGER, size + 5, 0, MPI_COMM_WORLD, ierror)
        call check(errors == 1 .and. last_handle == MPI_COMM_WORLD .and. last_error == ierror, 'error of a communicator')
        call MPI_Error_class(last_error, got, ierror)
        call check(got == MPI_ERR_RANK, 'its class')
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierror)

        bytes = 4
        call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
        call MPI_Win_create_errhandler(on_error, handler, ierror)
        call MPI_Win_set_errhandler(win, handler, ierror)
        call MPI_Win_call_errhandler(win, MPI_ERR_ARG, ierror)
        call check(errors == 2 .and. last_handle == win .and. last_error == MPI_ERR_ARG, 'error of a window')
        call MPI_Errhandler_free(handler, ierror)
        call MPI_Win_free(win, ierror)

        call MPI_File_create_errhandler(on_error, handler, ierror)
        call MPI_File_set_errhandler(MPI_FILE_NULL, handler, ierror)
        before = errors
        call MPI_File_open(MPI_COMM_SELF, 'no/such/folder/file', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
        call check(errors == before + 1 .and. last_handle == MPI_FILE_NULL, 'error of a file')
        call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, ierror)
        call MPI_Errhandler_free(handler, ierror)

        call MPI_Session_create_errhandler(on_error, handler, ierror)
        call MPI_Session_init(MPI_INFO_NULL, handler, session, ierror)
        before = errors
        call MPI_Session_call_errhandler(session, MPI_ERR_OTHER, ierror)
        call check(errors == before + 1 .and. last_handle == session, 'error of a session')
        call MPI_Session_finalize(session, ierror)
        call MPI_Errhandler_free(handler, ierror)
    end subroutine

    subroutine requests
        integer :: request, status(MPI_STATUS_SIZE), count
        logical :: flag

        call MPI_Grequest_start(query, free_it, cancel, 12_MPI_ADDRESS_KIND, request, ierror)
        call MPI_Test(request, flag, status, ierror)
        call check(.not. flag .and. queries == 0, 'a request that is not complete')
        call MPI_Cancel(request, ierror)
        call check(cancels == 1 .and. .not. was_complete, 'cancelled before it was complete')
        call MPI_Grequest_complete(request, ierror)
        call MPI_Cancel(request, ierror)
        call check(cancels == 2 .and. was_complete, 'cancelled when it was complete')
        call MPI_Wait(request, status, ierror)
        call MPI_Get_count(status, MPI_INTEGER, count, ierror)
        call check(queries == 1 .and. frees == 1 .and. last_extra == 12, 'query and free')
        call check(count == 42 .and. status(MPI_SOURCE) == 12 .and. status(MPI_TAG) == 5, 'status of a generalized request')
        call check(request == MPI_REQUEST_NULL, 'a generalized request that is complete')
    end subroutine

    subroutine representations
        integer :: file, raw, out(5), in(5), i, mode
        character(len=32) :: name
        integer(MPI_OFFSET_KIND), parameter :: zero = 0

        write (name, '(a, i0)') 'callbacks_of_rank_', rank
        call MPI_Register_datarep('turned', turn_in, turn_out, extent_of, 99_MPI_ADDRESS_KIND, ierror)
        call check(ierror == MPI_SUCCESS, 'MPI_Register_datarep')
        mode = ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE))
        call MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, file, ierror)
        call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, raw, ierror)
        call MPI_File_set_view(file, zero, MPI_INTEGER, MPI_INTEGER, 'turned', MPI_INFO_NULL, ierror)
        out = [(100 * rank + i, i=1, 5)]
        call MPI_File_write_at(file, zero, out, 5, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
        call MPI_File_sync(file, ierror)
        call MPI_File_read_at(raw, zero, in, 5, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
        call check(all(in == not(out)), 'what stands in the file')
        in = 0
        call MPI_File_read_at(file, zero, in, 5, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
        call check(all(in == out) .and. conversions >= 2 .and. last_extra == 99, 'what is read back')
        call MPI_File_close(raw, ierror)
        call MPI_File_close(file, ierror)
        call MPI_Register_datarep('plain', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, 0_MPI_ADDRESS_KIND, ierror)
        call check(ierror == MPI_SUCCESS, 'MPI_CONVERSION_FN_NULL')
    end subroutine
end program
