/* Making and freeing windows: create, allocate, allocate_shared, free. */
#include "win.h"

#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "coll.h"
#include "conflict.h"
#include "dyn.h"
#include "err.h"
#include "errh.h"
#include "hints.h"
#include "info.h"
#include "job.h"
#include "keyval.h"
#include "mode.h"
#include "pairs.h"
#include "reach.h"
#include "rx.h"

/* The arguments of one call of the user. */
struct make_call {
    int flavor;
    void *base; /* create only */
    int64_t size, unit;
    MPI_Info info;
    MPI_Comm comm;
    bool apart;   /* allocate_shared: every rank has pages of its own */
    bool nowhere; /* the pointer for the window or its address is NULL */
};

static int check_make_call(const struct make_call *c)
{
    if (c->nowhere) {
        return hl_win_null("win or baseptr");
    }
    if (c->size < 0) {
        return hl_err_say(HL_ERR_SIZE, "window size %lld is negative", (long long)c->size);
    }
    if (c->unit <= 0) {
        return hl_err_say(HL_ERR_DISP, "displacement unit %lld is not positive", (long long)c->unit);
    }
    if (c->flavor == MPI_WIN_FLAVOR_CREATE && c->base == NULL && c->size != 0) {
        return hl_err_say(HL_ERR_BASE, "base is NULL for %lld bytes", (long long)c->size);
    }
    if (c->info != MPI_INFO_NULL && hl_info_of(c->info) == NULL) {
        return hl_err_say_none(HL_ERR_INFO, "info object", c->info);
    }
    return 0;
}

/* May accumulates go by rows (near.h)? Only in memory that no other window reaches, and no rank of another
 * node. All ranks get the same answer. */
static uint32_t has_rows(const struct hl_win *w)
{
    bool rows = w->flavor == MPI_WIN_FLAVOR_ALLOCATE;
    for (int i = 0; i < w->size && rows; i++) {
        rows = hl_job_node_of(hl_win_world(w, i)) >= 0;
    }
    return rows;
}

int hl_win_take_memory(struct hl_win *w, const struct hl_win_ask *how, void *place)
{
    struct hl_mem_ask ask = {.align = hl_hints_alignment(w->info),
                             .symmetric = how->same != HL_SAME_NO,
                             .place = place,
                             .wish = w->bytes > 0 ? &how->wish : NULL,
                             .caller = how->func};
    int rc = hl_mem_alloc(w->bytes, &ask, &w->piece);
    if (rc == 0) {
        w->base = w->piece.addr;
        hl_hints_taken(w, ask.wish);
    }
    return rc;
}

/* Takes my control block and, where the library owns it, the window's memory. */
static int take_memory(struct hl_win *w, const struct make_call *c, const struct hl_win_ask *how)
{
    size_t len = hl_win_ctl_len(w->size) + (HL_CHECKED ? hl_conflict_room() : 0);
    int rc = hl_mem_alloc(len, &(struct hl_mem_ask){.align = HL_CACHELINE}, &w->ctl_piece);
    if (rc != 0) {
        return rc;
    }
    hl_mem_zero(&w->ctl_piece, len);
    /* Memory has one accumulate lock, whatever window it is reached by: that of the rank whose segment holds
     * it. */
    int owner = c->flavor == MPI_WIN_FLAVOR_CREATE ? hl_near_owner(c->base) : -1;
    hl_win_ctl(w)->acc.owner = (uint32_t)(owner >= 0 ? owner : hl_job.node_rank) + 1;
    if (c->flavor == MPI_WIN_FLAVOR_CREATE) {
        hl_win_overlay(c->base, (uint64_t)c->size, owner);
    }
    uint32_t rows = has_rows(w);
    /* relaxed, twice: no other rank knows the window yet. */
    hl_a32_store_relaxed(&hl_win_ctl(w)->acc.rows, rows);
    hl_a8_store_relaxed(&w->singles, rows == 0);
    w->base = c->base;
    return c->flavor == MPI_WIN_FLAVOR_ALLOCATE || c->apart ? hl_win_take_memory(w, how, NULL) : 0;
}

/* What a rank does alone, before the ranks exchange anything. */
static int prepare_win(struct hl_win *w, const struct make_call *c, const struct hl_win_ask *ask)
{
    int rc = check_make_call(c);
    w->size = w->comm->size;
    w->rank = w->comm->rank;
    w->bytes = (uint64_t)c->size;
    w->unit = c->unit > INT32_MAX ? INT32_MAX : (int)c->unit;
    w->flavor = c->flavor;
    w->detour = hl_mode_is_detour();
    w->section = (struct hl_mutex){PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
    rc = rc != 0 ? rc : hl_epoch_init(&w->epoch);
    rc = rc != 0 ? rc : hl_pairs_make(hl_job.node_size, &w->pairs);
    if (HL_CHECKED) {
        rc = rc != 0 ? rc : hl_conflict_make(&w->conflicts);
    }
    rc = rc != 0 ? rc : hl_hints_init(w, hl_info_of(c->info));
    rc = rc != 0 || c->flavor != MPI_WIN_FLAVOR_DYNAMIC ? rc : hl_dyn_open(w);
    return rc != 0 ? rc : take_memory(w, c, ask);
}

static void unmake_window(struct hl_win *w)
{
    hl_dyn_close(w);
    hl_win_forget_all(w);
    if (w->piece.seg != NULL) {
        hl_mem_free(&w->piece);
    }
    if (w->ctl_piece.seg != NULL) {
        hl_mem_free(&w->ctl_piece);
    }
    hl_epoch_fini(&w->epoch);
    hl_pairs_free(w->pairs);
    hl_conflict_free(w->conflicts);
    hl_info_free(w->info);
    free(w->name);
    hl_errh_set(&w->errh, HL_ERRH_WIN, NULL);
    hl_comm_free(w->comm);
    hl_handle_free(w);
}

/* Raises errors of requests, which find the window through the context of its communicator. */
static int raise_window_request(void *win, const char *func, int err)
{
    return hl_win_raise(win, win, func, err);
}

/* Makes an empty window and its communicator, which has no context yet. */
static int new_win(struct hl_comm *comm, struct hl_win **made)
{
    struct hl_comm *own;
    int rc = hl_rx_start();
    rc = rc != 0 ? rc : hl_comm_make(comm->group, 0, &own);
    if (rc != 0) {
        return rc;
    }
    struct hl_win *w = hl_handle_new(HL_KIND_WIN);
    if (w == NULL) {
        hl_comm_free(own);
        return hl_err_say(HL_ERR_NO_MEM, "no handle is left for a window: free some");
    }
    w->comm = own;
    own->raise = raise_window_request;
    own->owner = w;
    *made = w;
    return 0;
}

static int make_win(const struct make_call *c, const char *func, struct hl_comm *comm, struct hl_win **made)
{
    struct hl_win *w = NULL;
    struct hl_win_ask ask = {.unit = (uint64_t)c->unit, .apart = c->apart, .func = func};
    int rc = new_win(comm, &w);
    if (rc != 0) {
        hl_win_compare(comm, rc, HL_NEED_NONE, NULL); /* the others do so already */
        return rc;
    }
    hl_hints_wish(hl_info_of(c->info), &ask.wish);
    ask.same = hl_hints_same(hl_info_of(c->info));
    ask.rc = prepare_win(w, c, &ask);
    if (ask.rc == 0 && c->flavor == MPI_WIN_FLAVOR_SHARED) {
        ask.rc = comm->one_node
                     ? 0
                     : hl_err_say(HL_ERR_RMA_SHARED,
                                  "the communicator's ranks do not share one node's memory "
                                  "(MPI_Comm_split_type with MPI_COMM_TYPE_SHARED makes one whose ranks do)");
    }
    rc = hl_win_reach_all(w, comm, &ask);
    if (rc != 0) {
        unmake_window(w);
        return rc;
    }
    hl_hints_verify(w);
    *made = w;
    return 0;
}

/* The common part of the public functions. `base`: where the memory's address goes, or NULL. */
static int make_public(struct make_call *c, const char *func, void *base, MPI_Win *win)
{
    struct hl_win *w = NULL;
    struct hl_comm *comm = hl_comm_of(c->comm);
    int rc;
    bool gives = c->flavor == MPI_WIN_FLAVOR_ALLOCATE || c->flavor == MPI_WIN_FLAVOR_SHARED;
    if (!hl_job_is_open()) {
        rc = hl_job_refuse();
    } else if (comm == NULL || hl_comm_is_inter(comm)) {
        rc = comm == NULL
                 ? hl_err_say_none(HL_ERR_COMM, "communicator", c->comm)
                 : hl_err_say(HL_ERR_COMM,
                              "the communicator is an intercommunicator, which this call does not take");
    } else {
        c->nowhere = !hl_is_address(win) || (!hl_is_address(base) && gives);
        c->apart = c->flavor == MPI_WIN_FLAVOR_SHARED &&
                   (comm->size == 1 || hl_hints_noncontig(hl_info_of(c->info)));
        rc = make_win(c, func, comm, &w);
    }
    if (rc != 0) {
        return hl_errh_comm(comm, func, rc);
    }
    if (base != NULL) {
        memcpy(base, &w->base, sizeof w->base);
    }
    *win = (MPI_Win)(void *)w;
    return MPI_SUCCESS;
}

/* One row for each type of the unit. */
#define CALLS(X)                                                                                             \
    X(MPI_Win_create, MPI_Win_allocate, MPI_Win_allocate_shared, int)                                        \
    X(MPI_Win_create_c, MPI_Win_allocate_c, MPI_Win_allocate_shared_c, MPI_Aint)
#define X(create, allocate, share, number)                                                                   \
    HL_API(create);                                                                                          \
    int P##create(void *base, MPI_Aint size, number disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)   \
    {                                                                                                        \
        struct make_call c = {MPI_WIN_FLAVOR_CREATE, base, size, disp_unit, info, comm, false, false};       \
        return make_public(&c, #create, NULL, win);                                                          \
    }                                                                                                        \
    HL_API(allocate);                                                                                        \
    int P##allocate(MPI_Aint size, number disp_unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) \
    {                                                                                                        \
        struct make_call c = {MPI_WIN_FLAVOR_ALLOCATE, NULL, size, disp_unit, info, comm, false, false};     \
        return make_public(&c, #allocate, base, win);                                                        \
    }                                                                                                        \
    HL_API(share);                                                                                           \
    int P##share(MPI_Aint size, number disp_unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)    \
    {                                                                                                        \
        struct make_call c = {MPI_WIN_FLAVOR_SHARED, NULL, size, disp_unit, info, comm, false, false};       \
        return make_public(&c, #share, base, win);                                                           \
    }
/* Defines: MPI_Win_create MPI_Win_allocate MPI_Win_allocate_shared MPI_Win_create_c MPI_Win_allocate_c
 * MPI_Win_allocate_shared_c */
CALLS(X)
#undef X
#undef CALLS

HL_API(MPI_Win_create_dynamic);
int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct make_call c = {MPI_WIN_FLAVOR_DYNAMIC, MPI_BOTTOM, 0, 1, info, comm, false, false};
    return make_public(&c, "MPI_Win_create_dynamic", NULL, win);
}

enum { HAS_ATTRIBUTES = -1 }; /* some rank's window has attributes. Errors are smaller */

/* All ranks go on, or none. Returns my error, else that of another rank, else the least of what the ranks
 * brought. */
static int agree_to_free(struct hl_win *w, int mine)
{
    int all;
    int lost = hl_coll_least(w->comm, mine, &all);
    if (mine < HAS_ATTRIBUTES || lost != 0) {
        return mine < HAS_ATTRIBUTES ? mine : lost;
    }
    return all >= HAS_ATTRIBUTES ? all : hl_err_say(all, "another rank could not free the window");
}

/* A rank that cannot free the window raises its error before it waits for the others: they may be waiting for
 * the call that it forgot. */
static int refuse_free(struct hl_win *w, MPI_Win win, const char *busy)
{
    int rc = hl_err_say(HL_ERR_RMA_SYNC, "%s", busy);
    int code = hl_win_raise(w, win, "MPI_Win_free", rc);
    hl_coll_agree(w->comm, rc);
    return code;
}

/* Flush and agreement: nothing more arrives. Leaving the table and barrier: no rank names the memory any
 * more. Then the caller unmaps it. */
static int free_window(struct hl_win *w)
{
    int rc = hl_win_flush(w, -1);
    rc = agree_to_free(w, rc != 0 ? rc : w->attrs != NULL ? HAS_ATTRIBUTES : 0);
    if (rc == HAS_ATTRIBUTES) { /* their callbacks may refuse, so they run last */
        rc = agree_to_free(w, hl_attr_delete_all(&w->attrs, w));
    }
    if (rc == 0) {
        hl_win_end_flushes(w);
        hl_win_table_remove(w);
        rc = hl_coll_barrier(w->comm);
    }
    return rc;
}

HL_API(MPI_Win_free);
int PMPI_Win_free(MPI_Win *win)
{
    struct hl_win *w = hl_is_address(win) ? hl_win_of(*win) : NULL;
    const char *busy = w == NULL ? NULL : hl_epoch_busy(&w->epoch);
    if (busy != NULL) {
        return refuse_free(w, *win, busy);
    }
    int rc = !hl_is_address(win) ? hl_win_null("win") : w == NULL ? hl_win_bad() : free_window(w);
    if (rc != 0) {
        return hl_win_raise(w, hl_is_address(win) ? *win : MPI_WIN_NULL, "MPI_Win_free", rc);
    }
    unmake_window(w);
    *win = MPI_WIN_NULL;
    return MPI_SUCCESS;
}
