/* Describes waits for windows in words, for the watchdog. */
#include "win.h"

#include "hang.h"
#include "job.h"

void hl_win_describe(struct hl_win *w, struct hl_wait_desc *t)
{
    char words[MPI_MAX_OBJECT_NAME + 8];
    hl_win_words(w, words, sizeof words);
    hl_desc_say(t, "%s", words);
}

struct lock {
    int peer; /* world rank of its target */
    struct hl_wait_desc *t;
};

static int tell_lock_holder(struct hl_win *w, void *arg)
{
    const struct lock *l = arg;
    int target = hl_group_rank(w->comm->peers, l->peer);
    hl_win_describe(w, l->t);
    hl_desc_say(l->t, ", lock of target %d", target);
    if (target >= 0 && !hl_target_is_far(&w->targets[target])) {
        /* relaxed: a hint. */
        int holder = (int)hl_a32_load_relaxed(&hl_target_ctl(&w->targets[target])->holder) - 1;
        hl_desc_await(l->t, holder);
    } else {
        hl_desc_await(l->t, hl_hang_holder(l->peer, w->id));
    }
    return 0;
}

static int find_holder(struct hl_win *w, void *rank)
{
    *(int *)rank = (int)hl_a32_load_relaxed(&hl_win_ctl(w)->holder) - 1; /* relaxed: a hint. */
    return 0;
}

/* World rank of the holder of my lock in window `id`, or -1; other nodes' ranks ask for it. */
static int holder_of_mine(uint64_t id)
{
    int rank = -1;
    (void)hl_win_table_with(id, find_holder, &rank);
    return rank;
}

void hl_win_describe_lock(uint64_t id, int peer, struct hl_wait_desc *t)
{
    (void)hl_win_table_with(id, tell_lock_holder, &(struct lock){peer, t});
}

void hl_win_note_holder(const struct hl_win *w, int target, bool mine)
{
    const struct hl_target *t = &w->targets[target];
    uint32_t me = (uint32_t)hl_job.rank + 1;
    if (hl_target_is_far(t)) {
        return;
    }
    hl_a32 *holder = &hl_target_ctl(t)->holder;
    /* relaxed, all: a hint. With several readers it names the last that came. */
    if (mine || hl_a32_load_relaxed(holder) == me) {
        hl_a32_store_relaxed(holder, mine ? me : 0);
    }
}

static int tell_window(struct hl_win *w, void *t)
{
    hl_desc_say(t, " on ");
    hl_win_describe(w, t);
    return 0;
}

static void describe_request(const struct hl_req *r, struct hl_wait_desc *t)
{
    hl_desc_say(t, "a one-sided operation");
    t->asked = hl_req_target((struct hl_req *)(uintptr_t)r)->world + 1;
    (void)hl_win_table_with(r->ctx, tell_window, t);
}

/* An open operation reports to `word`, so its window is not freed meanwhile. */
static bool name_of_word(const void *word, char *out, size_t cap)
{
    struct hl_win *w = hl_win_table_of_word(word);
    if (w != NULL) {
        hl_win_words(w, out, cap);
    }
    return w != NULL;
}

static __attribute__((constructor)) void enrol_describers(void)
{
    hl_hang_names.window = name_of_word;
    hl_hang_names.holder = holder_of_mine;
    hl_req_on_describe(HL_REQ_RMA, describe_request);
}
