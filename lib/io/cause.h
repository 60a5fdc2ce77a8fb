/* Inside the module: what the system refused, in MPI's words, and errors that all ranks share. */
#ifndef HL_IO_CAUSE_H
#define HL_IO_CAUSE_H

#include "comm.h"

/* The HL_ERR_* of an errno. */
int hl_io_class(int error);

/* Says that `what` ("opening") of file `name` failed with `error` (the name comes last: it may be cut), and
 * returns its HL_ERR_*. */
int hl_io_refused(const char *what, const char *name, int error);

/* All ranks of `comm` come with 0 or an error: each gets 0 when none has one, its own if it has, else the
 * first rank's, with that one's words. Collective. */
int hl_io_agree(struct hl_comm *comm, int err);

/* The same, and HL_ERR_NOT_SAME when ranks bring different values of `what` (those with an error bring none).
 */
int hl_io_agree_value(struct hl_comm *comm, int err, const char *what, int64_t value);

#endif
