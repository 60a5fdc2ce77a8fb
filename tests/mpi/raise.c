/* Whose handler an error goes to: that of the communicator or file which a request or message belongs to,
 * also when the call names only the request, also when the communicator was freed; MPI_COMM_SELF's hears of
 * none. And handles are not freed more often than they were given out. */
#include "mpi_test.h"

#include <fcntl.h>

#define TAG 3

static MPI_Comm own;
static int heard, others, heard_class;
static MPI_Comm heard_comm;

static void note(MPI_Comm *comm, int *code, ...)
{
    heard++;
    heard_comm = *comm;
    MPI_Error_class(*code, &heard_class);
}

static void note_other(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;
    MPI_Error_string(*code, text, &len);
    fprintf(stderr, "rank %d: another handler hears: %s\n", me, text);
    others++;
}

static void note_file(MPI_File *file, int *code, ...)
{
    heard++;
    MPI_Error_class(*code, &heard_class);
}

static void expect(int code, int class, const char *call)
{
    int is;
    MPI_Error_class(code, &is);
    if (is != class || heard != 1 || heard_class != class || others != 0) {
        fprintf(stderr, "rank %d: %s: class %d, not %d; heard %d times, class %d\n", me, call, is, class,
                heard, heard_class);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    heard = 0;
}
#define EXPECT(call, class) expect((call), (class), #call)

/* Done with MPI_ERR_TRUNCATE. */
static MPI_Request truncated(MPI_Comm comm, int *room)
{
    MPI_Request r;
    long value = 1;
    MPI_Irecv(room, 1, MPI_INT, me, TAG, comm, &r);
    MPI_Send(&value, 1, MPI_LONG, me, TAG, comm);
    return r;
}

static void look_at_requests(void)
{
    int room, flag = 0, at, n, list[2];
    MPI_Status status[2];
    MPI_Request r[2] = {truncated(own, &room), MPI_REQUEST_NULL};
    EXPECT(MPI_Request_get_status(r[0], &flag, status), MPI_ERR_TRUNCATE);
    EXPECT(MPI_Request_get_status_any(2, r, &at, &flag, status), MPI_ERR_TRUNCATE);
    EXPECT(MPI_Request_get_status_all(2, r, &flag, status), MPI_ERR_IN_STATUS);
    EXPECT(MPI_Request_get_status_some(2, r, &n, list, status), MPI_ERR_IN_STATUS);
    EXPECT(MPI_Wait(&r[0], status), MPI_ERR_TRUNCATE);
    CHECK(heard_comm == own);
}

static void take_messages(void)
{
    long value = 1;
    int room;
    MPI_Message message;
    MPI_Request r;
    for (int k = 0; k < 2; k++) {
        MPI_Request sent;
        MPI_Isend(&value, 1, MPI_LONG, me, TAG, own, &sent);
        MPI_Mprobe(me, TAG, own, &message, MPI_STATUS_IGNORE);
        EXPECT(MPI_Mrecv(&room, -1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
        EXPECT(MPI_Imrecv(&room, 1, MPI_DATATYPE_NULL, &message, &r), MPI_ERR_TYPE);
        if (k == 0) {
            EXPECT(MPI_Mrecv(&room, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        } else {
            MPI_Imrecv(&room, 1, MPI_INT, &message, &r);
            EXPECT(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        }
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
}

/* To nobody, from oneself: a receive that fails. */
static void exchange_with_nobody(void)
{
    long value = 1;
    int room;
    MPI_Request r;
    MPI_Isend(&value, 1, MPI_LONG, me, TAG, own, &r);
    EXPECT(MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, TAG, &room, 1, MPI_INT, me, TAG, own,
                        MPI_STATUS_IGNORE),
           MPI_ERR_TRUNCATE);
    CHECK(heard_comm == own);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Isend(&value, 1, MPI_LONG, me, TAG, own, &r);
    EXPECT(MPI_Sendrecv_replace(&room, 1, MPI_INT, MPI_PROC_NULL, TAG, me, TAG, own, MPI_STATUS_IGNORE),
           MPI_ERR_TRUNCATE);
    CHECK(heard_comm == own);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* A send and a receive as one request tell of the one that failed. */
static void tell_of_a_pair(void)
{
    long value = 1;
    int room, len;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Request r;
    MPI_Isendrecv(&value, 1, MPI_LONG, me, TAG, &room, 1, MPI_INT, me, TAG, own, &r);
    int code = MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect(code, MPI_ERR_TRUNCATE, "MPI_Isendrecv");
    MPI_Error_string(code, text, &len);
    CHECK(strstr(text, "has 8 bytes, the receive buffer 4") != NULL);
}

/* Many, freed in another order than made, with requests that were started before. */
static void free_communicators(void)
{
    enum { MANY = 40 };
    MPI_Comm comm[MANY];
    MPI_Request r[MANY];
    int room[MANY];
    for (int k = 0; k < MANY; k++) {
        MPI_Comm_dup(own, &comm[k]);
        r[k] = truncated(comm[k], &room[k]);
    }
    for (int k = 0; k < MANY; k++) {
        MPI_Comm_free(&comm[7 * k % MANY]);
    }
    for (int k = 0; k < MANY; k++) {
        EXPECT(MPI_Wait(&r[k], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        CHECK(heard_comm == MPI_COMM_NULL);
    }
}

static void use_requests_wrongly(void)
{
    int value[2] = {0}, flag;
    MPI_Request r;
    MPI_Psend_init(value, 2, 1, MPI_INT, me, TAG, own, MPI_INFO_NULL, &r);
    EXPECT(MPI_Pready(0, r), MPI_ERR_REQUEST);
    EXPECT(MPI_Pready_range(0, 1, r), MPI_ERR_REQUEST);
    EXPECT(MPI_Pready_list(1, value, r), MPI_ERR_REQUEST);
    EXPECT(MPI_Parrived(r, 0, &flag), MPI_ERR_REQUEST);
    MPI_Request_free(&r);
    MPI_Ibarrier(own, &r);
    EXPECT(MPI_Cancel(&r), MPI_ERR_REQUEST);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* A write that fails later. */
static void write_to_a_full_disk(void)
{
    MPI_File f;
    MPI_Errhandler handler;
    MPI_Request r;
    char byte = 0;
    int flag = 0;
    if (access("/dev/full", W_OK) != 0) {
        return;
    }
    MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
    MPI_File_create_errhandler(note_file, &handler);
    MPI_File_set_errhandler(f, handler);
    MPI_File_iwrite(f, &byte, 1, MPI_BYTE, &r);
    int code = MPI_SUCCESS;
    while (!flag) {
        code = MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
    }
    expect(code, MPI_ERR_NO_SPACE, "MPI_Request_get_status");
    EXPECT(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
    MPI_File_close(&f);
    MPI_Errhandler_free(&handler);
}

static void nothing(MPI_Comm *comm, int *code, ...)
{
}

/* What lives on in other objects is not the user's to free twice. */
static void free_handles_twice(void)
{
    enum { MANY = 50 };
    MPI_Group g, again, made[MANY];
    MPI_Errhandler e, e_again;
    int n, key, same, same_again;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &g);
    again = g;
    CHECK_EQ(MPI_Group_free(&g), MPI_SUCCESS);
    CHECK_EQ(MPI_Group_free(&again), MPI_ERR_GROUP);
    MPI_Comm_group(MPI_COMM_WORLD, &g);
    MPI_Comm_group(MPI_COMM_WORLD, &again);
    CHECK_EQ(MPI_Group_free(&g), MPI_SUCCESS);
    CHECK_EQ(MPI_Group_free(&again), MPI_SUCCESS);
    for (int i = 0; i < MANY; i++) {
        MPI_Comm_group(MPI_COMM_SELF, &g);
        MPI_Group_incl(g, 1, &(int){0}, &made[i]);
        MPI_Group_free(&g);
    }
    MPI_Comm_group(MPI_COMM_WORLD, &g);
    MPI_Group_size(g, &n);
    CHECK_EQ(n, size);
    MPI_Group_free(&g);
    for (int i = 0; i < MANY; i++) {
        MPI_Group_free(&made[i]);
    }
    MPI_Comm_create_errhandler(nothing, &e);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, e);
    e_again = e;
    CHECK_EQ(MPI_Errhandler_free(&e), MPI_SUCCESS);
    CHECK_EQ(MPI_Errhandler_free(&e_again), MPI_ERR_ERRHANDLER);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
    same = same_again = key;
    CHECK_EQ(MPI_Comm_free_keyval(&key), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_free_keyval(&same), MPI_SUCCESS); /* in use: nothing happens */
    CHECK_EQ(MPI_Comm_delete_attr(MPI_COMM_WORLD, same_again), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_free_keyval(&same_again), MPI_ERR_KEYVAL);
}

int main(void)
{
    MPI_Errhandler handler, other;
    test_start(1);
    free_handles_twice();
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_create_errhandler(note_other, &other);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, other);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, other);
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, handler);
    look_at_requests();
    take_messages();
    exchange_with_nobody();
    tell_of_a_pair();
    free_communicators();
    use_requests_wrongly();
    write_to_a_full_disk();
    CHECK_EQ(others, 0);
    MPI_Comm_free(&own);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&other);
    MPI_Finalize();
    if (me == 0) {
        printf("raise: each error went to its object's handler\n");
    }
    return 0;
}
