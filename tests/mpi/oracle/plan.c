/* Rounds: which epochs, which steps, and what they do to the model. The same on all ranks. */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 12, WISHES = 48 };

struct round plan;

/* Of each worker and (window, target): his count of steps when he last completed everything there. */
static int16_t completed[MAX_RANKS * MAX_THREADS][MAX_WINDOWS][MAX_RANKS];
static int16_t clocks[MAX_RANKS * MAX_THREADS];

/* All steps of a hot round hit the same element. */
static struct {
    bool on;
    int win, target, region, slot;
    enum op op;
} hot;

/* Who draws a step, and what he has chosen so far. */
struct draft {
    struct step *s;
    struct rng r;
    int rank, thread, worker;
    struct window *w;
    struct memory *m;
    const struct region *region;
    const struct basic **seq; /* the step's */
    int n_seq, n;
    bool exact;
    enum call
        call; /* wanted: drawn before everything else, so that what is seldom possible is not seldom drawn */
    enum way way;
    bool locked; /* wanted: elements that need a lock */
};

const char *call_name(enum call c)
{
    static const char *const names[CALLS] = {
        "Put",  "Get",  "Accumulate",  "Get_accumulate", "Fetch_and_op", "Compare_and_swap",
        "Rput", "Rget", "Raccumulate", "Rget_accumulate"};
    return names[c];
}

const char *epoch_name(enum epoch e)
{
    static const char *const names[EPOCHS] = {"fence", "pscw", "shared", "exclusive", "lock_all"};
    return names[e];
}

bool is_locked_way(const struct basic *b, int at)
{
    bool word = b->extent <= 8 && (b->extent & (b->extent - 1)) == 0 && b->kind != PAIR;
    return !word || at % b->extent != 0;
}

static bool is_passive(enum epoch e)
{
    return e >= E_SHARED;
}

static bool moves(enum call c)
{
    return c == C_PUT || c == C_GET || c == C_RPUT || c == C_RGET;
}

static bool fetches(enum call c)
{
    return c == C_GET_ACCUMULATE || c == C_RGET_ACCUMULATE || c == C_FETCH_AND_OP || c == C_COMPARE_AND_SWAP;
}

/* ---- rounds ---- */

static void draw_locks(struct rng *r, int win)
{
    uint32_t all = (1u << ranks) - 1;
    for (int o = 0; o < ranks; o++) {
        uint32_t some = (uint32_t)(rng_next(r) | rng_next(r)) & all, alone = (uint32_t)rng_next(r);
        bool partial =
            plan.epoch[win] == E_SHARED || plan.epoch[win] == E_EXCLUSIVE || plan.epoch[win] == E_PSCW;
        plan.locked[win][o] = partial && some != 0 ? some : all;
        plan.exclusive[win][o] =
            plan.epoch[win] == E_EXCLUSIVE
                ? plan.locked[win][o] & (alone | (uint32_t)rng_next(r) | (uint32_t)rng_next(r))
                : 0;
    }
}

/* The place; preferably integers, whose sums show every update that is lost. */
static const struct region *draw_hot_region(struct rng *r)
{
    const struct region *g = NULL;
    for (int i = 0; i < TRIES && (g == NULL || (i < TRIES / 2 && g->basic->kind != INTEGER)); i++) {
        hot.win = pick(r, n_windows);
        hot.target = pick(r, ranks);
        const struct memory *m = &memories[windows[hot.win].memory][hot.target];
        hot.region = m->n_regions == 0 ? 0 : pick(r, m->n_regions);
        g = m->n_regions == 0 || m->regions[hot.region].basic == NULL ? NULL : &m->regions[hot.region];
    }
    return g;
}

static void draw_hot(struct rng *r)
{
    bool wanted = pick(r, 8) == 0;
    const struct region *g = draw_hot_region(r);
    hot.on = wanted && g != NULL;
    hot.op = pick(r, 2) ? SUM : (enum op)pick(r, REPLACE);
    for (int i = 0; hot.on && (!op_defined(g->basic, hot.op) || !op_commutes(g->basic, hot.op)); i++) {
        hot.op = pick(r, REPLACE);
        hot.on = i < 100; /* there is none for this type */
    }
    hot.slot = hot.on ? pick(r, g->bytes / g->basic->extent) : 0;
}

/* ---- what is there to take ---- */

static bool fits_window(const struct draft *d, const struct region *g)
{
    int t = d->m->owner;
    return g->at >= d->w->from[t] && g->at + g->bytes <= d->w->from[t] + d->w->bytes[t];
}

static bool takes(const struct draft *d, const struct region *g)
{
    enum call c = d->s->call;
    return moves(c) || (g->basic != NULL && (c != C_COMPARE_AND_SWAP || may_swap(g->basic)));
}

static bool draw_region(struct draft *d)
{
    for (int i = 0; i < 2 * WISHES && d->m->n_regions > 0; i++) {
        d->region = &d->m->regions[hot.on ? hot.region : pick(&d->r, d->m->n_regions)];
        const struct basic *b = d->region->basic;
        bool wished = hot.on || i > WISHES || moves(d->s->call) ||
                      (b != NULL && is_locked_way(b, d->region->at) == d->locked);
        if (wished && fits_window(d, d->region) && takes(d, d->region)) {
            return true;
        }
    }
    return false;
}

static enum op draw_op(struct draft *d)
{
    enum op op;
    if (d->s->call == C_COMPARE_AND_SWAP) {
        return SWAP;
    }
    if (moves(d->s->call)) {
        return REPLACE;
    }
    do {
        op = hot.on ? hot.op : (enum op)pick(&d->r, OPS);
    } while (!op_defined(d->region->basic, op) || (op == NO_OP && !fetches(d->s->call)));
    return op;
}

/* The elements: of the region's type, or of any where it holds raw bytes. */
static void draw_elements(struct draft *d)
{
    bool single = d->s->call == C_FETCH_AND_OP || d->s->call == C_COMPARE_AND_SWAP || hot.on;
    d->n_seq = 1;
    d->s->typed = d->region->basic != NULL;
    d->seq[0] = d->region->basic != NULL ? d->region->basic : &basics[pick(&d->r, n_basics)];
    d->n = single ? 1 : 1 + pick(&d->r, pick(&d->r, 8) == 0 ? d->region->bytes / d->seq[0]->extent : 9);
    if (d->region->basic == NULL && pick(&d->r, 4) == 0) {
        d->n_seq = 2 + pick(&d->r, 3);
        for (int i = 1; i < d->n_seq; i++) {
            d->seq[i] = &basics[pick(&d->r, n_basics)];
        }
        d->n = d->n_seq * (1 + pick(&d->r, 3));
    }
}

static enum shape draw_shape(struct draft *d)
{
    return pick(&d->r, SHAPES);
}

/* A layout at the target that fits into the region; false when it does not. */
static bool draw_target(struct draft *d)
{
    struct step *s = d->s;
    bool plain = s->call == C_FETCH_AND_OP || s->call == C_COMPARE_AND_SWAP;
    int unit = d->w->unit[s->target], from = d->w->from[s->target];
    const struct region *g = d->region;

    if (d->n_seq > 1 && d->n_seq * 40 * (d->n / d->n_seq) > g->bytes) {
        return false;
    }
    if (d->n_seq == 1 && d->n * d->seq[0]->extent > g->bytes) {
        d->n = g->bytes / d->seq[0]->extent;
    }
    if (d->n == 0) {
        return false;
    }
    layout_make(&s->to, &d->r, plain ? DENSE : draw_shape(d), d->n, d->seq, d->n_seq);
    int grid = g->basic == NULL ? 1 : g->basic->extent;
    if (s->to.bytes > g->bytes) {
        return false;
    }
    s->position = g->at + (hot.on ? hot.slot : pick(&d->r, (g->bytes - s->to.bytes) / grid + 1)) * grid;
    if (plain && (s->position - from) % unit != 0) {
        return false;
    }
    layout_align(&s->to, &d->r, s->position - from, unit);
    return true;
}

/* ---- conflicts ---- */

enum conflict { FINE, AFTER_MINE, NEVER };

/* Of two that must not meet: the step before can be completed first when it is mine and on the same window.
 */
static enum conflict ended_first(const struct draft *d, const struct touch *t, bool mine)
{
    return mine && t->win == d->s->win ? AFTER_MINE : NEVER;
}

static enum conflict judge_update(struct draft *d, const struct touch *t, bool mine)
{
    struct step *s = d->s;
    enum conflict bad = ended_first(d, t, mine);
    enum op op = s->guarded ? GUARDED : s->op;
    bool same = t->op == (int8_t)op || t->op == NO_OP || op == NO_OP;

    if (&windows[t->win] != d->w || !same) {
        return bad;
    }
    if (mine) {
        /* A guarded put is a put: accumulates are not ordered behind it. */
        return s->guarded || t->op == GUARDED ||
                       (d->w->unordered && (t->sealed || fetches(s->call) || !op_commutes(d->seq[0], op)))
                   ? bad
                   : FINE;
    }
    if (t->sealed || (op != NO_OP && op != GUARDED && !op_commutes(d->seq[0], op))) {
        return NEVER;
    }
    d->exact = false;
    return FINE;
}

static enum conflict judge_byte(struct draft *d, const struct touch *t, enum touched how)
{
    if (t->how == FREE) {
        return FINE;
    }
    bool mine = t->worker == d->worker;
    if (mine && t->stamp <= completed[d->worker][t->win][d->s->target]) {
        return FINE;
    }
    if (t->how == UPDATED && how == UPDATED) {
        return judge_update(d, t, mine);
    }
    return t->how == READ && how == READ && (mine || !t->sealed) ? FINE : ended_first(d, t, mine);
}

static enum touched how_of(const struct step *s)
{
    bool put = s->call == C_PUT || s->call == C_RPUT;
    return s->guarded || !moves(s->call) ? UPDATED : put ? PUT : READ;
}

/* Bytes that element i covers at the target, for the books: with the padding of types that are computed with.
 */
static int covered(const struct draft *d, int i)
{
    const struct basic *b = d->seq[i % d->n_seq];
    return d->region->basic != NULL ? b->extent : b->end;
}

static enum conflict judge(struct draft *d)
{
    enum conflict worst = FINE;
    const struct step *s = d->s;
    for (int i = 0; i < s->to.n && worst != NEVER; i++) {
        const struct touch *t = &d->m->touch[s->position + s->to.at[i]];
        for (int b = 0; b < covered(d, i); b++) {
            enum conflict v = judge_byte(d, &t[b], how_of(s));
            worst = v > worst ? v : worst;
        }
    }
    return worst;
}

static void note_byte(const struct draft *d, struct touch *t)
{
    const struct step *s = d->s;
    enum touched how = how_of(s);
    bool again = t->how == (int8_t)how &&
                 !(t->worker == d->worker && t->stamp <= completed[d->worker][t->win][s->target]);
    /* Read by two, or through two windows: no one call completes both. */
    int worker = again && (t->worker != d->worker || t->win != s->win) ? -1 : d->worker;
    int op = s->guarded ? GUARDED : s->op;

    *t = (struct touch){.how = (int8_t)how,
                        .op = (int8_t)(again && op == NO_OP ? t->op : op),
                        .win = (int8_t)s->win,
                        .sealed = (again ? t->sealed : t->how != FREE) || (how == UPDATED && d->exact),
                        .worker = (int16_t)worker,
                        .stamp = clocks[d->worker],
                        .step = how == READ || op == NO_OP ? t->step : s->number + 1};
}

/* ---- completion ---- */

static void complete_at(int worker, int win, int target)
{
    for (int t = 0; t < ranks; t++) {
        if (target < 0 || t == target) {
            completed[worker][win][t] = clocks[worker];
        }
    }
}

/* What makes the worker's earlier operations complete before this step. */
static void draw_before(struct draft *d)
{
    struct step *s = d->s;
    int how = pick(&d->r, 8);
    bool relock = plan.epoch[s->win] == E_SHARED && set.threads == 1;
    s->before = how == 0 ? FLUSH_ALL : how < 3 && relock ? RELOCK : FLUSH;
    complete_at(d->worker, s->win, s->before == FLUSH_ALL ? -1 : s->target);
}

static void draw_after(struct draft *d)
{
    struct step *s = d->s;
    int how = pick(&d->r, 20);
    bool request = s->call >= C_RPUT;
    s->after = how < 3 ? FLUSH : how == 3 ? FLUSH_ALL : how < 6 ? LOCAL : how == 6 ? LOCAL_ALL : NOTHING;
    if (!is_passive(s->epoch)) {
        s->after = NOTHING;
    } else if (request && pick(&d->r, 2)) {
        s->after = WAIT;
    }
    if (s->after == FLUSH || s->after == FLUSH_ALL) {
        complete_at(d->worker, s->win, s->after == FLUSH ? s->target : -1);
    }
}

/* ---- the effect on the model ---- */

static void fill_buffer(struct draft *d, unsigned char **buf, const struct layout *l)
{
    *buf = malloc((size_t)l->bytes + 2 * SLACK);
    for (int i = 0; i < l->bytes + 2 * SLACK; i++) {
        (*buf)[i] = (unsigned char)(rng_next(&d->r) >> 32);
    }
    for (int i = 0; i < l->n && d->region->basic != NULL; i++) {
        random_value(&d->r, d->seq[0], *buf + SLACK + l->at[i]);
    }
}

static void apply_element(struct draft *d, int i)
{
    struct step *s = d->s;
    const struct basic *b = d->seq[i % d->n_seq];
    unsigned char *there = d->m->model + s->position + s->to.at[i];
    const unsigned char *from = s->from.at != NULL ? s->origin + SLACK + s->from.at[i] : NULL;

    if (s->want != NULL) {
        copy_element(b, s->want + SLACK + s->back.at[i], there);
    }
    if (s->guarded) {
        b->apply(SUM, there, from);
    } else if (s->op == SWAP) {
        bool same = pick(&d->r, 2) != 0;
        random_value(&d->r, b, s->compare);
        if (same) {
            memcpy(s->compare, there, (size_t)b->extent);
        }
        if (memcmp(s->compare, there, (size_t)b->extent) == 0) {
            memcpy(there, from, (size_t)b->extent);
        }
    } else if (s->op == REPLACE && from != NULL) {
        copy_element(b, there, from);
    } else if (s->op < REPLACE) {
        for (int k = 0; k < s->times; k++) {
            b->apply(s->op, there, from);
        }
    }
}

static void effect(struct draft *d)
{
    struct step *s = d->s;
    bool get = s->call == C_GET || s->call == C_RGET,
         plain = s->call == C_FETCH_AND_OP || s->call == C_COMPARE_AND_SWAP;
    if (!get && s->op != NO_OP) {
        layout_make(&s->from, &d->r, plain ? DENSE : draw_shape(d), d->n, d->seq, d->n_seq);
        fill_buffer(d, &s->origin, &s->from);
    }
    if (get || fetches(s->call) || s->guarded) {
        layout_make(&s->back, &d->r, plain ? DENSE : draw_shape(d), d->n, d->seq, d->n_seq);
        fill_buffer(d, &s->result, &s->back);
    }
    if (s->result != NULL && (get || d->exact)) {
        s->want = malloc((size_t)s->back.bytes + 2 * SLACK);
        memcpy(s->want, s->result, (size_t)s->back.bytes + 2 * SLACK);
    }
    for (int i = 0; i < s->to.n; i++) {
        apply_element(d, i);
        struct touch *t = &d->m->touch[s->position + s->to.at[i]];
        for (int b = 0; b < covered(d, i); b++) {
            note_byte(d, &t[b]);
        }
    }
}

/* ---- a step ---- */

/* The window and the target; of several the one that is reached as wished. */
static bool draw_target_rank(struct draft *d)
{
    struct step *s = d->s;
    for (int i = 0; i < 2 * WISHES; i++) {
        s->win = hot.on ? hot.win : pick(&d->r, n_windows);
        s->target = hot.on ? hot.target : pick(&d->r, ranks);
        d->w = &windows[s->win];
        d->m = &memories[d->w->memory][s->target];
        bool open = (plan.locked[s->win][d->rank] >> s->target & 1) != 0 && d->w->bytes[s->target] > 0;
        bool wished =
            d->w->reach[d->rank][s->target] == d->way && (d->call < C_RPUT || is_passive(plan.epoch[s->win]));
        if (open && (hot.on || i > WISHES || wished)) {
            return true;
        }
    }
    return false;
}

static bool draw_place(struct draft *d)
{
    struct step *s = d->s;
    if (!draw_target_rank(d)) {
        return false;
    }
    s->epoch = plan.epoch[s->win];
    if (s->epoch == E_EXCLUSIVE && (plan.exclusive[s->win][d->rank] >> s->target & 1) == 0) {
        s->epoch = E_SHARED;
    }
    s->call = hot.on ? C_ACCUMULATE + d->call % 3 : d->call;
    if (!is_passive(s->epoch) && s->call >= C_RPUT) {
        static const enum call base[CALLS] = {[C_RPUT] = C_PUT,
                                              [C_RGET] = C_GET,
                                              [C_RACCUMULATE] = C_ACCUMULATE,
                                              [C_RGET_ACCUMULATE] = C_GET_ACCUMULATE};
        s->call = base[s->call];
    }
    return draw_region(d);
}

/* In hot rounds others are to come between a load and a store: the same call many times, where it is cheap
 * and the result stays exact. */
static int draw_times(struct draft *d)
{
    bool exact = d->seq[0]->kind != FLOATING && d->seq[0]->kind != COMPLEX;
    if (!hot.on || !exact || fetches(d->s->call) || pick(&d->r, 2)) {
        return 1;
    }
    enum way reach = d->w->reach[d->rank][d->s->target];
    return 1 + pick(&d->r, reach == SELF || reach == NEAR ? 10000 : 20);
}

static bool try_step(struct draft *d)
{
    struct step *s = d->s;
    if (!draw_place(d)) {
        return false;
    }
    s->op = draw_op(d);
    draw_elements(d);
    s->guarded = s->call == C_PUT && s->epoch == E_EXCLUSIVE && set.threads == 1 &&
                 d->region->basic != NULL && d->region->basic->kind == INTEGER && pick(&d->r, 3) != 0;
    if (!draw_target(d)) {
        return false;
    }
    d->exact = s->guarded ? false : fetches(s->call) && !hot.on;
    enum conflict v = judge(d);
    if (v == NEVER || (v == AFTER_MINE && !is_passive(s->epoch))) {
        return false;
    }
    s->times = draw_times(d);
    if (v == AFTER_MINE) {
        draw_before(d);
    }
    clocks[d->worker]++;
    effect(d);
    draw_after(d);
    return true;
}

static void free_step(struct step *s)
{
    layout_free(&s->to);
    layout_free(&s->from);
    layout_free(&s->back);
    free(s->origin);
    free(s->result);
    free(s->want);
}

static void plan_step(int64_t number, int rank, int thread, struct step *s)
{
    struct draft d = {.s = s, .r = rng_of('T', number), .rank = rank, .thread = thread, .seq = s->seq};
    /* Weights, so that what is seldom possible is drawn often enough. */
    static const enum way ways[] = {SELF,   SELF,   NEAR, NEAR, NEAR, NEAR, NEAR,
                                    DIRECT, DIRECT, CMA,  CMA,  CMA,  CMA};
    static const enum call calls[] = {C_PUT,          C_GET,          C_ACCUMULATE,       C_GET_ACCUMULATE,
                                      C_FETCH_AND_OP, C_FETCH_AND_OP, C_COMPARE_AND_SWAP, C_COMPARE_AND_SWAP,
                                      C_RPUT,         C_RGET,         C_RACCUMULATE,      C_RGET_ACCUMULATE};
    d.worker = rank * MAX_THREADS + thread;
    d.call = calls[pick(&d.r, sizeof calls / sizeof *calls)];
    d.locked = !moves(d.call) && pick(&d.r, d.call == C_COMPARE_AND_SWAP ? 3 : 5) == 0;
    d.way = d.locked ? (enum way)pick(&d.r, 2) : ways[pick(&d.r, sizeof ways / sizeof *ways)];
    for (int i = 0; i < TRIES && !s->used && (set.only_step < 0 || set.only_step == number); i++) {
        *s = (struct step){.number = number, .request = MPI_REQUEST_NULL};
        s->used = try_step(&d);
        if (!s->used) {
            layout_free(&s->to);
        }
    }
}

void plan_round(int64_t number)
{
    /* Exclusive locks are not everywhere in their epochs, and not everything is possible in all epochs. */
    static const enum epoch epochs[15] = {E_FENCE,     E_EXCLUSIVE, E_PSCW,  E_ALL,    E_SHARED,
                                          E_EXCLUSIVE, E_PSCW,      E_FENCE, E_ALL,    E_EXCLUSIVE,
                                          E_SHARED,    E_PSCW,      E_ALL,   E_SHARED, E_EXCLUSIVE};
    struct rng r = rng_of('R', number);
    memset(&plan, 0, sizeof plan);
    memset(completed, 0, sizeof completed);
    memset(clocks, 0, sizeof clocks);
    plan.number = number;
    for (int w = 0; w < n_windows; w++) {
        plan.epoch[w] = epochs[(number + w * 4) % 15];
        draw_locks(&r, w);
    }
    draw_hot(&r);
    for (int k = 0; k < STEPS; k++) {
        for (int rank = 0; rank < ranks; rank++) {
            for (int t = 0; t < set.threads; t++) {
                int64_t step = ((number * STEPS + k) * ranks + rank) * set.threads + t;
                plan_step(step, rank, t, &plan.steps[rank][t][k]);
            }
        }
    }
}

void plan_free(void)
{
    for (int rank = 0; rank < ranks; rank++) {
        for (int t = 0; t < set.threads; t++) {
            for (int k = 0; k < STEPS; k++) {
                free_step(&plan.steps[rank][t][k]);
            }
        }
    }
}
