! Attributes set in one language and read in the other, and statuses and handles that go to C and back (languages.c).
program languages
    use mpi
    use checks
    implicit none
    interface
        integer function c_reads(comm, keyval, value)
            import :: MPI_ADDRESS_KIND
            integer, intent(in) :: comm, keyval
            integer(MPI_ADDRESS_KIND), intent(in) :: value
        end function
        subroutine c_sets(comm, keyval, address)
            import :: MPI_ADDRESS_KIND
            integer, intent(in) :: comm, keyval
            integer(MPI_ADDRESS_KIND), intent(out) :: address
        end subroutine
        integer function c_key()
        end function
        integer function c_status(status)
            import :: MPI_STATUS_SIZE
            integer, intent(inout) :: status(MPI_STATUS_SIZE)
        end function
        integer function c_op()
        end function
    end interface
    integer :: ierror, keyval, comm, second, status(MPI_STATUS_SIZE), op, out
    integer(MPI_ADDRESS_KIND) :: value, address
    logical :: flag

    call MPI_Init(ierror)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)

    call MPI_Comm_set_attr(comm, keyval, 123456789012_MPI_ADDRESS_KIND, ierror)
    call check(c_reads(comm, keyval, 123456789012_MPI_ADDRESS_KIND) == 1, 'C reads what Fortran has set')
    call MPI_Comm_dup(comm, second, ierror)
    call check(c_reads(second, keyval, 123456789012_MPI_ADDRESS_KIND) == 1, 'C reads a copy')

    call c_sets(comm, keyval, address)
    call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
    call check(flag .and. value == address, 'Fortran reads the address that C has set')
    call MPI_Comm_free(second, ierror)
    call MPI_Comm_dup(comm, second, ierror)
    call MPI_Comm_get_attr(second, keyval, value, flag, ierror)
    call check(flag .and. value == address, 'a copy by Fortran of what C has set')
    call MPI_Comm_free(second, ierror)

    ! C's own keyval, whose copy function is C's.
    keyval = c_key()
    call MPI_Comm_set_attr(comm, keyval, -3_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_dup(comm, second, ierror)
    call MPI_Comm_get_attr(second, keyval, value, flag, ierror)
    call check(flag .and. value == -3, 'a copy by C of what Fortran has set')
    call MPI_Comm_free(second, ierror)
    call MPI_Comm_free(comm, ierror)

    status = 0
    call MPI_Status_set_elements(status, MPI_INTEGER, 17, ierror)
    call MPI_Status_set_cancelled(status, .true., ierror)
    call check(c_status(status) == 17, 'C reads a status')
    call MPI_Test_cancelled(status, flag, ierror)
    call check(.not. flag .and. status(MPI_TAG) == 3, 'Fortran reads what C has made of it')

    call check(c_status(MPI_STATUS_IGNORE) == -1, 'MPI_F_STATUS_IGNORE')

    op = c_op()
    out = 4
    call MPI_Reduce_local(6, out, 1, MPI_INTEGER, op, ierror)
    call check(out == 24, 'an operation of C')
    call MPI_Finalize(ierror)
    if (failures > 0) stop 1
end program
