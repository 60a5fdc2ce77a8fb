/* The window as an object: what it tells of itself, its name, group, error handler, shared memory. */
#include "win.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "err.h"
#include "errh.h"

void hl_win_words(struct hl_win *w, char *out, size_t cap)
{
    char name[MPI_MAX_OBJECT_NAME];
    hl_handle_name_get(&w->name, NULL, name, sizeof name);
    snprintf(out, cap, name[0] != 0 ? "window %s" : "a window without a name", name);
}

HL_API(MPI_Win_get_name);
int PMPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen)
{
    struct hl_win *w = hl_win_of(win);
    bool bad = w == NULL && win != MPI_WIN_NULL;
    if (bad || !hl_is_address(win_name) || !hl_is_address(resultlen)) {
        return hl_win_raise(w, win, "MPI_Win_get_name",
                            bad ? hl_win_bad() : hl_win_null("win_name or resultlen"));
    }
    if (w == NULL) {
        strcpy(win_name, "MPI_WIN_NULL");
    } else {
        hl_handle_name_get(&w->name, NULL, win_name, MPI_MAX_OBJECT_NAME);
    }
    *resultlen = (int)strlen(win_name);
    return MPI_SUCCESS;
}

HL_API(MPI_Win_create_errhandler);
int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn, MPI_Errhandler *errhandler)
{
    struct hl_errh *e;
    int rc = !hl_is_address((const void *)(uintptr_t)win_errhandler_fn) || !hl_is_address(errhandler)
                 ? hl_win_null("win_errhandler_fn or errhandler")
                 : hl_errh_make(HL_ERRH_WIN, (hl_errh_fn *)win_errhandler_fn, &e);
    if (rc != 0) {
        return hl_errh_comm(NULL, "MPI_Win_create_errhandler", rc);
    }
    *errhandler = hl_errh_give(e);
    return MPI_SUCCESS;
}

static int give_group(const struct hl_win *w, MPI_Group *group)
{
    if (!hl_is_address(group)) {
        return hl_win_null("group");
    }
    hl_group_ref(w->comm->group);
    *group = hl_group_give(w->comm->group);
    return 0;
}

static int set_name(struct hl_win *w, const char *name)
{
    return hl_is_address(name) ? hl_handle_name_set(&w->name, name, MPI_MAX_OBJECT_NAME)
                               : hl_win_null("win_name");
}

static int set_errh(struct hl_win *w, MPI_Errhandler handler)
{
    struct hl_errh *e = hl_errh_of(handler);
    return e == NULL ? hl_err_say_none(HL_ERR_ERRHANDLER, "error handler", handler)
                     : hl_errh_set(&w->errh, HL_ERRH_WIN, e);
}

static int give_errh(struct hl_win *w, MPI_Errhandler *handler)
{
    if (!hl_is_address(handler)) {
        return hl_win_null("errhandler");
    }
    *handler = hl_errh_give(hl_errh_get(&w->errh));
    return 0;
}

static int call_errh(struct hl_win *w, MPI_Win win, int errorcode)
{
    char what[MPI_MAX_OBJECT_NAME + 16];
    hl_win_words(w, what, sizeof what);
    hl_errh_call(&(struct hl_errh_site){&w->errh, HL_ERRH_WIN, &win, what}, "MPI_Win_call_errhandler",
                 errorcode);
    return 0;
}

HL_CALL_WIN(MPI_Win_get_group, (MPI_Win win, MPI_Group *group), give_group(w, group))
HL_CALL_WIN(MPI_Win_set_name, (MPI_Win win, const char *win_name), set_name(w, win_name))
HL_CALL_WIN(MPI_Win_set_errhandler, (MPI_Win win, MPI_Errhandler errhandler), set_errh(w, errhandler))
HL_CALL_WIN(MPI_Win_get_errhandler, (MPI_Win win, MPI_Errhandler *errhandler), give_errh(w, errhandler))
HL_CALL_WIN(MPI_Win_call_errhandler, (MPI_Win win, int errorcode), call_errh(w, win, errorcode))

struct answer {
    MPI_Aint size, unit;
    void *base;
};

/* A target's memory in my address space; nothing (size 0, NULL) when it is not there. */
static int query_memory(const struct hl_win *w, int rank, struct answer *a)
{
    int rc;
    *a = (struct answer){0};
    if (w->dyn != NULL) {
        return hl_err_say(HL_ERR_RMA_FLAVOR,
                          "the window was made by MPI_Win_create_dynamic and has no memory of its own");
    }
    if (rank == MPI_PROC_NULL) { /* the first rank that has memory */
        for (rank = 0; rank < w->size - 1 && hl_win_extent(w, rank)->size == 0; rank++) {
        }
    }
    if ((rc = hl_win_check_target(w, rank)) != 0) {
        return rc;
    }
    const struct hl_extent *e = hl_win_extent(w, rank);
    if (rank == w->rank) {
        *a = (struct answer){(MPI_Aint)e->size, (MPI_Aint)e->unit, w->base};
    } else if (hl_target_is_mapped(&w->targets[rank])) {
        *a = (struct answer){(MPI_Aint)e->size, (MPI_Aint)e->unit, (void *)(uintptr_t)w->targets[rank].where};
    }
    return 0;
}

static int shared_query(const char *func, MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                        void *baseptr)
{
    struct hl_win *w = hl_win_of(win);
    struct answer a;
    bool whole = hl_is_address(size) && hl_is_address(disp_unit) && hl_is_address(baseptr);
    int rc = w == NULL ? hl_win_bad()
             : whole   ? query_memory(w, rank, &a)
                       : hl_win_null("size, disp_unit or baseptr");
    if (rc != 0) {
        return hl_win_raise(w, win, func, rc);
    }
    *size = a.size;
    *disp_unit = a.unit;
    memcpy(baseptr, &a.base, sizeof a.base);
    return MPI_SUCCESS;
}

HL_API(MPI_Win_shared_query);
int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    MPI_Aint unit = 0;
    int code = shared_query("MPI_Win_shared_query", win, rank, size, hl_is_address(disp_unit) ? &unit : NULL,
                            baseptr);
    if (code == MPI_SUCCESS) {
        *disp_unit = unit > INT32_MAX ? INT32_MAX : (int)unit;
    }
    return code;
}

HL_API(MPI_Win_shared_query_c);
int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr)
{
    return shared_query("MPI_Win_shared_query_c", win, rank, size, disp_unit, baseptr);
}

/* Handlers are in place before the receive thread starts. */
__attribute__((constructor)) static void enrol_windows(void)
{
    hl_win_serve();
}
