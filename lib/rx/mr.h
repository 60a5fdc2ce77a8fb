/* Memory that peers may reach: registered in the receive endpoint's domain, found by key. */
#ifndef HL_MR_H
#define HL_MR_H

#include "attr.h"
#include "mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hl_fab_ep;

/* What a peer needs to reach [0, len) of a region. The owner fills it in; windows exchange it, heaps compute
 * it. Plain data, the same on all machines of a job. */
struct hl_mr {
    uint64_t id;   /* of the region at its owner, for messages; never 0, never reused */
    uint64_t key;  /* registration key */
    uint64_t addr; /* RMA address of the region's first byte: add the offset */
    uint64_t len;  /* bytes */
};

/* Fills `out` with the registration of a whole segment of this rank. Its key is 0 before the network opens,
 * and always where registering pins. Any thread. */
void hl_mr_of(const struct hl_seg *seg, struct hl_mr *out);

/* Fills `out` with what peers need to reach [base, base + len); out->addr is the RMA address of `base`.
 * Memory in a segment that has a key (hl_mr_of) gets that key and the segment's id; other memory is
 * registered and has an id of its own (before the network is open only an id, and key 0). The caller undoes
 * it by hl_mr_unregister(out->id), before the memory goes. HL_ERR_NO_MEM (a limit; the text says which, and
 * what to do), HL_ERR_OTHER (with the provider's text). Any thread. */
int hl_mr_register(void *base, size_t len, struct hl_mr *out);
void hl_mr_unregister(uint64_t id);

/* Registered memory, found by its key. */
struct hl_mr_found {
    uint64_t key;
    uint64_t addr; /* RMA address of the first byte */
    char *base;    /* NULL: there is no such memory */
    uint64_t len;
    uint32_t users; /* registrations that have this key */
};

/* Between hold and release no registration comes or goes. Keep it short: threads that make or free memory
 * wait. One thread at a time, the receive thread. */
void hl_mr_hold(void);
void hl_mr_release(void);

/* Fills `out` with the memory registered under `key`, to be used until hl_mr_release. Returns false when
 * there is none; out->base is NULL then. The call stands between hold and release. */
bool hl_mr_find(uint64_t key, struct hl_mr_found *out);

/* The address of `len` bytes at RMA address `addr` of this memory, or NULL when they are not all inside. */
HL_INLINE void *hl_mr_at(const struct hl_mr_found *r, uint64_t addr, uint64_t len)
{
    uint64_t offset = addr - r->addr; /* huge where addr is below the first byte */
    return HL_LIKELY(r->base != NULL && offset <= r->len && len <= r->len - offset) ? r->base + offset : NULL;
}

/* Opens registration on the receive endpoint; once. Living segments (where registering does not pin) and
 * registered memory get their keys now, later ones when they are made. Errors as hl_mr_register and
 * hl_mem_watch. */
int hl_mr_open(struct hl_fab_ep *rx);
void hl_mr_close(void);

/* True when registering pins pages, so that memory is registered piece by piece, as it is used. False before
 * the network opens. */
bool hl_mr_pins(void);

#endif
