/* Pieces: small ones are cut from arenas, large ones are segments of their own. */
#include "mem.h"

#include "arena.h"
#include "err.h"
#include "index.h"
#include "plan.h"
#include "report.h"
#include "seg.h"
#include "symmetric.h"
#include "topo.h"
#include "util.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

struct watcher {
    int (*born)(struct hl_seg *);
    void (*dying)(struct hl_seg *);
};

struct hl_mutex hl_mem_lock = HL_MUTEX_INIT;
static struct watcher watchers[HL_MEM_WATCHERS] HL_GUARDED_BY(hl_mem_lock);
static int watcher_count HL_GUARDED_BY(hl_mem_lock);

static void tell_dying(struct hl_seg *seg, int count) HL_REQUIRES(hl_mem_lock)
{
    while (count > 0) {
        watchers[--count].dying(seg);
    }
}

int hl_mem_introduce(struct hl_seg *seg)
{
    int rc = 0, told = 0;
    while (rc == 0 && told < watcher_count) {
        rc = watchers[told].born(seg);
        told += rc == 0;
    }
    if (rc == 0) {
        rc = hl_index_show(seg);
        rc = rc != 0 ? hl_err_say(rc, "%zu bytes: no memory for the table of segments", seg->len) : 0;
    }
    if (rc != 0) {
        tell_dying(seg, told);
    }
    return rc;
}

int hl_mem_no_record(size_t len)
{
    return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: there is no memory to note them", len);
}

/* Reserves a place for a segment that shall lie where other ranks have theirs; NULL: it lies anywhere. */
static char *own_place(size_t len, size_t align, const struct hl_arena_key *key, const struct hl_mem_ask *ask)
    HL_REQUIRES(hl_mem_lock)
{
    struct hl_place_ask place = {.len = hl_round_up(len, key->page),
                                 .align = hl_max_size(hl_max_size(align, key->page), HL_MEM_SEG_ALIGN),
                                 .at = ask->place};
    return ask->symmetric ? hl_symmetric_take(&place) : NULL;
}

static void give_place(char *place, size_t len) HL_REQUIRES(hl_mem_lock)
{
    if (place != NULL) {
        hl_symmetric_give(place);
        hl_mem_unreserve(place, len);
    }
}

/* Makes a piece that owns its segment. Its pages are taken without the lock, since that may take long. */
static int make_own(size_t len, size_t align, const struct hl_arena_key *key, enum hl_seg_take take,
                    const struct hl_mem_ask *ask, struct hl_piece *out)
{
    hl_mutex_lock(&hl_mem_lock);
    struct hl_seg *seg = hl_index_new();
    char *at = ask->at, *place = seg != NULL ? own_place(len, align, key, ask) : NULL;
    at = place != NULL ? place : at;
    hl_mutex_unlock(&hl_mem_lock);
    if (seg == NULL) {
        return hl_mem_no_record(len);
    }
    seg->policy = key->policy;
    seg->nodes = key->nodes;
    seg->page = key->page;
    seg->base = at;
    seg->reserved = at != NULL;
    seg->lazy = take == HL_SEG_LAZY && key->policy == HL_MEM_SYSTEM;
    int rc = hl_seg_make(seg, len, align, take);
    hl_mutex_lock(&hl_mem_lock);
    if (rc == 0) {
        rc = hl_mem_introduce(seg);
        if (rc != 0) {
            hl_seg_unmake(seg);
        }
    }
    if (rc != 0) {
        hl_index_drop(seg);
        give_place(place, hl_round_up(len, key->page));
    } else if (place != NULL) {
        seg->same = true;
        seg->reserved = false; /* with the segment the range goes, too */
    }
    hl_mutex_unlock(&hl_mem_lock);
    if (rc == 0) {
        *out = (struct hl_piece){.seg = seg, .off = 0, .len = seg->len, .addr = seg->base};
    }
    return rc;
}

/* Tries page size `which` of the plan. A piece below half a page of the first size shares pages with others,
 * a larger one has whole pages. Whole pages come from an arena only when they are huge and taken now: an
 * arena cannot leave placement to the first touch, nor tell how much of a piece of base pages was joined. */
static int try_page(size_t len, const struct hl_mem_ask *ask, const struct hl_plan *plan, int which,
                    struct hl_piece *out)
{
    size_t base = hl_topo_page(), own_align = hl_max_size(ask->align, plan->align);
    bool huge = plan->wish.page > base, whole = huge && len >= plan->pages[0] / 2;
    struct hl_arena_key key = {.policy = plan->policy,
                               .nodes = plan->nodes,
                               .page = plan->pages[which],
                               .symmetric = ask->symmetric,
                               .memkind = ask->only_mine && huge && !whole};
    enum hl_seg_take take = plan->takes[which];
    take = ask->populate && take < HL_SEG_NOW ? HL_SEG_NOW : take;
    size_t align = whole ? own_align : ask->align;
    bool shares = !whole || (key.page > base && take == HL_SEG_NOW);
    if (!ask->own_segment && ask->at == NULL && ask->place == NULL && shares &&
        hl_arena_holds(len, align, &key)) {
        size_t room = whole ? hl_round_up(len, key.page) : len;
        hl_mutex_lock(&hl_mem_lock);
        int rc = hl_arena_cut(room, align, take >= HL_SEG_NOW, &key, out);
        if (rc == 0 && ask->only_mine) {
            hl_arena_mark(out);
        }
        hl_mutex_unlock(&hl_mem_lock);
        if (rc != HL_ERR_NO_MEM) {
            return rc;
        }
        /* There was no room for a whole arena; there may be room for this piece. */
    }
    int rc = make_own(len, own_align, &key, take, ask, out);
    if (rc == 0) {
        out->seg->only_mine = ask->only_mine;
    }
    return rc;
}

int hl_mem_alloc(size_t len, const struct hl_mem_ask *ask, struct hl_piece *out)
{
    static const struct hl_mem_ask plain;
    struct hl_plan plan;
    ask = ask != NULL ? ask : &plain;
    len = len != 0 ? len : 1;
    if ((ask->align & (ask->align - 1)) != 0) {
        return hl_err_say(HL_ERR_ARG, "alignment %zu is not a power of two", ask->align);
    }
    int rc = hl_plan_make(ask->wish, &plan), which = 0;
    if (rc != 0) {
        return rc;
    }
    if (plan.wish.page > hl_topo_page() && ask->caller != NULL) {
        hl_mutex_lock(&hl_mem_lock);
        hl_arena_user_huge = true;
        hl_mutex_unlock(&hl_mem_lock);
    }
    while (ask->page_most != 0 && which < plan.count - 1 && plan.pages[which] > ask->page_most) {
        which++;
    }
    do {
        rc = try_page(len, ask, &plan, which, out);
        if (rc == HL_ERR_NO_MEM && which == 0) {
            snprintf(plan.why, sizeof plan.why, "%s", hl_err_text(rc));
        }
    } while (rc == HL_ERR_NO_MEM && ++which < plan.count);
    if (rc == HL_ERR_NO_MEM && plan.must) {
        return hl_plan_refuse(&plan, len, rc);
    }
    if (rc == 0 && ask->wish != NULL && ask->caller != NULL) {
        hl_report(ask->caller, len, &plan, out);
    }
    return rc;
}

static void end_own(struct hl_seg *seg) HL_REQUIRES(hl_mem_lock)
{
    hl_index_hide(seg);
    tell_dying(seg, watcher_count);
    if (seg->same) {
        hl_symmetric_give(seg->base);
    }
    hl_seg_unmake(seg);
    hl_index_drop(seg);
}

void hl_mem_free(const struct hl_piece *piece)
{
    hl_mutex_lock(&hl_mem_lock);
    if (piece->seg->arena != NULL) {
        hl_arena_give(piece->seg, piece->off);
    } else {
        end_own(piece->seg);
    }
    hl_mutex_unlock(&hl_mem_lock);
}

bool hl_mem_discard(const struct hl_piece *piece, size_t off, size_t len)
{
    const struct hl_seg *seg = piece->seg;
    return seg->arena == NULL && seg->lazy && !seg->pinned && hl_seg_punch(seg, piece->off + off, len);
}

#define ZERO_LONG ((size_t)64 << 10) /* shorter ones are not worth a system call */

void hl_mem_zero(const struct hl_piece *piece, size_t len)
{
    const struct hl_seg *seg = piece->seg;
    size_t first = hl_round_up(piece->off, seg->page), end = (piece->off + len) & ~(seg->page - 1);
    bool plain = seg->page == hl_topo_page() && seg->policy == HL_MEM_SYSTEM && !seg->pinned;
    if (len < ZERO_LONG || !plain || !hl_seg_punch(seg, piece->off, len)) {
        memset(piece->addr, 0, len);
        return;
    }
    memset(piece->addr, 0, first - piece->off);
    memset(seg->base + end, 0, piece->off + len - end);
}

int hl_mem_piece_at(const void *addr, struct hl_piece *out)
{
    struct hl_seg *seg = hl_mem_find(addr, 1);
    if (seg == NULL) {
        return HL_ERR_BASE;
    }
    size_t off = (size_t)((const char *)addr - seg->base), len = off == 0 && seg->only_mine ? seg->len : 0;
    if (seg->arena != NULL) {
        hl_mutex_lock(&hl_mem_lock);
        len = hl_arena_is_marked(seg, off) ? hl_arena_len_at(seg, off) : 0;
        hl_mutex_unlock(&hl_mem_lock);
    }
    if (len == 0) {
        return HL_ERR_BASE;
    }
    *out = (struct hl_piece){.seg = seg, .off = off, .len = len, .addr = seg->base + off};
    return 0;
}

int hl_mem_share(uint64_t id, struct hl_mem_shared *out)
{
    int rc = HL_ERR_FOUND_NONE;
    hl_mutex_lock(&hl_mem_lock);
    const struct hl_seg *seg = hl_mem_by_id(id);
    if (seg != NULL) {
        int copy = fcntl(seg->fd, F_DUPFD_CLOEXEC, 0);
        rc = copy < 0 ? hl_err_say(HL_ERR_NO_MEM, "no file descriptor left (ulimit -n)") : 0;
        if (rc == 0) {
            *out = (struct hl_mem_shared){copy, seg->file_off, seg->len, (uintptr_t)seg->base,
                                          seg->arena != NULL};
        }
    }
    hl_mutex_unlock(&hl_mem_lock);
    return rc;
}

/* A new watcher, and the segment for which its `born` failed (NULL: none). */
struct newcomer {
    struct watcher w;
    struct hl_seg *failed;
};

static int call_born(struct hl_seg *seg, void *arg)
{
    struct newcomer *n = arg;
    int rc = n->w.born(seg);
    n->failed = rc != 0 ? seg : NULL;
    return rc;
}

/* Calls `dying`; stops at the segment for which `born` failed. */
static int call_dying(struct hl_seg *seg, void *arg)
{
    const struct newcomer *n = arg;
    if (seg == n->failed) {
        return 1;
    }
    n->w.dying(seg);
    return 0;
}

int hl_mem_watch(int (*born)(struct hl_seg *), void (*dying)(struct hl_seg *))
{
    hl_mutex_lock(&hl_mem_lock);
    int rc = 0;
    bool known = false;
    for (int i = 0; i < watcher_count; i++) {
        known = known || (watchers[i].born == born && watchers[i].dying == dying);
    }
    struct newcomer n = {.w = {born, dying}, .failed = NULL};
    if (known) {
        goto out;
    }
    if (watcher_count == HL_MEM_WATCHERS) {
        rc = hl_err_say(HL_ERR_NO_SPACE, "more than %d watchers of memory", HL_MEM_WATCHERS);
        goto out;
    }
    rc = hl_index_each(call_born, &n);
    if (rc != 0) {
        hl_index_each(call_dying, &n);
    } else {
        watchers[watcher_count++] = n.w;
    }
out:
    hl_mutex_unlock(&hl_mem_lock);
    return rc;
}

void hl_mem_fork_prepare(void) HL_NO_TSA
{
    hl_mutex_lock(&hl_mem_lock);
}

void hl_mem_fork_parent(void) HL_NO_TSA
{
    hl_mutex_unlock(&hl_mem_lock);
}

void hl_mem_fork_child(void) HL_NO_TSA
{
    hl_mutex_unlock(&hl_mem_lock);
}
