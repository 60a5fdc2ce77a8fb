/* Trying a provider when it opens. */
#include "prove.h"

#include "fab_lib.h"

#include "conf.h"
#include "err.h"
#include "mem.h"
#include "util.h"

#include <poll.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUIET_MS 10 /* without a word of the descriptor, and then there is something */
#define TRIES 3     /* messages that it must be silent about to be called silent */

/* What is in flight. */
enum part { RECEIVE = 1, SEND = 2, OPERATION = 4 };

struct step {
    struct fi_context2 context; /* first: completions name it */
    enum part part;
};

/* From one endpoint to another, as between two processes: some providers treat what is for oneself apart. */
struct trial {
    struct hl_fab_ep from, to;
    fi_addr_t peer;
    uint64_t end_ns; /* of all of it */
    struct step receive, send, operation;
    unsigned open;    /* parts without completion */
    int quiet_ms;     /* of the descriptor, before the queue is read all the same */
    bool lied;        /* it was silent, and then something was there */
    const char *naps; /* why one cannot sleep on the descriptor, or NULL */
    struct fid_mr *mr;
    uint64_t memory[8]; /* registered: what is written, what is written from, what is read to */
    uint8_t *bytes;     /* two messages of hl_fab.eager */
};

static int fail_trial(const char *what, const char *why)
{
    return hl_err_say(HL_ERR_OTHER, "provider %s fails its opening test: %s: %s", hl_fab.provider, what, why);
}

/* Until there may be something in the receiver's queue; true: the descriptor did not say so. */
static bool wait_quietly(struct trial *t)
{
    if (t->to.wait_fd < 0 || !hl_fab_ep_may_sleep(&t->to)) {
        return false;
    }
    struct pollfd p = {t->to.wait_fd, POLLIN, 0};
    return poll(&p, 1, t->quiet_ms) == 0;
}

/* Reads a queue: how many were there, or HL_ERR_* with the text. */
static int read_queue(struct trial *t, struct fid_cq *cq, const char *what)
{
    struct fi_cq_msg_entry entry[4];
    struct fi_cq_err_entry e = {.op_context = NULL};
    ssize_t n = fi_cq_read(cq, entry, HL_COUNT_OF(entry));
    for (ssize_t i = 0; i < n; i++) {
        const struct step *s = entry[i].op_context; /* NULL: of nothing that was asked for */
        t->open &= s != NULL ? ~(unsigned)s->part : ~0u;
    }
    if (n == -FI_EAVAIL && fi_cq_readerr(cq, &e, 0) > 0) {
        return fail_trial(what, hl_fab_strerror(e.err));
    }
    return n > 0 ? (int)n : 0;
}

/* The patience that peers get: on a crowded machine a connection to oneself takes seconds, too. */
static uint64_t limit_ns(void)
{
    return hl_conf.peer_timeout == 0 ? UINT64_MAX
                                     : hl_now_ns() + (uint64_t)hl_conf.peer_timeout * UINT64_C(1000000000);
}

static int fail_late(const char *what)
{
    char why[80];
    snprintf(why, sizeof why, "it does not complete within %lld s (HOTLANE_PEER_TIMEOUT)",
             (long long)hl_conf.peer_timeout);
    return fail_trial(what, why);
}

/* Once around: the sender moves, and the receiver sleeps and then looks. */
static int step_on(struct trial *t, const char *what)
{
    int rc = read_queue(t, t->from.cq, what);
    if (rc < 0) {
        return rc;
    }
    bool silent = wait_quietly(t);
    rc = read_queue(t, t->to.cq, what);
    t->lied |= silent && rc > 0;
    return rc < 0 ? rc : hl_now_ns() > t->end_ns && t->open != 0 ? fail_late(what) : 0;
}

static int complete_all(struct trial *t, const char *what)
{
    int rc = 0;
    while (rc == 0 && t->open != 0) {
        rc = step_on(t, what);
    }
    return rc;
}

/* What a post returned: 1: it is to be posted again, 0: it is posted, or HL_ERR_* with the text. */
static int judge_post(struct trial *t, ssize_t rc, const char *what)
{
    if (rc == 0 || hl_fab_refused((int)rc) != HL_FAB_LATER) {
        return rc == 0 ? 0 : fail_trial(what, hl_fab_strerror((int)rc));
    }
    int error = step_on(t, what);
    return error != 0 ? error : 1;
}

static int try_message(struct trial *t, uint8_t mark)
{
    static const char what[] = "a message from one endpoint to another";
    size_t len = hl_fab.eager;
    uint8_t *to = t->bytes, *from = t->bytes + len;
    struct iovec out = {from, len};
    struct fi_msg send = {.msg_iov = &out, .iov_count = 1, .addr = t->peer, .context = &t->send};
    int rc;
    memset(from, mark, len);
    t->open = RECEIVE | SEND;
    do {
        rc = judge_post(t, hl_fab_ep_receive(&t->to, to, len, &t->receive), what);
    } while (rc > 0);
    while (rc == 0 && (rc = judge_post(t, fi_sendmsg(t->from.ep, &send, FI_COMPLETION), what)) > 0) {
        rc = 0;
    }
    rc = rc == 0 ? complete_all(t, what) : rc;
    return rc == 0 && memcmp(to, from, len) != 0 ? fail_trial(what, "other bytes arrived") : rc;
}

/* The first message finds the way, those behind it try the descriptor: one that is silent about all of them
 * does not speak. */
static int try_messages(struct trial *t)
{
    t->quiet_ms = 1;
    int lies = 0, rc = try_message(t, 0);
    t->quiet_ms = QUIET_MS;
    for (int i = 0; rc == 0 && lies == i && i < TRIES && t->to.wait_fd >= 0; i++) {
        t->lied = false;
        rc = try_message(t, (uint8_t)(i + 1));
        lies += t->lied;
    }
    t->quiet_ms = 1;
    t->naps = t->to.wait_fd < 0 ? "it offers no descriptor to sleep on"
              : lies == TRIES   ? "its descriptor is silent about what arrives"
                                : NULL;
    return rc;
}

static int register_trial(struct trial *t)
{
    struct iovec iov = {t->memory, sizeof t->memory};
    int rc = hl_fab_mr_open(&t->to, &iov, 1, &t->mr);
    return rc == 0 ? 0 : fail_trial("registering memory", hl_fab_strerror(rc));
}

static ssize_t post_put(struct trial *t, uint64_t addr)
{
    struct iovec iov = {&t->memory[1], 8};
    struct fi_rma_iov rma = {addr, 8, fi_mr_key(t->mr)};
    struct fi_msg_rma put = {.msg_iov = &iov,
                             .iov_count = 1,
                             .addr = t->peer,
                             .rma_iov = &rma,
                             .rma_iov_count = 1,
                             .context = &t->operation};
    return fi_writemsg(t->from.ep, &put, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

static ssize_t post_sum(struct trial *t, uint64_t addr)
{
    struct fi_ioc iov = {&t->memory[1], 1}, result = {&t->memory[2], 1};
    struct fi_rma_ioc rma = {addr, 1, fi_mr_key(t->mr)};
    struct fi_msg_atomic sum = {.msg_iov = &iov,
                                .iov_count = 1,
                                .addr = t->peer,
                                .rma_iov = &rma,
                                .rma_iov_count = 1,
                                .datatype = FI_UINT64,
                                .op = FI_SUM,
                                .context = &t->operation};
    return fi_fetch_atomicmsg(t->from.ep, &sum, &result, NULL, 1, FI_COMPLETION);
}

/* Writes to the first word, or adds to it. */
static int try_operation(struct trial *t, bool add)
{
    const char *what = add ? "an atomic on registered memory" : "a put to registered memory";
    uint64_t before = t->memory[0], more = UINT64_C(0x0123456789abcdef);
    uint64_t addr = hl_fab.virt_addr ? (uint64_t)(uintptr_t)t->memory : 0;
    int rc;
    t->open = OPERATION;
    t->memory[1] = more;
    do {
        rc = judge_post(t, add ? post_sum(t, addr) : post_put(t, addr), what);
    } while (rc > 0);
    rc = rc == 0 ? complete_all(t, what) : rc;
    bool right = t->memory[0] == (add ? before + more : more) && (!add || t->memory[2] == before);
    return rc == 0 && !right ? fail_trial(what, "it is complete, and has not happened") : rc;
}

static bool has_sums(struct trial *t)
{
    struct fi_atomic_attr attr = {0};
    return hl_fab.row->atomics && (hl_fab_info->caps & FI_ATOMIC) != 0 &&
           fi_query_atomic(t->from.domain, FI_UINT64, FI_SUM, &attr, FI_FETCH_ATOMIC) == 0 && attr.count > 0;
}

static int run_trial(struct trial *t)
{
    int rc = hl_fab_ep_insert(&t->from, t->to.name, t->to.name_len, &t->peer);
    rc = rc == 0 ? try_messages(t) : rc;
    rc = rc == 0 ? register_trial(t) : rc;
    rc = rc == 0 ? try_operation(t, false) : rc;
    return rc == 0 && has_sums(t) ? try_operation(t, true) : rc;
}

int hl_fab_prove(const char **naps)
{
    struct trial *t = calloc(1, sizeof *t);
    uint8_t *bytes = malloc(2 * hl_fab.eager);
    int rc =
        t != NULL && bytes != NULL ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory for a provider's opening test");
    if (rc == 0) {
        *t = (struct trial){.end_ns = limit_ns(),
                            .receive.part = RECEIVE,
                            .send.part = SEND,
                            .operation.part = OPERATION,
                            .bytes = bytes};
        rc = hl_fab_ep_open(HL_FAB_PORT, &t->to);
    }
    if (rc == 0) {
        rc = hl_fab_ep_open(HL_FAB_LANE, &t->from);
        rc = rc == 0 ? run_trial(t) : rc;
        *naps = t->naps;
        hl_fab_ep_close(&t->from);
        if (t->mr != NULL) {
            (void)fi_close(&t->mr->fid);
        }
        hl_fab_ep_close(&t->to);
    }
    free(bytes);
    free(t);
    return rc;
}
