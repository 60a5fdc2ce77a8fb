/* Inside the module: what the parts of the tool interface (MPI_T) share. All functions return MPI_SUCCESS or
 * an MPI_T_ERR_* code; there are no error handlers. (MPI 5.0, chapter 15) */
#ifndef HL_TOOL_H
#define HL_TOOL_H

#include <mpi.h>

#include "attr.h"
#include "conf.h"
#include "lock.h"

extern struct hl_mutex hl_tool_lock; /* guards variables' values and what handles hold; not on fast paths */

/* MPI_T_ERR_NOT_INITIALIZED before the first MPI_T_init_thread and after the last MPI_T_finalize. */
int hl_tool_check(void);

/* Like hl_tool_check, and MPI_T_ERR_INVALID when `out` is NULL, or MPI_T_ERR_INVALID_INDEX when `index` is
 * outside 0 .. n - 1. */
int hl_tool_check_out(const void *out);
int hl_tool_check_index(int index, int n);

/* Stores a result. MPI_T_ERR_INVALID when `out` is NULL. */
int hl_tool_give_number(int *out, int value);

/* Finds which of n names is `name`. MPI_T_ERR_INVALID, MPI_T_ERR_INVALID_NAME. */
int hl_tool_find(const char *name, int n, const char *(*name_of)(int index), int *index);

/* Store results whose pointers may be NULL. */
void hl_tool_give(int *out, int value);
void hl_tool_give_type(MPI_Datatype *out, MPI_Datatype value);
void hl_tool_give_enum(MPI_T_enum *out, MPI_T_enum value);

/* Returns a string as the standard wants it: cut to *len bytes with its final 0, and *len = its whole size
 * with that. Without `out` only the size is returned, without `len` nothing. */
void hl_tool_give_text(const char *text, char *out, int *len);

/* The enumeration of a variable's values, which are its words; MPI_T_ENUM_NULL when it has none. */
MPI_T_enum hl_tool_enum_of(const struct hl_var *v);

#endif
