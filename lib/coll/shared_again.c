/* What the kernel refuses to copy between the members of a node goes as messages, which it cannot stop: they
 * fall back to copies through shared memory. All have one tag that no other call uses: those from one member
 * to another match in their order, and both know how many a call has. */
#include "shared.h"

#include "err.h"
#include "schedule.h"

#define AGAIN_TAG (1 << 30) /* behind those of hl_coll_tag */

static void open_again(struct hl_shared *s)
{
    hl_sched_init_tagged(s->again, &hl_coll_net_match, s->comm, HL_PLANE_COLL, AGAIN_TAG);
    hl_sched_widen(s->again, 2 * (int64_t)s->n); /* no receive may hold up a send that another waits for */
}

bool hl_shared_ask(struct hl_shared *s)
{
    s->refused = false;
    if (s->what >= HL_COLLS) {
        return false; /* another member is in another call, which is the error */
    }
    s->again = hl_sched_take();
    if (s->again == NULL) {
        hl_shared_fail(s, HL_ERR_NO_MEM);
        return false;
    }
    open_again(s);
    /* relaxed: hl_shared_end releases it; pairs with the acquire in is_word_there. */
    hl_a64_store_relaxed(&s->areas[s->me]->asks, HL_SHARED_ASK(s->op, s->what));
    return true;
}

void hl_shared_expect(struct hl_shared *s, int place, struct hl_data to)
{
    const struct hl_cell *cell = hl_shared_await(s, place);

    if (cell != NULL && HL_ONCE(cell->kind) == HL_CELL_ADDR) {
        hl_sched_recv(s->again, hl_shared_rank_at(s, place), to);
    }
}

/* False: there is no memory; the job has ended where others wait. */
static bool need_again(struct hl_shared *s)
{
    if (s->again == NULL) {
        s->again = hl_sched_take();
        if (s->again == NULL) {
            hl_shared_fail(s, hl_coll_unable(s->comm, HL_ERR_NO_MEM));
            return false;
        }
        open_again(s);
    }
    return true;
}

void hl_shared_send_again(struct hl_shared *s, int place, struct hl_data data)
{
    if (need_again(s)) {
        hl_sched_send(s->again, hl_shared_rank_at(s, place), data);
    }
}

void hl_shared_receive_again(struct hl_shared *s, int place, struct hl_data to)
{
    if (need_again(s)) {
        hl_sched_recv(s->again, hl_shared_rank_at(s, place), to);
    }
}

void hl_shared_run_messages(struct hl_shared *s)
{
    struct hl_sched *again = s->again;

    s->again = NULL;
    hl_shared_fail(s, hl_coll_exchange(again));
}

void hl_shared_call_again(struct hl_shared *s, struct hl_coll_call *c)
{
    if (need_again(s)) {
        (void)hl_coll_build(s->again, c);
        hl_shared_run_messages(s);
    }
}
