/* What the Fortran compiler makes of Fortran, as its own code (facts.f90) tells it. */
#ifndef HL_FORT_FACTS_H
#define HL_FORT_FACTS_H

#include <stdbool.h>

#include "sentinel.h"

/* Sizes in bytes; 1 or 0 for the kinds 1, 2, 4, 8, 16 of LOGICAL and INTEGER and the kinds 2, 4, 8, 16 of
 * REAL. */
struct hl_fort_facts {
    int logical_size, integer_size, real_size, double_precision_size;
    int logicals[5], integers[5], reals[4];
};

/* The bits of .TRUE. and .FALSE. */
extern const int hl_fort_true, hl_fort_false;

static inline int hl_fort_logical_in(int logical)
{
    return logical != hl_fort_false;
}

static inline int hl_fort_logical_out(int flag)
{
    return flag ? hl_fort_true : hl_fort_false;
}

/* To be called before any of MPI_Init, MPI_Init_thread and MPI_Session_init, by every interface. Returns
 * MPI_SUCCESS, or says on stderr why this library cannot serve and returns MPI_ERR_ABI: Fortran was compiled
 * with a default INTEGER or LOGICAL that is not C's int, or with descriptors that C reads in another way.
 * Calls nothing of MPI. Any thread. */
int hl_fort_begin(void);

/* To be called after them, when they have succeeded, since MPI libraries may refuse questions before. The
 * same for MPI's datatypes that are of another size than Fortran's types (with both values). An MPI library
 * that does not know Fortran yet is told. Any thread. */
int hl_fort_begun(void);

/* The same for MPI_Init and MPI_Init_thread, whose errors end the program, the second one the job: with
 * status 1. */
void hl_fort_begin_or_exit(void);
void hl_fort_begun_or_abort(void);

/* Sets in info, which MPI_Abi_get_fortran_info has given, "false" for the kinds that this compiler lacks. */
int hl_fort_correct_info(MPI_Info info);

#endif
