/* Requests: completion, waiting and results. */
#include "req.h"

#include "err.h"
#include "prog.h"

#include <string.h>

void hl_req_fail(struct hl_req *r, int error)
{
    uint32_t none = 0;
    /* full: the first error wins; the waiter reads it after the acquire of DONE in hl_req_is_done. */
    hl_a32_cas_full(&r->error, &none, (uint32_t)error);
}

bool hl_req_part_done(struct hl_req *r, int error)
{
    if (HL_UNLIKELY(error != 0)) {
        hl_req_fail(r, error);
    }
    /* full: the thread that ends the last part sees what all parts wrote; its release in hl_req_done
     * publishes it. */
    if (hl_a32_add_full(&r->parts, (uint32_t)-1) != 1) {
        return false;
    }
    hl_req_done(r);
    return true;
}

void hl_req_set_again(struct hl_req *r, const struct hl_req_more *more)
{
    r->more = more;
    hl_req_mark(r, HL_REQ_PERSISTENT);
    /* relaxed: no other thread knows the request yet. */
    hl_a32_store_relaxed(&r->state, HL_REQ_INACTIVE);
}

int hl_req_start(struct hl_req *r)
{
    r->source = MPI_ANY_SOURCE;
    r->tag = MPI_ANY_TAG;
    r->bytes = 0;
    /* relaxed: the completer gets the request from `start`. */
    hl_a8_store_relaxed(&r->flags,
                        hl_a8_load_relaxed(&r->flags) & (uint8_t) ~(HL_REQ_CANCELLED | HL_REQ_MOVING));
    /* relaxed, all three: the completer gets the request from `start`. */
    hl_a32_store_relaxed(&r->error, 0);
    hl_a32_store_relaxed(&r->parts, 0);
    hl_a32_store_relaxed(&r->state, HL_REQ_ACTIVE);
    int err = r->more->start(r);
    if (err != 0) {
        hl_a32_store_relaxed(&r->state, HL_REQ_INACTIVE); /* relaxed: nothing has begun */
    }
    return err;
}

static hl_req_describe_fn *tellers[HL_REQ_WIN + 1]; /* written while the library opens */

void hl_req_on_describe(enum hl_req_what what, hl_req_describe_fn *tell)
{
    tellers[what] = tell;
}

void hl_req_describe(const struct hl_req *r, struct hl_wait_desc *t)
{
    static const char *const kinds[] = {"a send",
                                        "a receive",
                                        "a one-sided operation",
                                        "a collective operation",
                                        "a send and a receive",
                                        "a generalized request",
                                        "a partitioned send",
                                        "a partitioned receive",
                                        "buffered sends",
                                        "access to a file",
                                        "a flush"};
    if (tellers[r->what] != NULL) {
        tellers[r->what](r, t);
        return;
    }
    hl_desc_say(t, "%s", kinds[r->what]);
    if (r->ctx != 0) {
        hl_desc_say(t, ", ");
        hl_desc_comm(t, r->ctx);
    }
}

static bool is_request_done(void *arg)
{
    return hl_req_is_done(arg);
}

static void describe_one(const void *arg, struct hl_wait_desc *t)
{
    hl_req_describe(arg, t);
}
HL_HANG_WORDS(is_request_done, describe_one);

void hl_req_wait(struct hl_req *r)
{
    hl_prog_wait_rung(is_request_done, r);
}

/* In MPI_Status internal[0..1] has the bytes received, internal[2] whether it was cancelled. */
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

void hl_req_fail_long(struct hl_req *r, uint64_t excess)
{
    hl_req_fail(r, HL_ERR_TRUNCATE);
    /* relaxed: published with DONE. */
    hl_a32_store_relaxed(&r->parts, excess < UINT32_MAX ? (uint32_t)excess : UINT32_MAX);
}

static HL_COLD int say_long(struct hl_req *r)
{
    if (r->what == HL_REQ_COLL) {
        return hl_err_say(HL_ERR_TRUNCATE,
                          "in this collective operation a rank sent more than this one has room for");
    }
    int64_t excess = hl_req_excess(r), bytes = r->bytes + excess;
    return hl_err_say(
        HL_ERR_TRUNCATE, "the message of rank %d with tag %d has %s%lld bytes, the receive buffer %lld",
        r->source, r->tag, excess == UINT32_MAX ? "at least " : "", (long long)bytes, (long long)r->bytes);
}

int hl_req_results(struct hl_req *r, MPI_Status *status)
{
    hl_req_set_status(status, r->source, r->tag, r->bytes, hl_req_has(r, HL_REQ_CANCELLED));
    /* relaxed: ordered by the acquire of DONE in hl_req_is_done. */
    int error = (int)hl_a32_load_relaxed(&r->error);
    /* Another thread may have completed the request, so the error's text is made here, for the thread that
     * waits. */
    if (HL_UNLIKELY(error == HL_ERR_TRUNCATE)) {
        return say_long(r);
    }
    if (HL_UNLIKELY(error == HL_ERR_COUNT)) {
        return hl_err_say(
            error,
            "the message of rank %d with tag %d has %lld bytes, fewer than the receive buffer, on a "
            "communicator with mpi_assert_exact_length",
            r->source, r->tag, (long long)r->bytes);
    }
    if (HL_UNLIKELY(error == HL_ERR_PROC_ABORTED)) {
        /* relaxed: ordered by the acquire of DONE. In a message's request `parts` names the rank that
         * died. */
        int world = r->what == HL_REQ_RMA ? hl_req_target(r)->world : (int)hl_a32_load_relaxed(&r->parts) - 1;
        return world < 0 ? error : hl_err_say(error, "rank %d of the job has ended", world);
    }
    return error;
}

static int look_at_request(struct hl_req *r, MPI_Status *status, bool end)
{
    if (HL_UNLIKELY(r->more != NULL && r->more->results != NULL)) {
        return r->more->results(r, status, end);
    }
    return hl_req_results(r, status);
}

int hl_req_status(struct hl_req *r, MPI_Status *status)
{
    if (r == NULL || !hl_req_is_active(r)) {
        hl_req_set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
        if (status != MPI_STATUS_IGNORE) {
            status->MPI_ERROR = MPI_SUCCESS; /* the empty status includes it */
        }
        return 0;
    }
    return look_at_request(r, status, false);
}

int hl_req_finish(struct hl_req *r, MPI_Status *status)
{
    int error = look_at_request(r, status, true);
    if (hl_req_has(r, HL_REQ_STATIC | HL_REQ_LOCAL)) {
        return error;
    }
    if (hl_req_has(r, HL_REQ_PERSISTENT)) {
        /* relaxed: the same thread starts it next, or the user orders the start. */
        hl_a32_store_relaxed(&r->state, HL_REQ_INACTIVE);
        return error;
    }
    hl_req_free(r);
    return error;
}
