/* Ranges of addresses of which a growing part, from the begin on, can be written. */
#include "range.h"

#include "util.h"

#include <stdint.h>
#include <sys/mman.h>

#define OPEN_LEAST ((size_t)256 << 10) /* a multiple of all base pages */

static char *map_range(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p != MAP_FAILED ? p : NULL;
}

/* Maps `len` bytes at a multiple of `len`: maps twice as many and gives back those around the aligned
 * part. */
static char *map_aligned(size_t len)
{
    char *p = map_range(2 * len);
    if (p == NULL) {
        return NULL;
    }
    size_t before = -(uintptr_t)p & (len - 1);
    if (before != 0) {
        munmap(p, before);
    }
    munmap(p + before + len, len - before);
    return p + before;
}

bool hl_range_reserve(struct hl_range *r, size_t most, size_t least, bool aligned)
{
    for (size_t len = hl_address_share(most); len >= least; len /= 2) {
        char *base = aligned ? map_aligned(len) : map_range(len);
        if (base != NULL) {
            *r = (struct hl_range){base, len, 0};
            madvise(base, len, MADV_DONTDUMP);
            return true;
        }
    }
    return false;
}

/* The writable part at least doubles each time, so that system calls are few. */
bool hl_range_reach(struct hl_range *r, size_t end)
{
    if (end <= r->open) {
        return true;
    }
    size_t open = hl_min_size(hl_max_size(2 * r->open, OPEN_LEAST), r->len);
    while (open < end && open < r->len) {
        open *= 2;
    }
    if (open < end || mprotect(r->base + r->open, open - r->open, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    madvise(r->base + r->open, open - r->open, MADV_DODUMP);
    r->open = open;
    return true;
}
