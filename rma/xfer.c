/* The long way of puts and gets, contiguous or not, between an origin's buffer and a target's window. */
#include "mode.h"

#include "conflict.h"
#include "dyn.h"
#include "err.h"
#include "job.h"
#include "layout.h"
#include "rpc.h"

static int issue_block(const struct hl_move *m, const struct hl_target *t, int64_t offset, char *mine,
                       size_t len)
{
    uint64_t addr = (t->where & ~HL_TARGET_BITS) + (uint64_t)offset;
    struct hl_xfer x = hl_xfer_to_far(m->win, m->target, t, addr, mine, len);
    x.req = m->req;
    return m->dir == HL_PUT ? hl_lane_write(&x) : hl_lane_read(&x);
}

static void move_mapped(const struct hl_move *m, const struct hl_target *t, int64_t offset, char *mine,
                        size_t len)
{
    char *theirs = (char *)(uintptr_t)t->where + offset;
    if (m->dir == HL_PUT) {
        hl_near_copy(theirs, mine, len);
    } else {
        hl_near_copy(mine, theirs, len);
    }
}

/* Moves a block of private memory. t->where has the address of `offset` in the window. */
static int move_private(const struct hl_move *m, const struct hl_target *t, uint64_t offset, char *mine,
                        size_t len)
{
    if ((t->where & HL_TARGET_NO_CMA) != 0) {
        return hl_rpc_move(m, offset, mine, len);
    }
    int node_rank = hl_job_node_of(hl_win_world(m->win, m->target));
    return hl_cma_copy(node_rank, m->dir, mine, t->where & ~HL_TARGET_BITS, len);
}

/* Moves a block of a dynamic window, region by region. */
static int move_attached(const struct hl_move *m, uint64_t offset, char *mine, size_t len)
{
    int rc = 0;
    while (len != 0 && rc == 0) {
        struct hl_place place;
        if ((rc = hl_dyn_find(m->win, m->target, offset, &place)) != 0) {
            break;
        }
        size_t n = place.len < len ? (size_t)place.len : len;
        if (hl_target_is_mapped(&place.t)) {
            move_mapped(m, &place.t, 0, mine, n);
        } else if (hl_target_is_far(&place.t)) {
            rc = issue_block(m, &place.t, 0, mine, n);
        } else {
            rc = move_private(m, &place.t, offset, mine, n);
        }
        offset += n;
        mine += n;
        len -= n;
    }
    return rc;
}

/* Moves one block, contiguous on both sides, where the target is not plainly FAR. */
static int move_near(const struct hl_move *m, const struct hl_target *t, int64_t offset, char *mine,
                     size_t len)
{
    if (hl_target_is_mapped(t)) {
        move_mapped(m, t, offset, mine, len);
        return 0;
    }
    if (m->win->dyn != NULL) {
        return move_attached(m, (uint64_t)offset, mine, len);
    }
    struct hl_target there = {t->where + (uint64_t)offset, t->key_or_ctl};
    return move_private(m, &there, (uint64_t)offset, mine, len);
}

static int move_block(const struct hl_move *m, int64_t offset, char *mine, size_t len)
{
    const struct hl_target *t = &m->win->targets[m->target];
    bool far = hl_target_is_plain_far(t);
    return HL_LIKELY(far) ? issue_block(m, t, offset, mine, len) : move_near(m, t, offset, mine, len);
}

#define LARGE 512     /* bytes of a block from which on the kernel copies as fast as the peer */
#define FEW_BLOCKS 64 /* for so few asking the peer takes longer */

/* Moves a layout in private memory: the kernel copies few or large blocks, since it costs by the block, and
 * the peer copies many small ones. */
static int move_walks(const struct hl_move *m, const struct hl_ground *g, struct hl_type_cursor *mine,
                      struct hl_type_cursor *theirs, int64_t len)
{
    int64_t block = hl_type_cursor_span(theirs);
    if ((g->t.where & HL_TARGET_NO_CMA) == 0 && (block >= LARGE || len <= FEW_BLOCKS * block)) {
        int node_rank = hl_job_node_of(hl_win_world(m->win, m->target));
        return hl_cma_walk(node_rank, m->dir, mine, theirs, g->base);
    }
    struct hl_rpc_rows r = {.win = m->win,
                            .target = m->target,
                            .basic = HL_BASIC_BYTE,
                            .theirs = theirs,
                            .operands = m->dir == HL_PUT ? mine : NULL,
                            .result = m->dir == HL_PUT ? NULL : mine,
                            .left = len};
    return hl_rpc_rows(&r);
}

/* Moves a layout with holes in memory of this node. */
static int move_layout(const struct hl_move *m, const struct hl_span *span, const struct hl_ground *g)
{
    bool mapped = hl_target_is_mapped(&g->t);
    char *there = mapped ? (char *)(uintptr_t)(g->base + (uint64_t)span->offset) : hl_layout_at(span->offset);
    struct hl_layout_iter walk;
    struct hl_layout_side sides[2] = {
        {m->origin_type, m->origin_count, m->origin},
        {m->target_type, m->target_count, there},
    };
    struct hl_type_cursor *mine = &walk.cursors[0], *theirs = &walk.cursors[1];
    int rc = hl_layout_begin(&walk, HL_WALK_BYTES, 1, sides, 2);
    if (rc == 0 && !mapped) {
        rc = move_walks(m, g, mine, theirs, span->len);
    } else if (rc == 0 && m->dir == HL_PUT) {
        hl_type_cursor_copy(theirs, mine);
    } else if (rc == 0) {
        hl_type_cursor_copy(mine, theirs);
    }
    hl_layout_end(&walk);
    return rc;
}

bool hl_win_ground(const struct hl_move *m, const struct hl_span *span, struct hl_ground *g)
{
    const struct hl_target *t = &m->win->targets[m->target];
    const struct hl_type *type = m->target_type;
    if (m->win->dyn == NULL) {
        *g = (struct hl_ground){.t = *t, .base = t->where & ~HL_TARGET_BITS};
        g->lock = hl_target_is_mapped(t) ? &hl_target_ctl(t)->acc : NULL;
        return true;
    }
    struct hl_place place;
    int64_t far_end = (m->target_count - 1) * hl_type_extent(type), lo = span->offset + type->true_lb;
    int64_t hi = span->offset + type->true_ub + (far_end > 0 ? far_end : 0);
    lo += far_end < 0 ? far_end : 0;
    if (hl_dyn_find(m->win, m->target, (uint64_t)lo, &place) != 0 || place.len < (uint64_t)(hi - lo)) {
        return false;
    }
    g->t = place.t;
    g->base = (place.t.where & ~HL_TARGET_BITS) - (uint64_t)lo;
    g->own = place.lock;
    g->lock = &g->own;
    return true;
}

/* Moves a layout with holes elsewhere, span by span, without a buffer. */
static int move_spans(const struct hl_move *m, const struct hl_span *span)
{
    struct hl_layout_iter walk;
    struct hl_layout_side sides[2] = {
        {m->origin_type, m->origin_count, m->origin},
        {m->target_type, m->target_count, hl_layout_at(span->offset)},
    };
    int rc = hl_layout_begin(&walk, HL_WALK_BYTES, 1, sides, 2);
    while (rc == 0 && hl_layout_next(&walk)) {
        rc = move_block(m, hl_layout_offset(walk.at[1]), walk.at[0], (size_t)walk.n);
    }
    hl_layout_end(&walk);
    return rc;
}

bool hl_move_target_block(const struct hl_move *m, const struct hl_span *span, int64_t *offset)
{
    const struct hl_type *t = m->target_type;
    *offset = span->offset + (t->dense ? 0 : t->true_lb);
    return t->dense || (m->target_count == 1 && t->block);
}

int hl_move_apply(const struct hl_move *m, const struct hl_span *span)
{
    char *mine;
    int64_t offset;
    struct hl_ground g;
    bool far = hl_target_is_far(&m->win->targets[m->target]);
    if (far) {
        hl_win_follow_acc(m->win, m->target);
    }
    if (hl_move_target_block(m, span, &offset) &&
        hl_type_block(m->origin_type, m->origin_count, m->origin, &mine)) {
        return move_block(m, offset, mine, (size_t)span->len);
    }
    bool near = !far && hl_win_ground(m, span, &g) && !hl_target_is_far(&g.t);
    return near ? move_layout(m, span, &g) : move_spans(m, span);
}

int hl_win_move(const struct hl_move *m)
{
    struct hl_span span;
    int rc = hl_win_check(m, &span);
    if (rc != 0 || m->target == MPI_PROC_NULL) {
        return rc;
    }
    rc = hl_target_is_far(&m->win->targets[m->target]) ? hl_win_take_lock(m->win, m->target) : 0;
    rc = rc == 0 && HL_CHECKED ? hl_conflict_move(m, &span) : rc;
    if (rc == 0 && HL_UNLIKELY(m->win->detour)) {
        return hl_mode_issue(&(struct hl_mode_job){.kind = HL_JOB_MOVE, .span = span, .a.m = *m});
    }
    return rc != 0 ? rc : hl_move_apply(m, &span);
}

int hl_move_unmapped(const struct hl_move *m, uint64_t offset, uint64_t len)
{
    int rc = hl_target_is_far(&m->win->targets[m->target]) ? hl_win_take_lock(m->win, m->target) : 0;
    return rc != 0 ? rc : move_block(m, (int64_t)offset, m->origin, len);
}

/* Is nothing of an operation left to do when its call returns? (Also true where the call is an error.) */
static bool is_immediate(const struct hl_win *w, int target)
{
    return w == NULL || (uint32_t)target >= (uint32_t)w->size ||
           (!hl_target_is_far(&w->targets[target]) && !hl_mode_defers(w));
}

int hl_win_request_begin(struct hl_move *m, struct hl_req **r)
{
    if (HL_CHECKS && m->win != NULL && m->target != MPI_PROC_NULL &&
        (hl_epoch_mode_of(&m->win->epoch) & (HL_EPOCH_FENCE | HL_EPOCH_START)) != 0) {
        return hl_err_say(HL_ERR_RMA_SYNC,
                          "an operation with a request needs a lock of its target, %d, and here the epoch of "
                          "MPI_Win_%s is open",
                          m->target,
                          (hl_epoch_mode_of(&m->win->epoch) & HL_EPOCH_START) != 0 ? "start" : "fence");
    }
    if (m->win != NULL && m->target == MPI_PROC_NULL) {
        *r = hl_req_proc_null();
    } else if (is_immediate(m->win, m->target)) {
        *r = hl_req_completed();
    } else if ((*r = hl_req_new(HL_REQ_RMA)) == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a request");
    } else {
        (*r)->ctx = m->win->id;
        hl_req_target(*r)->world = hl_win_world(m->win, m->target);
        hl_req_add_parts(*r, 1); /* the issuer's own part, until all others are issued */
        m->req = *r;
    }
    if (HL_CHECKED) {
        hl_conflict_requests(true);
    }
    return 0;
}

void hl_win_request_end(const struct hl_move *m, int rc)
{
    if (HL_CHECKED) {
        hl_conflict_requests(false);
    }
    if (m->req == NULL) {
        return;
    }
    if (rc != 0) {
        hl_req_orphan(m->req); /* its parts that were issued end without a waiting thread */
    }
    hl_req_part_done(m->req, 0);
}
