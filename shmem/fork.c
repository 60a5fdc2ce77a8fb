/* Takes a snapshot of shared pages in the parent, as the last step before the fork, and lays it over them as
 * the first step in the child. A snapshot taken in the child would hold what the parent stored meanwhile.
 *
 * Of several fork handlers the first registered runs last before the fork, and first after it. So ours are
 * registered when the library is loaded, before the program's own. Until the copies are in place, the child's
 * part makes only raw system calls and stores only to its stack. */
#include "fork.h"

#include "err.h"
#include "lock.h"
#include "util.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

struct kept {
    char *base;
    size_t len;
    int fd;
    off_t off;
    enum hl_fork_how how;
    char *copy; /* during a fork: the snapshot, or NULL */
};

/* Larger data are not copied: the machine may not have memory for both copies. */
#define COPY_MAX ((size_t)1 << 30)

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct kept *table HL_GUARDED_BY(lock);
static size_t count HL_GUARDED_BY(lock), room HL_GUARDED_BY(lock);

int hl_fork_keep(char *base, size_t len, int fd, size_t off, enum hl_fork_how how)
{
    hl_mutex_lock(&lock);
    bool noted = hl_grow(&table, count, &room, sizeof *table);
    if (noted) {
        table[count++] =
            (struct kept){.base = base, .len = len, .fd = fd, .off = (off_t)off, .how = how, .copy = NULL};
    }
    hl_mutex_unlock(&lock);
    return noted ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory to note what a forked child must not share");
}

void hl_fork_forget(const char *base)
{
    hl_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        if (table[i].base == base) {
            table[i] = table[--count];
            break;
        }
    }
    hl_mutex_unlock(&lock);
}

/* Calls fn(k, at, len, sum) for each range of the file that has pages. Stops with false when fn returns
 * false. */
static bool each_part(const struct kept *k,
                      bool (*fn)(const struct kept *k, off_t at, size_t len, size_t *sum), size_t *sum)
{
    off_t end = k->off + (off_t)k->len, at = lseek(k->fd, k->off, SEEK_DATA);
    while (at >= 0 && at < end) {
        off_t hole = lseek(k->fd, at, SEEK_HOLE);
        hole = hole < 0 || hole > end ? end : hole;
        if (!fn(k, at, (size_t)(hole - at), sum)) {
            return false;
        }
        at = lseek(k->fd, hole, SEEK_DATA);
    }
    return true;
}

static bool sum_kept_range(const struct kept *k, off_t at, size_t len, size_t *sum)
{
    (void)k;
    (void)at;
    *sum += len;
    return true;
}

static bool read_part(const struct kept *k, off_t at, size_t len, size_t *sum)
{
    char *to = k->copy + (at - k->off);
    (void)sum;
    while (len > 0) {
        long n = syscall(SYS_pread64, k->fd, to, len, at);
        if (n <= 0 && errno != EINTR) {
            return false;
        }
        n = n > 0 ? n : 0;
        to += n;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

static void snapshot_kept(struct kept *k)
{
    size_t sum = 0;
    (void)each_part(k, sum_kept_range, &sum);
    if (sum > COPY_MAX) {
        return;
    }
    long got = syscall(SYS_mmap, NULL, k->len, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == -1) {
        return;
    }
    k->copy = (char *)got; /* NOLINT(performance-no-int-to-ptr) */
    if (!each_part(k, read_part, &sum)) {
        syscall(SYS_munmap, k->copy, k->len);
        k->copy = NULL;
    }
}

static void before_fork(void) HL_NO_TSA
{
    int e = errno;
    hl_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        if (table[i].how == HL_FORK_COPY) {
            snapshot_kept(&table[i]);
        }
    }
    errno = e;
}

static void in_parent(void) HL_NO_TSA
{
    int e = errno;
    for (size_t i = 0; i < count; i++) {
        if (table[i].copy != NULL) {
            syscall(SYS_munmap, table[i].copy, table[i].len);
            table[i].copy = NULL;
        }
    }
    hl_mutex_unlock(&lock);
    errno = e;
}

static void restore_in_child(void) HL_NO_TSA
{
    const struct kept *at = table;
    size_t n = count;
    for (size_t i = 0; i < n; i++) {
        const struct kept *k = &at[i];
        if (k->how == HL_FORK_LOOK) {
            syscall(SYS_mprotect, k->base, k->len, PROT_READ);
        } else if (k->copy != NULL) {
            syscall(SYS_mremap, k->copy, k->len, k->len, MREMAP_MAYMOVE | MREMAP_FIXED, k->base);
        } else {
            syscall(SYS_mmap, k->base, k->len, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, k->fd, k->off);
        }
    }
    count = 0; /* the memory is private now, so the child's own children need nothing */
    hl_mutex_unlock(&lock);
}

/* Early among constructors, so that the handlers are registered first. */
__attribute__((constructor(200))) static void hook_fork(void)
{
    pthread_atfork(before_fork, in_parent, restore_in_child);
}
