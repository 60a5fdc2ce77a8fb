! What the calls that complete requests tell when an operation has failed: which one it is, and that it is complete. And what a
! program gets back that had attached MPI_BUFFER_AUTOMATIC.
program ends
    use mpi_f08
    use checks
    use, intrinsic :: iso_c_binding, only: c_ptr, c_loc, c_associated
    implicit none
    integer, parameter :: none = 77
    integer, asynchronous :: got(3), sent(2) = [1, 2]
    type(MPI_Request) :: requests(3)
    type(MPI_Status) :: statuses(3)
    integer :: ierror, one, n, places(3)
    logical :: flag

    call MPI_Init()
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)

    call begin()
    call MPI_Waitany(3, requests, one, statuses(1), ierror)
    call check_one('MPI_Waitany')
    call begin()
    do while (.not. flag)
        call MPI_Testany(3, requests, one, flag, statuses(1), ierror)
    end do
    call check_one('MPI_Testany')
    call begin()
    call MPI_Waitsome(3, requests, n, places, statuses, ierror)
    call check_some('MPI_Waitsome')
    call begin()
    do while (n == 0)
        call MPI_Testsome(3, requests, n, places, statuses, ierror)
    end do
    call check_some('MPI_Testsome')
    call begin()
    do while (.not. flag)
        call MPI_Test(requests(2), flag, statuses(1), ierror)
    end do
    one = 2
    call check_one('MPI_Test')
    call begin()
    do while (.not. flag)
        call MPI_Testall(3, requests, flag, statuses, ierror)
    end do
    call check(class_of(ierror) == MPI_ERR_IN_STATUS, 'MPI_Testall', ierror)
    call check(class_of(statuses(2)%MPI_ERROR) == MPI_ERR_TRUNCATE, 'a status of MPI_Testall', statuses(2)%MPI_ERROR)

    call begin()
    do while (.not. flag)
        call MPI_Request_get_status_any(3, requests, one, flag, statuses(1), ierror)
    end do
    call check(class_of(ierror) == MPI_ERR_TRUNCATE .and. one == 2, 'MPI_Request_get_status_any', one)
    n = 0
    call MPI_Request_get_status_some(3, requests, n, places, statuses, ierror)
    call check(requests(2) /= MPI_REQUEST_NULL, 'a request that was only looked at')
    requests(2) = MPI_REQUEST_NULL
    call check_some('MPI_Request_get_status_some')

    call detach()
    call MPI_Finalize()
    if (failures > 0) stop 1

contains

    ! The second of three requests fails: more comes than there is room for.
    subroutine begin()
        requests = MPI_REQUEST_NULL
        call MPI_Irecv(got(2), 1, MPI_INTEGER, 0, 5, MPI_COMM_SELF, requests(2))
        call MPI_Send(sent, 2, MPI_INTEGER, 0, 5, MPI_COMM_SELF)
        one = none
        n = 0
        places = none
        flag = .false.
    end subroutine

    integer function class_of(code)
        integer, intent(in) :: code

        call MPI_Error_class(code, class_of)
    end function

    subroutine check_one(what)
        character(len=*), intent(in) :: what

        call check(class_of(ierror) == MPI_ERR_TRUNCATE, what // ': its error', ierror)
        call check(one == 2, what // ': which one it is', one)
        call check(requests(2) == MPI_REQUEST_NULL, what // ': the request')
    end subroutine

    subroutine check_some(what)
        character(len=*), intent(in) :: what

        call check(class_of(ierror) == MPI_ERR_IN_STATUS, what // ': its error', ierror)
        call check(n == 1 .and. places(1) == 2 .and. places(2) == none, what // ': which ones they are', places(1))
        call check(class_of(statuses(1)%MPI_ERROR) == MPI_ERR_TRUNCATE, what // ': the status', statuses(1)%MPI_ERROR)
        call check(requests(2) == MPI_REQUEST_NULL, what // ': the request')
    end subroutine

    subroutine detach()
        character(len=1), asynchronous :: memory(1000)
        type(c_ptr) :: place

        call MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0)
        call MPI_Buffer_detach(place, n)
        call check(c_associated(place, c_loc(MPI_BUFFER_AUTOMATIC)), 'MPI_Buffer_detach of MPI_BUFFER_AUTOMATIC')
        call MPI_Comm_attach_buffer(MPI_COMM_SELF, MPI_BUFFER_AUTOMATIC, 0)
        call MPI_Comm_detach_buffer(MPI_COMM_SELF, place, n)
        call check(c_associated(place, c_loc(MPI_BUFFER_AUTOMATIC)), 'MPI_Comm_detach_buffer of MPI_BUFFER_AUTOMATIC')
        call MPI_Buffer_attach(memory, 1000)
        call MPI_Buffer_detach(place, n)
        call check(n == 1000 .and. .not. c_associated(place, c_loc(MPI_BUFFER_AUTOMATIC)), 'MPI_Buffer_detach of memory', n)
    end subroutine
end program
