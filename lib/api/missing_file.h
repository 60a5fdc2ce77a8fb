/* Rows of missing.c: files. MISSING(name, communicator whose error handler runs, parameters) */
MISSING(MPI_File_call_errhandler, MPI_COMM_NULL, (MPI_File fh, int errorcode))
MISSING(MPI_File_close, MPI_COMM_NULL, (MPI_File * fh))
MISSING(MPI_File_create_errhandler, MPI_COMM_NULL,
        (MPI_File_errhandler_function * file_errhandler_fn, MPI_Errhandler *errhandler))
MISSING(MPI_File_delete, MPI_COMM_NULL, (const char *filename, MPI_Info info))
MISSING(MPI_File_get_amode, MPI_COMM_NULL, (MPI_File fh, int *amode))
MISSING(MPI_File_get_atomicity, MPI_COMM_NULL, (MPI_File fh, int *flag))
MISSING(MPI_File_get_byte_offset, MPI_COMM_NULL, (MPI_File fh, MPI_Offset offset, MPI_Offset *disp))
MISSING(MPI_File_get_errhandler, MPI_COMM_NULL, (MPI_File file, MPI_Errhandler *errhandler))
MISSING(MPI_File_get_group, MPI_COMM_NULL, (MPI_File fh, MPI_Group *group))
MISSING(MPI_File_get_info, MPI_COMM_NULL, (MPI_File fh, MPI_Info *info_used))
MISSING(MPI_File_get_position, MPI_COMM_NULL, (MPI_File fh, MPI_Offset *offset))
MISSING(MPI_File_get_position_shared, MPI_COMM_NULL, (MPI_File fh, MPI_Offset *offset))
MISSING(MPI_File_get_size, MPI_COMM_NULL, (MPI_File fh, MPI_Offset *size))
MISSING(MPI_File_get_type_extent, MPI_COMM_NULL, (MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent))
MISSING(MPI_File_get_type_extent_c, MPI_COMM_NULL, (MPI_File fh, MPI_Datatype datatype, MPI_Count *extent))
MISSING(MPI_File_get_view, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep))
MISSING(MPI_File_iread, MPI_COMM_NULL,
        (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_iread_all, MPI_COMM_NULL,
        (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_iread_all_c, MPI_COMM_NULL,
        (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_iread_at, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_iread_at_all, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_iread_at_all_c, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
         MPI_Request *request))
MISSING(MPI_File_iread_at_c, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
         MPI_Request *request))
MISSING(MPI_File_iread_c, MPI_COMM_NULL,
        (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_iread_shared, MPI_COMM_NULL,
        (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_iread_shared_c, MPI_COMM_NULL,
        (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_iwrite, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_iwrite_all, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_iwrite_all_c, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_iwrite_at, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
         MPI_Request *request))
MISSING(MPI_File_iwrite_at_all, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
         MPI_Request *request))
MISSING(MPI_File_iwrite_at_all_c, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
         MPI_Request *request))
MISSING(MPI_File_iwrite_at_c, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
         MPI_Request *request))
MISSING(MPI_File_iwrite_c, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_iwrite_shared, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_iwrite_shared_c, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request))
MISSING(MPI_File_open, comm, (MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh))
MISSING(MPI_File_preallocate, MPI_COMM_NULL, (MPI_File fh, MPI_Offset size))
MISSING(MPI_File_read, MPI_COMM_NULL,
        (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_read_all, MPI_COMM_NULL,
        (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_read_all_begin, MPI_COMM_NULL, (MPI_File fh, void *buf, int count, MPI_Datatype datatype))
MISSING(MPI_File_read_all_begin_c, MPI_COMM_NULL,
        (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype))
MISSING(MPI_File_read_all_c, MPI_COMM_NULL,
        (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_read_all_end, MPI_COMM_NULL, (MPI_File fh, void *buf, MPI_Status *status))
MISSING(MPI_File_read_at, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_read_at_all, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_read_at_all_begin, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype))
MISSING(MPI_File_read_at_all_begin_c, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype))
MISSING(MPI_File_read_at_all_c, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
         MPI_Status *status))
MISSING(MPI_File_read_at_all_end, MPI_COMM_NULL, (MPI_File fh, void *buf, MPI_Status *status))
MISSING(MPI_File_read_at_c, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
         MPI_Status *status))
MISSING(MPI_File_read_c, MPI_COMM_NULL,
        (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_read_ordered, MPI_COMM_NULL,
        (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_read_ordered_begin, MPI_COMM_NULL,
        (MPI_File fh, void *buf, int count, MPI_Datatype datatype))
MISSING(MPI_File_read_ordered_begin_c, MPI_COMM_NULL,
        (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype))
MISSING(MPI_File_read_ordered_c, MPI_COMM_NULL,
        (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_read_ordered_end, MPI_COMM_NULL, (MPI_File fh, void *buf, MPI_Status *status))
MISSING(MPI_File_read_shared, MPI_COMM_NULL,
        (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_read_shared_c, MPI_COMM_NULL,
        (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_seek, MPI_COMM_NULL, (MPI_File fh, MPI_Offset offset, int whence))
MISSING(MPI_File_seek_shared, MPI_COMM_NULL, (MPI_File fh, MPI_Offset offset, int whence))
MISSING(MPI_File_set_atomicity, MPI_COMM_NULL, (MPI_File fh, int flag))
MISSING(MPI_File_set_errhandler, MPI_COMM_NULL, (MPI_File file, MPI_Errhandler errhandler))
MISSING(MPI_File_set_info, MPI_COMM_NULL, (MPI_File fh, MPI_Info info))
MISSING(MPI_File_set_size, MPI_COMM_NULL, (MPI_File fh, MPI_Offset size))
MISSING(MPI_File_set_view, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
         MPI_Info info))
MISSING(MPI_File_sync, MPI_COMM_NULL, (MPI_File fh))
MISSING(MPI_File_write, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_write_all, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_write_all_begin, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, int count, MPI_Datatype datatype))
MISSING(MPI_File_write_all_begin_c, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype))
MISSING(MPI_File_write_all_c, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_write_all_end, MPI_COMM_NULL, (MPI_File fh, const void *buf, MPI_Status *status))
MISSING(MPI_File_write_at, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
         MPI_Status *status))
MISSING(MPI_File_write_at_all, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
         MPI_Status *status))
MISSING(MPI_File_write_at_all_begin, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype))
MISSING(MPI_File_write_at_all_begin_c, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype))
MISSING(MPI_File_write_at_all_c, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
         MPI_Status *status))
MISSING(MPI_File_write_at_all_end, MPI_COMM_NULL, (MPI_File fh, const void *buf, MPI_Status *status))
MISSING(MPI_File_write_at_c, MPI_COMM_NULL,
        (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
         MPI_Status *status))
MISSING(MPI_File_write_c, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_write_ordered, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_write_ordered_begin, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, int count, MPI_Datatype datatype))
MISSING(MPI_File_write_ordered_begin_c, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype))
MISSING(MPI_File_write_ordered_c, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_write_ordered_end, MPI_COMM_NULL, (MPI_File fh, const void *buf, MPI_Status *status))
MISSING(MPI_File_write_shared, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_File_write_shared_c, MPI_COMM_NULL,
        (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
MISSING(MPI_Register_datarep, MPI_COMM_NULL,
        (const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
         MPI_Datarep_conversion_function *write_conversion_fn,
         MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state))
MISSING(MPI_Register_datarep_c, MPI_COMM_NULL,
        (const char *datarep, MPI_Datarep_conversion_function_c *read_conversion_fn,
         MPI_Datarep_conversion_function_c *write_conversion_fn,
         MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state))
