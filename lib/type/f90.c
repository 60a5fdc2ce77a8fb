/* Types by Fortran's kinds: each kind that is asked for is made once and stays. */
#include <float.h>
#include <stdlib.h>

#include "err.h"
#include "lock.h"
#include "type.h"
#include "util.h"

/* What the types of each class can hold, the smaller ones first. */
static const struct {
    int class_, digits, range;
    MPI_Datatype type;
} rows[] = {
    {MPI_TYPECLASS_INTEGER, 2, 0, MPI_INTEGER1},
    {MPI_TYPECLASS_INTEGER, 4, 0, MPI_INTEGER2},
    {MPI_TYPECLASS_INTEGER, 9, 0, MPI_INTEGER4},
    {MPI_TYPECLASS_INTEGER, 18, 0, MPI_INTEGER8},
    {MPI_TYPECLASS_INTEGER, 38, 0, MPI_INTEGER16},
    {MPI_TYPECLASS_REAL, 6, 37, MPI_REAL4},
    {MPI_TYPECLASS_REAL, 15, 307, MPI_REAL8},
#if LDBL_MANT_DIG == 64 /* gfortran's kind 10 is the processor's own */
    {MPI_TYPECLASS_REAL, 18, 4931, MPI_LONG_DOUBLE},
#endif
    {MPI_TYPECLASS_REAL, 33, 4931, MPI_REAL16},
    {MPI_TYPECLASS_COMPLEX, 6, 37, MPI_COMPLEX8},
    {MPI_TYPECLASS_COMPLEX, 15, 307, MPI_COMPLEX16},
#if LDBL_MANT_DIG == 64
    {MPI_TYPECLASS_COMPLEX, 18, 4931, MPI_C_LONG_DOUBLE_COMPLEX},
#endif
    {MPI_TYPECLASS_COMPLEX, 33, 4931, MPI_COMPLEX32},
};

struct made {
    struct made *next;
    int class_, p, r;
    struct hl_type *type;
};

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct made *all HL_GUARDED_BY(lock);

/* The smallest type that is enough, or NULL. MPI_UNDEFINED is negative, so less than anything. */
static struct hl_type *choose_type(int class_, int p, int r)
{
    for (size_t i = 0; i < HL_COUNT_OF(rows); i++) {
        if (rows[i].class_ == class_ && p <= rows[i].digits && r <= rows[i].range) {
            return hl_type_of(rows[i].type);
        }
    }
    return NULL;
}

/* Makes a copy of `base` that remembers what was asked for. */
static int make_type(const struct hl_type *base, const struct made *asked, struct hl_type **made)
{
    int ints[2] = {asked->p, asked->r}, err = hl_type_make_dup(base, made);
    struct hl_type_args args = {.combiner = MPI_COMBINER_F90_REAL, .n_ints = 2, .ints = ints};

    if (asked->class_ == MPI_TYPECLASS_INTEGER) {
        args.combiner = MPI_COMBINER_F90_INTEGER;
        args.n_ints = 1;
    } else if (asked->class_ == MPI_TYPECLASS_COMPLEX) {
        args.combiner = MPI_COMBINER_F90_COMPLEX;
    }
    err = err == 0 ? hl_type_keep_args(*made, &args) : err;
    if (err == 0) {
        (*made)->given = "";
        (*made)->predefined = true;
    }
    return err;
}

int hl_type_make_f90(int class_, int p, int r, struct hl_type **made)
{
    struct made asked = {.class_ = class_, .p = p, .r = r};
    const struct hl_type *base =
        class_ == MPI_TYPECLASS_INTEGER ? choose_type(class_, p, 0) : choose_type(class_, p, r);
    struct made *m;
    int err = 0;

    if (base == NULL || (p == MPI_UNDEFINED && r == MPI_UNDEFINED) || (p < 0 && p != MPI_UNDEFINED) ||
        (r < 0 && r != MPI_UNDEFINED)) {
        return hl_err_say(HL_ERR_ARG,
                          class_ == MPI_TYPECLASS_INTEGER
                              ? "no integer type has a range of %d digits"
                              : "no type has %d digits and an exponent range of %d",
                          p, r);
    }
    hl_mutex_lock(&lock);
    for (m = all; m != NULL && (m->class_ != class_ || m->p != p || m->r != r); m = m->next) {
    }
    if (m == NULL) {
        m = malloc(sizeof *m);
        err = m == NULL ? hl_err_say(HL_ERR_NO_MEM, "no memory for one more type by its digits")
                        : make_type(base, &asked, &asked.type);
        if (err == 0) {
            *m = asked;
            m->next = all;
            all = m;
        }
    }
    hl_mutex_unlock(&lock);
    if (err != 0) {
        free(m);
        return err;
    }
    *made = m->type;
    return 0;
}
