! A program with module mpi in one part and mpi_f08 in another: module mpi has the types of handles and of statuses, which are
! those of mpi_f08, with their comparison, so that either goes to the other as it is.
module new_part
    use mpi_f08
    implicit none

contains

    subroutine ring(comm, rank, size, status, request)
        type(MPI_Comm), intent(in) :: comm
        integer, intent(out) :: rank, size
        type(MPI_Status), intent(out) :: status
        type(MPI_Request), intent(out) :: request
        integer, save, asynchronous :: token = 0, got = 0

        call MPI_Comm_rank(comm, rank)
        call MPI_Comm_size(comm, size)
        token = rank
        call MPI_Sendrecv(token, 1, MPI_INTEGER, modulo(rank + 1, size), 3, got, 1, MPI_INTEGER, modulo(rank - 1, size), 3, &
            comm, status)
        call MPI_Ibarrier(comm, request)
    end subroutine
end module

program mixed
    use mpi
    use checks
    use new_part, only: ring
    implicit none
    integer :: ierror, rank, size, old, old_status(MPI_STATUS_SIZE), count, request
    type(MPI_Comm) :: comm
    type(MPI_Group) :: group
    type(MPI_Win) :: win
    type(MPI_File) :: file
    type(MPI_Session) :: session
    type(MPI_Message) :: message
    type(MPI_Info) :: info
    type(MPI_Errhandler) :: errhandler
    type(MPI_Request) :: new_request
    type(MPI_Op) :: op
    type(MPI_Datatype) :: datatype
    type(MPI_Status) :: status

    call MPI_Init(ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, old, ierror)
    comm%MPI_VAL = old
    call check(comm == MPI_Comm(old) .and. comm /= MPI_Comm(MPI_COMM_WORLD), 'comparison of communicators')
    call ring(comm, rank, size, status, new_request)
    call check(status%MPI_SOURCE == modulo(rank - 1, size) .and. status%MPI_TAG == 3, 'a status of mpi_f08')
    call MPI_Status_f082f(status, old_status, ierror)
    call check(old_status(MPI_SOURCE) == status%MPI_SOURCE, 'the same as INTEGERs')
    call MPI_Get_count(old_status, MPI_INTEGER, count, ierror)
    call check(count == 1, 'its count')
    request = new_request%MPI_VAL
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call check(ierror == MPI_SUCCESS .and. request == MPI_REQUEST_NULL, 'a request of mpi_f08')
    call MPI_Comm_free(old, ierror)

    group = MPI_Group(MPI_GROUP_NULL)
    win = MPI_Win(MPI_WIN_NULL)
    file = MPI_File(MPI_FILE_NULL)
    session = MPI_Session(MPI_SESSION_NULL)
    message = MPI_Message(MPI_MESSAGE_NULL)
    info = MPI_Info(MPI_INFO_NULL)
    errhandler = MPI_Errhandler(MPI_ERRHANDLER_NULL)
    op = MPI_Op(MPI_OP_NULL)
    datatype = MPI_Datatype(MPI_DATATYPE_NULL)
    call check(group /= MPI_Group(MPI_GROUP_EMPTY) .and. op /= MPI_Op(MPI_SUM) .and. datatype /= MPI_Datatype(MPI_INTEGER) .and. &
        info /= MPI_Info(MPI_INFO_ENV) .and. errhandler /= MPI_Errhandler(MPI_ERRORS_RETURN) .and. &
        message /= MPI_Message(MPI_MESSAGE_NO_PROC) .and. win == MPI_Win(MPI_WIN_NULL) .and. &
        file == MPI_File(MPI_FILE_NULL) .and. session == MPI_Session(MPI_SESSION_NULL), 'comparison of other handles')
    call MPI_Finalize(ierror)
    if (failures > 0) stop 1
end program
