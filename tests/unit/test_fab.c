/* The checker of messages; regions found by id with their bounds; opening and closing. */
#include "../seed.h"
#include "fab_choice.h"
#include "unit.h"
#include "wire.h"

#include "conf.h"
#include "err.h"
#include "fab_lib.h"
#include "keys.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fab_pins.h"

#define NONCE UINT64_C(0x1234567812345678)
#define RANKS 4

/* A message of a HELLO, two long records and three short ones, built into out; returns its bytes. */
static size_t build(uint8_t *out)
{
    struct hl_wire_head head = {
        .nonce = NONCE, .from = 2, .kind = HL_WIRE_DATA, .flags = HL_WIRE_HELLO, .count = 5};
    struct hl_wire_hello hello = {.len = 16};
    struct hl_wire_short small[] = {{.op = HL_WIRE_KEY, .addr = 7},
                                    {.op = HL_WIRE_GET, .len = 4000, .addr = 8},
                                    {.op = HL_WIRE_PUT, .len = 5, .addr = 8}};
    struct hl_wire_rec rec = {.op = HL_WIRE_ACC, .len = 12};
    size_t at = sizeof head;
    memcpy(out + at, &hello, sizeof hello);
    at += sizeof hello;
    for (int i = 0; i < 2; i++) {
        memcpy(out + at, &rec, sizeof rec);
        at += sizeof rec;
        memset(out + at, 0, 16);
        at += 16;
    }
    memcpy(out + at, small, sizeof small);
    at += sizeof small;
    memset(out + at, 0, 8);
    at += 8;
    head.len = (uint32_t)at;
    memcpy(out, &head, sizeof head);
    return at;
}

START_TEST(good_messages_pass)
{
    _Alignas(8) uint8_t msg[512];
    size_t len = build(msg);
    ck_assert_ptr_null(hl_wire_check(msg, len, NONCE, RANKS));
    const struct hl_wire_head *head = (const void *)msg;
    ck_assert_uint_eq(hl_wire_hello_of(head)->len, 16);
    ck_assert_ptr_eq(hl_wire_body(head), msg + sizeof *head + sizeof(struct hl_wire_hello));
    struct hl_wire_head ack = {.nonce = NONCE, .from = 0, .kind = HL_WIRE_ACK, .len = sizeof ack};
    ck_assert_ptr_null(hl_wire_check(&ack, sizeof ack, NONCE, RANKS));
}
END_TEST

START_TEST(bad_messages_are_named)
{
    _Alignas(8) uint8_t msg[512];
    size_t len = build(msg);
    struct hl_wire_head *head = (void *)msg;
    ck_assert_str_eq(hl_wire_check(msg, len, NONCE + 1, RANKS), "of another job");
    ck_assert_ptr_nonnull(hl_wire_check(msg, len - 8, NONCE, RANKS));
    ck_assert_ptr_nonnull(hl_wire_check(msg, 8, NONCE, RANKS));
    head->from = RANKS;
    ck_assert_str_eq(hl_wire_check(msg, len, NONCE, RANKS), "from no rank of this job");
    build(msg);
    head->count = 6;
    ck_assert_ptr_nonnull(hl_wire_check(msg, len, NONCE, RANKS));
    head->count = 1;
    ck_assert_str_eq(hl_wire_check(msg, len, NONCE, RANKS), "bytes left over");
    build(msg);
    head->kind = 9;
    ck_assert_str_eq(hl_wire_check(msg, len, NONCE, RANKS), "unknown kind");
    build(msg);
    struct hl_wire_rec *rec = (void *)(msg + sizeof *head + sizeof(struct hl_wire_hello));
    rec->len = UINT32_MAX;
    ck_assert_ptr_nonnull(hl_wire_check(msg, len, NONCE, RANKS));
    rec->len = 12;
    rec->op = HL_WIRE_OPS;
    ck_assert_ptr_nonnull(hl_wire_check(msg, len, NONCE, RANKS));
    build(msg);
    struct hl_wire_hello *hello = (void *)(head + 1);
    hello->len = HL_WIRE_NAME + 1;
    ck_assert_str_eq(hl_wire_check(msg, len, NONCE, RANKS), "endpoint name of bad length");
}
END_TEST

/* Every message that passes can be walked without leaving it: the sanitizer builds prove that the checker and
 * this walk read nothing outside. */
START_TEST(random_damage_is_survived)
{
    unsigned seed = (unsigned)seed_of_run();
    printf("TEST_SEED=%u\n", seed);
    int passed = 0;
    for (int i = 0; i < 200000; i++) {
        _Alignas(8) uint8_t msg[512];
        size_t len = build(msg);
        for (int flips = (int)(rand_r(&seed) % 3) + 1; flips > 0; flips--) {
            msg[8 + rand_r(&seed) % (len - 8)] = (uint8_t)rand_r(&seed);
        }
        if (rand_r(&seed) % 4 == 0) {
            len = rand_r(&seed) % (len + 1);
        }
        uint8_t *exact = malloc(len == 0 ? 1 : len);
        memcpy(exact, msg, len);
        if (hl_wire_check(exact, len, NONCE, RANKS) == NULL) {
            const struct hl_wire_head *head = (const void *)exact;
            const uint8_t *at = hl_wire_body(head);
            for (uint32_t n = 0; n < head->count; n++) {
                const struct hl_wire_short *rec = (const void *)at;
                at += head->kind == HL_WIRE_DATA
                          ? hl_wire_fixed(rec->op) + HL_WIRE_PAD(hl_wire_payload(rec->op, rec->len))
                          : sizeof(struct hl_wire_ans) + HL_WIRE_PAD(((const struct hl_wire_ans *)at)->len);
            }
            ck_assert_ptr_eq(at, exact + len);
            passed++;
        }
        free(exact);
    }
    ck_assert_int_gt(passed, 100);
}
END_TEST

START_TEST(keys_find_what_was_added_and_not_removed)
{
    enum { KEYS = 600 };
    static char memory[KEYS];
    static uint64_t keys[KEYS]; /* 0: not in */
    struct hl_fab_keys k = {0};
    unsigned seed = (unsigned)seed_of_run();
    printf("TEST_SEED=%u\n", seed);
    ck_assert_ptr_null(hl_fab_keys_find(&k, 5));
    hl_fab_keys_remove(&k, 5);
    for (int i = 0; i < 40000; i++) {
        int at = rand_r(&seed) % KEYS;
        if (keys[at] != 0) {
            hl_fab_keys_remove(&k, keys[at]);
            ck_assert_ptr_null(hl_fab_keys_find(&k, keys[at]));
            keys[at] = 0;
        } else {
            keys[at] = ((uint64_t)rand_r(&seed) << 10 | (unsigned)at) + 1;
            struct hl_fab_reach reach = {
                .key = keys[at], .addr = (uint64_t)at, .base = &memory[at], .len = 1};
            ck_assert(hl_fab_keys_add(&k, &reach));
        }
        int look = rand_r(&seed) % KEYS;
        const struct hl_fab_reach *found = keys[look] != 0 ? hl_fab_keys_find(&k, keys[look]) : NULL;
        ck_assert(keys[look] == 0 || (found != NULL && found->key == keys[look]));
    }
    free(k.at);
}
END_TEST

START_TEST(an_address_is_found_only_when_all_its_bytes_are_inside)
{
    char memory[64];
    struct hl_fab_reach r = {.addr = 1000, .base = memory, .len = sizeof memory};
    ck_assert_ptr_eq(hl_fab_at(&r, 1000, 64), memory);
    ck_assert_ptr_eq(hl_fab_at(&r, 1063, 1), memory + 63);
    ck_assert_ptr_null(hl_fab_at(&r, 1063, 2));
    ck_assert_ptr_null(hl_fab_at(&r, 999, 1));
    ck_assert_ptr_null(hl_fab_at(&r, 1001, UINT64_MAX));
    ck_assert_ptr_null(hl_fab_at(&r, UINT64_MAX, 2));
    r.base = NULL;
    ck_assert_ptr_null(hl_fab_at(&r, 1000, 1));
}
END_TEST

START_TEST(regions_are_found_within_their_bounds)
{
    static char memory[4096];
    struct hl_fab_mr mr;
    ck_assert_int_eq(hl_fab_register(memory, sizeof memory, &mr), 0);
    ck_assert_uint_ne(mr.id, 0);
    ck_assert_ptr_eq(hl_fab_locate(mr.id, 0, sizeof memory), memory);
    ck_assert_ptr_eq(hl_fab_locate(mr.id, 4090, 6), memory + 4090);
    ck_assert_ptr_null(hl_fab_locate(mr.id, 4090, 7));
    ck_assert_ptr_null(hl_fab_locate(mr.id, UINT64_MAX - 2, 6));
    ck_assert_ptr_null(hl_fab_locate(mr.id, 8, UINT64_MAX - 4));
    ck_assert_ptr_null(hl_fab_locate(mr.id + 1, 0, 1));
    ck_assert_ptr_null(hl_fab_locate(0, 0, 1));
    uint64_t old = mr.id;
    hl_fab_unregister(mr.id);
    ck_assert_ptr_null(hl_fab_locate(old, 0, 1));
    ck_assert_int_eq(hl_fab_register(memory, sizeof memory, &mr), 0);
    ck_assert_uint_ne(mr.id, old);
    ck_assert_ptr_null(hl_fab_locate(old, 0, 1));
    hl_fab_unregister(mr.id);
}
END_TEST

START_TEST(segments_are_found_by_their_id)
{
    struct hl_piece piece;
    ck_assert_int_eq(hl_mem_alloc(1000, NULL, &piece), 0);
    ck_assert_ptr_eq(hl_fab_locate(piece.seg->id, piece.off, 1000), piece.addr);
    ck_assert_ptr_null(hl_fab_locate(piece.seg->id, piece.seg->len - 4, 8));
    hl_mem_free(&piece);
}
END_TEST

/* ---- opening and closing, on the model provider ---- */

START_TEST(an_opening_that_fails_halfway_leaves_nothing)
{
    ck_assert_int_eq(open_model("model"), 0);
    ck_assert_ptr_nonnull(strstr(hl_fab_why(), "HOTLANE_PROVIDER"));
    ck_assert(hl_fab_has(&model_row) && !hl_fab_has(hl_provider_find("opx", FI_VERSION(1, 17))));
    for (int step = 1; step <= 4; step++) { /* domain, vector, queue, endpoint */
        struct hl_fab_ep ep;
        model.fail_open = step;
        ck_assert_int_eq(hl_fab_ep_open(HL_FAB_LANE, &ep), HL_ERR_NO_MEM);
        ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_NO_MEM), "model"));
        ck_assert_int_eq(model.objects, 0);
    }
    struct hl_fab_ep ep;
    ck_assert_int_eq(hl_fab_ep_open(HL_FAB_RX, &ep), 0);
    ck_assert_int_eq(model.objects, 4);
    ck_assert(hl_fab_can_atomic(HL_FAB_FETCH, HL_OP_SUM, HL_BASIC_U64));
    ck_assert(!hl_fab_can_atomic(HL_FAB_FETCH, HL_OP_SUM, HL_BASIC_F64));
    hl_fab_ep_close(&ep);
    ck_assert_int_eq(model.objects, 0);
    ck_assert_int_eq(model.busy, 0); /* nothing was closed before what used it */
    hl_fab_close();
    ck_assert(!hl_fab_is_open());
}
END_TEST

START_TEST(a_provider_that_wants_local_registration_is_refused)
{
    model_mr_mode = FI_MR_VIRT_ADDR | FI_MR_LOCAL;
    ck_assert_int_eq(open_model("model"), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "FI_MR_LOCAL"));
    ck_assert(!hl_fab_is_open());
}
END_TEST

START_TEST(a_provider_of_one_node_is_refused)
{
    model_name = _i == 0 ? "shm" : "sm2";
    ck_assert_int_eq(open_model(model_name), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), model_name));
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "one node only"));
    ck_assert(!hl_fab_is_open());
}
END_TEST

START_TEST(an_unknown_provider_is_named_with_the_fix)
{
    ck_assert_int_eq(open_model("no-such-thing"), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "HOTLANE_PROVIDER=no-such-thing"));
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "fi_info -l"));
}
END_TEST

/* ---- what libfabric reads at its start ---- */

static struct seen {
    bool (*reads)(const char *path);
    bool symbols, others, ran;
} seen;

static void look_at_files(void *arg)
{
    ck_assert_ptr_eq(arg, &seen);
    seen.ran = true;
    seen.symbols = seen.reads != NULL && seen.reads("/proc/kallsyms");
    seen.others = seen.reads != NULL && seen.reads("/proc/self/stat");
    FILE *mine = fopen("/proc/kallsyms", "re"); /* the program itself reads what it likes */
    ck_assert_ptr_nonnull(mine);
    fclose(mine);
}

/* Built so that the loader seals its references, and so that it resolves them when they are used. */
START_TEST(the_kernels_symbols_are_not_read_meanwhile)
{
    static const char *const file[] = {HL_TEST_READER_NOW, HL_TEST_READER_LAZY};
    void *so = dlopen(file[_i], RTLD_LAZY);
    ck_assert_msg(so != NULL, "%s", so != NULL ? "" : dlerror());
    *(void **)&seen.reads = dlsym(so, "reader_reads");
    ck_assert(seen.reads != NULL);
    for (int i = 0; i < 3; i++) {
        hl_fab_without_symbols(dlsym(so, "reader_reads"), look_at_files, &seen);
        ck_assert(seen.ran && seen.others && !seen.symbols);
        look_at_files(&seen);
        ck_assert(seen.others && seen.symbols);
    }
}
END_TEST

START_TEST(what_reads_no_files_is_left_alone)
{
    int nowhere = 0;
    hl_fab_without_symbols(&nowhere, look_at_files, &seen);
    ck_assert(seen.ran);
    seen.ran = false;
    hl_fab_without_symbols(dlsym(dlopen("libm.so.6", RTLD_LAZY), "cos"), look_at_files, &seen);
    ck_assert(seen.ran);
}
END_TEST

/* Is this address in a mapping that may have transparent huge pages? By the flag "hg" of /proc/self/smaps. */
static bool is_advised(const void *at)
{
    FILE *f = fopen("/proc/self/smaps", "re");
    ck_assert_ptr_nonnull(f);
    bool inside = false, advised = false;
    char line[512];
    while (fgets(line, sizeof line, f) != NULL) {
        unsigned long begin, end;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
            inside = (uintptr_t)at - begin < end - begin;
        } else if (inside && strncmp(line, "VmFlags:", 8) == 0) {
            advised = strstr(line, " hg") != NULL;
        }
    }
    fclose(f);
    return advised;
}

START_TEST(large_buffers_lie_in_huge_pages)
{
    static const char *const file[] = {HL_TEST_READER_NOW, HL_TEST_READER_LAZY};
    const size_t huge = (size_t)2 << 20;
    void *so = dlopen(file[_i], RTLD_LAZY);
    ck_assert(so != NULL);
    void *(*takes)(size_t);
    *(void **)&takes = dlsym(so, "reader_takes");
    char *before = takes(8 * huge);
    ck_assert(!is_advised(before + huge));
    ck_assert(hl_fab_in_huge_pages(dlsym(so, "reader_takes")));
    char *large = takes(8 * huge + 100), *small = takes(1000), *mine = NULL;
    ck_assert_int_eq(posix_memalign((void **)&mine, 16, 8 * huge), 0);
    memset(large, 1, 8 * huge + 100);
    ck_assert_uint_eq((uintptr_t)large % huge, 0);
    ck_assert(!is_advised(small) && !is_advised(mine + huge));
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) == 0) {
        ck_assert(is_advised(large) && is_advised(large + 8 * huge - 1));
    }
    ck_assert_ptr_null(takes(SIZE_MAX / 2));
    free(before);
    free(large);
    free(small);
    free(mine);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("fab");
    TCase *t = tcase_create("fab");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, good_messages_pass);
    tcase_add_test(t, bad_messages_are_named);
    tcase_add_test(t, random_damage_is_survived);
    tcase_add_test(t, keys_find_what_was_added_and_not_removed);
    tcase_add_test(t, an_address_is_found_only_when_all_its_bytes_are_inside);
    tcase_add_test(t, regions_are_found_within_their_bounds);
    tcase_add_test(t, segments_are_found_by_their_id);
    tcase_add_test(t, what_pins_is_registered_while_it_is_used);
    tcase_add_test(t, what_does_not_pin_is_registered_once);
    tcase_add_test(t, the_limit_of_locked_memory_is_named);
    tcase_add_test(t, an_endpoint_names_the_limit_of_locked_memory);
    tcase_add_test(t, keys_that_are_taken_are_left_alone);
    tcase_add_test(t, a_busy_provider_is_asked_again);
    tcase_add_test(t, registrations_may_have_one_key);
    tcase_add_test(t, buffers_fit_into_what_may_be_locked);
    tcase_add_test(t, an_opening_that_fails_halfway_leaves_nothing);
    tcase_add_test(t, a_provider_that_wants_local_registration_is_refused);
    tcase_add_loop_test(t, a_provider_of_one_node_is_refused, 0, 2);
    tcase_add_test(t, an_unknown_provider_is_named_with_the_fix);
    tcase_add_loop_test(t, the_kernels_symbols_are_not_read_meanwhile, 0, 2);
    tcase_add_loop_test(t, large_buffers_lie_in_huge_pages, 0, 2);
    tcase_add_test(t, what_reads_no_files_is_left_alone);
    suite_add_tcase(s, t);
    suite_add_tcase(s, choice_case());
    return s;
}

UNIT_MAIN(make_suite)
