/* Puts that are under way to memory which their target detaches: an error of that window's flush, now or at
 * the call, and nothing else: what follows succeeds, to that target and to others. usage: rma_stale THREADS
 * TURNS BYTES (of each put to memory that goes) */
#include "rma.h"

#include <pthread.h>
#include <unistd.h>

enum { PUTS = 100, SUMS = 20, THREADS = 64 };

static int threads, turns, met;
static size_t bytes;
static MPI_Win stale, good; /* good: [origin's thread][PUTS], a sum */
static MPI_Aint gone;       /* what the target takes back */
static char *out;
static int turn_now;

static int is_error(int code)
{
    int class = class_of(code);
    return class == MPI_ERR_RMA_RANGE || class == MPI_ERR_PROC_ABORTED || class == MPI_ERR_OTHER;
}

/* Under way while the target detaches: fails, or was early enough. */
static void *put_stale(void *number)
{
    size_t at = (size_t)(long)number * bytes;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < 4 && rc == MPI_SUCCESS; i++) {
        rc = MPI_Put(out, (int)bytes, MPI_BYTE, 1, gone + (MPI_Aint)at, (int)bytes, MPI_BYTE, stale);
    }
    CHECK(rc == MPI_SUCCESS || class_of(rc) == MPI_ERR_RMA_RANGE, "put: class %d", class_of(rc));
    rc = MPI_Win_flush(1, stale);
    CHECK(rc == MPI_SUCCESS || is_error(rc), "flush: class %d", class_of(rc));
    __sync_fetch_and_add(&met, rc != MPI_SUCCESS);
    return NULL;
}

/* Each once, although the connection is a new one. */
static void add(int target)
{
    long one = 1, before[SUMS];
    for (int i = 0; i < SUMS; i++) {
        MPI_Fetch_and_op(&one, &before[i], MPI_LONG, target, threads * PUTS, MPI_SUM, good);
    }
    int rc = MPI_Win_flush(target, good);
    CHECK(rc == MPI_SUCCESS, "turn %d: sums at %d: class %d", turn_now, target, class_of(rc));
}

static void *put_good(void *number)
{
    long value[PUTS], got[PUTS];
    int t = (int)(long)number;
    for (int target = 1; target < ranks; target++) {
        add(target);
        for (int i = 0; i < PUTS; i++) {
            value[i] = turn_now * 1000 + t * PUTS + i;
            int rc = MPI_Put(&value[i], 1, MPI_LONG, target, t * PUTS + i, 1, MPI_LONG, good);
            CHECK(rc == MPI_SUCCESS, "put %d to %d: class %d", i, target, class_of(rc));
            if (i % 10 == 0) {
                rc = MPI_Win_flush(target, good);
                CHECK(rc == MPI_SUCCESS, "turn %d: flush after %d to %d: class %d", turn_now, i, target,
                      class_of(rc));
            }
        }
        int rc = MPI_Win_flush(target, good);
        CHECK(rc == MPI_SUCCESS, "turn %d: flush of %d: class %d", turn_now, target, class_of(rc));
        memset(got, 0, sizeof got);
        MPI_Get(got, PUTS, MPI_LONG, target, t * PUTS, PUTS, MPI_LONG, good);
        rc = MPI_Win_flush(target, good);
        CHECK(rc == MPI_SUCCESS && memcmp(got, value, sizeof got) == 0,
              "turn %d: read back from %d: class %d", turn_now, target, class_of(rc));
    }
    return NULL;
}

static void in_threads(void *(*fn)(void *))
{
    pthread_t t[THREADS];
    for (long i = 0; i < threads; i++) {
        pthread_create(&t[i], NULL, fn, (void *)i);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(t[i], NULL);
    }
}

static void origin(void)
{
    long one = 1;
    MPI_Recv(&gone, 1, MPI_AINT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Put(&one, 1, MPI_LONG, 1, gone, 1, MPI_LONG, stale); /* known from now on */
    MPI_Win_flush(1, stale);
    MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    in_threads(put_stale);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_flush_all(stale); /* who flushes first gets an error of all threads: none is left */
    in_threads(put_good);
}

static void target(void)
{
    char *memory = calloc((size_t)threads, bytes);
    MPI_Get_address(memory, &gone);
    MPI_Win_attach(stale, memory, (MPI_Aint)bytes * threads);
    MPI_Send(&gone, 1, MPI_AINT, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep((useconds_t)(turn_now % 5) * 200);
    CHECK(MPI_Win_detach(stale, memory) == MPI_SUCCESS, "detach");
    MPI_Barrier(MPI_COMM_WORLD);
    free(memory);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    threads = argc > 1 ? atoi(argv[1]) : 1;
    turns = argc > 2 ? atoi(argv[2]) : 20;
    bytes = argc > 3 ? (size_t)atol(argv[3]) : 64;
    long *base;
    out = calloc(1, bytes);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &stale);
    MPI_Win_allocate((MPI_Aint)sizeof(long) * (threads * PUTS + 1), sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &base, &good);
    MPI_Win_set_errhandler(stale, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(good, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, stale);
    MPI_Win_lock_all(0, good);
    for (turn_now = 0; turn_now < turns; turn_now++) {
        if (me == 0) {
            origin();
        } else if (me == 1) {
            target();
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(me == 0 || base[threads * PUTS] == (long)turns * threads * SUMS, "sum %ld", base[threads * PUTS]);
    MPI_Win_unlock_all(good);
    MPI_Win_unlock_all(stale);
    MPI_Win_free(&good);
    MPI_Win_free(&stale);
    if (me == 0) {
        printf("%d flushes met memory that was gone\n", met);
        /* a card that has memory locked writes there also when the program has given it back */
        CHECK(bytes < 1000000 || met > 0 || getenv("TEST_LOCKED") != NULL,
              "large puts are under way for long");
    }
    free(out);
    return finish_checks("rma_stale");
}
