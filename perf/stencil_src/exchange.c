/*
 * Ghost zones of other ranks through one window: put or get, flush, signal, wait.
 */
#include "exchange.h"
#include "gate.h"

#include <stdlib.h>
#include <string.h>

/* Hotlane's put with notification (hotlane.h); other MPIs do not have it, and the addresses are NULL. */
int MPIX_Put_notify(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                    int count, MPI_Datatype type, MPI_Aint flag, uint64_t value, MPI_Win win)
    __attribute__((weak));
int MPIX_Win_flag_wait(MPI_Aint flag, int compare, uint64_t value, uint64_t *seen, MPI_Win win)
    __attribute__((weak));
enum { EQUAL = 0 }; /* MPIX_CMP_EQ */

bool exchange_has_notify(void)
{
    return MPIX_Put_notify && MPIX_Win_flag_wait;
}

enum { BATCH = 8 };           /* patches between two drains of --flush batch */
enum { PLANT_FROM_STEP = 2 }; /* planted faults begin where slots hold an older step's blocks */

static MPI_Aint slot_at(const struct exchange *x, int rank, int parity, int patch, int d)
{
    return ((MPI_Aint)parity * x->grid->counts[rank] + patch) * x->slots + x->offset[d];
}

static MPI_Aint flag_at(const struct exchange *x, int rank, int parity, int patch, int d)
{
    MPI_Aint count = x->grid->counts[rank];

    return 2 * count * x->slots + (parity * count + patch) * NDIR + d;
}

int exchange_open(struct exchange *x, const struct grid *g, const struct options *o)
{
    *x = (struct exchange){.grid = g, .options = o};
    for (int d = 0; d < NDIR; d++) {
        x->offset[d] = x->slots;
        x->slots += grid_block(g, d);
    }
    x->stage = calloc((size_t)g->count * (size_t)x->slots, sizeof *x->stage);
    if (!x->stage)
        return -1;
    MPI_Aint bytes = (MPI_Aint)sizeof(double) * flag_at(x, g->rank, 2, 0, 0);
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &x->base, &x->win);
    memset(x->base, 0, (size_t)bytes);
    MPI_Win_lock_all(0, x->win);
    MPI_Win_sync(x->win);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

static void info_read(MPI_Info info, const char *key, char *text, int room)
{
    int there = 0;

    MPI_Info_get(info, key, room - 1, text, &there);
    if (!there)
        *text = '\0';
}

struct dwelling exchange_dwelling(const struct exchange *x)
{
    struct dwelling d;
    MPI_Info info;

    MPI_Win_get_info(x->win, &info);
    info_read(info, "hotlane_page_size", d.page, sizeof d.page);
    info_read(info, "hotlane_nodes", d.nodes, sizeof d.nodes);
    MPI_Info_free(&info);
    return d;
}

void exchange_close(struct exchange *x)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(x->win);
    MPI_Win_free(&x->win);
    free(x->stage);
}

/* Every drain comes after at most all patches of this rank, each with a flag for each direction. */
int courier_make(struct courier *c, struct exchange *x, struct sheet *sheet)
{
    size_t flags = (size_t)x->grid->count * NDIR;

    *c = (struct courier){.x = x, .sheet = sheet};
    c->pending = calloc(flags, sizeof *c->pending);
    c->old = calloc(flags, sizeof *c->old);
    c->targets = calloc((size_t)x->grid->ranks, sizeof *c->targets);
    c->arrivals = calloc((size_t)x->grid->count, sizeof *c->arrivals);
    return c->pending && c->old && c->targets && c->arrivals ? 0 : -1;
}

void courier_free(struct courier *c)
{
    free(c->pending);
    free(c->old);
    free(c->targets);
    free(c->arrivals);
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
    if (c->x->options->flush == FLUSH_ALL) {
        MPI_Win_flush_all(c->x->win);
    } else {
        for (int t = 0; t < c->ntargets; t++)
            MPI_Win_flush(c->targets[t], c->x->win);
    }
    sheet_book(c->sheet, PHASE_FLUSH, -1);
}

static void signal_write(struct courier *c, int k)
{
    const struct pending *p = &c->pending[k];

    switch (c->x->options->signal) {
    case SIGNAL_PUT:
        MPI_Put(&c->value, 1, MPI_UINT64_T, p->rank, p->flag, 1, MPI_UINT64_T, c->x->win);
        break;
    case SIGNAL_ACCUMULATE:
        MPI_Accumulate(&c->value, 1, MPI_UINT64_T, p->rank, p->flag, 1, MPI_UINT64_T, MPI_REPLACE, c->x->win);
        break;
    case SIGNAL_FETCH_OP:
        MPI_Fetch_and_op(&c->value, &c->old[k], MPI_UINT64_T, p->rank, p->flag, MPI_REPLACE, c->x->win);
        break;
    case SIGNAL_NOTIFY:
        MPIX_Put_notify(NULL, 0, MPI_DOUBLE, p->rank, 0, 0, MPI_DOUBLE, p->flag, c->value, c->x->win);
        break;
    }
}

/* Flags that travel with their blocks. */
static bool notifies(const struct courier *c)
{
    return c->x->options->signal == SIGNAL_NOTIFY && c->x->options->transfer == TRANSFER_PUT;
}

/* Data first, and only when all of it is there the flags that say so. */
static void drain_sends(struct courier *c)
{
    if (c->ntargets == 0)
        return;
    if (notifies(c)) {
        flush_targets(c);
        c->ntargets = c->patches = 0;
        return;
    }
    if (c->x->options->transfer == TRANSFER_PUT) {
        flush_targets(c);
    } else {
        MPI_Win_sync(c->x->win);
    }
    for (int k = 0; k < c->npending; k++)
        signal_write(c, k);
    sheet_book(c->sheet, PHASE_SIGNAL, -1);
    flush_targets(c);
    c->npending = c->ntargets = c->patches = 0;
}

/* Whether the options ask for a drain after this patch. */
static bool drain_due(struct courier *c)
{
    enum flush_per flush = c->x->options->flush;

    c->patches++;
    return flush == FLUSH_PATCH || (flush == FLUSH_BATCH && c->patches >= BATCH);
}

/* Looks at a flag of this rank's window until it has the value: spins, then yields, then naps. */
static void flag_wait(struct courier *c, MPI_Aint at, uint64_t value)
{
    const uint64_t *flag = (const uint64_t *)(const void *)(c->x->base + at);

    if (c->x->options->signal == SIGNAL_NOTIFY) {
        MPIX_Win_flag_wait(at, EQUAL, value, NULL, c->x->win);
        return;
    }
    for (long looks = 0;; looks++) {
        uint64_t seen;

        MPI_Win_sync(c->x->win);
#pragma omp atomic read acquire
        seen = *flag;
        if (seen == value)
            break;
        /* Some MPIs move other ranks' data only inside a call that completes something. */
        if (patience(looks))
            MPI_Win_flush(c->x->grid->rank, c->x->win);
    }
    MPI_Win_sync(c->x->win);
}

static bool is_remote(const struct courier *c, const struct patch *p, int d)
{
    return p->link[d].rank >= 0 && p->link[d].rank != c->x->grid->rank;
}

static double *stage_at(const struct exchange *x, int p, int d)
{
    return x->stage + (long)p * x->slots + x->offset[d];
}

/* get: the readers of this parity's slots have written their next READY since; it was waited for in the last
 * step. */
static void await_consumed(struct courier *c, int p)
{
    int last = c->step - 1;

    for (int d = 0; last >= 1 && d < NDIR; d++)
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

    for (int d = 0; d < NDIR; d++) {
        if (!is_remote(c, patch, d))
            continue;
        struct box b = grid_send_box(g, d);
        double *to = get ? x->base + slot_at(x, g->rank, parity, p, d) : stage_at(x, p, d);
        b.i0 -= shift;
        b.i1 -= shift;
        grid_pack(g, patch->u[c->step & 1], b, to);
    }
    sheet_book(c->sheet, PHASE_PACK, p);
}

/* The flag at the neighbour in direction d of patch p. */
static MPI_Aint sent_flag(const struct courier *c, int p, int d)
{
    struct link to = c->x->grid->patches[p].link[d];

    return flag_at(c->x, to.rank, c->step & 1, to.patch, NDIR - 1 - d);
}

static void put(struct courier *c, int p)
{
    struct exchange *x = c->x;
    const struct patch *patch = &x->grid->patches[p];
    int parity = (c->step + (c->step >= PLANT_FROM_STEP && x->options->plant == PLANT_PARITY)) & 1;

    for (int d = 0; d < NDIR; d++) {
        if (!is_remote(c, patch, d))
            continue;
        int rank = patch->link[d].rank, count = (int)grid_block(x->grid, d);
        MPI_Aint slot = slot_at(x, rank, parity, patch->link[d].patch, NDIR - 1 - d);

        if (notifies(c))
            MPIX_Put_notify(stage_at(x, p, d), count, MPI_DOUBLE, rank, slot, count, MPI_DOUBLE,
                            sent_flag(c, p, d), c->value, x->win);
        else
            MPI_Put(stage_at(x, p, d), count, MPI_DOUBLE, rank, slot, count, MPI_DOUBLE, x->win);
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
    for (int d = 0; d < NDIR; d++) {
        if (!is_remote(c, patch, d))
            continue;
        target_add(c, patch->link[d].rank);
        if (!notifies(c))
            c->pending[c->npending++] = (struct pending){patch->link[d].rank, sent_flag(c, p, d)};
    }
    if (drain_due(c))
        drain_sends(c);
}

void courier_finish_sends(struct courier *c)
{
    drain_sends(c);
}

static void await_flags(struct courier *c, int p)
{
    struct exchange *x = c->x;

    for (int d = 0; d < NDIR; d++)
        if (is_remote(c, &x->grid->patches[p], d))
            flag_wait(c, flag_at(x, x->grid->rank, c->step & 1, p, d), c->value);
    sheet_book(c->sheet, PHASE_WAIT, p);
}

static void unpack(struct courier *c, int p, bool staged)
{
    struct exchange *x = c->x;
    const struct grid *g = x->grid;
    const struct patch *patch = &g->patches[p];

    for (int d = 0; d < NDIR; d++) {
        if (!is_remote(c, patch, d))
            continue;
        const double *from = staged ? stage_at(x, p, d) : x->base + slot_at(x, g->rank, c->step & 1, p, d);
        grid_unpack(g, patch->u[c->step & 1], grid_ghost_box(g, d), from);
    }
    sheet_book(c->sheet, PHASE_UNPACK, p);
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
    for (int d = 0; d < NDIR; d++) {
        if (!is_remote(c, patch, d))
            continue;
        int rank = patch->link[d].rank, count = (int)grid_block(x->grid, d);
        MPI_Aint slot = slot_at(x, rank, c->step & 1, patch->link[d].patch, NDIR - 1 - d);

        MPI_Get(stage_at(x, p, d), count, MPI_DOUBLE, rank, slot, count, MPI_DOUBLE, x->win);
        target_add(c, rank);
    }
    sheet_book(c->sheet, PHASE_TRANSFER, p);
    c->arrivals[c->narrivals++] = p;
    if (drain_due(c))
        courier_finish_gets(c);
}

void courier_finish_gets(struct courier *c)
{
    if (c->narrivals == 0)
        return;
    flush_targets(c);
    for (int k = 0; k < c->narrivals; k++)
        unpack(c, c->arrivals[k], true);
    c->narrivals = c->ntargets = c->patches = 0;
}
