/* Datatypes after they were made: commit and free, size, extent, name, contents; predefined types by
 * property. */
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

/* Names a type that MPI_Type_free refuses: those of Fortran's kinds have no name. */
static const char *name_predefined(const struct hl_type *t)
{
    int made = t->args != NULL && t->given[0] == '\0' ? t->args->combiner : MPI_COMBINER_NAMED;

    return made == MPI_COMBINER_F90_REAL      ? "a type of MPI_Type_create_f90_real"
           : made == MPI_COMBINER_F90_INTEGER ? "a type of MPI_Type_create_f90_integer"
           : made == MPI_COMBINER_F90_COMPLEX ? "a type of MPI_Type_create_f90_complex"
                                              : t->given;
}

HL_API(MPI_Type_free);
int PMPI_Type_free(MPI_Datatype *datatype)
{
    struct hl_type *t;
    int err = hl_api_enter(hl_api_check_out(datatype, "datatype"));

    err = err == 0 ? hl_api_get_type(*datatype, &t) : err;
    if (err == 0 && t->predefined) {
        err = hl_err_say(HL_ERR_TYPE, "%s is predefined and cannot be freed", name_predefined(t));
    }
    err = err == 0 ? hl_attr_delete_all(&t->attrs, t->handle) : err;
    if (err == 0) {
        hl_type_free(t);
        *datatype = MPI_DATATYPE_NULL;
    }
    return hl_api_leave(NULL, "MPI_Type_free", err);
}

/* MPI_Aint and MPI_Count both have 64 bits: one routine for all forms. */
_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8, "addresses and counts have 64 bits");

static int give_extent(int64_t from, int64_t to, int64_t *lb, int64_t *extent)
{
    int err = hl_api_give_count(lb, "lb", from);

    return err == 0 ? hl_api_give_count(extent, "extent", to - from) : err;
}

HL_CALL_TYPE(MPI_Type_size, (MPI_Datatype datatype, int *size), 0,
             hl_api_give(size, "size", hl_api_narrow(t->size)))
HL_CALL_TYPE(MPI_Type_size_c, (MPI_Datatype datatype, MPI_Count *size), 0,
             hl_api_give_count(size, "size", t->size))
HL_CALL_TYPE(MPI_Type_size_x, (MPI_Datatype datatype, MPI_Count *size), 0,
             hl_api_give_count(size, "size", t->size))
HL_CALL_TYPE(MPI_Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent), 0,
             give_extent(t->lb, t->ub, lb, extent))
HL_CALL_TYPE(MPI_Type_get_extent_c, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent), 0,
             give_extent(t->lb, t->ub, lb, extent))
HL_CALL_TYPE(MPI_Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent), 0,
             give_extent(t->lb, t->ub, lb, extent))
HL_CALL_TYPE(MPI_Type_get_true_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent), 0,
             give_extent(t->true_lb, t->true_ub, lb, extent))
HL_CALL_TYPE(MPI_Type_get_true_extent_c, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent), 0,
             give_extent(t->true_lb, t->true_ub, lb, extent))
HL_CALL_TYPE(MPI_Type_get_true_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent), 0,
             give_extent(t->true_lb, t->true_ub, lb, extent))
HL_CALL_TYPE(MPI_Type_set_name, (MPI_Datatype datatype, const char *type_name),
             hl_api_check_out(type_name, "type_name"), hl_type_set_name(t, type_name))

HL_API(MPI_Type_get_name);
int PMPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
{
    struct hl_type *t = NULL;
    int err = hl_api_enter(datatype != MPI_DATATYPE_NULL ? hl_api_get_type(datatype, &t) : 0);

    err = err == 0 ? hl_api_check_text(type_name, "type_name", resultlen) : err;
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
               ? hl_err_say(HL_ERR_TYPE, "the datatype was made with large counts: call the form of this "
                                         "function that ends with _c")
               : 0;
}

static const struct hl_type_args *args_of(const struct hl_type *t)
{
    static const struct hl_type_args named = {.combiner = MPI_COMBINER_NAMED};

    return t->args != NULL ? t->args : &named;
}

HL_API(MPI_Type_get_envelope);
int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes,
                           int *combiner)
{
    struct hl_type *t;
    int err = hl_api_enter(hl_api_get_type(datatype, &t));

    err = err == 0 ? no_large(t) : err;
    err = err == 0 ? hl_api_give(num_integers, "num_integers", args_of(t)->n_ints) : err;
    err = err == 0 ? hl_api_give(num_addresses, "num_addresses", args_of(t)->n_addrs) : err;
    err = err == 0 ? hl_api_give(num_datatypes, "num_datatypes", args_of(t)->n_types) : err;
    err = err == 0 ? hl_api_give(combiner, "combiner", args_of(t)->combiner) : err;
    return hl_api_leave(NULL, "MPI_Type_get_envelope", err);
}

HL_API(MPI_Type_get_envelope_c);
int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses,
                             MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner)
{
    struct hl_type *t;
    int err = hl_api_enter(hl_api_get_type(datatype, &t));

    err = err == 0 ? hl_api_give_count(num_integers, "num_integers", args_of(t)->n_ints) : err;
    err = err == 0 ? hl_api_give_count(num_addresses, "num_addresses", args_of(t)->n_addrs) : err;
    err = err == 0 ? hl_api_give_count(num_large_counts, "num_large_counts", args_of(t)->n_counts) : err;
    err = err == 0 ? hl_api_give_count(num_datatypes, "num_datatypes", args_of(t)->n_types) : err;
    err = err == 0 ? hl_api_give(combiner, "combiner", args_of(t)->combiner) : err;
    return hl_api_leave(NULL, "MPI_Type_get_envelope_c", err);
}

/* The user's arrays and their lengths. */
struct room {
    int64_t ints, addrs, counts, types;
    int *to_ints;
    int64_t *to_addrs, *to_counts;
    MPI_Datatype *to_types;
};

static int check_contents_room(const struct hl_type *t, const struct room *room)
{
    const struct hl_type_args *a = t->args;

    if (a == NULL) {
        return hl_err_say(HL_ERR_TYPE, "%s is predefined: it has no contents", t->given);
    }
    if (room->ints < a->n_ints || room->addrs < a->n_addrs || room->counts < a->n_counts ||
        room->types < a->n_types) {
        return hl_err_say(HL_ERR_ARG,
                          "the arrays have room for %lld integers, %lld addresses, %lld counts and %lld "
                          "datatypes, and the datatype has %d, %d, %d and %d (MPI_Type_get_envelope tells)",
                          (long long)room->ints, (long long)room->addrs, (long long)room->counts,
                          (long long)room->types, a->n_ints, a->n_addrs, a->n_counts, a->n_types);
    }
    int err = hl_api_check_list(a->n_ints, room->to_ints, "array_of_integers");
    err = err == 0 ? hl_api_check_list(a->n_addrs, room->to_addrs, "array_of_addresses") : err;
    err = err == 0 ? hl_api_check_list(a->n_counts, room->to_counts, "array_of_large_counts") : err;
    return err == 0 ? hl_api_check_list(a->n_types, room->to_types, "array_of_datatypes") : err;
}

/* Copies the contents of a type. Derived types are returned as new handles, which the caller frees. */
static int give_contents(const struct hl_type *t, const struct room *room)
{
    const struct hl_type_args *a = t->args;
    struct hl_type *copy;
    int err = check_contents_room(t, room);

    if (err != 0) {
        return err;
    }
    for (int i = 0; i < a->n_types && err == 0; i++) {
        copy = a->types[i];
        if (!copy->predefined) {
            err = hl_type_make_dup(a->types[i], &copy);
            if (err == 0 && a->types[i]->args != NULL) {
                err = hl_type_keep_args(copy, a->types[i]->args);
            }
        }
        room->to_types[i] = err == 0 ? copy->handle : MPI_DATATYPE_NULL;
    }
    for (int i = 0; i < a->n_ints; i++) {
        room->to_ints[i] = a->ints[i];
    }
    for (int i = 0; i < a->n_addrs; i++) {
        room->to_addrs[i] = a->addrs[i];
    }
    for (int i = 0; i < a->n_counts; i++) {
        room->to_counts[i] = a->counts[i];
    }
    return err;
}

HL_CALL_TYPE(MPI_Type_get_contents,
             (MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int ints[],
              MPI_Aint addresses[], MPI_Datatype types[]),
             no_large(t),
             give_contents(t, &(struct room){max_integers, max_addresses, 0, max_datatypes, ints, addresses,
                                             NULL, types}))
HL_CALL_TYPE(MPI_Type_get_contents_c,
             (MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
              MPI_Count max_large_counts, MPI_Count max_datatypes, int ints[], MPI_Aint addresses[],
              MPI_Count large_counts[], MPI_Datatype types[]),
             0,
             give_contents(t, &(struct room){max_integers, max_addresses, max_large_counts, max_datatypes,
                                             ints, addresses, large_counts, types}))

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

static int make_f90(int class_, int p, int r, MPI_Datatype *newtype)
{
    struct hl_type *made;
    int err = hl_api_check_out(newtype, "newtype");

    err = err == 0 ? hl_type_make_f90(class_, p, r, &made) : err;
    if (err == 0) {
        *newtype = made->handle;
    }
    return err;
}

HL_CALL_PLAIN(MPI_Type_create_f90_real, (int p, int r, MPI_Datatype *newtype), hl_api_check_open(),
              make_f90(MPI_TYPECLASS_REAL, p, r, newtype))
HL_CALL_PLAIN(MPI_Type_create_f90_complex, (int p, int r, MPI_Datatype *newtype), hl_api_check_open(),
              make_f90(MPI_TYPECLASS_COMPLEX, p, r, newtype))
HL_CALL_PLAIN(MPI_Type_create_f90_integer, (int r, MPI_Datatype *newtype), hl_api_check_open(),
              make_f90(MPI_TYPECLASS_INTEGER, r, 0, newtype))

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
