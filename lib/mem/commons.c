/* The node's commons. A slice is taken once: when the arena for it cannot be made, the slice stays empty. */
#include "commons.h"

#include "bounds.h"
#include "err.h"
#include "log.h"
#include "mem_internal.h"
#include "seg.h"
#include "symmetric.h"
#include "topo.h"
#include "util.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Which segment lies in a slice. The rank of the slice writes it, all ranks read it. */
struct deed {
    HL_ALIGNED_LINE hl_a64 id; /* of the segment in the slice, 0: none; atomic */
    uint64_t base;             /* its address at its owner */
};

static struct {
    char *base; /* NULL: not mapped */
    int fd, ranks, me;
    bool same;          /* the slice for symmetric arenas lies where all ranks have theirs */
    struct deed *deeds; /* of all slices */
    bool taken[2];      /* the slices of this rank are taken; guarded by mem's lock */
} commons = {.fd = -1}; /* the other fields are read-only after hl_mem_commons_join */

/* Index of a rank's slice for plain arenas, or for symmetric ones. */
static size_t slice_of(int rank, bool symmetric)
{
    return (size_t)rank + (symmetric ? (size_t)commons.ranks : 0);
}

static size_t bytes_for(int ranks)
{
    size_t slices = 2 * (size_t)ranks;
    return slices * HL_MEM_ARENA + hl_round_up(slices * sizeof(struct deed), hl_topo_page());
}

/* Reserves addresses for the file, so that my slice for symmetric arenas lies where it should. */
static int find_addresses(size_t len, char **base)
{
    size_t before = slice_of(commons.me, true) * HL_MEM_ARENA;
    char *wanted = hl_symmetric_arena();
    commons.same = wanted != NULL && hl_mem_reserve_at(wanted - before, len) == 0;
    *base = commons.same ? wanted - before : NULL;
    return commons.same ? 0 : hl_mem_reserve(len, HL_MEM_OWN, base);
}

int hl_mem_commons_make(int ranks)
{
    struct hl_seg seg = {.len = bytes_for(ranks), .page = hl_topo_page(), .fd = -1};
    int rc = hl_bounds_file(seg.len);
    rc = rc == 0 ? hl_seg_make_file(&seg) : rc;
    return rc == 0 ? seg.fd : rc;
}

void hl_mem_commons_join(int fd, int ranks, int me)
{
    char *base, *at = NULL;
    size_t len = bytes_for(ranks);
    commons.ranks = ranks;
    commons.me = me;
    int rc = find_addresses(len, &at);
    rc = rc == 0 ? hl_mem_map_peer(fd, 0, len, at, &base) : rc;
    if (rc != 0) {
        hl_log(HL_LOG_INFO,
               "the memory that %d ranks share cannot be mapped at once: each rank is asked for its part",
               ranks);
        if (at != NULL) {
            hl_mem_unreserve(at, len);
        }
        close(fd);
        return;
    }
    commons.deeds = (struct deed *)(void *)(base + 2 * (size_t)ranks * HL_MEM_ARENA);
    commons.base = base;
    commons.fd = fd;
}

bool hl_commons_take(struct hl_seg *seg, bool symmetric)
{
    size_t at = slice_of(commons.me, symmetric) * HL_MEM_ARENA;
    if (commons.base == NULL || commons.taken[symmetric] || (symmetric && !commons.same)) {
        return false;
    }
    seg->fd = fcntl(commons.fd, F_DUPFD_CLOEXEC, 0);
    if (seg->fd < 0) {
        return false;
    }
    commons.taken[symmetric] = true;
    seg->base = commons.base + at;
    seg->file_off = at;
    seg->len = HL_MEM_ARENA;
    seg->page = hl_topo_page();
    seg->reserved = true;
    return true;
}

void hl_commons_publish(const struct hl_seg *seg)
{
    size_t slice = commons.base != NULL ? (size_t)(seg->base - commons.base) / HL_MEM_ARENA : 0;
    if (commons.base != NULL &&
        (slice == slice_of(commons.me, false) || slice == slice_of(commons.me, true)) &&
        seg->base == commons.base + slice * HL_MEM_ARENA) {
        struct deed *mine = &commons.deeds[slice];
        mine->base = (uintptr_t)seg->base;
        /* release: publishes the address; pairs with the acquire in hl_mem_commons_find. */
        hl_a64_store_release(&mine->id, seg->id);
    }
}

char *hl_mem_commons_find(int rank, uint64_t id, uint64_t *theirs)
{
    if (commons.base == NULL || rank < 0 || rank >= commons.ranks || id == 0) {
        return NULL;
    }
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        size_t slice = slice_of(rank, symmetric != 0);
        const struct deed *d = &commons.deeds[slice];
        /* acquire: the address is read after the id; pairs with the release in hl_commons_publish. */
        if (hl_a64_load_acquire(&d->id) == id) {
            *theirs = d->base;
            return commons.base + slice * HL_MEM_ARENA;
        }
    }
    return NULL;
}
