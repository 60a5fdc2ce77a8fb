/* Attribute keys and the values set with them. */
#include "keyval.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cs.h"
#include "err.h"
#include "lock.h"

/* A key exists while the user has it or a value is set with it. */
struct keyval {
    enum hl_attr_sort sort;
    hl_attr_copy_fn *copy;
    hl_attr_delete_fn *del;
    void *extra;
    int id;
    int refs; /* one for the user, and one for each value */
    bool freed;
};

struct attr_row {
    struct keyval *key;
    void *value;
    uint64_t number; /* number in the order of setting */
    /* the call whose delete callback runs, or NULL; other calls find no value meanwhile */
    const void *deleter;
};

struct hl_attr_set {
    int n, room;
    uint64_t next; /* number of the next row */
    struct attr_row rows[];
};

static struct hl_mutex lock = HL_MUTEX_INIT;     /* guards keys and sets */
static struct keyval **keys HL_GUARDED_BY(lock); /* NULL: a free place */
static int n_keys HL_GUARDED_BY(lock);           /* places: at least twice as many as keys */
static int n_live HL_GUARDED_BY(lock);
static int turn HL_GUARDED_BY(lock) = -1; /* places are taken in turn, so that an id is not reused soon */

enum {
    FIRST_ID = 0x10000, /* above every predefined key */
    PLACES = 1024,      /* places at first */
};

/* A key, also one that the user has freed but with which values are set: they can be read and deleted. */
static struct keyval *any_key_of(enum hl_attr_sort sort, int id) HL_REQUIRES(lock)
{
    int at = id - FIRST_ID;

    return at >= 0 && at < n_keys && keys[at] != NULL && keys[at]->sort == sort ? keys[at] : NULL;
}

static struct keyval *find_keyval(enum hl_attr_sort sort, int id) HL_REQUIRES(lock)
{
    struct keyval *k = any_key_of(sort, id);

    return k != NULL && !k->freed ? k : NULL;
}

static void unref_key(struct keyval *k) HL_REQUIRES(lock)
{
    if (--k->refs == 0) {
        keys[k->id - FIRST_ID] = NULL;
        n_live--;
        free(k);
    }
}

static int refuse_attr_key(int id)
{
    return hl_err_say(HL_ERR_KEYVAL, "%d is not an attribute key that the user made for this kind of object",
                      id);
}

/* Finds a free place. -1: no memory, or no number is left. */
static int free_place(void) HL_REQUIRES(lock)
{
    if (2 * n_live >= n_keys) {
        int n = n_keys == 0 ? PLACES : 2 * n_keys;
        struct keyval **more = n <= INT_MAX / 4 ? realloc(keys, (size_t)n * sizeof(void *)) : NULL;
        if (more == NULL) {
            return -1;
        }
        memset(more + n_keys, 0, (size_t)(n - n_keys) * sizeof(void *));
        keys = more;
        n_keys = n;
    }
    do {
        turn = (turn + 1) % n_keys;
    } while (keys[turn] != NULL);
    return turn;
}

int hl_keyval_make(enum hl_attr_sort sort, hl_attr_copy_fn *copy, hl_attr_delete_fn *del, void *extra,
                   int *keyval)
{
    struct keyval *k = malloc(sizeof *k);

    if (k == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for an attribute key");
    }
    hl_mutex_lock(&lock);
    int at = free_place();
    if (at >= 0) {
        *k = (struct keyval){sort, copy, del, extra, FIRST_ID + at, 1, false};
        keys[at] = k;
        n_live++;
        *keyval = k->id;
    }
    hl_mutex_unlock(&lock);
    if (at < 0) {
        free(k);
        return hl_err_say(HL_ERR_NO_MEM, "no memory for one more attribute key");
    }
    return 0;
}

/* While values are set with a key, it may be freed again, which does nothing: functions that delete a value
 * often free its key, too. */
int hl_keyval_free(enum hl_attr_sort sort, int keyval)
{
    hl_mutex_lock(&lock);
    struct keyval *k = any_key_of(sort, keyval);
    if (k != NULL && !k->freed) {
        k->freed = true;
        unref_key(k);
    }
    hl_mutex_unlock(&lock);
    return k != NULL ? 0 : refuse_attr_key(keyval);
}

static struct attr_row *attr_row_of(struct hl_attr_set *set, const struct keyval *k) HL_REQUIRES(lock)
{
    for (int i = 0; set != NULL && i < set->n; i++) {
        if (set->rows[i].key == k) {
            return &set->rows[i];
        }
    }
    return NULL;
}

/* A callback's result as an HL_ERR_*. */
static int callback_result(const struct keyval *k, const char *callback, int code)
{
    return code == MPI_SUCCESS
               ? 0
               : hl_err_say(code > 0 ? -code : HL_ERR_OTHER,
                            "the %s function of attribute key %d returned %d", callback, k->id, code);
}

/* Run a callback, without the lock and outside all sections. The caller has a reference to the key. */
static int run_delete(const struct keyval *k, void *object, void *value)
{
    struct hl_cs_outside o;

    if (k->del == NULL) {
        return 0;
    }
    hl_cs_step_out(&o);
    int code = k->del(object, k->id, value, k->extra);
    hl_cs_step_in(&o);
    return callback_result(k, "delete", code);
}

static int run_copy(const struct keyval *k, void *object, void *in, void *out, int *copies)
{
    struct hl_cs_outside o;

    hl_cs_step_out(&o);
    int code = k->copy(object, k->id, k->extra, in, out, copies);
    hl_cs_step_in(&o);
    return callback_result(k, "copy", code);
}

/* Makes room for one more row. */
static int grow_attr_set(struct hl_attr_set **slot) HL_REQUIRES(lock)
{
    int n = *slot != NULL ? (*slot)->n : 0, room = *slot != NULL ? (*slot)->room : 0;
    uint64_t next = *slot != NULL ? (*slot)->next : 0;

    if (n < room) {
        return 0;
    }
    room = room == 0 ? 4 : 2 * room;
    struct hl_attr_set *set = realloc(*slot, sizeof *set + (size_t)room * sizeof(struct attr_row));
    if (set == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for %d attributes of an object", room);
    }
    set->n = n;
    set->room = room;
    set->next = next;
    *slot = set;
    return 0;
}

static int append_attr(struct hl_attr_set **slot, struct keyval *k, void *value) HL_REQUIRES(lock)
{
    int err = grow_attr_set(slot);

    if (err == 0) {
        struct hl_attr_set *set = *slot;
        k->refs++;
        set->rows[set->n++] = (struct attr_row){k, value, set->next++, NULL};
    }
    return err;
}

/* Takes the row out of the set. */
static void remove_attr_row(struct hl_attr_set *set, struct attr_row *row) HL_REQUIRES(lock)
{
    unref_key(row->key);
    set->n--;
    for (; row < &set->rows[set->n]; row++) {
        *row = row[1];
    }
}

/* Runs the delete callback for the row of key `k`, which no other call is deleting. Takes the row out if the
 * callback agrees and no other value was set meanwhile. Releases the lock while the callback runs. */
static int delete_row(struct hl_attr_set **slot, void *object, struct keyval *k) HL_REQUIRES(lock)
{
    struct attr_row *row = attr_row_of(*slot, k);
    void *value = row->value;
    const void *me = &value;

    row->deleter = me;
    k->refs++;
    hl_mutex_unlock(&lock);
    int err = run_delete(k, object, value);
    hl_mutex_lock(&lock);
    row = attr_row_of(*slot, k);
    if (row != NULL && row->deleter == me) {
        row->deleter = NULL;
        if (err == 0) {
            remove_attr_row(*slot, row);
        }
    }
    unref_key(k);
    return err;
}

static int put_attr(struct hl_attr_set **slot, void *object, struct keyval *k, void *value) HL_REQUIRES(lock)
{
    struct attr_row *row;
    int err = 0;

    while (err == 0 && (row = attr_row_of(*slot, k)) != NULL) {
        if (row->deleter != NULL) { /* the old value is being deleted */
            row->value = value;
            row->deleter = NULL;
            return 0;
        }
        err = delete_row(slot, object, k);
    }
    return err == 0 ? append_attr(slot, k, value) : err;
}

int hl_attr_put(struct hl_attr_set **slot, enum hl_attr_sort sort, void *object, int keyval, void *value)
{
    int err = 0;

    hl_mutex_lock(&lock);
    struct keyval *k = find_keyval(sort, keyval);
    if (k != NULL) {
        k->refs++;
        err = put_attr(slot, object, k, value);
        unref_key(k);
    }
    hl_mutex_unlock(&lock);
    return k != NULL ? err : refuse_attr_key(keyval);
}

int hl_attr_get(struct hl_attr_set *const *slot, enum hl_attr_sort sort, int keyval, void **value,
                bool *found)
{
    hl_mutex_lock(&lock);
    struct keyval *k = any_key_of(sort, keyval);
    const struct attr_row *row = k != NULL ? attr_row_of(*slot, k) : NULL;
    *found = row != NULL;
    if (row != NULL) {
        *value = row->value;
    }
    hl_mutex_unlock(&lock);
    return k != NULL ? 0 : refuse_attr_key(keyval);
}

int hl_attr_delete(struct hl_attr_set **slot, enum hl_attr_sort sort, void *object, int keyval)
{
    int err = 0;

    hl_mutex_lock(&lock);
    struct keyval *k = any_key_of(sort, keyval);
    const struct attr_row *row = k != NULL ? attr_row_of(*slot, k) : NULL;
    bool there = row != NULL && row->deleter == NULL;
    if (there) {
        err = delete_row(slot, object, k);
    }
    hl_mutex_unlock(&lock);
    return there       ? err
           : k != NULL ? hl_err_say(HL_ERR_KEYVAL, "the object has no attribute of key %d", keyval)
                       : refuse_attr_key(keyval);
}

/* The first row from `number` on that no call is deleting, with a reference to its key; false when it has
 * number `end` or above. */
static bool next_row(struct hl_attr_set *const *slot, uint64_t number, uint64_t end, struct attr_row *row)
{
    bool found = false;

    hl_mutex_lock(&lock);
    for (int i = 0; *slot != NULL && i < (*slot)->n && !found; i++) {
        *row = (*slot)->rows[i];
        found = row->number >= number && row->number < end && row->deleter == NULL;
    }
    if (found) {
        row->key->refs++;
    }
    hl_mutex_unlock(&lock);
    return found;
}

/* Copies one row if its callback says so. */
static int copy_row(const struct attr_row *row, void *object, struct hl_attr_set **to)
{
    hl_attr_copy_fn *const dup = (hl_attr_copy_fn *)MPI_COMM_DUP_FN;
    const struct keyval *k = row->key;
    void *value = row->value;
    int err = 0, copies = k->copy == dup;

    if (k->copy != NULL && k->copy != dup) {
        err = run_copy(k, object, row->value, &value, &copies);
    }
    hl_mutex_lock(&lock);
    err = err == 0 && copies ? append_attr(to, row->key, value) : err;
    unref_key(row->key);
    hl_mutex_unlock(&lock);
    return err;
}

int hl_attr_copy_all(struct hl_attr_set *const *from, void *object, struct hl_attr_set **to)
{
    struct attr_row row = {.number = 0};
    int err = 0;

    hl_mutex_lock(&lock);
    uint64_t end = *from != NULL ? (*from)->next : 0; /* callbacks may set more */
    hl_mutex_unlock(&lock);
    for (uint64_t at = 0; err == 0 && next_row(from, at, end, &row); at = row.number + 1) {
        err = copy_row(&row, object, to);
    }
    return err;
}

/* The row that was set last and that no call is deleting; NULL: none. */
static const struct attr_row *last_row(const struct hl_attr_set *set) HL_REQUIRES(lock)
{
    for (int i = set != NULL ? set->n : 0; i > 0; i--) {
        if (set->rows[i - 1].deleter == NULL) {
            return &set->rows[i - 1];
        }
    }
    return NULL;
}

int hl_attr_delete_all(struct hl_attr_set **slot, void *object)
{
    const struct attr_row *row;
    int err = 0;

    hl_mutex_lock(&lock);
    while (err == 0 && (row = last_row(*slot)) != NULL) {
        err = delete_row(slot, object, row->key);
    }
    if (err == 0) {
        free(*slot);
        *slot = NULL;
    }
    hl_mutex_unlock(&lock);
    return err;
}
