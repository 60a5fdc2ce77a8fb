/* Inside the module: what a wish means on this machine, for the thread that asks, now. */
#ifndef HL_MEM_PLAN_H
#define HL_MEM_PLAN_H

#include "mem.h"
#include "seg.h"

#define HL_PLAN_PAGES 8
#define HL_PLAN_WHY 320

struct hl_plan {
    struct hl_mem_wish wish;
    bool must; /* the first page size, and that policy, or an error */
    enum hl_mem_policy policy;
    uint64_t nodes;                        /* of the policy */
    size_t align;                          /* of a segment's address */
    size_t pages[HL_PLAN_PAGES];           /* sizes to try in this order */
    enum hl_seg_take takes[HL_PLAN_PAGES]; /* and when to take them */
    int count;
    char who[64];           /* "fast memory nearest to CPU 55", "" when the system places */
    char note[HL_PLAN_WHY]; /* what cannot be met, whatever is tried; "" nothing */
    char
        why[HL_PLAN_WHY]; /* hl_mem_alloc: why the first page size was not had; "" it was, or not tried yet */
};

/* Fills `out`. `wish` NULL: nothing was asked. Returns 0, or HL_ERR_NO_MEM with the text when a mandatory
 * wish can not be met on this machine. */
int hl_plan_make(const struct hl_mem_wish *wish, struct hl_plan *out);

/* Is anything but what is wished an error? */
bool hl_plan_must(const struct hl_mem_wish *wish);

/* The words of a failed try, put behind who asked for what: for a plan that must. Returns `rc`. */
int hl_plan_refuse(const struct hl_plan *plan, size_t len, int rc);

#endif
