/* Puts and gets of 0 bytes to 5 MiB at odd addresses, by several threads at once, each to PEs and places of
 * its own: what arrives is what was sent, nothing beside it changes, and blocking puts may reuse their source
 * at once. usage: xfer_lengths THREADS ROUNDS */
#include "shmem_test.h"

#define LONGEST (5 << 20)
#define MARGIN 64

static char *areas; /* one for each PE and thread, at each PE */
static int threads, rounds;

static size_t area_bytes(void)
{
    return (size_t)LONGEST / (size_t)threads + 2 * MARGIN;
}

static char *area_of(int pe, int thread)
{
    return areas + ((size_t)pe * (size_t)threads + (size_t)thread) * area_bytes();
}

static size_t length_of(uint64_t *seed, size_t most)
{
    static const size_t usual[] = {0,  1,  2,   3,   4,    7,    8,    9,     16,
                                   31, 64, 255, 256, 1000, 4096, 8191, 16384, 65537};
    uint64_t r = test_random(seed);
    size_t len = r % 8 == 0 ? test_random(seed) % most : usual[r / 8 % (sizeof usual / sizeof *usual)];
    return len < most ? len : most;
}

static void fill(char *at, size_t len, uint64_t seed)
{
    for (size_t i = 0; i < len; i++) {
        at[i] = (char)((seed + i * 2654435761u) >> 16);
    }
}

static void check_filled(const char *at, size_t len, uint64_t seed)
{
    for (size_t i = 0; i < len; i++) {
        CHECK_EQ(at[i], (char)((seed + i * 2654435761u) >> 16));
    }
}

/* A put, then a get of it with what is around; both blocking or not. */
static void there_and_back(char *buf, char *back, uint64_t *seed, int pe, int thread)
{
    size_t most = area_bytes() - 2 * MARGIN, len = length_of(seed, most);
    size_t at = MARGIN + (len < most ? test_random(seed) % (most - len) : 0), skew = test_random(seed) % 9;
    uint64_t content = test_random(seed);
    bool blocking = content % 2 == 0;
    char *there = area_of(me, thread) + at;

    memset(buf, 0, skew + len + 2 * MARGIN);
    shmem_putmem(there - MARGIN, buf, len + 2 * MARGIN, pe);
    shmem_fence();
    fill(buf + skew, len, content);
    if (blocking) {
        shmem_putmem(there, buf + skew, len, pe);
        memset(buf, 7, skew + len);
        shmem_quiet();
        shmem_getmem(back + skew, there - MARGIN, len + 2 * MARGIN, pe);
    } else {
        shmem_putmem_nbi(there, buf + skew, len, pe);
        shmem_quiet();
        shmem_getmem_nbi(back + skew, there - MARGIN, len + 2 * MARGIN, pe);
        shmem_quiet();
    }
    check_filled(back + skew + MARGIN, len, content);
    for (size_t i = 0; i < MARGIN; i++) {
        CHECK_EQ(back[skew + i], 0);
        CHECK_EQ(back[skew + MARGIN + len + i], 0);
    }
}

static void *work(void *arg)
{
    int thread = (int)(intptr_t)arg;
    uint64_t seed = (uint64_t)(me * 1000 + thread + 1);
    size_t room = area_bytes() + 16 + MARGIN;
    char *buf = malloc(room), *back = malloc(room);
    CHECK(buf != NULL && back != NULL);
    for (int i = 0; i < rounds; i++) {
        there_and_back(buf, back, &seed, (int)(test_random(&seed) % (uint64_t)n_pes), thread);
    }
    free(buf);
    free(back);
    return NULL;
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 100;
    test_start(1);
    areas = shmem_malloc((size_t)n_pes * (size_t)threads * area_bytes());
    CHECK(areas != NULL);
    shmem_barrier_all();
    test_threads(threads, work);
    shmem_barrier_all();
    shmem_free(areas);
    shmem_finalize();
    return 0;
}
