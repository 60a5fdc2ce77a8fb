/* The order in which modules open and close. */
#include "modules.h"

#include "boot.h"
#include "buffer.h"
#include "comm.h"
#include "conf.h"
#include "err.h"
#include "handle.h"
#include "lane.h"
#include "log.h"
#include "match.h"
#include "mem.h"
#include "near.h"
#include "prog.h"
#include "req.h"
#include "rx.h"
#include "stat.h"

#include <string.h>
#include <unistd.h>

static void *board; /* the node group's shared memory: asked for once, kept until the process ends */

/* One board, cut into the modules' parts: match's, then rx's, then near's. */
static int share_board(void)
{
    size_t bytes = hl_match_board_bytes(hl_boot.node_size) + hl_rx_board_bytes(hl_boot.node_size) +
                   hl_near_board_bytes(hl_boot.node_size);
    return board != NULL ? 0 : hl_boot_node_share(bytes, hl_mem_buffer_board, &board);
}

static void *rx_board(void)
{
    return (char *)board + hl_match_board_bytes(hl_boot.node_size);
}

/* Ranks that share this machine. Those that pretend to be on other nodes still take its CPUs. */
static int ranks_here(void)
{
    bool pretend = strcmp(hl_conf.near, "1") != 0 || hl_conf.cliques > 1;
    return pretend ? hl_boot.size : hl_boot.node_size;
}

static int start(void)
{
    int err = hl_conf_load();
    if (err != 0) {
        return err;
    }
    hl_log_limit((enum hl_log_level)hl_conf.log);
    err = hl_boot_open();
    if (err != 0) {
        return err;
    }
    hl_log_identify("rank", hl_boot.rank);
    if (hl_boot.node_rank != 0) {
        hl_mem_report_mute();
    }
    if (hl_boot.rank == 0) {
        hl_conf_tell();
    }
    hl_mem_buffer_ranks(ranks_here());
    if (hl_boot.node_rank != 0) {
        hl_mem_report_mute();
    }
    hl_prog_crowd(ranks_here(), (int)sysconf(_SC_NPROCESSORS_ONLN));
    return share_board();
}

/* Ranks of several nodes (or of one that pretends to be several) need the network from the start. */
static int open_network(bool threads)
{
    if (hl_boot.node_size == hl_boot.size) {
        return 0;
    }
    int err = hl_rx_network();
    return err != 0 ? err : hl_lane_open(threads);
}

int hl_modules_open(bool threads)
{
    int err = start();
    if (err != 0) {
        return err;
    }
    err = hl_req_open();
    if (err != 0) {
        return err;
    }
    err = hl_match_open(board, threads);
    if (err != 0) {
        goto close_req;
    }
    hl_near_open((char *)rx_board() + hl_rx_board_bytes(hl_boot.node_size));
    err = hl_rx_open(rx_board());
    if (err != 0) {
        goto close_match;
    }
    err = open_network(threads);
    if (err != 0) {
        goto close_rx;
    }
    err = hl_comm_open();
    if (err != 0) {
        goto close_lanes;
    }
    hl_mem_buffer_started();
    return 0;

close_lanes:
    hl_lane_close();
close_rx:
    hl_rx_stop();
close_match:
    hl_match_close();
close_req:
    hl_req_close();
    return err;
}

void hl_modules_quiet(void)
{
    hl_req_quiet();
    hl_match_quiet();
    if (hl_lane_is_open()) {
        hl_lane_flush_all(HL_REMOTE);
    }
}

void hl_modules_close(bool last)
{
    hl_stat_print();
    hl_comm_close();
    hl_match_close();
    hl_lane_close();
    hl_rx_stop();
    hl_req_close();
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
