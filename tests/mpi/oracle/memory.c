/* Windows of all kinds over memory that everybody has a model of. */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

struct memory memories[MAX_MEMORIES][MAX_RANKS];
struct window windows[MAX_WINDOWS];
int n_windows, n_memories;

static MPI_Comm backwards = MPI_COMM_NULL; /* everybody, in the other order */
static bool one_node;                      /* all ranks may share a window */

int target_rank(const struct window *w, int world)
{
    return w->reverse ? ranks - 1 - world : world;
}

const char *flavor_name(enum flavor f)
{
    static const char *const names[FLAVORS] = {"create",          "create in shareable memory",
                                               "allocate",        "dynamic",
                                               "allocate_shared", "create over another window's memory"};
    return names[f];
}

/* ---- what a setup consists of, the same on all ranks ---- */

static void draw_memory(struct memory *m, struct rng *r, int owner, int region)
{
    *m = (struct memory){.owner = owner, .n_regions = pick(r, 6) == 0 ? 0 : 1 + pick(r, MAX_REGIONS)};
    m->bytes = m->n_regions * region;
    for (int i = 0; i < m->n_regions; i++) {
        struct region *g = &m->regions[i];
        g->basic = pick(r, 3) == 0 ? NULL : &basics[pick(r, n_basics)];
        int off = 0;
        if (g->basic != NULL && (pick(r, 5) == 0 || (may_swap(g->basic) && pick(r, 2)))) {
            off = 1 + pick(r, 7); /* not aligned: under a lock */
        }
        g->at = i * region + off;
        g->bytes = region - off;
        if (g->basic != NULL) {
            g->bytes -= g->bytes % g->basic->extent;
        }
    }
    m->model = malloc((size_t)m->bytes + 1);
    m->touch = malloc(((size_t)m->bytes + 1) * sizeof *m->touch);
}

static void draw_window(struct window *w, struct rng *r, enum flavor flavor, int memory)
{
    static const int unit_list[] = {1, 1, 2, 4, 8, 8, 16, 3, 12};
    bool same = pick(r, 2);
    int common = unit_list[pick(r, 9)];

    *w = (struct window){
        .flavor = flavor, .memory = memory, .reverse = pick(r, 4) == 0, .unordered = pick(r, 4) == 0};
    for (int i = 0; i < ranks; i++) {
        int all = memories[memory][i].bytes, from = flavor == OVERLAP ? pick(r, all / 2 + 1) : 0;
        w->from[i] = from;
        w->bytes[i] = flavor == OVERLAP ? all - from - pick(r, (all - from) / 4 + 1) : all;
        w->unit[i] = same ? common : unit_list[pick(r, 9)];
        w->unit[i] = flavor == DYNAMIC ? 1 : w->unit[i];
    }
}

/* Private memory is reached by more ways than the rest, so there is always some. */
static enum flavor draw_flavor(struct rng *r, int memory)
{
    return memory == 0 ? CREATE : (enum flavor)pick(r, one_node ? 5 : 4);
}

/* ---- making it ---- */

static void *mine_of(const struct window *w)
{
    struct memory *m = &memories[w->memory][me];
    return w->bytes[me] == 0 ? NULL : m->here + w->from[me];
}

/* Everybody learns where the others' memory is. */
static void attach(struct window *w, const struct memory *m)
{
    MPI_Aint at = 0;
    if (m->bytes > 0) {
        MPI_Win_attach(w->win, m->here, m->bytes);
        MPI_Get_address(m->here, &at);
    }
    MPI_Allgather(&at, 1, MPI_AINT, w->base, 1, MPI_AINT, MPI_COMM_WORLD);
}

static void make_window(struct window *w)
{
    struct memory *m = &memories[w->memory][me];
    MPI_Comm comm = w->reverse ? backwards : MPI_COMM_WORLD;
    MPI_Info info;
    void *base = NULL;

    MPI_Info_create(&info);
    if (w->unordered) {
        MPI_Info_set(info, "accumulate_ordering", "none");
    }
    if (w->flavor == CREATE || (w->flavor == DYNAMIC && w->unordered)) {
        m->here = aligned_alloc(64, (size_t)m->bytes + 64 - (size_t)m->bytes % 64);
    } else if (w->flavor == CREATE_SHAREABLE || w->flavor == DYNAMIC) {
        MPI_Alloc_mem(m->bytes + 1, MPI_INFO_NULL, &base);
        m->here = base;
    }
    if (w->flavor == ALLOCATE) {
        MPI_Win_allocate(m->bytes, w->unit[me], info, comm, &base, &w->win);
        m->here = base;
    } else if (w->flavor == SHARED) {
        MPI_Win_allocate_shared(m->bytes, w->unit[me], info, comm, &base, &w->win);
        m->here = base;
    } else if (w->flavor == DYNAMIC) {
        MPI_Win_create_dynamic(info, comm, &w->win);
        attach(w, m);
    } else {
        MPI_Win_create(mine_of(w), w->bytes[me], w->unit[me], info, comm, &w->win);
    }
    MPI_Info_free(&info);
}

/* How each rank reaches each: asked with a get, not believed. */
static void learn_reach(struct window *w)
{
    uint8_t mine[MAX_RANKS], all[MAX_RANKS * MAX_RANKS];
    char byte;

    MPI_Win_lock_all(0, w->win);
    for (int t = 0; t < ranks; t++) {
        cover_before();
        if (w->bytes[t] > 0) {
            MPI_Get(&byte, 1, MPI_BYTE, target_rank(w, t), w->base[t], 1, MPI_BYTE, w->win);
            MPI_Win_flush(target_rank(w, t), w->win);
        }
        enum way way = cover_after(t == me ? SELF : NEAR);
        mine[t] = (uint8_t)(way == CHAINED ? DIRECT : way);
    }
    MPI_Win_unlock_all(w->win);
    MPI_Allgather(mine, ranks, MPI_UINT8_T, all, ranks, MPI_UINT8_T, MPI_COMM_WORLD);
    for (int o = 0; o < ranks; o++) {
        for (int t = 0; t < ranks; t++) {
            w->reach[o][t] = all[o * ranks + t];
        }
    }
}

void setup_open(int64_t setup)
{
    struct rng r = rng_of('S', setup);
    int region = pick(&r, 8) == 0 ? 8192 : pick(&r, 4) == 0 ? 1024 : 192;

    if (backwards == MPI_COMM_NULL) {
        MPI_Comm node;
        int n;
        MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &backwards);
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        MPI_Comm_size(node, &n);
        MPI_Comm_free(&node);
        int all = n == ranks;
        MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        one_node = all;
    }
    n_memories = 2 + pick(&r, MAX_MEMORIES - 1);
    n_windows = n_memories;
    for (int k = 0; k < n_memories; k++) {
        for (int i = 0; i < ranks; i++) {
            draw_memory(&memories[k][i], &r, i, region);
        }
        draw_window(&windows[k], &r, draw_flavor(&r, k), k);
    }
    while (n_windows < MAX_WINDOWS && pick(&r, 3) == 0) {
        draw_window(&windows[n_windows++], &r, OVERLAP, pick(&r, n_memories));
    }
    for (int k = 0; k < n_windows; k++) {
        make_window(&windows[k]);
        learn_reach(&windows[k]);
    }
}

void setup_close(void)
{
    for (int k = n_windows - 1; k >= 0; k--) {
        struct memory *m = &memories[windows[k].memory][me];
        const struct window *w = &windows[k];
        if (w->flavor == DYNAMIC && m->bytes > 0) {
            MPI_Win_detach(w->win, m->here);
        }
        MPI_Win_free(&windows[k].win);
        if (w->flavor == CREATE || (w->flavor == DYNAMIC && w->unordered)) {
            free(m->here);
        } else if (w->flavor == CREATE_SHAREABLE || w->flavor == DYNAMIC) {
            MPI_Free_mem(m->here);
        }
    }
    for (int k = 0; k < n_memories; k++) {
        for (int i = 0; i < ranks; i++) {
            free(memories[k][i].model);
            free(memories[k][i].touch);
        }
    }
}

/* ---- contents ---- */

static void fill(struct memory *m, struct rng *r)
{
    unsigned char *value = m->model;
    for (int i = 0; i < m->bytes; i++) {
        value[i] = (unsigned char)(rng_next(r) >> 32);
    }
    for (int g = 0; g < m->n_regions; g++) {
        const struct region *a = &m->regions[g];
        for (int at = 0; a->basic != NULL && a->basic->value != NULL && at < a->bytes;
             at += a->basic->extent) {
            random_value(r, a->basic, value + a->at + at);
        }
    }
    memset(m->touch, 0, (size_t)m->bytes * sizeof *m->touch);
}

void memory_enter(void)
{
    for (int k = 0; k < n_windows; k++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target_rank(&windows[k], me), 0, windows[k].win);
    }
}

void memory_leave(void)
{
    for (int k = 0; k < n_windows; k++) {
        MPI_Win_unlock(target_rank(&windows[k], me), windows[k].win);
    }
}

void memory_fill(int64_t round)
{
    struct rng r = rng_of('M', round);
    for (int k = 0; k < n_memories; k++) {
        for (int i = 0; i < ranks; i++) {
            fill(&memories[k][i], &r);
        }
    }
    memory_enter();
    for (int k = 0; k < n_memories; k++) {
        struct memory *m = &memories[k][me];
        if (m->bytes > 0) {
            memcpy(m->here, m->model, (size_t)m->bytes);
        }
    }
    memory_leave();
}

static const struct region *region_at(const struct memory *m, int byte)
{
    for (int g = 0; g < m->n_regions; g++) {
        const struct region *a = &m->regions[g];
        if (byte >= a->at && byte < a->at + a->bytes) {
            return a;
        }
    }
    return NULL;
}

static void check_one(const struct memory *m, int number)
{
    for (int i = 0; i < m->bytes; i++) {
        const struct region *a;
        if (m->here[i] == m->model[i]) {
            continue;
        }
        a = region_at(m, i);
        if (a != NULL && a->basic != NULL && !is_value(a->basic, (i - a->at) % a->basic->extent)) {
            continue; /* padding */
        }
        fail(m->touch[i].step - 1, "byte %d of memory %d of rank %d is %#x instead of %#x (%s, %s)", i,
             number, m->owner, m->here[i], m->model[i],
             a != NULL && a->basic != NULL ? a->basic->name : "raw bytes",
             m->touch[i].step == 0 ? "nobody wrote it" : "written by");
    }
}

void memory_check(void)
{
    memory_enter();
    for (int k = 0; k < n_memories; k++) {
        check_one(&memories[k][me], k);
    }
    memory_leave();
}
