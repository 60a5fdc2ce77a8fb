/* Wrong use of the symmetric heap; heap_wrong.py knows how each ends. usage: heap_wrong WHAT */
#include "shmem_test.h"

#include <shmemx.h>

/* Calls of PE 0 that leave the heap of 2 MiB, all of which one block takes. */
static void beyond(const char *what)
{
    static char source[65536];
    size_t all = (size_t)2 << 20, half = all / 2 + 64;
    char *p = shmem_malloc(all);
    CHECK(p != NULL);
    if (strcmp(what, "beyond-put") == 0 && me == 0) {
        shmem_putmem(p + all - 8, source, sizeof source, 1);
    } else if (strcmp(what, "beyond-word") == 0 && me == 0) {
        shmem_long_p((long *)(void *)(p + all), 1, 1);
    } else if (strcmp(what, "beyond-asked") == 0) {
        CHECK_EQ(shmem_addr_accessible(p + all - 1, 1), 1);
        CHECK_EQ(shmem_addr_accessible(p + all, 1), 0);
        CHECK(shmem_ptr(p + all, me) == NULL);
    } else if (strcmp(what, "beyond-collect") == 0) {
        shmem_collectmem(SHMEM_TEAM_WORLD, p, p, half);
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    test_start(1);
    if (strncmp(what, "beyond", 6) == 0) {
        beyond(what);
        shmem_finalize();
        return 0;
    }
    char *a = shmem_malloc(100), *b = shmem_malloc(200), local[64] = "";
    bool odd = me == n_pes - 1;
    if (strcmp(what, "sizes") == 0) {
        shmem_malloc(odd ? 300 : 400);
    } else if (strcmp(what, "alignments") == 0) {
        shmem_align(odd ? 64 : 128, 300);
    } else if (strcmp(what, "malloc-free") == 0) {
        odd ? (void)shmem_malloc(300) : shmem_free(a);
    } else if (strcmp(what, "other-block") == 0) {
        shmem_free(odd ? a : b);
    } else if (strcmp(what, "realloc") == 0) {
        shmem_realloc(a, odd ? 1000 : 2000);
    } else if (strcmp(what, "inside") == 0) {
        shmem_free(a + 64);
    } else if (strcmp(what, "twice") == 0) {
        shmem_free(a);
        shmem_free(a);
    } else if (strcmp(what, "local") == 0) {
        shmem_free(local);
    } else if (strcmp(what, "realloc-local") == 0) {
        shmem_realloc(local, 10);
    } else if (strcmp(what, "finalized") == 0) {
        shmem_finalize();
        shmem_malloc(10);
    } else if (strcmp(what, "full") == 0) {
        CHECK(shmem_malloc((size_t)1 << 40) == NULL);
        CHECK(shmem_malloc((size_t)1 << 41) == NULL);
    } else if (strcmp(what, "crooked") == 0) {
        shmem_align((size_t)16 << 20, (size_t)8 << 20); /* the first blocks lie where it would have to */
    } else if (strcmp(what, "show") == 0) {
        shmem_long_p((long *)b, 1, (me + 1) % n_pes);
    }
    shmem_finalize();
    return 0;
}
