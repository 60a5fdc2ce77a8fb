/* The opening test of a provider. */
#include "prove.h"

#include "fab_lib.h"

#include "conf.h"
#include "err.h"
#include "util.h"

#include <poll.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUIET_MS                                                                                             \
    10          /* the descriptor counts as silent when it stays quiet so long and the queue has something */
#define TRIES 3 /* messages in a row about which a silent descriptor must say nothing */

/* The parts of a step, as bits of trial.open. */
enum trial_part { RECEIVE = 1, SEND = 2, OPERATION = 4 };

struct step {
    struct fi_context2 context; /* the first field: completions carry its address */
    enum trial_part part;
};

/* The test goes from one endpoint to another, as between two processes: some providers treat messages to the
 * same endpoint in a way of their own. */
struct trial {
    struct hl_fab_ep from, to;
    fi_addr_t peer;
    uint64_t end_ns; /* when the whole test must be over */
    struct step receive, send, operation;
    unsigned open;    /* parts without completion */
    int quiet_ms;     /* how long to wait for the descriptor before the queue is read all the same */
    bool lied;        /* the descriptor was silent, and the queue had something */
    const char *naps; /* why no thread can sleep on the descriptor, or NULL */
    struct fid_mr *mr;
    uint64_t memory[8]; /* registered; words 0, 1, 2: the target, the origin, the result of a fetch */
    uint8_t *bytes;     /* two messages of hl_fab.eager */
};

static int fail_trial(const char *what, const char *why)
{
    return hl_err_say(HL_ERR_OTHER, "provider %s fails its opening test: %s: %s", hl_fab.provider, what, why);
}

/* Waits until there may be something in the receiver's queue; true: the descriptor did not say so in time. */
static bool wait_quietly(struct trial *t)
{
    if (t->to.wait_fd < 0 || !hl_fab_ep_may_sleep(&t->to)) {
        return false;
    }
    struct pollfd p = {t->to.wait_fd, POLLIN, 0};
    return poll(&p, 1, t->quiet_ms) == 0;
}

/* Reads a queue; returns how many completions it had, or HL_ERR_* with the text. */
static int read_queue(struct trial *t, struct hl_fab_ep *ep, const char *what)
{
    struct fi_cq_msg_entry entry[4];
    struct fi_cq_err_entry e;
    int n = hl_fab_ep_completed(ep, entry, HL_COUNT_OF(entry));
    for (int i = 0; i < n; i++) {
        const struct step *s = entry[i].op_context; /* NULL: a completion that nobody asked for */
        t->open &= s != NULL ? ~(unsigned)s->part : ~0u;
    }
    if (n < 0 && hl_fab_ep_error(ep, &e)) {
        return fail_trial(what, hl_fab_strerror(e.err));
    }
    return n > 0 ? n : 0;
}

/* The time limit is that for peers: on a crowded machine a connection inside a process takes seconds, too. */
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

/* Reads the sender's queue, sleeps on the receiver's descriptor and reads the receiver's queue. */
static int step_on(struct trial *t, const char *what)
{
    int rc = read_queue(t, &t->from, what);
    if (rc < 0) {
        return rc;
    }
    bool silent = wait_quietly(t);
    rc = read_queue(t, &t->to, what);
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

/* Judges a post's result. Returns 0: it is posted; 1: post it again; or HL_ERR_* with the text. */
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
    int rc;
    memset(from, mark, len);
    memset(to, ~mark, len); /* what was in this memory before is no message */
    t->open = RECEIVE | SEND;
    /* Not by hl_fab_ep_listen: a receive that the provider never takes fails the test, and ends no job. */
    do {
        rc = judge_post(t, hl_fab_ep_post_buffer(&t->to, to, len, &t->receive), what);
    } while (rc > 0);
    while (rc == 0 &&
           (rc = judge_post(t, hl_fab_ep_send(&t->from, t->peer, from, len, &t->send), what)) > 0) {
        rc = 0;
    }
    rc = rc == 0 ? complete_all(t, what) : rc;
    return rc == 0 && memcmp(to, from, len) != 0 ? fail_trial(what, "other bytes arrived") : rc;
}

/* The first message makes the connection, the next ones try the descriptor: when it is silent about all of
 * them, no thread can sleep on it. */
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

/* Writes to the first word of the memory, or adds to it. */
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

/* False: something stays open, so the provider may still write to what the trial has lent it. */
static bool close_trial(struct trial *t)
{
    bool closed = hl_fab_ep_close(&t->from);
    if (t->mr != NULL) {
        closed = hl_fab_mr_close(t->mr) == 0 && closed;
    }
    return hl_fab_ep_close(&t->to) && closed;
}

int hl_fab_prove(const char **naps)
{
    bool closed = true;
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
        closed = close_trial(t);
    }
    if (closed) {
        free(bytes);
        free(t);
    }
    return rc;
}
