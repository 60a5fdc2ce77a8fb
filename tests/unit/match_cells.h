/* Cells of a rank: cases of test_match.c. */
#ifndef HL_MATCH_CELLS_H
#define HL_MATCH_CELLS_H

#include "slots.h"

/* A message gets cells one behind the other, no cell twice, and gives back what it had. */
START_TEST(cells_of_a_message_lie_one_behind_the_other)
{
    struct hl_match_part *mine = aligned_alloc(4096, hl_round_up(sizeof *mine, 4096));
    ck_assert_ptr_nonnull(mine);
    hl_a64_store_relaxed(&mine->cells_taken, 0); /* relaxed: one thread. */
    for (int i = 0; i < (int)HL_CELLS; i++) {
        ck_assert_int_eq(hl_cell_take(mine, 1), i);
    }
    ck_assert_int_eq(hl_cell_take(mine, 1), -1);
    hl_cell_give(mine, 5, HL_CELL_BYTES);
    hl_cell_give(mine, 7, 33);
    ck_assert_int_eq(hl_cell_take(mine, HL_CELL_BYTES + 1), -1); /* two are free, and lie apart */
    hl_cell_give(mine, 62, 2 * HL_CELL_BYTES);
    ck_assert_int_eq(hl_cell_take(mine, 2 * HL_CELL_BYTES + 1), -1); /* the last two are no three */
    ck_assert_int_eq(hl_cell_take(mine, 2 * HL_CELL_BYTES), 62);
    hl_cell_give(mine, 6, 1);
    ck_assert_int_eq(hl_cell_take(mine, 2 * HL_CELL_BYTES + 1), 5);
    ck_assert_uint_eq(hl_a64_load_relaxed(&mine->cells_taken), UINT64_MAX); /* relaxed: one thread. */
    free(mine);
}
END_TEST

#endif
