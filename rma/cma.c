/* Private memory of node peers, through the kernel (cross-memory attach). */
#include "win.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "conf.h"
#include "err.h"
#include "lock.h"
#include "stat.h"

static struct hl_mutex lock = HL_MUTEX_INIT;
static hl_a32 *pids; /* [node_size], set once under lock; entries atomic: written by probes of one value */

static int learn(int node_rank, int pid)
{
    hl_mutex_lock(&lock);
    if (pids == NULL) {
        pids = calloc((size_t)hl_boot.node_size, sizeof *pids);
    }
    int rc = pids == NULL ? HL_ERR_NO_MEM : 0;
    hl_mutex_unlock(&lock);
    if (rc == 0) {
        /* relaxed: windows that use it are handed to other threads after this. */
        hl_a32_store_relaxed(&pids[node_rank], (uint32_t)pid);
    }
    return rc;
}

bool hl_cma_probe(int node_rank, int pid, uint64_t at, uint64_t token)
{
    uint64_t there = 0;
    return hl_conf.cma && learn(node_rank, pid) == 0 &&
           hl_cma_copy(node_rank, HL_GET, &there, at, sizeof there) == 0 && there == token &&
           hl_cma_copy(node_rank, HL_PUT, &there, at, sizeof there) == 0; /* what is there already */
}

int hl_cma_copy(int node_rank, enum hl_dir dir, void *mine, uint64_t theirs, size_t len)
{
    hl_stat_rank_add(HL_STAT_RANK_cma_copies, 1);
    pid_t pid = (pid_t)hl_a32_load_relaxed(&pids[node_rank]); /* relaxed: see learn */
    size_t done = hl_near_kernel_copy(pid, dir == HL_PUT ? HL_NEAR_WRITE : HL_NEAR_READ, mine, theirs, len);
    if (done < len) {
        return hl_err_say(errno == ESRCH ? HL_ERR_PROC_ABORTED : HL_ERR_RMA_RANGE,
                          "%zu bytes at %#llx of process %d cannot be reached: %s", len - done,
                          (unsigned long long)theirs + done, (int)pid, strerror(errno));
    }
    hl_stat_rank_add(HL_STAT_RANK_bytes_cma, len);
    return 0;
}
