/* Symmetric memory: from an address of mine to the same object at a PE.
 *
 * An area is a range of addresses that means the same objects on every PE: the heap, then one for the static
 * data of the executable and of each of its libraries. A part is a piece of the heap's span, and one segment:
 * a partition, or, as the last one, what the library keeps for itself. All parts have the same offsets
 * everywhere, so a near PE is reached without asking which it is. The heap's area ends where the library's
 * part begins: no call of the user finds that.
 *
 * Written by shmem_init, read-only until shmem_finalize but for pieces that are registered when blocks are
 * taken (pinned.h), which only come; everything is 0 outside of that time, so that the
 * comparison with `len` finds calls at the wrong time as well. */
#ifndef HL_SYM_H
#define HL_SYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "attr.h"

/* How an area, or a part, of a PE is reached. `where`: its first byte in my address space; or HL_SYM_FAR and
 * the address that stands for it in RMA, with `key`. A FAR heap has keys for each part only. Static data that
 * the PE has not, and parts of which pieces are registered: 0. */
struct hl_sym_reach {
    uint64_t where, key;
};
#define HL_SYM_FAR ((uint64_t)1 << 63)

struct hl_sym_area {
    char *base;               /* mine */
    uint64_t len;             /* bytes; 0: not there */
    struct hl_sym_reach *pes; /* [n_pes] */
};

#define HL_SYM_PARTS 8    /* SHMEM_MAX_PARTITIONS and the library's own */
#define HL_SYM_AREAS 255  /* parts, and registered pieces of them (pinned.h) */
#define HL_SYM_GRANULE 21 /* bits: parts begin and end at multiples of 2 MiB */

struct hl_sym {
    struct hl_sym_area heap; /* `where` of near PEs is all that the short way reads */
    int n_pes, my_pe;

    struct hl_sym_area parts[HL_SYM_AREAS]; /* `pes` of FAR PEs has address and key */
    int n_parts;                            /* grows with registered pieces */
    int own;                                /* index of the library's own */
    hl_a8 *part_of; /* atomic; by offset >> HL_SYM_GRANULE: index of the part, 255: between parts */

    struct hl_sym_area *statics;
    int n_statics;
};
extern struct hl_sym hl_sym;

/* Where something is at a PE. */
struct hl_sym_spot {
    uint64_t where; /* as in hl_sym_reach, moved on to the first byte */
    uint64_t key;
    uint64_t token; /* hl_xfer.token of FAR ones */
};

HL_INLINE bool hl_sym_spot_is_mapped(const struct hl_sym_spot *s)
{
    return (s->where & HL_SYM_FAR) == 0;
}

/* The short way: true when [p, p + len) lies in the heap and the PE exists; *where is the address in
 * hl_sym_reach's words. (It may lie in two partitions, which hl_sym_find refuses: between mapped ones this is
 * not looked at.) */
HL_INLINE bool hl_sym_short(const void *p, size_t len, int pe, uint64_t *where)
{
    uint64_t off = (uint64_t)((const char *)p - hl_sym.heap.base);
    /* As unsigned numbers: below the heap and before shmem_init are too large. */
    if (HL_UNLIKELY(off >= hl_sym.heap.len) || HL_UNLIKELY(len > hl_sym.heap.len - off) ||
        HL_UNLIKELY((uint32_t)pe >= (uint32_t)hl_sym.n_pes)) {
        return false;
    }
    *where = hl_sym.heap.pes[pe].where + off;
    return true;
}

/* The address of [p, p + len) of the heap at a PE whose memory is mapped here; NULL: this is not so simple.
 */
HL_INLINE char *hl_sym_near(const void *p, size_t len, int pe)
{
    uint64_t where;
    bool mapped = HL_LIKELY(hl_sym_short(p, len, pe, &where)) && HL_LIKELY((where & HL_SYM_FAR) == 0);
    return mapped ? (char *)(uintptr_t)where : NULL;
}

/* Any symmetric object: true with *out, or false when [p, p + len) is not all in one part or one area, or the
 * PE does not exist. Any thread, no lock. */
bool hl_sym_find(const void *p, size_t len, int pe, struct hl_sym_spot *out);

/* Where the library's own part is, at the address that `p` in mine has. The PE exists. */
struct hl_sym_spot hl_sym_own(const void *p, int pe);

/* My own address lies in symmetric memory. */
bool hl_sym_is(const void *p, size_t len);

/* The part or area in which it lies, all of which has one token at a PE; or NULL. */
const struct hl_sym_area *hl_sym_area_of(const void *p);

#endif
