! What Hotlane offers beyond MPI, for programs that use mpi_f08: puts with notification, flags, flushes with a request, and keys of info
! objects. On another library of the ABI these calls end with MPI_ERR_UNSUPPORTED_OPERATION.
module hotlane
    use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
    use mpi_f08_types
    implicit none
    private :: c_int, c_int64_t

    ! How MPIX_Win_flag_wait and MPIX_Win_flag_test compare a flag with a value, as unsigned numbers.
    integer, parameter :: MPIX_CMP_EQ = 0, MPIX_CMP_NE = 1, MPIX_CMP_GT = 2, MPIX_CMP_GE = 3, MPIX_CMP_LT = 4, MPIX_CMP_LE = 5

    ! A displacement that MPIX_Win_flag_wait_any passes over.
    integer(MPI_ADDRESS_KIND), parameter :: MPIX_FLAG_NONE = -1

    ! Keys of info objects for MPI_Win_allocate, MPI_Win_allocate_shared and MPI_Alloc_mem (docs/MEMORY.md), and the key that
    ! tells on which memory nodes a window lives.
    character(len=*), parameter :: HOTLANE_MEM_KIND = 'hotlane_mem_kind', HOTLANE_PAGE_SIZE = 'hotlane_page_size', &
        HOTLANE_MEM_POLICY = 'hotlane_mem_policy', HOTLANE_NODES = 'hotlane_nodes'

    interface MPIX_Put_notify
        ! MPI_Put, and then `value` in the flag of 8 bytes at flag_disp in the same target's window: who sees the value sees the
        ! data. origin_addr may be a section of an array; like a put the operation is complete at the origin after a flush.
        subroutine MPIX_Put_notify_f08ts(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
            target_count, target_datatype, flag_disp, value, win, ierror) bind(C, name="mpix_put_notify_f08ts_")
            import :: MPI_ADDRESS_KIND, MPI_Datatype, MPI_Win, c_int64_t
            type(*), dimension(..), intent(in), asynchronous :: origin_addr
            integer, intent(in) :: origin_count
            type(MPI_Datatype), intent(in) :: origin_datatype
            integer, intent(in) :: target_rank
            integer(MPI_ADDRESS_KIND), intent(in) :: target_disp
            integer, intent(in) :: target_count
            type(MPI_Datatype), intent(in) :: target_datatype
            integer(MPI_ADDRESS_KIND), intent(in) :: flag_disp
            integer(c_int64_t), intent(in) :: value
            type(MPI_Win), intent(in) :: win
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Win_flag_wait
        ! Waits until `flag compare value` holds for the flag at flag_disp in my own part of the window; seen: what was there.
        subroutine MPIX_Win_flag_wait_f08(flag_disp, compare, value, seen, win, ierror)
            import :: MPI_ADDRESS_KIND, MPI_Win, c_int64_t
            integer(MPI_ADDRESS_KIND), intent(in) :: flag_disp
            integer, intent(in) :: compare
            integer(c_int64_t), intent(in) :: value
            integer(c_int64_t), intent(out) :: seen
            type(MPI_Win), intent(in) :: win
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Win_flag_test
        ! The same without waiting: done tells whether it holds.
        subroutine MPIX_Win_flag_test_f08(flag_disp, compare, value, seen, done, win, ierror)
            import :: MPI_ADDRESS_KIND, MPI_Win, c_int64_t
            integer(MPI_ADDRESS_KIND), intent(in) :: flag_disp
            integer, intent(in) :: compare
            integer(c_int64_t), intent(in) :: value
            integer(c_int64_t), intent(out) :: seen
            logical, intent(out) :: done
            type(MPI_Win), intent(in) :: win
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Win_iflush
        ! MPI_Win_flush without its wait: request ends when what was issued before has ended.
        subroutine MPIX_Win_iflush_f08(rank, win, request, ierror)
            import :: MPI_Request, MPI_Win
            integer, intent(in) :: rank
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Win_iflush_all
        ! The same for all targets.
        subroutine MPIX_Win_iflush_all_f08(win, request, ierror)
            import :: MPI_Request, MPI_Win
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Win_iflush_local
        ! MPI_Win_flush_local without its wait.
        subroutine MPIX_Win_iflush_local_f08(rank, win, request, ierror)
            import :: MPI_Request, MPI_Win
            integer, intent(in) :: rank
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Win_iflush_local_all
        ! The same for all targets.
        subroutine MPIX_Win_iflush_local_all_f08(win, request, ierror)
            import :: MPI_Request, MPI_Win
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface

    interface MPIX_Win_flag_wait_any
        ! Waits until `flag compare value` holds for one of the flags, which index names (the first is 1). Displacements of
        ! MPIX_FLAG_NONE are passed over; where no other is there, index is MPI_UNDEFINED at once.
        subroutine MPIX_Win_flag_wait_any_f08(count, flag_disps, compare, values, index, seen, win, ierror)
            import :: MPI_ADDRESS_KIND, MPI_Win, c_int64_t
            integer, intent(in) :: count
            integer(MPI_ADDRESS_KIND), intent(in) :: flag_disps(*)
            integer, intent(in) :: compare
            integer(c_int64_t), intent(in) :: values(*)
            integer, intent(out) :: index
            integer(c_int64_t), intent(out) :: seen
            type(MPI_Win), intent(in) :: win
            integer, optional, intent(out) :: ierror
        end subroutine
    end interface
end module
