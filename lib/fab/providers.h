/* What is known of libfabric's providers: one row for each, and for those that nobody knows. No other file
 * compares a provider's name (tests/lint/lint.py sees to that): who needs to know something asks hl_fab.row.
 *
 * Rows stand in the order of choice. "Seen" facts come from running the tests, "read" ones from libfabric's
 * source. */
#ifndef HL_PROVIDERS_H
#define HL_PROVIDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The descriptor of a completion queue that a thread sleeps on. */
enum hl_provider_wait {
    HL_PROVIDER_NAPS,  /* there is none, or it does not speak */
    HL_PROVIDER_TRIED, /* it is tried at the start (prove.h) */
    HL_PROVIDER_WAKES  /* it speaks; the tests run with this provider, and nothing is tried at the start */
};

struct hl_provider {
    const char *name;     /* as fi_info names it; NULL: any other */
    uint32_t from, below; /* versions of libfabric (FI_VERSION) that it stands for; below 0: all later ones */
    const char *by_name;  /* why it is taken only when HOTLANE_PROVIDER names it; NULL: by itself, too */
    const char *unusable; /* why it is never taken, NULL: it is */
    const char *no_domain; /* what lacks where a domain is not implemented, and the fix, or NULL */
    const char *driver;    /* the kernel's, of its cards; "" : of cards of all others; NULL: it needs none */
    const char *eager_var; /* the variable that sets the largest message without a hand-shake, or NULL */
    const char *env[4];    /* settings that libfabric reads at its start; the user's own win */
    const char *open_env;  /* one that it reads whenever an endpoint opens, or NULL; it is among env, too */
    size_t eager;          /* bytes of that message otherwise */
    size_t lanes;          /* endpoints that a rank may have, 0: as many as the provider says */
    size_t lanes_unasked;  /* that it has at most where HOTLANE_LANES does not ask for more, since each takes
                              much; 0: as many as it may have */
    enum hl_provider_wait wait;
    uint32_t lost;    /* bits: numbers of its own errors that say that the connection is lost */
    bool ibverbs;     /* its cards are reached by libibverbs */
    bool chain;       /* small operations are better sent together: a post costs more than a copy */
    bool tcp_listens; /* an endpoint's name is the address of a TCP listener, which may be connected with to
                         see whether its process lives */
    bool ordered;     /* receives complete in the order of their matching */
    bool loopback;    /* its endpoints can be kept on the loopback interface */
    bool atomics;     /* its atomics are the target's CPU's, one instruction or a loop of compare-and-swap */
    bool greets;      /* a first atomic may be applied twice, unless a message was answered before */
    bool lazy; /* what is posted leaves only while somebody reads the queue, unless the provider is asked to
                  move it by itself (FI_PROGRESS_AUTO): a thread that has sent and computes would keep it */
    bool pins; /* with FI_MR_ALLOCATED, registered memory keeps the pages that it has then */
};

/* The row of a provider in that version of libfabric; of `name` alone ("verbs") where it has a layer above
 * it. A test's own row (fab_lib.h) comes first. Never NULL. */
const struct hl_provider *hl_provider_find(const char *name, uint32_t version);

/* Does this number of the provider's own (fi_cq_err_entry.prov_errno) say that the connection is lost? */
bool hl_provider_says_lost(const struct hl_provider *row, int error);

/* The i-th row that stands for this version and is chosen by itself, best first; NULL behind the last. */
const struct hl_provider *hl_provider_choice(size_t i, uint32_t version);

/* The i-th row with a name that stands for this version; NULL behind the last. */
const struct hl_provider *hl_provider_row(size_t i, uint32_t version);

/* The row of cards that this driver of the kernel ("": not known) serves. */
const struct hl_provider *hl_provider_of_driver(const char *driver);

/* Bytes of the row's name without the layers above the provider. */
size_t hl_provider_core(const struct hl_provider *row);

/* Settings to lend to libfabric while it starts: those of all rows. A NULL ends them. Written once; one
 * thread. buffer: bytes of rxm's buffers. pins: a network may be taken that pins, whose receives many peers
 * share and whose cards make senders wait where there is none. emulated: all RDMA devices are (soft RoCE),
 * which have small queues. */
const char *const *hl_provider_settings(size_t buffer, bool pins, bool emulated);

/* Bytes of rxm's buffers, at most `most`, so that those of a rank with one lane leave something of what the
 * process may lock (hl_fab_lockable). No less than HL_PROVIDER_EAGER, the least that messages need. */
size_t hl_provider_buffer(uint64_t lockable, size_t most);
#define HL_PROVIDER_EAGER ((size_t)512)

/* Bytes that the provider's own buffers lock in memory, at the least. */
uint64_t hl_provider_locks(const struct hl_provider *row);

#endif
