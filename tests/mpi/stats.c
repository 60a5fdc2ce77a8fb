/* Messages and puts of known numbers by each way; then what the performance variables count, after
 * MPI_Finalize: "pvar RANK NAME VALUE" for each. stats.py compares with HOTLANE_STATS. */
#include "mpi_test.h"

#include <unistd.h>

#define EAGER 10
#define CELLS 7
#define LARGE 3
#define PUTS 5
#define CROWD_PUTS 1000

static char bytes[1 << 20];

static void send_some(int n, int len)
{
    MPI_Request r;
    for (int i = 0; i < n; i++) {
        MPI_Irecv(bytes + sizeof bytes / 2, len, MPI_BYTE, (me + size - 1) % size, 3, MPI_COMM_WORLD, &r);
        MPI_Send(bytes, len, MPI_BYTE, (me + 1) % size, 3, MPI_COMM_WORLD);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void put_some(void)
{
    MPI_Win win;
    void *base;
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < PUTS; i++) {
        MPI_Put(bytes, 8, MPI_BYTE, (me + 1) % size, 8 * i, 8, MPI_BYTE, win);
        MPI_Win_flush((me + 1) % size, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static MPI_Win crowded;

static void *put_many(void *unused)
{
    for (int i = 0; i < CROWD_PUTS; i++) {
        MPI_Put(bytes, 8, MPI_BYTE, (me + 1) % size, 0, 8, MPI_BYTE, crowded);
    }
    MPI_Win_flush((me + 1) % size, crowded);
    return unused;
}

/* More threads than lanes. */
static void put_in_a_crowd(void)
{
    pthread_t t[4];
    void *base;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &crowded);
    MPI_Win_lock_all(0, crowded);
    for (int i = 0; i < 4; i++) {
        pthread_create(&t[i], NULL, put_many, NULL);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
    }
    MPI_Win_unlock_all(crowded);
    MPI_Win_free(&crowded);
}

/* Communicators that each call a collective. */
static void use_communicators(int n)
{
    MPI_Comm c;
    for (int i = 0; i < n; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Barrier(c);
        MPI_Comm_free(&c);
    }
}

int main(int argc, char **argv)
{
    int provided, n, count;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handles[256];
    char name[128];
    CHECK_EQ(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    MPI_T_pvar_get_num(&n);
    CHECK(n > 10 && n < 256);
    CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(MPI_T_pvar_handle_alloc(session, i, NULL, &handles[i], &count), MPI_SUCCESS);
    }
    CHECK_EQ(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    test_start(2);
    send_some(EAGER, 8);
    send_some(CELLS, 4096);
    send_some(LARGE, 400000);
    put_some();
    if (argc > 1 && strcmp(argv[1], "crowd") == 0) {
        put_in_a_crowd();
    } else if (argc > 2) {
        use_communicators(atoi(argv[2]));
    }
    CHECK_EQ(chdir("/"), 0); /* a file of statistics lies where the program was started */
    MPI_Finalize();
    for (int i = 0; i < n; i++) {
        unsigned long long value = 0;
        int len = sizeof name, verbosity, class, bind, readonly, continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum words;
        MPI_T_pvar_get_info(i, name, &len, &verbosity, &class, &type, &words, NULL, NULL, &bind, &readonly,
                            &continuous, &atomic);
        MPI_T_pvar_read(session, handles[i], &value);
        printf("pvar %d %s %llu\n", me, name, value);
    }
    MPI_T_finalize();
    return 0;
}
