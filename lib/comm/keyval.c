/* Attribute keys and the values set with them. */
#include "keyval.h"

#include <stdlib.h>

#include "err.h"
#include "lock.h"

/* A key lives while the user has it or a value is set with it. */
struct keyval {
    enum hl_attr_sort sort;
    hl_attr_copy_fn *copy;
    hl_attr_delete_fn *del;
    void *extra;
    int id;
    int refs; /* the user's one and one each value */
    bool freed;
};

struct row {
    struct keyval *key;
    void *value;
};

struct hl_attr_set {
    int n, room;
    struct row rows[];
};

static struct hl_mutex lock = HL_MUTEX_INIT; /* guards keys and sets */
static struct keyval **keys HL_GUARDED_BY(lock);
static int n_keys HL_GUARDED_BY(lock);

enum { FIRST_ID = 0x10000 }; /* above every predefined key */

/* A key that the user has freed lives on while values are set with it: they can be asked for and deleted. */
static struct keyval *any_key_of(enum hl_attr_sort sort, int id) HL_REQUIRES(lock)
{
    int at = id - FIRST_ID;

    return at >= 0 && at < n_keys && keys[at] != NULL && keys[at]->sort == sort ? keys[at] : NULL;
}

static struct keyval *key_of(enum hl_attr_sort sort, int id) HL_REQUIRES(lock)
{
    struct keyval *k = any_key_of(sort, id);

    return k != NULL && !k->freed ? k : NULL;
}

static void unref_key(struct keyval *k) HL_REQUIRES(lock)
{
    if (--k->refs == 0) {
        keys[k->id - FIRST_ID] = NULL; /* ids are not used again */
        free(k);
    }
}

static int bad_key(int id)
{
    return hl_err_say(HL_ERR_KEYVAL, "%d is no key of an attribute of such an object", id);
}

int hl_keyval_make(enum hl_attr_sort sort, hl_attr_copy_fn *copy, hl_attr_delete_fn *del, void *extra,
                   int *keyval)
{
    struct keyval *k = malloc(sizeof *k);

    if (k == NULL) {
        return HL_ERR_NO_MEM;
    }
    hl_mutex_lock(&lock);
    struct keyval **more = realloc(keys, ((size_t)n_keys + 1) * sizeof(void *));
    if (more != NULL) {
        keys = more;
        *k = (struct keyval){sort, copy, del, extra, FIRST_ID + n_keys, 1, false};
        keys[n_keys++] = k;
        *keyval = k->id;
    }
    hl_mutex_unlock(&lock);
    if (more == NULL) {
        free(k);
        return HL_ERR_NO_MEM;
    }
    return 0;
}

/* While values are set with it a key may be freed again, which does nothing: functions that delete a value
 * like to free its key, too. */
int hl_keyval_free(enum hl_attr_sort sort, int keyval)
{
    hl_mutex_lock(&lock);
    struct keyval *k = any_key_of(sort, keyval);
    if (k != NULL && !k->freed) {
        k->freed = true;
        unref_key(k);
    }
    hl_mutex_unlock(&lock);
    return k != NULL ? 0 : bad_key(keyval);
}

static struct row *row_of(struct hl_attr_set *set, const struct keyval *k) HL_REQUIRES(lock)
{
    for (int i = 0; set != NULL && i < set->n; i++) {
        if (set->rows[i].key == k) {
            return &set->rows[i];
        }
    }
    return NULL;
}

/* What a callback returned, as an error of ours. */
static int result(const struct keyval *k, const char *callback, int code)
{
    return code == MPI_SUCCESS
               ? 0
               : hl_err_say(code > 0 ? -code : HL_ERR_OTHER,
                            "the %s function of attribute key %d returned %d", callback, k->id, code);
}

/* The delete callback, without the lock. */
static int run_delete(const struct keyval *k, void *object, void *value)
{
    return k->del == NULL ? 0 : result(k, "delete", k->del(object, k->id, value, k->extra));
}

/* Room for one more row. */
static int grow(struct hl_attr_set **slot) HL_REQUIRES(lock)
{
    int n = *slot != NULL ? (*slot)->n : 0, room = *slot != NULL ? (*slot)->room : 0;

    if (n < room) {
        return 0;
    }
    room = room == 0 ? 4 : 2 * room;
    struct hl_attr_set *set = realloc(*slot, sizeof *set + (size_t)room * sizeof(struct row));
    if (set == NULL) {
        return HL_ERR_NO_MEM;
    }
    set->n = n;
    set->room = room;
    *slot = set;
    return 0;
}

static int append(struct hl_attr_set **slot, struct keyval *k, void *value) HL_REQUIRES(lock)
{
    int err = grow(slot);

    if (err == 0) {
        k->refs++;
        (*slot)->rows[(*slot)->n++] = (struct row){k, value};
    }
    return err;
}

int hl_attr_put(struct hl_attr_set **slot, enum hl_attr_sort sort, void *object, int keyval, void *value)
{
    int err = 0;

    hl_mutex_lock(&lock);
    struct keyval *k = key_of(sort, keyval);
    struct row *row = k != NULL ? row_of(*slot, k) : NULL;
    if (row != NULL) {
        void *old = row->value;
        hl_mutex_unlock(&lock);
        err = run_delete(k, object, old);
        hl_mutex_lock(&lock);
        row = row_of(*slot, k);
        if (err == 0 && row != NULL) {
            row->value = value;
        }
    } else if (k != NULL) {
        err = append(slot, k, value);
    }
    hl_mutex_unlock(&lock);
    return k != NULL ? err : bad_key(keyval);
}

int hl_attr_get(struct hl_attr_set *const *slot, enum hl_attr_sort sort, int keyval, void **value,
                bool *found)
{
    hl_mutex_lock(&lock);
    struct keyval *k = any_key_of(sort, keyval);
    const struct row *row = k != NULL ? row_of(*slot, k) : NULL;
    *found = row != NULL;
    if (row != NULL) {
        *value = row->value;
    }
    hl_mutex_unlock(&lock);
    return k != NULL ? 0 : bad_key(keyval);
}

/* Takes row `at` out of the set. */
static void take_out(struct hl_attr_set *set, struct row *row) HL_REQUIRES(lock)
{
    unref_key(row->key);
    set->n--;
    for (; row < &set->rows[set->n]; row++) {
        *row = row[1];
    }
}

/* Deletes the value set with `k`, callback first. */
static int delete_row(struct hl_attr_set **slot, void *object, struct keyval *k, void *value)
{
    int err = run_delete(k, object, value);

    if (err == 0) {
        hl_mutex_lock(&lock);
        struct row *row = row_of(*slot, k);
        if (row != NULL) {
            take_out(*slot, row);
        }
        hl_mutex_unlock(&lock);
    }
    return err;
}

int hl_attr_delete(struct hl_attr_set **slot, enum hl_attr_sort sort, void *object, int keyval)
{
    hl_mutex_lock(&lock);
    struct keyval *k = any_key_of(sort, keyval);
    const struct row *row = k != NULL ? row_of(*slot, k) : NULL;
    void *value = row != NULL ? row->value : NULL;
    hl_mutex_unlock(&lock);
    return k != NULL && row != NULL ? delete_row(slot, object, k, value) : bad_key(keyval);
}

/* Row i, or false past the end. */
static bool row_at(struct hl_attr_set *const *slot, int i, struct row *row)
{
    hl_mutex_lock(&lock);
    bool there = *slot != NULL && i < (*slot)->n;
    if (there) {
        *row = (*slot)->rows[i];
    }
    hl_mutex_unlock(&lock);
    return there;
}

int hl_attr_copy_all(struct hl_attr_set *const *from, void *object, struct hl_attr_set **to)
{
    hl_attr_copy_fn *const dup = (hl_attr_copy_fn *)MPI_COMM_DUP_FN;
    struct row row = {NULL, NULL};

    for (int i = 0; row_at(from, i, &row); i++) {
        const struct keyval *k = row.key;
        void *value = row.value;
        int copies = k->copy == dup;
        if (k->copy != NULL && k->copy != dup) {
            int err = result(k, "copy", k->copy(object, k->id, k->extra, row.value, &value, &copies));
            if (err != 0) {
                return err;
            }
        }
        if (copies) {
            hl_mutex_lock(&lock);
            int err = append(to, row.key, value);
            hl_mutex_unlock(&lock);
            if (err != 0) {
                return err;
            }
        }
    }
    return 0;
}

/* The row set last, or false when there is none. */
static bool last_row(struct hl_attr_set *const *slot, struct row *row)
{
    hl_mutex_lock(&lock);
    int n = *slot != NULL ? (*slot)->n : 0;
    if (n > 0) {
        *row = (*slot)->rows[n - 1];
    }
    hl_mutex_unlock(&lock);
    return n > 0;
}

int hl_attr_delete_all(struct hl_attr_set **slot, void *object)
{
    struct row row = {NULL, NULL};
    int err = 0;

    while (err == 0 && last_row(slot, &row)) {
        err = delete_row(slot, object, row.key, row.value);
    }
    if (err == 0) {
        free(*slot);
        *slot = NULL;
    }
    return err;
}
