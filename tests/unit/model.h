/* A model of a libfabric provider in this process: everything a post promises happens at its completion,
 * which comes late, out of order, or as an error, as a random generator with a printed seed likes.
 *
 * Remote memory is this process's memory, remote ranks are numbers in endpoint names; a message to the name
 * of an endpoint that was opened here arrives there, for tests of one thread. A failed write leaves the mark
 * MODEL_FAILED at its target. Messages are unpacked here, independently of the receive side's code; records
 * of modules above go to model_record. Objects are counted, closing one that is in use, too. */
#ifndef MODEL_H
#define MODEL_H

#include "model_route.h"
#include "model_target.h"

#include <rdma/fi_eq.h>
#include <sys/eventfd.h>
#include <unistd.h>

static ssize_t model_post(struct model_ep *ep, struct model_op op)
{
    int error = op.len > model_longest ? -FI_EMSGSIZE : model_hides(op.local, op.len);
    if (ep->count == MODEL_OPS || error != 0 || model_chance(ep, model.again)) {
        hl_a64_add_relaxed(&model.refusals, 1);
        return error != 0 ? error : -FI_EAGAIN;
    }
    ep->ops[ep->count++] = op;
    return 0;
}

static ssize_t model_writemsg(struct fid_ep *fid, const struct fi_msg_rma *m, uint64_t flags)
{
    struct model_ep *ep = model_enter(fid);
    if ((flags & FI_DELIVERY_COMPLETE) == 0) {
        return model_leave(ep, -FI_EINVAL);
    }
    return model_leave(ep, model_post(ep, (struct model_op){.what = MODEL_WRITE,
                                                            .context = m->context,
                                                            .local = m->msg_iov->iov_base,
                                                            .result = NULL,
                                                            .len = m->msg_iov->iov_len,
                                                            .remote = m->rma_iov->addr,
                                                            .key = m->rma_iov->key,
                                                            .rank = m->addr}));
}

static ssize_t model_readmsg(struct fid_ep *fid, const struct fi_msg_rma *m, uint64_t flags)
{
    (void)flags;
    struct model_ep *ep = model_enter(fid);
    return model_leave(ep, model_post(ep, (struct model_op){.what = MODEL_READ,
                                                            .context = m->context,
                                                            .local = m->msg_iov->iov_base,
                                                            .result = NULL,
                                                            .len = m->msg_iov->iov_len,
                                                            .remote = m->rma_iov->addr,
                                                            .key = m->rma_iov->key,
                                                            .rank = m->addr}));
}

/* Atomics here are 64-bit sums. */
static ssize_t model_fetch(struct fid_ep *fid, const struct fi_msg_atomic *m, struct fi_ioc *result,
                           void **desc, size_t n, uint64_t flags)
{
    (void)desc, (void)n, (void)flags;
    struct model_ep *ep = model_enter(fid);
    return model_leave(ep, model_post(ep, (struct model_op){.what = MODEL_ADD,
                                                            .context = m->context,
                                                            .local = m->msg_iov->addr,
                                                            .result = result != NULL ? result->addr : NULL,
                                                            .len = m->msg_iov->count * 8,
                                                            .remote = m->rma_iov->addr,
                                                            .key = m->rma_iov->key,
                                                            .rank = m->addr}));
}

static ssize_t model_atomic(struct fid_ep *fid, const struct fi_msg_atomic *m, uint64_t flags)
{
    return model_fetch(fid, m, NULL, NULL, 0, flags);
}

static ssize_t model_recvmsg(struct fid_ep *fid, const struct fi_msg *m, uint64_t flags)
{
    (void)flags;
    struct model_ep *ep = model_enter(fid);
    if (model.recv_error != 0 || ep->recv_count == MODEL_RECVS || model_chance(ep, model.recv_again)) {
        return model_leave(ep, model.recv_error != 0 ? model.recv_error : -FI_EAGAIN);
    }
    ep->recvs[ep->recv_count].buf = m->msg_iov->iov_base;
    ep->recvs[ep->recv_count++].context = m->context;
    return model_leave(ep, 0);
}

static ssize_t model_sendmsg(struct fid_ep *fid, const struct fi_msg *m, uint64_t flags)
{
    (void)flags;
    struct model_ep *ep = model_enter(fid);
    int in_flight = ep->arrival_count;
    for (int i = 0; i < ep->count; i++) {
        in_flight += ep->ops[i].what == MODEL_SEND;
    }
    bool routed = m->addr >= MODEL_NAMES;
    hl_a64_add_relaxed(&model.credits_exceeded, in_flight >= 32 && !routed);
    ssize_t rc = model_post(ep, (struct model_op){.what = MODEL_SEND,
                                                  .context = m->context,
                                                  .local = m->msg_iov->iov_base,
                                                  .len = m->msg_iov->iov_len,
                                                  .rank = m->addr});
    if (rc == 0 && routed) {
        rc = model_route(m->addr, m->msg_iov->iov_base, m->msg_iov->iov_len);
        ep->count -= rc != 0;
    }
    return model_leave(ep, rc);
}

/* ---- completion ---- */

static void model_apply(struct model_ep *ep, const struct model_op *op)
{
    uint64_t *target = model_reach(op->key, op->remote, op->len);
    switch (op->what) {
    case MODEL_WRITE:
        model_store(target, op->local, op->len);
        break;
    case MODEL_READ:
        memcpy(op->local, target, op->len);
        break;
    case MODEL_ADD:
        for (size_t i = 0; i < op->len / 8; i++) {
            uint64_t before = hl_a64_add_full((hl_a64 *)&target[i], ((uint64_t *)op->local)[i]);
            if (op->result != NULL) {
                ((uint64_t *)op->result)[i] = before;
            }
        }
        break;
    case MODEL_SEND:
        if (op->rank < MODEL_NAMES) {
            model_message(ep, op);
        } /* else it is there already */
        break;
    }
}

static void model_fail(struct model_ep *ep, const struct model_op *op, int error)
{
    struct fi_cq_err_entry e = {.op_context = op->context, .err = error};
    uint64_t *target = op->what == MODEL_WRITE ? model_reach(op->key, op->remote, op->len) : NULL;
    if (op->len == 8 && target != NULL) {
        *target = MODEL_FAILED;
    } else if (op->what == MODEL_SEND && op->rank < MODEL_NAMES) {
        model_unpack(ep, op->local, op->rank, NULL);
    }
    hl_a64_add_full(&model.errors, 1);
    ep->errors[ep->error_count++] = e;
}

/* A lost connection takes with it all messages that have not arrived. */
static void model_lose(struct model_ep *ep, uint64_t rank)
{
    int kept = 0;
    for (int i = 0; i < ep->count; i++) {
        if (ep->ops[i].what == MODEL_SEND && ep->ops[i].rank == rank) {
            model_fail(ep, &ep->ops[i], ENOTCONN);
        } else {
            ep->ops[kept++] = ep->ops[i];
        }
    }
    ep->count = kept;
    ep->down_rank = rank;
    ep->down_reads = model.reconnect;
}

/* Completes one pending operation, any of them; messages keep their order among themselves. */
static bool model_complete_one(struct model_ep *ep, struct fi_cq_msg_entry *entry)
{
    int at = (int)((unsigned)rand_r(&ep->seed) % (unsigned)ep->count);
    for (int i = 0; ep->ops[at].what == MODEL_SEND && i < at; i++) {
        at = ep->ops[i].what == MODEL_SEND ? i : at;
    }
    struct model_op op = ep->ops[at];
    memmove(&ep->ops[at], &ep->ops[at + 1], (size_t)(ep->count - at - 1) * sizeof op);
    ep->count--;
    if (model_chance(ep, model.stray) && ep->error_count < MODEL_OPS / 2) {
        ep->errors[ep->error_count++] = (struct fi_cq_err_entry){.op_context = NULL, .err = EIO};
    }
    if (ep->down_reads > 0 && op.rank == ep->down_rank) {
        model_fail(ep, &op, ENOTCONN);
        return false;
    }
    if (model_chance(ep, model.error) && ep->error_count < MODEL_OPS / 2) {
        bool lost = model_chance(ep, model.lost);
        model_fail(ep, &op, lost && model.own_error == 0 ? ENOTCONN : EIO);
        ep->errors[ep->error_count - 1].prov_errno = lost ? model.own_error : 0;
        if (lost) {
            model_lose(ep, op.rank);
        }
        return false;
    }
    if (op.what != MODEL_SEND && model_reach(op.key, op.remote, op.len) == NULL) {
        model_fail(ep, &op, EACCES);
        return false;
    }
    *entry = (struct fi_cq_msg_entry){.op_context = op.context, .len = op.len};
    model_apply(ep, model_due(&op));
    return true;
}

static bool model_deliver(struct model_ep *ep, struct fi_cq_msg_entry *entry)
{
    if (ep->arrival_count == 0 || ep->recv_count == 0 || model_chance(ep, 30)) {
        return false;
    }
    int at = 0; /* buffers are taken in the order of the messages, whatever is told first */
    if (model.any_order) {
        int both = ep->arrival_count < ep->recv_count ? ep->arrival_count : ep->recv_count;
        at = (int)((unsigned)rand_r(&ep->seed) % (unsigned)both);
    }
    *entry = (struct fi_cq_msg_entry){.op_context = ep->recvs[at].context, .len = ep->arrivals[at].len};
    model_fill(ep, at);
    memmove(&ep->recvs[at], &ep->recvs[at + 1], (size_t)(--ep->recv_count - at) * sizeof ep->recvs[0]);
    memmove(&ep->arrivals[at], &ep->arrivals[at + 1],
            (size_t)(--ep->arrival_count - at) * sizeof ep->arrivals[0]);
    return true;
}

static ssize_t model_read(struct fid_cq *fid, void *buf, size_t count)
{
    struct model_ep *ep = model_enter(&((struct model_cq *)fid)->ep->fid);
    struct fi_cq_msg_entry *out = buf;
    size_t n = 0;
    ep->down_reads -= ep->down_reads > 0;
    if (ep->error_count > 0 || model.queue_error != 0) {
        return model_leave(ep, model.queue_error != 0 ? model.queue_error : -FI_EAVAIL);
    }
    bool idle = model.hold || model_chance(ep, model.idle);
    while (!idle && n < count && ep->error_count == 0) {
        if (model_deliver(ep, &out[n]) || (ep->count > 0 && model_complete_one(ep, &out[n]))) {
            n++;
        } else {
            idle = ep->error_count == 0;
        }
        idle |= model_chance(ep, 20);
    }
    return model_leave(ep, n > 0 ? (ssize_t)n : ep->error_count > 0 ? -FI_EAVAIL : -FI_EAGAIN);
}

static ssize_t model_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buf, uint64_t flags)
{
    (void)flags;
    struct model_ep *ep = model_enter(&((struct model_cq *)fid)->ep->fid);
    if (ep->error_count == 0) {
        return model_leave(ep, -FI_EAGAIN);
    }
    *buf = ep->errors[0];
    memmove(&ep->errors[0], &ep->errors[1], (size_t)--ep->error_count * sizeof ep->errors[0]);
    return model_leave(ep, 1);
}

/* ---- objects ---- */

static int model_open(void)
{
    if (model.fail_open > 0 && --model.fail_open == 0) {
        return -FI_ENOMEM;
    }
    model.objects++;
    return 0;
}

static int model_gone(void *object, int users, int *parent_users)
{
    if (users != 0) {
        model.busy++;
        return -FI_EBUSY;
    }
    if (parent_users != NULL) {
        --*parent_users;
    }
    free(object);
    model.objects--;
    return 0;
}

static int model_close(struct fid *fid)
{
    switch (fid->fclass) {
    case FI_CLASS_DOMAIN: {
        struct model_domain *d = fid->context;
        return model_gone(d, d->users, NULL);
    }
    case FI_CLASS_AV: {
        struct model_av *av = fid->context;
        return model_gone(av, av->users, &av->domain->users);
    }
    case FI_CLASS_CQ: {
        struct model_cq *cq = fid->context;
        if (cq->users == 0 && cq->fd >= 0) {
            close(cq->fd);
        }
        return model_gone(cq, cq->users, &cq->domain->users);
    }
    case FI_CLASS_EP: {
        struct model_ep *ep = fid->context;
        model_forget(ep);
        ep->av->users -= ep->av != NULL;
        ep->cq->users -= ep->cq != NULL;
        return model_gone(ep, 0, &ep->domain->users);
    }
    default: /* the fabric */
        model.busy += model.objects > 0;
        return 0;
    }
}

static int model_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    (void)flags;
    struct model_ep *ep = fid->context;
    if (to->fclass == FI_CLASS_AV) {
        ep->av = to->context;
        ep->av->users++;
    } else {
        ep->cq = to->context;
        ep->cq->users++;
        ep->cq->ep = ep;
    }
    return 0;
}

static int model_control(struct fid *fid, int command, void *arg)
{
    if (command == FI_GETWAIT) {
        *(int *)arg = ((const struct model_cq *)fid->context)->fd;
        return *(int *)arg >= 0 ? 0 : -FI_ENOSYS;
    }
    return 0;
}

static struct fi_ops model_fid_ops = {
    .size = sizeof model_fid_ops, .close = model_close, .bind = model_bind, .control = model_control};

static int model_insert(struct fid_av *av, const void *addr, size_t count, fi_addr_t *out, uint64_t flags,
                        void *ctx)
{
    (void)av, (void)flags, (void)ctx;
    memcpy(out, addr, sizeof *out); /* the name is the rank */
    return (int)count;
}

static struct fi_ops_av model_av_ops = {.size = sizeof model_av_ops, .insert = model_insert};
static struct fi_ops_cq model_cq_ops = {
    .size = sizeof model_cq_ops, .read = model_read, .readerr = model_readerr};
static struct fi_ops_msg model_msg_ops = {
    .size = sizeof model_msg_ops, .recvmsg = model_recvmsg, .sendmsg = model_sendmsg, .inject = model_inject};
static struct fi_ops_rma model_rma_ops = {
    .size = sizeof model_rma_ops, .readmsg = model_readmsg, .writemsg = model_writemsg};
static struct fi_ops_atomic model_atomic_ops = {
    .size = sizeof model_atomic_ops, .writemsg = model_atomic, .readwritemsg = model_fetch};

static int model_getname(fid_t fid, void *addr, size_t *len)
{
    const struct model_ep *ep = fid->context;
    memcpy(addr, &ep->number, sizeof ep->number);
    *len = sizeof ep->number;
    return 0;
}

static struct fi_ops_cm model_cm_ops = {.size = sizeof model_cm_ops, .getname = model_getname};

static int model_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **out,
                         void *context)
{
    (void)attr, (void)context;
    int rc = model_open();
    if (rc == 0) {
        struct model_av *av = calloc(1, sizeof *av);
        av->fid = (struct fid_av){.fid = {FI_CLASS_AV, av, &model_fid_ops}, .ops = &model_av_ops};
        av->domain = (struct model_domain *)domain;
        av->domain->users++;
        *out = &av->fid;
    }
    return rc;
}

static int model_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **out,
                         void *context)
{
    (void)context;
    bool waits = attr->wait_obj != FI_WAIT_NONE;
    int rc = waits && model.waits == MODEL_NO_WAIT ? -FI_ENOSYS : model_open();
    if (rc == 0) {
        struct model_cq *cq = calloc(1, sizeof *cq);
        cq->fid = (struct fid_cq){.fid = {FI_CLASS_CQ, cq, &model_fid_ops}, .ops = &model_cq_ops};
        cq->domain = (struct model_domain *)domain;
        cq->domain->users++;
        cq->fd = waits ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
        *out = &cq->fid;
    }
    return rc;
}

static int model_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **out, void *context)
{
    model.shares = getenv("FI_OFI_RXM_USE_SRX") != NULL;
    (void)info, (void)context;
    int rc = model_open();
    if (rc == 0) {
        struct model_ep *ep = calloc(1, sizeof *ep);
        ep->fid = (struct fid_ep){.fid = {FI_CLASS_EP, ep, &model_fid_ops},
                                  .cm = &model_cm_ops,
                                  .msg = &model_msg_ops,
                                  .rma = &model_rma_ops,
                                  .atomic = (model_caps & FI_ATOMIC) != 0 ? &model_atomic_ops : NULL};
        ep->domain = (struct model_domain *)domain;
        ep->domain->users++;
        pthread_mutex_lock(&model_lock);
        ep->number = ++model_numbers;
        ep->older = model_eps;
        model_eps = ep;
        pthread_mutex_unlock(&model_lock);
        ep->seed = model_seed + (unsigned)ep->number;
        *out = &ep->fid;
    }
    return rc;
}

static int model_query(struct fid_domain *domain, enum fi_datatype type, enum fi_op op,
                       struct fi_atomic_attr *attr, uint64_t flags)
{
    (void)domain;
    bool known = (model_caps & FI_ATOMIC) != 0 && type == FI_UINT64 && (flags & FI_COMPARE_ATOMIC) == 0 &&
                 op == FI_SUM;
    *attr = (struct fi_atomic_attr){.count = 16, .size = 8};
    return known ? 0 : -FI_EOPNOTSUPP;
}

static struct fi_ops_domain model_domain_ops = {.size = sizeof model_domain_ops,
                                                .av_open = model_av_open,
                                                .cq_open = model_cq_open,
                                                .endpoint = model_endpoint,
                                                .query_atomic = model_query};

static int model_domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **out,
                             void *context)
{
    (void)fabric, (void)info, (void)context;
    int rc = model.domain_error != 0 ? -model.domain_error : model_open();
    if (rc == 0) {
        struct model_domain *d = calloc(1, sizeof *d);
        d->fid = (struct fid_domain){
            .fid = {FI_CLASS_DOMAIN, d, &model_fid_ops}, .ops = &model_domain_ops, .mr = &model_mr_ops};
        *out = &d->fid;
    }
    return rc;
}

/* A descriptor that lies says that it will tell. */
static int model_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
    (void)fabric, (void)count;
    const struct model_cq *cq = fids[0]->context;
    uint64_t rings;
    if (model.waits == MODEL_WAIT &&
        (cq->ep->arrival_count > 0 || cq->ep->count > 0 || cq->ep->error_count > 0)) {
        return -FI_EAGAIN;
    }
    (void)!read(cq->fd, &rings, sizeof rings);
    return 0;
}

static struct fi_ops_fabric model_fabric_ops = {
    .size = sizeof model_fabric_ops, .domain = model_domain_open, .trywait = model_trywait};
static struct fid_fabric model_fabric_fid = {.fid = {FI_CLASS_FABRIC, NULL, &model_fid_ops},
                                             .ops = &model_fabric_ops};

/* ---- the seven functions ---- */

struct model_info {
    struct fi_info info;
    struct fi_tx_attr tx;
    struct fi_rx_attr rx;
    struct fi_ep_attr ep;
    struct fi_domain_attr domain;
    struct fi_fabric_attr fabric;
};

/* What is offered: as providers do, only what the hints allow to be demanded. */
static bool model_may_local; /* where the hints have FI_MR_LOCAL it is demanded, else not needed */
static uint32_t model_libfabric = FI_VERSION(1, 17);
static const char *model_name = "model", *model_other; /* model_other: offered as well */
static bool model_kept;                                /* the last endpoints asked for were on the loopback */

static const struct hl_provider model_row = {.name = "model",
                                             .lost = 1u << MODEL_LOST,
                                             .eager = MODEL_EAGER,
                                             .wait = HL_PROVIDER_WAKES,
                                             .chain = true,
                                             .ordered = true,
                                             .atomics = true,
                                             .greets = true};

static struct fi_info *model_dupinfo(const struct fi_info *from)
{
    struct model_info *m = calloc(1, sizeof *m);
    if (from != NULL) {
        memcpy(m, from, sizeof *m);
        m->fabric.prov_name = strdup(m->fabric.prov_name);
    }
    m->info.tx_attr = &m->tx;
    m->info.rx_attr = &m->rx;
    m->info.ep_attr = &m->ep;
    m->info.domain_attr = &m->domain;
    m->info.fabric_attr = &m->fabric;
    m->info.next = NULL;
    return &m->info;
}

static void model_freeinfo(struct fi_info *info)
{
    while (info != NULL) {
        struct fi_info *next = info->next;
        free(info->fabric_attr->prov_name);
        free(info);
        info = next;
    }
}

static struct fi_info *model_offer(const char *name, const struct fi_info *hints, bool kept)
{
    static char loopback[] = "127.0.0.1";
    struct fi_info *i = model_dupinfo(NULL);
    i->fabric_attr->prov_name = strdup(name);
    i->ep_attr->max_msg_size = MODEL_EAGER;
    i->tx_attr->inject_size = model.inject;
    i->domain_attr->ep_cnt = model_endpoints;
    i->mode = model_mode;
    i->domain_attr->mr_key_size = model_key_size;
    i->domain_attr->mr_mode = (int)model_mr_mode;
    i->caps = hints != NULL ? hints->caps : model_caps;
    i->domain_attr->data_progress = hints != NULL ? hints->domain_attr->data_progress : FI_PROGRESS_UNSPEC;
    i->src_addr = kept ? loopback : NULL;
    if (model_may_local && hints != NULL) {
        i->domain_attr->mr_mode |= hints->domain_attr->mr_mode & FI_MR_LOCAL;
    }
    return i;
}

static int model_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                         const struct fi_info *hints, struct fi_info **out)
{
    (void)version, (void)service;
    const char *asked = hints != NULL ? hints->fabric_attr->prov_name : NULL;
    bool all = (flags & FI_PROV_ATTR_ONLY) != 0; /* asks for the list, without hints */
    struct fi_info **end = out;
    *out = NULL;
    if (!all && ((hints->caps & ~model_caps) != 0 ||
                 (model_mr_mode & FI_MR_LOCAL & ~(uint64_t)hints->domain_attr->mr_mode) != 0)) {
        return -FI_ENODATA;
    }
    model_kept = node != NULL;
    for (int n = 0; n < 2; n++) {
        const char *name = n == 0 ? model_name : model_other;
        size_t core = name != NULL ? strcspn(name, ";") : 0; /* libfabric also gives what stands on it */
        if (name != NULL && (all || asked == NULL || strcmp(asked, name) == 0 ||
                             (strlen(asked) == core && strncmp(asked, name, core) == 0))) {
            *end = model_offer(name, hints, node != NULL);
            end = &(*end)->next;
        }
    }
    return *out != NULL ? 0 : -FI_ENODATA;
}

static int model_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **out, void *context)
{
    (void)attr, (void)context;
    *out = &model_fabric_fid;
    return 0;
}

static const char *model_strerror(int code)
{
    return strerror(code);
}

static char *model_tostr(const void *data, enum fi_type type)
{
    (void)data, (void)type;
    return NULL;
}

static uint32_t model_version(void)
{
    return model_libfabric;
}

#define MODEL_LIB                                                                                            \
    {                                                                                                        \
        model_getinfo, model_freeinfo, model_dupinfo, model_fabric_open, model_strerror, model_tostr,        \
            model_version, &model_row                                                                        \
    }

#endif
