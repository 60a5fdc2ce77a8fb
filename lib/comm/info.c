/* Info objects. The rows of one are a list in the order in which the keys were set, and each hangs in a
 * bucket by the hash of its key. */
#include "info.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "err.h"
#include "lock.h"
#include "util.h"

struct hl_info_row {
    struct hl_info_row *next, *prev; /* in the order in which the keys were set */
    struct hl_info_row *same;        /* the next one of its bucket */
    uint64_t hash;
    uint64_t born; /* grows along the list */
    char *value;
    char key[];
};

struct hl_info_table {
    int n;
    struct hl_info_row *first, *last;
    struct hl_info_row *at; /* the row that find_nth_row found last, and its number; NULL: none */
    int at_n;
    struct hl_info_row **buckets;
    size_t room; /* number of buckets, a power of two */
    uint64_t looked;
};

static struct hl_mutex lock = HL_MUTEX_INIT; /* guards the rows of all objects */
static struct hl_info env = {.h = {.kind = HL_KIND_INFO}, .handle = (MPI_Info)0x131};

struct hl_info *hl_info_of(MPI_Info handle)
{
    if (handle == MPI_INFO_ENV) {
        return &env;
    }
    return (uintptr_t)handle < 0x1000 ? NULL : hl_handle_get(handle, HL_KIND_INFO);
}

int hl_info_make(struct hl_info **made)
{
    struct hl_info *info = hl_handle_new(HL_KIND_INFO);

    if (info == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no handle is left for an info object: free some (MPI_Info_free)");
    }
    info->handle = (MPI_Info)(void *)info;
    *made = info;
    return 0;
}

static uint64_t hash_key(const char *key)
{
    return hl_siphash((const uint64_t[2]){0, 0}, key, strlen(key));
}

static struct hl_info_row *find_info_row(const struct hl_info *info, const char *key) HL_REQUIRES(lock)
{
    struct hl_info_table *t = info->table;
    uint64_t hash = hash_key(key);
    struct hl_info_row *row = t != NULL ? t->buckets[hash & (t->room - 1)] : NULL;

    for (; row != NULL; row = row->same) {
        t->looked++;
        if (row->hash == hash && strcmp(row->key, key) == 0) {
            break;
        }
    }
    return row;
}

/* The n-th row, counted from 0: goes there from the nearest of the first one, the last one and the one that
 * was found before. */
static struct hl_info_row *find_nth_row(struct hl_info_table *t, int n) HL_REQUIRES(lock)
{
    if (t->at == NULL || n < abs(n - t->at_n)) {
        t->at = t->first;
        t->at_n = 0;
    }
    if (t->n - 1 - n < abs(n - t->at_n)) {
        t->at = t->last;
        t->at_n = t->n - 1;
    }
    for (t->looked++; t->at_n != n; t->looked++) {
        t->at = t->at_n < n ? t->at->next : t->at->prev;
        t->at_n += t->at_n < n ? 1 : -1;
    }
    return t->at;
}

static void hang_row(struct hl_info_table *t, struct hl_info_row *row) HL_REQUIRES(lock)
{
    struct hl_info_row **bucket = &t->buckets[row->hash & (t->room - 1)];

    row->same = *bucket;
    *bucket = row;
}

/* Makes room for one more row: a bucket for each. */
static bool make_row_room(struct hl_info *info) HL_REQUIRES(lock)
{
    enum { FIRST = 16 };
    struct hl_info_table *t = info->table;

    if (t != NULL && (size_t)t->n < t->room) {
        return true;
    }
    size_t room = t != NULL ? 2 * t->room : FIRST;
    struct hl_info_row **buckets = calloc(room, sizeof(void *));
    if (buckets != NULL && t == NULL) {
        t = calloc(1, sizeof *t);
    }
    if (buckets == NULL || t == NULL) {
        free(buckets);
        return false;
    }
    free(t->buckets);
    t->buckets = buckets;
    t->room = room;
    info->table = t;
    for (struct hl_info_row *row = t->first; row != NULL; row = row->next) {
        hang_row(t, row);
    }
    return true;
}

/* Appends a row without value; NULL: no memory. */
static struct hl_info_row *append_row(struct hl_info *info, const char *key) HL_REQUIRES(lock)
{
    size_t bytes = strlen(key) + 1;
    struct hl_info_row *row = malloc(sizeof *row + bytes);

    if (row == NULL || !make_row_room(info)) {
        free(row);
        return NULL;
    }
    struct hl_info_table *t = info->table;
    *row = (struct hl_info_row){.prev = t->last, .hash = hash_key(key)};
    row->born = t->last != NULL ? t->last->born + 1 : 0;
    memcpy(row->key, key, bytes);
    *(t->last != NULL ? &t->last->next : &t->first) = row;
    t->last = row;
    t->n++;
    hang_row(t, row);
    return row;
}

static void remove_row(struct hl_info_table *t, struct hl_info_row *row) HL_REQUIRES(lock)
{
    struct hl_info_row **link = &t->buckets[row->hash & (t->room - 1)];

    while (*link != row) {
        link = &(*link)->same;
    }
    *link = row->same;
    if (t->at == row) { /* the next one gets its number, or it was the last one */
        t->at = row->next != NULL ? row->next : row->prev;
        t->at_n -= row->next == NULL;
    } else if (t->at != NULL && row->born < t->at->born) {
        t->at_n--;
    }
    *(row->prev != NULL ? &row->prev->next : &t->first) = row->next;
    *(row->next != NULL ? &row->next->prev : &t->last) = row->prev;
    t->n--;
    free(row->value);
    free(row);
}

/* Returns where `text` begins without blanks at its ends; *n is its length then. */
static const char *strip_blanks(const char *text, size_t *n)
{
    while (isspace((unsigned char)*text)) {
        text++;
    }
    for (*n = strlen(text); *n > 0 && isspace((unsigned char)text[*n - 1]); --*n) {
    }
    return text;
}

/* Stores a pair; takes over the value. */
static int store_pair(struct hl_info *info, const char *key, char *value) HL_REQUIRES(lock)
{
    struct hl_info_row *row = find_info_row(info, key);

    if (row == NULL) {
        row = append_row(info, key);
    }
    if (row == NULL) {
        free(value);
        return hl_err_say(HL_ERR_NO_MEM, "no memory for more than %d info keys",
                          info->table != NULL ? info->table->n : 0);
    }
    free(row->value);
    row->value = value;
    return 0;
}

int hl_info_set(struct hl_info *info, const char *key, const char *value)
{
    if (*key == 0 || strlen(key) >= MPI_MAX_INFO_KEY) {
        return hl_err_say(HL_ERR_INFO_KEY, "info key of %zu characters: 1 to %d are possible", strlen(key),
                          MPI_MAX_INFO_KEY - 1);
    }
    if (strlen(value) >= MPI_MAX_INFO_VAL) {
        return hl_err_say(HL_ERR_INFO_VALUE,
                          "value of info key %s has %zu characters: at most %d are possible", key,
                          strlen(value), MPI_MAX_INFO_VAL - 1);
    }
    char *v = strdup(value);
    if (v == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the value of info key %s", key);
    }
    hl_mutex_lock(&lock);
    int err = store_pair(info, key, v);
    hl_mutex_unlock(&lock);
    return err;
}

/* The first row of an object (NULL: none). */
static struct hl_info_row *first_row_of(const struct hl_info *info) HL_REQUIRES(lock)
{
    return info != NULL && info->table != NULL ? info->table->first : NULL;
}

/* Copies the rows of `from` (NULL: none) into a new object. */
static int copy_rows(const struct hl_info *from, struct hl_info *copy) HL_REQUIRES(lock)
{
    int err = 0;

    for (const struct hl_info_row *row = first_row_of(from); err == 0 && row != NULL; row = row->next) {
        char *value = strdup(row->value);
        err = value == NULL ? hl_err_say(HL_ERR_NO_MEM, "no memory for a copy of info key %s", row->key)
                            : store_pair(copy, row->key, value);
    }
    return err;
}

int hl_info_copy(struct hl_info *const *slot, struct hl_info **made)
{
    struct hl_info *copy = NULL;
    int err = hl_info_make(&copy);

    if (err != 0) {
        return err;
    }
    hl_mutex_lock(&lock);
    err = copy_rows(*slot, copy);
    hl_mutex_unlock(&lock);
    if (err != 0) {
        hl_info_free(copy);
        return err;
    }
    *made = copy;
    return 0;
}

int hl_info_dup(const struct hl_info *from, struct hl_info **made)
{
    struct hl_info *slot = (struct hl_info *)(uintptr_t)from;

    return hl_info_copy(&slot, made);
}

void hl_info_put(struct hl_info **slot, struct hl_info *info)
{
    hl_mutex_lock(&lock);
    struct hl_info *old = *slot;
    *slot = info;
    hl_mutex_unlock(&lock);
    hl_info_free(old);
}

int hl_info_lay_over(struct hl_info *const *slot, const struct hl_info *user, const struct hl_info_keys *keys,
                     struct hl_info **made)
{
    int len, err = hl_info_copy(slot, made);

    for (size_t i = 0; err == 0 && i < keys->n; i++) {
        char value[MPI_MAX_INFO_VAL];
        if (hl_info_hint(user, keys->at[i], value, sizeof value, &len) &&
            (!keys->are_flags || strcmp(value, "true") == 0 || strcmp(value, "false") == 0)) {
            err = hl_info_set(*made, keys->at[i], value);
            if (err != 0) {
                hl_info_free(*made);
            }
        }
    }
    return err;
}

void hl_info_take_back(struct hl_info **slot, const char *key)
{
    struct hl_info *fresh;
    if (hl_info_copy(slot, &fresh) == 0) {
        (void)hl_info_set(fresh, key, "false");
        hl_info_put(slot, fresh);
    }
}

static void free_rows(struct hl_info *info) HL_REQUIRES(lock)
{
    while (first_row_of(info) != NULL) {
        remove_row(info->table, info->table->last);
    }
    if (info->table != NULL) {
        free(info->table->buckets);
    }
    free(info->table);
    info->table = NULL;
}

void hl_info_free(struct hl_info *info)
{
    if (info == NULL || info == &env) {
        return;
    }
    hl_mutex_lock(&lock);
    free_rows(info);
    hl_mutex_unlock(&lock);
    hl_handle_free(info);
}

int hl_info_delete(struct hl_info *info, const char *key)
{
    hl_mutex_lock(&lock);
    struct hl_info_row *row = find_info_row(info, key);
    if (row != NULL) {
        remove_row(info->table, row);
    }
    hl_mutex_unlock(&lock);
    return row != NULL ? 0 : hl_err_say(HL_ERR_INFO_NOKEY, "the info object has no key %s", key);
}

bool hl_info_get(const struct hl_info *info, const char *key, char *value, int cap, int *len)
{
    if (info == NULL) {
        return false;
    }
    hl_mutex_lock(&lock);
    const struct hl_info_row *row = find_info_row(info, key);
    if (row != NULL) {
        if (cap > 0) {
            snprintf(value, (size_t)cap, "%s", row->value);
        }
        *len = (int)strlen(row->value);
    }
    hl_mutex_unlock(&lock);
    return row != NULL;
}

bool hl_info_hint(const struct hl_info *info, const char *key, char *value, int cap, int *len)
{
    bool found = false;

    hl_mutex_lock(&lock);
    for (const struct hl_info_row *row = first_row_of(info); row != NULL; row = row->next) {
        size_t n;
        const char *text = strip_blanks(row->key, &n);
        if (n == strlen(key) && memcmp(text, key, n) == 0) {
            text = strip_blanks(row->value, &n);
            if (cap > 0) {
                snprintf(value, (size_t)cap, "%.*s", (int)n, text);
            }
            *len = (int)n;
            found = true;
        }
    }
    hl_mutex_unlock(&lock);
    return found;
}

int hl_info_count(const struct hl_info *info)
{
    hl_mutex_lock(&lock);
    int n = info->table != NULL ? info->table->n : 0;
    hl_mutex_unlock(&lock);
    return n;
}

uint64_t hl_info_looked(const struct hl_info *info)
{
    hl_mutex_lock(&lock);
    uint64_t looked = info->table != NULL ? info->table->looked : 0;
    hl_mutex_unlock(&lock);
    return looked;
}

int hl_info_nth(const struct hl_info *info, int n, char key[MPI_MAX_INFO_KEY])
{
    hl_mutex_lock(&lock);
    int count = info->table != NULL ? info->table->n : 0;
    if (n >= 0 && n < count) {
        snprintf(key, MPI_MAX_INFO_KEY, "%s", find_nth_row(info->table, n)->key);
    }
    hl_mutex_unlock(&lock);
    return n >= 0 && n < count
               ? 0
               : hl_err_say(HL_ERR_ARG, "key %d was asked for: the info object has %d keys, counted from 0",
                            n, count);
}

/* Writes the arguments of this process's command, separated by blanks. False: there are none, or they are too
 * long. */
static bool read_arguments(char *text, size_t room)
{
    FILE *f = fopen("/proc/self/cmdline", "re");
    size_t n = f != NULL ? fread(text, 1, room, f) : 0;

    if (f != NULL) {
        fclose(f);
    }
    size_t first = n < room ? strnlen(text, n) + 1 : n; /* behind the command itself */
    if (first >= n) {
        return false;
    }
    memmove(text, text + first, n - first);
    n -= first;
    for (size_t i = 0; i + 1 < n; i++) {
        text[i] = text[i] == '\0' ? ' ' : text[i];
    }
    text[n - 1] = '\0';
    return true;
}

int hl_info_fill_env(struct hl_info *info)
{
    char text[MPI_MAX_INFO_VAL];
    struct utsname host;
    ssize_t n = readlink("/proc/self/exe", text, sizeof text - 1);
    int err = 0;

    if (n > 0) {
        text[n] = 0;
        err = hl_info_set(info, "command", text);
    }
    if (err == 0 && read_arguments(text, sizeof text)) {
        err = hl_info_set(info, "argv", text);
    }
    if (err == 0 && uname(&host) == 0) {
        err = hl_info_set(info, "host", host.nodename);
        err = err == 0 ? hl_info_set(info, "arch", host.machine) : err;
    }
    if (err == 0 && getcwd(text, sizeof text) != NULL) {
        err = hl_info_set(info, "wdir", text);
    }
    return err == 0 ? hl_info_set(info, "mpi_memory_alloc_kinds", "mpi,system") : err;
}

int hl_info_open_env(void)
{
    hl_mutex_lock(&lock);
    free_rows(&env);
    hl_mutex_unlock(&lock);
    return hl_info_fill_env(&env);
}
