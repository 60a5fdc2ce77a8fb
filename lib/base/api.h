/* Pairs of public functions: PMPI_Name is the definition, MPI_Name a weak alias of it in the same translation
 * unit, so that a profiler may define MPI_Name and call PMPI_Name. The macro is a declaration with its own
 * semicolon: so ctags, cscope and editors see the function that follows, and ctags finds MPI_Name at the row
 * itself (.ctags.d). Above rows that make functions by macros, a comment "Defines:" spells their names.
 *
 *     HL_API(MPI_Barrier);
 *     int PMPI_Barrier(MPI_Comm comm)
 *     {
 *
 * A function that is one expression may be one row:
 *
 *     HL_CALL_RETURN(MPI_Barrier, (MPI_Comm comm), meet(comm)) */
#ifndef HL_API_H
#define HL_API_H

#include "attr.h"

/* The directive repeats "weak", because the link-time optimiser of gcc makes weak aliases strong. */
#define HL_API(name)                                                                                         \
    __asm__(".weak " #name);                                                                                 \
    extern __typeof__(name) name __attribute__((weak, alias("P" #name), visibility("default")));             \
    extern __typeof__(P##name) P##name HL_PUBLIC

#define HL_CALL_RETURN(name, params, value)                                                                  \
    HL_API(name);                                                                                            \
    int P##name params                                                                                       \
    {                                                                                                        \
        return value;                                                                                        \
    }

#endif
