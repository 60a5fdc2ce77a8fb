/* Inside the module: what the parts of the tool interface (MPI_T) share. All functions return MPI_SUCCESS or
 * an MPI_T_ERR_* code; there are no error handlers. (MPI 5.0, chapter 15) */
#ifndef HL_TOOL_H
#define HL_TOOL_H

#include <mpi.h>

#include "attr.h"
#include "conf.h"
#include "lock.h"

extern struct hl_mutex hl_tool_lock; /* guards variables' values and what handles hold; cold */

/* MPI_T_ERR_NOT_INITIALIZED outside of init and finalize. */
int hl_tool_check(void);

/* The same, and MPI_T_ERR_INVALID for a missing result; MPI_T_ERR_INVALID_INDEX outside 0 .. n - 1. */
int hl_tool_check_out(const void *out);
int hl_tool_check_index(int index, int n);

/* Results that the caller may leave out. */
void hl_tool_give(int *out, int value);
void hl_tool_give_type(MPI_Datatype *out, MPI_Datatype value);
void hl_tool_give_enum(MPI_T_enum *out, MPI_T_enum value);

/* A string as the standard returns it: cut at *len with its final 0, *len = its whole size with that; without
 * buffer only the size, without `len` nothing. */
void hl_tool_give_text(const char *text, char *out, int *len);

/* The enumeration of a variable's values: its words; MPI_T_ENUM_NULL when it has none. */
MPI_T_enum hl_tool_enum_of(const struct hl_var *v);

#endif
