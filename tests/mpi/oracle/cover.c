/* What was drawn: call, epoch and way; classes of layouts on each side; and whether it was enough. */
#include "oracle.h"

#include <hotlane.h>
#include <stdio.h>
#include <stdlib.h>

enum { WRITES, READS, ATOMICS, MESSAGES, CHAINS, CMAS, RPC_SLOTS, LOCKS, COUNTERS };
static const char *const counters[COUNTERS] = {"writes",  "reads",      "atomics", "messages",
                                               "chained", "cma_copies", "trays",   "near_locks"};
static long long before[COUNTERS];

struct tally {
    int64_t cells[CALLS][EPOCHS][WAYS];
    int64_t classes[2][CLASSES]; /* origin side, target */
};
static struct tally mine;

const char *way_name(int way)
{
    static const char *const names[WAYS] = {"self", "near", "direct", "chained", "lock", "cma"};
    return names[way];
}

static void read_counters(long long *out)
{
    for (int i = 0; i < COUNTERS; i++) {
        out[i] = 0;
        hotlane_counter(counters[i], &out[i]); /* one that this library does not have stays 0 */
    }
}

void cover_before(void)
{
    read_counters(before);
}

/* A far operation is posted, or sent as a message, or it stands in a chain, which travels later. */
static enum way far_way(const long long *moved)
{
    if (moved[WRITES] + moved[READS] + moved[ATOMICS] > 0 || (moved[MESSAGES] > 0 && moved[CHAINS] == 0)) {
        return DIRECT;
    }
    return CHAINED;
}

enum way cover_after(enum way reach)
{
    long long now[COUNTERS], network = 0;
    read_counters(now);
    for (int i = 0; i < COUNTERS; i++) {
        now[i] -= before[i];
        network += i < CMAS ? now[i] : 0;
    }
    if (reach == DIRECT || network > 0) {
        return far_way(now);
    }
    return now[CMAS] + now[RPC_SLOTS] > 0 ? CMA : now[LOCKS] > 0 ? LOCKED : reach;
}

static void count_side(int side, const struct layout *l)
{
    if (l->at == NULL) {
        return;
    }
    bool pair = false, large = false;
    for (int i = 0; i < l->n_of; i++) {
        pair = pair || l->of[i]->kind == PAIR;
        large = large || l->of[i]->extent >= 16;
    }
    mine.classes[side][l->shape]++;
    mine.classes[side][CLASS_PAIR] += pair;
    mine.classes[side][CLASS_16] += large;
}

void cover_count(const struct step *s, enum way way)
{
    mine.cells[s->call][s->epoch][way]++;
    count_side(0, s->from.at != NULL ? &s->from : &s->back);
    count_side(1, &s->to);
}

static bool possible(int call, int epoch, int way)
{
    bool request = call >= C_RPUT, moves = call == C_PUT || call == C_GET || call == C_RPUT || call == C_RGET;
    return !(request && (epoch == E_FENCE || epoch == E_PSCW)) && !(moves && way == LOCKED);
}

static int short_of(int64_t n, int64_t least, const char *a, const char *b, const char *c)
{
    if (n >= least) {
        return 0;
    }
    fprintf(stderr, "not covered: %s, %s, %s: %lld times instead of %lld\n", a, b, c, (long long)n,
            (long long)least);
    return 1;
}

static void print(const struct tally *all)
{
    printf("%-18s %-10s", "call", "epoch");
    for (int way = 0; way < WAYS; way++) {
        printf("%9s", way_name(way));
    }
    for (int call = 0; call < CALLS; call++) {
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            printf("\n%-18s %-10s", call_name(call), epoch_name(epoch));
            for (int way = 0; way < WAYS; way++) {
                printf(possible(call, epoch, way) ? "%9lld" : "%9.0lld",
                       (long long)all->cells[call][epoch][way]);
            }
        }
    }
    for (int side = 0; side < 2; side++) {
        printf("\n%s:", side == 0 ? "origin" : "target");
        for (int c = 0; c < CLASSES; c++) {
            printf(" %s %lld", class_name(c), (long long)all->classes[side][c]);
        }
    }
    printf("\n");
}

/* Cells of `way` that are missing. */
static int judge_way(const struct tally *all, int way, int64_t least)
{
    int bad = 0;
    for (int call = 0; call < CALLS; call++) {
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            bad += possible(call, epoch, way) && short_of(all->cells[call][epoch][way], least,
                                                          call_name(call), epoch_name(epoch), way_name(way));
        }
    }
    return bad;
}

void cover_report(void)
{
    struct tally all;
    int64_t done = 0;
    int bad = 0;

    MPI_Reduce(&mine, &all, sizeof all / sizeof(int64_t), MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me != 0 || set.only_step >= 0 || set.only_round >= 0) {
        return;
    }
    print(&all);
    for (int c = 0; c < SHAPES; c++) {
        done += all.classes[1][c];
    }
    printf("%lld operations\n", (long long)done);
    fflush(stdout);
    for (int way = 0; way < WAYS && done >= 10000; way++) {
        bad += (set.need >> way & 1) != 0 ? judge_way(&all, way, done / 500) : 0;
    }
    for (int c = 0; c < CLASSES && done >= 10000; c++) {
        bad += short_of(all.classes[0][c], done / 500, class_name(c), "origin", "");
        bad += short_of(all.classes[1][c], done / 500, class_name(c), "target", "");
    }
    if (bad != 0) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}
