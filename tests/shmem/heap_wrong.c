/* Wrong use of the symmetric heap; heap_wrong.py knows how each ends. usage: heap_wrong WHAT */
#include "shmem_test.h"

#include <shmemx.h>

int main(int argc, char **argv)
{
    const char *what = argv[1];
    test_start(1);
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
    } else if (strcmp(what, "show") == 0) {
        shmem_long_p((long *)b, 1, (me + 1) % n_pes);
    }
    shmem_finalize();
    return 0;
}
