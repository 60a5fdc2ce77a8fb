/*
 * The picture of a state: the density in colour, or its profile for a shock tube.
 */
#ifndef STENCIL_PICTURE_H
#define STENCIL_PICTURE_H

#include "field.h"

/* Whether this program can draw: it was built with cairo. */
int picture_possible(void);

/* Writes the PNG file. 0, or -1 after a line on standard error. */
int picture_write(const char *file, const struct field *f, const struct problem *p, const struct figures *g);

#endif
