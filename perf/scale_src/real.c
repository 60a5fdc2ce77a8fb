/* What perf/scale measures on this machine: the constants of a message between ranks 0 and 1, and the operations that it plays.
 * usage: real [CALLS]; rank 0 prints NAME MICROSECONDS of the slowest rank, the least of all: the model has no
 * other work on the machine either.
 * usage: real fences [CALLS]: a fence of the launcher, by PMI-1, and nothing of MPI. */
#include <hotlane.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 64, BLOCK = 1024, LONG = 65536, HALO = 4096, AROUND = 9, ROW = 10 };

static int rank, ranks, calls;
static char *block[2];
static char *base;
static MPI_Win win;

static void ping(int bytes)
{
    if (rank < 2) {
        int peer = 1 - rank;
        if (rank == 0) {
            MPI_Send(block[0], bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        }
        MPI_Recv(block[1], bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) {
            MPI_Send(block[0], bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        }
    }
}

static void ping_empty(void)
{
    ping(8);
}

static void ping_long(void)
{
    ping(LONG);
}

static void batch(void)
{
    MPI_Request all[BATCH];
    for (int i = 0; rank < 2 && i < BATCH; i++) {
        if (rank == 0) {
            MPI_Isend(block[0], 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &all[i]);
        } else {
            MPI_Irecv(block[1], 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &all[i]);
        }
    }
    if (rank < 2) {
        MPI_Waitall(BATCH, all, MPI_STATUSES_IGNORE);
    }
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(void)
{
    int mine = rank, all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
}

static void alltoall(void)
{
    MPI_Alltoall(block[0], 8, MPI_BYTE, block[1], 8, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall_long(void)
{
    MPI_Alltoall(block[0], BLOCK, MPI_BYTE, block[1], BLOCK, MPI_BYTE, MPI_COMM_WORLD);
}

static void fence(void)
{
    MPI_Win_fence(0, win);
}

static void put_flush(void)
{
    if (rank == 0) {
        MPI_Put(block[0], 8, MPI_BYTE, ranks - 1, 0, 8, MPI_BYTE, win);
        MPI_Win_flush(ranks - 1, win);
    }
}

static void alone(void)
{
    MPI_Barrier(MPI_COMM_SELF);
}

static void copy_long(void)
{
    memcpy(block[0], block[1], LONG);
}

/* ---- eight neighbours of a torus, as perf/scale plays them ---- */

static int neighbour(int d)
{
    int wide = 1;
    for (int w = 1; w * w <= ranks; w++) {
        wide = ranks % w == 0 ? ranks / w : wide;
    }
    int high = ranks / wide, x = (rank % wide + d % 3 - 1 + wide) % wide,
        y = (rank / wide + d / 3 - 1 + high) % high;
    return y * wide + x;
}

static void halo(void)
{
    static uint64_t step; /* flags lie behind the blocks */
    step++;
    for (int d = 0; d < AROUND; d++) {
        if (neighbour(d) != rank) {
            MPI_Put(block[0], HALO, MPI_BYTE, neighbour(d), d * HALO, HALO, MPI_BYTE, win);
        }
    }
    MPI_Win_flush_all(win);
    for (int d = 0; d < AROUND; d++) {
        if (neighbour(d) != rank) {
            MPIX_Put_notify(NULL, 0, MPI_BYTE, neighbour(d), 0, 0, MPI_BYTE, AROUND * HALO + 8 * d, step,
                            win);
        }
    }
    for (int d = 0; d < AROUND; d++) {
        if (neighbour(AROUND - 1 - d) != rank) {
            MPIX_Win_flag_wait(AROUND * HALO + 8 * d, MPIX_CMP_GE, step, NULL, win);
        }
    }
}

static void make(void)
{
    MPI_Win_allocate(AROUND * (HALO + 8), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
}

static void drop(void)
{
    MPI_Win_free(&win);
}

/* `row` calls one after the other, so that it counts little who begins first; `before` and `after` them, if any, are not counted. */
static void measure_between(const char *name, void (*before)(void), void (*call)(void), void (*after)(void),
                            int times, int row, double share)
{
    double *took = calloc((size_t)times, sizeof *took), *all = calloc((size_t)times, sizeof *all);
    for (int i = 0; i < times; i++) {
        if (before != NULL) {
            before();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        for (int k = 0; k < row; k++) {
            call();
        }
        took[i] = (MPI_Wtime() - begin) / row;
        if (after != NULL) {
            after();
        }
    }
    MPI_Allreduce(took, all, times, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    double least = all[0];
    for (int i = 1; i < times; i++) {
        least = all[i] < least ? all[i] : least;
    }
    if (rank == 0) {
        printf("%s %.6g\n", name, least * 1e6 * share);
        fflush(stdout);
    }
    free(took);
    free(all);
}

static void measure(const char *name, void (*call)(void), double share)
{
    measure_between(name, NULL, call, NULL, calls / ROW + 1, ROW, share);
}

/* ---- the launcher ---- */

static void say(int fd, const char *line)
{
    char answer[4096];
    if (write(fd, line, strlen(line)) != (ssize_t)strlen(line) || read(fd, answer, sizeof answer) <= 0) {
        fprintf(stderr, "scale-real: the launcher does not answer %s", line);
        exit(1);
    }
}

static int fences(int times)
{
    const char *fd = getenv("PMI_FD"), *me = getenv("PMI_RANK");
    struct timespec begin, end;
    if (fd == NULL || me == NULL) {
        fprintf(stderr, "scale-real: no launcher that speaks PMI-1\n");
        return 1;
    }
    say(atoi(fd), "cmd=init pmi_version=1 pmi_subversion=1\n");
    say(atoi(fd), "cmd=barrier_in\n");
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < times; i++) {
        say(atoi(fd), "cmd=barrier_in\n");
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    say(atoi(fd), "cmd=finalize\n");
    if (atoi(me) == 0) {
        printf("launcher %.4f\n",
               ((double)(end.tv_sec - begin.tv_sec) * 1e6 + (double)(end.tv_nsec - begin.tv_nsec) * 1e-3) /
                   times);
    }
    return 0;
}

static void measure_all(void)
{
    if (ranks > 1) {
        measure("half", ping_empty, 0.5);
        measure("long", ping_long, 0.5);
        measure("each", batch, 1.0 / BATCH);
    }
    measure("call", alone, 1);
    measure("copy", copy_long, 1.0 / LONG);
    measure("barrier", barrier, 1);
    measure("allreduce", allreduce, 1);
    measure("alltoall", alltoall, 1);
    measure("alltoall-1KiB", alltoall_long, 1);
    measure_between("allocate", NULL, make, drop, calls / 20 + 1, 1, 1);
    measure_between("free", make, drop, NULL, calls / 20 + 1, 1, 1);
    make();
    measure("fence", fence, 1);
    drop();
    make();
    MPI_Win_lock_all(0, win);
    measure("put", put_flush, 1);
    measure("halo", halo, 1);
    MPI_Win_unlock_all(win);
    drop();
}

int main(int argc, char **argv)
{
    int provided;
    if (argc > 1 && strcmp(argv[1], "fences") == 0) {
        return fences(argc > 2 ? atoi(argv[2]) : 100);
    }
    calls = argc > 1 ? atoi(argv[1]) : 1000;
    double begin = MPI_Wtime();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    double started = (MPI_Wtime() - begin) * 1e6, longest;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 2; i++) {
        block[i] = calloc((size_t)ranks * BLOCK + LONG, 1);
    }
    MPI_Allreduce(&started, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("start %.1f\n", longest);
    }
    measure_all();
    MPI_Finalize();
    return 0;
}
