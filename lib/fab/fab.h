/* libfabric, opened at run time: which provider and why, endpoints, registrations, cards of the peers.
 *
 * libfabric's constructors cost 0.2 s, so it is no dependency of the library: dlopen gets it when the first
 * endpoint is needed. Only its seven real functions are looked up; everything else in its headers are inline
 * calls through the objects they return. A model provider in tests replaces the seven (fab_lib.h).
 *
 * A rank has one receive endpoint (role HL_FAB_RX: thread-safe domain, waitable queue, all registrations;
 * module rx) and several sending ones (HL_FAB_LANE: own domain, no locks, polled; modules lane and match).
 *
 * Functions return 0 or a negative HL_ERR_* with its text recorded. */
#ifndef HL_FAB_H
#define HL_FAB_H

#include "atomic.h"
#include "attr.h"
#include "mem.h"
#include "op.h"
#include "providers.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the provider chosen can do. Read-only after hl_fab_open. */
struct hl_fab {
    char provider[64];             /* as fi_info names it */
    const struct hl_provider *row; /* what is known of it; NULL before hl_fab_open */
    size_t eager;                  /* E: bytes of the largest message that is sent without a hand-shake */
    size_t inject;                 /* bytes that a post may copy at once */
    size_t lanes_max;              /* endpoints the provider offers */
    uint32_t version;              /* FI_VERSION of the library loaded */
    bool virt_addr;       /* remote addresses are virtual addresses, else offsets into the registration */
    bool pins;            /* registered memory keeps the pages that it has then, locked */
    size_t key_size;      /* bytes of keys that are ours to choose; 0: the provider chooses them */
    bool mr_bind;         /* registrations are bound to the endpoint and enabled */
    bool ordered;         /* receives complete in the order of their sends, else see rx/window.h */
    const char *naps;     /* why one cannot sleep on a receive queue's descriptor; NULL: one can */
    bool loopback;        /* endpoints listen on 127.0.0.1 only: all ranks are on this machine */
    uint64_t atomic_hash; /* of the table behind hl_fab_can_atomic: peers must have the same */
};
extern struct hl_fab hl_fab;

/* Loads libfabric and chooses the provider; the first call does it (0.3 s), later ones return its result.
 * Any thread. HL_ERR_OTHER: no library, or nothing usable; the text names provider and fix. */
int hl_fab_open(void);
bool hl_fab_is_open(void);

/* Why this provider: one line. Before hl_fab_open it says that the network was not needed. */
const char *hl_fab_why(void);

/* The providers that could have been taken, best first, with commas between: asks libfabric for each (a
 * millisecond). Empty before hl_fab_open. One thread at a time. */
const char *hl_fab_usable(void);

/* The next provider that libfabric has, in the table's order, *i being 0 at first: what it offers and what
 * came of it. False behind the last. After hl_fab_open; asks libfabric. One thread at a time. */
struct hl_fab_report {
    const struct hl_provider *row;
    const char *state; /* in words: used, offered, refused ... */
    const char *why;   /* or NULL */
};
bool hl_fab_report(size_t *i, struct hl_fab_report *out);

/* Does libfabric list the provider of this row, whatever it can do? After hl_fab_open. */
bool hl_fab_has(const struct hl_provider *row);

/* Words for a provider's error number (positive or negative). */
const char *hl_fab_strerror(int code);

/* ---- endpoints ---- */

enum hl_fab_role { HL_FAB_RX, HL_FAB_LANE, HL_FAB_PORT };

/* An open endpoint with what belongs to it. Who may call on it is the owner's business: HL_FAB_LANE one
 * thread at a time; HL_FAB_RX and HL_FAB_PORT (lockless too, but waitable) see their modules. */
struct hl_fab_ep {
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    int wait_fd;      /* RX and PORT: becomes readable with work, -1 when the provider has none */
    uint8_t name[64]; /* the address that peers insert */
    size_t name_len;
};

/* Opens an endpoint: domain, address vector, queue, endpoint; bound and enabled. Completions only where asked
 * (FI_SELECTIVE_COMPLETION), format FI_CQ_FORMAT_MSG. hl_fab_open must have succeeded. Any thread. */
int hl_fab_ep_open(enum hl_fab_role role, struct hl_fab_ep *out);

/* Closes endpoint, queue, vector, domain in that order. What the provider refuses to close is leaked. */
void hl_fab_ep_close(struct hl_fab_ep *ep);

/* May the caller sleep on ep->wait_fd? False: read the queue first. */
bool hl_fab_ep_may_sleep(const struct hl_fab_ep *ep);

/* Inserts a peer's address. The caller may use the endpoint. */
int hl_fab_ep_insert(struct hl_fab_ep *ep, const void *name, size_t len, fi_addr_t *out);

/* Posts a buffer for the next message of whoever sends one; the completion has `context`. 0, or the
 * provider's error. The caller may use the endpoint. */
HL_INLINE int hl_fab_ep_receive(struct hl_fab_ep *ep, void *buf, size_t len, void *context)
{
    struct iovec iov = {buf, len};
    struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = context};
    return (int)fi_recvmsg(ep->ep, &msg, FI_COMPLETION);
}

/* Posts a message; the completion has `context`. 0, or the provider's error: nothing was posted. The caller
 * may use the endpoint. */
HL_INLINE int hl_fab_ep_send(struct hl_fab_ep *ep, fi_addr_t to, const void *buf, size_t len, void *context)
{
    struct iovec iov = {(void *)(uintptr_t)buf, len};
    struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .addr = to, .context = context};
    return (int)fi_sendmsg(ep->ep, &msg, FI_COMPLETION);
}

/* Why a provider did not take what was posted. Who posts decides what to do about it:
 *
 *            a lane (post.c)           the receive endpoint       a port (port.c)
 *                                      (sends.c)
 *   LATER    reads its queue, counts;  keeps it, in order         its caller keeps it
 *            here or on another lane
 *   NO_FILE  an error of the call      keeps it: nobody to tell   an error of the call
 *   NO_MEM,  an error of the call      drops it: the peer is      its caller keeps it: the peer is
 *   NEVER                              gone                       going, and the launcher tells
 *
 * Each of them asks, after a while, whether a peer lives for which messages are kept. */
enum hl_fab_refusal {
    HL_FAB_LATER,   /* queues are full, or a connection is being made: read the queue, and try again */
    HL_FAB_NO_FILE, /* no descriptor is left for the connection */
    HL_FAB_NO_MEM,
    HL_FAB_NEVER, /* the same would fail again */
};

/* Of a post's result that is not 0. */
enum hl_fab_refusal hl_fab_refused(int rc);

/* Takes up to `n` completions; -1: an error waits, which hl_fab_ep_error takes. The caller may use the
 * endpoint. */
HL_INLINE int hl_fab_ep_completed(struct hl_fab_ep *ep, struct fi_cq_msg_entry *out, size_t n)
{
    ssize_t got = fi_cq_read(ep->cq, out, n);
    return got >= 0 ? (int)got : got == -FI_EAVAIL ? -1 : 0;
}

/* False: there is none. */
HL_INLINE bool hl_fab_ep_error(struct hl_fab_ep *ep, struct fi_cq_err_entry *out)
{
    *out = (struct fi_cq_err_entry){0};
    return fi_cq_readerr(ep->cq, out, 0) == 1;
}

/* Reads memory of a peer; the completion has `context`. 0, or the provider's error: nothing was posted. The
 * caller may use the endpoint. */
int hl_fab_ep_read(struct hl_fab_ep *ep, fi_addr_t from, uint64_t addr, uint64_t key, struct iovec to,
                   void *context);

/* ---- memory that peers may reach ---- */

/* What a peer needs to reach [0, len) of a region: written by the owner, carried by whoever publishes it
 * (windows exchange it, heaps compute it). Plain data, the same on all machines of a job. */
struct hl_fab_mr {
    uint64_t id;   /* of the region at its owner, for messages; never 0, never reused */
    uint64_t key;  /* registration key */
    uint64_t addr; /* what stands for the region's first byte in RMA: add the offset */
    uint64_t len;  /* bytes */
};

/* The registration of my segment as a whole (filled when the network opens; key 0 before, and always where
 * registering pins). Any thread. */
void hl_fab_mr_of(const struct hl_seg *seg, struct hl_fab_mr *out);

/* What peers need to reach [base, base + len): out->addr stands for `base`. Memory in a segment that has a
 * key (hl_fab_mr_of) gets that one, and the segment's id; other memory is registered and has an id of its own
 * (before the network is open an id only, and key 0). Undone by hl_fab_unregister(out->id), before the memory
 * goes. Any thread. Errors: HL_ERR_NO_MEM (a limit; the text says which, and what to do), HL_ERR_OTHER (the
 * provider's text). */
int hl_fab_register(void *base, size_t len, struct hl_fab_mr *out);
void hl_fab_unregister(uint64_t id);

/* Bytes that this process may lock in memory, registered memory of providers that pin included: UINT64_MAX
 * without a limit (RLIMIT_MEMLOCK; CAP_IPC_LOCK). */
uint64_t hl_fab_lockable(void);

/* The address of [offset, offset + len) of my region `id` (segment or registered memory), or NULL when there
 * is no such region or it does not hold all of it: the bounds check of everything that arrives. Any thread,
 * no lock. The caller keeps the region alive or is the receive thread. */
void *hl_fab_locate(uint64_t id, uint64_t offset, uint64_t len);

/* Registered memory as those who know its key name it. */
struct hl_fab_reach {
    uint64_t key;
    uint64_t addr; /* what stands for the first byte in RMA */
    char *base;    /* NULL: there is no such memory */
    uint64_t len;
    uint32_t users; /* registrations that have this key */
};

/* Between hold and release no registration comes or goes. Short: who makes and frees memory waits. One thread
 * at a time, the receive thread. */
void hl_fab_hold(void);
void hl_fab_release(void);

/* The memory registered under `key`, to be used until hl_fab_release. False: there is none (*out says so). */
bool hl_fab_reach(uint64_t key, struct hl_fab_reach *out);

/* `len` bytes from RMA address `addr` of it, or NULL when they are not all inside. */
HL_INLINE void *hl_fab_at(const struct hl_fab_reach *r, uint64_t addr, uint64_t len)
{
    uint64_t offset = addr - r->addr; /* below the first byte: huge */
    return HL_LIKELY(r->base != NULL && offset <= r->len && len <= r->len - offset) ? r->base + offset : NULL;
}

/* Opens region registration on the receive endpoint: rx calls it once. All living segments (where registering
 * does not pin) and registered memory get their keys now, later ones when they are born. */
int hl_fab_regions_open(struct hl_fab_ep *rx);
void hl_fab_regions_close(void);

/* ---- atomics of the provider ---- */

enum hl_fab_atomic { HL_FAB_ATOMIC, HL_FAB_FETCH, HL_FAB_COMPARE, HL_FAB_ATOMICS };

/* True when op on elements of that type is one instruction of the target's CPU, or a loop of
 * compare-and-swap: who does it there, provider or receive thread, may be mixed with who does it here. After
 * the receive endpoint has opened, false before. */
bool hl_fab_knows_atomic(enum hl_fab_atomic how, enum hl_op_kind op, enum hl_basic basic);

/* True when the provider does op on elements of that type by the same means as the target's CPU: the answer
 * is the same on all ranks. Naturally aligned elements only. */
bool hl_fab_can_atomic(enum hl_fab_atomic how, enum hl_op_kind op, enum hl_basic basic);

/* Elements that one such call may carry; 0: not at all. And its libfabric names. */
size_t hl_fab_atomic_limit(enum hl_fab_atomic how, enum hl_op_kind op, enum hl_basic basic);
int hl_fab_op(enum hl_op_kind op, bool compare);
int hl_fab_datatype(enum hl_basic basic);

/* ---- cards: what ranks tell each other at start ---- */

enum hl_fab_part { HL_FAB_PART_RX, HL_FAB_PART_PORTS, HL_FAB_PARTS };

/* Puts a part (at most 1024 bytes) on my card; before hl_fab_cards_exchange. */
int hl_fab_card_put(enum hl_fab_part part, const void *data, size_t len);

/* Has `fn` called when the network opens, after hl_fab_open and before the cards go out: a module opens its
 * endpoints there and puts its part. At most 4, before that time. */
int hl_fab_on_open(int (*fn)(void));
int hl_fab_run_on_open(void);

/* Finds out whether all ranks are on this machine, in one network namespace (hl_fab.loopback). Collective
 * over the job, once, before hl_fab_open. */
int hl_fab_survey(void);

/* Publishes my card, waits until all ranks have (boot fence), and compares it with my neighbour's: what peers
 * must agree on is an error here with a text that names both. Collective over the job, once. */
int hl_fab_cards_exchange(void);

/* A part of a peer's card; fetched through boot on first use (a lock and a launcher's round trip, not under a
 * lease), kept for ever. HL_ERR_FOUND_NONE: the peer has no such part. Any thread. */
int hl_fab_card_get(int peer, enum hl_fab_part part, const void **data, size_t *len);

/* ---- the provider's sockets ---- */

/* What this process has nothing left of, so that connections cannot be made or taken, which the provider does
 * not say: descriptors when a peer waits for one of ours, or we do (`connecting`); memory when we do.
 * NULL: nothing. `any`: an open descriptor. */
const char *hl_fab_lack(int any, bool connecting);

/* Close-on-exec for them: */

/* Tells that there may be new ones (a peer said HELLO). Any thread, cheap. */
void hl_fab_seal_request(void);

/* True when hl_fab_seal should run, and takes that news. hl_fab_seal looks at all descriptors of the process
 * (system calls): not under a lease. */
bool hl_fab_seal_pending(void);
void hl_fab_seal(void);

/* For the end: frees what hl_fab_open took, after all endpoints are closed. */
void hl_fab_close(void);

#endif
