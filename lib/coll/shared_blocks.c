/* Gather, scatter and allgather over node-shared memory, with equal and with different blocks: each cell says
 * how its block travels, so no member needs to know another's count. */
#include "err.h"
#include "shared.h"

#include <string.h>

static void copy_shared_block(struct hl_shared *s, struct hl_data to, struct hl_data from)
{
    hl_shared_fail(s, hl_data_copy(to, from));
}

void hl_shared_gather(struct hl_shared_call *x)
{
    const struct hl_coll_call *c = x->c;
    struct hl_shared *s = x->s;
    int root = s->board->places[c->root];

    hl_shared_begin(s);
    if (s->me != root) {
        bool read = hl_shared_give(s, hl_data_side(&c->send));
        hl_shared_wake(s, root);
        hl_shared_end(s);
        if (read) {
            hl_shared_await_end(s, root);
        }
        return;
    }
    for (int i = 1; i < s->n; i++) {
        int from = hl_rank_behind(root, i, s->n);
        const struct hl_cell *cell = hl_shared_await(s, from);
        if (cell != NULL) {
            hl_shared_take(s, from, cell, hl_coll_block(&c->recv, s->board->ranks[from]));
        }
    }
    hl_shared_end(s);
    hl_shared_wake_all(s);
    if (!hl_coll_in_place(&c->send)) {
        copy_shared_block(s, hl_coll_block(&c->recv, c->root), hl_data_side(&c->send));
    }
}

void hl_shared_allgather(struct hl_shared_call *x)
{
    const struct hl_coll_call *c = x->c;
    struct hl_shared *s = x->s;
    struct hl_data mine = hl_coll_block(&c->recv, c->comm->rank);
    bool in_place = hl_coll_in_place(&c->send), many = false;

    hl_shared_begin(s);
    bool read = hl_shared_give(s, in_place ? mine : hl_data_side(&c->send));
    hl_shared_wake_all(s);
    if (!in_place) {
        copy_shared_block(s, mine, hl_data_side(&c->send));
    }
    for (int i = 1; i < s->n; i++) {
        int from = hl_rank_behind(s->me, i, s->n);
        const struct hl_cell *cell = hl_shared_await(s, from);
        if (cell != NULL) {
            many = many || cell->kind == HL_CELL_ADDR;
            hl_shared_take(s, from, cell, hl_coll_block(&c->recv, s->board->ranks[from]));
        }
    }
    hl_shared_end(s);
    if (many) {
        hl_shared_wake_all(s);
    }
    if (read) {
        hl_shared_await_all(s);
    }
}

/* ---- Scatter: one cell with a table of the blocks ---- */

struct block_entry {
    uint64_t where; /* offset in the cell, or an address */
    uint64_t len;
};

/* Packs the blocks one behind the other at `to`; where[] counts from `base`. */
static void pack_blocks(struct hl_shared *s, const struct hl_coll_side *side, struct block_entry *table,
                        char *to, uint64_t base)
{
    for (int i = 0; i < s->n; i++) {
        struct hl_data block = hl_coll_block(side, s->board->ranks[i]);
        int64_t bytes = block.count * block.type->size;
        table[i] = (struct block_entry){base, (uint64_t)bytes};
        if (i != s->me && bytes > 0) {
            hl_shared_fail(s, hl_type_pack(block.type, block.count, block.buf, 0, to, bytes));
            to += bytes;
            base += (uint64_t)bytes;
        }
    }
}

/* Puts the blocks' addresses into the table. False: a block's layout is not one piece of memory. */
static bool find_blocks(struct hl_shared *s, const struct hl_coll_side *side, struct block_entry *table)
{
    for (int i = 0; i < s->n; i++) {
        struct hl_data block = hl_coll_block(side, s->board->ranks[i]);
        char *start = NULL;
        if (block.count > 0 && !hl_type_block(block.type, block.count, block.buf, &start)) {
            return false;
        }
        table[i] =
            (struct block_entry){(uint64_t)(uintptr_t)start, (uint64_t)(block.count * block.type->size)};
    }
    return true;
}

static uint64_t bytes_to_send(const struct hl_shared *s, const struct hl_coll_side *side)
{
    uint64_t sum = 0;
    for (int i = 0; i < s->n; i++) {
        sum += i == s->me ? 0 : (uint64_t)hl_coll_block_bytes(side, s->board->ranks[i]);
    }
    return sum;
}

/* Posts the table, and the blocks if they fit behind it. True: others read from my memory. */
static bool post_block_table(struct hl_shared *s, const struct hl_coll_side *side)
{
    uint64_t bytes = bytes_to_send(s, side), head = (uint64_t)s->n * sizeof(struct block_entry);
    bool fits = head + bytes <= HL_SHARED_DATA, table_fits = head <= HL_SHARED_DATA;
    struct block_entry *table = hl_shared_room(s), *own = NULL;

    if (!table_fits) {
        table = own = hl_shared_temp(s, head + bytes);
    }
    if (fits) {
        pack_blocks(s, side, table, (char *)table + head, head);
    } else if (table != NULL && !find_blocks(s, side, table)) {
        char *packed = own != NULL ? (char *)own + head : hl_shared_temp(s, bytes);
        if (packed != NULL) {
            pack_blocks(s, side, table, packed, (uint64_t)(uintptr_t)packed);
        }
    }
    bool ok = s->err == 0;
    hl_shared_post(s, fits ? HL_CELL_DATA : HL_CELL_ADDR, !ok ? 0 : table_fits ? HL_SHARED_DATA : head, own);
    return ok && !fits;
}

/* Copies the block that my row of the root's table names. */
static void copy_table_row(struct hl_shared *s, int root, const struct hl_cell *cell, struct hl_data to)
{
    struct block_entry mine;
    const char *table = cell->data;
    uint32_t kind = HL_ONCE(cell->kind);
    uint64_t addr = HL_ONCE(cell->addr);

    if (cell->len == 0) {
        return; /* the root failed */
    }
    if (kind == HL_CELL_PIECE) {
        hl_shared_take(s, root, cell, to); /* the root took another algorithm, as its size differs */
        return;
    }
    if (addr != 0) {
        hl_shared_read(s, root, addr + (uint64_t)s->me * sizeof mine, &mine, sizeof mine);
        if (s->err != 0) {
            return;
        }
    } else {
        memcpy(&mine, table + (size_t)s->me * sizeof mine, sizeof mine);
    }
    if (kind == HL_CELL_ADDR) {
        hl_shared_take_from(s, root, mine.where, mine.len, to);
        return;
    }
    bool in_cell = mine.where <= HL_SHARED_DATA && mine.len <= HL_SHARED_DATA - mine.where;
    int64_t room = to.count * to.type->size;
    if (!in_cell || (int64_t)mine.len > room) {
        hl_shared_fail(s, hl_coll_say_long((int64_t)mine.len, hl_shared_rank_at(s, root), room));
    }
    if (in_cell) {
        copy_shared_block(s, to, hl_data_bytes(table + mine.where, mine.len));
    }
}

void hl_shared_scatter(struct hl_shared_call *x)
{
    const struct hl_coll_call *c = x->c;
    struct hl_shared *s = x->s;
    int root = s->board->places[c->root];

    hl_shared_begin(s);
    if (s->me != root) {
        const struct hl_cell *cell = hl_shared_await(s, root);
        if (cell != NULL) {
            copy_table_row(s, root, cell, hl_data_side(&c->recv));
        }
        hl_shared_end(s);
        hl_shared_wake(s, root);
        return;
    }
    bool read = post_block_table(s, &c->send);
    hl_shared_end(s);
    hl_shared_wake_all(s);
    if (!hl_coll_in_place(&c->recv)) {
        copy_shared_block(s, hl_data_side(&c->recv), hl_coll_block(&c->send, c->root));
    }
    if (read) {
        hl_shared_await_all(s);
    }
}
