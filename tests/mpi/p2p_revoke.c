/* Sends that are cancelled after they left: they end, and were either received or never seen. Large and
 * synchronous ones, persistent ones, one of several of a tag, matched ones; threads that cancel while others
 * receive. usage: p2p_revoke PAIRS ROUNDS */
#include "mpi_test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE 300000

static int partner, rounds;
static char *out;

static bool was_cancelled(MPI_Request *r)
{
    MPI_Status st;
    int flag = -1;
    MPI_Wait(r, &st);
    MPI_Test_cancelled(&st, &flag);
    return flag != 0;
}

/* Looked at without a wait. */
static bool is_over(MPI_Request r)
{
    int flag = 0;
    MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
}

static bool waits(int tag)
{
    int flag;
    MPI_Iprobe(partner, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
}

/* Both have read all that the other one sent before. */
static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A message that nobody receives, and, where `seen`, one that the other rank has found before. */
static void unmatched(int bytes, bool seen)
{
    MPI_Request r;
    MPI_Issend(out, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &r);
    if (seen) {
        MPI_Probe(partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        meet();
    }
    MPI_Cancel(&r);
    CHECK(partner != me || is_over(r));
    MPI_Cancel(&r); /* once more does nothing */
    CHECK(was_cancelled(&r));
    meet();
    CHECK(!waits(1));
    meet();
}

/* The second of three of a tag. */
static void middle(void)
{
    MPI_Request r[3];
    char *in = malloc(LARGE);
    for (int i = 0; i < 3; i++) {
        out[i] = (char)(i + 1);
        MPI_Isend(out + i, LARGE, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &r[i]);
    }
    MPI_Cancel(&r[1]);
    CHECK(was_cancelled(&r[1]));
    meet();
    for (int i = 0; i < 3; i += 2) {
        MPI_Recv(in, LARGE, MPI_BYTE, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(in[0], i + 1);
        CHECK(!was_cancelled(&r[i]));
    }
    CHECK(!waits(2));
    meet();
    free(in);
}

/* What is matched, if only by a matched probe, arrives. */
static void matched(bool probe)
{
    MPI_Request r, from;
    MPI_Message message;
    char *in = calloc(1, LARGE);
    memset(out, 7, LARGE);
    if (!probe) {
        MPI_Irecv(in, LARGE, MPI_BYTE, partner, 3, MPI_COMM_WORLD, &from);
        meet();
    }
    MPI_Isend(out, LARGE, MPI_BYTE, partner, 3, MPI_COMM_WORLD, &r);
    if (probe) {
        MPI_Mprobe(partner, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        meet();
    }
    MPI_Cancel(&r);
    if (probe) {
        MPI_Imrecv(in, LARGE, MPI_BYTE, &message, &from);
    }
    MPI_Wait(&from, MPI_STATUS_IGNORE);
    CHECK(in[0] == 7 && memcmp(in, in + 1, LARGE - 1) == 0);
    CHECK(!was_cancelled(&r));
    meet();
    free(in);
}

static void again(void)
{
    MPI_Request r;
    int value = 0, got = 0;
    MPI_Ssend_init(&value, 1, MPI_INT, partner, 4, MPI_COMM_WORLD, &r);
    for (int i = 1; i < 4; i++) {
        value = i;
        MPI_Start(&r);
        MPI_Cancel(&r);
        CHECK(was_cancelled(&r));
        meet();
        value = 10 * i;
        MPI_Start(&r);
        MPI_Recv(&got, 1, MPI_INT, partner, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(got, 10 * i);
        CHECK(!was_cancelled(&r));
    }
    MPI_Request_free(&r);
    meet();
}

/* ---- Threads: half of them send, the others receive ---- */

static void send_some(int tag)
{
    int left = 0;
    unsigned seed = (unsigned)(tag * 977 + me);
    char *data = malloc(LARGE);
    for (int i = 0; i < rounds; i++) {
        MPI_Request r;
        bool large = rand_r(&seed) % 2 == 0;
        memcpy(data, &i, sizeof i);
        if (large) {
            MPI_Isend(data, LARGE, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &r);
        } else {
            MPI_Issend(data, sizeof i, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &r);
        }
        if (rand_r(&seed) % 4 == 0) {
            usleep((useconds_t)rand_r(&seed) % 200);
        }
        MPI_Cancel(&r);
        left += !was_cancelled(&r);
    }
    MPI_Send(&left, 1, MPI_INT, partner, 1000 + tag, MPI_COMM_WORLD);
    free(data);
}

static void receive_some(int tag)
{
    int total = -1, got = 0, last = -1, value = 0;
    unsigned seed = (unsigned)(tag * 131 + me);
    char *in = malloc(LARGE);
    while (got != total) {
        MPI_Message message;
        int flag = 0;
        MPI_Improbe(partner, tag, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
        if (flag) {
            MPI_Mrecv(in, LARGE, MPI_BYTE, &message, MPI_STATUS_IGNORE);
            memcpy(&value, in, sizeof value);
            CHECK(value > last);
            last = value;
            got++;
        } else if (total < 0 && waits(1000 + tag)) {
            MPI_Recv(&total, 1, MPI_INT, partner, 1000 + tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rand_r(&seed) % 2 == 0) {
            usleep((useconds_t)rand_r(&seed) % 200);
        }
        CHECK(total < 0 || got <= total);
    }
    free(in);
}

static void *work(void *arg)
{
    int i = (int)(intptr_t)arg;
    if (i % 2 == 0) {
        send_some(100 + i / 2);
    } else {
        receive_some(100 + i / 2);
    }
    return NULL;
}

/* Who cancels his receive and posts it again and again has the message in the end. */
static void receive_in_small_steps(int source)
{
    MPI_Request s, r;
    int in = -1;
    MPI_Isend(&me, 1, MPI_INT, partner, 7, MPI_COMM_WORLD, &s);
    do {
        MPI_Irecv(&in, 1, MPI_INT, source, 7, MPI_COMM_WORLD, &r);
        MPI_Cancel(&r);
    } while (was_cancelled(&r));
    CHECK_EQ(in, partner);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    meet();
}

int main(int argc, char **argv)
{
    test_start(1);
    int pairs = argc > 1 ? atoi(argv[1]) : 8;
    rounds = argc > 2 ? atoi(argv[2]) : 200;
    partner = size > 1 ? me ^ 1 : me;
    out = calloc(1, LARGE + 2);
    for (int bytes = 0; bytes <= LARGE; bytes = bytes == 0 ? 100 : bytes * 54 + 700) {
        unmatched(bytes, false);
        unmatched(bytes, true);
    }
    middle();
    matched(false);
    matched(true);
    again();
    receive_in_small_steps(partner);
    receive_in_small_steps(MPI_ANY_SOURCE);
    test_threads(2 * pairs, work);
    meet();
    CHECK(!waits(MPI_ANY_TAG));
    free(out);
    MPI_Finalize();
    return 0;
}
