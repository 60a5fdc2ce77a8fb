/* Segments that peers open by themselves. Each rank lists its segments in the node's board, with the process
 * and the descriptor that hold them; a peer opens that descriptor by its path in /proc and asks nobody. Where
 * the kernel does not allow it (another PID namespace, no /proc, no permission to look at that process), or
 * the list has no room for a segment, the peer asks the owner by a message (near_map.c).
 *
 * A segment's place in its owner's list follows from its id. Ids count up, so two segments seldom want one
 * place before the list is full; the later one is then not listed. */
#include "near_internal.h"

#include "job.h"
#include "mem.h"
#include "near_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hl_near_offer *lists; /* [node_size][HL_NEAR_OFFERS], in the board; NULL: there is none */

size_t hl_near_map_board_bytes(int node_size)
{
    return sizeof *lists * HL_NEAR_OFFERS * (size_t)node_size;
}

struct hl_near_offer *hl_near_offers(int node_rank)
{
    return lists + (size_t)node_rank * HL_NEAR_OFFERS;
}

static struct hl_near_offer *pick_offer(int node_rank, uint64_t id)
{
    return &hl_near_offers(node_rank)[id % HL_NEAR_OFFERS];
}

/* The watcher of mem for new segments. The caller holds mem's lock. */
static int list_offer(struct hl_seg *seg)
{
    struct hl_near_offer *o = pick_offer(hl_job.node_rank, seg->id);
    struct stat st;
    /* relaxed: only this process writes it. */
    if (hl_a64_load_relaxed(&o->id) != 0 || fstat(seg->fd, &st) != 0) {
        return 0;
    }
    o->pid = (int32_t)getpid();
    o->fd = seg->fd;
    o->dev = st.st_dev;
    o->ino = st.st_ino;
    o->off = seg->file_off;
    o->len = seg->len;
    o->base = (uintptr_t)seg->base;
    o->arena = seg->arena != NULL;
    /* release: publishes the other fields; pairs with the acquire in hl_near_offers_take. */
    hl_a64_store_release(&o->id, seg->id);
    return 0;
}

/* The watcher of mem for ending segments, under mem's lock. A forked child withdraws nothing: the segment is
 * still its parent's. */
static void withdraw_offer(struct hl_seg *seg)
{
    struct hl_near_offer *o = pick_offer(hl_job.node_rank, seg->id);
    /* relaxed, both: a peer that still reads the id finds another file, or none, behind the descriptor. */
    if (hl_a64_load_relaxed(&o->id) == seg->id && o->pid == (int32_t)getpid()) {
        hl_a64_store_relaxed(&o->id, 0);
    }
}

int hl_near_map_open(void *board)
{
    lists = board;
    return hl_mem_watch(list_offer, withdraw_offer);
}

bool hl_near_offers_take(int node_rank, uint64_t id, struct near_opened *out)
{
    const struct hl_near_offer *o = lists != NULL ? pick_offer(node_rank, id) : NULL;
    char path[48];
    struct stat st;
    /* acquire: the other fields are read after the id; pairs with the release in list_offer. */
    if (o == NULL || id == 0 || hl_a64_load_acquire(&o->id) != id) {
        return false;
    }
    *out = (struct near_opened){.off = o->off, .len = o->len, .base = o->base, .arena = o->arena != 0};
    uint64_t dev = o->dev, ino = o->ino;
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", o->pid, o->fd);
    /* The number may be another file's by now: O_NONBLOCK for a pipe, O_NOCTTY for a terminal. */
    out->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (out->fd < 0) {
        return false;
    }
    if (fstat(out->fd, &st) != 0 || st.st_dev != dev || st.st_ino != ino) {
        close(out->fd);
        return false;
    }
    return true;
}
