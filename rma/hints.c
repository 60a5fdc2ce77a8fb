/* Info keys of windows: which are known, what they mean, what MPI_Win_get_info shows. */
#include "hints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "conf.h"
#include "err.h"
#include "info.h"
#include "log.h"
#include "util.h"

#define VALUE_MAX 256 /* bytes of a value; longer ones are wrong for every key */

/* The words that a value may have. In a list (WORDS) the first stands alone; of the others there may be
 * several. */
static const char *const bools[] = {"true", "false", NULL};
static const char *const tries[] = {"false", "try", "true", NULL}; /* enum hl_hints_same */
static const char *const orders[] = {"none", "rar", "raw", "war", "waw", NULL};
static const char *const ops[] = {"same_op", "same_op_no_op", NULL};
static const char *const ours[] = {"mpi,system", NULL};
static const char *const kinds[] = {
    "", "system", "mpi", "mpi:alloc_mem", "mpi:win_allocate", "mpi:win_allocate_shared", NULL};

enum hint_form { ONE_WORD, WORDS, NUMBER, POWER, WISH };

/* `fallback`: the value in use when the user gives none; NULL: the key is not shown then. */
static const struct key {
    const char *key, *fallback;
    enum hint_form form;
    const char *const *words;
    bool later;     /* MPI_Win_set_info may change it */
    int flavors[2]; /* MPI_WIN_FLAVOR_* that have it; 0: all */
} keys[] = {
    {"no_locks", "false", ONE_WORD, bools, true, {0}},
    {"accumulate_ordering", "rar,raw,war,waw", WORDS, orders, true, {0}},
    {"accumulate_ops", "same_op_no_op", ONE_WORD, ops, true, {0}},
    {"mpi_accumulate_granularity", "0", NUMBER, NULL, true, {0}},
    {"same_size", "false", ONE_WORD, bools, false, {0}},
    {"same_disp_unit", "false", ONE_WORD, bools, false, {0}},
    {"alloc_shared_noncontig", "false", ONE_WORD, bools, false, {MPI_WIN_FLAVOR_SHARED}},
    {"mpi_minimum_memory_alignment",
     "64",
     POWER,
     NULL,
     false,
     {MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED}},
    {"hotlane_symmetric", "try", ONE_WORD, tries, false, {MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED}},
    {"mpi_assert_memory_alloc_kinds", NULL, WORDS, kinds, false, {0}},
    {"mpi_memory_alloc_kinds", "mpi,system", ONE_WORD, ours, false, {0}},
    {"mpich_buf_type", NULL, WISH, NULL, false, {MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED}},
    {"hotlane_mem_kind", NULL, WISH, NULL, false, {MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED}},
    {"hotlane_page_size", NULL, WISH, NULL, false, {MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED}},
    {"hotlane_mem_policy", NULL, WISH, NULL, false, {MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED}},
};

static bool is_key_for(const struct key *k, int flavor)
{
    return k->flavors[0] == 0 || k->flavors[0] == flavor || k->flavors[1] == flavor;
}

static bool is_value(const struct hl_info *info, const char *key, const char *want)
{
    char value[VALUE_MAX];
    int len;
    return hl_info_hint(info, key, value, sizeof value, &len) && strcmp(value, want) == 0;
}

static int find_word(const char *const *words, const char *word, size_t len)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0) {
            return i;
        }
    }
    return -1;
}

/* Is `value` a list of `words` between commas, or the first of them alone? */
static bool is_list(const char *const *words, const char *value)
{
    for (const char *at = value;; at++) {
        size_t len = strcspn(at, ",");
        int found = find_word(words, at, len);
        if (found < 0 || (found == 0 && strcmp(at, value) != 0) || (found == 0 && at[len] != 0)) {
            return false;
        }
        at += len;
        if (*at == 0) {
            return true;
        }
    }
}

static bool is_valid(const struct key *k, const char *value)
{
    struct hl_mem_wish wish = {0};
    char *end;
    switch (k->form) {
    case WISH:
        return hl_mem_wish_set(&wish, k->key, value) == 0;
    case ONE_WORD:
        return find_word(k->words, value, strlen(value)) >= 0;
    case WORDS:
        return is_list(k->words, value);
    default: {
        long long number = strtoll(value, &end, 10);
        return value[0] >= '0' && value[0] <= '9' && *end == 0 &&
               (k->form == NUMBER || (number > 0 && (number & (number - 1)) == 0));
    }
    }
}

size_t hl_hints_alignment(const struct hl_info *info)
{
    char value[VALUE_MAX];
    int len;
    if (!hl_info_hint(info, "mpi_minimum_memory_alignment", value, sizeof value, &len)) {
        return 0;
    }
    return strtoul(value, NULL, 10);
}

void hl_hints_wish(const struct hl_info *user, struct hl_mem_wish *out)
{
    char value[VALUE_MAX];
    int len;
    hl_mem_wish_of_env(out);
    for (int i = 0; i < HL_MEM_WISH_KEYS; i++) {
        if (hl_info_hint(user, hl_mem_wish_keys[i], value, sizeof value, &len) && len < VALUE_MAX) {
            hl_mem_wish_set(out, hl_mem_wish_keys[i], value); /* take_hints() reports a wrong one */
        }
    }
}

enum hl_hints_same hl_hints_same(const struct hl_info *info)
{
    char value[VALUE_MAX];
    int len, which = -1;
    if (hl_info_hint(info, "hotlane_symmetric", value, sizeof value, &len) && len < VALUE_MAX) {
        which = find_word(tries, value, strlen(value));
    }
    return which >= 0 ? (enum hl_hints_same)which : HL_SAME_TRY; /* take_hints() reports a wrong one */
}

bool hl_hints_noncontig(const struct hl_info *info)
{
    return is_value(info, "alloc_shared_noncontig", "true");
}

static void refuse_key(const struct hl_win *w, const char *key, const char *value, const char *why)
{
    if (w->rank == 0) {
        hl_log(HL_LOG_WARN, "window hint %s=%s is not honoured: %s", key, value, why);
    }
}

int hl_hints_show_same(struct hl_win *w, bool same, const char *why)
{
    if (why != NULL) {
        refuse_key(w, "hotlane_symmetric", "true", why);
    }
    return hl_info_set(w->info, "hotlane_symmetric", same ? "true" : "false");
}

/* The error text that is_valid left has the key, its value and what is allowed. */
static void refuse_wish(const struct hl_win *w)
{
    if (w->rank == 0) {
        hl_log(HL_LOG_WARN, "window hint is not honoured: %s", hl_err_text(HL_ERR_INFO_VALUE));
    }
}

/* Writes what a value of the key may be. */
static void describe_values(const struct key *k, char *out, size_t cap)
{
    if (k->words == NULL) {
        snprintf(out, cap, "expected %s",
                 k->form == POWER    ? "a power of two"
                 : k->form == NUMBER ? "a number that is not negative"
                                     : "a shorter value");
        return;
    }
    int first = k->form == WORDS; /* the first word of a list stands alone; "" is for none */
    const char *alone = first != 0 ? k->words[0] : "";
    int used = snprintf(out, cap, "expected %s%s%s ", alone, *alone != 0 ? ", or " : "",
                        first != 0 ? "some, between commas, of" : "one of");
    for (int i = first; k->words[i] != NULL && (size_t)used < cap; i++) {
        used += snprintf(out + used, cap - (size_t)used, "%s%s", i > first ? "|" : "", k->words[i]);
    }
}

static bool is_own_key(const char *key)
{
    return strncmp(key, "hotlane_", sizeof "hotlane_" - 1) == 0;
}

/* Writes which keys the library has beside those of the standard and of others. */
static void describe_ours(char *out, size_t cap)
{
    int used = snprintf(out, cap, "no such key, expected one of ");
    const char *between = "";
    for (size_t i = 0; i < HL_COUNT_OF(keys) && (size_t)used < cap; i++) {
        if (is_own_key(keys[i].key)) {
            used += snprintf(out + used, cap - (size_t)used, "%s%s", between, keys[i].key);
            between = "|";
        }
    }
}

static bool is_known(const char *key)
{
    for (size_t i = 0; i < HL_COUNT_OF(keys); i++) {
        if (strcmp(keys[i].key, key) == 0) {
            return true;
        }
    }
    return strcmp(key, "hotlane_nodes") == 0; /* only MPI_Win_get_info gives it */
}

/* Tells of keys that begin as this library's own do and are none of them: they are misspelt. Unknown keys of
 * others are nothing to tell of, as the standard has it. */
static HL_NOINLINE void tell_misspelt(const struct hl_win *w, const struct hl_info *user)
{
    char key[MPI_MAX_INFO_KEY], value[VALUE_MAX], expected[VALUE_MAX];
    int len, n = user != NULL && w->rank == 0 ? hl_info_count(user) : 0;
    for (int i = 0; i < n; i++) {
        if (hl_info_nth(user, i, key) == 0 && is_own_key(key) && !is_known(key) &&
            hl_info_get(user, key, value, sizeof value, &len)) {
            describe_ours(expected, sizeof expected);
            refuse_key(w, key, value, expected);
        }
    }
}

/* Puts the user's keys into `info`. `in_use`: what MPI_Win_get_info shows; a key that repeats its value there
 * is no fault. NULL: the window is being made. HL_ERR_NO_MEM. */
static int take_hints(struct hl_win *w, struct hl_info *info, const struct hl_info *user,
                      const struct hl_info *in_use)
{
    int rc = 0;
    tell_misspelt(w, user);
    for (size_t i = 0; rc == 0 && i < HL_COUNT_OF(keys); i++) {
        const struct key *k = &keys[i];
        char value[VALUE_MAX], values[VALUE_MAX];
        int len;
        if (!is_key_for(k, w->flavor) || !hl_info_hint(user, k->key, value, sizeof value, &len)) {
            continue;
        }
        if (in_use != NULL && !k->later) {
            if (!is_value(in_use, k->key, value)) {
                refuse_key(w, k->key, value, "only the creation of a window takes it");
            }
        } else if (len >= VALUE_MAX || !is_valid(k, value)) {
            if (k->form == WISH && len < VALUE_MAX) {
                refuse_wish(w);
            } else {
                describe_values(k, values, sizeof values);
                refuse_key(w, k->key, value, values);
            }
        } else {
            rc = hl_info_set(info, k->key, value);
        }
    }
    return rc;
}

/* Sets the fields of w that follow from the hints. */
static void use_hints(struct hl_win *w, const struct hl_info *info)
{
    w->unordered = is_value(info, "accumulate_ordering", "none");
    hl_a8_store_relaxed(&w->no_locks, is_value(info, "no_locks", "true")); /* relaxed: decides only what is
                                                                            * reported. */
}

void hl_hints_taken(struct hl_win *w, const struct hl_mem_wish *wish)
{
    w->mem_kind = (uint8_t)(wish != NULL ? wish->kind : HL_MEM_ANY);
    w->mem_rule = (uint8_t)(wish != NULL ? hl_mem_rule_held(&w->piece, wish) : HL_MEM_PREFERRED);
}

static void look_at_piece(const struct hl_piece *piece, enum hl_mem_kind asked, struct hl_hints_got *out)
{
    struct hl_mem_got got = {0};
    out->page = piece->seg->page;
    if (hl_mem_where(piece, got.bytes, HL_MEM_NODES) == 0) {
        hl_mem_got_nodes_text(&got, out->nodes, sizeof out->nodes);
        if (asked != HL_MEM_ANY) {
            hl_mem_got_kinds_text(&got, asked, out->kinds);
        }
    }
}

void hl_hints_look(const struct hl_win *w, struct hl_hints_got *out)
{
    *out = (struct hl_hints_got){.rule = w->mem_rule};
    look_at_piece(&w->piece, w->mem_kind, out);
}

static int show_pages(struct hl_info *info, const struct hl_hints_got *got)
{
    char text[HL_BYTES_TEXT];
    int rc = hl_info_set(info, "hotlane_page_size", hl_bytes_text(got->page, text));
    return rc != 0 || got->nodes[0] == '\0' ? rc : hl_info_set(info, "hotlane_nodes", got->nodes);
}

/* Shows the kind as mpich_buf_type, too, if the user asked by that key; it has words for two kinds only. */
static int show_buf_type(struct hl_info *info, const char *got)
{
    const char *word = strcmp(got, "DDR") == 0 ? "ddr" : strcmp(got, "MCDRAM") == 0 ? "hbm" : NULL;
    int len;
    if (!hl_info_get(info, "mpich_buf_type", NULL, 0, &len)) {
        return 0;
    }
    return word != NULL ? hl_info_set(info, "mpich_buf_type", word) : hl_info_delete(info, "mpich_buf_type");
}

int hl_hints_show_got(struct hl_info *info, const struct hl_hints_got *got)
{
    const char *kind = got->kinds[0] != '\0' ? got->kinds : hl_mem_kind_word(HL_MEM_ANY);
    int rc = hl_info_set(info, "hotlane_mem_kind", kind);
    rc = rc != 0 ? rc : hl_info_set(info, "hotlane_mem_policy", hl_mem_rule_word(got->rule));
    rc = rc != 0 ? rc : show_buf_type(info, got->kinds);
    return rc != 0 ? rc : show_pages(info, got);
}

/* Shows the alignment that w->base has: parts of contiguous shared memory begin where the part before them
 * ends. */
static int show_alignment(const struct hl_win *w, struct hl_info *info)
{
    uintptr_t base = (uintptr_t)w->base;
    char text[24];
    size_t align = hl_hints_alignment(info);
    if (align == 0 || base % align == 0) {
        return 0;
    }
    snprintf(text, sizeof text, "%zu", (size_t)(base & -base));
    return hl_info_set(info, "mpi_minimum_memory_alignment", text);
}

/* Shows what the kernel says now about memory that this rank took, or that its user has from
 * MPI_Alloc_mem. */
static int show_mine(const struct hl_win *w, struct hl_info *info)
{
    struct hl_hints_got got = {0};
    struct hl_piece user = {.addr = w->base, .len = w->bytes};
    if (w->piece.seg != NULL) {
        hl_hints_look(w, &got);
        return hl_hints_show_got(info, &got);
    }
    if (w->flavor != MPI_WIN_FLAVOR_CREATE || w->bytes == 0 ||
        (user.seg = hl_mem_find(w->base, w->bytes)) == NULL) {
        return 0;
    }
    user.off = (size_t)((char *)w->base - user.seg->base);
    look_at_piece(&user, HL_MEM_ANY, &got);
    return show_pages(info, &got);
}

int hl_hints_init(struct hl_win *w, const struct hl_info *user)
{
    int rc = hl_info_make(&w->info);
    for (size_t i = 0; rc == 0 && i < HL_COUNT_OF(keys); i++) {
        if (keys[i].fallback != NULL && is_key_for(&keys[i], w->flavor)) {
            rc = hl_info_set(w->info, keys[i].key, keys[i].fallback);
        }
    }
    rc = rc != 0 ? rc : take_hints(w, w->info, user, NULL);
    if (rc == 0) {
        use_hints(w, w->info);
    }
    return rc;
}

/* Takes back assertion `key` about all ranks if it does not hold; `why` says so. */
static void correct_assertion(struct hl_win *w, const char *key, bool holds, const char *why)
{
    if (!holds && is_value(w->info, key, "true")) {
        refuse_key(w, key, "true", why);
        hl_info_set(w->info, key, "false");
    }
}

void hl_hints_verify(struct hl_win *w)
{
    bool size = true, unit = true;
    for (int i = 1; i < w->size && w->extent_mask != 0; i++) {
        size = size && hl_win_extent(w, i)->size == hl_win_extent(w, 0)->size;
        unit = unit && hl_win_extent(w, i)->unit == hl_win_extent(w, 0)->unit;
    }
    correct_assertion(w, "same_size", size, "the ranks gave different sizes");
    correct_assertion(w, "same_disp_unit", unit, "the ranks gave different displacement units");
}

/* Is this the first process of the node to find the hint broken? Only that one prints: most programs break it
 * on all ranks. */
static bool is_first(struct hl_win *w)
{
    struct hl_win_ctl *ctl = w->n_near > 0 ? hl_target_ctl(&w->targets[w->near_ranks[0]]) : hl_win_ctl(w);
    return hl_a32_xchg_acquire(&ctl->told, 1) == 0; /* acquire: orders nothing. */
}

int hl_hints_break_no_locks(struct hl_win *w)
{
    char what[MPI_MAX_OBJECT_NAME + 32];
    if (hl_conf.broken_hints != 0) {
        return hl_err_say(HL_ERR_RMA_SYNC, "the window has the hint no_locks=true");
    }
    hl_a8_store_relaxed(&w->no_locks, 0); /* relaxed: decides only what is reported. */
    hl_info_take_back(&w->info, "no_locks");
    if (is_first(w)) {
        hl_win_words(w, what, sizeof what);
        hl_log(HL_LOG_WARN,
               "a lock of %s in spite of its hint no_locks=true: it goes on without the hint "
               "(HOTLANE_BROKEN_HINTS=error makes that an error)",
               what);
    }
    return 0;
}

/* Makes *shown, a new info object with all that is known of the window. */
static int show_hints(struct hl_win *w, struct hl_info **shown)
{
    int rc = hl_info_copy(&w->info, shown);
    if (rc != 0) {
        return rc;
    }
    rc = show_alignment(w, *shown);
    rc = rc != 0 ? rc : show_mine(w, *shown);
    if (rc != 0) {
        hl_info_free(*shown);
    }
    return rc;
}

/* MPI_Win_set_info: takes over those of the user's keys that may change. */
static int change_hints(struct hl_win *w, const struct hl_info *user)
{
    struct hl_info *in_use, *fresh;
    int rc = show_hints(w, &in_use);
    if (rc != 0) {
        return rc;
    }
    if ((rc = hl_info_copy(&w->info, &fresh)) == 0 && (rc = take_hints(w, fresh, user, in_use)) != 0) {
        hl_info_free(fresh);
    }
    hl_info_free(in_use);
    if (rc == 0) {
        use_hints(w, fresh);
        hl_info_put(&w->info, fresh);
    }
    return rc;
}

HL_API(MPI_Win_set_info);
int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    struct hl_win *w = hl_win_of(win);
    struct hl_info *user = hl_info_of(info);
    int rc = w == NULL ? hl_win_bad() : 0;
    if (rc == 0 && user == NULL) {
        rc = hl_err_say_none(HL_ERR_INFO, "info object", info);
    }
    rc = rc != 0 ? rc : change_hints(w, user);
    return hl_win_end(win, "MPI_Win_set_info", rc);
}

HL_API(MPI_Win_get_info);
int PMPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{
    struct hl_win *w = hl_win_of(win);
    struct hl_info *copy;
    int rc = w == NULL                   ? hl_win_bad()
             : !hl_is_address(info_used) ? hl_win_null("info_used")
                                         : show_hints(w, &copy);
    if (rc != 0) {
        return hl_win_raise(w, win, "MPI_Win_get_info", rc);
    }
    *info_used = copy->handle;
    return MPI_SUCCESS;
}
