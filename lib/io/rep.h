/* Data representations: what data look like in a file. */
#ifndef HL_IO_REP_H
#define HL_IO_REP_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "type.h"

/* The user's functions, of either width. */
struct hl_rep_fns {
    bool large;
    MPI_Datarep_conversion_function *read, *write;
    MPI_Datarep_conversion_function_c *read_c, *write_c;
    MPI_Datarep_extent_function *extent;
    void *state;
};

/* Read-only once made; never freed. */
struct hl_rep {
    const char *name;
    bool plain; /* as in memory */
    struct hl_rep_fns user;
    struct hl_rep *next;
};

/* The representation of this name, or NULL. Any thread. */
const struct hl_rep *hl_rep_of(const char *name);

/* Adds one. HL_ERR_DUP_DATAREP, HL_ERR_ARG (the name is too long), HL_ERR_NO_MEM. Any thread. */
int hl_rep_register(const char *name, const struct hl_rep_fns *fns);

/* Bytes that `count` elements take in a file. HL_ERR_VALUE_TOO_LARGE; what the user's function says. */
int hl_rep_bytes(const struct hl_rep *rep, const struct hl_type *type, int64_t count, int64_t *bytes);

/* The type that has the data of a filetype where they are in the file: made by the same calls from what basic
 * types are there, so that displacements in elements become larger or smaller and those in bytes do not.
 * Committed, with a reference for the caller. HL_ERR_NO_MEM; what the user's function says. */
int hl_rep_tile(const struct hl_rep *rep, const struct hl_type *filetype, struct hl_type **tile);

/* Do data look other in the file, for accesses in this direction? Not where the user gave
 * MPI_CONVERSION_FN_NULL. Only then the functions below may be called. */
bool hl_rep_converts(const struct hl_rep *rep, bool write);

/* Converts `count` elements at `buf` to or from their bytes in the file. HL_ERR_CONVERSION: a value does not
 * fit, or the user's function failed. */
int hl_rep_convert(const struct hl_rep *rep, const struct hl_type *type, int64_t count, void *buf, void *file,
                   bool write);

/* The first bytes of an element in a file that ends within it. */
struct hl_rep_part {
    const struct hl_type *type;
    int64_t each; /* bytes of a whole one there */
    void *file;
    int64_t bytes; /* of it that there are: fewer */
};

/* Converts the basic elements that are whole in them to the element at `buf`, and leaves the rest of it as it
 * is; *done: what they are in memory, in bytes. A user's function is given elements of the basic type that
 * all of the type is; of a type made by MPI_Type_create_struct nothing is taken then. HL_ERR_NO_MEM; errors
 * as above. */
int hl_rep_read_part(const struct hl_rep *rep, const struct hl_rep_part *part, void *buf, int64_t *done);

#endif
