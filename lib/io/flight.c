/* Nonblocking accesses: they begin in the call, and threads that poll go on with them. */
#include <stdio.h>
#include <stdlib.h>

#include "access.h"
#include "err.h"
#include "flight.h"
#include "io.h"
#include "move.h"
#include "util.h"

#define STEP ((int64_t)1 << 20) /* bytes of a step: under a millisecond, for which others wait */

/* An access under way, until its request is finished. */
struct access {
    struct hl_flight flight;
    struct hl_io_move move;
    struct hl_view *view; /* with references */
    struct hl_type *type;
    struct hl_req *request;
    char words[HL_ERR_TEXT]; /* text of its error */
};

static struct access **access_of(struct hl_req *r)
{
    return (struct access **)(void *)r->body;
}

static bool step_access(struct hl_flight *f)
{
    return hl_io_move_step(&HL_CONTAINER_OF(f, struct access, flight)->move, STEP);
}

/* Gives the text of the error to the thread that waits, which may not be the one that met it. */
static int tell_failure(struct hl_req *r, MPI_Status *status, bool end)
{
    struct access *a = *access_of(r);
    int err = hl_err_say(a->move.err, "%s", a->words);

    hl_req_results(r, status);
    if (end) {
        free(a);
    }
    return err;
}

static const struct hl_req_more failed = {.results = tell_failure};

static void land_access(struct hl_flight *flight)
{
    struct access *a = HL_CONTAINER_OF(flight, struct access, flight);
    struct hl_file *f = a->move.file;
    struct hl_req *r = a->request;

    r->bytes = a->move.done;
    hl_io_move_fini(&a->move);
    hl_view_unref(a->view);
    hl_type_unref(a->type);
    if (a->move.err != 0) {
        snprintf(a->words, sizeof a->words, "%s", hl_err_text(a->move.err));
        *access_of(r) = a;
        r->more = &failed;
        hl_req_fail(r, a->move.err);
    } else {
        free(a);
    }
    hl_req_done(r);
    /* full: the last use of the file; pairs with the acquire in is_no_access_open. */
    hl_a32_add_full(&f->open, UINT32_MAX);
}

static int launch_access(struct hl_file *f, const struct hl_io_call *c, const struct hl_io_job *j,
                         struct hl_req *r)
{
    struct hl_io_span span = {j->view, j->at, j->bytes, c->type, c->count, 0, c->buf};
    struct access *a = malloc(sizeof *a);

    if (a == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a nonblocking access");
    }
    int err = hl_io_move_init(&a->move, f, c->write, &span);
    if (err != 0) {
        free(a);
        return err;
    }
    a->flight = (struct hl_flight){.step = step_access, .end = land_access};
    a->view = j->view;
    a->type = c->type;
    a->request = r;
    hl_type_ref(a->type);
    hl_a32_add_relaxed(&f->open, 1); /* relaxed: the user closes the file after this call. */
    err = hl_flight_start(&a->flight);
    if (err != 0) {
        hl_a32_add_full(&f->open, UINT32_MAX); /* full: pairs with the acquire in is_no_access_open. */
        hl_io_move_fini(&a->move);
        hl_type_unref(a->type);
        free(a);
    }
    return err;
}

/* Does the access at once: for nothing to move, a range lock that must not outlive the call, or data that are
 * converted. */
static int run_now(struct hl_file *f, const struct hl_io_call *c, const struct hl_io_job *j, struct hl_req *r)
{
    int64_t bytes = 0;
    int err = hl_io_run(f, c, j, &bytes);

    hl_view_unref(j->view);
    r->bytes = bytes;
    if (err == 0) {
        hl_req_done(r);
    }
    return err;
}

int hl_file_start(struct hl_file *f, const struct hl_io_call *c, struct hl_req **request)
{
    struct hl_io_job j;
    int err = hl_io_plan(f, c, &j);

    if (err != 0) {
        return err;
    }
    struct hl_req *r = hl_req_new(HL_REQ_FILE);
    if (r == NULL) {
        hl_view_unref(j.view);
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a request");
    }
    r->ctx = f->comm->ctx;
    if (j.bytes == 0 || hl_rep_converts(j.view->rep, c->write) || hl_file_is_atomic(f)) {
        err = run_now(f, c, &j, r);
    } else {
        err = launch_access(f, c, &j, r);
        if (err != 0) {
            hl_view_unref(j.view);
        }
    }
    if (err != 0) {
        hl_req_free(r);
        return err;
    }
    *request = r;
    return 0;
}
