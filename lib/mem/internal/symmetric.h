/* Inside the module: addresses that are the same in all processes of a job. One range of address space begins
 * at an address that all ranks know; each rank cuts places from it in the order of its calls, so ranks that
 * call alike get the same. A place is reserved only when it is used: where somebody else has mapped memory
 * there, it is not to be had.
 *
 *   begin
 *   | first plain arena | the commons (commons.h) | segments and arenas, lowest free place first ...
 */
#ifndef HL_MEM_SYMMETRIC_H
#define HL_MEM_SYMMETRIC_H

#include "mem_internal.h"

/* A lowest free place for `len` bytes at a multiple of `align`; or the place `at`, or (`arena`) that of the
 * first plain arena, if it is free. Returns its address, reserved, or NULL. */
struct hl_place_ask {
    size_t len, align;
    char *at;
    bool arena;
};
char *hl_symmetric_take(const struct hl_place_ask *ask) HL_REQUIRES(hl_mem_lock);

/* Forgets the place that begins at `base`. The caller unmaps it. Other addresses are ignored. */
void hl_symmetric_give(const char *base) HL_REQUIRES(hl_mem_lock);

/* Where the first plain arena lies, or NULL. */
char *hl_symmetric_arena(void);

#endif
