/* Inside the module: where settings come from. */
#ifndef HL_CONF_INSIDE_H
#define HL_CONF_INSIDE_H

#include "conf.h"

/* One NAME=value line of a file; `where` is "path:line". Returns 0, or an error that ends the reading. */
typedef int hl_conf_line_fn(const char *name, const char *value, const char *where, void *arg);

/* Takes `text` (changed, ends with a zero byte) apart: one NAME=value a line, blanks around both dropped,
 * empty lines and lines that begin with # skipped. Returns 0, fn's error, or HL_ERR_ARG with a text that has
 * path and line. */
int hl_conf_parse_text(char *text, const char *path, hl_conf_line_fn *fn, void *arg);

/* Reads a file through hl_conf_parse_text. HL_ERR_NO_SUCH_FILE (silent) when there is none. */
int hl_conf_read_file(const char *path, hl_conf_line_fn *fn, void *arg);

/* The folder that `library` was installed under, when its folder ends with `libdir`; else `fallback`. False
 * when `cap` bytes are too few. */
bool hl_conf_prefix_of(const char *library, const char *libdir, const char *fallback, char *out, size_t cap);

/* File `which` (0, 1, ...) of those read by default, in the order of reading. False when there is no such
 * one. */
bool hl_conf_default_file(int which, char *out, size_t cap);

/* The known name nearest to `name`, or NULL when none is near. */
const char *hl_conf_nearest(const char *name);

/* Notes that `name` is not known; `where` as above, or NULL for the environment. */
void hl_conf_note_unknown(const char *name, const char *where);

/* Keeps a line for hl_conf_tell. */
void hl_conf_note_add(const char *fmt, ...) HL_PRINTF(1, 2);

/* The row `name`, or NULL. */
struct hl_var *hl_conf_var_named(const char *name);

/* Gives a row a value, which stays the caller's and must stay, and says where it came from. HL_ERR_ARG with
 * the text. */
int hl_conf_set(struct hl_var *v, const char *value, const char *origin);

/* Digits at *at, which moves behind them: false when there are none, or the number has too many. */
bool hl_conf_digits(const char **at, uint64_t *out);

/* A unit of bytes, K, M, G or T of 1024, alone or as "KB" or "KiB", in letters of either case but the i:
 * *unit, 1 where there is none; returns what stands behind it. */
const char *hl_conf_unit(const char *text, uint64_t *unit);

/* True for SHMEM_SYMMETRIC_PARTITION and SMA_SYMMETRIC_PARTITION with anything behind them. */
bool hl_part_is_name(const char *name);

/* One of the family; all is copied. Later sources win; one source with both spellings must say the same.
 * HL_ERR_ARG with the text. */
int hl_part_take(const char *name, const char *value, const char *origin);

/* All of the family in the environment. */
int hl_part_take_env(char *const *env);

/* Once all sources are read: the partitions in force. `size`: the row of SHMEM_SYMMETRIC_SIZE. HL_ERR_ARG
 * with the text. */
int hl_part_settle(const struct hl_var *size);

/* Once all sources are read: old names and others' variables give their values to the rows that count. */
int hl_conf_take_old_names(void);

/* The row of carried.h for a name of `len` letters, or NULL. */
const struct hl_carried *hl_conf_carried_of(const char *name, size_t len);

/* The other library's name of `v` that is set, or NULL. */
const char *hl_conf_carried_alias(const struct hl_var *v);

/* A variable of this library, or what looks like one, or a slip of the finger that was meant for one. */
bool hl_conf_is_ours(const char *name);

/* Notes the unknown names of the environment that look like ours. */
void hl_conf_check_names(char *const *env);

#endif
