/* Blocks of a range, taken by best fit.
 *
 *   address order:  [taken]<->[free]<->[taken]<->[free]      two free blocks never touch
 *                     |          |
 *                  by_off      by_len                        each block is in exactly one of the two
 *
 *   by_len:         320 ---- 64 --> 64 --> 64                a treap of lengths; behind each block hang
 *                     \                                      the others of this length, which are taken first
 *                      4096
 *
 * Priorities are a hash of the length, so the shape of the tree, too, depends only on the calls. */
#include "blocks.h"

#include "err.h"
#include "util.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#define SLOTS_LEAST 16 /* a power of two */

struct hl_block {
    size_t off, len;
    bool taken, marked;
    struct hl_block *before, *after; /* neighbours by address */
    union {
        struct hl_block *next; /* taken: next block in its slot of the hash */
        struct hl_block *left; /* free and in the tree: shorter blocks */
    };
    struct hl_block *right;          /* free and in the tree: longer blocks */
    struct hl_block *front, *behind; /* free: others of its length; front NULL: it is in the tree itself */
};

/* ---- free blocks ---- */

/* True when `a` has the higher priority. Two lengths never have the same: the hash is one to one. */
static bool has_priority(const struct hl_block *a, const struct hl_block *b)
{
    return hl_mix64(a->len) > hl_mix64(b->len);
}

/* Splits the tree `t`: blocks shorter than `len` go to *small, the others to *large. */
static void split_block(struct hl_block *t, size_t len, struct hl_block **small, struct hl_block **large)
{
    while (t != NULL) {
        if (t->len < len) {
            *small = t;
            small = &t->right;
            t = t->right;
        } else {
            *large = t;
            large = &t->left;
            t = t->left;
        }
    }
    *small = *large = NULL;
}

/* Merges two trees; every block of `a` is shorter than every one of `b`. */
static struct hl_block *merge_trees(struct hl_block *a, struct hl_block *b)
{
    struct hl_block *root = NULL, **to = &root;
    while (a != NULL && b != NULL) {
        if (has_priority(a, b)) {
            *to = a;
            to = &a->right;
            a = a->right;
        } else {
            *to = b;
            to = &b->left;
            b = b->left;
        }
    }
    *to = a != NULL ? a : b;
    return root;
}

/* The link that leads to the block of this length in the tree; without such a block, the NULL link at which
 * the search ends. */
static struct hl_block **block_place(struct hl_blocks *b, size_t len)
{
    struct hl_block **at = &b->by_len;
    while (*at != NULL && (*at)->len != len) {
        at = len < (*at)->len ? &(*at)->left : &(*at)->right;
    }
    return at;
}

static void enter_free(struct hl_blocks *b, struct hl_block *n)
{
    struct hl_block *first = *block_place(b, n->len), **at = &b->by_len;
    n->taken = false;
    n->front = first;
    n->behind = NULL;
    if (first != NULL) {
        n->behind = first->behind;
        first->behind = n;
        if (n->behind != NULL) {
            n->behind->front = n;
        }
        return;
    }
    while (*at != NULL && has_priority(*at, n)) {
        at = n->len < (*at)->len ? &(*at)->left : &(*at)->right;
    }
    split_block(*at, n->len, &n->left, &n->right);
    *at = n;
}

static void leave_free(struct hl_blocks *b, struct hl_block *n)
{
    struct hl_block *behind = n->behind;
    if (behind != NULL) {
        behind->front = n->front;
    }
    if (n->front != NULL) {
        n->front->behind = behind;
        return;
    }
    struct hl_block **at = block_place(b, n->len);
    if (behind != NULL) { /* it takes n's place in the tree */
        behind->left = n->left;
        behind->right = n->right;
    }
    *at = behind != NULL ? behind : merge_trees(n->left, n->right);
}

/* The node of the tree with the least length that is at least `len`. */
static struct hl_block *shortest_node(const struct hl_blocks *b, size_t len)
{
    struct hl_block *found = NULL;
    for (struct hl_block *n = b->by_len; n != NULL;) {
        if (n->len >= len) {
            found = n;
            n = n->left;
        } else {
            n = n->right;
        }
    }
    return found;
}

/* A free block of the least length that is at least `len`. */
static struct hl_block *find_best_fit(const struct hl_blocks *b, size_t len)
{
    struct hl_block *node = shortest_node(b, len);
    return node != NULL && node->behind != NULL ? node->behind : node;
}

static bool does_fit_aligned(const struct hl_block *n, size_t len, size_t align)
{
    return hl_round_up(n->off, align) + len <= n->off + n->len;
}

/* The shortest block in which `len` aligned bytes fit. Looks at every one that is long enough. */
static struct hl_block *first_aligned(const struct hl_blocks *b, size_t len, size_t align)
{
    for (struct hl_block *node = shortest_node(b, len); node != NULL;
         node = shortest_node(b, node->len + 1)) {
        for (struct hl_block *n = node; n != NULL; n = n->behind) {
            if (does_fit_aligned(n, len, align)) {
                return n;
            }
        }
    }
    return NULL;
}

/* ---- taken blocks ---- */

static struct hl_block **block_slot(const struct hl_blocks *b, size_t off)
{
    return &b->by_off[hl_mix64(off) & (b->slots - 1)];
}

static void put_into_slot(struct hl_blocks *b, struct hl_block *n)
{
    struct hl_block **slot = block_slot(b, n->off);
    n->next = *slot;
    *slot = n;
}

/* Doubles the slots of the hash. Without memory for them the old slots stay in use, with longer chains. */
static void grow_blocks(struct hl_blocks *b)
{
    struct hl_block **slots = calloc(2 * b->slots, sizeof(struct hl_block *));
    if (slots == NULL) {
        return;
    }
    free(b->by_off);
    b->by_off = slots;
    b->slots *= 2;
    for (struct hl_block *n = b->lowest; n != NULL; n = n->after) {
        if (n->taken) {
            put_into_slot(b, n);
        }
    }
}

static void enter_taken(struct hl_blocks *b, struct hl_block *n)
{
    if (b->count >= b->slots) {
        grow_blocks(b);
    }
    n->taken = true;
    n->marked = false;
    put_into_slot(b, n);
    b->count++;
    b->taken += n->len;
}

static void leave_taken(struct hl_blocks *b, struct hl_block *n)
{
    struct hl_block **at = block_slot(b, n->off);
    while (*at != n) {
        at = &(*at)->next;
    }
    *at = n->next;
    b->count--;
    b->taken -= n->len;
}

static struct hl_block *taken_at(const struct hl_blocks *b, size_t off)
{
    struct hl_block *n = *block_slot(b, off);
    while (n != NULL && n->off != off) {
        n = n->next;
    }
    return n;
}

/* ---- start and end ---- */

int hl_blocks_init(struct hl_blocks *b, size_t len, size_t granule)
{
    return hl_blocks_init_at(b, 0, len, granule);
}

int hl_blocks_init_at(struct hl_blocks *b, size_t first, size_t len, size_t granule)
{
    struct hl_block *all = calloc(1, sizeof *all);
    struct hl_block **slots = calloc(SLOTS_LEAST, sizeof(struct hl_block *));
    if (all == NULL || slots == NULL) {
        free(all);
        free(slots);
        return HL_ERR_NO_MEM;
    }
    all->off = first;
    all->len = len;
    *b = (struct hl_blocks){
        .granule = granule, .lowest = all, .by_off = slots, .slots = SLOTS_LEAST, .first = first, .len = len};
    enter_free(b, all);
    return 0;
}

void hl_blocks_fini(struct hl_blocks *b)
{
    while (b->lowest != NULL) {
        struct hl_block *after = b->lowest->after;
        free(b->lowest);
        b->lowest = after;
    }
    free(b->by_off);
    *b = (struct hl_blocks){.granule = b->granule};
}

/* ---- taking and giving ---- */

/* Splits `n`, which is in no set, at `off`: the part from there on becomes the block `rest`. */
static void cut_block(struct hl_block *n, struct hl_block *rest, size_t off)
{
    *rest = (struct hl_block){.off = off, .len = n->off + n->len - off, .before = n, .after = n->after};
    if (n->after != NULL) {
        n->after->before = rest;
    }
    n->after = rest;
    n->len = off - n->off;
}

/* Joins `n` and the block behind it, which is in no set. */
static void absorb_behind(struct hl_block *n)
{
    struct hl_block *behind = n->after;
    n->len += behind->len;
    n->after = behind->after;
    if (n->after != NULL) {
        n->after->before = n;
    }
    free(behind);
}

int hl_blocks_take(struct hl_blocks *b, size_t len, size_t align, size_t *off)
{
    if (len > b->len) {
        return HL_ERR_NO_MEM;
    }
    len = hl_round_up(len, b->granule);
    struct hl_block *n = find_best_fit(b, len);
    if (n != NULL && !does_fit_aligned(n, len, align)) {
        /* Take a block that is long enough for any offset of its begin, or else one that happens to fit. */
        n = align <= b->len ? find_best_fit(b, len + align - b->granule) : NULL;
        n = n != NULL ? n : first_aligned(b, len, align);
    }
    if (n == NULL) {
        return HL_ERR_NO_MEM;
    }
    /* There are at most two cuts: their records are allocated before anything changes. */
    struct hl_block *spare[2] = {malloc(sizeof *n), malloc(sizeof *n)};
    if (spare[0] == NULL || spare[1] == NULL) {
        free(spare[0]);
        free(spare[1]);
        return HL_ERR_NO_MEM;
    }
    size_t at = hl_round_up(n->off, align);
    int used = 0;
    leave_free(b, n);
    if (at > n->off) {
        cut_block(n, spare[used], at);
        enter_free(b, n);
        n = spare[used++];
    }
    if (n->len > len) {
        cut_block(n, spare[used], at + len);
        enter_free(b, spare[used++]);
    }
    enter_taken(b, n);
    *off = at;
    for (; used < 2; used++) {
        free(spare[used]);
    }
    return 0;
}

size_t hl_blocks_largest(const struct hl_blocks *b)
{
    const struct hl_block *n = b->by_len;
    while (n != NULL && n->right != NULL) {
        n = n->right;
    }
    return n != NULL ? n->len : 0;
}

size_t hl_blocks_len_at(const struct hl_blocks *b, size_t off)
{
    const struct hl_block *n = taken_at(b, off);
    return n != NULL ? n->len : 0;
}

void hl_blocks_mark(struct hl_blocks *b, size_t off)
{
    taken_at(b, off)->marked = true;
}

bool hl_blocks_is_marked(const struct hl_blocks *b, size_t off)
{
    const struct hl_block *n = taken_at(b, off);
    return n != NULL && n->marked;
}

/* Joins `n`, which is in no set, with the free block behind it, if there is one. */
static void join_behind(struct hl_blocks *b, struct hl_block *n)
{
    if (n->after != NULL && !n->after->taken) {
        leave_free(b, n->after);
        absorb_behind(n);
    }
}

void hl_blocks_give(struct hl_blocks *b, size_t off)
{
    struct hl_block *n = taken_at(b, off);
    assert(n != NULL);
    leave_taken(b, n);
    join_behind(b, n);
    if (n->before != NULL && !n->before->taken) {
        n = n->before;
        leave_free(b, n);
        absorb_behind(n);
    }
    enter_free(b, n);
}

int hl_blocks_resize(struct hl_blocks *b, size_t off, size_t len)
{
    struct hl_block *n = taken_at(b, off);
    if (len > b->len) {
        return HL_ERR_NO_MEM;
    }
    len = hl_round_up(len, b->granule);
    struct hl_block *behind = n->after != NULL && !n->after->taken ? n->after : NULL;
    if (len > n->len + (behind != NULL ? behind->len : 0)) {
        return HL_ERR_NO_MEM;
    }
    struct hl_block *rest = malloc(sizeof *rest);
    if (rest == NULL) {
        return HL_ERR_NO_MEM;
    }
    b->taken += len - n->len; /* unsigned: may wrap around */
    join_behind(b, n);        /* n keeps its place in the hash, which is by offset */
    if (n->len > len) {
        cut_block(n, rest, off + len);
        enter_free(b, rest);
    } else {
        free(rest);
    }
    return 0;
}

/* ---- for tests ---- */

/* Number of blocks in a tree, with those that hang behind them; sets *ok to false when one is out of
 * place. */
static size_t count_free(const struct hl_block *n, bool *ok)
{
    if (n == NULL) {
        return 0;
    }
    const struct hl_block *l = n->left, *r = n->right;
    *ok = *ok && n->front == NULL && (l == NULL || (l->len < n->len && has_priority(n, l))) &&
          (r == NULL || (r->len > n->len && has_priority(n, r)));
    size_t same = 1;
    for (const struct hl_block *k = n; k->behind != NULL; k = k->behind, same++) {
        *ok = *ok && k->behind->front == k && k->behind->len == n->len;
    }
    return same + count_free(l, ok) + count_free(r, ok);
}

bool hl_blocks_sane(const struct hl_blocks *b)
{
    bool ok = true, was_free = false;
    size_t in_tree = count_free(b->by_len, &ok), at = b->first, taken = 0, n_taken = 0, n_free = 0;
    for (const struct hl_block *n = b->lowest; n != NULL; was_free = !n->taken, n = n->after) {
        ok = ok && n->off == at && n->len > 0 && n->len % b->granule == 0 && (n->taken || !was_free) &&
             (n->after == NULL || n->after->before == n) && (!n->taken || taken_at(b, at) == n);
        at += n->len;
        taken += n->taken ? n->len : 0;
        n_taken += n->taken;
        n_free += !n->taken;
    }
    return ok && at == b->first + b->len && taken == b->taken && n_taken == b->count && n_free == in_tree;
}
