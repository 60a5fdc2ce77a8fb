/* Generalized requests: operations of the user, which the user completes. (MPI 5.0, section 13.2) */
#ifndef HL_GENERAL_H
#define HL_GENERAL_H

#include "req.h"

/* The user's functions. The thread that waits for, tests, frees or cancels the request calls them, without
 * locks. */
struct hl_req_general {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
};

/* Makes *out, a new ACTIVE request (HL_REQ_GENERAL). HL_ERR_NO_MEM. */
int hl_req_general_new(const struct hl_req_general *user, struct hl_req **out);

/* MPI_Grequest_complete: completes the request and wakes threads that wait for it. Returns HL_ERR_REQUEST
 * when it was completed before; if it was freed before, the result of the user's free function. Any
 * thread. */
int hl_req_general_complete(struct hl_req *r);

/* MPI_Request_free: of this call and the completion the later one frees the request. Returns 0 or the result
 * of the user's free function. */
int hl_req_general_free(struct hl_req *r);

/* Calls the user's cancel function and returns its result. */
int hl_req_general_cancel(struct hl_req *r);

#endif
