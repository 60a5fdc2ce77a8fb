/* What shmem_malloc and shmem_free of small pieces execute when so many live already, counted exactly
 * (trace.h):
 *
 *     icount-pieces NUMBER      one PE
 *
 * Prints a line for each state of the heap: its name, instructions of a malloc and of a free, on average.
 * NUMBER pieces of 520 bytes live ("in order"); then every other one is given back ("holes"); pieces of 1 to
 * 4000 bytes of which a random half lives ("mixed"). Exit code 77: cannot trace here, or the heap is too
 * small. */
#include <shmem.h>

#include "trace.h"

#define CALLS 8
#define ROUNDS 3

static size_t count; /* of `pieces` */
static void **pieces;
static uint64_t seed = 1;
static size_t bytes[CALLS];
static void *taken[CALLS], *given[CALLS];

static uint64_t draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

static void *piece(size_t size)
{
    void *p = shmem_malloc(size);
    if (p == NULL) {
        printf("the heap is too small\n");
        exit(77);
    }
    return p;
}

static void call_take(void)
{
    for (int i = 0; i < CALLS; i++) {
        taken[i] = shmem_malloc(bytes[i]);
    }
}

static void call_give(void)
{
    for (int i = 0; i < CALLS; i++) {
        shmem_free(given[i]);
    }
}

/* Sizes of the next calls, and random pieces that live. */
static void prepare(size_t most)
{
    for (int i = 0; i < CALLS; i++) {
        size_t k;
        bytes[i] = most == 0 ? 520 : draw() % most + 1;
        do {
            k = draw() % count;
        } while (pieces[k] == NULL);
        given[i] = pieces[k];
        pieces[k] = NULL;
    }
}

static void show_state(const char *name, size_t most)
{
    long take = 0, give = 0;
    for (int round = 0; round < ROUNDS; round++) {
        prepare(most);
        take += measure_once(call_nothing, call_take).total;
        give += measure_once(call_nothing, call_give).total;
        for (int i = 0; i < CALLS; i++) {
            shmem_free(taken[i]);
        }
    }
    printf("%s %ld %ld\n", name, take / (ROUNDS * CALLS), give / (ROUNDS * CALLS));
    fflush(stdout);
}

static void give_back(size_t k)
{
    shmem_free(pieces[k]);
    pieces[k] = NULL;
}

int main(int argc, char **argv)
{
    count = argc > 1 ? (size_t)atol(argv[1]) : 20000;
    pid_t child = trace_fork();
    shmem_init();
    pieces = calloc(count, sizeof *pieces);
    for (size_t i = 0; i < count; i++) {
        pieces[i] = piece(520);
    }
    show_state("in-order", 0);
    for (size_t i = 0; i < count; i += 2) {
        give_back(i);
    }
    show_state("holes", 0);
    for (size_t i = 0; i < count; i++) {
        give_back(i);
    }
    for (size_t i = 0; i < count; i++) {
        pieces[i] = piece(draw() % 4000 + 1);
    }
    for (size_t i = 0; i < count; i++) {
        if (draw() % 2 == 0) {
            give_back(i);
        }
    }
    show_state("mixed", 4000);
    free(pieces);
    shmem_finalize();
    trace_end(child);
    return 0;
}
