/*
 * The grid as patches, and which rank owns which.
 */
#include "grid.h"
#include "options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where direction d leads along an axis: -1, 0 or 1. */
static int side(const struct grid *g, int d, int axis)
{
    int at = d < g->ndir / 2 ? d : d + 1;

    return axis == X ? at % 3 - 1 : axis == Y ? at / 3 % 3 - 1 : g->ndir > 8 ? at / 9 - 1 : 0;
}

/* Thing k of n belongs to this one of `parts` nearly equal parts. */
static int part_of(int n, int parts, int k)
{
    return (int)(((long)(k + 1) * parts - 1) / n);
}

static long parts_largest(int n, int parts)
{
    return (n + parts - 1) / parts;
}

/* Ranks along the axes with the fewest patches on the fullest rank, then the smallest border; false: none
 * fits. */
static bool ranks_along(const struct grid *g, int along[3])
{
    long best = 0;

    for (int x = 1; x <= g->ranks && x <= g->patches_along[X]; x++)
        for (int y = 1; x * y <= g->ranks && y <= g->patches_along[Y]; y++) {
            int z = g->ranks / (x * y);

            if (x * y * z != g->ranks || z > g->patches_along[Z])
                continue;
            long w = parts_largest(g->patches_along[X], x), h = parts_largest(g->patches_along[Y], y);
            long t = parts_largest(g->patches_along[Z], z);
            long cost = w * h * t * 1000000 + w * h + h * t + t * w;
            if (!best || cost < best) {
                best = cost;
                memcpy(along, (int[]){x, y, z}, 3 * sizeof *along);
            }
        }
    return best > 0;
}

void grid_place(const struct grid *g, int at, int place[3])
{
    place[X] = at % g->patches_along[X];
    place[Y] = at / g->patches_along[X] % g->patches_along[Y];
    place[Z] = at / g->patches_along[X] / g->patches_along[Y];
}

/* Owners: a box of patches for each rank where that is possible, else runs of patches row by row. */
static void owners_set(struct grid *g)
{
    int along[3], place[3], part[3];
    bool boxes = ranks_along(g, along);

    for (int k = 0; k < g->all; k++) {
        grid_place(g, k, place);
        for (int a = X; boxes && a <= Z; a++)
            part[a] = part_of(g->patches_along[a], along[a], place[a]);
        g->owner[k] =
            boxes ? part[X] + along[X] * (part[Y] + along[Y] * part[Z]) : part_of(g->all, g->ranks, k);
        g->number[k] = g->counts[g->owner[k]]++;
    }
}

static struct link link_of(const struct grid *g, const struct patch *p, int d)
{
    int at[3];

    for (int a = X; a <= Z; a++) {
        int many = g->patches_along[a];

        at[a] = p->at[a] + side(g, d, a);
        if (g->domain.boundary == BOUNDARY_OUTFLOW && (at[a] < 0 || at[a] >= many))
            return (struct link){-1, -1};
        at[a] = (at[a] + many) % many;
    }
    int k = (at[Z] * g->patches_along[Y] + at[Y]) * g->patches_along[X] + at[X];
    return (struct link){g->owner[k], g->number[k]};
}

static int patch_make(const struct grid *g, struct patch *p)
{
    for (int d = 0; d < g->ndir; d++) {
        p->link[d] = link_of(g, p, d);
        p->remote += p->link[d].rank >= 0 && p->link[d].rank != g->rank;
    }
    for (int k = 0; k < 2; k++)
        if (posix_memalign((void **)&p->u[k], 64, (size_t)(NVAR * g->plane) * sizeof(double)))
            return -1;
    return 0;
}

static int patches_make(struct grid *g)
{
    g->count = g->counts[g->rank];
    g->patches = calloc((size_t)g->count, sizeof *g->patches);
    if (!g->patches)
        return -1;
    for (int k = 0; k < g->all; k++)
        if (g->owner[k] == g->rank)
            grid_place(g, k, g->patches[g->number[k]].at);
    for (int p = 0; p < g->count; p++)
        if (patch_make(g, &g->patches[p]))
            return -1;
    return 0;
}

/* The sizes of patches and of the grid; false: too large to count. */
static bool sizes_set(struct grid *g, const struct grid_shape *shape)
{
    long all = 1;

    *g = (struct grid){.domain = shape->domain, .ranks = shape->ranks, .rank = shape->rank, .plane = 1};
    g->ndir = shape->domain.dims == 3 ? 26 : 8;
    for (int a = X; a <= Z; a++) {
        g->n[a] = a < shape->domain.dims ? shape->n : 1;
        g->ghosts[a] = a < shape->domain.dims ? NGHOST : 0;
        g->patches_along[a] = shape->domain.n[a] / g->n[a];
        g->step[a] = g->plane;
        g->origin += g->ghosts[a] * g->plane;
        g->plane *= g->n[a] + 2 * g->ghosts[a];
        all = all <= INT_MAX ? all * g->patches_along[a] : all;
    }
    g->all = (int)all;
    return all <= INT_MAX;
}

int grid_make(struct grid *g, const struct grid_shape *shape, char *error)
{
    bool fits = sizes_set(g, shape);
    char zones[DOMAIN_TEXT];

    domain_text(zones, shape->domain.n, ",");
    if (fits && g->all < g->ranks) {
        snprintf(error, OPTIONS_ERROR,
                 "--zones %s --patch %d: %d patch%s cannot be shared by %d ranks; use %s%d rank%s, or "
                 "smaller patches",
                 zones, shape->n, g->all, g->all == 1 ? "" : "es", g->ranks, g->all == 1 ? "" : "at most ",
                 g->all, g->all == 1 ? "" : "s");
        return -1;
    }
    if (fits) {
        g->owner = calloc((size_t)g->all, sizeof *g->owner);
        g->number = calloc((size_t)g->all, sizeof *g->number);
        g->counts = calloc((size_t)g->ranks, sizeof *g->counts);
    }
    if (g->owner && g->number && g->counts) {
        owners_set(g);
        if (!patches_make(g))
            return 0;
    }
    snprintf(error, OPTIONS_ERROR, "--zones %s: not enough memory", zones);
    return -1;
}

void grid_free(struct grid *g)
{
    for (int p = 0; g->patches && p < g->count; p++) {
        free(g->patches[p].u[0]);
        free(g->patches[p].u[1]);
    }
    free(g->patches);
    free(g->owner);
    free(g->number);
    free(g->counts);
}

/* Offset of a zone from the first inner zone. */
static long offset(const struct grid *g, int i, int j, int k)
{
    return i * g->step[X] + j * g->step[Y] + k * g->step[Z];
}

void grid_fill(const struct grid *g, struct patch *p, const struct problem *problem)
{
    memset(p->u[0], 0, (size_t)(NVAR * g->plane) * sizeof(double));
    for (int k = 0; k < g->n[Z]; k++)
        for (int j = 0; j < g->n[Y]; j++)
            for (int i = 0; i < g->n[X]; i++) {
                int at[3] = {p->at[X] * g->n[X] + i, p->at[Y] * g->n[Y] + j, p->at[Z] * g->n[Z] + k};

                cons_store(p->u[0] + g->origin + offset(g, i, j, k), g->plane,
                           problem_zone(problem, &g->domain, at));
            }
    memcpy(p->u[1], p->u[0], (size_t)(NVAR * g->plane) * sizeof(double));
}

struct box grid_inner_box(const struct grid *g)
{
    return (struct box){{0, 0, 0}, {g->n[X], g->n[Y], g->n[Z]}};
}

struct box grid_send_box(const struct grid *g, int d)
{
    struct box b = grid_inner_box(g);

    for (int a = X; a <= Z; a++) {
        if (side(g, d, a) > 0)
            b.lo[a] = g->n[a] - NGHOST;
        if (side(g, d, a) < 0)
            b.hi[a] = NGHOST;
    }
    return b;
}

struct box grid_ghost_box(const struct grid *g, int d)
{
    struct box b = grid_inner_box(g);

    for (int a = X; a <= Z; a++) {
        int to = side(g, d, a);

        if (to)
            b.lo[a] = to < 0 ? -NGHOST : g->n[a];
        if (to)
            b.hi[a] = b.lo[a] + NGHOST;
    }
    return b;
}

long grid_block(const struct grid *g, int d)
{
    struct box b = grid_send_box(g, d);

    return (long)NVAR * (b.hi[X] - b.lo[X]) * (b.hi[Y] - b.lo[Y]) * (b.hi[Z] - b.lo[Z]);
}

void grid_pack(const struct grid *g, const double *u, struct box b, double *block)
{
    int width = b.hi[X] - b.lo[X];

    for (int v = 0; v < NVAR; v++)
        for (int k = b.lo[Z]; k < b.hi[Z]; k++)
            for (int j = b.lo[Y]; j < b.hi[Y]; j++, block += width)
                memcpy(block, u + g->origin + v * g->plane + offset(g, b.lo[X], j, k),
                       (size_t)width * sizeof *u);
}

void grid_unpack(const struct grid *g, double *u, struct box b, const double *block)
{
    int width = b.hi[X] - b.lo[X];

    for (int v = 0; v < NVAR; v++)
        for (int k = b.lo[Z]; k < b.hi[Z]; k++)
            for (int j = b.lo[Y]; j < b.hi[Y]; j++, block += width)
                memcpy(u + g->origin + v * g->plane + offset(g, b.lo[X], j, k), block,
                       (size_t)width * sizeof *u);
}

void grid_copy_local(const struct grid *g, struct patch *p, int k)
{
    for (int d = 0; d < g->ndir; d++) {
        if (p->link[d].rank != g->rank)
            continue;
        struct box s = grid_send_box(g, g->ndir - 1 - d), b = grid_ghost_box(g, d);
        const double *from =
            g->patches[p->link[d].patch].u[k] + g->origin + offset(g, s.lo[X], s.lo[Y], s.lo[Z]);
        double *to = p->u[k] + g->origin + offset(g, b.lo[X], b.lo[Y], b.lo[Z]);
        size_t width = (size_t)(b.hi[X] - b.lo[X]) * sizeof *to;

        for (int v = 0; v < NVAR; v++)
            for (int z = 0; z < b.hi[Z] - b.lo[Z]; z++)
                for (int y = 0; y < b.hi[Y] - b.lo[Y]; y++) {
                    long at = v * g->plane + offset(g, 0, y, z);

                    memcpy(to + at, from + at, width);
                }
    }
}

/* Ghost zones of a line along an axis take the zone at the edge; `line` is the line's first inner zone. */
static void line_extend(const struct grid *g, const struct patch *p, int axis, double *line)
{
    long step = g->step[axis], last = (g->n[axis] - 1) * step;

    for (int i = 1; i <= NGHOST; i++) {
        if (p->at[axis] == 0)
            line[-i * step] = line[0];
        if (p->at[axis] == g->patches_along[axis] - 1)
            line[last + i * step] = line[last];
    }
}

/* One axis after the other, each on all lines with the ghost zones of the others. */
void grid_outflow(const struct grid *g, struct patch *p, int k)
{
    if (g->domain.boundary != BOUNDARY_OUTFLOW)
        return;
    for (int a = X; a < g->domain.dims; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;

        for (int v = 0; v < NVAR; v++)
            for (int m = -g->ghosts[c]; m < g->n[c] + g->ghosts[c]; m++)
                for (int l = -g->ghosts[b]; l < g->n[b] + g->ghosts[b]; l++)
                    line_extend(g, p, a,
                                p->u[k] + g->origin + v * g->plane + l * g->step[b] + m * g->step[c]);
    }
}
