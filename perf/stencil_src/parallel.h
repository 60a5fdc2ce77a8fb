/*
 * The parallel run: patches, threads, one window.
 */
#ifndef STENCIL_PARALLEL_H
#define STENCIL_PARALLEL_H

#include "exchange.h"
#include "field.h"
#include "pace.h"

/* What a parallel run leaves behind. */
struct outcome {
    struct pace pace;
    double seconds; /* of the steps alone */
    int ranks, rank, threads;
    struct sheet *sheets;   /* [threads] of this rank; the caller frees */
    double origin;          /* when the steps began on this rank's clock */
    struct dwelling window; /* of this rank */
};

/*
 * Runs the problem of `o` on all ranks, over the wire that has started. Rank 0 gets *f (the caller frees
 * f->u). Collective. Returns 0, or -1 on every rank after one line on standard error.
 */
int parallel_run(const struct options *o, const struct world *world, struct field *f, struct outcome *out);

#endif
