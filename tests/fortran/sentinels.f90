! Special variables: they are recognized, in the place of buffers, statuses, weights and error codes, in a program that includes
! mpif.h and in one that uses module mpi; and a write to one of them is refused by the system.
program sentinels
    use, intrinsic :: iso_c_binding, only: c_loc, c_associated
    use mpi
    use checks
    implicit none
    interface
        integer function faults(at)
            !GCC$ attributes no_arg_check :: at
            !DIR$ ignore_tkr at
            type(*), dimension(*) :: at
        end function
    end interface
    external :: old_style
    integer :: ierror, rank, size, next, before, request(2), graph, datatype, in, out, i
    integer :: sources(1), destinations(1), degree(3), weights_in(1), weights_out(1)
    integer(MPI_ADDRESS_KIND) :: address(1)
    logical :: weighted

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    next = mod(rank + 1, size)
    before = mod(rank + size - 1, size)
    call old_style

    ! MPI_BOTTOM with an absolute address; no statuses are wanted.
    out = 100 + rank
    in = -1
    call MPI_Get_address(out, address(1), ierror)
    call MPI_Type_create_hindexed(1, [1], address, MPI_INTEGER, datatype, ierror)
    call MPI_Type_commit(datatype, ierror)
    call MPI_Irecv(in, 1, MPI_INTEGER, before, 7, MPI_COMM_WORLD, request(1), ierror)
    call MPI_Isend(MPI_BOTTOM, 1, datatype, next, 7, MPI_COMM_WORLD, request(2), ierror)
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierror)
    call check(ierror == MPI_SUCCESS .and. in == 100 + before, 'MPI_BOTTOM, MPI_STATUSES_IGNORE')
    call check(all(request == MPI_REQUEST_NULL), 'requests that are complete are null')
    call MPI_Type_free(datatype, ierror)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 8, in, 1, MPI_INTEGER, before, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call check(in == before, 'MPI_STATUS_IGNORE')

    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [before], MPI_UNWEIGHTED, 1, [next], MPI_UNWEIGHTED, MPI_INFO_NULL, &
        .false., graph, ierror)
    call MPI_Dist_graph_neighbors_count(graph, degree(1), degree(2), weighted, ierror)
    call check(.not. weighted .and. all(degree(1:2) == 1), 'MPI_UNWEIGHTED')
    call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED, ierror)
    call check(sources(1) == before .and. destinations(1) == next, 'neighbors without weights')
    call MPI_Comm_free(graph, ierror)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [before], [5], 1, [next], [6], MPI_INFO_NULL, .false., graph, ierror)
    call MPI_Dist_graph_neighbors_count(graph, degree(1), degree(2), weighted, ierror)
    call MPI_Dist_graph_neighbors(graph, 1, sources, weights_in, 1, destinations, weights_out, ierror)
    call check(weighted .and. weights_in(1) == 5 .and. weights_out(1) == 6, 'weights')
    call MPI_Comm_free(graph, ierror)
    i = merge(1, 0, rank == 0)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, i, [0], [0], [0], MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., graph, ierror)
    call MPI_Dist_graph_neighbors_count(graph, degree(1), degree(2), weighted, ierror)
    call check(weighted .and. all(degree(1:2) == 0), 'MPI_WEIGHTS_EMPTY')
    call MPI_Comm_free(graph, ierror)

    call check(faults(MPI_BOTTOM) == 1, 'MPI_BOTTOM can be written')
    call check(faults(MPI_IN_PLACE) == 1, 'MPI_IN_PLACE can be written')
    call check(faults(MPI_BUFFER_AUTOMATIC) == 1, 'MPI_BUFFER_AUTOMATIC can be written')
    call check(c_associated(c_loc(MPI_BUFFER_AUTOMATIC)), 'the address of MPI_BUFFER_AUTOMATIC')
    call check(faults(MPI_STATUS_IGNORE) == 1, 'MPI_STATUS_IGNORE can be written')
    call check(faults(MPI_STATUSES_IGNORE) == 1, 'MPI_STATUSES_IGNORE can be written')
    call check(faults(MPI_ERRCODES_IGNORE) == 1, 'MPI_ERRCODES_IGNORE can be written')
    call check(faults(MPI_UNWEIGHTED) == 1, 'MPI_UNWEIGHTED can be written')
    call check(faults(MPI_WEIGHTS_EMPTY) == 1, 'MPI_WEIGHTS_EMPTY can be written')
    call check(faults(MPI_ARGV_NULL) == 1, 'MPI_ARGV_NULL can be written')
    call check(faults(MPI_ARGVS_NULL) == 1, 'MPI_ARGVS_NULL can be written')
    call check(faults(in) == 0, 'a variable of the program cannot be written')
    call MPI_Finalize(ierror)
    if (failures > 0) stop 1
end program
