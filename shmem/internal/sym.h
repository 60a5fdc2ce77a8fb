/* Symmetric memory: from an address of mine to the same object at a PE.
 *
 * An area is a range of addresses that means the same objects on every PE: the heap, then one area for the
 * static data of the executable and of each of its libraries. A part is a piece of the heap's span, and one
 * segment: a partition, or, as the last one, the part that the library keeps for itself. All parts have the
 * same offsets on every PE, so the short way need not know which part of a near PE it accesses. The heap's
 * area ends where the library's own part begins, so that no call of the user finds that part.
 *
 * shmem_init writes all this, and it is read-only until shmem_finalize. Only registered pieces (pinned.h) are
 * added when blocks are taken, and never removed. Outside of that time everything is 0, so that the
 * comparison with `len` finds calls at the wrong time as well. */
#ifndef HL_SYM_H
#define HL_SYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "attr.h"

/* How an area or a part of a PE is reached. `where` is its first byte in my address space, or HL_SYM_FAR and
 * the address that stands for it in RMA, with `key`. It is 0 for static data that the PE does not have, and
 * for parts of which pieces are registered. A FAR heap has keys only for each part. */
struct hl_sym_reach {
    uint64_t where, key;
};
#define HL_SYM_FAR ((uint64_t)1 << 63)

struct hl_sym_area {
    char *base;               /* my address of it */
    uint64_t len;             /* bytes; 0: it does not exist */
    struct hl_sym_reach *pes; /* [n_pes] */
};

#define HL_SYM_PARTS 8    /* SHMEM_MAX_PARTITIONS and the library's own */
#define HL_SYM_AREAS 255  /* most parts and registered pieces of them (pinned.h) together */
#define HL_SYM_GRANULE 21 /* bits: parts begin and end at multiples of 2 MiB */

struct hl_sym {
    struct hl_sym_area heap; /* `where` of near PEs is all that the short way reads */
    int n_pes, my_pe;

    struct hl_sym_area parts[HL_SYM_AREAS]; /* `pes` of FAR PEs has address and key */
    int n_parts;                            /* grows with registered pieces */
    int own;                                /* index of the library's own part */
    hl_a8 *part_of; /* atomic; by offset >> HL_SYM_GRANULE: index of the part, 255: between parts */

    struct hl_sym_area *statics;
    int n_statics;
};
extern struct hl_sym hl_sym;

/* Where something is at a PE. */
struct hl_sym_addr {
    uint64_t where; /* as in hl_sym_reach, plus the offset of the first byte */
    uint64_t key;
    uint64_t token; /* for FAR memory: hl_xfer.token */
};

HL_INLINE bool hl_sym_addr_is_mapped(const struct hl_sym_addr *s)
{
    return (s->where & HL_SYM_FAR) == 0;
}

/* The short way: true when [p, p + len) lies in the heap and the PE exists; *where is then the address as in
 * hl_sym_reach. (The bytes may lie in two partitions. hl_sym_find refuses that; where the memory is mapped
 * nobody checks it.) */
HL_INLINE bool hl_sym_short(const void *p, size_t len, int pe, uint64_t *where)
{
    uint64_t off = (uint64_t)((const char *)p - hl_sym.heap.base);
    /* Unsigned: an address below the heap, or any before shmem_init, gives a number that is too large. */
    if (HL_UNLIKELY(off >= hl_sym.heap.len) || HL_UNLIKELY(len > hl_sym.heap.len - off) ||
        HL_UNLIKELY((uint32_t)pe >= (uint32_t)hl_sym.n_pes)) {
        return false;
    }
    *where = hl_sym.heap.pes[pe].where + off;
    return true;
}

/* The address here of [p, p + len) of the heap of a PE whose memory is mapped; NULL: the short way cannot
 * tell. */
HL_INLINE char *hl_sym_near(const void *p, size_t len, int pe)
{
    uint64_t where;
    bool mapped = HL_LIKELY(hl_sym_short(p, len, pe, &where)) && HL_LIKELY((where & HL_SYM_FAR) == 0);
    return mapped ? (char *)(uintptr_t)where : NULL;
}

/* Finds any symmetric object: true with *out, or false when [p, p + len) is not all in one part or one area,
 * when the PE does not exist, or when it does not have the object. Any thread, no lock. */
bool hl_sym_find(const void *p, size_t len, int pe, struct hl_sym_addr *out);

/* The address, in the library's own part at `pe`, that `p` is in my own part. The PE must exist. */
struct hl_sym_addr hl_sym_own(const void *p, int pe);

/* Is my own [p, p + len) symmetric memory, all in one part or area? */
bool hl_sym_is(const void *p, size_t len);

/* The part or area in which `p` lies now, or NULL. */
const struct hl_sym_area *hl_sym_area_at(const void *p);

#endif
