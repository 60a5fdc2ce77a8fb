/* usage: p2p_pressure MIB LIMIT: MIB of messages that nobody receives yet, with HOTLANE_UNEX_MEM=LIMIT MiB.
 * The receiver's memory stays bounded, the wanted message comes though it is the last, and all others are
 * whole and in order; blocking sends wait, one that the receiver wants does not; afterwards messages are
 * eager again. */
#include "../process.h"
#include "mpi_test.h"

#define BYTES 4096
#define HEADER 200 /* memory for a message whose payload stayed with its sender */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OTHER_KIB (512 << 10) /* what was freed is kept for a while */
#else
#define OTHER_KIB (16 << 10) /* what else may come into memory meanwhile */
#endif

static long limit_kib;

static long resident(void)
{
    return number_in("/proc/self/status", "VmRSS:");
}

static void check_memory(long before, long messages)
{
    long grown = resident() - before,
         bound = limit_kib + limit_kib / 4 + messages * HEADER / 1024 + OTHER_KIB;
    if (grown > bound) {
        fprintf(stderr, "%ld KiB more after %ld messages, at most %ld were expected\n", grown, messages,
                bound);
    }
    CHECK(grown <= bound);
}

static int length_of(int i)
{
    return i % 16 == 3 ? 0 : BYTES - i % 7;
}

/* Communicators take different ports, each with 17 MB of the provider's buffers: all of them now, so that
 * what grows later are messages. */
static void warm(void)
{
    int v = 0, w = 0;
    for (int i = 0; i < 64; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Sendrecv(&v, 1, MPI_INT, 1 - me, 1, &w, 1, MPI_INT, 1 - me, 1, comm, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
    }
}

/* All of them at once, the wanted one last. */
static void flood(int n)
{
    static unsigned char buf[BYTES];
    int last = 0;
    if (me == 0) {
        MPI_Request *req = malloc((size_t)(n + 1) * sizeof(*req));
        test_fill(buf, BYTES, 1);
        for (int i = 0; i < n; i++) {
            MPI_Isend(buf, length_of(i), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &req[i]);
        }
        last = 77;
        MPI_Isend(&last, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &req[n]);
        MPI_Waitall(n + 1, req, MPI_STATUSES_IGNORE);
        free(req);
    } else if (me == 1) {
        long before = resident();
        MPI_Recv(&last, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(last, 77);
        check_memory(before, n);
        for (int i = 0; i < n; i++) {
            MPI_Status st;
            int got = -1;
            MPI_Recv(buf, BYTES, MPI_BYTE, i % 2 == 0 ? MPI_ANY_SOURCE : 0, 1, MPI_COMM_WORLD, &st);
            MPI_Get_count(&st, MPI_BYTE, &got);
            CHECK_EQ(got, length_of(i));
            test_verify(buf, (size_t)got, 1);
        }
    }
}

/* Blocking sends of several threads, until a message tells the receiver that one of them had to wait. */
#define THREADS 3

static int each;

static void *send_all(void *arg)
{
    int t = (int)(intptr_t)arg;
    unsigned char *buf = malloc(BYTES);
    test_fill(buf, BYTES, t);
    for (int i = 0; me == 0 && i < each; i++) {
        MPI_Send(buf, BYTES, MPI_BYTE, 1, t, MPI_COMM_WORLD);
    }
    free(buf);
    return NULL;
}

static void blocking(int n)
{
    each = n / THREADS;
    if (me == 0) {
        test_threads(THREADS, send_all);
        return;
    }
    unsigned char *buf = malloc(BYTES);
    long before = resident();
    double end = MPI_Wtime() + 0.3;
    int found = 0;
    while (MPI_Wtime() < end) { /* looks for what nobody sends: progress without a receive */
        MPI_Iprobe(0, 99, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        CHECK(!found);
    }
    check_memory(before, THREADS);
    for (int i = 0; i < each; i++) {
        for (int t = THREADS - 1; t >= 0; t--) {
            MPI_Recv(buf, BYTES, MPI_BYTE, 0, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            test_verify(buf, BYTES, t);
        }
    }
    free(buf);
}

/* With the memory free again a send needs no receive. */
static void eager_again(void)
{
    int v = 5, w = 0;
    MPI_Sendrecv(&v, 1, MPI_INT, 1 - me, 2, &w, 1, MPI_INT, 1 - me, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; me == 0 && i < 10; i++) {
        MPI_Send(&v, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    }
    MPI_Sendrecv(&v, 1, MPI_INT, 1 - me, 2, &w, 1, MPI_INT, 1 - me, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; me == 1 && i < 10; i++) {
        MPI_Recv(&w, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(w, 5);
    }
}

int main(int argc, char **argv)
{
    long mib = argc > 1 ? atol(argv[1]) : 64;
    char text[32];
    limit_kib = (argc > 2 ? atol(argv[2]) : 4) << 10;
    snprintf(text, sizeof(text), "%ldM", limit_kib >> 10);
    setenv("HOTLANE_UNEX_MEM", text, 1);
    test_start(2);
    int n = (int)(mib << 20 >> 12);
    if (me < 2) {
        warm();
        flood(n);
        blocking(n);
        eager_again();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
