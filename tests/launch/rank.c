/* rank MODE: one rank of a launcher test, over the boot module alone (no MPI). Says what it sees, misbehaves
 * on demand. */
#include "boot.h"
#include "conf.h"
#include "err.h"
#include "job.h"
#include "stat.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void nap(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000l};
    nanosleep(&t, NULL);
}

static void check(int rc, const char *what)
{
    if (rc) {
        fprintf(stderr, "rank %d: %s: %s\n", hl_job.rank, what, hl_err_text(rc));
        exit(40);
    }
}

static void want(bool truth, const char *what)
{
    if (!truth) {
        fprintf(stderr, "rank %d: not true: %s\n", hl_job.rank, what);
        hl_job_abort(41);
    }
}

/* Every byte value, more than one piece, every rank reads its neighbour. */
static void exchange(void)
{
    unsigned char mine[3000], got[3000];
    int next = (hl_job.rank + 1) % hl_job.size;
    size_t len = 0;
    for (size_t i = 0; i < sizeof mine; i++) {
        mine[i] = (unsigned char)(i + (size_t)hl_job.rank);
    }
    check(hl_boot_put("card", mine, sizeof mine), "put");
    check(hl_boot_fence(), "fence");
    check(hl_boot_get(next, "card", got, sizeof got, &len), "get");
    want(len == sizeof got, "length of what was got");
    for (size_t i = 0; i < len; i++) {
        want(got[i] == (unsigned char)(i + (size_t)next), "bytes of what was got");
    }
    if (hl_job_node_of(next) < 0) {
        next = hl_job.rank; /* of other nodes PMIx learns it late */
    }
    want(hl_boot_get(next, "nothing", got, sizeof got, &len) == HL_ERR_FOUND_NONE, "absence is seen");
}

static int make_board(size_t bytes)
{
    int fd = memfd_create("board", MFD_CLOEXEC);
    check(ftruncate(fd, (off_t)bytes), "size of the board");
    return fd;
}

static int make_file(int ranks)
{
    return make_board((size_t)ranks * sizeof(int));
}

static int make_none(int ranks)
{
    (void)ranks;
    return HL_ERR_NO_MEM;
}

/* Files of the group: one for all of them, or none. */
static void files(void)
{
    int fd = 0, rank = -1;
    check(hl_boot_node_file(make_none, &fd), "no file");
    want(fd == -1, "all know that there is none");
    check(hl_boot_node_file(make_file, &fd), "file");
    want((fd >= 0) == (hl_job.node_size > 1), "a group has its file");
    if (fd >= 0) {
        off_t at = (off_t)sizeof rank * hl_job.node_rank, other = (off_t)sizeof rank * (hl_job.node_size - 1);
        want(pwrite(fd, &hl_job.rank, sizeof rank, at) == (ssize_t)sizeof rank, "write");
        check(hl_boot_fence(), "fence");
        want(pread(fd, &rank, sizeof rank, other) == (ssize_t)sizeof rank, "read");
        want(rank == hl_job.node_world[hl_job.node_size - 1], "the file is the group's");
        close(fd);
    } else {
        check(hl_boot_fence(), "fence");
    }
}

/* The board is one memory of the group, and the group's own. */
static void board(void)
{
    void *base = NULL;
    size_t bytes = sizeof(int) * (size_t)hl_job.node_size + 1000;
    files();
    check(hl_boot_node_share(bytes, make_board, &base), "share");
    volatile int *word = base;
    want(word[hl_job.node_rank] == 0, "the board is zero");
    check(hl_boot_fence(), "fence");
    word[hl_job.node_rank] = hl_job.rank + 1;
    check(hl_boot_fence(), "fence");
    for (int i = 0; i < hl_job.node_size; i++) {
        want(word[i] == hl_job.node_world[i] + 1, "the board shows the group");
    }
    for (int i = 0; i < hl_job.size; i++) {
        int at = hl_job_node_of(i);
        want(at < 0 || hl_job.node_world[at] == i, "node_of and node_world agree");
    }
    want(hl_job_node_of(hl_job.rank) == hl_job.node_rank, "node_of knows me");
}

/* Every rank gets the values of all, each in an order of its own, and says what that asked of the launcher.
 */
static void kvs_cache(void)
{
    char mine[1500], got[2000];
    uint64_t asked = 0, found = 0;
    size_t len = 0;
    void *base = NULL;
    check(hl_boot_node_share(64, make_board, &base), "share");
    memset(mine, 'a' + hl_job.rank % 26, sizeof mine);
    check(hl_boot_put("value", mine, sizeof mine), "put");
    check(hl_boot_fence(), "fence");
    for (int i = 0; i < hl_job.size; i++) {
        int rank = (hl_job.rank * 3 + i) % hl_job.size;
        check(hl_boot_get(rank, "value", got, sizeof got, &len), "get");
        memset(mine, 'a' + rank % 26, sizeof mine);
        want(len == sizeof mine && memcmp(got, mine, len) == 0, "bytes of what was got");
    }
    check(hl_boot_fence(), "fence");
    hl_stat_get("launcher_gets", &asked);
    hl_stat_get("shelf_gets", &found);
    printf("rank %d asked %d found %d\n", hl_job.rank, (int)asked, (int)found);
    want(hl_boot_get(0, "value", got, sizeof mine - 1, &len) == HL_ERR_TRUNCATE && len == sizeof mine,
         "a value that is too long is refused");
}

/* Takes one message, waiting for it. */
static int take(char *text, size_t cap, int *fd)
{
    size_t len = 0;
    int from = -1, rc;
    struct pollfd p = {hl_boot_node_fd(), POLLIN, 0};
    while ((rc = hl_boot_node_recv(text, cap, &len, &from, fd)) == HL_ERR_AGAIN) {
        poll(&p, 1, 1000);
    }
    check(rc, "recv");
    return from;
}

/* In a group of two or more: a descriptor travels to the next rank of the group, which finds the sender's
 * words in it. */
static void sockets(void)
{
    char text[64], got[64];
    int from, fd = -1, next = (hl_job.node_rank + 1) % hl_job.node_size;
    int mem = memfd_create("test", MFD_CLOEXEC), n = snprintf(text, sizeof text, "words of %d", hl_job.rank);
    want(write(mem, text, sizeof text) == (ssize_t)sizeof text, "memfd takes words");
    check(hl_boot_node_send(next, text, (size_t)n + 1, mem), "send");
    from = take(got, sizeof got, &fd);
    want(from == (hl_job.node_rank + hl_job.node_size - 1) % hl_job.node_size, "the sender is named");
    want(fd >= 0, "a descriptor came along");
    want(pread(fd, text, sizeof text, 0) == (ssize_t)sizeof text && !strcmp(text, got),
         "it is the sender's memory");
    n = snprintf(text, sizeof text, "words of %d", hl_job.node_world[from]);
    want(n > 0 && !strcmp(text, got), "the words are the sender's");
}

/* Takes what is there; returns how many messages of `seen[sender]` were in order. */
static int drain(int *seen)
{
    int word[2], from, fd, n = 0, rc;
    size_t len;
    while ((rc = hl_boot_node_recv(word, sizeof word, &len, &from, &fd)) == 0) {
        want(len == sizeof word && fd < 0 && word[0] == hl_job.node_world[from], "a message is whole");
        want(word[1] == seen[from], "messages of one sender come in order");
        seen[from]++;
        n++;
    }
    want(rc == HL_ERR_AGAIN, "nothing else is wrong with the socket");
    return n;
}

/* Everybody sends `count` messages to everybody, through queues that are always full: none is lost. */
static void flood(int count)
{
    int *seen = calloc((size_t)hl_job.node_size, sizeof *seen), got = 0;
    for (int i = 0; i < count; i++) {
        for (int to = 0; to < hl_job.node_size; to++) {
            int word[2] = {hl_job.rank, i}, rc;
            while ((rc = hl_boot_node_send(to, word, sizeof word, -1)) == HL_ERR_AGAIN) {
                got += drain(seen);
            }
            check(rc, "send");
        }
    }
    struct pollfd p = {hl_boot_node_fd(), POLLIN, 0};
    while ((got += drain(seen)) < count * hl_job.node_size) {
        poll(&p, 1, 1000);
    }
    check(hl_boot_fence(), "fence");
    free(seen);
}

static void facts(void)
{
    char list[4096] = "";
    for (int i = 0; i < hl_job.node_size; i++) {
        sprintf(list + strlen(list), "%s%d", i ? "," : "", hl_job.node_world[i]);
    }
    printf("rank %d of %d by %s node %d of %d: %s\n", hl_job.rank, hl_job.size, hl_boot.method,
           hl_job.node_rank, hl_job.node_size, list);
}

/* Survivors of --keep-going: the notice comes, the fence still meets, with an error. */
static void survive(void)
{
    int rank = -1, code = -1;
    if (hl_job.rank == 1) {
        raise(SIGKILL);
    }
    struct pollfd p = {hl_boot_watch_fd(), POLLIN, 0};
    while (hl_boot_watch_take(&rank, &code) == 0) {
        poll(&p, 1, 1000);
    }
    int rc = hl_boot_fence();
    printf("rank %d: %d died with %d, fence %s\n", hl_job.rank, rank, code,
           rc == HL_ERR_PROC_ABORTED ? "told" : "silent");
}

static void misbehave(const char *mode, int arg)
{
    bool one = hl_job.rank == 1 || hl_job.size == 1;
    const char *late = getenv("LAUNCH_RANK_LATE"); /* ms; then the launcher has nothing else to do */
    if (one && late != NULL) {
        nap(atoi(late));
    }
    if (!strcmp(mode, "exit") && one) {
        _exit(arg);
    }
    if (!strcmp(mode, "signal") && one) {
        signal(arg, SIG_DFL); /* a sanitizer may have its own ideas */
        raise(arg);
    }
    if (!strcmp(mode, "abort") && one) {
        hl_job_abort(arg);
    }
    if (!strcmp(mode, "late")) { /* rank 0 leaves with 5 first, rank 1 with 3 later */
        nap(hl_job.rank ? 30000 : 50);
        _exit(5);
    }
    if (!strcmp(mode, "fork") && one && !fork()) {
        hl_job_abort(9); /* the child ends only itself */
    }
    if (!strcmp(mode, "exit") || !strcmp(mode, "signal") || !strcmp(mode, "abort") ||
        !strcmp(mode, "sleep")) {
        printf("rank %d pid %d sleeps\n", hl_job.rank, (int)getpid());
        fflush(stdout);
        nap(60000);
    }
    if (!strcmp(mode, "finalexit")) {
        check(hl_boot_close(true), "close");
        exit(one ? arg : 0);
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int arg = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    check(hl_conf_load(), "settings");
    int rc = hl_boot_open();
    if (rc) {
        fprintf(stderr, "refused: %s\n", hl_err_text(rc));
        return 42;
    }
    if (!strcmp(mode, "all")) {
        exchange();
        board();
        if (hl_job.node_size > 1) {
            sockets();
        }
        check(hl_boot_fence(), "fence");
        facts();
    } else if (!strcmp(mode, "kvs_cache")) {
        kvs_cache();
    } else if (!strcmp(mode, "appnum")) {
        int number = -1;
        printf("program %d of rank %d\n", hl_job_appnum(&number) ? number : -1, hl_job.rank);
    } else if (!strcmp(mode, "flood")) {
        flood(arg);
    } else if (!strcmp(mode, "facts")) {
        facts();
    } else if (!strcmp(mode, "cpus")) {
        printf("rank %d: node of %d has %d CPUs\n", hl_job.rank, hl_job.node_size, hl_job.node_cpus);
    } else if (!strcmp(mode, "survive")) {
        survive();
    } else {
        misbehave(mode, arg);
    }
    check(hl_boot_close(true), "close");
    return 0;
}
