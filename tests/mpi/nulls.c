/* NULL where a result or a list should be: an error of class MPI_ERR_ARG, also MPI_ERR_BUFFER for a packed
 * buffer, and the process lives on. Any number of ranks. */
#include "mpi_test.h"

#define WORLD MPI_COMM_WORLD

static MPI_Comm cart, pairs;
static MPI_Group group;
static MPI_Info info;
static MPI_Datatype type;
static MPI_Win win;
static MPI_Aint aint;
static MPI_Count large;
static MPI_Status status;
static MPI_Request request = MPI_REQUEST_NULL;
static char text[MPI_MAX_OBJECT_NAME];
static MPI_Session session;
static int n, one[1] = {0};

static int no_copy(MPI_Datatype old, int key, void *extra, void *in, void *out, int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

static void op(void *in, void *inout, int *len, MPI_Datatype *t)
{
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
}

static void on_win(MPI_Win *w, int *code, ...)
{
}

/* A name of the row, the call. */
#define ROWS(X)                                                                                              \
    X(comm_rank, MPI_Comm_rank(WORLD, NULL))                                                                 \
    X(comm_size, MPI_Comm_size(WORLD, NULL))                                                                 \
    X(comm_test_inter, MPI_Comm_test_inter(WORLD, NULL))                                                     \
    X(comm_get_parent, MPI_Comm_get_parent(NULL))                                                            \
    X(comm_compare, MPI_Comm_compare(WORLD, WORLD, NULL))                                                    \
    X(comm_group, MPI_Comm_group(WORLD, NULL))                                                               \
    X(comm_get_name, MPI_Comm_get_name(WORLD, NULL, &n))                                                     \
    X(comm_get_name_len, MPI_Comm_get_name(MPI_COMM_NULL, text, NULL))                                       \
    X(comm_get_info, MPI_Comm_get_info(WORLD, NULL))                                                         \
    X(comm_split, MPI_Comm_split(WORLD, 0, 0, NULL))                                                         \
    X(comm_create, MPI_Comm_create(WORLD, group, NULL))                                                      \
    X(comm_create_group, MPI_Comm_create_group(WORLD, group, 0, NULL))                                       \
    X(comm_from_group, MPI_Comm_create_from_group(group, "s", MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL))       \
    X(intercomm_create, MPI_Intercomm_create(MPI_COMM_SELF, 0, WORLD, me, 0, NULL))                          \
    X(comm_create_errhandler, MPI_Comm_create_errhandler(on_comm, NULL))                                     \
    X(comm_get_errhandler, MPI_Comm_get_errhandler(WORLD, NULL))                                             \
    X(win_create_keyval, MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, NULL, NULL))    \
    X(win_free_keyval, MPI_Win_free_keyval(NULL))                                                            \
    X(win_create_errhandler, MPI_Win_create_errhandler(on_win, NULL))                                        \
    X(win_get_name, MPI_Win_get_name(MPI_WIN_NULL, text, NULL))                                              \
    X(win_get_group, MPI_Win_get_group(win, NULL))                                                           \
    X(win_get_attr, MPI_Win_get_attr(win, MPI_WIN_SIZE, NULL, &n))                                           \
    X(win_get_info, MPI_Win_get_info(win, NULL))                                                             \
    X(group_size, MPI_Group_size(group, NULL))                                                               \
    X(group_rank, MPI_Group_rank(group, NULL))                                                               \
    X(group_compare, MPI_Group_compare(group, group, NULL))                                                  \
    X(group_incl, MPI_Group_incl(group, 1, one, NULL))                                                       \
    X(group_incl_ranks, MPI_Group_incl(group, 1, NULL, &group))                                              \
    X(group_excl_ranks, MPI_Group_excl(group, 1, NULL, &group))                                              \
    X(group_range_incl, MPI_Group_range_incl(group, 1, NULL, &group))                                        \
    X(group_range_excl, MPI_Group_range_excl(group, 0, NULL, NULL))                                          \
    X(group_union, MPI_Group_union(group, group, NULL))                                                      \
    X(group_translate, MPI_Group_translate_ranks(group, 1, one, group, NULL))                                \
    X(group_translate_in, MPI_Group_translate_ranks(group, 1, NULL, group, one))                             \
    X(info_create, MPI_Info_create(NULL))                                                                    \
    X(info_create_env, MPI_Info_create_env(0, NULL, NULL))                                                   \
    X(info_dup, MPI_Info_dup(info, NULL))                                                                    \
    X(info_free, MPI_Info_free(NULL))                                                                        \
    X(info_get, MPI_Info_get(info, "key", 5, NULL, &n))                                                      \
    X(info_get_flag, MPI_Info_get(info, "key", 5, text, NULL))                                               \
    X(info_get_string, MPI_Info_get_string(info, "key", NULL, text, &n))                                     \
    X(info_get_valuelen, MPI_Info_get_valuelen(info, "key", NULL, &n))                                       \
    X(info_get_nkeys, MPI_Info_get_nkeys(info, NULL))                                                        \
    X(info_get_nthkey, MPI_Info_get_nthkey(info, 0, NULL))                                                   \
    X(op_create, MPI_Op_create(op, 1, NULL))                                                                 \
    X(op_commutative, MPI_Op_commutative(MPI_SUM, NULL))                                                     \
    X(type_size, MPI_Type_size(type, NULL))                                                                  \
    X(type_size_c, MPI_Type_size_c(type, NULL))                                                              \
    X(type_get_extent, MPI_Type_get_extent(type, NULL, &aint))                                               \
    X(type_get_true_extent, MPI_Type_get_true_extent(type, &aint, NULL))                                     \
    X(type_get_name, MPI_Type_get_name(type, NULL, &n))                                                      \
    X(type_get_name_len, MPI_Type_get_name(MPI_DATATYPE_NULL, text, NULL))                                   \
    X(type_get_envelope, MPI_Type_get_envelope(type, &n, &n, &n, NULL))                                      \
    X(type_get_envelope_c, MPI_Type_get_envelope_c(type, &large, &large, &large, NULL, &n))                  \
    X(type_get_contents, MPI_Type_get_contents(type, 1, 0, 1, NULL, NULL, &type))                            \
    X(type_match_size, MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, NULL))                                     \
    X(type_get_value_index, MPI_Type_get_value_index(MPI_INT, MPI_INT, NULL))                                \
    X(type_create_struct, MPI_Type_create_struct(1, one, &aint, NULL, &type))                                \
    X(type_create_struct_new, MPI_Type_create_struct(1, one, &aint, &type, NULL))                            \
    X(type_create_keyval, MPI_Type_create_keyval(no_copy, MPI_TYPE_NULL_DELETE_FN, NULL, NULL))              \
    X(error_class, MPI_Error_class(MPI_ERR_ARG, NULL))                                                       \
    X(error_string, MPI_Error_string(MPI_ERR_ARG, NULL, &n))                                                 \
    X(error_string_len, MPI_Error_string(MPI_ERR_ARG, text, NULL))                                           \
    X(add_error_class, MPI_Add_error_class(NULL))                                                            \
    X(add_error_code, MPI_Add_error_code(MPI_ERR_ARG, NULL))                                                 \
    X(get_address, MPI_Get_address(&n, NULL))                                                                \
    X(get_version, MPI_Get_version(&n, NULL))                                                                \
    X(get_library_version, MPI_Get_library_version(NULL, &n))                                                \
    X(get_processor_name, MPI_Get_processor_name(NULL, &n))                                                  \
    X(abi_get_version, MPI_Abi_get_version(NULL, &n))                                                        \
    X(initialized, MPI_Initialized(NULL))                                                                    \
    X(finalized, MPI_Finalized(NULL))                                                                        \
    X(query_thread, MPI_Query_thread(NULL))                                                                  \
    X(is_thread_main, MPI_Is_thread_main(NULL))                                                              \
    X(get_count, MPI_Get_count(&status, MPI_INT, NULL))                                                      \
    X(get_count_c, MPI_Get_count_c(&status, MPI_INT, NULL))                                                  \
    X(get_elements, MPI_Get_elements(&status, MPI_INT, NULL))                                                \
    X(test_cancelled, MPI_Test_cancelled(&status, NULL))                                                     \
    X(status_get_tag, MPI_Status_get_tag(&status, NULL))                                                     \
    X(status_set_tag, MPI_Status_set_tag(NULL, 1))                                                           \
    X(request_get_status, MPI_Request_get_status(MPI_REQUEST_NULL, NULL, MPI_STATUS_IGNORE))                 \
    X(test, MPI_Test(&request, NULL, MPI_STATUS_IGNORE))                                                     \
    X(iprobe, MPI_Iprobe(MPI_PROC_NULL, 0, WORLD, NULL, MPI_STATUS_IGNORE))                                  \
    X(testall, MPI_Testall(1, &request, NULL, MPI_STATUSES_IGNORE))                                          \
    X(waitany, MPI_Waitany(1, &request, NULL, MPI_STATUS_IGNORE))                                            \
    X(testany, MPI_Testany(1, &request, &n, NULL, MPI_STATUS_IGNORE))                                        \
    X(waitsome, MPI_Waitsome(1, &request, NULL, one, MPI_STATUSES_IGNORE))                                   \
    X(testsome, MPI_Testsome(1, &request, &n, NULL, MPI_STATUSES_IGNORE))                                    \
    X(mprobe, MPI_Mprobe(MPI_PROC_NULL, 0, WORLD, NULL, MPI_STATUS_IGNORE))                                  \
    X(improbe, MPI_Improbe(MPI_PROC_NULL, 0, WORLD, NULL, NULL, MPI_STATUS_IGNORE))                          \
    X(pack, MPI_Pack(one, 1, MPI_INT, text, 4, NULL, WORLD))                                                 \
    X(pack_c, MPI_Pack_c(one, 1, MPI_INT, text, 4, NULL, WORLD))                                             \
    X(unpack, MPI_Unpack(text, 4, NULL, one, 1, MPI_INT, WORLD))                                             \
    X(pack_size, MPI_Pack_size(1, MPI_INT, WORLD, NULL))                                                     \
    X(pack_external, MPI_Pack_external("external32", one, 1, MPI_INT, text, 4, NULL))                        \
    X(unpack_external, MPI_Unpack_external("external32", text, 4, NULL, one, 1, MPI_INT))                    \
    X(external_size, MPI_Pack_external_size("external32", 1, MPI_INT, NULL))                                 \
    X(cart_get, MPI_Cart_get(cart, 1, one, NULL, one))                                                       \
    X(cart_coords, MPI_Cart_coords(cart, 0, 1, NULL))                                                        \
    X(dist_neighbors, MPI_Dist_graph_neighbors(pairs, 1, one, NULL, 1, one, one))                            \
    X(comm_detach_buffer, MPI_Comm_detach_buffer(cart, text, NULL))                                          \
    X(session_nth_pset, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &(int){1}, NULL))

#define BUFFER_ROWS(X)                                                                                       \
    X(pack_buffer, MPI_Pack(one, 1, MPI_INT, NULL, 4, &n, WORLD))                                            \
    X(unpack_buffer, MPI_Unpack(NULL, 4, &n, one, 1, MPI_INT, WORLD))                                        \
    X(pack_external_buffer, MPI_Pack_external("external32", one, 1, MPI_INT, NULL, 4, &aint))

#define X(name, call)                                                                                        \
    static int try_##name(void)                                                                              \
    {                                                                                                        \
        return call;                                                                                         \
    }
ROWS(X)
BUFFER_ROWS(X)
#undef X

static const struct row {
    const char *name;
    int (*call)(void);
    int class_;
} rows[] = {
#define X(name, call) {#name, try_##name, MPI_ERR_ARG},
    ROWS(X)
#undef X
#define X(name, call) {#name, try_##name, MPI_ERR_BUFFER},
        BUFFER_ROWS(X)
#undef X
};

static void open_objects(void)
{
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_group(WORLD, &group);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Cart_create(WORLD, 1, &size, one, 0, &cart);
    int next = (me + 1) % size, before = (me + size - 1) % size, weight = 1;
    MPI_Dist_graph_create_adjacent(WORLD, 1, &before, &weight, 1, &next, &weight, MPI_INFO_NULL, 0, &pairs);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
}

/* Who wants no bytes needs no room. */
static void ask_for_nothing(void)
{
    int flag = 0, len = 0;

    CHECK_EQ(MPI_Info_get(info, "key", 0, NULL, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK_EQ(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &len, NULL), MPI_SUCCESS);
    CHECK(len > 1);
}

static void close_objects(void)
{
    MPI_Group_free(&group);
    MPI_Info_free(&info);
    MPI_Type_free(&type);
    MPI_Comm_free(&cart);
    MPI_Comm_free(&pairs);
    MPI_Win_free(&win);
    MPI_Session_finalize(&session);
}

int main(void)
{
    int found;

    test_start(1);
    open_objects();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        n = 0;
        aint = 0;
        printf("%s\n", rows[i].name);
        fflush(stdout);
        MPI_Error_class(rows[i].call(), &found);
        CHECK_EQ(found, rows[i].class_);
    }
    ask_for_nothing();
    close_objects();
    MPI_Finalize();
    return 0;
}
