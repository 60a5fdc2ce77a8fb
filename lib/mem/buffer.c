/* The library's own memory: which pages it may use, and pieces cut from them. */
#include "buffer.h"

#include "arena.h"
#include "conf.h"
#include "err.h"
#include "log.h"
#include "part.h"
#include "report.h"
#include "seg.h"
#include "topo.h"
#include "util.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>

#define AUTO_PAGE ((size_t)2 << 20)
#define AUTO_BOARD ((size_t)16 << 20) /* populating a larger board would slow start-up */
#define SIZES 16

static int ranks = 1;
static bool started;
static bool counted HL_GUARDED_BY(hl_mem_lock);
static uint64_t may_have HL_GUARDED_BY(hl_mem_lock); /* huge pages; valid once counted */
static size_t told HL_GUARDED_BY(hl_mem_lock); /* page sizes that have had their line in the log, or-ed */

void hl_mem_buffer_ranks(int count)
{
    ranks = count > 0 ? count : 1;
}

void hl_mem_buffer_started(void)
{
    started = true;
}

static bool is_auto(void)
{
    return hl_conf.internal_page == UINT64_MAX;
}

/* True when the environment asks for huge pages, for all memory or for a partition of the symmetric heap. */
static bool does_user_ask(void)
{
    struct hl_mem_wish user;
    int count;
    const struct hl_part *parts = hl_part_all(&count);
    hl_mem_wish_of_env(&user);
    bool asks = user.page > hl_topo_page();
    for (int i = 0; i < count; i++) {
        asks = asks || parts[i].page > hl_topo_page();
    }
    return asks;
}

/* An eighth of the free huge pages: so many for the board, and as many for the buffers of all ranks. */
static uint64_t eighth_of_pool(size_t page)
{
    struct hl_topo_pool pool;
    return !does_user_ask() && hl_topo_page_pool(page, &pool) ? pool.unused / 8 : 0;
}

size_t hl_mem_page_natural(size_t asked)
{
    size_t sizes[SIZES], count = hl_topo_pages(sizes, SIZES);
    return hl_topo_page_natural(sizes, count, asked);
}

/* The size that HOTLANE_INTERNAL_PG_SZ means on this machine. */
static size_t resolve_page_size(void)
{
    return hl_mem_page_natural(is_auto() ? AUTO_PAGE : (size_t)hl_conf.internal_page);
}

/* The page size to try for `len` more bytes; `page` is that of resolve_page_size(). */
static size_t page_for(size_t page, size_t len, struct hl_arena_key *key) HL_REQUIRES(hl_mem_lock)
{
    key->page = page;
    if (!is_auto() || page == hl_topo_page()) {
        return page;
    }
    if (!counted) {
        may_have = eighth_of_pool(page) / (uint64_t)ranks;
        counted = true;
    }
    bool ours = !hl_arena_user_huge && hl_arena_held(key) + len / page + 2 <= may_have;
    return ours ? page : hl_topo_page();
}

static void tell_short(size_t asked, size_t got) HL_REQUIRES(hl_mem_lock)
{
    bool short_of = !is_auto() && got < asked;
    if ((told & got) != 0 || hl_conf.mem_report == 0 ||
        (hl_conf.mem_report == 1 && (!short_of || hl_report_is_mute()))) {
        return;
    }
    char is[HL_BYTES_TEXT], was[HL_BYTES_TEXT];
    told |= got;
    hl_log(HL_LOG_WARN, "internal buffers: asked %s; got %s pages",
           is_auto() ? "auto" : hl_bytes_text(asked, was), hl_bytes_text(got, is));
}

void *hl_mem_buffer_take(size_t len)
{
    struct hl_arena_key key = {.hidden = true};
    struct hl_piece piece;
    size_t base = hl_topo_page(),
           asked = resolve_page_size(); /* reads /sys, so it is called without the lock */
    hl_mutex_lock(&hl_mem_lock);
    key.page = page_for(asked, len, &key);
    int rc = hl_arena_cut(len, HL_CACHELINE, false, &key, &piece);
    if (rc == HL_ERR_NO_MEM && key.page > base) {
        key.page = base;
        rc = hl_arena_cut(len, HL_CACHELINE, false, &key, &piece);
    }
    if (rc == 0) {
        tell_short(asked, key.page);
    }
    if (rc == 0 && key.page == base && !is_auto() && asked > base && started) {
        hl_seg_join(piece.seg, piece.off, piece.len);
    }
    hl_mutex_unlock(&hl_mem_lock);
    return rc == 0 ? piece.addr : NULL;
}

void hl_mem_buffer_give(void *buffer)
{
    const struct hl_seg *seg = buffer != NULL ? hl_mem_find(buffer, 1) : NULL;
    if (seg != NULL) {
        hl_mutex_lock(&hl_mem_lock);
        hl_arena_give(seg, (size_t)((char *)buffer - seg->base));
        hl_mutex_unlock(&hl_mem_lock);
    }
}

int hl_mem_buffer_board(size_t bytes)
{
    struct hl_seg seg = {.page = resolve_page_size(), .fd = -1};
    uint64_t want = (bytes + seg.page - 1) / seg.page;
    int rc = HL_ERR_NO_MEM;
    if (seg.page > hl_topo_page() &&
        (!is_auto() || (bytes <= AUTO_BOARD && want <= eighth_of_pool(seg.page)))) {
        rc = hl_seg_make(&seg, bytes, 0, HL_SEG_NOW);
    }
    if (rc == HL_ERR_NO_MEM) {
        seg.page = hl_topo_page();
        rc = hl_seg_make(&seg, bytes, 0, HL_SEG_LAZY);
    }
    if (rc != 0) {
        return rc;
    }
    munmap(seg.base, seg.len);
    return seg.fd;
}

char *hl_mem_buffer_text(char *out, size_t cap)
{
    char size[HL_BYTES_TEXT];
    size_t page = resolve_page_size();
    hl_bytes_text(page, size);
    if (page == hl_topo_page()) {
        snprintf(out, cap, "%s pages", size);
    } else if (is_auto()) {
        snprintf(out, cap, "auto: at most %" PRIu64 " pages of %s for all ranks here, then base pages",
                 2 * eighth_of_pool(page), size);
    } else {
        snprintf(out, cap, "%s pages while the pool has some, then base pages, joined", size);
    }
    return out;
}
