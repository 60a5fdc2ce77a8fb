/* Info objects: ordered (key, value) pairs of strings. One lock for all of them: they are cold. */
#ifndef HL_INFO_H
#define HL_INFO_H

#include <mpi.h>
#include <stdbool.h>

#include "attr.h"
#include "handle.h"

/* Changed only here, under the lock. */
struct hl_info {
    struct hl_handle h;
    MPI_Info handle; /* MPI_INFO_ENV or this address */
    int n, room;
    struct hl_info_row *rows;
};

/* The object behind a handle; NULL for MPI_INFO_NULL, freed, foreign and garbage values. */
struct hl_info *hl_info_of(MPI_Info handle);

/* A new empty one for the caller. HL_ERR_NO_MEM. */
int hl_info_make(struct hl_info **made);

/* A copy for the caller; `from` may be NULL: empty. */
int hl_info_dup(const struct hl_info *from, struct hl_info **made);

/* An object's hints stand in a slot that threads may change and read at once: a copy of what it holds now
 * (NULL: empty), and a new object for it, whose owner it becomes while the old one ends. */
int hl_info_copy(struct hl_info *const *slot, struct hl_info **made);
void hl_info_put(struct hl_info **slot, struct hl_info *info);

/* A hint that does not hold: its value is "false" from now on. Without memory it stays. */
void hl_info_take_back(struct hl_info **slot, const char *key);

/* Ends it; `info` may be NULL. */
void hl_info_free(struct hl_info *info);

/* Both are kept as they are, blanks included: only Fortran's binding strips them (MPI 5.0, 10).
 * HL_ERR_INFO_KEY (empty or too long), HL_ERR_INFO_VALUE (too long), HL_ERR_NO_MEM. */
int hl_info_set(struct hl_info *info, const char *key, const char *value);

/* HL_ERR_INFO_NOKEY when there is no such key. */
int hl_info_delete(struct hl_info *info, const char *key);

/* The value of `key`, cut at `cap` bytes with the final 0 (none when cap is 0): *len is its whole length.
 * False, and nothing changed, when there is no such key. `info` may be NULL: an empty one. */
bool hl_info_get(const struct hl_info *info, const char *key, char *value, int cap, int *len);

/* The same for a hint that the library takes: the user's key may have blanks at its ends (the last one that
 * fits counts), and the value comes without. */
bool hl_info_hint(const struct hl_info *info, const char *key, char *value, int cap, int *len);

/* How many, and the n-th key in the order they were set. HL_ERR_ARG for n outside. */
int hl_info_count(const struct hl_info *info);
int hl_info_nth(const struct hl_info *info, int n, char key[MPI_MAX_INFO_KEY]);

/* Sets what is known of the process's start: the same at all times. */
int hl_info_fill_env(struct hl_info *info);

/* Fills MPI_INFO_ENV. At start-up. */
int hl_info_open_env(void);

#endif
