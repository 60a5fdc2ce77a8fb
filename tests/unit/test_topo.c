/* topo: memory kinds and nearest nodes of saved machines, page sizes, and that this machine can be read. */
#include "unit.h"

#include "conf.h"
#include "err.h"
#include "topo.h"

#include <dirent.h>
#include <errno.h>
#include <numaif.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hl_topo saved; /* too large for a stack frame one likes */

static const struct hl_topo *machine(const char *name, const char *fastmem)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.xml", HL_TEST_DATA, name);
    int rc = hl_topo_load_xml(path, fastmem, &saved);
    ck_assert_msg(rc == 0, "%s: %s", name, hl_err_text(rc));
    return &saved;
}

/* Of some CPUs the nearest nodes. */
struct view {
    int cpu, fast, ddr;
};

static const struct layout {
    const char *name;
    hl_topo_set fast, ddr;
    int cpus;
    struct view seen[4];
} layouts[] = {
    {"ddr-cxl", 0, 0x1, 2, {{0, -1, 0}, {1, -1, 0}}},
    {"cxl-shared", 0, 0x3, 4, {{0, -1, 0}, {3, -1, 1}}},
    {"gpu", 0, 0x1, 4, {{0, -1, 0}}},
    {"hbm-only", 0, 0xf, 8, {{0, -1, 0}, {7, -1, 3}}},
    {"hbm-named", 0xf, 0xf, 8, {{0, 0, 0}, {7, 3, 3}}},
    {"knl-flat", 0x2, 0x1, 4, {{0, 1, 0}, {3, 1, 0}}},
    {"knl-nohmat-generic", 0, 0x1, 4, {{0, -1, 0}}},
    {"knl-nohmat-knm", 0x2, 0x1, 4, {{0, 1, 0}, {3, 1, 0}}},
    {"knl-nohmat-unnamed", 0x2, 0x1, 4, {{0, 1, 0}, {3, 1, 0}}},
    {"knl-snc4", 0xf0, 0x0f, 64, {{0, 4, 0}, {16, 5, 1}, {47, 6, 2}, {55, 7, 3}}},
    {"hand-snc4", 0xaa, 0x55, 16, {{0, 1, 0}, {4, 3, 2}, {8, 5, 4}, {15, 7, 6}}},
    {"snc4-flat", 0xf0, 0x0f, 4, {{0, 4, 0}, {1, 5, 1}, {2, 6, 2}, {3, 7, 3}}},
    {"xeonmax-snc2", 0xc, 0x3, 56, {{0, 2, 0}, {27, 2, 0}, {28, 3, 1}, {55, 3, 1}}},
    {"xeonmax-snc4", 0xf0, 0x0f, 8, {{0, 4, 0}, {2, 5, 1}, {5, 6, 2}, {7, 7, 3}}},
    {"xeonmax-2s", 0xff00, 0x00ff, 112, {{0, 8, 0}, {14, 9, 1}, {56, 12, 4}, {111, 15, 7}}},
    /* Kinds as on the whole machine; nodes 0, 1 and 9 are allowed. */
    {"restricted", 0xff00, 0x00ff, 112, {{0, 9, 0}, {14, 9, 1}, {56, 9, 0}, {111, 9, 0}}},
    {"node-64", 0x2, 0x5, 4, {{0, 1, 0}, {3, 1, 2}}},
};

START_TEST(kinds_and_nearest_nodes_of_saved_machines)
{
    const struct layout *l = &layouts[_i];
    const struct hl_topo *t = machine(l->name, "");
    ck_assert_msg(t->fast == l->fast, "%s: fast %llx", l->name, (unsigned long long)t->fast);
    ck_assert_msg(t->ddr == l->ddr, "%s: ddr %llx", l->name, (unsigned long long)t->ddr);
    ck_assert_msg(t->cpus == l->cpus, "%s: %d CPUs", l->name, t->cpus);
    for (const struct view *v = l->seen; v < l->seen + 4 && (v == l->seen || v->cpu > 0); v++) {
        int fast = hl_topo_nearest_in(t, hl_topo_of(t, HL_TOPO_FAST), v->cpu);
        int ddr = hl_topo_nearest_in(t, hl_topo_of(t, HL_TOPO_DDR), v->cpu);
        ck_assert_msg(fast == v->fast && ddr == v->ddr, "%s: CPU %d: nodes %d and %d", l->name, v->cpu, fast,
                      ddr);
    }
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        ck_assert_msg((t->all >> i & 1) == (t->why[i] != NULL), "%s: node %d has a reason", l->name, i);
    }
    ck_assert_int_eq(hl_topo_nearest_in(t, t->all, l->cpus), -1);
    ck_assert_int_eq(hl_topo_nearest_in(t, t->all, HL_TOPO_CPUS), -1);
    ck_assert_int_eq(hl_topo_nearest_in(t, t->all, -1), -1);
    ck_assert_int_eq(hl_topo_nearest_in(t, 0, 0), -1);
}
END_TEST

START_TEST(a_container_has_what_it_was_given)
{
    const struct hl_topo *t = machine("restricted", "");
    ck_assert_uint_eq(t->all, 0xffff);
    ck_assert_uint_eq(t->allowed, 0x0203);
    ck_assert_uint_eq(hl_topo_of(t, HL_TOPO_FAST), 0x0200);
    ck_assert_uint_eq(hl_topo_of(t, HL_TOPO_DDR), 0x0003);
    ck_assert_uint_eq(hl_topo_of(t, HL_TOPO_OTHER), 0);
    t = machine("xeonmax-2s", "");
    ck_assert_uint_eq(t->allowed, t->all);
}
END_TEST

START_TEST(nodes_that_the_mask_cannot_name_are_counted)
{
    const struct hl_topo *t = machine("node-64", "");
    ck_assert_int_eq(t->beyond, 1);
    ck_assert_uint_eq(t->all, 0x7);
    ck_assert_int_eq(machine("knl-flat", "")->beyond, 0);
}
END_TEST

START_TEST(why_there_is_no_fast_memory)
{
    char out[300];
    ck_assert_str_eq(
        hl_topo_no_fast(machine("knl-nohmat-generic", ""), out, sizeof out),
        "no fast memory found on this machine (2 nodes, no bandwidth data; node 1 has no CPUs: if "
        "that is HBM set HOTLANE_FASTMEM_NODES=1)");
    ck_assert_str_eq(hl_topo_no_fast(machine("ddr-cxl", ""), out, sizeof out),
                     "no fast memory found on this machine (2 nodes; if all of it is HBM set "
                     "HOTLANE_FASTMEM_NODES=all)");
    machine("xeonmax-2s", "");
    saved.allowed = 0x3;
    ck_assert_str_eq(hl_topo_no_fast(&saved, out, sizeof out),
                     "fast memory is on node 8-15, and this process may use node 0-1 only");
}
END_TEST

START_TEST(sets_as_people_write_them)
{
    char out[HL_TOPO_TEXT], tight[4];
    ck_assert_str_eq(hl_topo_text(0, out, sizeof out), "none");
    ck_assert_str_eq(hl_topo_text(0x1, out, sizeof out), "0");
    ck_assert_str_eq(hl_topo_text(0xff01, out, sizeof out), "0,8-15");
    ck_assert_str_eq(hl_topo_text(~(hl_topo_set)0, out, sizeof out), "0-63");
    ck_assert_str_eq(hl_topo_text((hl_topo_set)1 << 63 | 0x5, out, sizeof out), "0,2,63");
    ck_assert_uint_lt(strlen(hl_topo_text(0x5555555555555555, out, sizeof out)), sizeof out - 1);
    ck_assert_uint_lt(strlen(hl_topo_text(0xff01, tight, sizeof tight)), sizeof tight);
}
END_TEST

START_TEST(cxl_is_other_memory)
{
    const struct hl_topo *t = machine("ddr-cxl", "");
    ck_assert_int_eq(hl_topo_kind_of(t, 0), HL_TOPO_DDR);
    ck_assert_int_eq(hl_topo_kind_of(t, 1), HL_TOPO_OTHER);
    ck_assert_str_eq(hl_topo_kind_name(HL_TOPO_OTHER), "other");
}
END_TEST

START_TEST(the_user_overrides_what_is_fast)
{
    const struct hl_topo *t = machine("knl-nohmat-generic", "1");
    ck_assert_uint_eq(t->fast, 0x2);
    ck_assert_uint_eq(t->ddr, 0x1);
    t = machine("snc4-flat", "all");
    ck_assert_uint_eq(t->fast, 0xff);
    ck_assert_uint_eq(t->ddr, 0xff);
    t = machine("hbm-only", "all"); /* what A64FX and Xeon Max without DIMMs need */
    ck_assert_uint_eq(t->fast, 0xf);
    ck_assert_uint_eq(t->ddr, 0xf);
    ck_assert_int_eq(hl_topo_nearest_in(t, t->fast, 5), 2);
    t = machine("xeonmax-2s", "0-3"); /* the user's word, against all evidence */
    ck_assert_uint_eq(t->fast, 0x000f);
    ck_assert_uint_eq(t->ddr, 0x0ff0); /* 8-11 are all that the CPUs of 0-3 have left */
    char path[512];
    snprintf(path, sizeof path, "%s/knl-flat.xml", HL_TEST_DATA);
    ck_assert_int_eq(hl_topo_load_xml(path, "2", &saved), HL_ERR_ARG);
    ck_assert_str_eq(hl_err_text(HL_ERR_ARG), "HOTLANE_FASTMEM_NODES=2: there is no node 2");
    ck_assert_int_eq(hl_topo_load_xml(path, "1-", &saved), HL_ERR_ARG);
    ck_assert_int_eq(hl_topo_load_xml("/nonexistent", "", &saved), HL_ERR_ARG);
}
END_TEST

#define K ((size_t)1 << 10)
#define M ((size_t)1 << 20)
#define G ((size_t)1 << 30)

/* Kernels with their base page and huge sizes, and what becomes of the sizes people ask for. */
static const struct kernel {
    const char *name;
    size_t base, huge[5];
    struct {
        size_t asked, natural;
    } of[11];
} kernels[] = {
    {"x86", 4 * K, {2 * M, G}, {{4 * K, 4 * K}, {2 * M, 2 * M}, {4 * M, 2 * M}, {512 * M, 2 * M}, {G, G}}},
    {"x86 without 1G pages", 4 * K, {2 * M}, {{4 * K, 4 * K}, {G, 2 * M}}},
    {"no huge pages", 4 * K, {0}, {{4 * K, 4 * K}, {2 * M, 4 * K}, {G, 4 * K}}},
    {"arm64, 4K",
     4 * K,
     {64 * K, 2 * M, 32 * M, G},
     {{4 * K, 4 * K}, {2 * M, 2 * M}, {16 * M, 2 * M}, {32 * M, 32 * M}, {512 * M, 32 * M}, {G, G}}},
    {"arm64, 16K",
     16 * K,
     {2 * M, 32 * M, G},
     {{4 * K, 16 * K}, {2 * M, 2 * M}, {16 * M, 2 * M}, {64 * M, 32 * M}, {G, G}}},
    {"arm64, 64K",
     64 * K,
     {2 * M, 512 * M, 16 * G},
     {{4 * K, 64 * K}, {2 * M, 2 * M}, {256 * M, 2 * M}, {512 * M, 512 * M}, {G, 512 * M}}},
};

/* Makes `dir`, and in it a file of a number. */
static void put_number(const char *dir, const char *file, size_t number)
{
    char command[1000];
    snprintf(command, sizeof command, "mkdir -p '%s' && echo %zu >'%s/%s'", dir, number, dir, file);
    ck_assert_int_eq(system(command), 0);
}

/* A kernel's files, in which each pool of huge pages has 10 pages, 7 on node 0 and 3 on node 1. */
static void pretend(const struct kernel *k, char *folder)
{
    for (const size_t *size = k->huge; *size != 0; size++) {
        char dir[400];
        snprintf(dir, sizeof dir, "%s/kernel/mm/hugepages/hugepages-%zukB", folder, *size / K);
        put_number(dir, "nr_hugepages", 10);
        put_number(dir, "free_hugepages", 6);
        put_number(dir, "nr_overcommit_hugepages", 4);
        for (size_t node = 0; node < 2; node++) {
            snprintf(dir, sizeof dir, "%s/devices/system/node/node%zu/hugepages/hugepages-%zukB", folder,
                     node, *size / K);
            put_number(dir, "nr_hugepages", node == 0 ? 7 : 3);
            put_number(dir, "free_hugepages", node == 0 ? 4 : 2);
        }
    }
    hl_topo_kernel.sys = folder;
    hl_topo_kernel.page = k->base;
}

START_TEST(natural_page_sizes_and_pools_of_other_kernels)
{
    const struct kernel *k = &kernels[_i];
    char folder[] = "/tmp/hotlane-topo-XXXXXX", remove[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(remove, sizeof remove, "rm -rf '%s'", folder);
    pretend(k, folder);
    size_t sizes[16], count = hl_topo_pages(sizes, 16);
    struct hl_topo_pool all, part;
    ck_assert_uint_eq(hl_topo_page(), k->base);
    ck_assert_uint_eq(sizes[0], k->base);
    for (size_t i = 1; i < count; i++) {
        ck_assert_uint_eq(sizes[i], k->huge[i - 1]);
        ck_assert(hl_topo_page_pool(sizes[i], &all));
        ck_assert(all.total == 10 && all.unused == 6 && all.overcommit == 4);
        ck_assert(hl_topo_page_pool_on(1, sizes[i], &part));
        ck_assert(part.total == 3 && part.unused == 2 && part.overcommit == 0);
        ck_assert(!hl_topo_page_pool_on(2, sizes[i], &part));
    }
    ck_assert_uint_eq(k->huge[count - 1], 0);
    for (int i = 0; k->of[i].asked != 0; i++) {
        size_t natural = hl_topo_page_natural(sizes, count, k->of[i].asked);
        ck_assert_msg(natural == k->of[i].natural, "%s: %zu K gives %zu K", k->name, k->of[i].asked / K,
                      natural / K);
    }
    ck_assert_int_eq(system(remove), 0);
}
END_TEST

START_TEST(pages_of_this_kernel)
{
    size_t sizes[16], count = hl_topo_pages(sizes, 16);
    ck_assert_uint_ge(count, 1);
    ck_assert_uint_eq(sizes[0], hl_topo_page());
    for (size_t i = 1; i < count; i++) {
        ck_assert_uint_gt(sizes[i], sizes[i - 1]);
        struct hl_topo_pool pool;
        ck_assert(hl_topo_page_pool(sizes[i], &pool));
        ck_assert_uint_ge(pool.total, pool.unused);
    }
    struct hl_topo_pool none;
    ck_assert(!hl_topo_page_pool(12345 * 1024, &none));
    ck_assert_uint_eq(hl_topo_pages(sizes, 0), 0);
}
END_TEST

/* The number of lines in which this process's mappings name `word`. */
static int mappings_of(const char *word)
{
    int found = 0;
    char line[1024];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        found += strstr(line, word) != NULL;
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return found;
}

START_TEST(this_machine_is_read_without_plugins)
{
    ck_assert_int_eq(hl_conf_load(), 0);
    const struct hl_topo *t = hl_topo_here();
    ck_assert_ptr_nonnull(t);
    ck_assert_ptr_eq(hl_topo_here(), t);
    ck_assert_uint_ne(t->ddr, 0);
    ck_assert_int_ge(t->cpus, hl_topo_cpu_count());
    ck_assert_uint_eq(t->allowed & ~t->all, 0);
    ck_assert_int_ge(hl_topo_nearest_in(t, t->ddr, sched_getcpu()), 0);
    ck_assert_int_eq(mappings_of("hwloc_"), 0);
    ck_assert_ptr_null(hl_conf_env("HWLOC_PLUGINS_PATH"));
}
END_TEST

/* The node is the first that this process may use, so that the test holds on any machine. */
START_TEST(a_strict_policy_of_the_task_leaves_other_nodes_out)
{
    ck_assert_int_eq(hl_conf_load(), 0);
    const struct hl_topo *t = hl_topo_here();
    hl_topo_set ddr = hl_topo_nodes_of(HL_TOPO_DDR);
    ck_assert_uint_eq(ddr, hl_topo_of(t, HL_TOPO_DDR));
    ck_assert((ddr >> hl_topo_nearest_here(HL_TOPO_DDR) & 1) != 0);
    ck_assert_uint_eq(hl_topo_bound(), ~(hl_topo_set)0);
    unsigned long first = ddr & -ddr;
    if (set_mempolicy(MPOL_BIND, &first, 64) != 0) {
        printf("skipped: set_mempolicy is forbidden here: %s\n", strerror(errno));
        return;
    }
    ck_assert_uint_eq(hl_topo_bound(), first);
    ck_assert_uint_eq(hl_topo_nodes_of(HL_TOPO_DDR), first);
    ck_assert_uint_eq(hl_topo_nodes_of(HL_TOPO_FAST), hl_topo_of(t, HL_TOPO_FAST) & first);
    ck_assert_int_eq(hl_topo_nearest_here(HL_TOPO_DDR), __builtin_ctzll(first));
    ck_assert_int_eq(set_mempolicy(MPOL_PREFERRED, &first, 64), 0);
    ck_assert_uint_eq(hl_topo_bound(), ~(hl_topo_set)0);
    ck_assert_int_eq(set_mempolicy(MPOL_DEFAULT, NULL, 0), 0);
}
END_TEST

/* All threads of the process: sanitizers have their own. */
static void confine(const cpu_set_t *to)
{
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *d = readdir(tasks); d != NULL; d = readdir(tasks)) {
        if (d->d_name[0] != '.') {
            ck_assert_int_eq(sched_setaffinity((pid_t)atoi(d->d_name), sizeof *to, to), 0);
        }
    }
    closedir(tasks);
}

START_TEST(a_process_on_one_cpu_is_confined_to_it)
{
    struct hl_topo_resource all[24];
    cpu_set_t one;
    int n, cpu = 0;

    sched_getaffinity(0, sizeof one, &one);
    while (!CPU_ISSET(cpu, &one)) {
        cpu++;
    }
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    confine(&one);
    n = hl_topo_resources(all, 24);
    ck_assert_int_gt(n, 1);
    ck_assert_str_eq(all[0].name, "Machine");
    for (int i = 0; i < n; i++) {
        ck_assert_int_ge(all[i].instance, strcmp(all[i].name, "NUMANode") == 0 ? -1 : 0);
    }
    ck_assert_int_eq(hl_topo_resources(all, 1), 1);
}
END_TEST

static Suite *topo_suite(void)
{
    Suite *s = suite_create("topo");
    TCase *c = tcase_create("topo");
    tcase_add_loop_test(c, kinds_and_nearest_nodes_of_saved_machines, 0,
                        (int)(sizeof layouts / sizeof layouts[0]));
    tcase_add_test(c, cxl_is_other_memory);
    tcase_add_test(c, the_user_overrides_what_is_fast);
    tcase_add_test(c, a_container_has_what_it_was_given);
    tcase_add_test(c, nodes_that_the_mask_cannot_name_are_counted);
    tcase_add_test(c, why_there_is_no_fast_memory);
    tcase_add_test(c, sets_as_people_write_them);
    tcase_add_loop_test(c, natural_page_sizes_and_pools_of_other_kernels, 0,
                        (int)(sizeof kernels / sizeof kernels[0]));
    tcase_add_test(c, pages_of_this_kernel);
    tcase_add_test(c, this_machine_is_read_without_plugins);
    tcase_add_test(c, a_strict_policy_of_the_task_leaves_other_nodes_out);
    tcase_add_test(c, a_process_on_one_cpu_is_confined_to_it);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(topo_suite)
