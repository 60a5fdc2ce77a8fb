/* Finds out whether a filetype's data are in the order of the file, by its loops; each loop is looked at
 * once. */
#include "loop.h"
#include "view.h"

/* Where the blocks below a node begin and end, counted from its origin. */
struct stretch {
    bool any;
    int64_t first, last; /* beginning of the first block, and of the last one */
    int64_t end;         /* end of the last block */
};

struct order {
    bool apart; /* blocks may not overlap */
    bool kept;
};

/* Adds the stretch `next`, which is `at` bytes further. */
static void follow_stretch(struct order *o, struct stretch *s, const struct stretch *next, int64_t at)
{
    if (!next->any) {
        return;
    }
    if (!s->any) {
        *s = (struct stretch){true, at + next->first, at + next->last, at + next->end};
        return;
    }
    o->kept &= at + next->first >= (o->apart ? s->end : s->last);
    s->last = at + next->last;
    s->end = at + next->end;
}

/* The stretch of n copies, `stride` apart. */
static struct stretch repeat_stretch(struct order *o, const struct stretch *one, int64_t n, int64_t stride)
{
    struct stretch s = {0};

    if (n > 0) {
        follow_stretch(o, &s, one, 0);
    }
    if (n > 1) {
        follow_stretch(o, &s, one, stride);
        if (s.any) {
            bool joined = one->first == one->last && one->end == one->first + stride; /* one block */
            s.last = joined ? s.first : (n - 1) * stride + one->last;
            s.end = (n - 1) * stride + one->end;
        }
    }
    return s;
}

static struct stretch span_blocks(struct order *o, const struct hl_loop *l)
{
    struct stretch s = {0}, part;
    int64_t off = l->off;

    if (l->size == 0) {
        return s;
    }
    switch ((enum hl_loop_kind)l->kind) {
    case HL_LOOP_BLOCK:
        return (struct stretch){true, off, off, off + l->size};
    case HL_LOOP_PAIR:
        part = (struct stretch){true, off, off, off + l->n * (int64_t)hl_op_extent((enum hl_basic)l->basic)};
        return part;
    case HL_LOOP_VEC:
        part = span_blocks(o, l->child);
        part = repeat_stretch(o, &part, l->n, l->stride);
        follow_stretch(o, &s, &part, off);
        return s;
    case HL_LOOP_IDX:
        part = span_blocks(o, l->child);
        for (int64_t i = 0; i < l->n; i++) {
            struct stretch row = repeat_stretch(o, &part, l->len[i], l->stride);
            follow_stretch(o, &s, &row, off + l->disp[i]);
        }
        return s;
    case HL_LOOP_STRUCT:
        for (int64_t i = 0; i < l->n; i++) {
            part = span_blocks(o, l->children[i]);
            follow_stretch(o, &s, &part, off + l->disp[i]);
        }
        return s;
    }
    return s;
}

bool hl_view_is_ordered(const struct hl_type *filetype, bool apart)
{
    struct order o = {apart, true};
    struct stretch s = span_blocks(&o, filetype->fast);

    return o.kept && (!s.any || s.first >= 0);
}
