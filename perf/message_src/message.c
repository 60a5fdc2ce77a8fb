/* Figures of messages between two ranks (perf/message). Plain MPI; ranks 0 and 1 speak. Prints one number.
 *
 *   rate THREADS MS        million empty messages/s, windows of 64, one communicator
 *   null THREADS MS        million sends to MPI_PROC_NULL/s, of rank 0
 *   latency BYTES MS       ns one way
 *   bandwidth BYTES MS     GB/s of messages out of plain memory
 *   window BYTES MS        the same out of memory of a window
 *   unexpected COUNT       ns of a message that waits with COUNT others, from its sending to its receipt
 *   memcpy BYTES MS        GB/s of a copy by rank 0
 *   socket BYTES MS        GB/s of a TCP stream by loopback */
#include <arpa/inet.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WINDOW 64
#define BATCH 1000
#define THREADS_MAX 64
#define STOP 30000 /* tag of the sender's last message */

static int me, threads, milliseconds;
static size_t bytes;
static char *out, *in;
static double per_thread[THREADS_MAX];

static int bad(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
}

static int over(double since)
{
    return (MPI_Wtime() - since) * 1e3 >= milliseconds;
}

/* ---- Rates ---- */

/* The sender says in each window's first message whether it is the last one. */
static void *rate_thread(void *arg)
{
    int t = (int)(intptr_t)arg, last = 0;
    long n = 0;
    char word;
    MPI_Request r[WINDOW];
    double begin = MPI_Wtime();
    while (!last) {
        last = me == 0 && over(begin);
        if (me == 0) {
            MPI_Send(&word, last, MPI_BYTE, 1, t, MPI_COMM_WORLD);
        } else {
            MPI_Status st;
            MPI_Recv(&word, 1, MPI_BYTE, 0, t, MPI_COMM_WORLD, &st);
            MPI_Get_count(&st, MPI_BYTE, &last);
        }
        for (int i = 0; i < WINDOW; i++) {
            if (me == 0) {
                MPI_Isend(&word, 0, MPI_BYTE, 1, t, MPI_COMM_WORLD, &r[i]);
            } else {
                MPI_Irecv(&word, 0, MPI_BYTE, 0, t, MPI_COMM_WORLD, &r[i]);
            }
        }
        MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE);
        n += WINDOW + 1;
    }
    per_thread[t] = (double)n / (MPI_Wtime() - begin);
    return NULL;
}

static void *null_thread(void *arg)
{
    int t = (int)(intptr_t)arg;
    long n = 0;
    char word = 0;
    double begin = MPI_Wtime();
    do {
        for (int i = 0; i < BATCH; i++) {
            MPI_Send(&word, 0, MPI_BYTE, MPI_PROC_NULL, t, MPI_COMM_WORLD);
        }
        n += BATCH;
    } while (!over(begin));
    per_thread[t] = (double)n / (MPI_Wtime() - begin);
    return NULL;
}

static double in_threads(void *(*fn)(void *))
{
    pthread_t thread[THREADS_MAX];
    double sum = 0;
    for (int t = 0; t < threads; t++) {
        pthread_create(&thread[t], NULL, fn, (void *)(intptr_t)t);
    }
    for (int t = 0; t < threads; t++) {
        pthread_join(thread[t], NULL);
        sum += per_thread[t];
    }
    return sum / 1e6;
}

/* ---- Times ---- */

static double latency(void)
{
    double begin = MPI_Wtime(), best = 1e9;
    int go = 1, n = (int)bytes;
    while (go) {
        double t = MPI_Wtime();
        for (int i = 0; i < BATCH; i++) {
            if (me == 0) {
                MPI_Send(out, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(in, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(in, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(out, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
        }
        t = (MPI_Wtime() - t) / BATCH / 2 * 1e9;
        best = t < best ? t : best;
        go = !over(begin);
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return best;
}

/* Eight messages on their way, then a word back. The first turn, which connects, does not count. */
static double bandwidth(void)
{
    enum { FLYING = 8 };
    double begin = MPI_Wtime(), sum = 0;
    int go = 1, turn = 0;
    MPI_Request r[FLYING];
    while (go) {
        for (int i = 0; i < FLYING; i++) {
            if (me == 0) {
                MPI_Isend(out + (size_t)i * bytes, (int)bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD, &r[i]);
            } else {
                MPI_Irecv(in + (size_t)i * bytes, (int)bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, &r[i]);
            }
        }
        MPI_Waitall(FLYING, r, MPI_STATUSES_IGNORE);
        if (me == 0) {
            MPI_Recv(&go, 1, MPI_INT, 1, STOP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            go = !over(begin);
            MPI_Send(&go, 1, MPI_INT, 0, STOP, MPI_COMM_WORLD);
        }
        begin = turn == 0 ? MPI_Wtime() : begin;
        sum += turn++ == 0 ? 0 : (double)bytes * FLYING;
    }
    return sum / (MPI_Wtime() - begin) / 1e9;
}

static double unexpected(long count)
{
    char word = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (long i = 0; me == 0 && i < count; i++) {
        MPI_Send(&word, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    }
    if (me == 0) {
        MPI_Send(&word, 0, MPI_BYTE, 1, STOP, MPI_COMM_WORLD);
    } else if (me == 1) {
        MPI_Recv(&word, 0, MPI_BYTE, 0, STOP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (long i = 0; me == 1 && i < count; i++) {
        MPI_Recv(&word, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) / (double)count * 1e9;
}

/* ---- What the machine can do ---- */

static double copy(void)
{
    double begin = MPI_Wtime(), sum = 0;
    do {
        for (size_t i = 0; i < 8; i++) {
            memcpy(in + i * bytes, out + i * bytes, bytes);
            __asm__ volatile("" ::: "memory");
        }
        sum += 8 * (double)bytes;
    } while (!over(begin));
    return sum / (MPI_Wtime() - begin) / 1e9;
}

static int connect_ranks(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof to;
    int s = socket(AF_INET, SOCK_STREAM, 0), port = 0;
    if (me == 1 && (bind(s, (struct sockaddr *)&to, len) != 0 || listen(s, 1) != 0 ||
                    getsockname(s, (struct sockaddr *)&to, &len) != 0)) {
        bad("socket");
    }
    port = to.sin_port;
    MPI_Bcast(&port, 1, MPI_INT, 1, MPI_COMM_WORLD);
    to.sin_port = (in_port_t)port;
    if (me == 1) {
        return accept(s, NULL, NULL);
    }
    return connect(s, (struct sockaddr *)&to, sizeof to) == 0 ? s : -1;
}

static double stream(void)
{
    int s = connect_ranks();
    double begin = MPI_Wtime(), sum = 0;
    ssize_t n = 1;
    if (s < 0) {
        bad("connect");
    }
    while (n > 0 && !(me == 0 && over(begin))) {
        n = me == 0 ? write(s, out, bytes) : read(s, in, bytes);
        sum += n > 0 ? (double)n : 0;
    }
    close(s);
    MPI_Barrier(MPI_COMM_WORLD);
    return sum / (MPI_Wtime() - begin) / 1e9;
}

static double run(const char *what)
{
    if (strcmp(what, "rate") == 0) {
        return in_threads(rate_thread);
    }
    if (strcmp(what, "null") == 0) {
        return me == 0 ? in_threads(null_thread) : 0;
    }
    if (strcmp(what, "latency") == 0) {
        return latency();
    }
    if (strcmp(what, "unexpected") == 0) {
        unexpected(BATCH);
        return unexpected((long)bytes);
    }
    if (strcmp(what, "memcpy") == 0) {
        return me == 0 ? copy() : 0;
    }
    return strcmp(what, "socket") == 0 ? stream() : bandwidth();
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc < 4 || atoi(argv[3]) <= 0) {
        fprintf(stderr,
                "usage: %s rate|null|latency|bandwidth|window|unexpected|memcpy|socket N MILLISECONDS\n",
                argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const char *what = argv[1];
    long n = atol(argv[2]);
    milliseconds = atoi(argv[3]);
    threads = n < THREADS_MAX ? (int)n : THREADS_MAX;
    bytes = (size_t)n;
    size_t room = strcmp(what, "unexpected") == 0 ? 64 : 8 * bytes + 64;
    if (strcmp(what, "window") == 0) {
        MPI_Win_allocate((MPI_Aint)room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &out, &win);
    } else {
        out = malloc(room);
    }
    in = malloc(room);
    memset(out, 1, room);
    memset(in, 2, room);
    MPI_Barrier(MPI_COMM_WORLD);
    double result = run(what);
    if (me == 0) {
        printf("result %.4f\n", result);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (win != MPI_WIN_NULL) {
        MPI_Win_free(&win);
    } else {
        free(out);
    }
    free(in);
    MPI_Finalize();
    return 0;
}
