/* The tree behind a datatype. Nodes are immutable once shared and counted; any thread.
 *
 *   BLOCK   `size` dense bytes at off
 *   PAIR    n pairs with padding inside: at off, next to each other
 *   VEC     n times child: at off, off + stride, ...
 *   IDX     rows i < n: len[i] times child, stride apart, the first at off + disp[i]
 *   STRUCT  rows i < n: children[i] at off + disp[i]
 */
#ifndef HL_LOOP_H
#define HL_LOOP_H

#include "type.h"

enum hl_loop_kind { HL_LOOP_BLOCK, HL_LOOP_PAIR, HL_LOOP_VEC, HL_LOOP_IDX, HL_LOOP_STRUCT };

struct hl_loop {
    hl_a32 refs;
    uint8_t kind;
    uint8_t basic; /* basic type of all elements below, or HL_BASIC_MIXED */
    bool fixed;    /* never freed: belongs to a predefined type */
    bool narrow;   /* a leaf of C's long, which external32 keeps in 4 bytes */
    uint32_t depth;
    bool even; /* an IDX whose rows all have the same length */
    int64_t off;
    int64_t size;     /* packed bytes */
    int64_t elements; /* basic elements; meaningless where blocks of different types were merged */
    int64_t n, stride;
    struct hl_loop *child;
    int64_t *disp, *len;
    int64_t *before; /* n + 1 prefix sums of packed bytes */
    struct hl_loop **children;
};

/* limits recursion while building and freeing; only STRUCT in STRUCT gets there */
#define HL_LOOP_MAX_DEPTH 2000

/* Every maker consumes the caller's references to the nodes it is given, also when it fails. It returns NULL
 * when there is no memory, or a given node is NULL. `merge`: join neighbouring blocks even of different basic
 * types. A node of size 0 is a BLOCK without bytes. */
struct hl_loop *hl_loop_ref(struct hl_loop *l);
void hl_loop_unref(struct hl_loop *l);
struct hl_loop *hl_loop_shift(struct hl_loop *l, int64_t by);
struct hl_loop *hl_loop_vec(int64_t n, int64_t stride, struct hl_loop *child);
struct hl_loop *hl_loop_idx(int64_t n, const int64_t *disp, const int64_t *len, int64_t blocklen,
                            int64_t stride, struct hl_loop *child);
struct hl_loop *hl_loop_struct(int64_t n, const int64_t *disp, struct hl_loop **children, bool merge);

/* Returns the tree with neighbours merged; does not consume its argument. */
struct hl_loop *hl_loop_merged(struct hl_loop *l);

/* The loops of the predefined types, by handle - 0x200. */
extern struct hl_loop hl_loop_predefined[256];

/* Bytes of a pair's value, which comes first; its index is at half the extent. */
HL_INLINE int64_t hl_loop_value_bytes(enum hl_basic pair)
{
    size_t size = hl_op_size(pair);

    return (int64_t)(size == hl_op_extent(pair) ? size / 2 : size - sizeof(int));
}

/* The row of an IDX or STRUCT in which packed byte `at` lies. */
int64_t hl_loop_row(const struct hl_loop *l, int64_t at);

/* Fetches the next run into c->run, which is empty; false at the end of the walk. */
bool hl_type_cursor_fetch(struct hl_type_cursor *c);

/* Makes c->run hold something; false at the end of the walk. */
HL_INLINE bool hl_type_cursor_fill(struct hl_type_cursor *c)
{
    return HL_LIKELY(c->run.times != 0) || hl_type_cursor_fetch(c);
}

/* Moves a run's beginning behind `times` blocks. */
HL_INLINE void hl_run_pass(struct hl_run *run, int64_t times)
{
    run->times -= times;
    if (run->disp == NULL) {
        run->addr = hl_type_at(run->addr, times * run->stride);
        return;
    }
    run->disp += times;
    if (run->lens != NULL) {
        run->lens += times;
    }
}

/* Blocks at equal distances on both sides, in rows at equal distances. */
struct hl_grid {
    char *to;
    const char *from;
    int64_t a, b, times;        /* distances between blocks; blocks in a row */
    int64_t a_row, b_row, rows; /* distances between rows; number of rows */
};

/* Copies the blocks, of `len` bytes each. */
void hl_grid_copy(const struct hl_grid *grid, int64_t len);

#endif
