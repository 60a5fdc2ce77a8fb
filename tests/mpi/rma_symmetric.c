/* Windows whose memory begins at the same address on all ranks (hotlane_symmetric): what MPI_Win_get_info answers is
 * true; where addresses are taken, or ranks have called differently, they still work. Argument: windows of a storm. */
#include "rma.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__ /* whose shadow may lie anywhere */
#define CERTAIN false
#else
#define CERTAIN true
#endif
#define OWN ((MPI_Aint)8 << 20) /* from here on a window has a segment of its own */

enum { SHARED = 1, NONCONTIG = 2 }; /* what make_window makes; 0: MPI_Win_allocate */

struct made {
    MPI_Win win;
    long *base;
    MPI_Aint size;
    bool answer; /* of MPI_Win_get_info */
};

static MPI_Info info_of(const char *same, int how)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (same != NULL) {
        MPI_Info_set(info, "hotlane_symmetric", same);
    }
    if (how == NONCONTIG) {
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    }
    return info;
}

static bool answered(MPI_Win win)
{
    MPI_Info got;
    char value[16] = "";
    int len = sizeof value, there;
    MPI_Win_get_info(win, &got);
    MPI_Info_get_string(got, "hotlane_symmetric", &len, value, &there);
    MPI_Info_free(&got);
    CHECK(there && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0), "%s", value);
    return strcmp(value, "true") == 0;
}

/* Are the ranks' bases the same? All ranks of `comm` call. */
static bool same_bases(const void *base, MPI_Comm comm)
{
    int64_t mine[2] = {(int64_t)(uintptr_t)base, -(int64_t)(uintptr_t)base}, most[2];
    MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, comm);
    return most[0] == -most[1];
}

/* Every rank writes to every other, and reads what it wrote. */
static void exchange(const struct made *m, MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    long value[2] = {rank + 7, rank * 3}, back = -1;
    bool room = m->size >= (MPI_Aint)sizeof(long) * size, all;
    MPI_Allreduce(&room, &all, 1, MPI_C_BOOL, MPI_LAND, comm);
    if (!all) {
        return;
    }
    MPI_Win_fence(0, m->win);
    for (int i = 0; i < size; i++) {
        MPI_Put(value, 1, MPI_LONG, i, rank, 1, MPI_LONG, m->win);
    }
    MPI_Win_fence(0, m->win);
    for (int i = 0; i < size; i++) {
        CHECK(m->base[i] == i + 7, "from %d: %ld", i, m->base[i]);
    }
    MPI_Win_fence(0, m->win);
    for (int i = 0; i < size; i++) {
        MPI_Accumulate(&value[1], 1, MPI_LONG, i, rank, 1, MPI_LONG, MPI_SUM, m->win);
    }
    MPI_Win_fence(0, m->win);
    MPI_Get(&back, 1, MPI_LONG, (rank + 1) % size, rank, 1, MPI_LONG, m->win);
    MPI_Win_fence(0, m->win);
    CHECK(back == rank + 7 + rank * 3, "%ld", back);
}

/* What the memory of node peers is, by MPI_Win_shared_query. */
static void query(const struct made *m, MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < size; i++) {
        MPI_Aint bytes;
        int unit;
        long *there = NULL;
        MPI_Win_shared_query(m->win, i, &bytes, &unit, &there);
        if (i == rank) {
            CHECK(there == m->base, "%p %p", (void *)there, (void *)m->base);
        } else if (there != NULL && bytes >= (MPI_Aint)sizeof(long)) {
            there[0] = there[0]; /* it is mapped */
        }
    }
}

/* Makes a window, looks at its answer, and uses it. */
static struct made make_window(MPI_Aint size, const char *same, int how, MPI_Comm comm)
{
    struct made m = {.size = size};
    MPI_Info info = info_of(same, how);
    if (how == 0) {
        MPI_Win_allocate(size, sizeof(long), info, comm, &m.base, &m.win);
    } else {
        MPI_Win_allocate_shared(size, sizeof(long), info, comm, &m.base, &m.win);
    }
    MPI_Info_free(&info);
    m.answer = answered(m.win);
    bool fact = same_bases(m.base, comm), agreed;
    MPI_Allreduce(&m.answer, &agreed, 1, MPI_C_BOOL, MPI_LAND, comm);
    CHECK(agreed == m.answer, "the ranks are told different things");
    CHECK(!m.answer || fact, "answered true, bases differ: %p", (void *)m.base);
    exchange(&m, comm);
    query(&m, comm);
    return m;
}

static bool once(MPI_Aint size, const char *same, int how)
{
    struct made m = make_window(size, same, how, MPI_COMM_WORLD);
    MPI_Win_free(&m.win);
    return m.answer;
}

static void sizes(void)
{
    static const MPI_Aint equal[] = {0, 1, 8, 4096, 100000, (MPI_Aint)8 << 20, ((MPI_Aint)20 << 20) + 1};
    for (int i = 0; i < (int)(sizeof equal / sizeof equal[0]); i++) {
        CHECK(once(equal[i], NULL, 0) || !CERTAIN, "%ld bytes", (long)equal[i]);
        CHECK(once(equal[i], "try", 0) || !CERTAIN, "%ld bytes", (long)equal[i]);
        CHECK(once(equal[i], "true", 0) || !CERTAIN, "%ld bytes", (long)equal[i]);
        CHECK(!once(equal[i], "false", 0), "%ld bytes", (long)equal[i]);
    }
    (void)once(me % 2 == 0 ? 0 : 4096, NULL, 0);
    (void)once(4096 * (me + 1), NULL, 0);
    CHECK(once(4096 * (me + 1), "true", 0) || !CERTAIN, "unequal sizes");
    CHECK(once(OWN * (1 + me % 2), "true", 0) || !CERTAIN, "unequal sizes, own segments");
    CHECK(once(me % 2 == 0 ? OWN : 64, "true", 0) || !CERTAIN, "an own segment and a part of an arena");
}

/* Runs with stderr in a file, and counts lines with these words. */
static int lines(const char *words, void (*run)(void))
{
    char text[8192];
    int fd = memfd_create("stderr", 0), old = dup(2), n = 0;
    fflush(stderr);
    dup2(fd, 2);
    run();
    dup2(old, 2);
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = 0;
    for (const char *at = text; (at = strstr(at, words)) != NULL; at++) {
        n++;
    }
    close(fd);
    close(old);
    return n;
}

static void refused_by_one(void)
{
    CHECK(!once(4096, me == ranks - 1 ? "false" : "true", 0) || ranks == 1, "one rank said false");
}

static void contiguous(void)
{
    struct made m = make_window(4096, "true", SHARED, MPI_COMM_SELF);
    CHECK(m.answer || !CERTAIN, "a window of one rank");
    MPI_Win_free(&m.win);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    m = make_window(4096, NULL, NONCONTIG, node);
    CHECK(m.answer || !CERTAIN, "parts of their own");
    MPI_Win_free(&m.win);
    int size;
    MPI_Comm_size(node, &size);
    m = make_window(4096, NULL, SHARED, node);
    CHECK(!m.answer || size == 1, "contiguous parts");
    MPI_Win_free(&m.win);
    MPI_Comm_free(&node);
}

static bool blocked_answer;

static void make_blocked(void)
{
    blocked_answer = once(OWN, "true", 0);
}

/* Takes free addresses; false: something is there. */
static bool block(char *at, size_t len)
{
    void *got = mmap(at, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got != at && got != MAP_FAILED) {
        munmap(got, len);
    }
    return got == at;
}

/* Somebody else has the addresses, on one rank. */
static void taken(void)
{
    struct made m = make_window(OWN, "true", 0, MPI_COMM_WORLD);
    void *at = m.base;
    MPI_Win_free(&m.win);
    if (!m.answer) {
        return;
    }
    if (me == 0) {
        CHECK(block(at, 4096), "the range was not given back: %s", strerror(errno));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!once(OWN, NULL, 0) || ranks == 1, "a rank has it elsewhere");
    CHECK(once(OWN, "true", 0), "there is more address space");
    /* Now all of it is taken there. */
    const size_t all = (size_t)1 << 42;
    char *far = (char *)at + 4096;
    bool blocked = me == 0 && block(far, all);
    MPI_Bcast(&blocked, 1, MPI_C_BOOL, 0, MPI_COMM_WORLD);
    if (blocked) {
        int told = lines("hotlane_symmetric=true is not honoured", make_blocked);
        CHECK(blocked_answer == (ranks == 1 && blocked_answer), "there is no such address");
        CHECK(told == (me == 0 && !blocked_answer), "%d lines", told);
    }
    if (me == 0) {
        munmap(at, 4096);
        if (blocked) {
            munmap(far, all);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(once(OWN, NULL, 0), "free again");
}

static long address_space(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld", &pages) != 1) {
        pages = 0;
    }
    if (f != NULL) {
        fclose(f);
    }
    return pages;
}

/* Many made and freed, several alive: the addresses come again. */
static void storm(int n)
{
    enum { ALIVE = 8 };
    struct made alive[ALIVE];
    void *first = NULL, *last = NULL;
    long before = 0;
    for (int i = 0; i < n; i++) {
        struct made *m = &alive[i % ALIVE];
        if (i >= ALIVE) {
            MPI_Win_free(&m->win);
        }
        MPI_Win_allocate(i % 2 == 0 ? OWN : 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &m->base, &m->win);
        CHECK(answered(m->win) || !CERTAIN, "window %d", i);
        first = i == 0 ? m->base : first;
        if (i == 2 * ALIVE) {
            before = address_space();
        }
    }
    CHECK(address_space() - before <= 2 * ALIVE * (long)(OWN / 4096), "%ld pages more",
          address_space() - before);
    for (int i = 0; i < (n < ALIVE ? n : ALIVE); i++) {
        MPI_Win_free(&alive[i].win);
    }
    struct made m = make_window(OWN, NULL, 0, MPI_COMM_WORLD);
    last = m.base;
    MPI_Win_free(&m.win);
    CHECK(first == last || !CERTAIN, "%p %p", first, last);
}

/* Ranks that have called differently. */
static void apart(void)
{
    MPI_Comm half;
    struct made kept[3];
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half);
    int n = me % 2 == 0 ? 3 : 1;
    for (int i = 0; i < n; i++) {
        kept[i] = make_window(i == 2 ? OWN : 4096, NULL, 0, half);
        CHECK(kept[i].answer || !CERTAIN, "window %d of a half", i);
    }
    (void)once(4096, NULL, 0);
    (void)once(OWN, NULL, 0);
    CHECK(once(4096, "true", 0) || !CERTAIN, "behind windows of halves");
    CHECK(once(OWN, "true", 0) || !CERTAIN, "behind windows of halves");
    for (int i = 0; i < n; i++) {
        MPI_Win_free(&kept[i].win);
    }
    MPI_Comm_free(&half);
    CHECK(once(4096, NULL, 0) || !CERTAIN, "all are gone");
}

/* Kinds, page sizes and alignments. */
static void hints(void)
{
    static const char *const pages[] = {"4K", "2M", NULL};
    for (int i = 0; i < 3; i++) {
        for (int big = 0; big < 2; big++) {
            struct made m = {.size = big != 0 ? OWN : 4096};
            MPI_Info info = info_of("true", 0);
            if (pages[i] != NULL) {
                MPI_Info_set(info, "hotlane_page_size", pages[i]);
            }
            MPI_Info_set(info, "hotlane_mem_kind", "DDR");
            MPI_Info_set(info, "mpi_minimum_memory_alignment", "4194304");
            MPI_Win_allocate(m.size, sizeof(long), info, MPI_COMM_WORLD, &m.base, &m.win);
            MPI_Info_free(&info);
            CHECK(answered(m.win) || !CERTAIN, "pages of %s", pages[i] != NULL ? pages[i] : "any size");
            CHECK((uintptr_t)m.base % 4194304 == 0, "%p", (void *)m.base);
            exchange(&m, MPI_COMM_WORLD);
            MPI_Win_free(&m.win);
        }
    }
}

static void child(void)
{
    struct made m = make_window(OWN, NULL, 0, MPI_COMM_WORLD);
    int status = -1;
    m.base[1] = 1234;
    pid_t pid = fork();
    if (pid == 0) {
        _exit(m.base[1] == 1234 ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d",
          status);
    MPI_Barrier(MPI_COMM_WORLD);
    exchange(&m, MPI_COMM_WORLD);
    MPI_Win_free(&m.win);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    sizes();
    int told = lines("hotlane_symmetric=true is not honoured", refused_by_one);
    CHECK(told == (me == 0 && ranks > 1), "%d lines", told);
    contiguous();
    taken();
    apart();
    hints();
    child();
    storm(argc > 1 ? atoi(argv[1]) : 200);
    return finish_checks("rma_symmetric");
}
