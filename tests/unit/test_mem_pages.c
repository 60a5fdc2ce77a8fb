/* mem on this kernel: page sizes, pools, nodes. What was asked is obtained and proved, or refused with
 * numbers; nobody is ever ended by a signal, and nothing stays taken. */
#include "unit.h"

#include "hugepages.h"

#include "conf.h"
#include "err.h"
#include "mem.h"
#include "seg.h"
#include "sys.h"
#include "topo.h"
#include "util.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define M POOL_M
#define G ((size_t)1 << 30)
#define POOL 3 /* pages: other programs that take spare ones keep away from so few */

static bool pools; /* may be changed */

static size_t natural(size_t asked)
{
    size_t sizes[16];
    size_t count = hl_topo_pages(sizes, 16);
    return hl_topo_page_natural(sizes, count, asked);
}

static int ask(size_t len, const struct hl_mem_wish *wish, struct hl_piece *out)
{
    struct hl_mem_ask how = {.wish = wish, .caller = "MPI_Alloc_mem"};
    return hl_mem_alloc(len, &how, out);
}

/* KernelPageSize of the mapping at `addr` in KiB, by smaps. */
static size_t smaps_page(const void *addr)
{
    char line[256];
    uintptr_t low, high;
    size_t kib = 0;
    bool in = false;
    FILE *f = fopen("/proc/self/smaps", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "%lx-%lx %*4[rwxps-]", &low, &high) == 2) {
            in = low <= (uintptr_t)addr && (uintptr_t)addr < high;
        } else if (in && sscanf(line, "KernelPageSize: %zu", &kib) == 1) {
            break;
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return kib * 1024;
}

static uint64_t total(const struct hl_mem_got *got)
{
    uint64_t sum = 0;
    for (int i = 0; i < HL_MEM_NODES; i++) {
        sum += got->bytes[i];
    }
    return sum;
}

/* Standard error of fn(arg) in `out`. */
static void capture(void (*fn)(void *), void *arg, char *out, size_t cap)
{
    int file = memfd_create("err", 0), kept = dup(2);
    dup2(file, 2);
    fn(arg);
    dup2(kept, 2);
    close(kept);
    ssize_t n = pread(file, out, cap - 1, 0);
    out[n > 0 ? n : 0] = '\0';
    close(file);
}

/* ---- any process ---- */

static const size_t asked_sizes[] = {4096,   2 * M,   4 * M,   8 * M,   16 * M, 32 * M,
                                     64 * M, 128 * M, 256 * M, 512 * M, G};

START_TEST(every_wish_is_met_or_gives_way)
{
    size_t page = asked_sizes[_i % 11], base = hl_topo_page();
    for (int i = 0; i < 6; i++) {
        struct hl_mem_wish wish = {.kind = (enum hl_mem_kind)(i / 2),
                                   .rule = i % 2 == 0 ? HL_MEM_PREFERRED : HL_MEM_INTERLEAVED,
                                   .page = page};
        struct hl_mem_got got;
        struct hl_piece p;
        ck_assert_int_eq(ask(3 * M + 5, &wish, &p), 0);
        memset(p.addr, 1, p.len);
        ck_assert_int_eq(hl_mem_got(&p, &got), 0);
        ck_assert_uint_eq(total(&got), hl_round_up(3 * M + 5, got.page));
        ck_assert(got.page == base || got.page <= natural(page));
        ck_assert_uint_eq(smaps_page(p.addr), got.page);
        ck_assert(page <= base || natural(page) == G || (uintptr_t)p.addr % page == 0); /* not small pieces */
        hl_mem_free(&p);
    }
}
END_TEST

START_TEST(mandatory_is_exact_or_refused)
{
    size_t page = asked_sizes[_i % 11];
    struct hl_mem_wish wish = {.rule = HL_MEM_MANDATORY, .page = page, .rule_on_base = true};
    struct hl_piece p;
    int rc = ask(3 * M + 5, &wish, &p);
    if (rc != 0) {
        ck_assert_int_eq(rc, HL_ERR_NO_MEM);
        ck_assert_msg(strstr(hl_err_text(rc), "nr_hugepages, or policy P") != NULL, "%s", hl_err_text(rc));
        ck_assert(page > hl_topo_page());
        return;
    }
    ck_assert_uint_eq(p.seg->page, natural(page));
    ck_assert_uint_eq(smaps_page(p.addr), natural(page));
    memset(p.addr, 1, p.len);
    hl_mem_free(&p);
}
END_TEST

static void ask_three_times(void *arg)
{
    const struct hl_mem_wish *wish = arg;
    for (int i = 0; i < 3; i++) {
        struct hl_piece p;
        ck_assert_int_eq(ask(5 * M, wish, &p), 0);
        hl_mem_free(&p);
    }
}

START_TEST(what_was_not_met_is_said_once)
{
    char text[2000];
    struct hl_mem_wish wish = {.page = 128 * M};
    hl_conf.mem_report = 1;
    capture(ask_three_times, &wish, text, sizeof text);
    const char *line = strstr(text, "MPI_Alloc_mem 5M: asked 128M P; got ");
    ck_assert_msg(line != NULL && strstr(line, "node0 ") != NULL && strstr(line, ", aligned ") != NULL, "%s",
                  text);
    ck_assert_ptr_null(strstr(line + 1, "MPI_Alloc_mem"));
    hl_conf.mem_report = 0;
    capture(ask_three_times, &wish, text, sizeof text);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(regions_are_told_when_wanted)
{
    char text[2000], want[100];
    struct hl_mem_wish wish = {.kind = HL_MEM_DDR, .page = 4096};
    hl_conf.mem_report = 2;
    capture(ask_three_times, &wish, text, sizeof text);
    snprintf(want, sizeof want, "MPI_Alloc_mem 5M: asked DDR 4K P; got 4K pages, node0 5M, aligned ");
    const char *line = text;
    for (int i = 0; i < 3; i++) {
        line = strstr(line + (i > 0), want);
        ck_assert_msg(hl_topo_page() != 4096 || line != NULL, "%s", text);
    }
    hl_conf.mem_report = 1; /* met: silent */
    capture(ask_three_times, &wish, text, sizeof text);
    ck_assert_str_eq(text, "");
}
END_TEST

/* The kernel answers calls about memory policies with `e`, as sandboxes do. */
static bool forbid_policies(int e)
{
    static const unsigned calls[] = {__NR_mbind, __NR_set_mempolicy, __NR_get_mempolicy, __NR_move_pages};
    struct sock_filter code[2 + 4 + 2];
    code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned char i = 0; i < 4; i++) {
        code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 4 - i, 0);
    }
    code[5] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[6] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)e);
    struct sock_fprog program = {7, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

START_TEST(sandboxes_that_forbid_policies)
{
    hl_conf.fastmem_nodes = "0";
    if (!forbid_policies(_i == 0 ? EPERM : ENOSYS)) {
        printf("skipped: no seccomp here\n");
        return;
    }
    struct hl_mem_wish wish = {.kind = HL_MEM_FAST, .page = 4096, .rule_on_base = true};
    struct hl_piece p;
    for (int i = 0; i < 4; i++) {
        wish.rule = i % 2 == 0 ? HL_MEM_PREFERRED : HL_MEM_INTERLEAVED;
        wish.page = i < 2 ? 4096 : 2 * M;
        ck_assert_int_eq(ask(9 * M, &wish, &p), 0);
        memset(p.addr, 1, p.len);
        hl_mem_free(&p);
    }
    wish.rule = HL_MEM_MANDATORY;
    for (wish.page = 4096; wish.page <= 2 * M; wish.page *= 512) {
        ck_assert_int_eq(ask(9 * M, &wish, &p), HL_ERR_NO_MEM);
        ck_assert_msg(strstr(hl_err_text(HL_ERR_NO_MEM), "may not place memory there") != NULL, "%s",
                      hl_err_text(HL_ERR_NO_MEM));
    }
}
END_TEST

START_TEST(a_tiny_dev_shm_does_not_matter)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=1m") != 0) {
        printf("skipped: /dev/shm cannot be replaced: %s\n", strerror(errno));
        return;
    }
    struct hl_piece p;
    ck_assert_int_eq(hl_mem_alloc(32 * M, &(struct hl_mem_ask){.populate = true}, &p), 0);
    memset(p.addr, 1, p.len);
    hl_mem_free(&p);
}
END_TEST

/* ---- with a pool of our own ---- */

START_TEST(huge_pages_are_really_huge)
{
    struct hl_mem_wish wish = {.rule = HL_MEM_MANDATORY, .page = 4 * M};
    struct hl_mem_got got;
    struct hl_piece p;
    if (!pools || pool_set(2 * M, POOL, 0) < POOL) {
        printf("skipped: no huge pages can be reserved\n");
        return;
    }
    for (int kind = HL_MEM_ANY; kind <= HL_MEM_DDR; kind++) {
        wish.kind = (enum hl_mem_kind)kind;
        ck_assert_int_eq(ask(5 * M, &wish, &p), 0);
        ck_assert_uint_eq(p.len, 6 * M);
        ck_assert_uint_eq(smaps_page(p.addr), 2 * M);
        ck_assert_uint_eq((uintptr_t)p.addr % (4 * M), 0);
        ck_assert_int_eq(pool_free(2 * M), 0);
        ck_assert_int_eq(hl_mem_got(&p, &got), 0);
        ck_assert_uint_eq(total(&got), 6 * M);
        ck_assert_uint_eq(got.page, 2 * M);
        memset(p.addr, 1, p.len);
        char *peer;
        ck_assert_int_eq(hl_mem_map_peer(p.seg->fd, 0, p.seg->len, NULL, &peer), 0);
        ck_assert_int_eq(peer[6 * M - 1], 1);
        hl_mem_unmap(peer, p.seg->len, false);
        hl_mem_free(&p);
        ck_assert_int_eq(pool_free(2 * M), POOL);
    }
}
END_TEST

START_TEST(a_short_pool_is_an_error_with_numbers)
{
    struct hl_mem_wish wish = {.rule = HL_MEM_MANDATORY, .page = 2 * M};
    struct hl_piece p;
    if (!pools || pool_set(2 * M, POOL, 0) < POOL) {
        printf("skipped: no huge pages can be reserved\n");
        return;
    }
    ck_assert_int_eq(ask(8 * M, &wish, &p), HL_ERR_NO_MEM);
    ck_assert_str_eq(hl_err_text(HL_ERR_NO_MEM),
                     "8M, policy M: 4 x 2M pages on any node: 3 free of 3, overcommit 0. Reserve: echo 4 > "
                     "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages, or policy P");
    ck_assert_int_eq(pool_free(2 * M), POOL);
    wish.kind = HL_MEM_DDR;
    ck_assert_int_eq(ask(8 * M, &wish, &p), HL_ERR_NO_MEM);
    ck_assert_msg(strstr(hl_err_text(HL_ERR_NO_MEM), "8M, policy M, DDR nearest to CPU ") != NULL &&
                      strstr(hl_err_text(HL_ERR_NO_MEM), ": 4 x 2M pages on node ") != NULL &&
                      strstr(hl_err_text(HL_ERR_NO_MEM), "echo 4 > /sys/devices/system/node/node") != NULL,
                  "%s", hl_err_text(HL_ERR_NO_MEM));
    ck_assert_int_eq(pool_free(2 * M), POOL);
    for (wish.rule = HL_MEM_PREFERRED; wish.rule <= HL_MEM_INTERLEAVED; wish.rule += 2) {
        ck_assert_int_eq(ask(8 * M, &wish, &p), 0);
        ck_assert_uint_eq(p.seg->page, hl_topo_page());
        memset(p.addr, 1, p.len);
        ck_assert_int_eq(pool_free(2 * M), POOL);
        hl_mem_free(&p);
    }
}
END_TEST

START_TEST(pages_beyond_the_pool_are_used_and_given_back)
{
    struct hl_mem_wish wish = {.rule = HL_MEM_MANDATORY, .kind = HL_MEM_DDR, .page = 2 * M};
    struct hl_piece p;
    if (!pools || pool_set(2 * M, 2, 4) < 2 || pool_read(2 * M, "surplus_hugepages") != 0) {
        printf("skipped: others hold huge pages\n");
        return;
    }
    int rc = ask(12 * M, &wish, &p);
    ck_assert_msg(rc == 0, "%s", hl_err_text(rc));
    ck_assert_int_eq(pool_read(2 * M, "surplus_hugepages"), 4);
    hl_mem_free(&p);
    ck_assert_int_eq(pool_read(2 * M, "surplus_hugepages"), 0);
    ck_assert_int_eq(ask(14 * M, &wish, &p), HL_ERR_NO_MEM);
    ck_assert_int_eq(pool_read(2 * M, "surplus_hugepages"), 0);
    ck_assert_int_eq(pool_free(2 * M), 2);
}
END_TEST

START_TEST(the_largest_pages)
{
    struct hl_mem_wish wish = {.rule = HL_MEM_MANDATORY, .page = G};
    struct hl_piece p;
    if (!pools || pool_set(G, 1, 0) < 1) {
        printf("skipped: no 1G page can be reserved\n");
        return;
    }
    int rc = ask(600 * M, &wish, &p);
    ck_assert_msg(rc == 0, "%s", hl_err_text(rc));
    ck_assert_uint_eq(p.seg->page, G);
    ck_assert_uint_eq(smaps_page(p.addr), G);
    ck_assert_uint_eq((uintptr_t)p.addr % G, 0);
    hl_mem_free(&p);
    ck_assert_int_eq(pool_free(G), 1);
    pool_set(G, 0, 0);
    if (pool_set(2 * M, POOL, 0) < POOL) {
        return;
    }
    wish.rule = HL_MEM_PREFERRED; /* the next smaller size */
    ck_assert_int_eq(ask(5 * M, &wish, &p), 0);
    ck_assert_uint_eq(p.seg->page, 2 * M);
    hl_mem_free(&p);
}
END_TEST

START_TEST(base_pages_are_joined_when_huge_ones_were_asked)
{
    struct hl_mem_wish wish = {.page = 2 * M};
    struct hl_mem_got got;
    struct hl_piece p;
    void *probe = mmap(NULL, M, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool can = madvise(probe, 0, 25) == 0; /* MADV_COLLAPSE, known since Linux 6.1 */
    if (!pools || !can) {
        printf("skipped: this kernel cannot join pages\n");
        return;
    }
    pool_set(2 * M, 0, 0);
    ck_assert_int_eq(ask(16 * M, &wish, &p), 0);
    ck_assert_uint_eq(p.seg->page, hl_topo_page());
    ck_assert_int_eq(hl_mem_got(&p, &got), 0);
    ck_assert_msg(got.pmd_share > 0.9, "%f", got.pmd_share);
    hl_mem_free(&p);
}
END_TEST

/* Six processes want 4M each of a pool of 6M. */
START_TEST(racing_processes_get_all_or_nothing)
{
    struct hl_mem_wish wish = {.rule = HL_MEM_MANDATORY, .page = 2 * M};
    int go[2], tried[2], got = 0;
    if (!pools || pool_set(2 * M, POOL, 0) < POOL) {
        return;
    }
    ck_assert(pipe(go) == 0 && pipe(tried) == 0);
    for (int i = 0; i < 6; i++) {
        if (fork() == 0) {
            struct hl_piece p;
            char c;
            close(go[1]);
            int rc = ask(4 * M, &wish, &p);
            if (rc == 0) {
                memset(p.addr, 1, p.len);
            }
            c = rc == 0 ? 'y' : rc == HL_ERR_NO_MEM ? 'n' : '?';
            _exit(write(tried[1], &c, 1) == 1 && read(go[0], &c, 1) == 0 ? 0
                                                                         : 1); /* holds it until all tried */
        }
    }
    close(go[0]);
    for (int i = 0; i < 6; i++) {
        char c;
        ck_assert_int_eq(read(tried[0], &c, 1), 1);
        ck_assert(c == 'y' || c == 'n');
        got += c == 'y';
    }
    ck_assert_int_le(got, 1);
    ck_assert_int_eq(pool_free(2 * M), POOL - 2 * got);
    close(go[1]);
    for (int i = 0, status; i < 6; i++) {
        ck_assert(wait(&status) > 0 && WIFEXITED(status));
    }
    ck_assert_int_eq(pool_free(2 * M), POOL);
}
END_TEST

START_TEST(a_fork_with_an_empty_pool_costs_nobody_a_page)
{
    struct hl_mem_wish wish = {.rule = HL_MEM_MANDATORY, .page = 2 * M};
    struct hl_piece p;
    int status;
    if (!pools || pool_set(2 * M, POOL, 0) < POOL) {
        return;
    }
    ck_assert_int_eq(ask(6 * M, &wish, &p), 0);
    ck_assert_int_eq(pool_free(2 * M), 0);
    memset(p.addr, 1, p.len);
    pid_t child = fork();
    if (child == 0) {
        memset(p.addr, 2, p.len);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(((char *)p.addr)[6 * M - 1], 2);
    memset(p.addr, 3, p.len);
    hl_mem_free(&p);
    ck_assert_int_eq(pool_free(2 * M), POOL);
}
END_TEST

START_TEST(promised_pages_come_when_touched)
{
    struct hl_seg seg = {.page = 2 * M, .fd = -1}, more = seg;
    if (!pools || pool_set(2 * M, POOL, 0) < POOL) {
        return;
    }
    ck_assert_int_eq(hl_seg_make(&seg, 4 * M, 0, HL_SEG_PROMISE), 0);
    ck_assert_int_eq(pool_read(2 * M, "resv_hugepages"), 2);
    ck_assert_int_eq(pool_free(2 * M), POOL);
    ck_assert_int_eq(hl_seg_make(&more, 4 * M, 0, HL_SEG_PROMISE), HL_ERR_NO_MEM);
    ck_assert_int_eq(more.fd, -1);
    ck_assert_int_eq(hl_seg_make(&more, 4 * M, 0, HL_SEG_NOW),
                     HL_ERR_NO_MEM); /* nor takes what was promised */
    ck_assert_int_eq(pool_read(2 * M, "resv_hugepages"), 2);
    memset(seg.base, 1, seg.len);
    ck_assert_int_eq(pool_free(2 * M), 1);
    ck_assert_int_eq(pool_read(2 * M, "resv_hugepages"), 0);
    hl_seg_unmake(&seg);
    ck_assert_int_eq(pool_free(2 * M), POOL);
    ck_assert_int_eq(hl_seg_make(&seg, 4 * M, 0, HL_SEG_PROMISE), 0);
    hl_seg_unmake(&seg); /* untouched */
    ck_assert_int_eq(pool_read(2 * M, "resv_hugepages"), 0);
}
END_TEST

static int old_madvise(void *addr, size_t len, int advice)
{
    errno = EINVAL;
    return advice >= 22 ? -1 : madvise(addr, len, advice); /* populating and joining are newer */
}

START_TEST(kernels_that_cannot_populate_mappings)
{
    struct hl_mem_wish wish = {
        .kind = HL_MEM_DDR, .rule = HL_MEM_MANDATORY, .page = 2 * M, .rule_on_base = true};
    struct hl_piece p;
    if (!pools || pool_set(2 * M, POOL, 0) < POOL) {
        return;
    }
    hl_sys.madvise = old_madvise;
    ck_assert_int_eq(ask(6 * M, &wish, &p), 0);
    ck_assert_int_eq(pool_free(2 * M), 0);
    hl_mem_free(&p);
    ck_assert_int_eq(ask(8 * M, &wish, &p), HL_ERR_NO_MEM);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_NO_MEM), "3 free of 3"));
    ck_assert_int_eq(pool_free(2 * M), POOL);
    int mode = -1;
    ck_assert_int_eq(hl_sys.get_mempolicy(&mode, NULL, 0, NULL, 0), 0);
    ck_assert_int_eq(mode, 0);                                     /* the thread's policy is back */
    for (wish.page = 4096; wish.page <= 2 * M; wish.page *= 512) { /* what is not mapped cannot be asked */
        struct hl_mem_got got;
        ck_assert_int_eq(ask(6 * M, &wish, &p), 0);
        ck_assert_int_eq(hl_mem_got(&p, &got), 0);
        ck_assert_uint_eq(total(&got), 6 * M);
        hl_mem_free(&p);
    }
}
END_TEST

START_TEST(small_pieces_share_a_huge_page)
{
    struct hl_mem_wish wish = {.rule = HL_MEM_MANDATORY, .page = 2 * M};
    struct hl_piece p[100], big;
    if (!pools || pool_set(2 * M, POOL, 0) < POOL) {
        return;
    }
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(ask(10000, &wish, &p[i]), 0);
        ck_assert_uint_eq(p[i].seg->page, 2 * M);
        memset(p[i].addr, i, p[i].len);
    }
    ck_assert_int_eq(pool_free(2 * M), POOL - 1);
    ck_assert_int_eq(ask(4 * M, &wish, &big), 0);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(((char *)p[i].addr)[9999], i);
        hl_mem_free(&p[i]);
    }
    hl_mem_free(&big);
    ck_assert_int_eq(pool_free(2 * M), POOL);
}
END_TEST

#include "mem_carved.h"

#include "mem_commons.h"
#include "mem_repeat.h"
#include "mem_symmetric.h"

static Suite *suite(void)
{
    Suite *s = suite_create("mem_pages");
    TCase *c = tcase_create("mem_pages");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, every_wish_is_met_or_gives_way, 0, 11);
    tcase_add_loop_test(c, mandatory_is_exact_or_refused, 0, 11);
    tcase_add_test(c, what_was_not_met_is_said_once);
    tcase_add_test(c, regions_are_told_when_wanted);
    tcase_add_loop_test(c, sandboxes_that_forbid_policies, 0, 2);
    tcase_add_test(c, a_tiny_dev_shm_does_not_matter);
    tcase_add_test(c, huge_pages_are_really_huge);
    tcase_add_test(c, a_short_pool_is_an_error_with_numbers);
    tcase_add_test(c, pages_beyond_the_pool_are_used_and_given_back);
    tcase_add_test(c, the_largest_pages);
    tcase_add_test(c, base_pages_are_joined_when_huge_ones_were_asked);
    tcase_add_test(c, racing_processes_get_all_or_nothing);
    tcase_add_test(c, a_fork_with_an_empty_pool_costs_nobody_a_page);
    tcase_add_test(c, promised_pages_come_when_touched);
    tcase_add_test(c, kernels_that_cannot_populate_mappings);
    tcase_add_test(c, small_pieces_share_a_huge_page);
    tcase_add_loop_test(c, carved_pieces_hold_only_pages_that_they_lie_on, 0, 2);
    tcase_add_test(c, carving_refuses_nothing_that_an_exact_request_could_have);
    tcase_add_test(c, larger_pieces_have_whole_pages_of_an_arena);
    tcase_add_test(c, internal_buffers_are_modest);
    tcase_add_test(c, internal_buffers_leave_pages_to_partitions);
    tcase_add_test(c, internal_buffers_on_pages_that_were_asked_for);
    tcase_add_test(c, ranks_see_each_others_first_arena);
    tcase_add_test(c, a_slice_behaves_as_an_arena);
    tcase_add_test(c, without_room_for_the_commons_arenas_have_their_own_files);
    tcase_add_test(c, commons_obey_the_limit_of_files);
    tcase_add_test(c, rows_have_their_record_everywhere);
    tcase_add_test(c, long_rows_take_little_memory);
    tcase_add_test(c, processes_share_a_pattern);
    tcase_add_test(c, a_row_is_right_whatever_is_refused);
    tcase_add_test(c, pieces_become_zero);
    tcase_add_test(c, symmetric_pieces_lie_where_the_calls_say);
    tcase_add_test(c, places_of_freed_symmetric_pieces_come_again);
    tcase_add_test(c, symmetric_slices_lie_at_one_address);
    suite_add_tcase(s, c);
    return s;
}

int main(void)
{
    pools = pool_open();
    SRunner *runner = srunner_create(suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    pool_close();
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
