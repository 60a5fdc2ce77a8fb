/*
 * The grid as patches, and which rank owns which.
 */
#include "grid.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int dir_x(int d)
{
    return (d < 4 ? d : d + 1) % 3 - 1;
}

static int dir_y(int d)
{
    return (d < 4 ? d : d + 1) / 3 - 1;
}

/* Part r of n things in `parts` nearly equal parts starts here. */
static int part_start(int n, int parts, int r)
{
    return (int)((long)n * r / parts);
}

/* The factor pair of `ranks` with the fewest patches on the fullest rank, then the shortest border; 0: none
 * fits. */
static int ranks_along_x(const struct grid *g)
{
    long best = 0, best_cost = 0;

    for (int rx = 1; rx <= g->ranks; rx++) {
        int ry = g->ranks / rx;

        if (g->ranks % rx || rx > g->npx || ry > g->npy)
            continue;
        long w = (g->npx + rx - 1) / rx, h = (g->npy + ry - 1) / ry;
        long cost = w * h * 1000000 + w + h;
        if (!best || cost < best_cost) {
            best = rx;
            best_cost = cost;
        }
    }
    return (int)best;
}

/* Owners: a rectangle of patches for each rank where that is possible, else runs of patches row by row. */
static void owners_set(struct grid *g)
{
    int rx = ranks_along_x(g);

    if (!rx) {
        for (int r = 0; r < g->ranks; r++)
            for (int k = part_start(g->npx * g->npy, g->ranks, r);
                 k < part_start(g->npx * g->npy, g->ranks, r + 1); k++)
                g->owner[k] = r;
        return;
    }
    for (int r = 0; r < g->ranks; r++) {
        int x = r % rx, y = r / rx, ry = g->ranks / rx;

        for (int py = part_start(g->npy, ry, y); py < part_start(g->npy, ry, y + 1); py++)
            for (int px = part_start(g->npx, rx, x); px < part_start(g->npx, rx, x + 1); px++)
                g->owner[py * g->npx + px] = r;
    }
}

static struct link link_of(const struct grid *g, const struct patch *p, int d)
{
    int px = p->px + dir_x(d), py = p->py + dir_y(d);

    if (g->domain.boundary == BOUNDARY_OUTFLOW && (px < 0 || px >= g->npx || py < 0 || py >= g->npy))
        return (struct link){-1, -1};
    int k = (py + g->npy) % g->npy * g->npx + (px + g->npx) % g->npx;
    return (struct link){g->owner[k], g->number[k]};
}

static int patch_make(const struct grid *g, struct patch *p)
{
    for (int d = 0; d < NDIR; d++) {
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
    g->patches = calloc((size_t)g->count, sizeof *g->patches);
    if (!g->patches)
        return -1;
    for (int k = 0; k < g->npx * g->npy; k++)
        if (g->owner[k] == g->rank) {
            g->patches[g->number[k]].px = k % g->npx;
            g->patches[g->number[k]].py = k / g->npx;
        }
    for (int p = 0; p < g->count; p++)
        if (patch_make(g, &g->patches[p]))
            return -1;
    return 0;
}

int grid_make(struct grid *g, const struct grid_shape *shape, char *error)
{
    int n = shape->n, npx = shape->domain.nx / n, npy = shape->domain.ny / n;

    *g = (struct grid){.domain = shape->domain,
                       .n = n,
                       .npx = npx,
                       .npy = npy,
                       .ranks = shape->ranks,
                       .rank = shape->rank,
                       .row = n + 2 * NGHOST,
                       .plane = (long)(n + 2 * NGHOST) * (n + 2 * NGHOST),
                       .origin = NGHOST * (n + 2 * NGHOST) + NGHOST};
    if ((long)npx * npy < g->ranks) {
        snprintf(error, OPTIONS_ERROR,
                 "--zones %d,%d --patch %d: %d × %d patches cannot be shared by %d ranks; use at most %ld "
                 "ranks, or "
                 "smaller patches",
                 shape->domain.nx, shape->domain.ny, n, npx, npy, g->ranks, (long)npx * npy);
        return -1;
    }
    g->owner = calloc((size_t)npx * (size_t)npy, sizeof *g->owner);
    g->number = calloc((size_t)npx * (size_t)npy, sizeof *g->number);
    g->counts = calloc((size_t)g->ranks, sizeof *g->counts);
    if (g->owner && g->number && g->counts) {
        owners_set(g);
        for (int k = 0; k < npx * npy; k++)
            g->number[k] = g->counts[g->owner[k]]++;
        g->count = g->counts[g->rank];
        if (!patches_make(g))
            return 0;
    }
    snprintf(error, OPTIONS_ERROR, "--zones %d,%d: not enough memory", shape->domain.nx, shape->domain.ny);
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

void grid_fill(const struct grid *g, struct patch *p, const struct problem *problem)
{
    memset(p->u[0], 0, (size_t)(NVAR * g->plane) * sizeof(double));
    for (int j = 0; j < g->n; j++)
        for (int i = 0; i < g->n; i++) {
            struct cons c = problem_zone(problem, &g->domain, p->px * g->n + i, p->py * g->n + j);

            cons_store(p->u[0] + g->origin + j * g->row + i, g->plane, c);
        }
    memcpy(p->u[1], p->u[0], (size_t)(NVAR * g->plane) * sizeof(double));
}

struct box grid_send_box(const struct grid *g, int d)
{
    int x = dir_x(d), y = dir_y(d), n = g->n;

    return (struct box){x > 0 ? n - NGHOST : 0, x < 0 ? NGHOST : n, y > 0 ? n - NGHOST : 0,
                        y < 0 ? NGHOST : n};
}

/* First and past-last ghost zone towards side -1, 0 or 1 of an axis. */
static int ghost_first(int n, int side)
{
    return side < 0 ? -NGHOST : side > 0 ? n : 0;
}

static int ghost_end(int n, int side)
{
    return side < 0 ? 0 : side > 0 ? n + NGHOST : n;
}

struct box grid_ghost_box(const struct grid *g, int d)
{
    int x = dir_x(d), y = dir_y(d), n = g->n;

    return (struct box){ghost_first(n, x), ghost_end(n, x), ghost_first(n, y), ghost_end(n, y)};
}

long grid_block(const struct grid *g, int d)
{
    struct box b = grid_send_box(g, d);

    return (long)NVAR * (b.i1 - b.i0) * (b.j1 - b.j0);
}

void grid_pack(const struct grid *g, const double *u, struct box b, double *block)
{
    int width = b.i1 - b.i0;

    for (int v = 0; v < NVAR; v++)
        for (int j = b.j0; j < b.j1; j++) {
            memcpy(block, u + g->origin + v * g->plane + j * g->row + b.i0, (size_t)width * sizeof *block);
            block += width;
        }
}

void grid_unpack(const struct grid *g, double *u, struct box b, const double *block)
{
    int width = b.i1 - b.i0;

    for (int v = 0; v < NVAR; v++)
        for (int j = b.j0; j < b.j1; j++) {
            memcpy(u + g->origin + v * g->plane + j * g->row + b.i0, block, (size_t)width * sizeof *block);
            block += width;
        }
}

void grid_copy_local(const struct grid *g, struct patch *p, int k)
{
    for (int d = 0; d < NDIR; d++) {
        if (p->link[d].rank != g->rank)
            continue;
        const double *from = g->patches[p->link[d].patch].u[k] + g->origin;
        double *to = p->u[k] + g->origin;
        struct box s = grid_send_box(g, NDIR - 1 - d), b = grid_ghost_box(g, d);

        for (int v = 0; v < NVAR; v++)
            for (int j = 0; j < b.j1 - b.j0; j++)
                memcpy(to + v * g->plane + (b.j0 + j) * g->row + b.i0,
                       from + v * g->plane + (s.j0 + j) * g->row + s.i0, (size_t)(b.i1 - b.i0) * sizeof *to);
    }
}

/* Ghost columns beyond x take the zone at the edge, on every row; then ghost rows beyond y, on every column.
 */
void grid_outflow(const struct grid *g, struct patch *p, int k)
{
    int n = g->n;
    double *u = p->u[k] + g->origin;

    if (g->domain.boundary != BOUNDARY_OUTFLOW)
        return;
    for (int v = 0; v < NVAR; v++, u += g->plane) {
        for (int j = -NGHOST; j < n + NGHOST; j++)
            for (int i = 1; i <= NGHOST; i++) {
                if (p->px == 0)
                    u[j * g->row - i] = u[j * g->row];
                if (p->px == g->npx - 1)
                    u[j * g->row + n - 1 + i] = u[j * g->row + n - 1];
            }
        for (int i = -NGHOST; i < n + NGHOST; i++)
            for (int j = 1; j <= NGHOST; j++) {
                if (p->py == 0)
                    u[-j * g->row + i] = u[i];
                if (p->py == g->npy - 1)
                    u[(n - 1 + j) * g->row + i] = u[(n - 1) * g->row + i];
            }
    }
}
