/* What is known of libfabric's providers: one row for each, and one for unknown ones. No other file compares
 * a provider's name (tests/lint/lint.py looks for it): code that needs a fact reads hl_fab.row.
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
    HL_PROVIDER_NAPS,  /* there is none, or it does not become readable */
    HL_PROVIDER_TRIED, /* whether it becomes readable is tried at the start (prove.h) */
    HL_PROVIDER_WAKES  /* it becomes readable: the tests run with this provider, so nothing is tried */
};

struct hl_provider {
    const char *name;      /* as fi_info names it; NULL: any other provider */
    uint32_t from, below;  /* versions of libfabric (FI_VERSION) of this row; below 0: all later ones */
    const char *by_name;   /* why it is taken only when HOTLANE_PROVIDER names it; NULL: it is also chosen */
    const char *unusable;  /* why it is never taken; NULL: it is */
    const char *no_domain; /* what is missing when fi_domain says ENOSYS, and the fix, or NULL */
    const char *driver; /* kernel driver of its cards; "": all drivers without a row; NULL: needs no card */
    const char *eager_var; /* the variable that sets the largest message without a hand-shake, or NULL */
    const char *env[4];    /* settings that libfabric reads when it starts; those of the user win */
    const char *open_env;  /* the one of env that it reads whenever an endpoint opens, or NULL */
    size_t eager;          /* bytes of the largest message without a hand-shake, if eager_var does not say */
    size_t lanes;          /* endpoints that a rank may have; 0: as many as the provider says */
    size_t lanes_unasked;  /* endpoints that a rank has at most where HOTLANE_LANES is not set, since each
                              takes much memory; 0: as many as it may have */
    enum hl_provider_wait wait;
    uint32_t lost;    /* bit i: the provider's own error i says that the connection is lost */
    bool ibverbs;     /* its cards are reached by libibverbs */
    bool chain;       /* small operations are better sent together: a post costs more than a copy */
    bool tcp_listens; /* an endpoint's name is the address of a TCP listener; a connection to it shows
                         whether its process lives */
    bool ordered;     /* receives complete in the order of their matching */
    bool loopback;    /* its endpoints can be kept on the loopback interface */
    bool atomics; /* the target's CPU does its atomics, by one instruction or a loop of compare-and-swap */
    bool greets;  /* a first atomic may be applied twice, unless a message was answered before */
    bool lazy;    /* posted operations leave only while somebody reads the queue, unless the provider is asked
                  for FI_PROGRESS_AUTO: a thread that posts and then computes would hold them up */
    bool pins;    /* with FI_MR_ALLOCATED, registration locks the pages that the memory has at that time */
};

/* The row of a provider in that version of libfabric. `name` may be without the layer above the provider
 * ("verbs"). A test's own row (fab_lib.h) comes first. Never NULL. */
const struct hl_provider *hl_provider_find(const char *name, uint32_t version);

/* True when this error of the provider's own (fi_cq_err_entry.prov_errno) says that the connection is
 * lost. */
bool hl_provider_says_lost(const struct hl_provider *row, int error);

/* The i-th row of this version that may be chosen without being named, best first; NULL behind the last. */
const struct hl_provider *hl_provider_choice(size_t i, uint32_t version);

/* The i-th row of this version that has a name; NULL behind the last. */
const struct hl_provider *hl_provider_row(size_t i, uint32_t version);

/* The row for cards of this kernel driver ("": not known). */
const struct hl_provider *hl_provider_of_driver(const char *driver);

/* Bytes of the row's name without the layers above the provider. */
size_t hl_provider_core(const struct hl_provider *row);

/* Settings to lend to libfabric while it starts: those of all rows. A NULL ends them. The first call writes
 * them; one thread. buffer: bytes of rxm's buffers. pins: a network may be taken that pins, whose receives
 * many peers share and whose cards make senders wait where there is none. emulated: all RDMA devices are
 * (soft RoCE), which have small queues. */
const char *const *hl_provider_settings(size_t buffer, bool pins, bool emulated);

/* Bytes of rxm's buffers, at most `most`, so that those of a rank with one lane leave something of what the
 * process may lock (hl_lockable_bytes). No less than HL_PROVIDER_EAGER, the least that messages need. */
size_t hl_provider_buffer(uint64_t lockable, size_t most);
#define HL_PROVIDER_EAGER ((size_t)512)

/* The least number of bytes that the provider's own buffers lock in memory. */
uint64_t hl_provider_locks(const struct hl_provider *row);

#endif
