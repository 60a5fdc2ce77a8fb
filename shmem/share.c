/* Shares static data: copies it, then maps the copy over it. Signals are blocked and no other thread runs, so
 * no code sees the moment between.
 *
 * Only system calls touch the pages: sanitizers keep marks for the bytes between objects and would report a
 * read there. The marks stay right, since addresses do not change. */
#include "share.h"

#include "err.h"
#include "fork.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct hl_share hl_share;

/* ---- can data be shared? ---- */

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;
    if (tasks == NULL) {
        return -1;
    }
    for (const struct dirent *e = readdir(tasks); e != NULL; e = readdir(tasks)) {
        n += e->d_name[0] != '.';
    }
    closedir(tasks);
    return n;
}

/* Is the stretch ordinary private memory from end to end, no part of it protected or replaced by another
 * mapping? */
static bool is_plain(const struct hl_stretch *s)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    uintptr_t at = (uintptr_t)s->base, end = at + s->len;
    char line[512];
    while (maps != NULL && at < end && fgets(line, sizeof line, maps) != NULL) {
        uintptr_t lo, hi;
        char rights[5];
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &lo, &hi, rights) == 3 && lo <= at && at < hi &&
            strcmp(rights, "rw-p") == 0) {
            at = hi;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return at >= end;
}

static void say_why(const char *why)
{
    if (hl_share.why[0] == '\0') {
        snprintf(hl_share.why, sizeof hl_share.why, "%s", why);
    }
}

/* True when data can be shared at all; false after the reason was written to hl_share.why. */
static bool may_share(void)
{
    int threads = count_threads();
    char text[100];
    if (hl_share.objects.is_static) {
        say_why("the executable is statically linked");
    } else if (threads < 0) {
        say_why("/proc cannot be read");
    } else if (threads > 1) {
        snprintf(text, sizeof text, "other threads (%d) were running when the library was initialized",
                 threads - 1);
        say_why(text);
    }
    return hl_share.why[0] == '\0';
}

/* ---- sharing it ---- */

/* A part of /proc/self/pagemap, from which is_page_maybe_used tells pages of .bss that were never touched:
 * they hold zeros and need not be read. */
struct lookup {
    int fd; /* /proc/self/pagemap, or -1 */
    uintptr_t first;
    size_t n;
    uint64_t at[256];
};

static bool is_page_maybe_used(struct lookup *l, uintptr_t addr, size_t page)
{
    const uint64_t present_or_swapped = UINT64_C(3) << 62;
    size_t i = (addr - l->first) / page;
    if (l->fd < 0) {
        return true;
    }
    if (addr < l->first || i >= l->n) {
        ssize_t got = pread(l->fd, l->at, sizeof l->at, (off_t)(addr / page * sizeof l->at[0]));
        if (got < (ssize_t)sizeof l->at[0]) {
            return true;
        }
        l->first = addr;
        l->n = (size_t)got / sizeof l->at[0];
        i = 0;
    }
    return (l->at[i] & present_or_swapped) != 0;
}

HL_NO_SANITIZE static bool is_zero(const char *page, size_t len)
{
    const uint64_t *words = (const void *)page;
    uint64_t all = 0;
    for (size_t i = 0; i < len / sizeof *words; i++) {
        all |= words[i];
    }
    return all == 0;
}

static int write_all(int fd, const char *from, size_t len, size_t to)
{
    while (len > 0) {
        long done = syscall(SYS_pwrite64, fd, from, len, (off_t)to);
        if (done <= 0 && errno != EINTR) {
            return errno;
        }
        size_t n = done > 0 ? (size_t)done : 0;
        from += n;
        len -= n;
        to += n;
    }
    return 0;
}

/* Writes the pages of a stretch that are not zero to the segment. Returns 0 or errno. */
static int copy_stretch(const struct hl_stretch *s, int fd, struct lookup *l)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), from = 0, off = 0;
    for (int e = 0; e == 0 && off <= s->len; off += page) {
        bool there = off < s->len &&
                     (off < s->filled || is_page_maybe_used(l, (uintptr_t)s->base + off, page)) &&
                     !is_zero(s->base + off, page);
        if (!there) {
            e = off > from ? write_all(fd, s->base + from, off - from, s->off + from) : 0;
            from = off + page;
        }
        if (e != 0) {
            return e;
        }
    }
    return 0;
}

static int put_over(struct hl_stretch *s, int fd, struct lookup *l)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    int e = copy_stretch(s, fd, l);
    if (e == 0 && syscall(SYS_mmap, s->base, s->len, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, (off_t)s->off) == -1) {
        e = errno;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return e;
}

static void share_one(struct hl_stretch *s, int fd, struct lookup *l)
{
    char text[160];
    if (!is_plain(s)) {
        snprintf(text, sizeof text, "the data of %s is not ordinary private memory", s->name);
        say_why(text);
        return;
    }
    int e = hl_fork_keep(s->base, s->len, fd, s->off, HL_FORK_COPY);
    e = e == 0 ? put_over(s, fd, l) : ENOMEM;
    if (e != 0) {
        hl_fork_forget(s->base);
        snprintf(text, sizeof text, "%zu bytes of %s: %s", s->len, s->name, strerror(e));
        say_why(text);
        return;
    }
    s->shared = true;
}

static void share_all(void)
{
    struct hl_objects *o = &hl_share.objects;
    struct hl_mem_ask ask = {.own_segment = true};
    static struct lookup l; /* static: used once in a process, and too large for a stack */
    size_t total = 0;
    for (int i = 0; i < o->n_stretches; i++) {
        o->stretches[i].off = total;
        total += o->stretches[i].len;
    }
    if (total == 0 || !may_share()) {
        return;
    }
    int rc = hl_mem_alloc(total, &ask, &hl_share.piece);
    if (rc != 0) {
        hl_share.piece.seg = NULL;
        say_why(hl_err_text(rc));
        return;
    }
    l.fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < o->n_stretches; i++) {
        share_one(&o->stretches[i], hl_share.piece.seg->fd, &l);
    }
    if (l.fd >= 0) {
        close(l.fd);
    }
}

int hl_share_statics(bool share)
{
    if (hl_share.tried) {
        return 0;
    }
    int rc = hl_objects_find(&hl_share.objects);
    if (rc != 0) {
        return rc;
    }
    hl_share.tried = true;
    if (share) {
        share_all();
    }
    return 0;
}
