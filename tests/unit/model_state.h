/* The model provider's state (model.h): its objects, what may happen to operations, and what has. */
#ifndef MODEL_STATE_H
#define MODEL_STATE_H

#include "fab.h"
#include "wire.h"

#include <errno.h>
#include <pthread.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_FAILED UINT64_C(0xfa11edfa11edfa11)
#define MODEL_EAGER 4096

/* What may happen, in percent, and what has. Set before threads start. */
static struct {
    unsigned again, error, stray, lost; /* percent of posts; lost: of errors, as connection lost */
    unsigned refuse;                    /* percent of chained puts and gets that the target refuses */
    unsigned recv_again;                /* percent of receives that find no room */
    int recv_error;                     /* that every posted receive has, but 0 */
    unsigned idle;                      /* percent of reads of a queue that complete nothing */
    int queue_error;                    /* that every read of a queue has, but 0 */
    int fail_open;                      /* the n-th opening from now fails; 0: none */
    int post_error;                     /* that every post has, but 0 */
    hl_a64 refusals;                    /* of posts, for model.again */
    int objects, busy;                  /* alive; closed while others used them */
    hl_a64 overlaps;                    /* two threads inside one endpoint */
    hl_a64 errors;                      /* injected */
    int reconnect; /* reads of a queue after a loss until what is posted there ends well */
    int own_error; /* a loss is told by that number of the provider's; 0: by one of the system's */
    bool hold;     /* nothing completes */
    bool mute;     /* messages arrive, acknowledgements do not */
    int swallow;   /* so many messages complete, and never arrive */
    bool numbers;  /* gaps are told; lane 0 and rank 0 only */
    uint64_t came; /* number of the last message that was handled; valid with them */
    hl_a64 credits_exceeded;
    bool any_order;   /* receives complete in any order */
    bool keys;        /* only registered memory is reached, by its key */
    int registered;   /* tries to register memory */
    int mr_again;     /* so many of them get EAGAIN */
    int mr_no_key;    /* and so many ENOKEY */
    int waits;        /* enum model_wait */
    int domain_error; /* of the opening of a domain, 0: none */
    size_t inject;    /* bytes; 0: nothing can be injected */
    unsigned early;   /* bits 1 << enum model_what of what is told one completion before it happens, or, of
                         messages between endpoints of this process, before the bytes are in their buffer */
    uint8_t garbles;  /* bits that are wrong in the last byte of such a message */
    bool shares;      /* the endpoint opened last was told by the environment to share its receives */
    /* memory that the card does not get: posts from or into it have this error */
    const uint8_t *hidden;
    size_t hidden_len;
    int hidden_error;
} model = {.inject = 64};

/* The error of a post with this memory, or 0. */
static int model_hides(const void *base, size_t len)
{
    const uint8_t *first = base;
    bool hidden =
        model.hidden != NULL && first < model.hidden + model.hidden_len && model.hidden < first + len;
    return hidden ? model.hidden_error : model.post_error;
}

static size_t model_endpoints = 64;
static size_t model_longest = SIZE_MAX; /* bytes of a put or get: longer ones are refused */
static uint64_t model_mode;             /* FI_CONTEXT2 ... */
#define MODEL_LOST 12                   /* such a number, see own_error */

/* Wait descriptors of queues: there are none, they become readable with work, or never. */
enum model_wait { MODEL_NO_WAIT, MODEL_WAIT, MODEL_WAIT_LIES };

struct model_ep;

struct model_domain {
    struct fid_domain fid;
    int users;
};

struct model_av {
    struct fid_av fid;
    struct model_domain *domain;
    int users;
};

struct model_cq {
    struct fid_cq fid;
    struct model_domain *domain;
    struct model_ep *ep;
    int users;
    int fd; /* -1: none */
};

enum model_what { MODEL_WRITE, MODEL_READ, MODEL_ADD, MODEL_SEND };

struct model_op {
    enum model_what what;
    void *context, *local, *result;
    size_t len;
    uint64_t remote, key;
    uint64_t rank; /* destination */
};

#define MODEL_OPS 1024
#define MODEL_RECVS 64

struct model_ep {
    struct fid_ep fid;
    struct model_domain *domain;
    struct model_av *av;
    struct model_cq *cq;
    struct model_op ops[MODEL_OPS];
    int count;
    struct fi_cq_err_entry errors[MODEL_OPS];
    int error_count;
    struct {
        void *buf, *context;
    } recvs[MODEL_RECVS];
    int recv_count;
    struct {
        uint8_t bytes[MODEL_EAGER];
        size_t len;
    } arrivals[MODEL_RECVS]; /* for me, in order */
    int arrival_count;
    uint64_t posted;    /* posts that were taken: a NIC hears of each; receives among them */
    uint64_t told;      /* completions that were read, of receives among them */
    uint64_t filled;    /* receives that have completed */
    uint64_t down_rank; /* the connection to it is lost */
    int down_reads;     /* for so many reads */
    unsigned seed;
    hl_a32 inside;
    uint64_t number; /* its name, from MODEL_NAMES on: lower ones are ranks that the model plays
                        (model_target.h) */
    struct model_ep *older;
};

#define MODEL_NAMES (UINT64_C(1) << 32)

/* What the target does with a record that is no put, get or atomic: an error, and up to 64 bytes of answer.
 */
static int (*model_record)(const struct hl_wire_rec *rec, uint64_t rank, uint8_t *answer, size_t *len);

static uint64_t model_caps = FI_MSG | FI_RMA | FI_ATOMIC;
static unsigned model_seed = 1;
static uint64_t model_numbers = MODEL_NAMES;
static struct model_ep *model_eps; /* those that are open, newest first; guarded by model_lock */
static pthread_mutex_t model_lock = PTHREAD_MUTEX_INITIALIZER;

/* What is sent to a name that neither an endpoint has nor a rank that the model plays. */
static void (*model_stranger)(uint64_t name, const void *bytes, size_t len);

static struct model_ep *model_enter(struct fid_ep *fid)
{
    struct model_ep *ep = (struct model_ep *)fid;
    if (hl_a32_xchg_full(&ep->inside, 1) != 0) {
        hl_a64_add_full(&model.overlaps, 1);
    }
    return ep;
}

/* With a call's result: 0 of a post that was taken, the number of completions that a look at a queue had. */
static ssize_t model_leave(struct model_ep *ep, ssize_t rc)
{
    ep->posted += rc == 0;
    ep->told += rc > 0 ? (uint64_t)rc : 0;
    hl_a32_store_release(&ep->inside, 0);
    return rc;
}

/* Makes of an operation that is told as complete the one that happens now: itself, or where such are early
 * the one that was told before it. */
static const struct model_op *model_due(struct model_op *op)
{
    static struct model_op kept = {.what = MODEL_SEND, .rank = MODEL_NAMES}; /* does nothing */
    if ((model.early & 1u << op->what) != 0) {
        struct model_op told = *op;
        *op = kept;
        kept = told;
    }
    return op;
}

static bool model_chance(struct model_ep *ep, unsigned percent)
{
    return (unsigned)rand_r(&ep->seed) % 100 < percent;
}

#endif
