/* The calls of all ranks, and what must come out of those that move data. */
#ifndef COLL_CASES_H
#define COLL_CASES_H

#include "coll_bufs.h"

/* A side with a block for each rank, in random places. */
static struct hl_coll_side side_of_blocks(bool different, const int64_t *counts, struct image *m)
{
    int64_t elements = 0, at = 0;
    struct hl_type *t = types[4][rand() % TYPES];
    struct hl_coll_side side = {.type = t, .count = counts[0]};

    if (different) {
        int64_t *displs = malloc((size_t)sim_size * sizeof *displs);
        for (int i = sim_size - 1; i >= 0; i--) {
            displs[i] = at;
            at += counts[i] + rand() % 3;
        }
        side.counts = counts;
        side.displs = displs;
    }
    for (int i = 0; i < sim_size; i++) {
        elements += counts[i] + 2;
    }
    *m = image_of(t, 0, elements);
    side.buf = m->buf;
    return side;
}

static struct hl_coll_side side_of_one(int64_t count, struct image *m)
{
    struct hl_type *t = types[4][rand() % TYPES];
    struct hl_coll_side side = {.type = t, .count = count};

    *m = image_of(t, 0, count);
    side.buf = m->buf;
    return side;
}

enum { UNIT = 4, MOST = 40 };

static char block_bytes[SIM_RANKS][SIM_RANKS][UNIT * MOST]; /* [from][to], packed */
static int64_t block_counts[SIM_RANKS][SIM_RANKS];          /* [from][to] */
static int64_t counts_to[SIM_RANKS][SIM_RANKS];             /* the same, [to][from] */

/* shape: 0 all blocks equal, 1 a row each sender, 2 a column each receiver, 3 all different */
static void make_blocks(int shape)
{
    int most = rand() % 4 == 0 ? 1 : rand() % MOST;
    int64_t rows[SIM_RANKS];

    for (int i = 0; i < sim_size; i++) {
        rows[i] = rand() % (most + 1);
    }
    for (int i = 0; i < sim_size; i++) {
        for (int k = 0; k < sim_size; k++) {
            int64_t n = shape == 0 ? most : shape == 1 ? rows[i] : shape == 2 ? rows[k] : rand() % (most + 1);
            block_counts[i][k] = counts_to[k][i] = n;
            for (int b = 0; b < UNIT * MOST; b++) {
                block_bytes[i][k][b] = (char)rand();
            }
        }
    }
}

/* The calls of all ranks and what is in and behind their buffers. */
static struct hl_coll_call calls[SIM_RANKS];
static struct image send_images[SIM_RANKS], recv_images[SIM_RANKS];

static void check_all(const struct hl_coll_row *row)
{
    for (int i = 0; i < sim_size; i++) {
        check_image(&send_images[i], row->name, "send", i);
        check_image(&recv_images[i], row->name, "receive", i);
        free((void *)(uintptr_t)calls[i].send.displs);
        free((void *)(uintptr_t)calls[i].recv.displs);
    }
}

static void begin_call(const struct hl_coll_row *row, int i, int root)
{
    calls[i] = (struct hl_coll_call){.what = row->what, .comm = &sim_comms[i], .root = root};
}

static void fill(const struct image *m, struct hl_data d, const char *packed, bool input)
{
    if (input) {
        put_input(m, &d, packed);
    } else {
        set_bytes(m, false, &d, packed);
    }
}

static void run_bcast(const struct hl_coll_row *row)
{
    int root = rand() % sim_size;

    make_blocks(0);
    for (int i = 0; i < sim_size; i++) {
        begin_call(row, i, root);
        send_images[i] = new_image(0, 0);
        calls[i].recv = side_of_one(block_counts[0][0], &recv_images[i]);
        struct hl_coll_side *r = &calls[i].recv;
        fill(&recv_images[i], hl_data(r->buf, r->count, r->type), block_bytes[0][0], i == root);
    }
    sim_run(row, calls);
    check_all(row);
}

/* Gather and its like: rank i's one block goes to all, or to the root. */
static void run_gather(const struct hl_coll_row *row, bool different, bool to_all)
{
    int root = rand() % sim_size;
    bool in_place = rand() % 2;

    make_blocks(different ? 1 : 0);
    for (int i = 0; i < sim_size; i++) {
        bool gets = to_all || i == root, in = in_place && gets;
        begin_call(row, i, root);
        calls[i].send = side_of_one(block_counts[i][i], &send_images[i]);
        calls[i].recv = side_of_blocks(different, counts_to[i], &recv_images[i]);
        struct hl_coll_side *s = &calls[i].send, *r = &calls[i].recv;
        fill(&send_images[i], hl_data(s->buf, s->count, s->type), block_bytes[i][0], true);
        for (int k = 0; k < sim_size && gets; k++) {
            fill(&recv_images[i], hl_coll_block(r, k), block_bytes[k][0], in && k == i);
        }
        if (in) {
            s->buf = MPI_IN_PLACE;
            s->type = NULL;
        }
    }
    sim_run(row, calls);
    check_all(row);
}

static void run_scatter(const struct hl_coll_row *row, bool different)
{
    int root = rand() % sim_size;
    bool in_place = rand() % 2;

    make_blocks(different ? 2 : 0);
    for (int i = 0; i < sim_size; i++) {
        begin_call(row, i, root);
        calls[i].send = side_of_blocks(different, block_counts[i], &send_images[i]);
        calls[i].recv = side_of_one(block_counts[i][i], &recv_images[i]);
        struct hl_coll_side *s = &calls[i].send, *r = &calls[i].recv;
        for (int k = 0; k < sim_size && i == root; k++) {
            fill(&send_images[i], hl_coll_block(s, k), block_bytes[0][k], true);
        }
        if (i == root && in_place) {
            r->buf = MPI_IN_PLACE;
            r->type = NULL;
        } else {
            fill(&recv_images[i], hl_data(r->buf, r->count, r->type), block_bytes[0][i], false);
        }
    }
    sim_run(row, calls);
    check_all(row);
}

static void run_alltoall(const struct hl_coll_row *row, bool different)
{
    bool in_place = rand() % 3 == 0;

    make_blocks(different ? 3 : 0);
    for (int i = 0; i < sim_size && in_place; i++) {
        for (int k = 0; k < i; k++) { /* in place, both directions have one length */
            block_counts[i][k] = counts_to[k][i] = counts_to[i][k];
        }
    }
    for (int i = 0; i < sim_size; i++) {
        begin_call(row, i, 0);
        calls[i].send = side_of_blocks(different, block_counts[i], &send_images[i]);
        calls[i].recv = side_of_blocks(different, counts_to[i], &recv_images[i]);
        struct hl_coll_side *s = &calls[i].send, *r = &calls[i].recv;
        for (int k = 0; k < sim_size; k++) {
            struct hl_data in = hl_coll_block(r, k);
            fill(&send_images[i], hl_coll_block(s, k), block_bytes[i][k], true);
            if (in_place) {
                set_bytes(&recv_images[i], true, &in, block_bytes[i][k]);
            }
            set_bytes(&recv_images[i], false, &in, block_bytes[k][i]);
        }
        if (in_place) {
            s->buf = MPI_IN_PLACE;
            s->type = NULL;
        }
    }
    sim_run(row, calls);
    check_all(row);
}

#endif
