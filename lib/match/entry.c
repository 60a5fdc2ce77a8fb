/* Memory of unexpected messages.
 *
 * Entries of short messages come and go all the time, and by different threads, which suits no allocator: so
 * an inbox keeps some. More than that are a flood, perhaps of millions. These are cut from blocks of huge
 * pages, because page faults would take half of the time of such a message. Entries of one block are as long
 * as their payload asks for, and blocks go back to the system when the flood is over. */
#include "match_internal.h"

#include "copy.h"
#include "job.h"
#include "log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SPARE_MAX 4096 /* entries that an inbox keeps: about 700 KiB */
#define BLOCK_BYTES ((size_t)8 << 20)

/* A block from which entries are cut; it is in a list while it has room. */
struct hl_entry_block {
    struct hl_entry_block *next, **back, **list;
    struct hl_entry *free;    /* entries that were given back, by their `next` */
    size_t used, fresh, most; /* number of entries in use, cut so far, and that fit */
    size_t each;              /* bytes of an entry */
};
_Static_assert((sizeof(struct hl_entry) + HL_ENTRY_STEP) % _Alignof(struct hl_entry) == 0,
               "entries lie one after the other");

static HL_COLD void out_of_memory(uint64_t bytes)
{
    hl_log(HL_LOG_ERROR,
           "no memory to keep a message of %llu bytes that came before its receive (a lower HOTLANE_UNEX_MEM "
           "keeps fewer); the job ends",
           (unsigned long long)bytes);
    hl_job_abort(1);
}

static struct hl_entry *fill_entry(struct hl_entry *e, const struct hl_arrival *a,
                                   struct hl_entry_block *block)
{
    size_t bytes = hl_entry_payload(a);
    *e = (struct hl_entry){.block = block,
                           .ctx = a->ctx,
                           .len = a->len,
                           .src = a->src,
                           .tag = a->tag,
                           .from = a->from,
                           .kind = a->kind == HL_MSG_CELL ? HL_MSG_EAGER : a->kind};
    if (bytes > 0) {
        hl_copy(e->payload, a->payload, bytes);
    }
    return e;
}

/* Each entry has room for a short message, so that it can be used again. */
struct hl_entry *hl_entry_new(const struct hl_arrival *a)
{
    size_t bytes = hl_entry_payload(a);
    size_t room = bytes > HL_MATCH_INLINE ? bytes : HL_MATCH_INLINE;
    struct hl_command *p = malloc(sizeof(*p) + sizeof(struct hl_entry) + room);
    if (p == NULL) {
        out_of_memory(a->len);
        return NULL;
    }
    return fill_entry(hl_entry_of_command(p), a, NULL);
}

void hl_entry_free(struct hl_entry *e)
{
    if (e != NULL) {
        free(hl_entry_command(e));
    }
}

/* ---- Blocks ---- */

static void block_link(struct hl_entry_block *b)
{
    b->next = *b->list;
    b->back = b->list;
    if (b->next != NULL) {
        b->next->back = &b->next;
    }
    *b->list = b;
}

static void block_unlink(struct hl_entry_block *b)
{
    *b->back = b->next;
    if (b->next != NULL) {
        b->next->back = b->back;
    }
}

static HL_COLD struct hl_entry_block *block_new(struct hl_entry_block **list, size_t payload)
{
    struct hl_entry_block *b =
        mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b == MAP_FAILED) {
        return NULL;
    }
    (void)madvise(b, BLOCK_BYTES, MADV_HUGEPAGE); /* without huge pages it works as well */
    b->list = list;
    b->each = sizeof(struct hl_entry) + payload;
    b->most = (BLOCK_BYTES - sizeof(*b)) / b->each;
    block_link(b);
    return b;
}

/* Takes an entry for `payload` bytes from a block; NULL: no memory. */
static struct hl_entry *block_take(struct hl_entry_pool *pool, size_t payload)
{
    size_t size = (payload + HL_ENTRY_STEP - 1) / HL_ENTRY_STEP;
    struct hl_entry_block **list = &pool->open[size];
    struct hl_entry_block *b = *list != NULL ? *list : block_new(list, size * HL_ENTRY_STEP);
    if (b == NULL) {
        return NULL;
    }
    struct hl_entry *e = b->free;
    if (e != NULL) {
        b->free = e->next;
    } else {
        e = (struct hl_entry *)(void *)((char *)(b + 1) + b->fresh++ * b->each);
    }
    e->block = b;
    if (++b->used == b->most) {
        block_unlink(b);
    }
    return e;
}

/* Gives an entry back. The last block of a size stays until the inbox closes, so that the next message does
 * not cost a mapping. */
static void block_give(struct hl_entry *e)
{
    struct hl_entry_block *b = e->block;
    e->next = b->free;
    b->free = e;
    if (b->used-- == b->most) {
        block_link(b);
    }
    if (b->used == 0 && (*b->list != b || b->next != NULL)) {
        block_unlink(b);
        munmap(b, BLOCK_BYTES);
    }
}

/* ---- Pools ---- */

struct hl_entry *hl_entry_keep(struct hl_entry_pool *pool, const struct hl_arrival *a, size_t waiting)
{
    size_t bytes = hl_entry_payload(a);
    if (bytes > HL_MATCH_INLINE) {
        return hl_entry_new(a);
    }
    struct hl_entry *e = pool->spare;
    if (e != NULL) {
        pool->spare = e->next;
        pool->n_spare--;
        return fill_entry(e, a, NULL);
    }
    e = waiting < SPARE_MAX ? NULL : block_take(pool, bytes);
    return e == NULL ? hl_entry_new(a) : fill_entry(e, a, e->block);
}

void hl_entry_drop(struct hl_entry_pool *pool, struct hl_entry *e)
{
    if (HL_UNLIKELY(e->block != NULL)) {
        block_give(e);
        return;
    }
    if (pool->n_spare == SPARE_MAX || (e->len > HL_MATCH_INLINE && e->kind != HL_MSG_RTS)) {
        hl_entry_free(e);
        return;
    }
    e->next = pool->spare;
    pool->spare = e;
    pool->n_spare++;
}

void hl_entry_pool_close(struct hl_entry_pool *pool)
{
    while (pool->spare != NULL) {
        struct hl_entry *e = pool->spare;
        pool->spare = e->next;
        hl_entry_free(e);
    }
    for (size_t i = 0; i < HL_ENTRY_SIZES; i++) {
        if (pool->open[i] != NULL) {
            munmap(pool->open[i], BLOCK_BYTES);
            pool->open[i] = NULL;
        }
    }
}
