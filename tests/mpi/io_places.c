/* Places in files: what has none is refused when it is opened; where a view ends whose regions overlap. */
#define _XOPEN_SOURCE 700 /* posix_openpt */
#include "io_test.h"

#include <fcntl.h>
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

int main(void)
{
    io_start("io-places");
    without_places();
    overlapping();
    MPI_Finalize();
    return 0;
}
