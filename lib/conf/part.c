/* Symmetric partitions: 254 names that are one row of the table, and the grammar of their values. */
#include "part.h"

#include "conf_internal.h"
#include "err.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PAGES "4K|2M|4M|8M|16M|32M|64M|128M|256M|512M|1G"

static const char *const families[] = {"SHMEM_SYMMETRIC_PARTITION", "SMA_SYMMETRIC_PARTITION"};

/* The variables that sources have set, by id; only hl_conf_load writes it. */
static struct given {
    char *name, *value, *origin; /* copies; NULL: not set */
} given[HL_PART_ID_MAX + 1];

static struct hl_part parts[HL_PART_MOST];
static int part_count;

const struct hl_part *hl_part_all(int *count)
{
    *count = part_count;
    return parts;
}

int hl_part_parse_size(const char *text, bool tail, uint64_t *bytes)
{
    uint64_t whole = 0, part = 0, tens = 1, unit = 1;
    const char *first = text;
    bool some = *text != '.' && hl_conf_digits(&text, &whole);
    if (*text == '.' && (some || text == first)) {
        first = ++text;
        some = hl_conf_digits(&text, &part) && text - first <= 18; /* zeroes in front are digits, too */
        for (; first < text; first++) {
            tens *= 10;
        }
    }
    if (some) {
        text = hl_conf_unit(text, &unit);
        text += tail && unit > 1 ? strlen(text) : 0;
    }
    if (!some || *text != '\0' || whole >= INT64_MAX / unit) {
        return HL_ERR_ARG;
    }
    /* This is exact: at most 18 digits, so at most 100 bits. */
    __extension__ typedef unsigned __int128 wide;
    *bytes = whole * unit + (uint64_t)(((wide)part * unit + tens - 1) / tens);
    return 0;
}

/* Index of `text` among the words of a key, or among their letters (same index); -1: it is neither. */
static int word_of(const char *text, const char *letters, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (strcasecmp(text, words[i]) == 0 ||
            (toupper((unsigned char)text[0]) == letters[i] && text[0] != '\0' && text[1] == '\0')) {
            return i;
        }
    }
    return -1;
}

static bool parse_part_page(const char *text, uint64_t *out)
{
    struct hl_var row = {.name = "", .choices = PAGES, .kind = HL_CONF_PAGE};
    return hl_conf_parse(&row, text, out) == 0;
}

enum part_key { SIZE, KIND, POLICY, PAGE, NO_KEY };

static enum part_key find_part_key(const char *name)
{
    static const char *const names[] = {"size", "kind", "policy", "pgsize", "pgsz"};
    for (int i = 0; i < 5; i++) {
        if (strcasecmp(name, names[i]) == 0) {
            return i < NO_KEY ? (enum part_key)i : PAGE;
        }
    }
    return NO_KEY;
}

/* Sets a key of a partition. Returns NULL, or words for what the key's value may be. */
static const char *set_part_key(struct hl_part *p, enum part_key key, const char *text)
{
    static const char *const kinds[] = {"Default", "Normalmem", "Sysdefault", "Fastmem", NULL},
                             *const policies[] = {"Preferred",  "Mandatory",  "Interleaved",
                                                  "Sysdefault", "Interleave", NULL};
    int word;
    switch (key) {
    case SIZE:
        return hl_part_parse_size(text, false, &p->size) == 0 ? NULL : "bytes as in 20m or 3.1M";
    case KIND:
        word = word_of(text, "DNSF", kinds);
        p->kind = (enum hl_part_kind)(word >= 0 ? word : 0);
        return word >= 0 ? NULL : "D[efault], N[ormalmem], S[ysdefault] or F[astmem]";
    case POLICY:
        word = word_of(text, "PMISI", policies);
        p->policy = word == 4 ? HL_PART_INTERLEAVED : (enum hl_part_policy)(word >= 0 ? word : 0);
        return word >= 0 ? NULL : "P[referred], M[andatory], I[nterleaved] or S[ysdefault]";
    default:
        return parse_part_page(text, &p->page) ? NULL : PAGES ", or that in bytes";
    }
}

static int parse_one(char *one, struct hl_part *p, unsigned *seen, char *why)
{
    char *equals = strchr(one, '=');
    if (equals == NULL) {
        snprintf(why, HL_PART_WHY, "expected key=value in place of \"%.30s\"", one);
        return HL_ERR_ARG;
    }
    *equals = '\0';
    enum part_key key = find_part_key(one);
    if (key == NO_KEY) {
        snprintf(why, HL_PART_WHY, "unknown key \"%.30s\": expected size, kind, policy or pgsize", one);
        return HL_ERR_ARG;
    }
    if ((*seen >> key & 1) != 0) {
        snprintf(why, HL_PART_WHY, "\"%.30s\" is there twice", one);
        return HL_ERR_ARG;
    }
    *seen |= 1u << key;
    const char *allowed = set_part_key(p, key, equals + 1);
    if (allowed != NULL) {
        snprintf(why, HL_PART_WHY, "%.10s=%.30s: expected %s", one, equals + 1, allowed);
        return HL_ERR_ARG;
    }
    return 0;
}

int hl_part_parse(const char *value, struct hl_part *out, char *why)
{
    struct hl_part p = {.page = 4096};
    char text[512], *rest = text;
    unsigned seen = 0;
    int rc = 0;
    if ((size_t)snprintf(text, sizeof text, "%s", value) >= sizeof text) {
        snprintf(why, HL_PART_WHY, "too long");
        return HL_ERR_ARG;
    }
    while (rc == 0 && rest != NULL) {
        rc = parse_one(strsep(&rest, ":"), &p, &seen, why);
    }
    if (rc == 0 && (seen >> SIZE & 1) == 0) {
        snprintf(why, HL_PART_WHY, "size=BYTES is missing");
        rc = HL_ERR_ARG;
    }
    if (rc == 0 && p.policy == HL_PART_BY_SYSTEM && p.kind != HL_PART_SYSTEM) {
        snprintf(why, HL_PART_WHY, "policy=S is possible with kind=S only");
        rc = HL_ERR_ARG;
    }
    if (rc == 0) {
        out->size = p.size;
        out->page = p.page;
        out->kind = p.kind;
        out->policy = p.policy;
    }
    return rc;
}

const char *hl_part_kind_word(enum hl_part_kind kind)
{
    static const char *const words[] = {"D", "N", "S", "F"};
    return words[kind];
}

const char *hl_part_policy_word(enum hl_part_policy policy)
{
    static const char *const words[] = {"P", "M", "I", "S"};
    return words[policy];
}

/* The number at the end of a name; 0 when it is none from 1 to HL_PART_ID_MAX. */
static int id_of(const char *digits)
{
    int id = 0;
    for (const char *at = digits; *at != '\0'; at++) {
        if (!isdigit((unsigned char)*at) || at - digits >= 3) {
            return 0;
        }
        id = 10 * id + *at - '0';
    }
    return digits[0] != '0' && id <= HL_PART_ID_MAX ? id : 0;
}

static const char *digits_of(const char *name)
{
    for (int i = 0; i < 2; i++) {
        size_t len = strlen(families[i]);
        if (strncmp(name, families[i], len) == 0) {
            return name + len;
        }
    }
    return NULL;
}

bool hl_part_is_name(const char *name)
{
    return digits_of(name) != NULL;
}

int hl_part_take(const char *name, const char *value, const char *origin)
{
    int id = id_of(digits_of(name));
    char why[HL_PART_WHY];
    struct hl_part p;
    if (id == 0) {
        return hl_err_say(HL_ERR_ARG, "%s: partitions have numbers from 1 to %d", name, HL_PART_ID_MAX);
    }
    struct given *g = &given[id];
    if (g->origin != NULL && strcmp(g->origin, origin) == 0 && strcmp(g->name, name) != 0 &&
        strcmp(g->value, value) != 0) {
        return hl_err_say(HL_ERR_ARG, "%s=%s and %s=%s: two names of one partition", g->name, g->value, name,
                          value);
    }
    if (hl_part_parse(value, &p, why) != 0) {
        return hl_err_say(HL_ERR_ARG, "%s=%s: %s", name, value, why);
    }
    struct given now = {strdup(name), strdup(value), strdup(origin)};
    bool have = now.name != NULL && now.value != NULL && now.origin != NULL;
    struct given *gone = have ? g : &now;
    free(gone->name);
    free(gone->value);
    free(gone->origin);
    if (!have) {
        return hl_err_say(HL_ERR_NO_MEM, "%s: no memory", name);
    }
    *g = now;
    return 0;
}

int hl_part_take_env(char *const *env)
{
    int rc = 0;
    for (; rc == 0 && env != NULL && *env != NULL; env++) {
        char name[64];
        size_t len = strcspn(*env, "=");
        snprintf(name, sizeof name, "%.*s", (int)len, *env);
        if ((*env)[len] == '=' && hl_part_is_name(name)) {
            rc = hl_part_take(name, *env + len + 1, "environment");
        }
    }
    return rc;
}

int hl_part_settle(const struct hl_var *size)
{
    static char shown[1024];
    struct hl_var *row = hl_conf_var_named(hl_conf_var_of(&hl_conf.shmem_partitions)->name);
    size_t at = 0;
    part_count = 0;
    for (int id = 1; id <= HL_PART_ID_MAX; id++) {
        const struct given *g = &given[id];
        char why[HL_PART_WHY];
        if (g->origin == NULL) {
            continue;
        }
        if (part_count == HL_PART_MOST) {
            return hl_err_say(HL_ERR_ARG, "%s: more than %d partitions", g->name, HL_PART_MOST);
        }
        struct hl_part *p = &parts[part_count++];
        *p = (struct hl_part){.id = id, .name = g->name, .value = g->value};
        hl_part_parse(g->value, p, why); /* cannot fail: hl_part_take has parsed it before */
        at +=
            (size_t)snprintf(shown + at, sizeof shown - at, "%s%d: %.100s", at > 0 ? "; " : "", id, g->value);
        row->value = shown;
        row->origin = g->origin;
    }
    if (part_count > 0 && parts[0].id != 1) {
        return hl_err_say(HL_ERR_ARG, "%s: partition 1 is missing, the one of shmem_malloc", parts[0].name);
    }
    if (part_count > 0 && hl_conf_carried_of(size->origin, strlen(size->origin)) != NULL) {
        return hl_conf_set(hl_conf_var_named(size->name), size->fallback, "default");
    }
    if (part_count > 0 && strcmp(size->origin, "default") != 0) {
        return hl_err_say(HL_ERR_ARG,
                          "%s and %s are both set: partition 1 is the heap whose size the second gives",
                          parts[0].name, size->name);
    }
    return 0;
}
