/* The order in which modules open and close. */
#include "modules.h"

#include "agreement.h"
#include "boot.h"
#include "boxes.h"
#include "buffer.h"
#include "buffered.h"
#include "coll.h"
#include "comm.h"
#include "commons.h"
#include "conf.h"
#include "cs.h"
#include "err.h"
#include "handle.h"
#include "hang.h"
#include "job.h"
#include "lane.h"
#include "log.h"
#include "match.h"
#include "meet.h"
#include "mem.h"
#include "near.h"
#include "near_map.h"
#include "prog.h"
#include "req.h"
#include "rx.h"
#include "stat.h"
#include "stops.h"
#include "topo.h"
#include "util.h"

#include <string.h>
#include <unistd.h>

static void *board; /* shared memory of the node's ranks: made once, kept until the process ends */

/* Makes one board, which has the parts of match, rx, op, mem, the watchdog and stops, in this order. */
static int share_board(void)
{
    size_t bytes = hl_match_board_bytes(hl_job.node_size) + hl_rx_board_bytes(hl_job.node_size) +
                   hl_near_board_bytes(hl_job.node_size) + hl_near_map_board_bytes(hl_job.node_size) +
                   hl_hang_board_bytes(hl_job.node_size) + hl_stops_board_bytes(hl_job.node_size);
    return hl_boot_node_share(bytes, hl_mem_buffer_board, &board);
}

/* Makes memory that all ranks of the node reach without asking each other. Without it, they ask. */
static int share_node_memory(void)
{
    static const char label[] = "symmetric memory";
    hl_mem_symmetric_begin(hl_siphash(hl_boot.secret, label, sizeof label));
    int fd, err = hl_boot_node_file(hl_mem_commons_make, &fd);
    if (err == 0 && fd >= 0) {
        hl_mem_commons_join(fd, hl_job.node_size, hl_job.node_rank);
    }
    return err;
}

static void *rx_board(void)
{
    return (char *)board + hl_match_board_bytes(hl_job.node_size);
}

static void *near_board(void)
{
    return (char *)rx_board() + hl_rx_board_bytes(hl_job.node_size);
}

/* Do ranks of this machine pretend to be on other nodes? */
static bool is_pretending(void)
{
    return hl_job.node_size < hl_job.size && (strcmp(hl_conf.near, "1") != 0 || hl_conf.cliques > 1);
}

/* The number of ranks that share this machine; those that pretend to be elsewhere still use its CPUs. */
static int ranks_here(void)
{
    return is_pretending() ? hl_job.size : hl_job.node_size;
}

/* The number of CPUs that they share, as far as it is known: ranks that pretend tell each other nothing. */
static int cpus_here(void)
{
    return is_pretending() || hl_job.node_cpus == 0 ? (int)sysconf(_SC_NPROCESSORS_ONLN) : hl_job.node_cpus;
}

int hl_modules_start(const char *unit)
{
    int err = hl_conf_load();
    if (err != 0) {
        return err;
    }
    hl_log_limit((enum hl_log_level)hl_conf.log);
    hl_log_speak(unit);
    err = hl_boot_open();
    if (err != 0) {
        return err;
    }
    hl_log_identify(unit, hl_job.rank);
    if (hl_job.node_rank != 0) {
        hl_mem_report_mute();
    }
    if (hl_job.rank == 0) {
        hl_conf_tell();
    }
    hl_mem_buffer_ranks(ranks_here());
    hl_prog_crowd(ranks_here(), cpus_here());
    if (board == NULL) {
        err = share_node_memory();
        err = err == 0 ? share_board() : err;
    }
    return err == 0 && hl_job.rank == 0 ? hl_stat_open() : err;
}

static void *near_map_board(void)
{
    return (char *)near_board() + hl_near_board_bytes(hl_job.node_size);
}

static void *hang_board(void)
{
    return (char *)near_map_board() + hl_near_map_board_bytes(hl_job.node_size);
}

static void watch_for_stops(void)
{
    struct hl_stops_node n = {.board = (char *)hang_board() + hl_hang_board_bytes(hl_job.node_size),
                              .me = hl_job.node_rank,
                              .size = hl_job.node_size,
                              .world = hl_job.node_world,
                              .told = hl_boot.stops_told,
                              .lives = hl_boot_socket_lives,
                              .ended = hl_life_lose};
    hl_stops_open(&n);
}

/* Opens the network if ranks are on several nodes, or pretend to be. (Lanes come later, with the first
 * window, heap or long message that needs them.) */
static int open_fabric(void)
{
    return hl_job.node_size == hl_job.size ? 0 : hl_rx_network();
}

static void find_dead_member(struct hl_comm *c, void *world)
{
    int *dead = world;
    for (int i = 0; *dead < 0 && i < c->n_peers; i++) {
        int member = hl_comm_world(c, i);
        *dead = hl_rx_is_dead(member) ? member : -1;
    }
    if (*dead < 0 && c->inter != NULL) {
        find_dead_member(c->inter, world); /* a receive waits for the other group */
    }
}

/* World rank of a dead member of the communicator with this context, or -1; for receives from any source. */
static int find_lost_member(uint64_t ctx)
{
    int world = -1;
    hl_comm_look(ctx, find_dead_member, &world);
    return world;
}

int hl_modules_open(bool threads)
{
    hl_cs_open((enum hl_cs_mode)hl_conf.cs, threads, hl_conf.cs_count != 0);
    hl_lane_threads(threads, hl_topo_cpu_count());
    int err = hl_req_open();
    err = err != 0 ? err : hl_match_open(board, threads);
    if (err != 0) {
        goto close_req;
    }
    hl_match_on_lost(find_lost_member);
    hl_req_on_describe(HL_REQ_COLL, hl_coll_describe);
    hl_near_open(near_board());
    err = hl_near_map_open(near_map_board());
    err = err != 0 ? err : hl_rx_open(rx_board());
    if (err != 0) {
        goto close_rx;
    }
    err = hl_modules_watch(hang_board(), threads);
    err = err != 0 ? err : hl_agreement_serve();
    watch_for_stops();
    err = err != 0 ? err : open_fabric();
    err = err != 0 ? err : hl_comm_open();
    if (err != 0) {
        goto close_rx;
    }
    hl_mem_buffer_started();
    hl_modules_tell_choices(threads);
    return 0;

close_rx: /* in the order of hl_modules_close: ports and lanes stand on the fabric, which goes with rx */
    hl_stops_close();
    hl_match_close();
    hl_lane_close();
    hl_rx_stop();
close_req:
    hl_req_close();
    return err;
}

void hl_modules_quiet(bool ends)
{
    ends ? hl_buffered_quiet() : hl_buffered_flush_all();
    hl_boxes_quiet();
    hl_req_quiet();
    hl_match_quiet();
    if (hl_lane_is_open()) {
        hl_lane_flush(-1, HL_REMOTE);
    }
}

void hl_modules_close(bool last)
{
    hl_stops_close();
    hl_comm_close();
    hl_match_close();
    hl_lane_close();
    hl_rx_stop();
    hl_req_close();
    hl_stat_print(); /* counters do not change any more */
    if (hl_boot_close(last) != 0) {
        hl_log(HL_LOG_WARN, "%s", hl_err_text(HL_ERR_OTHER));
    }
}

void hl_modules_forget(void)
{
    hl_handle_forget();
    hl_comm_forget();
    hl_prog_forget();
    hl_lane_forget();
    hl_rx_forget();
}
