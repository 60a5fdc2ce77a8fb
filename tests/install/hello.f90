! Threads of Fortran that put sections of an array, for install.py: rank 0 prints the number of ranks and a sum.
program hello
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer, c_null_ptr
  use mpi_f08
  implicit none
  integer, parameter :: n = 8
  type(MPI_Win) :: win
  type(c_ptr) :: base
  integer :: ranks, me, provided, k, next, total
  integer, pointer :: mine(:, :)
  integer :: from(2 * n, n)

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  base = c_null_ptr
  call MPI_Win_allocate(int(4 * n * n, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, mine, [n, n])
  next = mod(me + 1, ranks)
  from = -1
  from(1::2, :) = me
  call MPI_Win_lock_all(0, win)
  !$omp parallel do
  do k = 1, n
    call MPI_Put(from(1::2, k), n, MPI_INTEGER, next, int((k - 1) * n, MPI_ADDRESS_KIND), n, MPI_INTEGER, win)
    call MPI_Win_flush(next, win)
  end do
  call MPI_Win_sync(win)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_sync(win)
  k = sum(mine) / n**2
  call MPI_Win_unlock_all(win)
  call MPI_Reduce(k, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (me == 0) print '(i0, a, i0)', ranks, ' ranks, sum ', total
  call MPI_Win_free(win)
  call MPI_Finalize()
end program
