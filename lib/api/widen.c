/* Turns arrays of int or of 64-bit integers into the one internal form. */
#include "widen.h"

#include <stdlib.h>

#include "err.h"
#include "util.h"

int hl_api_widen(const struct hl_wide *from, int64_t n, int64_t **out)
{
    if (n > 0 && !hl_is_address(from->narrow) && !hl_is_address(from->wide)) {
        return hl_err_say(HL_ERR_ARG, "an array of %lld value%s is NULL or no address", (long long)n,
                          hl_plural(n));
    }
    int64_t *v = malloc(((size_t)n + 1) * sizeof *v);
    if (v == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for %lld counts or displacements", (long long)n);
    }
    for (int64_t i = 0; i < n; i++) {
        v[i] = from->narrow != NULL ? from->narrow[i] : from->wide[i];
    }
    *out = v;
    return 0;
}
