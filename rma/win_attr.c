/* Attributes of windows: the predefined ones and the user's. */
#include "win.h"

#include <string.h>

#include "api.h"
#include "err.h"
#include "errh.h"
#include "keyval.h"

/* What a predefined key points at, or NULL. */
static void *get_predefined(struct hl_win *w, int keyval)
{
    static int model = MPI_WIN_UNIFIED;
    switch (keyval) {
    case MPI_WIN_BASE:
        return w->base;
    case MPI_WIN_SIZE:
        return &w->bytes;
    case MPI_WIN_DISP_UNIT:
        return &w->unit;
    case MPI_WIN_CREATE_FLAVOR:
        return &w->flavor;
    case MPI_WIN_MODEL:
        return &model;
    default:
        return NULL;
    }
}

static int get_attr(struct hl_win *w, int keyval, void *attribute_val, int *flag)
{
    void *value = NULL;
    bool found = keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL;
    int rc = 0;
    if (!hl_is_address(attribute_val) || !hl_is_address(flag)) {
        return hl_win_null("attribute_val or flag");
    }
    if (found) {
        value = get_predefined(w, keyval);
    } else {
        rc = hl_attr_get(&w->attrs, HL_ATTR_WIN, keyval, &value, &found);
    }
    if (rc == 0) {
        *flag = found;
    }
    if (rc == 0 && found) {
        memcpy(attribute_val, &value, sizeof value);
    }
    return rc;
}

HL_CALL_WIN(MPI_Win_get_attr, (MPI_Win win, int keyval, void *attribute_val, int *flag),
            get_attr(w, keyval, attribute_val, flag))
HL_CALL_WIN(MPI_Win_set_attr, (MPI_Win win, int keyval, void *value),
            hl_attr_put(&w->attrs, HL_ATTR_WIN, w, keyval, value))
HL_CALL_WIN(MPI_Win_delete_attr, (MPI_Win win, int keyval), hl_attr_delete(&w->attrs, HL_ATTR_WIN, w, keyval))

HL_API(MPI_Win_create_keyval);
int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
                           MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval,
                           void *extra_state)
{
    int rc = !hl_is_address(win_keyval)
                 ? hl_win_null("win_keyval")
                 : hl_keyval_make(HL_ATTR_WIN, (hl_attr_copy_fn *)win_copy_attr_fn,
                                  (hl_attr_delete_fn *)win_delete_attr_fn, extra_state, win_keyval);
    return rc == 0 ? MPI_SUCCESS : hl_errh_comm(NULL, "MPI_Win_create_keyval", rc);
}

HL_API(MPI_Win_free_keyval);
int PMPI_Win_free_keyval(int *win_keyval)
{
    int rc =
        !hl_is_address(win_keyval) ? hl_win_null("win_keyval") : hl_keyval_free(HL_ATTR_WIN, *win_keyval);
    if (rc != 0) {
        return hl_errh_comm(NULL, "MPI_Win_free_keyval", rc);
    }
    *win_keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}
