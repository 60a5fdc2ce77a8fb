/* MPI and OpenSHMEM by threads of one rank, to the rank itself: on the node, as to any of its peers. */
#include "coherence.h"

#include "prog.h"

#include <mpi.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

/* A thread's own lines: what it sends, and at this offset what it receives. */
#define LINE 128
#define OWN ((size_t)2 * LINE)
#define BATCH 128 /* puts for each flush */

static MPI_Win win;
static char *mine;
static long *symmetric;
static MPI_Comm *comms; /* of each thread, or of each pair of them */

static void open_mpi(int threads)
{
    int provided;
    char *base;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    hl_prog_crowd(1, threads); /* a machine that has a CPU for each */
    MPI_Win_allocate((MPI_Aint)threads * LINE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, (size_t)threads * LINE);
    MPI_Win_lock_all(0, win);
    mine = aligned_alloc(LINE, (size_t)threads * OWN);
    memset(mine, 0, (size_t)threads * OWN);
}

static void open_comms(int threads)
{
    open_mpi(threads);
    comms = calloc((size_t)threads, sizeof *comms);
    for (int i = 0; i < threads; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
}

static void open_shmem(int threads)
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    hl_prog_crowd(1, threads);
    symmetric = shmem_align(LINE, (size_t)threads * LINE);
    memset(symmetric, 0, (size_t)threads * LINE);
}

static char *sent(int thread)
{
    return mine + (size_t)thread * OWN;
}

static long *word(int thread)
{
    return symmetric + (size_t)thread * (LINE / sizeof(long));
}

static void put(int thread)
{
    MPI_Put(sent(thread), 1, MPI_INT64_T, 0, (MPI_Aint)thread * LINE, 1, MPI_INT64_T, win);
}

static void get(int thread)
{
    MPI_Get(sent(thread) + LINE, 1, MPI_INT64_T, 0, (MPI_Aint)thread * LINE, 1, MPI_INT64_T, win);
}

static void flush(int thread)
{
    (void)thread;
    MPI_Win_flush(0, win);
}

static void put_flush(int thread)
{
    put(thread);
    flush(thread);
}

static void burst(int thread)
{
    for (int i = 0; i < BATCH; i++) {
        put(thread);
    }
    flush(thread);
}

static void fetch_own(int thread)
{
    MPI_Fetch_and_op(sent(thread), sent(thread) + LINE, MPI_INT64_T, 0, (MPI_Aint)thread * LINE, MPI_SUM,
                     win);
    flush(thread);
}

static void fetch_shared(int thread)
{
    MPI_Fetch_and_op(sent(thread), sent(thread) + LINE, MPI_INT64_T, 0, 0, MPI_SUM, win);
    flush(thread);
}

static void rput_wait(int thread)
{
    MPI_Request r;
    MPI_Rput(sent(thread), 1, MPI_INT64_T, 0, (MPI_Aint)thread * LINE, 1, MPI_INT64_T, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void p_word(int thread)
{
    shmem_long_p(word(thread), 1, 0);
}

static void g_word(int thread)
{
    (void)shmem_long_g(word(thread), 0);
}

static void add_word(int thread)
{
    (void)shmem_long_atomic_fetch_add(word(thread), 1, 0);
}

static void p_quiet(int thread)
{
    p_word(thread);
    shmem_quiet();
}

static void exchange(int count, int tag, MPI_Comm comm, int thread)
{
    MPI_Request r[2];
    MPI_Irecv(sent(thread) + LINE, count, MPI_INT64_T, 0, tag, comm, &r[0]);
    MPI_Isend(sent(thread), count, MPI_INT64_T, 0, tag, comm, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void message(int thread)
{
    exchange(1, thread, MPI_COMM_WORLD, thread);
}

static void message_own(int thread)
{
    exchange(0, 0, comms[thread], thread);
}

/* From each thread of even number to the next one, by a communicator of the two. */
static void message_pair(int thread)
{
    if (thread % 2 == 0) {
        MPI_Send(sent(thread), 0, MPI_BYTE, 0, 0, comms[thread]);
    } else {
        MPI_Recv(sent(thread), 0, MPI_BYTE, 0, 0, comms[thread - 1], MPI_STATUS_IGNORE);
    }
}

const struct coherence_call coherence_near[] = {{"put", 1, open_mpi, put, NULL},
                                                {"get", 1, open_mpi, get, NULL},
                                                {"flush", 1, open_mpi, flush, NULL},
                                                {"put_flush", 1, open_mpi, put_flush, NULL},
                                                {"near_hot", BATCH, open_mpi, burst, NULL},
                                                {"near_global", BATCH, open_mpi, burst, GLOBAL},
                                                {"near_enqueue", BATCH, open_mpi, burst, ENQUEUE},
                                                {"near_object", BATCH, open_mpi, burst, OBJECT},
                                                {"fetch_own", 1, open_mpi, fetch_own, NULL},
                                                {"fetch_shared", 1, open_mpi, fetch_shared, NULL},
                                                {"rput_wait", 1, open_mpi, rput_wait, NULL},
                                                {"shmem_p", 1, open_shmem, p_word, NULL},
                                                {"shmem_g", 1, open_shmem, g_word, NULL},
                                                {"shmem_add_own", 1, open_shmem, add_word, NULL},
                                                {"shmem_p_quiet", 1, open_shmem, p_quiet, NULL},
                                                {"message", 1, open_mpi, message, NULL},
                                                {"message_own", 1, open_comms, message_own, NULL},
                                                {"message_pair", 0.5, open_comms, message_pair, NULL},
                                                {NULL, 0, NULL, NULL, NULL}};
