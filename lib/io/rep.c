/* Data representations: the standard's, and those that the program registers. */
#include "rep.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cs.h"
#include "err.h"
#include "lock.h"

static struct hl_rep external32 = {.name = "external32"};
static struct hl_rep internal = {.name = "internal", .plain = true, .next = &external32};
static struct hl_rep native = {.name = "native", .plain = true, .next = &internal};

static struct hl_mutex lock = HL_MUTEX_INIT; /* guards `next` of the last representation */

/* The representation of this name, or NULL and the last of all in *last. */
static struct hl_rep *find_rep(const char *name, struct hl_rep **last) HL_REQUIRES(lock)
{
    for (struct hl_rep *r = &native; r != NULL; r = r->next) {
        if (strcmp(r->name, name) == 0) {
            return r;
        }
        *last = r;
    }
    return NULL;
}

const struct hl_rep *hl_rep_of(const char *name)
{
    struct hl_rep *last;

    hl_mutex_lock(&lock);
    const struct hl_rep *r = find_rep(name, &last);
    hl_mutex_unlock(&lock);
    return r;
}

int hl_rep_register(const char *name, const struct hl_rep_fns *fns)
{
    struct hl_rep *last = NULL;
    int err = 0;

    if (*name == '\0' || strlen(name) >= MPI_MAX_DATAREP_STRING) {
        return hl_err_say(HL_ERR_ARG, "the name of a data representation has 1 to %d characters",
                          MPI_MAX_DATAREP_STRING - 1);
    }
    struct hl_rep *made = malloc(sizeof *made);
    char *own = strdup(name);
    if (made == NULL || own == NULL) {
        err = hl_err_say(HL_ERR_NO_MEM, "no memory for a data representation");
    }
    hl_mutex_lock(&lock);
    if (err == 0 && find_rep(name, &last) != NULL) {
        err = hl_err_say(HL_ERR_DUP_DATAREP, "there is a data representation '%s' already", name);
    } else if (err == 0) {
        *made = (struct hl_rep){.name = own, .user = *fns};
        last->next = made;
    }
    hl_mutex_unlock(&lock);
    if (err != 0) {
        free(made);
        free(own);
    }
    return err;
}

int hl_rep_bytes(const struct hl_rep *rep, const struct hl_type *type, int64_t count, int64_t *bytes)
{
    struct hl_type *tile;

    if (rep == &external32) {
        return hl_type_external_bytes(type, count, bytes);
    }
    if (!rep->plain) {
        int err = hl_rep_tile(rep, type, &tile);
        if (err != 0) {
            return err;
        }
        bool fits = hl_type_bytes(tile, count, bytes);
        hl_type_unref(tile);
        return fits ? 0
                    : hl_err_say(HL_ERR_VALUE_TOO_LARGE, "%lld elements do not fit 63 bits of bytes",
                                 (long long)count);
    }
    return hl_type_bytes(type, count, bytes)
               ? 0
               : hl_err_say(HL_ERR_VALUE_TOO_LARGE, "%lld elements of %lld bytes do not fit 63 bits",
                            (long long)count, (long long)type->size);
}

bool hl_rep_converts(const struct hl_rep *rep, bool write)
{
    const struct hl_rep_fns *u = &rep->user;

    if (rep->plain || rep == &external32) {
        return !rep->plain;
    }
    if (u->large) {
        return (write ? u->write_c : u->read_c) != MPI_CONVERSION_FN_NULL_C;
    }
    return (write ? u->write : u->read) != MPI_CONVERSION_FN_NULL;
}

/* Calls the user's conversion function once. */
static int call_user(const struct hl_rep *rep, const struct hl_type *type, int count, void *buf, void *file,
                     bool write)
{
    const struct hl_rep_fns *u = &rep->user;
    MPI_Datarep_conversion_function *fn = write ? u->write : u->read;
    MPI_Datarep_conversion_function_c *fn_c = write ? u->write_c : u->read_c;
    struct hl_cs_outside o;
    int code;

    hl_cs_step_out(&o);
    code = u->large ? fn_c(buf, type->handle, count, file, 0, u->state)
                    : fn(buf, type->handle, count, file, 0, u->state);
    hl_cs_step_in(&o);
    return code == MPI_SUCCESS
               ? 0
               : hl_err_say(HL_ERR_CONVERSION, "the conversion function of representation '%s' returned %d",
                            rep->name, code);
}

int hl_rep_convert(const struct hl_rep *rep, const struct hl_type *type, int64_t count, void *buf, void *file,
                   bool write)
{
    if (rep == &external32) {
        return hl_type_external(type, count, buf, file, write);
    }
    return call_user(rep, type, count < INT_MAX ? (int)count : INT_MAX, buf, file, write);
}

/* The basic type that `t` consists of, if each call that made it had one type; else NULL. */
static const struct hl_type *sole_basic_type(const struct hl_type *t)
{
    while (!t->predefined && t->args->combiner != MPI_COMBINER_STRUCT) {
        t = t->args->types[0];
    }
    return t->predefined ? t : NULL;
}

int hl_rep_read_part(const struct hl_rep *rep, const struct hl_rep_part *part, void *buf, int64_t *done)
{
    const struct hl_type *t = part->type, *basic = sole_basic_type(t);

    *done = 0;
    if (rep == &external32) {
        *done = hl_type_external_part(t, buf, part->file, part->bytes);
        return 0;
    }
    int64_t whole = basic == NULL ? 0 : part->bytes / (part->each / (t->size / basic->size));
    whole = whole < INT_MAX ? whole : INT_MAX; /* one call of the function converts so many */
    if (whole == 0) {
        return 0;
    }
    void *scratch = malloc((size_t)(whole * hl_type_extent(basic)));
    if (scratch == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to convert %lld elements", (long long)whole);
    }
    int err = call_user(rep, basic, (int)whole, scratch, part->file, false);
    err = err == 0 ? hl_type_copy(t, 1, buf, basic, whole, scratch) : err;
    *done = err == 0 ? whole * basic->size : 0;
    free(scratch);
    return err;
}
