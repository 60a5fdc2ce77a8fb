/* Opening and closing; what a provider that pins may lock. */
#include "fab_choice.h"
#include "locked.h"
#include "unit.h"

#include "conf.h"
#include "err.h"
#include "fab_lib.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
    tcase_add_test(t, an_endpoint_names_the_limit_of_locked_memory);
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
