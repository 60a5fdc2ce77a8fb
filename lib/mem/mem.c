/* Pieces: cut from arenas when small, segments of their own when large. */
#include "mem.h"

#include "arena.h"
#include "err.h"
#include "index.h"
#include "seg.h"
#include "topo.h"
#include "util.h"

#include <fcntl.h>
#include <stdlib.h>

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

static int no_record(size_t len)
{
    return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: no memory for records of them", len);
}

/* Large memory may take long to populate: that happens outside the lock. */
static int make_own(size_t len, const struct hl_mem_ask *ask, struct hl_piece *out)
{
    hl_mutex_lock(&hl_mem_lock);
    struct hl_seg *seg = hl_index_new();
    hl_mutex_unlock(&hl_mem_lock);
    if (seg == NULL) {
        return no_record(len);
    }
    seg->policy = ask->policy;
    seg->nodes = ask->nodes;
    int rc = hl_seg_make(seg, len, ask->align, ask->populate || ask->policy == HL_MEM_BIND);
    hl_mutex_lock(&hl_mem_lock);
    if (rc == 0) {
        rc = hl_mem_introduce(seg);
        if (rc != 0) {
            hl_seg_unmake(seg);
        }
    }
    if (rc != 0) {
        hl_index_drop(seg);
    }
    hl_mutex_unlock(&hl_mem_lock);
    if (rc == 0) {
        *out = (struct hl_piece){.seg = seg, .off = 0, .len = seg->len, .addr = seg->base};
    }
    return rc;
}

/* The policy and nodes that a wish means for the thread that asks. */
static int resolve(const struct hl_mem_wish *wish, struct hl_mem_ask *out)
{
    bool must = wish->rule == HL_MEM_MANDATORY && wish->rule_on_base;
    out->align = hl_max_size(out->align, wish->page);
    if (wish->kind == HL_MEM_ANY) {
        return 0;
    }
    enum hl_topo_kind kind = wish->kind == HL_MEM_FAST ? HL_TOPO_FAST : HL_TOPO_DDR;
    hl_topo_set all = hl_topo_nodes_of(kind);
    int node = hl_topo_nearest_here(kind);
    if (all == 0) {
        return must ? hl_err_say(HL_ERR_NO_MEM, "no %s memory that this process may use",
                                 hl_topo_kind_name(kind))
                    : 0;
    }
    out->populate = true;
    out->nodes = wish->rule == HL_MEM_INTERLEAVED || node < 0 ? all : (hl_topo_set)1 << node;
    out->policy = wish->rule == HL_MEM_INTERLEAVED ? HL_MEM_INTERLEAVE : must ? HL_MEM_BIND : HL_MEM_PREFER;
    return 0;
}

int hl_mem_alloc(size_t len, const struct hl_mem_ask *given, struct hl_piece *out)
{
    struct hl_mem_ask exact = given != NULL ? *given : (struct hl_mem_ask){0}, *ask = &exact;
    int bad = exact.wish != NULL ? resolve(exact.wish, ask) : 0;
    if (bad != 0) {
        return bad;
    }
    len = len != 0 ? len : 1;
    if ((ask->align & (ask->align - 1)) != 0) {
        return hl_err_say(HL_ERR_ARG, "alignment %zu is not a power of two", ask->align);
    }
    if ((ask->policy == HL_MEM_SYSTEM) != (ask->nodes == 0)) {
        return hl_err_say(HL_ERR_ARG, "a memory policy needs nodes, and nodes need a policy");
    }
    struct hl_arena_key key = {.policy = ask->policy,
                               .nodes = ask->nodes,
                               .page = hl_topo_page(),
                               .memkind = ask->only_mine && ask->wish != NULL && len < ask->wish->page / 2};
    if (!ask->own_segment && hl_arena_holds(len, ask->align, &key)) {
        hl_mutex_lock(&hl_mem_lock);
        int rc = hl_arena_cut(len, ask->align, ask->populate, &key, out);
        hl_mutex_unlock(&hl_mem_lock);
        if (rc != HL_ERR_NO_MEM) {
            return rc;
        }
        /* No room for a whole arena: perhaps for this piece alone. */
    }
    return make_own(len, ask, out);
}

static void end_own(struct hl_seg *seg) HL_REQUIRES(hl_mem_lock)
{
    hl_index_hide(seg);
    tell_dying(seg, watcher_count);
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

int hl_mem_piece_at(const void *addr, struct hl_piece *out)
{
    struct hl_seg *seg = hl_mem_find(addr, 1);
    if (seg == NULL) {
        return HL_ERR_BASE;
    }
    size_t off = (size_t)((const char *)addr - seg->base), len = off == 0 ? seg->len : 0;
    if (seg->arena != NULL) {
        hl_mutex_lock(&hl_mem_lock);
        len = hl_arena_len_at(seg, off);
        hl_mutex_unlock(&hl_mem_lock);
    }
    if (len == 0) {
        return HL_ERR_BASE;
    }
    *out = (struct hl_piece){.seg = seg, .off = off, .len = len, .addr = seg->base + off};
    return 0;
}

int hl_mem_share(uint64_t id, int *fd, size_t *len, bool *arena)
{
    int rc = HL_ERR_FOUND_NONE;
    hl_mutex_lock(&hl_mem_lock);
    const struct hl_seg *seg = hl_mem_by_id(id);
    if (seg != NULL) {
        int copy = fcntl(seg->fd, F_DUPFD_CLOEXEC, 0);
        rc = copy < 0 ? hl_err_say(HL_ERR_NO_MEM, "no file descriptor left (ulimit -n)") : 0;
        if (rc == 0) {
            *fd = copy;
            *len = seg->len;
            *arena = seg->arena != NULL;
        }
    }
    hl_mutex_unlock(&hl_mem_lock);
    return rc;
}

struct newcomer {
    struct watcher w;
    struct hl_seg *failed; /* NULL: none yet */
};

static int call_born(struct hl_seg *seg, void *arg)
{
    struct newcomer *n = arg;
    int rc = n->w.born(seg);
    n->failed = rc != 0 ? seg : NULL;
    return rc;
}

/* Ends at the segment whose born failed. */
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
