/* How the data of collective operations move.
 *
 * Small data travel with the tree's messages. For larger data all members meet (from then on every dest may
 * be written), transfers go directly between symmetric objects, each member calls quiet, and all meet again.
 * Broadcasts, reductions and scans cut the data into a share for each member, which gets its share, works on
 * it and puts the result to where it belongs. So all PEs move about the same number of bytes, and each
 * element is computed by one PE for all. */
#include "collective.h"

#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "shm.h"
#include "sym.h"
#include "xfer.h"

#define SHARE_MIN 4096               /* bytes: smaller shares are not worth a transfer */
#define STAGE_BYTES ((size_t)262144) /* room for the operands of a block */

/* ---- what all operations use ---- */

static void check_object(const struct hl_call *c, const void *p, size_t len)
{
    if (HL_UNLIKELY(len != 0 && !hl_sym_is(p, len))) {
        hl_shmem_bad_access(c->func, p, len, hl_sym.my_pe);
    }
}

void hl_collective_check(const struct hl_call *c, const struct hl_call_objects *p)
{
    check_object(c, p->dest, p->dest_len);
    check_object(c, p->source, p->source_len);
}

static void put_data(const struct hl_call *c, void *dest, const void *src, size_t len, int rank)
{
    if (len != 0) {
        hl_shmem_put_nbi(&hl_ctx_default, dest, src, len, hl_team_world_pe(c->team, rank), c->func);
    }
}

/* The index-th of `count` equal shares of [0, n) elements of `size` bytes. A share has at least SHARE_MIN
 * bytes, so the last ones may be smaller or empty. */
struct share {
    size_t from, to;
};

static struct share share_of(size_t n, size_t size, int index, int count)
{
    size_t least = (SHARE_MIN + size - 1) / size;
    size_t each = n / (size_t)count + (n % (size_t)count != 0);
    each = each > least ? each : least;
    size_t from = each * (size_t)index < n ? each * (size_t)index : n;
    return (struct share){from, n - from < each ? n : from + each};
}

/* ---- broadcast ---- */

static void cast_small(const struct hl_call *c, const struct hl_cast *b)
{
    _Alignas(16) char data[HL_BOX_DATA];
    if (c->team->rank == b->root) {
        hl_copy(data, b->source, b->bytes);
    }
    hl_tree_cast(c, data, b->bytes, b->root);
    if (c->team->rank != b->root || b->root_too) {
        hl_copy(b->dest, data, b->bytes);
    }
}

static void cast_share(const struct hl_call *c, const struct hl_cast *b)
{
    const struct hl_team *t = c->team;
    struct share r = share_of(b->bytes, 1, (t->rank - b->root + t->size) % t->size, t->size);
    size_t len = r.to - r.from;
    if (len == 0) {
        return;
    }
    char *mine = (char *)b->dest + r.from;
    const char *from = (const char *)b->source + r.from;
    if (t->rank != b->root) {
        hl_shmem_get(&hl_ctx_default, mine, from, len, hl_team_world_pe(t, b->root), c->func);
        from = mine;
    }
    for (int i = 1; i < t->size; i++) {
        int to = (t->rank + i) % t->size;
        if (to != b->root) {
            put_data(c, mine, from, len, to);
        }
    }
}

void hl_broadcast(const struct hl_call *c, const struct hl_cast *b)
{
    if (c->sync == NULL && b->bytes <= HL_BOX_DATA) {
        cast_small(c, b);
        return;
    }
    hl_tree_meet(c, NULL);
    cast_share(c, b);
    if (c->team->rank == b->root && b->root_too) {
        memmove(b->dest, b->source, b->bytes);
    }
    hl_shmem_quiet(&hl_ctx_default, c->func);
    hl_tree_meet(c, NULL);
}

/* ---- collect ---- */

static void append_theirs(struct hl_meet *m, const void *theirs, size_t len)
{
    const struct hl_call *c = m->arg;
    if (HL_UNLIKELY(len > m->room - m->len)) {
        hl_shmem_die(c->func, "messages of more than %zu bytes: the library's memory was written over",
                     m->room);
    }
    hl_copy((char *)m->data + m->len, theirs, len);
    m->len += len;
}

/* Subtrees are runs of members, so what comes from them is in rank order. */
static void collect_small(const struct hl_call *c, void *dest, const void *source, size_t bytes)
{
    _Alignas(16) char data[HL_BOX_DATA];
    struct hl_meet m = {data, sizeof data, bytes, append_theirs, (void *)(uintptr_t)c};
    hl_copy(data, source, bytes);
    hl_tree_meet(c, &m);
    hl_copy(dest, data, bytes * (size_t)c->team->size);
}

/* All members meet; returns the offset of my part in dest. Members of an active set tell their sizes in a
 * word of pSync. */
static uint64_t my_offset(const struct hl_call *c, size_t bytes, bool same)
{
    const struct hl_team *t = c->team;
    uint64_t at = bytes;
    if (!same && c->sync == NULL) {
        hl_tree_offset(c, &at);
        return at;
    }
    if (same) {
        hl_tree_meet(c, NULL);
        return (uint64_t)t->rank * bytes;
    }
    c->sync[HL_TREE_SPARE] = (long)bytes;
    hl_tree_meet(c, NULL);
    at = 0;
    for (int i = 0; i < t->rank; i++) {
        long theirs;
        hl_shmem_get(&hl_ctx_default, &theirs, &c->sync[HL_TREE_SPARE], sizeof theirs, hl_team_world_pe(t, i),
                     c->func);
        at += (uint64_t)theirs;
    }
    return at;
}

void hl_collect(const struct hl_call *c, void *dest, const void *source, size_t bytes, bool same)
{
    const struct hl_team *t = c->team;
    if (same && c->sync == NULL && bytes <= HL_BOX_DATA / (size_t)t->size) {
        collect_small(c, dest, source, bytes);
        return;
    }
    uint64_t at = my_offset(c, bytes, same);
    check_object(c, dest, bytes != 0 ? at + bytes : 0); /* only now the offset is known */
    if ((const char *)dest + at != source) {
        memmove((char *)dest + at, source, bytes);
    }
    for (int i = 1; i < t->size; i++) {
        put_data(c, (char *)dest + at, source, bytes, (t->rank + i) % t->size);
    }
    hl_shmem_quiet(&hl_ctx_default, c->func);
    hl_tree_meet(c, NULL);
    if (!same && c->sync != NULL) {
        c->sync[HL_TREE_SPARE] = SHMEM_SYNC_VALUE;
    }
}

/* ---- alltoall ---- */

static void exchange_one(const struct hl_call *c, const struct hl_strided *b, int to)
{
    size_t n = b->n, size = b->size, bytes = n * size;
    char *dest = (char *)b->dest + (ptrdiff_t)((size_t)c->team->rank * bytes) * b->dst;
    const char *source = (const char *)b->source + (ptrdiff_t)((size_t)to * bytes) * b->sst;
    if (b->dst == 1 && b->sst == 1) {
        put_data(c, dest, source, bytes, to);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        put_data(c, dest + (ptrdiff_t)(i * size) * b->dst, source + (ptrdiff_t)(i * size) * b->sst, size, to);
    }
}

/* Bytes from the first to the last of n > 0 elements at a stride; SIZE_MAX, which no object has, when that
 * overflows. */
static size_t extent_of(size_t n, size_t stride, size_t size)
{
    size_t last = hl_shmem_bytes(n - 1, stride);
    return last == SIZE_MAX ? SIZE_MAX : hl_shmem_bytes(last + 1, size);
}

void hl_alltoall_check(const struct hl_call *c, const struct hl_strided *b)
{
    if (b->dst < 1 || b->sst < 1) {
        hl_shmem_die(c->func, "dst is %td and sst is %td, at least 1 is needed", b->dst, b->sst);
    }
    size_t all = hl_shmem_bytes(b->n, (size_t)c->team->size);
    if (all != 0) {
        hl_collective_check(c, &(struct hl_call_objects){b->dest, extent_of(all, (size_t)b->dst, b->size),
                                                         b->source, extent_of(all, (size_t)b->sst, b->size)});
    }
}

void hl_alltoall(const struct hl_call *c, const struct hl_strided *b)
{
    const struct hl_team *t = c->team;
    hl_tree_meet(c, NULL);
    for (int i = 0; i < t->size; i++) {
        exchange_one(c, b, (t->rank + i) % t->size);
    }
    hl_shmem_quiet(&hl_ctx_default, c->func);
    hl_tree_meet(c, NULL);
}

/* ---- reductions and scans ---- */

static void combine_theirs(struct hl_meet *m, const void *theirs, size_t len)
{
    const struct hl_shmem_fold *f = m->arg;
    hl_op_kernel(f->op, f->basic)(m->data, theirs, f->n);
}

static void fold_small(const struct hl_call *c, const struct hl_shmem_fold *f)
{
    _Alignas(16) char data[HL_BOX_DATA];
    struct hl_meet m = {data, sizeof data, f->n * f->size, combine_theirs, (void *)(uintptr_t)f};
    hl_copy(data, f->source, m.len);
    hl_tree_meet(c, &m);
    hl_copy(f->dest, data, f->n * f->size);
}

/* Buffer for a block of elements: operand i is fetched to bytes + i * room, and the results are put from
 * there. */
struct stage {
    char *bytes;
    size_t room; /* bytes of one operand */
};

static void fold_block(const struct hl_call *c, const struct hl_shmem_fold *f, const struct stage *s,
                       struct share r)
{
    const struct hl_team *t = c->team;
    hl_op_fn *fn = hl_op_kernel(f->op, f->basic);
    size_t n = r.to - r.from, len = n * f->size, at = r.from * f->size;
    for (int i = 0; i < t->size; i++) {
        hl_shmem_get_nbi(&hl_ctx_default, s->bytes + (size_t)i * s->room, (const char *)f->source + at, len,
                         hl_team_world_pe(t, i), c->func);
    }
    hl_shmem_quiet(&hl_ctx_default, c->func);
    for (int i = 1; i < t->size; i++) {
        char *one = s->bytes + (size_t)i * s->room;
        if (f->what == HL_FOLD_ALL) {
            fn(s->bytes, one, n);
        } else {
            fn(one, one - s->room, n);
        }
    }
    static const char nothing[SHARE_MIN];
    for (int i = 0; i < t->size; i++) {
        const char *one = s->bytes + (size_t)i * s->room;
        if (f->what != HL_FOLD_EX) {
            put_data(c, (char *)f->dest + at, f->what == HL_FOLD_ALL ? s->bytes : one, len, i);
            continue;
        }
        for (size_t done = 0; i == 0 && done < len; done += sizeof nothing) {
            put_data(c, (char *)f->dest + at + done, nothing,
                     len - done < sizeof nothing ? len - done : sizeof nothing, 0);
        }
        if (i != 0) {
            put_data(c, (char *)f->dest + at, one - s->room, len, i);
        }
    }
    hl_shmem_quiet(&hl_ctx_default, c->func); /* the stage is used again after this */
}

/* Combines my share. No other PE reads or writes my share of any operand or result, so dest may be source. */
static void fold_share(const struct hl_call *c, const struct hl_shmem_fold *f)
{
    const struct hl_team *t = c->team;
    struct share mine = share_of(f->n, f->size, t->rank, t->size);
    if (mine.from == mine.to) {
        return;
    }
    size_t room = STAGE_BYTES / (size_t)t->size / f->size;
    room = room > 64 ? room : 64;
    room = room < mine.to - mine.from ? room : mine.to - mine.from;
    struct stage s = {.bytes = malloc(room * f->size * (size_t)t->size), .room = room * f->size};
    if (s.bytes == NULL) {
        hl_shmem_die(c->func, "no memory for %zu bytes of operands", room * f->size * (size_t)t->size);
    }
    for (struct share r = {mine.from, 0}; r.from < mine.to; r.from = r.to) {
        r.to = mine.to - r.from < room ? mine.to : r.from + room;
        fold_block(c, f, &s, r);
    }
    free(s.bytes);
}

void hl_fold(const struct hl_call *c, const struct hl_shmem_fold *f)
{
    if (c->sync == NULL && f->what == HL_FOLD_ALL && f->n <= HL_BOX_DATA / f->size) {
        fold_small(c, f);
        return;
    }
    hl_tree_meet(c, NULL);
    fold_share(c, f);
    hl_tree_meet(c, NULL);
}
