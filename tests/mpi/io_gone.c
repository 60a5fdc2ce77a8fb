/* MPI_MODE_DELETE_ON_CLOSE deletes the file that was opened, whatever its name means when it is closed. */
#include "io_test.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

static MPI_File open_file(const char *file)
{
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, file, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &f));
    return f;
}

/* Rank 0 changes what is there for all. */
static void make(const char *file)
{
    int fd = open(file, O_CREAT | O_EXCL | O_WRONLY, 0600);
    CHECK(fd >= 0);
    close(fd);
}

static bool is_there(const char *file)
{
    MPI_Barrier(MPI_COMM_WORLD);
    bool found = access(file, F_OK) == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    return found;
}

/* Ranks stand in a/ and go to b/, where another file has the same name. */
static void elsewhere(void)
{
    CHECK_EQ(chdir("a"), 0);
    MPI_File f = open_file("x.dat");
    CHECK_EQ(chdir("../b"), 0);
    if (me == 0) {
        make("x.dat");
    }
    CHECK(is_there("../a/x.dat"));
    OK(MPI_File_close(&f));
    CHECK(is_there("x.dat"));
    CHECK(!is_there("../a/x.dat"));
    CHECK_EQ(chdir(".."), 0);
}

/* By another way to the same file. */
static void by_link(void)
{
    if (me == 0) {
        CHECK_EQ(symlink("a", "link"), 0);
    }
    CHECK(is_there("link"));
    MPI_File f = open_file("link/x.dat");
    CHECK(is_there("a/x.dat"));
    if (me == 0) {
        CHECK_EQ(unlink("link"), 0);
        CHECK_EQ(symlink("b", "link"), 0);
    }
    CHECK(is_there("link/x.dat"));
    OK(MPI_File_close(&f));
    CHECK(is_there("b/x.dat"));
    CHECK(!is_there("a/x.dat"));
}

/* Another file has its place, or none. */
static void replaced(void)
{
    MPI_File f = open_file("a/x.dat");

    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        CHECK_EQ(rename("b/x.dat", "a/x.dat"), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_close(&f), MPI_ERR_NO_SUCH_FILE);
    CHECK(f == MPI_FILE_NULL && is_there("a/x.dat"));
    f = open_file("a/x.dat");
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        CHECK_EQ(unlink("a/x.dat"), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_close(&f), MPI_ERR_NO_SUCH_FILE);
}

int main(void)
{
    char home[PATH_MAX];

    io_start("io-gone");
    CHECK(getcwd(home, sizeof home) != NULL);
    if (me == 0) {
        CHECK_EQ(mkdir(name, 0700), 0);
        CHECK_EQ(chdir(name), 0);
        CHECK(mkdir("a", 0700) == 0 && mkdir("b", 0700) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(me == 0 || chdir(name) == 0);
    elsewhere();
    by_link();
    replaced();
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        CHECK(unlink("link") == 0 && rmdir("a") == 0 && rmdir("b") == 0);
    }
    CHECK_EQ(chdir(home), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(me != 0 || rmdir(name) == 0);
    MPI_Finalize();
    return 0;
}
