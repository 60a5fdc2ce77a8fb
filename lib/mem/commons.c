/* The node's commons. A slice is taken once: when the arena for it cannot be made, the slice stays empty. */
#include "commons.h"

#include "bounds.h"
#include "err.h"
#include "inner.h"
#include "log.h"
#include "seg.h"
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
    struct deed *deeds;
    bool taken;         /* the slice of this rank is taken; guarded by mem's lock */
} commons = {.fd = -1}; /* the other fields are read-only after hl_mem_commons_join */

static size_t bytes_for(int ranks)
{
    return (size_t)ranks * HL_MEM_ARENA + hl_round_up((size_t)ranks * sizeof(struct deed), hl_topo_page());
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
    char *base;
    if (hl_mem_map_peer(fd, 0, bytes_for(ranks), NULL, &base) != 0) {
        hl_log(HL_LOG_INFO, "memory of %d ranks cannot be mapped as one: each is asked for", ranks);
        close(fd);
        return;
    }
    commons.deeds = (struct deed *)(void *)(base + (size_t)ranks * HL_MEM_ARENA);
    commons.base = base;
    commons.fd = fd;
    commons.ranks = ranks;
    commons.me = me;
}

bool hl_commons_take(struct hl_seg *seg)
{
    size_t at = (size_t)commons.me * HL_MEM_ARENA;
    if (commons.base == NULL || commons.taken) {
        return false;
    }
    seg->fd = fcntl(commons.fd, F_DUPFD_CLOEXEC, 0);
    if (seg->fd < 0) {
        return false;
    }
    commons.taken = true;
    seg->base = commons.base + at;
    seg->file_off = at;
    seg->len = HL_MEM_ARENA;
    seg->page = hl_topo_page();
    seg->reserved = true;
    return true;
}

void hl_commons_publish(const struct hl_seg *seg)
{
    if (commons.base != NULL && seg->base == commons.base + (size_t)commons.me * HL_MEM_ARENA) {
        struct deed *mine = &commons.deeds[commons.me];
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
    const struct deed *d = &commons.deeds[rank];
    /* acquire: the address is read after the id; pairs with the release in hl_commons_publish. */
    if (hl_a64_load_acquire(&d->id) != id) {
        return NULL;
    }
    *theirs = d->base;
    return commons.base + (size_t)rank * HL_MEM_ARENA;
}
