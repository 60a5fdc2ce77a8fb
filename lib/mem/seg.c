/* memfd -> size, sealed -> reserved aligned range -> shared mapping -> pages, when asked. Every shortage is
 * found as an error code before anybody touches the memory. */
#include "seg.h"

#include "err.h"
#include "log.h"
#include "place.h"
#include "topo.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* RAM and swap of the machine: what is larger can never be used, whatever the kernel promises. */
static uint64_t machine_bytes(void)
{
    struct sysinfo si;
    return sysinfo(&si) == 0 ? ((uint64_t)si.totalram + si.totalswap) * si.mem_unit : UINT64_MAX;
}

/* What could be taken now without the kernel having to kill somebody. */
static uint64_t available_bytes(void)
{
    uint64_t kib = 0, n;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "re");
    if (f == NULL) {
        return UINT64_MAX;
    }
    while (fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "MemAvailable: %" SCNu64, &n) == 1 || sscanf(line, "SwapFree: %" SCNu64, &n) == 1) {
            kib += n;
        }
    }
    fclose(f);
    return kib * 1024;
}

static uint64_t limit_of(int resource)
{
    struct rlimit r;
    return getrlimit((__rlimit_resource_t)resource, &r) == 0 && r.rlim_cur != RLIM_INFINITY ? r.rlim_cur
                                                                                            : UINT64_MAX;
}

static int refuse_size(size_t len)
{
    if (len > machine_bytes()) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: more than memory and swap of this machine, %" PRIu64,
                          len, machine_bytes());
    }
    /* The kernel would send SIGXFSZ. */
    if (len > limit_of(RLIMIT_FSIZE)) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: file size is limited to %" PRIu64 " (ulimit -f)", len,
                          limit_of(RLIMIT_FSIZE));
    }
    return 0;
}

static int refuse_fd(size_t len)
{
    if (errno == EMFILE) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: no file descriptor left of %" PRIu64 " (ulimit -n)", len,
                          limit_of(RLIMIT_NOFILE));
    }
    return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: no shared memory: %s", len, strerror(errno));
}

static int refuse_map(size_t len)
{
    uint64_t as = limit_of(RLIMIT_AS);
    if (as != UINT64_MAX) {
        return hl_err_say(HL_ERR_NO_MEM,
                          "%zu bytes: cannot be mapped: %s; address space is limited to %" PRIu64
                          " (ulimit -v)",
                          len, strerror(errno), as);
    }
    return hl_err_say(HL_ERR_NO_MEM,
                      "%zu bytes: cannot be mapped: %s (too many mappings? sysctl vm.max_map_count)", len,
                      strerror(errno));
}

static int make_file(struct hl_seg *seg)
{
    int fd = memfd_create("hotlane", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        return refuse_fd(seg->len);
    }
    if (ftruncate(fd, (off_t)seg->len) != 0) {
        int rc = refuse_fd(seg->len);
        close(fd);
        return rc;
    }
    /* A peer that got the descriptor must not be able to cut the file under everybody's feet. */
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        hl_log_once("cannot seal shared memory: %s", strerror(errno));
    }
    seg->fd = fd;
    return 0;
}

/* A free range at a multiple of `align`, reserved but not usable; NULL with errno. */
static char *reserve(size_t len, size_t align)
{
    size_t whole = len + align;
    char *got = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) {
        return NULL;
    }
    char *base = got + (hl_round_up((uintptr_t)got, align) - (uintptr_t)got);
    if (base > got) {
        munmap(got, (size_t)(base - got));
    }
    munmap(base + len, (size_t)(got + whole - (base + len)));
    return base;
}

static int map_file(struct hl_seg *seg, size_t align)
{
    char *base = reserve(seg->len, align);
    if (base == NULL) {
        return refuse_map(seg->len);
    }
    if (mmap(base, seg->len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, seg->fd, 0) ==
        MAP_FAILED) {
        int rc = refuse_map(seg->len);
        munmap(base, seg->len);
        return rc;
    }
    seg->base = base;
    return 0;
}

int hl_mem_map_peer(int fd, size_t len, char **base)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || (size_t)st.st_size != len) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: a peer's memory has another size", len);
    }
    struct hl_seg seg = {.fd = fd, .len = len};
    int rc = map_file(&seg, HL_MEM_SEG_ALIGN);
    if (rc == 0) {
        *base = seg.base;
    }
    return rc;
}

void hl_mem_unmap_peer(char *base, size_t len)
{
    munmap(base, len);
}

int hl_seg_make(struct hl_seg *seg, size_t len, size_t align, bool populate)
{
    seg->page = hl_topo_page();
    align = hl_max_size(align, HL_MEM_SEG_ALIGN);
    int rc = refuse_size(len);
    if (rc != 0) {
        return rc;
    }
    seg->len = hl_round_up(len, seg->page);
    if (align > SIZE_MAX / 4) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: no address is a multiple of %zu", len, align);
    }
    rc = make_file(seg);
    if (rc != 0) {
        return rc;
    }
    rc = map_file(seg, align);
    if (rc != 0) {
        goto close_file;
    }
    rc = hl_place_set(seg);
    if (rc == 0 && populate) {
        rc = hl_seg_populate(seg, 0, seg->len);
    }
    if (rc != 0) {
        goto unmap;
    }
    return 0;
unmap:
    munmap(seg->base, seg->len);
    seg->base = NULL;
close_file:
    close(seg->fd);
    seg->fd = -1;
    return rc;
}

void hl_seg_unmake(struct hl_seg *seg)
{
    munmap(seg->base, seg->len);
    close(seg->fd);
    seg->base = NULL;
    seg->fd = -1;
}

int hl_seg_populate(const struct hl_seg *seg, size_t off, size_t len)
{
    size_t first = off & ~(seg->page - 1), end = hl_round_up(off + len, seg->page);
    uint64_t there = available_bytes();
    if (end - first > there) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: only %" PRIu64 " bytes of memory and swap are available",
                          len, there);
    }
    if (madvise(seg->base + first, end - first, MADV_POPULATE_WRITE) == 0) {
        return hl_place_verify(seg, off, len);
    }
    /* Before Linux 5.14: fallocate takes the pages too, only not where mbind said. */
    if (errno == EINVAL && fallocate(seg->fd, FALLOC_FL_KEEP_SIZE, (off_t)first, (off_t)(end - first)) == 0) {
        return hl_place_verify(seg, off, len);
    }
    return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: pages cannot be had: %s", len, strerror(errno));
}

void hl_seg_punch(const struct hl_seg *seg, size_t off, size_t len)
{
    size_t first = hl_round_up(off, seg->page), end = (off + len) & ~(seg->page - 1);
    if (first < end && fallocate(seg->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)first,
                                 (off_t)(end - first)) != 0) {
        hl_log_once("freed memory cannot be given back to the system: %s", strerror(errno));
    }
}
