/* Types of one process's part of a distributed array. Each dimension is a type made of the one before it:
 * blocks of `arg` elements, dealt out to the processes in turn. */

#include "err.h"
#include "type.h"

/* One dimension: `size` elements in blocks of `block`; this process has every procs-th block, from block `me`
 * on. */
struct dealt {
    int64_t size, block, procs, me;
};

/* a / b, rounded up; the sum of both may not fit. */
static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static int deal_dimension(const struct hl_darray *a, int d, int64_t me, struct dealt *x)
{
    int64_t procs = a->procs[d], arg = a->args[d], even = divide_up(a->sizes[d], procs);

    *x = (struct dealt){a->sizes[d], arg, procs, me};
    switch (a->distribs[d]) {
    case MPI_DISTRIBUTE_NONE:
        if (procs != 1) {
            return hl_err_say(HL_ERR_ARG,
                              "dimension %d is MPI_DISTRIBUTE_NONE, but has %lld processes: it takes 1", d,
                              (long long)procs);
        }
        x->block = x->size;
        return 0;
    case MPI_DISTRIBUTE_BLOCK:
        x->block = arg == MPI_DISTRIBUTE_DFLT_DARG ? even : arg;
        if (x->block < even) {
            return hl_err_say(HL_ERR_ARG, "dimension %d: %lld blocks of %lld elements do not hold %lld", d,
                              (long long)procs, (long long)x->block, (long long)x->size);
        }
        return 0;
    case MPI_DISTRIBUTE_CYCLIC:
        x->block = arg == MPI_DISTRIBUTE_DFLT_DARG ? 1 : arg;
        return x->block >= 1 ? 0
                             : hl_err_say(HL_ERR_ARG, "dimension %d: the block size %lld must be at least 1",
                                          d, (long long)x->block);
    default:
        return hl_err_say(HL_ERR_ARG, "dimension %d: distribution %d is none of MPI_DISTRIBUTE_*", d,
                          a->distribs[d]);
    }
}

/* Makes the type of this process's elements of one dimension, with the extent of all. */
static int make_dimension(const struct dealt *x, const struct hl_type *old, struct hl_type **made)
{
    int64_t blocks = divide_up(x->size, x->block), rest = x->size % x->block, extent = 0;
    int64_t mine = x->me < blocks ? (blocks - 1 - x->me) / x->procs + 1 : 0;
    int64_t last = x->me + (mine - 1) * x->procs; /* this process's last block, perhaps the short one */
    int64_t whole = mine > 0 && rest > 0 && last == blocks - 1 ? mine - 1 : mine;
    struct hl_type *parts[2] = {NULL, NULL}, *joined = NULL;
    int64_t lens[2] = {1, 1}, displs[2] = {0, 0}, stride = 0;
    bool bad = __builtin_mul_overflow(x->size, hl_type_extent(old), &extent) ||
               (mine > 1 && __builtin_mul_overflow(x->procs, x->block, &stride));

    if (bad) {
        return hl_err_say(HL_ERR_VALUE_TOO_LARGE,
                          "%lld elements with an extent of %lld bytes do not fit 63 bits", (long long)x->size,
                          (long long)hl_type_extent(old));
    }
    if (mine > 0) { /* both lie inside the array, whose bytes fit */
        displs[0] = whole > 0 ? x->me * x->block * hl_type_extent(old) : 0;
        displs[1] = last * x->block * hl_type_extent(old);
    }
    int err = hl_type_make_vector(whole, whole > 0 ? x->block : 0, stride, false, old, &parts[0]);
    err = err == 0 ? hl_type_make_contiguous(mine - whole > 0 ? rest : 0, old, &parts[1]) : err;
    err = err == 0 ? hl_type_make_struct(2, lens, displs, parts, &joined) : err;
    err = err == 0 ? hl_type_make_resized(joined, 0, extent, made) : err;
    for (int i = 0; i < 2; i++) {
        if (parts[i] != NULL) {
            hl_type_free(parts[i]);
        }
    }
    if (joined != NULL) {
        hl_type_free(joined);
    }
    return err;
}

static int check_darray(const struct hl_darray *a)
{
    int64_t procs = 1;

    if (a->ndims < 1) {
        return hl_err_say(HL_ERR_DIMS, "ndims is %d, at least 1 is needed", a->ndims);
    }
    if (a->order != MPI_ORDER_C && a->order != MPI_ORDER_FORTRAN) {
        return hl_err_say(HL_ERR_ARG, "order %d is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", a->order);
    }
    for (int d = 0; d < a->ndims; d++) {
        if (a->sizes[d] < 1 || a->procs[d] < 1) {
            return hl_err_say(HL_ERR_ARG,
                              "dimension %d has %lld elements and %d processes: both must be at least 1", d,
                              (long long)a->sizes[d], a->procs[d]);
        }
        if (__builtin_mul_overflow(procs, (int64_t)a->procs[d], &procs) || procs > a->size) {
            break;
        }
    }
    if (procs != a->size) {
        return hl_err_say(HL_ERR_ARG, "size is %d, but the grid of processes (psizes) has %s%lld", a->size,
                          procs > a->size ? "at least " : "", (long long)procs);
    }
    if (a->rank < 0 || a->rank >= a->size) {
        return hl_err_say(HL_ERR_ARG, "rank is %d: the array has processes 0 to %d", a->rank, a->size - 1);
    }
    return 0;
}

int hl_type_make_darray(const struct hl_darray *a, const struct hl_type *old, struct hl_type **made)
{
    const struct hl_type *inner = old;
    struct hl_type *outer = NULL;
    int err = check_darray(a);

    for (int k = 0; err == 0 && k < a->ndims; k++) { /* from the fastest dimension to the slowest */
        int d = a->order == MPI_ORDER_C ? a->ndims - 1 - k : k;
        int64_t below = 1;
        struct dealt x;
        for (int i = d + 1; i < a->ndims; i++) {
            below *= a->procs[i];
        }
        err = deal_dimension(a, d, a->rank / below % a->procs[d], &x);
        err = err == 0 ? make_dimension(&x, inner, &outer) : err;
        if (inner != old) {
            hl_type_free((struct hl_type *)(uintptr_t)inner);
        }
        inner = outer;
    }
    if (err == 0) {
        *made = outer;
    }
    return err;
}
