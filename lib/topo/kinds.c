/* The kinds of memory nodes and their distance to CPUs, from hwloc's data alone, so that saved machines
 * can test it.
 *
 * Nodes with equal CPU sets form a group; its lowest number is the ordinary memory of those CPUs. A node
 * is fast when the user says so, when hwloc names it MCDRAM or HBM, when its bandwidth from those CPUs is
 * at least twice the ordinary node's (a ratio: one of four clusters of an HBM machine stays below any
 * sensible absolute threshold, and DDR beside CXL must not look fast), or on Knights processors when half
 * of the nodes have no CPUs.
 *
 * To a node without CPUs hwloc gives the CPUs near to it. A node has CPUs of its own when no smaller
 * node is around one of its CPUs: it is the home of that CPU. Ordinary (DDR) memory is the home of some
 * CPU and not fast. */
#include "kinds.h"

#include "conf.h"
#include "err.h"

#include <string.h>

struct machine {
    hwloc_topology_t t;
    hwloc_obj_t node[HL_TOPO_NODES];     /* by number; NULL: none */
    hwloc_obj_t ordinary[HL_TOPO_NODES]; /* the lowest-numbered node of the same CPUs */
};

static hl_topo_set node_bit(int node)
{
    return (hl_topo_set)1 << node;
}

static uint64_t read_bandwidth(hwloc_topology_t t, hwloc_obj_t n)
{
    struct hwloc_location from = {.type = HWLOC_LOCATION_TYPE_CPUSET, .location.cpuset = n->cpuset};
    hwloc_uint64_t mibps = 0;
    return hwloc_memattr_get_value(t, HWLOC_MEMATTR_ID_BANDWIDTH, n, &from, 0, &mibps) == 0 ? mibps : 0;
}

static void gather_kinds(hwloc_topology_t t, struct machine *m, struct hl_topo *out)
{
    *m = (struct machine){.t = t};
    for (hwloc_obj_t n = NULL; (n = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, n)) != NULL;) {
        if (n->os_index >= HL_TOPO_NODES) {
            out->beyond++;
            continue;
        }
        m->node[n->os_index] = n;
        out->all |= node_bit((int)n->os_index);
        out->bytes[n->os_index] = n->attr->numanode.local_memory;
        out->told |= read_bandwidth(t, n) != 0;
        if (hwloc_bitmap_isset(hwloc_topology_get_allowed_nodeset(t), n->os_index)) {
            out->allowed |= node_bit((int)n->os_index);
        }
    }
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        for (int j = 0; j < HL_TOPO_NODES && m->node[i] != NULL && m->ordinary[i] == NULL; j++) {
            if (m->node[j] != NULL && hwloc_bitmap_isequal(m->node[i]->cpuset, m->node[j]->cpuset)) {
                m->ordinary[i] = m->node[j];
            }
        }
    }
}

static bool has_subtype(hwloc_obj_t n, const char *word)
{
    return n->subtype != NULL && strstr(n->subtype, word) != NULL;
}

/* True for GPU, persistent and CXL memory, which never counts as fast, whatever its bandwidth. */
static bool is_never_fast(hwloc_obj_t n)
{
    return has_subtype(n, "GPU") || has_subtype(n, "NVM") || has_subtype(n, "CXL");
}

static bool is_twice_as_fast(const struct machine *m, int i)
{
    if (m->ordinary[i] == m->node[i] || hwloc_bitmap_iszero(m->node[i]->cpuset)) {
        return false;
    }
    uint64_t mine = read_bandwidth(m->t, m->node[i]), base = read_bandwidth(m->t, m->ordinary[i]);
    return base != 0 && mine >= 2 * base;
}

/* True for Knights Landing and Knights Mill, by their numbers from CPUID. */
static bool is_knights(hwloc_topology_t t)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(t, HWLOC_OBJ_PACKAGE, 0);
    const char *family = package != NULL ? hwloc_obj_get_info_by_name(package, "CPUFamilyNumber") : NULL;
    const char *model = package != NULL ? hwloc_obj_get_info_by_name(package, "CPUModelNumber") : NULL;
    return family != NULL && model != NULL && strcmp(family, "6") == 0 &&
           (strcmp(model, "87") == 0 || strcmp(model, "133") == 0);
}

static hl_topo_set knights_fast(const struct machine *m)
{
    hl_topo_set bare = 0;
    int nodes = 0;
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        nodes += m->node[i] != NULL;
        if (m->node[i] != NULL && !is_never_fast(m->node[i]) &&
            (hwloc_bitmap_iszero(m->node[i]->cpuset) || m->ordinary[i] != m->node[i])) {
            bare |= node_bit(i);
        }
    }
    return 2 * __builtin_popcountll(bare) == nodes ? bare : 0;
}

static void find_fast(const struct machine *m, struct hl_topo *out)
{
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        if (m->node[i] == NULL || is_never_fast(m->node[i])) {
            continue;
        }
        const char *why = has_subtype(m->node[i], "MCDRAM") || has_subtype(m->node[i], "HBM")
                              ? "named by hwloc"
                          : is_twice_as_fast(m, i) ? "bandwidth at least twice the ordinary node's"
                                                   : NULL;
        if (why != NULL) {
            out->fast |= node_bit(i);
            out->why[i] = why;
        }
    }
    if (out->fast == 0 && is_knights(m->t)) {
        out->fast = knights_fast(m);
        for (int i = 0; i < HL_TOPO_NODES; i++) {
            out->why[i] = (out->fast & node_bit(i)) != 0 ? "node without CPUs of a Knights processor" : NULL;
        }
    }
}

static int override_fast(const char *fastmem, struct hl_topo *out)
{
    hl_topo_set set;
    if (hl_conf_parse_nodes(fastmem, out->all, &set) != 0) {
        return hl_err_say(
            HL_ERR_ARG, "HOTLANE_FASTMEM_NODES=%s: expected node numbers as in 8-15 or 1,3, or all", fastmem);
    }
    if ((set & ~out->all) != 0) {
        return hl_err_say(HL_ERR_ARG, "HOTLANE_FASTMEM_NODES=%s: there is no node %d", fastmem,
                          __builtin_ctzll(set & ~out->all));
    }
    out->fast = set;
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        out->why[i] = (set & node_bit(i)) != 0 ? "HOTLANE_FASTMEM_NODES" : NULL;
    }
    return 0;
}

static int cpus_of(hwloc_obj_t n)
{
    return hwloc_bitmap_weight(n->cpuset);
}

/* The home node of a CPU: that with the smallest set of CPUs around it; of equal ones an ordinary one, else
 * the lowest number. -1: none. */
static int cpu_home_node(const struct machine *m, hl_topo_set fast, unsigned cpu)
{
    int best = -1;
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        if (m->node[i] == NULL || !hwloc_bitmap_isset(m->node[i]->cpuset, cpu)) {
            continue;
        }
        int more = best < 0 ? -1 : cpus_of(m->node[i]) - cpus_of(m->node[best]);
        if (more < 0 || (more == 0 && (fast & node_bit(best)) != 0 && (fast & node_bit(i)) == 0)) {
            best = i;
        }
    }
    return best;
}

static hl_topo_set find_homes(const struct machine *m, struct hl_topo *out)
{
    hl_topo_set homes = 0;
    memset(out->home, -1, sizeof out->home);
    for (hwloc_obj_t pu = NULL; (pu = hwloc_get_next_obj_by_type(m->t, HWLOC_OBJ_PU, pu)) != NULL;) {
        out->cpus++;
        int home = cpu_home_node(m, out->fast, pu->os_index);
        homes |= home >= 0 ? node_bit(home) : 0;
        if (pu->os_index < HL_TOPO_CPUS) {
            out->home[pu->os_index] = (int8_t)home;
        }
    }
    return homes;
}

/* Finds the ordinary nodes. CXL memory and the like count as ordinary only when there is nothing else. */
static void find_ddr(const struct machine *m, hl_topo_set homes, struct hl_topo *out)
{
    hl_topo_set rest = out->all & ~out->fast;
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        if ((rest & homes & node_bit(i)) != 0 && !is_never_fast(m->node[i])) {
            out->ddr |= node_bit(i);
            out->why[i] = "ordinary memory of its CPUs";
        } else if ((rest & node_bit(i)) != 0 && is_never_fast(m->node[i])) {
            out->why[i] = "named by hwloc";
        } else if ((rest & node_bit(i)) != 0) {
            bool told = read_bandwidth(m->t, m->node[i]) != 0;
            out->unknown |= told ? 0 : node_bit(i);
            out->why[i] = told ? "no CPUs of its own, bandwidth below twice the ordinary node's"
                               : "no CPUs of its own, nothing tells its speed";
        }
    }
    if (out->ddr == 0) {
        out->ddr = rest != 0 ? rest : out->all;
    }
}

/* Twice the kernel's distance (0 without a matrix), plus 1 unless the node is the CPU's own: an own node then
 * comes before an equally far one. */
static uint16_t measure_distance(const struct hwloc_distances_s *d, hwloc_obj_t home, hwloc_obj_t to)
{
    hwloc_uint64_t there = 0, back;
    if (d != NULL && hwloc_distances_obj_pair_values((struct hwloc_distances_s *)(uintptr_t)d, home, to,
                                                     &there, &back) != 0) {
        return UINT16_MAX;
    }
    bool own = hwloc_bitmap_isincluded(home->cpuset, to->cpuset);
    return (uint16_t)(2 * (there < INT16_MAX ? there : INT16_MAX - 1) + !own);
}

static void find_ways(const struct machine *m, hl_topo_set homes, struct hl_topo *out)
{
    struct hwloc_distances_s *d = NULL;
    unsigned matrices = 1;
    if (hwloc_distances_get_by_type(m->t, HWLOC_OBJ_NUMANODE, &matrices, &d,
                                    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
        matrices == 0) {
        d = NULL;
    }
    for (int home = 0; home < HL_TOPO_NODES; home++) {
        for (int i = 0; i < HL_TOPO_NODES && (homes & node_bit(home)) != 0; i++) {
            out->far[home][i] =
                m->node[i] != NULL ? measure_distance(d, m->node[home], m->node[i]) : UINT16_MAX;
        }
    }
    if (d != NULL) {
        hwloc_distances_release(m->t, d);
    }
}

int hl_topo_classify(hwloc_topology_t t, const char *fastmem, struct hl_topo *out)
{
    struct machine m;
    memset(out, 0, sizeof *out);
    gather_kinds(t, &m, out);
    if (fastmem != NULL && fastmem[0] != '\0') {
        int rc = override_fast(fastmem, out);
        if (rc != 0) {
            return rc;
        }
    } else {
        find_fast(&m, out);
    }
    hl_topo_set homes = find_homes(&m, out);
    find_ddr(&m, homes, out);
    find_ways(&m, homes, out);
    return 0;
}
