/* The MPI entry points that are not windows. Programs call them by their MPI names; this header is for the
 * rest of the library's own programs. */
#ifndef HL_MISSING_H
#define HL_MISSING_H

/* Names of the MPI functions that exist but are not supported: they fail, most of them with
 * MPI_ERR_UNSUPPORTED_OPERATION. Ends with NULL. */
const char *const *hl_api_missing(void);

#endif
