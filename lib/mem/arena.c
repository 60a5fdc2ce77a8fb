/* Arenas: each one has what cuts its pieces, and counts how many pieces lie on each page. */
#include "arena.h"

#include "blocks.h"
#include "err.h"
#include "fixed.h"
#include "index.h"
#include "seg.h"
#include "symmetric.h"
#include "topo.h"
#include "util.h"

#include <stdlib.h>

struct hl_arena {
    struct hl_seg *seg;
    struct hl_arena_key key;
    struct hl_memkind *kind; /* cuts the pieces; NULL: `blocks` does */
    struct hl_blocks blocks;
    size_t living, held;   /* number of pieces; number of pages on which they lie */
    uint32_t *pieces;      /* number of pieces on each page */
    struct hl_arena *next; /* the next younger one */
};

static struct hl_arena *arenas HL_GUARDED_BY(hl_mem_lock);
bool hl_arena_user_huge;

static bool is_huge_arena(const struct hl_arena_key *key)
{
    return key->page > hl_topo_page();
}

bool hl_arena_holds(size_t len, size_t align, const struct hl_arena_key *key)
{
    return len < hl_max_size(HL_MEM_OWN, key->page / 2) && align <= hl_max_size(HL_MEM_OWN, key->page);
}

static int take_block(struct hl_arena *a, size_t len, size_t align, size_t *off)
{
    return a->kind != NULL ? hl_memkind_take(a->kind, len, align, off)
                           : hl_blocks_take(&a->blocks, len, align, off);
}

/* Takes a place for a symmetric arena; NULL: it lies anywhere. */
static char *arena_place(size_t len, bool plain, const struct hl_arena_key *key) HL_REQUIRES(hl_mem_lock)
{
    struct hl_place_ask ask = {.len = len, .align = hl_max_size(HL_MEM_OWN, key->page), .arena = plain};
    char *at = key->symmetric && plain ? hl_symmetric_take(&ask) : NULL;
    ask.arena = false;
    return key->symmetric && at == NULL ? hl_symmetric_take(&ask) : at;
}

static int make_arena_memory(struct hl_seg *seg, size_t len, const struct hl_arena_key *key)
    HL_REQUIRES(hl_mem_lock)
{
    bool plain = key->policy == HL_MEM_SYSTEM && !is_huge_arena(key) && !key->hidden;
    if (plain && hl_commons_take(seg, key->symmetric)) {
        return 0;
    }
    char *at = arena_place(len, plain, key);
    seg->base = at;
    seg->reserved = at != NULL;
    int rc = hl_seg_make(seg, len, HL_MEM_OWN, HL_SEG_LAZY);
    if (rc != 0 && at != NULL) {
        hl_symmetric_give(at);
        hl_mem_unreserve(at, len);
    }
    return rc;
}

static int make_arena(const struct hl_arena_key *key, struct hl_arena **out) HL_REQUIRES(hl_mem_lock)
{
    size_t len = hl_max_size(HL_MEM_ARENA, key->page);
    struct hl_arena *a = calloc(1, sizeof *a);
    struct hl_seg *seg = a != NULL ? hl_index_new() : NULL;
    if (seg == NULL) {
        free(a);
        return hl_mem_no_record(len);
    }
    seg->policy = key->policy;
    seg->nodes = key->nodes;
    seg->page = key->page;
    int rc = make_arena_memory(seg, len, key);
    if (rc != 0) {
        goto drop_record;
    }
    hl_mem_dump(seg, 0);
    seg->arena = a;
    a->seg = seg;
    a->key = *key;
    a->pieces = calloc(seg->len / seg->page, sizeof *a->pieces);
    rc = a->pieces == NULL ? hl_mem_no_record(len) : 0;
    if (rc != 0) {
        goto unmake;
    }
    if (hl_blocks_init(&a->blocks, seg->len, HL_MEM_ALIGN) != 0) {
        rc = hl_mem_no_record(len);
        goto free_pieces;
    }
    rc = key->hidden ? hl_index_show(seg) : hl_mem_introduce(seg);
    if (rc != 0) {
        goto fini_blocks;
    }
    hl_commons_publish(seg);
    a->kind = key->memkind ? hl_memkind_open(seg->base, seg->len) : NULL;
    struct hl_arena **last = &arenas;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = a;
    *out = a;
    return 0;
fini_blocks:
    hl_blocks_fini(&a->blocks);
free_pieces:
    free(a->pieces);
unmake:
    hl_seg_unmake(seg);
drop_record:
    hl_index_drop(seg);
    free(a);
    return rc;
}

/* Returns the first page that [off, off + len) touches; sets *end to the first page behind it. */
static size_t pages_of(const struct hl_arena *a, size_t off, size_t len, size_t *end)
{
    *end = (off + len - 1) / a->seg->page + 1;
    return off / a->seg->page;
}

/* Counts a new piece on its pages. True when it is the first one on some page. */
static bool settle_pages(struct hl_arena *a, size_t off, size_t len)
{
    size_t end;
    bool first = false;
    for (size_t p = pages_of(a, off, len, &end); p < end; p++) {
        bool fresh = a->pieces[p]++ == 0;
        a->held += fresh;
        first = first || fresh;
    }
    return first;
}

static void punch_idle_pages(const struct hl_arena *a, size_t page, size_t count)
{
    if (count > 0) {
        hl_seg_punch(a->seg, page * a->seg->page, count * a->seg->page);
    }
}

/* Takes a piece from the counts; pages without pieces go back to the system. (No NIC may hold them: it would
 * go on writing to them, while the next piece here gets other pages. So a piece's registration is closed
 * before the piece is freed.) */
static void unsettle_piece(struct hl_arena *a, size_t off, size_t len)
{
    size_t end, idle = 0, p;
    for (p = pages_of(a, off, len, &end); p < end; p++) {
        if (--a->pieces[p] == 0) {
            a->held--;
            idle++;
        } else {
            punch_idle_pages(a, p - idle, idle);
            idle = 0;
        }
    }
    punch_idle_pages(a, p - idle, idle);
}

void hl_arena_give(const struct hl_seg *seg, size_t off)
{
    struct hl_arena *a = seg->arena;
    size_t len = hl_arena_len_at(seg, off);
    if (a->kind != NULL) {
        hl_memkind_give(a->kind, off);
    } else {
        hl_blocks_give(&a->blocks, off);
    }
    a->living--;
    unsettle_piece(a, off, len);
}

void hl_arena_mark(const struct hl_piece *piece)
{
    struct hl_arena *a = piece->seg->arena;
    if (a->kind == NULL) {
        hl_blocks_mark(&a->blocks, piece->off);
    }
}

bool hl_arena_is_marked(const struct hl_seg *seg, size_t off)
{
    const struct hl_arena *a = seg->arena;
    return a->kind != NULL || hl_blocks_is_marked(&a->blocks, off);
}

size_t hl_arena_len_at(const struct hl_seg *seg, size_t off)
{
    const struct hl_arena *a = seg->arena;
    return a->kind != NULL ? hl_memkind_len_at(a->kind, off) : hl_blocks_len_at(&a->blocks, off);
}

static bool does_fit_arena(const struct hl_arena *a, const struct hl_arena_key *key)
{
    return a->key.policy == key->policy && a->key.nodes == key->nodes && a->key.page == key->page &&
           a->key.memkind == key->memkind && a->key.hidden == key->hidden &&
           a->key.symmetric == key->symmetric;
}

size_t hl_arena_held(const struct hl_arena_key *key)
{
    size_t sum = 0;
    for (const struct hl_arena *a = arenas; a != NULL; a = a->next) {
        sum += does_fit_arena(a, key) ? a->held : 0;
    }
    return sum;
}

/* Takes a block from an existing arena, else from a new one. When even an empty arena has no room (memkind's
 * records may be fragmented), a new one would not have any either. */
static int take_any(size_t len, size_t align, const struct hl_arena_key *key, struct hl_arena **out,
                    size_t *off) HL_REQUIRES(hl_mem_lock)
{
    bool hopeless = false;
    for (struct hl_arena *a = arenas; a != NULL; a = a->next) {
        if (does_fit_arena(a, key) && take_block(a, len, align, off) == 0) {
            *out = a;
            return 0;
        }
        hopeless = hopeless || (does_fit_arena(a, key) && a->living == 0);
    }
    int rc = hopeless ? HL_ERR_NO_MEM : make_arena(key, out);
    return rc == 0 && take_block(*out, len, align, off) != 0 ? hl_mem_no_record(len) : rc;
}

int hl_arena_cut(size_t len, size_t align, bool populate, const struct hl_arena_key *key,
                 struct hl_piece *out)
{
    struct hl_arena *a;
    struct hl_arena_key plain = *key;
    size_t off;
    plain.memkind = false;
    align = hl_max_size(align, HL_MEM_ALIGN);
    int rc = take_any(len, align, key, &a, &off);
    rc = rc == HL_ERR_NO_MEM && key->memkind ? take_any(len, align, &plain, &a, &off) : rc;
    if (rc != 0) {
        return rc;
    }
    a->living++;
    size_t got = hl_arena_len_at(a->seg, off);
    hl_mem_dump(a->seg, off + got);
    bool fresh = settle_pages(a, off, got);
    populate = is_huge_arena(key) ? fresh : populate || key->policy == HL_MEM_BIND;
    rc = populate ? hl_seg_populate(a->seg, off, got) : 0;
    if (rc != 0) {
        hl_arena_give(a->seg, off);
        return rc;
    }
    *out = (struct hl_piece){.seg = a->seg, .off = off, .len = got, .addr = a->seg->base + off};
    return 0;
}
