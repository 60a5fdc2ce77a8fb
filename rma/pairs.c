/* The numbers of posts, starts, completes and waits: one row for each peer that ever took part. */
#include "pairs.h"

#include <stdlib.h>

#include "err.h"
#include "util.h"

#define FIRST_MASK 15u

int hl_pairs_make(int node_size, struct hl_pairs **made)
{
    struct hl_pairs *p = calloc(1, sizeof *p + HL_SIDES * (size_t)node_size * sizeof p->seen[0]);
    if (p == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a window's epochs");
    }
    p->mutex = (struct hl_mutex)HL_MUTEX_INIT;
    *made = p;
    return 0;
}

void hl_pairs_free(struct hl_pairs *p)
{
    if (p != NULL) {
        free(p->rows);
        free(p->side[HL_ACCESS].members);
        free(p->side[HL_EXPOSURE].members);
        free(p);
    }
}

/* The peer's row, or the empty row where it belongs. */
static struct hl_pair *pair_row(struct hl_pair *rows, uint32_t mask, int peer)
{
    uint32_t at = (uint32_t)hl_mix64((uint64_t)peer) & mask;
    while (rows[at].peer != 0 && rows[at].peer != peer + 1) {
        at = (at + 1) & mask;
    }
    return &rows[at];
}

static int reserve_pairs(struct hl_pairs *p, uint32_t more)
{
    uint32_t mask = p->rows == NULL ? FIRST_MASK : p->mask;
    while ((p->used + more) * 2 > mask) {
        mask = mask * 2 + 1;
    }
    if (p->rows != NULL && mask == p->mask) {
        return 0;
    }
    struct hl_pair *rows = calloc((size_t)mask + 1, sizeof *rows);
    if (rows == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the epochs of %u ranks", p->used + more);
    }
    for (uint32_t i = 0; p->rows != NULL && i <= p->mask; i++) {
        if (p->rows[i].peer != 0) {
            *pair_row(rows, mask, p->rows[i].peer - 1) = p->rows[i];
        }
    }
    free(p->rows);
    p->rows = rows;
    p->mask = mask;
    return 0;
}

/* The peer's row, made if there is none. The caller has reserved room. */
static struct hl_pair *pair_of(struct hl_pairs *p, int peer)
{
    struct hl_pair *row = pair_row(p->rows, p->mask, peer);
    p->used += row->peer == 0;
    row->peer = peer + 1;
    return row;
}

int hl_pairs_begin(struct hl_pairs *p, enum hl_side side, int *members, int n, bool wait)
{
    hl_mutex_lock(&p->mutex);
    int rc = p->side[side].open
                 ? hl_err_say(HL_ERR_RMA_SYNC,
                              side == HL_ACCESS ? "MPI_Win_start was called before, and no MPI_Win_complete"
                                                : "MPI_Win_post was called before, and no MPI_Win_wait")
                 : reserve_pairs(p, (uint32_t)n);
    if (rc == 0) {
        uint32_t missing = 0;
        for (int i = 0; i < n; i++) {
            struct hl_pair *row = pair_of(p, members[i]);
            row->side[side].mine++;
            row->side[side].wanted = wait && row->side[side].theirs < row->side[side].mine;
            missing += row->side[side].wanted;
        }
        free(p->side[side].members);
        p->side[side].members = members;
        p->side[side].n = n;
        p->side[side].open = true;
        /* relaxed: no other thread looks at it before the mutex is left. */
        hl_a32_store_relaxed(&p->side[side].missing, missing);
    }
    hl_mutex_unlock(&p->mutex);
    return rc;
}

uint64_t hl_pairs_number(struct hl_pairs *p, enum hl_side side, int peer)
{
    hl_mutex_lock(&p->mutex);
    uint64_t number = pair_row(p->rows, p->mask, peer)->side[side].mine;
    hl_mutex_unlock(&p->mutex);
    return number;
}

int hl_pairs_arrive(struct hl_pairs *p, enum hl_side side, int peer, uint64_t number, bool failed)
{
    hl_mutex_lock(&p->mutex);
    int rc = reserve_pairs(p, 1);
    if (rc == 0) {
        struct hl_pair *row = pair_of(p, peer);
        if (number > row->side[side].theirs) {
            row->side[side].theirs = number;
            row->side[side].failed = failed;
        }
        if (row->side[side].wanted && number >= row->side[side].mine) {
            row->side[side].wanted = false;
            /* full: passes on what the peer did; pairs with the acquire in hl_pairs_ready. */
            rc = hl_a32_add_full(&p->side[side].missing, UINT32_MAX) == 1;
        }
    }
    hl_mutex_unlock(&p->mutex);
    return rc;
}

bool hl_pairs_is_missing(struct hl_pairs *p, enum hl_side side, int peer)
{
    hl_mutex_lock(&p->mutex);
    bool missing = p->rows != NULL && pair_row(p->rows, p->mask, peer)->side[side].wanted;
    hl_mutex_unlock(&p->mutex);
    return missing;
}

int hl_pairs_end(struct hl_pairs *p, enum hl_side side, int *failed)
{
    hl_mutex_lock(&p->mutex);
    int rc = p->side[side].open
                 ? 0
                 : hl_err_say(HL_ERR_RMA_SYNC, side == HL_ACCESS ? "MPI_Win_start was not called before"
                                                                 : "MPI_Win_post was not called before");
    *failed = -1;
    for (int i = p->side[side].n - 1; rc == 0 && i >= 0; i--) {
        struct hl_pair *row = pair_of(p, p->side[side].members[i]);
        row->side[side].wanted = false;
        if (row->side[side].failed && row->side[side].theirs == row->side[side].mine) {
            *failed = row->peer - 1;
        }
    }
    p->side[side].open = false;
    /* relaxed: the next epoch is opened under the mutex. */
    hl_a32_store_relaxed(&p->side[side].missing, 0);
    hl_mutex_unlock(&p->mutex);
    return rc;
}

bool hl_pairs_is_open(struct hl_pairs *p, enum hl_side side)
{
    hl_mutex_lock(&p->mutex);
    bool open = p->side[side].open;
    hl_mutex_unlock(&p->mutex);
    return open;
}
