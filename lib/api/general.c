/* Entry points of generalized requests. */
#include "general.h"

#include "api.h"
#include "args.h"

HL_API(MPI_Grequest_start);
int PMPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request)
{
    struct hl_req_general user = {query_fn, free_fn, cancel_fn, extra_state};
    struct hl_req *r;
    int err = hl_api_enter(hl_api_check_open());

    err = err == 0 ? hl_api_check_out(request, "request") : err;
    if (err == 0 && (query_fn == NULL || free_fn == NULL || cancel_fn == NULL)) {
        err = hl_api_no_address(NULL, "query_fn, free_fn or cancel_fn");
    }
    err = err == 0 ? hl_req_general_new(&user, &r) : err;
    if (err == 0) {
        *request = hl_req_handle(r);
    }
    return hl_api_leave(NULL, "MPI_Grequest_start", err);
}

HL_API(MPI_Grequest_complete);
int PMPI_Grequest_complete(MPI_Request request)
{
    struct hl_req *r = hl_req_of(request);
    int err = hl_api_enter(hl_api_check_open());

    if (err == 0 && r == NULL) {
        err = hl_err_say_none(HL_ERR_REQUEST, "request", request);
    } else if (err == 0 && r->what != HL_REQ_GENERAL) {
        err = hl_err_say(HL_ERR_REQUEST, "%p is no generalized request", (void *)request);
    }
    err = err == 0 ? hl_req_general_complete(r) : err;
    return hl_api_leave(NULL, "MPI_Grequest_complete", err);
}
