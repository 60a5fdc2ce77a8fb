/* Put with notification: who sees the flag sees all of the data, whatever the size and layout; both ways of
 * waiting; wrong arguments. Thread t of a rank feeds thread t of the next one, all on one window; the reader
 * answers with a notification that carries no data. usage: rma_notify THREADS ROUNDS */
#include "mpi_test.h"

#include <hotlane.h>

enum { LARGEST = 1 << 20, FLAGS = 64 };

/* Sizes of data in bytes, multiples of 8: small, of an odd length, the borders of one message, large. */
static const int sizes[] = {0, 8, 16, 264, 2048, 8192, 16160, 16200, 16384, 40008, 262144, LARGEST};
enum { SIZES = sizeof sizes / sizeof sizes[0], LAYOUTS = 4 };

static MPI_Win win;
static char *base;
static int threads, rounds, largest;
static MPI_Datatype pairs; /* 8 bytes of every 16 */

static MPI_Aint *bases; /* [rank] what displacements begin with: 0, or addresses of dynamic windows */

static MPI_Aint data_at(int thread)
{
    return FLAGS * (MPI_Aint)threads + 2 * (MPI_Aint)largest * thread;
}

static MPI_Aint flag_at(int thread, int which)
{
    return FLAGS * (MPI_Aint)thread + 8 * which;
}

static uint64_t word_of(int from, int thread, int round, int k)
{
    return (uint64_t)from << 56 | (uint64_t)thread << 40 | (uint64_t)round << 20 | (uint64_t)k;
}

/* Off the node every span at the target is an operation: fewer of them. */
static int words_of(int round)
{
    int most = (round / 3 % LAYOUTS & 2) != 0 ? 500 : largest / 8, words = sizes[round % SIZES] / 8;
    return words < most ? words : most;
}

/* Layout of a round: bit 0, holes at the origin; bit 1, holes at the target. */
static void feed(int thread, int round, uint64_t *out)
{
    int words = words_of(round), layout = round / 3 % LAYOUTS, to = (me + 1) % size;
    bool holes = (layout & 1) != 0, spread = (layout & 2) != 0;

    for (int k = 0; k < words; k++) {
        out[holes ? 2 * k : k] = word_of(me, thread, round, k);
    }
    MPIX_Put_notify(out, words, holes ? pairs : MPI_UINT64_T, to, bases[to] + data_at(thread), words,
                    spread ? pairs : MPI_UINT64_T, bases[to] + flag_at(thread, 0), (uint64_t)round, win);
    /* Without a flush: the flag arrives by itself. The origin's buffer is needed until the answer has come.
     */
}

static void eat(int thread, int round)
{
    int words = words_of(round), layout = round / 3 % LAYOUTS, from = (me + size - 1) % size;
    const uint64_t *in = (const uint64_t *)(const void *)(base + data_at(thread));
    uint64_t seen = 0;
    int done = 0;

    if (round % 2 != 0) {
        CHECK_EQ(MPIX_Win_flag_wait(bases[me] + flag_at(thread, 0), MPIX_CMP_GE, (uint64_t)round, &seen, win),
                 MPI_SUCCESS);
    } else {
        while (!done) {
            CHECK_EQ(MPIX_Win_flag_test(bases[me] + flag_at(thread, 0), MPIX_CMP_EQ, (uint64_t)round, &seen,
                                        &done, win),
                     MPI_SUCCESS);
            sched_yield();
        }
    }
    CHECK_EQ(seen, round);
    for (int k = 0; k < words; k++) {
        uint64_t there = ((const volatile uint64_t *)in)[(layout & 2) != 0 ? 2 * k : k];
        CHECK_EQ(there, word_of(from, thread, round, k));
    }
    /* Read: the feeder may write the next round. */
    MPIX_Put_notify(NULL, 0, MPI_BYTE, from, bases[from], 0, MPI_BYTE, bases[from] + flag_at(thread, 1),
                    (uint64_t)round, win);
}

static void *work(void *number)
{
    int thread = (int)(intptr_t)number;
    uint64_t *out = malloc(2 * (size_t)largest);
    CHECK(out != NULL);
    for (int round = 1; round <= rounds; round++) {
        feed(thread, round, out);
        eat(thread, round);
        MPIX_Win_flag_wait(bases[me] + flag_at(thread, 1), MPIX_CMP_EQ, (uint64_t)round, NULL, win);
        MPI_Win_flush((me + 1) % size, win); /* out is mine again */
    }
    free(out);
    return NULL;
}

static void expect(int code, int class)
{
    int got;
    MPI_Error_class(code, &got);
    CHECK_EQ(got, class);
}

/* No epoch is open. */
static void refuse_outside(void)
{
    expect(MPIX_Put_notify(&threads, 1, MPI_INT, me, 0, 1, MPI_INT, 0, 1, win), MPI_ERR_RMA_SYNC);
    expect(MPIX_Put_notify(&threads, 1, MPI_INT, me, 0, 1, MPI_INT, 0, 1, MPI_WIN_NULL), MPI_ERR_WIN);
}

static void refuse(MPI_Aint bytes)
{
    char *c = (char *)&threads;
    int done, next = (me + 1) % size;
    expect(MPIX_Put_notify(c, 1, MPI_INT, size, 0, 1, MPI_INT, 0, 1, win), MPI_ERR_RANK);
    expect(MPIX_Put_notify(c, -1, MPI_INT, next, 0, 1, MPI_INT, 0, 1, win), MPI_ERR_COUNT);
    expect(MPIX_Put_notify(c, 1, MPI_DATATYPE_NULL, next, 0, 1, MPI_INT, 0, 1, win), MPI_ERR_TYPE);
    expect(MPIX_Put_notify(c, 1, MPI_INT, next, bytes - 3, 1, MPI_INT, 0, 1, win), MPI_ERR_RMA_RANGE);
    expect(MPIX_Put_notify(c, 1, MPI_INT, next, 0, 1, MPI_INT, bytes - 7, 1, win), MPI_ERR_RMA_RANGE);
    expect(MPIX_Put_notify(c, 1, MPI_INT, next, 0, 1, MPI_INT, -8, 1, win), MPI_ERR_DISP);
    expect(MPIX_Put_notify(c, 1, MPI_INT, next, 0, 1, MPI_INT, 4, 1, win), MPI_ERR_DISP);
    expect(MPIX_Put_notify_c(c, 1, MPI_INT, next, 0, 1, MPI_INT, bytes, 1, win), MPI_ERR_RMA_RANGE);
    expect(MPIX_Win_flag_wait(bytes - 7, MPIX_CMP_EQ, 0, NULL, win), MPI_ERR_RMA_RANGE);
    expect(MPIX_Win_flag_wait(0, MPIX_CMP_LE + 1, 0, NULL, win), MPI_ERR_ARG);
    expect(MPIX_Win_flag_test(4, MPIX_CMP_EQ, 0, NULL, &done, win), MPI_ERR_DISP);
    expect(MPIX_Win_flag_test(0, MPIX_CMP_EQ, 0, NULL, NULL, win), MPI_ERR_ARG);
    CHECK_EQ(MPIX_Put_notify(c, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, 0, 1, win), MPI_SUCCESS);
}

/* Each comparison, on a flag that my own notification has set to 5; the large-count form too. */
static void compare(void)
{
    static const int holds[6][3] = {{0, 1, 0}, {1, 0, 1}, {1, 0, 0}, {1, 1, 0}, {0, 0, 1}, {0, 1, 1}};
    MPIX_Put_notify_c(NULL, 0, MPI_BYTE, me, bases[me], 0, MPI_BYTE, bases[me], 5, win);
    MPIX_Win_flag_wait(bases[me], MPIX_CMP_EQ, 5, NULL, win);
    for (int compare = MPIX_CMP_EQ; compare <= MPIX_CMP_LE; compare++) {
        for (int i = 0; i < 3; i++) {
            int done = -1;
            uint64_t seen = 0;
            MPIX_Win_flag_test(bases[me], compare, (uint64_t)(4 + i), &seen, &done, win);
            CHECK_EQ(done, holds[compare][i]);
            CHECK_EQ(seen, 5);
        }
    }
    MPI_Win_flush(me, win);
    *(uint64_t *)(void *)base = 0;
    MPI_Win_sync(win);
}

/* A sleeper is woken although nobody calls the library afterwards: rank 0 sets the flags late. */
static void wake(void)
{
    if (me == 0) {
        usleep(20000);
        for (int rank = 1; rank < size; rank++) {
            MPIX_Put_notify(&me, 1, MPI_INT, rank, bases[rank] + data_at(0), 1, MPI_INT,
                            bases[rank] + flag_at(0, 2), 7, win);
        }
    } else {
        MPIX_Win_flag_wait(bases[me] + flag_at(0, 2), MPIX_CMP_EQ, 7, NULL, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Many flags at once: each is told once, with the data before it, by a thread that mostly sleeps; of those
 * that hold all are told, whoever asks for other lists in between; what is passed over, and what is wrong. */
static void any(void)
{
    enum { MANY = 6, TELLS = 400 };
    int next = (me + 1) % size, index, told[MANY] = {0};
    MPI_Aint mine[MANY];
    uint64_t values[MANY], seen, data[MANY];
    for (int i = 0; i < MANY; i++) {
        mine[i] = bases[me] + flag_at(0, 2 + i);
        values[i] = 100 + (uint64_t)i;
        *(uint64_t *)(void *)(base + flag_at(0, 2 + i)) = 0;
    }
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < MANY; k++) { /* in another order, and late */
        int i = (5 * k + 3) % MANY;
        data[i] = word_of(me, 0, 0, i);
        usleep(3000);
        MPIX_Put_notify(&data[i], 1, MPI_UINT64_T, next, bases[next] + data_at(0) + 8 * i, 1, MPI_UINT64_T,
                        bases[next] + flag_at(0, 2 + i), 100 + (uint64_t)i, win);
        CHECK_EQ(MPIX_Win_flag_wait_any(MANY, mine, MPIX_CMP_EQ, values, &index, &seen, win), MPI_SUCCESS);
        CHECK(index >= 0 && index < MANY && told[index]++ == 0);
        CHECK_EQ(seen, values[index]);
        CHECK_EQ(((volatile uint64_t *)(void *)(base + data_at(0)))[index],
                 word_of((me + size - 1) % size, 0, 0, index));
        mine[index] = MPIX_FLAG_NONE;
    }
    CHECK_EQ(MPIX_Win_flag_wait_any(MANY, mine, MPIX_CMP_EQ, values, &index, NULL, win), MPI_SUCCESS);
    CHECK_EQ(index, MPI_UNDEFINED);
    CHECK_EQ(MPIX_Win_flag_wait_any(0, NULL, MPIX_CMP_EQ, NULL, &index, NULL, win), MPI_SUCCESS);
    CHECK_EQ(index, MPI_UNDEFINED);
    for (int i = 0; i < MANY; i++) {
        mine[i] = bases[me] + flag_at(0, 2 + i);
        told[i] = 0;
    }
    for (int k = 0; k < TELLS; k++) {
        CHECK_EQ(MPIX_Win_flag_wait_any(MANY, mine, MPIX_CMP_GE, values, &index, NULL, win), MPI_SUCCESS);
        told[index]++;
        MPIX_Win_flag_wait_any(2, mine, MPIX_CMP_GE, values, &index, NULL, win);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK(told[i] > TELLS / MANY / 3);
    }
    expect(MPIX_Win_flag_wait_any(-1, mine, MPIX_CMP_GE, values, &index, NULL, win), MPI_ERR_COUNT);
    expect(MPIX_Win_flag_wait_any(MANY, NULL, MPIX_CMP_GE, values, &index, NULL, win), MPI_ERR_ARG);
    expect(MPIX_Win_flag_wait_any(MANY, mine, MPIX_CMP_GE, NULL, &index, NULL, win), MPI_ERR_ARG);
    expect(MPIX_Win_flag_wait_any(MANY, mine, MPIX_CMP_GE, values, NULL, NULL, win), MPI_ERR_ARG);
    expect(MPIX_Win_flag_wait_any(MANY, mine, 17, values, &index, NULL, win), MPI_ERR_ARG);
    mine[1] += 4;
    expect(MPIX_Win_flag_wait_any(MANY, mine, MPIX_CMP_GE, values, &index, NULL, win), MPI_ERR_DISP);
    MPI_Win_flush(next, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Private memory: read and written by the kernel, or registered. */
static void *own_memory(MPI_Aint bytes)
{
    char *m = aligned_alloc(64, ((size_t)bytes + 63) / 64 * 64);
    CHECK(m != NULL);
    return m;
}

/* What is not attached. */
static void refuse_unattached(MPI_Aint bytes)
{
    int next = (me + 1) % size, done;
    MPI_Aint end = bases[next] + bytes;
    expect(MPIX_Put_notify(&me, 1, MPI_INT, next, bases[next], 1, MPI_INT, end, 1, win), MPI_ERR_RMA_RANGE);
    expect(MPIX_Put_notify(&me, 1, MPI_INT, next, end, 1, MPI_INT, bases[next], 1, win), MPI_ERR_RMA_RANGE);
    expect(MPIX_Put_notify(&me, 1, MPI_INT, next, bases[next], 1, MPI_INT, bases[next] + 4, 1, win),
           MPI_ERR_DISP);
    expect(MPIX_Win_flag_test(bases[me] + bytes, MPIX_CMP_EQ, 0, NULL, &done, win), MPI_ERR_RMA_RANGE);
}

/* A window that begins at an odd place: off the node only the target can see that, and the flush tells. */
static void refuse_misaligned(void)
{
    uint64_t memory[4] = {0};
    int next = (me + 1) % size, code;
    MPI_Win_create((char *)memory + 4, 24, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    code = MPIX_Put_notify(NULL, 0, MPI_BYTE, next, 0, 0, MPI_BYTE, 8, 1, win);
    expect(code != MPI_SUCCESS ? code : MPI_Win_flush(next, win), MPI_ERR_DISP);
    CHECK_EQ(MPI_Win_flush(next, win), MPI_SUCCESS);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    CHECK_EQ(memory[1] | memory[2], 0);
}

/* Data in one attached region or over two that touch, the flag in another one, which the data's thread has
 * not used before. */
static void several_regions(void)
{
    enum { WORDS = 3000, ROUNDS = 12 };
    uint64_t *data = calloc(2 * WORDS, 8), out[WORDS], *flags = calloc(ROUNDS, 8);
    int next = (me + 1) % size, from = (me + size - 1) % size;
    MPI_Aint mine[2], *all = calloc(2 * (size_t)size, sizeof *all);
    CHECK(data != NULL && flags != NULL && all != NULL);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, data, 8 * WORDS);
    MPI_Win_attach(win, data + WORDS, 8 * WORDS);
    MPI_Win_attach(win, flags, 8 * ROUNDS);
    MPI_Get_address(data, &mine[0]);
    MPI_Get_address(flags, &mine[1]);
    MPI_Allgather(mine, 2, MPI_AINT, all, 2, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < ROUNDS; round++) {
        int words = round % 2 == 0 ? 8 : WORDS;                              /* one message, or transfers */
        int first = round % 3 == 0 ? 0 : round % 3 == 1 ? WORDS : WORDS - 4; /* here, there, over both */
        for (int k = 0; k < words; k++) {
            out[k] = word_of(me, 0, round, k);
        }
        CHECK_EQ(MPIX_Put_notify(out, words, MPI_UINT64_T, next, all[2 * next] + 8 * (MPI_Aint)first, words,
                                 MPI_UINT64_T, all[2 * next + 1] + 8 * round, 1, win),
                 MPI_SUCCESS);
        CHECK_EQ(MPIX_Win_flag_wait(all[2 * me + 1] + 8 * round, MPIX_CMP_EQ, 1, NULL, win), MPI_SUCCESS);
        for (int k = 0; k < words; k++) {
            CHECK_EQ(((volatile uint64_t *)data)[first + k], word_of(from, 0, round, k));
        }
        MPI_Win_flush(next, win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    free(all);
    free(flags);
    free(data);
}

/* Makes the window and tells everybody where it begins. */
static void make(int flavor, MPI_Aint bytes)
{
    MPI_Aint mine = 0;
    if (flavor == MPI_WIN_FLAVOR_ALLOCATE) {
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    } else {
        base = own_memory(bytes);
    }
    if (flavor == MPI_WIN_FLAVOR_CREATE) {
        MPI_Win_create(base, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    if (flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, base, bytes);
        MPI_Get_address(base, &mine);
    }
    MPI_Allgather(&mine, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(base, 0, (size_t)bytes);
}

static void run(int flavor, MPI_Aint bytes)
{
    make(flavor, bytes);
    if (flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        refuse_outside();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    (flavor == MPI_WIN_FLAVOR_DYNAMIC ? refuse_unattached : refuse)(bytes);
    compare();
    MPI_Barrier(MPI_COMM_WORLD);
    wake();
    any();
    test_threads(threads, work);
    MPI_Win_unlock_all(win);
    if (flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_detach(win, base);
    }
    MPI_Win_free(&win);
    if (flavor != MPI_WIN_FLAVOR_ALLOCATE) {
        free(base);
    }
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : 2;
    rounds = argc > 2 ? atoi(argv[2]) : 48;
    test_start(1);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    largest = threads > 4 ? LARGEST / 4 : LARGEST;
    bases = calloc((size_t)size, sizeof *bases);
    CHECK(bases != NULL);
    MPI_Type_create_resized(MPI_UINT64_T, 0, 16, &pairs);
    MPI_Type_commit(&pairs);
    run(MPI_WIN_FLAVOR_ALLOCATE, data_at(threads));
    run(MPI_WIN_FLAVOR_CREATE, data_at(threads));
    run(MPI_WIN_FLAVOR_DYNAMIC, data_at(threads));
    several_regions();
    refuse_misaligned();
    MPI_Type_free(&pairs);
    free(bases);
    MPI_Finalize();
    return 0;
}
