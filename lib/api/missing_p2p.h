/* Rows of missing.c: persistent, buffered, partitioned and generalized operations. MISSING(name, communicator
 * whose error handler runs, parameters) */
MISSING(MPI_Bsend, comm,
        (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
MISSING(MPI_Bsend_c, comm,
        (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
MISSING(MPI_Bsend_init, comm,
        (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Bsend_init_c, comm,
        (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Buffer_attach, MPI_COMM_NULL, (void *buffer, int size))
MISSING(MPI_Buffer_attach_c, MPI_COMM_NULL, (void *buffer, MPI_Count size))
MISSING(MPI_Buffer_detach, MPI_COMM_NULL, (void *buffer_addr, int *size))
MISSING(MPI_Buffer_detach_c, MPI_COMM_NULL, (void *buffer_addr, MPI_Count *size))
MISSING(MPI_Buffer_flush, MPI_COMM_NULL, (void))
MISSING(MPI_Buffer_iflush, MPI_COMM_NULL, (MPI_Request * request))
MISSING(MPI_Comm_attach_buffer, comm, (MPI_Comm comm, void *buffer, int size))
MISSING(MPI_Comm_attach_buffer_c, comm, (MPI_Comm comm, void *buffer, MPI_Count size))
MISSING(MPI_Comm_detach_buffer, comm, (MPI_Comm comm, void *buffer_addr, int *size))
MISSING(MPI_Comm_detach_buffer_c, comm, (MPI_Comm comm, void *buffer_addr, MPI_Count *size))
MISSING(MPI_Comm_flush_buffer, comm, (MPI_Comm comm))
MISSING(MPI_Comm_iflush_buffer, comm, (MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Grequest_complete, MPI_COMM_NULL, (MPI_Request request))
MISSING(MPI_Grequest_start, MPI_COMM_NULL,
        (MPI_Grequest_query_function * query_fn, MPI_Grequest_free_function *free_fn,
         MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request))
MISSING(MPI_Ibsend, comm,
        (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Ibsend_c, comm,
        (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Parrived, MPI_COMM_NULL, (MPI_Request request, int partition, int *flag))
MISSING(MPI_Pready, MPI_COMM_NULL, (int partition, MPI_Request request))
MISSING(MPI_Pready_list, MPI_COMM_NULL, (int length, const int array_of_partitions[], MPI_Request request))
MISSING(MPI_Pready_range, MPI_COMM_NULL, (int partition_low, int partition_high, MPI_Request request))
MISSING(MPI_Precv_init, comm,
        (void *buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Precv_init_c, comm,
        (void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Psend_init, comm,
        (const void *buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Psend_init_c, comm,
        (const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
         MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Recv_init, comm,
        (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Recv_init_c, comm,
        (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Rsend_init, comm,
        (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Rsend_init_c, comm,
        (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Send_init, comm,
        (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Send_init_c, comm,
        (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Session_attach_buffer, MPI_COMM_NULL, (MPI_Session session, void *buffer, int size))
MISSING(MPI_Session_attach_buffer_c, MPI_COMM_NULL, (MPI_Session session, void *buffer, MPI_Count size))
MISSING(MPI_Session_detach_buffer, MPI_COMM_NULL, (MPI_Session session, void *buffer_addr, int *size))
MISSING(MPI_Session_detach_buffer_c, MPI_COMM_NULL, (MPI_Session session, void *buffer_addr, MPI_Count *size))
MISSING(MPI_Session_flush_buffer, MPI_COMM_NULL, (MPI_Session session))
MISSING(MPI_Session_iflush_buffer, MPI_COMM_NULL, (MPI_Session session, MPI_Request *request))
MISSING(MPI_Ssend_init, comm,
        (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Ssend_init_c, comm,
        (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Start, MPI_COMM_NULL, (MPI_Request * request))
MISSING(MPI_Startall, MPI_COMM_NULL, (int count, MPI_Request array_of_requests[]))
