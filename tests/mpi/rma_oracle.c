/* Random one-sided operations against a model of memory (oracle.h says how).
 * usage: rma_oracle [--seed S] [--seconds N | --steps N] [--threads T] [--step N | --round N] [--need
 * WAY,WAY...]
 *
 * --step and --round repeat what a failure names: one step alone, or the round that it stood in. --need: ways
 * --list tells the steps of a round.
 * that this run must cover, each with every call and epoch: self near direct chained lock cma. */
#include "../seed.h"
#include "oracle/oracle.h"

#include <getopt.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct settings set = {.only_step = -1, .only_round = -1, .threads = 1};
int me, ranks;
int64_t round_now;

struct rng rng_of(uint64_t what, int64_t number)
{
    struct rng r = {set.seed ^ what << 56};
    r.state ^= rng_next(&(struct rng){(uint64_t)number * 2654435761u + what});
    return r;
}

uint64_t rng_next(struct rng *r)
{
    r->state += 0x9e3779b97f4a7c15u;
    uint64_t x = r->state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

int pick(struct rng *r, int n)
{
    return (int)(rng_next(r) % (uint64_t)n);
}

/* ---- failures ---- */

static const struct step *find_step(int64_t number)
{
    for (int rank = 0; rank < ranks; rank++) {
        for (int t = 0; t < set.threads; t++) {
            for (int k = 0; k < STEPS; k++) {
                const struct step *s = &plan.steps[rank][t][k];
                if (s->used && s->number == number) {
                    return s;
                }
            }
        }
    }
    return NULL;
}

static void describe(int64_t number)
{
    const struct step *s = find_step(number);
    if (s == NULL) {
        return;
    }
    const struct window *w = &windows[s->win];
    int origin = (int)(number / set.threads % ranks);
    fprintf(stderr,
            "  step %lld: %s%s %s %s, %d x %s%s, rank %d thread %d -> rank %d, byte %d, window %d (%s%s, "
            "unit %d), "
            "epoch %s, reached: %s\n"
            "  layouts: target %s, origin %s, result %s; times %d, completion before %d, after %d\n",
            (long long)number, s->guarded ? "guarded " : "", call_name(s->call), op_name(s->op),
            s->op == SWAP ? "" : "", s->to.n, s->seq[0]->name, s->to.n_of > 1 ? " and others" : "", origin,
            (int)(number % set.threads), s->target, s->position, s->win, flavor_name(w->flavor),
            w->unordered ? ", unordered" : "", w->unit[s->target], epoch_name(s->epoch),
            way_name(w->reach[origin][s->target]), layout_name(&s->to), layout_name(&s->from),
            layout_name(&s->back), s->times, s->before, s->after);
}

static void list_steps(void)
{
    for (int k = 0; k < STEPS; k++) {
        for (int rank = 0; rank < ranks; rank++) {
            for (int t = 0; t < set.threads; t++) {
                describe(plan.steps[rank][t][k].used ? plan.steps[rank][t][k].number : -1);
            }
        }
    }
}

void fail(int64_t step, const char *format, ...)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    va_list args;
    char text[512];

    pthread_mutex_lock(&once); /* the first failure of a rank is the one that is told */
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "rma_oracle: rank %d, round %lld: %s\n", me, (long long)round_now, text);
    describe(step);
    fprintf(stderr, "  repeat: -n %d rma_oracle --seed %llu --threads %d --round %lld", ranks,
            (unsigned long long)set.seed, set.threads, (long long)round_now);
    fprintf(stderr, step < 0 ? "\n" : "   (or alone: --step %lld)\n", (long long)step);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

/* ---- the run ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void one_round(int64_t number)
{
    round_now = number;
    memory_fill(number);
    plan_round(number);
    if (set.loud && me == 0) {
        list_steps();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    play_round();
    MPI_Barrier(MPI_COMM_WORLD);
    memory_check();
    plan_free();
    MPI_Barrier(MPI_COMM_WORLD);
}

static bool goes_on(int64_t round, double begin)
{
    int64_t steps = round * STEPS * ranks * set.threads;
    int more = set.seconds > 0 ? now() - begin < set.seconds : steps < set.steps;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return more;
}

static void run(void)
{
    double begin = now();
    int64_t round = 0;
    if (set.only_round >= 0) {
        setup_open(set.only_round / SETUP_ROUNDS);
        one_round(set.only_round);
        setup_close();
        return;
    }
    while (goes_on(round, begin)) {
        setup_open(round / SETUP_ROUNDS);
        do {
            one_round(round++);
        } while (round % SETUP_ROUNDS != 0 && goes_on(round, begin));
        setup_close();
    }
}

static unsigned parse_ways(char *list)
{
    unsigned need = 0;
    for (char *word = strtok(list, ","); word != NULL; word = strtok(NULL, ",")) {
        int way = 0;
        while (way < WAYS && strcmp(way_name(way), word) != 0) {
            way++;
        }
        if (way == WAYS) {
            fprintf(stderr, "rma_oracle: there is no way %s\n", word);
            exit(2);
        }
        need |= 1u << way;
    }
    return need;
}

static void parse(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", 1, NULL, 's'},    {"seconds", 1, NULL, 't'}, {"steps", 1, NULL, 'n'},
        {"threads", 1, NULL, 'T'}, {"step", 1, NULL, 'S'},    {"round", 1, NULL, 'R'},
        {"need", 1, NULL, 'w'},    {"list", 0, NULL, 'l'},    {NULL, 0, NULL, 0},
    };
    set.seed = seed_of_run();
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (c) {
        case 's':
            set.seed = strtoull(optarg, NULL, 0);
            break;
        case 't':
            set.seconds = strtod(optarg, NULL);
            break;
        case 'n':
            set.steps = strtoll(optarg, NULL, 0);
            break;
        case 'T':
            set.threads = atoi(optarg);
            break;
        case 'S':
            set.only_step = strtoll(optarg, NULL, 0);
            break;
        case 'R':
            set.only_round = strtoll(optarg, NULL, 0);
            break;
        case 'l':
            set.loud = true;
            break;
        case 'w':
            set.need = parse_ways(optarg);
            break;
        default:
            exit(2);
        }
    }
    if (set.threads < 1 || set.threads > MAX_THREADS) {
        fprintf(stderr, "rma_oracle: 1 to %d threads\n", MAX_THREADS);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    int provided;

    parse(argc, argv);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > MAX_RANKS) {
        fprintf(stderr, "rma_oracle: at most %d ranks\n", MAX_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Bcast(&set.seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (set.only_step >= 0) {
        set.only_round = set.only_step / ((int64_t)STEPS * ranks * set.threads);
    }
    if (me == 0) {
        printf("rma_oracle: seed %llu, %d ranks, %d threads\n", (unsigned long long)set.seed, ranks,
               set.threads);
        fflush(stdout);
    }
    run();
    cover_report();
    MPI_Finalize();
    return 0;
}
