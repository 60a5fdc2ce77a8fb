/* Memory: what the environment asks for, what a request gets, and what the user should know about it. */
#include "info.h"

#include "err.h"
#include "util.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TRIAL_LEAST ((size_t)1 << 20)
#define TRIAL_SPREAD ((size_t)64 << 20) /* larger pages are tried once and not on each node */

const struct hl_var *info_memory_var(const struct facts *f, int which)
{
    static const char *const beginnings[] = {"MPICH_ALLOC_MEM_", "HOTLANE_FASTMEM_", "HOTLANE_MEM_",
                                             "HOTLANE_INTERNAL_"};
    for (size_t i = 0; i < f->var_count; i++) {
        bool ours = false;
        for (size_t k = 0; k < sizeof beginnings / sizeof beginnings[0]; k++) {
            ours = ours || strncmp(f->vars[i].name, beginnings[k], strlen(beginnings[k])) == 0;
        }
        if (ours && which-- == 0) {
            return &f->vars[i];
        }
    }
    return NULL;
}

static void write_cpus(const struct hl_topo *t, int home, char *out, size_t cap)
{
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; i < HL_TOPO_CPUS && at < cap; i++) {
        int last = i;
        while (t->home[i] == home && last + 1 < HL_TOPO_CPUS && t->home[last + 1] == home) {
            last++;
        }
        if (t->home[i] == home) {
            at += (size_t)snprintf(out + at, cap - at, last > i ? "%s%d-%d" : "%s%d", at > 0 ? "," : "", i,
                                   last);
        }
        i = last;
    }
}

bool info_homes(const struct hl_topo *t, int which, struct info_home *out)
{
    for (out->home = 0; out->home < HL_TOPO_NODES; out->home++) {
        const int8_t *first = memchr(t->home, out->home, sizeof t->home);
        if (first != NULL && which-- == 0) {
            out->cpu = (int)(first - t->home);
            write_cpus(t, out->home, out->cpus, sizeof out->cpus);
            return true;
        }
    }
    return false;
}

/* The kind of memory that is asked for; not called with HL_MEM_ANY. */
static enum hl_topo_kind kind_of(const struct facts *f)
{
    return f->wish.kind == HL_MEM_FAST ? HL_TOPO_FAST : HL_TOPO_DDR;
}

static hl_topo_set usable(const struct facts *f, enum hl_topo_kind kind)
{
    return hl_topo_of(f->topo, kind) & (f->machine == NULL ? hl_topo_bound() : ~(hl_topo_set)0);
}

hl_topo_set info_wanted(const struct facts *f, int cpu)
{
    bool spread = f->wish.rule == HL_MEM_INTERLEAVED;
    hl_topo_set all = f->wish.kind != HL_MEM_ANY || spread ? usable(f, kind_of(f)) : 0;
    if (spread) {
        return all != 0 ? all : usable(f, HL_TOPO_DDR);
    }
    int near = hl_topo_nearest_in(f->topo, all, cpu);
    return near < 0 ? all : (hl_topo_set)1 << near;
}

static void note(struct facts *f, const char *fmt, ...) HL_PRINTF(2, 3);
static void note(struct facts *f, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (f->note_count < (int)(sizeof f->notes / sizeof f->notes[0])) {
        vsnprintf(f->notes[f->note_count++], sizeof f->notes[0], fmt, args);
    }
    va_end(args);
}

static void note_nodes(struct facts *f)
{
    char out[HL_TOPO_TEXT], in[HL_TOPO_TEXT];
    const struct hl_topo *t = f->topo;
    hl_topo_set bound = f->machine == NULL ? hl_topo_bound() : ~(hl_topo_set)0;
    if (t->allowed != t->all) {
        note(f, "a container or batch system keeps node %s from this process: it may use node %s",
             hl_topo_text(t->all & ~t->allowed, out, sizeof out), hl_topo_text(t->allowed, in, sizeof in));
    }
    if ((t->allowed & ~bound) != 0) {
        note(f, "a strict memory policy (numactl --membind) leaves node %s",
             hl_topo_text(t->allowed & bound, in, sizeof in));
    }
    if (t->beyond > 0) {
        note(f, "%d node%s numbered %d or higher %s not used", t->beyond, hl_plural(t->beyond), HL_TOPO_NODES,
             t->beyond == 1 ? "is" : "are");
    }
}

static void note_missing(struct facts *f)
{
    char why[300];
    const struct hl_topo *t = f->topo;
    if (f->wish.kind == HL_MEM_FAST && usable(f, HL_TOPO_FAST) == 0) {
        note(f, "%s: %s",
             hl_topo_of(t, HL_TOPO_FAST) != 0 ? "no fast memory within that policy"
                                              : hl_topo_no_fast(t, why, sizeof why),
             f->wish.rule == HL_MEM_MANDATORY ? "requests fail" : "requests get ordinary memory");
    }
    if (f->wish.kind == HL_MEM_DDR && usable(f, HL_TOPO_DDR) == 0) {
        note(f, "no DDR that this process may use");
    } else if (f->wish.kind == HL_MEM_DDR && (t->fast & t->ddr) != 0) {
        note(f, "all memory of this machine is fast: DDR means the same nodes");
    }
}

/* Pages that are free on the nodes that a thread here wants, and those that the pool may add. */
static uint64_t available(const struct facts *f, size_t page, hl_topo_set nodes)
{
    struct hl_topo_pool pool = {0, 0, 0}, part;
    hl_topo_page_pool(page, &pool);
    uint64_t sum = nodes == 0 ? pool.unused : 0;
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        if ((nodes >> i & 1) != 0 && hl_topo_page_pool_on(i, page, &part)) {
            sum += part.unused;
        }
    }
    return sum + pool.overcommit;
}

static void note_pages(struct facts *f, int cpu)
{
    char asked[32], has[32], on[HL_TOPO_TEXT], where[300] = "/proc/sys/vm/nr_hugepages";
    size_t page = hl_topo_page_natural(f->pages, f->page_count, f->wish.page);
    hl_topo_set nodes = info_wanted(f, cpu);
    info_bytes(f->wish.page, asked, sizeof asked);
    info_bytes(page, has, sizeof has);
    if (f->wish.page > page) {
        note(f,
             "pages of %s are asked for: the largest of this kernel up to that are %s; addresses are "
             "multiples of %s",
             asked, has, asked);
    }
    if (page > hl_topo_page() && available(f, page, nodes) == 0) {
        if (nodes != 0) {
            snprintf(where, sizeof where,
                     "/sys/devices/system/node/node%d/hugepages/hugepages-%zukB/nr_hugepages",
                     __builtin_ctzll(nodes), page >> 10);
        } else {
            snprintf(where, sizeof where, "/sys/kernel/mm/hugepages/hugepages-%zukB/nr_hugepages",
                     page >> 10);
        }
        note(f, "no page of %s is free%s%s: reserve some as root, e.g. echo 128 > %s", has,
             nodes != 0 ? " on node " : "", nodes != 0 ? hl_topo_text(nodes, on, sizeof on) : "", where);
    }
}

static void note_wish(struct facts *f)
{
    if (f->wish.rule == HL_MEM_MANDATORY && !f->wish.rule_on_base && f->wish.page <= hl_topo_page()) {
        note(f, "on base pages policy M of these variables counts as P: ask for huge pages as well, or for M "
                "by the info key hotlane_mem_policy");
    }
    for (int i = 0; hl_conf_note(i) != NULL; i++) {
        note(f, "%s", hl_conf_note(i));
    }
}

static void try_one(struct facts *f)
{
    size_t page = hl_topo_page_natural(f->pages, f->page_count, f->wish.page);
    struct hl_mem_ask ask = {.own_segment = true, .wish = &f->wish};
    struct hl_piece piece;
    f->trial.made = true;
    f->trial.len = page > TRIAL_LEAST ? page : TRIAL_LEAST;
    if (f->wish.rule == HL_MEM_INTERLEAVED && page <= TRIAL_SPREAD && f->topo != NULL) {
        f->trial.len *= hl_max_size(1, (size_t)__builtin_popcountll(info_wanted(f, sched_getcpu())));
    }
    f->trial.rc = hl_mem_alloc(f->trial.len, &ask, &piece);
    if (f->trial.rc == 0) {
        memset(piece.addr, 0, f->trial.len); /* plain memory is on no node before it is touched */
        int known = hl_mem_got(&piece, &f->trial.got);
        snprintf(f->trial.error, sizeof f->trial.error, "%s", known != 0 ? hl_err_text(known) : "");
        hl_mem_free(&piece);
    } else {
        snprintf(f->trial.error, sizeof f->trial.error, "%s", hl_err_text(f->trial.rc));
    }
}

void info_try_memory(struct facts *f)
{
    hl_mem_wish_of_env(&f->wish);
    if (f->machine == NULL) {
        try_one(f);
    }
    if (f->topo != NULL) {
        note_nodes(f);
    }
    if (f->topo != NULL && f->trial.rc == 0) { /* the text of a refusal already says what is missing */
        note_missing(f);
    }
    if (f->topo != NULL && f->machine == NULL && f->trial.rc == 0) {
        note_pages(f, sched_getcpu());
    }
    note_wish(f);
}
