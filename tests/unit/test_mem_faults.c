/* mem when the kernel refuses: each call of its sequence fails in turn with each errno it may have. The
 * answer is the fallback that the policy allows or an error with its text; no descriptor, mapping, huge page
 * or memory policy stays behind. Without the right to reserve huge pages, base pages play their part. */
#include "../process.h"
#include "hugepages.h"
#include "unit.h"

#include "conf.h"
#include "err.h"
#include "mem.h"
#include "seg.h"
#include "sys.h"
#include "topo.h"

#include <linux/magic.h>
#include <numaif.h>
#include <sys/mman.h>

#define M POOL_M
#define HUGE (2 * M)
#define LEN (HUGE + 1)
#define ALWAYS 0
#define POOL 3 /* pages: other programs that take spare ones keep away from so few */

#define CALLS(X)                                                                                             \
    X(memfd_create, EMFILE, ENFILE, ENOMEM, EINVAL, ENODEV, ENOSYS, EPERM)                                   \
    X(ftruncate, EPERM, EINVAL, ENOMEM, EFBIG)                                                               \
    X(seal, EPERM, EINVAL, EBUSY)                                                                            \
    X(fstatfs, ENOSYS, EPERM, EIO)                                                                           \
    X(fallocate, ENOSPC, ENOMEM, EINTR, EPERM, ENOSYS, EOPNOTSUPP)                                           \
    X(mmap, ENOMEM, EPERM, EINVAL, EAGAIN)                                                                   \
    X(madvise, EFAULT, ENOMEM, EINVAL, EINTR, EPERM, ENOSYS, EHWPOISON, EAGAIN)                              \
    X(mbind, EPERM, ENOSYS, EINVAL, EIO, ENOMEM, EFAULT)                                                     \
    X(set_mempolicy, EPERM, ENOSYS, EINVAL, ENOMEM)                                                          \
    X(get_mempolicy, EPERM, ENOSYS, EINVAL)                                                                  \
    X(move_pages, EPERM, ENOSYS, ENOMEM)

enum call {
#define NUMBER(name, ...) CALL_##name,
    CALLS(NUMBER)
#undef NUMBER
        CALL_COUNT
};

static const struct {
    const char *name;
    int errors[9];
} calls[] = {
#define ROW(name, ...) {#name, {__VA_ARGS__}},
    CALLS(ROW)
#undef ROW
};

static struct hl_sys real;
static bool pools, old_kernel;
static char *at;    /* a reserved range; NULL: memory comes anywhere */
static bool carved; /* from an arena, which stays */
static struct fault {
    enum call call;
    int nth; /* or ALWAYS */
    int e;
    int seen, tripped;
} fault;

static bool trips(enum call call)
{
    if (call != fault.call || (++fault.seen != fault.nth && fault.nth != ALWAYS)) {
        return false;
    }
    fault.tripped++;
    errno = fault.e;
    return true;
}

static int memfd_create_or_not(const char *name, unsigned flags)
{
    flags = pools ? flags : flags & ~(MFD_HUGETLB | 0xffu << MAP_HUGE_SHIFT);
    return trips(CALL_memfd_create) ? -1 : real.memfd_create(name, flags);
}

static int ftruncate_or_not(int fd, off_t len)
{
    return trips(CALL_ftruncate) ? -1 : real.ftruncate(fd, len);
}

static int seal_or_not(int fd, int seals)
{
    return trips(CALL_seal) ? -1 : real.seal(fd, seals);
}

static int fstatfs_or_not(int fd, struct statfs *out)
{
    int rc = trips(CALL_fstatfs) ? -1 : real.fstatfs(fd, out);
    if (rc == 0 && !pools) {
        out->f_type = HUGETLBFS_MAGIC;
        out->f_bsize = HUGE;
    }
    return rc;
}

static int fallocate_or_not(int fd, int mode, off_t off, off_t len)
{
    return trips(CALL_fallocate) ? -1 : real.fallocate(fd, mode, off, len);
}

static void *mmap_or_not(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    return trips(CALL_mmap) ? MAP_FAILED : real.mmap(addr, len, prot, flags, fd, off);
}

static int madvise_or_not(void *addr, size_t len, int advice)
{
    if (old_kernel && advice >= 22) {
        errno = EINVAL;
        return -1;
    }
    return trips(CALL_madvise) ? -1 : real.madvise(addr, len, advice);
}

static long mbind_or_not(void *addr, unsigned long len, int mode, const unsigned long *mask,
                         unsigned long bits, unsigned flags)
{
    return trips(CALL_mbind) ? -1 : real.mbind(addr, len, mode, mask, bits, flags);
}

static long set_mempolicy_or_not(int mode, const unsigned long *mask, unsigned long bits)
{
    return trips(CALL_set_mempolicy) ? -1 : real.set_mempolicy(mode, mask, bits);
}

static long get_mempolicy_or_not(int *mode, unsigned long *mask, unsigned long bits, void *addr,
                                 unsigned flags)
{
    return trips(CALL_get_mempolicy) ? -1 : real.get_mempolicy(mode, mask, bits, addr, flags);
}

static long move_pages_or_not(int pid, unsigned long count, void **pages, const int *nodes, int *status,
                              int flags)
{
    return trips(CALL_move_pages) ? -1 : real.move_pages(pid, count, pages, nodes, status, flags);
}

static void stand_in(void)
{
    real = hl_sys;
#define TAKE(name, ...) hl_sys.name = name##_or_not;
    CALLS(TAKE)
#undef TAKE
}

/* ---- what a process holds ---- */

struct held {
    long fds;
    size_t mapped; /* bytes, less the heap */
    long huge;     /* pages in use and promised */
    int policy;
};

static struct held held_now(void)
{
    struct held h = {0, 0, 0, -1};
    char line[512];
    h.fds = fds_open();
    FILE *f = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, f) != NULL) {
        uintptr_t low, high;
        if (sscanf(line, "%lx-%lx", &low, &high) == 2 && strstr(line, "[heap]") == NULL &&
            strstr(line, "[stack]") == NULL) {
            h.mapped += high - low;
        }
    }
    fclose(f);
    h.huge =
        pools ? pool_read(HUGE, "nr_hugepages") - pool_free(HUGE) + pool_read(HUGE, "resv_hugepages") : 0;
    real.get_mempolicy(&h.policy, NULL, 0, NULL, 0);
    return h;
}

static void same(const struct held *a, const struct held *b, const char *what)
{
    ck_assert_msg(a->fds == b->fds, "%s: %ld descriptors became %ld", what, a->fds, b->fds);
    ck_assert_msg(a->mapped == b->mapped, "%s: %zu mapped bytes became %zu", what, a->mapped, b->mapped);
    ck_assert_msg(a->huge == b->huge, "%s: %ld huge pages became %ld", what, a->huge, b->huge);
    ck_assert_msg(a->policy == b->policy, "%s: policy %d became %d", what, a->policy, b->policy);
}

/* ---- what is asked, and what may come of it ---- */

static const struct request {
    const char *name;
    struct hl_mem_wish wish;
    bool promise; /* the segment alone, reserved */
} requests[] = {
    {"4K", {.page = 4096}, false},
    {"4K P", {HL_MEM_FAST, HL_MEM_PREFERRED, 4096, false}, false},
    {"4K M", {HL_MEM_FAST, HL_MEM_MANDATORY, 4096, true}, false},
    {"2M", {.page = HUGE}, false},
    {"2M P", {HL_MEM_FAST, HL_MEM_PREFERRED, HUGE, false}, false},
    {"2M M", {HL_MEM_FAST, HL_MEM_MANDATORY, HUGE, false}, false},
    {"2M I", {HL_MEM_FAST, HL_MEM_INTERLEAVED, HUGE, false}, false},
    {"2M reserved", {.rule = HL_MEM_MANDATORY, .page = HUGE}, true},
};

/* A single refusal that this request can do without. */
static bool can_bear(const struct request *r, enum call call, int e)
{
    bool must = r->wish.rule == HL_MEM_MANDATORY;
    switch (call) {
    case CALL_seal:
    case CALL_move_pages:
        return true;
    case CALL_mbind:
    case CALL_set_mempolicy:
    case CALL_get_mempolicy:
        return !must || r->promise;
    case CALL_madvise:
        if (e == EINVAL || e == EINTR || e == EPERM || e == ENOSYS) {
            return true;
        }
        break;
    case CALL_fallocate:
        if (e == EINTR) {
            return true;
        }
        break;
    default:
        break;
    }
    return r->wish.page == HUGE && !must; /* base pages come instead */
}

/* What a mandatory request was given, by the real kernel. */
static void prove(const struct request *r, const struct hl_piece *p)
{
    const struct hl_seg *seg = p->seg;
    struct statfs fs;
    unsigned long node = 1;
    ck_assert_uint_eq(seg->page, r->wish.page);
    ck_assert_int_eq(real.fstatfs(seg->fd, &fs), 0);
    ck_assert(!pools || r->wish.page < HUGE || (size_t)fs.f_bsize == HUGE);
    ck_assert(r->wish.kind == HL_MEM_ANY ||
              real.mbind(p->addr, LEN, MPOL_BIND, &node, 65, MPOL_MF_STRICT) == 0);
}

static int get(const struct request *r, struct hl_piece *p, struct hl_seg *seg)
{
    struct hl_mem_ask ask = {.wish = &r->wish, .own_segment = !carved, .at = at, .caller = "MPI_Alloc_mem"};
    if (!r->promise) {
        int rc = hl_mem_alloc(LEN, &ask, p);
        ck_assert(rc != 0 || at == NULL || p->addr == at);
        return rc;
    }
    *seg = (struct hl_seg){.page = HUGE, .fd = -1, .base = at, .reserved = at != NULL};
    *p = (struct hl_piece){.seg = seg};
    int rc = hl_seg_make(seg, LEN, HUGE, HL_SEG_PROMISE);
    p->addr = seg->base;
    p->len = seg->len;
    return rc;
}

/* Asks with the fault in place. Returns whether it happened. */
static bool try_one(const struct request *r, const struct held *before)
{
    struct hl_piece p;
    struct hl_seg seg;
    struct held after;
    struct fault quiet = {.call = CALL_COUNT};
    char what[300];
    fault.seen = fault.tripped = 0;
    int rc = get(r, &p, &seg);
    bool happened = fault.tripped > 0;
    snprintf(what, sizeof what, "%s%s%s, %s %d fails with %s: %s", r->name, old_kernel ? " (old kernel)" : "",
             at != NULL ? " (reserved)"
             : carved   ? " (arena)"
                        : "",
             calls[fault.call].name, fault.nth, strerror(fault.e), rc == 0 ? "met" : hl_err_text(rc));
    ck_assert_msg(rc == 0 || rc == HL_ERR_NO_MEM, "%s", what);
    ck_assert_msg(rc == 0 || happened, "%s", what);
    ck_assert_msg(rc == 0 || fault.nth == ALWAYS || !can_bear(r, fault.call, fault.e), "%s", what);
    ck_assert_msg(rc == 0 || strlen(hl_err_text(rc)) > 20, "%s", what);
    struct fault now = fault;
    fault = quiet;
    if (rc == 0) {
        memset(p.addr, 1, p.len);
        if (r->wish.rule == HL_MEM_MANDATORY) {
            prove(r, &p);
        }
        if (r->promise) {
            hl_seg_unmake(&seg);
        } else {
            hl_mem_free(&p);
        }
    }
    fault = now;
    after = held_now();
    same(before, &after, what);
    return happened;
}

START_TEST(each_call_fails_in_turn)
{
    const struct request *r = &requests[_i / 6];
    int tried = 0;
    old_kernel = _i % 2 == 1;
    carved = _i / 2 % 3 == 2;
    if (carved && r->promise) {
        return; /* never from an arena */
    }
    ck_assert_int_eq(_i / 2 % 3 == 1 ? hl_mem_reserve(2 * HUGE, HUGE, &at) : 0, 0);
    hl_conf.fastmem_nodes = "0";
    hl_conf.mem_report = 1;
    pools = pools && pool_set(HUGE, POOL, 0) == POOL;
    stand_in();
    fault = (struct fault){.call = CALL_COUNT};
    for (int i = 0; i < 2; i++) { /* what stays from the first one is not a leak */
        struct hl_piece p;
        struct hl_seg seg;
        ck_assert_int_eq(get(r, &p, &seg), 0);
        r->promise ? hl_seg_unmake(&seg) : hl_mem_free(&p);
    }
    struct held before = held_now();
    for (int call = 0; call < CALL_COUNT; call++) {
        for (const int *e = calls[call].errors; *e != 0; e++) {
            bool more = true;
            for (int nth = *e == EINTR ? 1 : ALWAYS; more; nth++) {
                fault = (struct fault){.call = (enum call)call, .nth = nth, .e = *e};
                more = try_one(r, &before);
                tried += more;
            }
        }
    }
    printf("%s%s%s: %d refusals\n", r->name, carved ? " (arena)" : "", old_kernel ? " (old kernel)" : "",
           tried);
    ck_assert_int_ge(tried, !carved ? 20 : r == requests ? 0 : 10); /* plain: no call but the first */
}
END_TEST

/* Sandboxes answer whole families of calls with one errno. */
START_TEST(sandboxes_refuse_many_calls)
{
    static const int errors[] = {EPERM, ENOSYS};
    hl_conf.fastmem_nodes = "0";
    pools = pools && pool_set(HUGE, POOL, 0) == POOL;
    stand_in();
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < sizeof requests / sizeof requests[0]; k++) {
            const struct request *r = &requests[k];
            struct hl_piece p;
            if (r->promise) {
                continue;
            }
            fault = (struct fault){.call = CALL_mbind, .nth = ALWAYS, .e = errors[i]};
            struct hl_mem_ask ask = {.wish = &r->wish, .own_segment = true, .caller = "MPI_Alloc_mem"};
            int rc = hl_mem_alloc(LEN, &ask, &p);
            ck_assert_int_eq(rc, r->wish.rule == HL_MEM_MANDATORY ? HL_ERR_NO_MEM : 0);
            if (rc == 0) {
                ck_assert_uint_eq(p.seg->page, r->wish.page);
                hl_mem_free(&p);
            } else {
                ck_assert_ptr_nonnull(strstr(hl_err_text(rc), "this process may not place memory there"));
            }
        }
    }
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("mem_faults");
    TCase *c = tcase_create("mem_faults");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, each_call_fails_in_turn, 0, 6 * (int)(sizeof requests / sizeof requests[0]));
    tcase_add_test(c, sandboxes_refuse_many_calls);
    suite_add_tcase(s, c);
    return s;
}

int main(void)
{
    unsigned long node = 1;
    if (set_mempolicy(MPOL_BIND, &node, 65) != 0 || set_mempolicy(MPOL_DEFAULT, NULL, 0) != 0) {
        printf("skipped: this process may not place memory\n");
        return 77;
    }
    pools = pool_open();
    SRunner *runner = srunner_create(suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    pool_close();
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
