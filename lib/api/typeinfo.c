/* Datatypes after they were made: commit and free, size, extent, name, contents; predefined types by
 * property. */
#include <limits.h>
#include <string.h>

#include "api.h"
#include "args.h"
#include "keyval.h"

HL_API(MPI_Type_commit);
int PMPI_Type_commit(MPI_Datatype *datatype)
{
    struct hl_type *t;
    int err = hl_api_enter(hl_api_check_out(datatype, "datatype"));

    err = err == 0 ? hl_api_get_type(*datatype, &t) : err;
    err = err == 0 ? hl_type_commit(t) : err;
    return hl_api_leave(NULL, "MPI_Type_commit", err);
}

HL_API(MPI_Type_free);
int PMPI_Type_free(MPI_Datatype *datatype)
{
    struct hl_type *t;
    int err = hl_api_enter(hl_api_check_out(datatype, "datatype"));

    err = err == 0 ? hl_api_get_type(*datatype, &t) : err;
    if (err == 0 && t->predefined) {
        err = hl_err_say(HL_ERR_TYPE, "%s is predefined and cannot be freed", t->given);
    }
    err = err == 0 ? hl_attr_delete_all(&t->attrs, t->handle) : err;
    if (err == 0) {
        hl_type_free(t);
        *datatype = MPI_DATATYPE_NULL;
    }
    return hl_api_leave(NULL, "MPI_Type_free", err);
}

/* A value as int, or MPI_UNDEFINED when it does not fit. */
static int narrow(int64_t v)
{
    return v >= INT_MIN && v <= INT_MAX ? (int)v : MPI_UNDEFINED;
}

HL_API(MPI_Type_size);
int PMPI_Type_size(MPI_Datatype datatype, int *size)
{
    struct hl_type *t;
    int err = hl_api_enter(hl_api_get_type(datatype, &t));

    err = err == 0 ? hl_api_check_out(size, "size") : err;
    if (err == 0) {
        *size = narrow(t->size);
    }
    return hl_api_leave(NULL, "MPI_Type_size", err);
}

static int size_large(const char *func, MPI_Datatype datatype, MPI_Count *size)
{
    struct hl_type *t;
    int err = hl_api_enter(hl_api_get_type(datatype, &t));

    err = err == 0 ? hl_api_check_out(size, "size") : err;
    if (err == 0) {
        *size = t->size;
    }
    return hl_api_leave(NULL, func, err);
}

HL_API(MPI_Type_size_c);
int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count *size)
{
    return size_large("MPI_Type_size_c", datatype, size);
}

HL_API(MPI_Type_size_x);
int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
    return size_large("MPI_Type_size_x", datatype, size);
}

/* MPI_Aint and MPI_Count both have 64 bits: one routine for all forms. */
_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8, "addresses and counts have 64 bits");

static int extent(const char *func, MPI_Datatype datatype, int64_t *lb, int64_t *bytes)
{
    struct hl_type *t;
    int err = hl_api_enter(hl_api_get_type(datatype, &t));

    err = err == 0 ? hl_api_check_out(lb, "lb") : err;
    err = err == 0 ? hl_api_check_out(bytes, "extent") : err;
    if (err == 0) {
        *lb = t->lb;
        *bytes = hl_type_extent(t);
    }
    return hl_api_leave(NULL, func, err);
}

static int true_extent(const char *func, MPI_Datatype datatype, int64_t *lb, int64_t *bytes)
{
    struct hl_type *t;
    int err = hl_api_enter(hl_api_get_type(datatype, &t));

    err = err == 0 ? hl_api_check_out(lb, "lb") : err;
    err = err == 0 ? hl_api_check_out(bytes, "extent") : err;
    if (err == 0) {
        *lb = t->true_lb;
        *bytes = t->true_ub - t->true_lb;
    }
    return hl_api_leave(NULL, func, err);
}

HL_API(MPI_Type_get_extent);
int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent_)
{
    return extent("MPI_Type_get_extent", datatype, lb, extent_);
}

HL_API(MPI_Type_get_extent_c);
int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent_)
{
    return extent("MPI_Type_get_extent_c", datatype, lb, extent_);
}

HL_API(MPI_Type_get_extent_x);
int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent_)
{
    return extent("MPI_Type_get_extent_x", datatype, lb, extent_);
}

HL_API(MPI_Type_get_true_extent);
int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent_)
{
    return true_extent("MPI_Type_get_true_extent", datatype, true_lb, true_extent_);
}

HL_API(MPI_Type_get_true_extent_c);
int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent_)
{
    return true_extent("MPI_Type_get_true_extent_c", datatype, true_lb, true_extent_);
}

HL_API(MPI_Type_get_true_extent_x);
int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent_)
{
    return true_extent("MPI_Type_get_true_extent_x", datatype, true_lb, true_extent_);
}

HL_API(MPI_Type_set_name);
int PMPI_Type_set_name(MPI_Datatype datatype, const char *type_name)
{
    struct hl_type *t;
    int err = hl_api_enter(hl_api_get_type(datatype, &t));

    err = err == 0 ? hl_api_check_out(type_name, "type_name") : err;
    err = err == 0 ? hl_type_set_name(t, type_name) : err;
    return hl_api_leave(NULL, "MPI_Type_set_name", err);
}

HL_API(MPI_Type_get_name);
int PMPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
{
    struct hl_type *t = NULL;
    int err = hl_api_enter(datatype != MPI_DATATYPE_NULL ? hl_api_get_type(datatype, &t) : 0);

    err = err == 0 ? hl_api_check_out(type_name, "type_name") : err;
    err = err == 0 ? hl_api_check_out(resultlen, "resultlen") : err;
    if (err == 0) {
        if (t != NULL) {
            hl_type_get_name(t, type_name);
        } else {
            strcpy(type_name, "MPI_DATATYPE_NULL");
        }
        *resultlen = (int)strlen(type_name);
    }
    return hl_api_leave(NULL, "MPI_Type_get_name", err);
}

/* ---- The call that made a type ---- */

static int no_large(const struct hl_type *t)
{
    return t->args != NULL && t->args->large
               ? hl_err_say(HL_ERR_TYPE, "the datatype was made with large counts: ask by the _c function")
               : 0;
}

HL_API(MPI_Type_get_envelope);
int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes,
                           int *combiner)
{
    struct hl_type *t;
    int err = hl_api_enter(hl_api_get_type(datatype, &t));

    err = err == 0 ? no_large(t) : err;
    err = err == 0 ? hl_api_check_out(num_integers, "num_integers") : err;
    err = err == 0 ? hl_api_check_out(num_addresses, "num_addresses") : err;
    err = err == 0 ? hl_api_check_out(num_datatypes, "num_datatypes") : err;
    err = err == 0 ? hl_api_check_out(combiner, "combiner") : err;
    if (err == 0) {
        *num_integers = t->args != NULL ? t->args->n_ints : 0;
        *num_addresses = t->args != NULL ? t->args->n_addrs : 0;
        *num_datatypes = t->args != NULL ? t->args->n_types : 0;
        *combiner = t->args != NULL ? t->args->combiner : MPI_COMBINER_NAMED;
    }
    return hl_api_leave(NULL, "MPI_Type_get_envelope", err);
}

HL_API(MPI_Type_get_envelope_c);
int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses,
                             MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner)
{
    struct hl_type *t;
    int err = hl_api_enter(hl_api_get_type(datatype, &t));

    err = err == 0 ? hl_api_check_out(num_integers, "num_integers") : err;
    err = err == 0 ? hl_api_check_out(num_addresses, "num_addresses") : err;
    err = err == 0 ? hl_api_check_out(num_large_counts, "num_large_counts") : err;
    err = err == 0 ? hl_api_check_out(num_datatypes, "num_datatypes") : err;
    err = err == 0 ? hl_api_check_out(combiner, "combiner") : err;
    if (err == 0) {
        *num_integers = t->args != NULL ? t->args->n_ints : 0;
        *num_addresses = t->args != NULL ? t->args->n_addrs : 0;
        *num_large_counts = t->args != NULL ? t->args->n_counts : 0;
        *num_datatypes = t->args != NULL ? t->args->n_types : 0;
        *combiner = t->args != NULL ? t->args->combiner : MPI_COMBINER_NAMED;
    }
    return hl_api_leave(NULL, "MPI_Type_get_envelope_c", err);
}

/* The lengths of the user's arrays. */
struct room {
    int64_t ints, addrs, counts, types;
};

static int check_contents_room(const struct hl_type *t, const struct room *room)
{
    if (t->args == NULL) {
        return hl_err_say(HL_ERR_TYPE, "%s is predefined: it has no contents", t->given);
    }
    if (room->ints < t->args->n_ints || room->addrs < t->args->n_addrs || room->counts < t->args->n_counts ||
        room->types < t->args->n_types) {
        return hl_err_say(HL_ERR_ARG, "the datatype has %d integers, %d addresses, %d counts, %d datatypes",
                          t->args->n_ints, t->args->n_addrs, t->args->n_counts, t->args->n_types);
    }
    return 0;
}

/* Copies the contents of a type. Derived types are returned as new handles, which the caller frees. */
static int copy_contents(const struct hl_type *t, int *ints, int64_t *addrs, int64_t *counts,
                         MPI_Datatype *types)
{
    const struct hl_type_args *a = t->args;
    struct hl_type *copy;
    int err = 0;

    for (int i = 0; i < a->n_types && err == 0; i++) {
        copy = a->types[i];
        if (!copy->predefined) {
            err = hl_type_make_dup(a->types[i], &copy);
            if (err == 0 && a->types[i]->args != NULL) {
                err = hl_type_keep_args(copy, a->types[i]->args);
            }
        }
        types[i] = err == 0 ? copy->handle : MPI_DATATYPE_NULL;
    }
    for (int i = 0; i < a->n_ints; i++) {
        ints[i] = a->ints[i];
    }
    for (int i = 0; i < a->n_addrs; i++) {
        addrs[i] = a->addrs[i];
    }
    for (int i = 0; i < a->n_counts; i++) {
        counts[i] = a->counts[i];
    }
    return err;
}

HL_API(MPI_Type_get_contents);
int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
                           int array_of_integers[], MPI_Aint array_of_addresses[],
                           MPI_Datatype array_of_datatypes[])
{
    struct room room = {max_integers, max_addresses, 0, max_datatypes};
    struct hl_type *t;
    int err = hl_api_enter(hl_api_get_type(datatype, &t));

    err = err == 0 ? no_large(t) : err;
    err = err == 0 ? check_contents_room(t, &room) : err;
    err = err == 0 ? hl_api_check_list(t->args->n_ints, array_of_integers, "array_of_integers") : err;
    err = err == 0 ? hl_api_check_list(t->args->n_addrs, array_of_addresses, "array_of_addresses") : err;
    err = err == 0 ? hl_api_check_list(t->args->n_types, array_of_datatypes, "array_of_datatypes") : err;
    err = err == 0 ? copy_contents(t, array_of_integers, array_of_addresses, NULL, array_of_datatypes) : err;
    return hl_api_leave(NULL, "MPI_Type_get_contents", err);
}

HL_API(MPI_Type_get_contents_c);
int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[],
                             MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                             MPI_Datatype array_of_datatypes[])
{
    struct room room = {max_integers, max_addresses, max_large_counts, max_datatypes};
    struct hl_type *t;
    int err = hl_api_enter(hl_api_get_type(datatype, &t));

    err = err == 0 ? check_contents_room(t, &room) : err;
    err = err == 0 ? hl_api_check_list(t->args->n_ints, array_of_integers, "array_of_integers") : err;
    err = err == 0 ? hl_api_check_list(t->args->n_addrs, array_of_addresses, "array_of_addresses") : err;
    err =
        err == 0 ? hl_api_check_list(t->args->n_counts, array_of_large_counts, "array_of_large_counts") : err;
    err = err == 0 ? hl_api_check_list(t->args->n_types, array_of_datatypes, "array_of_datatypes") : err;
    err = err == 0 ? copy_contents(t, array_of_integers, array_of_addresses, array_of_large_counts,
                                   array_of_datatypes)
                   : err;
    return hl_api_leave(NULL, "MPI_Type_get_contents_c", err);
}

/* ---- Predefined types by property ---- */

HL_API(MPI_Type_match_size);
int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    static const struct {
        int class_, size;
        MPI_Datatype type;
    } rows[] = {{MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
                {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
                {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, 2, MPI_REAL2},
                {MPI_TYPECLASS_REAL, 4, MPI_REAL4},         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
                {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},
                {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},   {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
                {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}};

    int err = hl_api_check_out(datatype, "datatype");

    for (size_t i = 0; err == 0 && i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].class_ == typeclass && rows[i].size == size) {
            *datatype = rows[i].type;
            return MPI_SUCCESS;
        }
    }
    err = err == 0 ? hl_err_say(HL_ERR_ARG, "no type of class %d has %d bytes", typeclass, size) : err;
    return hl_api_end(NULL, "MPI_Type_match_size", err);
}

static int f90(const char *func, int class_, int p, int r, MPI_Datatype *newtype)
{
    struct hl_type *made;
    int err = hl_api_enter(hl_api_check_open());

    err = err == 0 ? hl_api_check_out(newtype, "newtype") : err;
    err = err == 0 ? hl_type_make_f90(class_, p, r, &made) : err;
    if (err == 0) {
        *newtype = made->handle;
    }
    return hl_api_leave(NULL, func, err);
}

HL_API(MPI_Type_create_f90_real);
int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
    return f90("MPI_Type_create_f90_real", MPI_TYPECLASS_REAL, p, r, newtype);
}

HL_API(MPI_Type_create_f90_complex);
int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
    return f90("MPI_Type_create_f90_complex", MPI_TYPECLASS_COMPLEX, p, r, newtype);
}

HL_API(MPI_Type_create_f90_integer);
int PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{
    return f90("MPI_Type_create_f90_integer", MPI_TYPECLASS_INTEGER, r, 0, newtype);
}

HL_API(MPI_Type_get_value_index);
int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type)
{
    static const struct {
        MPI_Datatype value, index, pair;
    } rows[] = {{MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
                {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
                {MPI_LONG, MPI_INT, MPI_LONG_INT},
                {MPI_INT, MPI_INT, MPI_2INT},
                {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
                {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
                {MPI_REAL, MPI_REAL, MPI_2REAL},
                {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
                {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER}};

    struct hl_type *value, *index;
    int err = hl_api_get_type(value_type, &value);

    err = err == 0 ? hl_api_get_type(index_type, &index) : err;
    err = err == 0 ? hl_api_check_out(pair_type, "pair_type") : err;
    if (err != 0) {
        return hl_api_end(NULL, "MPI_Type_get_value_index", err);
    }
    *pair_type = MPI_DATATYPE_NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].value == value_type && rows[i].index == index_type) {
            *pair_type = rows[i].pair;
        }
    }
    return MPI_SUCCESS;
}
