/* hotlane-info --memory for people. */
#include "info.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static bool same(const struct hl_topo *t, int a, int b)
{
    return hl_topo_kind_of(t, a) == hl_topo_kind_of(t, b) && t->bytes[a] == t->bytes[b] &&
           (t->allowed >> a & 1) == (t->allowed >> b & 1) && strcmp(t->why[a], t->why[b]) == 0;
}

static void write_size(uint64_t bytes, const char *behind, char *out, size_t cap)
{
    double mib = (double)bytes / (1 << 20);
    snprintf(out, cap, mib < 1024 ? "%.0f MiB%s" : "%.1f GiB%s", mib < 1024 ? mib : mib / 1024, behind);
}

/* Nodes that are alike share a line. */
static void show_nodes(const struct hl_topo *t)
{
    hl_topo_set told = 0;
    printf("\nNodes\n");
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        hl_topo_set group = 0;
        char set[HL_TOPO_TEXT], size[40];
        for (int k = i; k < HL_TOPO_NODES && (t->all & ~told) >> i & 1; k++) {
            group |= (t->all >> k & 1) != 0 && same(t, i, k) ? (hl_topo_set)1 << k : 0;
        }
        if (group == 0) {
            continue;
        }
        told |= group;
        write_size(t->bytes[i], (group & (group - 1)) != 0 ? " each" : "", size, sizeof size);
        printf("  %-8s %-5s  %-14s  %s%s\n", hl_topo_text(group, set, sizeof set),
               hl_topo_kind_name(hl_topo_kind_of(t, i)), size, t->why[i],
               (t->allowed >> i & 1) != 0 ? "" : "; not allowed to this process");
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

static void show_pages(const struct facts *f)
{
    printf("\nPages\n");
    for (size_t i = 0; i < f->page_count; i++) {
        char size[32];
        struct hl_topo_pool pool = {0, 0, 0}, part;
        info_bytes(f->pages[i], size, sizeof size);
        if (i == 0 || !hl_topo_page_pool(f->pages[i], &pool)) {
            printf("  %-7s base page\n", size);
            continue;
        }
        printf("  %-7s %" PRIu64 " free of %" PRIu64, size, pool.unused, pool.total);
        for (int node = 0; pool.total > 0 && node < HL_TOPO_NODES; node++) {
            if (hl_topo_page_pool_on(node, f->pages[i], &part) && part.total > 0) {
                printf(", node %d: %" PRIu64 " of %" PRIu64, node, part.unused, part.total);
            }
        }
        printf("; %" PRIu64 " more on demand\n", pool.overcommit);
    }
}

/* On which nodes the wish is, when it names any. */
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
           hl_mem_got_nodes_text(&f->trial.got, nodes, sizeof nodes));
    if (f->wish.page > 0 && f->trial.got.align >= f->wish.page) {
        info_bytes(f->wish.page, align, sizeof align);
        printf(", aligned to %s", align);
    }
    if (f->trial.got.page == f->pages[0] && f->trial.got.pmd_share > 0) {
        printf(", %.0f %% in transparent huge pages", 100 * f->trial.got.pmd_share);
    }
    printf("\n");
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
