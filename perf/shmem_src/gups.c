/* Giga-updates per second: random words of a table that lies on all PEs are changed by atomic exclusive-or.
 *
 *   gups LOG2_WORDS THREADS UPDATES     any number of PEs, a power of two
 *
 * Each PE holds 2^LOG2_WORDS words of the table; word i of the table begins as i. Every thread of every PE
 * draws UPDATES numbers from a stream of its own: the low bits say which word is changed, the number is what
 * it is changed with. The clock runs until everything has arrived everywhere. All updates are then done a
 * second time: exclusive-or undoes itself, so each word must be i again. Prints "gups UPDATES_PER_S ERRORS".
 */
#include "many.h"

#include <stdint.h>

struct table {
    uint64_t *words; /* symmetric: this PE's part */
    int bits;        /* of an index into a part */
    uint64_t all;    /* words on all PEs */
};

/* The next number of a stream: xorshift with a multiplication (Vigna, ACM TOMS 42, 2016). */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* Returns all numbers together. */
static uint64_t update(const struct table *t, int thread, long updates)
{
    uint64_t state = ((uint64_t)shmem_my_pe() << 32 | (uint64_t)thread) * UINT64_C(0x9e3779b97f4a7c15) + 1,
             all = 0;
    for (long k = 0; k < updates; k++) {
        uint64_t number = draw(&state), word = number & (t->all - 1);
        shmem_uint64_atomic_xor(&t->words[word & ((UINT64_C(1) << t->bits) - 1)], number,
                                (int)(word >> t->bits));
        all ^= number;
    }
    shmem_quiet();
    return all;
}

struct round {
    double seconds;   /* on this PE */
    uint64_t numbers; /* of this PE's threads together */
};

/* All threads of all PEs. */
static struct round round_of(const struct table *t, int threads, long updates)
{
    struct round r = {0, 0};
    uint64_t numbers = 0;
    shmem_barrier_all();
    double begin_s = now_s();
#pragma omp parallel num_threads(threads) reduction(^ : numbers)
    numbers ^= update(t, omp_get_thread_num(), updates);
    shmem_barrier_all();
    r.seconds = now_s() - begin_s;
    r.numbers = numbers;
    return r;
}

/* All words of this PE together. */
static uint64_t together(const struct table *t)
{
    uint64_t all = 0;
    for (uint64_t i = 0; i < UINT64_C(1) << t->bits; i++) {
        all ^= t->words[i];
    }
    return all;
}

struct checks {
    uint64_t lost; /* 0: none */
    long wrong;    /* words */
};

static double measure(const struct table *t, int threads, long updates, struct checks *checks)
{
    long few = updates < 1000 ? updates : 1000, wrong = 0;
    uint64_t before = together(t), mine = UINT64_C(1) << t->bits;
    memset(checks, 0, sizeof *checks);
    round_of(t, threads, few); /* connects, and is undone */
    round_of(t, threads, few);
    struct round r = round_of(t, threads, updates);
    shmem_uint64_atomic_xor(&checks->lost, together(t) ^ before ^ r.numbers, 0);
    round_of(t, threads, updates);
    for (uint64_t i = 0; i < mine; i++) {
        wrong += t->words[i] != (uint64_t)shmem_my_pe() * mine + i;
    }
    shmem_long_atomic_add(&checks->wrong, wrong, 0);
    shmem_barrier_all();
    return (double)updates * threads * shmem_n_pes() / r.seconds;
}

int main(int argc, char **argv)
{
    begin();
    struct table t = {.bits = (int)number(argv, argc, 1, "log2 of the words of a PE")};
    int threads = (int)number(argv, argc, 2, "threads"), pes = shmem_n_pes(), me = shmem_my_pe();
    long updates = number(argv, argc, 3, "updates of a thread");
    uint64_t mine = UINT64_C(1) << t.bits;
    if (t.bits > 40 || (pes & (pes - 1)) != 0 || threads < 1) {
        fail("gups: LOG2_WORDS THREADS UPDATES, and a power of two of PEs");
    }
    struct checks *checks = take(sizeof *checks, 0);
    t.words = take(mine * sizeof *t.words, 0);
    t.all = mine * (uint64_t)pes;
    for (uint64_t i = 0; i < mine; i++) {
        t.words[i] = (uint64_t)me * mine + i;
    }
    double rate = measure(&t, threads, updates, checks);
    if (me == 0) {
        printf("gups %.1f %ld\n", rate, checks->wrong + (checks->lost != 0));
    }
    shmem_free(t.words);
    shmem_free(checks);
    end();
    return 0;
}
