/* Registered memory: found by key with its bounds; what is registered when, on a provider that pins,
 * and what is said where it cannot be.
 *
 * The provider keeps the pages of what is registered up to a limit, chooses keys or takes them, and may
 * refuse as real ones do. */
#include "../seed.h"
#include "locked.h"
#include "unit.h"

#include "err.h"
#include "fab_lib.h"
#include "mr_keys.h"
#include "util.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const char *nic_strerror(int code)
{
    return strerror(abs(code));
}

/* Opens registration on it. */
static void open_nic(bool pins, size_t key_size, size_t limit)
{
    static struct hl_fab_ep ep = {.domain = &nic_domain};
    memset(&nic, 0, sizeof nic);
    nic.limit = limit;
    hl_fab_lib.strerror = nic_strerror;
    snprintf(hl_fab.provider, sizeof hl_fab.provider, "nic");
    hl_fab.pins = pins;
    hl_fab.virt_addr = pins;
    hl_fab.key_size = key_size;
    ck_assert_int_eq(hl_mr_open(&ep), 0);
}

static void close_nic(void)
{
    hl_mr_close();
    ck_assert_int_eq(nic.count, 0);
    ck_assert_uint_eq(nic.bytes, 0);
}

/* What MPI_Init and a program take: small pieces, and a large segment. */
START_TEST(what_pins_is_registered_while_it_is_used)
{
    struct hl_piece p[10], large;
    struct hl_mr mr[10], whole;
    ck_assert_int_eq(hl_mem_alloc(100, NULL, &p[0]), 0); /* its arena is there when the network opens */
    open_nic(true, 0, 8 * MIB);
    for (int i = 1; i < 10; i++) {
        ck_assert_int_eq(hl_mem_alloc(100000, NULL, &p[i]), 0);
        ck_assert_ptr_nonnull(p[i].seg->arena);
    }
    ck_assert_int_eq(hl_mem_alloc(64 * MIB, NULL, &large), 0);
    ck_assert_uint_eq(nic.bytes, 0);
    for (int i = 1; i < 10; i++) {
        ck_assert_int_eq(hl_mr_register(p[i].addr, 100000, &mr[i]), 0);
        ck_assert_uint_eq(mr[i].addr, (uint64_t)(uintptr_t)p[i].addr);
        ck_assert_uint_ne(mr[i].key, 0);
    }
    ck_assert_uint_eq(nic.bytes, 9 * 100000);
    ck_assert_int_eq(hl_mr_register((char *)large.addr + 40 * MIB, MIB, &whole), 0);
    ck_assert_uint_eq(nic.bytes, 9 * 100000 + MIB);
    hl_mr_unregister(whole.id);
    for (int i = 1; i < 10; i++) {
        hl_mr_unregister(mr[i].id);
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
    struct hl_mr mr, more;
    open_nic(false, 8, SIZE_MAX);
    ck_assert_int_eq(hl_mem_alloc(100, NULL, &small), 0);
    ck_assert_int_eq(hl_mem_alloc(64 * MIB, NULL, &large), 0);
    ck_assert_int_eq(nic.count, 2);
    ck_assert_int_eq(hl_mr_register((char *)small.addr + 8, 8, &mr), 0);
    ck_assert_uint_eq(mr.addr, small.off + 8);
    ck_assert_uint_eq(mr.key, small.seg->key);
    ck_assert_int_eq(hl_mr_register(large.addr, large.len, &more), 0);
    ck_assert_uint_eq(more.key, large.seg->key);
    ck_assert_int_eq(nic.calls, 2);
    hl_mr_unregister(mr.id);
    hl_mr_unregister(more.id);
    ck_assert_int_eq(nic.count, 2);
    hl_mem_free(&large);
    ck_assert_int_eq(nic.count, 1); /* arenas live on */
    hl_mem_free(&small);
    close_nic();
}
END_TEST

START_TEST(the_limit_of_locked_memory_is_named)
{
    static char memory[256 << 10];
    struct hl_mr mr, too_much;
    be_a_user(128 << 10);
    open_nic(true, 0, 128 << 10);
    ck_assert_uint_le(hl_lockable_bytes(), 128 << 10);
    ck_assert_int_eq(hl_mr_register(memory, 64 << 10, &mr), 0);
    ck_assert_int_eq(hl_mr_register(memory, sizeof memory, &too_much), HL_ERR_NO_MEM);
    const char *text = hl_err_text(HL_ERR_NO_MEM), *const words[] = {"nic", "262144 bytes", "ulimit -l",
                                                                     "limits.d", "64K"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        ck_assert_msg(strstr(text, words[i]) != NULL, "%s in: %s", words[i], text);
    }
    ck_assert_int_eq(nic.count, 1); /* the network's pages are as before */
    hl_mr_unregister(mr.id);
    close_nic();
}
END_TEST

/* FI_ENOKEY is answered with other keys, but not for ever. */
START_TEST(keys_that_are_taken_are_left_alone)
{
    static char memory[5][64];
    struct hl_mr mr[5], none;
    open_nic(true, 2, SIZE_MAX);
    for (int i = 0; i < 4; i++) {
        nic.taken += i == 2 ? 2 : 0; /* somebody else's */
        ck_assert_int_eq(hl_mr_register(memory[i], 64, &mr[i]), 0);
        ck_assert(mr[i].key > nic.taken && mr[i].key <= UINT16_MAX);
        nic.taken = mr[i].key;
    }
    nic.no_key = true;
    nic.calls = 0;
    ck_assert_int_ne(hl_mr_register(memory[4], 64, &none), 0);
    ck_assert_int_ge(nic.calls, 5);
    ck_assert_int_le(nic.calls, 6);
    hl_fab.key_size = 0; /* which key was asked for is nothing to it then */
    nic.calls = 0;
    int rc = hl_mr_register(memory[4], 64, &none);
    ck_assert_int_ne(rc, 0);
    ck_assert_ptr_nonnull(strstr(hl_err_text(rc), "key"));
    ck_assert_int_eq(nic.calls, 1);
    for (int i = 0; i < 4; i++) {
        hl_mr_unregister(mr[i].id);
    }
    close_nic();
}
END_TEST

START_TEST(a_busy_provider_is_asked_again)
{
    static char memory[64];
    struct hl_mr mr;
    open_nic(true, 0, SIZE_MAX);
    nic.again = 3;
    ck_assert_int_eq(hl_mr_register(memory, sizeof memory, &mr), 0);
    ck_assert_int_eq(nic.calls, 4);
    hl_mr_unregister(mr.id);
    nic.again = -1;
    ck_assert_int_eq(hl_mr_register(memory, sizeof memory, &mr), HL_ERR_NO_MEM);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_NO_MEM), "tried again"));
    ck_assert_ptr_null(strstr(hl_err_text(HL_ERR_NO_MEM), "ulimit")); /* that is not the cause */
    close_nic();
}
END_TEST

/* A cache below gives the key of memory that was registered once, for any part of it. */
START_TEST(registrations_may_have_one_key)
{
    static char memory[300];
    struct hl_mr a, b;
    struct hl_mr_found r;
    open_nic(true, 0, SIZE_MAX);
    nic.one_key = 77;
    ck_assert_int_eq(hl_mr_register(memory + 100, 100, &a), 0);
    ck_assert_int_eq(hl_mr_register(memory, 50, &b), 0);
    ck_assert(a.key == 77 && b.key == 77);
    hl_mr_hold();
    ck_assert(hl_mr_find(77, &r));
    ck_assert_ptr_eq(hl_mr_at(&r, b.addr, 50), memory);
    ck_assert_ptr_eq(hl_mr_at(&r, a.addr + 99, 1), memory + 199);
    ck_assert_ptr_null(hl_mr_at(&r, a.addr + 99, 2));
    hl_mr_release();
    hl_mr_unregister(a.id);
    hl_mr_hold();
    ck_assert(hl_mr_find(77, &r));
    ck_assert_ptr_eq(hl_mr_at(&r, b.addr, 50), memory);
    hl_mr_release();
    hl_mr_unregister(b.id);
    hl_mr_hold();
    ck_assert(!hl_mr_find(77, &r));
    hl_mr_release();
    close_nic();
}
END_TEST

START_TEST(keys_find_what_was_added_and_not_removed)
{
    enum { KEYS = 600 };
    static char memory[KEYS];
    static uint64_t keys[KEYS]; /* 0: not in */
    struct hl_mr_keys k = {0};
    unsigned seed = (unsigned)seed_of_run();
    printf("TEST_SEED=%u\n", seed);
    ck_assert_ptr_null(hl_mr_keys_find(&k, 5));
    hl_mr_keys_remove(&k, 5);
    for (int i = 0; i < 40000; i++) {
        int at = rand_r(&seed) % KEYS;
        if (keys[at] != 0) {
            hl_mr_keys_remove(&k, keys[at]);
            ck_assert_ptr_null(hl_mr_keys_find(&k, keys[at]));
            keys[at] = 0;
        } else {
            keys[at] = ((uint64_t)rand_r(&seed) << 10 | (unsigned)at) + 1;
            struct hl_mr_found reach = {.key = keys[at], .addr = (uint64_t)at, .base = &memory[at], .len = 1};
            ck_assert(hl_mr_keys_add(&k, &reach));
        }
        int look = rand_r(&seed) % KEYS;
        const struct hl_mr_found *found = keys[look] != 0 ? hl_mr_keys_find(&k, keys[look]) : NULL;
        ck_assert(keys[look] == 0 || (found != NULL && found->key == keys[look]));
    }
    free(k.at);
}
END_TEST

START_TEST(an_address_is_found_only_when_all_its_bytes_are_inside)
{
    char memory[64];
    struct hl_mr_found r = {.addr = 1000, .base = memory, .len = sizeof memory};
    ck_assert_ptr_eq(hl_mr_at(&r, 1000, 64), memory);
    ck_assert_ptr_eq(hl_mr_at(&r, 1063, 1), memory + 63);
    ck_assert_ptr_null(hl_mr_at(&r, 1063, 2));
    ck_assert_ptr_null(hl_mr_at(&r, 999, 1));
    ck_assert_ptr_null(hl_mr_at(&r, 1001, UINT64_MAX));
    ck_assert_ptr_null(hl_mr_at(&r, UINT64_MAX, 2));
    r.base = NULL;
    ck_assert_ptr_null(hl_mr_at(&r, 1000, 1));
}
END_TEST

START_TEST(ids_are_not_used_again)
{
    static char memory[4096];
    struct hl_mr mr;
    ck_assert_int_eq(hl_mr_register(memory, sizeof memory, &mr), 0);
    ck_assert_uint_ne(mr.id, 0);
    uint64_t old = mr.id;
    hl_mr_unregister(mr.id);
    ck_assert_int_eq(hl_mr_register(memory, sizeof memory, &mr), 0);
    ck_assert_uint_ne(mr.id, old);
    hl_mr_unregister(mr.id);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("mr");
    TCase *t = tcase_create("mr");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, keys_find_what_was_added_and_not_removed);
    tcase_add_test(t, an_address_is_found_only_when_all_its_bytes_are_inside);
    tcase_add_test(t, ids_are_not_used_again);
    tcase_add_test(t, what_pins_is_registered_while_it_is_used);
    tcase_add_test(t, what_does_not_pin_is_registered_once);
    tcase_add_test(t, the_limit_of_locked_memory_is_named);
    tcase_add_test(t, keys_that_are_taken_are_left_alone);
    tcase_add_test(t, a_busy_provider_is_asked_again);
    tcase_add_test(t, registrations_may_have_one_key);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(make_suite)
