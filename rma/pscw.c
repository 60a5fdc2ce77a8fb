/* Active target by groups: post, start, complete, wait, test.
 *
 *   target                origin
 *   post    --POST n-->   start returns when each member's POST has come
 *                         ... operations ...
 *   wait <--COMPLETE n--  complete: everything is delivered
 *
 * To node peers and to itself a rank sends the message by writing a word of the peer's control block and
 * ringing its door bell: the waiting thread looks there. To other ranks the message is a record, which the
 * receive thread counts. A record of COMPLETE is acknowledged: a target that learns otherwise that
 * MPI_Win_complete has returned, by a barrier, may call MPI_Win_test once and has to get true (MPI 4.1
 * section 12.5.2).
 *
 * An origin that cannot keep its part (a member has died, an operation failed) sends COMPLETE all the same,
 * marked as failed, so that the targets' wait ends with an error instead of never. */
#include "win_call.h"

#include <stdlib.h>

#include "api.h"
#include "conflict.h"
#include "err.h"
#include "job.h"
#include "pairs.h"
#include "prog.h"
#include "rx.h"

/* Returns the number of members of a group; *world has their world ranks and *ranks those in the window, both
 * from malloc and the caller's. HL_ERR_GROUP, HL_ERR_NO_MEM: neither is allocated. */
static int members_of(const struct hl_win *w, MPI_Group group, int **world, int **ranks)
{
    const struct hl_group *g = hl_group_of(group);
    if (g == NULL) {
        return hl_err_say_none(HL_ERR_GROUP, "group", group);
    }
    size_t room = ((size_t)g->size + 1) * sizeof(int);
    *world = malloc(room);
    *ranks = malloc(room);
    int rc = *world != NULL && *ranks != NULL
                 ? g->size
                 : hl_err_say(HL_ERR_NO_MEM, "no memory for a group of %d ranks", g->size);
    for (int i = 0; rc >= 0 && i < g->size; i++) {
        (*world)[i] = hl_group_world(g, i);
        (*ranks)[i] = hl_group_rank(w->comm->group, (*world)[i]);
        if ((*ranks)[i] == MPI_UNDEFINED) {
            rc = hl_err_say(HL_ERR_GROUP,
                            "member %d of the group (rank %d of MPI_COMM_WORLD) is not in the window's "
                            "group of %d ranks",
                            i, (*world)[i], w->size);
        }
    }
    if (rc < 0) {
        free(*world);
        free(*ranks);
    }
    return rc;
}

/* The window's rank of a world rank. */
static int rank_in(const struct hl_win *w, int world)
{
    return hl_group_rank(w->comm->group, world);
}

/* Sends a record to far `peer`; the next flush of that target waits until the peer has counted it. */
static int tell_acknowledged(struct hl_win *w, int peer, const struct hl_wire_rec *rec)
{
    int rank = rank_in(w, peer), rc = hl_win_take_lock(w, rank);
    struct hl_lane_message msg = {.peer = peer, .rec = rec, .error = &w->errors[rank]};
    return rc != 0 ? rc : hl_lane_message(&msg);
}

static int tell_member(struct hl_win *w, enum hl_wire_op op, int peer, bool failed)
{
    uint64_t number = hl_pairs_number(w->pairs, op == HL_WIRE_POST ? HL_EXPOSURE : HL_ACCESS, peer);
    const struct hl_target *t = &w->targets[rank_in(w, peer)];
    if (hl_target_is_far(t)) {
        struct hl_wire_rec rec = {.op = op, .kind = failed, .count = number, .aux = w->id};
        return op == HL_WIRE_POST || failed ? hl_rx_send(peer, &rec, NULL) : tell_acknowledged(w, peer, &rec);
    }
    if (hl_rx_is_dead(peer)) {
        return hl_err_say(HL_ERR_PROC_ABORTED, "rank %d has ended", peer);
    }
    size_t at = 2 * (size_t)hl_job.node_rank + (op == HL_WIRE_POST ? HL_ACCESS : HL_EXPOSURE);
    /* release: what I did before; pairs with the acquire in take_in_notes. */
    hl_a64_store_release(&hl_target_ctl(t)->notes[at], number << 1 | failed);
    hl_prog_wake_peer(hl_job_node_of(peer));
    return 0;
}

/* Takes in the words that node peers among the members have written into my control block. */
static void take_in_notes(struct hl_win *w, enum hl_side side)
{
    struct hl_pairs *p = w->pairs;
    for (int i = 0; i < p->side[side].n; i++) {
        int peer = p->side[side].members[i], node_rank = hl_job_node_of(peer);
        if (node_rank < 0) {
            continue;
        }
        size_t at = 2 * (size_t)node_rank + side;
        /* acquire: what the peer did before; pairs with the release in tell_member. */
        uint64_t word = hl_a64_load_acquire(&hl_win_ctl(w)->notes[at]);
        /* relaxed, twice: only the thread that waits for this side uses the word. */
        if (word != hl_a64_load_relaxed(&p->seen[at]) &&
            hl_pairs_arrive(p, side, peer, word >> 1, (word & 1) != 0) >= 0) {
            hl_a64_store_relaxed(&p->seen[at], word);
        }
    }
}

/* World rank of a member of the open epoch that is awaited and lives, or (`dead`) has died; -1: none. */
static int find_awaited(const struct hl_win *w, enum hl_side side, bool dead)
{
    for (int i = 0; i < w->pairs->side[side].n; i++) {
        int member = w->pairs->side[side].members[i];
        if (hl_rx_is_dead(member) == dead && hl_pairs_is_missing(w->pairs, side, member)) {
            return member;
        }
    }
    return -1;
}

struct pscw_wait {
    struct hl_win *win;
    enum hl_side side;
};

static bool is_complete(void *arg)
{
    const struct pscw_wait *w = arg;
    if (!hl_pairs_ready(w->win->pairs, w->side)) {
        take_in_notes(w->win, w->side);
    }
    if (hl_pairs_ready(w->win->pairs, w->side)) {
        return true;
    }
    /* Without one of its targets an access cannot begin; an exposure lasts while one of its origins lives. */
    return find_awaited(w->win, w->side, true) >= 0 &&
           (w->side == HL_ACCESS || find_awaited(w->win, w->side, false) < 0);
}

static void describe_epoch(const void *arg, struct hl_wait_desc *t)
{
    const struct pscw_wait *w = arg;
    struct hl_win *win = w->win;
    hl_win_describe(win, t);
    hl_desc_say(t, w->side == HL_ACCESS ? ", posts of its targets" : ", completes of its origins");
    for (int i = 0; i < win->pairs->side[w->side].n; i++) {
        int member = win->pairs->side[w->side].members[i];
        hl_desc_await(t, hl_pairs_is_missing(win->pairs, w->side, member) ? member : -1);
    }
}
HL_HANG_WORDS(is_complete, describe_epoch);

static int post_group(struct hl_win *w, MPI_Group group, int assert)
{
    int *world, *ranks;
    if ((assert & ~(MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT)) != 0) {
        return hl_err_say(HL_ERR_ASSERT,
                          "assertion %#x: this call takes MPI_MODE_NOCHECK, _NOSTORE and _NOPUT",
                          (unsigned)assert);
    }
    int n = members_of(w, group, &world, &ranks);
    if (n < 0) {
        return n;
    }
    free(ranks);
    int rc = hl_epoch_expose(&w->epoch, w->rank);
    if (rc == 0 && (rc = hl_pairs_begin(w->pairs, HL_EXPOSURE, world, n, true)) != 0) {
        hl_epoch_conceal(&w->epoch);
    }
    if (rc != 0) {
        free(world);
        return rc;
    }
    if (HL_CHECKED) {
        hl_conflict_expose(w);
    }
    /* The post is sent with MPI_MODE_NOCHECK, too: otherwise a start without that assertion would wait for
     * ever. Of a member that has died the wait tells: the others may begin all the same. */
    for (int i = 0; i < n; i++) {
        int failed = tell_member(w, HL_WIRE_POST, world[i], false);
        rc = rc != 0 || failed == HL_ERR_PROC_ABORTED ? rc : failed;
    }
    if (rc != 0) {
        int ignored;
        hl_pairs_end(w->pairs, HL_EXPOSURE, &ignored);
        hl_epoch_conceal(&w->epoch);
    }
    return rc;
}

/* Ends an access epoch that will never get all posts, and sends marked COMPLETEs, so that the members do not
 * wait. */
static int give_up_access(struct hl_win *w)
{
    int dead = find_awaited(w, HL_ACCESS, true), ignored;
    for (int i = 0; i < w->pairs->side[HL_ACCESS].n; i++) {
        tell_member(w, HL_WIRE_COMPLETE, w->pairs->side[HL_ACCESS].members[i], true);
    }
    hl_epoch_complete(&w->epoch);
    hl_pairs_end(w->pairs, HL_ACCESS, &ignored);
    return hl_err_say(HL_ERR_PROC_ABORTED, "target %d died before it posted", rank_in(w, dead));
}

static int open_access(struct hl_win *w, MPI_Group group, int assert)
{
    int *world, *ranks;
    if ((assert & ~MPI_MODE_NOCHECK) != 0) {
        return hl_err_say(HL_ERR_ASSERT, "assertion %#x: this call takes 0 or MPI_MODE_NOCHECK",
                          (unsigned)assert);
    }
    int n = members_of(w, group, &world, &ranks);
    if (n < 0) {
        return n;
    }
    int rc = hl_epoch_start(&w->epoch, ranks, n);
    free(ranks);
    if (rc == 0 &&
        (rc = hl_pairs_begin(w->pairs, HL_ACCESS, world, n, (assert &MPI_MODE_NOCHECK) == 0)) != 0) {
        hl_epoch_complete(&w->epoch);
    }
    if (rc != 0) {
        free(world);
        return rc;
    }
    hl_prog_wait_rung(is_complete, &(struct pscw_wait){w, HL_ACCESS});
    return hl_pairs_ready(w->pairs, HL_ACCESS) ? 0 : give_up_access(w);
}

static int complete_epoch(struct hl_win *w)
{
    int failed = 0, ignored;
    if (!hl_pairs_ready(w->pairs, HL_ACCESS)) {
        return hl_err_say(HL_ERR_RMA_SYNC, "another thread is still in MPI_Win_start");
    }
    int rc = hl_epoch_complete(&w->epoch);
    if (rc != 0) {
        return rc;
    }
    int n = w->pairs->side[HL_ACCESS].n, *members = w->pairs->side[HL_ACCESS].members;
    for (int i = 0; i < n; i++) {
        rc = HL_CHECKED ? hl_conflict_complete(w, rank_in(w, members[i])) : 0;
        failed = failed != 0 ? failed : rc;
        rc = hl_win_flush(w, rank_in(w, members[i]));
        int sent = tell_member(w, HL_WIRE_COMPLETE, members[i], rc != 0);
        rc = rc != 0 ? rc : sent;
        failed = failed != 0 ? failed : rc;
    }
    for (int i = 0; i < n; i++) {
        bool far = hl_target_is_far(&w->targets[rank_in(w, members[i])]);
        rc = far ? hl_win_flush(w, rank_in(w, members[i])) : 0;
        failed = failed != 0 ? failed : rc;
    }
    hl_pairs_end(w->pairs, HL_ACCESS, &ignored);
    return failed;
}

/* The end of wait and of a test that succeeds. */
static int end_exposure(struct hl_win *w)
{
    int dead = hl_pairs_ready(w->pairs, HL_EXPOSURE) ? -1 : find_awaited(w, HL_EXPOSURE, true), failed;
    int rc = hl_pairs_end(w->pairs, HL_EXPOSURE, &failed);
    if (rc != 0) {
        return rc;
    }
    if (HL_CHECKED) {
        hl_conflict_expose(w);
    }
    hl_epoch_conceal(&w->epoch);
    hl_near_fence();
    if (dead >= 0) {
        return hl_err_say(HL_ERR_PROC_ABORTED, "origin %d died inside its access epoch", rank_in(w, dead));
    }
    if (failed >= 0) {
        return hl_err_say(HL_ERR_PROC_ABORTED, "origin %d could not complete its access epoch",
                          rank_in(w, failed));
    }
    return 0;
}

/* MPI_Win_wait (flag NULL) and MPI_Win_test. */
static int wait_exposure(struct hl_win *w, int *flag)
{
    struct pscw_wait what = {w, HL_EXPOSURE};
    if (!hl_pairs_is_open(w->pairs, HL_EXPOSURE)) {
        return hl_err_say(HL_ERR_RMA_SYNC, "MPI_Win_post was not called before");
    }
    if (flag == NULL) {
        hl_prog_wait_rung(is_complete, &what);
        return end_exposure(w);
    }
    hl_prog_look();
    *flag = is_complete(&what);
    return *flag ? end_exposure(w) : 0;
}

HL_CALL_EPOCH(MPI_Win_post, (MPI_Group group, int assert, MPI_Win win), post_group(w, group, assert))
HL_CALL_EPOCH(MPI_Win_start, (MPI_Group group, int assert, MPI_Win win), open_access(w, group, assert))
HL_CALL_EPOCH(MPI_Win_complete, (MPI_Win win), complete_epoch(w))
HL_CALL_EPOCH(MPI_Win_wait, (MPI_Win win), wait_exposure(w, NULL))
HL_CALL_EPOCH(MPI_Win_test, (MPI_Win win, int *flag),
              hl_is_address(flag) ? wait_exposure(w, flag) : hl_win_null("flag"))
