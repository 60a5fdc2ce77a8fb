/* Files: what the calls promise one by one, and how they refuse wrong ones: the class, on all ranks together
 * where the call is collective, and the file's own error handler. */
#include "io_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static int unlocked; /* "unlocked": atomic mode stays off where it matters, to see the test fail */

static MPI_File open_file(int amode)
{
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &f));
    return f;
}

static MPI_Offset size_of(MPI_File f)
{
    MPI_Offset bytes = -1;
    OK(MPI_File_get_size(f, &bytes));
    return bytes;
}

static void modes(void)
{
    MPI_File f = MPI_FILE_NULL;
    MPI_Comm comm = MPI_COMM_WORLD;
    int mode = me == size - 1 ? MPI_MODE_RDONLY : MPI_MODE_RDWR | MPI_MODE_CREATE, got = 0;

    if (size > 1) {
        CHECK_CLASS(MPI_File_open(comm, name, mode, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
        CHECK(f == MPI_FILE_NULL && access(name, F_OK) != 0);
        /* One rank's mode alone is impossible: all fail. */
        mode = me == 0 ? 0 : MPI_MODE_RDWR;
        CHECK_CLASS(MPI_File_open(comm, name, mode, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
    }
    CHECK_CLASS(MPI_File_open(comm, name, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
                MPI_ERR_AMODE);
    CHECK_CLASS(MPI_File_open(comm, name, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &f),
                MPI_ERR_AMODE);
    CHECK_CLASS(MPI_File_open(comm, name, MPI_MODE_RDWR | MPI_MODE_WRONLY, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
    CHECK_CLASS(MPI_File_open(comm, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_NO_SUCH_FILE);
    CHECK_CLASS(MPI_File_open(comm, "", MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_BAD_FILE);
    CHECK_CLASS(MPI_File_open(comm, ".", MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_BAD_FILE);
    f = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_UNIQUE_OPEN);
    OK(MPI_File_get_amode(f, &got));
    CHECK_EQ(got, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_UNIQUE_OPEN);
    MPI_Group group, world;
    OK(MPI_File_get_group(f, &group));
    MPI_Comm_group(comm, &world);
    MPI_Group_compare(group, world, &got);
    CHECK_EQ(got, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    OK(MPI_File_close(&f));
    CHECK(f == MPI_FILE_NULL);
    CHECK_CLASS(MPI_File_open(comm, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &f),
                MPI_ERR_FILE_EXISTS);
    f = open_file(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_close(&f));
    CHECK(access(name, F_OK) != 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Only one rank cannot have the file: all are refused, and hear why. */
static void one_fails(void)
{
    MPI_File f;
    char long_name[5000], words[MPI_MAX_ERROR_STRING];
    int n, code;

    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    if (me == 0) {
        close(open(name, O_CREAT | O_RDWR, 0600));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    code = MPI_File_open(MPI_COMM_WORLD, me == size - 1 ? long_name : name, MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    CHECK_CLASS(code, MPI_ERR_BAD_FILE);
    MPI_Error_string(code, words, &n);
    CHECK(strstr(words, "too long") != NULL && strstr(words, "MPI_File_open") != NULL);
    f = open_file(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    /* A collective access that is wrong on one rank. */
    MPI_Status st;
    code = MPI_File_write_at_all(f, me == size - 1 ? -1 : 0, &n, 0, MPI_INT, &st);
    CHECK_CLASS(code, MPI_ERR_ARG);
    code = MPI_File_write_ordered(f, &n, me == size - 1 ? -1 : 1, MPI_INT, &st);
    CHECK_CLASS(code, MPI_ERR_COUNT);
    CHECK_EQ(size_of(f), 0);
    /* A place that the last rank cannot have: the shared pointer stays. */
    MPI_Offset at, far = ((MPI_Offset)1 << 61) - size;
    OK(MPI_File_seek_shared(f, far, MPI_SEEK_SET));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_write_ordered_c(f, &n, 1 + (me == size - 1), MPI_BYTE, &st), MPI_ERR_ARG);
    OK(MPI_File_get_position_shared(f, &at));
    CHECK_EQ(at, far);
    if (size > 1) {
        CHECK_CLASS(MPI_File_set_size(f, me == 0 ? 8 : 9), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_seek_shared(f, me, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_set_atomicity(f, me == 0), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_set_view(f, 0, me == 0 ? MPI_BYTE : MPI_INT, me == 0 ? MPI_BYTE : MPI_INT,
                                      "native", MPI_INFO_NULL),
                    MPI_ERR_NOT_SAME);
        CHECK_CLASS(
            MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, me == 0 ? "native" : "internal", MPI_INFO_NULL),
            MPI_ERR_NOT_SAME);
    }
    OK(MPI_File_close(&f));
}

static void directions(void)
{
    MPI_File f = open_file(MPI_MODE_WRONLY | MPI_MODE_CREATE);
    MPI_Request r;
    MPI_Offset at;
    int x = 7;

    CHECK_CLASS(MPI_File_read_at(f, 0, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    OK(MPI_File_write_at(f, 4 * me, &x, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    f = open_file(MPI_MODE_RDONLY);
    CHECK_CLASS(MPI_File_write(f, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_iwrite(f, &x, 1, MPI_INT, &r), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_set_size(f, 0), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_preallocate(f, 100), MPI_ERR_READ_ONLY);
    OK(MPI_File_close(&f));
    f = open_file(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    CHECK_CLASS(MPI_File_write(f, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_write_at(f, 0, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek(f, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek_shared(f, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_get_position(f, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_set_size(f, 0), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_preallocate(f, 1000), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_DISP);
    OK(MPI_File_write_shared(f, &x, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_ordered(f, &x, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(size_of(f), 8 * size);
    OK(MPI_File_close(&f));
    f = open_file(MPI_MODE_RDWR | MPI_MODE_APPEND | MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_get_position(f, &at));
    CHECK_EQ(at, 8 * size);
    OK(MPI_File_get_position_shared(f, &at));
    CHECK_EQ(at, 8 * size);
    OK(MPI_File_close(&f));
}

static void wrong_arguments(void)
{
    MPI_File f = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE), null = MPI_FILE_NULL;
    MPI_Datatype odd;
    MPI_Offset at;
    int x[3] = {0}, flag = 7;

    CHECK_CLASS(MPI_File_read(null, x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_close(&null), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_sync((MPI_File)(void *)x), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_read(f, x, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_File_read(f, x, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_read_at(f, -1, x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek(f, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek(f, 0, 12345), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek_shared(f, -1, MPI_SEEK_CUR), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_size(f, -1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_get_byte_offset(f, INT64_MAX, &at), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "strange", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK_CLASS(MPI_File_set_view(f, -3, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, MPI_DATATYPE_NULL, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    MPI_Type_contiguous(3, MPI_BYTE, &odd);
    CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    MPI_Type_commit(&odd);
    CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_write(f, x, 1, odd, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    MPI_Type_free(&odd);
    OK(MPI_File_write_at_all_begin(f, 3 * me, x, 3, MPI_INT));
    CHECK_CLASS(MPI_File_write_all_begin(f, x, 3, MPI_INT), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_read_at_all_end(f, x, MPI_STATUS_IGNORE), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_write_at_all_end(f, x + 1, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    OK(MPI_File_write_at_all_end(f, x, MPI_STATUS_IGNORE));
    CHECK_CLASS(MPI_File_write_at_all_end(f, x, MPI_STATUS_IGNORE), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_get_atomicity(f, NULL), MPI_ERR_ARG);
    OK(MPI_File_get_atomicity(f, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_File_close(&f));
}

/* An access that is refused for its place leaves the pointers where they were. */
static void refused_places(void)
{
    const MPI_Offset far[] = {INT64_MAX, INT64_MAX / 4, INT64_MAX / 16};
    MPI_File f = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Request r;
    MPI_Offset at = 0;
    int x[4] = {0};

    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < 3; i++) {
        OK(MPI_File_seek(f, far[i], MPI_SEEK_SET));
        CHECK_CLASS(MPI_File_read(f, x, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
        CHECK_CLASS(MPI_File_iwrite(f, x, 4, MPI_INT, &r), MPI_ERR_ARG);
        CHECK_CLASS(MPI_File_write_all(f, x, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
        OK(MPI_File_get_position(f, &at));
        CHECK_EQ(at, far[i]);
        OK(MPI_File_seek_shared(f, far[i], MPI_SEEK_SET));
        CHECK_CLASS(MPI_File_write_shared(f, x, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_get_position_shared(f, &at));
        CHECK_EQ(at, far[i]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_EQ(size_of(f), 0);
    OK(MPI_File_close(&f));
}

/* Between the ends of a split collective no other collective call is good, of one rank's own all are. */
static void split(void)
{
    MPI_File f = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Request r;
    int x = me, flag = 7;

    OK(MPI_File_write_at_all_begin(f, 4 * me, &x, 1, MPI_INT));
    CHECK_CLASS(MPI_File_iwrite_at_all(f, 0, &x, 1, MPI_INT, &r), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_iread_all(f, &x, 1, MPI_INT, &r), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_read_ordered(f, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_seek_shared(f, 1, MPI_SEEK_SET), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_set_size(f, 0), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_preallocate(f, 100000), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_set_atomicity(f, 1), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_sync(f), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_close(&f), MPI_ERR_IO);
    CHECK(f != MPI_FILE_NULL);
    OK(MPI_File_iread_at(f, 4 * me, &x, 1, MPI_INT, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_File_set_info(f, MPI_INFO_NULL));
    OK(MPI_File_write_at_all_end(f, &x, MPI_STATUS_IGNORE));
    OK(MPI_File_get_atomicity(f, &flag));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(flag == 0 && size_of(f) == 4 * size);
    OK(MPI_File_close(&f));
}

/* Ranks that set a view from the shared pointer agree where that is, also while one of them still writes. */
static void current_place(void)
{
    enum { ROUNDS = 40, EACH_ROUND = 20 };
    char all[(EACH_ROUND + 1) * ROUNDS + 1];
    MPI_File f = open_file(MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL);
    MPI_Status st;
    int n = 0, first = 0, last = 0;

    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; me == 0 && k < EACH_ROUND; k++) {
            OK(MPI_File_write_shared(f, "A", 1, MPI_CHAR, MPI_STATUS_IGNORE));
        }
        OK(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
        if (me == size - 1) {
            OK(MPI_File_write_shared(f, "b", 1, MPI_CHAR, MPI_STATUS_IGNORE));
        }
    }
    if (size > 1) {
        MPI_Offset disp = me == 0 ? 0 : MPI_DISPLACEMENT_CURRENT;
        CHECK_CLASS(MPI_File_set_view(f, disp, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL), MPI_ERR_DISP);
    }
    OK(MPI_File_close(&f));
    f = open_file(MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_read_at(f, 0, all, sizeof all, MPI_CHAR, &st));
    MPI_Get_count(&st, MPI_CHAR, &n);
    CHECK_EQ(n, (EACH_ROUND + 1) * ROUNDS);
    for (int i = 0; i < n; i++) {
        first += all[i] == 'A';
        last += all[i] == 'b';
    }
    CHECK(first == EACH_ROUND * ROUNDS && last == ROUNDS);
    OK(MPI_File_close(&f));
}

/* ---- Error handlers ---- */

static int calls, last_code;
static MPI_File last_file, closing = MPI_FILE_NULL;
static void note(MPI_File *file, int *code, ...)
{
    calls++;
    last_file = *file;
    last_code = class_of(*code);
    if (*file != MPI_FILE_NULL && *file == closing) {
        MPI_File again = *file;
        CHECK_CLASS(MPI_File_close(&again), MPI_ERR_FILE);
    }
}

static void handlers(void)
{
    MPI_Errhandler own, got, comm_own;
    MPI_File f;
    int x = 0;

    OK(MPI_File_create_errhandler(note, &own));
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, own));
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f),
                MPI_ERR_NO_SUCH_FILE);
    CHECK(calls == 1 && last_file == MPI_FILE_NULL && last_code == MPI_ERR_NO_SUCH_FILE);
    f = open_file(MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE); /* inherits it */
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_File_read(f, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    CHECK(calls == 2 && last_file == f && last_code == MPI_ERR_ACCESS);
    OK(MPI_File_get_errhandler(f, &got));
    CHECK(got == own);
    MPI_Errhandler_free(&got);
    OK(MPI_File_call_errhandler(f, MPI_ERR_IO));
    CHECK(calls == 3 && last_code == MPI_ERR_IO);
    MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)note, &comm_own);
    OK(MPI_File_set_errhandler(f, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_File_set_errhandler(f, comm_own), MPI_ERR_ERRHANDLER);
    MPI_Errhandler_free(&comm_own);
    OK(MPI_File_close(&f));
    CHECK_EQ(calls, 3);
    /* What the close meets is the file's, too. */
    f = open_file(MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    closing = f;
    OK(MPI_File_set_errhandler(f, own));
    MPI_Errhandler_free(&own);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(me != 0 || unlink(name) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_close(&f), MPI_ERR_NO_SUCH_FILE);
    CHECK(f == MPI_FILE_NULL && calls == 4 && last_file == closing && last_code == MPI_ERR_NO_SUCH_FILE);
}

/* ---- What the system refuses ---- */

/* A nonblocking access reports to its file's handler, not to a communicator's. */
static void full_disk(void)
{
    MPI_File f;
    MPI_Request r;
    MPI_Status st;
    int n = 1 << 20;
    char *buf = calloc(1, (size_t)n), words[MPI_MAX_ERROR_STRING];

    if (access("/dev/full", W_OK) != 0) {
        free(buf);
        return;
    }
    OK(MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &f));
    int code = MPI_File_write_at(f, 5, buf, n, MPI_BYTE, &st);
    CHECK_CLASS(code, MPI_ERR_NO_SPACE);
    MPI_Error_string(code, words, &n);
    CHECK(strstr(words, "/dev/full") != NULL && strstr(words, "1048576 bytes at byte 5") != NULL);
    OK(MPI_File_iwrite_at(f, 0, buf, 1 << 20, MPI_BYTE, &r));
    code = MPI_Wait(&r, &st);
    CHECK_CLASS(code, MPI_ERR_NO_SPACE);
    MPI_Error_string(code, words, &n);
    CHECK(strstr(words, "/dev/full") != NULL);
    CHECK(r == MPI_REQUEST_NULL);
    OK(MPI_File_close(&f));
    OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &f));
    CHECK_CLASS(MPI_File_write_all(f, buf, me == 0 ? 100 : 0, MPI_BYTE, &st), MPI_ERR_NO_SPACE);
    OK(MPI_File_close(&f));
    free(buf);
}

/* ulimit -f: an error with what was written until there, no signal. */
static void limited(void)
{
    struct rlimit old, small;
    MPI_File f;
    MPI_Status st;
    int n = 0;
    char *buf = calloc(1, 300000);

    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){200000, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    f = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    CHECK_CLASS(MPI_File_write_at(f, 0, buf, 300000, MPI_BYTE, &st), MPI_ERR_QUOTA);
    MPI_Get_count(&st, MPI_BYTE, &n);
    CHECK_EQ(n, 200000);
    CHECK_CLASS(MPI_File_set_size(f, 300000), MPI_ERR_QUOTA);
    CHECK_CLASS(MPI_File_preallocate(f, 300000), MPI_ERR_QUOTA);
    CHECK_EQ(size_of(f), 200000);
    OK(MPI_File_close(&f));
    setrlimit(RLIMIT_FSIZE, &old);
    free(buf);
}

static void sizes(void)
{
    MPI_File f = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_Status st;
    char buf[64];
    int n = -1, big = 1 << 20;

    OK(MPI_File_set_size(f, 100));
    CHECK_EQ(size_of(f), 100);
    OK(MPI_File_preallocate(f, 50));
    CHECK_EQ(size_of(f), 100);
    OK(MPI_File_preallocate(f, big));
    CHECK_EQ(size_of(f), big);
    OK(MPI_File_set_size(f, 10));
    /* Reading over the end counts what is there; past it nothing, and that is no error. */
    OK(MPI_File_read_at(f, 4, buf, 64, MPI_BYTE, &st));
    MPI_Get_count(&st, MPI_BYTE, &n);
    CHECK_EQ(n, 6);
    OK(MPI_File_read_at(f, 4, buf, 16, MPI_INT, &st));
    MPI_Get_count(&st, MPI_INT, &n);
    CHECK_EQ(n, MPI_UNDEFINED);
    OK(MPI_File_read_at_all(f, 1000, buf, 64, MPI_BYTE, &st));
    MPI_Get_count(&st, MPI_BYTE, &n);
    CHECK_EQ(n, 0);
    OK(MPI_File_sync(f));
    OK(MPI_File_close(&f));
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        struct stat s;
        CHECK(stat(name, &s) == 0 && s.st_size == 10);
        OK(MPI_File_delete(name, MPI_INFO_NULL));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void hints(void)
{
    MPI_Info info, got;
    MPI_File f;
    struct stat s;
    char value[MPI_MAX_INFO_VAL];
    int flag, len = sizeof value;
    mode_t mask = umask(0);

    MPI_Info_create(&info);
    MPI_Info_set(info, "file_perm", "640");
    MPI_Info_set(info, "cb_nodes", "3");
    MPI_Info_set(info, "nobody_knows", "1");
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &f));
    MPI_Info_set(info, "access_style", "read_once");
    OK(MPI_File_set_info(f, info));
    OK(MPI_File_get_info(f, &got));
    MPI_Info_get_string(got, "cb_nodes", &len, value, &flag);
    CHECK(flag && strcmp(value, "3") == 0);
    len = sizeof value;
    MPI_Info_get_string(got, "access_style", &len, value, &flag);
    CHECK(flag && strcmp(value, "read_once") == 0);
    len = sizeof value;
    MPI_Info_get_string(got, "filename", &len, value, &flag);
    CHECK(flag && strcmp(value, name) == 0);
    len = sizeof value;
    MPI_Info_get_string(got, "nobody_knows", &len, value, &flag);
    CHECK(!flag);
    CHECK(stat(name, &s) == 0 && (s.st_mode & 0777) == 0640);
    MPI_Info_free(&info);
    MPI_Info_free(&got);
    OK(MPI_File_close(&f));
    umask(mask);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        OK(MPI_File_delete(name, MPI_INFO_NULL));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* In atomic mode an access of many spans is seen whole or not at all, blocking or not. */
static void whole_or_not(void)
{
    enum { N = 300, TIMES = 60 };
    MPI_File f = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Datatype holes;
    MPI_Request r;
    int32_t x[N] = {0};

    MPI_Type_vector(N, 1, 3, MPI_INT32_T, &holes);
    MPI_Type_commit(&holes);
    OK(MPI_File_set_view(f, 0, MPI_INT32_T, holes, "native", MPI_INFO_NULL));
    OK(MPI_File_set_atomicity(f, !unlocked));
    OK(MPI_File_write_at_all(f, 0, x, N, MPI_INT32_T, MPI_STATUS_IGNORE));
    for (int i = 0; i < TIMES; i++) {
        for (int k = 0; k < N; k++) {
            x[k] = TIMES * me + i;
        }
        if (i % 2 == 0) {
            OK(MPI_File_write_at(f, 0, x, N, MPI_INT32_T, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_File_iwrite_at(f, 0, x, N, MPI_INT32_T, &r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
        OK(MPI_File_read_at(f, 0, x, N, MPI_INT32_T, MPI_STATUS_IGNORE));
        for (int k = 1; k < N; k++) {
            CHECK_EQ(x[k], x[0]);
        }
    }
    MPI_Type_free(&holes);
    OK(MPI_File_close(&f));
}

/* Nobody waits for an access whose request was freed but MPI_File_close. */
static void freed_requests(void)
{
    int n = 4 << 20, got = 0;
    char *buf = malloc((size_t)n);
    MPI_File f = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_Request r;
    MPI_Status st;

    memset(buf, 7 + me, (size_t)n);
    OK(MPI_File_iwrite_at(f, (MPI_Offset)n * me, buf, n, MPI_BYTE, &r));
    OK(MPI_Request_free(&r));
    OK(MPI_File_close(&f));
    f = open_file(MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
    memset(buf, 0, (size_t)n);
    OK(MPI_File_iread_at_all(f, (MPI_Offset)n * me, buf, n, MPI_BYTE, &r));
    OK(MPI_Wait(&r, &st));
    MPI_Get_count(&st, MPI_BYTE, &got);
    CHECK_EQ(got, n);
    for (int i = 0; i < n; i += 4095) {
        CHECK_EQ(buf[i], 7 + me);
    }
    OK(MPI_File_close(&f));
    free(buf);
}

/* Other threads of a rank add to the same pointers; each place is used once. */
#define THREADS 4
#define EACH 50
static MPI_File common;

static void *write_some(void *arg)
{
    MPI_Request r;
    for (int i = 0; i < EACH; i++) {
        int32_t x = 1000 * (THREADS * me + (int)(intptr_t)arg) + i;
        if (i % 2 == 0) {
            OK(MPI_File_write_shared(common, &x, 1, MPI_INT32_T, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_File_iwrite_shared(common, &x, 1, MPI_INT32_T, &r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
    }
    return NULL;
}

static void threads(int atomic)
{
    int total = size * THREADS * EACH, n = 0;
    int32_t *all = malloc((size_t)total * sizeof *all);
    char *seen = calloc((size_t)size * THREADS, 1000);
    MPI_Status st;

    common = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_set_view(common, 8, MPI_INT32_T, MPI_INT32_T, "native", MPI_INFO_NULL));
    OK(MPI_File_set_atomicity(common, atomic));
    test_threads(THREADS, write_some);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_read_at_all(common, 0, all, total + 1, MPI_INT32_T, &st));
    MPI_Get_count(&st, MPI_INT32_T, &n);
    CHECK_EQ(n, total);
    for (int i = 0; i < total; i++) {
        CHECK(all[i] >= 0 && all[i] < size * THREADS * 1000 && !seen[all[i]]);
        seen[all[i]] = 1;
    }
    OK(MPI_File_close(&common));
    free(all);
    free(seen);
}

int main(int argc, char **argv)
{
    unlocked = argc > 1 && strcmp(argv[1], "unlocked") == 0;
    io_start("io-calls");
    modes();
    one_fails();
    directions();
    wrong_arguments();
    refused_places();
    split();
    current_place();
    handlers();
    full_disk();
    limited();
    sizes();
    hints();
    whole_or_not();
    freed_requests();
    threads(0);
    threads(1);
    MPI_Finalize();
    return 0;
}
