/* A step: random puts, gets, atomics and messages, compared with a model of their results.
 *
 * Every rank has a slice of each other rank's window that no other rank changes, and a copy of what must be
 * in it. A round has SLOTS operations on random targets, flushed together. Only one of them uses a slot, so
 * they may happen in any order. Atomics on one word come in their order. Meanwhile messages go round, and all
 * ranks add to each other's counters. */
#include "proof.h"

#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 64
#define SLOT 256
#define WORDS 16
#define MESSAGES 4                /* most messages of a round to one rank */
#define MESSAGE ((size_t)1 << 18) /* most bytes of one */
#define BATCH 8                   /* rounds after which the ranks agree whether to go on */
#define COUNTER 64                /* bytes before the slices, for the counter */

struct slice {
    unsigned char slots[SLOTS][SLOT];
    uint64_t words[WORDS];
};

enum kind { PUT, GET, FETCH_ADD, ADD, REPLACE, SWAP, KINDS };
static const char *const calls[KINDS] = {"MPI_Put",        "MPI_Get",        "MPI_Fetch_and_op",
                                         "MPI_Accumulate", "MPI_Accumulate", "MPI_Compare_and_swap"};

struct operation {
    enum kind kind;
    int target;
    uint64_t operand, compare, result, expected;
    size_t offset, len;
    unsigned char from[SLOT], to[SLOT];
};

struct oracle {
    const struct proof *p;
    struct finding *f;
    uint64_t rng;
    MPI_Win win;
    char *base;
    struct slice *model;    /* [ranks] my slice at each */
    uint64_t *last, *added; /* [ranks] of each counter: the last value that I saw, and how often I added */
    struct operation ops[SLOTS];
    unsigned char *out, *in; /* MESSAGES of MESSAGE bytes each */
    uint64_t done, messages; /* number of operations, and of messages that arrived */
};

uint64_t proof_draw(uint64_t *state)
{
    return hl_mix64(*state += UINT64_C(0x9e3779b97f4a7c15));
}

static size_t below(struct oracle *o, size_t n)
{
    return (size_t)(proof_draw(&o->rng) % n);
}

static int some_target(struct oracle *o)
{
    return (o->p->me + 1 + (int)below(o, (size_t)o->p->ranks - 1)) % o->p->ranks;
}

static void fill(unsigned char *bytes, size_t len, uint64_t seed)
{
    for (size_t i = 0; i < len; i += sizeof seed) {
        uint64_t word = proof_draw(&seed);
        memcpy(bytes + i, &word, hl_min_size(sizeof word, len - i));
    }
}

/* ---- one-sided ---- */

static MPI_Aint place(const struct oracle *o, size_t offset)
{
    return (MPI_Aint)(COUNTER + (size_t)o->p->me * sizeof(struct slice) + offset);
}

/* Puts or gets random bytes of a slot by one call. */
static int move(struct oracle *o, struct operation *op, size_t slot)
{
    op->offset = below(o, SLOT);
    op->len = 1 + below(o, SLOT - op->offset);
    unsigned char *model = o->model[op->target].slots[slot] + op->offset;
    MPI_Aint at = place(o, slot * SLOT + op->offset);
    int n = (int)op->len;
    if (op->kind == GET) {
        return MPI_Get(op->to, n, MPI_BYTE, op->target, at, n, MPI_BYTE, o->win);
    }
    fill(op->from, op->len, proof_draw(&o->rng));
    memcpy(model, op->from, op->len);
    return MPI_Put(op->from, n, MPI_BYTE, op->target, at, n, MPI_BYTE, o->win);
}

static int change(struct oracle *o, struct operation *op)
{
    size_t word = below(o, WORDS);
    uint64_t *model = &o->model[op->target].words[word];
    MPI_Aint at = place(o, offsetof(struct slice, words) + word * sizeof(uint64_t));
    op->operand = proof_draw(&o->rng);
    op->expected = *model;
    op->compare = below(o, 2) == 0 ? *model : ~*model; /* equal or not */
    switch (op->kind) {
    case FETCH_ADD:
        *model += op->operand;
        return MPI_Fetch_and_op(&op->operand, &op->result, MPI_UINT64_T, op->target, at, MPI_SUM, o->win);
    case ADD:
        *model += op->operand;
        return MPI_Accumulate(&op->operand, 1, MPI_UINT64_T, op->target, at, 1, MPI_UINT64_T, MPI_SUM,
                              o->win);
    case REPLACE:
        *model = op->operand;
        return MPI_Accumulate(&op->operand, 1, MPI_UINT64_T, op->target, at, 1, MPI_UINT64_T, MPI_REPLACE,
                              o->win);
    default:
        *model = op->compare == op->expected ? op->operand : op->expected;
        return MPI_Compare_and_swap(&op->operand, &op->compare, &op->result, MPI_UINT64_T, op->target, at,
                                    o->win);
    }
}

static void check_one(struct oracle *o, const struct operation *op, size_t slot)
{
    if (op->kind == GET && memcmp(op->to, o->model[op->target].slots[slot] + op->offset, op->len) != 0) {
        proof_fail(o->f, "a get of %zu bytes from rank %d brought other bytes than those that were put there",
                   op->len, op->target);
    } else if ((op->kind == FETCH_ADD || op->kind == SWAP) && op->result != op->expected) {
        proof_fail(o->f, "%s at rank %d fetched %#llx where %#llx had been left", calls[op->kind], op->target,
                   (unsigned long long)op->result, (unsigned long long)op->expected);
    }
}

static void flush(struct oracle *o)
{
    (void)proof_went(o->f, MPI_Win_flush_all(o->win), "MPI_Win_flush_all");
}

/* Puts all slots of a target by one call: more data than an eager message carries. */
static void put_all(struct oracle *o)
{
    int target = some_target(o);
    struct slice *s = &o->model[target];
    int n = (int)sizeof s->slots;
    fill(s->slots[0], sizeof s->slots, proof_draw(&o->rng));
    (void)proof_went(o->f, MPI_Put(s->slots, n, MPI_BYTE, target, place(o, 0), n, MPI_BYTE, o->win),
                     "MPI_Put");
    flush(o);
    o->done++;
}

/* Adds to a target's counter. Each addition must be seen by the next, so values that a rank fetches from one
 * counter must grow. */
static void count_up(struct oracle *o)
{
    int target = some_target(o);
    uint64_t one = 1, before = 0;
    int rc = MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, target, 0, MPI_SUM, o->win);
    flush(o);
    if (proof_went(o->f, rc, "MPI_Fetch_and_op") && o->added[target] > 0 && before <= o->last[target]) {
        proof_fail(o->f, "the counter of rank %d went back from %llu to %llu", target,
                   (unsigned long long)o->last[target], (unsigned long long)before);
    }
    o->last[target] = before;
    o->added[target]++;
    o->done++;
}

static void operate(struct oracle *o)
{
    if (below(o, 8) == 0) {
        put_all(o);
    }
    for (size_t i = 0; i < SLOTS; i++) {
        struct operation *op = &o->ops[i];
        op->kind = (enum kind)below(o, KINDS);
        op->target = some_target(o);
        int rc = op->kind == PUT || op->kind == GET ? move(o, op, i) : change(o, op);
        (void)proof_went(o->f, rc, calls[op->kind]);
    }
    flush(o);
    for (size_t i = 0; i < SLOTS; i++) {
        check_one(o, &o->ops[i], i);
    }
    o->done += SLOTS;
    count_up(o);
}

/* ---- messages ---- */

/* What rank `from` sends in a round, which both sides compute: returns the number of messages, and the bytes
 * and seed of each. */
static int plan(const struct oracle *o, int from, uint64_t round, size_t len[MESSAGES],
                uint64_t seed[MESSAGES])
{
    uint64_t state = o->p->seed ^ hl_mix64(round * (uint64_t)o->p->ranks + (uint64_t)from);
    int n = (int)(proof_draw(&state) % (MESSAGES + 1));
    for (int i = 0; i < n; i++) {
        size_t most = (size_t)1 << proof_draw(&state) % 19; /* up to MESSAGE */
        len[i] = (size_t)(proof_draw(&state) % (most + 1));
        seed[i] = proof_draw(&state);
    }
    return n;
}

static void check_messages(struct oracle *o, int from, int n, const size_t *len, const uint64_t *seed,
                           const MPI_Status *status)
{
    for (int i = 0; i < n; i++) {
        unsigned char *expected = o->out; /* the messages sent from it have left */
        int got = 0;
        MPI_Get_count(&status[i], MPI_BYTE, &got);
        fill(expected, len[i], seed[i]);
        if ((size_t)got != len[i] || memcmp(o->in + (size_t)i * MESSAGE, expected, len[i]) != 0) {
            proof_fail(o->f, "message %d of %d from rank %d has %d bytes; %zu others were sent", i + 1, n,
                       from, got, len[i]);
            return;
        }
        o->messages++;
    }
}

/* Sends messages to one rank and receives from another, while one-sided operations are under way. */
static void send_around(struct oracle *o, uint64_t round)
{
    int ranks = o->p->ranks, shift = 1 + (int)(round % (uint64_t)(ranks - 1));
    int to = (o->p->me + shift) % ranks, from = (o->p->me + ranks - shift) % ranks;
    size_t len[MESSAGES], in_len[MESSAGES];
    uint64_t seed[MESSAGES], in_seed[MESSAGES];
    int n = plan(o, o->p->me, round, len, seed), in = plan(o, from, round, in_len, in_seed);
    MPI_Request requests[2 * MESSAGES];
    MPI_Status status[2 * MESSAGES];
    for (int i = 0; i < in; i++) {
        MPI_Irecv(o->in + (size_t)i * MESSAGE, (int)MESSAGE, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < n; i++) {
        unsigned char *bytes = o->out + (size_t)i * MESSAGE;
        fill(bytes, len[i], seed[i]);
        MPI_Isend(bytes, (int)len[i], MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests[in + i]);
    }
    operate(o);
    if (proof_went(o->f, MPI_Waitall(in + n, requests, status), "MPI_Waitall")) {
        check_messages(o, from, in, in_len, in_seed, status);
    }
}

/* ---- the end ---- */

/* Compares, at the targets, what is in their memory with the origins' models. */
static void compare_slices(struct oracle *o)
{
    struct slice *theirs = (void *)o->in;
    MPI_Win_sync(o->win);
    for (int shift = 1; shift < o->p->ranks; shift++) {
        int to = (o->p->me + shift) % o->p->ranks, from = (o->p->me + o->p->ranks - shift) % o->p->ranks;
        int rc = MPI_Sendrecv(&o->model[to], sizeof *theirs, MPI_BYTE, to, 2, theirs, sizeof *theirs,
                              MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (proof_went(o->f, rc, "MPI_Sendrecv") &&
            memcmp(o->base + COUNTER + (size_t)from * sizeof *theirs, theirs, sizeof *theirs) != 0) {
            proof_fail(o->f, "what rank %d has put and added is not in memory here", from);
        }
    }
}

static void compare_counters(struct oracle *o)
{
    uint64_t counter;
    memcpy(&counter, o->base, sizeof counter);
    MPI_Allreduce(MPI_IN_PLACE, o->added, o->p->ranks, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (counter != o->added[o->p->me]) {
        proof_fail(o->f, "a counter that ranks added 1 to %llu times is %llu",
                   (unsigned long long)o->added[o->p->me], (unsigned long long)counter);
    }
}

static bool goes_on(struct oracle *o, uint64_t end_ns)
{
    int over = o->f->failed || (o->p->me == 0 && hl_now_ns() > end_ns);
    return proof_went(o->f, MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD),
                      "MPI_Allreduce") &&
           !over;
}

static void run(struct oracle *o)
{
    uint64_t end_ns = hl_now_ns() + (uint64_t)(o->p->seconds * 1e9), round = 0;
    MPI_Win_lock_all(0, o->win);
    MPI_Barrier(MPI_COMM_WORLD);
    do {
        for (int i = 0; i < BATCH; i++) {
            send_around(o, round++);
        }
    } while (goes_on(o, end_ns));
    MPI_Barrier(MPI_COMM_WORLD);
    compare_slices(o);
    compare_counters(o);
    MPI_Win_unlock_all(o->win);
}

static void tell(struct oracle *o)
{
    uint64_t sums[2] = {o->done, o->messages};
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (!o->f->failed) {
        snprintf(
            o->f->text, sizeof o->f->text,
            "%llu puts, gets and atomics, and %llu messages of up to %zu bytes beside them, did what a model "
            "of memory says",
            (unsigned long long)sums[0], (unsigned long long)sums[1], MESSAGE);
    }
}

void proof_random(struct proof *p, struct finding *f)
{
    size_t n = (size_t)p->ranks, len = COUNTER + n * sizeof(struct slice);
    struct oracle *o = calloc(1, sizeof *o);
    if (o == NULL) {
        proof_fail(f, "no memory");
        return;
    }
    *o = (struct oracle){.p = p, .f = f, .rng = hl_mix64(p->seed ^ (uint64_t)p->me)};
    o->model = calloc(n, sizeof *o->model);
    o->last = calloc(n, sizeof *o->last);
    o->added = calloc(n, sizeof *o->added);
    o->out = malloc(MESSAGES * MESSAGE);
    o->in = malloc(MESSAGES * MESSAGE);
    int lacks = o->model == NULL || o->last == NULL || o->added == NULL || o->out == NULL || o->in == NULL;
    MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (lacks) {
        proof_fail(f, "no memory for the model on some rank");
    } else if (proof_went(
                   f, MPI_Win_allocate((MPI_Aint)len, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &o->base, &o->win),
                   "MPI_Win_allocate")) {
        MPI_Win_set_errhandler(o->win, MPI_ERRORS_RETURN);
        memset(o->base, 0, len);
        MPI_Barrier(MPI_COMM_WORLD);
        run(o);
        tell(o);
        MPI_Win_free(&o->win);
    }
    free(o->model);
    free(o->last);
    free(o->added);
    free(o->out);
    free(o->in);
    free(o);
}
