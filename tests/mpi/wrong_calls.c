/* Wrong calls of one process: a line for each with the function's name and the class of what it returned. wrong_calls.py looks
 * whether the manual page of the function says so. usage: mpi_wrong_calls FOLDER, in which files may be made. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

/* The call's text up to its arguments is the function's name. */
#define WRONG(call) print_class(#call, call)

static const MPI_Comm all = MPI_COMM_WORLD;
static int x, y[4], flag;
static MPI_Status status;
static MPI_Aint address;
static MPI_Comm made;
static MPI_Datatype type;

static void print_class(const char *call, int code)
{
    int class_ = MPI_SUCCESS;
    MPI_Error_class(code, &class_);
    printf("%.*s %d %s\n", (int)strcspn(call, "("), call, class_, call);
}

static void send_wrong(void)
{
    MPI_Request r;
    WRONG(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    WRONG(MPI_Send(&x, -1, MPI_INT, 0, 0, all));
    WRONG(MPI_Send(&x, 1, MPI_INT, 0, -5, all));
    WRONG(MPI_Isend(&x, 1, MPI_INT, 77, 0, all, &r));
    WRONG(MPI_Ssend(NULL, 1, MPI_INT, 0, 0, all));
    WRONG(MPI_Bsend(&x, 1, MPI_INT, 0, 0, all));
    WRONG(MPI_Recv(&x, 1, MPI_INT, 77, 0, all, &status));
    WRONG(MPI_Irecv(&x, 1, MPI_DATATYPE_NULL, 0, 0, all, &r));
    WRONG(MPI_Recv_init(&x, -1, MPI_INT, 0, 0, all, &r));
    WRONG(MPI_Probe(0, -9, all, &status));
    WRONG(MPI_Improbe(77, 0, all, &flag, &(MPI_Message){0}, &status));
    WRONG(MPI_Sendrecv(&x, 1, MPI_INT, 0, -5, y, 1, MPI_INT, 0, 0, all, &status));
    WRONG(MPI_Buffer_attach(&x, -1));
    WRONG(MPI_Buffer_attach(NULL, 10));
    WRONG(MPI_Comm_attach_buffer(MPI_COMM_NULL, &x, 4));
    WRONG(MPI_Psend_init(&x, -1, 1, MPI_INT, 0, 0, all, MPI_INFO_NULL, &r));
}

static void complete_wrong(void)
{
    MPI_Request bad = (MPI_Request)0x12345;
    WRONG(MPI_Waitall(-1, &bad, MPI_STATUSES_IGNORE));
    WRONG(MPI_Startall(-1, &bad));
    WRONG(MPI_Testsome(-1, &bad, &x, y, MPI_STATUSES_IGNORE));
    WRONG(MPI_Wait(&bad, &status));
    WRONG(MPI_Waitany(1, &bad, &x, &status));
    WRONG(MPI_Test(&bad, &flag, &status));
    WRONG(MPI_Request_get_status(bad, &flag, &status));
    WRONG(MPI_Request_free(&bad));
    WRONG(MPI_Start(&bad));
    WRONG(MPI_Cancel(&bad));
    WRONG(MPI_Pready(0, bad));
    WRONG(MPI_Grequest_complete(bad));
    WRONG(MPI_Status_set_elements(&status, MPI_INT, -1));
    WRONG(MPI_Get_count(&status, MPI_DATATYPE_NULL, &x));
}

static void make_wrong_types(void)
{
    int minus[3] = {-1, -1, -1}, one[3] = {1, 1, 1};
    MPI_Aint places[3] = {0};
    MPI_Datatype types[3] = {MPI_DATATYPE_NULL, MPI_INT, MPI_INT}, predefined = MPI_INT;
    WRONG(MPI_Type_contiguous(-1, MPI_INT, &type));
    WRONG(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type));
    WRONG(MPI_Type_vector(-1, 1, 1, MPI_INT, &type));
    WRONG(MPI_Type_create_hvector(1, -1, 1, MPI_INT, &type));
    WRONG(MPI_Type_indexed(3, minus, y, MPI_INT, &type));
    WRONG(MPI_Type_create_hindexed_block(1, -1, places, MPI_INT, &type));
    WRONG(MPI_Type_create_struct(3, one, places, types, &type));
    WRONG(MPI_Type_free(&predefined));
    WRONG(MPI_Type_size(MPI_DATATYPE_NULL, &x));
    WRONG(MPI_Type_match_size(7, 4, &type));
    WRONG(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type));
    WRONG(MPI_Type_create_f90_real(500, 9999, &type));
    WRONG(MPI_Type_create_f90_integer(99, &type));
    WRONG(MPI_Type_get_contents(MPI_INT, 1, 1, 1, y, places, types));
}

static void make_wrong_arrays(void)
{
    int four[1] = {4}, two[1] = {2}, zero[1] = {0}, minus[1] = {-1}, grid[1] = {1}, strange[1] = {99};
    int block[1] = {MPI_DISTRIBUTE_BLOCK}, usual[1] = {MPI_DISTRIBUTE_DFLT_DARG};
    WRONG(MPI_Type_create_subarray(0, four, two, zero, MPI_ORDER_C, MPI_INT, &type));
    WRONG(MPI_Type_create_subarray(1, four, two, zero, 99, MPI_INT, &type));
    WRONG(MPI_Type_create_subarray(1, minus, two, zero, MPI_ORDER_C, MPI_INT, &type));
    WRONG(MPI_Type_create_subarray(1, four, minus, zero, MPI_ORDER_C, MPI_INT, &type));
    WRONG(MPI_Type_create_subarray(1, four, two, minus, MPI_ORDER_C, MPI_INT, &type));
    WRONG(MPI_Type_create_darray(0, 0, 1, four, block, usual, grid, MPI_ORDER_C, MPI_INT, &type));
    WRONG(MPI_Type_create_darray(1, 7, 1, four, block, usual, grid, MPI_ORDER_C, MPI_INT, &type));
    WRONG(MPI_Type_create_darray(1, 0, 0, four, block, usual, grid, MPI_ORDER_C, MPI_INT, &type));
    WRONG(MPI_Type_create_darray(1, 0, 1, four, strange, usual, grid, MPI_ORDER_C, MPI_INT, &type));
    WRONG(MPI_Type_create_darray(1, 0, 1, four, block, usual, minus, MPI_ORDER_C, MPI_INT, &type));
    WRONG(MPI_Type_create_darray(1, 0, 1, minus, block, usual, grid, MPI_ORDER_C, MPI_INT, &type));
}

static void pack_wrong(void)
{
    int at = 0;
    char bytes[8] = {0};
    WRONG(MPI_Pack(y, 4, MPI_INT, bytes, 8, &at, all));
    WRONG(MPI_Pack(y, -1, MPI_INT, bytes, 8, &at, all));
    WRONG(MPI_Pack(NULL, 1, MPI_INT, bytes, 8, &at, all));
    WRONG(MPI_Pack(y, 1, MPI_INT, NULL, 8, &at, all));
    WRONG(MPI_Pack(y, 1, MPI_INT, bytes, -8, &at, all));
    WRONG(MPI_Unpack(bytes, 8, &at, y, 4, MPI_INT, all));
    WRONG(MPI_Pack_external_size("x", 1, MPI_INT, &address));
    at = -4;
    WRONG(MPI_Unpack(bytes, 8, &at, y, 1, MPI_INT, all));
}

static void collect_wrong(void)
{
    float f = 0, g = 0;
    MPI_Request r;
    MPI_Op sum = MPI_SUM;
    WRONG(MPI_Bcast(&x, 1, MPI_INT, 77, all));
    WRONG(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, all));
    WRONG(MPI_Allreduce(y, &x, 1, MPI_INT, MPI_OP_NULL, all));
    WRONG(MPI_Allreduce(&f, &g, 1, MPI_FLOAT, MPI_BAND, all));
    WRONG(MPI_Iallgather(&x, -1, MPI_INT, y, 1, MPI_INT, all, &r));
    WRONG(MPI_Alltoall(&x, 1, MPI_DATATYPE_NULL, y, 1, MPI_INT, all));
    WRONG(MPI_Scan(&x, y, -1, MPI_INT, MPI_SUM, all));
    WRONG(MPI_Neighbor_allgather(&x, 1, MPI_INT, y, 1, MPI_INT, all));
    WRONG(MPI_Barrier_init(all, (MPI_Info)0x12345, &r));
    WRONG(MPI_Reduce_local(&x, y, 1, MPI_INT, MPI_OP_NULL));
    WRONG(MPI_Op_free(&sum));
}

static void group_wrong(void)
{
    MPI_Group group, other;
    int far[1] = {77}, range[1][3] = {{0, 77, 1}};
    MPI_Comm_group(all, &group);
    WRONG(MPI_Group_size(MPI_GROUP_NULL, &x));
    WRONG(MPI_Group_incl(group, 1, far, &other));
    WRONG(MPI_Group_excl(group, -1, far, &other));
    WRONG(MPI_Group_range_incl(group, 1, range, &other));
    WRONG(MPI_Group_range_excl(group, -1, range, &other));
    WRONG(MPI_Group_translate_ranks(group, 1, far, group, y));
    WRONG(MPI_Group_translate_ranks(group, -1, far, group, y));
    WRONG(MPI_Comm_create_group(all, group, -4, &made));
    MPI_Group_free(&group);
}

static void communicate_wrong(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Errhandler none = MPI_ERRHANDLER_NULL;
    int key = 4711;
    WRONG(MPI_Comm_split(all, -5, 0, &made));
    WRONG(MPI_Comm_split_type(all, 4711, 0, MPI_INFO_NULL, &made));
    WRONG(MPI_Comm_free(&world));
    WRONG(MPI_Comm_remote_size(all, &x));
    WRONG(MPI_Comm_create(all, MPI_GROUP_NULL, &made));
    WRONG(MPI_Comm_set_attr(all, 12345, &x));
    WRONG(MPI_Comm_get_attr(all, 12345, &x, &flag));
    WRONG(MPI_Comm_delete_attr(all, MPI_TAG_UB));
    WRONG(MPI_Comm_free_keyval(&key));
    WRONG(MPI_Type_get_attr(MPI_INT, 4711, &x, &flag));
    WRONG(MPI_Comm_set_errhandler(all, MPI_ERRHANDLER_NULL));
    WRONG(MPI_Errhandler_free(&none));
}

static void shape_wrong(void)
{
    int seven[1] = {7}, flat[1] = {0}, minus[1] = {-3}, three[2] = {3, 0}, free_[2] = {0}, one[1] = {1};
    WRONG(MPI_Cart_create(all, 1, seven, flat, 0, &made));
    WRONG(MPI_Cart_create(all, -1, seven, flat, 0, &made));
    WRONG(MPI_Cart_create(all, 1, minus, flat, 0, &made));
    WRONG(MPI_Dims_create(4, 2, three));
    WRONG(MPI_Dims_create(4, -2, free_));
    WRONG(MPI_Dims_create(-4, 2, free_));
    WRONG(MPI_Cart_rank(all, seven, &x));
    WRONG(MPI_Graphdims_get(all, &x, y));
    WRONG(MPI_Dist_graph_neighbors_count(all, &x, y, &flag));
    WRONG(MPI_Graph_create(all, 1, one, seven, 0, &made));
    WRONG(MPI_Graph_create(all, 9, one, flat, 0, &made));
    WRONG(MPI_Dist_graph_create_adjacent(all, 1, seven, MPI_UNWEIGHTED, 0, seven, MPI_UNWEIGHTED,
                                         MPI_INFO_NULL, 0, &made));
    WRONG(MPI_Dist_graph_create_adjacent(all, -1, one, MPI_UNWEIGHTED, 0, one, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                         0, &made));
    MPI_Cart_create(all, 1, one, flat, 0, &made);
    WRONG(MPI_Cart_rank(made, seven, &x));
    WRONG(MPI_Cart_coords(made, 77, 1, y));
    WRONG(MPI_Cart_shift(made, 5, 1, &x, y));
    MPI_Comm_free(&made);
}

static void environment_wrong(void)
{
    char text[MPI_MAX_ERROR_STRING];
    WRONG(MPI_Alloc_mem(-1, MPI_INFO_NULL, &address));
    WRONG(MPI_Free_mem(&x));
    WRONG(MPI_Error_string(-77, text, &x));
    WRONG(MPI_Add_error_code(-5, &x));
    WRONG(MPI_Add_error_string(-5, "x"));
    WRONG(MPI_Remove_error_class(5));
    WRONG(MPI_Remove_error_code(5));
    WRONG(MPI_Remove_error_string(5));
    WRONG(MPI_Initialized(NULL));
    WRONG(MPI_Query_thread(NULL));
    WRONG(MPI_Abi_get_fortran_booleans(3, y, &x, &flag));
    WRONG(MPI_Open_port(MPI_INFO_NULL, text));
    WRONG(MPI_Close_port("x"));
    WRONG(MPI_Comm_spawn("x", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, all, &made, y));
    WRONG(MPI_Comm_accept("x", MPI_INFO_NULL, 0, all, &made));
    WRONG(MPI_Publish_name("x", MPI_INFO_NULL, "x"));
    WRONG(MPI_Unpublish_name("x", MPI_INFO_NULL, "x"));
    WRONG(MPI_Lookup_name("x", MPI_INFO_NULL, text));
}

static void inform_wrong(void)
{
    MPI_Info info, env = MPI_INFO_ENV;
    char text[MPI_MAX_INFO_KEY];
    MPI_Session session;
    MPI_Group group;
    MPI_Info_create(&info);
    WRONG(MPI_Info_set(MPI_INFO_NULL, "a", "b"));
    WRONG(MPI_Info_set(info, "", "b"));
    WRONG(MPI_Info_set(info, "a", NULL));
    WRONG(MPI_Info_set(env, "a", "b"));
    WRONG(MPI_Info_delete(info, "zz"));
    WRONG(MPI_Info_get_nthkey(info, 3, text));
    WRONG(MPI_Info_get(info, "a", -1, text, &flag));
    WRONG(MPI_Info_free(&env));
    MPI_Info_free(&info);
    WRONG(MPI_Session_get_num_psets(MPI_SESSION_NULL, MPI_INFO_NULL, &x));
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    x = MPI_MAX_INFO_KEY;
    WRONG(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, &x, text));
    WRONG(MPI_Session_get_pset_info(session, "zz", &info));
    WRONG(MPI_Group_from_session_pset(session, "zz", &group));
    MPI_Session_finalize(&session);
}

static void open_wrong(const char *name)
{
    MPI_File f;
    WRONG(MPI_File_open(all, name, 0, MPI_INFO_NULL, &f));
    WRONG(MPI_File_open(all, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    WRONG(MPI_File_open(all, "", MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    WRONG(MPI_File_delete(name, MPI_INFO_NULL));
    WRONG(MPI_Register_datarep("", NULL, NULL, NULL, NULL));
    WRONG(MPI_File_get_size(MPI_FILE_NULL, &(MPI_Offset){0}));
    MPI_File_open(all, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
    WRONG(MPI_File_open(all, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, &f));
    WRONG(MPI_File_read(f, &x, 1, MPI_INT, &status));
    WRONG(MPI_File_write(f, NULL, 1, MPI_INT, &status));
    WRONG(MPI_File_write(f, &x, -1, MPI_INT, &status));
    WRONG(MPI_File_write_at(f, -3, &x, 1, MPI_INT, &status));
    WRONG(MPI_File_write_all_end(f, &x, &status));
    WRONG(MPI_File_seek(f, 0, 4711));
    WRONG(MPI_File_seek(f, -3, MPI_SEEK_SET));
    WRONG(MPI_File_set_size(f, -1));
    WRONG(MPI_File_preallocate(f, -1));
    WRONG(MPI_File_get_byte_offset(f, -3, &(MPI_Offset){0}));
    WRONG(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    WRONG(MPI_File_set_view(f, -7, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    WRONG(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "zz", MPI_INFO_NULL));
    WRONG(MPI_File_set_view(f, 0, MPI_INT, MPI_CHAR, "native", MPI_INFO_NULL));
    WRONG(MPI_File_set_view(f, 0, MPI_DATATYPE_NULL, MPI_CHAR, "native", MPI_INFO_NULL));
    MPI_File_close(&f);
    MPI_File_open(all, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    WRONG(MPI_File_write(f, &x, 1, MPI_INT, &status));
    MPI_File_close(&f);
}

static void expose_wrong(void)
{
    MPI_Win w;
    WRONG(MPI_Win_allocate_shared(8, 0, MPI_INFO_NULL, all, &address, &w));
    WRONG(MPI_Win_allocate_shared(-8, 1, MPI_INFO_NULL, all, &address, &w));
    WRONG(MPI_Win_create(&x, -8, 1, MPI_INFO_NULL, all, &w));
    WRONG(MPI_Win_sync(MPI_WIN_NULL));
    WRONG(MPI_Win_get_group(MPI_WIN_NULL, &(MPI_Group){0}));
}

int main(int argc, char **argv)
{
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    snprintf(name, sizeof name, "%s/wrong_calls", argc > 1 ? argv[1] : ".");
    send_wrong();
    complete_wrong();
    make_wrong_types();
    make_wrong_arrays();
    pack_wrong();
    collect_wrong();
    group_wrong();
    communicate_wrong();
    shape_wrong();
    environment_wrong();
    inform_wrong();
    open_wrong(name);
    expose_wrong();
    MPI_Finalize();
    return 0;
}
