/* Making datatypes: bounds by the standard's rules, layout by loops. */
#include <stdlib.h>

#include "err.h"
#include "loop.h"

_Static_assert(sizeof(struct hl_type) <= HL_HANDLE_SIZE, "a type fits the place of a handle");

/* Bounds while the entries of a type are added. */
struct bounds {
    int64_t lb, ub, true_lb, true_ub;
    /* bounds of entries with explicit bounds: only these count, if there are any */
    int64_t marked_lb, marked_ub;
    int64_t size;
    bool any, any_data, has_lb, has_ub;
    bool overflow;
    uint32_t align;
};

static int64_t mul_bounded(int64_t a, int64_t b, struct bounds *w)
{
    int64_t r = 0;

    w->overflow |= __builtin_mul_overflow(a, b, &r);
    return r;
}

static int64_t add_bounded(int64_t a, int64_t b, struct bounds *w)
{
    int64_t r = 0;

    w->overflow |= __builtin_add_overflow(a, b, &r);
    return r;
}

static void widen_bounds(int64_t lo, int64_t hi, int64_t *lb, int64_t *ub, bool first)
{
    *lb = first || lo < *lb ? lo : *lb;
    *ub = first || hi > *ub ? hi : *ub;
}

/* True for a type without data and explicit bounds: it has no place either (MPI 4.1 section 5.1.6). */
static bool is_nothing(const struct hl_type *t)
{
    return t->size == 0 && !t->explicit_lb && !t->explicit_ub;
}

/* Adds `times` copies of `t`, the outermost two at lo and hi. */
static void bounds_add(struct bounds *w, const struct hl_type *t, int64_t times, int64_t lo, int64_t hi)
{
    if (times <= 0 || is_nothing(t)) {
        return;
    }
    int64_t lb = add_bounded(lo, t->lb, w), ub = add_bounded(hi, t->ub, w);

    w->size = add_bounded(w->size, mul_bounded(times, t->size, w), w);
    w->align = t->align > w->align ? t->align : w->align;
    widen_bounds(lb, ub, &w->lb, &w->ub, !w->any);
    w->any = true;
    if (t->explicit_lb) {
        w->marked_lb = !w->has_lb || lb < w->marked_lb ? lb : w->marked_lb;
        w->has_lb = true;
    }
    if (t->explicit_ub) {
        w->marked_ub = !w->has_ub || ub > w->marked_ub ? ub : w->marked_ub;
        w->has_ub = true;
    }
    if (t->size > 0) {
        widen_bounds(add_bounded(lo, t->true_lb, w), add_bounded(hi, t->true_ub, w), &w->true_lb, &w->true_ub,
                     !w->any_data);
        w->any_data = true;
    }
}

/* Finds where the lowest and the highest of `n` copies are that lie `apart` bytes from each other. */
static void find_reach(int64_t n, int64_t apart, struct bounds *w, int64_t *lo, int64_t *hi)
{
    int64_t last = n > 1 ? mul_bounded(n - 1, apart, w) : 0;

    *lo = last < 0 ? last : 0;
    *hi = last > 0 ? last : 0;
}

static int refuse_large_type(void)
{
    return hl_err_say(HL_ERR_VALUE_TOO_LARGE, "the datatype's size or bounds do not fit 63 bits");
}

/* Do the type's size, bounds, extent and true extent fit 63 bits? The question comes before loops are made:
 * where the answer is yes, all distances in them fit, too. */
static bool has_fitting_bounds(const struct bounds *w)
{
    int64_t lb = w->has_lb ? w->marked_lb : w->lb, ub = w->has_ub ? w->marked_ub : w->ub, extent;
    return !w->overflow && !__builtin_sub_overflow(ub, lb, &extent) &&
           !__builtin_sub_overflow(w->true_ub, w->true_lb, &extent);
}

/* Makes the new type; consumes `root`. */
static int finish_loops(const struct bounds *w, struct hl_loop *root, struct hl_type **made)
{
    if (root == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a datatype");
    }
    if (root->depth > HL_LOOP_MAX_DEPTH) {
        unsigned depth = root->depth;
        hl_loop_unref(root);
        return hl_err_say(HL_ERR_TYPE, "the datatype is nested %u levels deep, and at most %d are possible",
                          depth, HL_LOOP_MAX_DEPTH);
    }
    struct hl_type *t = hl_handle_new(HL_KIND_TYPE);
    if (t == NULL) {
        hl_loop_unref(root);
        return hl_err_say(HL_ERR_NO_MEM, "no handle is left for a datatype: free some (MPI_Type_free)");
    }
    t->handle = (MPI_Datatype)(void *)t;
    t->size = w->size;
    t->lb = w->has_lb ? w->marked_lb : w->lb;
    t->ub = w->has_ub ? w->marked_ub : w->ub;
    t->explicit_lb = w->has_lb;
    t->explicit_ub = w->has_ub;
    t->true_lb = w->true_lb;
    t->true_ub = w->true_ub;
    t->elements = root->elements;
    t->basic = root->size > 0 ? root->basic : HL_BASIC_MIXED;
    t->align = w->align;
    t->root = root;
    hl_refs_begin(&t->refs);
    *made = t;
    return 0;
}

int hl_type_make_contiguous(int64_t count, const struct hl_type *old, struct hl_type **made)
{
    struct bounds w = {0};
    int64_t lo, hi;

    if (count < 0) {
        return hl_err_say(HL_ERR_COUNT, "count %lld is negative", (long long)count);
    }
    find_reach(count, hl_type_extent(old), &w, &lo, &hi);
    bounds_add(&w, old, count, lo, hi);
    if (!has_fitting_bounds(&w)) {
        return refuse_large_type();
    }
    return finish_loops(&w, hl_loop_vec(count, hl_type_extent(old), hl_loop_ref(old->root)), made);
}

int hl_type_make_vector(int64_t count, int64_t blocklen, int64_t stride, bool in_bytes,
                        const struct hl_type *old, struct hl_type **made)
{
    struct bounds w = {0};
    int64_t extent = hl_type_extent(old), lo, hi, block_lo, block_hi;

    if (count < 0) {
        return hl_err_say(HL_ERR_COUNT, "count %lld is negative", (long long)count);
    }
    if (blocklen < 0) {
        return hl_err_say(HL_ERR_ARG, "block length %lld is negative", (long long)blocklen);
    }
    if (count < 2 || blocklen == 0) {
        stride = 0; /* it is not used */
    }
    stride = in_bytes ? stride : mul_bounded(stride, extent, &w);
    find_reach(blocklen, extent, &w, &block_lo, &block_hi);
    find_reach(count, stride, &w, &lo, &hi);
    bounds_add(&w, old, count > 0 ? mul_bounded(count, blocklen, &w) : 0, add_bounded(lo, block_lo, &w),
               add_bounded(hi, block_hi, &w));
    if (!has_fitting_bounds(&w)) {
        return refuse_large_type();
    }
    struct hl_loop *block = hl_loop_vec(blocklen, extent, hl_loop_ref(old->root));
    return finish_loops(&w, hl_loop_vec(count, stride, block), made);
}

/* A type of rows: row i has lens[i] (NULL: blocklen) elements of types[i] (NULL: old). */
struct type_rows {
    int64_t count, blocklen;
    const int64_t *lens, *disp;
    const struct hl_type *old;
    struct hl_type *const *types;
};

/* Checks lengths, adds the rows' bounds. */
static int bounds_add_rows(struct bounds *w, const struct type_rows *r)
{
    for (int64_t i = 0; i < r->count; i++) {
        int64_t n = r->lens != NULL ? r->lens[i] : r->blocklen, lo, hi;
        const struct hl_type *t = r->types != NULL ? r->types[i] : r->old;
        if (n < 0) {
            return hl_err_say(HL_ERR_ARG, "block length %lld of block %lld is negative", (long long)n,
                              (long long)i);
        }
        if (n > 0) {
            find_reach(n, hl_type_extent(t), w, &lo, &hi);
            bounds_add(w, t, n, add_bounded(r->disp[i], lo, w), add_bounded(r->disp[i], hi, w));
        }
    }
    return has_fitting_bounds(w) ? 0 : refuse_large_type();
}

int hl_type_make_indexed(int64_t count, const int64_t *lens, int64_t blocklen, const int64_t *displs,
                         bool in_bytes, const struct hl_type *old, struct hl_type **made)
{
    struct bounds w = {0};

    if (count < 0) {
        return hl_err_say(HL_ERR_COUNT, "count %lld is negative", (long long)count);
    }
    int64_t *disp = malloc(((size_t)count + 1) * sizeof *disp);
    if (disp == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a datatype of %lld blocks", (long long)count);
    }
    for (int64_t i = 0; i < count; i++) {
        /* the displacement of an empty block may be anything */
        int64_t at = (lens != NULL ? lens[i] : blocklen) == 0 ? 0 : displs[i];
        disp[i] = in_bytes ? at : mul_bounded(at, hl_type_extent(old), &w);
    }
    struct type_rows rows = {.count = count, .blocklen = blocklen, .lens = lens, .disp = disp, .old = old};
    int err = bounds_add_rows(&w, &rows);
    if (err == 0) {
        struct hl_loop *root =
            hl_loop_idx(count, disp, lens, blocklen, hl_type_extent(old), hl_loop_ref(old->root));
        err = finish_loops(&w, root, made);
    }
    free(disp);
    return err;
}

/* Rounds the extent up to the alignment of the largest element, unless the upper bound is explicit. This is
 * done for structures only: the standard rounds all layouts (MPI 5.0, 5.1), and so does Open MPI, but MPICH
 * and Intel MPI do not; blocks at byte distances, which programs count in extents, would move. */
static int round_extent(struct bounds *w)
{
    int64_t lb = w->has_lb ? w->marked_lb : w->lb;
    int64_t extent;

    w->overflow |= __builtin_sub_overflow(w->ub, lb, &extent);
    int64_t over = w->align > 1 ? extent % w->align : 0;
    if (!w->has_ub && over != 0) {
        w->ub = add_bounded(w->ub, w->align - over, w);
    }
    return has_fitting_bounds(w) ? 0 : refuse_large_type();
}

int hl_type_make_struct(int64_t count, const int64_t *lens, const int64_t *displs,
                        struct hl_type *const types[], struct hl_type **made)
{
    struct bounds w = {0};

    if (count < 0) {
        return hl_err_say(HL_ERR_COUNT, "count %lld is negative", (long long)count);
    }
    struct type_rows rows = {.count = count, .lens = lens, .disp = displs, .types = types};
    int err = bounds_add_rows(&w, &rows);
    err = err == 0 ? round_extent(&w) : err;
    if (err != 0) {
        return err;
    }
    struct hl_loop **children = calloc((size_t)count + 1, sizeof(void *));
    if (children == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a datatype of %lld blocks", (long long)count);
    }
    for (int64_t i = 0; i < count; i++) {
        children[i] = hl_loop_vec(lens[i], hl_type_extent(types[i]), hl_loop_ref(types[i]->root));
    }
    err = finish_loops(&w, hl_loop_struct(count, displs, children, false), made);
    free(children);
    return err;
}

int hl_type_make_resized(const struct hl_type *old, int64_t lb, int64_t extent, struct hl_type **made)
{
    struct bounds w = {.true_lb = old->true_lb,
                       .true_ub = old->true_ub,
                       .size = old->size,
                       .align = old->align,
                       .has_lb = true,
                       .has_ub = true};

    w.marked_lb = lb;
    w.marked_ub = add_bounded(lb, extent, &w);
    if (!has_fitting_bounds(&w)) {
        return refuse_large_type();
    }
    return finish_loops(&w, hl_loop_ref(old->root), made);
}

static int check_subarray(const struct hl_subarray *a)
{
    if (a->ndims < 1) {
        return hl_err_say(HL_ERR_DIMS, "ndims is %d, at least 1 is needed", a->ndims);
    }
    if (a->order != MPI_ORDER_C && a->order != MPI_ORDER_FORTRAN) {
        return hl_err_say(HL_ERR_ARG, "order %d is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", a->order);
    }
    for (int d = 0; d < a->ndims; d++) {
        if (a->sizes[d] < 1 || a->subsizes[d] < 1 || a->starts[d] < 0 ||
            a->starts[d] > a->sizes[d] - a->subsizes[d]) {
            return hl_err_say(
                HL_ERR_ARG, "dimension %d: %lld elements from place %lld on are not within an array of %lld",
                d, (long long)a->subsizes[d], (long long)a->starts[d], (long long)a->sizes[d]);
        }
    }
    return 0;
}

int hl_type_make_subarray(const struct hl_subarray *a, const struct hl_type *old, struct hl_type **made)
{
    struct bounds w = {0};
    int64_t whole = hl_type_extent(old), times = 1, lo = 0, hi = 0;
    int err = check_subarray(a);

    if (err != 0) {
        return err;
    }
    for (int k = 0; k < a->ndims; k++) { /* from the fastest dimension to the slowest */
        int d = a->order == MPI_ORDER_C ? a->ndims - 1 - k : k;
        lo = add_bounded(lo, mul_bounded(a->starts[d], whole, &w), &w);
        hi = add_bounded(hi, mul_bounded(a->starts[d] + a->subsizes[d] - 1, whole, &w), &w);
        times = mul_bounded(times, a->subsizes[d], &w);
        whole = mul_bounded(whole, a->sizes[d], &w);
    }
    bounds_add(&w, old, times, lo < hi ? lo : hi, lo < hi ? hi : lo);
    if (!has_fitting_bounds(&w)) {
        return refuse_large_type();
    }
    w.has_lb = w.has_ub = true;
    w.marked_lb = 0;
    w.marked_ub = whole;
    struct hl_loop *root = hl_loop_ref(old->root);
    int64_t apart = hl_type_extent(old);
    for (int k = 0; k < a->ndims; k++) {
        int d = a->order == MPI_ORDER_C ? a->ndims - 1 - k : k;
        root = hl_loop_vec(a->subsizes[d], apart, root);
        apart *= a->sizes[d];
    }
    return finish_loops(&w, hl_loop_shift(root, lo), made);
}

int hl_type_make_dup(const struct hl_type *old, struct hl_type **made)
{
    struct bounds w = {.lb = old->lb,
                       .ub = old->ub,
                       .true_lb = old->true_lb,
                       .true_ub = old->true_ub,
                       .size = old->size,
                       .align = old->align};
    int err = finish_loops(&w, hl_loop_ref(old->root), made);

    if (err != 0) {
        return err;
    }
    (*made)->explicit_lb = old->explicit_lb;
    (*made)->explicit_ub = old->explicit_ub;
    err = hl_type_is_committed(old) ? hl_type_commit(*made) : 0;
    if (err != 0) {
        hl_type_unref(*made);
    }
    return err;
}
