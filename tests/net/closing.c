/* An endpoint closes over messages that nobody has read: the provider may not take up their buffers again
 * behind that. With the network of the job, in one process. Run by mpiexec with one rank. */
#include "boot.h"
#include "conf.h"
#include "err.h"
#include "fab.h"
#include "job.h"
#include "log.h"
#include "util.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGES = 16, BYTES = 64, LIMIT_S = 60 };

static struct hl_fab_ep from, to;
static struct fi_context2 contexts[2 * MESSAGES];
static char sent[BYTES], received[MESSAGES][BYTES];

static void call(int rc, const char *what)
{
    if (rc != 0) {
        hl_log(HL_LOG_ERROR, "%s: %s", what, hl_err_text(rc));
        hl_job_abort(3);
    }
}

static int read_queue(struct hl_fab_ep *ep)
{
    struct fi_cq_msg_entry entries[MESSAGES];
    ssize_t n = fi_cq_read(ep->cq, entries, MESSAGES);
    call(n < 0 && n != -FI_EAGAIN ? HL_ERR_OTHER : 0, "reading a queue");
    return n > 0 ? (int)n : 0;
}

/* Sends messages until all have left. The first finds the way, which needs both ends. */
static void send_messages(fi_addr_t peer, int first, int count, bool both)
{
    uint64_t end_ns = hl_now_ns() + LIMIT_S * UINT64_C(1000000000);
    int posted = 0, done = 0;
    while (done < count) {
        struct iovec iov = {sent, BYTES};
        struct fi_msg msg = {
            .msg_iov = &iov, .iov_count = 1, .addr = peer, .context = &contexts[first + posted]};
        ssize_t rc = posted < count ? fi_sendmsg(from.ep, &msg, FI_COMPLETION) : -FI_EAGAIN;
        posted += rc == 0;
        call(rc != 0 && rc != -FI_EAGAIN ? HL_ERR_OTHER : 0, "sending");
        done += read_queue(&from);
        if (both) {
            (void)read_queue(&to);
        }
        call(hl_now_ns() > end_ns ? HL_ERR_OTHER : 0, "waiting for messages to leave");
    }
}

int main(void)
{
    fi_addr_t peer;
    call(hl_conf_load(), "settings");
    call(hl_boot_open(), "start");
    hl_log_identify("rank", hl_job.rank);
    call(hl_fab_open(), "network");
    call(hl_fab_ep_open(HL_FAB_PORT, &to), "the receiver");
    call(hl_fab_ep_open(HL_FAB_LANE, &from), "the sender");
    call(hl_fab_ep_insert(&from, to.name, to.name_len, &peer), "an address");
    for (int i = 0; i < MESSAGES; i++) {
        struct iovec iov = {received[i], BYTES};
        struct fi_msg msg = {
            .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &contexts[MESSAGES + i]};
        call(fi_recvmsg(to.ep, &msg, FI_COMPLETION) == 0 ? 0 : HL_ERR_OTHER, "posting a receive");
    }
    send_messages(peer, 0, 1, true);
    send_messages(peer, 1, MESSAGES - 1, false);
    hl_fab_ep_close(&to);
    hl_fab_ep_close(&from);
    printf("closed\n");
    return hl_boot_close(true);
}
