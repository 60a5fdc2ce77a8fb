/* Completion, waiting and results. */
#include "req.h"

#include "err.h"
#include "prog.h"

#include <string.h>

void hl_req_fail(struct hl_req *r, int error)
{
    uint32_t none = 0;
    /* full: the first one wins; read by the waiter after the acquire of DONE. */
    hl_a32_cas_full(&r->error, &none, (uint32_t)error);
}

bool hl_req_part_done(struct hl_req *r, int error)
{
    if (HL_UNLIKELY(error != 0)) {
        hl_req_fail(r, error);
    }
    /* full: whatever the parts wrote is seen by who ends the last one, whose release publishes it all. */
    if (hl_a32_add_full(&r->parts, (uint32_t)-1) != 1) {
        return false;
    }
    hl_req_done(r);
    return true;
}

static bool is_done(void *arg)
{
    return hl_req_is_done(arg);
}

void hl_req_wait(struct hl_req *r)
{
    hl_prog_wait(is_done, r);
}

struct many {
    size_t left; /* requests below this are not known to be done */
    struct hl_req *const *reqs;
};

static bool all_done(void *arg)
{
    struct many *m = arg;
    while (m->left > 0) {
        struct hl_req *r = m->reqs[m->left - 1];
        if (r != NULL && hl_req_is_active(r) && !hl_req_is_done(r)) {
            return false;
        }
        m->left--;
    }
    return true;
}

void hl_req_wait_all(size_t n, struct hl_req *const *reqs)
{
    struct many m = {n, reqs};
    hl_prog_wait(all_done, &m);
}

/* MPI_Status: internal[0..1] bytes received, internal[2] cancelled. */
void hl_req_set_status(MPI_Status *status, int source, int tag, int64_t bytes, bool cancelled)
{
    if (status == MPI_STATUS_IGNORE) {
        return;
    }
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    memcpy(status->MPI_internal, &bytes, sizeof(bytes));
    status->MPI_internal[2] = cancelled;
}

int64_t hl_req_status_bytes(const MPI_Status *status)
{
    int64_t bytes;
    memcpy(&bytes, status->MPI_internal, sizeof(bytes));
    return bytes;
}

bool hl_req_status_cancelled(const MPI_Status *status)
{
    return status->MPI_internal[2] != 0;
}

int hl_req_status(struct hl_req *r, MPI_Status *status)
{
    if (r == NULL || !hl_req_is_active(r)) {
        hl_req_set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
        return 0;
    }
    if (HL_UNLIKELY(r->on_done != NULL)) {
        void (*on_done)(struct hl_req *) = r->on_done;
        r->on_done = NULL;
        on_done(r);
    }
    hl_req_set_status(status, r->source, r->tag, r->bytes, (r->flags & HL_REQ_CANCELLED) != 0);
    /* relaxed: ordered by the acquire of DONE. */
    int error = (int)hl_a32_load_relaxed(&r->error);
    /* Whoever completed the request may have been another thread: the words are left here, for the one that
     * waits. */
    if (HL_UNLIKELY(error == HL_ERR_TRUNCATE)) {
        return hl_err_say(
            error, "the message of rank %d with tag %d is longer than the receive buffer of %lld bytes",
            r->source, r->tag, (long long)r->bytes);
    }
    return error;
}

int hl_req_finish(struct hl_req *r, MPI_Status *status)
{
    int error = hl_req_status(r, status);
    if (r->flags & (HL_REQ_STATIC | HL_REQ_LOCAL)) {
        return error;
    }
    if (r->flags & HL_REQ_PERSISTENT) {
        /* relaxed: the next start is by the same thread, or ordered by the user. */
        hl_a32_store_relaxed(&r->state, HL_REQ_INACTIVE);
        return error;
    }
    hl_req_free(r);
    return error;
}
