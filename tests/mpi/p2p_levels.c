/* The four levels of threads: what is granted, and that the calls which the level allows work.
 *
 *   single      the main thread calls, there is no other one
 *   funneled    others compute meanwhile; they may ask whether they are the main thread
 *   serialized  threads take turns, also in the middle of an operation: one starts what another one waits for
 *   multiple    all of them at once
 *
 *   p2p_levels LEVEL [wrong]    `wrong`: another thread calls below serialized; a build with checks of the
 *                               program (-Dchecked_mode) says so */
#include "mpi_test.h"

enum { THREADS = 4, ROUNDS = 200 };

static const char *const names[] = {"single", "funneled", "serialized", "multiple"};
static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                             MPI_THREAD_MULTIPLE};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int level, left, right;

static void talk(int tag)
{
    for (int i = 0; i < ROUNDS; i++) {
        int got = -1;
        MPI_Sendrecv(&i, 1, MPI_INT, right, tag, &got, 1, MPI_INT, left, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK_EQ(got, i);
    }
}

/* ---- Below multiple ---- */

static void *compute(void *unused)
{
    int flag = -1, provided = -1, open = 0;
    MPI_Is_thread_main(&flag);
    MPI_Query_thread(&provided);
    MPI_Initialized(&open);
    CHECK(flag == 0 && provided == level && open);
    return unused;
}

static struct exchange {
    MPI_Request requests[2];
    int out, in, begun, ended;
} exchange;

/* Each thread in its turn begins the next exchange or ends the one that another thread has begun. */
static void *take_turns(void *unused)
{
    for (bool more = true; more;) {
        pthread_mutex_lock(&turn);
        struct exchange *x = &exchange;
        if (x->begun == x->ended && x->begun < ROUNDS) {
            x->out = x->begun++;
            MPI_Irecv(&x->in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &x->requests[0]);
            MPI_Isend(&x->out, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &x->requests[1]);
        } else if (x->begun != x->ended) {
            MPI_Waitall(2, x->requests, MPI_STATUSES_IGNORE);
            CHECK_EQ(x->in, x->ended++);
        }
        more = x->ended < ROUNDS;
        pthread_mutex_unlock(&turn);
        sched_yield();
    }
    return unused;
}

/* ---- Multiple ---- */

static void *talk_alone(void *number)
{
    talk(10 + (int)(intptr_t)number);
    return NULL;
}

/* ---- Another thread than the level allows ---- */

static void *call_wrongly(void *unused)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, code = MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    CHECK(code != MPI_SUCCESS);
    MPI_Error_string(code, text, &len);
    CHECK(strstr(text, "MPI_THREAD_") != NULL);
    return unused;
}

int main(int argc, char **argv)
{
    const char *cs = getenv("HOTLANE_CS");
    int which = 0, provided = -1, got = -1, flag = 0;
    CHECK(argc > 1);
    while (strcmp(names[which], argv[1]) != 0) {
        CHECK(++which < 4);
    }
    level = levels[which];
    if (level == MPI_THREAD_SINGLE) {
        MPI_Init(NULL, NULL);
        provided = level;
    } else {
        MPI_Init_thread(&argc, &argv, level, &provided);
    }
    if (cs != NULL && strcmp(cs, "none") == 0 && level == MPI_THREAD_MULTIPLE) {
        level = MPI_THREAD_SERIALIZED;
    }
    CHECK_EQ(provided, level);
    MPI_Query_thread(&got);
    CHECK_EQ(got, level);
    MPI_Is_thread_main(&flag);
    CHECK(flag);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (me + size - 1) % size;
    right = (me + 1) % size;
    if (argc > 2) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        test_threads(1, call_wrongly);
    } else if (level == MPI_THREAD_FUNNELED) {
        test_threads(THREADS, compute);
    } else if (level == MPI_THREAD_SERIALIZED) {
        test_threads(THREADS, compute);
        test_threads(THREADS, take_turns);
    } else if (level == MPI_THREAD_MULTIPLE) {
        test_threads(THREADS, compute);
        test_threads(THREADS, talk_alone);
    }
    talk(0);
    MPI_Finalize();
    return 0;
}
