/* Places in files: what has none is refused when it is opened; where a view ends whose regions overlap; views
 * whose tiles interleave. */
#define _XOPEN_SOURCE 700 /* posix_openpt */
#include "io_test.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>

static void check_refused(const char *path, const char *what)
{
    static const int modes[] = {MPI_MODE_RDONLY, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL,
                                MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_MODE_RDWR | MPI_MODE_CREATE};
    char words[MPI_MAX_ERROR_STRING];
    MPI_File f;
    int n;

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        int code = MPI_File_open(MPI_COMM_WORLD, path, modes[i], MPI_INFO_NULL, &f);
        CHECK_CLASS(code, MPI_ERR_UNSUPPORTED_OPERATION);
        MPI_Error_string(code, words, &n);
        CHECK(strstr(words, what) != NULL && strstr(words, "MPI_MODE_SEQUENTIAL") != NULL);
    }
}

static void without_places(void)
{
    char path[64] = "";
    int terminal = -1;

    if (me == 0) {
        CHECK_EQ(mkfifo(name, 0600), 0);
        terminal = posix_openpt(O_RDWR | O_NOCTTY);
        if (terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0) {
            snprintf(path, sizeof path, "%s", ptsname(terminal));
        }
    }
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    check_refused(name, "a pipe");
    if (*path != '\0') {
        check_refused(path, "a terminal");
    }
    if (me == 0) {
        unlink(name);
        close(terminal);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Offset end_of_view(MPI_File f, MPI_Offset disp, MPI_Datatype filetype)
{
    MPI_Offset at = -1;
    OK(MPI_File_set_view(f, disp, MPI_INT, filetype, "native", MPI_INFO_NULL));
    OK(MPI_File_seek(f, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(f, &at));
    return at;
}

static void overlapping(void)
{
    MPI_Datatype twice, still, late;
    MPI_File f;

    MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){0, 0}, MPI_INT, &twice);
    MPI_Type_create_resized(MPI_INT, 0, 0, &still);
    MPI_Type_create_hindexed_block(3, 1, (MPI_Aint[]){8, 8, 12}, MPI_INT, &late);
    MPI_Type_commit(&twice);
    MPI_Type_commit(&still);
    MPI_Type_commit(&late);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
    OK(MPI_File_set_size(f, 16));
    OK(MPI_File_close(&f));
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
    CHECK_EQ(end_of_view(f, 0, MPI_INT), 4);
    CHECK_EQ(end_of_view(f, 15, MPI_INT), 1);
    CHECK_EQ(end_of_view(f, 16, MPI_INT), 0);
    CHECK_EQ(end_of_view(f, 0, twice), 8);
    CHECK_EQ(end_of_view(f, 13, twice), 2);
    CHECK_EQ(end_of_view(f, 0, still), 1);
    CHECK_EQ(end_of_view(f, 16, still), 0);
    CHECK_EQ(end_of_view(f, 0, late), 3);
    CHECK_EQ(end_of_view(f, 4, late), 2);
    CHECK_EQ(end_of_view(f, 8, late), 0);
    MPI_Type_free(&twice);
    MPI_Type_free(&still);
    MPI_Type_free(&late);
    OK(MPI_File_close(&f));
}

/* ---- A matrix of 25 numbers a row: the view is its columns, two numbers each ---- */

static MPI_File columns(int amode)
{
    MPI_Datatype column, next;
    MPI_File f;

    MPI_Type_vector(2, 1, 25, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &next);
    MPI_Type_commit(&next);
    OK(MPI_File_open(MPI_COMM_SELF, name, amode, MPI_INFO_NULL, &f));
    OK(MPI_File_set_view(f, 0, MPI_INT, next, "native", MPI_INFO_NULL));
    MPI_Type_free(&column);
    MPI_Type_free(&next);
    return f;
}

/* A read ends where MPI says that the view does: at the first etype behind the end of the file. */
static void end_of_columns(void)
{
    MPI_File f = columns(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Status st;
    MPI_Offset at = -1;
    int x[60], n = 0;

    for (int i = 0; i < 50; i++) {
        x[i] = i;
    }
    OK(MPI_File_write_at(f, 0, x, 50, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_get_size(f, &at));
    CHECK_EQ(at, 200);
    OK(MPI_File_seek(f, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(f, &at));
    CHECK_EQ(at, 51); /* etype 50 begins the second row */
    OK(MPI_File_read_at(f, 0, x, 60, MPI_INT, &st));
    MPI_Get_count(&st, MPI_INT, &n);
    CHECK(n == 51 && x[49] == 49 && x[50] == 1);
    OK(MPI_File_close(&f));
}

static MPI_File atomic_file;
static atomic_int written;

static void *write_column(void *arg)
{
    int x[3] = {7, 7, 7};

    OK(MPI_File_write_at(atomic_file, *(int *)arg, x, 3, MPI_INT, MPI_STATUS_IGNORE));
    atomic_store(&written, 1);
    return NULL;
}

/* In atomic mode an access waits for whoever has locked any of its bytes: another process could write there. */
static void columns_are_locked(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 4};
    const off_t bytes[2][3] = {{0, 100, 4}, {100, 4, 104}};
    int fd = open(name, O_RDWR | O_CREAT, 0600);

    CHECK(fd >= 0);
    atomic_file = columns(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_set_atomicity(atomic_file, 1));
    for (int i = 0; i < 6; i++) {
        int from = i / 3;
        pthread_t thread;
        lock.l_start = bytes[from][i % 3];
        lock.l_type = F_WRLCK;
        CHECK_EQ(fcntl(fd, F_OFD_SETLK, &lock), 0);
        atomic_store(&written, 0);
        CHECK_EQ(pthread_create(&thread, NULL, write_column, &from), 0);
        usleep(50000);
        CHECK_EQ(atomic_load(&written), 0);
        lock.l_type = F_UNLCK;
        CHECK_EQ(fcntl(fd, F_OFD_SETLK, &lock), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
    }
    OK(MPI_File_close(&atomic_file));
    close(fd);
}

/* A refused access does not move the shared pointer, even for a moment in which other ranks use it. */
static void refused_beside_others(MPI_File f)
{
    enum { TIMES = 5000 };
    MPI_Offset at = -1;
    char x = 0;

    for (int i = 0; i < (me == size - 1 ? 10 * TIMES : TIMES); i++) {
        if (me == size - 1) {
            CHECK_CLASS(MPI_File_write_shared_c(f, &x, (MPI_Count)1 << 62, MPI_BYTE, MPI_STATUS_IGNORE),
                        MPI_ERR_ARG);
        } else {
            OK(MPI_File_write_shared(f, &x, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_position_shared(f, &at));
    CHECK_EQ(at, (MPI_Offset)TIMES * (size - 1));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranks whose data together have more bytes than can be counted. */
static void too_much_together(void)
{
    const MPI_Count most = (MPI_Count)1 << 62;
    MPI_Offset at = -1;
    MPI_File f;
    char x = 0;

    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &f));
    CHECK_CLASS(MPI_File_write_ordered_c(f, &x, most, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    OK(MPI_File_get_position_shared(f, &at));
    CHECK_EQ(at, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    refused_beside_others(f);
    OK(MPI_File_close(&f));
}

int main(void)
{
    io_start("io-places");
    without_places();
    overlapping();
    too_much_together();
    if (me == 0) {
        end_of_columns();
        columns_are_locked();
    }
    MPI_Finalize();
    return 0;
}
