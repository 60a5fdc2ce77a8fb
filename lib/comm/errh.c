/* Error handlers, and running them. */
#include "errh.h"

#include <stdio.h>

#include "comm.h"
#include "conf.h"
#include "cs.h"
#include "job.h"
#include "lock.h"
#include "log.h"

/* In the order of HOTLANE_INITIAL_ERRHANDLER's words. */
static struct hl_errh predefined[3] = {
    {.h = {.kind = HL_KIND_ERRH}, .handle = (MPI_Errhandler)0x141, .how = HL_ERRH_FATAL},
    {.h = {.kind = HL_KIND_ERRH}, .handle = (MPI_Errhandler)0x142, .how = HL_ERRH_ABORT},
    {.h = {.kind = HL_KIND_ERRH}, .handle = (MPI_Errhandler)0x143, .how = HL_ERRH_RETURN},
};

static struct hl_mutex lock = HL_MUTEX_INIT; /* guards every slot */

struct hl_errh *hl_errh_of(MPI_Errhandler handle)
{
    uintptr_t at = (uintptr_t)handle - 0x141;

    if (at < 3) {
        return &predefined[at];
    }
    return (uintptr_t)handle < 0x1000 ? NULL : hl_handle_get(handle, HL_KIND_ERRH);
}

int hl_errh_make(enum hl_errh_sort sort, hl_errh_fn *fn, struct hl_errh **made)
{
    struct hl_errh *e = hl_handle_new(HL_KIND_ERRH);

    if (e == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no handle is left for an error handler: free some");
    }
    e->handle = (MPI_Errhandler)(void *)e;
    e->how = HL_ERRH_USER;
    e->sort = sort;
    e->fn = fn;
    hl_refs_begin(&e->refs);
    *made = e;
    return 0;
}

static void ref_handler(struct hl_errh *e)
{
    if (e->how == HL_ERRH_USER) {
        hl_refs_add(&e->refs);
    }
}

void hl_errh_unref(struct hl_errh *e)
{
    if (e->how == HL_ERRH_USER && hl_refs_drop(&e->refs)) {
        hl_handle_free(e);
    }
}

MPI_Errhandler hl_errh_give(struct hl_errh *e)
{
    hl_handles_give(&e->handles);
    return e->handle;
}

int hl_errh_take_back(struct hl_errh *e)
{
    if (e->how == HL_ERRH_USER && !hl_handles_take_back(&e->handles)) {
        return hl_err_say(HL_ERR_ERRHANDLER, "the error handler was freed as often as it was given out");
    }
    hl_errh_unref(e);
    return 0;
}

int hl_errh_check(const struct hl_errh *e, enum hl_errh_sort sort)
{
    static const char *const sorts[] = {[HL_ERRH_COMM] = "communicators",
                                        [HL_ERRH_WIN] = "windows",
                                        [HL_ERRH_SESSION] = "sessions",
                                        [HL_ERRH_FILE] = "files"};
    return e == NULL || e->how != HL_ERRH_USER || e->sort == sort
               ? 0
               : hl_err_say(HL_ERR_ERRHANDLER, "the error handler was made for %s, not for %s",
                            sorts[e->sort], sorts[sort]);
}

int hl_errh_set(struct hl_errh **slot, enum hl_errh_sort sort, struct hl_errh *e)
{
    int err = hl_errh_check(e, sort);
    if (err != 0) {
        return err;
    }
    hl_mutex_lock(&lock);
    struct hl_errh *old = *slot;
    if (e != NULL) {
        ref_handler(e);
    }
    *slot = e;
    hl_mutex_unlock(&lock);
    if (old != NULL) {
        hl_errh_unref(old);
    }
    return 0;
}

/* The handler of an empty slot: for MPI_COMM_WORLD and MPI_COMM_SELF it may be chosen at the start. */
static struct hl_errh *choose_initial(struct hl_errh *const *slot)
{
    bool chosen = slot == &hl_comm_world_object.errh || slot == &hl_comm_self_object.errh;

    return &predefined[chosen ? hl_conf.initial_errhandler : 0];
}

struct hl_errh *hl_errh_get(struct hl_errh *const *slot)
{
    hl_mutex_lock(&lock);
    struct hl_errh *e = *slot != NULL ? *slot : choose_initial(slot);
    ref_handler(e);
    hl_mutex_unlock(&lock);
    return e;
}

void hl_errh_copy(struct hl_errh **to, struct hl_errh *const *from)
{
    *to = hl_errh_get(from);
}

/* Runs the handler with an MPI code, and returns the code, which a handler of the user may have changed.
 * `words`: the text for handlers that end the job. */
static int run_handler(const struct hl_errh_site *site, const char *func, int code, const char *words)
{
    struct hl_errh *e = hl_errh_get(site->slot);

    if (e->how == HL_ERRH_USER) {
        struct hl_cs_outside o;
        hl_cs_step_out(&o);
        e->fn(site->handle, &code, func, NULL);
        hl_cs_step_in(&o);
    } else if (e->how != HL_ERRH_RETURN) {
        hl_log(HL_LOG_ERROR, "%s%s%s: %s; %s (%s)", func, site->what != NULL ? " on " : "",
               site->what != NULL ? site->what : "", words, hl_job_end_words(),
               e->how == HL_ERRH_FATAL ? "MPI_ERRORS_ARE_FATAL" : "MPI_ERRORS_ABORT");
        hl_job_abort(hl_errh_class(code));
    }
    hl_errh_unref(e);
    return code;
}

int hl_errh_raise(const struct hl_errh_site *site, const char *func, int err)
{
    if (err == 0) {
        return MPI_SUCCESS;
    }
    int code = hl_err_class(err);
    char words[HL_ERR_TEXT];
    if (code <= MPI_ERR_LASTCODE || hl_errh_string(code, words) != 0) {
        snprintf(words, sizeof words, "%s", hl_err_text_unreported(err));
    }
    /* The text that MPI_Error_string gives from now on, also inside the handler. */
    hl_err_say(-code, "%s by rank %d%s%s: %s", func, hl_job.rank, site->what != NULL ? " on " : "",
               site->what != NULL ? site->what : "", words);
    hl_err_reported();
    return run_handler(site, func, code, words);
}

void hl_errh_call(const struct hl_errh_site *site, const char *func, int code)
{
    char words[MPI_MAX_ERROR_STRING];

    if (code != MPI_SUCCESS) {
        if (hl_errh_string(code, words) != 0) {
            snprintf(words, sizeof words, "unknown error code %d", code);
        }
        run_handler(site, func, code, words);
    }
}

/* Raises an error without an object: MPI_COMM_SELF's handler runs (MPI 4), or MPI_COMM_WORLD's (MPI 3) when
 * the program has set only that. Before start and after the end there is none. */
static int raise_bare(const char *func, int err)
{
    /* not looked up by its handle, which is invalid in forked children */
    struct hl_comm *self = &hl_comm_self_object;

    /* relaxed: nothing is ordered by it; start and end are not concurrent with other calls. */
    if (hl_a32_load_relaxed(&self->refs) != 0) {
        hl_mutex_lock(&lock);
        self = self->errh == NULL ? &hl_comm_world_object : self;
        hl_mutex_unlock(&lock);
        struct hl_errh_site site = {&self->errh, HL_ERRH_COMM, &self->handle, NULL};
        return hl_errh_raise(&site, func, err);
    }
    hl_log(HL_LOG_ERROR, "%s: %s; %s", func, hl_err_text(err), hl_job_end_words());
    hl_job_abort(hl_err_class(err));
}

void hl_errh_comm_words(const struct hl_comm *c, char what[HL_ERRH_WHAT])
{
    char name[MPI_MAX_OBJECT_NAME];
    hl_comm_get_name(c, name);
    snprintf(what, HL_ERRH_WHAT, name[0] != '\0' ? "communicator %s" : "a communicator without a name", name);
}

int hl_errh_comm(struct hl_comm *c, const char *func, int err)
{
    if (err == 0) {
        return MPI_SUCCESS;
    }
    if (c == NULL) {
        return raise_bare(func, err);
    }
    if (c->raise != NULL) {
        return c->raise(c->owner, func, err);
    }
    char what[HL_ERRH_WHAT];
    hl_errh_comm_words(c, what);
    struct hl_errh_site site = {&c->errh, HL_ERRH_COMM, &c->handle, what};
    return hl_errh_raise(&site, func, err);
}
