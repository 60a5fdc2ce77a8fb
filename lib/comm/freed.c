/* Error handlers of freed communicators: requests and messages outlive the handle, and their errors still go
 * to the handler that the user chose. Fatal handlers need no row. Neighbouring contexts with one handler are
 * one row, and the oldest rows make room for new ones, so that a program which makes and frees communicators
 * for ever fills no memory. Errors of requests that outlive so many frees are fatal. */
#include "errh.h"

#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "lock.h"
#include "util.h"

#define NEXT 8     /* distance from one context to the next */
#define RECENT 16  /* last rows that may be extended: so freeing does not get slower with many rows */
#define MOST 16384 /* most rows */

struct freed {
    uint64_t first, last; /* contexts, plane 0 */
    struct hl_errh *errh; /* with a reference; it also stands for other handlers that do the same */
};

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct freed *freed HL_GUARDED_BY(lock);
static size_t n_freed HL_GUARDED_BY(lock), room HL_GUARDED_BY(lock);

static bool is_same_handler(const struct hl_errh *a, const struct hl_errh *b)
{
    return a->how == b->how && a->fn == b->fn;
}

static bool extend_range(uint64_t ctx, const struct hl_errh *e) HL_REQUIRES(lock)
{
    for (size_t i = n_freed; i > 0 && n_freed - i < RECENT; i--) {
        struct freed *f = &freed[i - 1];
        if (is_same_handler(f->errh, e) && (ctx == f->last + NEXT || ctx + NEXT == f->first)) {
            *(ctx > f->last ? &f->last : &f->first) = ctx;
            return true;
        }
    }
    return false;
}

/* Drops the older half of the rows. */
static void forget_half(void) HL_REQUIRES(lock)
{
    for (size_t i = 0; i < MOST / 2; i++) {
        hl_errh_unref(freed[i].errh);
    }
    n_freed -= MOST / 2;
    memmove(freed, freed + MOST / 2, n_freed * sizeof *freed);
}

static bool add_handler(uint64_t ctx, struct hl_errh *e) HL_REQUIRES(lock)
{
    if (n_freed == MOST) {
        forget_half();
    }
    bool kept = hl_grow(&freed, n_freed, &room, sizeof *freed);
    if (kept) {
        freed[n_freed++] = (struct freed){ctx, ctx, e};
    }
    return kept;
}

void hl_errh_keep(const struct hl_comm *c)
{
    struct hl_errh *e = hl_errh_get(&c->errh);

    hl_mutex_lock(&lock);
    bool kept = e->how != HL_ERRH_FATAL && !extend_range(c->ctx, e) && add_handler(c->ctx, e);
    hl_mutex_unlock(&lock);
    if (!kept) {
        hl_errh_unref(e);
    }
}

/* The handler kept for this context, with a reference; or NULL. */
static struct hl_errh *find_handler(uint64_t ctx)
{
    struct hl_errh *e = NULL;

    hl_mutex_lock(&lock);
    for (size_t i = n_freed; e == NULL && i-- > 0;) {
        if (freed[i].first <= ctx && ctx <= freed[i].last) {
            e = hl_errh_get(&freed[i].errh);
        }
    }
    hl_mutex_unlock(&lock);
    return e;
}

int hl_errh_ctx(uint64_t ctx, const char *func, int err)
{
    struct hl_comm *c = hl_comm_ref_ctx(ctx);
    struct hl_errh *e = c == NULL && err != 0 ? find_handler(ctx - ctx % NEXT) : NULL;
    int code;

    if (c != NULL) {
        code = hl_errh_comm(c, func, err);
        hl_comm_unref(c);
        return code;
    }
    if (ctx < NEXT) {
        return hl_errh_comm(NULL, func, err);
    }
    MPI_Comm handle = MPI_COMM_NULL;
    code =
        hl_errh_raise(&(struct hl_errh_site){&e, HL_ERRH_COMM, &handle, "a freed communicator"}, func, err);
    if (e != NULL) {
        hl_errh_unref(e);
    }
    return code;
}

void hl_errh_forget_freed(void)
{
    hl_mutex_lock(&lock);
    while (n_freed > 0) {
        hl_errh_unref(freed[--n_freed].errh);
    }
    free(freed);
    freed = NULL;
    room = 0;
    hl_mutex_unlock(&lock);
}
