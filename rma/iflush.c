/* Flushes with a request, which do not wait. Numbers of the lanes say what was issued before the call
 * (hl_lane_goals). Each thread that makes progress compares them, and the last comparison takes the
 * errors. */
#include "flush.h"

#include <hotlane.h>
#include <stdio.h>
#include <stdlib.h>

#include "api.h"
#include "conflict.h"
#include "err.h"
#include "flight.h"
#include "prog.h"

/* A flush that has not ended. */
struct iflush {
    struct hl_flight flight;
    struct hl_req *req;
    struct hl_win *win; /* stays until the flush has ended: hl_win_end_flushes */
    struct hl_lane_goals *goals;
    int target;              /* -1: all */
    int dead;                /* 0, or the error when a near target had ended before */
    char words[HL_REQ_BODY]; /* text of `dead` */
};

/* The body of a request HL_REQ_WIN. */
struct body {
    int target;      /* -1: all */
    uint32_t number; /* checked_mode: of the flush (hl_conflict_flush_begins) */
    bool local;
    char words[HL_REQ_BODY - 2 * sizeof(uint32_t) - sizeof(bool)]; /* text of the request's error */
};
_Static_assert(sizeof(struct body) <= HL_REQ_BODY, "it fits a request");

static struct body *iflush_body(const struct hl_req *r)
{
    return (struct body *)(uintptr_t)r->body;
}

static int find_iflush_window(struct hl_win *w, void *out)
{
    *(struct hl_win **)out = w;
    return 0;
}

/* In checked_mode, the user ends the request. */
static void forget_covered(const struct hl_req *r)
{
    const struct body *b = iflush_body(r);
    struct hl_win *w;
    if (hl_win_table_with(r->ctx, find_iflush_window, &w) == 0) {
        hl_conflict_flush_ends(w, b->target, b->local, b->number);
    }
}

/* Repeats the error's text in the thread that waits, which may not be the one that met the error. */
static int tell_iflush(struct hl_req *r, MPI_Status *status, bool end)
{
    if (HL_CHECKED && end) {
        forget_covered(r);
    }
    int err = hl_req_results(r, status);
    return err != 0 ? hl_err_say(err, "%s", iflush_body(r)->words) : 0;
}

static const struct hl_req_more told = {.results = tell_iflush};

/* Completes the request; with err, it keeps the text of the calling thread's last error. */
static void finish_iflush(struct hl_req *r, int err)
{
    if (err != 0) {
        snprintf(iflush_body(r)->words, sizeof iflush_body(r)->words, "%s", hl_err_text(err));
        r->more = &told;
        hl_req_fail(r, err);
    }
    hl_req_done(r);
}

static bool step_iflush(struct hl_flight *flight)
{
    return hl_lane_goals_reached(HL_CONTAINER_OF(flight, struct iflush, flight)->goals);
}

static void end_iflush(struct hl_flight *flight)
{
    struct iflush *f = HL_CONTAINER_OF(flight, struct iflush, flight);
    struct hl_req *r = f->req;
    int err = hl_flush_take_errors(f->win, f->target);
    err = err == 0 && f->dead != 0 ? hl_err_say(f->dead, "%s", f->words) : err;
    hl_a32_add_full(&f->win->flushing, UINT32_MAX); /* full: the last use of the window; pairs with the
                                                     * acquire in has_no_iflush. */
    hl_lane_goals_free(f->goals);
    free(f);
    finish_iflush(r, err);
}

/* Which flush a call of the user is. */
struct iflush_call {
    const char *func;
    enum hl_lane_scope scope;
    bool all;
};

static int new_iflush_request(struct hl_win *w, int target, const struct iflush_call *call,
                              struct hl_req **out)
{
    struct hl_req *r = hl_req_new(HL_REQ_WIN);
    if (r == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a request");
    }
    r->ctx = w->id;
    *iflush_body(r) = (struct body){.target = target, .local = call->scope == HL_LOCAL};
    if (HL_CHECKED) {
        r->more = &told;
        int rc = hl_conflict_flush_begins(w, target, &iflush_body(r)->number);
        if (rc != 0) {
            hl_req_free(r);
            return rc;
        }
    }
    *out = r;
    return 0;
}

/* Starts a flush that has to wait. It takes over the goals, also after an error. HL_ERR_NO_MEM. */
static int launch_iflush(struct hl_win *w, int target, const struct iflush_call *call,
                         struct hl_lane_goals *goals, int dead, struct hl_req **out)
{
    struct iflush *f = malloc(sizeof *f);
    int rc = f == NULL ? hl_err_say(HL_ERR_NO_MEM, "no memory for a flush with a request") : 0;
    if (f != NULL) {
        *f = (struct iflush){{.step = step_iflush, .end = end_iflush}, NULL, w, goals, target, dead, ""};
        if (dead != 0) {
            snprintf(f->words, sizeof f->words, "%s", hl_err_text(dead));
        }
        rc = hl_flight_ready();
    }
    rc = rc == 0 ? new_iflush_request(w, target, call, &f->req) : rc;
    if (rc != 0) {
        hl_lane_goals_free(goals);
        free(f);
        return rc;
    }
    *out = f->req;
    hl_a32_add_relaxed(&w->flushing, 1); /* relaxed: the user frees the window after this call. */
    (void)hl_flight_start(&f->flight);   /* its only error was ruled out by hl_flight_ready */
    return 0;
}

/* Makes the request of a flush that need not wait. The request, never the call, reports `err`, the error of
 * an operation. */
static int end_iflush_at_once(struct hl_win *w, int target, const struct iflush_call *call, int err,
                              struct hl_req **out)
{
    char words[HL_REQ_BODY];
    if (err == 0 && !HL_CHECKED) {
        *out = hl_req_completed();
        return 0;
    }
    snprintf(words, sizeof words, "%s", hl_err_text(err));
    int rc = new_iflush_request(w, target, call, out);
    if (rc == 0) {
        finish_iflush(*out, err != 0 ? hl_err_say(err, "%s", words) : 0);
    }
    return rc;
}

/* Starts a flush of a window where it is more than a fence. */
static HL_NOINLINE int start_iflush(struct hl_win *w, int target, const struct iflush_call *call,
                                    struct hl_req **out)
{
    int dead;
    if (!hl_flush_begin(w, target, &dead)) {
        return end_iflush_at_once(w, target, call, dead, out);
    }
    struct hl_lane_goals *goals;
    hl_win_enter(w);
    int rc = hl_lane_goals_make(NULL, target < 0 ? -1 : hl_win_world(w, target), call->scope, &goals);
    if (rc == 0 && goals != NULL) {
        rc = launch_iflush(w, target, call, goals, dead, out);
    } else if (rc == 0) {
        int failed = hl_flush_take_errors(w, target);
        rc = end_iflush_at_once(w, target, call, failed != 0 ? failed : dead, out);
    }
    hl_win_leave(w);
    return rc;
}

/* Checks the arguments of a flush of `target` or of all. Errors of hl_flush_check; HL_ERR_ARG. */
static int check_iflush(struct hl_win *w, int target, bool all, const MPI_Request *request)
{
    int rc = 0;
    if (all) {
        rc = hl_flush_check_all(w);
    } else if (w == NULL || target != MPI_PROC_NULL) {
        rc = hl_flush_check(w, target);
    }
    return rc == 0 && !hl_is_address(request) ? hl_win_null("request") : rc;
}

/* A flush that may be more than a fence, or an error. */
static HL_NOINLINE int iflush_any(int target, MPI_Win win, MPI_Request *request,
                                  const struct iflush_call *call)
{
    struct hl_win *w = hl_win_of(win);
    struct hl_req *r = hl_req_completed();
    int rc = check_iflush(w, target, call->all, request);
    /* relaxed: a flush that misses a death counts as earlier. */
    if (rc == 0 && target != MPI_PROC_NULL && hl_a8_load_relaxed(&w->waits) != 0) {
        rc = start_iflush(w, target, call, &r);
    }
    if (rc != 0) {
        return hl_win_raise(w, win, call->func, rc);
    }
    hl_flush_mapped(w, call->scope);
    *request = hl_req_handle(r);
    return MPI_SUCCESS;
}

HL_INLINE int begin_iflush(int target, MPI_Win win, MPI_Request *request, const struct iflush_call *call)
{
    const struct hl_win *w = hl_win_of(win);
    if (HL_LIKELY(w != NULL && (call->all || (uint32_t)target < (uint32_t)w->size) &&
                  hl_is_address(request) && hl_epoch_flush_is_fence(&w->epoch))) {
        if (call->scope == HL_REMOTE) {
            hl_near_fence();
        }
        *request = hl_req_handle(hl_req_completed());
        return MPI_SUCCESS;
    }
    return iflush_any(target, win, request, call);
}

HL_API(MPIX_Win_iflush);
int PMPIX_Win_iflush(int rank, MPI_Win win, MPI_Request *request)
{
    static const struct iflush_call call = {"MPIX_Win_iflush", HL_REMOTE, false};
    return begin_iflush(rank, win, request, &call);
}

HL_API(MPIX_Win_iflush_all);
int PMPIX_Win_iflush_all(MPI_Win win, MPI_Request *request)
{
    static const struct iflush_call call = {"MPIX_Win_iflush_all", HL_REMOTE, true};
    return begin_iflush(-1, win, request, &call);
}

HL_API(MPIX_Win_iflush_local);
int PMPIX_Win_iflush_local(int rank, MPI_Win win, MPI_Request *request)
{
    static const struct iflush_call call = {"MPIX_Win_iflush_local", HL_LOCAL, false};
    return begin_iflush(rank, win, request, &call);
}

HL_API(MPIX_Win_iflush_local_all);
int PMPIX_Win_iflush_local_all(MPI_Win win, MPI_Request *request)
{
    static const struct iflush_call call = {"MPIX_Win_iflush_local_all", HL_LOCAL, true};
    return begin_iflush(-1, win, request, &call);
}

/* ---- the window's end ---- */

static bool has_no_iflush(void *arg)
{
    const struct hl_win *w = arg;
    /* acquire: the flush's last use of the window; pairs with the addition in end_iflush. */
    return hl_a32_load_acquire(&w->flushing) == 0;
}

static void describe_ending(const void *arg, struct hl_wait_desc *t)
{
    hl_desc_say(t, "flushes with a request of ");
    hl_win_describe((struct hl_win *)(uintptr_t)arg, t);
}
HL_HANG_WORDS(has_no_iflush, describe_ending);

void hl_win_end_flushes(struct hl_win *w)
{
    hl_prog_wait(has_no_iflush, w);
}

/* ---- for the watchdog ---- */

static int tell_iflush_window(struct hl_win *w, void *arg)
{
    hl_win_describe(w, arg);
    return 0;
}

static void describe_iflush(const struct hl_req *r, struct hl_wait_desc *t)
{
    int target = iflush_body(r)->target;
    hl_desc_say(t, target < 0 ? "a flush of all targets of " : "a flush of target %d of ", target);
    (void)hl_win_table_with(r->ctx, tell_iflush_window, t);
}

static __attribute__((constructor)) void enrol_iflush(void)
{
    hl_req_on_describe(HL_REQ_WIN, describe_iflush);
}
