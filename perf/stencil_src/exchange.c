/*
 * Ghost zones of other ranks through one window: put or get, flush, signal, wait.
 */
#include "exchange.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 8 };           /* patches between two drains of --flush batch */
enum { PLANT_FROM_STEP = 2 }; /* planted faults begin where slots hold an older step's blocks */

static long slot_at(const struct exchange *x, int rank, int parity, int patch, int d)
{
    return ((long)parity * x->grid->counts[rank] + patch) * x->slots + x->offset[d];
}

static long flag_at(const struct exchange *x, int rank, int parity, int patch, int d)
{
    long count = x->grid->counts[rank];

    return 2 * count * x->slots + (parity * count + patch) * x->grid->ndir + d;
}

int exchange_open(struct exchange *x, const struct grid *g, const struct options *o)
{
    *x = (struct exchange){.grid = g, .options = o};
    for (int d = 0; d < g->ndir; d++) {
        x->offset[d] = x->slots;
        x->slots += grid_block(g, d);
    }
    x->stage = calloc((size_t)g->count * (size_t)x->slots, sizeof *x->stage);
    if (!x->stage)
        return -1;
    x->base = wire->open(flag_at(x, g->rank, 2, 0, 0));
    return x->base ? 0 : -1;
}

void exchange_close(struct exchange *x)
{
    if (x->base)
        wire->close();
    free(x->stage);
}

/* Every drain comes after at most all patches of this rank, each with a flag for each direction. */
int courier_make(struct courier *c, struct exchange *x, struct sheet *sheet)
{
    size_t flags = (size_t)(x->grid->count * x->grid->ndir);

    *c = (struct courier){.x = x, .sheet = sheet};
    c->pending = calloc(flags, sizeof *c->pending);
    c->old = calloc(flags, sizeof *c->old);
    c->targets = calloc((size_t)x->grid->ranks, sizeof *c->targets);
    c->arrivals = calloc((size_t)x->grid->count, sizeof *c->arrivals);
    c->laps = calloc((size_t)x->grid->count, sizeof *c->laps);
    return c->pending && c->old && c->targets && c->arrivals && c->laps ? 0 : -1;
}

void courier_free(struct courier *c)
{
    free(c->pending);
    free(c->old);
    free(c->targets);
    free(c->arrivals);
    free(c->laps);
}

void courier_begin(struct courier *c, int step)
{
    c->step = step;
    c->value = (uint64_t)step + 1;
}

static void target_add(struct courier *c, int rank)
{
    for (int t = 0; t < c->ntargets; t++)
        if (c->targets[t] == rank)
            return;
    c->targets[c->ntargets++] = rank;
}

static void flush_targets(struct courier *c)
{
    wire->flush(c->targets, c->x->options->flush == FLUSH_ALL ? -1 : c->ntargets);
    sheet_book(c->sheet, PHASE_FLUSH, -1);
}

/* A flag of this step. */
static struct flag flag_of(const struct courier *c, int rank, long at, uint64_t *old)
{
    return (struct flag){c->x->options->signal, rank, at, &c->value, old};
}

/* Flags that travel with their blocks. */
static bool notifies(const struct courier *c)
{
    enum signal_by by = c->x->options->signal;

    return (by == SIGNAL_NOTIFY || by == SIGNAL_PUT_SIGNAL) && c->x->options->transfer == TRANSFER_PUT;
}

static bool is_remote(const struct courier *c, const struct patch *p, int d)
{
    return p->link[d].rank >= 0 && p->link[d].rank != c->x->grid->rank;
}

static double *stage_at(const struct exchange *x, int p, int d)
{
    return x->stage + (long)p * x->slots + x->offset[d];
}

static void unpack(struct courier *c, int p, bool staged)
{
    struct exchange *x = c->x;
    const struct grid *g = x->grid;
    const struct patch *patch = &g->patches[p];

    for (int d = 0; d < g->ndir; d++) {
        if (!is_remote(c, patch, d))
            continue;
        const double *from = staged ? stage_at(x, p, d) : x->base + slot_at(x, g->rank, c->step & 1, p, d);
        grid_unpack(g, patch->u[c->step & 1], grid_ghost_box(g, d), from);
    }
    sheet_book(c->sheet, PHASE_UNPACK, p);
}

static bool nonblocking(const struct courier *c)
{
    return c->x->options->flush == FLUSH_NONBLOCKING;
}

/* Writes the flags up to this one that are not written yet. */
static void flags_write(struct courier *c, int end)
{
    for (int k = c->written; k < end; k++)
        wire->signal(flag_of(c, c->pending[k].rank, c->pending[k].flag, &c->old[k]));
    c->written = end;
    sheet_book(c->sheet, PHASE_SIGNAL, -1);
}

static void lap_begin(struct courier *c)
{
    c->laps[c->nlaps++] = (struct lap){wire->flush_begin(c->targets, c->ntargets), c->npending};
    c->ntargets = c->patches = 0;
    sheet_book(c->sheet, PHASE_FLUSH, -1);
}

/* Takes the laps that have ended, in their order, or all: then their flags are written, or their gets are
 * here. */
static void laps_end(struct courier *c, bool wait)
{
    while (c->oldest < c->nlaps && wire->flush_ended(c->laps[c->oldest].begun, wait)) {
        sheet_book(c->sheet, PHASE_FLUSH, -1);
        if (c->narrivals > 0)
            unpack(c, c->arrivals[c->oldest], true);
        else
            flags_write(c, c->laps[c->oldest].flags);
        c->oldest++;
    }
    if (wait)
        c->nlaps = c->oldest = 0;
    sheet_book(c->sheet, PHASE_FLUSH, -1);
}

/* Data first, and only when all of it is there the flags that say so. */
static void drain_sends(struct courier *c)
{
    if (c->ntargets == 0)
        return;
    if (nonblocking(c)) {
        if (c->x->options->transfer == TRANSFER_GET) {
            wire->publish();
            flags_write(c, c->npending);
        }
        lap_begin(c);
        laps_end(c, false);
        return;
    }
    if (notifies(c)) {
        flush_targets(c);
        c->ntargets = c->patches = 0;
        return;
    }
    if (c->x->options->transfer == TRANSFER_PUT) {
        flush_targets(c);
    } else {
        wire->publish();
    }
    flags_write(c, c->npending);
    flush_targets(c);
    c->npending = c->written = c->ntargets = c->patches = 0;
}

/* Whether the options ask for a drain after this patch. */
static bool drain_due(struct courier *c)
{
    enum flush_per flush = c->x->options->flush;

    c->patches++;
    return flush == FLUSH_PATCH || flush == FLUSH_NONBLOCKING ||
           (flush == FLUSH_BATCH && c->patches >= BATCH);
}

/* Waits until a flag of this rank's window has the value. */
static void flag_wait(struct courier *c, long at, uint64_t value)
{
    wire->wait(c->x->options->signal, at, value);
}

/* get: the readers of this parity's slots have written their next READY since; it was waited for in the last
 * step. */
static void await_consumed(struct courier *c, int p)
{
    int last = c->step - 1;

    for (int d = 0; last >= 1 && d < c->x->grid->ndir; d++)
        if (is_remote(c, &c->x->grid->patches[p], d))
            flag_wait(c, flag_at(c->x, c->x->grid->rank, last & 1, p, d), (uint64_t)last + 1);
    sheet_book(c->sheet, PHASE_WAIT, p);
}

static void pack(struct courier *c, int p)
{
    struct exchange *x = c->x;
    const struct grid *g = x->grid;
    const struct patch *patch = &g->patches[p];
    bool get = x->options->transfer == TRANSFER_GET;
    bool faulty = c->step >= PLANT_FROM_STEP;
    int shift = faulty && x->options->plant == PLANT_PACK;
    int parity = (c->step + (faulty && x->options->plant == PLANT_PARITY)) & 1;

    for (int d = 0; d < g->ndir; d++) {
        if (!is_remote(c, patch, d))
            continue;
        struct box b = grid_send_box(g, d);
        double *to = get ? x->base + slot_at(x, g->rank, parity, p, d) : stage_at(x, p, d);
        b.lo[X] -= shift;
        b.hi[X] -= shift;
        grid_pack(g, patch->u[c->step & 1], b, to);
    }
    sheet_book(c->sheet, PHASE_PACK, p);
}

/* The flag at the neighbour in direction d of patch p. */
static long sent_flag(const struct courier *c, int p, int d)
{
    struct link to = c->x->grid->patches[p].link[d];

    return flag_at(c->x, to.rank, c->step & 1, to.patch, c->x->grid->ndir - 1 - d);
}

/* The staged block of patch p in direction d, and the neighbour's slot. */
static struct block block_of(const struct exchange *x, int p, int d, int parity)
{
    struct link to = x->grid->patches[p].link[d];

    return (struct block){stage_at(x, p, d), grid_block(x->grid, d), to.rank,
                          slot_at(x, to.rank, parity, to.patch, x->grid->ndir - 1 - d)};
}

static void put(struct courier *c, int p)
{
    struct exchange *x = c->x;
    const struct patch *patch = &x->grid->patches[p];
    int parity = (c->step + (c->step >= PLANT_FROM_STEP && x->options->plant == PLANT_PARITY)) & 1;

    for (int d = 0; d < x->grid->ndir; d++) {
        if (!is_remote(c, patch, d))
            continue;
        struct block b = block_of(x, p, d, parity);

        if (notifies(c))
            wire->put_flag(b, flag_of(c, b.rank, sent_flag(c, p, d), NULL));
        else
            wire->put(b);
    }
    sheet_book(c->sheet, PHASE_TRANSFER, p);
}

void courier_send(struct courier *c, int p)
{
    const struct patch *patch = &c->x->grid->patches[p];

    if (!patch->remote)
        return;
    if (c->x->options->transfer == TRANSFER_GET)
        await_consumed(c, p);
    pack(c, p);
    if (c->x->options->transfer == TRANSFER_PUT)
        put(c, p);
    for (int d = 0; d < c->x->grid->ndir; d++) {
        if (!is_remote(c, patch, d))
            continue;
        target_add(c, patch->link[d].rank);
        if (!notifies(c))
            c->pending[c->npending++] = (struct pending){patch->link[d].rank, sent_flag(c, p, d)};
    }
    if (drain_due(c))
        drain_sends(c);
}

void courier_poll(struct courier *c)
{
    if (c->oldest < c->nlaps)
        laps_end(c, false);
}

void courier_finish_sends(struct courier *c)
{
    drain_sends(c);
    if (!nonblocking(c))
        return;
    laps_end(c, true);
    if (c->npending > 0 && c->x->options->transfer == TRANSFER_PUT) {
        wire->flush(NULL, -1); /* of the flags */
        sheet_book(c->sheet, PHASE_FLUSH, -1);
    }
    c->npending = c->written = 0;
}

static void await_flags(struct courier *c, int p)
{
    struct exchange *x = c->x;

    for (int d = 0; d < x->grid->ndir; d++)
        if (is_remote(c, &x->grid->patches[p], d))
            flag_wait(c, flag_at(x, x->grid->rank, c->step & 1, p, d), c->value);
    sheet_book(c->sheet, PHASE_WAIT, p);
}

void courier_receive(struct courier *c, int p)
{
    if (!c->x->grid->patches[p].remote)
        return;
    await_flags(c, p);
    unpack(c, p, false);
}

void courier_fetch(struct courier *c, int p)
{
    struct exchange *x = c->x;
    const struct patch *patch = &x->grid->patches[p];

    if (!patch->remote)
        return;
    await_flags(c, p);
    for (int d = 0; d < x->grid->ndir; d++) {
        if (!is_remote(c, patch, d))
            continue;
        wire->get(block_of(x, p, d, c->step & 1));
        target_add(c, patch->link[d].rank);
    }
    sheet_book(c->sheet, PHASE_TRANSFER, p);
    c->arrivals[c->narrivals++] = p;
    if (nonblocking(c)) {
        lap_begin(c);
        laps_end(c, false);
    } else if (drain_due(c)) {
        courier_finish_gets(c);
    }
}

void courier_finish_gets(struct courier *c)
{
    if (c->narrivals == 0)
        return;
    if (nonblocking(c)) {
        laps_end(c, true);
        c->narrivals = 0;
        return;
    }
    flush_targets(c);
    for (int k = 0; k < c->narrivals; k++)
        unpack(c, c->arrivals[k], true);
    c->narrivals = c->ntargets = c->patches = 0;
}
