/* Attributes that users hang on communicators, datatypes and windows, and their keys. Callbacks run without
 * locks. */
#ifndef HL_KEYVAL_H
#define HL_KEYVAL_H

#include <mpi.h>
#include <stdbool.h>

#include "attr.h"

enum hl_attr_sort { HL_ATTR_COMM, HL_ATTR_TYPE, HL_ATTR_WIN };

/* Every callback's type; `object` is the handle. They answer an MPI error code. */
typedef int hl_attr_copy_fn(void *object, int keyval, void *extra, void *in, void *out, int *flag);
typedef int hl_attr_delete_fn(void *object, int keyval, void *value, void *extra);

/* An object's attributes, in the order they were set; a slot holds NULL for none. */
struct hl_attr_set;

/* A new key. copy and del may be the standard's values MPI_*_NULL_COPY_FN, _DUP_FN, _NULL_DELETE_FN.
 * HL_ERR_NO_MEM. */
int hl_keyval_make(enum hl_attr_sort sort, hl_attr_copy_fn *copy, hl_attr_delete_fn *del, void *extra,
                   int *keyval);

/* No value can be set with the key from here on; those that are set stay and can be asked for and deleted.
 * Freeing it again while they stay does nothing. HL_ERR_KEYVAL. */
int hl_keyval_free(enum hl_attr_sort sort, int keyval);

/* Sets a value; an old one is deleted first, whose callback may refuse. HL_ERR_KEYVAL, HL_ERR_NO_MEM,
 * HL_ERR_OTHER. */
int hl_attr_put(struct hl_attr_set **slot, enum hl_attr_sort sort, void *object, int keyval, void *value);

/* *found tells whether there is a value. HL_ERR_KEYVAL. */
int hl_attr_get(struct hl_attr_set *const *slot, enum hl_attr_sort sort, int keyval, void **value,
                bool *found);

/* HL_ERR_KEYVAL, also when there is no value; HL_ERR_OTHER when the callback refuses. */
int hl_attr_delete(struct hl_attr_set **slot, enum hl_attr_sort sort, void *object, int keyval);

/* Copies what the copy callbacks allow into the empty slot of an object made by dup. An error undoes nothing:
 * delete the new object. HL_ERR_NO_MEM, HL_ERR_OTHER. */
int hl_attr_copy_all(struct hl_attr_set *const *from, void *object, struct hl_attr_set **to);

/* Deletes all, last set first, before the object ends. HL_ERR_OTHER when a callback refuses: it and what is
 * before it stay. */
int hl_attr_delete_all(struct hl_attr_set **slot, void *object);

#endif
