/* Teams: splits, questions, and their end. (OpenSHMEM 1.5, section 9.4.)
 *
 * A split needs no agreement about memory: each member takes boxes where it has room and writes their offset
 * into its boxes of the parent; all members of the parent meet; new members read each other's offsets; all
 * meet again. So threads may split different parents at once. */
#include "team.h"

#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "coll.h"
#include "ctx.h"
#include "entry.h"
#include "err.h"
#include "heap.h"
#include "job.h"
#include "lock.h"
#include "log.h"
#include "parts.h"
#include "shm.h"
#include "sym.h"
#include "tree.h"
#include "util.h"
#include "xfer.h"

#define ROOM_GRANULE 1024

struct hl_team hl_team_world, hl_team_shared;

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_blocks blocks HL_GUARDED_BY(lock); /* which bytes of `room` are taken at this PE */
static char *room;

/* ---- boxes ---- */

/* Takes my own boxes for the team; false when there is no room. */
static bool take_boxes(struct hl_team *t)
{
    size_t bytes = hl_tree_bytes(t->size), off = 0;
    hl_mutex_lock(&lock);
    int rc = hl_blocks_take(&blocks, bytes, ROOM_GRANULE, &off);
    hl_mutex_unlock(&lock);
    if (rc != 0) {
        return false;
    }
    memset(room + off, 0, bytes); /* clears old flags; nobody writes there before the parent has met */
    t->boxes = (uint64_t)(room + off - hl_sym.heap.base);
    return true;
}

static void give_boxes(struct hl_team *t)
{
    hl_mutex_lock(&lock);
    hl_blocks_give(&blocks, (size_t)(hl_sym.heap.base + t->boxes - room));
    hl_mutex_unlock(&lock);
    free(t->where);
    t->where = NULL;
}

/* ---- start and end ---- */

/* SHMEM_TEAM_SHARED: all PEs of my node if their numbers are a progression and their heaps are mapped here,
 * else only me. */
static void find_shared(struct hl_team *t)
{
    const int *pes = hl_job.node_world;
    int n = hl_job.node_size, stride = n > 1 ? pes[1] - pes[0] : 1;
    bool fine = true;
    for (int i = 0; i < n; i++) {
        fine = fine && pes[i] == pes[0] + i * stride && (hl_sym.heap.pes[pes[i]].where & HL_SYM_FAR) == 0;
    }
    *t = fine ? (struct hl_team){.start = pes[0], .stride = stride, .size = n, .rank = hl_job.node_rank}
              : (struct hl_team){.start = hl_sym.my_pe, .stride = 1, .size = 1, .rank = 0};
}

/* If one member cannot map the others' memory, all of them stay alone. sizes[]: room for an int of each PE.
 */
static int agree_on_shared(struct hl_team *t, int *sizes)
{
    int rc = hl_coll_allgather_bytes(hl_shmem_comm, &t->size, sizeof t->size, sizes);
    bool same = rc == 0;
    for (int i = 0; same && i < t->size; i++) {
        same = sizes[hl_team_world_pe(t, i)] == t->size;
    }
    if (!same) {
        *t = (struct hl_team){.start = hl_sym.my_pe, .stride = 1, .size = 1, .rank = 0};
    }
    return rc;
}

/* Takes the room for the boxes of all teams, if there is memory for what else a start needs. */
static int open_room(bool have)
{
    size_t bytes = (size_t)hl_heap.own;
    room = hl_heap_internal_alloc(bytes);
    hl_mutex_lock(&lock);
    have = have && room != NULL && hl_blocks_init(&blocks, bytes, ROOM_GRANULE) == 0;
    hl_mutex_unlock(&lock);
    return have ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory for the teams of %d PEs", hl_sym.n_pes);
}

int hl_team_open(void)
{
    hl_team_world = (struct hl_team){.start = 0, .stride = 1, .size = hl_sym.n_pes, .rank = hl_sym.my_pe};
    find_shared(&hl_team_shared);
    int *sizes = calloc((size_t)hl_sym.n_pes, sizeof *sizes);
    int rc = hl_parts_agree(open_room(sizes != NULL));
    rc = rc == 0 ? agree_on_shared(&hl_team_shared, sizes) : rc;
    free(sizes);
    if (rc != 0) {
        return rc;
    }
    /* In the same order on all PEs, so that offsets are the same. */
    bool have = take_boxes(&hl_team_world) && take_boxes(&hl_team_shared);
    return hl_parts_agree(have ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory for the first teams"));
}

static bool is_any_team(const void *object, const void *arg)
{
    return true;
}

void hl_team_close(void)
{
    struct hl_team *left;
    while ((left = hl_handle_find(HL_KIND_TEAM, is_any_team, NULL)) != NULL) {
        free(left->where);
        hl_handle_free(left);
    }
    hl_mutex_lock(&lock);
    hl_blocks_fini(&blocks);
    hl_mutex_unlock(&lock);
    room = NULL;
    hl_team_world = hl_team_shared = (struct hl_team){.size = 0};
}

/* ---- handles ---- */

struct hl_team *hl_team_must(shmem_team_t handle, const char *func)
{
    struct hl_team *t = hl_team_of(handle);
    if (HL_UNLIKELY(hl_sym.n_pes == 0 || (t == NULL && handle != SHMEM_TEAM_INVALID))) {
        hl_shmem_need_open(func);
        hl_shmem_die(func, "%p is no team, or one that was destroyed", (void *)handle);
    }
    return t;
}

/* The number of a world PE in the team, or -1. */
static int member_of(const struct hl_team *t, int pe)
{
    int rank = (pe - t->start) / t->stride;
    return rank >= 0 && rank < t->size && hl_team_world_pe(t, rank) == pe ? rank : -1;
}

HL_SHMEM_API(shmem_team_my_pe);
int pshmem_team_my_pe(shmem_team_t team)
{
    const struct hl_team *t = hl_team_must(team, "shmem_team_my_pe");
    return t != NULL ? t->rank : -1;
}

HL_SHMEM_API(shmem_team_n_pes);
int pshmem_team_n_pes(shmem_team_t team)
{
    const struct hl_team *t = hl_team_must(team, "shmem_team_n_pes");
    return t != NULL ? t->size : -1;
}

HL_SHMEM_API(shmem_team_get_config);
int pshmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)
{
    const struct hl_team *t = hl_team_must(team, "shmem_team_get_config");
    if (t == NULL || (config_mask & ~SHMEM_TEAM_NUM_CONTEXTS) != 0 || (config_mask != 0 && config == NULL)) {
        return -1;
    }
    if (config_mask != 0) {
        config->num_contexts = t->num_contexts;
    }
    return 0;
}

HL_SHMEM_API(shmem_team_translate_pe);
int pshmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
{
    const struct hl_team *from = hl_team_must(src_team, "shmem_team_translate_pe");
    const struct hl_team *to = hl_team_must(dest_team, "shmem_team_translate_pe");
    if (from == NULL || to == NULL || src_pe < 0 || src_pe >= from->size) {
        return -1;
    }
    return member_of(to, hl_team_world_pe(from, src_pe));
}

/* ---- splits ---- */

/* One new team of a split: its members in the parent's numbers, and the program's arguments for it. */
struct wish {
    int start, stride, size;
    const shmem_team_config_t *config;
    long mask;
    shmem_team_t *made;
    bool member;
    struct hl_team *team; /* NULL if I am not a member, or without memory */
};

static bool is_wrong(const struct hl_team *parent, const struct wish *w)
{
    int64_t last = w->start + (int64_t)w->stride * (w->size - 1);
    return w->size < 1 || w->size > parent->size || w->start < 0 || w->start >= parent->size || last < 0 ||
           last >= parent->size || (w->stride == 0 && w->size != 1) ||
           (w->mask & ~SHMEM_TEAM_NUM_CONTEXTS) != 0 || (w->mask != 0 && w->config == NULL);
}

/* Makes my part of the new team if I am a member. w->team->where is NULL when there was no memory for
 * boxes. */
static void begin_split_team(const struct hl_team *parent, struct wish *w)
{
    struct hl_team new = {.start = hl_team_world_pe(parent, w->start),
                          .stride = w->size > 1 ? w->stride * parent->stride : 1,
                          .size = w->size,
                          .num_contexts = w->mask != 0 ? w->config->num_contexts : 0};
    new.rank = member_of(&new, hl_sym.my_pe);
    w->member = new.rank >= 0;
    w->team = w->member ? hl_handle_new(HL_KIND_TEAM) : NULL;
    if (w->team == NULL) {
        return;
    }
    new.h = w->team->h;
    *w->team = new;
    w->team->where = calloc((size_t) new.size, sizeof *new.where);
    if (w->team->where != NULL && !take_boxes(w->team)) {
        free(w->team->where);
        w->team->where = NULL;
    }
}

static struct hl_team_boxes *boxes_of(const struct hl_team *t, int rank)
{
    return (struct hl_team_boxes *)(hl_sym.heap.base + (t->where != NULL ? t->where[rank] : t->boxes));
}

/* Do boxes of this team lie at this offset? */
static bool are_boxes_at(uint64_t off, int size)
{
    const struct hl_sym_area *own = &hl_sym.parts[hl_sym.own];
    uint64_t at = off - (uint64_t)(own->base - hl_sym.heap.base);
    return at < own->len && hl_tree_bytes(size) <= own->len - at;
}

/* Reads the members' offsets between two meetings of the parent. A word is an offset + 1, or 0 for none.
 * False: a member has no boxes. */
static bool read_others(const struct hl_team *parent, const struct wish *w, int index, const char *func)
{
    struct hl_team *t = w->team;
    bool all = t->where != NULL, same = true;
    for (int i = 0; all && i < t->size; i++) {
        const struct hl_team_boxes *theirs = boxes_of(parent, w->start + i * w->stride);
        hl_shmem_get_own(&t->where[i], &theirs->told[index], sizeof t->where[i], hl_team_world_pe(t, i),
                         func);
    }
    hl_shmem_quiet(&hl_ctx_default, func);
    for (int i = 0; all && i < t->size; i++) {
        all = t->where[i]-- != 0;
        if (all && !are_boxes_at(t->where[i], t->size)) {
            hl_shmem_die(func, "PE %d has no boxes where it says: the library's memory was written over",
                         hl_team_world_pe(t, i));
        }
        same = same && t->where[i] == t->boxes;
    }
    if (all && same) {
        free(t->where);
        t->where = NULL;
    }
    return all;
}

/* Frees my part of a team that was not made. A member without boxes prints the reason. */
static void forget_team(struct hl_team *t, bool has_boxes, const char *func)
{
    if (has_boxes) {
        give_boxes(t);
    } else {
        hl_log(HL_LOG_WARN, "%s: no memory for another team", func);
    }
    if (t != NULL) {
        hl_handle_free(t);
    }
}

static void join_failed(struct hl_meet *m, const void *theirs, size_t len)
{
    *(uint64_t *)m->data |= *(const uint64_t *)theirs;
}

/* Called by all PEs of the parent: makes the teams of `count` (1 or 2) wishes. Returns 0, or -1 at all PEs
 * when a member could not make its part: then no team is made. `asked`: the arguments that must be the same
 * on all PEs. */
static int split_team(struct hl_team *parent, struct wish *wishes, int count, const int asked[3],
                      const char *func)
{
    static const uint64_t key[2] = {0, 0};
    uint64_t failed = 0;
    struct hl_meet results = {&failed, sizeof failed, sizeof failed, join_failed, NULL};
    unsigned detail = (unsigned)hl_siphash(key, asked, 3 * sizeof *asked);
    struct hl_call c = {.func = func, .what = hl_call_what(HL_CALL_SPLIT, detail, 0), .team = parent};
    struct hl_team_boxes *mine = boxes_of(parent, parent->rank);
    for (int i = 0; i < count; i++) {
        begin_split_team(parent, &wishes[i]);
        struct hl_team *t = wishes[i].team;
        mine->told[i] = t != NULL && t->where != NULL ? t->boxes + 1 : 0;
    }
    hl_tree_meet(&c, NULL);
    for (int i = 0; i < count; i++) {
        struct wish *w = &wishes[i];
        failed |= w->member && (w->team == NULL || !read_others(parent, w, i, func));
    }
    hl_tree_meet(&c, &results);
    for (int i = 0; i < count; i++) {
        struct wish *w = &wishes[i];
        if (w->member && failed != 0) {
            forget_team(w->team, mine->told[i] != 0, func);
        } else if (w->member) {
            *w->made = (shmem_team_t)w->team;
        }
    }
    return failed != 0 ? -1 : 0;
}

HL_SHMEM_API(shmem_team_split_strided);
int pshmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                              const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team)
{
    struct hl_team *parent = hl_team_must(parent_team, "shmem_team_split_strided");
    struct wish w = {start, stride, size, config, config_mask, new_team, false, NULL};
    hl_shmem_need(new_team, "shmem_team_split_strided", "new_team");
    *new_team = SHMEM_TEAM_INVALID;
    if (parent == NULL || is_wrong(parent, &w)) {
        return -1;
    }
    return split_team(parent, &w, 1, (int[]){start, stride, size}, "shmem_team_split_strided");
}

HL_SHMEM_API(shmem_team_split_2d);
int pshmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config,
                         long xaxis_mask, shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config,
                         long yaxis_mask, shmem_team_t *yaxis_team)
{
    struct hl_team *parent = hl_team_must(parent_team, "shmem_team_split_2d");
    hl_shmem_need(xaxis_team, "shmem_team_split_2d", "xaxis_team");
    hl_shmem_need(yaxis_team, "shmem_team_split_2d", "yaxis_team");
    *xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
    if (parent == NULL || xrange < 1) {
        return -1;
    }
    int width = xrange < parent->size ? xrange : parent->size;
    int x = parent->rank % width, row = parent->rank - x;
    int left = parent->size - row, below = (parent->size - x + width - 1) / width;
    struct wish w[2] = {
        {row, 1, left < width ? left : width, xaxis_config, xaxis_mask, xaxis_team, false, NULL},
        {x, width, below, yaxis_config, yaxis_mask, yaxis_team, false, NULL}};
    if (is_wrong(parent, &w[0]) || is_wrong(parent, &w[1])) {
        return -1;
    }
    return split_team(parent, w, 2, (int[]){width, 0, 0}, "shmem_team_split_2d");
}

HL_SHMEM_API(shmem_team_destroy);
void pshmem_team_destroy(shmem_team_t team)
{
    struct hl_team *t = hl_team_must(team, "shmem_team_destroy");
    if (t == NULL) {
        return;
    }
    if (t == &hl_team_world || t == &hl_team_shared) {
        hl_shmem_die("shmem_team_destroy", "%s cannot be destroyed",
                     t == &hl_team_world ? "SHMEM_TEAM_WORLD" : "SHMEM_TEAM_SHARED");
    }
    hl_ctx_end_team(t, "shmem_team_destroy");
    /* I had read all messages to me when my last call ended, so nobody writes to the boxes any more. */
    give_boxes(t);
    hl_handle_free(t);
}
