/* Balanced grids: as square as the divisors of the number of ranks allow. */
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "shape.h"

struct divisors {
    int n, of[2048]; /* ascending; no int has more than 1536 */
};

static void find_divisors(struct divisors *d, int n)
{
    d->n = 0;
    for (int64_t i = 1; i * i <= n; i++) {
        if (n % i == 0) {
            d->of[d->n++] = (int)i;
        }
    }
    for (int i = d->n - 1; i >= 0; i--) {
        int other = n / d->of[i];
        if (other != d->of[i]) {
            d->of[d->n++] = other;
        }
    }
}

/* base^k, or a number above any int. */
static int64_t raise_power(int base, int k)
{
    int64_t all = 1;

    for (int i = 0; i < k && all <= INT32_MAX; i++) {
        all *= base;
    }
    return all;
}

/* Splits n into k factors from `least` to `most`, descending: the last as large as possible, then the one
 * before it. False: that is impossible. */
static bool split_divisors(const struct divisors *d, int n, int k, int least, int most, int *factors)
{
    if (k == 0) {
        return n == 1;
    }
    if (raise_power(most, k) < n) {
        return false;
    }
    for (int i = d->n - 1; i >= 0 && d->of[i] >= least; i--) {
        int f = d->of[i];
        if (f <= most && raise_power(f, k) <= n && n % f == 0 &&
            split_divisors(d, n / f, k - 1, f, most, factors)) {
            factors[k - 1] = f;
            return true;
        }
    }
    return false;
}

/* Splits n into k factors, descending, with the first and the last as near as possible; of equal splits it
 * takes the one with the larger last factor, then the one before it. `trial`: memory for k factors. */
static void spread_factors(const struct divisors *d, int n, int k, int *factors, int *trial)
{
    int64_t best = INT64_MAX;

    for (int i = d->n - 1; i >= 0 && best > 0; i--) {
        int last = d->of[i], most = best - 1 < n - last ? last + (int)(best - 1) : n;
        if (n % last != 0 || raise_power(last, k) > n) {
            continue;
        }
        while (most >= last && split_divisors(d, n / last, k - 1, last, most, trial)) {
            trial[k - 1] = last;
            best = trial[0] - last;
            most = trial[0] - 1;
            memcpy(factors, trial, (size_t)k * sizeof *factors);
        }
    }
}

/* Fills the `open` dimensions that are 0 with factors of n. */
static int fill_dims(int n, int open, int ndims, int *dims)
{
    struct divisors *d = malloc(sizeof *d + 2 * (size_t)open * sizeof(int));

    if (d == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to balance %d dimensions", ndims);
    }
    int *factors = (int *)(void *)(d + 1);
    find_divisors(d, n);
    spread_factors(d, n, open, factors, factors + open);
    for (int i = 0; i < ndims; i++) {
        dims[i] = dims[i] == 0 ? *factors++ : dims[i];
    }
    free(d);
    return 0;
}

int hl_shape_balance(int nnodes, int ndims, int *dims)
{
    int64_t fixed = 1;
    int open = 0;

    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0) {
            return hl_err_say(HL_ERR_DIMS, "dims[%d], %d, is negative", i, dims[i]);
        }
        open += dims[i] == 0;
        fixed *= dims[i] == 0 || fixed > nnodes ? 1 : dims[i];
    }
    if (nnodes <= 0 || nnodes % fixed != 0 || (open == 0 && ndims > 0 && fixed != nnodes)) {
        return hl_err_say(
            HL_ERR_DIMS,
            "nnodes, %d, cannot be the product of %d dimensions with the %d of them that are given", nnodes,
            ndims, ndims - open);
    }
    return open == 0 ? 0 : fill_dims((int)(nnodes / fixed), open, ndims, dims);
}
