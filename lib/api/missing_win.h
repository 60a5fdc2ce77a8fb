/* Rows of missing.c: windows. MISSING(name, communicator whose error handler runs, parameters) */
MISSING(MPI_Win_attach, MPI_COMM_NULL, (MPI_Win win, void *base, MPI_Aint size))
MISSING(MPI_Win_create_dynamic, comm, (MPI_Info info, MPI_Comm comm, MPI_Win *win))
MISSING(MPI_Win_detach, MPI_COMM_NULL, (MPI_Win win, const void *base))
