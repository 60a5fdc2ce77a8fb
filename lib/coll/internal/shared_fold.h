/* Folding operands that members post in their cells: for shared_*.c only.
 *
 * Members stand in rank order. Each value is made by folding operands in that order, the lower one on the
 * left: so operations need not commute on one node, and members that fold the same operands get the same
 * bits. */
#ifndef HL_SHARED_FOLD_H
#define HL_SHARED_FOLD_H

#include "shared.h"

/* The result so far, of `count` elements at `acc`. */
struct hl_fold {
    struct hl_shared *s;
    const struct hl_reducer *r;
    struct hl_type *type;
    int64_t count;
    bool plain;      /* elements in memory are packed, and the result goes to the left operand */
    bool empty;      /* nothing was folded yet */
    bool there;      /* `acc` is the result's place: hl_fold_deliver has nothing to do */
    bool dead;       /* no memory: `acc` is no address, and folding does nothing */
    void *acc, *tmp; /* addresses to use with the type, which may be NULL; plain folds have no tmp */
    void *memory;    /* memory of acc and tmp, if not `there` */
};

/* Makes room for two times `count` elements. A plain fold that may do so (`may_there`) uses `to`, the
 * result's place, instead. Without memory the call has failed, and folding does nothing. */
void hl_fold_open(struct hl_fold *f, struct hl_shared_call *x, int64_t count, void *to, bool may_there);
void hl_fold_close(struct hl_fold *f);

/* Begins the next run of `count` elements, whose result is for `to`. */
void hl_fold_next(struct hl_fold *f, int64_t count, void *to);

HL_INLINE int64_t hl_fold_bytes(const struct hl_fold *f)
{
    return f->count * f->type->size;
}

/* acc = acc op *packed. */
void hl_fold_in(struct hl_fold *f, const void *packed);

/* Folds in the cell that a place has posted in this operation, with `all` elements: those from `skip` on. */
void hl_fold_cell(struct hl_fold *f, int place, int64_t skip, int64_t all);

/* Folds in the cells of all places in their order, and my operand from `mine`. That is copied to s->operand
 * first where it is not packed, or lies where others' operands are folded before it. */
void hl_fold_all(struct hl_fold *f, const void *mine, int64_t skip, int64_t all);

/* Posts `count` elements as my cell of this operation; without memory for the fold only the error. */
void hl_fold_post(struct hl_fold *f, const void *elements);

/* Copies the result from the fold to the user. */
void hl_fold_deliver(struct hl_fold *f, void *to);

/* Elements of the call */

/* Number of elements in a piece that fits a cell. */
HL_INLINE int64_t hl_shared_piece(const struct hl_shared_call *x)
{
    int64_t most = HL_SHARED_DATA / x->c->recv.type->size, count = x->c->recv.count;

    return most < count ? most : count;
}

/* The element `at` of a buffer of the call. */
HL_INLINE void *hl_shared_element(const struct hl_shared_call *x, const void *buf, int64_t at)
{
    return hl_type_at(buf, at * hl_type_extent(x->c->recv.type));
}

#endif
