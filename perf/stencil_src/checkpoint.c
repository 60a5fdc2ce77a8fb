/*
 * The state of a run in a file.
 */
#include "checkpoint.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAGIC = 0x6d686431 }; /* "mhd1" */

static int say(const struct grid *g, const char *file, const char *text)
{
    if (g->rank == 0)
        fprintf(stderr, "stencil: %s: %s\n", file, text);
    return -1;
}

/* The store of this grid with room for its blocks; false without memory on some rank. */
static bool store_make(struct store *s, const struct grid *g, double time)
{
    const int *n = g->n, *whole = g->domain.n;

    *s = (struct store){.head = {MAGIC, NVAR, whole[X], whole[Y], whole[Z], time},
                        .whole = {NVAR, whole[Z], whole[Y], whole[X]},
                        .part = {NVAR, n[Z], n[Y], n[X]},
                        .count = g->count,
                        .block = (long)NVAR * n[X] * n[Y] * n[Z]};
    s->blocks = malloc((size_t)(s->block * g->count) * sizeof *s->blocks);
    s->at = calloc((size_t)g->count + 1, sizeof *s->at);
    for (int k = 0; s->at && k < g->all; k++) {
        int place[3];

        if (g->owner[k] != g->rank)
            continue;
        grid_place(g, k, place);
        for (int a = X; a <= Z; a++)
            s->at[g->number[k]][3 - a] = place[a] * n[a];
    }
    return wire->max(!s->blocks || !s->at) <= 0.0;
}

static void store_free(struct store *s)
{
    free(s->blocks);
    free(s->at);
}

int checkpoint_save(const char *file, const struct grid *g, int k, double time)
{
    struct store s;
    char error[STORE_ERROR] = "not enough memory for a checkpoint";
    bool ok = store_make(&s, g, time);

    for (int p = 0; ok && p < g->count; p++)
        grid_pack(g, g->patches[p].u[k], grid_inner_box(g), s.blocks + p * s.block);
    ok = ok && !wire->store(file, &s, true, error);
    store_free(&s);
    return ok ? 0 : say(g, file, error);
}

int checkpoint_load(const char *file, struct grid *g, double *time)
{
    struct store s;
    char error[STORE_ERROR] = "not enough memory for a checkpoint";
    bool ok = store_make(&s, g, 0.0);

    ok = ok && !wire->store(file, &s, false, error);
    for (int p = 0; ok && p < g->count; p++)
        grid_unpack(g, g->patches[p].u[0], grid_inner_box(g), s.blocks + p * s.block);
    *time = s.head[STORE_TIME];
    store_free(&s);
    return ok ? 0 : say(g, file, error);
}
