/* topo: memory kinds and nearest nodes of saved machines, page sizes, and that this machine can be read. */
#include "unit.h"

#include "conf.h"
#include "err.h"
#include "topo.h"

#include <dirent.h>
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

static const struct layout {
    const char *name;
    hl_topo_set fast, ddr;
    int fast_of[8], ddr_of[8]; /* nearest nodes of CPUs 0.. */
    int cpus;
} layouts[] = {
    {"ddr-cxl", 0, 0x1, {-1, -1}, {0, 0}, 2},
    {"knl-flat", 0x2, 0x1, {1, 1, 1, 1}, {0, 0, 0, 0}, 4},
    {"knl-nohmat-generic", 0, 0x1, {-1, -1, -1, -1}, {0, 0, 0, 0}, 4},
    {"knl-nohmat-knm", 0x2, 0x1, {1, 1, 1, 1}, {0, 0, 0, 0}, 4},
    {"hand-snc4", 0xaa, 0x55, {1, 1, 1, 1, 3, 3, 3, 3}, {0, 0, 0, 0, 2, 2, 2, 2}, 8},
    {"snc4-flat", 0xf0, 0x0f, {4, 5, 6, 7}, {0, 1, 2, 3}, 4},
    {"xeonmax-snc4", 0xf0, 0x0f, {4, 4, 5, 5, 6, 6, 7, 7}, {0, 0, 1, 1, 2, 2, 3, 3}, 8},
};

START_TEST(kinds_and_nearest_nodes_of_saved_machines)
{
    const struct layout *l = &layouts[_i];
    const struct hl_topo *t = machine(l->name, "");
    ck_assert_msg(t->fast == l->fast, "%s: fast %llx", l->name, (unsigned long long)t->fast);
    ck_assert_msg(t->ddr == l->ddr, "%s: ddr %llx", l->name, (unsigned long long)t->ddr);
    for (int cpu = 0; cpu < l->cpus; cpu++) {
        ck_assert_int_eq(hl_topo_nearest(t, HL_TOPO_FAST, cpu), l->fast_of[cpu]);
        ck_assert_int_eq(hl_topo_nearest(t, HL_TOPO_DDR, cpu), l->ddr_of[cpu]);
    }
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        ck_assert_msg((t->all >> i & 1) == (t->why[i] != NULL), "%s: node %d has a reason", l->name, i);
    }
    ck_assert_int_eq(hl_topo_nearest(t, HL_TOPO_DDR, 4000), -1);
    ck_assert_int_eq(hl_topo_nearest(t, HL_TOPO_DDR, -1), -1);
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
    char path[512];
    snprintf(path, sizeof path, "%s/knl-flat.xml", HL_TEST_DATA);
    ck_assert_int_eq(hl_topo_load_xml(path, "2", &saved), HL_ERR_ARG);
    ck_assert_str_eq(hl_err_text(HL_ERR_ARG), "HOTLANE_FASTMEM_NODES=2: there is no node 2");
    ck_assert_int_eq(hl_topo_load_xml(path, "1-", &saved), HL_ERR_ARG);
    ck_assert_int_eq(hl_topo_load_xml("/nonexistent", "", &saved), HL_ERR_ARG);
}
END_TEST

START_TEST(natural_page_sizes)
{
    static const size_t K = 1024, M = 1 << 20, G = 1 << 30;
    const size_t x86[] = {4 * K, 2 * M, G}, arm4[] = {4 * K, 64 * K, 2 * M, 32 * M, G},
                 arm64[] = {64 * K, 2 * M, 512 * M};
    ck_assert_uint_eq(hl_topo_page_natural(x86, 3, 4 * K), 4 * K);
    ck_assert_uint_eq(hl_topo_page_natural(x86, 3, 512 * M), 2 * M);
    ck_assert_uint_eq(hl_topo_page_natural(x86, 3, G), G);
    ck_assert_uint_eq(hl_topo_page_natural(arm4, 5, 16 * M), 2 * M);
    ck_assert_uint_eq(hl_topo_page_natural(arm4, 5, 128 * M), 32 * M);
    ck_assert_uint_eq(hl_topo_page_natural(arm64, 3, 4 * K), 64 * K);
    ck_assert_uint_eq(hl_topo_page_natural(arm64, 3, 256 * M), 2 * M);
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
    ck_assert_int_ge(hl_topo_nearest(t, HL_TOPO_DDR, sched_getcpu()), 0);
    ck_assert_int_eq(mappings_of("hwloc_"), 0);
    ck_assert_ptr_null(hl_conf_env("HWLOC_PLUGINS_PATH"));
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
    tcase_add_test(c, natural_page_sizes);
    tcase_add_test(c, pages_of_this_kernel);
    tcase_add_test(c, this_machine_is_read_without_plugins);
    tcase_add_test(c, a_process_on_one_cpu_is_confined_to_it);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(topo_suite)
