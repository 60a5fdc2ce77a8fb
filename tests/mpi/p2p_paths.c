/* usage: p2p_paths copied|read|pulled: how large messages go from rank 0 to rank 1, and from all to all.
 *
 * The word is the way of a message in one block of plain memory at both ends: copied by the kernel, read over
 * the network, or asked for in pieces. Where the kernel forbids to copy, pieces are right too. Counters prove
 * each message's way. */
#include <hotlane.h>
#include <pthread.h>

#include "mpi_test.h"

#define MIB ((size_t)1 << 20)
#define ROOM (6 * MIB)
#define THREADS 4
#define EACH 12

static const char *const words[] = {"mapped", "copied", "read", "pulled"};
static const char *plain;            /* the way of plain memory */
static unsigned char *mine, *window; /* ROOM bytes each */
static MPI_Datatype stripes;         /* 64 KiB in blocks of 16 of 32 bytes */

static long long count(const char *word)
{
    char name[64];
    long long value = -1;
    snprintf(name, sizeof name, "messages_%s", word);
    CHECK_EQ(hotlane_counter(name, &value), 0);
    return value;
}

static unsigned char byte_at(size_t i, int salt)
{
    return (unsigned char)(i * 7 + i / 251 + (size_t)salt);
}

static void fill(unsigned char *p, size_t n, int salt)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = byte_at(i, salt);
    }
}

static void check_bytes(const unsigned char *p, size_t n, int salt)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != byte_at(i, salt)) {
            fprintf(stderr, "byte %zu of %zu is wrong\n", i, n);
            CHECK(0);
        }
    }
}

/* ---- One message from rank 0 to rank 1 ---- */

struct message {
    const char *what;
    unsigned char *from, *to;
    int n, room; /* counts */
    MPI_Datatype from_type, to_type;
    int sync, late, source; /* late: the receive comes after the message */
    const char *way;
};

static size_t bytes_of(int n, MPI_Datatype type)
{
    int each;
    MPI_Type_size(type, &each);
    return (size_t)n * (size_t)each;
}

static void send_it(const struct message *m, int tag)
{
    size_t n = bytes_of(m->n, m->from_type);
    unsigned char *packed = malloc(n + 1);
    int at = 0;
    fill(packed, n, tag);
    MPI_Unpack(packed, (int)n, &at, m->from, m->n, m->from_type, MPI_COMM_WORLD);
    free(packed);
    MPI_Barrier(MPI_COMM_WORLD);
    if (m->sync) {
        MPI_Ssend(m->from, m->n, m->from_type, 1, tag, MPI_COMM_WORLD);
    } else {
        MPI_Send(m->from, m->n, m->from_type, 1, tag, MPI_COMM_WORLD);
    }
}

static void receive_it(const struct message *m, int tag)
{
    size_t sent = bytes_of(m->n, m->from_type), room = bytes_of(m->room, m->to_type);
    size_t got = sent < room ? sent : room;
    long long before[4];
    MPI_Status st;
    MPI_Request r;
    int class = MPI_SUCCESS;
    memset(m->to, 0xee, ROOM);
    for (int i = 0; i < 4; i++) {
        before[i] = count(words[i]);
    }
    if (!m->late) {
        MPI_Irecv(m->to, m->room, m->to_type, m->source, tag, MPI_COMM_WORLD, &r);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (m->late) {
        MPI_Message message;
        MPI_Mprobe(m->source, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(m->to, m->room, m->to_type, &message, &r);
    }
    MPI_Error_class(MPI_Wait(&r, &st), &class);
    CHECK_EQ(class, sent > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    unsigned char *packed = malloc(got + 1);
    int at = 0;
    MPI_Pack(m->to, (int)(got / bytes_of(1, m->to_type)), m->to_type, packed, (int)got, &at, MPI_COMM_WORLD);
    check_bytes(packed, got, tag);
    free(packed);
    for (size_t i = got; m->to_type == MPI_BYTE && i < ROOM; i++) {
        CHECK_EQ(m->to[i], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        long long more = m->way != NULL && strcmp(words[i], m->way) == 0;
        if (count(words[i]) - before[i] != more) {
            fprintf(stderr, "%s: %lld went by \"%s\", expected %lld\n", m->what, count(words[i]) - before[i],
                    words[i], more);
            CHECK(0);
        }
    }
}

static void one_by_one(int near)
{
    const char *shared = near ? "mapped" : plain;
    const char *scattered = near ? plain : "pulled";
    const char *small = near ? plain : "pulled";
    const int big = (int)(5 * MIB + 3), n = (int)MIB;
    const struct message all[] = {
        {"plain", mine, mine, big, big, MPI_BYTE, MPI_BYTE, 0, 0, 0, plain},
        {"into more room", mine, mine, n, n + 9, MPI_BYTE, MPI_BYTE, 0, 0, 0, plain},
        {"any source", mine, mine, n, n, MPI_BYTE, MPI_BYTE, 0, 0, MPI_ANY_SOURCE, plain},
        {"synchronous", mine, mine, n, n, MPI_BYTE, MPI_BYTE, 1, 0, 0, plain},
        {"unexpected", mine, mine, n, n, MPI_BYTE, MPI_BYTE, 0, 1, 0, plain},
        {"truncated", mine, mine, n, n / 4, MPI_BYTE, MPI_BYTE, 0, 0, 0, plain},
        {"truncated, unexpected", mine, mine, n, n / 4, MPI_BYTE, MPI_BYTE, 0, 1, MPI_ANY_SOURCE, plain},
        {"into nothing", mine, mine, n, 0, MPI_BYTE, MPI_BYTE, 0, 0, 0, NULL},
        {"out of a window", window + 77, mine, big, big, MPI_BYTE, MPI_BYTE, 0, 0, 0, shared},
        {"out of a window, unexpected", window, mine, n, n, MPI_BYTE, MPI_BYTE, 1, 1, 0, shared},
        {"out of a window, truncated", window, mine, n, n / 2, MPI_BYTE, MPI_BYTE, 1, 1, 0, shared},
        {"between windows", window, window + 5, n, n, MPI_BYTE, MPI_BYTE, 0, 0, 0, shared},
        {"window to stripes", window, mine, n, 16, MPI_BYTE, stripes, 0, 0, 0, near ? "mapped" : "pulled"},
        {"to stripes", mine, mine, n, 16, MPI_BYTE, stripes, 0, 0, 0, scattered},
        {"from stripes", mine, mine, 16, n, stripes, MPI_BYTE, 0, 0, 0, "pulled"},
        {"stripes to fewer", mine, mine, 16, 5, stripes, stripes, 0, 1, 0, "pulled"},
        {"synchronous, 8 bytes", mine, mine, 8, 8, MPI_BYTE, MPI_BYTE, 1, 0, 0, small},
        {"synchronous, empty", mine, mine, 0, 0, MPI_BYTE, MPI_BYTE, 1, 0, 0, NULL},
    };
    for (int i = 0; i < (int)(sizeof all / sizeof all[0]); i++) {
        if (me == 0) {
            send_it(&all[i], i);
        } else if (me == 1) {
            receive_it(&all[i], i);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}

/* ---- Many at once ---- */

static void *traffic(void *arg)
{
    int t = (int)(intptr_t)arg, n = 150000 + 1000 * t;
    unsigned char *out = malloc((size_t)n * EACH), *in = malloc((size_t)n * EACH);
    MPI_Request r[2 * EACH];
    for (int i = 0; i < EACH; i++) {
        fill(out + (size_t)(n * i), (size_t)n, 100 * t + i + me);
        MPI_Irecv(in + (size_t)(n * i), n, MPI_BYTE, (me + size - 1) % size, 100 * t + i, MPI_COMM_WORLD,
                  &r[i]);
    }
    for (int i = 0; i < EACH; i++) {
        MPI_Isend(out + (size_t)(n * i), n, MPI_BYTE, (me + 1) % size, 100 * t + i, MPI_COMM_WORLD,
                  &r[EACH + i]);
    }
    MPI_Waitall(2 * EACH, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < EACH; i++) {
        check_bytes(in + (size_t)(n * i), (size_t)n, 100 * t + i + (me + size - 1) % size);
    }
    free(out);
    free(in);
    return NULL;
}

static void all_at_once(void)
{
    pthread_t thread[THREADS];
    long long before = count(plain);
    for (int t = 0; t < THREADS; t++) {
        pthread_create(&thread[t], NULL, traffic, (void *)(intptr_t)t);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
    }
    CHECK_EQ(count(plain) - before, THREADS * EACH);
}

/* A message to itself needs none of the ways. */
static void alone(void)
{
    unsigned char *to = malloc(MIB);
    fill(mine, MIB, 3);
    MPI_Sendrecv(mine, (int)MIB, MPI_BYTE, 0, 1, to, (int)MIB, MPI_BYTE, 0, 1, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    check_bytes(to, MIB, 3);
    free(to);
}

static int is_near(void)
{
    MPI_Comm node;
    int n;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Comm_free(&node);
    return n > 1;
}

/* May the kernel copy? */
static void try_plain(void)
{
    int pulled = 0;
    if (me == 0) {
        MPI_Send(mine, (int)MIB, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else if (me == 1) {
        MPI_Recv(mine, (int)MIB, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pulled = count("pulled") > 0;
    }
    MPI_Bcast(&pulled, 1, MPI_INT, 1, MPI_COMM_WORLD);
    if (pulled && strcmp(plain, "copied") == 0) {
        plain = "pulled";
    }
}

int main(int argc, char **argv)
{
    MPI_Win win;
    test_start(2);
    plain = argc > 1 ? argv[1] : "copied";
    mine = malloc(ROOM);
    MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    MPI_Type_vector(4096, 16, 32, MPI_BYTE, &stripes);
    MPI_Type_commit(&stripes);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int near = is_near();
    try_plain();
    one_by_one(near);
    alone();
    all_at_once();
    MPI_Type_free(&stripes);
    MPI_Win_free(&win);
    free(mine);
    MPI_Finalize();
    return 0;
}
