/* Cells that hold what nobody has posted: a peer's stray writes lead to an error, not beyond the cells. */
#ifndef COLL_CELLS_H
#define COLL_CELLS_H

#include "shared.h"
#include "unit.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { CELL_LONG = 1 << 20 };

static struct hl_shared_area *cell_areas[2];
static struct hl_shared *cell_members[2];

static void wake_no_cells(const int *node_ranks, int n)
{
}

/* Two members; behind their areas is no memory. */
static void make_cells(void)
{
    size_t page = 4096, len = hl_round_up(sizeof(struct hl_shared_area), page);
    for (int i = 0; i < 2; i++) {
        char *at = mmap(NULL, len + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        NEED(at != MAP_FAILED && mprotect(at + len, page, PROT_NONE) == 0, "no memory");
        cell_areas[i] = (struct hl_shared_area *)(void *)(at + len - sizeof(struct hl_shared_area));
        hl_shared_clear(cell_areas[i]);
    }
    for (int i = 0; i < 2; i++) {
        cell_members[i] = hl_shared_make(cell_areas, 2, i);
        cell_members[i]->wake = wake_no_cells;
    }
}

static void drop_cells(void)
{
    size_t page = 4096, len = hl_round_up(sizeof(struct hl_shared_area), page);
    for (int i = 0; i < 2; i++) {
        munmap((char *)cell_areas[i] + sizeof(struct hl_shared_area) - len, len + page);
        free(cell_members[i]);
    }
}

/* Member 0 posts a cell; it is returned for changes. */
static struct hl_cell *post_cell(enum hl_cell_kind kind)
{
    hl_shared_begin(cell_members[0]);
    memset(hl_shared_room(cell_members[0]), 1, HL_SHARED_DATA);
    hl_shared_post(cell_members[0], kind, HL_SHARED_DATA, NULL);
    hl_shared_begin(cell_members[1]);
    return (struct hl_cell *)(uintptr_t)hl_shared_await(cell_members[1], 0);
}

START_TEST(a_cell_has_no_more_bytes_than_it_can_hold)
{
    char *to = malloc(CELL_LONG);
    for (int piece = 0; piece < 2; piece++) {
        make_cells();
        struct hl_shared *s = cell_members[1];
        struct hl_cell *cell = post_cell(piece ? HL_CELL_MORE : HL_CELL_DATA);
        cell->len = CELL_LONG;
        if (piece) {
            ck_assert_int_eq(hl_shared_take_piece(s, cell, hl_data_bytes(to, CELL_LONG), 0), HL_SHARED_DATA);
        } else {
            hl_shared_take(s, 0, cell, hl_data_bytes(to, CELL_LONG));
        }
        ck_assert_int_eq(s->err, HL_ERR_TRUNCATE);
        drop_cells();
    }
    free(to);
}
END_TEST

START_TEST(a_table_of_blocks_names_bytes_of_its_cell)
{
    static const uint64_t rows[][2] = {
        {CELL_LONG, 8}, {HL_SHARED_DATA - 4, 8}, {0, CELL_LONG}, {UINT64_MAX - 4, 8}};
    int places[] = {0, 1}, ranks[] = {0, 1};
    struct hl_board board = {.n = 2, .me = 1, .nodes = 1, .places = places, .ranks = ranks};
    char *to = malloc(CELL_LONG);
    for (size_t i = 0; i < HL_COUNT_OF(rows); i++) {
        make_cells();
        struct hl_coll_call call = {.what = HL_COLL_SCATTER, .recv = hl_coll_bytes(to, CELL_LONG)};
        struct hl_shared_call x = {.s = cell_members[1], .c = &call};
        hl_shared_begin(cell_members[0]);
        memcpy((char *)hl_shared_room(cell_members[0]) + sizeof rows[i], rows[i], sizeof rows[i]);
        hl_shared_post(cell_members[0], HL_CELL_DATA, HL_SHARED_DATA, NULL);
        x.s->board = &board;
        hl_shared_scatter(&x);
        ck_assert_int_eq(x.s->err, HL_ERR_TRUNCATE);
        drop_cells();
    }
    free(to);
}
END_TEST

#endif
