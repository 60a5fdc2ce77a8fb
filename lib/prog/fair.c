/* Fair searches: remembers for each of the thread's last lists at which request the next search begins. */
#include "fair.h"

#include "req.h"
#include "util.h"

#define LISTS 8 /* lists that a thread may search in turn; of more, random ones are remembered */

HL_THREAD_LOCAL uint32_t hl_fair_drained;

static HL_THREAD_LOCAL struct {
    struct next {
        MPI_Request handle; /* NULL: unused */
        uint32_t generation, drained;
        const MPI_Request *list;
        size_t index;
    } next[LISTS];
    uint64_t draws;
} last;

/* Does list[x->index] still hold the request that x remembers? All eager sends have the same request, so for
 * it the list must be the same and not drained. */
static bool is_same(const struct next *x, const MPI_Request *list, size_t n)
{
    if (x->handle == NULL || x->index >= n || list[x->index] != x->handle) {
        return false;
    }
    const struct hl_req *r = (const struct hl_req *)(const void *)x->handle;
    return hl_req_has(r, HL_REQ_STATIC) ? x->list == list && x->drained == hl_fair_drained
                                        : r->generation == x->generation;
}

size_t hl_fair_begin(const MPI_Request *list, size_t n)
{
    for (size_t k = 0; k < LISTS; k++) {
        if (is_same(&last.next[k], list, n)) {
            last.next[k].handle = NULL;
            return last.next[k].index;
        }
    }
    return 0;
}

static struct next *new_fair_place(void)
{
    for (size_t k = 0; k < LISTS; k++) {
        if (last.next[k].handle == NULL) {
            return &last.next[k];
        }
    }
    return &last.next[hl_mix64(last.draws++) % LISTS];
}

void hl_fair_told(const MPI_Request *list, size_t n, size_t index)
{
    for (size_t k = 1; k < n; k++) {
        size_t i = index + k < n ? index + k : index + k - n;
        const struct hl_req *r = hl_req_open_of(list[i]);
        if (r != NULL) {
            *new_fair_place() = (struct next){list[i], r->generation, hl_fair_drained, list, i};
            return;
        }
    }
}
