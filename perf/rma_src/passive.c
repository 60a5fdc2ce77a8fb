/* One-sided operations on a target that makes no MPI call: asleep, or computing with one thread.
 *
 *   passive MILLISECONDS PHASES      2 ranks, rank 1 is the target
 *
 * Phases with a sleeping and with a computing target alternate. In each, rank 0 repeats every operation, each
 * with its flush or unlock, for three quarters of the phase. Prints "OPERATION IDLE_NS BUSY_NS", medians, and
 * fails when a phase's first round of operations did not end before the target called MPI again, or when a
 * sum is wrong. */
#include "threads.h"

enum { PUT, GET, ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP, LOCK, OPERATIONS };
static const char *const NAMES[] = {
    "put", "get", "accumulate", "fetch_and_op", "compare_and_swap", "lock+put+unlock"};

enum { WORD_PUT, WORD_SUM, WORD_FETCH, WORD_SWAP, WORD_LOCK, WORDS };

struct times {
    double *ns;
    long count, room;
};

static MPI_Win win, locked; /* under lock_all; locked for each operation */
static long rounds;         /* made by the origin in all phases */

static void add_time(struct times *t, double ns)
{
    if (t->count == t->room) {
        t->room = t->room > 0 ? 2 * t->room : 1024;
        t->ns = realloc(t->ns, (size_t)t->room * sizeof *t->ns);
    }
    t->ns[t->count++] = ns;
}

static void operate(int what)
{
    long one = 1, old = 0, next = rounds + 1;
    switch (what) {
    case PUT:
        MPI_Put(&next, 1, MPI_LONG, 1, WORD_PUT, 1, MPI_LONG, win);
        break;
    case GET:
        MPI_Get(&old, 1, MPI_LONG, 1, WORD_PUT, 1, MPI_LONG, win);
        break;
    case ACCUMULATE:
        MPI_Accumulate(&one, 1, MPI_LONG, 1, WORD_SUM, 1, MPI_LONG, MPI_SUM, win);
        break;
    case FETCH_AND_OP:
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 1, WORD_FETCH, MPI_SUM, win);
        break;
    case COMPARE_AND_SWAP:
        MPI_Compare_and_swap(&next, &rounds, &old, MPI_LONG, 1, WORD_SWAP, win);
        break;
    default:
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, locked);
        MPI_Put(&next, 1, MPI_LONG, 1, WORD_LOCK, 1, MPI_LONG, locked);
        MPI_Win_unlock(1, locked);
        return;
    }
    MPI_Win_flush(1, win);
}

/* Rounds of all operations for three quarters of the phase; returns seconds until the first was over. */
static double origin_phase(double seconds, struct times *times)
{
    double begin_s = now_s(), first = 0;
    do {
        for (int what = 0; what < OPERATIONS; what++) {
            double before = now_s();
            operate(what);
            add_time(&times[what], (now_s() - before) * 1e9);
        }
        rounds++;
        first = first > 0 ? first : now_s() - begin_s;
    } while (now_s() - begin_s < 0.75 * seconds);
    return first;
}

static void target_phase(double seconds, bool busy)
{
    double end = now_s() + seconds;
    if (!busy) {
        nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (long)seconds) * 1e9)}, NULL);
    }
    while (now_s() < end) {
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(struct times *t)
{
    qsort(t->ns, (size_t)t->count, sizeof *t->ns, compare);
    return t->ns[t->count / 2];
}

static int wrong_words(const long *words, long expected)
{
    int wrong = 0;
    for (int i = 0; i < WORDS; i++) {
        if (words[i] != expected) {
            printf("word %d is %ld after %ld rounds\n", i, words[i], expected);
            wrong++;
        }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, ranks, bad = 0;
    begin(&argc, &argv, &rank, &ranks);
    double seconds = (double)number(argv, argc, 1, "MILLISECONDS") / 1000;
    long phases = number(argv, argc, 2, "PHASES");
    long *words;
    MPI_Win_allocate(WORDS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &words, &win);
    memset(words, 0, WORDS * sizeof *words);
    MPI_Win_create(words, WORDS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &locked);
    MPI_Win_lock_all(0, win);
    struct times times[2][OPERATIONS] = {0};
    for (long p = 0; p < 2 * phases; p++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) {
            target_phase(seconds, p % 2 == 1);
        } else if (rank == 0) {
            double first = origin_phase(seconds, times[p % 2]);
            if (first > seconds) {
                printf("phase %ld, target %s: the first operations took %.3f s, the target called MPI after "
                       "%.3f s\n",
                       p, p % 2 == 1 ? "computing" : "asleep", first, seconds);
                bad++;
            }
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Bcast(&rounds, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    bad += rank == 1 ? wrong_words(words, rounds) : 0;
    for (int what = 0; rank == 0 && what < OPERATIONS; what++) {
        printf("%s %.0f %.0f\n", NAMES[what], median(&times[0][what]), median(&times[1][what]));
    }
    MPI_Win_free(&locked);
    MPI_Win_free(&win);
    MPI_Finalize();
    return bad > 0;
}
