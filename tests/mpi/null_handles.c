/* A null handle where an object is wanted: the error's words name its constant, and the object that the error
 * belongs to when there is one, by its name or that it has none. A handle that is 0 was never set, and the
 * words say that. */
#include "mpi_test.h"

#include <hotlane.h>

static MPI_Comm comm = MPI_COMM_WORLD;
static MPI_Win win;
static MPI_File file;
static MPI_Request request;
static MPI_Group made_group;
static MPI_Comm made_comm;
static MPI_Datatype made_type;
static MPI_Win made_win;
static MPI_File made_file;
static MPI_Info made_info;
static MPI_Session session;
static int n, flag, one[1], word[4], *where;

/* Each row: the class of the error, the call with the handle `h`. */
#define COMM_ROWS(X)                                                                                         \
    X(COMM, MPI_Comm_rank(h, &n))                                                                            \
    X(COMM, MPI_Comm_free(&h))                                                                               \
    X(COMM, MPI_Comm_dup(h, &made_comm))                                                                     \
    X(COMM, MPI_Comm_split(h, 0, 0, &made_comm))                                                             \
    X(COMM, MPI_Comm_get_attr(h, MPI_TAG_UB, &where, &flag))                                                 \
    X(COMM, MPI_Comm_set_errhandler(h, MPI_ERRORS_RETURN))                                                   \
    X(COMM, MPI_Send(word, 1, MPI_INT, 0, 0, h))                                                             \
    X(COMM, MPI_Irecv(word, 1, MPI_INT, 0, 0, h, &request))                                                  \
    X(COMM, MPI_Psend_init(word, 1, 1, MPI_INT, 0, 0, h, MPI_INFO_NULL, &request))                           \
    X(COMM, MPI_Probe(0, 0, h, MPI_STATUS_IGNORE))                                                           \
    X(COMM, MPI_Barrier(h))                                                                                  \
    X(COMM, MPI_Ibarrier(h, &request))                                                                       \
    X(COMM, MPI_Bcast_init(word, 1, MPI_INT, 0, h, MPI_INFO_NULL, &request))                                 \
    X(COMM, MPI_Cart_create(h, 1, one, one, 0, &made_comm))                                                  \
    X(COMM, MPI_Win_create(word, 4, 1, MPI_INFO_NULL, h, &made_win))                                         \
    X(COMM, MPI_Win_create_dynamic(MPI_INFO_NULL, h, &made_win))                                             \
    X(COMM, MPI_File_open(h, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &made_file))
#define GROUP_ROWS(X)                                                                                        \
    X(GROUP, MPI_Group_size(h, &n))                                                                          \
    X(GROUP, MPI_Group_incl(h, 0, one, &made_group))                                                         \
    X(GROUP, MPI_Group_union(h, h, &made_group))                                                             \
    X(GROUP, MPI_Group_translate_ranks(h, 0, one, h, one))                                                   \
    X(GROUP, MPI_Group_free(&h))                                                                             \
    X(GROUP, MPI_Comm_create(comm, h, &made_comm))                                                           \
    X(GROUP, MPI_Comm_create_group(comm, h, 0, &made_comm))                                                  \
    X(GROUP, MPI_Win_post(h, 0, win))                                                                        \
    X(GROUP, MPI_Win_start(h, 0, win))
#define TYPE_ROWS(X)                                                                                         \
    X(TYPE, MPI_Type_size(h, &n))                                                                            \
    X(TYPE, MPI_Type_commit(&h))                                                                             \
    X(TYPE, MPI_Type_free(&h))                                                                               \
    X(TYPE, MPI_Type_contiguous(1, h, &made_type))                                                           \
    X(TYPE, MPI_Type_create_struct(1, (int[]){1}, (MPI_Aint[]){0}, &h, &made_type))                          \
    X(TYPE, MPI_Get_count(&(MPI_Status){0}, h, &n))                                                          \
    X(TYPE, MPI_Pack_size(1, h, comm, &n))                                                                   \
    X(TYPE, MPI_Send(word, 1, h, 0, 0, comm))                                                                \
    X(TYPE, MPI_Recv_init(word, 1, h, 0, 0, comm, &request))                                                 \
    X(TYPE, MPI_Bcast(word, 1, h, 0, comm))                                                                  \
    X(TYPE, MPI_Iallreduce(word, word + 1, 1, h, MPI_SUM, comm, &request))                                   \
    X(TYPE, MPI_Reduce_local(word, word + 1, 1, h, MPI_SUM))                                                 \
    X(TYPE, MPI_Put(word, 1, h, 0, 0, 1, MPI_INT, win))                                                      \
    X(TYPE, MPI_Get(word, 1, MPI_INT, 0, 0, 1, h, win))                                                      \
    X(TYPE, MPI_Rput_c(word, 1, h, 0, 0, 1, MPI_INT, win, &request))                                         \
    X(TYPE, MPI_Accumulate(word, 1, h, 0, 0, 1, h, MPI_SUM, win))                                            \
    X(TYPE, MPI_Raccumulate(word, 1, MPI_INT, 0, 0, 1, h, MPI_SUM, win, &request))                           \
    X(TYPE, MPI_Get_accumulate(word, 1, MPI_INT, word, 1, h, 0, 0, 1, MPI_INT, MPI_SUM, win))                \
    X(TYPE, MPI_Get_accumulate(word, 1, MPI_INT, word, 1, h, 0, 0, 1, MPI_INT, MPI_NO_OP, win))              \
    X(TYPE, MPI_Fetch_and_op(word, word, h, 0, 0, MPI_SUM, win))                                             \
    X(TYPE, MPI_Compare_and_swap(word, word, word, h, 0, 0, win))                                            \
    X(TYPE, MPIX_Put_notify(word, 1, MPI_INT, 0, 0, 1, h, 8, 1, win))                                        \
    X(TYPE, MPI_File_write(file, word, 1, h, MPI_STATUS_IGNORE))                                             \
    X(TYPE, MPI_File_set_view(file, 0, h, MPI_INT, "native", MPI_INFO_NULL))
#define OP_ROWS(X)                                                                                           \
    X(OP, MPI_Op_commutative(h, &n))                                                                         \
    X(OP, MPI_Op_free(&h))                                                                                   \
    X(OP, MPI_Reduce_local(word, word + 1, 1, MPI_INT, h))                                                   \
    X(OP, MPI_Allreduce(word, word + 1, 1, MPI_INT, h, comm))                                                \
    X(OP, MPI_Iscan(word, word + 1, 1, MPI_INT, h, comm, &request))                                          \
    X(OP, MPI_Reduce_init(word, word + 1, 1, MPI_INT, h, 0, comm, MPI_INFO_NULL, &request))                  \
    X(OP, MPI_Accumulate(word, 1, MPI_INT, 0, 0, 1, MPI_INT, h, win))                                        \
    X(OP, MPI_Raccumulate(word, 1, MPI_INT, 0, 0, 1, MPI_INT, h, win, &request))                             \
    X(OP, MPI_Get_accumulate(word, 1, MPI_INT, word, 1, MPI_INT, 0, 0, 1, MPI_INT, h, win))                  \
    X(OP, MPI_Fetch_and_op(word, word, MPI_INT, 0, 0, h, win))
#define WIN_ROWS(X)                                                                                          \
    X(WIN, MPI_Put(word, 1, MPI_INT, 0, 0, 1, MPI_INT, h))                                                   \
    X(WIN, MPI_Fetch_and_op(word, word, MPI_INT, 0, 0, MPI_SUM, h))                                          \
    X(WIN, MPI_Rget(word, 1, MPI_INT, 0, 0, 1, MPI_INT, h, &request))                                        \
    X(WIN, MPI_Win_fence(0, h))                                                                              \
    X(WIN, MPI_Win_lock_all(0, h))                                                                           \
    X(WIN, MPI_Win_flush(0, h))                                                                              \
    X(WIN, MPI_Win_get_group(h, &made_group))                                                                \
    X(WIN, MPI_Win_set_errhandler(h, MPI_ERRORS_RETURN))                                                     \
    X(WIN, MPI_Win_free(&h))
#define INFO_ROWS(X)                                                                                         \
    X(INFO, MPI_Info_set(h, "a", "b"))                                                                       \
    X(INFO, MPI_Info_dup(h, &made_info))                                                                     \
    X(INFO, MPI_Info_get_nkeys(h, &n))                                                                       \
    X(INFO, MPI_Info_free(&h))                                                                               \
    X(INFO, MPI_Win_set_info(win, h))
#define REQUEST_ROWS(X)                                                                                      \
    X(REQUEST, MPI_Start(&h))                                                                                \
    X(REQUEST, MPI_Startall(1, &h))                                                                          \
    X(REQUEST, MPI_Cancel(&h))                                                                               \
    X(REQUEST, MPI_Request_free(&h))                                                                         \
    X(REQUEST, MPI_Pready(0, h))                                                                             \
    X(REQUEST, MPI_Grequest_complete(h))
#define MESSAGE_ROWS(X)                                                                                      \
    X(REQUEST, MPI_Mrecv(word, 1, MPI_INT, &h, MPI_STATUS_IGNORE))                                           \
    X(REQUEST, MPI_Imrecv(word, 1, MPI_INT, &h, &request))
#define FILE_ROWS(X)                                                                                         \
    X(FILE, MPI_File_read(h, word, 1, MPI_INT, MPI_STATUS_IGNORE))                                           \
    X(FILE, MPI_File_iwrite_at(h, 0, word, 1, MPI_INT, &request))                                            \
    X(FILE, MPI_File_get_size(h, &(MPI_Offset){0}))                                                          \
    X(FILE, MPI_File_sync(h))                                                                                \
    X(FILE, MPI_File_close(&h))
#define ERRHANDLER_ROWS(X)                                                                                   \
    X(ERRHANDLER, MPI_Comm_set_errhandler(comm, h))                                                          \
    X(ERRHANDLER, MPI_Win_set_errhandler(win, h))                                                            \
    X(ERRHANDLER, MPI_File_set_errhandler(file, h))                                                          \
    X(ERRHANDLER, MPI_Session_init(MPI_INFO_NULL, h, &session))                                              \
    X(ERRHANDLER, MPI_Errhandler_free(&h))
#define SESSION_ROWS(X)                                                                                      \
    X(SESSION, MPI_Session_get_num_psets(h, MPI_INFO_NULL, &n))                                              \
    X(SESSION, MPI_Session_get_info(h, &made_info))                                                          \
    X(SESSION, MPI_Group_from_session_pset(h, "mpi://WORLD", &made_group))                                   \
    X(SESSION, MPI_Session_finalize(&h))

static void must_say(const char *call, int code, int class, const char *words)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, got = MPI_SUCCESS;
    MPI_Error_class(code, &got);
    MPI_Error_string(code, text, &len);
    if (got != class || strstr(text, words) == NULL || strstr(text, "(nil)") != NULL) {
        fprintf(stderr, "%s: class %d instead of %d, or not '%s': %s\n", call, got, class, words, text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

#define X(class, call)                                                                                       \
    h = nothing;                                                                                             \
    must_say(#call, call, MPI_ERR_##class, words);
#define KIND(name, type, rows)                                                                               \
    static void try_##name(type nothing, const char *words)                                                  \
    {                                                                                                        \
        type h;                                                                                              \
        rows(X)                                                                                              \
    }
KIND(comm, MPI_Comm, COMM_ROWS)
KIND(group, MPI_Group, GROUP_ROWS)
KIND(type, MPI_Datatype, TYPE_ROWS)
KIND(op, MPI_Op, OP_ROWS)
KIND(win, MPI_Win, WIN_ROWS)
KIND(info, MPI_Info, INFO_ROWS)
KIND(request, MPI_Request, REQUEST_ROWS)
KIND(message, MPI_Message, MESSAGE_ROWS)
KIND(file, MPI_File, FILE_ROWS)
KIND(errhandler, MPI_Errhandler, ERRHANDLER_ROWS)
KIND(session, MPI_Session, SESSION_ROWS)
#undef X

#define BOTH(name, null)                                                                                     \
    try_##name(null, "is " #null);                                                                           \
    try_##name(0, "a handle that was never set")

/* Objects without names are no empty words. */
static void without_names(void)
{
    MPI_Comm dup;
    MPI_Session s;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_name(dup, "");
    MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
    must_say("a communicator", MPI_Send(word, 1, MPI_INT, 1 << 20, 0, dup), MPI_ERR_RANK,
             " on a communicator without a name: ");
    must_say("a window", MPI_Win_fence(1 << 29, win), MPI_ERR_ASSERT, " on a window without a name: ");
    MPI_Win_set_name(win, "halo");
    must_say("a window", MPI_Win_fence(1 << 29, win), MPI_ERR_ASSERT, " on window halo: ");
    must_say("a file", MPI_File_seek(file, 0, 4711), MPI_ERR_ARG, " on file '");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
    must_say("a session", MPI_Session_get_num_psets(s, MPI_INFO_NULL, NULL), MPI_ERR_ARG, " on a session: ");
    MPI_Session_finalize(&s);
    MPI_Comm_free(&dup);
}

int main(void)
{
    char name[] = "/tmp/null_handles.XXXXXX";
    int *base;
    test_start(1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    close(mkstemp(name));
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    unlink(name); /* whatever comes */
    BOTH(comm, MPI_COMM_NULL);
    BOTH(group, MPI_GROUP_NULL);
    BOTH(type, MPI_DATATYPE_NULL);
    BOTH(op, MPI_OP_NULL);
    BOTH(win, MPI_WIN_NULL);
    BOTH(info, MPI_INFO_NULL);
    BOTH(request, MPI_REQUEST_NULL);
    BOTH(message, MPI_MESSAGE_NULL);
    BOTH(file, MPI_FILE_NULL);
    BOTH(errhandler, MPI_ERRHANDLER_NULL);
    BOTH(session, MPI_SESSION_NULL);
    MPI_Win_unlock_all(win);
    without_names();
    MPI_File_close(&file);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
