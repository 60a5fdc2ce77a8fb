/* Settings: one table (vars.h), read once at start-up, read-only afterwards. The only place that reads the
 * environment. */
#ifndef HL_CONF_H
#define HL_CONF_H

#include "attr.h"
#include "vars.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HL_CONF_TYPE_BOOL int
#define HL_CONF_TYPE_INT int64_t
#define HL_CONF_TYPE_SIZE uint64_t
#define HL_CONF_TYPE_PAGE uint64_t
#define HL_CONF_TYPE_TEXT const char *
#define HL_CONF_TYPE_CHOICE int
#define HL_CONF_TYPE_NODES const char *
#define HL_CONF_TYPE_FLAG int
#define HL_CONF_TYPE_HEAP uint64_t
#define HL_CONF_TYPE_PARTS const char *

struct hl_conf {
#define HL_CONF_FIELD(field, kind, ...) HL_CONF_TYPE_##kind field;
    HL_VARS(HL_CONF_FIELD)
#undef HL_CONF_FIELD
};

/* The settings in force: read-only after hl_conf_load. */
extern struct hl_conf hl_conf;

enum hl_conf_kind {
    HL_CONF_BOOL,
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

/* A row of the table, with what was found for it. */
struct hl_var {
    const char *name, *fallback, *choices, *help;
    enum hl_conf_kind kind;
    uint64_t min, max;
    size_t offset;      /* of its field in struct hl_conf */
    const char *value;  /* the words in force */
    const char *origin; /* "default", "environment", the file's name, or "refused: " and why */
};

/* Reads files and environment once; later calls return the first one's result. Returns 0 or HL_ERR_ARG with a
 * text that names variable, value and what is allowed. Called before any thread of the library exists.
 * Order, later ones win: defaults; etc/hotlane.conf under the prefix; hotlane.conf in $XDG_CONFIG_HOME or
 * ~/.config; the environment. HOTLANE_CONF=FILE: that file in place of both; empty: no file. */
int hl_conf_load(void);

/* Logs what hl_conf_load found: names without effect, with what may have been meant, and old ones; and the
 * line about other libraries' variables, unless HOTLANE_ENV_NOTICE=0. Rank 0 calls it once. */
void hl_conf_tell(void);

/* The same lines one by one: `which` = 0, 1, ...; NULL behind the last. */
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

/* What becomes of a row's variables, in words; `set`: as things stand here. Valid after hl_conf_load. */
void hl_conf_carried_text(const struct hl_carried *row, bool set, char *out, size_t cap);

/* Those that a user has set, *out freed by the caller; NULL without memory. Returns their number. */
struct hl_carried_set {
    const struct hl_carried *row;
    const char *pair; /* NAME=value, of the environment */
    size_t len;       /* of the name */
    bool said;        /* for hl_conf_carried_line */
};
size_t hl_conf_carried_set(struct hl_carried_set **out);

/* One line about all of them, freed by the caller; NULL when there are none. */
char *hl_conf_carried_line(void);

/* The folder this library is installed under now, which need not be the one it was configured with. False
 * when `cap` bytes are too few. */
bool hl_conf_prefix(char *out, size_t cap);

/* The table; *count rows. Valid after hl_conf_load. */
const struct hl_var *hl_conf_vars(size_t *count);

/* The row that fills `field`, a member of hl_conf. */
const struct hl_var *hl_conf_var_of(const void *field);

/* The other spelling of a row's name, or NULL. Both set and different is an error of hl_conf_load. */
const char *hl_conf_other_name(const struct hl_var *v);

/* For mistyped words: `known` when it is nearer to `word` than `so_far` (NULL: than what could be meant),
 * else `so_far`. Words of at most 63 letters. */
const char *hl_conf_nearer(const char *word, const char *known, const char *so_far);

/* A variable of somebody else's (a launcher's, libfabric's), or NULL. */
const char *hl_conf_env(const char *name);

/* Runs fn(arg) while the environment also holds `extra` ("NAME=value", NULL at the end), where the user has
 * not set the NAME: for libraries that only listen to variables. Other threads may read the environment
 * meanwhile; one that changes it ends the addition late or loses its change, as with any setenv beside
 * another. From within fn by the same thread only. */
void hl_conf_with_env(const char *const *extra, void (*fn)(void *), void *arg);

/* Parses one value by the rules of `var` into `out` (its HL_CONF_TYPE). Returns 0 or HL_ERR_ARG with the
 * text. */
int hl_conf_parse(const struct hl_var *var, const char *value, void *out);

/* The n-th word of a row of kind CHOICE, or of BOOL and FLAG: "no", "yes". HL_ERR_ARG (silent) behind the
 * last. */
int hl_conf_word(const struct hl_var *var, int n, char *out, size_t cap);

/* Gives a row of kind BOOL, INT, SIZE, PAGE or CHOICE a value (its HL_CONF_TYPE), as files and environment
 * do. Who reads it earlier or at the same time is the caller's business. HL_ERR_ARG, with its field as it
 * was. */
int hl_conf_put(const struct hl_var *var, const void *value);

/* "64K", "3.1M", "20m", "4KB", "4KiB", "1073741824" to bytes, K being 1024: 0, or HL_ERR_ARG without a
 * text. */
int hl_conf_parse_size(const char *text, uint64_t *bytes);

/* "8-15", "1,3", "all" (in any case; = `all`) to a set of node numbers 0 to 63: 0, or HL_ERR_ARG without a
 * text. */
int hl_conf_parse_nodes(const char *text, uint64_t all, uint64_t *out);

#endif
