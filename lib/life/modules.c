/* The order in which modules open and close. */
#include "modules.h"

#include "boot.h"
#include "comm.h"
#include "conf.h"
#include "err.h"
#include "log.h"
#include "match.h"
#include "prog.h"
#include "req.h"

#include <unistd.h>

static void *board; /* the node group's shared memory: asked for once, kept until the process ends */

/* One board, cut into the modules' parts. */
static int share_board(void)
{
    return board != NULL ? 0 : hl_boot_node_share(hl_match_board_bytes(hl_boot.node_size), &board);
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
    if (hl_boot.rank == 0) {
        hl_conf_tell();
    }
    hl_prog_crowd(hl_boot.node_size, (int)sysconf(_SC_NPROCESSORS_ONLN));
    return share_board();
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
    err = hl_comm_open();
    if (err != 0) {
        goto close_match;
    }
    return 0;

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
}

void hl_modules_close(bool last)
{
    hl_comm_close();
    hl_match_close();
    hl_req_close();
    if (hl_boot_close(last) != 0) {
        hl_log(HL_LOG_WARN, "%s", hl_err_text(HL_ERR_OTHER));
    }
}

void hl_modules_forget(void)
{
    hl_prog_forget();
}
