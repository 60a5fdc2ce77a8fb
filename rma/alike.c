/* What the ranks of a new window agree on. In the first exchange they compare facts: these are the same
 * on all ranks where the least of all equals the greatest, which is found as the least of all complements. */
#include <stdlib.h>

#include "coll.h"
#include "err.h"
#include "hints.h"
#include "reach.h"

/* What the ranks' least values are taken of, all as one array of 64-bit integers. */
struct fact_words {
    int64_t code; /* the error, or enum hl_win_need */
    int64_t id;
    int64_t far;    /* 1: some rank is on another node, and the network is open */
    int64_t hidden; /* -1: hidden */
    int64_t fact[HL_FACTS], complement[HL_FACTS];
};

static bool is_alike(const struct fact_words *all, enum hl_win_fact f)
{
    return all->fact[f] == ~all->complement[f];
}

struct outcome {
    struct fact_words all;
    bool came, again;
};

static int32_t judge_facts(void *outcome)
{
    struct outcome *o = outcome;
    o->came = true;
    bool alike = o->all.code == 0 && o->all.far != 0;
    for (int f = 0; f < HL_FACT_ADDR; f++) {
        alike = alike && is_alike(&o->all, f);
    }
    bool one_target = is_alike(&o->all, HL_FACT_ADDR) && is_alike(&o->all, HL_FACT_KEY);
    if (o->again && o->all.code == 0 && !is_alike(&o->all, HL_FACT_BASE) &&
        o->all.fact[HL_FACT_SAME] != HL_SAME_NO && ~o->all.complement[HL_FACT_SAME] == HL_SAME_YES) {
        return HL_ALIKE_NOT_YET;
    }
    return !alike ? (int32_t)o->all.code : one_target ? HL_ALIKE : HL_ALIKE_BUT_TARGETS;
}

static void put_facts(struct fact_words *mine, const struct hl_facts *f, int code)
{
    *mine = (struct fact_words){.code = code, .id = f->id, .far = f->far, .hidden = -f->hidden};
    for (int i = 0; i < HL_FACTS; i++) {
        mine->fact[i] = f->fact[i];
        mine->complement[i] = ~f->fact[i];
    }
}

HL_NOINLINE int hl_win_agreed(struct hl_comm *comm, int rc, int lost, int all)
{
    int first;
    if (lost == 0 && all >= HL_NEED_SOMETHING) {
        return all;
    }
    char *text = malloc(HL_ERR_TEXT); /* on the heap, as deep calls follow */
    if (text == NULL) {
        return hl_coll_unable(comm, hl_err_say(HL_ERR_NO_MEM, "no memory for the error of a window"));
    }
    lost = lost != 0 ? lost : hl_coll_first_failed(comm, rc, &first, text);
    rc = rc != 0 ? rc : lost;
    rc = rc != 0 ? rc : hl_err_say(all, "rank %d could not make its part of the window: %s", first, text);
    free(text);
    return rc;
}

int hl_win_agree(struct hl_comm *comm, int rc, int need)
{
    int all = 0;
    int lost = hl_coll_least(comm, rc != 0 ? rc : need, &all);
    return hl_win_agreed(comm, rc, lost, all);
}

/* One exchange of codes and facts: *all is the least of the codes, or what the facts say. Returns 0 or the
 * error of the exchange. It is not inlined, to keep its frame away from that of hl_win_agreed. */
static HL_NOINLINE int compare_facts(struct hl_comm *comm, int code, struct hl_facts *f, int *all)
{
    static const struct hl_facts none;
    struct fact_words mine;
    struct outcome o = {.again = f != NULL && f->again};
    struct hl_type *type = hl_type_of(MPI_INT64_T);
    int64_t n = sizeof mine / sizeof mine.code;
    struct hl_coll_call call = {.what = HL_COLL_ALLREDUCE,
                                .comm = comm,
                                .op = MPI_MIN,
                                .send = {.buf = &mine, .count = n, .type = type},
                                .recv = {.buf = &o.all, .count = n, .type = type}};
    put_facts(&mine, f != NULL ? f : &none, code);
    int lost = hl_coll_settle(&call, judge_facts, &o, all);
    if (lost == 0 && *all >= HL_NEED_SOMETHING && f != NULL) {
        f->lost = !o.came;
        f->id = o.all.id;
        f->hidden = o.all.hidden != 0;
        f->same = o.came && is_alike(&o.all, HL_FACT_BASE);
        f->least_same = o.all.fact[HL_FACT_SAME];
        f->most_same = ~o.all.complement[HL_FACT_SAME];
        f->top = ~o.all.complement[HL_FACT_TOP];
    }
    return lost;
}

int hl_win_compare(struct hl_comm *comm, int rc, int need, struct hl_facts *f)
{
    int all = 0;
    int lost = compare_facts(comm, rc != 0 ? rc : need, f, &all);
    return hl_win_agreed(comm, rc, lost, all);
}

int hl_win_show_bases(struct hl_win *w, const struct hl_win_ask *ask, const struct hl_facts *f)
{
    bool one = w->flavor == MPI_WIN_FLAVOR_SHARED && !ask->apart;
    bool same = !one && f->same && f->most_same != HL_SAME_NO;
    const char *why = one                           ? "parts of contiguous memory follow each other"
                      : f->least_same == HL_SAME_NO ? "another rank said false"
                                                    : "no address is free on all ranks";
    bool wanted = (one ? ask->same : f->most_same) == HL_SAME_YES;
    if (w->flavor != MPI_WIN_FLAVOR_ALLOCATE && w->flavor != MPI_WIN_FLAVOR_SHARED) {
        return 0;
    }
    return hl_hints_show_same(w, same, wanted && !same ? why : NULL);
}
