/* Inside the module: the ends of calls on files. */
#ifndef HL_FILES_H
#define HL_FILES_H

#include "args.h"
#include "io.h"

/* The object of a living file's handle. HL_ERR_FILE. */
int hl_api_get_file(MPI_File handle, struct hl_file **f);

/* Writes the file's name for an error's text to `what`, and returns it. */
#define HL_API_FILE_WORDS 320
const char *hl_api_file_words(const struct hl_file *f, char what[HL_API_FILE_WORDS]);

/* The end of every call on a file that began with hl_api_enter: returns MPI_SUCCESS, or raises the error
 * through the file's handler (`f` NULL: that of MPI_FILE_NULL) and returns its code. */
int hl_api_leave_file(struct hl_file *f, const char *func, int err);

/* Rows as in args.h; `f` is the object of `fh`. */
#define HL_CALL_FILE(name, params, check, what)                                                              \
    HL_CALL(name, params, struct hl_file *f, hl_api_get_file(fh, &f), check, what,                           \
            hl_api_leave_file(f, #name, err))

#endif
