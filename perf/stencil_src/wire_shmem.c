/*
 * The stencil's communication over OpenSHMEM: one symmetric array, the default context for all threads.
 */
#include "wire.h"

#include <stddef.h>

#ifdef STENCIL_SHMEM

#include <shmem.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 18 }; /* bytes that travel at once when rank 0 gathers */

/* Symmetric: what reductions read and write, and the piece of this rank that rank 0 gathers. */
struct desk {
    double mine, all[2];
    uint64_t bytes;
    char piece[PIECE];
};

static struct world world;
static struct desk *desk;
static double *base; /* of the window */

static bool has(enum signal_by by)
{
    return by == SIGNAL_PUT || by == SIGNAL_ATOMIC || by == SIGNAL_PUT_SIGNAL;
}

static struct world start(void)
{
    int provided;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    world = (struct world){shmem_my_pe(), shmem_n_pes(), provided == SHMEM_THREAD_MULTIPLE};
    desk = shmem_malloc(sizeof *desk);
    if (!desk)
        shmem_global_exit(1);
    return world;
}

static void finish(void)
{
    shmem_free(desk);
    shmem_finalize();
}

static void die(void)
{
    shmem_global_exit(1);
    exit(1);
}

/* The result's place for the next reduction: ranks that are ahead may write it already while others still
 * read the last one's. */
static double *result(void)
{
    static int turn;

    turn = !turn;
    return &desk->all[turn];
}

static double max(double mine)
{
    double *all = result();

    desk->mine = mine;
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, all, &desk->mine, 1);
    return *all;
}

static double sum(double mine)
{
    double *all = result();

    desk->mine = mine;
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, all, &desk->mine, 1);
    return *all;
}

static void barrier(void)
{
    shmem_barrier_all();
}

/* Piece number `piece` of all ranks to its places behind `all` at rank 0; the barriers keep rank 0's gets and
 * the next piece apart. */
static void carry(const char *mine, const uint64_t *counts, size_t piece, char *all)
{
    uint64_t from = piece * PIECE;

    if (from < counts[world.rank])
        memcpy(desk->piece, mine + from,
               counts[world.rank] - from < PIECE ? counts[world.rank] - from : PIECE);
    shmem_barrier_all();
    for (int r = 0; all && r < world.ranks; r++) {
        if (from < counts[r])
            shmem_getmem(all + from, desk->piece, counts[r] - from < PIECE ? counts[r] - from : PIECE, r);
        all += counts[r];
    }
    shmem_barrier_all();
}

static int gather(const void *mine, size_t bytes, void **all, size_t *all_bytes)
{
    uint64_t *counts = calloc((size_t)world.ranks, sizeof *counts), most = 0;

    if (!counts)
        die();
    desk->bytes = bytes;
    shmem_barrier_all();
    *all_bytes = 0;
    for (int r = 0; r < world.ranks; r++) {
        counts[r] = shmem_uint64_g(&desk->bytes, r);
        *all_bytes += counts[r];
        most = counts[r] > most ? counts[r] : most;
    }
    *all = world.rank == 0 ? malloc(*all_bytes + 1) : NULL;
    bool ok = max(world.rank == 0 && !*all) <= 0.0;
    for (size_t piece = 0; ok && piece * PIECE < most; piece++)
        carry(mine, counts, piece, *all);
    free(counts);
    return ok ? 0 : -1;
}

/* Symmetric arrays are as long on all ranks. */
static double *window_open(long words)
{
    base = shmem_calloc((size_t)max((double)words), sizeof *base);
    return base;
}

static void window_close(void)
{
    shmem_free(base);
}

static struct dwelling dwelling(void)
{
    struct dwelling d;

    memset(&d, 0, sizeof d);
    return d;
}

static uint64_t *flag_at(long at)
{
    return (uint64_t *)(void *)(base + at);
}

static void put(struct block b)
{
    shmem_putmem_nbi(base + b.at, b.here, (size_t)b.count * sizeof *base, b.rank);
}

static void put_flag(struct block b, struct flag f)
{
    shmem_putmem_signal_nbi(base + b.at, b.here, (size_t)b.count * sizeof *base, flag_at(f.at), *f.value,
                            SHMEM_SIGNAL_SET, b.rank);
}

static void get(struct block b)
{
    shmem_getmem_nbi(b.here, base + b.at, (size_t)b.count * sizeof *base, b.rank);
}

static void signal_write(struct flag f)
{
    switch (f.by) {
    case SIGNAL_ATOMIC:
        shmem_uint64_atomic_set(flag_at(f.at), *f.value, f.rank);
        break;
    case SIGNAL_PUT_SIGNAL:
        put_flag((struct block){.here = base, .rank = f.rank}, f);
        break;
    default:
        shmem_uint64_p(flag_at(f.at), *f.value, f.rank);
    }
}

/* One quiet for all ranks. */
static void flush(const int *ranks, int count)
{
    (void)ranks;
    (void)count;
    shmem_quiet();
}

static void publish(void)
{
    shmem_fence();
}

static void flag_wait(enum signal_by by, long at, uint64_t value)
{
    if (by == SIGNAL_PUT_SIGNAL)
        shmem_signal_wait_until(flag_at(at), SHMEM_CMP_EQ, value);
    else
        shmem_uint64_wait_until(flag_at(at), SHMEM_CMP_EQ, value);
}

static const struct wire shmem = {.has = has,
                                  .start = start,
                                  .finish = finish,
                                  .die = die,
                                  .max = max,
                                  .sum = sum,
                                  .barrier = barrier,
                                  .gather = gather,
                                  .open = window_open,
                                  .close = window_close,
                                  .dwelling = dwelling,
                                  .put = put,
                                  .put_flag = put_flag,
                                  .get = get,
                                  .signal = signal_write,
                                  .flush = flush,
                                  .publish = publish,
                                  .wait = flag_wait};

const struct wire *wire_shmem(void)
{
    return &shmem;
}

#else

const struct wire *wire_shmem(void)
{
    return NULL;
}

#endif
