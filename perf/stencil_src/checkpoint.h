/*
 * The state of a run in a file: 64 bytes that say what it is, then the zones of the whole grid in their
 * order,
 * `[var][k][j][i]`, so that a run of other patches, threads or ranks can go on from it.
 */
#ifndef STENCIL_CHECKPOINT_H
#define STENCIL_CHECKPOINT_H

#include "grid.h"

#include <stdbool.h>

/*
 * Writes state `k` of all patches and the time, or reads them into state 0 (inner zones only). Collective,
 * one thread of each rank. 0, or -1 on all ranks after a line of rank 0 that names the file and the reason.
 */
int checkpoint_save(const char *file, const struct grid *g, int k, double time);
int checkpoint_load(const char *file, struct grid *g, double *time);

#endif
