/* Inside the module: where settings come from. */
#ifndef HL_CONF_INTERNAL_H
#define HL_CONF_INTERNAL_H

#include "conf.h"

/* One NAME=value line of a file; `where` is "path:line". Returns 0, or an error that ends the reading. */
typedef int hl_conf_line_fn(const char *name, const char *value, const char *where, void *arg);

/* Calls fn for each NAME=value line of `text`, which it changes and which ends with a zero byte. Blanks
 * around name and value are dropped; empty lines and lines that begin with # are skipped. Returns 0, fn's
 * error, or HL_ERR_ARG with a text that has path and line. */
int hl_conf_parse_text(char *text, const char *path, hl_conf_line_fn *fn, void *arg);

/* Reads a file through hl_conf_parse_text. Further errors: HL_ERR_NO_SUCH_FILE without a text,
 * HL_ERR_ACCESS with one. */
int hl_conf_read_file(const char *path, hl_conf_line_fn *fn, void *arg);

/* Writes the prefix of a library: its folder without `libdir` at the end; `fallback` when the folder does not
 * end so. False when `cap` bytes are too few. */
bool hl_conf_prefix_of(const char *library, const char *libdir, const char *fallback, char *out, size_t cap);

/* Writes the path of file `which` (0, 1, ...) of those that are read by default, in the order of reading.
 * False when there is no such file. */
bool hl_conf_default_file(int which, char *out, size_t cap);

/* The known name nearest to `name`, or NULL when none is near. */
const char *hl_conf_nearest(const char *name);

/* Notes that `name` is not known; `where` is "path:line", or NULL for the environment. */
void hl_conf_note_unknown(const char *name, const char *where);

/* Keeps a line for hl_conf_tell. */
void hl_conf_note_add(const char *fmt, ...) HL_PRINTF(1, 2);

/* The row `name`, or NULL. */
struct hl_var *hl_conf_var_named(const char *name);

/* Gives a row a value and says where it came from. Both texts stay the caller's and must live as long as the
 * process. Returns 0, or HL_ERR_ARG with the text. */
int hl_conf_set(struct hl_var *v, const char *value, const char *origin);

/* Reads the digits at *at and moves it behind them. False when there are none, or the number is too large. */
bool hl_conf_digits(const char **at, uint64_t *out);

/* Reads a unit of bytes: K, M, G or T (powers of 1024), alone or as "KB" or "KiB", in letters of either case
 * but the i. Sets *unit (1 when there is none); returns the text behind the unit. */
const char *hl_conf_unit(const char *text, uint64_t *unit);

/* True for names that begin with SHMEM_SYMMETRIC_PARTITION or SMA_SYMMETRIC_PARTITION. */
bool hl_part_is_name(const char *name);

/* Takes the value of one partition's variable; it copies all texts. Later sources win; two spellings in one
 * source must have the same value. Returns 0, or HL_ERR_ARG or HL_ERR_NO_MEM with the text. */
int hl_part_take(const char *name, const char *value, const char *origin);

/* Takes all such variables from the environment. Errors of hl_part_take. */
int hl_part_take_env(char *const *env);

/* Decides which partitions are in force, once all sources are read. `size`: the row of SHMEM_SYMMETRIC_SIZE.
 * Returns 0, or HL_ERR_ARG with the text. */
int hl_part_settle(const struct hl_var *size);

/* Gives the values of old names and of other variables to the rows that count, once all sources are read. */
int hl_conf_take_old_names(void);

/* The row of carried.h for a name of `len` letters, or NULL. */
const struct hl_carried *hl_conf_carried_of(const char *name, size_t len);

/* Another library's name for the setting `v` that is set in the environment, or NULL. */
const char *hl_conf_carried_alias(const struct hl_var *v);

/* True for a variable of this library, a name with our prefix, or a mistyped name of one. */
bool hl_conf_is_ours(const char *name);

/* Notes the unknown names of the environment that look like ours. */
void hl_conf_check_names(char *const *env);

#endif
