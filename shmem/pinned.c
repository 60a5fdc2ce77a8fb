/* Registering the heap piece by piece. */
#include "pinned.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"
#include "err.h"
#include "lane.h"
#include "life.h"
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
static uint64_t regions[HL_SYM_AREAS]; /* of areas, by their index: hl_mr_register's ids; 0: none */
static bool threaded;                  /* some PE has threads that call at the same time */

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
    uint64_t addr, key, threaded;
};

static int no_key_memory(void)
{
    return hl_err_say(HL_ERR_NO_MEM, "no memory for the keys of %d heaps", hl_sym.n_pes);
}

static void unregister_area(int index)
{
    if (regions[index] != 0) {
        hl_mr_unregister(regions[index]);
        regions[index] = 0;
    }
}

/* How a PE's memory from `begin` on is reached; near PEs stay mapped where they are. */
static struct hl_sym_reach area_reach(int pe, uint64_t begin, const struct key *key)
{
    uint64_t near = hl_sym.heap.pes[pe].where;
    return near == HL_SYM_FAR ? (struct hl_sym_reach){HL_SYM_FAR | key->addr, key->key}
                              : (struct hl_sym_reach){near + begin, 0};
}

/* Registers [begin, begin + len) on all PEs as area `index`; out->pes then says how each is reached. */
static int make_area(int index, uint64_t begin, uint64_t len, const char *name, struct hl_sym_area *out)
{
    size_t n = (size_t)hl_sym.n_pes;
    struct hl_mr mr = {.id = 0};
    struct key *keys = malloc(n * sizeof *keys);
    *out = (struct hl_sym_area){hl_heap.base + begin, len, calloc(n, sizeof(struct hl_sym_reach))};
    int rc = keys == NULL || out->pes == NULL ? no_key_memory() : hl_mr_register(out->base, len, &mr);
    regions[index] = rc == 0 ? mr.id : 0;
    rc = hl_parts_agree(rc != 0 ? hl_err_say(rc, "%s: %s", name, hl_err_text(rc)) : 0);
    struct key mine = {mr.addr, mr.key, hl_life_level() == MPI_THREAD_MULTIPLE};
    rc = rc == 0 ? hl_coll_allgather_bytes(hl_shmem_comm, &mine, sizeof mine, keys) : rc;
    for (int pe = 0; rc == 0 && pe < hl_sym.n_pes; pe++) {
        out->pes[pe] = area_reach(pe, begin, &keys[pe]);
        threaded = threaded || keys[pe].threaded != 0;
    }
    free(keys);
    if (rc != 0) {
        free(out->pes);
        out->pes = NULL;
        unregister_area(index);
    }
    return rc;
}

int hl_pinned_open(void)
{
    struct hl_heap_part *own = &hl_heap.parts[hl_sym.own];
    struct hl_sym_area area;
    int rc = make_area(hl_sym.own, own->off, hl_heap.own, own->name, &area);
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

/* Areas that a new one, [begin, end) of the span, takes over. */
struct taken_over {
    uint64_t begin, end;
    const char *name;
    bool areas[HL_SYM_AREAS];
};

static bool find_taken_over(struct taken_over *t)
{
    bool any = false;
    for (int i = hl_heap.count; i < hl_sym.n_parts; i++) {
        uint64_t off = (uint64_t)(hl_sym.parts[i].base - hl_heap.base);
        t->areas[i] = regions[i] != 0 && off >= t->begin && off + hl_sym.parts[i].len <= t->end;
        any = any || t->areas[i];
    }
    return any;
}

/* Undoes the registration of the areas that the new one contains, before it is registered: the limit on
 * pinned memory would count what is registered twice two times. All PEs are in this call and have no other
 * threads in the library. So nobody uses the old keys once all that was issued has ended; the flush sends
 * open chains, too, which puts could go on with else. */
static int drop_areas(const struct taken_over *t)
{
    hl_lane_flush(-1, HL_REMOTE);
    int rc = hl_parts_agree(0);
    for (int i = 0; rc == 0 && i < hl_sym.n_parts; i++) {
        if (t->areas[i]) {
            unregister_area(i);
        }
    }
    return rc;
}

/* Registers them again. Their memory is in use: without it the job ends. */
static void restore_areas(const struct taken_over *t)
{
    for (int i = 0; i < hl_sym.n_parts; i++) {
        struct hl_sym_area *a = &hl_sym.parts[i], again;
        if (t->areas[i]) {
            uint64_t begin = (uint64_t)(a->base - hl_heap.base);
            hl_shmem_must(make_area(i, begin, a->len, t->name, &again), t->name, -1);
            free(a->pes);
            *a = again;
        }
    }
}

/* Makes the area [begin, end) of part `p`. */
static int cover_range(struct hl_heap_part *p, uint64_t begin, uint64_t end)
{
    struct taken_over t = {.begin = begin, .end = end, .name = p->name};
    struct hl_sym_area area;
    bool drops = find_taken_over(&t) && !threaded;
    int rc = drops ? drop_areas(&t) : 0;
    if (rc != 0) {
        return rc;
    }
    rc = make_area(hl_sym.n_parts, begin, end - begin, p->name, &area);
    if (rc == 0) {
        p->piece.seg->pinned = true;
        publish_area(&area, begin, end - begin);
    } else if (drops) {
        char *text = strdup(hl_err_text(rc)); /* on the heap: deep calls follow */
        restore_areas(&t);
        rc = text != NULL ? hl_err_say(rc, "%s", text) : rc;
        free(text);
    }
    return rc;
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
        return hl_err_say(HL_ERR_NO_MEM, "%s: it needs more than %d registrations of memory", p->name,
                          HL_SYM_AREAS);
    }
    struct hl_pinned_range r = hl_pinned_choose(from, from + len, covered[part], p->len,
                                                hl_max_size(hl_heap.lockable / SHARE, LEAST));
    int rc = cover_range(p, p->off + r.begin, p->off + r.end);
    covered[part] = rc == 0 ? r.end : covered[part];
    return rc;
}

void hl_pinned_close(void)
{
    for (int i = 0; i < HL_SYM_AREAS; i++) {
        unregister_area(i);
    }
    for (int i = 0; i < HL_SYM_PARTS; i++) {
        covered[i] = 0;
    }
    on = threaded = false;
}
