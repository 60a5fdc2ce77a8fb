/* Opening and closing; what a provider that pins may lock. */
#include "fab_choice.h"
#include "locked.h"
#include "unit.h"

#include "conf.h"
#include "err.h"
#include "fab_lib.h"

#include <dlfcn.h>
#include <signal.h>
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
    ck_assert_uint_eq(hl_fab.post_max, MODEL_EAGER); /* as it was offered */
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

static _Alignas(64) char memory[8 * (MODEL_EAGER + 256)]; /* of receives */

/* Receives that find no room are posted later: all of them, when they are posted at first and when they were
 * used. */
START_TEST(receives_that_find_no_room_wait_for_it)
{
    enum { COUNT = 8 };
    struct hl_fab_ep ep;
    struct fi_cq_msg_entry came[COUNT];
    uint64_t message = 7;
    model.recv_again = 100;
    ck_assert_int_eq(open_model("model"), 0);
    ck_assert_int_eq(hl_fab_ep_open(HL_FAB_PORT, &ep), 0);
    ck_assert_int_eq(hl_fab_ep_listen(&ep, memory, COUNT), 0);
    ck_assert_int_eq(hl_fab_ep_completed(&ep, came, COUNT), 0);
    ck_assert_int_eq(model_eps->recv_count, 0);
    for (int turn = 0; turn < 100; turn++) {
        model.recv_again = 0;
        ck_assert_int_eq(hl_fab_ep_completed(&ep, came, COUNT), 0);
        ck_assert_int_eq(model_eps->recv_count, COUNT);
        model.recv_again = 100;
        ck_assert_int_eq((int)model_route(model_eps->number, &message, sizeof message), 0);
        while (hl_fab_ep_completed(&ep, came, COUNT) == 0) {
        }
        struct hl_fab_receive *r = hl_fab_ep_receive(&ep, came[0].op_context);
        ck_assert(r != NULL && memcmp(r->bytes, &message, sizeof message) == 0);
        hl_fab_ep_again(&ep, r);
        ck_assert_int_eq(model_eps->recv_count, COUNT - 1);
    }
    ck_assert(hl_fab_ep_receive(&ep, NULL) == NULL && hl_fab_ep_receive(&ep, &message) == NULL);
    hl_fab_ep_close(&ep);
    ck_assert_int_eq(model.objects, 0);
    hl_fab_close();
}
END_TEST

/* One that failed is posted again, and is nobody's operation. */
START_TEST(a_receive_that_failed_is_posted_again)
{
    struct hl_fab_ep ep;
    struct fi_cq_msg_entry came;
    struct fi_cq_err_entry error;
    ck_assert_int_eq(open_model("model"), 0);
    ck_assert_int_eq(hl_fab_ep_open(HL_FAB_PORT, &ep), 0);
    ck_assert_int_eq(hl_fab_ep_listen(&ep, memory, 1), 0);
    ck_assert(!hl_fab_ep_error(&ep, &error));
    model_eps->recv_count = 0;
    model_eps->errors[0] =
        (struct fi_cq_err_entry){.op_context = model_eps->recvs[0].context, .err = FI_ECANCELED};
    model_eps->error_count = 1;
    ck_assert_int_eq(hl_fab_ep_completed(&ep, &came, 1), -1);
    ck_assert(hl_fab_ep_error(&ep, &error) && error.op_context == NULL && error.err == FI_ECANCELED);
    ck_assert_int_eq(model_eps->recv_count, 1);
    hl_fab_ep_close(&ep);
    hl_fab_close();
}
END_TEST

/* The opening says it; later the job ends, since nobody would hear of what comes. */
START_TEST(receives_that_are_refused_for_good_are_told)
{
    struct hl_fab_ep ep;
    struct fi_cq_msg_entry came;
    ck_assert_int_eq(open_model("model"), 0);
    ck_assert_int_eq(hl_fab_ep_open(HL_FAB_PORT, &ep), 0);
    model.recv_error = -FI_EINVAL;
    int rc = hl_fab_ep_listen(&ep, memory, 4);
    ck_assert_int_eq(rc, -FI_EINVAL);
    ck_assert_int_eq(hl_fab_ep_fail("posting receives", rc), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "posting receives"));
    (void)hl_fab_ep_completed(&ep, &came, 1); /* does not return */
}
END_TEST

/* Its completions are lost, so nothing that is under way there would end. */
START_TEST(a_queue_that_has_overrun_ends_the_job)
{
    struct hl_fab_ep ep;
    struct fi_cq_msg_entry came;
    ck_assert_int_eq(open_model("model"), 0);
    ck_assert_int_eq(hl_fab_ep_open(HL_FAB_LANE, &ep), 0);
    model.queue_error = -FI_EAGAIN;
    ck_assert_int_eq(hl_fab_ep_completed(&ep, &came, 1), 0);
    model.queue_error = -FI_EINTR;
    ck_assert_int_eq(hl_fab_ep_completed(&ep, &came, 1), 0);
    model.queue_error = -FI_EAVAIL;
    ck_assert_int_eq(hl_fab_ep_completed(&ep, &came, 1), -1);
    model.queue_error = -FI_EOVERRUN;
    (void)hl_fab_ep_completed(&ep, &came, 1); /* does not return */
}
END_TEST

static void (*programs_handler)(int);

static void providers_handler(int number)
{
    (void)number;
}

/* Called while libfabric chooses, whose code this counts for: a provider catches a signal, and another thread
 * of the program two others. */
static int set_handlers(uint32_t version, const char *node, const char *service, uint64_t flags,
                        const struct fi_info *hints, struct fi_info **out)
{
    signal(SIGUSR1, providers_handler);
    signal(SIGUSR2, programs_handler);
    signal(SIGPIPE, SIG_IGN);
    return model_getinfo(version, node, service, flags, hints, out);
}

static void *handler_of(int number)
{
    struct sigaction now;
    void *handler;
    ck_assert_int_eq(sigaction(number, NULL, &now), 0);
    memcpy(&handler, &now.sa_handler, sizeof handler);
    return handler;
}

START_TEST(handlers_of_libfabric_go_and_those_of_the_program_stay)
{
    void *elsewhere = dlsym(RTLD_DEFAULT, "exit"); /* code that was there before libfabric */
    memcpy(&programs_handler, &elsewhere, sizeof elsewhere);
    void *before = handler_of(SIGUSR1);
    ck_assert_int_eq(hl_conf_load(), 0);
    hl_conf.provider = "model";
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    hl_fab_lib.getinfo = set_handlers;
    ck_assert_int_eq(hl_fab_open(), 0);
    ck_assert_ptr_eq(handler_of(SIGUSR1), before);
    ck_assert_ptr_eq(handler_of(SIGUSR2), elsewhere);
    ck_assert(signal(SIGPIPE, SIG_DFL) == SIG_IGN);
    hl_fab_close();
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
    tcase_add_test(t, receives_that_find_no_room_wait_for_it);
    tcase_add_test(t, a_receive_that_failed_is_posted_again);
    tcase_add_exit_test(t, receives_that_are_refused_for_good_are_told, 1);
    tcase_add_exit_test(t, a_queue_that_has_overrun_ends_the_job, 1);
    tcase_add_test(t, handlers_of_libfabric_go_and_those_of_the_program_stay);
    tcase_add_test(t, a_provider_that_wants_local_registration_is_refused);
    tcase_add_loop_test(t, a_provider_of_one_node_is_refused, 0, 2);
    tcase_add_test(t, an_unknown_provider_is_named_with_the_fix);
    suite_add_tcase(s, t);
    suite_add_tcase(s, choice_case());
    return s;
}

UNIT_MAIN(make_suite)
