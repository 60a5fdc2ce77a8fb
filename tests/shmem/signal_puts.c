/* Puts with signal of many lengths from all PEs to all, by several threads: who sees the signal sees the data
 * of that put and of all before it in the same place. usage: signal_puts THREADS ROUNDS */
#include "shmem_test.h"

#define LONGEST (600 << 10)

struct box {
    uint64_t set, added; /* signals */
    uint64_t taken;      /* the receiver's answer to set: written by him at the sender's */
};

static struct box *boxes; /* [from][thread] at the receiver */
static char *data;        /* the same */
static int threads, rounds;

static size_t room(void)
{
    return LONGEST / (size_t)threads;
}

/* Of the put of this round: a fast one most of the time. */
static size_t length_of(int round)
{
    static const size_t usual[] = {0, 1, 8, 100, 1024, 5000, 20000, 70000, LONGEST};
    size_t len = usual[(size_t)round % (sizeof usual / sizeof *usual)];
    return len < room() ? len : room();
}

static char byte_of(int from, int thread, int round)
{
    return (char)(from * 7 + thread * 3 + round + 1);
}

static void send(int to, int thread, int round)
{
    size_t at = (size_t)(me * threads + thread), len = length_of(round);
    struct box *box = &boxes[at];
    char *src = malloc(len + 1);
    CHECK(src != NULL);
    memset(src, byte_of(me, thread, round), len);
    if (round % 3 == 0) {
        shmem_putmem_signal_nbi(data + at * room(), src, len, &box->added, 1, SHMEM_SIGNAL_ADD, to);
        shmem_quiet();
    } else if (round % 3 == 1) {
        shmem_putmem_signal(data + at * room(), src, len, &box->added, 1, SHMEM_SIGNAL_ADD, to);
    } else {
        shmem_putmem(data + at * room(), src, len, to);
        shmem_fence();
        shmem_signal_add(&box->added, 1, to);
    }
    memset(src, 0, len); /* it is mine again */
    free(src);
}

/* Waits for the put of this round and looks at every byte. */
static void receive(int from, int thread, int round)
{
    size_t at = (size_t)(from * threads + thread), len = length_of(round);
    struct box *box = &boxes[at];
    while (shmem_signal_fetch(&box->added) < (uint64_t)round + 1) {
        usleep(50);
    }
    for (size_t i = 0; i < len; i++) {
        CHECK_EQ(data[at * room() + i], byte_of(from, thread, round));
    }
}

static void *work(void *arg)
{
    int thread = (int)(intptr_t)arg;
    int right = (me + 1) % n_pes, left = (me + n_pes - 1) % n_pes;
    struct box *mine = &boxes[(size_t)(me * threads + thread)];
    for (int i = 0; i < rounds; i++) {
        send(right, thread, i);
        receive(left, thread, i);
        /* The left one may send again; he looks at his own box of that name. */
        size_t at = (size_t)(left * threads + thread);
        shmem_signal_set(&boxes[at].set, (uint64_t)i + 1, left);
        while (shmem_signal_fetch(&mine->set) < (uint64_t)i + 1) {
            usleep(50);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 100;
    test_start(1);
    boxes = test_zeroed((size_t)(n_pes * threads) * sizeof *boxes);
    data = shmem_malloc((size_t)(n_pes * threads) * room());
    CHECK(data != NULL);
    shmem_barrier_all();
    test_threads(threads, work);
    shmem_barrier_all();
    shmem_free(data);
    shmem_free(boxes);
    shmem_finalize();
    return 0;
}
