/* Records for a rank of the node whose receive thread does not run yet: as many as its ring has slots lie
 * there, one more waits at the sender's receive thread; all arrive, in order, and both sides count them.
 *
 * Run by mpiexec with two ranks. */
#include "boot.h"
#include "buffer.h"
#include "conf.h"
#include "err.h"
#include "job.h"
#include "log.h"
#include "prog.h"
#include "ring.h"
#include "rx.h"
#include "stat.h"

#define MORE 10
#define CALL(x) call((x), #x)

static hl_a32 taken; /* by rank 1's receive thread */

static void call(int rc, const char *what)
{
    if (rc != 0) {
        hl_log(HL_LOG_ERROR, "%s: %s", what, hl_err_text(rc));
        hl_job_abort(3);
    }
}

static void check(bool truth, const char *what)
{
    if (!truth) {
        hl_log(HL_LOG_ERROR, "not true: %s", what);
        hl_job_abort(4);
    }
}

static uint64_t counter(const char *name)
{
    uint64_t value = 0;
    CALL(hl_stat_get(name, &value));
    return value;
}

static int notice(const struct hl_rx_msg *msg)
{
    uint32_t n = hl_a32_load_relaxed(&taken); /* relaxed: this thread alone writes it. */
    check(msg->rec->aux == n, "records arrive in order");
    hl_a32_store_release(&taken, n + 1); /* release: counted; pairs with the acquire in all_are_taken. */
    return 0;
}

static bool all_are_taken(void *unused)
{
    return hl_a32_load_acquire(&taken) == HL_RX_SLOTS + MORE; /* acquire: see notice. */
}

static bool one_waits(void *unused)
{
    return counter("rx_queued") != 0;
}

static void send(uint64_t from, uint64_t to)
{
    for (; from < to; from++) {
        struct hl_wire_rec rec = {.op = HL_WIRE_NOTICE, .aux = from};
        CALL(hl_rx_send(1, &rec, NULL));
    }
}

int main(void)
{
    void *board;
    CALL(hl_conf_load());
    CALL(hl_boot_open());
    hl_log_identify("rank", hl_job.rank);
    check(hl_job.node_size == 2, "two ranks share the node");
    CALL(hl_boot_node_share(hl_rx_board_bytes(2), hl_mem_buffer_board, &board));
    CALL(hl_rx_open(board));
    CALL(hl_rx_handle(HL_WIRE_NOTICE, notice));
    CALL(hl_boot_fence());
    if (hl_job.rank == 0) {
        CALL(hl_rx_start());
        send(0, HL_RX_SLOTS);
        check(counter("rx_queued") == 0, "nothing waits while there are slots");
        send(HL_RX_SLOTS, HL_RX_SLOTS + MORE);
        hl_prog_wait(one_waits, NULL);
        check(counter("rx_queued") == 1, "the first waits, and the others behind it");
    }
    CALL(hl_boot_fence());
    if (hl_job.rank == 1) {
        CALL(hl_rx_start());
        hl_prog_wait(all_are_taken, NULL);
    }
    CALL(hl_boot_fence());
    hl_rx_stop();
    check(counter("rx_near") == (hl_job.rank == 1 ? HL_RX_SLOTS + MORE : 0),
          "rank 1 counts what it has taken");
    CALL(hl_boot_close(true));
    return 0;
}
