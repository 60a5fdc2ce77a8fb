/* Building trees of loops: every maker returns the simplest node for its layout. */
#include "loop.h"

#include <stdlib.h>
#include <string.h>

struct hl_loop *hl_loop_ref(struct hl_loop *l)
{
    if (l != NULL && !l->fixed) {
        hl_refs_add(&l->refs);
    }
    return l;
}

void hl_loop_unref(struct hl_loop *l)
{
    if (l == NULL || l->fixed || !hl_refs_drop(&l->refs)) {
        return;
    }
    hl_loop_unref(l->child);
    for (int64_t i = 0; l->children != NULL && i < l->n; i++) {
        hl_loop_unref(l->children[i]);
    }
    free(l);
}

/* Makes a node with its rows in one piece of memory. */
static struct hl_loop *new_node(enum hl_loop_kind kind, int64_t rows)
{
    size_t bytes = sizeof(struct hl_loop);

    if (kind == HL_LOOP_IDX || kind == HL_LOOP_STRUCT) {
        bytes += (size_t)rows * 3 * 8 + 8; /* disp, before, and len or children */
    }
    struct hl_loop *l = calloc(1, bytes);
    if (l == NULL) {
        return NULL;
    }
    l->kind = (uint8_t)kind;
    l->n = rows;
    hl_refs_begin(&l->refs);
    if (kind == HL_LOOP_IDX || kind == HL_LOOP_STRUCT) {
        l->disp = (int64_t *)(void *)(l + 1);
        l->before = l->disp + rows;
        if (kind == HL_LOOP_IDX) {
            l->len = l->before + rows + 1;
        } else {
            l->children = (struct hl_loop **)(void *)(l->before + rows + 1);
        }
    }
    return l;
}

static struct hl_loop *make_block(int64_t bytes, int64_t elements, enum hl_basic basic)
{
    struct hl_loop *l = new_node(HL_LOOP_BLOCK, 1);

    if (l != NULL) {
        l->size = bytes;
        l->elements = elements;
        l->basic = (uint8_t)basic;
    }
    return l;
}

/* True if this reference is the only one: then the node may be changed. */
static bool is_sole_ref(struct hl_loop *l)
{
    /* relaxed: with one reference no other thread can reach the node. */
    return !l->fixed && hl_a32_load_relaxed(&l->refs) == 1;
}

struct hl_loop *hl_loop_shift(struct hl_loop *l, int64_t by)
{
    if (l == NULL || by == 0) {
        return l;
    }
    if (is_sole_ref(l)) {
        l->off += by;
        return l;
    }
    bool wrap = l->kind == HL_LOOP_IDX || l->kind == HL_LOOP_STRUCT;
    struct hl_loop *moved = new_node(wrap ? HL_LOOP_VEC : (enum hl_loop_kind)l->kind, 1);
    if (moved == NULL) {
        hl_loop_unref(l);
        return NULL;
    }
    moved->basic = l->basic;
    moved->narrow = l->narrow;
    moved->size = l->size;
    moved->elements = l->elements;
    if (wrap) {
        moved->off = by;
        moved->child = l;
        moved->depth = l->depth + 1;
        return moved;
    }
    moved->off = l->off + by;
    moved->n = l->n;
    moved->stride = l->stride;
    moved->depth = l->depth;
    moved->child = hl_loop_ref(l->child);
    hl_loop_unref(l);
    return moved;
}

static struct hl_loop *no_bytes(struct hl_loop *consumed)
{
    hl_loop_unref(consumed);
    return make_block(0, 0, HL_BASIC_MIXED);
}

/* Makes one leaf of n leaves that are next to each other. */
static struct hl_loop *longer_leaf(int64_t n, struct hl_loop *leaf)
{
    struct hl_loop *l = new_node((enum hl_loop_kind)leaf->kind, 1);

    if (l != NULL) {
        l->basic = leaf->basic;
        l->narrow = leaf->narrow;
        l->off = leaf->off;
        l->size = n * leaf->size;
        l->elements = n * leaf->elements;
        l->n = n * leaf->n;
    }
    hl_loop_unref(leaf);
    return l;
}

/* Bytes of memory that a leaf fills without a gap, 0 for other nodes. */
static int64_t leaf_span(const struct hl_loop *l)
{
    if (l->kind == HL_LOOP_BLOCK) {
        return l->size;
    }
    return l->kind == HL_LOOP_PAIR ? l->n * (int64_t)hl_op_extent((enum hl_basic)l->basic) : 0;
}

struct hl_loop *hl_loop_vec(int64_t n, int64_t stride, struct hl_loop *child)
{
    if (child == NULL || n == 1) {
        return child;
    }
    if (n == 0 || child->size == 0) {
        return no_bytes(child);
    }
    if (leaf_span(child) > 0 && leaf_span(child) == stride) {
        return longer_leaf(n, child);
    }
    struct hl_loop *l = new_node(HL_LOOP_VEC, n);
    if (l == NULL) {
        hl_loop_unref(child);
        return NULL;
    }
    l->basic = child->basic;
    l->size = n * child->size;
    l->elements = n * child->elements;
    l->stride = stride;
    if (child->kind == HL_LOOP_VEC && child->n * child->stride == stride) {
        l->off = child->off;
        l->n = n * child->n;
        l->stride = child->stride;
        l->child = hl_loop_ref(child->child);
        hl_loop_unref(child);
    } else if (leaf_span(child) > 0) {
        /* A leaf under VEC has offset 0: it can be merged and copied tightly. */
        l->off = child->off;
        l->child = hl_loop_shift(child, -child->off);
    } else {
        l->child = child;
    }
    if (l->child == NULL) {
        hl_loop_unref(l);
        return NULL;
    }
    l->depth = l->child->depth + 1;
    return l;
}

/* Copies the rows that hold bytes, joining those that continue the one before; returns how many are left. */
static int64_t join_rows(struct hl_loop *l, const int64_t *disp, const int64_t *len, int64_t blocklen)
{
    int64_t rows = 0;

    for (int64_t i = 0; i < l->n; i++) {
        int64_t n = len != NULL ? len[i] : blocklen;
        if (n == 0) {
            continue;
        }
        if (rows > 0 && l->disp[rows - 1] + l->len[rows - 1] * l->stride == disp[i]) {
            l->len[rows - 1] += n;
            continue;
        }
        l->disp[rows] = disp[i];
        l->len[rows] = n;
        rows++;
    }
    return rows;
}

/* True if the rows have one length and equal distances. */
static bool are_rows_regular(const struct hl_loop *l, int64_t rows)
{
    for (int64_t i = 1; i < rows; i++) {
        if (l->len[i] != l->len[0] || l->disp[i] - l->disp[i - 1] != l->disp[1] - l->disp[0]) {
            return false;
        }
    }
    return true;
}

struct hl_loop *hl_loop_idx(int64_t n, const int64_t *disp, const int64_t *len, int64_t blocklen,
                            int64_t stride, struct hl_loop *child)
{
    if (child == NULL || n == 0 || child->size == 0) {
        return child == NULL ? NULL : no_bytes(child);
    }
    struct hl_loop *l = new_node(HL_LOOP_IDX, n);
    if (l == NULL) {
        hl_loop_unref(child);
        return NULL;
    }
    l->stride = stride;
    int64_t rows = join_rows(l, disp, len, blocklen);
    if (rows == 0 || are_rows_regular(l, rows)) {
        int64_t first = rows > 0 ? l->disp[0] : 0, each = rows > 0 ? l->len[0] : 0;
        int64_t apart = rows > 1 ? l->disp[1] - l->disp[0] : 0;
        hl_loop_unref(l);
        return hl_loop_shift(hl_loop_vec(rows, apart, hl_loop_vec(each, stride, child)), first);
    }
    l->n = rows;
    l->child = child;
    l->basic = child->basic;
    l->depth = child->depth + 1;
    l->even = true;
    for (int64_t i = 0; i < rows; i++) {
        l->even = l->even && l->len[i] == l->len[0];
        l->before[i] = l->size;
        l->size += l->len[i] * child->size;
        l->elements += l->len[i] * child->elements;
    }
    l->before[rows] = l->size;
    return l;
}

/* True if block b at bd can be appended to block a at ad. */
static bool are_loops_joinable(const struct hl_loop *a, int64_t ad, const struct hl_loop *b, int64_t bd,
                               bool merge)
{
    return a->kind == HL_LOOP_BLOCK && b->kind == HL_LOOP_BLOCK &&
           (merge || (a->basic == b->basic && a->narrow == b->narrow)) &&
           ad + a->off + a->size == bd + b->off;
}

static struct hl_loop *join_blocks(struct hl_loop *a, struct hl_loop *b)
{
    enum hl_basic basic = a->basic == b->basic ? (enum hl_basic)a->basic : HL_BASIC_MIXED;
    struct hl_loop *l =
        hl_loop_shift(make_block(a->size + b->size, a->elements + b->elements, basic), a->off);

    if (l != NULL) {
        l->narrow = a->narrow && b->narrow;
    }
    hl_loop_unref(a);
    hl_loop_unref(b);
    return l;
}

/* Makes an IDX of rows that are equal blocks; NULL when they are not equal. It does not consume its
 * arguments. */
static struct hl_loop *as_idx(const struct hl_loop *l, int64_t rows)
{
    const struct hl_loop *first = l->children[0];

    for (int64_t i = 0; i < rows; i++) {
        const struct hl_loop *c = l->children[i];
        if (c->kind != HL_LOOP_BLOCK || c->size != first->size || c->basic != first->basic ||
            c->narrow != first->narrow || c->off != 0) {
            return NULL;
        }
    }
    return hl_loop_idx(rows, l->disp, NULL, 1, first->size, hl_loop_ref(l->children[0]));
}

/* Moves the children that hold bytes into the rows of `l`, joining neighbours; -1 when a child is NULL. */
static int64_t join_children(struct hl_loop *l, const int64_t *disp, struct hl_loop **children, bool merge)
{
    int64_t rows = 0;
    bool bad = false;

    for (int64_t i = 0; i < l->n; i++) {
        struct hl_loop *c = children[i];
        children[i] = NULL;
        if (c == NULL || c->size == 0) {
            bad = bad || c == NULL;
            hl_loop_unref(c);
        } else if (rows > 0 &&
                   are_loops_joinable(l->children[rows - 1], l->disp[rows - 1], c, disp[i], merge)) {
            l->children[rows - 1] = join_blocks(l->children[rows - 1], c);
            if (l->children[rows - 1] == NULL) {
                bad = true;
                rows--;
            }
        } else {
            l->disp[rows] = disp[i];
            l->children[rows++] = c;
        }
    }
    l->n = rows;
    return bad ? -1 : rows;
}

struct hl_loop *hl_loop_struct(int64_t n, const int64_t *disp, struct hl_loop **children, bool merge)
{
    struct hl_loop *l = new_node(HL_LOOP_STRUCT, n), *simpler = NULL;

    if (l == NULL) {
        for (int64_t i = 0; i < n; i++) {
            hl_loop_unref(children[i]);
        }
        return NULL;
    }
    int64_t rows = join_children(l, disp, children, merge);
    if (rows == 0) {
        simpler = no_bytes(NULL);
    } else if (rows == 1) {
        simpler = hl_loop_shift(hl_loop_ref(l->children[0]), l->disp[0]);
    } else if (rows > 1) {
        simpler = as_idx(l, rows);
    }
    if (simpler != NULL || rows <= 1) {
        hl_loop_unref(l);
        return simpler;
    }
    l->basic = l->children[0]->basic;
    for (int64_t i = 0; i < rows; i++) {
        const struct hl_loop *c = l->children[i];
        l->before[i] = l->size;
        l->size += c->size;
        l->elements += c->elements;
        l->depth = c->depth >= l->depth ? c->depth + 1 : l->depth;
        l->basic = l->basic == c->basic ? l->basic : HL_BASIC_MIXED;
    }
    l->before[rows] = l->size;
    return l;
}

static struct hl_loop *merged_struct(struct hl_loop *l)
{
    struct hl_loop **children = calloc((size_t)l->n, sizeof(void *));

    if (children == NULL) {
        return NULL;
    }
    for (int64_t i = 0; i < l->n; i++) {
        children[i] = hl_loop_merged(l->children[i]);
    }
    struct hl_loop *m = hl_loop_struct(l->n, l->disp, children, true);
    free(children);
    return m;
}

struct hl_loop *hl_loop_merged(struct hl_loop *l)
{
    if (l->basic != HL_BASIC_MIXED || l->kind == HL_LOOP_BLOCK || l->kind == HL_LOOP_PAIR) {
        return hl_loop_ref(l); /* with one basic type it was merged when it was made */
    }
    struct hl_loop *m;
    if (l->kind == HL_LOOP_VEC) {
        m = hl_loop_vec(l->n, l->stride, hl_loop_merged(l->child));
    } else if (l->kind == HL_LOOP_IDX) {
        m = hl_loop_idx(l->n, l->disp, l->len, 0, l->stride, hl_loop_merged(l->child));
    } else {
        m = merged_struct(l);
    }
    return hl_loop_shift(m, l->off);
}
