/* What sending and receiving a message on the node executes, counted exactly (trace.h). Plain MPI, so that
 * the same program runs on any library. Rank 1 sends and receives as rank 0 asks in memory of their own: rank
 * 0's steps meet messages that are there, and a peer that does not sleep. Prints the lines of steps.c. x86-64
 * only. Exit code 77: cannot trace here. */
#include <mpi.h>

#include "trace.h"

#include <fcntl.h>
#include <sched.h>

#define WINDOW 16 /* others have no room for more before the receiver looks */
#define BYTES 1024

/* Counts of what rank 0 wants and rank 1 did. */
static struct talk {
    int wanted[2], given[2]; /* messages to rank 0: empty, of BYTES */
    int sent[2], taken[2];   /* and from it */
    int over;
} * talk;

static char block[BYTES];
static int peer = 1, nobody = MPI_PROC_NULL;
static MPI_Request requests[WINDOW];

static int get(const int *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void add(int *word, int by)
{
    __atomic_store_n(word, *word + by, __ATOMIC_RELEASE);
}

/* ---- rank 0 ---- */

static void ask(int which, int n)
{
    add(&talk->wanted[which], n);
    while (get(&talk->given[which]) != talk->wanted[which]) {
        sched_yield();
    }
}
static void ask_empty(void)
{
    ask(0, 1);
}
static void ask_full(void)
{
    ask(1, 1);
}
static void ask_window(void)
{
    ask(0, WINDOW);
}
/* All that was sent is received: others may have to push it now. */
static void settle(void)
{
    for (int i = 0; i < 2; i++) {
        while (get(&talk->taken[i]) != talk->sent[i]) {
            int flag;
            MPI_Iprobe(peer, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            sched_yield();
        }
    }
}

static void call_send(void)
{
    MPI_Send(block, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    add(&talk->sent[0], 1);
}
static void call_recv(void)
{
    MPI_Recv(block, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void call_isend(void)
{
    MPI_Isend(block, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    add(&talk->sent[0], 1);
}
static void call_irecv(void)
{
    MPI_Irecv(block, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}
static void call_isends(void)
{
    for (int i = 0; i < WINDOW; i++) {
        MPI_Isend(block, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    add(&talk->sent[0], WINDOW);
}
static void call_irecvs(void)
{
    for (int i = 0; i < WINDOW; i++) {
        MPI_Irecv(block, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
}
static void call_send_full(void)
{
    MPI_Send(block, BYTES, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    add(&talk->sent[1], 1);
}
static void call_recv_full(void)
{
    MPI_Recv(block, BYTES, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void call_send_null(void)
{
    MPI_Send(block, 0, MPI_BYTE, nobody, 0, MPI_COMM_WORLD);
}
static void call_recv_null(void)
{
    MPI_Recv(block, 0, MPI_BYTE, nobody, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void call_isend_null(void)
{
    MPI_Isend(block, 0, MPI_BYTE, nobody, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}
static void call_iprobe(void)
{
    int flag;
    MPI_Iprobe(peer, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}
static void call_matched(void)
{
    MPI_Message message;
    MPI_Mprobe(peer, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(block, 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}

static void measure_all(void)
{
    trace_begin(settle);
    show("send", call_nothing, call_send);
    show("recv", ask_empty, call_recv);
    show("isend", call_nothing, call_isend);
    show("irecv", ask_empty, call_irecv);
    show("isend_window", call_nothing, call_isends);
    show("irecv_window", ask_window, call_irecvs);
    show("send_1k", call_nothing, call_send_full);
    show("recv_1k", ask_full, call_recv_full);
    show("matched", ask_empty, call_matched);
    show("iprobe", call_nothing, call_iprobe);
    show("send_null", call_nothing, call_send_null);
    show("isend_null", call_nothing, call_isend_null);
    show("recv_null", call_nothing, call_recv_null);
}

/* ---- rank 1 ---- */

static void serve(void)
{
    while (get(&talk->over) == 0) {
        for (int i = 0; i < 2; i++) {
            while (get(&talk->wanted[i]) != talk->given[i]) {
                MPI_Send(block, i * BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD);
                add(&talk->given[i], 1);
            }
            while (get(&talk->sent[i]) != talk->taken[i]) {
                MPI_Recv(block, i * BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                add(&talk->taken[i], 1);
            }
        }
        sched_yield();
    }
}

/* One page that both map, found through rank 0's open descriptors. */
static void meet(int me)
{
    int where[2] = {(int)getpid(), me == 0 ? memfd_create("talk", 0) : -1};
    char path[64];

    MPI_Bcast(where, 2, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", where[0], where[1]);
    int fd = me == 0 ? where[1] : open(path, O_RDWR);
    if (fd < 0 || (me == 0 && ftruncate(fd, 4096) != 0)) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    talk = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    close(fd);
}

int main(int argc, char **argv)
{
    int me, provided;
    pid_t child = trace_fork();

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    meet(me);
    if (me == 0) {
        measure_all();
        add(&talk->over, 1);
    } else if (me == 1) {
        serve();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    trace_end(child);
    return 0;
}
