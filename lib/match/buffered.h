/* Buffered sends: messages that cannot leave at once wait as copies in memory that the user attached to the
 * process, a communicator or a session, or in memory of the library's (MPI_BUFFER_AUTOMATIC).
 *
 * An object that buffers can be attached to has a slot, an hl_aptr that is NULL until the first attach; only
 * the functions here read and change it. Any thread, without locks and leases; 0 or a negative HL_ERR_*.
 * (MPI 5.0, section 3.6) */
#ifndef HL_BUFFERED_H
#define HL_BUFFERED_H

#include <mpi.h>
#include <stdint.h>

#include "atomic.h"
#include "match.h"

/* The slot of the process. */
extern hl_aptr hl_buffered_process;

/* Attaches `size` bytes at `base`, or MPI_BUFFER_AUTOMATIC. HL_ERR_BUFFER: there is one already. */
int hl_buffered_attach(hl_aptr *slot, void *base, int64_t size);

/* Waits until all messages in the buffer have left it and takes it off; *base NULL and *size 0 when there was
 * none. *size of an automatic one is 0. */
void hl_buffered_detach(hl_aptr *slot, void **base, int64_t *size);

/* Waits until all messages that are in the buffer now have left it. */
void hl_buffered_flush(hl_aptr *slot);

/* *out is a request that ends when all messages that are in the buffer now have left it. HL_ERR_NO_MEM. */
int hl_buffered_iflush(hl_aptr *slot, struct hl_req **out);

/* The object ends: detaches, and empties its slot. Nobody else uses it any more. */
void hl_buffered_drop(hl_aptr *slot);

/* The buffers that a send may use: the first that is attached among these slots (NULL: no such object) and
 * the process's is taken. */
struct hl_buffered_from {
    hl_aptr *comm, *session;
};

/* Sends; afterwards the user's memory is free again. HL_ERR_BUFFER: no buffer, or no room in it. */
int hl_buffered_send(const struct hl_send *s, const struct hl_buffered_from *from);

/* The persistent form. `hold`: the object that `from` is part of; `let_go` is called with it when the request
 * goes away. The type is referenced until then. HL_ERR_NO_MEM (then `let_go` is not called). */
struct hl_buffered_hold {
    void (*let_go)(void *object);
    void *object;
};
int hl_buffered_send_init(const struct hl_send *s, const struct hl_buffered_from *from,
                          const struct hl_buffered_hold *hold, struct hl_req **out);

/* Copies a standard send that shall end although nobody takes it yet. *packed describes the copy; it is to be
 * sent with the returned request, which only the caller knows, and which keeps the copy until it is DONE.
 * NULL: no memory, or all copies would take more than `most` bytes. */
struct hl_req *hl_buffered_spill(const struct hl_send *s, int64_t len, uint64_t most, struct hl_send *packed);

/* Waits until all messages that are in any buffer now have left it. */
void hl_buffered_flush_all(void);

/* Detaches all buffers; called at the end, while messages can still leave. */
void hl_buffered_quiet(void);

#endif
