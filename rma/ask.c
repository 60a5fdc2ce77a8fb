/* Locks that are asked for by message: the threads that wait for grants.
 *
 *   a place:  0 --token--> waiting --grant--> GRANTED (+ error) --waiter--> 0
 *
 * A grant may come at any time after its request. A token is never reused, so a late grant for a thread that
 * gave up finds nobody. */
#include "win.h"

#include "err.h"
#include "prog.h"
#include "rx.h"

#define PLACES 1024 /* threads of a process that can wait at once; more threads wait for a place */
#define GRANTED ((uint64_t)1 << 63)
#define REFUSED ((uint64_t)1 << 62)
#define KEPT ((uint64_t)1 << 61) /* a dead rank has the lock: its rank is in the lower half */

static struct place {
    hl_a64 word; /* atomic: the states of a place */
} places[PLACES];
static hl_a64 counter; /* number of tokens given out; atomic */

struct ask_wait {
    struct place *place;
    uint64_t token;
    int peer;
    uint64_t id; /* of the window */
    hl_a8 *mark; /* that the lock is held: a target of this node sets it and sends no grant */
};

static bool take_ask_place(void *arg)
{
    struct ask_wait *w = arg;
    for (size_t i = 0; i < PLACES; i++) {
        uint64_t free_ = 0;
        /* relaxed: only a guess whether the exchange is worth its cost. */
        /* acquire: the last waiter is done with it; pairs with the release in hl_ask_lock. */
        if (hl_a64_load_relaxed(&places[i].word) == 0 &&
            hl_a64_cas_acquire(&places[i].word, &free_, w->token | i)) {
            w->place = &places[i];
            w->token |= i;
            return true;
        }
    }
    return false;
}

static bool is_ask_over(void *arg)
{
    struct ask_wait *w = arg;
    /* acquire, both: sees what the last holder of the lock did, passed on by the receive threads; pairs with
     * grant_lock (serve.c) and hl_ask_granted. */
    return hl_a8_load_acquire(w->mark) != 0 || hl_a64_load_acquire(&w->place->word) != w->token ||
           hl_rx_is_dead(w->peer);
}

static void describe_lock_wait(const void *arg, struct hl_wait_desc *t)
{
    const struct ask_wait *w = arg;
    hl_win_describe_lock(w->id, w->peer, t);
    t->asked = w->peer + 1;
}
HL_HANG_WORDS(take_ask_place, describe_lock_wait);
HL_HANG_WORDS(is_ask_over, describe_lock_wait);

int hl_ask_lock(int peer, uint64_t id, bool exclusive, hl_a8 *mark)
{
    /* relaxed: a counter. */
    struct ask_wait w = {.token = (hl_a64_add_relaxed(&counter, 1) + 1) % ((uint64_t)1 << 50) * PLACES,
                         .peer = peer,
                         .id = id,
                         .mark = mark};
    hl_prog_wait(take_ask_place, &w);

    struct hl_wire_rec rec = {.op = HL_WIRE_LOCK, .kind = exclusive, .count = w.token, .aux = id};
    int rc = hl_win_send(peer, &rec);
    if (rc == 0) {
        hl_prog_wait_rung(is_ask_over, &w);
        uint64_t end = hl_a64_load_acquire(&w.place->word); /* acquire: pairs with hl_ask_granted */
        bool holds = hl_a8_load_acquire(mark) != 0;         /* acquire: pairs with grant_lock */
        if (end == w.token && !holds) {
            rc = hl_err_say(HL_ERR_PROC_ABORTED, "rank %d died while its window lock was asked for", peer);
        } else if ((end & KEPT) != 0) {
            rc = hl_err_say(HL_ERR_PROC_ABORTED, "rank %d died while it held the window lock of rank %d",
                            (int)(uint32_t)end, peer);
        } else if ((end & REFUSED) != 0) {
            rc = hl_err_say(HL_ERR_NO_MEM, "rank %d could not queue a window lock", peer);
        }
    }
    /* release: the place may be taken again; pairs with the acquire in take_ask_place. */
    hl_a64_store_release(&w.place->word, 0);
    return rc;
}

static uint64_t answer_word(int rc, int holder)
{
    return GRANTED | (rc == 0 ? 0 : rc == HL_ERR_PROC_ABORTED ? KEPT | (uint32_t)holder : REFUSED);
}

void hl_ask_granted(uint64_t token, int rc, int holder)
{
    uint64_t expected = token;
    if (token < PLACES) { /* that would match a free place */
        return;
    }
    /* full: passes on what the last holder did; pairs with the acquire in is_ask_over. It fails when no
     * thread waits for this token. */
    if (hl_a64_cas_full(&places[token % PLACES].word, &expected, answer_word(rc, holder))) {
        hl_prog_wake_fenced();
    }
}
