/* Attributes that users attach to communicators, datatypes and windows, and their keys. Callbacks run without
 * locks. */
#ifndef HL_KEYVAL_H
#define HL_KEYVAL_H

#include <mpi.h>
#include <stdbool.h>

#include "attr.h"

enum hl_attr_sort { HL_ATTR_COMM, HL_ATTR_TYPE, HL_ATTR_WIN };

/* The types of all callbacks; `object` is the handle. They return an MPI error code. */
typedef int hl_attr_copy_fn(void *object, int keyval, void *extra, void *in, void *out, int *flag);
typedef int hl_attr_delete_fn(void *object, int keyval, void *value, void *extra);

/* An object's attributes, in the order in which they were set; a slot is NULL for none. */
struct hl_attr_set;

/* Makes a key. copy and del may be the standard's MPI_*_NULL_COPY_FN, _DUP_FN, _NULL_DELETE_FN.
 * HL_ERR_NO_MEM. */
int hl_keyval_make(enum hl_attr_sort sort, hl_attr_copy_fn *copy, hl_attr_delete_fn *del, void *extra,
                   int *keyval);

/* Frees a key: no value can be set with it from here on; values that are set stay, and can be read and
 * deleted. Freeing it again while they stay does nothing. HL_ERR_KEYVAL. */
int hl_keyval_free(enum hl_attr_sort sort, int keyval);

/* Sets a value. An old one is deleted first; its callback may refuse. HL_ERR_KEYVAL, HL_ERR_NO_MEM,
 * HL_ERR_OTHER. */
int hl_attr_put(struct hl_attr_set **slot, enum hl_attr_sort sort, void *object, int keyval, void *value);

/* Gets a value; *found tells whether there is one. HL_ERR_KEYVAL. */
int hl_attr_get(struct hl_attr_set *const *slot, enum hl_attr_sort sort, int keyval, void **value,
                bool *found);

/* Deletes a value. HL_ERR_KEYVAL, also when there is no value; HL_ERR_OTHER when the callback refuses. */
int hl_attr_delete(struct hl_attr_set **slot, enum hl_attr_sort sort, void *object, int keyval);

/* Copies the attributes whose copy callbacks agree into the empty slot of an object made by dup. After an
 * error the copies stay: the caller deletes the new object. HL_ERR_NO_MEM, HL_ERR_OTHER. */
int hl_attr_copy_all(struct hl_attr_set *const *from, void *object, struct hl_attr_set **to);

/* Deletes all attributes, the last set first; called before the object is freed. HL_ERR_OTHER when a callback
 * refuses: that one and those set before it stay. */
int hl_attr_delete_all(struct hl_attr_set **slot, void *object);

#endif
