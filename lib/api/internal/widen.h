/* Inside the module: turns arrays of int or of 64-bit integers into the one internal form. */
#ifndef HL_WIDEN_H
#define HL_WIDEN_H

#include <stdint.h>

/* One of the two is the user's array, the other NULL. */
struct hl_wide {
    const int *narrow;
    const int64_t *wide;
};

/* Makes *out, a malloc'd copy of n values, which the caller frees, also after an error. HL_ERR_ARG for a
 * missing array of n > 0 values, HL_ERR_NO_MEM. */
int hl_api_widen(const struct hl_wide *from, int64_t n, int64_t **out);

#endif
