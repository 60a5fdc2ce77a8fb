/* Generalized requests: the user's own operations, completed by him. (MPI 5.0, section 13.2) */
#ifndef HL_GENERAL_H
#define HL_GENERAL_H

#include "req.h"

/* The user's functions; run without locks by whoever waits for, tests, frees or cancels the request. */
struct hl_req_general {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
};

/* A new ACTIVE one (HL_REQ_GENERAL). HL_ERR_NO_MEM. */
int hl_req_general_new(const struct hl_req_general *user, struct hl_req **out);

/* It is done: wakes who waits. HL_ERR_REQUEST when it was done before; if it was freed before, the result of
 * the user's function. Any thread. */
int hl_req_general_complete(struct hl_req *r);

/* MPI_Request_free: the later of this and its completion frees it. The result of the user's function. */
int hl_req_general_free(struct hl_req *r);

/* Tells the user's function; its result. */
int hl_req_general_cancel(struct hl_req *r);

#endif
