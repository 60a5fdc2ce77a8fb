/* Rank 1 dies while a window, a file or an intercommunicator is made: the others are all told, or all
 * succeed, by that one call, and can send each other messages afterwards. usage: mpiexec --keep-going -n
 * RANKS make_death WHAT MICROSECONDS FOLDER; each survivor prints "told" or "made". */
#include "death.h"

static MPI_Comm half = MPI_COMM_NULL; /* of an intercommunicator */

static int make(const char *what, const char *folder)
{
    static char memory[4096], name[4096];
    MPI_Win win;
    MPI_File file;
    void *base;
    if (half != MPI_COMM_NULL) { /* between groups, each of which gets it or not */
        MPI_Comm inter;
        int leads = me < size / 2 ? 0 : size / 2;
        return MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, size / 2 - leads, 9, &inter);
    }
    if (strcmp(what, "create") == 0) {
        return MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    if (strcmp(what, "allocate") == 0) {
        return MPI_Win_allocate(sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    }
    if (strcmp(what, "shared") == 0) {
        return MPI_Win_allocate_shared(sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    }
    if (strcmp(what, "dynamic") == 0) {
        return MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    snprintf(name, sizeof name, "%s/file", folder);
    return MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
}

int main(int argc, char **argv)
{
    pthread_t killer;
    int class;
    test_start(3);
    CHECK(argc == 4);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    if (strcmp(argv[1], "inter") == 0) {
        MPI_Comm_split(MPI_COMM_WORLD, me < size / 2, me, &half);
        MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    }
    if (me == 1) {
        pthread_create(&killer, NULL, die, argv[2]);
    }
    MPI_Error_class(make(argv[1], argv[3]), &class);
    if (me == 1) {
        pthread_join(killer, NULL);
    }
    printf("%s\n", class == MPI_ERR_PROC_ABORTED ? "told" : class == MPI_SUCCESS ? "made" : "wrong");
    fflush(stdout);
    meet(2, size - 1);
    _exit(0);
}
