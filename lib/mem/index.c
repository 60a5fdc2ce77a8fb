/* The index of segments. By id: chunks of records that are never freed; an id is (generation, place). By
 * address: a tree of two levels with one entry for each 2 MiB of address space, since segments begin at
 * multiples of that and no two share one.
 *
 *   address:  47..35 top | 34..21 leaf entry | 20..0 within */
#include "index.h"

#include "err.h"

#include <stdlib.h>
#include <sys/mman.h>

#define PLACE_BITS 18
#define CHUNK 64
#define CHUNKS ((1u << PLACE_BITS) / CHUNK)

#define SLOT_SHIFT 21
#define LEAF_BITS 14
#define TOP_BITS 13
#define LEAF_BYTES ((sizeof(hl_aptr)) << LEAF_BITS)

/* Chunks and leaves are entered once, under mem's lock, and never removed: atomic, release / acquire. */
static hl_aptr chunks[CHUNKS];
static hl_aptr top[1u << TOP_BITS];

/* Freed places in the order in which they were freed; the oldest is used next. mem's lock guards them. */
static uint32_t *queue;
static size_t queue_head, queue_count, queue_cap;
static uint32_t places; /* places ever used; guarded by mem's lock */

static struct hl_seg *record_of(uint64_t place)
{
    /* acquire: the chunk's records are filled; pairs with the release in new_index_place. */
    struct hl_seg *chunk = hl_aptr_load_acquire(&chunks[place / CHUNK]);
    return chunk != NULL ? &chunk[place % CHUNK] : NULL;
}

static struct hl_seg *new_index_place(void)
{
    if (places == CHUNKS * CHUNK) {
        return NULL;
    }
    if (places % CHUNK == 0) {
        struct hl_seg *chunk = calloc(CHUNK, sizeof *chunk);
        if (chunk == NULL) {
            return NULL;
        }
        for (uint32_t i = 0; i < CHUNK; i++) {
            chunk[i].id = places + i; /* generation 0: never alive */
        }
        /* release: publishes the records; pairs with the acquire in record_of. */
        hl_aptr_store_release(&chunks[places / CHUNK], chunk);
    }
    return record_of(places++);
}

/* Makes room in the queue for every place, so that hl_index_drop cannot fail. */
static bool grow_queue(void)
{
    if (queue_cap > places) {
        return true;
    }
    size_t cap = queue_cap == 0 ? CHUNK : 2 * queue_cap;
    uint32_t *bigger = malloc(cap * sizeof *bigger);
    if (bigger == NULL) {
        return false;
    }
    for (size_t i = 0; i < queue_count; i++) {
        bigger[i] = queue[(queue_head + i) % queue_cap];
    }
    free(queue);
    queue = bigger;
    queue_head = 0;
    queue_cap = cap;
    return true;
}

struct hl_seg *hl_index_new(void)
{
    struct hl_seg *seg = NULL;
    if (queue_count > 0) {
        seg = record_of(queue[queue_head]);
        queue_head = (queue_head + 1) % queue_cap;
        queue_count--;
    } else if (grow_queue()) {
        seg = new_index_place();
    }
    if (seg != NULL) {
        /* `live` is 0 already and is not written: another thread may be looking for the old id. */
        seg->id += 1u << PLACE_BITS;
        seg->base = NULL;
        seg->len = seg->page = 0;
        seg->fd = -1;
        seg->file_off = 0;
        seg->nodes = 0;
        seg->policy = HL_MEM_SYSTEM;
        seg->arena = NULL;
        seg->key = 0;
        seg->mr = NULL;
        seg->pinned = seg->reserved = seg->only_mine = seg->lazy = seg->same = false;
    }
    return seg;
}

void hl_index_drop(struct hl_seg *seg)
{
    queue[(queue_head + queue_count) % queue_cap] = (uint32_t)(seg->id & ((1u << PLACE_BITS) - 1));
    queue_count++;
}

static hl_aptr *leaf_of(uintptr_t addr)
{
    if (addr >> (SLOT_SHIFT + LEAF_BITS + TOP_BITS) != 0) {
        return NULL;
    }
    /* acquire: the leaf's entries are zero; pairs with the release in make_leaf. */
    return hl_aptr_load_acquire(&top[addr >> (SLOT_SHIFT + LEAF_BITS)]);
}

static bool make_leaf(uintptr_t addr)
{
    if (addr >> (SLOT_SHIFT + LEAF_BITS + TOP_BITS) != 0) {
        return false;
    }
    if (leaf_of(addr) == NULL) {
        void *leaf = mmap(NULL, LEAF_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (leaf == MAP_FAILED) {
            return false;
        }
        /* release: publishes its zeroes; pairs with the acquire in leaf_of. */
        hl_aptr_store_release(&top[addr >> (SLOT_SHIFT + LEAF_BITS)], leaf);
    }
    return true;
}

static size_t entry_of(uintptr_t addr)
{
    return addr >> SLOT_SHIFT & ((1u << LEAF_BITS) - 1);
}

static void set_entries(const struct hl_seg *seg, void *value)
{
    uintptr_t base = (uintptr_t)seg->base;
    for (uintptr_t addr = base; addr < base + seg->len; addr += HL_MEM_SEG_ALIGN) {
        /* release: publishes the record's fields; pairs with the acquire in hl_mem_find. */
        hl_aptr_store_release(&leaf_of(addr)[entry_of(addr)], value);
    }
}

int hl_index_show(struct hl_seg *seg)
{
    uintptr_t base = (uintptr_t)seg->base, leaf_range = (uintptr_t)1 << (SLOT_SHIFT + LEAF_BITS);
    for (uintptr_t addr = base & ~(leaf_range - 1); addr < base + seg->len; addr += leaf_range) {
        if (!make_leaf(addr)) {
            return HL_ERR_NO_MEM;
        }
    }
    set_entries(seg, seg);
    /* release: publishes the record's fields; pairs with the acquire in hl_mem_by_id. */
    hl_a64_store_release(&seg->live, seg->id);
    return 0;
}

void hl_index_hide(struct hl_seg *seg)
{
    /* release: publishes nothing and pairs with nothing; it only shows that hiding comes before unmapping. */
    hl_a64_store_release(&seg->live, 0);
    set_entries(seg, NULL);
}

int hl_index_each(int (*fn)(struct hl_seg *seg, void *arg), void *arg)
{
    for (uint32_t place = 0; place < places; place++) {
        struct hl_seg *seg = record_of(place);
        /* relaxed: mem's lock, which is held, orders it. */
        int rc = hl_a64_load_relaxed(&seg->live) != 0 ? fn(seg, arg) : 0;
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

struct hl_seg *hl_mem_find(const void *addr, size_t len)
{
    hl_aptr *leaf = leaf_of((uintptr_t)addr);
    if (leaf == NULL) {
        return NULL;
    }
    /* acquire: the record's fields are set; pairs with the release in set_entries. */
    struct hl_seg *seg = hl_aptr_load_acquire(&leaf[entry_of((uintptr_t)addr)]);
    if (seg == NULL) {
        return NULL;
    }
    size_t off = (size_t)((uintptr_t)addr - (uintptr_t)seg->base);
    return off < seg->len && len <= seg->len - off ? seg : NULL;
}

struct hl_seg *hl_mem_by_id(uint64_t id)
{
    struct hl_seg *seg = record_of(id & ((1u << PLACE_BITS) - 1));
    /* acquire: the record's fields are set; pairs with the release in hl_index_show. */
    return seg != NULL && id != 0 && hl_a64_load_acquire(&seg->live) == id ? seg : NULL;
}
