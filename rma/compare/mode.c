/* The designs that this library is compared with: see mode.h.
 *
 * The queue is a ring of stamped slots. A producer draws a ticket and may write slot (ticket mod size) when
 * its stamp is the ticket; it leaves stamp = ticket + 1. The driver takes the slot at `head` when it has that
 * stamp and leaves stamp = ticket + size. No job stays behind: the driver looks once more after it has left,
 * behind a full fence, and a producer publishes its job first, then a full fence, then tries to become the
 * driver. */
#include "mode.h"

#include "lock.h"
#include "prog.h"
#include "win_call.h"

#define JOBS 1024u

struct slot {
    HL_ALIGNED_LINE hl_a64 stamp; /* atomic: says who owns `job` now; kept less the slot's index */
    struct hl_mode_job job;
};

static struct slot slots[JOBS];
static HL_ALIGNED_LINE hl_a64 tail; /* atomic: tickets drawn */
static HL_ALIGNED_LINE hl_a64 head; /* atomic: jobs performed; written by the driver */
static HL_ALIGNED_LINE struct hl_flag driver;

static int perform_job(const struct hl_mode_job *job)
{
    switch (job->kind) {
    case HL_JOB_ACC:
        return hl_acc_apply(&job->a, &job->span);
    case HL_JOB_CAS:
        return hl_cas_apply(&job->a, &job->span, job->compare);
    default:
        return hl_move_apply(&job->a.m, &job->span);
    }
}

/* References the job's types (or drops the references): the user may free a type before the job is performed.
 * Predefined types need none. */
static void hold_types(const struct hl_mode_job *job, bool hold)
{
    const struct hl_type *types[3] = {job->a.m.origin_type, job->a.m.target_type,
                                      job->kind == HL_JOB_MOVE ? NULL : job->a.result_type};
    for (int i = 0; i < 3; i++) {
        struct hl_type *t = (struct hl_type *)(uintptr_t)types[i];
        if (t != NULL && !t->predefined) {
            hold ? hl_type_ref(t) : hl_type_unref(t);
        }
    }
}

/* Ends a job: gives the result to its request, or an error to the error word of its target. */
static void settle_job(const struct hl_mode_job *job, int rc)
{
    const struct hl_move *m = &job->a.m;
    if (m->req != NULL) {
        if (hl_req_part_done(m->req, rc)) {
            hl_prog_wake();
        }
    } else if (rc != 0) {
        hl_win_keep_error(m->win, m->target, rc);
    }
    hold_types(job, false);
}

static uint64_t stamp_of(uint64_t ticket)
{
    /* acquire: the slot's last owner is done with it; pairs with the release in set_stamp. Stamps are kept
     * less the slot's index: so zeroed memory is an empty queue. */
    return hl_a64_load_acquire(&slots[ticket % JOBS].stamp) + ticket % JOBS;
}

static void set_stamp(uint64_t ticket, uint64_t stamp)
{
    /* release: publishes the job, or that it is over; pairs with the acquire in stamp_of. */
    hl_a64_store_release(&slots[ticket % JOBS].stamp, stamp - ticket % JOBS);
}

static bool is_ready(void)
{
    /* relaxed: a guess; the stamp decides. */
    uint64_t at = hl_a64_load_relaxed(&head);
    return stamp_of(at) == at + 1;
}

/* Performs what is in the queue unless another thread does so. */
static void drive_queue(void)
{
    do {
        if (!hl_flag_try(&driver)) {
            return;
        }
        while (is_ready()) {
            uint64_t at = hl_a64_load_relaxed(&head); /* relaxed: only the driver writes it */
            struct hl_mode_job *job = &slots[at % JOBS].job;
            settle_job(job, perform_job(job));
            set_stamp(at, at + JOBS);
            /* release: what the jobs did; pairs with the acquire in is_performed. */
            hl_a64_store_release(&head, at + 1);
        }
        hl_flag_leave(&driver);
        /* full: the flag is left before the last look; pairs with the fence in put_in. */
        hl_fence_full();
    } while (is_ready());
}

static bool has_room(void *arg)
{
    const uint64_t *ticket = arg;
    if (stamp_of(*ticket) == *ticket) {
        return true;
    }
    drive_queue();
    return false;
}

static void describe_queue(const void *unused, struct hl_wait_desc *t)
{
    hl_desc_say(t, "the queue of one-sided operations (HOTLANE_RMA_MODE=enqueue)");
}
HL_HANG_WORDS(has_room, describe_queue);

static int put_in(const struct hl_mode_job *job)
{
    if (job->a.m.req != NULL) {
        hl_req_add_parts(job->a.m.req, 1);
    }
    hold_types(job, true);
    /* relaxed: draws a number; the stamps order everything. */
    uint64_t ticket = hl_a64_add_relaxed(&tail, 1);
    hl_prog_wait(has_room, &ticket);
    slots[ticket % JOBS].job = *job;
    set_stamp(ticket, ticket + 1);
    /* full: the job is published before the try to drive; pairs with the fence in drive_queue. */
    hl_fence_full();
    drive_queue();
    return 0;
}

int hl_mode_issue(const struct hl_mode_job *job)
{
    if (hl_conf.rma_mode == HL_MODE_ENQUEUE) {
        return put_in(job);
    }
    struct hl_win *w = job->a.m.win;
    hl_win_enter(w);
    hl_cs_in(HL_CS_window, &w->section);
    int rc = perform_job(job);
    hl_cs_out(HL_CS_window, &w->section);
    hl_win_leave(w);
    return rc;
}

static bool is_performed(void *arg)
{
    const uint64_t *until = arg;
    /* acquire: what the jobs did; pairs with the release in drive_queue. */
    if (hl_a64_load_acquire(&head) >= *until) {
        return true;
    }
    drive_queue();
    return hl_a64_load_acquire(&head) >= *until;
}

HL_HANG_WORDS(is_performed, describe_queue);

void hl_mode_drain(void)
{
    /* acquire: jobs that the caller has heard of have drawn their tickets, as its own have. No partner: other
     * threads' jobs are ordered by how the caller heard of them. */
    uint64_t until = hl_a64_load_acquire(&tail);
    hl_prog_wait(is_performed, &until);
}
