/* Registered memory on a provider that pins: what is registered when, and what is said where it cannot be.
 *
 * The provider keeps the pages of what is registered up to a limit, chooses keys or takes them, and may
 * refuse as real ones do. */
#include <rdma/fi_errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/capability.h>

#define MIB ((size_t)1 << 20)

static struct {
    size_t bytes, limit; /* registered; refused beyond it with ENOMEM */
    int count, calls;
    int again;        /* so many calls say FI_EAGAIN, -1: all */
    bool no_key;      /* every key is refused */
    uint64_t taken;   /* keys up to this one are */
    uint64_t one_key; /* all registrations get it; 0: what was asked for */
} nic;

struct nic_mr {
    struct fid_mr mr;
    size_t len;
};

static int nic_close(struct fid *fid)
{
    struct nic_mr *m = fid->context;
    nic.bytes -= m->len;
    nic.count--;
    free(m);
    return 0;
}

static struct fi_ops nic_mr_fid_ops = {.size = sizeof nic_mr_fid_ops, .close = nic_close};

static int nic_register(struct fid *domain, const struct fi_mr_attr *attr, uint64_t flags,
                        struct fid_mr **out)
{
    (void)domain, (void)flags;
    size_t len = attr->mr_iov->iov_len;
    nic.calls++;
    if (nic.again != 0) {
        nic.again -= nic.again > 0;
        return -FI_EAGAIN;
    }
    if (nic.no_key || attr->requested_key <= nic.taken) {
        return -FI_ENOKEY;
    }
    if (len > nic.limit - nic.bytes) {
        return -FI_ENOMEM;
    }
    struct nic_mr *m = calloc(1, sizeof *m);
    ck_assert_ptr_nonnull(m);
    m->mr = (struct fid_mr){.fid = {FI_CLASS_MR, m, &nic_mr_fid_ops},
                            .key = nic.one_key != 0 ? nic.one_key : attr->requested_key};
    m->len = len;
    nic.bytes += len;
    nic.count++;
    *out = &m->mr;
    return 0;
}

static struct fi_ops_mr nic_mr_ops = {.size = sizeof nic_mr_ops, .regattr = nic_register};
static struct fid_domain nic_domain = {.mr = &nic_mr_ops};

/* Opens registration on it. */
static void open_nic(bool pins, size_t key_size, size_t limit)
{
    static struct hl_fab_ep ep = {.domain = &nic_domain};
    memset(&nic, 0, sizeof nic);
    nic.limit = limit;
    hl_fab_lib.strerror = model_strerror;
    snprintf(hl_fab.provider, sizeof hl_fab.provider, "nic");
    hl_fab.pins = pins;
    hl_fab.virt_addr = pins;
    hl_fab.key_size = key_size;
    ck_assert_int_eq(hl_fab_regions_open(&ep), 0);
}

static void close_nic(void)
{
    hl_fab_regions_close();
    ck_assert_int_eq(nic.count, 0);
    ck_assert_uint_eq(nic.bytes, 0);
}

/* What MPI_Init and a program take: small pieces, and a large segment. */
START_TEST(what_pins_is_registered_while_it_is_used)
{
    struct hl_piece p[10], large;
    struct hl_fab_mr mr[10], whole;
    ck_assert_int_eq(hl_mem_alloc(100, NULL, &p[0]), 0); /* its arena is there when the network opens */
    open_nic(true, 0, 8 * MIB);
    for (int i = 1; i < 10; i++) {
        ck_assert_int_eq(hl_mem_alloc(100000, NULL, &p[i]), 0);
        ck_assert_ptr_nonnull(p[i].seg->arena);
    }
    ck_assert_int_eq(hl_mem_alloc(64 * MIB, NULL, &large), 0);
    ck_assert_uint_eq(nic.bytes, 0);
    for (int i = 1; i < 10; i++) {
        ck_assert_int_eq(hl_fab_register(p[i].addr, 100000, &mr[i]), 0);
        ck_assert_uint_eq(mr[i].addr, (uint64_t)(uintptr_t)p[i].addr);
        ck_assert_uint_ne(mr[i].key, 0);
    }
    ck_assert_uint_eq(nic.bytes, 9 * 100000);
    ck_assert_int_eq(hl_fab_register((char *)large.addr + 40 * MIB, MIB, &whole), 0);
    ck_assert_uint_eq(nic.bytes, 9 * 100000 + MIB);
    ck_assert_ptr_eq(hl_fab_locate(whole.id, MIB - 1, 1), (char *)large.addr + 41 * MIB - 1);
    hl_fab_unregister(whole.id);
    for (int i = 1; i < 10; i++) {
        hl_fab_unregister(mr[i].id);
        hl_mem_free(&p[i]);
    }
    hl_mem_free(&large);
    ck_assert_uint_eq(nic.bytes, 0);
    close_nic();
    hl_mem_free(&p[0]);
}
END_TEST

START_TEST(what_does_not_pin_is_registered_once)
{
    struct hl_piece small, large;
    struct hl_fab_mr mr, more;
    open_nic(false, 8, SIZE_MAX);
    ck_assert_int_eq(hl_mem_alloc(100, NULL, &small), 0);
    ck_assert_int_eq(hl_mem_alloc(64 * MIB, NULL, &large), 0);
    ck_assert_int_eq(nic.count, 2);
    ck_assert_int_eq(hl_fab_register((char *)small.addr + 8, 8, &mr), 0);
    ck_assert_uint_eq(mr.addr, small.off + 8);
    ck_assert_uint_eq(mr.key, small.seg->key);
    ck_assert_int_eq(hl_fab_register(large.addr, large.len, &more), 0);
    ck_assert_uint_eq(more.key, large.seg->key);
    ck_assert_int_eq(nic.calls, 2);
    hl_fab_unregister(mr.id);
    hl_fab_unregister(more.id);
    ck_assert_int_eq(nic.count, 2);
    hl_mem_free(&large);
    ck_assert_int_eq(nic.count, 1); /* arenas live on */
    hl_mem_free(&small);
    close_nic();
}
END_TEST

/* Root may lock what it likes; users may not. */
static void be_a_user(rlim_t lockable)
{
    struct rlimit limit;
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
    ck_assert_int_eq(syscall(SYS_capget, &head, caps), 0);
    caps[0].effective &= ~(UINT32_C(1) << CAP_IPC_LOCK);
    ck_assert_int_eq(syscall(SYS_capset, &head, caps), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    limit.rlim_cur = lockable < limit.rlim_max ? lockable : limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

START_TEST(the_limit_of_locked_memory_is_named)
{
    static char memory[256 << 10];
    struct hl_fab_mr mr, too_much;
    be_a_user(128 << 10);
    open_nic(true, 0, 128 << 10);
    ck_assert_uint_le(hl_fab_lockable(), 128 << 10);
    ck_assert_int_eq(hl_fab_register(memory, 64 << 10, &mr), 0);
    ck_assert_int_eq(hl_fab_register(memory, sizeof memory, &too_much), HL_ERR_NO_MEM);
    const char *text = hl_err_text(HL_ERR_NO_MEM), *const words[] = {"nic", "262144 bytes", "ulimit -l",
                                                                     "limits.d", "64K"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        ck_assert_msg(strstr(text, words[i]) != NULL, "%s in: %s", words[i], text);
    }
    ck_assert_int_eq(nic.count, 1); /* the network's pages are as before */
    hl_fab_unregister(mr.id);
    close_nic();
}
END_TEST

/* An endpoint's own buffers are locked, too. */
static void open_in_vain(const char *provider, int error, bool named)
{
    struct hl_fab_ep ep;
    model_name = provider;
    ck_assert_int_eq(open_model(provider), 0);
    model.domain_error = error;
    int rc = hl_fab_ep_open(HL_FAB_LANE, &ep);
    ck_assert_int_eq(rc, error == ENOMEM ? HL_ERR_NO_MEM : HL_ERR_OTHER);
    bool found = strstr(hl_err_text(rc), "ulimit -l;") != NULL;
    ck_assert_msg(found == named, "%s, error %d: %s", provider, error, hl_err_text(rc));
    model.domain_error = 0;
    hl_fab_close();
}

START_TEST(an_endpoint_names_the_limit_of_locked_memory)
{
    open_in_vain("tcp;ofi_rxm", ENOMEM, false); /* locks nothing */
    be_a_user(64 << 20);
    open_in_vain("verbs;ofi_rxm", ENOMEM, true);
    open_in_vain("verbs;ofi_rxm", EAGAIN, true);
    open_in_vain("verbs;ofi_rxm", EIO, false);
    open_in_vain("tcp;ofi_rxm", ENOMEM, false);
}
END_TEST

/* FI_ENOKEY is answered with other keys, but not for ever. */
START_TEST(keys_that_are_taken_are_left_alone)
{
    static char memory[5][64];
    struct hl_fab_mr mr[5], none;
    open_nic(true, 2, SIZE_MAX);
    for (int i = 0; i < 4; i++) {
        nic.taken += i == 2 ? 2 : 0; /* somebody else's */
        ck_assert_int_eq(hl_fab_register(memory[i], 64, &mr[i]), 0);
        ck_assert(mr[i].key > nic.taken && mr[i].key <= UINT16_MAX);
        nic.taken = mr[i].key;
    }
    nic.no_key = true;
    nic.calls = 0;
    ck_assert_int_ne(hl_fab_register(memory[4], 64, &none), 0);
    ck_assert_int_ge(nic.calls, 5);
    ck_assert_int_le(nic.calls, 6);
    hl_fab.key_size = 0; /* which key was asked for is nothing to it then */
    nic.calls = 0;
    int rc = hl_fab_register(memory[4], 64, &none);
    ck_assert_int_ne(rc, 0);
    ck_assert_ptr_nonnull(strstr(hl_err_text(rc), "key"));
    ck_assert_int_eq(nic.calls, 1);
    for (int i = 0; i < 4; i++) {
        hl_fab_unregister(mr[i].id);
    }
    close_nic();
}
END_TEST

START_TEST(a_busy_provider_is_asked_again)
{
    static char memory[64];
    struct hl_fab_mr mr;
    open_nic(true, 0, SIZE_MAX);
    nic.again = 3;
    ck_assert_int_eq(hl_fab_register(memory, sizeof memory, &mr), 0);
    ck_assert_int_eq(nic.calls, 4);
    hl_fab_unregister(mr.id);
    nic.again = -1;
    ck_assert_int_eq(hl_fab_register(memory, sizeof memory, &mr), HL_ERR_NO_MEM);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_NO_MEM), "tried again"));
    ck_assert_ptr_null(strstr(hl_err_text(HL_ERR_NO_MEM), "ulimit")); /* that is not the cause */
    close_nic();
}
END_TEST

/* A cache below gives the key of memory that was registered once, for any part of it. */
START_TEST(registrations_may_have_one_key)
{
    static char memory[300];
    struct hl_fab_mr a, b;
    struct hl_fab_reach r;
    open_nic(true, 0, SIZE_MAX);
    nic.one_key = 77;
    ck_assert_int_eq(hl_fab_register(memory + 100, 100, &a), 0);
    ck_assert_int_eq(hl_fab_register(memory, 50, &b), 0);
    ck_assert(a.key == 77 && b.key == 77);
    hl_fab_hold();
    ck_assert(hl_fab_reach(77, &r));
    ck_assert_ptr_eq(hl_fab_at(&r, b.addr, 50), memory);
    ck_assert_ptr_eq(hl_fab_at(&r, a.addr + 99, 1), memory + 199);
    ck_assert_ptr_null(hl_fab_at(&r, a.addr + 99, 2));
    hl_fab_release();
    hl_fab_unregister(a.id);
    hl_fab_hold();
    ck_assert(hl_fab_reach(77, &r));
    ck_assert_ptr_eq(hl_fab_at(&r, b.addr, 50), memory);
    hl_fab_release();
    hl_fab_unregister(b.id);
    hl_fab_hold();
    ck_assert(!hl_fab_reach(77, &r));
    hl_fab_release();
    close_nic();
}
END_TEST

/* Six pools of 1024 buffers with their heads, and something left for windows. */
START_TEST(buffers_fit_into_what_may_be_locked)
{
    for (uint64_t may = (uint64_t)6 << 20; may < (uint64_t)1 << 30; may += (uint64_t)1 << 20) {
        size_t bytes = hl_provider_buffer(may, 16384);
        ck_assert(bytes >= HL_PROVIDER_EAGER && bytes <= 16384 && bytes % 64 == 0);
        ck_assert_uint_lt(6 * 1024 * (bytes + 400), may);
    }
    ck_assert_uint_eq(hl_provider_buffer(UINT64_MAX, 16384), 16384);
    ck_assert_uint_eq(hl_provider_buffer((uint64_t)1 << 30, 4096), 4096);
    ck_assert_uint_eq(hl_provider_buffer(65536, 4096), HL_PROVIDER_EAGER);
    ck_assert_uint_gt(hl_provider_locks(hl_provider_find("verbs;ofi_rxm", FI_VERSION(1, 17))), 65536);
    ck_assert_uint_eq(hl_provider_locks(hl_provider_find("tcp;ofi_rxm", FI_VERSION(1, 17))), 0);
}
END_TEST
