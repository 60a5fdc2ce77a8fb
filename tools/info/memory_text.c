/* hotlane-info --memory as text. */
#include "info.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static bool alike(const struct hl_topo *t, int a, int b)
{
    return hl_topo_kind_of(t, a) == hl_topo_kind_of(t, b) && strcmp(t->why[a], t->why[b]) == 0 &&
           (t->allowed >> a & 1) == (t->allowed >> b & 1);
}

/* Writes the size of a node, "64.0 GiB", or of several, "62.5-64.0 GiB each". */
static void write_sizes(const struct hl_topo *t, hl_topo_set set, char *out, size_t cap)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        if ((set >> i & 1) != 0) {
            least = t->bytes[i] < least ? t->bytes[i] : least;
            most = t->bytes[i] > most ? t->bytes[i] : most;
        }
    }
    bool gib = most >= (uint64_t)1 << 30;
    char low[24], high[24];
    snprintf(low, sizeof low, "%.*f", gib, (double)least / (gib ? 1 << 30 : 1 << 20));
    snprintf(high, sizeof high, "%.*f", gib, (double)most / (gib ? 1 << 30 : 1 << 20));
    bool range = strcmp(low, high) != 0;
    snprintf(out, cap, "%s%s%s %s%s", low, range ? "-" : "", range ? high : "", gib ? "GiB" : "MiB",
             (set & (set - 1)) != 0 ? " each" : "");
}

/* Prints the nodes; those that are alike share a line. */
static void show_nodes(const struct hl_topo *t)
{
    hl_topo_set left = t->all;
    printf("\nNodes\n");
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        hl_topo_set group = 0;
        char set[HL_TOPO_TEXT], size[80];
        for (int k = i; k < HL_TOPO_NODES && (left >> i & 1) != 0; k++) {
            group |= (left >> k & 1) != 0 && alike(t, i, k) ? (hl_topo_set)1 << k : 0;
        }
        left &= ~group;
        if (group != 0) {
            write_sizes(t, group, size, sizeof size);
            printf("  %-8s %-5s  %-16s  %s%s\n", hl_topo_text(group, set, sizeof set),
                   hl_topo_kind_name(hl_topo_kind_of(t, i)), size, t->why[i],
                   (t->allowed >> i & 1) != 0 ? "" : "; not allowed to this process");
        }
    }
}

static void show_near(const struct hl_topo *t, enum hl_topo_kind kind, int cpu)
{
    int node = hl_topo_nearest_in(t, hl_topo_of(t, kind), cpu);
    if (node >= 0) {
        printf("  %s node %d", hl_topo_kind_name(kind), node);
    }
}

static void show_nearest(const struct facts *f)
{
    struct info_home h;
    int cpu = f->machine == NULL ? sched_getcpu() : -1;
    printf("\nNearest nodes\n");
    for (int i = 0; info_homes(f->topo, i, &h); i++) {
        printf("  CPUs %-8s", h.cpus);
        show_near(f->topo, HL_TOPO_DDR, h.cpu);
        show_near(f->topo, HL_TOPO_FAST, h.cpu);
        if (cpu >= 0 && cpu < HL_TOPO_CPUS && f->topo->home[cpu] == h.home) {
            printf("  (this thread: CPU %d)", cpu);
        }
        printf("\n");
    }
}

/* Prints the parts of a pool of pages by node; nodes with equal parts stand together. */
static void show_parts(size_t page)
{
    struct hl_topo_pool part[HL_TOPO_NODES];
    hl_topo_set left = 0;
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        left |= hl_topo_page_pool_on(i, page, &part[i]) && part[i].total > 0 ? (hl_topo_set)1 << i : 0;
    }
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        hl_topo_set group = 0;
        char set[HL_TOPO_TEXT];
        for (int k = i; k < HL_TOPO_NODES && (left >> i & 1) != 0; k++) {
            bool equal =
                (left >> k & 1) != 0 && part[k].total == part[i].total && part[k].unused == part[i].unused;
            group |= equal ? (hl_topo_set)1 << k : 0;
        }
        left &= ~group;
        if (group != 0) {
            printf(", node %s: %" PRIu64 " of %" PRIu64 "%s", hl_topo_text(group, set, sizeof set),
                   part[i].unused, part[i].total, (group & (group - 1)) != 0 ? " each" : "");
        }
    }
}

static void show_pages(const struct facts *f)
{
    printf("\nPages\n");
    for (size_t i = 0; i < f->page_count; i++) {
        char size[32];
        struct hl_topo_pool pool;
        info_bytes(f->pages[i], size, sizeof size);
        if (i == 0 || !hl_topo_page_pool(f->pages[i], &pool)) {
            printf("  %-7s base page\n", size);
            continue;
        }
        printf("  %-7s %" PRIu64 " free of %" PRIu64, size, pool.unused, pool.total);
        show_parts(f->pages[i]);
        printf("; %" PRIu64 " more on demand\n", pool.overcommit);
    }
}

/* Prints the nodes that the wish names, if it names any. */
static void show_wanted(const struct facts *f)
{
    struct info_home h;
    char set[HL_TOPO_TEXT];
    hl_topo_set first = 0, nodes;
    bool alike = true;
    for (int i = 0; f->topo != NULL && info_homes(f->topo, i, &h); i++) {
        nodes = info_wanted(f, h.cpu);
        first = i == 0 ? nodes : first;
        alike = alike && nodes == first;
    }
    if (!alike) {
        printf("  each thread asks for the %s node nearest to its CPU\n",
               f->wish.kind == HL_MEM_FAST ? "fast" : "DDR");
    } else if (first != 0) {
        printf("  every thread asks for %s %s\n", (first & (first - 1)) != 0 ? "nodes" : "node",
               hl_topo_text(first, set, sizeof set));
    }
}

static void show_wish(const struct facts *f)
{
    const struct hl_var *v;
    printf("\nAsked\n");
    for (int i = 0; (v = info_memory_var(f, i)) != NULL; i++) {
        if (strcmp(v->origin, "default") != 0) {
            printf("  %s=%s  (%s)\n", v->name, v->value, v->origin);
        }
    }
    if (f->wish.kind == HL_MEM_ANY && f->wish.page == 0) {
        printf("  nothing: base pages where the system places them\n");
    }
    show_wanted(f);
}

static void show_trial(const struct facts *f)
{
    char len[32], page[32], align[32], nodes[HL_MEM_NODES_TEXT];
    info_bytes(f->trial.len, len, sizeof len);
    printf("\nObtained\n");
    if (f->trial.rc != 0) {
        printf("  %s: refused: %s\n", len, f->trial.error);
        return;
    }
    info_bytes(f->trial.got.page, page, sizeof page);
    printf("  %s: pages of %s, nodes %s", len, page,
           f->trial.error[0] != '\0' ? "unknown" : hl_mem_got_nodes_text(&f->trial.got, nodes, sizeof nodes));
    if (f->wish.page > 0 && f->trial.got.align >= f->wish.page) {
        info_bytes(f->wish.page, align, sizeof align);
        printf(", aligned to %s", align);
    }
    if (f->trial.got.page == f->pages[0] && f->trial.got.pmd_share > 0) {
        printf(", %.0f %% in transparent huge pages", 100 * f->trial.got.pmd_share);
    }
    printf("%s%s\n", f->trial.error[0] != '\0' ? ": " : "", f->trial.error);
}

void info_memory(const struct facts *f)
{
    printf("Memory of %s\n", f->machine != NULL ? f->machine : "this machine");
    if (f->topo != NULL) {
        show_nodes(f->topo);
        show_nearest(f);
    }
    if (f->machine == NULL) {
        show_pages(f);
    }
    show_wish(f);
    if (f->trial.made) {
        show_trial(f);
    }
    printf("%s", f->note_count > 0 ? "\nNotes\n" : "");
    for (int i = 0; i < f->note_count; i++) {
        printf("  %s\n", f->notes[i]);
    }
}
