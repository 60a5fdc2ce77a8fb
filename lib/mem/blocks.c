/* Best fit by (length, offset) over two treaps.
 *
 *   address order:  [taken]<->[free]<->[taken]<->[free]      two free blocks never touch
 *                     |          |
 *                  by_off      by_len                        each block is in exactly one tree
 *
 * Priorities are a hash of the offset, so the shape of the trees, too, depends only on the calls. */
#include "blocks.h"

#include "err.h"
#include "util.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

struct hl_block {
    size_t off, len;
    bool taken;
    struct hl_block *before, *after; /* neighbours by address */
    struct hl_block *left, *right;   /* in its tree */
};

static bool less(const struct hl_block *a, const struct hl_block *b)
{
    if (!a->taken && a->len != b->len) {
        return a->len < b->len;
    }
    return a->off < b->off;
}

static bool above(const struct hl_block *a, const struct hl_block *b)
{
    uint64_t x = hl_mix64(a->off + 1), y = hl_mix64(b->off + 1);
    return x > y || (x == y && a->off < b->off);
}

/* Blocks of `t` less than `key` go to *small, the others to *large. */
static void split(struct hl_block *t, const struct hl_block *key, struct hl_block **small,
                  struct hl_block **large)
{
    while (t != NULL) {
        if (less(t, key)) {
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

/* Every block of `a` is less than every one of `b`. */
static struct hl_block *merge(struct hl_block *a, struct hl_block *b)
{
    struct hl_block *root = NULL, **to = &root;
    while (a != NULL && b != NULL) {
        if (above(a, b)) {
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

static struct hl_block **tree_of(struct hl_blocks *b, const struct hl_block *n)
{
    return n->taken ? &b->by_off : &b->by_len;
}

static void enter(struct hl_blocks *b, struct hl_block *n)
{
    struct hl_block **at = tree_of(b, n);
    while (*at != NULL && above(*at, n)) {
        at = less(n, *at) ? &(*at)->left : &(*at)->right;
    }
    split(*at, n, &n->left, &n->right);
    *at = n;
}

static void leave(struct hl_blocks *b, struct hl_block *n)
{
    struct hl_block **at = tree_of(b, n);
    while (*at != n) {
        at = less(n, *at) ? &(*at)->left : &(*at)->right;
    }
    *at = merge(n->left, n->right);
    n->left = n->right = NULL;
}

/* The least free block of at least `len` bytes. */
static struct hl_block *best(const struct hl_blocks *b, size_t len)
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

static struct hl_block *taken_at(const struct hl_blocks *b, size_t off)
{
    struct hl_block *n = b->by_off;
    while (n != NULL && n->off != off) {
        n = off < n->off ? n->left : n->right;
    }
    return n;
}

int hl_blocks_init(struct hl_blocks *b, size_t len, size_t granule)
{
    return hl_blocks_init_at(b, 0, len, granule);
}

int hl_blocks_init_at(struct hl_blocks *b, size_t first, size_t len, size_t granule)
{
    struct hl_block *all = calloc(1, sizeof *all);
    if (all == NULL) {
        return HL_ERR_NO_MEM;
    }
    all->off = first;
    all->len = len;
    *b = (struct hl_blocks){.granule = granule, .first = first, .len = len};
    enter(b, all);
    return 0;
}

static void free_tree(struct hl_block *n)
{
    while (n != NULL) {
        struct hl_block *right = n->right;
        free_tree(n->left);
        free(n);
        n = right;
    }
}

void hl_blocks_fini(struct hl_blocks *b)
{
    free_tree(b->by_off);
    free_tree(b->by_len);
    b->by_off = b->by_len = NULL;
}

/* Splits free `n` so that its part from `off` on is `rest`; both are outside the trees. */
static void cut(struct hl_block *n, struct hl_block *rest, size_t off)
{
    *rest = (struct hl_block){.off = off, .len = n->off + n->len - off, .before = n, .after = n->after};
    if (n->after != NULL) {
        n->after->before = rest;
    }
    n->after = rest;
    n->len = off - n->off;
}

int hl_blocks_take(struct hl_blocks *b, size_t len, size_t align, size_t *off)
{
    if (len > b->len) {
        return HL_ERR_NO_MEM;
    }
    len = hl_round_up(len, b->granule);
    struct hl_block *n = best(b, len);
    if (n != NULL && hl_round_up(n->off, align) + len > n->off + n->len) {
        /* One that holds it wherever it begins. */
        n = align <= b->len ? best(b, len + align - b->granule) : NULL;
    }
    if (n == NULL) {
        return HL_ERR_NO_MEM;
    }
    /* At most two cuts: get their records before anything changes. */
    struct hl_block *spare[2] = {malloc(sizeof *n), malloc(sizeof *n)};
    if (spare[0] == NULL || spare[1] == NULL) {
        free(spare[0]);
        free(spare[1]);
        return HL_ERR_NO_MEM;
    }
    size_t at = hl_round_up(n->off, align);
    int used = 0;
    leave(b, n);
    if (at > n->off) {
        cut(n, spare[used], at);
        enter(b, n);
        n = spare[used++];
    }
    if (n->len > len) {
        cut(n, spare[used], at + len);
        enter(b, spare[used++]);
    }
    n->taken = true;
    enter(b, n);
    b->taken += len;
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

/* Joins `n` with the free block behind it. */
static void absorb(struct hl_blocks *b, struct hl_block *n, struct hl_block *behind)
{
    leave(b, behind);
    n->len += behind->len;
    n->after = behind->after;
    if (n->after != NULL) {
        n->after->before = n;
    }
    free(behind);
}

void hl_blocks_give(struct hl_blocks *b, size_t off)
{
    struct hl_block *n = taken_at(b, off);
    assert(n != NULL);
    leave(b, n);
    b->taken -= n->len;
    n->taken = false;
    if (n->after != NULL && !n->after->taken) {
        absorb(b, n, n->after);
    }
    if (n->before != NULL && !n->before->taken) {
        struct hl_block *front = n->before;
        leave(b, front);
        enter(b, n);
        absorb(b, front, n);
        n = front;
    }
    enter(b, n);
}

/* The free block behind `n` loses its first `len` bytes to it. */
static void lengthen(struct hl_blocks *b, struct hl_block *n, size_t len)
{
    struct hl_block *behind = n->after;
    if (behind->len == len) {
        absorb(b, n, behind);
    } else {
        leave(b, behind);
        behind->off += len;
        behind->len -= len;
        enter(b, behind);
        n->len += len;
    }
    b->taken += len;
}

int hl_blocks_resize(struct hl_blocks *b, size_t off, size_t len)
{
    struct hl_block *n = taken_at(b, off);
    if (len > b->len) {
        return HL_ERR_NO_MEM;
    }
    len = hl_round_up(len, b->granule);
    if (len >= n->len) {
        size_t more = len - n->len;
        if (more > 0 && (n->after == NULL || n->after->taken || n->after->len < more)) {
            return HL_ERR_NO_MEM;
        }
        if (more > 0) {
            lengthen(b, n, more);
        }
        return 0;
    }
    struct hl_block *rest = malloc(sizeof *rest);
    if (rest == NULL) {
        return HL_ERR_NO_MEM;
    }
    b->taken -= n->len - len;
    cut(n, rest, off + len); /* n stays where it is in its tree: that one is by offset */
    if (rest->after != NULL && !rest->after->taken) {
        absorb(b, rest, rest->after);
    }
    enter(b, rest);
    return 0;
}

/* Counts the blocks of a tree; false in *ok when one is out of place. */
static size_t count(const struct hl_block *n, bool taken, bool *ok)
{
    if (n == NULL) {
        return 0;
    }
    const struct hl_block *l = n->left, *r = n->right;
    *ok = *ok && n->taken == taken && (l == NULL || (less(l, n) && above(n, l))) &&
          (r == NULL || (less(n, r) && above(n, r)));
    return 1 + count(l, taken, ok) + count(r, taken, ok);
}

bool hl_blocks_sane(const struct hl_blocks *b)
{
    bool ok = true;
    size_t in_trees = count(b->by_off, true, &ok) + count(b->by_len, false, &ok);
    const struct hl_block *n = b->by_off != NULL ? b->by_off : b->by_len;
    while (n->before != NULL) {
        n = n->before;
    }
    size_t at = b->first, taken = 0, in_list = 0;
    for (bool was_free = false; n != NULL; was_free = !n->taken, n = n->after) {
        ok = ok && n->off == at && n->len > 0 && n->len % b->granule == 0 && (n->taken || !was_free) &&
             (n->after == NULL || n->after->before == n);
        at += n->len;
        taken += n->taken ? n->len : 0;
        in_list++;
    }
    return ok && at == b->first + b->len && taken == b->taken && in_list == in_trees;
}
