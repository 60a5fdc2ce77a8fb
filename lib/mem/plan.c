/* From a wish to page sizes, nodes and policy.
 *
 * Preferred gives up the node first (the kernel does that, page by page), then the page size: it takes the
 * next smaller huge page, at last base pages, joined where the kernel can. Mandatory gives up nothing.
 * Interleaved never fails for placement. Mandatory holds for base pages only where the wish says so
 * (rule_on_base): the MPICH_ variables promise that it does not apply to 4K pages. */
#include "plan.h"

#include "cgroup.h"
#include "err.h"
#include "place.h"
#include "topo.h"
#include "util.h"

#include <sched.h>
#include <stdio.h>

static bool is_spread(void)
{
    /* True: this process has CPUs of several nodes, and only first touch decides between these nodes. */
    const struct hl_topo *t = hl_topo_here();
    cpu_set_t mine;
    hl_topo_set homes = 0;
    if (t == NULL || sched_getaffinity(0, sizeof mine, &mine) != 0) {
        return false;
    }
    for (int cpu = 0; cpu < CPU_SETSIZE && cpu < HL_TOPO_CPUS; cpu++) {
        homes |= CPU_ISSET(cpu, &mine) && t->home[cpu] >= 0 ? (hl_topo_set)1 << t->home[cpu] : 0;
    }
    return (homes & (homes - 1)) != 0 && (homes & ~t->allowed) == 0 && !hl_place_has_policy();
}

/* Why this process has no memory of the wished kind. */
static const char *name_reason_none(enum hl_topo_kind kind, char out[HL_PLAN_WHY])
{
    const struct hl_topo *t = hl_topo_here();
    char set[HL_TOPO_TEXT];
    if (t == NULL) {
        return "the memory nodes of this machine are not known";
    }
    if (kind == HL_TOPO_FAST && hl_topo_of(t, kind) == 0) {
        return hl_topo_no_fast(t, out, HL_PLAN_WHY);
    }
    snprintf(out, HL_PLAN_WHY, "no %s: this process may use node %s only", hl_topo_kind_name(kind),
             hl_topo_text(t->allowed & hl_topo_bound(), set, sizeof set));
    return out;
}

static void plan_interleave(struct hl_plan *p, hl_topo_set set)
{
    p->policy = set != 0 ? HL_MEM_INTERLEAVE : HL_MEM_SYSTEM;
    p->nodes = set;
}

static int plan_nodes(struct hl_plan *p)
{
    enum hl_topo_kind kind = p->wish.kind == HL_MEM_FAST ? HL_TOPO_FAST : HL_TOPO_DDR;
    bool spread = p->wish.rule == HL_MEM_INTERLEAVED;
    if (p->wish.kind == HL_MEM_ANY && !spread) {
        return 0;
    }
    hl_topo_set set = hl_topo_nodes_of(kind);
    char why[HL_PLAN_WHY];
    const char *name = kind == HL_TOPO_FAST ? "fast memory" : "DDR";
    snprintf(p->who, sizeof p->who, "%s", name);
    if (set == 0 && p->must) {
        return hl_err_say(HL_ERR_NO_MEM, "policy M on %s: %s", name, name_reason_none(kind, why));
    }
    if (set == 0) {
        snprintf(p->note, sizeof p->note, "%s", name_reason_none(kind, why));
        set = spread ? hl_topo_nodes_of(HL_TOPO_DDR) : 0;
    }
    if (spread) {
        plan_interleave(p, set);
    } else if (set != 0) {
        p->nodes = (hl_topo_set)1 << hl_topo_nearest_here(kind);
        p->policy = p->must ? HL_MEM_BIND : HL_MEM_PREFER;
        snprintf(p->who, sizeof p->who, "%s nearest to CPU %d", name, sched_getcpu());
    }
    return 0;
}

static void add_page(struct hl_plan *p, size_t page, enum hl_seg_take take)
{
    if (p->count < HL_PLAN_PAGES) {
        p->pages[p->count] = page;
        p->takes[p->count++] = take;
    }
}

static int plan_pages(struct hl_plan *p)
{
    size_t sizes[HL_PLAN_PAGES], base = hl_topo_page();
    if (p->wish.page <= base) {
        add_page(p, base, p->policy != HL_MEM_SYSTEM ? HL_SEG_NOW : HL_SEG_LAZY);
        return 0;
    }
    int count = (int)hl_topo_pages(sizes, HL_PLAN_PAGES);
    size_t natural = hl_topo_page_natural(sizes, (size_t)count, p->wish.page);
    if (p->must && natural == base) {
        char asked[HL_BYTES_TEXT];
        return hl_err_say(HL_ERR_NO_MEM, "policy M: this kernel has no huge pages of %s or less",
                          hl_bytes_text(p->wish.page, asked));
    }
    /* Under a limit of a control group the touch of a promised page may end in a signal. */
    bool touch = p->policy == HL_MEM_SYSTEM && natural > base && is_spread() &&
                 hl_cgroup_room(natural) == HL_CGROUP_UNLIMITED;
    for (int i = count - 1; i > 0; i--) {
        if (sizes[i] <= natural && (!p->must || sizes[i] == natural)) {
            add_page(p, sizes[i], touch ? HL_SEG_PROMISE : HL_SEG_NOW);
        }
    }
    if (!p->must) {
        add_page(p, base, touch ? HL_SEG_PROMISE : HL_SEG_JOIN);
    }
    return 0;
}

bool hl_plan_must(const struct hl_mem_wish *wish)
{
    return wish->rule == HL_MEM_MANDATORY && (wish->rule_on_base || wish->page > hl_topo_page());
}

int hl_plan_make(const struct hl_mem_wish *wish, struct hl_plan *out)
{
    *out = (struct hl_plan){.wish = {.rule = HL_MEM_PREFERRED}};
    if (wish == NULL) {
        add_page(out, hl_topo_page(), HL_SEG_LAZY);
        return 0;
    }
    out->wish = *wish;
    out->align = wish->page;
    out->must = hl_plan_must(wish);
    int rc = plan_nodes(out);
    if (rc == 0 && wish->rule == HL_MEM_MANDATORY && !out->must && wish->kind != HL_MEM_ANY &&
        out->note[0] == '\0') {
        snprintf(out->note, sizeof out->note, "policy M is not applied to base pages");
    }
    return rc == 0 ? plan_pages(out) : rc;
}

int hl_plan_refuse(const struct hl_plan *plan, size_t len, int rc)
{
    char size[HL_BYTES_TEXT];
    return hl_err_say(rc, "%s, policy M%s%s: %s%s", hl_bytes_text(len, size),
                      plan->who[0] != '\0' ? ", " : "", plan->who, hl_err_text(rc),
                      plan->pages[0] > hl_topo_page() ? ", or policy P" : "");
}
