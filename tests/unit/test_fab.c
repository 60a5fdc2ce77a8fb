/* Regions found by id with their bounds; opening and closing. */
#include "../seed.h"
#include "fab_choice.h"
#include "unit.h"

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

static Suite *make_suite(void)
{
    Suite *s = suite_create("fab");
    TCase *t = tcase_create("fab");
    tcase_set_timeout(t, 60);
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
    suite_add_tcase(s, t);
    suite_add_tcase(s, choice_case());
    return s;
}

UNIT_MAIN(make_suite)
