/* Registering the heap piece by piece. */
#include "pinned.h"

#include <stdlib.h>

#include "coll.h"
#include "err.h"
#include "mr.h"
#include "parts.h"
#include "shm.h"
#include "sym.h"
#include "util.h"

#define GRANULE ((uint64_t)1 << HL_SYM_GRANULE)
#define LEAST ((uint64_t)64 << 10) /* areas end at multiples of it, */
#define SHARE 8                    /* and take at most this fraction of the lockable memory beyond need */

static bool on;
static uint64_t covered[HL_SYM_PARTS]; /* registered bytes of each part of hl_heap, from its beginning on */
static uint64_t *regions;              /* [n_regions]: hl_mr_register's ids */
static int n_regions;

struct hl_pinned_range hl_pinned_choose(uint64_t off, uint64_t end, uint64_t covered_to, uint64_t len,
                                        uint64_t step)
{
    struct hl_pinned_range r = {off & ~(GRANULE - 1), covered_to};
    if (end > covered_to) {
        uint64_t more = covered_to < step ? covered_to : step; /* doubles what is registered at first */
        r.end = hl_round_up(hl_max_size(end, covered_to + more), LEAST);
        r.end = r.end < len ? r.end : len;
    }
    return r;
}

/* What a PE tells the others about an area. */
struct key {
    uint64_t addr, key;
};

static int no_key_memory(void)
{
    return hl_err_say(HL_ERR_NO_MEM, "no memory for the keys of %d heaps", hl_sym.n_pes);
}

/* Registers my memory [begin, begin + len) of the span; *out is what peers need. */
static int register_mine(uint64_t begin, uint64_t len, const char *name, struct key *out)
{
    struct hl_mr mr;
    uint64_t *more = realloc(regions, ((size_t)n_regions + 1) * sizeof *regions);
    if (more == NULL) {
        return no_key_memory();
    }
    regions = more;
    int rc = hl_mr_register(hl_heap.base + begin, len, &mr);
    if (rc != 0) {
        return hl_err_say(rc, "%s: %s", name, hl_err_text(rc));
    }
    regions[n_regions++] = mr.id;
    *out = (struct key){mr.addr, mr.key};
    return 0;
}

static void unregister_beyond(int count)
{
    while (n_regions > count) {
        hl_mr_unregister(regions[--n_regions]);
    }
}

/* How a PE's memory from `begin` on is reached; near PEs stay mapped where they are. */
static struct hl_sym_reach area_reach(int pe, uint64_t begin, const struct key *key)
{
    uint64_t near = hl_sym.heap.pes[pe].where;
    return near == HL_SYM_FAR ? (struct hl_sym_reach){HL_SYM_FAR | key->addr, key->key}
                              : (struct hl_sym_reach){near + begin, 0};
}

/* Registers [begin, begin + len) on all PEs; out->pes then says how each is reached. */
static int make_area(uint64_t begin, uint64_t len, const char *name, struct hl_sym_area *out)
{
    size_t n = (size_t)hl_sym.n_pes;
    int before = n_regions;
    struct key mine = {0}, *keys = malloc(n * sizeof *keys);
    *out = (struct hl_sym_area){hl_heap.base + begin, len, calloc(n, sizeof(struct hl_sym_reach))};
    int rc = keys == NULL || out->pes == NULL ? no_key_memory() : register_mine(begin, len, name, &mine);
    rc = hl_parts_agree(rc);
    rc = rc == 0 ? hl_coll_allgather_bytes(hl_shmem_comm, &mine, sizeof mine, keys) : rc;
    for (int pe = 0; rc == 0 && pe < hl_sym.n_pes; pe++) {
        out->pes[pe] = area_reach(pe, begin, &keys[pe]);
    }
    free(keys);
    if (rc != 0) {
        free(out->pes);
        unregister_beyond(before);
    }
    return rc;
}

int hl_pinned_open(void)
{
    struct hl_heap_part *own = &hl_heap.parts[hl_sym.own];
    struct hl_sym_area area;
    int rc = make_area(own->off, hl_heap.own, own->name, &area);
    if (rc == 0) {
        free(hl_sym.parts[hl_sym.own].pes);
        hl_sym.parts[hl_sym.own] = area;
        own->piece.seg->pinned = true;
        on = true;
    }
    return rc;
}

/* From now on hl_sym_find finds the new area for addresses in these granules. */
static void publish_area(const struct hl_sym_area *area, uint64_t begin, uint64_t len)
{
    int index = hl_sym.n_parts;
    hl_sym.parts[index] = *area;
    hl_sym.n_parts++;
    for (uint64_t g = begin >> HL_SYM_GRANULE; g <= (begin + len - 1) >> HL_SYM_GRANULE; g++) {
        hl_a8_store_release(&hl_sym.part_of[g], (uint8_t)index); /* release: the area; pairs with area_of. */
    }
}

int hl_pinned_cover(int part, uint64_t off, uint64_t len)
{
    struct hl_heap_part *p = &hl_heap.parts[part];
    uint64_t granule = off >> HL_SYM_GRANULE, from = off - p->off;
    if (!on) {
        return 0;
    }
    /* relaxed: only this call changes it, one at a time. */
    const struct hl_sym_area *there = &hl_sym.parts[hl_a8_load_relaxed(&hl_sym.part_of[granule])];
    if (there != &hl_sym.parts[part] && off + len <= (uint64_t)(there->base - hl_heap.base) + there->len) {
        return 0;
    }
    if (hl_sym.n_parts == HL_SYM_AREAS) {
        return hl_err_say(HL_ERR_NO_MEM, "%s: in more than %d registered pieces", p->name, HL_SYM_AREAS);
    }
    struct hl_pinned_range r = hl_pinned_choose(from, from + len, covered[part], p->len,
                                                hl_max_size(hl_heap.lockable / SHARE, LEAST));
    struct hl_sym_area area;
    int rc = make_area(p->off + r.begin, r.end - r.begin, p->name, &area);
    if (rc != 0) {
        return rc;
    }
    covered[part] = r.end;
    p->piece.seg->pinned = true;
    publish_area(&area, p->off + r.begin, r.end - r.begin);
    return 0;
}

void hl_pinned_close(void)
{
    unregister_beyond(0);
    free(regions);
    regions = NULL;
    for (int i = 0; i < HL_SYM_PARTS; i++) {
        covered[i] = 0;
    }
    on = false;
}
