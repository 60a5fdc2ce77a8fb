/* Random puts and gets into a peer's window of one page size, and into a bare mapping of the same pages: does
 * the window cost what its pages cost?
 *
 *   mem-page MIB PAGES OPS ROUNDS      2 ranks; PAGES: 4K, 2M, 1G, or thp: base pages collapsed to huge ones;
 * OPS in a round for each kind, a power of two
 *
 * Rank 0 has the window's memory, rank 1 measures. The bare mapping is rank 1's own, made by memfd_create,
 * mmap and madvise without the library and put into by the same calls as a window of rank 1 alone; `plain`
 * are loads and stores to it without any call. Prints "got PAGE BYTES_COLLAPSED", "time WHAT WINDOW BARE" in
 * milliseconds (populate, pin), and for each kind and round "NAME WINDOW BARE PLAIN" in nanoseconds for each
 * operation. Exit code 77: the pages are not to be had. */
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef MFD_HUGETLB
#define MFD_HUGETLB 4U
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define INNER 128 /* operations for each flush */
#define LONG 256  /* bytes of a long put */

static int me;
static size_t bytes, page;
static const char *pages;
static long ops;
static uint64_t state = 88172645463325252u;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline size_t random_word(uint64_t with)
{
    uint64_t x = state ^ with;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    state = x;
    return x & (bytes / 8 - 1);
}

static int skip(const char *what)
{
    printf("skipped: %s: %s\n", what, strerror(errno));
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 77);
    return 77;
}

/* Milliseconds that pinning takes; -1: not allowed. */
static double pin(void *base)
{
    double begin = now();
    int failed = mlock(base, bytes);
    double took = 1e3 * (now() - begin);
    munlock(base, bytes);
    return failed ? -1 : took;
}

static char *make_bare(double *took)
{
    unsigned flags = page > 4096 ? MFD_HUGETLB | (unsigned)__builtin_ctzl(page) << 26 : 0;
    size_t align = page > (2 << 20) ? page : 2 << 20, len = (bytes + page - 1) / page * page;
    int fd = memfd_create("bare", flags | MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)len) != 0) {
        skip("memfd_create");
    }
    char *room = mmap(NULL, len + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *at = room + (-(uintptr_t)room & (align - 1));
    double begin = now();
    char *base = mmap(at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0);
    if (base == MAP_FAILED || madvise(base, len, MADV_POPULATE_WRITE) != 0) {
        skip("bare mapping");
    }
    if (strcmp(pages, "thp") == 0 && madvise(base, bytes, MADV_COLLAPSE) != 0) {
        skip("MADV_COLLAPSE");
    }
    *took = 1e3 * (now() - begin);
    close(fd);
    return base;
}

/* The window of both ranks; only rank 0's pages are taken. */
static MPI_Win make_window(double *took, double *pinned)
{
    MPI_Win win;
    MPI_Info info;
    char *base;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    if (me == 0) {
        MPI_Info_set(info, "hotlane_page_size", strcmp(pages, "thp") == 0 ? "2M" : pages);
        MPI_Info_set(info, "hotlane_mem_policy", page > 4096 ? "M" : "P");
    }
    double begin = now();
    int rc = MPI_Win_allocate((MPI_Aint)bytes, 8, info, MPI_COMM_WORLD, &base, &win);
    if (rc != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int len;
        MPI_Error_string(rc, text, &len);
        if (me == 0) {
            printf("skipped: %s\n", text);
        }
        MPI_Finalize();
        exit(77);
    }
    if (me == 0) {
        for (size_t i = 0; i < bytes; i += 4096) { /* base pages come when they are touched */
            *(volatile char *)(base + i) = 0;
        }
        *took = 1e3 * (now() - begin);
        *pinned = pin(base);
    }
    MPI_Info_free(&info);
    return win;
}

enum kind { PUT8, GET8, DEPENDENT, PUT256, KINDS };
static const char *const names[KINDS] = {"put8", "get8", "dependent", "put256"};
static const long share[KINDS] = {1, 1, 8, 8}; /* of OPS */

static double time_calls(enum kind kind, MPI_Win win, int target)
{
    static uint64_t buffer[LONG / 8];
    uint64_t got[INNER] = {0}, last = 0;
    long count = ops / share[kind], inner = kind == DEPENDENT ? 1 : INNER;
    double begin = now();
    for (long i = 0; i < count; i += inner) {
        for (long k = 0; k < inner; k++) {
            size_t at = random_word(kind == DEPENDENT ? last & 1 : 0);
            if (kind == PUT8) {
                MPI_Put(&buffer[0], 1, MPI_UINT64_T, target, (MPI_Aint)at, 1, MPI_UINT64_T, win);
            } else if (kind == PUT256) {
                MPI_Put(buffer, LONG / 8, MPI_UINT64_T, target, (MPI_Aint)(at & ~(size_t)(LONG / 8 - 1)),
                        LONG / 8, MPI_UINT64_T, win);
            } else {
                MPI_Get(&got[k], 1, MPI_UINT64_T, target, (MPI_Aint)at, 1, MPI_UINT64_T, win);
            }
        }
        MPI_Win_flush(target, win);
        last = got[0];
    }
    return 1e9 * (now() - begin) / (double)count;
}

static double time_plain(enum kind kind, volatile uint64_t *base)
{
    static uint64_t buffer[LONG / 8];
    uint64_t last = 0, sum = 0;
    long count = ops / share[kind];
    double begin = now();
    for (long i = 0; i < count; i++) {
        size_t at = random_word(last & 1);
        if (kind == PUT8) {
            base[at] = 0;
        } else if (kind == PUT256) {
            memcpy((char *)(uintptr_t)base + ((8 * at) & ~(size_t)(LONG - 1)), buffer, LONG);
            __asm__ volatile("" ::: "memory");
        } else if (kind == GET8) {
            sum += base[at];
        } else {
            last = base[at];
        }
    }
    double took = 1e9 * (now() - begin) / (double)count;
    return sum == 1 ? 0 : took; /* all words are 0: nobody may leave the loads out */
}

static void measure(MPI_Win win, MPI_Win bare_win, char *bare, int rounds)
{
    MPI_Win_lock_all(0, win);
    MPI_Win_lock_all(0, bare_win);
    for (int round = -1; round < rounds; round++) { /* the first fills the page tables */
        for (int k = 0; k < KINDS; k++) {
            double window = time_calls(k, win, 0), beside = time_calls(k, bare_win, 0);
            double plain = time_plain(k, (volatile uint64_t *)(void *)bare);
            if (round >= 0) {
                printf("%s %.3f %.3f %.3f\n", names[k], window, beside, plain);
            }
        }
    }
    MPI_Win_unlock_all(bare_win);
    MPI_Win_unlock_all(win);
}

/* Every page of the window once by this rank's own mapping. */
static void touch(MPI_Win win)
{
    uint64_t word = 0;
    MPI_Win_lock_all(0, win);
    for (size_t i = 0; i < bytes / 8; i += 512) {
        MPI_Put(&word, 1, MPI_UINT64_T, 0, (MPI_Aint)i, 1, MPI_UINT64_T, win);
    }
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    double took[4] = {0};
    MPI_Win win, bare_win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc != 5) {
        fprintf(stderr, "usage: mem-page MIB PAGES OPS ROUNDS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    bytes = strtoul(argv[1], NULL, 10) << 20;
    pages = argv[2];
    page = strcmp(pages, "2M") == 0 ? 2 << 20 : strcmp(pages, "1G") == 0 ? 1 << 30 : 4096;
    ops = strtol(argv[3], NULL, 10);
    win = make_window(&took[0], &took[2]);
    if (me == 0) {
        MPI_Info info;
        char size[32] = "?";
        int len = sizeof size, there;
        MPI_Win_get_info(win, &info);
        MPI_Info_get_string(info, "hotlane_page_size", &len, size, &there);
        MPI_Info_free(&info);
        printf("got %s\n", size);
        MPI_Send(took, 4, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    } else {
        double mine[4] = {0};
        char *bare = make_bare(&mine[1]);
        mine[3] = pin(bare);
        MPI_Recv(took, 4, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("time populate %.2f %.2f\ntime pin %.3f %.3f\n", took[0], mine[1], took[2], mine[3]);
        MPI_Win_create(bare, (MPI_Aint)bytes, 8, MPI_INFO_NULL, MPI_COMM_SELF, &bare_win);
        touch(win);
        measure(win, bare_win, bare, (int)strtol(argv[4], NULL, 10));
        MPI_Win_free(&bare_win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
