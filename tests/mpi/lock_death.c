/* Rank 2 of 4 dies with a window's lock of rank 0, or while it waits for it: who asks for the lock before or
 * after that gets an error that names it, or the lock where it is free for him.
 * usage: mpiexec --keep-going -n 4 lock_death KEPT ASKED before|after, each of exclusive|shared|queued and
 * exclusive|shared|all; rank 1 and the holder of what is not kept print "told" or "got". */
#include "rma.h"

#include <unistd.h>

#define DEAD 2

static MPI_Win win;
static int token;

static int type_of(const char *word)
{
    return strcmp(word, "shared") == 0 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
}

/* Rank 3 holds the lock that rank 2 dies waiting for, and leaves it after the death. */
static void hold(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, DEAD, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* its death */
    usleep(200000);
    MPI_Win_unlock(0, win);
}

static void die(const char *kept)
{
    if (strcmp(kept, "queued") != 0) {
        MPI_Win_lock(type_of(kept), 0, 0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(1); /* kills, whatever it does */
    if (strcmp(kept, "queued") == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    }
    pause();
}

/* What a lock, and an operation under it, says. */
static int ask(const char *asked)
{
    long one = 1;
    int code;
    if (strcmp(asked, "all") != 0) {
        code = MPI_Win_lock(type_of(asked), 0, 0, win);
        return code != MPI_SUCCESS ? code : MPI_Win_unlock(0, win);
    }
    code = MPI_Win_lock_all(0, win);
    if (code != MPI_SUCCESS) {
        return code;
    }
    code = MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win); /* takes the lock, where lock_all did not */
    MPI_Win_unlock_all(win);
    return code;
}

static void survive(const char *asked, const char *when)
{
    char words[MPI_MAX_ERROR_STRING];
    int len;
    if (strcmp(when, "after") == 0) {
        MPI_Recv(&token, 1, MPI_INT, DEAD, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(500000); /* rank 0 knows by now */
    } else if (strcmp(when, "before") == 0) {
        usleep(100000); /* behind who is queued */
    }
    for (int i = 0; i < 2; i++) { /* and again */
        int code = ask(asked);
        MPI_Error_string(code, words, &len);
        printf("%s: %s\n",
               code == MPI_SUCCESS                      ? "got"
               : class_of(code) == MPI_ERR_PROC_ABORTED ? "told"
                                                        : "wrong",
               words);
    }
}

int main(int argc, char **argv)
{
    long *base;
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (me == 3 && strcmp(argv[1], "queued") == 0) {
        hold();
    } else if (me == DEAD) {
        die(argv[1]);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == 1) {
            survive(argv[2], argv[3]);
            MPI_Send(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        } else if (me == 0) {
            MPI_Recv(&token, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&token, 1, MPI_INT, 3, 2, MPI_COMM_WORLD);
        }
    }
    if (me == 3) {
        MPI_Recv(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    fflush(stdout);
    _exit(0);
}
