/* Waiting for, testing and freeing requests. */

#include "api.h"
#include "args.h"
#include "fair.h"
#include "general.h"
#include "prog.h"
#include "req.h"

/* The request behind a handle; *r is NULL for MPI_REQUEST_NULL. */
static int get_req(MPI_Request handle, struct hl_req **r)
{
    *r = hl_req_of(handle);
    if (*r != NULL || handle == MPI_REQUEST_NULL) {
        return 0;
    }
    return hl_err_say_none(HL_ERR_REQUEST, "request", handle);
}

static int get_handles(int n, const MPI_Request handles[])
{
    struct hl_req *r;
    int err = n < 0 ? hl_api_bad_count(n) : 0;

    err = err == 0 && n > 0 ? hl_api_check_out(handles, "array_of_requests") : err;
    for (int i = 0; i < n && err == 0; i++) {
        err = get_req(handles[i], &r);
    }
    return err;
}

static bool is_handle_done(MPI_Request handle)
{
    return hl_req_open_of(handle) && hl_req_is_done(hl_req_open_of(handle));
}

static HL_NOINLINE bool is_done_in_section(const struct hl_req *r)
{
    if (hl_req_has(r, HL_REQ_STATIC)) {
        return true;
    }
    hl_cs_in(HL_CS_progress, NULL);
    bool done = hl_req_is_done(r);
    hl_cs_out(HL_CS_progress, NULL);
    return done;
}

/* Waits until the request is done; where there are critical sections it looks inside one first. */
static void await_request(struct hl_req *r)
{
    if (HL_LIKELY(!hl_cs_any()) || !is_done_in_section(r)) {
        hl_req_wait(r);
    }
}

/* Ends a done request: writes its status and makes the handle null unless it is persistent. */
static int finish_request(MPI_Request *handle, MPI_Status *status, uint64_t *ctx)
{
    struct hl_req *r = (struct hl_req *)(void *)*handle;

    *ctx = r->ctx;
    if (!hl_req_has(r, HL_REQ_PERSISTENT)) {
        *handle = MPI_REQUEST_NULL;
    }
    return hl_req_finish(r, status);
}

static HL_NOINLINE int wait_any_handle(MPI_Request *request, MPI_Status *status)
{
    struct hl_req *r = NULL;
    uint64_t ctx = 0;
    int err = hl_api_enter(hl_api_check_out(request, "request"));

    err = err == 0 ? get_req(*request, &r) : err;
    if (err == 0 && (r == NULL || !hl_req_is_active(r))) {
        hl_req_status(NULL, status);
        return hl_api_leave_ctx(0, "MPI_Wait", 0);
    }
    if (err == 0) {
        await_request(r);
        err = finish_request(request, status, &ctx);
    }
    return hl_api_leave_ctx(ctx, "MPI_Wait", err);
}

static HL_NOINLINE int wait_plain(MPI_Request *request, MPI_Status *status)
{
    struct hl_req *r = hl_is_address(request) && !hl_cs_any() ? hl_req_of(*request) : NULL;
    if (HL_LIKELY(r != NULL && hl_req_end_plain(r, status))) {
        *request = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    return wait_any_handle(request, status);
}

HL_API(MPI_Wait);
int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    /* The shared completed request of eager sends and near one-sided operations. */
    if (HL_LIKELY(hl_is_address(request) && *request == hl_req_handle(hl_req_completed()) &&
                  status == MPI_STATUS_IGNORE)) {
        *request = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    return wait_plain(request, status);
}

HL_API(MPI_Test);
int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct hl_req *r = NULL;
    uint64_t ctx = 0;
    int err = hl_api_enter(hl_api_check_out(request, "request"));

    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    err = err == 0 ? get_req(*request, &r) : err;
    if (err == 0 && (r == NULL || !hl_req_is_active(r))) {
        *flag = 1;
        hl_req_status(NULL, status);
        return hl_api_leave_ctx(0, "MPI_Test", 0);
    }
    if (err == 0) {
        if (!hl_req_is_done(r)) {
            hl_prog_look();
        }
        *flag = hl_req_is_done(r);
        err = *flag ? finish_request(request, status, &ctx) : 0;
    }
    return hl_api_leave_ctx(ctx, "MPI_Test", err);
}

/* ---- All ---- */

/* The error of a call on n requests, of which `first` is that of one of them, or 0. */
static int in_statuses(int n, int first)
{
    return first == 0 ? 0
                      : hl_err_say(HL_ERR_IN_STATUS, "one of %d requests failed: %s", n, hl_err_text(first));
}

/* Ends n requests, which are all done. */
static int finish_all(int n, MPI_Request handles[], MPI_Status statuses[], uint64_t *ctx)
{
    int first = 0;

    for (int i = 0; i < n; i++) {
        MPI_Status *status = statuses != MPI_STATUSES_IGNORE ? &statuses[i] : MPI_STATUS_IGNORE;
        uint64_t its = 0;
        int err = 0;
        if (handles[i] == hl_req_handle(hl_req_completed()) && status == MPI_STATUS_IGNORE) {
            handles[i] = MPI_REQUEST_NULL; /* the shared completed request */
            continue;
        }
        if (hl_req_open_of(handles[i])) {
            err = finish_request(&handles[i], status, &its);
        } else {
            hl_req_status(NULL, status);
        }
        if (status != MPI_STATUS_IGNORE) {
            status->MPI_ERROR = hl_err_class(err);
        }
        if (err != 0 && first == 0) {
            first = err;
            *ctx = its;
        }
    }
    return in_statuses(n, first);
}

HL_API(MPI_Waitall);
int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
    uint64_t ctx = 0;
    int err = hl_api_enter(get_handles(count, array_of_requests));

    if (err == 0) {
        hl_fair_drain();
        for (int i = 0; i < count; i++) {
            struct hl_req *r = hl_req_open_of(array_of_requests[i]);
            if (r != NULL) {
                await_request(r);
            }
        }
        err = finish_all(count, array_of_requests, array_of_statuses, &ctx);
    }
    return hl_api_leave_ctx(ctx, "MPI_Waitall", err);
}

static bool are_handles_done(int n, const MPI_Request handles[])
{
    for (int i = 0; i < n; i++) {
        if (hl_req_open_of(handles[i]) && !is_handle_done(handles[i])) {
            return false;
        }
    }
    return true;
}

HL_API(MPI_Testall);
int PMPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses)
{
    uint64_t ctx = 0;
    int err = hl_api_enter(get_handles(count, array_of_requests));

    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    if (err == 0) {
        hl_fair_drain();
        if (!are_handles_done(count, array_of_requests)) {
            hl_prog_look();
        }
        *flag = are_handles_done(count, array_of_requests);
        err = *flag ? finish_all(count, array_of_requests, array_of_statuses, &ctx) : 0;
    }
    return hl_api_leave_ctx(ctx, "MPI_Testall", err);
}

/* ---- Any and some ---- */

struct request_set {
    size_t n, first; /* searches begin at `first` and go round: none starves behind others posted again */
    const MPI_Request *handles;
    int found; /* index of a done request, -1: none */
    bool open; /* is any of them active? */
};

static struct request_set set_of(int n, const MPI_Request handles[])
{
    return (struct request_set){n > 0 ? (size_t)n : 0, 0, handles, -1, false}; /* n was not checked yet */
}

static bool is_any_done(void *arg)
{
    struct request_set *s = arg;

    s->found = -1;
    s->open = false;
    for (size_t k = 0, i = s->first; k < s->n && s->found < 0; k++, i = i + 1 < s->n ? i + 1 : 0) {
        s->open = s->open || hl_req_open_of(s->handles[i]);
        s->found = is_handle_done(s->handles[i]) ? (int)i : -1;
    }
    return s->found >= 0 || !s->open;
}

/* Searches without a pass of progress. Calls that always find a done request make one now and then: otherwise
 * the others of the list would never get done. */
static bool find_at_once(struct request_set *s)
{
    static HL_THREAD_LOCAL unsigned in_a_row;

    s->first = hl_fair_begin(s->handles, s->n);
    if (!is_any_done(s)) {
        in_a_row = 0;
        return false;
    }
    if (++in_a_row % 16 == 0) {
        hl_prog_poll();
    }
    return true;
}

/* Describes a wait for any one of the requests. */
static void describe_any(const void *arg, struct hl_wait_desc *t)
{
    const struct request_set *s = arg;
    int open = 0;

    for (size_t i = 0; i < s->n; i++) {
        open += hl_req_open_of(s->handles[i]) ? 1 : 0;
    }
    hl_desc_say(t, "any of %d requests, such as ", open);
    for (size_t i = 0, told = 0; i < s->n && t->n - t->first < HL_HANG_RANKS; i++) {
        if (hl_req_open_of(s->handles[i])) {
            struct hl_wait_desc one = {0};
            hl_req_describe(hl_req_of(s->handles[i]), told++ > 0 ? &one : t);
            hl_desc_await_all(t, &one);
        }
    }
    t->any = open > 1 || t->any;
}
HL_HANG_WORDS(is_any_done, describe_any);

/* Ends the request that was found, or reports that none was active. */
static int finish_any(const struct request_set *s, MPI_Request handles[], int *indx, MPI_Status *status,
                      uint64_t *ctx)
{
    if (s->found < 0) {
        *indx = MPI_UNDEFINED;
        hl_req_status(NULL, status);
        return 0;
    }
    *indx = s->found;
    hl_fair_told(s->handles, s->n, (size_t)s->found);
    return finish_request(&handles[s->found], status, ctx);
}

HL_API(MPI_Waitany);
int PMPI_Waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status)
{
    struct request_set s = set_of(count, array_of_requests);
    uint64_t ctx = 0;
    int err = hl_api_enter(get_handles(count, array_of_requests));

    err = err == 0 ? hl_api_check_out(indx, "indx") : err;
    if (err == 0) {
        if (!find_at_once(&s)) {
            hl_prog_wait_rung(is_any_done, &s);
        }
        err = finish_any(&s, array_of_requests, indx, status, &ctx);
    }
    return hl_api_leave_ctx(ctx, "MPI_Waitany", err);
}

HL_API(MPI_Testany);
int PMPI_Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag, MPI_Status *status)
{
    struct request_set s = set_of(count, array_of_requests);
    uint64_t ctx = 0;
    int err = hl_api_enter(get_handles(count, array_of_requests));

    err = err == 0 ? hl_api_check_out(indx, "indx") : err;
    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    if (err == 0) {
        if (!find_at_once(&s)) {
            hl_prog_look();
            is_any_done(&s);
        }
        *flag = s.found >= 0 || !s.open;
        *indx = MPI_UNDEFINED;
        err = *flag ? finish_any(&s, array_of_requests, indx, status, &ctx) : 0;
    }
    return hl_api_leave_ctx(ctx, "MPI_Testany", err);
}

/* The user's arrays of Waitsome and Testsome. */
struct some {
    int n;
    MPI_Request *handles;
    int *outcount, *indices;
    MPI_Status *statuses;
};

static int finish_some(const struct some *x, uint64_t *ctx)
{
    int done = 0, first = 0;

    hl_fair_drain();
    for (int i = 0; i < x->n; i++) {
        if (!is_handle_done(x->handles[i])) {
            continue;
        }
        MPI_Status *status = x->statuses != MPI_STATUSES_IGNORE ? &x->statuses[done] : MPI_STATUS_IGNORE;
        uint64_t its = 0;
        int err = finish_request(&x->handles[i], status, &its);
        if (status != MPI_STATUS_IGNORE) {
            status->MPI_ERROR = hl_err_class(err);
        }
        if (err != 0 && first == 0) {
            first = err;
            *ctx = its;
        }
        x->indices[done++] = i;
    }
    *x->outcount = done;
    return in_statuses(done, first);
}

static int complete_some(const char *func, const struct some *x, bool wait)
{
    struct request_set s = set_of(x->n, x->handles);
    uint64_t ctx = 0;
    int err = hl_api_enter(get_handles(x->n, x->handles));

    err = err == 0 ? hl_api_check_out(x->outcount, "outcount") : err;
    err = err == 0 ? hl_api_check_list(x->n, x->indices, "array_of_indices") : err;
    if (err == 0) {
        bool found = find_at_once(&s);
        if (!found && wait) {
            hl_prog_wait_rung(is_any_done, &s);
        } else if (!found) {
            hl_prog_look();
            is_any_done(&s);
        }
        if (s.found < 0) {
            *x->outcount = s.open ? 0 : MPI_UNDEFINED;
        } else {
            err = finish_some(x, &ctx);
        }
    }
    return hl_api_leave_ctx(ctx, func, err);
}

HL_API(MPI_Waitsome);
int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                  MPI_Status *array_of_statuses)
{
    struct some x = {incount, array_of_requests, outcount, array_of_indices, array_of_statuses};

    return complete_some("MPI_Waitsome", &x, true);
}

HL_API(MPI_Testsome);
int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                  MPI_Status *array_of_statuses)
{
    struct some x = {incount, array_of_requests, outcount, array_of_indices, array_of_statuses};

    return complete_some("MPI_Testsome", &x, false);
}

/* ---- Statuses without ending requests ---- */

HL_API(MPI_Request_get_status);
int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct hl_req *r = NULL;
    int err = hl_api_enter(get_req(request, &r));

    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    if (err == 0) {
        if (hl_req_open_of(request) && !hl_req_is_done(r)) {
            hl_prog_look();
        }
        *flag = !hl_req_open_of(request) || hl_req_is_done(r);
        if (*flag) {
            err = hl_req_status(hl_req_open_of(request) ? r : NULL, status);
        }
    }
    return hl_api_leave_ctx(r != NULL ? r->ctx : 0, "MPI_Request_get_status", err);
}

/* Looks for done requests, after one pass of progress if none was done. */
static int look_for_done(int count, const MPI_Request handles[], struct request_set *s)
{
    int err = get_handles(count, handles);

    *s = set_of(count, handles);
    if (err == 0 && !find_at_once(s)) {
        hl_prog_look();
        is_any_done(s);
    }
    return err;
}

/* Writes the status of a request, which stays as it is. Keeps the first error and its request's context. */
static void look_at_handle(MPI_Request handle, MPI_Status *status, int *first, uint64_t *ctx)
{
    struct hl_req *r = hl_req_open_of(handle);
    int err = hl_req_status(r, status);

    if (status != MPI_STATUS_IGNORE) {
        status->MPI_ERROR = hl_err_class(err);
    }
    if (*first == 0 && err != 0) {
        *first = err;
        *ctx = r != NULL ? r->ctx : 0;
    }
}

static MPI_Status *nth_status(MPI_Status *statuses, int i)
{
    return statuses != MPI_STATUSES_IGNORE ? &statuses[i] : MPI_STATUS_IGNORE;
}

HL_API(MPI_Request_get_status_any);
int PMPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *indx, int *flag,
                                MPI_Status *status)
{
    struct request_set s;
    struct hl_req *r = NULL;
    int err = hl_api_enter(look_for_done(count, array_of_requests, &s));

    err = err == 0 ? hl_api_check_out(indx, "indx") : err;
    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    if (err == 0) {
        r = s.found >= 0 ? hl_req_of(array_of_requests[s.found]) : NULL;
        *flag = r != NULL || !s.open;
        *indx = r != NULL ? s.found : MPI_UNDEFINED;
        if (r != NULL) {
            hl_fair_told(array_of_requests, s.n, (size_t)s.found);
        }
        if (*flag) {
            err = hl_req_status(r, status);
        }
    }
    return hl_api_leave_ctx(r != NULL ? r->ctx : 0, "MPI_Request_get_status_any", err);
}

HL_API(MPI_Request_get_status_all);
int PMPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
                                MPI_Status *array_of_statuses)
{
    uint64_t ctx = 0;
    int first = hl_api_enter(get_handles(count, array_of_requests));

    first = first == 0 ? hl_api_check_out(flag, "flag") : first;
    if (first == 0) {
        if (!are_handles_done(count, array_of_requests)) {
            hl_prog_look();
        }
        *flag = are_handles_done(count, array_of_requests);
        for (int i = 0; i < count && *flag; i++) {
            look_at_handle(array_of_requests[i], nth_status(array_of_statuses, i), &first, &ctx);
        }
        first = in_statuses(count, first);
    }
    return hl_api_leave_ctx(ctx, "MPI_Request_get_status_all", first);
}

HL_API(MPI_Request_get_status_some);
int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount,
                                 int array_of_indices[], MPI_Status *array_of_statuses)
{
    struct request_set s;
    uint64_t ctx = 0;
    int first = hl_api_enter(look_for_done(incount, array_of_requests, &s)), done = 0;

    first = first == 0 ? hl_api_check_out(outcount, "outcount") : first;
    first = first == 0 ? hl_api_check_list(incount, array_of_indices, "array_of_indices") : first;
    if (first == 0) {
        for (int i = 0; i < incount; i++) {
            if (is_handle_done(array_of_requests[i])) {
                look_at_handle(array_of_requests[i], nth_status(array_of_statuses, done), &first, &ctx);
                array_of_indices[done++] = i;
            }
        }
        *outcount = done > 0 || s.open ? done : MPI_UNDEFINED;
        first = in_statuses(done, first);
    }
    return hl_api_leave_ctx(ctx, "MPI_Request_get_status_some", first);
}

HL_API(MPI_Request_free);
int PMPI_Request_free(MPI_Request *request)
{
    struct hl_req *r = NULL;
    int err = hl_api_enter(hl_api_check_out(request, "request"));

    err = err == 0 ? get_req(*request, &r) : err;
    uint64_t ctx = r != NULL ? r->ctx : 0;
    if (err == 0 && r == NULL) {
        err = hl_err_say_none(HL_ERR_REQUEST, "request", *request);
    } else if (err == 0 && HL_CHECKS && hl_req_is_active(r)) {
        err = hl_req_check_orphan(r);
    }
    if (err == 0) {
        *request = MPI_REQUEST_NULL;
        if (r->what == HL_REQ_GENERAL) {
            err = hl_req_general_free(r);
        } else {
            hl_req_orphan(r);
        }
    }
    return hl_api_leave_ctx(ctx, "MPI_Request_free", err);
}

/* ---- Persistent ones ---- */

static int get_startable(MPI_Request handle, struct hl_req **r)
{
    int err = get_req(handle, r);

    if (err == 0 && *r == NULL) {
        return hl_err_say_none(HL_ERR_REQUEST, "request", handle);
    }
    if (err == 0 && !hl_req_has(*r, HL_REQ_PERSISTENT)) {
        return hl_err_say(HL_ERR_REQUEST, "the request is not persistent, and only such can be started");
    }
    if (err == 0 && hl_req_is_active(*r)) {
        return hl_err_say(HL_ERR_REQUEST, "the request was started already: complete it first (MPI_Wait)");
    }
    return err;
}

HL_API(MPI_Start);
int PMPI_Start(MPI_Request *request)
{
    struct hl_req *r = NULL;
    int err = hl_api_enter(hl_api_check_out(request, "request"));

    err = err == 0 ? get_startable(*request, &r) : err;
    err = err == 0 ? hl_req_start(r) : err;
    return hl_api_leave_ctx(r != NULL ? r->ctx : 0, "MPI_Start", err);
}

HL_API(MPI_Startall);
int PMPI_Startall(int count, MPI_Request array_of_requests[])
{
    struct hl_req *r = NULL;
    int err = hl_api_enter(get_handles(count, array_of_requests));

    for (int i = 0; i < count && err == 0; i++) {
        err = get_startable(array_of_requests[i], &r);
    }
    for (int i = 0; i < count && err == 0; i++) {
        r = hl_req_of(array_of_requests[i]);
        err = hl_req_start(r);
    }
    return hl_api_leave_ctx(r != NULL ? r->ctx : 0, "MPI_Startall", err);
}
