/* Making datatypes. Every constructor widens its arguments, makes the type, and keeps the call for envelope
 * and contents. */
#include <stdlib.h>

#include "api.h"
#include "args.h"
#include "keyval.h"
#include "widen.h"

/* One argument of a constructor, or an array of them. */
struct part {
    const int64_t *v;
    int64_t n;
    enum { COUNT, ADDRESS, SMALL } sort; /* SMALL: an int in the large form, too */
};

/* A constructor's call, as MPI_Type_get_envelope and _contents return it. */
struct type_call {
    const char *func;
    int combiner;
    bool large;
    int n_parts;
    struct part parts[5];
    int64_t n_types;
    struct hl_type *const *types;
};

/* Copies the parts that belong to one of the three lists; returns the number of values. */
static int64_t gather_ints(const struct type_call *call, int list, int64_t *wide, int *narrow)
{
    int64_t n = 0;

    for (int p = 0; p < call->n_parts; p++) {
        const struct part *part = &call->parts[p];
        int of = part->sort == SMALL ? 0 : call->large ? 2 : part->sort == ADDRESS ? 1 : 0;
        for (int64_t i = 0; of == list && i < part->n; i++, n++) {
            if (narrow != NULL) {
                narrow[n] = (int)part->v[i];
            } else if (wide != NULL) {
                wide[n] = part->v[i];
            }
        }
    }
    return n;
}

static int keep_call(struct hl_type *t, const struct type_call *call)
{
    int64_t ints = gather_ints(call, 0, NULL, NULL), addrs = gather_ints(call, 1, NULL, NULL);
    int64_t counts = gather_ints(call, 2, NULL, NULL);
    struct hl_type_args args = {.combiner = call->combiner,
                                .large = call->large,
                                .n_ints = (int)ints,
                                .n_addrs = (int)addrs,
                                .n_counts = (int)counts,
                                .n_types = (int)call->n_types,
                                .types = (struct hl_type **)(uintptr_t)call->types};
    int err;

    args.ints = malloc(((size_t)ints + 1) * sizeof(int));
    args.addrs = malloc(((size_t)addrs + 1) * 8);
    args.counts = malloc(((size_t)counts + 1) * 8);
    if (args.ints != NULL && args.addrs != NULL && args.counts != NULL) {
        gather_ints(call, 0, NULL, args.ints);
        gather_ints(call, 1, args.addrs, NULL);
        gather_ints(call, 2, args.counts, NULL);
        err = hl_type_keep_args(t, &args);
    } else {
        err = hl_err_say(HL_ERR_NO_MEM, "no memory for the arguments of a datatype");
    }
    free(args.ints);
    free(args.addrs);
    free(args.counts);
    return err;
}

/* The end of every constructor, as hl_api_leave. `err`, `made`: the result of making the type. */
static int finish_type(const struct type_call *call, int err, struct hl_type *made, MPI_Datatype *newtype)
{
    if (err == 0) {
        err = keep_call(made, call);
        if (err != 0) {
            hl_type_free(made);
        } else {
            *newtype = made->handle;
        }
    }
    return hl_api_leave(NULL, call->func, err);
}

/* The beginning of a constructor from one type, as hl_api_enter. *old: the type. */
static int get_old(MPI_Datatype handle, const void *out, struct hl_type **old)
{
    int err = hl_api_enter(hl_api_check_open());

    err = err == 0 ? hl_api_get_type(handle, old) : err;
    return err == 0 ? hl_api_check_out(out, "newtype") : err;
}

static int create_contiguous(const char *func, int64_t count, bool large, MPI_Datatype oldtype,
                             MPI_Datatype *newtype)
{
    struct hl_type *old = NULL, *made = NULL;
    int err = get_old(oldtype, newtype, &old);
    struct type_call call = {func, MPI_COMBINER_CONTIGUOUS, large, 1, {{&count, 1, COUNT}}, 1, &old};

    err = err == 0 ? hl_type_make_contiguous(count, old, &made) : err;
    return finish_type(&call, err, made, newtype);
}

HL_API(MPI_Type_contiguous);
int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return create_contiguous("MPI_Type_contiguous", count, false, oldtype, newtype);
}

HL_API(MPI_Type_contiguous_c);
int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return create_contiguous("MPI_Type_contiguous_c", count, true, oldtype, newtype);
}

/* Makes a vector. v: count, block length, stride. */
static int create_vector(const char *func, const int64_t v[3], bool in_bytes, bool large,
                         MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct hl_type *old = NULL, *made = NULL;
    int err = get_old(oldtype, newtype, &old);
    struct type_call call = {func, in_bytes ? MPI_COMBINER_HVECTOR : MPI_COMBINER_VECTOR,   large,
                             2,    {{v, 2, COUNT}, {v + 2, 1, in_bytes ? ADDRESS : COUNT}}, 1,
                             &old};

    err = err == 0 ? hl_type_make_vector(v[0], v[1], v[2], in_bytes, old, &made) : err;
    return finish_type(&call, err, made, newtype);
}

/* One row for each function: name, types of counts and stride, is the stride in bytes, has it large counts.
 * */
#define VECTOR_ROWS(X)                                                                                       \
    X(MPI_Type_vector, int, int, false, false)                                                               \
    X(MPI_Type_vector_c, MPI_Count, MPI_Count, false, true)                                                  \
    X(MPI_Type_create_hvector, int, MPI_Aint, true, false)                                                   \
    X(MPI_Type_create_hvector_c, MPI_Count, MPI_Count, true, true)

#define X(name, number, distance, in_bytes, large)                                                           \
    HL_API(name);                                                                                            \
    int P##name(number count, number blocklength, distance stride, MPI_Datatype oldtype,                     \
                MPI_Datatype *newtype)                                                                       \
    {                                                                                                        \
        int64_t v[3] = {count, blocklength, stride};                                                         \
                                                                                                             \
        return create_vector(#name, v, in_bytes, large, oldtype, newtype);                                   \
    }
/* Defines: MPI_Type_vector MPI_Type_vector_c MPI_Type_create_hvector MPI_Type_create_hvector_c */
VECTOR_ROWS(X)
#undef X

/* The arguments of the indexed forms. The block forms have `blocklen` instead of lens. */
struct indexed {
    const char *func;
    int combiner;
    bool large;
    int64_t count, blocklen;
    struct hl_wide lens, displs;
};

static int create_indexed(const struct indexed *x, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    bool in_bytes = x->combiner == MPI_COMBINER_HINDEXED || x->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    bool block = x->combiner == MPI_COMBINER_INDEXED_BLOCK || x->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    struct hl_type *old = NULL, *made = NULL;
    int err = get_old(oldtype, newtype, &old);
    int64_t *lens = NULL, *displs = NULL;

    err = err == 0 ? hl_api_check_count(x->count) : err;
    err = err == 0 && !block ? hl_api_widen(&x->lens, x->count, &lens) : err;
    err = err == 0 ? hl_api_widen(&x->displs, x->count, &displs) : err;
    struct type_call call = {x->func,
                             x->combiner,
                             x->large,
                             3,
                             {{&x->count, 1, COUNT},
                              {block ? &x->blocklen : lens, block ? 1 : x->count, COUNT},
                              {displs, x->count, in_bytes ? ADDRESS : COUNT}},
                             1,
                             &old};
    err = err == 0 ? hl_type_make_indexed(x->count, lens, x->blocklen, displs, in_bytes, old, &made) : err;
    err = finish_type(&call, err, made, newtype);
    free(lens);
    free(displs);
    return err;
}

/* One row for each function: name, combiner, type of the counts, type and form of the displacements. */
#define INDEXED_ROWS(X)                                                                                      \
    X(MPI_Type_indexed, MPI_COMBINER_INDEXED, int, .narrow, int, .narrow)                                    \
    X(MPI_Type_indexed_c, MPI_COMBINER_INDEXED, MPI_Count, .wide, MPI_Count, .wide)                          \
    X(MPI_Type_create_hindexed, MPI_COMBINER_HINDEXED, int, .narrow, MPI_Aint, .wide)                        \
    X(MPI_Type_create_hindexed_c, MPI_COMBINER_HINDEXED, MPI_Count, .wide, MPI_Count, .wide)

#define X(name, combiner, number, lens, distance, displs)                                                    \
    HL_API(name);                                                                                            \
    int P##name(number count, const number blocklengths[], const distance displacements[],                   \
                MPI_Datatype oldtype, MPI_Datatype *newtype)                                                 \
    {                                                                                                        \
        bool large = sizeof count == sizeof(MPI_Count);                                                      \
        struct indexed x = {                                                                                 \
            #name, combiner, large, count, 0, {lens = blocklengths}, {displs = displacements}};              \
                                                                                                             \
        return create_indexed(&x, oldtype, newtype);                                                         \
    }
/* Defines: MPI_Type_indexed MPI_Type_indexed_c MPI_Type_create_hindexed MPI_Type_create_hindexed_c */
INDEXED_ROWS(X)
#undef X

#define BLOCK_ROWS(X)                                                                                        \
    X(MPI_Type_create_indexed_block, MPI_COMBINER_INDEXED_BLOCK, int, int, .narrow)                          \
    X(MPI_Type_create_indexed_block_c, MPI_COMBINER_INDEXED_BLOCK, MPI_Count, MPI_Count, .wide)              \
    X(MPI_Type_create_hindexed_block, MPI_COMBINER_HINDEXED_BLOCK, int, MPI_Aint, .wide)                     \
    X(MPI_Type_create_hindexed_block_c, MPI_COMBINER_HINDEXED_BLOCK, MPI_Count, MPI_Count, .wide)

#define X(name, combiner, number, distance, displs)                                                          \
    HL_API(name);                                                                                            \
    int P##name(number count, number blocklength, const distance displacements[], MPI_Datatype oldtype,      \
                MPI_Datatype *newtype)                                                                       \
    {                                                                                                        \
        bool large = sizeof count == sizeof(MPI_Count);                                                      \
        struct indexed x = {#name, combiner, large, count, blocklength, {0}, {displs = displacements}};      \
                                                                                                             \
        return create_indexed(&x, oldtype, newtype);                                                         \
    }
/* Defines: MPI_Type_create_indexed_block MPI_Type_create_indexed_block_c MPI_Type_create_hindexed_block
 * MPI_Type_create_hindexed_block_c */
BLOCK_ROWS(X)
#undef X

/* Gets the objects of `n` handles in an array from malloc, which the caller frees. */
static int get_type_objects(int64_t n, const MPI_Datatype handles[], struct hl_type ***types)
{
    int err = 0;

    *types = malloc(((size_t)n + 1) * sizeof(void *));
    if (*types == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for %lld datatypes", (long long)n);
    }
    for (int64_t i = 0; i < n && err == 0; i++) {
        err = hl_api_get_type(handles[i], &(*types)[i]);
    }
    return err;
}

struct rows {
    const char *func;
    bool large;
    int64_t count;
    struct hl_wide lens, displs;
    const MPI_Datatype *types;
};

static int create_struct(const struct rows *x, MPI_Datatype *newtype)
{
    struct hl_type **types = NULL, *made = NULL;
    int64_t *lens = NULL, *displs = NULL;
    int err = hl_api_enter(hl_api_check_open());

    err = err == 0 ? hl_api_check_count(x->count) : err;
    err = err == 0 ? hl_api_check_out(newtype, "newtype") : err;
    err = err == 0 ? hl_api_check_list(x->count, x->types, "array_of_types") : err;
    err = err == 0 ? get_type_objects(x->count, x->types, &types) : err;
    err = err == 0 ? hl_api_widen(&x->lens, x->count, &lens) : err;
    err = err == 0 ? hl_api_widen(&x->displs, x->count, &displs) : err;
    struct type_call call = {x->func,
                             MPI_COMBINER_STRUCT,
                             x->large,
                             3,
                             {{&x->count, 1, COUNT}, {lens, x->count, COUNT}, {displs, x->count, ADDRESS}},
                             x->count,
                             types};
    err = err == 0 ? hl_type_make_struct(x->count, lens, displs, types, &made) : err;
    err = finish_type(&call, err, made, newtype);
    free(lens);
    free(displs);
    free(types);
    return err;
}

HL_API(MPI_Type_create_struct);
int PMPI_Type_create_struct(int count, const int array_of_blocklengths[],
                            const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[],
                            MPI_Datatype *newtype)
{
    struct rows x = {"MPI_Type_create_struct",       false,         count, {array_of_blocklengths, NULL},
                     {NULL, array_of_displacements}, array_of_types};

    return create_struct(&x, newtype);
}

HL_API(MPI_Type_create_struct_c);
int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                              const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[],
                              MPI_Datatype *newtype)
{
    struct rows x = {"MPI_Type_create_struct_c",     true,          count, {NULL, array_of_blocklengths},
                     {NULL, array_of_displacements}, array_of_types};

    return create_struct(&x, newtype);
}

static int create_resized(const char *func, const int64_t bounds[2], bool large, MPI_Datatype oldtype,
                          MPI_Datatype *newtype)
{
    struct hl_type *old = NULL, *made = NULL;
    int err = get_old(oldtype, newtype, &old);
    struct type_call call = {func, MPI_COMBINER_RESIZED, large, 1, {{bounds, 2, ADDRESS}}, 1, &old};

    err = err == 0 ? hl_type_make_resized(old, bounds[0], bounds[1], &made) : err;
    return finish_type(&call, err, made, newtype);
}

HL_API(MPI_Type_create_resized);
int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype)
{
    return create_resized("MPI_Type_create_resized", (int64_t[]){lb, extent}, false, oldtype, newtype);
}

HL_API(MPI_Type_create_resized_c);
int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype *newtype)
{
    return create_resized("MPI_Type_create_resized_c", (int64_t[]){lb, extent}, true, oldtype, newtype);
}

struct part_of_array {
    const char *func;
    bool large;
    int64_t ndims, order;
    struct hl_wide sizes, subsizes, starts;
};

static int create_subarray(const struct part_of_array *x, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct hl_type *old = NULL, *made = NULL;
    int64_t *sizes = NULL, *subsizes = NULL, *starts = NULL;
    int err = get_old(oldtype, newtype, &old);

    if (err == 0 && x->ndims < 1) {
        err = hl_err_say(HL_ERR_DIMS, "ndims is %lld, at least 1 is needed", (long long)x->ndims);
    }
    err = err == 0 ? hl_api_widen(&x->sizes, x->ndims, &sizes) : err;
    err = err == 0 ? hl_api_widen(&x->subsizes, x->ndims, &subsizes) : err;
    err = err == 0 ? hl_api_widen(&x->starts, x->ndims, &starts) : err;
    struct hl_subarray a = {(int)x->ndims, sizes, subsizes, starts, (int)x->order};
    struct type_call call = {x->func,
                             MPI_COMBINER_SUBARRAY,
                             x->large,
                             5,
                             {{&x->ndims, 1, SMALL},
                              {sizes, x->ndims, COUNT},
                              {subsizes, x->ndims, COUNT},
                              {starts, x->ndims, COUNT},
                              {&x->order, 1, SMALL}},
                             1,
                             &old};
    err = err == 0 ? hl_type_make_subarray(&a, old, &made) : err;
    err = finish_type(&call, err, made, newtype);
    free(sizes);
    free(subsizes);
    free(starts);
    return err;
}

HL_API(MPI_Type_create_subarray);
int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
                              const int array_of_starts[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    struct part_of_array x = {
        "MPI_Type_create_subarray", false, ndims, order, {array_of_sizes, NULL}, {array_of_subsizes, NULL},
        {array_of_starts, NULL}};

    return create_subarray(&x, oldtype, newtype);
}

HL_API(MPI_Type_create_subarray_c);
int PMPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
                                const MPI_Count array_of_subsizes[], const MPI_Count array_of_starts[],
                                int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct part_of_array x = {
        "MPI_Type_create_subarray_c", true, ndims, order, {NULL, array_of_sizes}, {NULL, array_of_subsizes},
        {NULL, array_of_starts}};

    return create_subarray(&x, oldtype, newtype);
}

struct part_of_grid {
    const char *func;
    bool large;
    struct hl_darray a; /* all but sizes */
    struct hl_wide sizes;
};

static int create_darray(struct part_of_grid *x, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct hl_darray *a = &x->a;
    struct hl_type *old = NULL, *made = NULL;
    int64_t n = a->ndims, *sizes = NULL, *rest = NULL, head[3] = {a->size, a->rank, n};
    int err = get_old(oldtype, newtype, &old);

    if (err == 0 && n < 1) {
        err = hl_err_say(HL_ERR_DIMS, "ndims is %lld, at least 1 is needed", (long long)n);
    }
    err = err == 0 ? hl_api_widen(&x->sizes, n, &sizes) : err;
    err = err == 0 ? hl_api_check_list(n, a->distribs, "array_of_distribs") : err;
    err = err == 0 ? hl_api_check_list(n, a->args, "array_of_dargs") : err;
    err = err == 0 ? hl_api_check_list(n, a->procs, "array_of_psizes") : err;
    if (err == 0) {
        rest = malloc((3 * (size_t)n + 1) * sizeof *rest);
        err = rest == NULL
                  ? hl_err_say(HL_ERR_NO_MEM, "no memory for an array of %lld dimensions", (long long)n)
                  : 0;
    }
    for (int64_t i = 0; err == 0 && i < n; i++) {
        rest[i] = a->distribs[i];
        rest[n + i] = a->args[i];
        rest[2 * n + i] = a->procs[i];
    }
    if (err == 0) {
        rest[3 * n] = a->order;
        a->sizes = sizes;
        err = hl_type_make_darray(a, old, &made);
    }
    struct type_call call = {x->func,
                             MPI_COMBINER_DARRAY,
                             x->large,
                             3,
                             {{head, 3, SMALL}, {sizes, n, COUNT}, {rest, 3 * n + 1, SMALL}},
                             1,
                             &old};
    err = finish_type(&call, err, made, newtype);
    free(sizes);
    free(rest);
    return err;
}

HL_API(MPI_Type_create_darray);
int PMPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[],
                            const int array_of_distribs[], const int array_of_dargs[],
                            const int array_of_psizes[], int order, MPI_Datatype oldtype,
                            MPI_Datatype *newtype)
{
    struct part_of_grid x = {
        "MPI_Type_create_darray",
        false,
        {size, rank, ndims, NULL, array_of_distribs, array_of_dargs, array_of_psizes, order},
        {array_of_gsizes, NULL}};

    return create_darray(&x, oldtype, newtype);
}

HL_API(MPI_Type_create_darray_c);
int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
                              const int array_of_distribs[], const int array_of_dargs[],
                              const int array_of_psizes[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    struct part_of_grid x = {
        "MPI_Type_create_darray_c",
        true,
        {size, rank, ndims, NULL, array_of_distribs, array_of_dargs, array_of_psizes, order},
        {NULL, array_of_gsizes}};

    return create_darray(&x, oldtype, newtype);
}

HL_API(MPI_Type_dup);
int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct hl_type *old = NULL, *made = NULL;
    int err = get_old(oldtype, newtype, &old);
    struct type_call call = {"MPI_Type_dup", MPI_COMBINER_DUP, false, 0, {{0}}, 1, &old};

    err = err == 0 ? hl_type_make_dup(old, &made) : err;
    if (err == 0) {
        err = hl_attr_copy_all(&old->attrs, old->handle, &made->attrs);
        if (err != 0) {
            hl_attr_delete_all(&made->attrs, made->handle);
            hl_type_free(made);
            *newtype = MPI_DATATYPE_NULL;
        }
    }
    return finish_type(&call, err, made, newtype);
}
