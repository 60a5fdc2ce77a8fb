! The module is there, the library starts, and handles, logicals, texts, statuses and contiguous buffers arrive.
program hello_f08
    use mpi_f08
    implicit none
    integer :: rank, ranks, n, i, ierror
    integer :: sent(4), got(4)
    logical :: flag
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    type(MPI_Comm) :: comm
    type(MPI_Status) :: status
    type(MPI_Request) :: request(2)

    call MPI_Init(ierror)
    if (ierror /= MPI_SUCCESS) error stop "MPI_Init"
    call MPI_Initialized(flag)
    if (.not. flag) error stop "MPI_Initialized"
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    if (comm == MPI_COMM_WORLD .or. .not. comm /= MPI_COMM_NULL) error stop "comparison of handles"
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    call MPI_Get_processor_name(name, n)
    if (n < 1 .or. len_trim(name) /= n) error stop "MPI_Get_processor_name"
    sent = [(100 * rank + i, i = 1, 4)]
    got = -1
    call MPI_Irecv(got, 4, MPI_INTEGER, modulo(rank - 1, ranks), 7, comm, request(1))
    call MPI_Isend(sent, 4, MPI_INTEGER, modulo(rank + 1, ranks), 7, comm, request(2))
    call MPI_Wait(request(1), status)
    call MPI_Wait(request(2), MPI_STATUS_IGNORE)
    if (any(got /= [(100 * modulo(rank - 1, ranks) + i, i = 1, 4)])) error stop "wrong data"
    if (status%MPI_SOURCE /= modulo(rank - 1, ranks) .or. status%MPI_TAG /= 7) error stop "wrong status"
    call MPI_Get_count(status, MPI_INTEGER, n)
    if (n /= 4) error stop "MPI_Get_count"
    call MPI_Comm_free(comm)
    if (comm /= MPI_COMM_NULL) error stop "MPI_Comm_free"
    call MPI_Finalize()
end program
