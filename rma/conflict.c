/* Finds conflicting accesses of the origins of one node, by sets of byte ranges, one for each kind of
 * access. */
#include "conflict.h"

#include <stdlib.h>

#include "err.h"
#include "job.h"
#include "lock.h"
#include "near.h"
#include "near_map.h"
#include "ranges.h"
#include "rx.h"

/* Kinds of access. FETCH is an accumulate operation that only reads. Sets of the first four hold offsets in
 * the target's window, the others addresses of my memory. */
enum kind { PUT, GET, ACC, FETCH, READ, WRITE, KINDS };
static const char *const words[KINDS] = {"a put", "a get", "an accumulate", "a fetch", "reading", "writing"};

#define BIT(kind) (1u << (kind))
/* Which kinds a new access conflicts with: `same` for the same sort of bytes, `cross` for the other sort,
 * which matters where target bytes of my own window are memory of mine. */
static const unsigned same[KINDS] = {[PUT] = BIT(PUT) | BIT(GET) | BIT(ACC) | BIT(FETCH),
                                     [GET] = BIT(PUT) | BIT(ACC),
                                     [ACC] = BIT(PUT) | BIT(GET),
                                     [FETCH] = BIT(PUT),
                                     [READ] = BIT(WRITE),
                                     [WRITE] = BIT(READ) | BIT(WRITE)};
static const unsigned cross[KINDS] = {
    [PUT] = BIT(READ) | BIT(WRITE), [GET] = BIT(WRITE),
    [ACC] = BIT(READ) | BIT(WRITE), [FETCH] = BIT(WRITE),
    [READ] = BIT(PUT) | BIT(ACC),   [WRITE] = BIT(PUT) | BIT(GET) | BIT(ACC) | BIT(FETCH)};

/* In my control block, for peers: where a set is in my segments, and the number of the fence before which it
 * was filled. The node's lock guards it. */
struct shown_set {
    uint64_t seg_id, seg_len, off, n, fence;
};

/* The sets that are shown: those of target bytes, then puts and accumulates that MPI_Win_complete has
 * completed here while the target's exposure epoch may go on. */
enum { PAST_PUT = READ, PAST_ACC, SHOWN_SETS };
static const enum kind shown_kinds[SHOWN_SETS] = {PUT, GET, ACC, FETCH, [PAST_PUT] = PUT, [PAST_ACC] = ACC};

/* What stands behind a control block. `exposure` counts the beginnings and ends of its rank's exposure
 * epochs. */
struct shown {
    struct shown_set sets[SHOWN_SETS];
    uint64_t exposure;
};

/* A peer's segment that holds sets and is mapped here; base NULL: the peer had ended. */
struct peer_view {
    int node_rank;
    uint64_t seg_id;
    char *base;
};

/* The sets of one window. The first four and those of `past` are shown to ranks of this node, and change only
 * under the node's lock. */
struct hl_conflicts {
    struct hl_mutex mutex;
    struct hl_ranges sets[KINDS];             /* guarded by mutex, as all that follows */
    struct hl_ranges past[SHOWN_SETS - READ]; /* their targets are numbers of past_target */
    uint64_t fence; /* number of the next fence, the same at all ranks whose operations can meet */
    bool fences;    /* that fence has begun */
    struct flush {
        uint32_t number;
        int target; /* -1: all */
    } * flushes;    /* [n_flushes]: those with requests that the user has not ended yet, by number */
    size_t n_flushes;
    uint32_t flush; /* number of the last one */
    struct peer_view *views;
    size_t n_views;
};

/* One operation being checked. First all its bytes are compared with other operations, then (adds) they are
 * compared and remembered, which finds an operation that meets itself. */
struct op {
    struct hl_win *w;
    int target;
    bool adds;
};

struct layout {
    enum kind kind;
    const struct hl_type *type; /* NULL: the operation has no such side */
    int64_t count;
    uint64_t at;
};

static HL_THREAD_LOCAL bool requested;

int hl_conflict_make(struct hl_conflicts **made)
{
    struct hl_conflicts *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to check a window's accesses");
    }
    p->mutex = (struct hl_mutex)HL_MUTEX_INIT;
    *made = p;
    return 0;
}

void hl_conflict_free(struct hl_conflicts *p)
{
    for (int kind = 0; p != NULL && kind < KINDS; kind++) {
        hl_ranges_fini(&p->sets[kind]);
    }
    for (int i = 0; p != NULL && i < SHOWN_SETS - READ; i++) {
        hl_ranges_fini(&p->past[i]);
    }
    for (size_t i = 0; p != NULL && i < p->n_views; i++) {
        if (p->views[i].base != NULL) {
            hl_near_unmap(p->views[i].node_rank, p->views[i].seg_id);
        }
    }
    free(p != NULL ? p->views : NULL);
    free(p != NULL ? p->flushes : NULL);
    free(p);
}

void hl_conflict_requests(bool on)
{
    requested = on;
}

/* ---- what ranks of this node show each other ---- */

size_t hl_conflict_room(void)
{
    return sizeof(struct shown);
}

static struct shown *shown_behind(const struct hl_win *w, const struct hl_win_ctl *ctl)
{
    return (struct shown *)((uintptr_t)ctl + hl_win_ctl_len(w->size));
}

static struct shown *shown_by(const struct hl_win *w, int rank)
{
    return shown_behind(w, rank == w->rank ? hl_win_ctl(w) : hl_target_ctl(&w->targets[rank]));
}

/* Names a target in its current exposure epoch: the key of ranges in `past`. */
static uint64_t past_target(const struct hl_win *w, int target)
{
    return shown_by(w, target)->exposure << 32 | (uint64_t)target;
}

static struct hl_near_lock *held_lock; /* of the node; only its holder touches this */

/* Takes the lock that all windows of the node share. */
static void lock_node(void)
{
    struct hl_near_lock *taken = hl_near_lock_take(&hl_near_part(0)->lock);
    held_lock = taken;
}

static void unlock_node(void)
{
    hl_near_lock_leave(held_lock);
}

static const struct peer_view *find_view(const struct hl_conflicts *p, int node_rank, uint64_t seg_id)
{
    for (size_t i = 0; i < p->n_views; i++) {
        if (p->views[i].node_rank == node_rank && p->views[i].seg_id == seg_id) {
            return &p->views[i];
        }
    }
    return NULL;
}

static int add_view(struct hl_conflicts *p, const struct peer_view *v)
{
    struct peer_view *more = realloc(p->views, (p->n_views + 1) * sizeof *more);
    if (more == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to check accesses of %zu peers", p->n_views + 1);
    }
    p->views = more;
    more[p->n_views++] = *v;
    return 0;
}

/* Finds a peer's set that is not mapped here: *want. False: there is none. */
static bool find_unmapped(const struct hl_win *w, struct hl_near_want *want)
{
    for (int i = 0; i < w->n_near; i++) {
        int rank = w->near_ranks[i], node_rank = hl_job_node_of(hl_win_world(w, rank));
        const struct shown_set *s = shown_by(w, rank)->sets;
        for (int kind = 0; rank != w->rank && kind < SHOWN_SETS; kind++) {
            if (s[kind].n != 0 && find_view(w->conflicts, node_rank, s[kind].seg_id) == NULL) {
                *want = (struct hl_near_want){
                    .node_rank = node_rank, .seg_id = s[kind].seg_id, .seg_len = s[kind].seg_len};
                return true;
            }
        }
    }
    return false;
}

/* Takes the node's lock when all sets that peers show are mapped. If it returns 0 the caller leaves by
 * leave_node. HL_ERR_NO_MEM, errors of hl_near_map_all. */
static int enter_node(struct hl_win *w)
{
    struct hl_near_want want;
    int rc = 0;
    if (w->n_near < 2) {
        return 0;
    }
    lock_node();
    while (rc == 0 && find_unmapped(w, &want)) {
        unlock_node(); /* a holder of this lock must not wait */
        rc = hl_near_map_all(&want, 1);
        struct peer_view v = {want.node_rank, want.seg_id, rc == 0 ? want.base : NULL};
        rc = rc == 0 || rc == HL_ERR_PROC_ABORTED ? add_view(w->conflicts, &v) : rc;
        if (rc == 0) {
            lock_node();
        } else if (v.base != NULL) {
            hl_near_unmap(v.node_rank, v.seg_id);
        }
    }
    return rc;
}

static struct shown_set shown_set_of(const struct hl_win *w, const struct hl_ranges *s)
{
    return s->n == 0 ? (struct shown_set){0}
                     : (struct shown_set){s->piece.seg->id, s->piece.seg->len, s->piece.off, s->n,
                                          w->conflicts->fence};
}

/* Shows the sets as they are now and leaves the node's lock. */
static void leave_node(struct hl_win *w)
{
    struct shown_set *mine = shown_by(w, w->rank)->sets;
    for (int i = 0; w->n_near >= 2 && i < SHOWN_SETS; i++) {
        mine[i] = shown_set_of(w, i < READ ? &w->conflicts->sets[i] : &w->conflicts->past[i - READ]);
    }
    if (w->n_near >= 2) {
        unlock_node();
    }
}

/* The range of a peer's set, of kinds that count (past: of those of hl_conflict_complete), that meets `r`, or
 * NULL. Operations that a peer issued before a fence which it
 * has not left yet meet none of the ranks that have left it. */
static const struct hl_touched *find_shown(const struct hl_win *w, int rank, const struct shown_set *s,
                                           bool past, struct hl_touched r)
{
    int world = hl_win_world(w, rank);
    bool shown = s->n != 0 && s->fence == w->conflicts->fence;
    const struct peer_view *v = shown ? find_view(w->conflicts, hl_job_node_of(world), s->seg_id) : NULL;
    if (v == NULL || v->base == NULL || hl_rx_is_dead(world)) {
        return NULL;
    }
    const struct hl_touched *at = (const struct hl_touched *)(const void *)(v->base + s->off);
    return past ? hl_ranges_meet(at, s->n, r) : hl_ranges_meet_aged(at, s->n, r);
}

/* The range that meets `r` in a peer's sets of the kinds in `mask`, or NULL; *old: its kind. */
static const struct hl_touched *find_peers(const struct op *o, int rank, unsigned mask, struct hl_touched r,
                                           enum kind *old)
{
    const struct hl_win *w = o->w;
    const struct hl_touched *met = NULL;
    int n = hl_target_is_far(&w->targets[o->target]) ? READ : SHOWN_SETS;
    for (int i = 0; met == NULL && i < n; i++) {
        *old = shown_kinds[i];
        bool past = i >= READ;
        r.target = past ? past_target(w, o->target) : (uint64_t)o->target;
        met = (mask & BIT(*old)) != 0 ? find_shown(w, rank, &shown_by(w, rank)->sets[i], past, r) : NULL;
    }
    return met;
}

/* Compares target bytes with operations that other ranks of this node have not completed.
 * HL_ERR_RMA_CONFLICT. */
static int compare_peers(const struct op *o, enum kind kind, struct hl_touched r)
{
    const struct hl_win *w = o->w;
    for (int i = 0; w->n_near >= 2 && i < w->n_near; i++) {
        int rank = w->near_ranks[i];
        enum kind old;
        const struct hl_touched *met = rank != w->rank ? find_peers(o, rank, same[kind], r, &old) : NULL;
        if (met != NULL) {
            return hl_err_say(HL_ERR_RMA_CONFLICT,
                              "%s of bytes %llu to %llu of target %d by rank %d meets %s of bytes %llu to "
                              "%llu by rank %d, which no call has completed yet (MPI 5.0, section 12.7: the "
                              "outcome is undefined)",
                              words[kind], (unsigned long long)r.lo, (unsigned long long)r.hi - 1, o->target,
                              w->rank, words[old], (unsigned long long)met->lo,
                              (unsigned long long)met->hi - 1, rank);
        }
    }
    return 0;
}

/* ---- one operation ---- */

static int say_conflict(const struct op *o, enum kind kind, struct hl_touched r, enum kind old,
                        const struct hl_touched *met)
{
    const char *how = "no call in between has completed the first";
    if (kind < READ && old < READ) {
        return hl_err_say(HL_ERR_RMA_CONFLICT, "%s of bytes %llu to %llu of target %d meets %s: %s",
                          words[kind], (unsigned long long)r.lo, (unsigned long long)r.hi - 1, o->target,
                          words[old], how);
    }
    return hl_err_say(HL_ERR_RMA_CONFLICT,
                      "%s %llu bytes for target %d meets %s for target %d in one memory: %s", words[kind],
                      (unsigned long long)(r.hi - r.lo), o->target, words[old], (int)met->target, how);
}

/* Compares a range with my own ranges of the kinds in `mask`, those of its target or (any) of all targets.
 * HL_ERR_RMA_CONFLICT. */
static int compare_range(const struct op *o, enum kind kind, struct hl_touched r, bool any, unsigned mask)
{
    for (int old = 0; old < KINDS; old++) {
        const struct hl_ranges *s = &o->w->conflicts->sets[old];
        const struct hl_touched *met = (mask & BIT(old)) == 0 ? NULL
                                       : any                  ? hl_ranges_meet_any(s->at, s->n, r)
                                                              : hl_ranges_meet_aged(s->at, s->n, r);
        if (met != NULL) {
            return say_conflict(o, kind, r, (enum kind)old, met);
        }
    }
    return 0;
}

/* Turns target bytes of my own window into addresses of my memory (remote), or addresses of my memory into
 * bytes of my window: an empty range where they are outside. A dynamic window's offsets are addresses. */
static struct hl_touched translate_range(const struct hl_win *w, bool remote, struct hl_touched r)
{
    uint64_t base = w->flavor == MPI_WIN_FLAVOR_DYNAMIC ? 0 : (uint64_t)(uintptr_t)w->base;
    uint64_t me = (uint64_t)w->rank;
    if (remote) {
        return (struct hl_touched){me, r.lo + base, r.hi + base};
    }
    return r.hi <= base ? (struct hl_touched){0}
                        : (struct hl_touched){me, r.lo < base ? 0 : r.lo - base, r.hi - base};
}

/* The age of operations on `target` that begin now, in the upper half: the number of the last flush with a
 * request that covers the target and has not been ended. The end of a flush forgets lower ages than its
 * number: what began before it. */
static uint64_t age_now(const struct hl_conflicts *p, int target)
{
    uint32_t age = 0;
    for (size_t i = 0; i < p->n_flushes; i++) {
        const struct flush *f = &p->flushes[i];
        age = f->target < 0 || f->target == target ? f->number : age;
    }
    return (uint64_t)age << 32;
}

static int note_range(const struct op *o, enum kind kind, struct hl_touched r, bool keep)
{
    bool remote = kind < READ;
    struct hl_touched other = translate_range(o->w, remote, r);
    int rc = compare_range(o, kind, r, !remote, same[kind]);
    if (rc == 0 && other.hi != 0 && (!remote || o->target == o->w->rank)) {
        rc = compare_range(o, kind, other, remote, cross[kind]);
    }
    rc = rc == 0 && remote ? compare_peers(o, kind, r) : rc;
    r.target |= age_now(o->w->conflicts, o->target);
    return rc == 0 && keep && o->adds ? hl_ranges_add(&o->w->conflicts->sets[kind], r) : rc;
}

static int note_layout(const struct op *o, const struct layout *l)
{
    struct hl_type_cursor c;
    struct hl_run run;
    bool keep = !requested || l->kind == PUT || l->kind == ACC;
    int rc = hl_type_cursor_init(&c, HL_WALK_BYTES, l->type, l->count, (void *)(uintptr_t)l->at, 0);
    while (rc == 0 && hl_type_cursor_run(&c, INT64_MAX, &run)) {
        for (int64_t i = 0; rc == 0 && i < run.times; i++) {
            uint64_t lo = (uint64_t)(uintptr_t)hl_run_block(&run, i);
            struct hl_touched r = {(uint64_t)o->target, lo, lo + (uint64_t)run.n};
            rc = note_range(o, l->kind, r, keep);
        }
    }
    hl_type_cursor_fini(&c);
    return rc;
}

static int note_all(struct hl_win *w, int target, const struct layout *layouts, int n)
{
    hl_mutex_lock(&w->conflicts->mutex);
    int rc = enter_node(w);
    bool entered = rc == 0;
    for (int i = 0; i < 2 * n && rc == 0; i++) {
        if (layouts[i % n].type != NULL) {
            rc = note_layout(&(struct op){w, target, i >= n}, &layouts[i % n]);
        }
    }
    if (entered) {
        leave_node(w);
    }
    hl_mutex_unlock(&w->conflicts->mutex);
    return rc;
}

static uint64_t number_address(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

int hl_conflict_move(const struct hl_move *m, const struct hl_span *span)
{
    bool put = m->dir == HL_PUT;
    struct layout layouts[] = {
        {put ? PUT : GET, m->target_type, m->target_count, (uint64_t)span->offset},
        {put ? READ : WRITE, m->origin_type, m->origin_count, number_address(m->origin)},
    };
    return span->len == 0 ? 0 : note_all(m->win, m->target, layouts, 2);
}

int hl_conflict_acc(const struct hl_acc *a, const struct hl_span *span, const void *compare_with)
{
    const struct hl_move *m = &a->m;
    struct layout layouts[] = {
        {a->op == HL_OP_NO_OP ? FETCH : ACC, m->target_type, m->target_count, (uint64_t)span->offset},
        {READ, a->op == HL_OP_NO_OP ? NULL : m->origin_type, m->origin_count, number_address(m->origin)},
        {READ, compare_with == NULL ? NULL : m->target_type, 1, number_address(compare_with)},
        {WRITE, a->fetches ? a->result_type : NULL, a->result_count, number_address(a->result)},
    };
    return span->len == 0 ? 0 : note_all(m->win, m->target, layouts, 4);
}

int hl_conflict_complete(struct hl_win *w, int target)
{
    struct hl_conflicts *p = w->conflicts;
    int rc = 0;
    if (w->n_near < 2 || hl_target_is_far(&w->targets[target])) {
        return 0;
    }
    hl_mutex_lock(&p->mutex);
    lock_node();
    for (int i = READ; i < SHOWN_SETS; i++) {
        const struct hl_ranges *s = &p->sets[shown_kinds[i]];
        hl_ranges_forget(&p->past[i - READ], target, UINT32_MAX); /* earlier epochs' meet nothing any more */
        for (size_t k = 0; rc == 0 && k < s->n; k++) {
            struct hl_touched r = {past_target(w, target), s->at[k].lo, s->at[k].hi};
            rc = (uint32_t)s->at[k].target == (uint32_t)target ? hl_ranges_add(&p->past[i - READ], r) : 0;
        }
    }
    leave_node(w);
    hl_mutex_unlock(&p->mutex);
    return rc;
}

void hl_conflict_expose(struct hl_win *w)
{
    if (w->n_near >= 2) {
        lock_node();
        shown_by(w, w->rank)->exposure++;
        unlock_node();
    }
}

void hl_conflict_fence(struct hl_win *w, bool begins)
{
    hl_mutex_lock(&w->conflicts->mutex);
    w->conflicts->fences = begins;
    w->conflicts->fence += begins ? 0 : 1;
    hl_mutex_unlock(&w->conflicts->mutex);
    if (!begins) {
        hl_conflict_forget(w, -1, false);
    }
}

/* Forgets operations that began before the flush with a request of this number. The caller has the mutex. */
static void forget_before(struct hl_win *w, int target, bool local, uint32_t number)
{
    if (w->conflicts->fences) {
        return;
    }
    if (w->n_near >= 2) {
        lock_node();
    }
    for (int kind = 0; kind < KINDS; kind++) {
        if (!local || (kind != PUT && kind != ACC)) {
            hl_ranges_forget(&w->conflicts->sets[kind], target, number);
        }
    }
    leave_node(w);
}

void hl_conflict_forget_checked(struct hl_win *w, int target, bool local)
{
    hl_mutex_lock(&w->conflicts->mutex);
    forget_before(w, target, local, UINT32_MAX);
    hl_mutex_unlock(&w->conflicts->mutex);
}

int hl_conflict_flush_begins(struct hl_win *w, int target, uint32_t *number)
{
    struct hl_conflicts *p = w->conflicts;
    hl_mutex_lock(&p->mutex);
    struct flush *more = realloc(p->flushes, (p->n_flushes + 1) * sizeof *more);
    if (more != NULL) {
        p->flushes = more;
        *number = ++p->flush;
        more[p->n_flushes++] = (struct flush){*number, target};
    }
    hl_mutex_unlock(&p->mutex);
    return more != NULL ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory to check a flush with a request");
}

void hl_conflict_flush_ends(struct hl_win *w, int target, bool local, uint32_t number)
{
    struct hl_conflicts *p = w->conflicts;
    size_t kept = 0;
    hl_mutex_lock(&p->mutex);
    for (size_t i = 0; i < p->n_flushes; i++) {
        if (p->flushes[i].number != number) {
            p->flushes[kept++] = p->flushes[i];
        }
    }
    p->n_flushes = kept;
    forget_before(w, target, local, number);
    hl_mutex_unlock(&p->mutex);
}
