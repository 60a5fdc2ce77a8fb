/* Memory of the symmetric heap, sentence by sentence (OpenSHMEM 1.5, section 9.3; shmemx.h). */
#include "shmem_test.h"

#include <shmemx.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define MIB ((size_t)1 << 20)
#define HEAP (8 * MIB) /* of partition 1 */

static int right, left;

/* Those that do nothing do not wait either: one PE alone may call them. */
static void check_nothing(void)
{
    if (me == 0) {
        CHECK(shmem_malloc(0) == NULL);
        CHECK(shmem_calloc(0, 8) == NULL);
        CHECK(shmem_calloc(8, 0) == NULL);
        CHECK(shmem_align(64, 0) == NULL);
        CHECK(shmem_malloc_with_hints(0, SHMEM_MALLOC_SIGNAL_REMOTE) == NULL);
        CHECK(shmem_realloc(NULL, 0) == NULL);
        CHECK(shmem_kind_malloc(0, 5) == NULL);
        CHECK(shmem_partition_align(64, 0, 5) == NULL);
        shmem_free(NULL);
    }
    shmem_barrier_all();
}

static void check_alignment(void)
{
    for (size_t align = 1; align <= (size_t)1 << 24; align *= 2) {
        char *a = shmem_align(align, 100), *b = shmemx_kind_align(align, 64, 5);
        /* Larger pages come first: partition 5 is at offset 0, partition 1 from 4 MiB to 12 MiB. */
        CHECK((a != NULL) == (align <= 8 * MIB));
        size_t least = align < sizeof(void *) ? sizeof(void *) : align;
        CHECK(b != NULL && (uintptr_t)a % least == 0 && (uintptr_t)b % least == 0);
        shmem_free(a);
        shmem_free(b);
    }
    char *any = shmem_malloc(1), *other = shmem_malloc(1);
    CHECK((uintptr_t)any % sizeof(long double) == 0 && any != other);
    shmem_free(any);
    shmem_free(other);
}

/* Memory may be used at other PEs as soon as the call returns, and calloc's zeroes come before that. */
static void check_ready(void)
{
    for (int i = 0; i < 50; i++) {
        size_t bytes = i % 2 == 0 ? 256 : MIB;
        char *dirty = shmem_malloc(bytes);
        CHECK(dirty != NULL);
        memset(dirty, 0xff, bytes);
        shmem_free(dirty);
        int *p = shmem_calloc(bytes / 4, 4);
        CHECK(p != NULL);
        shmem_int_p(&p[1], me + 1, right);
        shmem_barrier_all();
        CHECK_EQ(p[1], left + 1);
        for (size_t k = 2; k < bytes / 4; k += 7) {
            CHECK_EQ(p[k], 0);
        }
        shmem_free(p);
    }
}

/* free waits at its beginning, with what was put before. */
static void check_free(long *word)
{
    for (long i = 1; i < 50; i++) {
        char *p = shmem_malloc(64);
        shmem_long_p(word, i * 1000 + me, right);
        shmem_free(p);
        CHECK_EQ(*word, i * 1000 + left);
        shmem_barrier_all();
    }
}

static void fill(char *p, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        p[i] = (char)(i * 7 + (size_t)me);
    }
}

static void check_filled(const char *p, size_t to)
{
    for (size_t i = 0; i < to; i++) {
        CHECK_EQ(p[i], (char)(i * 7 + (size_t)me));
    }
}

static void check_realloc(void)
{
    char *p = shmem_realloc(NULL, 1000), *next, *moved;
    CHECK(p != NULL);
    fill(p, 0, 1000);
    CHECK(shmem_realloc(p, 5000) == p); /* nobody is behind it */
    check_filled(p, 1000);
    fill(p, 1000, 5000);
    CHECK(shmem_realloc(p, 2000) == p);
    next = shmem_malloc(64);
    CHECK(next > p && next < p + 5000);
    moved = shmem_realloc(p, 70000);
    CHECK(moved != NULL && moved != p);
    check_filled(moved, 2000);
    char got[2000];
    shmem_getmem(got, moved, sizeof got, right);
    CHECK_EQ(got[3], (char)(3 * 7 + right));
    CHECK(shmem_realloc(moved, 100 * HEAP) == NULL); /* stays as it is */
    check_filled(moved, 2000);
    CHECK(shmem_realloc(moved, 0) == NULL);
    p = shmem_malloc(64); /* what moved away is free again */
    CHECK(p < next);
    shmem_free(p);
    shmem_free(next);
}

/* Full means NULL at all PEs, and that nothing else is lost. */
static void check_full(void)
{
    static char *taken[64];
    int count = 0;
    while (count < 64 && (taken[count] = shmem_malloc(MIB)) != NULL) {
        count++;
    }
    CHECK(count >= 7 && count <= 8);
    CHECK(shmem_malloc(HEAP) == NULL);
    CHECK(shmem_calloc(SIZE_MAX / 2, 4) == NULL);
    CHECK(shmem_malloc(SIZE_MAX) == NULL);
    char *other = shmem_kind_malloc(MIB, 5); /* another partition has room */
    CHECK(other != NULL && (other < taken[0] || other > taken[count - 1]));
    shmem_free(taken[3]);
    CHECK((taken[3] = shmem_malloc(MIB)) != NULL);
    while (count > 0) {
        shmem_free(taken[--count]);
    }
    char *again = shmem_kind_malloc(HEAP, 1);
    CHECK(again != NULL);
    shmem_free(again);
    shmem_free(other);
}

/* Bytes of [p, p + len) for which there is memory. */
static size_t resident(char *p, size_t len)
{
    static unsigned char there[8192];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0;
    char *first = (char *)((uintptr_t)p & ~(page - 1));
    CHECK(len / page + 1 < sizeof there && mincore(first, len, there) == 0);
    for (size_t i = 0; i < len / page; i++) {
        count += there[i] & 1;
    }
    return count * page;
}

/* Memory comes when it is touched, and goes when a large block is freed. */
static void check_sparse(void)
{
    char *p = shmem_malloc(6 * MIB);
    CHECK(resident(p, 6 * MIB) < MIB);
    memset(p, 1, 6 * MIB);
    CHECK(resident(p, 6 * MIB) >= 6 * MIB - 8192);
    shmem_free(p);
    CHECK(resident(p, 6 * MIB) < MIB);
}

/* Every partition is reached directly where one is, and a child's stores are its own in all of them. */
static void check_parts(void)
{
    long *words[] = {shmem_calloc(1, sizeof(long)), shmem_kind_malloc(sizeof(long), 5)};
    int shared = shmem_team_my_pe(SHMEM_TEAM_SHARED); /* whatever way to others there is */
    long *there[] = {shmem_ptr(words[0], right), shmem_ptr(words[1], right)};
    CHECK((there[0] == NULL) == (there[1] == NULL));
    CHECK(shmem_ptr(words[0], me) == words[0] &&
          shmem_team_ptr(SHMEM_TEAM_SHARED, words[1], shared) == words[1]);
    CHECK(shmem_ptr(&right, me) == &right && shmem_ptr(there, me) == NULL);
    for (int i = 0; i < 2; i++) {
        *words[i] = -1;
        shmem_barrier_all();
        if (there[i] != NULL) {
            *there[i] = me + i;
        } else {
            shmem_long_p(words[i], me + i, right);
        }
        shmem_barrier_all();
        CHECK_EQ(*words[i], left + i);
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            *words[i] = 99;
            _exit(*words[i] == 99 ? 0 : 1);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK_EQ(status, 0);
        CHECK_EQ(*words[i], left + i);
        shmem_free(words[i]);
    }
}

static void check_names(void)
{
    void *p[] = {shmalloc(64),
                 shmemalign(128, 64),
                 shmem_malloc_with_hints(64, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE),
                 shmem_kind_malloc(64, 1),
                 shmem_kind_align(64, 64, 5),
                 shmemx_kind_malloc(64, 5),
                 shmemx_kind_align(256, 64, 1),
                 shmem_partition_malloc(64, 5),
                 shmem_partition_align(4096, 64, 5)};
    int count = (int)(sizeof p / sizeof p[0]);
    for (int i = 0; i < count; i++) {
        CHECK(p[i] != NULL);
        shmem_int_p(p[i], i + me, right);
    }
    shmem_barrier_all();
    for (int i = 0; i < count; i++) {
        CHECK_EQ(*(int *)p[i], i + left);
    }
    p[0] = shrealloc(p[0], 6400);
    CHECK(p[0] != NULL);
    CHECK_EQ(*(int *)p[0], left);
    for (int i = 0; i < count; i++) {
        i % 2 == 0 ? shfree(p[i]) : shmem_free(p[i]);
    }
    CHECK(shmem_kind_malloc(64, 6) == NULL); /* there is no such partition */
    CHECK(shmem_kind_malloc(64, 0) == NULL);
    CHECK(shmem_kind_align(64, 64, -1) == NULL);
    CHECK(shmem_kind_malloc(64, SHMEMX_MAX_PARTITION_ID + 1) == NULL);
    CHECK(shmem_align(24, 64) == NULL);
}

int main(void)
{
    unsetenv("SHMEM_SYMMETRIC_SIZE"); /* the user's would be partition 1 */
    setenv("SHMEM_SYMMETRIC_PARTITION1", "size=8M", 1);
    setenv("SMA_SYMMETRIC_PARTITION5", "size=4m:kind=N:pgsize=2M", 1);
    setenv("HOTLANE_MEM_REPORT", "0", 1);
    test_start(1);
    right = (me + 1) % n_pes;
    left = (me + n_pes - 1) % n_pes;
    check_nothing();
    check_alignment();
    check_ready();
    long *word = shmem_calloc(1, sizeof *word);
    check_free(word);
    shmem_free(word);
    check_realloc();
    check_full();
    check_sparse();
    check_parts();
    check_names();
    shmem_finalize();
    return 0;
}
