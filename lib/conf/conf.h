/* Settings: one table (vars.h), read once at start-up, read-only afterwards. Only this module reads the
 * environment. */
#ifndef HL_CONF_H
#define HL_CONF_H

#include "attr.h"
#include "vars.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HL_CONF_TYPE_BOOL int
#define HL_CONF_TYPE_SWITCH enum hl_conf_switch
#define HL_CONF_TYPE_INT int64_t
#define HL_CONF_TYPE_SIZE uint64_t
#define HL_CONF_TYPE_PAGE uint64_t
#define HL_CONF_TYPE_TEXT const char *
#define HL_CONF_TYPE_CHOICE int
#define HL_CONF_TYPE_NODES const char *
#define HL_CONF_TYPE_FLAG int
#define HL_CONF_TYPE_HEAP uint64_t
#define HL_CONF_TYPE_PARTS const char *

/* A setting that the library may choose by itself. */
enum hl_conf_switch { HL_CONF_OFF, HL_CONF_ON, HL_CONF_AUTO };

struct hl_conf {
#define HL_CONF_FIELD(field, kind, ...) HL_CONF_TYPE_##kind field;
    HL_VARS(HL_CONF_FIELD)
#undef HL_CONF_FIELD
};

/* The settings in force: read-only after hl_conf_load. */
extern struct hl_conf hl_conf;

enum hl_conf_kind {
    HL_CONF_BOOL,
    HL_CONF_SWITCH,
    HL_CONF_INT,
    HL_CONF_SIZE,
    HL_CONF_PAGE,
    HL_CONF_TEXT,
    HL_CONF_CHOICE,
    HL_CONF_NODES,
    HL_CONF_FLAG,
    HL_CONF_HEAP,
    HL_CONF_PARTS
};

/* A row of the table, with the value that was found for it. */
struct hl_var {
    const char *name, *fallback, *choices, *help;
    enum hl_conf_kind kind;
    uint64_t min, max;
    size_t offset;      /* of its field in struct hl_conf */
    const char *value;  /* the value in force, as words */
    const char *origin; /* "default", "environment", the file's name, or "refused: " and the reason */
};

/* Reads files and environment with the first call; later calls return its result. Returns 0, or HL_ERR_ARG
 * with a text that names variable, value and what is allowed (or HL_ERR_NO_MEM). The first call comes before
 * any thread of the library exists. Sources, later ones win: defaults; etc/hotlane.conf under the prefix;
 * hotlane.conf in $XDG_CONFIG_HOME or ~/.config; the environment. HOTLANE_CONF=FILE replaces both files by
 * that one; empty: no file. */
int hl_conf_load(void);

/* Logs what hl_conf_load has found: names without effect, with what may have been meant; old names; and,
 * unless HOTLANE_ENV_NOTICE=0, the line about other libraries' variables. Rank 0 calls it once. */
void hl_conf_tell(void);

/* The lines of hl_conf_tell about our own names, one by one: `which` = 0, 1, ...; NULL behind the last. */
const char *hl_conf_note(int which);

/* A row of the table of other libraries' variables (carried.h). */
enum hl_carried_fate {
    HL_CARRIED_HONOURED,
    HL_CARRIED_SAME,
    HL_CARRIED_NEEDLESS,
    HL_CARRIED_NONE,
    HL_CARRIED_QUIET
};

struct hl_carried {
    const char *name, *launcher, *words;
    enum hl_carried_fate fate;
};

const struct hl_carried *hl_conf_carried_rows(size_t *count);

/* Writes the effect of a row's variables as words; `set`: it is set, so say also whether another setting
 * wins. The answer is valid after hl_conf_load. */
void hl_conf_carried_text(const struct hl_carried *row, bool set, char *out, size_t cap);

/* Lists the variables of other libraries that a user has set; the caller frees *out (NULL without memory).
 * Returns their number. */
struct hl_carried_set {
    const struct hl_carried *row;
    const char *pair; /* NAME=value, in the environment */
    size_t len;       /* bytes of the name */
    bool said;        /* used by hl_conf_carried_line */
};
size_t hl_conf_carried_set(struct hl_carried_set **out);

/* One line about all of these variables, which the caller frees; NULL when there are none. */
char *hl_conf_carried_line(void);

/* Writes the prefix under which this library is installed now; it may have been moved since it was
 * configured. False when `cap` bytes are too few. */
bool hl_conf_prefix(char *out, size_t cap);

/* The table; *count rows. The answer is valid after hl_conf_load. */
const struct hl_var *hl_conf_vars(size_t *count);

/* The row that fills `field`, a member of hl_conf. */
const struct hl_var *hl_conf_var_of(const void *field);

/* The other spelling of a row's name, or NULL. hl_conf_load refuses two spellings with different values. */
const char *hl_conf_other_name(const struct hl_var *v);

/* For mistyped words: returns `known` if it is nearer to `word` than `so_far`, else `so_far`. With `so_far`
 * NULL, `known` must be near enough to be meant. Words have at most 63 letters, in any case. */
const char *hl_conf_nearer(const char *word, const char *known, const char *so_far);

/* Value of a variable that is not ours (a launcher's, libfabric's), or NULL. */
const char *hl_conf_env(const char *name);

/* Runs fn(arg) while the environment also has the variables `extra` ("NAME=value", NULL at the end), except
 * those whose NAME the user has set: for libraries that can only be set by variables. Other threads may read
 * the environment meanwhile, and call this: each call's variables are there until its own return. When one
 * changes the environment meanwhile, the additions may stay or its change may be lost, as with any two
 * concurrent setenv. */
void hl_conf_with_env(const char *const *extra, void (*fn)(void *), void *arg);

/* Parses one value by the rules of `var` into `out`, which has the HL_CONF_TYPE of its kind. Returns 0, or
 * HL_ERR_ARG with the text. */
int hl_conf_parse(const struct hl_var *var, const char *value, void *out);

/* Writes the n-th word of a row of kind CHOICE; of kinds BOOL and FLAG the words are "no" and "yes", of kind
 * SWITCH "auto" is the third. HL_ERR_ARG without a text behind the last. */
int hl_conf_word(const struct hl_var *var, int n, char *out, size_t cap);

/* Gives a row of kind BOOL, SWITCH, INT, SIZE, PAGE or CHOICE a value, which has the HL_CONF_TYPE of its
 * kind. The caller makes sure that nobody reads the setting before or meanwhile. Returns 0, or HL_ERR_ARG
 * with the text; the field is unchanged then. */
int hl_conf_put(const struct hl_var *var, const void *value);

/* Parses "64K", "3.1M", "20m", "4KB", "4KiB", "1073741824" to bytes, K being 1024. Returns 0, or
 * HL_ERR_ARG without a text. */
int hl_conf_parse_size(const char *text, uint64_t *bytes);

/* Parses "8-15", "1,3" or "all" (in any case; gives `all`) to a set of node numbers 0 to 63. Returns 0, or
 * HL_ERR_ARG without a text. */
int hl_conf_parse_nodes(const char *text, uint64_t all, uint64_t *out);

#endif
