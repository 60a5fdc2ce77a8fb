/* Origins, messages and windows in memory that may only be read: constants, pages that are protected, files that
 * are mapped to be read. Network cards register memory, and their drivers may refuse such memory. Argument:
 * "origins" where such memory cannot be a window. */
#include "rma.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST (1 << 20)

enum { CONSTANT, PROTECTED, MAPPED, KINDS };
static const char *const names[KINDS] = {"a constant", "protected pages", "a mapped file"};
static const uint8_t constant[MOST] = {[0] = 1, [MOST / 2] = 2, [MOST - 1] = 3};
static const int lengths[] = {8, 4096, 100000, MOST};
static uint8_t *got;
static MPI_Win win;
static int next, before;

/* The bytes of a kind, the same on all ranks. */
static const uint8_t *make(int kind)
{
    if (kind == CONSTANT) {
        return constant;
    }
    bool file = kind == MAPPED; /* of this program, which has the constant in it */
    int fd = file ? open("/proc/self/exe", O_RDONLY) : -1;
    uint8_t *p = mmap(NULL, MOST, file ? PROT_READ : PROT_READ | PROT_WRITE,
                      file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
    if (p == MAP_FAILED) {
        perror("mmap");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < MOST && !file; i++) {
        p[i] = (uint8_t)(i * 7);
    }
    CHECK(mprotect(p, MOST, PROT_READ) == 0, "mprotect");
    close(fd);
    return p;
}

static void check_got(int kind, const uint8_t *from, int n, const char *what)
{
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        wrong += got[i] != from[i];
    }
    CHECK(wrong == 0, "%s: %d of %d bytes by %s are wrong", names[kind], wrong, n, what);
    memset(got, 0, (size_t)n);
}

static void put(int kind, const uint8_t *from, int n, bool request)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Win_lock_all(0, win);
    if (request) {
        MPI_Rput(from, n, MPI_BYTE, next, 0, n, MPI_BYTE, win, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Put(from, n, MPI_BYTE, next, 0, n, MPI_BYTE, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    check_got(kind, from, n, request ? "MPI_Rput" : "MPI_Put");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void accumulate(int kind, const uint8_t *from, int n)
{
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(from, n / 8, MPI_INT64_T, next, 0, n / 8, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    check_got(kind, from, n / 8 * 8, "MPI_Accumulate");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void message(int kind, const uint8_t *from, int n)
{
    MPI_Sendrecv(from, n, MPI_BYTE, next, 0, got, n, MPI_BYTE, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_got(kind, from, n, "MPI_Sendrecv");
    MPI_Barrier(MPI_COMM_WORLD); /* before the next put */
}

/* What is exposed is only read. */
static void expose(int kind, const uint8_t *from)
{
    MPI_Win there;
    MPI_Win_create((void *)(uintptr_t)from, MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &there);
    MPI_Win_lock_all(0, there);
    MPI_Get(got, MOST, MPI_BYTE, before, 0, MOST, MPI_BYTE, there);
    MPI_Win_unlock_all(there);
    check_got(kind, from, MOST, "MPI_Get");
    MPI_Win_free(&there);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    next = (me + 1) % ranks;
    before = (me + ranks - 1) % ranks;
    MPI_Win_allocate(MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &got, &win);
    memset(got, 0, MOST);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int kind = 0; kind < KINDS; kind++) {
        const uint8_t *from = make(kind);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            put(kind, from, lengths[i], false);
            put(kind, from, lengths[i], true);
            accumulate(kind, from, lengths[i]);
            message(kind, from, lengths[i]);
        }
        if (argc == 1) {
            expose(kind, from);
        }
        if (kind != CONSTANT) {
            munmap((void *)(uintptr_t)from, MOST);
        }
    }
    MPI_Win_free(&win);
    return finish_checks("rma_readonly");
}
