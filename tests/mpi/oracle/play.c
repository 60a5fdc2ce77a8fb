/* A round as this rank performs it: epochs, operations, completions, and the results that they brought. */
#include "oracle.h"

#include <pthread.h>
#include <string.h>

static pthread_barrier_t together; /* of this rank's threads */

static void *address(unsigned char *buf, const struct layout *l)
{
    return buf == NULL ? NULL : buf + SLACK + l->zero;
}

/* ---- results ---- */

/* Where accumulates may have been the padding of elements means nothing. */
static void forgive_padding(struct step *s)
{
    const struct basic *b = s->seq[0];
    for (int i = 0; i < s->back.n; i++) {
        for (int k = 0; k < b->extent; k++) {
            if (!is_value(b, k)) {
                size_t at = (size_t)(SLACK + s->back.at[i] + k);
                s->want[at] = s->result[at];
            }
        }
    }
}

/* The step is complete here: its result must be there, and its buffers are ours again. */
static void settle(struct step *s)
{
    if (!s->open) {
        return;
    }
    s->open = false;
    if (s->want != NULL) {
        if (s->typed) {
            forgive_padding(s);
        }
        for (int i = 0; i < s->back.bytes + 2 * SLACK; i++) {
            if (s->result[i] != s->want[i]) {
                fail(s->number, "byte %d of the result is %#x instead of %#x", i - SLACK, s->result[i],
                     s->want[i]);
            }
        }
    }
    if (s->origin != NULL) {
        memset(s->origin, 0xa5, (size_t)s->from.bytes + 2 * SLACK);
    }
    if (s->result != NULL) {
        memset(s->result, 0x5a, (size_t)s->back.bytes + 2 * SLACK);
    }
}

/* Steps of a thread before `end` on a window, and one target (-1: all). */
static void settle_all(struct step *steps, const struct step *end, int win, int target)
{
    for (struct step *s = steps; s < end; s++) {
        if (s->used && s->win == win && (target < 0 || s->target == target)) {
            settle(s);
        }
    }
}

/* ---- operations ---- */

static void call_move(struct step *s, const struct window *w, int target, MPI_Aint disp)
{
    bool put = s->call == C_PUT || s->call == C_RPUT;
    struct layout *l = put ? &s->from : &s->back;
    void *mine = address(put ? s->origin : s->result, l);

    switch (s->call) {
    case C_PUT:
        MPI_Put(mine, l->count, l->type, target, disp, s->to.count, s->to.type, w->win);
        break;
    case C_GET:
        MPI_Get(mine, l->count, l->type, target, disp, s->to.count, s->to.type, w->win);
        break;
    case C_RPUT:
        MPI_Rput(mine, l->count, l->type, target, disp, s->to.count, s->to.type, w->win, &s->request);
        break;
    default:
        MPI_Rget(mine, l->count, l->type, target, disp, s->to.count, s->to.type, w->win, &s->request);
        break;
    }
}

static void call_update(struct step *s, const struct window *w, int target, MPI_Aint disp)
{
    bool none = s->from.at == NULL;
    void *from = address(s->origin, &s->from), *back = address(s->result, &s->back);
    int n = none ? 0 : s->from.count;
    MPI_Datatype type = none ? MPI_BYTE : s->from.type;
    MPI_Op op = s->op == SWAP ? MPI_OP_NULL : op_handle(s->op);

    switch (s->call) {
    case C_ACCUMULATE:
        for (int i = 0; i < s->times; i++) {
            MPI_Accumulate(from, n, type, target, disp, s->to.count, s->to.type, op, w->win);
        }
        break;
    case C_RACCUMULATE:
        MPI_Raccumulate(from, n, type, target, disp, s->to.count, s->to.type, op, w->win, &s->request);
        break;
    case C_GET_ACCUMULATE:
        MPI_Get_accumulate(from, n, type, back, s->back.count, s->back.type, target, disp, s->to.count,
                           s->to.type, op, w->win);
        break;
    case C_RGET_ACCUMULATE:
        MPI_Rget_accumulate(from, n, type, back, s->back.count, s->back.type, target, disp, s->to.count,
                            s->to.type, op, w->win, &s->request);
        break;
    case C_FETCH_AND_OP:
        MPI_Fetch_and_op(from, back, s->to.type, target, disp, op, w->win);
        break;
    default:
        MPI_Compare_and_swap(from, s->compare, back, s->to.type, target, disp, w->win);
        break;
    }
}

/* Get, flush, add, put: only the exclusive lock keeps others away. */
static void call_guarded(struct step *s, const struct window *w, int target, MPI_Aint disp)
{
    MPI_Get(address(s->result, &s->back), s->back.count, s->back.type, target, disp, s->to.count, s->to.type,
            w->win);
    MPI_Win_flush(target, w->win);
    for (int i = 0; i < s->to.n; i++) {
        s->seq[0]->apply(SUM, s->origin + SLACK + s->from.at[i], s->result + SLACK + s->back.at[i]);
    }
    MPI_Put(address(s->origin, &s->from), s->from.count, s->from.type, target, disp, s->to.count, s->to.type,
            w->win);
}

static void perform(struct step *s)
{
    const struct window *w = &windows[s->win];
    int target = target_rank(w, s->target);
    MPI_Aint disp = w->base[s->target] + (s->position - w->from[s->target] + s->to.zero) / w->unit[s->target];

    if (set.threads == 1) {
        cover_before();
    }
    if (s->guarded) {
        call_guarded(s, w, target, disp);
    } else if (s->call == C_PUT || s->call == C_GET || s->call == C_RPUT || s->call == C_RGET) {
        call_move(s, w, target, disp);
    } else {
        call_update(s, w, target, disp);
    }
    s->open = true;
    if (set.threads == 1) {
        enum way reach = w->reach[me][s->target];
        s->way = cover_after(reach == CMA ? NEAR : reach);
    } else {
        /* Other threads count too: the window's facts, which were measured when it was made. */
        bool updates = s->call != C_PUT && s->call != C_GET && s->call != C_RPUT && s->call != C_RGET;
        s->way = w->reach[me][s->target];
        if ((s->way == SELF || s->way == NEAR) && updates && is_locked_way(s->seq[0], s->position)) {
            s->way = LOCKED;
        }
    }
}

static void complete(enum complete how, struct step *steps, struct step *now, const struct step *end)
{
    const struct window *w = &windows[now->win];
    int target = target_rank(w, now->target);
    switch (how) {
    case NOTHING:
        return;
    case WAIT:
        for (int done = 0; !done && now->number % 2;) {
            MPI_Test(&now->request, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&now->request, MPI_STATUS_IGNORE);
        settle(now);
        return;
    case LOCAL:
        MPI_Win_flush_local(target, w->win);
        break;
    case LOCAL_ALL:
        MPI_Win_flush_local_all(w->win);
        break;
    case FLUSH:
        MPI_Win_flush(target, w->win);
        break;
    case FLUSH_ALL:
        MPI_Win_flush_all(w->win);
        break;
    case RELOCK:
        MPI_Win_unlock(target, w->win);
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
        break;
    }
    settle_all(steps, end, now->win, how == LOCAL_ALL || how == FLUSH_ALL ? -1 : now->target);
}

/* ---- epochs ---- */

static MPI_Group group_of(const struct window *w, uint32_t worlds)
{
    MPI_Group all, some;
    int list[MAX_RANKS], n = 0;
    for (int i = 0; i < ranks; i++) {
        if ((worlds >> i & 1) != 0) {
            list[n++] = target_rank(w, i);
        }
    }
    MPI_Win_get_group(w->win, &all);
    MPI_Group_incl(all, n, list, &some);
    MPI_Group_free(&all);
    return some;
}

static void open_active(int k)
{
    const struct window *w = &windows[k];
    if (plan.epoch[k] == E_FENCE) {
        MPI_Win_fence(plan.number % 2 ? MPI_MODE_NOPRECEDE : 0, w->win);
    } else if (plan.epoch[k] == E_PSCW) {
        uint32_t origins = 0;
        for (int o = 0; o < ranks; o++) {
            origins |= (plan.locked[k][o] >> me & 1) << o;
        }
        MPI_Group posts = group_of(w, origins), starts = group_of(w, plan.locked[k][me]);
        MPI_Win_post(posts, 0, w->win);
        MPI_Win_start(starts, 0, w->win);
        MPI_Group_free(&posts);
        MPI_Group_free(&starts);
    }
}

static void close_active(int k)
{
    const struct window *w = &windows[k];
    if (plan.epoch[k] == E_FENCE) {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    } else if (plan.epoch[k] == E_PSCW) {
        int done = plan.number % 2 == 0;
        MPI_Win_complete(w->win);
        while (!done) {
            MPI_Win_test(w->win, &done);
        }
        if (plan.number % 2 == 0) {
            MPI_Win_wait(w->win);
        }
    }
}

static void each_lock(int k, bool take)
{
    const struct window *w = &windows[k];
    for (int t = 0; t < ranks; t++) {
        if ((plan.locked[k][me] >> t & 1) == 0) {
            continue;
        }
        bool exclusive = (plan.exclusive[k][me] >> t & 1) != 0;
        if (take) {
            MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target_rank(w, t), 0, w->win);
        } else {
            MPI_Win_unlock(target_rank(w, t), w->win);
        }
    }
}

/* Everybody takes locks in the order of windows and targets, after the epochs that wait for others. */
static void open_epochs(void)
{
    for (int k = 0; k < n_windows; k++) {
        open_active(k);
    }
    for (int k = 0; k < n_windows; k++) {
        if (plan.epoch[k] == E_ALL) {
            MPI_Win_lock_all(0, windows[k].win);
        } else if (plan.epoch[k] == E_SHARED || plan.epoch[k] == E_EXCLUSIVE) {
            each_lock(k, true);
        }
    }
}

static void close_epochs(void)
{
    for (int k = n_windows - 1; k >= 0; k--) {
        if (plan.epoch[k] == E_ALL) {
            MPI_Win_unlock_all(windows[k].win);
        } else if (plan.epoch[k] == E_SHARED || plan.epoch[k] == E_EXCLUSIVE) {
            each_lock(k, false);
        }
    }
    for (int k = 0; k < n_windows; k++) {
        close_active(k);
    }
}

/* ---- a round ---- */

static void *work(void *number)
{
    int thread = (int)(intptr_t)number;
    struct step *steps = plan.steps[me][thread];

    if (thread == 0) {
        open_epochs();
    }
    pthread_barrier_wait(&together);
    for (struct step *s = steps; s < steps + STEPS; s++) {
        if (s->used) {
            complete(s->before, steps, s, s);
            perform(s);
            complete(s->after, steps, s, s + 1);
        }
    }
    for (struct step *s = steps; s < steps + STEPS; s++) {
        if (s->used && s->request != MPI_REQUEST_NULL) {
            MPI_Wait(&s->request, MPI_STATUS_IGNORE);
            settle(s);
        }
    }
    pthread_barrier_wait(&together);
    if (thread == 0) {
        close_epochs();
    }
    return NULL;
}

void play_round(void)
{
    pthread_t threads[MAX_THREADS];

    pthread_barrier_init(&together, NULL, (unsigned)set.threads);
    for (int t = 1; t < set.threads; t++) {
        pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t);
    }
    work((void *)(intptr_t)0);
    for (int t = 1; t < set.threads; t++) {
        pthread_join(threads[t], NULL);
    }
    pthread_barrier_destroy(&together);
    for (int t = 0; t < set.threads; t++) {
        for (int k = 0; k < STEPS; k++) {
            struct step *s = &plan.steps[me][t][k];
            if (s->used) {
                settle(s);
                cover_count(s, s->way);
            }
        }
    }
}
