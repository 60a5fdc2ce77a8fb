/* Data representations: the form of data in a file. */
#ifndef HL_IO_REP_H
#define HL_IO_REP_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "type.h"

/* The user's functions, with int or MPI_Count counts. */
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
    bool plain; /* data are in the file as in memory */
    struct hl_rep_fns user;
    struct hl_rep *next;
};

/* The representation of this name, or NULL. Any thread. */
const struct hl_rep *hl_rep_of(const char *name);

/* Adds a representation. HL_ERR_DUP_DATAREP, HL_ERR_ARG (the name is empty or too long), HL_ERR_NO_MEM. Any
 * thread. */
int hl_rep_register(const char *name, const struct hl_rep_fns *fns);

/* Bytes that `count` elements take in a file. HL_ERR_VALUE_TOO_LARGE; errors of the user's function. */
int hl_rep_bytes(const struct hl_rep *rep, const struct hl_type *type, int64_t count, int64_t *bytes);

/* The type whose data lie where the filetype's data are in the file. It is made by the same calls, from types
 * of the sizes that basic types have there: so displacements in elements get larger or smaller, and those in
 * bytes do not. It is committed, and the caller has a reference. HL_ERR_NO_MEM; errors of the user's
 * function. */
int hl_rep_tile(const struct hl_rep *rep, const struct hl_type *filetype, struct hl_type **tile);

/* True if accesses in this direction convert data; not if the user gave MPI_CONVERSION_FN_NULL. The functions
 * below may only be called if this is true. */
bool hl_rep_converts(const struct hl_rep *rep, bool write);

/* Converts `count` elements at `buf` to or from their bytes in the file. HL_ERR_CONVERSION: a value does not
 * fit in external32, and all others are converted; or the user's function failed, and nothing is. */
int hl_rep_convert(const struct hl_rep *rep, const struct hl_type *type, int64_t count, void *buf, void *file,
                   bool write);

/* The first bytes of an element at the end of a file that ends within it. */
struct hl_rep_part {
    const struct hl_type *type;
    int64_t each; /* bytes of a whole element in the file */
    void *file;
    int64_t bytes; /* bytes that are there, fewer than `each` */
};

/* Converts the basic elements that are complete in the part, to the element at `buf`; the rest of that stays
 * unchanged. *done: their bytes in memory. A user's function gets elements of the basic type of which the
 * type consists; of types made by MPI_Type_create_struct nothing is converted then. HL_ERR_NO_MEM,
 * HL_ERR_CONVERSION. */
int hl_rep_read_part(const struct hl_rep *rep, const struct hl_rep_part *part, void *buf, int64_t *done);

#endif
