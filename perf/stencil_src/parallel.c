/*
 * The parallel run: patches, threads, one window.
 *
 * The OpenMP region stands around all steps. In a step all threads send what other ranks need, then update
 * patches; one thread reduces the signal speed and chooses the next step. Threads wait for each other at a
 * gate of our own, since OpenMP's barriers spin for long when the ranks together have more threads than the
 * machine has cores.
 */
#include "parallel.h"
#include "checkpoint.h"
#include "gate.h"
#include "kernel.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const struct options *options;
    struct grid grid;
    struct kernel kernel;
    struct exchange exchange;
    struct pace pace;
    struct sheet *sheets;
    double *speeds; /* [thread × SPEED_STRIDE] largest signal speed a thread has seen in this step */
    int *order;     /* patches in the order of update; the first `inner` need nothing from other ranks */
    int inner;
    double begin;     /* time of the first state */
    bool failed;      /* a thread had no memory, or the state became unphysical */
    struct gate gate; /* between steps */
    bool over;        /* set by one thread while the others stand at the gate */
};

enum { SPEED_STRIDE = 8, SHEETS_SPANS = 160000 };

/* A thread's own things. */
struct worker {
    struct run *run;
    struct courier courier;
    struct sheet *sheet;
    double *scratch;
    double speed;
};

static void say(const struct grid *g, const char *text)
{
    if (g->rank == 0)
        fprintf(stderr, "stencil: %s\n", text);
}

/* Without overlap in the order of the grid, with it the patches without remote neighbours first. */
static void order_set(struct run *r)
{
    int last = r->grid.count;

    for (int p = 0; p < r->grid.count; p++) {
        if (!r->options->overlap)
            r->order[p] = p;
        else if (r->grid.patches[p].remote)
            r->order[--last] = p;
        else
            r->order[r->inner++] = p;
    }
}

/* Whether all ranks say so. */
static bool all_ranks(bool mine)
{
    return wire->max(mine ? 0.0 : 1.0) <= 0.0;
}

static void patch_update(struct worker *w, int p)
{
    struct run *r = w->run;
    struct patch *patch = &r->grid.patches[p];
    long origin = r->grid.origin;
    int now = (int)(r->pace.step & 1);

    grid_copy_local(&r->grid, patch, now);
    sheet_book(w->sheet, PHASE_COPY, p);
    if (r->options->transfer == TRANSFER_PUT)
        courier_receive(&w->courier, p);
    grid_outflow(&r->grid, patch, now);
    double s =
        kernel_step(&r->kernel, patch->u[now] + origin, patch->u[!now] + origin, r->pace.dt, w->scratch);
    w->speed = s > w->speed ? s : w->speed;
    sheet_book(w->sheet, PHASE_COMPUTE, p);
    courier_poll(&w->courier);
}

/* Updates the patches order[first] … order[end - 1]; no barrier at the end. */
static void patches_update(struct worker *w, int first, int end)
{
#pragma omp for schedule(dynamic) nowait
    for (int k = first; k < end; k++)
        patch_update(w, w->run->order[k]);
}

static void patches_send(struct worker *w)
{
    courier_begin(&w->courier, (int)w->run->pace.step);
#pragma omp for schedule(dynamic) nowait
    for (int p = 0; p < w->run->grid.count; p++)
        courier_send(&w->courier, p);
    if (w->run->options->flush != FLUSH_NONBLOCKING) /* else while the patches inside are updated */
        courier_finish_sends(&w->courier);
}

/* A patch that one thread has fetched may be updated by another: hence the gate. */
static void patches_fetch(struct worker *w)
{
    struct run *r = w->run;

#pragma omp for schedule(dynamic) nowait
    for (int k = r->inner; k < r->grid.count; k++)
        courier_fetch(&w->courier, r->order[k]);
    courier_finish_gets(&w->courier);
    if (gate_arrive(&r->gate))
        gate_open(&r->gate);
    sheet_book(w->sheet, PHASE_SYNC, -1);
}

/* The largest speed of all threads and ranks chooses the next step; one thread of each rank calls. */
static void step_choose(struct run *r)
{
    double mine = 0.0;

    for (int t = 0; t < omp_get_num_threads(); t++)
        mine = r->speeds[t * SPEED_STRIDE] > mine ? r->speeds[t * SPEED_STRIDE] : mine;
    double speed = wire->max(mine);
    r->over = pace_over(&r->pace);
    if (!r->over && pace_choose(&r->pace, speed)) {
        if (r->grid.rank == 0)
            fprintf(stderr, "stencil: density or pressure is not positive after step %ld, time %g\n",
                    r->pace.step, r->pace.time);
        r->failed = r->over = true;
    }
}

/* Ends a step: the last thread to come reduces the speeds and chooses the next step for all. */
static void step_end(struct worker *w, bool first)
{
    struct run *r = w->run;

    r->speeds[omp_get_thread_num() * SPEED_STRIDE] = w->speed;
    w->speed = 0.0;
    if (gate_arrive(&r->gate)) {
        if (!first)
            pace_advance(&r->pace);
        step_choose(r);
        gate_open(&r->gate);
    }
    sheet_book(w->sheet, PHASE_SYNC, -1);
}

static void steps_run(struct worker *w)
{
    struct run *r = w->run;

    step_end(w, true);
    while (!r->over) {
        patches_send(w);
        patches_update(w, 0, r->inner);
        courier_finish_sends(&w->courier);
        if (r->options->transfer == TRANSFER_GET)
            patches_fetch(w);
        patches_update(w, r->inner, r->grid.count);
        step_end(w, false);
    }
}

static void patches_fill(struct worker *w)
{
    struct run *r = w->run;

#pragma omp for schedule(dynamic)
    for (int p = 0; p < r->grid.count; p++)
        grid_fill(&r->grid, &r->grid.patches[p], r->options->problem);
    if (r->options->restart) {
#pragma omp single
        r->failed = checkpoint_load(r->options->restart, &r->grid, &r->begin) != 0;
    }
#pragma omp for schedule(dynamic)
    for (int p = 0; p < r->grid.count; p++) {
        double s = kernel_speed(&r->kernel, r->grid.patches[p].u[0] + r->grid.origin);
        w->speed = s > w->speed ? s : w->speed;
    }
}

/* What every thread does. All ranks agree that every thread has its memory before the first step. */
static void thread_run(struct run *r)
{
    struct worker w = {.run = r, .sheet = &r->sheets[omp_get_thread_num()]};
    size_t scratch = (size_t)kernel_scratch(&r->kernel) * sizeof(double);

    if (courier_make(&w.courier, &r->exchange, w.sheet) || posix_memalign((void **)&w.scratch, 64, scratch)) {
#pragma omp atomic write
        r->failed = true;
    }
#pragma omp barrier
#pragma omp single
    {
        r->gate.threads = omp_get_num_threads();
        r->failed = !all_ranks(!r->failed);
        if (r->failed)
            say(&r->grid, "a thread has not enough memory");
    }
    if (!r->failed) {
        patches_fill(&w);
#pragma omp single
        {
            wire->barrier();
            pace_start(&r->pace, r->options, &r->grid.domain, r->grid.rank == 0);
            r->pace.time = r->begin;
        }
        sheet_start(w.sheet, r->options->profile ? SHEETS_SPANS / omp_get_num_threads() : 0);
        if (!r->failed)
            steps_run(&w);
    }
    courier_free(&w.courier);
    free(w.scratch);
}

/* A block of inner zones `[var][k][j][i]` to its place in the whole grid. */
static void patch_spread(const struct grid *g, int patch, const double *block, double *u)
{
    const int *n = g->n, *whole = g->domain.n;
    int at[3];

    grid_place(g, patch, at);
    for (int v = 0; v < NVAR; v++)
        for (int k = 0; k < n[Z]; k++)
            for (int j = 0; j < n[Y]; j++, block += n[X]) {
                long row = ((long)v * whole[Z] + at[Z] * n[Z] + k) * whole[Y] + at[Y] * n[Y] + j;

                memcpy(u + row * whole[X] + at[X] * n[X], block, (size_t)n[X] * sizeof *u);
            }
}

/* Collects the patches of all ranks in global zone order at rank 0. */
static int field_gather(const struct run *r, struct field *f)
{
    const struct grid *g = &r->grid;
    long block = (long)NVAR * g->n[X] * g->n[Y] * g->n[Z];
    double *mine = malloc((size_t)(block * g->count) * sizeof *mine);
    bool ok = mine && (g->rank > 0 || !field_make(f, &g->domain));
    size_t bytes;
    void *all = NULL;

    ok = all_ranks(ok);
    for (int p = 0; ok && p < g->count; p++)
        grid_pack(g, g->patches[p].u[r->pace.step & 1], grid_inner_box(g), mine + p * block);
    ok = ok && !wire->gather(mine, (size_t)(block * g->count) * sizeof *mine, &all, &bytes);
    if (ok && g->rank == 0) {
        const double **of = calloc((size_t)g->ranks, sizeof *of), *next = all;

        for (int k = 0; of && k < g->ranks; k++, next += block * g->counts[k - 1])
            of[k] = next;
        for (int k = 0; of && k < g->all; k++)
            patch_spread(g, k, of[g->owner[k]] + g->number[k] * block, f->u);
        ok = of;
        free(of);
    }
    f->time = r->pace.time;
    free(mine);
    free(all);
    if (!ok)
        say(g, "not enough memory to gather the state on one rank");
    return ok ? 0 : -1;
}

/* The grid and the arrays of this rank; all ranks succeed or none. */
static int run_make(struct run *r, const struct options *o, const struct world *world, int threads)
{
    struct grid_shape shape = {problem_domain(o->problem, o->n, o->boundary), o->patch, world->ranks,
                               world->rank};
    const double *width = shape.domain.width;
    char error[OPTIONS_ERROR] = "not enough memory";

    *r = (struct run){.options = o};
    bool ok = !grid_make(&r->grid, &shape, error);
    r->kernel = (struct kernel){.n = o->patch,
                                .dims = shape.domain.dims,
                                .row = r->grid.step[Y],
                                .layer = r->grid.step[Z],
                                .plane = r->grid.plane,
                                .width = {width[X], width[Y], width[Z]},
                                .gas = problem_gas(o->problem)};
    r->speeds = calloc((size_t)threads * SPEED_STRIDE, sizeof *r->speeds);
    r->order = calloc((size_t)(r->grid.count + 1), sizeof *r->order);
    r->sheets = calloc((size_t)threads, sizeof *r->sheets);
    if (!all_ranks(ok && r->speeds && r->order && r->sheets)) {
        say(&r->grid, error);
        return -1;
    }
    order_set(r);
    return 0;
}

int parallel_run(const struct options *o, const struct world *world, struct field *f, struct outcome *out)
{
    int threads = o->threads ? o->threads : omp_get_max_threads();
    struct run r;
    int rc = run_make(&r, o, world, threads);

    if (!rc) {
        rc = exchange_open(&r.exchange, &r.grid, o);
        if (rc) {
            fprintf(stderr, "stencil: not enough memory for the window of rank %d\n", world->rank);
            wire->die();
        }
#pragma omp parallel num_threads(threads)
        thread_run(&r);
        rc = r.failed ? -1 : 0;
        if (!rc && o->checkpoint)
            rc = checkpoint_save(o->checkpoint, &r.grid, (int)(r.pace.step & 1), r.pace.time);
    }
    *out =
        (struct outcome){r.pace, 0.0, r.grid.ranks, r.grid.rank, threads, r.sheets, r.pace.began, {"", ""}};
    if (!rc) {
        out->window = wire->dwelling();
        out->seconds = pace_stop(&r.pace);
        rc = field_gather(&r, f);
    }
    if (r.exchange.options)
        exchange_close(&r.exchange);
    grid_free(&r.grid);
    free(r.speeds);
    free(r.order);
    return rc;
}
