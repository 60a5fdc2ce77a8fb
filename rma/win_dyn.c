/* Dynamic windows: attaching and detaching memory, and telling other ranks where it is. */
#include "dyn.h"

#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "err.h"
#include "job.h"
#include "prog.h"

/* A rank that remembers a region. */
struct holder {
    int world;
    hl_a32 left; /* atomic: the rank has forgotten the region */
};

/* A region of my memory. */
struct attached {
    struct hl_region r;
    struct hl_near_lock lock; /* of the rank that r.lock_owner names */
    uint64_t fab;             /* hl_mr_register's id, 0: none */
    struct holder *holders;
    uint32_t n_holders, room;
    struct attached *next; /* in hl_dyn.leaving */
};

struct hl_dyn {
    /* These are guarded by the lock of table.c. */
    struct attached **rows; /* ascending by base; empty regions in any order among those of the same base */
    uint32_t count, room;
    uint64_t serial;
    struct attached *leaving;
    /* This has its own rules. */
    struct hl_dyn_cache *cache;
};

struct hl_dyn_cache *hl_dyn_cache_of(const struct hl_win *w)
{
    return w->dyn->cache;
}

int hl_dyn_open(struct hl_win *w)
{
    w->dyn = calloc(1, sizeof *w->dyn);
    if (w->dyn == NULL || (w->dyn->cache = hl_dyn_cache_new()) == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a dynamic window");
    }
    return 0;
}

static void free_attached(struct attached *a)
{
    if (a->fab != 0) {
        hl_mr_unregister(a->fab);
    }
    free(a->holders);
    free(a);
}

void hl_dyn_close(struct hl_win *w)
{
    if (w->dyn == NULL) {
        return;
    }
    for (uint32_t i = 0; i < w->dyn->count; i++) {
        free_attached(w->dyn->rows[i]);
    }
    free(w->dyn->rows);
    hl_dyn_cache_free(w->dyn->cache);
    free(w->dyn);
}

/* ---- my table; callers hold the lock of table.c ---- */

/* The number of rows whose base is at most `at`. */
static uint32_t count_rows_below(const struct hl_dyn *d, uint64_t at)
{
    uint32_t lo = 0, hi = d->count;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (d->rows[mid]->r.base <= at) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* The row that holds `at`, or NULL. */
static struct attached *find_holding(const struct hl_dyn *d, uint64_t at)
{
    uint32_t n = count_rows_below(d, at);
    while (n != 0 && d->rows[n - 1]->r.len == 0) {
        n--;
    }
    return n != 0 && at - d->rows[n - 1]->r.base < d->rows[n - 1]->r.len ? d->rows[n - 1] : NULL;
}

char *hl_dyn_locate(const struct hl_win *w, uint64_t at, uint64_t len)
{
    const struct attached *a = find_holding(w->dyn, at);
    return a != NULL && len <= a->r.len - (at - a->r.base) ? (char *)(uintptr_t)at : NULL;
}

struct hl_near_lock *hl_dyn_lock(const struct hl_win *w, const void *there)
{
    return &find_holding(w->dyn, (uint64_t)(uintptr_t)there)->lock;
}

/* A row that shares a byte with [base, base + len), or NULL. */
static const struct attached *find_overlapping(const struct hl_dyn *d, uint64_t base, uint64_t len)
{
    const struct attached *a = len == 0 ? NULL : find_holding(d, base);
    for (uint32_t n = count_rows_below(d, base);
         a == NULL && len != 0 && n < d->count && d->rows[n]->r.base - base < len; n++) {
        a = d->rows[n]->r.len != 0 ? d->rows[n] : NULL;
    }
    return a;
}

static int insert_region(struct hl_win *w, void *arg)
{
    struct attached *a = arg;
    struct hl_dyn *d = w->dyn;
    const struct attached *other = find_overlapping(d, a->r.base, a->r.len);
    if (other != NULL) {
        return hl_err_say(HL_ERR_RMA_ATTACH,
                          "%llu bytes at %#llx overlap %llu bytes at %#llx, which are attached already",
                          (unsigned long long)a->r.len, (unsigned long long)a->r.base,
                          (unsigned long long)other->r.len, (unsigned long long)other->r.base);
    }
    if (d->count == d->room) {
        uint32_t room = d->room == 0 ? 8 : 2 * d->room;
        struct attached **rows = realloc(d->rows, room * sizeof(struct attached *));
        if (rows == NULL) {
            return hl_err_say(HL_ERR_NO_MEM, "no memory to attach region %u", d->count + 1);
        }
        d->rows = rows;
        d->room = room;
    }
    uint32_t at = count_rows_below(d, a->r.base);
    memmove(&d->rows[at + 1], &d->rows[at], (d->count - at) * sizeof(struct attached *));
    d->rows[at] = a;
    d->count++;
    a->r.id = ++d->serial;
    return 0;
}

struct unlink {
    uint64_t base;
    struct attached *found;
};

static int remove_region(struct hl_win *w, void *arg)
{
    struct unlink *u = arg;
    struct hl_dyn *d = w->dyn;
    uint32_t n = count_rows_below(d, u->base);
    if (n == 0 || d->rows[n - 1]->r.base != u->base) {
        return hl_err_say(HL_ERR_BASE, "no memory is attached at %#llx", (unsigned long long)u->base);
    }
    u->found = d->rows[n - 1];
    memmove(&d->rows[n - 1], &d->rows[n], (d->count - n) * sizeof(struct attached *));
    d->count--;
    u->found->next = d->leaving;
    d->leaving = u->found;
    return 0;
}

static int forget_region(struct hl_win *w, void *arg)
{
    struct attached **at = &w->dyn->leaving;
    while (*at != arg) {
        at = &(*at)->next;
    }
    *at = (*at)->next;
    return 0;
}

/* ---- which ranks know a region ---- */

static int note_holder(struct attached *a, int world)
{
    for (uint32_t i = 0; i < a->n_holders; i++) {
        if (a->holders[i].world == world) {
            return 0;
        }
    }
    if (a->n_holders == a->room) {
        uint32_t room = a->room == 0 ? 4 : 2 * a->room;
        struct holder *holders = realloc(a->holders, room * sizeof *holders);
        if (holders == NULL) {
            return hl_err_say(HL_ERR_NO_MEM, "no memory to note which rank knows attached memory");
        }
        a->holders = holders;
        a->room = room;
    }
    a->holders[a->n_holders++] = (struct holder){.world = world};
    return 0;
}

struct region_question {
    uint64_t at;
    int world;
    struct hl_region *out;
};

static int tell_region(struct hl_win *w, void *arg)
{
    const struct region_question *q = arg;
    struct attached *a = w->dyn != NULL ? find_holding(w->dyn, q->at) : NULL;
    int rc = a != NULL ? note_holder(a, q->world) : HL_ERR_RMA_RANGE;
    if (rc == 0) {
        *q->out = a->r;
    }
    return rc;
}

int hl_dyn_describe(struct hl_win *w, uint64_t at, int world, struct hl_region *out)
{
    return hl_win_table_with(w->id, tell_region, &(struct region_question){at, world, out});
}

static int answer_region(const struct hl_rx_msg *msg)
{
    struct hl_region r;
    struct region_question q = {msg->rec->offset, msg->from, &r};
    int rc = hl_win_table_with(msg->rec->aux, tell_region, &q);
    struct hl_wire_rec rec = {
        .op = HL_WIRE_REGION, .kind = HL_DYN_HERE, .len = rc == 0 ? sizeof r : 0, .count = msg->rec->count};
    return hl_rx_send(msg->from, &rec, rc == 0 ? &r : NULL);
}

/* ---- the end of a region ---- */

static int drop_region(struct hl_win *w, void *arg)
{
    const struct hl_wire_rec *rec = arg;
    if (w->dyn != NULL) {
        hl_dyn_cache_drop(w->dyn->cache, (int)rec->offset, rec->region);
    }
    return 0;
}

static int take_gone(const struct hl_rx_msg *msg)
{
    hl_win_table_with(msg->rec->aux, drop_region, (void *)(uintptr_t)msg->rec);
    struct hl_wire_rec rec = {
        .op = HL_WIRE_REGION, .kind = HL_DYN_LEFT, .region = msg->rec->region, .aux = msg->rec->aux};
    return hl_rx_send(msg->from, &rec, NULL);
}

static int note_left(struct hl_win *w, void *arg)
{
    const struct hl_rx_msg *msg = arg;
    struct attached *a = w->dyn != NULL ? w->dyn->leaving : NULL;
    while (a != NULL && a->r.id != msg->rec->region) {
        a = a->next;
    }
    for (uint32_t i = 0; a != NULL && i < a->n_holders; i++) {
        if (a->holders[i].world == msg->from) {
            /* release: the rank no longer reads the region; pairs with the acquire in is_left_by_all. */
            hl_a32_store_release(&a->holders[i].left, 1);
        }
    }
    return 0;
}

int hl_dyn_serve(const struct hl_rx_msg *msg)
{
    switch (msg->rec->kind) {
    case HL_DYN_ASK:
        return answer_region(msg);
    case HL_DYN_HERE:
        hl_dyn_answered(msg);
        return 0;
    case HL_DYN_GONE:
        return take_gone(msg);
    case HL_DYN_LEFT:
        hl_win_table_with(msg->rec->aux, note_left, (void *)(uintptr_t)msg);
        hl_prog_wake();
        return 0;
    default:
        return hl_err_say(HL_ERR_INTERN, "unknown record about attached memory from rank %d", msg->from);
    }
}

static bool is_left_by_all(void *arg)
{
    const struct attached *a = arg;
    for (uint32_t i = 0; i < a->n_holders; i++) {
        /* acquire: pairs with the release in note_left. */
        if (hl_a32_load_acquire(&a->holders[i].left) == 0 && !hl_rx_is_dead(a->holders[i].world)) {
            return false;
        }
    }
    return true;
}

static void describe_regions_left(const void *arg, struct hl_wait_desc *t)
{
    const struct attached *a = arg;
    hl_desc_say(t, "ranks that still know memory which is detached");
    for (uint32_t i = 0; i < a->n_holders; i++) {
        /* relaxed: only shown to people. */
        bool left = hl_a32_load_relaxed(&a->holders[i].left) != 0;
        hl_desc_await(t, left ? -1 : a->holders[i].world);
    }
}
HL_HANG_WORDS(is_left_by_all, describe_regions_left);

static int recall_region(struct hl_win *w, struct attached *a)
{
    int failed = 0;
    for (uint32_t i = 0; i < a->n_holders; i++) { /* none is added: it is out of the table */
        struct hl_wire_rec rec = {.op = HL_WIRE_REGION,
                                  .kind = HL_DYN_GONE,
                                  .region = a->r.id,
                                  .offset = (uint64_t)w->rank,
                                  .aux = w->id};
        int rc = 0;
        if (a->holders[i].world == hl_job.rank) {
            hl_dyn_cache_drop(w->dyn->cache, w->rank, a->r.id);
        } else {
            rc = hl_rx_send(a->holders[i].world, &rec, NULL);
        }
        if (rc != 0 || a->holders[i].world == hl_job.rank) {
            hl_a32_store_relaxed(&a->holders[i].left, 1); /* relaxed: only this thread reads it. */
        }
        failed = failed != 0 || rc == HL_ERR_PROC_ABORTED ? failed : rc;
    }
    hl_prog_wait(is_left_by_all, a);
    return failed;
}

/* ---- the user's calls ---- */

static int describe_region(struct attached *a)
{
    struct hl_region *r = &a->r;
    int owner = hl_near_owner((void *)(uintptr_t)r->base);
    a->lock.owner = (uint32_t)(owner >= 0 ? owner : hl_job.node_rank) + 1;
    hl_win_overlay((void *)(uintptr_t)r->base, r->len, owner);
    r->lock_owner = a->lock.owner;
    struct hl_seg *seg = r->len != 0 ? hl_mem_find((void *)(uintptr_t)r->base, r->len) : NULL;
    struct hl_mr mr;
    int rc = 0;
    if (seg != NULL) {
        r->seg_id = seg->id;
        r->seg_len = seg->len;
        r->seg_off = r->base - (uint64_t)(uintptr_t)seg->base;
    }
    if (r->len != 0 && hl_rx_has_network()) {
        rc = hl_mr_register((void *)(uintptr_t)r->base, r->len, &mr);
        if (rc == 0) {
            a->fab = mr.id;
            r->addr = mr.addr;
            r->key = mr.key;
        }
    }
    return rc;
}

static int check_dynamic(const struct hl_win *w)
{
    if (w == NULL) {
        return hl_win_bad();
    }
    return w->dyn != NULL
               ? 0
               : hl_err_say(HL_ERR_RMA_FLAVOR, "the window was not made by MPI_Win_create_dynamic");
}

static int attach_memory(struct hl_win *w, void *base, MPI_Aint size)
{
    int rc = check_dynamic(w);
    if (rc != 0) {
        return rc;
    }
    if (size < 0 || (uintptr_t)base + (uintptr_t)size < (uintptr_t)base) {
        return hl_err_say(HL_ERR_SIZE,
                          size < 0 ? "size %lld is negative" : "%lld bytes at %p pass the last address",
                          (long long)size, base);
    }
    if (base == NULL && size != 0) {
        return hl_err_say(HL_ERR_BASE, "base is NULL for %lld bytes", (long long)size);
    }
    struct attached *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to attach a region");
    }
    a->r.base = (uint64_t)(uintptr_t)base;
    a->r.len = (uint64_t)size;
    rc = describe_region(a);
    rc = rc != 0 ? rc : hl_win_table_with(w->id, insert_region, a);
    if (rc != 0) {
        free_attached(a);
    }
    return rc;
}

static int detach_memory(struct hl_win *w, const void *base)
{
    struct unlink u = {(uint64_t)(uintptr_t)base, NULL};
    int rc = check_dynamic(w);
    rc = rc != 0 ? rc : hl_win_table_with(w->id, remove_region, &u);
    if (rc != 0) {
        return rc;
    }
    rc = recall_region(w, u.found);
    hl_win_table_with(w->id, forget_region, u.found);
    free_attached(u.found);
    return rc;
}

HL_API(MPI_Win_attach);
int PMPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    struct hl_win *w = hl_win_of(win);
    int rc = attach_memory(w, base, size);
    return hl_win_end(win, "MPI_Win_attach", rc);
}

HL_API(MPI_Win_detach);
int PMPI_Win_detach(MPI_Win win, const void *base)
{
    struct hl_win *w = hl_win_of(win);
    int rc = detach_memory(w, base);
    return hl_win_end(win, "MPI_Win_detach", rc);
}
