! The calls that fortran.c counts.
module fortran_calls
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: C_INT
    implicit none
    private
    type(MPI_Win) :: win
    integer :: target_rank
    double precision, asynchronous :: one, column(64), plane(4, 8)

contains

    subroutine fort_begin(window, rank) bind(C)
        integer(C_INT), value :: window, rank

        win = MPI_Win(window)
        target_rank = rank
    end subroutine

    subroutine fort_put() bind(C)
        call MPI_Put(one, 1, MPI_DOUBLE_PRECISION, target_rank, 0_MPI_ADDRESS_KIND, 1, MPI_DOUBLE_PRECISION, win)
    end subroutine

    subroutine fort_put_section() bind(C)
        call MPI_Put(column(1:16:2), 8, MPI_DOUBLE_PRECISION, target_rank, 0_MPI_ADDRESS_KIND, 8, MPI_DOUBLE_PRECISION, win)
    end subroutine

    subroutine fort_put_row() bind(C)
        call MPI_Put(plane(2, :), 8, MPI_DOUBLE_PRECISION, target_rank, 0_MPI_ADDRESS_KIND, 8, MPI_DOUBLE_PRECISION, win)
    end subroutine

    subroutine fort_put_flush() bind(C)
        call MPI_Put(one, 1, MPI_DOUBLE_PRECISION, target_rank, 0_MPI_ADDRESS_KIND, 1, MPI_DOUBLE_PRECISION, win)
        call MPI_Win_flush(target_rank, win)
    end subroutine
end module
