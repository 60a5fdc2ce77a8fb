/* job mpi|start|nothing: a little of everything that takes memory, descriptors, threads and system calls.
 * Rank 0's last word is "done". Wrong results end it with code 3. `start` only begins and ends, `nothing`
 * does not even begin. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, n;

static void expect(int truth, const char *what)
{
    if (!truth) {
        fprintf(stderr, "rank %d: wrong: %s\n", me, what);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static void *room(size_t bytes)
{
    void *p = malloc(bytes);
    if (p == NULL) {
        fprintf(stderr, "rank %d: the program itself gets no %zu bytes (malloc)\n", me, bytes);
        exit(4);
    }
    return p;
}

/* Small ones, and one that is read out of its sender's memory. */
static void messages(void)
{
    static const int lens[] = {8, 3000, 300000};
    int left = (me + n - 1) % n, right = (me + 1) % n;
    for (int i = 0; i < 3; i++) {
        char *out = room((size_t)lens[i]), *in = room((size_t)lens[i]);
        memset(out, me + 1, (size_t)lens[i]);
        MPI_Sendrecv(out, lens[i], MPI_CHAR, right, i, in, lens[i], MPI_CHAR, left, i, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        expect(in[0] == left + 1 && in[lens[i] - 1] == left + 1, "a message");
        free(out);
        free(in);
    }
}

/* More than the calls after which a node's ranks share memory for them. */
static void collectives(void)
{
    int sum = 0, *all = room(sizeof(int) * 1000 * (size_t)n), *mine = room(sizeof(int) * 1000 * (size_t)n);
    for (int i = 0; i < 8; i++) {
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(sum == n * (n - 1) / 2, "a sum");
    }
    for (int i = 0; i < 1000 * n; i++) {
        mine[i] = 100 * me + i / 1000;
    }
    MPI_Alltoall(mine, 1000, MPI_INT, all, 1000, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        expect(all[1000 * i + 999] == 100 * i + me, "an exchange of all with all");
    }
    MPI_Bcast(all, 1000 * n, MPI_INT, 0, MPI_COMM_WORLD);
    expect(all[0] == 0, "a broadcast");
    free(all);
    free(mine);
}

static void one_sided(MPI_Win win, long *base, int words)
{
    long value = me + 7, one = 1, back = -1;
    int right = (me + 1) % n;
    MPI_Win_lock_all(0, win);
    MPI_Put(&value, 1, MPI_LONG, right, me, 1, MPI_LONG, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, words - 1, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Get(&back, 1, MPI_LONG, right, me, 1, MPI_LONG, win);
    MPI_Win_flush(right, win);
    expect(back == value, "what was put");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    expect(base[(me + n - 1) % n] == (me + n - 1) % n + 7, "what came");
    expect(me != 0 || base[words - 1] == n, "a count");
    MPI_Win_unlock_all(win);
}

/* Memory of ours, and the program's own. */
static void windows(void)
{
    enum { WORDS = 1 << 17 };
    long *base;
    MPI_Win win;
    MPI_Win_allocate(WORDS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, WORDS * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    one_sided(win, base, WORDS);
    MPI_Win_free(&win);
    base = room(WORDS * sizeof(long));
    memset(base, 0, WORDS * sizeof(long));
    MPI_Win_create(base, WORDS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    one_sided(win, base, WORDS);
    MPI_Win_free(&win);
    free(base);
    MPI_Alloc_mem(16 << 20, MPI_INFO_NULL, &base);
    memset(base, 1, 16 << 20);
    MPI_Free_mem(base);
}

static void do_mpi(int all)
{
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (all) {
        messages();
        collectives();
        windows();
    }
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "mpi";
    if (strcmp(mode, "nothing") != 0) {
        do_mpi(strcmp(mode, "start") != 0);
    }
    if (me == 0) {
        puts("done");
    }
    return 0;
}
