/* Endpoints: domain, vector, queue and endpoint are opened in this order and closed in the reverse order. And
 * the receives that are posted at them. */
#include "fab_lib.h"

#include "conf.h"
#include "err.h"
#include "job.h"
#include "lock.h"
#include "log.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define QUEUE_SIZE 4096

/* True when few descriptors are left: providers return EIO and other errors for that, too. */
static bool is_short_of_files(void)
{
    enum { FEW = 4 };
    int fds[FEW], n = 0;
    while (n < FEW && (fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) {
        n++;
    }
    bool is_short = n < FEW && errno == EMFILE;
    while (n > 0) {
        close(fds[--n]);
    }
    return is_short;
}

/* True when the limit of locked memory may be the cause of `rc`; the provider's own buffers count as well. */
static bool is_short_of_locked_memory(int rc)
{
    return hl_fab.row->pins && hl_err_is_limited(RLIMIT_MEMLOCK) && (rc == -FI_ENOMEM || rc == -FI_EAGAIN);
}

int hl_fab_ep_fail(const char *step, int rc)
{
    bool memory = rc == -FI_ENOMEM, files = rc == -FI_EMFILE || (!memory && is_short_of_files());
    return hl_err_say(memory ? HL_ERR_NO_MEM : HL_ERR_OTHER, "provider %s%s: %s: %s%s%s", hl_fab.provider,
                      hl_conf.provider[0] != '\0' ? " (HOTLANE_PROVIDER)" : "", step, hl_fab_strerror(rc),
                      is_short_of_locked_memory(rc)
                          ? " (locked memory is limited: raise ulimit -l; for Slurm, LimitMEMLOCK of slurmd)"
                      : files ? " (raise the limit of open files, ulimit -n, or lower HOTLANE_LANES)"
                      : rc == -FI_EAGAIN ? " (a thread could not start: are processes limited? ulimit -u)"
                                         : "",
                      rc == -FI_EAGAIN ? hl_err_hint(ENOMEM) : "");
}

static int fail_domain(int rc)
{
    const char *lack = rc == -FI_ENOSYS ? hl_fab.row->no_domain : NULL;
    return lack == NULL ? hl_fab_ep_fail("opening a domain", rc)
                        : hl_err_say(HL_ERR_OTHER, "provider %s: opening a domain: %s: %s", hl_fab.provider,
                                     hl_fab_strerror(rc), lack);
}

static int open_queue(enum hl_fab_role role, struct hl_fab_ep *out)
{
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_MSG, .size = QUEUE_SIZE, .wait_obj = FI_WAIT_FD};
    if (hl_fab.naps == NULL && (role != HL_FAB_LANE || hl_fab.row->wait == HL_PROVIDER_WAKES)) {
        int rc = fi_cq_open(out->domain, &attr, &out->cq, NULL);
        if (rc == 0) {
            rc = fi_control(&out->cq->fid, FI_GETWAIT, &out->wait_fd);
            if (rc != 0) {
                out->wait_fd = -1; /* the owner polls at intervals */
            }
            return 0;
        }
    }
    attr.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(out->domain, &attr, &out->cq, NULL);
}

static int open_parts(enum hl_fab_role role, struct fi_info *info, struct hl_fab_ep *out)
{
    struct fi_av_attr av = {.type = FI_AV_UNSPEC};
    int rc = fi_domain(hl_fab_fabric, info, &out->domain, NULL);
    if (rc != 0) {
        return fail_domain(rc);
    }
    rc = fi_av_open(out->domain, &av, &out->av, NULL);
    if (rc != 0) {
        return hl_fab_ep_fail("opening an address vector", rc);
    }
    rc = open_queue(role, out);
    if (rc != 0) {
        return hl_fab_ep_fail("opening a completion queue", rc);
    }
    rc = fi_endpoint(out->domain, info, &out->ep, NULL);
    if (rc != 0) {
        return hl_fab_ep_fail("opening an endpoint", rc);
    }
    rc = fi_ep_bind(out->ep, &out->av->fid, 0);
    if (rc == 0) {
        rc = fi_ep_bind(out->ep, &out->cq->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION);
    }
    if (rc == 0) {
        rc = fi_enable(out->ep);
    }
    if (rc != 0) {
        return hl_fab_ep_fail("enabling an endpoint", rc);
    }
    out->name_len = sizeof out->name;
    rc = fi_getname(&out->ep->fid, out->name, &out->name_len);
    return rc != 0 ? hl_fab_ep_fail("asking for an endpoint's address", rc) : 0;
}

struct opening {
    enum hl_fab_role role;
    struct fi_info *info;
    struct hl_fab_ep *ep;
    int rc;
};

static void open_inside(void *arg)
{
    struct opening *o = arg;
    o->rc = open_parts(o->role, o->info, o->ep);
}

/* Calls open_parts with the setting in the environment that libfabric reads at each opening
 * (hl_provider.open_env). */
static int open_with_setting(enum hl_fab_role role, struct fi_info *info, struct hl_fab_ep *out)
{
    static struct hl_mutex one = HL_MUTEX_INIT; /* the environment is changed by one thread at a time */
    const char *const lent[] = {hl_fab.row->open_env, NULL};
    struct opening o = {.role = role, .info = info, .ep = out};
    if (lent[0] == NULL) {
        return open_parts(role, info, out);
    }
    hl_mutex_lock(&one);
    hl_conf_with_env(lent, open_inside, &o);
    hl_mutex_unlock(&one);
    return o.rc;
}

int hl_fab_ep_open(enum hl_fab_role role, struct hl_fab_ep *out)
{
    struct fi_info *info = hl_fab_lib.dupinfo(hl_fab_info);
    if (info == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a network endpoint");
    }
    info->domain_attr->threading = role == HL_FAB_RX ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
    struct hl_fab_ep ep = {.wait_fd = -1};
    int rc = open_with_setting(role, info, &ep);
    hl_fab_lib.freeinfo(info);
    if (rc != 0) {
        hl_fab_ep_close(&ep);
        return rc;
    }
    if (role == HL_FAB_RX) {
        hl_fab_atomics_load(ep.domain);
    }
    hl_fab_cloexec_note(ep.name, ep.name_len);
    *out = ep;
    return 0;
}

/* A failed close is never tried again: providers have freed the object all the same, or it stays in use. */
static bool close_part(struct fid *fid, const char *what)
{
    if (fid == NULL) {
        return true;
    }
    int rc = fi_close(fid);
    if (rc != 0) {
        hl_log(HL_LOG_INFO, "provider %s: closing %s: %s", hl_fab.provider, what, hl_fab_strerror(rc));
    }
    return rc == 0;
}

bool hl_fab_ep_close(struct hl_fab_ep *ep)
{
    bool closed = close_part(ep->ep != NULL ? &ep->ep->fid : NULL, "an endpoint");
    (void)close_part(ep->cq != NULL ? &ep->cq->fid : NULL, "a completion queue");
    (void)close_part(ep->av != NULL ? &ep->av->fid : NULL, "an address vector");
    (void)close_part(ep->domain != NULL ? &ep->domain->fid : NULL, "a domain");
    *ep = (struct hl_fab_ep){.wait_fd = -1};
    return closed;
}

/* ---- receives ---- */

/* Posts a receive, or keeps it to be posted later. Returns 0, or the provider's error if it will never be
 * taken. */
static int post_receive(struct hl_fab_ep *ep, struct hl_fab_receive *r)
{
    int rc = hl_fab_ep_post_buffer(ep, r->bytes, hl_fab.eager, &r->context);
    if (HL_UNLIKELY(rc != 0)) {
        r->next = ep->refused;
        ep->refused = r;
    }
    return HL_LIKELY(rc == 0) || hl_fab_refused(rc) == HL_FAB_LATER ? 0 : rc;
}

size_t hl_fab_receive_size(void)
{
    return hl_round_up(sizeof(struct hl_fab_receive) + hl_fab.eager, 64);
}

int hl_fab_ep_listen(struct hl_fab_ep *ep, void *memory, size_t count)
{
    int rc = 0;
    ep->receives = memory;
    ep->receives_len = count * hl_fab_receive_size();
    for (size_t at = 0; at < ep->receives_len; at += hl_fab_receive_size()) {
        int one_rc = post_receive(ep, (void *)(ep->receives + at));
        rc = rc == 0 ? one_rc : rc;
    }
    return rc;
}

void hl_fab_ep_again(struct hl_fab_ep *ep, struct hl_fab_receive *r)
{
    int rc = post_receive(ep, r);
    if (HL_UNLIKELY(rc != 0)) {
        hl_log(HL_LOG_ERROR, "provider %s: an endpoint cannot receive any more: %s", hl_fab.provider,
               hl_fab_strerror(rc));
        hl_job_abort(1);
    }
}

void hl_fab_ep_post_refused(struct hl_fab_ep *ep)
{
    struct hl_fab_receive *next = ep->refused;
    ep->refused = NULL;
    for (struct hl_fab_receive *r = next; r != NULL; r = next) {
        next = r->next;
        hl_fab_ep_again(ep, r);
    }
}

int hl_fab_ep_trouble(struct hl_fab_ep *ep, int rc)
{
    if (rc == -FI_EAVAIL || rc == -FI_EINTR) {
        return rc == -FI_EAVAIL ? -1 : 0;
    }
    ep->broken = -rc;
    if (hl_fab_is_open()) { /* else this provider is being tried, and another one may be chosen */
        hl_log(HL_LOG_ERROR,
               "provider %s: a completion queue tells no more of what is under way: %s; the job ends",
               hl_fab.provider, hl_fab_strerror(rc));
        hl_job_abort(1);
    }
    return -1;
}

bool hl_fab_ep_error(struct hl_fab_ep *ep, struct fi_cq_err_entry *out)
{
    *out = (struct fi_cq_err_entry){.err = ep->broken};
    if (ep->broken != 0 || fi_cq_readerr(ep->cq, out, 0) != 1) {
        return ep->broken != 0;
    }
    struct hl_fab_receive *r = hl_fab_ep_receive(ep, out->op_context);
    if (r != NULL) {
        out->op_context = NULL;
        hl_fab_ep_again(ep, r);
    }
    return true;
}

bool hl_fab_ep_may_sleep(const struct hl_fab_ep *ep)
{
    struct fid *fids[] = {&ep->cq->fid};
    return fi_trywait(hl_fab_fabric, fids, 1) == FI_SUCCESS;
}

enum hl_fab_refusal hl_fab_refused(int rc)
{
    switch (rc) {
    case -FI_EAGAIN:
        return HL_FAB_LATER;
    case -FI_EMFILE:
    case -ENFILE:
        return HL_FAB_NO_FILE;
    case -FI_ENOMEM:
        return HL_FAB_NO_MEM;
    case -EFAULT:
        return HL_FAB_HIDDEN;
    default:
        return HL_FAB_NEVER;
    }
}

/* Lanes post their reads by themselves (lib/lane/post.c), since a get has no call to spare. */
int hl_fab_ep_read(struct hl_fab_ep *ep, fi_addr_t from, uint64_t addr, uint64_t key, struct iovec to,
                   void *context)
{
    struct fi_rma_iov at = {.addr = addr, .len = to.iov_len, .key = key};
    struct fi_msg_rma msg = {
        .msg_iov = &to, .iov_count = 1, .addr = from, .rma_iov = &at, .rma_iov_count = 1, .context = context};
    return (int)fi_readmsg(ep->ep, &msg, FI_COMPLETION);
}

int hl_fab_ep_insert(struct hl_fab_ep *ep, const void *name, size_t len, fi_addr_t *out)
{
    /* The vector reads as many bytes as its address format has, whatever `len` says. */
    uint8_t whole[sizeof ep->name] = {0};
    if (len != ep->name_len) {
        return hl_err_say(HL_ERR_OTHER, "a peer's endpoint address has %zu bytes, mine have %zu", len,
                          ep->name_len);
    }
    memcpy(whole, name, len);
    int rc = fi_av_insert(ep->av, whole, 1, out, 0, NULL);
    if (rc != 1) {
        return hl_fab_ep_fail("inserting a peer's address", rc < 0 ? rc : -FI_EINVAL);
    }
    hl_fab_cloexec_note(name, len);
    return 0;
}

int hl_fab_mr_open(struct hl_fab_ep *ep, const struct iovec *iov, uint64_t key, struct fid_mr **mr)
{
    const uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE | FI_SEND | FI_RECV | FI_READ | FI_WRITE;
    struct fi_mr_attr attr = {.mr_iov = iov, .iov_count = 1, .access = access, .requested_key = key};
    int rc = fi_mr_regattr(ep->domain, &attr, 0, mr);
    bool made = rc == 0;
    if (rc == 0 && hl_fab.mr_bind) {
        rc = fi_mr_bind(*mr, &ep->ep->fid, 0);
        rc = rc == 0 ? fi_mr_enable(*mr) : rc;
    }
    if (made && rc != 0) {
        (void)fi_close(&(*mr)->fid);
    }
    *mr = rc == 0 ? *mr : NULL;
    return rc;
}

int hl_fab_mr_close(struct fid_mr *mr)
{
    return fi_close(&mr->fid);
}
