/* Posted receives and unexpected messages of an inbox, and how they are matched. Only the inbox's owner calls
 * these functions. */
#ifndef HL_MATCH_TABLE_H
#define HL_MATCH_TABLE_H

#include "atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hl_wild_recv;
struct hl_arrival;
struct hl_entry;
struct hl_command;
struct hl_req;

struct hl_posted_list {
    struct hl_command *head, **tail;
};
struct hl_entry_list {
    struct hl_entry *head, **tail;
};

/* A bin of (ctx, src, tag). Receives of any tag, and siblings, hang in the bin of (ctx, src, MPI_ANY_TAG). */
struct hl_bin {
    struct hl_posted_list posted;
    struct hl_entry_list unexpected; /* by their tags, for receives of one tag */
    struct hl_entry_list siblings;   /* all messages of a source, for receives of any tag */
};

/* All of it is guarded by the inbox's ownership. */
struct hl_table {
    struct hl_bin *bins;
    size_t n_bins;              /* power of two */
    size_t n_posted, n_entries; /* number in the bins */
    size_t n_any_tag;           /* receives among n_posted */
    uint64_t seq;
    struct hl_posted_list wild; /* receives from any source, in order */
    /* What receives that are posted in time do not change. */
    struct hl_entry_list arrival; /* all unexpected messages, oldest first */
    /* atomic: bytes of the entries; stored by the owner, read as a guess by others */
    hl_a64 kept_bytes;
    /* nodes of such receives put into `wild` since the last sweep; number that calls for a sweep */
    size_t n_shared, sweep_at;
};

/* Makes an empty table. HL_ERR_NO_MEM. */
int hl_table_open(struct hl_table *t);
void hl_table_close(struct hl_table *t); /* frees entries, and receives from any source */

/* Appends a receive (specific or any source, or a node of one) behind all others. */
void hl_table_post(struct hl_table *t, struct hl_command *p);

/* True when there is nothing that a receive of this hash (hl_match_hash) and tag could match, and nothing
 * that has to come before it. */
bool hl_table_is_clear(const struct hl_table *t, uint64_t hash, int tag);

/* Takes the first posted receive that matches; NULL if none. */
struct hl_req *hl_table_match(struct hl_table *t, uint64_t ctx, int src, int tag);

/* The oldest unexpected message that matches (left in place), or NULL. */
struct hl_entry *hl_table_find(struct hl_table *t, uint64_t ctx, int src, int tag);
void hl_table_add(struct hl_table *t, struct hl_entry *e);
void hl_table_remove(struct hl_table *t, struct hl_entry *e);
uint64_t hl_entry_bytes(const struct hl_entry *e); /* memory that the entry takes */

/* The unexpected message whose request to send has this name; NULL: there is none (any more). */
struct hl_entry *hl_table_named(struct hl_table *t, const struct hl_arrival *a, uint64_t name);

/* Takes exactly this posted receive off; false if it is not there. */
bool hl_table_cancel(struct hl_table *t, struct hl_req *r);

/* Takes off the first posted receive that `is` accepts; NULL if none. */
struct hl_req *hl_table_take_if(struct hl_table *t, bool (*is)(void *arg, const struct hl_command *p),
                                void *arg);

/* Drops `n` counts of a receive from any source over several inboxes; with the last one it is freed. */
void hl_wild_drop(struct hl_wild_recv *c, uint32_t n);

#endif
