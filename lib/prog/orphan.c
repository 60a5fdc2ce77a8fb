/* Requests that were freed while active ("orphans"): they are swept now and then, so that the completer's
 * last access stays one store. */
#include "req.h"

#include "err.h"
#include "flight.h"
#include "lock.h"
#include "log.h"
#include "pool.h"
#include "prog.h"
#include "util.h"

#include <stdlib.h>

#define SWEEP_EVERY 1024

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_req **orphans HL_GUARDED_BY(lock);
static size_t room HL_GUARDED_BY(lock);
static hl_a64 count; /* changed under lock; read without it to skip an empty list */

static void end_persistent(struct hl_req *r)
{
    r->more->drop(r);
    hl_req_free(r);
}

/* Ends an orphan that is done. */
static void end_orphan(struct hl_req *r)
{
    bool persistent = hl_req_has(r, HL_REQ_PERSISTENT);

    hl_req_finish(r, MPI_STATUS_IGNORE);
    if (persistent) {
        end_persistent(r);
    }
}

int hl_req_check_orphan(const struct hl_req *r)
{
    bool coll = r->what == HL_REQ_COLL;
    if (r->what == HL_REQ_RMA) {
        return hl_err_say(HL_ERR_REQUEST,
                          "a request of a one-sided operation must be waited for (MPI_Wait, MPI_Test), not "
                          "freed; an operation that needs no request is MPI_Put, MPI_Get or MPI_Accumulate");
    }
    if (!coll && r->what != HL_REQ_PSEND && r->what != HL_REQ_PRECV) {
        return 0;
    }
    return hl_err_say(HL_ERR_REQUEST, "a %s operation under way must be waited for, not freed",
                      coll ? "collective" : "partitioned");
}

void hl_req_orphan(struct hl_req *r)
{
    if (hl_req_has(r, HL_REQ_STATIC)) {
        return;
    }
    if (!hl_req_is_active(r)) {
        end_persistent(r);
        return;
    }
    if (hl_req_is_done(r)) {
        end_orphan(r);
        return;
    }
    hl_mutex_lock(&lock);
    uint64_t n = hl_a64_load_relaxed(&count); /* relaxed: under lock, twice */
    if (n == room) {                          /* a program that never polls sweeps here */
        hl_mutex_unlock(&lock);
        hl_req_sweep(NULL);
        hl_mutex_lock(&lock);
        n = hl_a64_load_relaxed(&count);
    }
    if (!hl_grow(&orphans, n, &room, sizeof *orphans)) {
        hl_mutex_unlock(&lock);
        hl_log(HL_LOG_WARN, "no memory to remember a freed request: it is lost");
        return;
    }
    orphans[n] = r;
    hl_a64_store_relaxed(&count, n + 1);
    hl_mutex_unlock(&lock);
}

static void remove_orphan(uint64_t at) HL_REQUIRES(lock)
{
    uint64_t n = hl_a64_load_relaxed(&count) - 1; /* relaxed: under lock */
    orphans[at] = orphans[n];
    hl_a64_store_relaxed(&count, n);
}

/* Takes an orphan that is done off the list, searching from index *at on; NULL: there is none. */
static struct hl_req *take_done(uint64_t *at)
{
    struct hl_req *found = NULL;
    hl_mutex_lock(&lock);
    uint64_t n = hl_a64_load_relaxed(&count); /* relaxed: under lock */
    while (found == NULL && *at < n) {
        if (hl_req_is_done(orphans[*at])) {
            found = orphans[*at];
            remove_orphan(*at);
            n--;
        } else {
            ++*at;
        }
    }
    hl_mutex_unlock(&lock);
    return found;
}

int hl_req_sweep(void *unused)
{
    /* relaxed: an orphan that is just being added waits for the next sweep. */
    if (hl_a64_load_relaxed(&count) == 0) {
        return 0;
    }
    int n = 0;
    uint64_t at = 0;
    struct hl_req *r;
    while ((r = take_done(&at)) != NULL) {
        end_orphan(r);
        n++;
    }
    return n;
}

bool hl_req_has_orphans(void)
{
    hl_req_sweep(NULL);
    return hl_a64_load_relaxed(&count) != 0; /* relaxed: a hint; at the end no thread adds any more */
}

int hl_req_open(void)
{
    if (!hl_req_pool_open()) {
        return hl_err_say(HL_ERR_NO_MEM, "no room for a table of requests");
    }
    return hl_prog_register(hl_req_sweep, NULL, SWEEP_EVERY);
}

/* Orphans for which a call waits. */
struct rest {
    uint64_t ctx; /* of this communicator; 0: of all */
    bool all;     /* all operations, not only sends */
    uint64_t at;  /* the call does not wait for those below this index, as last seen */
};

static bool is_orphan_of(const struct hl_req *r, const struct rest *x)
{
    return (x->all || r->what == HL_REQ_SEND || r->what == HL_REQ_PSEND) &&
           (x->ctx == 0 || r->ctx - r->ctx % 8 == x->ctx);
}

/* The next orphan for which the call waits, or NULL. *done: it is done, and was taken off the list. */
static struct hl_req *next_of(struct rest *x, bool *done) HL_REQUIRES(lock)
{
    uint64_t n = hl_a64_load_relaxed(&count); /* relaxed: under lock */
    while (x->at < n && !is_orphan_of(orphans[x->at], x)) {
        x->at++;
    }
    if (x->at >= n) {
        return NULL;
    }
    struct hl_req *r = orphans[x->at];
    *done = hl_req_is_done(r);
    if (*done) {
        remove_orphan(x->at);
    }
    return r;
}

/* Ends orphans until it finds one that is not done, at which it looks first the next time. True: none is
 * left. */
static bool end_done_orphans(void *rest)
{
    struct rest *x = rest;
    for (;;) {
        hl_mutex_lock(&lock);
        bool whole = x->at == 0; /* else it may have missed one that took the place of a removed one */
        bool done = false;
        struct hl_req *r = next_of(x, &done);
        hl_mutex_unlock(&lock);
        if (r == NULL && whole) {
            return true;
        }
        if (r == NULL) {
            x->at = 0;
        } else if (done) {
            end_orphan(r);
        } else {
            return false;
        }
    }
}

static void describe_orphans(const void *arg, struct hl_wait_desc *t)
{
    const struct rest *x = arg;
    hl_desc_say(t, "%s whose requests were freed", x->all ? "operations" : "sends");
    hl_mutex_lock(&lock);
    uint64_t n = hl_a64_load_relaxed(&count); /* relaxed: under lock */
    for (uint64_t i = 0; i < n; i++) {
        if (is_orphan_of(orphans[i], x)) {
            hl_desc_say(t, ": ");
            hl_req_describe(orphans[i], t);
            break;
        }
    }
    hl_mutex_unlock(&lock);
}
HL_HANG_WORDS(end_done_orphans, describe_orphans);

void hl_req_quiet(void)
{
    hl_prog_wait(end_done_orphans, &(struct rest){0, false, 0});
}

void hl_req_complete(uint64_t ctx)
{
    hl_prog_wait(end_done_orphans, &(struct rest){ctx, true, 0});
}

void hl_req_close(void)
{
    hl_flight_close();
    hl_req_sweep(NULL);
    hl_prog_unregister(hl_req_sweep, NULL);
    hl_mutex_lock(&lock);
    hl_a64_store_relaxed(&count, 0); /* relaxed: under lock */
    hl_mutex_unlock(&lock);
}
