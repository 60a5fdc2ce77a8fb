/* Which bytes of the symmetric heap are taken (OpenSHMEM 1.5, section 9.3). Each PE keeps its own records and
 * comes to the same offsets, because they depend on the sequence of calls alone. The barrier that these calls
 * have anyway proves that all PEs called alike: it carries a hash of what was asked for and of the result.
 * Only when hashes differ, a second exchange finds out which PE asked for what. */
#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blocks.h"
#include "coll.h"
#include "ctx.h"
#include "entry.h"
#include "err.h"
#include "hang.h"
#include "heap.h"
#include "lock.h"
#include "log.h"
#include "parts.h"
#include "pinned.h"
#include "shm.h"
#include "sym.h"
#include "tree.h"
#include "util.h"
#include "xfer.h"

#include "copy.h"

#define NOTHING UINT64_MAX            /* the offset of no block */
#define GIVE_BACK ((size_t)128 << 10) /* larger freed blocks give their pages back to the system */
#define WAIT_US 2000000               /* time for the PE that prints to end the job */

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_blocks blocks[HL_SYM_PARTS] HL_GUARDED_BY(lock); /* of each part; offsets in the span */
static bool told_full[HL_SYM_PARTS] HL_GUARDED_BY(lock);

int hl_alloc_open(void)
{
    int rc = 0;
    hl_mutex_lock(&lock);
    for (int i = 0; rc == 0 && i < hl_heap.count; i++) {
        const struct hl_heap_part *p = &hl_heap.parts[i];
        rc = hl_blocks_init_at(&blocks[i], p->off, p->len, HL_MEM_ALIGN);
        hl_mem_dump(p->piece.seg, 0);
        told_full[i] = false;
    }
    hl_mutex_unlock(&lock);
    return rc == 0 ? 0 : hl_err_say(rc, "no memory for the records of the heap");
}

void hl_alloc_close(void)
{
    hl_mutex_lock(&lock);
    for (int i = 0; i < HL_SYM_PARTS; i++) {
        hl_blocks_fini(&blocks[i]);
    }
    hl_mutex_unlock(&lock);
}

/* ---- proving that all PEs call alike ---- */

/* One call, 0 where it has no such argument. The function's name is not compared: old names make the same
 * calls. */
struct alloc_call {
    uint64_t op, size, align, part, old, result; /* offsets in the span; NOTHING: NULL */
};

enum heap_call { TAKE, GIVE, RESIZE, RESIZED };

static void say_call(const struct alloc_call *c, char *out, size_t cap)
{
    if (c->op == TAKE) {
        snprintf(out, cap,
                 "asks for %" PRIu64 " byte%s (alignment %" PRIu64 ") of partition %" PRIu64 " and %s",
                 c->size, hl_plural((long long)c->size), c->align, c->part,
                 c->result == NOTHING ? "gets none" : "gets memory");
    } else if (c->op == GIVE) {
        snprintf(out, cap, "frees what begins at byte %" PRIu64 " of the heap", c->old);
    } else {
        snprintf(out, cap, "makes %" PRIu64 " bytes of what begins at byte %" PRIu64 " of the heap", c->size,
                 c->old);
    }
    if (c->result != NOTHING && c->op != GIVE && c->op != RESIZE) {
        size_t len = strlen(out);
        snprintf(out + len, cap - len, " at byte %" PRIu64, c->result);
    }
}

/* Finds the first PE whose call differs from PE 0's, and ends the job with both calls in words. */
static _Noreturn void tell_difference(const struct alloc_call *mine, const char *func)
{
    struct alloc_call *all = malloc((size_t)hl_sym.n_pes * sizeof *all);
    char theirs[200], zeros[200];
    int pe = 0;
    if (all != NULL && hl_coll_allgather_bytes(hl_shmem_comm, mine, sizeof *mine, all) == 0) {
        while (pe < hl_sym.n_pes - 1 && memcmp(&all[pe], &all[0], sizeof *all) == 0) {
            pe++;
        }
        say_call(&all[pe], theirs, sizeof theirs);
        say_call(&all[0], zeros, sizeof zeros);
    } else {
        say_call(mine, theirs, sizeof theirs);
        snprintf(zeros, sizeof zeros, "does something else");
    }
    if (pe != hl_sym.my_pe) {
        usleep(WAIT_US); /* so that one PE prints */
    }
    hl_shmem_die(func, "all PEs must make the same call: PE %d %s, PE 0 %s", pe, theirs, zeros);
}

static void join_most(struct hl_meet *m, const void *theirs, size_t len)
{
    uint64_t *most = m->data;
    for (size_t i = 0; i < len / sizeof *most; i++) {
        uint64_t other = ((const uint64_t *)theirs)[i];
        most[i] = other > most[i] ? other : most[i];
    }
}

/* Waits until all PEs have come and what was issued on the default context is stored, and proves that they
 * call alike. It meets where the world's other collectives meet, so that a PE that is in one of these is
 * named. */
static void meet_call(const struct alloc_call *c, const char *func)
{
    static const uint64_t key[2] = {0, 0};
    uint64_t hash = hl_siphash(key, c, sizeof *c);
    uint64_t most[2] = {hash, ~hash};
    struct hl_call call = {.func = func, .what = hl_call_what(HL_CALL_ALLOC, 0, 0), .team = &hl_team_world};
    struct hl_meet results = {most, sizeof most, sizeof most, join_most, NULL};
    hl_shmem_quiet(&hl_ctx_default, func);
    hl_tree_meet(&call, &results);
    /* True when the largest hash and the smallest are mine. */
    if (most[0] != hash || most[1] != ~hash) {
        tell_difference(c, func);
    }
}

/* ---- blocks ---- */

/* Index of partition `id` in hl_heap.parts, or -1. */
static int part_of_id(int id)
{
    for (int i = 0; i < hl_heap.count; i++) {
        if (hl_heap.parts[i].id == id) {
            return i;
        }
    }
    return -1;
}

/* Returns the offset of the block that begins at `ptr`, and its part and length; ends the job when no block
 * begins there. */
static uint64_t block_at(const void *ptr, int *part, size_t *len, const char *func)
{
    uint64_t off = (uint64_t)((const char *)ptr - hl_heap.base);
    *len = 0;
    *part = -1;
    for (int i = 0; off < hl_heap.len && i < hl_heap.count; i++) {
        const struct hl_heap_part *p = &hl_heap.parts[i];
        *part = p->id != 0 && off >= p->off && off - p->off < p->len ? i : *part;
    }
    if (*part >= 0) {
        hl_mutex_lock(&lock);
        *len = hl_blocks_len_at(&blocks[*part], off);
        hl_mutex_unlock(&lock);
    }
    if (*len == 0) {
        hl_shmem_die(func,
                     "%p is not an address that shmem_malloc or its kin has returned, or it is freed already",
                     ptr);
    }
    return off;
}

/* Prints one line when a partition has no room for the first time. PE 0 prints for all. */
static void say_part_full(int part, size_t align, size_t size, const char *func)
{
    char multiple[HL_BYTES_TEXT], asked[HL_BYTES_TEXT], all[HL_BYTES_TEXT], left[HL_BYTES_TEXT],
        most[HL_BYTES_TEXT];
    hl_mutex_lock(&lock);
    const struct hl_blocks *b = &blocks[part];
    bool first = !told_full[part] && hl_sym.my_pe == 0;
    told_full[part] = true;
    hl_bytes_text(b->len - b->taken, left);
    hl_bytes_text(hl_blocks_largest(b), most);
    hl_mutex_unlock(&lock);
    if (first) {
        bool plain = align <= HL_MEM_ALIGN;
        hl_log(HL_LOG_WARN, "%s: no room for %s%s%s in %s of %s: %s are free, at most %s in one piece", func,
               hl_bytes_text(size, asked), plain ? "" : " at a multiple of ",
               plain ? "" : hl_bytes_text(align, multiple), hl_heap.parts[part].name,
               hl_bytes_text(hl_heap.parts[part].len, all), left, most);
    }
}

/* Has core files include the part up to offset `end`, where a block ends. */
static void note_used(int part, uint64_t end) HL_REQUIRES(lock)
{
    const struct hl_heap_part *p = &hl_heap.parts[part];
    hl_mem_dump(p->piece.seg, p->piece.off + (end - p->off));
}

static uint64_t take_heap_piece(int part, size_t align, size_t size, const char *func)
{
    size_t off = 0;
    hl_mutex_lock(&lock);
    int rc = hl_blocks_take(&blocks[part], size, hl_max_size(align, HL_MEM_ALIGN), &off);
    if (rc == 0) {
        note_used(part, off + size);
    }
    hl_mutex_unlock(&lock);
    if (rc != 0) {
        say_part_full(part, align, size, func);
    }
    return rc == 0 ? off : NOTHING;
}

/* Frees a block. Pages of a large one go back to the system where that is possible: otherwise they would stay
 * for ever. */
static void give_memory(int part, uint64_t off)
{
    const struct hl_heap_part *p = &hl_heap.parts[part];
    hl_mutex_lock(&lock);
    size_t len = hl_blocks_len_at(&blocks[part], off);
    hl_blocks_give(&blocks[part], off);
    hl_mutex_unlock(&lock);
    if (len >= GIVE_BACK) {
        hl_mem_discard(&p->piece, off - p->off, len);
    }
}

static void *find_heap_address(uint64_t off)
{
    return off != NOTHING ? hl_heap.base + off : NULL;
}

static bool is_alignment(size_t align, const char *func)
{
    bool power = align > 0 && (align & (align - 1)) == 0;
    bool good = power && align <= hl_heap.align;
    if (!good && hl_sym.my_pe == 0) {
        hl_log_once("%s: alignment %zu: expected a power of two up to %zu", func, align, hl_heap.align);
    }
    return good;
}

/* Makes a new block reachable for all PEs, after they have met. False on all PEs, after a line of PE 0: the
 * network cannot register its memory. */
static bool reach_block(int part, uint64_t off, size_t size, const char *func)
{
    int rc = hl_pinned_cover(part, off, size);
    if (rc != 0 && hl_sym.my_pe == 0) {
        hl_log_once("%s: %s", func, hl_err_text(rc));
    }
    return rc == 0;
}

/* The part of hl_alloc_take before its barrier; NOTHING, on all PEs, when it cannot have the block. */
static uint64_t take_agreed_piece(int id, size_t align, size_t size, const char *func)
{
    int part = part_of_id(id);
    bool known = part >= 0 && id != 0;
    if (!known && hl_sym.my_pe == 0) {
        hl_log_once("%s: there is no partition %d (SHMEM_SYMMETRIC_PARTITION%d)", func, id, id);
    }
    return known && is_alignment(align, func) ? take_heap_piece(part, align, size, func) : NOTHING;
}

HL_HANG_SHMEM static void *take_and_meet(int id, size_t align, size_t size, bool zero, const char *func)
{
    hl_shmem_need_open(func);
    if (size == 0) {
        return NULL; /* the standard has no barrier here */
    }
    uint64_t off = take_agreed_piece(id, align, size, func);
    if (zero && off != NOTHING) {
        memset(find_heap_address(off), 0, size);
    }
    struct alloc_call c = {TAKE, size, align, (uint64_t)id, NOTHING, off};
    meet_call(&c, func);
    if (off != NOTHING && !reach_block(part_of_id(id), off, size, func)) {
        give_memory(part_of_id(id), off);
        off = NOTHING;
    }
    return find_heap_address(off);
}

HL_HANG_SHMEM void *hl_alloc_take(int id, size_t align, size_t size, const char *func)
{
    return take_and_meet(id, align, size, false, func);
}

void *hl_heap_internal_alloc(size_t bytes)
{
    size_t off = 0;
    hl_mutex_lock(&lock);
    int rc = hl_blocks_take(&blocks[part_of_id(0)], bytes, HL_MEM_ALIGN, &off);
    hl_mutex_unlock(&lock);
    return rc == 0 ? find_heap_address(off) : NULL;
}

/* ---- the calls ---- */

#define WORD sizeof(void *)

HL_SHMEM_CALL(shmem_malloc, void *, (size_t size), return hl_alloc_take(1, WORD, size, "shmem_malloc"))
HL_SHMEM_CALL(shmem_align, void *, (size_t alignment, size_t size),
              return hl_alloc_take(1, alignment, size, "shmem_align"))

/* The hints are ignored: all memory serves all uses. */
HL_SHMEM_CALL(shmem_malloc_with_hints, void *, (size_t size, long hints),
              return hl_alloc_take(1, WORD, size, "shmem_malloc_with_hints"))

HL_SHMEM_API(shmem_calloc);
void *pshmem_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        bytes = SIZE_MAX; /* more than any heap has */
    }
    return take_and_meet(1, WORD, bytes, true, "shmem_calloc");
}

HL_HANG_SHMEM static void free_block(void *ptr, const char *func)
{
    int part;
    size_t len;
    hl_shmem_need_open(func);
    if (ptr != NULL) {
        struct alloc_call c = {GIVE, 0, 0, 0, block_at(ptr, &part, &len, func), NOTHING};
        meet_call(&c, func);
        give_memory(part, c.old);
    }
}

HL_SHMEM_CALL(shmem_free, void, (void *ptr), free_block(ptr, "shmem_free"))

/* Resizes a block in place if possible, else moves it; NOTHING: there is no room. All PEs have met before. */
static uint64_t resize_block(int part, uint64_t old, size_t len, size_t size, const char *func)
{
    hl_mutex_lock(&lock);
    int rc = hl_blocks_resize(&blocks[part], old, size);
    if (rc == 0) {
        note_used(part, old + size);
    }
    hl_mutex_unlock(&lock);
    uint64_t off = rc == 0 ? old : take_heap_piece(part, WORD, size, func);
    if (off != NOTHING && off != old) {
        hl_copy(find_heap_address(off), find_heap_address(old), hl_min_size(len, size));
        give_memory(part, old);
    }
    return off;
}

HL_HANG_SHMEM static void *realloc_block(void *ptr, size_t size, const char *func)
{
    int part;
    size_t len;
    if (ptr == NULL) {
        return hl_alloc_take(1, WORD, size, func);
    }
    hl_shmem_need_open(func);
    struct alloc_call c = {RESIZE, size, 0, 0, block_at(ptr, &part, &len, func), NOTHING};
    if (size == 0) {
        free_block(ptr, func);
        return NULL;
    }
    meet_call(&c, func);
    c.op = RESIZED;
    c.result = resize_block(part, c.old, len, size, func);
    meet_call(&c, func);
    if (c.result != NOTHING) {
        hl_shmem_must(hl_pinned_cover(part, c.result, size), func, -1);
    }
    return find_heap_address(c.result);
}

HL_SHMEM_CALL(shmem_realloc, void *, (void *ptr, size_t size),
              return realloc_block(ptr, size, "shmem_realloc"))

/* ---- names from before OpenSHMEM, which have no pshmem names ---- */

HL_SHMEM_OLD_CALL(shmalloc, void *, (size_t size), return hl_alloc_take(1, WORD, size, "shmalloc"))
HL_SHMEM_OLD_CALL(shmemalign, void *, (size_t alignment, size_t size),
                  return hl_alloc_take(1, alignment, size, "shmemalign"))
HL_SHMEM_OLD_CALL(shrealloc, void *, (void *ptr, size_t size), return realloc_block(ptr, size, "shrealloc"))
HL_SHMEM_OLD_CALL(shfree, void, (void *ptr), free_block(ptr, "shfree"))
