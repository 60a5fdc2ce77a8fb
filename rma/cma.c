/* Private memory of node peers, through the kernel (cross-memory attach). */
#include "win.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "conf.h"
#include "err.h"
#include "job.h"
#include "layout.h"
#include "lock.h"
#include "rx.h"
#include "stat.h"

static struct hl_mutex lock = HL_MUTEX_INIT;
static hl_a32 *pids; /* [node_size], set once under lock; entries atomic: all probes write the same value */

static int learn_reader(int node_rank, int pid)
{
    hl_mutex_lock(&lock);
    if (pids == NULL) {
        pids = calloc((size_t)hl_job.node_size, sizeof *pids);
    }
    int rc = pids == NULL ? HL_ERR_NO_MEM : 0;
    hl_mutex_unlock(&lock);
    if (rc == 0) {
        /* relaxed: other threads get windows that use it only after this. */
        hl_a32_store_relaxed(&pids[node_rank], (uint32_t)pid);
    }
    return rc;
}

bool hl_cma_probe(int node_rank, int pid, uint64_t at, uint64_t token)
{
    uint64_t there = 0;
    return hl_conf.cma && at != 0 && learn_reader(node_rank, pid) == 0 &&
           hl_cma_copy(node_rank, HL_GET, &there, at, sizeof there) == 0 && there == token &&
           hl_cma_copy(node_rank, HL_PUT, &there, at, sizeof there) == 0; /* writes the same value back */
}

/* Is its number still that of the peer's process? False, with errno: the rank has died, and the number may
 * belong to another process by now. */
static bool has_process(int node_rank)
{
    bool dead = hl_rx_is_dead(hl_job.node_world[node_rank]);
    errno = dead ? ESRCH : errno;
    return !dead;
}

static int say_unreached(size_t len, uint64_t at, int node_rank)
{
    return hl_err_say(errno == ESRCH ? HL_ERR_PROC_ABORTED : HL_ERR_RMA_RANGE,
                      "%zu bytes at %#llx of rank %d (process %d) cannot be reached: %s", len,
                      (unsigned long long)at, hl_job.node_world[node_rank],
                      (int)hl_a32_load_relaxed(&pids[node_rank]), /* relaxed: set before by learn_reader */
                      strerror(errno));
}

int hl_cma_copy(int node_rank, enum hl_dir dir, void *mine, uint64_t theirs, size_t len)
{
    hl_stat_rank_add(HL_STAT_RANK_cma_copies, 1);
    pid_t pid = (pid_t)hl_a32_load_relaxed(&pids[node_rank]); /* relaxed: set before by learn_reader */
    enum hl_near_way way = dir == HL_PUT ? HL_NEAR_WRITE : HL_NEAR_READ;
    size_t done = has_process(node_rank) ? hl_near_kernel_copy(pid, way, mine, theirs, len) : 0;
    if (done < len) {
        return say_unreached(len - done, theirs + done, node_rank);
    }
    hl_stat_rank_add(HL_STAT_RANK_bytes_cma, len);
    return 0;
}

struct cma_pieces {
    struct iovec at[HL_NEAR_PIECES];
    size_t n;
};

/* Adds a piece; one that begins where the last one ends makes that longer. */
static void join_piece(struct cma_pieces *p, char *at, size_t len)
{
    struct iovec *last = p->n > 0 ? &p->at[p->n - 1] : NULL;
    if (last != NULL && (char *)last->iov_base + last->iov_len == at) {
        last->iov_len += len;
    } else {
        p->at[p->n++] = (struct iovec){at, len};
    }
}

int hl_cma_walk(int node_rank, enum hl_dir dir, struct hl_type_cursor *mine, struct hl_type_cursor *theirs,
                uint64_t base)
{
    const int64_t most = (int64_t)1 << 30;
    pid_t pid = (pid_t)hl_a32_load_relaxed(&pids[node_rank]); /* relaxed: set before by learn_reader */
    enum hl_near_way way = dir == HL_PUT ? HL_NEAR_WRITE : HL_NEAR_READ;
    for (;;) {
        struct cma_pieces here = {.n = 0}, there = {.n = 0};
        int64_t len = 0, n = 1;
        char *a, *b;
        while (here.n < HL_NEAR_PIECES && there.n < HL_NEAR_PIECES &&
               (n = hl_type_cursor_common(mine, theirs, most - len, &a, &b)) > 0) {
            join_piece(&here, a, (size_t)n);
            join_piece(&there, (char *)(uintptr_t)(base + (uint64_t)hl_layout_offset(b)), (size_t)n);
            len += n;
        }
        if (len == 0) {
            return 0;
        }
        hl_stat_rank_add(HL_STAT_RANK_cma_copies, 1);
        size_t done =
            has_process(node_rank) ? hl_near_kernel_pieces(pid, way, here.at, here.n, there.at, there.n) : 0;
        if (done < (size_t)len) {
            return say_unreached((size_t)len - done, (uint64_t)(uintptr_t)there.at[0].iov_base, node_rank);
        }
        hl_stat_rank_add(HL_STAT_RANK_bytes_cma, (size_t)len);
    }
}
