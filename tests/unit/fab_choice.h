/* Which provider is taken, and what is tried and told of it: on the model provider. */
#ifndef FAB_CHOICE_H
#define FAB_CHOICE_H

#include "conf.h"
#include "err.h"
#include "fab.h"
#include "fab_lib.h"
#include "links.h"
#include "model.h"
#include "model_stubborn.h"
#include "nic.h"
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <malloc.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_model(const char *provider)
{
    ck_assert_int_eq(hl_conf_load(), 0);
    hl_conf.provider = provider;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    return hl_fab_open();
}

START_TEST(a_provider_that_registers_local_buffers_itself_is_taken)
{
    model_may_local = true;
    ck_assert_int_eq(open_model("model"), 0);
    ck_assert_int_eq(hl_fab_info->domain_attr->mr_mode & FI_MR_LOCAL, 0);
    hl_fab_close();
}
END_TEST

START_TEST(a_provider_without_atomics_is_taken)
{
    struct hl_fab_ep ep;
    model_caps = FI_MSG | FI_RMA;
    ck_assert_int_eq(open_model("model"), 0);
    ck_assert_int_eq(hl_fab_ep_open(HL_FAB_RX, &ep), 0);
    ck_assert(!hl_fab_can_atomic(HL_FAB_FETCH, HL_OP_SUM, HL_BASIC_U64));
    hl_fab_ep_close(&ep);
    hl_fab_close();
}
END_TEST

/* Atomics of a NIC beside those of the target's CPU would be lost. */
START_TEST(atomics_that_are_not_the_cpus_are_not_used)
{
    struct hl_fab_ep ep;
    model_name = "cxi";
    ck_assert_int_eq(open_model(""), 0);
    ck_assert_int_eq(hl_fab_ep_open(HL_FAB_RX, &ep), 0);
    ck_assert(!hl_fab_can_atomic(HL_FAB_FETCH, HL_OP_SUM, HL_BASIC_U64));
    hl_fab_ep_close(&ep);
    hl_fab_close();
}
END_TEST

START_TEST(a_device_memory_mode_is_no_hindrance)
{
    model_mr_mode = FI_MR_HMEM;
    ck_assert_int_eq(open_model("model"), 0);
    hl_fab_close();
}
END_TEST

/* What moves only while its queue is read is asked to move by itself; others would start threads. */
START_TEST(a_lazy_provider_is_asked_to_move)
{
    static const char *const names[] = {"sockets", "model"};
    for (int i = 0; i < 2; i++) {
        model_name = names[i];
        ck_assert_int_eq(open_model(names[i]), 0);
        ck_assert_int_eq(hl_fab_info->domain_attr->data_progress,
                         i == 0 ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL);
        hl_fab_close();
    }
}
END_TEST

/* ---- the choice ---- */

static const struct {
    const char *one, *other;
    uint32_t libfabric;
    bool loopback;
    const char *taken; /* NULL: none */
} choices[] = {
    {"verbs;ofi_rxm", "cxi", FI_VERSION(1, 17), false, "cxi"},
    {"tcp;ofi_rxm", "verbs;ofi_rxm", FI_VERSION(1, 17), false, "verbs;ofi_rxm"},
    {"efa", "opx", FI_VERSION(1, 17), false, "opx"},
    {"tcp;ofi_rxm", "tcp", FI_VERSION(2, 5), false, "tcp"},
    {"tcp;ofi_rxm", "tcp", FI_VERSION(2, 5), true, "tcp"},
    {"tcp;ofi_rxm", "tcp", FI_VERSION(1, 22), false, "tcp;ofi_rxm"},
    {"tcp;ofi_rxm", "psm3", FI_VERSION(1, 17), false, "tcp;ofi_rxm"},
    {"tcp;ofi_rxm", "verbs;ofi_rxm", FI_VERSION(1, 17), true, "tcp;ofi_rxm"},
    {"sockets", "verbs;ofi_rxm", FI_VERSION(1, 17), true, NULL},
    {"net", "some-other", FI_VERSION(2, 5), false, NULL},
    {"shm", "udp;ofi_rxd", FI_VERSION(2, 5), false, NULL},
};

START_TEST(the_best_of_several_is_taken)
{
    model_name = choices[_i].one;
    model_other = choices[_i].other;
    model_libfabric = choices[_i].libfabric;
    hl_fab.loopback = choices[_i].loopback;
    ck_assert_int_eq(open_model(""), choices[_i].taken != NULL ? 0 : HL_ERR_OTHER);
    if (choices[_i].taken != NULL) {
        ck_assert_str_eq(hl_fab.provider, choices[_i].taken);
        ck_assert_str_eq(hl_fab.row->name, choices[_i].taken);
        ck_assert(model_kept == choices[_i].loopback);
        ck_assert_ptr_eq(strstr(hl_fab_usable(), choices[_i].taken), hl_fab_usable());
        hl_fab_close();
    }
}
END_TEST

START_TEST(a_provider_is_found_without_its_layer)
{
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    ck_assert_str_eq(hl_provider_find("verbs", FI_VERSION(1, 17))->name, "verbs;ofi_rxm");
    ck_assert_str_eq(hl_provider_find("tcp", FI_VERSION(1, 17))->name, "tcp;ofi_rxm");
    ck_assert_str_eq(hl_provider_find("tcp", FI_VERSION(2, 0))->name, "tcp");
    ck_assert_str_eq(hl_provider_find("model", FI_VERSION(1, 17))->name, "model");
    ck_assert_str_eq(hl_provider_of_driver("mlx5_core")->name, "verbs;ofi_rxm");
    ck_assert_str_eq(hl_provider_of_driver("hfi1")->name, "opx");
    const struct hl_provider *other = hl_provider_find("some-other", FI_VERSION(1, 17));
    ck_assert(other->name == NULL && !other->atomics && !other->ordered && !other->tcp_listens);
    ck_assert(other->by_name != NULL && other->unusable == NULL);
}
END_TEST

/* A row without an eager size would have messages of no bytes. */
START_TEST(every_row_has_an_eager_size)
{
    uint32_t versions[] = {FI_VERSION(1, 17), FI_VERSION(2, 0)};
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    ck_assert_uint_ge(hl_provider_find("some-other", versions[_i])->eager, HL_PROVIDER_EAGER);
    size_t rows = 0;
    for (const struct hl_provider *row; (row = hl_provider_row(rows, versions[_i])) != NULL; rows++) {
        ck_assert_msg(row->eager >= HL_PROVIDER_EAGER, "the row of %s has no eager size", row->name);
    }
    ck_assert_uint_ge(rows, 10);
}
END_TEST

static int count_settings(const char *const *all, const char *beginning)
{
    int n = 0;
    for (const char *const *s = all; *s != NULL; s++) {
        n += strncmp(*s, beginning, strlen(beginning)) == 0;
    }
    return n;
}

/* The user's own setting wins, and emulated devices get the smaller queues. Receives are always shared: rxm
 * posts those of a connection again when it is gone (the rows of tests/guest crashed). */
START_TEST(settings_are_lent_once)
{
    const char *const *all = hl_provider_settings(_i == 1 ? 4096 : 16384, _i == 1, _i == 1);
    ck_assert_int_eq(
        count_settings(all, _i == 1 ? "FI_OFI_RXM_BUFFER_SIZE=4096" : "FI_OFI_RXM_BUFFER_SIZE=16384"), 1);
    ck_assert_int_eq(count_settings(all, "FI_UNIVERSE_SIZE=16"), _i);
    ck_assert_int_ge(count_settings(all, "FI_OFI_RXM_USE_SRX=1"), 1);
    ck_assert_int_eq(count_settings(all, "FI_OFI_RXM_MSG_RX_SIZE="), 1);
    ck_assert_int_eq(count_settings(all, "FI_OFI_RXM_MSG_RX_SIZE=64"), _i == 0);
}
END_TEST

/* rxm reads this one whenever an endpoint opens; what nobody knows may have rxm in it. */
START_TEST(a_setting_is_lent_to_each_opening)
{
    static const char *const names[] = {"psm3", "verbs;ofi_rxm", "some-other"};
    struct hl_fab_ep ep;
    model_name = names[_i];
    ck_assert_int_eq(open_model(model_name), 0);
    ck_assert_ptr_null(getenv("FI_OFI_RXM_USE_SRX"));
    ck_assert_int_eq(hl_fab_ep_open(HL_FAB_LANE, &ep), 0);
    ck_assert(model.shares == (_i > 0));
    ck_assert_ptr_null(getenv("FI_OFI_RXM_USE_SRX"));
    hl_fab_ep_close(&ep);
    hl_fab_close();
}
END_TEST

START_TEST(an_old_libfabric_is_the_cause)
{
    model_libfabric = FI_VERSION(1, 11);
    ck_assert_int_eq(open_model("model"), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "libfabric 1.11 is too old"));
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "1.17"));
}
END_TEST

/* ---- the opening test ---- */

/* What chooses keys and addresses how: all of these are to be reached. */
static const uint64_t modes[] = {0, FI_MR_VIRT_ADDR, FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
                                 FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT};

START_TEST(what_is_not_known_is_tried)
{
    model.keys = true;
    model.waits = MODEL_WAIT;
    model_mr_mode = modes[_i];
    model_name = "some-other";
    ck_assert_int_eq(open_model("some-other"), 0);
    ck_assert_ptr_null(hl_fab.naps);
    ck_assert_int_gt(model.registered, 0);
    ck_assert_int_eq(model.objects, 0); /* nothing is left of it */
    hl_fab_close();
}
END_TEST

START_TEST(what_the_tests_run_with_is_not_tried)
{
    model_name = "tcp;ofi_rxm";
    ck_assert_int_eq(open_model(""), 0);
    ck_assert_int_eq(model.registered, 0);
    ck_assert_uint_eq(model_numbers, MODEL_NAMES);
    hl_fab_close();
}
END_TEST

START_TEST(a_descriptor_that_does_not_speak_is_not_slept_on)
{
    struct hl_fab_ep ep;
    model_name = "some-other";
    model.waits = _i == 0 ? MODEL_WAIT_LIES : MODEL_NO_WAIT;
    ck_assert_int_eq(open_model("some-other"), 0);
    ck_assert_ptr_nonnull(hl_fab.naps);
    ck_assert_ptr_nonnull(strstr(hl_fab.naps, _i == 0 ? "silent" : "no descriptor"));
    ck_assert_int_eq(hl_fab_ep_open(HL_FAB_PORT, &ep), 0);
    ck_assert_int_eq(ep.wait_fd, -1);
    hl_fab_ep_close(&ep);
    hl_fab_close();
}
END_TEST

START_TEST(who_fails_is_passed_over_and_fatal_when_named)
{
    model_name = "verbs;ofi_rxm";
    model_other = "tcp;ofi_rxm";
    model.error = 100;
    ck_assert_int_eq(open_model(""), 0);
    ck_assert_str_eq(hl_fab.provider, "tcp;ofi_rxm");
    ck_assert_ptr_nonnull(strstr(hl_fab_why(), "verbs;ofi_rxm skipped: "));
    ck_assert_ptr_nonnull(strstr(hl_fab_why(), "opening test"));
    hl_fab_close();
    ck_assert_int_eq(open_model("verbs;ofi_rxm"), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "verbs;ofi_rxm fails its opening test"));
    ck_assert_int_eq(model.objects, 0);
}
END_TEST

/* An atomic that adds and does not tell what was there before, and one that tells it and does not add. */
static ssize_t add_unseen(struct fid_ep *fid, const struct fi_msg_atomic *m, struct fi_ioc *result,
                          void **desc, size_t n, uint64_t flags)
{
    (void)result;
    return model_fetch(fid, m, NULL, desc, n, flags);
}

static ssize_t look_only(struct fid_ep *fid, const struct fi_msg_atomic *m, struct fi_ioc *result,
                         void **desc, size_t n, uint64_t flags)
{
    static uint64_t nothing;
    struct fi_ioc none = {&nothing, 1};
    struct fi_msg_atomic look = *m;
    look.msg_iov = &none;
    return model_fetch(fid, &look, result, desc, n, flags);
}

/* What is told as complete and is not so, in each part of the test by itself. */
static const struct {
    unsigned early;
    uint8_t garbles;
    enum model_wait waits;
    __typeof__(&look_only) atomic; /* NULL: one that is right */
    const char *part, *answer;
} lies[] = {
    {.garbles = 0x10, .part = "a message", .answer = "other bytes arrived"},
    {.early = 1u << MODEL_SEND, .part = "a message", .answer = "other bytes arrived"},
    {.early = 1u << MODEL_SEND, .waits = MODEL_WAIT, .part = "a message", .answer = "other bytes arrived"},
    {.early = 1u << MODEL_WRITE, .part = "a put", .answer = "it is complete, and has not happened"},
    {.early = 1u << MODEL_ADD, .part = "an atomic", .answer = "it is complete, and has not happened"},
    {.atomic = add_unseen, .part = "an atomic", .answer = "it is complete, and has not happened"},
    {.atomic = look_only, .part = "an atomic", .answer = "it is complete, and has not happened"},
};

START_TEST(who_completes_what_has_not_happened_is_passed_over)
{
    (void)mallopt(M_PERTURB, 0xff); /* new memory has zeros, as the first message has */
    model_name = "efa";             /* its atomics are used */
    model_other = "tcp;ofi_rxm";
    model.early = lies[_i].early;
    model.garbles = lies[_i].garbles;
    model.waits = lies[_i].waits;
    model_atomic_ops.readwritemsg = lies[_i].atomic != NULL ? lies[_i].atomic : model_fetch;
    ck_assert_int_eq(open_model(""), 0);
    ck_assert_str_eq(hl_fab.provider, "tcp;ofi_rxm"); /* known, and so not tried */
    const char *why = strstr(hl_fab_why(), "efa fails its opening test: ");
    ck_assert_msg(why != NULL, "%s", hl_fab_why());
    ck_assert_msg(strstr(why, lies[_i].part) != NULL && strstr(why, lies[_i].answer) != NULL, "%s", why);
    ck_assert_int_eq(model.objects, 0);
    hl_fab_close();
}
END_TEST

START_TEST(buffers_of_an_endpoint_that_does_not_close_are_kept)
{
    model_name = "some-other";
    model.error = 100;
    model_be_stubborn();
    ck_assert_int_eq(open_model("some-other"), HL_ERR_OTHER);
    void *receive = model_eps->older->recvs[0].buf; /* the receiving endpoint was opened first */
    must_be_kept(receive, 2 * hl_fab.eager, malloc);
    memset(receive, 0xee, hl_fab.eager);
}
END_TEST

START_TEST(a_queue_that_fails_is_no_reason_to_wait)
{
    model_name = "some-other";
    model.queue_error = -FI_EOVERRUN;
    ck_assert_int_eq(open_model("some-other"), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "fails its opening test"));
    ck_assert_ptr_null(strstr(hl_err_text(HL_ERR_OTHER), "HOTLANE_PEER_TIMEOUT"));
    ck_assert_int_eq(model.objects, 0);
}
END_TEST

START_TEST(who_completes_nothing_is_waited_for_as_long_as_peers)
{
    model_name = "some-other";
    model.hold = true;
    setenv("HOTLANE_PEER_TIMEOUT", "1", 1);
    ck_assert_int_eq(open_model("some-other"), HL_ERR_OTHER);
    unsetenv("HOTLANE_PEER_TIMEOUT");
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "within 1 s (HOTLANE_PEER_TIMEOUT)"));
    ck_assert_int_eq(model.objects, 0);
}
END_TEST

/* ---- a card that is not used ---- */

static void put_file(const char *root, const char *path, const char *text)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *at = strchr(whole + strlen(root) + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        ck_assert(mkdir(whole, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    FILE *f = fopen(whole, "we");
    ck_assert(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st, (void)type, (void)walk;
    return remove(path);
}

START_TEST(a_card_that_is_not_used_is_one_line_with_the_fix)
{
    char root[] = "/tmp/hotlane-nic-XXXXXX", text[900] = "";
    ck_assert_ptr_nonnull(mkdtemp(root));
    model_name = "tcp;ofi_rxm";
    ck_assert_int_eq(open_model(""), 0);
    bool without = hl_nic_warning(root, text, sizeof text);
    put_file(root, "/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
    bool idle = hl_nic_warning(root, text, sizeof text);
    put_file(root, "/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    bool active = hl_nic_warning(root, text, sizeof text);
    hl_conf.provider = "tcp;ofi_rxm";
    char unused[900];
    bool chosen = hl_nic_warning(root, unused, sizeof unused);
    hl_fab_close();
    model_name = "verbs;ofi_rxm";
    ck_assert_int_eq(open_model(""), 0);
    bool used = hl_nic_warning(root, unused, sizeof unused);
    hl_fab_close();
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    ck_assert(!without && !idle && active && !chosen && !used);
    ck_assert_ptr_nonnull(strstr(text, "tcp;ofi_rxm is used, and not the network card mlx5_0: "));
    ck_assert_ptr_nonnull(strstr(text, "Try: sudo modprobe ib_uverbs"));
}
END_TEST

/* ---- names of endpoints ---- */

/* An address of RDMA's connection manager or of UDP looks the same, and nobody listens there by TCP. */
START_TEST(only_tcp_listeners_are_called)
{
    static const struct {
        const char *name;
        bool listens;
    } rows[] = {{"tcp;ofi_rxm", true}, {"verbs;ofi_rxm", false}, {"some-other", false}};
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct hl_fab_host host;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    hl_fab.row = hl_provider_find(rows[_i].name, FI_VERSION(1, 17));
    ck_assert(hl_fab_link_host(&at, sizeof at, &host) == rows[_i].listens);
    struct hl_fab_tcp_probe probe = hl_fab_tcp_probe(&at, sizeof at);
    ck_assert((probe.fd >= 0) == rows[_i].listens);
    if (probe.fd >= 0) {
        close(probe.fd);
    }
}
END_TEST

/* ---- connections ---- */

/* What a look finds of the connections of this process: how many there are, and how many were used. */
struct found {
    int links, used;
};

static bool count_link(void *arg, const struct hl_fab_link *link)
{
    struct found *f = arg;
    f->links += link->connected;
    f->used += link->connected && link->used;
    return true;
}

static struct found look_at_links(void)
{
    struct found f = {0, 0};
    hl_fab_links(0, count_link, &f);
    return f;
}

/* Both ends of a call are seen, and taken for nobody's connection until something comes through. */
START_TEST(a_call_is_no_connection_in_use)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    char byte = 0;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    hl_fab.row = hl_provider_find("tcp;ofi_rxm", FI_VERSION(1, 17));
    int door = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(door, (struct sockaddr *)&at, len), 0);
    ck_assert_int_eq(listen(door, 1), 0);
    ck_assert_int_eq(getsockname(door, (struct sockaddr *)&at, &len), 0);
    hl_fab_cloexec_note(&at, sizeof at);
    struct hl_fab_tcp_probe probe = hl_fab_tcp_probe(&at, sizeof at);
    ck_assert_int_ge(probe.fd, 0);
    int inside = accept(door, NULL, NULL);
    ck_assert_int_ge(inside, 0);
    struct found call = look_at_links();
    ck_assert_int_eq(send(probe.fd, "1", 1, 0), 1);
    ck_assert_int_eq(recv(inside, &byte, 1, 0), 1);
    struct found one_way = look_at_links();
    ck_assert_int_eq(send(inside, "2", 1, 0), 1);
    ck_assert_int_eq(recv(probe.fd, &byte, 1, MSG_WAITALL), 1);
    struct found both_ways = look_at_links();
    close(probe.fd);
    close(inside);
    close(door);
    ck_assert_int_eq(call.links, 2);
    ck_assert_int_eq(call.used, 0);
    ck_assert_int_eq(one_way.used, 1);
    ck_assert_int_eq(both_ways.used, 2);
}
END_TEST

/* Sockets that libfabric has made are close-on-exec after one look; what is not the provider's is left
 * alone. */
START_TEST(sockets_are_close_on_exec_and_nothing_else)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    hl_fab.row = hl_provider_find("tcp;ofi_rxm", FI_VERSION(1, 17));
    int door = socket(AF_INET, SOCK_STREAM, 0), other = socket(AF_INET, SOCK_STREAM, 0), file = dup(0);
    ck_assert_int_eq(bind(door, (struct sockaddr *)&at, len), 0);
    ck_assert_int_eq(getsockname(door, (struct sockaddr *)&at, &len), 0);
    hl_fab_cloexec_note(&at, sizeof at);
    hl_fab_cloexec();
    bool marked = fcntl(door, F_GETFD) == FD_CLOEXEC, left = fcntl(other, F_GETFD) == 0,
         alone = file < 0 || fcntl(file, F_GETFD) == 0;
    close(door);
    close(other);
    close(file);
    ck_assert(marked && left && alone);
}
END_TEST

static TCase *choice_case(void)
{
    TCase *t = tcase_create("choice");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_provider_that_registers_local_buffers_itself_is_taken);
    tcase_add_test(t, a_provider_without_atomics_is_taken);
    tcase_add_test(t, atomics_that_are_not_the_cpus_are_not_used);
    tcase_add_test(t, a_device_memory_mode_is_no_hindrance);
    tcase_add_test(t, a_lazy_provider_is_asked_to_move);
    tcase_add_loop_test(t, the_best_of_several_is_taken, 0, sizeof choices / sizeof *choices);
    tcase_add_test(t, a_provider_is_found_without_its_layer);
    tcase_add_loop_test(t, every_row_has_an_eager_size, 0, 2);
    tcase_add_loop_test(t, settings_are_lent_once, 0, 2);
    tcase_add_loop_test(t, a_setting_is_lent_to_each_opening, 0, 3);
    tcase_add_test(t, an_old_libfabric_is_the_cause);
    tcase_add_loop_test(t, what_is_not_known_is_tried, 0, sizeof modes / sizeof *modes);
    tcase_add_test(t, what_the_tests_run_with_is_not_tried);
    tcase_add_loop_test(t, a_descriptor_that_does_not_speak_is_not_slept_on, 0, 2);
    tcase_add_test(t, who_fails_is_passed_over_and_fatal_when_named);
    tcase_add_loop_test(t, who_completes_what_has_not_happened_is_passed_over, 0, sizeof lies / sizeof *lies);
    tcase_add_test(t, buffers_of_an_endpoint_that_does_not_close_are_kept);
    tcase_add_test(t, a_queue_that_fails_is_no_reason_to_wait);
    tcase_add_test(t, who_completes_nothing_is_waited_for_as_long_as_peers);
    tcase_add_test(t, a_card_that_is_not_used_is_one_line_with_the_fix);
    tcase_add_loop_test(t, only_tcp_listeners_are_called, 0, 3);
    tcase_add_test(t, a_call_is_no_connection_in_use);
    tcase_add_test(t, sockets_are_close_on_exec_and_nothing_else);
    return t;
}

#endif
