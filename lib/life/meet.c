/* The last meeting. The fence waits at the launcher's socket and does not poll. So a thread polls meanwhile:
 * from the start if freed requests or flights are left, or if the provider may keep a peer's last message
 * until it is called; and without a network once the fence lasts, since a peer of the node may need an answer
 * of this rank before it can come (a send that it cancels: MPI 4.1, 11.2.2). Over the network the thread
 * would wait for the launcher, which the fence has, when it meets a peer that it has never sent to. */
#include "meet.h"

#include "atomic.h"
#include "boot.h"
#include "err.h"
#include "flight.h"
#include "hang.h"
#include "job.h"
#include "log.h"
#include "match.h"
#include "prog.h"
#include "req.h"
#include "rx.h"
#include "thread.h"

static bool is_meeting_over(void *met)
{
    return hl_a32_load_acquire(met) != 0; /* acquire: pairs with the release in hl_life_meet */
}

/* The user's thread waits for the same, in the fence, and tells it. */
static void describe_job_meeting(const void *met, struct hl_wait_desc *t)
{
    t->call[0] = '\0';
    hl_desc_say(t, "the other ranks' end, with what is still under way");
}
HL_HANG_WORDS(is_meeting_over, describe_job_meeting);

static void *carry_on(void *met)
{
    hl_prog_wait_rung(is_meeting_over, met);
    return NULL;
}

/* A meeting, and the thread that polls meanwhile. */
struct meeting {
    hl_a32 over;
    pthread_t thread;
    bool is_carried;
};

static void start_carrying(void *meeting)
{
    struct meeting *m = meeting;

    if (m->is_carried) {
        return;
    }
    m->is_carried = hl_thread_start(&m->thread, "hotlane-end", 0, carry_on, &m->over) == 0;
    if (!m->is_carried) {
        hl_log(HL_LOG_WARN, "no thread can start to complete operations that are under way: ranks that wait "
                            "for them may wait for ever (ulimit -u)");
    }
}

int hl_life_meet(void)
{
    enum { LATE_MS = 20 }; /* most fences are over by then, and need no thread */
    struct meeting m = {.is_carried = false};

    hl_a32_store_relaxed(&m.over, 0); /* relaxed: no other thread knows it yet. */
    if (hl_req_has_orphans() || hl_flight_any() || hl_rx_may_be_silent()) {
        start_carrying(&m);
    }
    int err = hl_rx_has_network() ? hl_boot_fence() : hl_boot_fence_late(LATE_MS, start_carrying, &m);
    if (m.is_carried) {
        hl_a32_store_release(&m.over, 1); /* release: pairs with the acquire in is_meeting_over */
        hl_prog_wake();
        pthread_join(m.thread, NULL);
    }
    hl_match_leave();
    return err;
}

void hl_life_lose(int node_rank, unsigned pid, bool first)
{
    int rank = hl_job.node_world[node_rank];
    if (hl_rx_is_told(rank)) {
        return;
    }
    if (first) { /* before anything else: another rank that has seen the death may end the job */
        hl_log(HL_LOG_WARN,
               "%s %d (pid %u) on this node is gone: its process has ended and had not finalized",
               hl_log_unit(), rank, pid);
    }
    if (!hl_rx_lose(rank)) {
        return; /* another thread was told meanwhile */
    }
    if (hl_boot_in_fence() && !hl_boot.goes_on) {
        hl_log(
            HL_LOG_ERROR,
            "the ranks of the job cannot end together without %s %d, whose process has ended; the job ends",
            hl_log_unit(), rank);
        hl_job_abort(-HL_ERR_PROC_ABORTED);
    }
}
