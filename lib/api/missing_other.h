/* Rows of missing.c: processes, topologies, sessions and the rest. MISSING(name, communicator whose error
 * handler runs, parameters) */
MISSING(MPI_Abi_get_fortran_booleans, MPI_COMM_NULL,
        (int logical_size, void *logical_true, void *logical_false, int *is_set))
MISSING(MPI_Abi_get_fortran_info, MPI_COMM_NULL, (MPI_Info * info))
MISSING(MPI_Abi_get_info, MPI_COMM_NULL, (MPI_Info * info))
MISSING(MPI_Abi_set_fortran_booleans, MPI_COMM_NULL,
        (int logical_size, void *logical_true, void *logical_false))
MISSING(MPI_Abi_set_fortran_info, MPI_COMM_NULL, (MPI_Info info))
MISSING(MPI_Cart_coords, comm, (MPI_Comm comm, int rank, int maxdims, int coords[]))
MISSING(MPI_Cart_create, comm_old,
        (MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
         MPI_Comm *comm_cart))
MISSING(MPI_Cart_get, comm, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]))
MISSING(MPI_Cart_map, comm, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank))
MISSING(MPI_Cart_rank, comm, (MPI_Comm comm, const int coords[], int *rank))
MISSING(MPI_Cart_shift, comm, (MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest))
MISSING(MPI_Cart_sub, comm, (MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm))
MISSING(MPI_Cartdim_get, comm, (MPI_Comm comm, int *ndims))
MISSING(MPI_Close_port, MPI_COMM_NULL, (const char *port_name))
MISSING(MPI_Comm_accept, comm,
        (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm))
MISSING(MPI_Comm_connect, comm,
        (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm))
MISSING(MPI_Comm_join, MPI_COMM_NULL, (int fd, MPI_Comm *intercomm))
MISSING(MPI_Comm_spawn, comm,
        (const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
         MPI_Comm *intercomm, int array_of_errcodes[]))
MISSING(MPI_Comm_spawn_multiple, comm,
        (int count, char *array_of_commands[], char **array_of_argv[], const int array_of_maxprocs[],
         const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm *intercomm,
         int array_of_errcodes[]))
MISSING(MPI_Dims_create, MPI_COMM_NULL, (int nnodes, int ndims, int dims[]))
MISSING(MPI_Dist_graph_create, comm_old,
        (MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
         const int weights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph))
MISSING(MPI_Dist_graph_create_adjacent, comm_old,
        (MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[], int outdegree,
         const int destinations[], const int destweights[], MPI_Info info, int reorder,
         MPI_Comm *comm_dist_graph))
MISSING(MPI_Dist_graph_neighbors, comm,
        (MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
         int destinations[], int destweights[]))
MISSING(MPI_Dist_graph_neighbors_count, comm, (MPI_Comm comm, int *indegree, int *outdegree, int *weighted))
MISSING(MPI_Graph_create, comm_old,
        (MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
         MPI_Comm *comm_graph))
MISSING(MPI_Graph_get, comm, (MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]))
MISSING(MPI_Graph_map, comm, (MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank))
MISSING(MPI_Graph_neighbors, comm, (MPI_Comm comm, int rank, int maxneighbors, int neighbors[]))
MISSING(MPI_Graph_neighbors_count, comm, (MPI_Comm comm, int rank, int *nneighbors))
MISSING(MPI_Graphdims_get, comm, (MPI_Comm comm, int *nnodes, int *nedges))
MISSING(MPI_Group_from_session_pset, MPI_COMM_NULL,
        (MPI_Session session, const char *pset_name, MPI_Group *newgroup))
MISSING(MPI_Lookup_name, MPI_COMM_NULL, (const char *service_name, MPI_Info info, char *port_name))
MISSING(MPI_Open_port, MPI_COMM_NULL, (MPI_Info info, char *port_name))
MISSING(MPI_Publish_name, MPI_COMM_NULL, (const char *service_name, MPI_Info info, const char *port_name))
MISSING(MPI_Session_call_errhandler, MPI_COMM_NULL, (MPI_Session session, int errorcode))
MISSING(MPI_Session_create_errhandler, MPI_COMM_NULL,
        (MPI_Session_errhandler_function * session_errhandler_fn, MPI_Errhandler *errhandler))
MISSING(MPI_Session_finalize, MPI_COMM_NULL, (MPI_Session * session))
MISSING(MPI_Session_get_errhandler, MPI_COMM_NULL, (MPI_Session session, MPI_Errhandler *errhandler))
MISSING(MPI_Session_get_info, MPI_COMM_NULL, (MPI_Session session, MPI_Info *info_used))
MISSING(MPI_Session_get_nth_pset, MPI_COMM_NULL,
        (MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name))
MISSING(MPI_Session_get_num_psets, MPI_COMM_NULL, (MPI_Session session, MPI_Info info, int *npset_names))
MISSING(MPI_Session_get_pset_info, MPI_COMM_NULL,
        (MPI_Session session, const char *pset_name, MPI_Info *info))
MISSING(MPI_Session_init, MPI_COMM_NULL, (MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session))
MISSING(MPI_Session_set_errhandler, MPI_COMM_NULL, (MPI_Session session, MPI_Errhandler errhandler))
MISSING(MPI_Unpublish_name, MPI_COMM_NULL, (const char *service_name, MPI_Info info, const char *port_name))
