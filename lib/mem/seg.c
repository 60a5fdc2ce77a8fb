/* The memory of a segment, made in this order: memfd -> size, sealed -> reserved aligned range -> shared
 * mapping -> policy -> pages, when asked -> proof. Every shortage is found as an error code before anybody
 * touches the memory, and closing the file gives back what a half-done try had taken. */
#include "seg.h"

#include "bounds.h"
#include "err.h"
#include "hugepool.h"
#include "log.h"
#include "place.h"
#include "stat.h"
#include "sys.h"
#include "topo.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define LOOK_BYTES ((size_t)32 << 20) /* base pages taken between two looks at the free memory */

static bool is_huge_segment(const struct hl_seg *seg)
{
    return seg->page > hl_topo_page();
}

/* Page size of a file in bytes, from its file system; 0: not known. */
static size_t page_of(int fd)
{
    struct statfs fs;
    if (hl_sys.fstatfs(fd, &fs) != 0) {
        return 0;
    }
    return fs.f_type == HUGETLBFS_MAGIC ? (size_t)fs.f_bsize : hl_topo_page();
}

int hl_seg_make_file(struct hl_seg *seg)
{
    unsigned huge =
        is_huge_segment(seg) ? MFD_HUGETLB | (unsigned)__builtin_ctzll(seg->page) << MAP_HUGE_SHIFT : 0;
    int fd = hl_sys.memfd_create("hotlane", MFD_CLOEXEC | MFD_ALLOW_SEALING | huge);
    if (fd < 0) {
        return hl_bounds_refuse_file(seg->len, seg->page);
    }
    if (hl_sys.ftruncate(fd, (off_t)seg->len) != 0) {
        int rc = hl_bounds_refuse_file(seg->len, seg->page);
        close(fd);
        return rc;
    }
    if (is_huge_segment(seg) && page_of(fd) != seg->page) {
        int rc = hl_err_say(HL_ERR_NO_MEM, "%zu bytes: asked for pages of %zu bytes and got %zu", seg->len,
                            seg->page, page_of(fd));
        close(fd);
        return rc;
    }
    /* A peer that has the descriptor must not be able to shorten the file while others use it. */
    if (hl_sys.seal(fd, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        hl_log_once("cannot seal shared memory: %s", strerror(errno));
    }
    seg->fd = fd;
    return 0;
}

#define DUMP_GRAIN ((size_t)256 << 10) /* a multiple of all base pages */

/* The flags of a range that is reserved but not usable. */
#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

int hl_mem_reserve(size_t len, size_t align, char **out)
{
    if (align > SIZE_MAX / 4 || len > SIZE_MAX / 4) {
        errno = ENOMEM;
        return hl_bounds_refuse_map(len);
    }
    size_t whole = len + align;
    char *got = hl_sys.mmap(NULL, whole, PROT_NONE, RESERVED, -1, 0);
    if (got == MAP_FAILED) {
        return hl_bounds_refuse_map(len);
    }
    char *base = got + (hl_round_up((uintptr_t)got, align) - (uintptr_t)got);
    if (base > got) {
        hl_sys.munmap(got, (size_t)(base - got));
    }
    hl_sys.munmap(base + len, (size_t)(got + whole - (base + len)));
    *out = base;
    return 0;
}

int hl_mem_reserve_at(char *base, size_t len)
{
    /* The address is a wish, which the kernel grants where nothing is mapped. It is no MAP_FIXED_NOREPLACE:
     * ThreadSanitizer, in the program or here, makes NULL of addresses that are none for it, and the kernel
     * gives root a mapping at NULL then. */
    char *got = hl_sys.mmap(base, len, PROT_NONE, RESERVED, -1, 0);
    if (got != MAP_FAILED && got != base) {
        hl_sys.munmap(got, len);
    }
    return got == base ? 0 : HL_ERR_NO_MEM;
}

void hl_mem_unreserve(char *base, size_t len)
{
    hl_sys.munmap(base, len);
}

/* The range at least doubles each time, so that system calls and mappings are few. */
void hl_mem_dump(struct hl_seg *seg, size_t end)
{
    if (end == 0) {
        hl_sys.madvise(seg->base, seg->len, MADV_DONTDUMP);
        seg->dumped = 0;
    } else if (end > seg->dumped) {
        size_t grain = hl_max_size(seg->page, DUMP_GRAIN);
        size_t now = hl_min_size(hl_round_up(hl_max_size(end, 2 * seg->dumped), grain), seg->len);
        hl_sys.madvise(seg->base + seg->dumped, now - seg->dumped, MADV_DODUMP);
        seg->dumped = now;
    }
}

void hl_mem_unmap(char *base, size_t len, bool reserved)
{
    if (!reserved) {
        hl_sys.munmap(base, len);
    } else if (hl_sys.mmap(base, len, PROT_NONE, RESERVED | MAP_FIXED, -1, 0) == MAP_FAILED) {
        hl_log_once("%zu bytes of address space cannot be reserved again: %s", len, strerror(errno));
    }
}

/* Maps the segment's file, without a reservation of huge pages: with one, the kernel would take pages beyond
 * the pool at once, on any node. */
static int map_file(struct hl_seg *seg, size_t align)
{
    char *base = seg->base;
    int rc = 0;
    if (!seg->reserved) {
        rc = hl_mem_reserve(seg->len, align, &base);
    } else if ((uintptr_t)base % align != 0) {
        rc = hl_err_say(HL_ERR_ARG, "%zu bytes: the address %p is not a multiple of %zu", seg->len,
                        (void *)base, align);
    }
    if (rc != 0) {
        return rc;
    }
    if (hl_sys.mmap(base, seg->len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, seg->fd,
                    (off_t)seg->file_off) == MAP_FAILED) {
        rc = hl_bounds_refuse_map(seg->len);
        hl_mem_unmap(base, seg->len, seg->reserved);
        return rc;
    }
    seg->base = base;
    seg->dumped = seg->len;
    return 0;
}

int hl_mem_map_peer(int fd, size_t off, size_t len, void *at, char **base)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || (size_t)st.st_size < off || (size_t)st.st_size - off < len) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: the memory of the other rank is smaller", len);
    }
    struct hl_seg seg = {.fd = fd, .file_off = off, .len = len, .base = at, .reserved = at != NULL};
    int rc = map_file(&seg, hl_max_size(page_of(fd), HL_MEM_SEG_ALIGN));
    if (rc == 0) {
        *base = seg.base;
        hl_mem_dump(&seg, 0); /* it is in the core files of its owner */
    }
    return rc;
}

/* Takes the pages of [off, off + len). Returns 0 or errno. */
static int fill_pages(const struct hl_seg *seg, size_t off, size_t len)
{
    int rc = TEMP_FAILURE_RETRY(hl_sys.madvise(seg->base + off, len, MADV_POPULATE_WRITE));
    if (rc == 0 || (errno != EINVAL && errno != EPERM && errno != ENOSYS)) {
        return rc == 0 ? 0 : errno;
    }
    /* Before Linux 5.14, or in a sandbox: pages are taken in the file. Reading then maps them without taking
     * more; the kernel tells the node of mapped pages only. */
    int e = hl_place_fallocate(seg, off, len);
    for (size_t at = off; e == 0 && at < off + len; at += seg->page) {
        (void)*(const volatile char *)(seg->base + at);
    }
    return e;
}

/* Ranks of a node may take memory at the same time, each having found the same memory free. A rank that sees
 * that its rest no longer fits gives up before the kernel kills a process. Returns 0 or errno. */
static int look_again(const struct hl_seg *seg, size_t left)
{
    return is_huge_segment(seg) || left <= hl_bounds_available() ? 0 : ENOMEM;
}

/* Takes pages, base pages in steps of LOOK_BYTES, and counts them. Returns 0 or errno. */
static int populate_pages(const struct hl_seg *seg, size_t off, size_t len)
{
    size_t step = is_huge_segment(seg) ? len : LOOK_BYTES;
    int e = 0;
    for (size_t at = 0; e == 0 && at < len; at += step) {
        e = at > 0 ? look_again(seg, len - at) : 0;
        e = e == 0 ? fill_pages(seg, off + at, hl_min_size(step, len - at)) : e;
    }
    if (e == 0) {
        hl_stat_rank_add(is_huge_segment(seg) ? HL_STAT_RANK_pages_huge : HL_STAT_RANK_pages_base,
                         len / seg->page);
    }
    return e;
}

/* Says a shortage in words. The file is closed by then, so that its pages count as free. */
static int refuse_pages(const struct hl_seg *seg, size_t len, int e)
{
    bool short_of = e == EFAULT || e == ENOMEM || e == ENOSPC;
    if (is_huge_segment(seg) && short_of) {
        return hl_hugepool_refuse(seg, len, e == EFAULT ? ENOMEM : e);
    }
    return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: the system gives no pages for them: %s", len, strerror(e));
}

static int refuse_too_many(const struct hl_seg *seg, size_t len)
{
    uint64_t there = is_huge_segment(seg) ? UINT64_MAX : hl_bounds_available();
    if (len <= there) {
        return 0;
    }
    return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: only %" PRIu64 " bytes of memory and swap are available",
                      len, there);
}

int hl_seg_populate(const struct hl_seg *seg, size_t off, size_t len)
{
    size_t first = off & ~(seg->page - 1), end = hl_round_up(off + len, seg->page);
    int rc = refuse_too_many(seg, end - first);
    rc = rc == 0 && populate_pages(seg, first, end - first) != 0 ? HL_ERR_NO_MEM : rc;
    return rc == 0 ? hl_place_verify(seg, off, len) : rc;
}

/* Reserves a segment's huge pages in its file: a mapping with a reservation makes one, and it stays until the
 * file ends. Returns 0 or errno. */
static int promise_pages(const struct hl_seg *seg)
{
    if (!is_huge_segment(seg)) {
        return 0;
    }
    void *once = hl_sys.mmap(NULL, seg->len, PROT_READ | PROT_WRITE, MAP_SHARED, seg->fd, 0);
    if (once == MAP_FAILED) {
        return errno;
    }
    hl_sys.munmap(once, seg->len);
    return 0;
}

/* Takes interleaved base pages and joins them. The kernel would join pages of several nodes to a huge page on
 * the first of them, so each range of a huge page is taken from one node. Returns 0 or errno. */
static int take_turns(const struct hl_seg *seg)
{
    int e = 0;
    for (size_t off = 0; e == 0 && off < seg->len; off += HL_MEM_SEG_ALIGN) {
        size_t len = hl_min_size(HL_MEM_SEG_ALIGN, seg->len - off);
        hl_place_turn(seg, off, len, off / HL_MEM_SEG_ALIGN);
        e = off > 0 && off % LOOK_BYTES == 0 ? look_again(seg, seg->len - off) : 0;
        e = e == 0 ? populate_pages(seg, off, len) : e;
        hl_sys.madvise(seg->base + off, len, MADV_COLLAPSE);
        hl_place_turned(seg, off, len);
    }
    return e;
}

/* Takes the pages as `take` says. Returns 0 or errno. Pages that cannot be joined stay base pages, which is
 * no error: hl_mem_got tells. */
static int take_pages(const struct hl_seg *seg, enum hl_seg_take take)
{
    if (take == HL_SEG_LAZY || take == HL_SEG_PROMISE) {
        return take == HL_SEG_PROMISE ? promise_pages(seg) : 0;
    }
    if (take == HL_SEG_JOIN) {
        hl_sys.madvise(seg->base, seg->len, MADV_HUGEPAGE);
    }
    if (take == HL_SEG_JOIN && seg->policy == HL_MEM_INTERLEAVE) {
        return take_turns(seg);
    }
    int e = populate_pages(seg, 0, seg->len);
    if (e == 0 && take == HL_SEG_JOIN) {
        hl_sys.madvise(seg->base, seg->len, MADV_COLLAPSE);
    }
    return e;
}

int hl_seg_make(struct hl_seg *seg, size_t len, size_t align, enum hl_seg_take take)
{
    seg->page = seg->page != 0 ? seg->page : hl_topo_page();
    align = hl_max_size(hl_max_size(align, seg->page), HL_MEM_SEG_ALIGN);
    int rc = hl_bounds_size(len), e = 0;
    if (rc != 0) {
        return rc;
    }
    seg->len = hl_round_up(len, seg->page);
    if (align > SIZE_MAX / 4) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: no address is a multiple of %zu", len, align);
    }
    rc = take >= HL_SEG_NOW ? refuse_too_many(seg, seg->len) : 0;
    rc = rc == 0 ? hl_seg_make_file(seg) : rc;
    if (rc != 0) {
        return rc;
    }
    rc = map_file(seg, align);
    if (rc != 0) {
        goto close_file;
    }
    rc = hl_place_set(seg);
    e = rc == 0 ? take_pages(seg, take) : 0;
    if (rc == 0 && e == 0 && take >= HL_SEG_NOW) {
        rc = hl_place_verify(seg, 0, seg->len);
    }
    if (rc == 0 && e == 0) {
        return 0;
    }
    hl_mem_unmap(seg->base, seg->len, seg->reserved);
    seg->base = NULL;
close_file:
    close(seg->fd);
    seg->fd = -1;
    return e != 0 ? refuse_pages(seg, seg->len, e) : rc;
}

void hl_seg_unmake(struct hl_seg *seg)
{
    hl_mem_unmap(seg->base, seg->len, seg->reserved);
    close(seg->fd);
    seg->base = NULL;
    seg->fd = -1;
}

void hl_seg_join(const struct hl_seg *seg, size_t off, size_t len)
{
    size_t first = off & ~(HL_MEM_SEG_ALIGN - 1);
    size_t end = hl_min_size(hl_round_up(off + len, HL_MEM_SEG_ALIGN), seg->len);
    if (populate_pages(seg, first, end - first) == 0) { /* only pages that are there can be joined */
        hl_sys.madvise(seg->base + first, end - first, MADV_COLLAPSE);
    }
}

/* Gives pages back by address: libfabric's cache of closed registrations watches such calls; without,
 * it would take the next piece at this address for the old pages. Locked memory (mlockall) is given
 * back by file. */
static int punch_pages(const struct hl_seg *seg, size_t first, size_t len)
{
    int rc = hl_sys.madvise(seg->base + first, len, MADV_REMOVE);
    if (rc != 0 && errno != EINTR) {
        rc = hl_sys.fallocate(seg->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                              (off_t)(seg->file_off + first), (off_t)len);
    }
    return rc;
}

bool hl_seg_punch(const struct hl_seg *seg, size_t off, size_t len)
{
    size_t first = hl_round_up(off, seg->page), end = (off + len) & ~(seg->page - 1);
    int rc = 0;
    while (first < end && (rc = punch_pages(seg, first, end - first)) != 0 && errno == EINTR) {
    }
    if (rc != 0) {
        hl_log_once("freed memory cannot be given back to the system: %s", strerror(errno));
    }
    return rc == 0;
}
