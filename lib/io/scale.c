/* Datatypes with the sizes that data have in a file: built again, call by call, from basic types of other
 * sizes. */
#include <stdlib.h>

#include "cs.h"
#include "err.h"
#include "rep.h"

static int scale_type(const struct hl_rep *rep, const struct hl_type *t, struct hl_type **made);

/* The arguments of a call, read in their order. */
struct reader {
    const struct hl_type_args *args;
    int i, a, c;
};

static int no_scale_memory(int64_t n)
{
    return hl_err_say(HL_ERR_NO_MEM, "no memory for the %lld parts of a filetype in a data representation",
                      (long long)n);
}

static int64_t next_small(struct reader *r)
{
    return r->args->ints[r->i++];
}

static int64_t next_count(struct reader *r)
{
    return r->args->large ? r->args->counts[r->c++] : r->args->ints[r->i++];
}

static int64_t next_address(struct reader *r)
{
    return r->args->large ? r->args->counts[r->c++] : r->args->addrs[r->a++];
}

static void read_all(struct reader *r, int64_t (*next)(struct reader *), int64_t n, int64_t *out)
{
    for (int64_t i = 0; i < n; i++) {
        out[i] = next(r);
    }
}

static bool is_in_bytes(int combiner)
{
    return combiner == MPI_COMBINER_HVECTOR || combiner == MPI_COMBINER_HINDEXED ||
           combiner == MPI_COMBINER_HINDEXED_BLOCK;
}

static int again_vector(struct reader *r, const struct hl_type *old, struct hl_type **made)
{
    bool bytes = is_in_bytes(r->args->combiner);
    int64_t count = next_count(r), len = next_count(r);
    int64_t stride = bytes ? next_address(r) : next_count(r);

    return hl_type_make_vector(count, len, stride, bytes, old, made);
}

static int again_indexed(struct reader *r, const struct hl_type *old, struct hl_type **made)
{
    int combiner = r->args->combiner;
    bool block = combiner == MPI_COMBINER_INDEXED_BLOCK || combiner == MPI_COMBINER_HINDEXED_BLOCK;
    int64_t count = next_count(r), blocklen = block ? next_count(r) : 0;
    int64_t *v = malloc((2 * (size_t)count + 1) * sizeof *v);

    if (v == NULL) {
        return no_scale_memory(count);
    }
    read_all(r, next_count, block ? 0 : count, v);
    read_all(r, is_in_bytes(combiner) ? next_address : next_count, count, v + count);
    int err =
        hl_type_make_indexed(count, block ? NULL : v, blocklen, v + count, is_in_bytes(combiner), old, made);
    free(v);
    return err;
}

static int again_struct(const struct hl_rep *rep, struct reader *r, struct hl_type **made)
{
    int64_t count = next_count(r);
    int64_t *v = malloc((2 * (size_t)count + 1) * sizeof *v);
    struct hl_type **types = calloc((size_t)count + 1, sizeof(struct hl_type *));
    int err = v == NULL || types == NULL ? no_scale_memory(count) : 0;

    if (err == 0) {
        read_all(r, next_count, count, v);
        read_all(r, next_address, count, v + count);
    }
    for (int64_t i = 0; i < count && err == 0; i++) {
        err = scale_type(rep, r->args->types[i], &types[i]);
    }
    err = err == 0 ? hl_type_make_struct(count, v, v + count, types, made) : err;
    for (int64_t i = 0; types != NULL && i < count && types[i] != NULL; i++) {
        hl_type_unref(types[i]);
    }
    free(types);
    free(v);
    return err;
}

static int again_subarray(struct reader *r, const struct hl_type *old, struct hl_type **made)
{
    int n = (int)next_small(r);
    int64_t *v = malloc(3 * (size_t)n * sizeof *v);

    if (v == NULL) {
        return no_scale_memory(n);
    }
    read_all(r, next_count, 3 * (int64_t)n, v);
    struct hl_subarray a = {n, v, v + n, v + 2 * n, (int)next_small(r)};
    int err = hl_type_make_subarray(&a, old, made);
    free(v);
    return err;
}

static int again_darray(struct reader *r, const struct hl_type *old, struct hl_type **made)
{
    struct hl_darray a = {.size = (int)next_small(r)};
    a.rank = (int)next_small(r);
    a.ndims = (int)next_small(r);
    size_t n = (size_t)a.ndims;
    int64_t *sizes = malloc(n * sizeof *sizes);
    int *v = malloc(3 * n * sizeof *v);
    int err = sizes == NULL || v == NULL ? no_scale_memory(a.ndims) : 0;

    if (err == 0) {
        read_all(r, next_count, a.ndims, sizes);
        for (size_t i = 0; i < 3 * n; i++) {
            v[i] = (int)next_small(r);
        }
        a.sizes = sizes;
        a.distribs = v;
        a.args = v + n;
        a.procs = v + 2 * n;
        a.order = (int)next_small(r);
        err = hl_type_make_darray(&a, old, made);
    }
    free(sizes);
    free(v);
    return err;
}

/* Repeats the call that made a type from one other type, with the scaled one. */
static int again_type(struct reader *r, const struct hl_type *old, struct hl_type **made)
{
    int64_t lb;

    switch (r->args->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        return hl_type_make_contiguous(next_count(r), old, made);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        return again_vector(r, old, made);
    case MPI_COMBINER_SUBARRAY:
        return again_subarray(r, old, made);
    case MPI_COMBINER_DARRAY:
        return again_darray(r, old, made);
    case MPI_COMBINER_RESIZED:
        lb = next_address(r);
        return hl_type_make_resized(old, lb, next_address(r), made);
    case MPI_COMBINER_DUP:
        return hl_type_make_dup(old, made);
    default:
        return again_indexed(r, old, made);
    }
}

/* Makes the type that a basic type is in the file: so many bytes. */
static int scale_basic(const struct hl_rep *rep, const struct hl_type *t, struct hl_type **made)
{
    int64_t bytes = t->size;
    MPI_Aint extent = t->size;
    struct hl_cs_outside o;
    int err = 0;

    if (rep->user.extent != NULL) {
        hl_cs_step_out(&o);
        int code = rep->user.extent(t->handle, &extent, rep->user.state);
        hl_cs_step_in(&o);
        bytes = extent;
        if (code != MPI_SUCCESS || extent < 0) {
            return hl_err_say(HL_ERR_CONVERSION,
                              "the extent function of representation '%s' returned %d and %lld bytes",
                              rep->name, code, (long long)extent);
        }
    } else {
        err = hl_type_external_bytes(t, 1, &bytes);
    }
    return err == 0 ? hl_type_make_contiguous(bytes, hl_type_of(MPI_BYTE), made) : err;
}

static int scale_type(const struct hl_rep *rep, const struct hl_type *t, struct hl_type **made)
{
    struct reader r = {.args = t->args};
    struct hl_type *old;

    if (t->predefined) {
        return scale_basic(rep, t, made);
    }
    if (t->args->combiner == MPI_COMBINER_STRUCT) {
        return again_struct(rep, &r, made);
    }
    int err = scale_type(rep, t->args->types[0], &old);
    if (err == 0) {
        err = again_type(&r, old, made);
        hl_type_unref(old);
    }
    return err;
}

int hl_rep_tile(const struct hl_rep *rep, const struct hl_type *filetype, struct hl_type **tile)
{
    int64_t bytes = 0;
    int err = rep->user.extent == NULL ? hl_type_external_bytes(filetype, 1, &bytes) : 0;

    /* external32 makes no part larger, so equal sums mean that all parts are equal. */
    if (rep->plain || (err == 0 && rep->user.extent == NULL && bytes == filetype->size)) {
        struct hl_type *same = (struct hl_type *)(uintptr_t)filetype;
        hl_type_ref(same);
        *tile = same;
        return 0;
    }
    struct hl_type *made;
    err = err == 0 ? scale_type(rep, filetype, &made) : err;
    if (err != 0) {
        return err;
    }
    err = hl_type_commit(made);
    if (err != 0) {
        hl_type_unref(made);
        return err;
    }
    *tile = made;
    return 0;
}
