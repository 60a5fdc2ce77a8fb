/* Inside the module: plans. A plan says what a wish means now, on this machine, for the calling thread. */
#ifndef HL_MEM_PLAN_H
#define HL_MEM_PLAN_H

#include "mem.h"
#include "seg.h"

#define HL_PLAN_PAGES 8
#define HL_PLAN_WHY 320

struct hl_plan {
    struct hl_mem_wish wish;
    bool must; /* anything but the first page size and this policy is an error */
    enum hl_mem_policy policy;
    uint64_t nodes;                        /* of the policy */
    size_t align;                          /* of a segment's address */
    size_t pages[HL_PLAN_PAGES];           /* sizes to try in this order */
    enum hl_seg_take takes[HL_PLAN_PAGES]; /* for each size: when its pages are taken */
    int count;
    char who[64];           /* "fast memory nearest to CPU 55"; "": the system places */
    char note[HL_PLAN_WHY]; /* which part of the wish this machine cannot meet; "": none */
    char why[HL_PLAN_WHY];  /* set by hl_mem_alloc: why the first page size failed; "": it did not */
};

/* Fills `out`. `wish` NULL: nothing was asked. Returns 0, or HL_ERR_NO_MEM with the text when a mandatory
 * wish cannot be met on this machine. */
int hl_plan_make(const struct hl_mem_wish *wish, struct hl_plan *out);

/* True: a request that gets anything but this wish fails. */
bool hl_plan_must(const struct hl_mem_wish *wish);

/* For a plan with `must`: puts the request (length, policy, nodes) before the text of a failed try. Returns
 * `rc`. */
int hl_plan_refuse(const struct hl_plan *plan, size_t len, int rc);

#endif
