/*
 * The serial run: one array for the whole grid, ghost values by index arithmetic, no patch, no thread, no
 * MPI.
 */
#ifndef STENCIL_SERIAL_H
#define STENCIL_SERIAL_H

#include "field.h"
#include "pace.h"

/*
 * Runs the problem of `o`; fills *f (the caller frees f->u) and *pace, and the seconds of the steps alone in
 * *seconds. Returns 0, or -1 after a line on standard error.
 */
int serial_run(const struct options *o, struct field *f, struct pace *pace, double *seconds);

#endif
