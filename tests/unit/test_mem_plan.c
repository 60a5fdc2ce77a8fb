/* mem: what a wish means on machines that are not here: saved topologies, page sizes of other kernels, a CPU
 * of our choice. */
#include "unit.h"

#include "cgroup.h"
#include "conf.h"
#include "err.h"
#include "hugepool.h"
#include "plan.h"
#include "sys.h"
#include "topo.h"
#include "util.h"

#include <errno.h>
#include <numaif.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>

#define K ((size_t)1 << 10)
#define M ((size_t)1 << 20)
#define G ((size_t)1 << 30)

static int my_cpu;

/* In place of the C library's: the thread runs where the test says. */
int sched_getcpu(void)
{
    return my_cpu;
}

static char sys[64] = "/tmp/hl-plan-XXXXXX";

static void make_dir(const char *fmt, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, fmt, sys, name);
    mkdir(path, 0700);
}

static void write_number(const char *dir, const char *file, int n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s/%s", sys, dir, file);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "%d\n", n);
    fclose(f);
}

/* A kernel with these huge pages (ended by 0) and base pages. */
static void kernel(size_t base, const size_t *huge)
{
    ck_assert_ptr_nonnull(mkdtemp(sys));
    make_dir("%s/%s", "kernel");
    make_dir("%s/kernel/%s", "mm");
    make_dir("%s/kernel/mm/%s", "hugepages");
    for (; *huge != 0; huge++) {
        char name[40];
        snprintf(name, sizeof name, "hugepages-%zukB", *huge / K);
        make_dir("%s/kernel/mm/hugepages/%s", name);
    }
    hl_topo_kernel.sys = sys;
    hl_topo_kernel.page = base;
}

static void forget_kernel(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", sys);
    ck_assert_int_eq(system(command), 0);
}

static void machine(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.xml", HL_TEST_DATA, name);
    setenv("HWLOC_XMLFILE", path, 1);
    setenv("HWLOC_COMPONENTS", "xml,stop", 1);
    hl_conf.fastmem_nodes = "";
}

static const size_t x86[] = {2 * M, G, 0}, arm4[] = {64 * K, 2 * M, 32 * M, G, 0},
                    arm16[] = {2 * M, 32 * M, G, 0}, arm64k[] = {2 * M, 512 * M, 16 * G, 0}, none[] = {0};

/* ---- page sizes ---- */

/* What is tried, in order; * = joined base pages. */
static const struct order {
    size_t base;
    const size_t *huge;
    size_t asked;
    enum hl_mem_rule rule;
    const char *tried;
} orders[] = {
    {4 * K, x86, 4 * K, HL_MEM_PREFERRED, "4K"},
    {4 * K, x86, 0, HL_MEM_PREFERRED, "4K"},
    {4 * K, x86, 2 * M, HL_MEM_PREFERRED, "2M 4K*"},
    {4 * K, x86, 512 * M, HL_MEM_PREFERRED, "2M 4K*"},
    {4 * K, x86, G, HL_MEM_PREFERRED, "1G 2M 4K*"},
    {4 * K, x86, G, HL_MEM_INTERLEAVED, "1G 2M 4K*"},
    {4 * K, x86, G, HL_MEM_MANDATORY, "1G"},
    {4 * K, x86, 128 * M, HL_MEM_MANDATORY, "2M"},
    {4 * K, x86, 4 * K, HL_MEM_MANDATORY, "4K"},
    {4 * K, arm4, 16 * M, HL_MEM_PREFERRED, "2M 64K 4K*"},
    {4 * K, arm4, 512 * M, HL_MEM_PREFERRED, "32M 2M 64K 4K*"},
    {16 * K, arm16, 16 * M, HL_MEM_PREFERRED, "2M 16K*"},
    {16 * K, arm16, 256 * M, HL_MEM_MANDATORY, "32M"},
    {16 * K, arm16, 4 * K, HL_MEM_MANDATORY, "16K"},
    {64 * K, arm64k, 256 * M, HL_MEM_PREFERRED, "2M 64K*"},
    {64 * K, arm64k, 512 * M, HL_MEM_PREFERRED, "512M 2M 64K*"},
    {64 * K, arm64k, G, HL_MEM_MANDATORY, "512M"},
    {4 * K, none, 2 * M, HL_MEM_PREFERRED, "4K*"},
    {4 * K, none, 2 * M, HL_MEM_MANDATORY, "policy M: this kernel has no huge pages of 2M or less"},
};

START_TEST(page_sizes_are_given_up_in_this_order)
{
    const struct order *o = &orders[_i];
    struct hl_mem_wish wish = {.rule = o->rule, .page = o->asked};
    struct hl_plan plan;
    char text[200] = "", size[HL_BYTES_TEXT];
    machine("ddr-cxl");
    kernel(o->base, o->huge);
    int rc = hl_plan_make(&wish, &plan);
    for (int i = 0; i < plan.count && rc == 0; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s%s", i > 0 ? " " : "", hl_bytes_text(plan.pages[i], size),
                 plan.takes[i] == HL_SEG_JOIN ? "*" : "");
    }
    ck_assert_str_eq(rc == 0 ? text : hl_err_text(rc), o->tried);
    ck_assert(rc != 0 || plan.align == o->asked);
    forget_kernel();
}
END_TEST

/* ---- nodes ---- */

static const struct layout {
    const char *name;
    int cpu;
    const char *fast[3], *ddr[3]; /* under P, M, I */
} layouts[] = {
    {"knl-flat", 3, {"P 1", "M 1", "I 1"}, {"P 0", "M 0", "I 0"}},
    {"knl-snc4", 55, {"P 7", "M 7", "I 4-7"}, {"P 3", "M 3", "I 0-3"}},
    {"knl-snc4", 0, {"P 4", "M 4", "I 4-7"}, {"P 0", "M 0", "I 0-3"}},
    {"xeonmax-snc4", 5, {"P 6", "M 6", "I 4-7"}, {"P 2", "M 2", "I 0-3"}},
    {"xeonmax-2s", 111, {"P 15", "M 15", "I 8-15"}, {"P 7", "M 7", "I 0-7"}},
    {"restricted", 56, {"P 9", "M 9", "I 9"}, {"P 0", "M 0", "I 0-1"}},
    {"hbm-named", 7, {"P 3", "M 3", "I 0-3"}, {"P 3", "M 3", "I 0-3"}},
    {"ddr-cxl", 1, {"-", "no fast memory found on this machine (2 nodes", "I 0"}, {"P 0", "M 0", "I 0"}},
    {"knl-nohmat-generic",
     1,
     {"-", "if that is HBM set HOTLANE_FASTMEM_NODES=1)", "I 0"},
     {"P 0", "M 0", "I 0"}},
};

static void check_plan(const struct hl_mem_wish *wish, const char *expected, const char *name)
{
    static const char letters[] = {[HL_MEM_PREFER] = 'P', [HL_MEM_BIND] = 'M', [HL_MEM_INTERLEAVE] = 'I'};
    struct hl_plan plan;
    char text[HL_TOPO_TEXT + 10] = "-", nodes[HL_TOPO_TEXT];
    int rc = hl_plan_make(wish, &plan);
    if (rc != 0) {
        ck_assert_int_eq(rc, HL_ERR_NO_MEM);
        ck_assert_msg(strstr(hl_err_text(rc), expected) != NULL, "%s: %s", name, hl_err_text(rc));
        return;
    }
    if (plan.policy != HL_MEM_SYSTEM) {
        snprintf(text, sizeof text, "%c %s", letters[plan.policy],
                 hl_topo_text(plan.nodes, nodes, sizeof nodes));
    }
    ck_assert_msg(strcmp(text, expected) == 0, "%s: %s instead of %s", name, text, expected);
    bool spill = plan.note[0] != '\0';
    ck_assert_msg(spill == (expected[0] == '-' || (wish->kind == HL_MEM_FAST && hl_topo_here()->fast == 0)),
                  "%s: %s", name, plan.note);
}

START_TEST(nodes_of_the_kind_nearest_to_the_cpu)
{
    const struct layout *l = &layouts[_i];
    machine(l->name);
    kernel(4 * K, x86);
    my_cpu = l->cpu;
    for (int i = 0; i < 3; i++) {
        struct hl_mem_wish wish = {HL_MEM_FAST, (enum hl_mem_rule)i, 2 * M, false};
        check_plan(&wish, l->fast[i], l->name);
        wish.kind = HL_MEM_DDR;
        check_plan(&wish, l->ddr[i], l->name);
    }
    forget_kernel();
}
END_TEST

START_TEST(mandatory_leaves_base_pages_alone_unless_told)
{
    struct hl_mem_wish wish = {HL_MEM_FAST, HL_MEM_MANDATORY, 4 * K, false};
    struct hl_plan plan;
    machine("knl-flat");
    kernel(4 * K, x86);
    ck_assert_int_eq(hl_plan_make(&wish, &plan), 0);
    ck_assert_int_eq(plan.policy, HL_MEM_PREFER);
    ck_assert(!plan.must);
    ck_assert_str_eq(plan.note, "policy M is not applied to base pages");
    ck_assert_int_eq(plan.takes[0], HL_SEG_NOW);
    wish.rule_on_base = true;
    ck_assert_int_eq(hl_plan_make(&wish, &plan), 0);
    ck_assert_int_eq(plan.policy, HL_MEM_BIND);
    ck_assert_str_eq(plan.note, "");
    ck_assert_int_eq(hl_plan_make(NULL, &plan), 0);
    ck_assert_int_eq(plan.takes[0], HL_SEG_LAZY);
    forget_kernel();
}
END_TEST

/* ---- first touch ---- */

static int policy_mode;

static long ask_policy(int *mode, unsigned long *mask, unsigned long bits, void *addr, unsigned flags)
{
    *mode = policy_mode;
    return policy_mode < 0 ? -1 : 0;
}

START_TEST(threads_of_several_nodes_place_by_touching)
{
    struct hl_mem_wish wish = {.page = 2 * M};
    struct hl_plan plan;
    cpu_set_t mine;
    machine("snc4-flat"); /* each CPU is home to another node */
    kernel(4 * K, x86);
    hl_sys.get_mempolicy = ask_policy;
    sched_getaffinity(0, sizeof mine, &mine);
    bool several = CPU_ISSET(0, &mine) && CPU_ISSET(1, &mine);
    ck_assert_int_eq(hl_plan_make(&wish, &plan), 0);
    bool promised = several && hl_cgroup_room(2 * M) == HL_CGROUP_UNLIMITED;
    ck_assert_int_eq(plan.takes[0], promised ? HL_SEG_PROMISE : HL_SEG_NOW);
    ck_assert_int_eq(plan.takes[1], promised ? HL_SEG_PROMISE : HL_SEG_JOIN);
    wish.kind = HL_MEM_DDR; /* a node was asked for */
    ck_assert_int_eq(hl_plan_make(&wish, &plan), 0);
    ck_assert_int_eq(plan.takes[0], HL_SEG_NOW);
    wish.kind = HL_MEM_ANY;
    for (policy_mode = MPOL_BIND; policy_mode >= -1; policy_mode -= 3) { /* numactl decides; nobody knows */
        ck_assert_int_eq(hl_plan_make(&wish, &plan), 0);
        ck_assert_int_eq(plan.takes[0], HL_SEG_NOW);
    }
    policy_mode = MPOL_DEFAULT;
    CPU_ZERO(&mine);
    CPU_SET(0, &mine);
    if (sched_setaffinity(0, sizeof mine, &mine) == 0) { /* one node */
        ck_assert_int_eq(hl_plan_make(&wish, &plan), 0);
        ck_assert_int_eq(plan.takes[0], HL_SEG_NOW);
    }
    forget_kernel();
}
END_TEST

/* ---- control groups ---- */

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

START_TEST(what_control_groups_leave)
{
    static const char *const dirs[] = {"fs",
                                       "fs/cgroup",
                                       "fs/cgroup/job",
                                       "fs/cgroup/job/step",
                                       "fs/cgroup/memory",
                                       "fs/cgroup/memory/old",
                                       "fs/cgroup/hugetlb",
                                       "fs/cgroup/hugetlb/old"};
    char mine[100], path[256];
    kernel(4 * K, x86);
    for (size_t i = 0; i < HL_COUNT_OF(dirs); i++) {
        make_dir("%s/%s", dirs[i]);
    }
    snprintf(mine, sizeof mine, "%s/mine", sys);
    hl_cgroup_mine = mine;
    ck_assert_uint_eq(hl_cgroup_room(0), HL_CGROUP_UNLIMITED); /* no groups at all */
    write_text(mine, "0::/job/step\n");
    ck_assert_uint_eq(hl_cgroup_room(0), HL_CGROUP_UNLIMITED); /* no limits */
    snprintf(path, sizeof path, "%s/fs/cgroup/job/step/memory.max", sys);
    write_text(path, "max\n");
    ck_assert_uint_eq(hl_cgroup_room(0), HL_CGROUP_UNLIMITED);
    write_number("fs/cgroup/job", "memory.max", 100000); /* the one above counts too */
    write_number("fs/cgroup/job", "memory.current", 70000);
    ck_assert_uint_eq(hl_cgroup_room(0), 30000);
    snprintf(path, sizeof path, "%s/fs/cgroup/job/memory.stat", sys);
    write_text(path, "anon 60000\nfile 10000\nshmem 1000\ninactive_file 5000\nactive_file 4000\n");
    ck_assert_uint_eq(hl_cgroup_room(0), 39000);
    ck_assert_uint_eq(hl_cgroup_room(2 * M), HL_CGROUP_UNLIMITED);
    write_number("fs/cgroup/job/step", "hugetlb.2MB.max", 4 * (int)M);
    write_number("fs/cgroup/job/step", "hugetlb.2MB.current", 8 * (int)M); /* lowered below what is used */
    ck_assert_uint_eq(hl_cgroup_room(2 * M), 0);
    ck_assert_uint_eq(hl_cgroup_room(G), HL_CGROUP_UNLIMITED);
    write_text(mine, "9:name=systemd:/x\n4:memory:/old\n3:cpu,hugetlb:/old\n0::/\n");
    snprintf(path, sizeof path, "%s/fs/cgroup/memory/old/memory.limit_in_bytes", sys);
    write_text(path, "9223372036854771712\n"); /* how the old hierarchy says none */
    ck_assert_uint_eq(hl_cgroup_room(0), HL_CGROUP_UNLIMITED);
    write_number("fs/cgroup/memory/old", "memory.limit_in_bytes", 5000);
    write_number("fs/cgroup/memory/old", "memory.usage_in_bytes", 2000);
    ck_assert_uint_eq(hl_cgroup_room(0), 3000);
    write_number("fs/cgroup/hugetlb/old", "hugetlb.1GB.limit_in_bytes", 0);
    ck_assert_uint_eq(hl_cgroup_room(G), 0);
    forget_kernel();
}
END_TEST

START_TEST(a_full_control_group_is_an_error)
{
    char mine[100];
    struct hl_piece p;
    kernel(4 * K, x86);
    make_dir("%s/%s", "fs");
    make_dir("%s/fs/%s", "cgroup");
    write_number("fs/cgroup", "memory.max", 64 * (int)M);
    write_number("fs/cgroup", "memory.current", 10 * (int)M);
    snprintf(mine, sizeof mine, "%s/mine", sys);
    write_text(mine, "0::/\n");
    hl_cgroup_mine = mine;
    struct hl_mem_ask now = {.populate = true};
    ck_assert_int_eq(hl_mem_alloc(40 * M, &now, &p), 0);
    hl_mem_free(&p);
    ck_assert_int_eq(hl_mem_alloc(55 * M, &now, &p), HL_ERR_NO_MEM);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_NO_MEM), "only 56623104 bytes"));
    ck_assert_int_eq(hl_mem_alloc(55 * M, NULL, &p), 0); /* lazily: its owner may never touch it */
    hl_mem_free(&p);
    forget_kernel();
}
END_TEST

static size_t taken; /* by this process; another one takes as much at the same time */

static int madvise_beside_another(void *addr, size_t len, int advice)
{
    (void)addr;
    if (advice == 23) { /* MADV_POPULATE_WRITE */
        taken += len;
        write_number("fs/cgroup", "memory.current", (int)(2 * taken));
    }
    return 0;
}

START_TEST(who_asks_beside_another_is_refused_in_time)
{
    char mine[100];
    struct hl_piece p;
    int (*real)(void *, size_t, int) = hl_sys.madvise;
    kernel(4 * K, x86);
    make_dir("%s/%s", "fs");
    make_dir("%s/fs/%s", "cgroup");
    write_number("fs/cgroup", "memory.max", 1024 * (int)M);
    write_number("fs/cgroup", "memory.current", 0);
    snprintf(mine, sizeof mine, "%s/mine", sys);
    write_text(mine, "0::/\n");
    hl_cgroup_mine = mine;
    hl_sys.madvise = madvise_beside_another;
    struct hl_mem_ask now = {.populate = true};
    ck_assert_int_eq(hl_mem_alloc(600 * M, &now, &p), HL_ERR_NO_MEM);
    ck_assert_uint_lt(2 * taken, 1024 * M);
    hl_sys.madvise = real;
    forget_kernel();
}
END_TEST

/* ---- words ---- */

START_TEST(a_refusal_says_what_is_there_and_what_reserves_more)
{
    static const char *const dirs[] = {"kernel/mm/hugepages/hugepages-2048kB",
                                       "devices",
                                       "devices/system",
                                       "devices/system/node",
                                       "devices/system/node/node7",
                                       "devices/system/node/node7/hugepages",
                                       "devices/system/node/node7/hugepages/hugepages-2048kB"};
    struct hl_mem_wish wish = {HL_MEM_FAST, HL_MEM_MANDATORY, 128 * M, false};
    struct hl_plan plan;
    machine("knl-snc4");
    kernel(4 * K, x86);
    my_cpu = 55;
    for (size_t i = 0; i < HL_COUNT_OF(dirs); i++) {
        make_dir("%s/%s", dirs[i]);
    }
    write_number(dirs[0], "nr_hugepages", 100);
    write_number(dirs[0], "free_hugepages", 90);
    write_number(dirs[0], "nr_overcommit_hugepages", 3);
    write_number(dirs[6], "nr_hugepages", 20);
    write_number(dirs[6], "free_hugepages", 16);
    ck_assert_int_eq(hl_plan_make(&wish, &plan), 0);
    struct hl_seg seg = {.page = plan.pages[0], .nodes = plan.nodes};
    int rc = hl_plan_refuse(&plan, 256 * M, hl_hugepool_refuse(&seg, 256 * M, ENOMEM));
    ck_assert_str_eq(
        hl_err_text(rc),
        "256M, policy M, fast memory nearest to CPU 55: 128 x 2M pages on node 7: 16 free of 20, overcommit "
        "3. Reserve: echo 132 > /sys/devices/system/node/node7/hugepages/hugepages-2048kB/nr_hugepages, "
        "or policy P");
    rc = hl_hugepool_refuse(&seg, 30 * M, ENOSPC);
    ck_assert_str_eq(hl_err_text(rc),
                     "15 x 2M pages on node 7: No space left on device, though 16 are free of 20 (a "
                     "limit of the control group, or others took them meanwhile?)");
    forget_kernel();
}
END_TEST

static Suite *plan_suite(void)
{
    Suite *s = suite_create("mem_plan");
    TCase *c = tcase_create("mem_plan");
    tcase_add_loop_test(c, page_sizes_are_given_up_in_this_order, 0, HL_COUNT_OF(orders));
    tcase_add_loop_test(c, nodes_of_the_kind_nearest_to_the_cpu, 0, HL_COUNT_OF(layouts));
    tcase_add_test(c, mandatory_leaves_base_pages_alone_unless_told);
    tcase_add_test(c, threads_of_several_nodes_place_by_touching);
    tcase_add_test(c, what_control_groups_leave);
    tcase_add_test(c, a_full_control_group_is_an_error);
    tcase_add_test(c, who_asks_beside_another_is_refused_in_time);
    tcase_add_test(c, a_refusal_says_what_is_there_and_what_reserves_more);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(plan_suite)
