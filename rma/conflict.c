/* Conflicting accesses of one origin: sets of byte ranges, by what is done to them. */
#include "conflict.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "lock.h"

/* The first three hold offsets in the target's window, the others addresses of mine. */
enum kind { PUT, GET, ACC, READ, WRITE, KINDS };
static const char *const words[KINDS] = {"a put", "a get", "an accumulate", "reading", "writing"};

#define BIT(kind) (1u << (kind))
/* Which kinds of the same sort of bytes a new one conflicts with, and which of the other sort: target bytes
 * of my own window against memory of mine. */
static const unsigned same[KINDS] = {BIT(PUT) | BIT(GET) | BIT(ACC), BIT(PUT) | BIT(ACC), BIT(PUT) | BIT(GET),
                                     BIT(WRITE), BIT(READ) | BIT(WRITE)};
static const unsigned cross[KINDS] = {BIT(READ) | BIT(WRITE), BIT(WRITE), BIT(READ) | BIT(WRITE),
                                      BIT(PUT) | BIT(ACC), BIT(PUT) | BIT(GET) | BIT(ACC)};

struct byte_range {
    uint64_t lo, hi;
};

/* Ranges in ascending order that do not touch. */
struct range_set {
    struct byte_range *ranges;
    size_t n, room;
};

/* One target's, for which something is open or was. */
struct node {
    struct node *next;
    int target;
    struct range_set sets[KINDS];
};

struct hl_conflicts {
    struct hl_mutex mutex;
    struct node *nodes; /* guarded by mutex */
};

/* One operation on its way through: it is compared with all others first, then remembered, where it may still
 * meet itself. */
struct op {
    struct hl_win *w;
    struct node *node;
    bool adds;
};

struct layout {
    enum kind kind;
    const struct hl_type *type; /* NULL: nothing */
    int64_t count;
    uint64_t at;
};

static HL_THREAD_LOCAL bool requested;

int hl_conflict_make(struct hl_conflicts **made)
{
    struct hl_conflicts *p = malloc(sizeof *p);
    if (p == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to check a window's accesses");
    }
    *p = (struct hl_conflicts){.mutex = HL_MUTEX_INIT};
    *made = p;
    return 0;
}

void hl_conflict_free(struct hl_conflicts *p)
{
    while (p != NULL && p->nodes != NULL) {
        struct node *gone = p->nodes;
        p->nodes = gone->next;
        for (int i = 0; i < KINDS; i++) {
            free(gone->sets[i].ranges);
        }
        free(gone);
    }
    free(p);
}

void hl_conflict_requests(bool on)
{
    requested = on;
}

/* The first range that ends behind `at`. */
static size_t find_range(const struct range_set *s, uint64_t at)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (s->ranges[mid].hi > at) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

static const struct byte_range *meets(const struct range_set *s, struct byte_range r)
{
    size_t i = find_range(s, r.lo);
    return i < s->n && s->ranges[i].lo < r.hi ? &s->ranges[i] : NULL;
}

static int add_range(struct range_set *s, struct byte_range r)
{
    size_t from = r.lo == 0 ? 0 : find_range(s, r.lo - 1), to = from; /* touching ones, too */
    while (to < s->n && s->ranges[to].lo <= r.hi) {
        r.lo = s->ranges[to].lo < r.lo ? s->ranges[to].lo : r.lo;
        r.hi = s->ranges[to].hi > r.hi ? s->ranges[to].hi : r.hi;
        to++;
    }
    if (to == from && s->n == s->room) {
        size_t room = s->room == 0 ? 16 : 2 * s->room;
        struct byte_range *more = realloc(s->ranges, room * sizeof *more);
        if (more == NULL) {
            return hl_err_say(HL_ERR_NO_MEM, "no memory to check %zu accesses", room);
        }
        s->ranges = more;
        s->room = room;
    }
    memmove(&s->ranges[from + 1], &s->ranges[to], (s->n - to) * sizeof r);
    s->ranges[from] = r;
    s->n += from + 1;
    s->n -= to;
    return 0;
}

static struct node *node_of(struct hl_conflicts *p, int target)
{
    struct node *n = p->nodes;
    while (n != NULL && n->target != target) {
        n = n->next;
    }
    if (n == NULL && (n = calloc(1, sizeof *n)) != NULL) {
        n->target = target;
        n->next = p->nodes;
        p->nodes = n;
    }
    return n;
}

static int say_conflict(const struct op *o, enum kind kind, struct byte_range r, enum kind old,
                        const struct node *n)
{
    const char *how = "no call between completes the first";
    if (kind < READ && old < READ) {
        return hl_err_say(HL_ERR_RMA_CONFLICT, "%s of bytes %llu to %llu of target %d meets %s: %s",
                          words[kind], (unsigned long long)r.lo, (unsigned long long)r.hi - 1,
                          o->node->target, words[old], how);
    }
    return hl_err_say(HL_ERR_RMA_CONFLICT,
                      "%s %llu bytes for target %d meets %s for target %d in one memory: %s", words[kind],
                      (unsigned long long)(r.hi - r.lo), o->node->target, words[old], n->target, how);
}

/* Compares a range with the kinds of `mask` in one target's sets. */
static int compare_range(const struct op *o, enum kind kind, struct byte_range r, const struct node *n,
                         unsigned mask)
{
    for (int old = 0; old < KINDS; old++) {
        if ((mask & BIT(old)) != 0 && meets(&n->sets[old], r) != NULL) {
            return say_conflict(o, kind, r, (enum kind)old, n);
        }
    }
    return 0;
}

/* Target bytes of my own window as memory of mine (remote), or memory of mine as bytes of my window; empty
 * when it is none. A dynamic window's offsets are addresses. */
static struct byte_range crossed(const struct hl_win *w, bool remote, struct byte_range r)
{
    uint64_t base = w->flavor == MPI_WIN_FLAVOR_DYNAMIC ? 0 : (uint64_t)(uintptr_t)w->base;
    if (remote) {
        return (struct byte_range){r.lo + base, r.hi + base};
    }
    return r.hi <= base ? (struct byte_range){0, 0}
                        : (struct byte_range){r.lo < base ? 0 : r.lo - base, r.hi - base};
}

static int note_range(const struct op *o, enum kind kind, struct byte_range r, bool keep)
{
    const struct hl_win *w = o->w;
    bool remote = kind < READ;
    struct byte_range other = crossed(w, remote, r);
    int rc = remote ? compare_range(o, kind, r, o->node, same[kind]) : 0;
    for (const struct node *n = w->conflicts->nodes; n != NULL && rc == 0; n = n->next) {
        rc = remote ? 0 : compare_range(o, kind, r, n, same[kind]);
        if (rc == 0 && (remote ? o->node : n)->target == w->rank && other.hi != 0) {
            rc = compare_range(o, kind, other, n, cross[kind]);
        }
    }
    return rc == 0 && keep && o->adds ? add_range(&o->node->sets[kind], r) : rc;
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
            rc = note_range(o, l->kind, (struct byte_range){lo, lo + (uint64_t)run.n}, keep);
        }
    }
    hl_type_cursor_fini(&c);
    return rc;
}

static int note_all(struct hl_win *w, int target, const struct layout *layouts, int n)
{
    hl_mutex_lock(&w->conflicts->mutex);
    struct op o = {w, node_of(w->conflicts, target), false};
    int rc =
        o.node != NULL ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory to check accesses to target %d", target);
    for (int i = 0; i < 2 * n && rc == 0; i++) {
        o.adds = i >= n;
        if (layouts[i % n].type != NULL) {
            rc = note_layout(&o, &layouts[i % n]);
        }
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
        {put ? PUT : GET, m->target_type, m->target_count, (uint64_t)span->at},
        {put ? READ : WRITE, m->origin_type, m->origin_count, number_address(m->origin)},
    };
    return span->len == 0 ? 0 : note_all(m->win, m->target, layouts, 2);
}

int hl_conflict_acc(const struct hl_acc *a, const struct hl_span *span, const void *compare_with)
{
    const struct hl_move *m = &a->m;
    struct layout layouts[] = {
        {ACC, m->target_type, m->target_count, (uint64_t)span->at},
        {READ, a->op == HL_OP_NO_OP ? NULL : m->origin_type, m->origin_count, number_address(m->origin)},
        {READ, compare_with == NULL ? NULL : m->target_type, 1, number_address(compare_with)},
        {WRITE, a->fetches ? a->result_type : NULL, a->result_count, number_address(a->result)},
    };
    return span->len == 0 ? 0 : note_all(m->win, m->target, layouts, 4);
}

void hl_conflict_forget(struct hl_win *w, int target, bool local)
{
    hl_mutex_lock(&w->conflicts->mutex);
    for (struct node *n = w->conflicts->nodes; n != NULL; n = n->next) {
        for (int kind = 0; kind < KINDS; kind++) {
            bool done = !local || (kind != PUT && kind != ACC);
            if (done && (target < 0 || n->target == target)) {
                n->sets[kind].n = 0;
            }
        }
    }
    hl_mutex_unlock(&w->conflicts->mutex);
}
