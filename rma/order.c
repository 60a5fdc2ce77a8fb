/* What Hotlane promises beyond the standard: a thread's gets and puts of a FAR target come after its own
 * accumulates there. Accumulates travel in messages, and the target's receive thread does them; reads and
 * writes that the network does by itself, or that go by another lane, would overtake them. (On the node all
 * is done at once.)
 *
 * One word for each target says in its upper half: 0, or which thread accumulated since it last waited, or
 * that several did. A get or put that finds its own thread there waits for the accumulates; a thread that
 * never mixes them never waits. The lower half counts marks and is never set back: a waiting thread does not
 * remove a mark that came meanwhile, though others have removed those that it saw. */
#include "win.h"

#define SEVERAL UINT32_MAX

static hl_a32 threads;
static __thread uint32_t self; /* this thread's number; 0: not drawn yet */

static uint32_t my_number(void)
{
    if (self == 0) {
        self = hl_a32_add_relaxed(&threads, 1) + 1; /* relaxed: only draws a number */
    }
    return self;
}

void hl_win_mark_acc(struct hl_win *w, int target)
{
    /* relaxed: the exchange decides. Any thread may issue queued operations, so with `detour` they count as
     * of several. */
    uint64_t old = hl_a64_load_relaxed(hl_win_acc_word(w, target)), now;
    do {
        uint32_t holder = (uint32_t)(old >> 32);
        bool alone = !w->detour && (holder == 0 || holder == my_number());
        now = (uint64_t)(alone ? my_number() : SEVERAL) << 32 | (uint32_t)(old + 1);
        /* full: no thread's mark is lost; pairs with the acquire in hl_win_await_acc. */
    } while (!hl_a64_cas_full(hl_win_acc_word(w, target), &old, now));
    hl_a8_store_relaxed(&w->mixes, 1); /* relaxed: only this thread's own accumulates matter */
}

void hl_win_await_acc(struct hl_win *w, int target)
{
    /* acquire: the flush waits for what others have marked, too; pairs with the full exchange in
     * hl_win_mark_acc, which comes behind the issue. */
    uint64_t seen = hl_a64_load_acquire(hl_win_acc_word(w, target));
    uint32_t holder = (uint32_t)(seen >> 32);
    if (holder == 0 || (holder != SEVERAL && holder != my_number())) {
        return;
    }
    hl_lane_flush(hl_win_world(w, target), HL_REMOTE);
    /* full: fails if a mark came; pairs with hl_win_mark_acc. */
    (void)hl_a64_cas_full(hl_win_acc_word(w, target), &seen, (uint32_t)seen);
}
