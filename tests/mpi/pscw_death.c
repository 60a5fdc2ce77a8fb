/* Rank 1 of 3 dies while the others wait for it in an epoch by groups: they get an error that names it.
 * usage: mpiexec --keep-going -n 3 pscw_death wait|start|complete|given-up|late|post; each survivor prints "told",
 * and in scene "late" nothing is wrong: the one that dies has completed its epoch. */
#include "rma.h"

#include <unistd.h>

static MPI_Win win;
static long *base;

static MPI_Group group_of(int a, int b)
{
    MPI_Group all, group;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, b < 0 ? 1 : 2, (int[]){a, b}, &group);
    MPI_Group_free(&all);
    return group;
}

/* A post after the death begins all the same: the wait tells of it, and then nothing is open. */
static int post_to_the_dead(int other)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int posted = MPI_Win_post(group_of(1, other), 0, win);
    MPI_Win_start(group_of(other, -1), 0, win);
    MPI_Win_complete(win);
    int told = MPI_Win_wait(win), again = MPI_Win_post(group_of(other, -1), 0, win);
    MPI_Win_start(group_of(other, -1), 0, win);
    MPI_Win_complete(win);
    int last = MPI_Win_wait(win);
    return posted == MPI_SUCCESS && again == MPI_SUCCESS && last == MPI_SUCCESS ? told : MPI_ERR_OTHER;
}

/* The call whose error this rank waits for; `other` is the other survivor. */
static int survive(const char *scene, int other)
{
    static long value = 1;
    if (strcmp(scene, "post") == 0) {
        return post_to_the_dead(other);
    }
    if (strcmp(scene, "wait") == 0) {
        MPI_Win_post(group_of(1, other), 0, win);
        MPI_Win_start(group_of(other, -1), 0, win);
        MPI_Win_complete(win);
        return MPI_Win_wait(win);
    }
    if (strcmp(scene, "start") == 0) {
        MPI_Win_post(group_of(other, -1), 0, win);
        return MPI_Win_start(group_of(1, other), 0, win);
    }
    if (strcmp(scene, "complete") == 0) {
        MPI_Win_start(group_of(1, -1), 0, win);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD); /* its post has come: now it may die */
        usleep(300000);
        int code = MPI_Put(&value, 1, MPI_LONG, 1, me, 1, MPI_LONG, win), last = MPI_Win_complete(win);
        return code != MPI_SUCCESS ? code : last;
    }
    if (strcmp(scene, "late") == 0 && me == 0) { /* an origin dies, another goes on for long */
        MPI_Win_post(group_of(1, 2), 0, win);
        int code = MPI_Win_wait(win);
        MPI_Recv(NULL, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* it has completed */
        return base[2] == 1 && base[1] == 1 ? code : MPI_ERR_OTHER;
    }
    if (strcmp(scene, "late") == 0) {
        MPI_Win_start(group_of(0, -1), 0, win);
        usleep(1000000);
        MPI_Put(&value, 1, MPI_LONG, 0, me, 1, MPI_LONG, win);
        int code = MPI_Win_complete(win);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        return code;
    }
    /* Rank 0 cannot start: rank 2, whose memory it wanted too, must not wait for it. */
    if (me == 0) {
        return MPI_Win_start(group_of(1, 2), 0, win);
    }
    MPI_Win_post(group_of(0, -1), 0, win);
    return MPI_Win_wait(win);
}

static void die(const char *scene)
{
    if (strcmp(scene, "complete") == 0) {
        MPI_Win_post(group_of(0, 2), 0, win);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(NULL, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(scene, "late") == 0) {
        static long value = 1;
        MPI_Win_start(group_of(0, -1), 0, win);
        MPI_Put(&value, 1, MPI_LONG, 0, me, 1, MPI_LONG, win);
        MPI_Win_complete(win);
    }
    usleep(100000);
    _exit(0);
}

int main(int argc, char **argv)
{
    int len, wanted = strcmp(argv[1], "late") == 0 ? MPI_SUCCESS : MPI_ERR_PROC_ABORTED;
    char words[MPI_MAX_ERROR_STRING];
    begin(&argc, &argv);
    MPI_Win_allocate(3 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        die(argv[1]);
    }
    double start = MPI_Wtime();
    int code = survive(argv[1], 2 - me);
    MPI_Error_string(code, words, &len);
    printf("%s after %.1f s: %s\n", class_of(code) == wanted ? "told" : "wrong", MPI_Wtime() - start, words);
    fflush(stdout);
    _exit(0);
}
