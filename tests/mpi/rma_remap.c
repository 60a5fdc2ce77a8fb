/* Memory that goes and comes back at the same address with other pages: what is read from it is the new data,
 * and what is written to it arrives in the new pages. Network libraries remember the registrations of users'
 * buffers by address. Argument: turns. */
#include "rma.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS                                                                                                \
    8448 /* 66 KiB: beyond what any network sends from a copy, and what messages are read from on            \
          */
#define BYTES (WORDS * sizeof(long))

enum { UNMAP, OVER, DISCARD, HEAP, ALLOC_MEM, WAYS };
static const char *const names[WAYS] = {"munmap and mmap", "mmap over it", "madvise", "free and malloc",
                                        "MPI_Free_mem and MPI_Alloc_mem"};
static long seen[WORDS]; /* stays where it is */
static MPI_Win win;
static int target;

/* `how` says where: MAP_FIXED over what is at `at`, 0 there if nothing is: another thread may have mapped
 * something in the meantime. */
static long *map_at(void *at, int how)
{
    void *p = mmap(at, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | how, -1, 0);
    if (p == MAP_FAILED) {
        perror("mmap");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

/* New pages instead of those at `old` (NULL: the first ones), at the same address where the way allows it. */
static long *renew(int way, long *old)
{
    long *p = old;
    switch (way) {
    case UNMAP:
        if (old != NULL) {
            munmap(old, BYTES);
        }
        return map_at(old, 0);
    case OVER:
        return map_at(old, old != NULL ? MAP_FIXED : 0);
    case DISCARD:
        if (old == NULL) {
            return map_at(NULL, 0);
        }
        CHECK(madvise(old, BYTES, MADV_DONTNEED) == 0, "madvise");
        return old;
    case HEAP:
        free(old);
        CHECK(posix_memalign((void **)&p, (size_t)sysconf(_SC_PAGESIZE), BYTES) == 0, "posix_memalign");
        return p;
    default:
        if (old != NULL) {
            MPI_Free_mem(old);
        }
        CHECK(MPI_Alloc_mem((MPI_Aint)BYTES, MPI_INFO_NULL, &p) == MPI_SUCCESS, "alloc");
        return p;
    }
}

static void end(int way, long *p)
{
    if (way == HEAP) {
        free(p);
    } else if (way == ALLOC_MEM) {
        MPI_Free_mem(p);
    } else {
        munmap(p, BYTES);
    }
}

static void fill(long *p, long value)
{
    for (int i = 0; i < WORDS; i++) {
        p[i] = value + i;
    }
}

static int wrong(const long *p, long value)
{
    int n = 0;
    for (int i = 0; i < WORDS; i++) {
        n += p[i] != value + i;
    }
    return n;
}

static void put(const long *p)
{
    MPI_Put(p, WORDS, MPI_LONG, target, 0, WORDS, MPI_LONG, win);
    MPI_Win_flush(target, win);
}

static void get(long *p)
{
    MPI_Get(p, WORDS, MPI_LONG, target, 0, WORDS, MPI_LONG, win);
    MPI_Win_flush(target, win);
}

/* Puts out of the pages, gets into them, in turn. */
static void origin(int way, int turns)
{
    long *p = NULL;
    for (int turn = 0; turn < turns; turn++) {
        long value = ((long)way << 40) + ((long)turn << 16) + me;
        p = renew(way, p);
        if (turn % 2 == 0) {
            fill(p, value);
            put(p);
            memset(seen, 0, sizeof seen);
            get(seen);
            CHECK(wrong(seen, value) == 0, "%s, turn %d: %d words of a put are old", names[way], turn,
                  wrong(seen, value));
        } else {
            fill(seen, value);
            put(seen);
            memset(p, 0, BYTES);
            get(p);
            CHECK(wrong(p, value) == 0, "%s, turn %d: %d words of a get are missing", names[way], turn,
                  wrong(p, value));
        }
    }
    end(way, p);
}

/* A message that its receiver reads out of the pages (HOTLANE_READ_MIN). */
static void sender(int way, int turns)
{
    long *p = NULL, *in = malloc(BYTES);
    int from = (me + ranks - 1) % ranks;
    for (int turn = 0; turn < turns; turn++) {
        long value = ((long)turn << 16);
        p = renew(way, p);
        fill(p, value + me);
        MPI_Sendrecv(p, WORDS, MPI_LONG, target, 0, in, WORDS, MPI_LONG, from, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(wrong(in, value + from) == 0, "%s, turn %d: %d words of a message are old", names[way], turn,
              wrong(in, value + from));
    }
    end(way, p);
    free(in);
}

/* The pages are a window, and a half of them another one. */
static void owner(int way, int turns)
{
    long *p = NULL;
    MPI_Win whole, half;
    for (int turn = 0; turn < turns; turn++) {
        long value = ((long)turn << 16) + me;
        p = renew(way, p);
        memset(p, 0, BYTES);
        MPI_Win_create(p, (MPI_Aint)BYTES, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &whole);
        MPI_Win_create(p + WORDS / 2, (MPI_Aint)BYTES / 2, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                       &half);
        fill(seen, value);
        MPI_Win_fence(0, whole);
        MPI_Put(seen, WORDS, MPI_LONG, target, 0, WORDS, MPI_LONG, whole);
        MPI_Win_fence(0, whole);
        long from = value - me + (me + ranks - 1) % ranks;
        CHECK(wrong(p, from) == 0, "%s, turn %d: %d words did not come", names[way], turn, wrong(p, from));
        MPI_Win_fence(0, half);
        long one = -1 - value;
        MPI_Put(&one, 1, MPI_LONG, target, WORDS / 2 - 1, 1, MPI_LONG, half);
        MPI_Win_fence(0, half);
        CHECK(p[WORDS - 1] == -1 - from, "%s, turn %d: the last word did not come", names[way], turn);
        MPI_Win_free(&half);
        MPI_Win_free(&whole);
    }
    end(way, p);
}

int main(int argc, char **argv)
{
    int turns = argc > 1 ? atoi(argv[1]) : 1000;
    void *base;
    begin(&argc, &argv);
    target = (me + 1) % ranks;
    MPI_Win_allocate((MPI_Aint)BYTES, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (int way = 0; way < WAYS; way++) {
        origin(way, turns / WAYS);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    for (int way = 0; way < WAYS; way++) {
        sender(way, turns / WAYS / 4);
        owner(way, turns / WAYS / 20);
    }
    return finish_checks("rma_remap");
}
