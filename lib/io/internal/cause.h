/* Inside the module: errors of the system in MPI's terms, and errors that all ranks share. */
#ifndef HL_IO_CAUSE_H
#define HL_IO_CAUSE_H

#include "comm.h"

/* The HL_ERR_* of an errno. */
int hl_io_class(int error);

/* Records that `what` ("opening") of file `name` failed with errno `error`, and returns its HL_ERR_*. The
 * name comes last in the text, where it may be cut. */
int hl_io_refused(const char *what, const char *name, int error);

/* All ranks of `comm` give 0 or an error. Returns 0 on all when none has an error; else a rank's own error,
 * or the first rank's, with its text. Collective. */
int hl_io_agree(struct hl_comm *comm, int err);

/* hl_io_agree, and HL_ERR_NOT_SAME when ranks give different values of `what` (ranks with an error give
 * none). */
int hl_io_agree_value(struct hl_comm *comm, int err, const char *what, int64_t value);

#endif
