/* What the files of requests share. */
#ifndef HL_REQ_POOL_H
#define HL_REQ_POOL_H

#include <stdbool.h>

/* Reserves the range of requests and makes the shared completed requests. False: there is no address
 * space. */
bool hl_req_pool_open(void);

#endif
