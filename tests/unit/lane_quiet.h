/* Whether anything is open to a rank. */
#ifndef HL_TEST_LANE_QUIET_H
#define HL_TEST_LANE_QUIET_H

#include "lane_internal.h"

/* True when nothing issued to `peer` is open. */
static bool is_quiet(int peer)
{
    if (hl_pool_count(&hl_pool) == 0) {
        return true;
    }
    /* acquire: pairs with the full and in hl_way_sweep. */
    for (uint64_t rest = hl_a64_load_acquire(&hl_pool.used[peer]); rest != 0; rest &= rest - 1) {
        const struct hl_way *way = hl_way_find(hl_pool.head.lanes[__builtin_ctzll(rest)], peer);
        /* acquire: pairs with the releases in hl_lane_slot_commit and advance_way. */
        if (way != NULL && hl_a64_load_acquire(&way->done) < hl_a64_load_acquire(&way->issued)) {
            return false;
        }
    }
    return true;
}

#endif
