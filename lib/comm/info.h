/* Info objects: ordered (key, value) pairs of strings. One lock guards all of them, since they are cold. */
#ifndef HL_INFO_H
#define HL_INFO_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "attr.h"
#include "handle.h"

/* Only the functions here change it, under the lock. */
struct hl_info {
    struct hl_handle h;
    MPI_Info handle;             /* MPI_INFO_ENV or this address */
    struct hl_info_table *table; /* NULL: no key was ever set */
};

/* The object behind a handle; NULL for MPI_INFO_NULL, freed, foreign and garbage values. */
struct hl_info *hl_info_of(MPI_Info handle);

/* Makes an empty object for the caller. HL_ERR_NO_MEM. */
int hl_info_make(struct hl_info **made);

/* Makes a copy for the caller; `from` NULL: an empty one. HL_ERR_NO_MEM. */
int hl_info_dup(const struct hl_info *from, struct hl_info **made);

/* An object's hints are in a slot that threads may change and read at the same time. hl_info_copy: a copy of
 * what it holds now (NULL: empty). hl_info_put: puts a new object, which the slot owns then, and frees the
 * old one. */
int hl_info_copy(struct hl_info *const *slot, struct hl_info **made);
void hl_info_put(struct hl_info **slot, struct hl_info *info);

/* hl_info_copy, with the values that `user` (NULL: none) has for hints of these keys; those of flags must be
 * "true" or "false". HL_ERR_NO_MEM. */
struct hl_info_keys {
    const char *const *at;
    size_t n;
    bool are_flags;
};
int hl_info_lay_over(struct hl_info *const *slot, const struct hl_info *user, const struct hl_info_keys *keys,
                     struct hl_info **made);

/* Called for a hint that does not hold: sets its value to "false". Without memory it stays. */
void hl_info_take_back(struct hl_info **slot, const char *key);

/* Frees the object; `info` may be NULL. */
void hl_info_free(struct hl_info *info);

/* Sets a value. Key and value are kept as they are, blanks included: only Fortran's binding strips them (MPI
 * 5.0, 10). HL_ERR_INFO_KEY (empty or too long), HL_ERR_INFO_VALUE (too long), HL_ERR_NO_MEM. */
int hl_info_set(struct hl_info *info, const char *key, const char *value);

/* Deletes a key. HL_ERR_INFO_NOKEY when there is no such key. */
int hl_info_delete(struct hl_info *info, const char *key);

/* Gets the value of `key`, cut at `cap` bytes with the final 0 (none is written when cap is 0); *len is its
 * whole length. False, and nothing is changed, when there is no such key, or `info` is NULL. */
bool hl_info_get(const struct hl_info *info, const char *key, char *value, int cap, int *len);

/* hl_info_get for a hint to the library: the user's key may have blanks at its ends (the last one that fits
 * counts), and the value comes without such blanks. */
bool hl_info_hint(const struct hl_info *info, const char *key, char *value, int cap, int *len);

/* The number of keys, and the n-th key in the order in which they were set. HL_ERR_ARG for n outside. Who
 * asks for one key after the other, forth or back, also while deleting them, pays for one step each. */
int hl_info_count(const struct hl_info *info);
int hl_info_nth(const struct hl_info *info, int n, char key[MPI_MAX_INFO_KEY]);

/* The number of rows that searches for keys, and hl_info_nth, have looked at so far: a test bounds it. */
uint64_t hl_info_looked(const struct hl_info *info);

/* Sets the keys that tell of the process's start; they never change. HL_ERR_NO_MEM. */
int hl_info_fill_env(struct hl_info *info);

/* Fills MPI_INFO_ENV; called at start-up. */
int hl_info_open_env(void);

#endif
