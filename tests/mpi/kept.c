/* What the library keeps for a program does not grow with what the program has done: buffered copies behind
 * one that nobody receives, receives from any source behind one that stays open, freed communicators with a
 * handler of their own. And who has sent many short messages need not wait for their receiver. */
#include "mpi_test.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define TIMES 20000
#define PARTS 4
#define LITTLE ((size_t)64 << 10) /* bytes */

static int other;

/* Bytes that malloc has given out. */
static size_t held(void)
{
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

/* What PARTS times `part` adds to that, in the least of them: a connection is made once, what is kept for
 * calls grows in all. */
static size_t growth(void (*part)(void))
{
    size_t least = SIZE_MAX;
    for (int i = 0; i < PARTS; i++) {
        size_t before = held();
        part();
        size_t after = held(), grown = after > before ? after - before : 0;
        least = grown < least ? grown : least;
    }
    return least;
}

static void handshake(void)
{
    int word = 0;
    if (me == 0) {
        MPI_Recv(&word, 1, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(&word, 1, MPI_INT, other, 3, MPI_COMM_WORLD);
    }
}

enum { FIRST = 1 << 20, BYTES = 4096 };
static char copy[FIRST];

static void send_copies(void)
{
    for (int i = 0; i < TIMES / 8 / PARTS; i++) {
        if (me == 0) {
            MPI_Bsend(copy, BYTES, MPI_CHAR, other, 2, MPI_COMM_WORLD);
        } else {
            MPI_Recv(copy, BYTES, MPI_CHAR, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        handshake();
    }
}

/* Rank 0 sends copies that rank 1 takes, but for the first one. */
static void buffered(void)
{
    MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, 0);
    if (me == 0) {
        MPI_Bsend(copy, FIRST, MPI_CHAR, other, 1, MPI_COMM_WORLD);
    }
    CHECK(growth(send_copies) < 16 * LITTLE);
    if (me == 1) {
        MPI_Recv(copy, FIRST, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    void *gone;
    int bytes;
    MPI_Comm_detach_buffer(MPI_COMM_WORLD, &gone, &bytes);
}

static void receive_from_any(void)
{
    int word = 0;
    for (int i = 0; i < TIMES / PARTS; i++) {
        if (me == 0) {
            MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&word, 1, MPI_INT, other, 5, MPI_COMM_WORLD);
        } else {
            MPI_Send(&word, 1, MPI_INT, other, 4, MPI_COMM_WORLD);
            MPI_Recv(&word, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* Rank 0 receives from any source, with one such receive open all the time. */
static void any_source(void)
{
    int stop = 0;
    MPI_Request open = MPI_REQUEST_NULL;
    if (me == 0) {
        MPI_Irecv(&stop, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &open);
    }
    CHECK(growth(receive_from_any) < LITTLE);
    if (me == 1) {
        MPI_Send(&stop, 1, MPI_INT, other, 9, MPI_COMM_WORLD);
    }
    MPI_Wait(&open, MPI_STATUS_IGNORE);
}

static void free_communicators(void)
{
    for (int i = 0; i < TIMES / PARTS; i++) {
        MPI_Comm c;
        if (i % 2 == 0) {
            MPI_Comm_dup(MPI_COMM_SELF, &c);
        } else {
            MPI_Comm_split(MPI_COMM_SELF, 0, 0, &c);
        }
        MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
        MPI_Comm_free(&c);
    }
}

/* Both send first: more and longer messages than there are cells for. */
static void head_to_head(int n, int bytes, bool blocking)
{
    char *data = malloc((size_t)bytes);
    MPI_Request *r = malloc((size_t)n * sizeof(*r));
    for (int i = 0; i < n; i++) {
        memset(data, i & 127, (size_t)bytes);
        if (blocking) {
            MPI_Send(data, bytes, MPI_CHAR, other, i, MPI_COMM_WORLD);
        } else {
            MPI_Isend(data, bytes, MPI_CHAR, other, i, MPI_COMM_WORLD, &r[i]);
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        }
    }
    for (int i = n; i-- > 0;) {
        MPI_Recv(data, bytes, MPI_CHAR, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(data[0] == (i & 127) && data[bytes - 1] == (i & 127));
    }
    free(r);
    free(data);
}

int main(void)
{
    test_start(2);
    other = 1 - me;
    head_to_head(300, 33, true);
    head_to_head(1000, 4000, true);
    head_to_head(200, 8192, false);
    any_source();
    buffered();
    CHECK(growth(free_communicators) < LITTLE);
    MPI_Finalize();
    return 0;
}
