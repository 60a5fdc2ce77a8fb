/* What surrounds communication: the binary interface, processes that cannot join, splits by hardware that
 * some ranks stay out of, info objects and what they say of the start. Any number of ranks. */
#include "mpi_test.h"

/* ---- The binary interface ---- */

static void check_number(MPI_Info info, const char *key, int value)
{
    char text[32] = "";
    int flag;

    MPI_Info_get(info, key, sizeof text - 1, text, &flag);
    CHECK(flag);
    CHECK_EQ(atoi(text), value);
}

static void check_abi(void)
{
    int major = 0, minor = -1, yes = 7, no = 7, is_set = 0, minus = -1;
    char byte_yes, byte_no;
    MPI_Info info, wrong;

    CHECK_EQ(MPI_Abi_get_version(&major, &minor), MPI_SUCCESS);
    CHECK_EQ(major, MPI_ABI_VERSION);
    CHECK_EQ(minor, MPI_ABI_SUBVERSION);
    CHECK_EQ(MPI_Abi_get_info(&info), MPI_SUCCESS);
    check_number(info, "mpi_aint_size", sizeof(MPI_Aint));
    check_number(info, "mpi_count_size", sizeof(MPI_Count));
    check_number(info, "mpi_offset_size", sizeof(MPI_Offset));
    MPI_Info_free(&info);
    CHECK_EQ(MPI_Abi_get_fortran_info(&info), MPI_SUCCESS);
    check_number(info, "mpi_integer_size", 4);
    check_number(info, "mpi_double_precision_size", 8);
    CHECK_EQ(MPI_Abi_set_fortran_info(info), MPI_SUCCESS); /* what it says itself */
    MPI_Info_dup(info, &wrong);
    MPI_Info_set(wrong, "mpi_integer_size", "8");
    CHECK_EQ(MPI_Abi_set_fortran_info(wrong), MPI_ERR_ABI);
    MPI_Info_free(&wrong);
    MPI_Info_free(&info);
    CHECK_EQ(MPI_Abi_get_fortran_booleans(sizeof yes, &yes, &no, &is_set), MPI_SUCCESS);
    CHECK(is_set && yes == 1 && no == 0);
    CHECK_EQ(MPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no), MPI_SUCCESS);
    CHECK_EQ(MPI_Abi_set_fortran_booleans(sizeof yes, &minus, &no), MPI_ERR_ABI);
    CHECK_EQ(MPI_Abi_get_fortran_booleans(1, &byte_yes, &byte_no, &is_set), MPI_SUCCESS);
    CHECK(byte_yes == 1 && byte_no == 0);
    CHECK_EQ(MPI_Abi_get_fortran_booleans(3, &yes, &no, &is_set), MPI_ERR_ABI);
}

/* Integers and back, for what is predefined and for what is made. */
static void check_integers(void)
{
    MPI_Comm comm;
    MPI_Group group;
    MPI_Datatype type;
    MPI_Info info;
    MPI_Request request;
    MPI_Errhandler errh;
    int value = 0, got;

    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Info_create(&info);
    MPI_Comm_get_errhandler(comm, &errh);
    MPI_Irecv(&got, 1, MPI_INT, 0, 5, comm, &request);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(comm)) == comm);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Group_fromint(MPI_Group_toint(group)) == group);
    CHECK(MPI_Type_fromint(MPI_Type_toint(type)) == type);
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info);
    CHECK(MPI_Request_fromint(MPI_Request_toint(request)) == request);
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(errh)) == errh);
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    MPI_Fint old = MPI_Comm_c2f(comm);
    CHECK(MPI_Comm_f2c(old) == comm);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(type)) == type);
    MPI_Send(&value, 1, MPI_INT, 0, 5, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Info_free(&info);
    MPI_Type_free(&type);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
}

/* ---- Processes ---- */

static void check_processes(void)
{
    static char *commands[] = {"one", "two"};
    static const int most[] = {1, 2};
    const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    int codes[3] = {0, 0, 0}, *universe, flag;
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm comm = MPI_COMM_WORLD, parent;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_Comm_spawn("one", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm, codes),
             MPI_ERR_SPAWN);
    CHECK(comm == MPI_COMM_NULL);
    CHECK(me != 0 || (codes[0] == MPI_ERR_SPAWN && codes[1] == MPI_ERR_SPAWN && codes[2] == 0));
    CHECK_EQ(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, most, infos, 0, MPI_COMM_WORLD, &comm,
                                     MPI_ERRCODES_IGNORE),
             MPI_ERR_SPAWN);
    CHECK_EQ(MPI_Comm_spawn("one", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_NULL, &comm, codes),
             MPI_ERR_COMM);
    CHECK_EQ(MPI_Comm_spawn("one", MPI_ARGV_NULL, 1, MPI_INFO_NULL, size, MPI_COMM_WORLD, &comm, codes),
             MPI_ERR_ROOT);
    CHECK_EQ(MPI_Comm_accept("port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm), MPI_ERR_PORT);
    CHECK_EQ(MPI_Comm_connect("port", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm), MPI_ERR_PORT);
    CHECK(comm == MPI_COMM_NULL);
    CHECK_EQ(MPI_Comm_join(0, &comm), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQ(MPI_Close_port("port"), MPI_ERR_PORT);
    CHECK_EQ(MPI_Publish_name("name", MPI_INFO_NULL, "port"), MPI_ERR_PORT);
    CHECK_EQ(MPI_Lookup_name("name", MPI_INFO_NULL, port), MPI_ERR_NAME);
    CHECK_EQ(MPI_Unpublish_name("name", MPI_INFO_NULL, "port"), MPI_ERR_SERVICE);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
    CHECK(flag && *universe == size);
}

/* ---- Nothing to wait for: the empty status is whole ---- */

static void check_empty(MPI_Status *status)
{
    int count = -1;

    CHECK(status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG);
    CHECK_EQ(status->MPI_ERROR, MPI_SUCCESS);
    MPI_Get_count(status, MPI_INT, &count);
    CHECK_EQ(count, 0);
    memset(status, 0x11, sizeof *status);
}

static void check_empty_statuses(void)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    int flag = 0, index = 0;

    memset(&status, 0x11, sizeof status);
    MPI_Wait(r, &status);
    check_empty(&status);
    MPI_Test(r, &flag, &status);
    CHECK(flag);
    check_empty(&status);
    MPI_Waitany(2, r, &index, &status);
    CHECK_EQ(index, MPI_UNDEFINED);
    check_empty(&status);
    MPI_Testany(2, r, &index, &flag, &status);
    check_empty(&status);
    MPI_Request_get_status(r[0], &flag, &status);
    check_empty(&status);
    MPI_Request_get_status_any(2, r, &index, &flag, &status);
    CHECK(flag && index == MPI_UNDEFINED);
    check_empty(&status);
}

/* ---- Splits by hardware ---- */

/* Only `root` asks; the others take part, whatever it asks for. */
static void split_alone(int root, int how, const char *key, const char *value, bool gets)
{
    MPI_Info info;
    MPI_Comm part = MPI_COMM_WORLD;
    int n;

    MPI_Info_create(&info);
    if (key != NULL && me == root) {
        MPI_Info_set(info, key, value);
    }
    CHECK_EQ(MPI_Comm_split_type(MPI_COMM_WORLD, me == root ? how : MPI_UNDEFINED, 0, info, &part),
             MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK_EQ(part != MPI_COMM_NULL, me == root && gets);
    if (part != MPI_COMM_NULL) {
        MPI_Comm_size(part, &n);
        CHECK_EQ(n, 1);
        MPI_Comm_free(&part);
    }
}

static void check_splits(void)
{
    MPI_Comm part = MPI_COMM_WORLD;
    MPI_Info info;
    int n = 0, keys = 0;

    for (int root = 0; root < size; root++) {
        split_alone(root, MPI_COMM_TYPE_SHARED, NULL, NULL, true);
        split_alone(root, MPI_COMM_TYPE_HW_GUIDED, NULL, NULL, false);
        split_alone(root, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory", true);
        split_alone(root, MPI_COMM_TYPE_HW_GUIDED, " mpi_hw_resource_type ", "\thwloc://Machine ", true);
        split_alone(root, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "moon", false);
        split_alone(root, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory", true);
        split_alone(root, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD", true);
        split_alone(root, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://MOON", false);
        split_alone(root, MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL, false);
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_pset_name", "mpi://world");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, -me, info, &part);
    MPI_Comm_size(part, &n);
    CHECK_EQ(n, size);
    MPI_Comm_rank(part, &n);
    CHECK_EQ(n, size - 1 - me);
    MPI_Comm_free(&part);
    MPI_Info_free(&info);
    int err =
        MPI_Comm_split_type(MPI_COMM_WORLD, me == 0 ? 12345 : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    CHECK_EQ(err, MPI_ERR_ARG); /* on all of them */
    CHECK_EQ(MPI_Get_hw_resource_info(&info), MPI_SUCCESS);
    MPI_Info_get_nkeys(info, &keys);
    CHECK(keys >= 1);
    MPI_Info_free(&info);
}

static void check_info(MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int flag;

    MPI_Info_get(info, "mpi_memory_alloc_kinds", sizeof text - 1, text, &flag);
    CHECK(flag && strcmp(text, "mpi,system") == 0);
    MPI_Info_get(info, "wdir", sizeof text - 1, text, &flag);
    CHECK(flag && text[0] == '/');
}

/* They are kept as they are; only the library's own hints are read without (check_splits). */
static void check_blanks(void)
{
    static const char key[] = " key\t", value[] = " a value ";
    char text[MPI_MAX_INFO_VAL];
    int flag, len = sizeof text;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Info_get_nthkey(info, 0, text);
    CHECK(strcmp(text, key) == 0);
    MPI_Info_get(info, key, sizeof text - 1, text, &flag);
    CHECK(flag && strcmp(text, value) == 0);
    MPI_Info_get_string(info, key, &len, text, &flag);
    CHECK(flag && len == sizeof value && strcmp(text, value) == 0);
    MPI_Info_get_valuelen(info, key, &len, &flag);
    CHECK(flag && len == sizeof value - 1);
    MPI_Info_get_valuelen(info, "key", &len, &flag);
    CHECK(!flag);
    CHECK_EQ(MPI_Info_delete(info, "key"), MPI_ERR_INFO_NOKEY);
    CHECK_EQ(MPI_Info_delete(info, key), MPI_SUCCESS);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int len = -1;
    MPI_Info info;

    test_start(1);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_abi();
    check_integers();
    check_processes();
    check_empty_statuses();
    check_splits();
    check_blanks();
    check_info(MPI_INFO_ENV);
    MPI_Info_create_env(argc, argv, &info);
    check_info(info);
    MPI_Info_free(&info);
    MPI_Get_processor_name(name, &len);
    CHECK(len > 0 && strlen(name) == (size_t)len);
    MPI_Finalize();
    return 0;
}
