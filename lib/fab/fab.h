/* libfabric, opened at run time: which provider and why, endpoints, registrations, cards of the peers.
 *
 * libfabric's constructors alone cost 0.2 s, so the library does not depend on it: dlopen loads it when the
 * first endpoint is needed. Only its seven real functions are looked up; all other calls in its headers are
 * inline and go through the objects that these return. Tests replace the seven by a model provider
 * (fab_lib.h).
 *
 * Endpoints have one of three roles. HL_FAB_RX, one in a rank (module rx): a thread-safe domain, which has
 * all registrations, and a queue at which a thread can sleep. HL_FAB_LANE, one or more (module lane):
 * one-sided operations, and receives for their acknowledgements. HL_FAB_PORT, one or more (module match):
 * messages, sent and received. Each lane and port has a domain without locks, for one thread at a time, and
 * is polled; its descriptor may wake sleepers, too (wait_fd).
 *
 * Functions return 0, or a negative HL_ERR_* with its text recorded, where nothing else is said. */
#ifndef HL_FAB_H
#define HL_FAB_H

#include "atomic.h"
#include "attr.h"
#include "op.h"
#include "providers.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the chosen provider can do. Nobody changes it after hl_fab_open. */
struct hl_fab {
    char provider[64];             /* as fi_info names it */
    const struct hl_provider *row; /* what is known of it; NULL before hl_fab_open */
    size_t eager;                  /* E: bytes of the largest message that is sent without a hand-shake */
    size_t post_max;               /* bytes of the longest message, put or get that one post may carry */
    size_t inject;                 /* bytes that a post may copy (FI_INJECT) */
    size_t lanes_max;              /* endpoints that the provider offers */
    uint32_t version;              /* FI_VERSION of the loaded library */
    uint64_t start_ns;             /* time that loading libfabric and choosing a provider took */
    bool virt_addr;       /* remote addresses are virtual addresses, else offsets into the registration */
    bool pins;            /* registration locks the pages that the memory has at that time */
    size_t key_size;      /* bytes of a key that the caller chooses; 0: the provider chooses keys */
    bool mr_bind;         /* registrations are bound to the endpoint and enabled */
    bool ordered;         /* receives complete in the order of their sends; else rx/window.h restores it */
    const char *naps;     /* why no thread can sleep on a receive queue's descriptor; NULL: it can */
    bool loopback;        /* endpoints listen on 127.0.0.1 only: all ranks are on this machine */
    bool crowded;         /* and more than four of them share a CPU */
    uint64_t atomic_hash; /* of the table behind hl_fab_can_atomic: peers must have the same */
};
extern struct hl_fab hl_fab;

/* Loads libfabric and chooses the provider. The first call does that (0.3 s, constructors included), later
 * calls return its result. HL_ERR_OTHER: there is no library, or no usable provider; the text names provider
 * and fix. Any thread. */
int hl_fab_open(void);
bool hl_fab_is_open(void);

/* One line that says why this provider was chosen, or, before hl_fab_open, that the network was not
 * needed. */
const char *hl_fab_why(void);

/* Names of the providers that could be chosen, best first, with commas between; libfabric is asked for each
 * (a millisecond). Empty before hl_fab_open. One thread at a time. */
const char *hl_fab_usable(void);

/* Fills `out` for the next provider that libfabric has, in the table's order; *i is 0 for the first call.
 * Returns false behind the last one. After hl_fab_open; asks libfabric. One thread at a time. */
struct hl_fab_report {
    const struct hl_provider *row;
    const char *state; /* in words: used, offered, refused ... */
    const char *why;   /* the reason, or NULL */
};
bool hl_fab_report(size_t *i, struct hl_fab_report *out);

/* True when libfabric lists the provider of this row, usable or not. After hl_fab_open. */
bool hl_fab_has(const struct hl_provider *row);

/* libfabric's words for an error number (positive or negative). */
const char *hl_fab_strerror(int code);

/* ---- endpoints ---- */

enum hl_fab_role { HL_FAB_RX, HL_FAB_LANE, HL_FAB_PORT };

/* A buffer for a message of any peer. While it is posted it belongs to the provider. */
struct hl_fab_receive {
    struct fi_context2 context;  /* must come first: completions carry its address */
    struct hl_fab_receive *next; /* of those that the provider did not take */
    _Alignas(8) uint8_t bytes[]; /* hl_fab.eager */
};

/* An open endpoint with what belongs to it. The owner makes sure that HL_FAB_LANE and HL_FAB_PORT are used by
 * one thread at a time: their domains take no locks (FI_THREAD_DOMAIN). HL_FAB_RX is thread-safe. */
struct hl_fab_ep {
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    char *receives;                 /* NULL: none are posted */
    size_t receives_len;            /* bytes of all of them */
    struct hl_fab_receive *refused; /* receives that are to be posted again */
    int broken;                     /* not 0: the error of a queue that gives no completions any more */
    int wait_fd; /* becomes readable when there is work; -1: the provider has none, or it is a lane's and not
                    known to cost nothing */
    uint8_t name[64]; /* the address that peers insert into their vectors */
    size_t name_len;
};

/* Opens domain, address vector, completion queue and endpoint, binds them and enables the endpoint.
 * Operations complete visibly only where they ask for it (FI_SELECTIVE_COMPLETION); the format is
 * FI_CQ_FORMAT_MSG. Returns 0, HL_ERR_NO_MEM or HL_ERR_OTHER with the text; *out is set on success.
 * hl_fab_open must have succeeded. Any thread. */
int hl_fab_ep_open(enum hl_fab_role role, struct hl_fab_ep *out);

/* Closes endpoint, queue, vector, domain in that order. What the provider refuses to close is leaked: false
 * if that is the endpoint, whose receives may still be written. */
bool hl_fab_ep_close(struct hl_fab_ep *ep);

/* True when the caller may sleep on ep->wait_fd; false: it must read the queue first. */
bool hl_fab_ep_may_sleep(const struct hl_fab_ep *ep);

/* Inserts a peer's address into the endpoint's vector and sets *out. HL_ERR_OTHER or HL_ERR_NO_MEM with the
 * text. A thread that may use the endpoint. */
int hl_fab_ep_insert(struct hl_fab_ep *ep, const void *name, size_t len, fi_addr_t *out);

/* Posts `count` receives in `memory`, once for an endpoint. The memory, hl_fab_receive_size bytes for each at
 * a multiple of 64, is the endpoint's until that is closed. What the provider does not take now is posted
 * when the queue is read. Returns 0 or the provider's error. A thread that may use the endpoint.
 * (hl_rx_listen takes the memory, too.) */
int hl_fab_ep_listen(struct hl_fab_ep *ep, void *memory, size_t count);
size_t hl_fab_receive_size(void);

/* Records the text of such an error, and returns HL_ERR_NO_MEM or HL_ERR_OTHER. */
int hl_fab_ep_fail(const char *step, int rc);

/* The receive whose completion has this context; NULL: something else has it. The caller gives it back by
 * hl_fab_ep_again when it has read the message. */
HL_INLINE struct hl_fab_receive *hl_fab_ep_receive(const struct hl_fab_ep *ep, const void *context)
{
    bool is_one = (uintptr_t)context - (uintptr_t)ep->receives < ep->receives_len;
    return is_one ? (void *)(uintptr_t)context : NULL;
}

/* Posts a receive again. One that the provider does not take now is posted when the queue is read; when the
 * provider will never take it, the job ends with a line: nobody would hear of what comes. A thread that may
 * use the endpoint. */
void hl_fab_ep_again(struct hl_fab_ep *ep, struct hl_fab_receive *r);

/* Posts the receives that were refused. */
void hl_fab_ep_post_refused(struct hl_fab_ep *ep);

/* Posts a message; the completion has `context`. Returns 0, or the provider's error: nothing was posted then.
 * A thread that may use the endpoint. */
HL_INLINE int hl_fab_ep_send(struct hl_fab_ep *ep, fi_addr_t to, const void *buf, size_t len, void *context)
{
    struct iovec iov = {(void *)(uintptr_t)buf, len};
    struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .addr = to, .context = context};
    return (int)fi_sendmsg(ep->ep, &msg, FI_COMPLETION);
}

/* Posts a message of at most hl_fab.inject bytes, which are the caller's again at once; nothing tells when it
 * has left. Returns as hl_fab_ep_send. */
HL_INLINE int hl_fab_ep_inject(struct hl_fab_ep *ep, fi_addr_t to, const void *buf, size_t len)
{
    return (int)fi_inject(ep->ep, buf, len, to);
}

/* Why a provider did not take what was posted. What the caller does then:
 *
 *            a lane (post.c)           the receive endpoint       a port (port.c)
 *                                      (sends.c)
 *   LATER    reads its queue, counts,  keeps it, in order         its caller keeps it
 *            tries it again, here or
 *            on another lane
 *   NO_FILE  fails the call            keeps it: no call could    fails the call
 *                                      be failed
 *   NO_MEM,  copies the data, and      drops it: the peer is      its caller keeps it: the peer is
 *   HIDDEN   sends them as records     gone                       ending, and the launcher tells
 *   NEVER    fails the call            the same                   the same
 *
 * When messages are kept for a peer, each of the three asks after a while whether that peer lives. A receive
 * waits in its endpoint after LATER, and else ends the job (hl_fab_ep_again). */
enum hl_fab_refusal {
    HL_FAB_LATER,   /* queues are full, or a connection is being made: read the queue, and try again */
    HL_FAB_NO_FILE, /* no descriptor is left for the connection */
    HL_FAB_NO_MEM,  /* or no more may be locked */
    HL_FAB_HIDDEN,  /* the card cannot have the local memory: it may not be written, for instance */
    HL_FAB_NEVER,   /* the same post would fail again */
};

/* The reason behind the result of a post, or of a registration; of one that succeeded: HL_FAB_NEVER. */
enum hl_fab_refusal hl_fab_refused(int rc);

/* A queue gave no completion, but this error: what hl_fab_ep_completed returns. */
int hl_fab_ep_trouble(struct hl_fab_ep *ep, int rc) HL_COLD;

/* Takes up to `n` completions and returns their number; -1: the next one is an error, which hl_fab_ep_error
 * takes. When the queue has overrun, or fails for good in another way, the job ends with a line: what is
 * under way there would never end. A thread that may use the endpoint. */
HL_INLINE int hl_fab_ep_completed(struct hl_fab_ep *ep, struct fi_cq_msg_entry *out, size_t n)
{
    ssize_t got = fi_cq_read(ep->cq, out, n);
    if (HL_UNLIKELY(ep->refused != NULL)) {
        hl_fab_ep_post_refused(ep);
    }
    return got >= 0 ? (int)got : got == -FI_EAGAIN ? 0 : hl_fab_ep_trouble(ep, (int)got);
}

/* Takes the next completion with an error; false: there is none. A receive that ended so is posted again:
 * then, as in errors that providers report without a context, out->op_context is NULL. In an opening test
 * (prove.c) it has the error of a queue that fails for good. A thread that may use the endpoint. */
bool hl_fab_ep_error(struct hl_fab_ep *ep, struct fi_cq_err_entry *out);

/* Posts a read of a peer's memory; the completion has `context`. Returns 0, or the provider's error: nothing
 * was posted then. A thread that may use the endpoint. */
int hl_fab_ep_read(struct hl_fab_ep *ep, fi_addr_t from, uint64_t addr, uint64_t key, struct iovec to,
                   void *context);

/* ---- registrations ---- */

/* Registers memory in the endpoint's domain, by one call of the provider; `key` counts where the caller
 * chooses keys. Binds and enables the registration where the provider demands that. Returns 0 and sets *mr,
 * or the provider's error, *mr being NULL. A thread that may use the endpoint. */
int hl_fab_mr_open(struct hl_fab_ep *ep, const struct iovec *iov, uint64_t key, struct fid_mr **mr);

/* The key by which peers name the registration. */
HL_INLINE uint64_t hl_fab_mr_key(struct fid_mr *mr)
{
    return fi_mr_key(mr);
}

/* Ends the registration. Returns 0, or the provider's error. */
int hl_fab_mr_close(struct fid_mr *mr);

/* ---- atomics of the provider ---- */

enum hl_fab_atomic { HL_FAB_ATOMIC, HL_FAB_FETCH, HL_FAB_COMPARE, HL_FAB_ATOMICS };

/* True when op on elements of that type is one instruction of the target's CPU, or a loop of
 * compare-and-swap, so that the provider, the target's receive thread and near peers may update the same
 * elements. False before the receive endpoint has opened. */
bool hl_fab_knows_atomic(enum hl_fab_atomic how, enum hl_op_kind op, enum hl_basic basic);

/* True when the provider does op on elements of that type, naturally aligned, by the same means as the
 * target's CPU. The answer is the same on all ranks. */
bool hl_fab_can_atomic(enum hl_fab_atomic how, enum hl_op_kind op, enum hl_basic basic);

/* Elements that one call of the provider may carry; 0: it does not do this. */
size_t hl_fab_atomic_limit(enum hl_fab_atomic how, enum hl_op_kind op, enum hl_basic basic);

/* libfabric's numbers for an operation (`compare`: FI_CSWAP) and a type; -1: it has none. */
int hl_fab_op(enum hl_op_kind op, bool compare);
int hl_fab_datatype(enum hl_basic basic);

/* ---- cards: what ranks publish about themselves when the network opens ---- */

enum hl_fab_part { HL_FAB_PART_RX, HL_FAB_PART_PORTS, HL_FAB_PARTS };

/* Puts a part (at most 1024 bytes) on this rank's card, once for each part, before hl_fab_cards_exchange.
 * HL_ERR_INTERN with the text when the part is too long or there already. */
int hl_fab_card_put(enum hl_fab_part part, const void *data, size_t len);

/* Registers `fn`, which hl_fab_run_on_open calls when the network opens, after hl_fab_open and before the
 * cards are published: a module opens its endpoints there and puts its part. At most 4 functions (else
 * HL_ERR_INTERN with the text), before that time. */
int hl_fab_on_open(int (*fn)(void));
int hl_fab_run_on_open(void);

/* Finds out whether all ranks are on this machine and in one network namespace, and sets hl_fab.loopback
 * and hl_fab.crowded.
 * Collective over the job, once, before hl_fab_open. Errors of boot. */
int hl_fab_survey(void);

/* Publishes this rank's card, waits until all ranks have published theirs (boot fence), and compares it with
 * the next rank's. HL_ERR_OTHER with a text that names both where peers do not agree on what they must agree
 * on; HL_ERR_NO_MEM; errors of boot. Collective over the job, once: a rank that has no card calls it as well,
 * with its error `rc`, which it returns; the rank before it finds no card. */
int hl_fab_cards_exchange(int rc);

/* Sets *data and *len to a part of a peer's card. The card is fetched through boot with its first use (that
 * takes a lock and a round trip to the launcher, so do not hold a lease), and kept until the network closes.
 * HL_ERR_FOUND_NONE without a text: the peer has no such part. Any thread. */
int hl_fab_card_get(int peer, enum hl_fab_part part, const void **data, size_t *len);

/* Gets a part of a peer's card as hl_fab_card_get does, for a thread that must not wait: HL_ERR_AGAIN without
 * a text when the card is not here yet and cannot be fetched just now, since other threads or ranks use the
 * launcher (hl_boot_try_get). */
int hl_fab_card_try(int peer, enum hl_fab_part part, const void **data, size_t *len);

/* ---- the provider's sockets ---- */

/* Names the resource that this process has run out of, so that connections cannot be made or accepted,
 * which the provider does not tell: descriptors, when a peer waits to be accepted or this process makes
 * a connection (`connecting`); memory, when this process makes one. NULL: no resource. `any`: an open
 * descriptor. */
const char *hl_fab_lack(int any, bool connecting);

/* Says that there may be new sockets (a peer has sent HELLO), which must become close-on-exec. Any thread;
 * cheap. */
void hl_fab_cloexec_request(void);

/* True when hl_fab_cloexec should run; the request is then taken. */
bool hl_fab_cloexec_pending(void);

/* Makes the provider's sockets close-on-exec. It looks at all descriptors of the process (system calls), so
 * do not call it under a lease. */
void hl_fab_cloexec(void);

/* Frees what hl_fab_open took, at the end, after all endpoints are closed. */
void hl_fab_close(void);

#endif
