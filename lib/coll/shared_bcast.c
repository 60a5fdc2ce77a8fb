/* Barrier and broadcast over node-shared memory. */
#include "shared.h"

/* Barrier of up to HL_SHARED_WIDTH members: each waits for all others' cells. */
static void meet_flat(struct hl_shared *s)
{
    (void)hl_shared_room(s);
    hl_shared_post(s, HL_CELL_DATA, 0, NULL);
    hl_shared_wake_all(s);
    hl_shared_await_mates(s);
    for (int i = 1; i < s->n; i++) {
        (void)hl_shared_await(s, hl_rank_behind(s->me, i, s->n));
    }
}

/* Barrier of more members: a tree with the first member as its root, who meets the first members of other
 * nodes before it answers. */
static void meet_tree(struct hl_shared *s)
{
    struct hl_coll_call across = {.what = HL_COLL_BARRIER};

    for (int step = 1; step < s->n; step *= HL_SHARED_WIDTH) {
        int parent = s->me - s->me % (step * HL_SHARED_WIDTH);
        if (parent != s->me) {
            (void)hl_shared_room(s);
            hl_shared_post(s, HL_CELL_DATA, 0, NULL);
            hl_shared_wake(s, parent);
            (void)hl_shared_await(s, 0);
            return;
        }
        for (int k = 1; k < HL_SHARED_WIDTH && s->me + k * step < s->n; k++) {
            (void)hl_shared_await(s, s->me + k * step);
        }
    }
    if (s->board->nodes > 1) {
        hl_shared_leads_run(s, &across);
    }
    (void)hl_shared_room(s);
    hl_shared_post(s, HL_CELL_DATA, 0, NULL);
    hl_shared_wake_all(s);
}

void hl_shared_barrier(struct hl_shared *s)
{
    hl_shared_begin(s);
    if (s->n <= HL_SHARED_WIDTH && s->board->nodes == 1) {
        meet_flat(s);
    } else {
        meet_tree(s);
    }
    hl_shared_end_last(s);
}

/* Sends data in several cells. Each says whether more follows in the next operation, so only the root must
 * know how the data travels. */
static void send_pieces(struct hl_shared *s, struct hl_data data)
{
    int64_t bytes = data.count * data.type->size, n;

    for (int64_t at = 0; at < bytes; at += n) {
        if (at > 0) {
            hl_shared_begin(s);
        }
        n = bytes - at < HL_SHARED_DATA ? bytes - at : HL_SHARED_DATA;
        void *room = hl_shared_room(s);
        hl_shared_fill(s, data, at, room, n);
        hl_shared_post(s, at + n < bytes ? HL_CELL_MORE : HL_CELL_DATA, (uint64_t)n, NULL);
        hl_shared_wake_all(s);
        hl_shared_end(s);
    }
}

static void bcast_from_me(struct hl_shared *s, struct hl_data data)
{
    int64_t bytes = data.count * data.type->size;

    if (bytes > HL_SHARED_DATA && (bytes <= (int64_t)HL_SHARED_ROOTED || !s->board->reads)) {
        send_pieces(s, data);
        return;
    }
    bool read = hl_shared_give(s, data);
    hl_shared_wake_all(s);
    hl_shared_end_last(s);
    if (read) {
        hl_shared_await_all(s);
    }
}

static void bcast_to_me(struct hl_shared *s, int root, struct hl_data data)
{
    const struct hl_cell *cell = hl_shared_await(s, root);
    int64_t at = 0;

    while (cell != NULL && cell->kind == HL_CELL_MORE) {
        at += hl_shared_take_piece(s, cell, data, at);
        hl_shared_end(s);
        hl_shared_wake(s, root);
        hl_shared_begin(s);
        cell = hl_shared_await(s, root);
    }
    if (cell != NULL && at > 0) {
        hl_shared_take_piece(s, cell, data, at);
    } else if (cell != NULL) {
        hl_shared_take(s, root, cell, data);
    }
    hl_shared_end_last(s);
    hl_shared_wake(s, root);
}

void hl_shared_bcast(struct hl_shared *s, struct hl_data data, int root_place)
{
    hl_shared_begin(s);
    if (root_place == s->me) {
        bcast_from_me(s, data);
    } else {
        bcast_to_me(s, root_place, data);
    }
}
