/* perf/scale: builds the library's own schedules of one operation for every rank, and plays them. Prints microseconds of the model,
 * messages, seconds and MiB that it took, and whether one node stood for all.
 * usage: scale-play OPERATION RANKS [NAME=VALUE ...] */
#include "algos.h"
#include "play.h"
#include "shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum {
    WIDTH = HL_SHARED_WIDTH,
    DAEMONS = 32, /* of a launcher: what one of them has below it */
    SAMPLES = 16
};

static int64_t ranks, bytes;
static struct costs costs;
static double daemon_us; /* that a launcher takes for a message of a rank or of another of its own */

static void add(struct program *p, uint32_t kind, int64_t peer, double amount)
{
    static int64_t room; /* of the program that is being made: one at a time */
    room = p->n == 0 ? 0 : room;
    if (p->n == room) {
        room = room != 0 ? 2 * room : 32;
        p->steps = realloc(p->steps, (size_t)room * sizeof *p->steps);
        if (p->steps == NULL) {
            die(1, "no memory for a program of %lld steps", (long long)room);
        }
    }
    p->steps[p->n++] = (struct step){kind, (int32_t)peer, amount};
}

/* ---- the library's schedules ---- */

static int nothing(const struct hl_coll_msg *m, void **request)
{
    (void)m, (void)request;
    return 0;
}
static bool never(void *request, int *error)
{
    (void)request, (void)error;
    return false;
}
static const struct hl_coll_net net = {nothing, nothing, never, NULL};

static void add_step(struct program *p, const struct hl_step *step, int64_t apart)
{
    double amount = step->a.type != NULL ? (double)(step->a.count * step->a.type->size) : 0;
    switch (step->kind) {
    case HL_STEP_SEND:
        add(p, SEND, step->peer * apart, amount);
        break;
    case HL_STEP_RECV:
        add(p, RECV, step->peer * apart, amount);
        break;
    case HL_STEP_WAIT:
        add(p, WAIT, 0, 0);
        break;
    case HL_STEP_RUNS:
        amount *= (double)step->repeat->n;
        add(p, COPY, 0, amount);
        break;
    case HL_STEP_COPY:
    case HL_STEP_REDUCE:
        add(p, COPY, 0, amount);
        break;
    }
}

/* What member `rank` of `size` does in the call, members being `apart` ranks from each other. */
static void add_schedule(struct program *p, enum hl_coll what, int64_t rank, int64_t size, int64_t apart,
                         int64_t n)
{
    static struct hl_sched s;
    static char buf[2][64]; /* never touched */
    struct hl_group group = {.size = (int)size, .stride = 1};
    struct hl_comm comm = {.ctx = 64,
                           .rank = (int)rank,
                           .size = (int)size,
                           .group = &group,
                           .peers = &group,
                           .n_peers = (int)size,
                           .one_node = ranks <= costs.node};
    struct hl_type *t = hl_type_of(what == HL_COLL_ALLREDUCE ? MPI_INT32_T : MPI_BYTE);
    struct hl_coll_side out = {.buf = buf[0], .count = n / t->size, .type = t}, in = out;
    in.buf = buf[1];
    struct hl_coll_call call = {.what = what, .comm = &comm, .op = MPI_MIN, .send = out, .recv = in};

    hl_sched_init_tagged(&s, &net, &comm, HL_PLANE_COLL, 0);
    if (hl_coll_build(&s, &call) != 0) {
        die(1, "the schedule of rank %lld cannot be built", (long long)rank);
    }
    for (int64_t i = 0; i < s.n; i++) {
        add_step(p, &s.steps[i], apart);
    }
    add(p, WAIT, 0, 0);
    hl_sched_fini(&s);
}

/* ---- what goes through memory of the node: meet_tree of shared_bcast.c, fold_up of shared_reduce.c ---- */

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void add_board(struct program *p, enum hl_coll what, int64_t rank, int64_t n)
{
    int64_t first = rank / costs.node * costs.node, me = rank - first,
            here = min64(costs.node, ranks - first);
    int64_t nodes = (ranks + costs.node - 1) / costs.node;
    bool flat = here <= WIDTH && nodes == 1;

    for (int64_t i = 0; flat && i < here; i++) {
        if (i != me) {
            add(p, NOTE, first + i, (double)n);
        }
    }
    for (int64_t i = 0; flat && i < here; i++) {
        if (i != me) {
            add(p, READ, first + i, (double)n);
        }
    }
    for (int64_t step = 1; !flat && step < here; step *= WIDTH) {
        int64_t parent = me - me % (step * WIDTH);
        if (parent != me) {
            add(p, NOTE, first + parent, (double)n);
            add(p, READ, first, (double)n);
            add(p, WAIT, 0, 0);
            return;
        }
        for (int64_t k = 1; k < WIDTH && me + k * step < here; k++) {
            add(p, READ, first + me + k * step, (double)n);
        }
        add(p, WAIT, 0, 0);
    }
    if (nodes > 1) {
        add_schedule(p, what, rank / costs.node, nodes, costs.node, n);
    }
    for (int64_t i = 1; !flat && i < here; i++) {
        add(p, NOTE, first + i, (double)n);
    }
    add(p, WAIT, 0, 0);
}

/* ---- the stencil's: eight neighbours of a torus; blocks are put and flushed, flags follow, those of the others are awaited ---- */

static int64_t neighbour(int64_t rank, int64_t wide, int64_t dx, int64_t dy)
{
    int64_t high = ranks / wide, x = (rank % wide + dx + wide) % wide, y = (rank / wide + dy + high) % high;
    return y * wide + x;
}

static void add_halo(struct program *p, int64_t rank)
{
    int64_t wide = 1;
    for (int64_t w = 1; w * w <= ranks; w++) {
        wide = ranks % w == 0 ? ranks / w : wide;
    }
    for (int round = 0; round < 3; round++) { /* blocks, what ends them, flags */
        for (int d = 0; d < 9; d++) {
            int64_t peer = neighbour(rank, wide, d % 3 - 1, d / 3 - 1);
            if (peer != rank) {
                add(p, SEND, peer, round == 0 ? (double)bytes : 8);
            }
        }
        for (int d = 8; d >= 0; d--) { /* what its d sends me is my 8 - d */
            int64_t peer = neighbour(rank, wide, d % 3 - 1, d / 3 - 1);
            if (peer != rank) {
                add(p, RECV, peer, 8);
            }
        }
        add(p, WAIT, 0, 0);
    }
}

static void add_put(struct program *p, int64_t rank)
{
    if (rank == 0 || rank == ranks - 1) {
        int64_t peer = rank == 0 ? ranks - 1 : 0;
        add(p, rank == 0 ? SEND : RECV, peer, (double)bytes);
        add(p, WAIT, 0, 0);
        add(p, rank == 0 ? RECV : SEND, peer, 8);
    }
    add(p, WAIT, 0, 0);
}

/* A fence of a launcher that has one process on each node, which are a tree: up and down. */
static void add_launcher(struct program *p, int64_t daemon)
{
    int64_t nodes = (ranks + costs.node - 1) / costs.node, first = daemon * DAEMONS + 1;
    int64_t end = min64(first + DAEMONS, nodes), own = min64(costs.node, ranks - daemon * costs.node);
    int64_t parent = (daemon - 1) / DAEMONS;

    add(p, PAUSE, 0, daemon_us * (double)own);
    for (int64_t i = first; i < end; i++) {
        add(p, RECV, i, 8);
    }
    add(p, WAIT, 0, 0);
    add(p, PAUSE, 0, daemon_us * (double)(end > first ? end - first : 0));
    if (daemon != 0) {
        add(p, SEND, parent, 8);
        add(p, RECV, parent, 8);
        add(p, WAIT, 0, 0);
    }
    for (int64_t i = first; i < end; i++) {
        add(p, PAUSE, 0, daemon_us);
        add(p, SEND, i, 8);
    }
    add(p, PAUSE, 0, daemon_us * (double)own);
}

static struct program program_of(const char *what, int64_t rank)
{
    struct program p = {0};
    if (strcmp(what, "launcher") == 0) {
        add_launcher(&p, rank);
    } else if (strcmp(what, "halo") == 0) {
        add_halo(&p, rank);
    } else if (strcmp(what, "put") == 0) {
        add_put(&p, rank);
    } else if (strcmp(what, "barrier") == 0) { /* once a communicator shares memory */
        add_board(&p, HL_COLL_BARRIER, rank, 0);
    } else if (strcmp(what, "allreduce") == 0) {
        add_board(&p, HL_COLL_ALLREDUCE, rank, bytes);
    } else {
        static const struct {
            const char *name;
            enum hl_coll what;
        } by_messages[] = {{"barrier-messages", HL_COLL_BARRIER},
                           {"allreduce-messages", HL_COLL_ALLREDUCE},
                           {"allgather", HL_COLL_ALLGATHER},
                           {"alltoall", HL_COLL_ALLTOALL}};
        size_t i = 0;
        while (i < sizeof by_messages / sizeof by_messages[0] && strcmp(what, by_messages[i].name) != 0) {
            i++;
        }
        if (i == sizeof by_messages / sizeof by_messages[0]) {
            die(2, "%s is no operation", what);
        }
        add_schedule(&p, by_messages[i].what, rank, ranks, 1, bytes);
    }
    void *fitting = realloc(p.steps, (size_t)p.n * sizeof *p.steps);
    p.steps = fitting != NULL ? fitting : p.steps;
    return p;
}

/* Is a rank's program that of its like on the first node, with all ranks shifted? */
static bool is_shifted(const struct program *p, const struct program *first, int64_t shift)
{
    for (int64_t i = 0; i < p->n && p->n == first->n; i++) {
        const struct step *a = &p->steps[i], *b = &first->steps[i];
        bool speaks = a->kind == SEND || a->kind == RECV || a->kind == NOTE || a->kind == READ;
        if (a->kind != b->kind || a->amount != b->amount ||
            (speaks && a->peer != (b->peer + shift) % ranks)) {
            return false;
        }
    }
    return p->n == first->n;
}

/* Looked at: the nodes behind the first one, the last one and one in the middle, all of their ranks. The stencil's torus is not
 * the same for all nodes: rows of ranks end within some. */
static bool folds(const char *what, const struct program *first)
{
    int64_t nodes = ranks / costs.node;
    bool same = ranks > costs.node && ranks % costs.node == 0 && strcmp(what, "halo") != 0;
    for (int64_t i = 1; same && i <= SAMPLES + 2; i++) {
        int64_t node = i <= SAMPLES ? i % nodes : i == SAMPLES + 1 ? nodes / 2 : nodes - 1;
        for (int64_t k = 0; same && k < costs.node; k++) {
            struct program p = program_of(what, node * costs.node + k);
            same = is_shifted(&p, &first[k], node * costs.node);
            free(p.steps);
        }
    }
    return same;
}

/* The operation's settings, by name. */
static void set(const char *word)
{
    double node = costs.node, size = (double)bytes;
    const struct {
        const char *name;
        double *value;
    } all[] = {{"node", &node},           {"bytes", &size},
               {"turns", &costs.turns},   {"call", &costs.start},
               {"copy", &costs.copy},     {"launcher", &daemon_us},
               {"near.o", &costs.near.o}, {"near.l", &costs.near.l},
               {"near.g", &costs.near.g}, {"near.byte", &costs.near.per_byte},
               {"far.o", &costs.far.o},   {"far.l", &costs.far.l},
               {"far.g", &costs.far.g},   {"far.byte", &costs.far.per_byte}};
    const char *value = strchr(word, '=');
    size_t len = value != NULL ? (size_t)(value - word) : 0, i = 0, n = sizeof all / sizeof all[0];
    while (i < n && (strlen(all[i].name) != len || strncmp(word, all[i].name, len) != 0)) {
        i++;
    }
    char *end = NULL;
    if (i < n) {
        *all[i].value = strtod(value + 1, &end);
    }
    if (end == NULL || end == value + 1 || *end != 0 || !(*all[i].value >= 0)) {
        die(2, "%s: expected the name of a cost, = and a number from 0", word);
    }
    if (!(node >= 1 && node <= INT32_MAX && size < 1e15 && costs.turns >= 1)) {
        die(2, "%s: expected at least 1 for node and turns, and less than 10^15 bytes", word);
    }
    costs.node = (int)node, bytes = (int64_t)size;
}

static struct played play_all(const char *what, bool *fold)
{
    bool launcher = strcmp(what, "launcher") == 0; /* whose processes are played, one for each node */
    int64_t n = launcher ? (ranks + costs.node - 1) / costs.node : ranks, here = min64(costs.node, n);
    struct program *p = calloc((size_t)n, sizeof *p);
    if (p == NULL) {
        die(1, "no memory for %lld ranks", (long long)n);
    }
    for (int64_t i = 0; i < here; i++) {
        p[i] = program_of(what, i);
    }
    *fold = !launcher && folds(what, p);
    for (int64_t i = here; !*fold && i < n; i++) {
        p[i] = program_of(what, i);
    }
    if (launcher) {
        costs.node = 1;
    }
    struct played found = play(p, n, &costs, *fold);
    if (!found.ended) {
        die(1, "%s of %lld ranks does not end", what, (long long)ranks);
    }
    found.messages *= *fold ? n / here : 1;
    for (int64_t i = 0; i < (*fold ? here : n); i++) {
        free(p[i].steps);
    }
    free(p);
    return found;
}

int main(int argc, char **argv)
{
    struct timespec begin, end;
    struct rusage used;
    bool fold;
    char *rest;
    costs = (struct costs){.node = 1, .turns = 1};
    if (argc < 3) {
        die(2, "usage: scale-play OPERATION RANKS [NAME=VALUE ...]");
    }
    ranks = strtoll(argv[2], &rest, 10);
    if (*rest != 0 || ranks < 1 || ranks > INT32_MAX) {
        die(2, "%s: expected a number of ranks from 1 to %d", argv[2], INT32_MAX);
    }
    for (int i = 3; i < argc; i++) {
        set(argv[i]);
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    struct played found = play_all(argv[1], &fold);
    clock_gettime(CLOCK_MONOTONIC, &end);
    getrusage(RUSAGE_SELF, &used);
    printf("us %.3f messages %lld seconds %.2f MiB %ld folded %d\n", found.time, (long long)found.messages,
           (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec),
           used.ru_maxrss / 1024, fold);
    return 0;
}
