/* Rows of fileio.c, with counts of one width: name, where, direction, and for split accesses their sort. */
/* Defines: MPI_File_read_at MPI_File_read_at_c */
ONCE(read_at, AT, READ)
/* Defines: MPI_File_write_at MPI_File_write_at_c */
ONCE(write_at, AT, WRITE)
/* Defines: MPI_File_read MPI_File_read_c */
ONCE(read, OWN, READ)
/* Defines: MPI_File_write MPI_File_write_c */
ONCE(write, OWN, WRITE)
/* Defines: MPI_File_read_shared MPI_File_read_shared_c */
ONCE(read_shared, SHARED, READ)
/* Defines: MPI_File_write_shared MPI_File_write_shared_c */
ONCE(write_shared, SHARED, WRITE)

/* Defines: MPI_File_iread_at MPI_File_iread_at_c */
START(iread_at, AT, READ)
/* Defines: MPI_File_iwrite_at MPI_File_iwrite_at_c */
START(iwrite_at, AT, WRITE)
/* Defines: MPI_File_iread MPI_File_iread_c */
START(iread, OWN, READ)
/* Defines: MPI_File_iwrite MPI_File_iwrite_c */
START(iwrite, OWN, WRITE)
/* Defines: MPI_File_iread_shared MPI_File_iread_shared_c */
START(iread_shared, SHARED, READ)
/* Defines: MPI_File_iwrite_shared MPI_File_iwrite_shared_c */
START(iwrite_shared, SHARED, WRITE)
/* Defines: MPI_File_iread_at_all MPI_File_iread_at_all_c */
START_ALL(iread_at_all, AT, READ)
/* Defines: MPI_File_iwrite_at_all MPI_File_iwrite_at_all_c */
START_ALL(iwrite_at_all, AT, WRITE)
/* Defines: MPI_File_iread_all MPI_File_iread_all_c */
START_ALL(iread_all, OWN, READ)
/* Defines: MPI_File_iwrite_all MPI_File_iwrite_all_c */
START_ALL(iwrite_all, OWN, WRITE)

/* Defines: MPI_File_read_at_all MPI_File_read_at_all_c */
TOGETHER(read_at_all, AT, READ)
/* Defines: MPI_File_write_at_all MPI_File_write_at_all_c */
TOGETHER(write_at_all, AT, WRITE)
/* Defines: MPI_File_read_all MPI_File_read_all_c */
TOGETHER(read_all, OWN, READ)
/* Defines: MPI_File_write_all MPI_File_write_all_c */
TOGETHER(write_all, OWN, WRITE)
/* Defines: MPI_File_read_ordered MPI_File_read_ordered_c */
TOGETHER(read_ordered, TURN, READ)
/* Defines: MPI_File_write_ordered MPI_File_write_ordered_c */
TOGETHER(write_ordered, TURN, WRITE)

/* Defines: MPI_File_read_at_all_begin MPI_File_read_at_all_begin_c */
BEGIN(read_at_all_begin, AT, READ, AT_ALL)
/* Defines: MPI_File_write_at_all_begin MPI_File_write_at_all_begin_c */
BEGIN(write_at_all_begin, AT, WRITE, AT_ALL)
/* Defines: MPI_File_read_all_begin MPI_File_read_all_begin_c */
BEGIN(read_all_begin, OWN, READ, ALL)
/* Defines: MPI_File_write_all_begin MPI_File_write_all_begin_c */
BEGIN(write_all_begin, OWN, WRITE, ALL)
/* Defines: MPI_File_read_ordered_begin MPI_File_read_ordered_begin_c */
BEGIN(read_ordered_begin, TURN, READ, ORDERED)
/* Defines: MPI_File_write_ordered_begin MPI_File_write_ordered_begin_c */
BEGIN(write_ordered_begin, TURN, WRITE, ORDERED)
