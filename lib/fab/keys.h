/* Registered memory by its key: open addressing. The caller's lock guards it.
 *
 * A provider that chooses the keys may give the same one again for memory that a registration which it still
 * has, though it was closed, reaches around: such have one entry, over all of them, until the last one goes.
 */
#ifndef HL_FAB_KEYS_H
#define HL_FAB_KEYS_H

#include "fab.h"

struct hl_fab_keys {
    struct hl_fab_reach *at; /* base NULL: free */
    size_t room, count;      /* room: a power of two, or 0 */
};

/* Adds a registration (its `users` is not read). False: no memory. */
bool hl_fab_keys_add(struct hl_fab_keys *k, const struct hl_fab_reach *reach);
void hl_fab_keys_remove(struct hl_fab_keys *k, uint64_t key);

/* The registration, or NULL. Valid until the next change. */
const struct hl_fab_reach *hl_fab_keys_find(const struct hl_fab_keys *k, uint64_t key);

#endif
