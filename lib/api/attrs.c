/* Attributes of communicators and datatypes. Those of windows are in rma/win_attr.c. */
#include <limits.h>

#include "api.h"
#include "args.h"
#include "job.h"
#include "keyval.h"
#include "lock.h"

/* Keeps the value of an attribute in *kept and returns its address. Programs read it while other threads ask
 * for it, so it is written only when it changes. */
static void *keep_int(int *kept, int value)
{
    static struct hl_mutex lock = HL_MUTEX_INIT;

    hl_mutex_lock(&lock);
    if (*kept != value) {
        *kept = value;
    }
    hl_mutex_unlock(&lock);
    return kept;
}

/* Gets a predefined attribute of a communicator; false for other keys. Communicators of sessions have only
 * MPI_TAG_UB. */
static bool get_predefined_attr(const struct hl_comm *c, int keyval, void **value, bool *found)
{
    static int tag_ub = INT_MAX, io = MPI_ANY_SOURCE, host = MPI_PROC_NULL;
    static int wtime_global, universe, last_code, appnum;
    int number = 0;

    *found = keyval == MPI_TAG_UB || c->origin.session == NULL;
    switch (keyval) {
    case MPI_TAG_UB:
        *value = &tag_ub;
        return true;
    case MPI_IO:
        *value = &io;
        return true;
    case MPI_HOST:
        *value = &host;
        return true;
    case MPI_WTIME_IS_GLOBAL: /* all ranks of one node read the same clock */
        *value = keep_int(&wtime_global, hl_comm_world_object.one_node);
        return true;
    case MPI_UNIVERSE_SIZE: /* processes cannot be spawned, so there will be no more */
        *value = keep_int(&universe, hl_comm_world_object.size);
        return true;
    case MPI_LASTUSEDCODE:
        *value = keep_int(&last_code, hl_errh_last_code());
        return true;
    case MPI_APPNUM:
        *found = hl_job_appnum(&number) && *found;
        *value = keep_int(&appnum, number);
        return true;
    default:
        return false;
    }
}

static bool is_predefined(int keyval)
{
    return keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE;
}

static int check_own_key(int keyval)
{
    return is_predefined(keyval)
               ? hl_err_say(HL_ERR_KEYVAL, "attribute key %d is predefined and read-only", keyval)
               : 0;
}

/* Checks the pointers for a value and for its flag. */
static int check_attr_room(const void *attribute_val, const int *flag)
{
    int err = hl_api_check_out(attribute_val, "attribute_val");

    return err == 0 ? hl_api_check_out(flag, "flag") : err;
}

static int give_attr(int err, bool found, void *value, void *attribute_val, int *flag)
{
    if (err == 0) {
        *flag = found;
    }
    if (err == 0 && found) {
        *(void **)attribute_val = value;
    }
    return err;
}

static int get_comm_attr(const struct hl_comm *c, int keyval, void *attribute_val, int *flag)
{
    void *value = NULL;
    bool found = false;
    int err = get_predefined_attr(c, keyval, &value, &found)
                  ? 0
                  : hl_attr_get(&c->attrs, HL_ATTR_COMM, keyval, &value, &found);

    return give_attr(err, found, value, attribute_val, flag);
}

static int get_type_attr(const struct hl_type *t, int keyval, void *attribute_val, int *flag)
{
    void *value = NULL;
    bool found = false;
    int err = hl_attr_get(&t->attrs, HL_ATTR_TYPE, keyval, &value, &found);

    return give_attr(err, found, value, attribute_val, flag);
}

HL_CALL_COMM(MPI_Comm_get_attr, (MPI_Comm comm, int keyval, void *attribute_val, int *flag),
             check_attr_room(attribute_val, flag), get_comm_attr(c, keyval, attribute_val, flag))
HL_CALL_COMM(MPI_Attr_get, (MPI_Comm comm, int keyval, void *attribute_val, int *flag),
             check_attr_room(attribute_val, flag), get_comm_attr(c, keyval, attribute_val, flag))
HL_CALL_COMM(MPI_Comm_set_attr, (MPI_Comm comm, int keyval, void *value), check_own_key(keyval),
             hl_attr_put(&c->attrs, HL_ATTR_COMM, c->handle, keyval, value))
HL_CALL_COMM(MPI_Attr_put, (MPI_Comm comm, int keyval, void *value), check_own_key(keyval),
             hl_attr_put(&c->attrs, HL_ATTR_COMM, c->handle, keyval, value))
HL_CALL_COMM(MPI_Comm_delete_attr, (MPI_Comm comm, int keyval), check_own_key(keyval),
             hl_attr_delete(&c->attrs, HL_ATTR_COMM, c->handle, keyval))
HL_CALL_COMM(MPI_Attr_delete, (MPI_Comm comm, int keyval), check_own_key(keyval),
             hl_attr_delete(&c->attrs, HL_ATTR_COMM, c->handle, keyval))
HL_CALL_TYPE(MPI_Type_get_attr, (MPI_Datatype datatype, int keyval, void *attribute_val, int *flag),
             check_attr_room(attribute_val, flag), get_type_attr(t, keyval, attribute_val, flag))
HL_CALL_TYPE(MPI_Type_set_attr, (MPI_Datatype datatype, int keyval, void *value), 0,
             hl_attr_put(&t->attrs, HL_ATTR_TYPE, t->handle, keyval, value))
HL_CALL_TYPE(MPI_Type_delete_attr, (MPI_Datatype datatype, int keyval), 0,
             hl_attr_delete(&t->attrs, HL_ATTR_TYPE, t->handle, keyval))

static int make_keyval(const char *func, enum hl_attr_sort sort, hl_attr_copy_fn *copy,
                       hl_attr_delete_fn *del, void *extra, int *keyval)
{
    int err = hl_api_enter(hl_api_check_out(keyval, "keyval"));

    err = err == 0 ? hl_keyval_make(sort, copy, del, extra, keyval) : err;
    return hl_api_leave(NULL, func, err);
}

static int free_key(const char *func, enum hl_attr_sort sort, int *keyval)
{
    int err = hl_api_enter(hl_api_check_out(keyval, "keyval"));

    err = err == 0 ? check_own_key(*keyval) : err;
    err = err == 0 ? hl_keyval_free(sort, *keyval) : err;
    if (err == 0) {
        *keyval = MPI_KEYVAL_INVALID;
    }
    return hl_api_leave(NULL, func, err);
}

/* One row for each kind of key: both functions, the types of its callbacks, the object that has it. */
#define KEYVAL_ROWS(X)                                                                                       \
    X(MPI_Comm_create_keyval, MPI_Comm_free_keyval, MPI_Comm_copy_attr_function,                             \
      MPI_Comm_delete_attr_function, HL_ATTR_COMM)                                                           \
    X(MPI_Keyval_create, MPI_Keyval_free, MPI_Copy_function, MPI_Delete_function, HL_ATTR_COMM)              \
    X(MPI_Type_create_keyval, MPI_Type_free_keyval, MPI_Type_copy_attr_function,                             \
      MPI_Type_delete_attr_function, HL_ATTR_TYPE)

#define X(create, free, copy, delete, sort)                                                                  \
    HL_API(create);                                                                                          \
    int P##create(copy *copy_fn, delete *delete_fn, int *keyval, void *extra_state)                          \
    {                                                                                                        \
        return make_keyval(#create, sort, (hl_attr_copy_fn *)copy_fn, (hl_attr_delete_fn *)delete_fn,        \
                           extra_state, keyval);                                                             \
    }                                                                                                        \
    HL_API(free);                                                                                            \
    int P##free(int *keyval)                                                                                 \
    {                                                                                                        \
        return free_key(#free, sort, keyval);                                                                \
    }
/* Defines: MPI_Comm_create_keyval MPI_Comm_free_keyval MPI_Keyval_create MPI_Keyval_free
 * MPI_Type_create_keyval MPI_Type_free_keyval */
KEYVAL_ROWS(X)
#undef X
