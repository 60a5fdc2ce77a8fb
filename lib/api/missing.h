/* Which MPI functions are not supported. This header is for the library's own programs and tests. */
#ifndef HL_MISSING_H
#define HL_MISSING_H

/* The names of MPI functions that exist but are not supported: they fail, most of them with
 * MPI_ERR_UNSUPPORTED_OPERATION. The list ends with NULL. */
const char *const *hl_api_missing(void);

#endif
