/* What a rank remembers of the memory that its targets attached to a dynamic window.
 *
 * A table sorted by (target, address). Readers take no lock; they check a sequence number, `moves`, which is
 * odd while the table changes. Outgrown tables stay until the window is freed, because a reader may be
 * inside.
 *
 * A region may be dropped before the answer that describes it is stored, or even before that answer comes. So
 * an answer is stored only if nothing was dropped since it was asked for; else the target is asked again. */
#include "dyn.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "job.h"
#include "layout.h"
#include "lock.h"
#include "prog.h"

#define FIRST_ROOM 16u

/* One region; all words atomic, changed under `mutex` while `moves` is odd. */
struct entry {
    hl_a64 target, base, len, id, where, at, lock_owner;
    hl_a64 seg, node; /* the mapping that it uses: segment (0: none), node rank of the segment's owner */
};
#define WORDS (sizeof(struct entry) / sizeof(hl_a64))

struct region_table {
    struct region_table *smaller;
    uint32_t room;
    struct entry entries[];
};

/* A mapping whose entry was removed. It is unmapped when the next region is learnt: threads that were copying
 * through it have finished by then. */
struct mapping {
    struct mapping *next;
    int node_rank;
    uint64_t seg;
};

struct hl_dyn_cache {
    struct hl_mutex mutex;
    hl_a64 moves;        /* atomic */
    hl_a32 count;        /* atomic, changed like the entries */
    hl_aptr table;       /* atomic: struct region_table */
    struct mapping *old; /* guarded by mutex */
    uint64_t drops;      /* how often a region was to be dropped; guarded by mutex */
};

static struct region_table *region_table_of(const struct hl_dyn_cache *c)
{
    /* acquire: room and entries; pairs with the release in make_room. */
    return hl_aptr_load_acquire(&c->table);
}

static struct region_table *make_region_table(uint32_t room)
{
    struct region_table *t = calloc(1, sizeof *t + room * sizeof t->entries[0]);
    if (t != NULL) {
        t->room = room;
    }
    return t;
}

struct hl_dyn_cache *hl_dyn_cache_new(void)
{
    struct hl_dyn_cache *c = calloc(1, sizeof *c);
    struct region_table *t = make_region_table(FIRST_ROOM);
    if (c == NULL || t == NULL) {
        free(c);
        free(t);
        return NULL;
    }
    *c = (struct hl_dyn_cache){.mutex = HL_MUTEX_INIT};
    hl_aptr_store_release(&c->table, t); /* release: pairs with region_table_of. */
    return c;
}

static void unmap_old(struct hl_dyn_cache *c) HL_REQUIRES(c->mutex)
{
    for (struct mapping *m = c->old, *next; m != NULL; m = next) {
        next = m->next;
        hl_near_unmap(m->node_rank, m->seg);
        free(m);
    }
    c->old = NULL;
}

/* ---- reading ---- */

/* A word of an entry. relaxed: the sequence number `moves` orders them. */
static uint64_t read_entry_word(const hl_a64 *p)
{
    return hl_a64_load_relaxed(p);
}

/* The number of entries whose (target, base) is at or before (target, at). */
static uint32_t count_entries_below(const struct region_table *t, uint32_t count, int target, uint64_t at)
{
    uint32_t lo = 0, hi = count < t->room ? count : t->room;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        uint64_t its = read_entry_word(&t->entries[mid].target);
        bool before =
            its != (uint64_t)target ? its < (uint64_t)target : read_entry_word(&t->entries[mid].base) <= at;
        lo = before ? mid + 1 : lo;
        hi = before ? hi : mid;
    }
    return lo;
}

/* One look into the table. The result is right only when no entry moved meanwhile. */
static bool look_up_place(const struct hl_dyn_cache *c, int target, uint64_t at, struct hl_place *place)
{
    const struct region_table *t = region_table_of(c);
    /* relaxed: ordered by `moves`. */
    uint32_t n = count_entries_below(t, hl_a32_load_relaxed(&c->count), target, at);
    if (n == 0) {
        return false;
    }
    const struct entry *e = &t->entries[n - 1];
    uint64_t into = at - read_entry_word(&e->base), len = read_entry_word(&e->len);
    place->t = (struct hl_target){read_entry_word(&e->where) + into, read_entry_word(&e->at)};
    place->len = len - into;
    place->lock = (struct hl_near_lock){.owner = (uint32_t)read_entry_word(&e->lock_owner)};
    return read_entry_word(&e->target) == (uint64_t)target && into < len;
}

static bool recall_place(struct hl_dyn_cache *c, int target, uint64_t at, struct hl_place *place)
{
    for (;;) {
        /* acquire: the look comes after it; pairs with the full additions in begin_moves and end_moves. */
        uint64_t moves = hl_a64_load_acquire(&c->moves);
        bool found = look_up_place(c, target, at, place);
        hl_fence_acquire(); /* the look comes before the second load; pairs with the additions to `moves` */
        /* relaxed: ordered by the fence above. */
        if (moves % 2 == 0 && hl_a64_load_relaxed(&c->moves) == moves) {
            return found;
        }
        hl_mutex_lock(&c->mutex); /* waits until the change is over */
        hl_mutex_unlock(&c->mutex);
    }
}

/* ---- changing ---- */

static void begin_moves(struct hl_dyn_cache *c) HL_REQUIRES(c->mutex)
{
    hl_a64_add_full(&c->moves, 1);
    hl_fence_release(); /* the addition comes before the entries; pairs with the fence in recall_place */
}

static void end_moves(struct hl_dyn_cache *c) HL_REQUIRES(c->mutex)
{
    hl_a64_add_full(&c->moves, 1); /* full: comes after the entries; pairs with the acquire in recall_place */
}

static void copy_entry(struct entry *to, const struct entry *from)
{
    const hl_a64 *in = &from->target;
    hl_a64 *out = &to->target;
    for (size_t i = 0; i < WORDS; i++) {
        hl_a64_store_relaxed(&out[i],
                             read_entry_word(&in[i])); /* relaxed: ordered by begin_moves and end_moves. */
    }
}

static uint32_t entries_in(const struct hl_dyn_cache *c) HL_REQUIRES(c->mutex)
{
    return hl_a32_load_relaxed(&c->count); /* relaxed: the mutex is held, which guards changes. */
}

static void remove_entry(struct hl_dyn_cache *c, uint32_t at) HL_REQUIRES(c->mutex)
{
    struct region_table *t = region_table_of(c);
    uint32_t count = entries_in(c);
    struct entry *e = &t->entries[at];
    uint64_t seg = read_entry_word(&e->seg);
    struct mapping *m = seg != 0 ? malloc(sizeof *m) : NULL;
    if (m != NULL) { /* if there is no memory, the mapping stays, which costs address space only */
        *m = (struct mapping){c->old, (int)read_entry_word(&e->node), seg};
        c->old = m;
    }
    begin_moves(c);
    for (uint32_t i = at; i + 1 < count; i++) {
        copy_entry(&t->entries[i], &t->entries[i + 1]);
    }
    hl_a32_store_relaxed(&c->count, count - 1); /* relaxed: ordered by `moves`. */
    end_moves(c);
}

static int make_room(struct hl_dyn_cache *c) HL_REQUIRES(c->mutex)
{
    struct region_table *t = region_table_of(c);
    uint32_t count = entries_in(c);
    if (count < t->room) {
        return 0;
    }
    struct region_table *larger = make_region_table(2 * t->room);
    if (larger == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to remember %u attached regions", count + 1);
    }
    for (uint32_t i = 0; i < count; i++) {
        copy_entry(&larger->entries[i], &t->entries[i]);
    }
    larger->smaller = t;
    hl_aptr_store_release(&c->table, larger); /* release: pairs with region_table_of. */
    return 0;
}

/* True: region r is in the table already, since two threads asked for it. Otherwise removes entries that
 * overlap r: they are older and detached, else r could not be attached. */
static bool make_way(struct hl_dyn_cache *c, int target, const struct hl_region *r) HL_REQUIRES(c->mutex)
{
    for (uint32_t n;
         (n = count_entries_below(region_table_of(c), entries_in(c), target, r->base + r->len - 1)) != 0;) {
        const struct entry *e = &region_table_of(c)->entries[n - 1];
        if (read_entry_word(&e->target) != (uint64_t)target ||
            read_entry_word(&e->base) + read_entry_word(&e->len) <= r->base) {
            break;
        }
        if (read_entry_word(&e->id) == r->id) {
            return true;
        }
        remove_entry(c, n - 1);
    }
    return false;
}

static void insert_entry(struct hl_dyn_cache *c, const struct entry *e) HL_REQUIRES(c->mutex)
{
    struct region_table *t = region_table_of(c);
    uint32_t count = entries_in(c),
             at = count_entries_below(t, count, (int)read_entry_word(&e->target), read_entry_word(&e->base));
    begin_moves(c);
    for (uint32_t i = count; i > at; i--) {
        copy_entry(&t->entries[i], &t->entries[i - 1]);
    }
    copy_entry(&t->entries[at], e);
    hl_a32_store_relaxed(&c->count, count + 1); /* relaxed: ordered by `moves`. */
    end_moves(c);
}

void hl_dyn_cache_drop(struct hl_dyn_cache *c, int target, uint64_t id)
{
    hl_mutex_lock(&c->mutex);
    c->drops++;
    for (uint32_t i = 0; i < entries_in(c); i++) {
        const struct entry *e = &region_table_of(c)->entries[i];
        if (read_entry_word(&e->target) == (uint64_t)target && read_entry_word(&e->id) == id) {
            remove_entry(c, i);
            break;
        }
    }
    hl_mutex_unlock(&c->mutex);
}

void hl_dyn_cache_free(struct hl_dyn_cache *c)
{
    if (c == NULL) {
        return;
    }
    hl_mutex_lock(&c->mutex);
    while (entries_in(c) != 0) {
        remove_entry(c, entries_in(c) - 1);
    }
    unmap_old(c);
    hl_mutex_unlock(&c->mutex);
    for (struct region_table *t = region_table_of(c), *next; t != NULL; t = next) {
        next = t->smaller;
        free(t);
    }
    free(c);
}

/* ---- asking ---- */

/* A thread that waits for an answer. */
struct ask {
    struct ask *next;
    uint64_t token;
    int peer;
    hl_a32 state; /* atomic: 0, then ANSWERED or REFUSED */
    struct hl_region region;
};
enum { ANSWERED = 1, REFUSED };

static struct hl_mutex asks_lock = HL_MUTEX_INIT;
static struct ask *asks; /* guarded by asks_lock */
static uint64_t tokens;  /* guarded by asks_lock */

static bool is_answered(void *arg)
{
    const struct ask *a = arg;
    /* acquire: the region; pairs with the release in hl_dyn_answered. */
    return hl_a32_load_acquire(&a->state) != 0 || hl_rx_is_dead(a->peer);
}

static void describe_ask(const void *arg, struct hl_wait_desc *t)
{
    hl_desc_say(t, "where memory attached to a window is");
    hl_desc_await(t, ((const struct ask *)arg)->peer);
}
HL_HANG_WORDS(is_answered, describe_ask);

static void enter_ask(struct ask *a)
{
    hl_mutex_lock(&asks_lock);
    a->token = ++tokens;
    a->next = asks;
    asks = a;
    hl_mutex_unlock(&asks_lock);
}

static void leave_asked(struct ask *a)
{
    hl_mutex_lock(&asks_lock);
    for (struct ask **at = &asks; *at != NULL; at = &(*at)->next) {
        if (*at == a) {
            *at = a->next;
            break;
        }
    }
    hl_mutex_unlock(&asks_lock);
}

void hl_dyn_answered(const struct hl_rx_msg *msg)
{
    const struct hl_wire_rec *rec = msg->rec;
    bool found = rec->len == sizeof(struct hl_region);
    hl_mutex_lock(&asks_lock);
    struct ask *a = asks;
    while (a != NULL && a->token != rec->count) {
        a = a->next;
    }
    if (a != NULL && found) {
        memcpy(&a->region, msg->payload, sizeof a->region);
    }
    if (a != NULL) { /* release: pairs with the acquire in is_answered. Under the lock: *a is on the asker's
                      * stack. */
        hl_a32_store_release(&a->state, found ? ANSWERED : REFUSED);
    }
    hl_mutex_unlock(&asks_lock);
    hl_prog_wake();
}

static int ask_peer(struct hl_win *w, int target, uint64_t at, struct hl_region *out)
{
    struct ask a = {.peer = hl_win_world(w, target)};
    if (a.peer == hl_job.rank) {
        return hl_dyn_describe(w, at, a.peer, out);
    }
    enter_ask(&a);
    struct hl_wire_rec rec = {
        .op = HL_WIRE_REGION, .kind = HL_DYN_ASK, .offset = at, .count = a.token, .aux = w->id};
    int rc = hl_rx_send(a.peer, &rec, NULL);
    if (rc == 0) {
        hl_prog_wait(is_answered, &a);
    }
    leave_asked(&a);
    if (rc != 0) {
        return rc;
    }
    uint32_t state = hl_a32_load_acquire(&a.state); /* acquire: the region; pairs with the release in
                                                     * hl_dyn_answered. */
    if (state == 0) {
        return hl_err_say(HL_ERR_PROC_ABORTED, "rank %d died while it was asked for its memory", a.peer);
    }
    *out = a.region;
    return state == ANSWERED && at - out->base < out->len ? 0 : HL_ERR_RMA_RANGE;
}

/* Fills *e: how this rank reaches a target's region. */
static void make_entry(struct hl_win *w, int target, const struct hl_region *r, struct entry *e)
{
    const struct hl_target *t = &w->targets[target];
    int node_rank = hl_job_node_of(hl_win_world(w, target));
    uint64_t where = (t->where & HL_TARGET_BITS) | r->base, at = t->key_or_ctl, seg = 0;
    char *base;
    if (hl_target_is_far(t)) {
        where = HL_TARGET_UNMAPPED | r->addr;
        at = r->key;
    } else if (target == w->rank) {
        where = r->base;
    } else if (r->seg_id != 0 && hl_near_map(node_rank, r->seg_id, r->seg_len, &base) == 0) {
        where = (uint64_t)(uintptr_t)base + r->seg_off;
        seg = r->seg_id;
    }
    const uint64_t words[WORDS] = {(uint64_t)target,   r->base, r->len, r->id, where, at, r->lock_owner, seg,
                                   (uint64_t)node_rank};
    for (size_t i = 0; i < WORDS; i++) {
        hl_a64_store_relaxed(&(&e->target)[i], words[i]); /* relaxed: nobody else sees it yet. */
    }
}

static uint64_t count_drops(struct hl_dyn_cache *c)
{
    hl_mutex_lock(&c->mutex);
    uint64_t drops = c->drops;
    hl_mutex_unlock(&c->mutex);
    return drops;
}

/* Asks the target for the region that holds `at` and remembers the answer, unless that may be out of date by
 * then: 0 also when the caller has to ask again. Errors of hl_dyn_find. */
static int learn_place(struct hl_win *w, int target, uint64_t at)
{
    struct hl_dyn_cache *c = hl_dyn_cache_of(w);
    struct hl_region r = {0};
    struct entry e;
    uint64_t drops = count_drops(c);
    int rc = ask_peer(w, target, at, &r);
    if (rc != 0) {
        return rc;
    }
    make_entry(w, target, &r, &e);
    hl_mutex_lock(&c->mutex);
    unmap_old(c);
    bool needless = c->drops != drops || make_way(c, target, &r);
    rc = needless ? 0 : make_room(c);
    if (rc == 0 && !needless) {
        insert_entry(c, &e);
    }
    hl_mutex_unlock(&c->mutex);
    if ((needless || rc != 0) && read_entry_word(&e.seg) != 0) {
        hl_near_unmap((int)read_entry_word(&e.node), read_entry_word(&e.seg));
    }
    return rc;
}

int hl_dyn_straddles(uint64_t at, int target)
{
    return hl_err_say(HL_ERR_RMA_RANGE, "an element at %#llx is in two regions that target %d has attached",
                      (unsigned long long)at, target);
}

int hl_dyn_find(struct hl_win *w, int target, uint64_t at, struct hl_place *place)
{
    struct hl_dyn_cache *c = hl_dyn_cache_of(w);
    int rc = 0;
    while (rc == 0 && !recall_place(c, target, at, place)) {
        rc = learn_place(w, target, at);
    }
    return rc != HL_ERR_RMA_RANGE
               ? rc
               : hl_err_say(rc, "address %#llx is not in memory that target %d has attached",
                            (unsigned long long)at, target);
}

static int check_covered(struct hl_win *w, int target, uint64_t lo, uint64_t hi)
{
    int rc = 0;
    while (lo < hi && rc == 0) {
        struct hl_place place;
        rc = hl_dyn_find(w, target, lo, &place);
        lo += rc == 0 ? place.len : 0;
    }
    return rc;
}

int hl_dyn_check(const struct hl_move *m, const struct hl_span *span, uint64_t lo, uint64_t hi)
{
    struct hl_layout_iter walk;
    struct hl_layout_side side = {m->target_type, m->target_count, hl_layout_at(span->offset)};
    int rc = check_covered(m->win, m->target, lo, hi);
    if (rc != HL_ERR_RMA_RANGE || m->target_type->dense) {
        return rc;
    }
    rc =
        hl_layout_begin(&walk, HL_WALK_BYTES, 1, &side, 1); /* the holes of the layout need not be attached */
    while (rc == 0 && hl_layout_next(&walk)) {
        uint64_t at = (uint64_t)hl_layout_offset(walk.at[0]);
        rc = check_covered(m->win, m->target, at, at + (uint64_t)walk.n);
    }
    hl_layout_end(&walk);
    return rc;
}
