/* Private memory of node peers, copied by the kernel (CMA); that of ranks in this process, by memcpy. */
#include "match_internal.h"
#include "split_copy.h"

#include "copy.h"
#include "err.h"
#include "util.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { CMA_UNTRIED, CMA_WORKS, CMA_FAILS };

static uint64_t process; /* a random number: process ids mean something in one namespace only */
static pthread_once_t process_once = PTHREAD_ONCE_INIT;

static void choose_process(void)
{
    (void)hl_random_bytes(&process, sizeof process); /* cannot fail: it worked when the library opened */
}

uint64_t hl_cma_process(void)
{
    pthread_once(&process_once, choose_process);
    return process;
}

bool hl_cma_is_here(const struct hl_match_part *h)
{
    return h->process == hl_cma_process();
}

/* Of a rank that has died nothing is copied: its process number may belong to another process by now. */
bool hl_cma_move(const struct hl_matcher *m, const struct hl_peer *p, enum hl_near_way way, uint64_t theirs,
                 void *mine, uint64_t n)
{
    const struct hl_match_part *h = hl_match_part_of(m, p->node);
    if (hl_cma_is_here(h)) {
        void *there = (void *)(uintptr_t)theirs;
        hl_copy(way == HL_NEAR_READ ? mine : there, way == HL_NEAR_READ ? there : mine, n);
        return true;
    }
    if (m->is_dead(p->world)) {
        errno = ESRCH;
        return false;
    }
    return hl_near_kernel_copy(h->pid, way, mine, theirs, n) == n;
}

/* It is tried once, on a word whose value is known. */
bool hl_cma_works(struct hl_matcher *m, struct hl_peer *p)
{
    uint32_t known = hl_a32_load_relaxed(&p->cma); /* relaxed: the result never changes */
    if (known != CMA_UNTRIED || !m->cma) {
        return known == CMA_WORKS && m->cma;
    }
    const struct hl_match_part *h = hl_match_part_of(m, p->node);
    uint64_t value = 0;
    bool ok = h->probe_addr != 0 && hl_cma_move(m, p, HL_NEAR_READ, h->probe_addr, &value, sizeof(value)) &&
              value == h->probe_value;
    hl_a32_store_relaxed(&p->cma, ok ? CMA_WORKS : CMA_FAILS);
    return ok;
}

int hl_cma_access(struct hl_matcher *m, struct hl_peer *p, enum hl_near_way way, uint64_t theirs, void *mine,
                  uint64_t n)
{
    if (!hl_cma_move(m, p, way, theirs, mine, n)) {
        return hl_err_say(errno == ESRCH ? HL_ERR_PROC_ABORTED : HL_ERR_OTHER,
                          "%llu bytes at %#llx of rank %d cannot be %s: %s", (unsigned long long)n,
                          (unsigned long long)theirs, p->world, way == HL_NEAR_READ ? "read" : "written",
                          strerror(errno));
    }
    return 0;
}
