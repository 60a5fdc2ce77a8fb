/* Generalized requests.
 *
 *   ACTIVE --complete--> DONE --finish or free--> gone
 *   ACTIVE --free--> ORPHANED --complete--> gone */
#include "general.h"

#include "cs.h"
#include "err.h"
#include "prog.h"

#include <string.h>

_Static_assert(sizeof(struct hl_req_general) <= HL_REQ_BODY, "it fits into a request");

static struct hl_req_general user_of(const struct hl_req *r)
{
    struct hl_req_general user;

    memcpy(&user, r->body, sizeof user);
    return user;
}

/* Turns what a user's function returned into an internal error: codes travel as their negatives. */
static int user_result(int code)
{
    return code == MPI_SUCCESS ? 0 : -code;
}

static int run_free(const struct hl_req_general *user)
{
    struct hl_cs_outside o;

    hl_cs_step_out(&o);
    int code = user->free(user->extra);
    hl_cs_step_in(&o);
    return code;
}

static int query_results(struct hl_req *r, MPI_Status *status, bool end)
{
    struct hl_req_general user = user_of(r);
    MPI_Status told = {.MPI_ERROR = MPI_SUCCESS};
    struct hl_cs_outside o;

    hl_req_set_status(&told, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
    hl_cs_step_out(&o);
    int code = user.query(user.extra, &told);
    hl_cs_step_in(&o);
    if (end) {
        int freed = run_free(&user); /* the result of the last function called counts */
        code = freed != MPI_SUCCESS ? freed : code;
    }
    if (status != MPI_STATUS_IGNORE) {
        told.MPI_ERROR = status->MPI_ERROR;
        *status = told;
    }
    return user_result(code);
}

int hl_req_general_new(const struct hl_req_general *user, struct hl_req **out)
{
    static const struct hl_req_more more = {.results = query_results};
    struct hl_req *r = hl_req_new(HL_REQ_GENERAL);

    if (r == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a request");
    }
    memcpy(r->body, user, sizeof *user);
    r->more = &more;
    *out = r;
    return 0;
}

/* Frees a request that no thread will look at, and calls the user's free function. */
static int end_general(struct hl_req *r)
{
    struct hl_req_general user = user_of(r);

    hl_req_free(r);
    return user_result(run_free(&user));
}

int hl_req_general_complete(struct hl_req *r)
{
    uint32_t was = HL_REQ_ACTIVE;

    /* full: the waiting thread sees what the user did before, and the wake comes after it. Pairs with the
     * exchange in hl_req_general_free: of a completion and a free in two threads one sees the other. */
    if (hl_a32_cas_full(&r->state, &was, HL_REQ_DONE)) {
        hl_prog_wake_fenced();
        return 0;
    }
    return was == HL_REQ_ORPHANED ? end_general(r)
                                  : hl_err_say(HL_ERR_REQUEST, "the request was completed already");
}

int hl_req_general_free(struct hl_req *r)
{
    uint32_t was = HL_REQ_ACTIVE;

    /* full: of a free and a completion in two threads the later one sees the earlier one, and ends the
     * request; pairs with the CAS in hl_req_general_complete. */
    return hl_a32_cas_full(&r->state, &was, HL_REQ_ORPHANED) ? 0 : end_general(r);
}

int hl_req_general_cancel(struct hl_req *r)
{
    struct hl_req_general user = user_of(r);
    struct hl_cs_outside o;

    hl_cs_step_out(&o);
    int code = user.cancel(user.extra, hl_req_is_done(r));
    hl_cs_step_in(&o);
    return user_result(code);
}
