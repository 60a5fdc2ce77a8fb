/* A hash table of registered memory by its key, with open addressing. The caller's lock guards it.
 *
 * A provider that chooses the keys may give one key to several registrations (its cache finds
 * memory inside a registration that it still has). These share one entry, which covers all of them,
 * until the last one goes. */
#ifndef HL_MR_KEYS_H
#define HL_MR_KEYS_H

#include "mr.h"

struct hl_mr_keys {
    struct hl_mr_found *at; /* base NULL: free */
    size_t room, count;     /* places (a power of two, or 0); places in use */
};

/* Adds a registration (its `users` is not read). Returns false when there is no memory. */
bool hl_mr_keys_add(struct hl_mr_keys *k, const struct hl_mr_found *reach);

/* Removes one registration with this key, if there is one. */
void hl_mr_keys_remove(struct hl_mr_keys *k, uint64_t key);

/* The entry of this key, or NULL. The answer is valid until the next change. */
const struct hl_mr_found *hl_mr_keys_find(const struct hl_mr_keys *k, uint64_t key);

#endif
