/* What Hotlane promises beyond the standard: a thread's gets and puts of a FAR target come after its own
 * accumulates there. These travel in messages and are done by the target's receive thread; what the network
 * reads and writes by itself, or on another lane, would overtake them. (On the node all is done at once.)
 *
 * One word a target tells: 0, or the thread that accumulated since it last waited, or that several did. A get
 * or put that finds its own thread there waits for the accumulates; who never mixes them never waits. The
 * word's lower half counts marks: one that comes while a thread waits is not taken away by it. */
#include "win.h"

#include "short.h"

#define SEVERAL UINT32_MAX

static hl_a32 threads;
static __thread uint32_t self; /* 0: not drawn yet */

static uint32_t my_number(void)
{
    if (self == 0) {
        self = hl_a32_add_relaxed(&threads, 1) + 1; /* relaxed: a number that nobody else has */
    }
    return self;
}

void hl_win_mark_acc(struct hl_win *w, int target)
{
    /* relaxed: the exchange decides. Queued operations are issued by whoever is there: it is all of them. */
    uint64_t old = hl_a64_load_relaxed(hl_win_acc_word(w, target)), now;
    do {
        uint32_t holder = (uint32_t)(old >> 32);
        bool alone = !w->detour && (holder == 0 || holder == my_number());
        now = (uint64_t)(alone ? my_number() : SEVERAL) << 32 | (uint32_t)(old + 1);
        /* full: of several threads each is seen; only the word matters. */
    } while (!hl_a64_cas_full(hl_win_acc_word(w, target), &old, now));
    hl_a8_store_relaxed(&w->mixes, 1); /* relaxed: as above */
    hl_lane_last.reach = 0;            /* the next put comes by where the word is looked at */
    hl_lane_last.target = -1;
}

void hl_win_await_acc(struct hl_win *w, int target)
{
    uint64_t seen = hl_a64_load_relaxed(hl_win_acc_word(w, target)); /* relaxed: as in hl_win_mixes */
    uint32_t holder = (uint32_t)(seen >> 32);
    if (seen == 0 || (holder != SEVERAL && holder != my_number())) {
        return;
    }
    hl_lane_flush(hl_win_world(w, target), HL_REMOTE);
    (void)hl_a64_cas_full(hl_win_acc_word(w, target), &seen, 0); /* full: as in hl_win_mark_acc */
}
