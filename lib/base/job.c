/* Facts of the job, the index of the ranks of this node, and the calls that ask the launcher. */
#include "job.h"

#include "atomic.h"
#include "err.h"
#include "log.h"
#include "util.h"

#include <stdlib.h>
#include <unistd.h>

struct hl_job hl_job = {.size = 1, .node_size = 1};

/* Hash from world rank to node rank + 1; 0: free. hl_job_index_node writes it. */
static struct {
    int32_t *slot;
    unsigned mask;
} node;

int hl_job_index_node(void)
{
    unsigned cap = 4;
    while (cap < 2u * (unsigned)hl_job.node_size) {
        cap *= 2;
    }
    node.slot = calloc(cap, sizeof *node.slot);
    if (!node.slot) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the ranks of the node");
    }
    node.mask = cap - 1;
    for (int i = 0; i < hl_job.node_size; i++) {
        unsigned at = (unsigned)hl_mix64((uint64_t)hl_job.node_world[i]) & node.mask;
        while (node.slot[at]) {
            at = (at + 1) & node.mask;
        }
        node.slot[at] = i + 1;
        if (hl_job.node_world[i] == hl_job.rank) {
            hl_job.node_rank = i;
        }
    }
    return 0;
}

int hl_job_node_of(int world)
{
    if (!node.slot) {
        return world == hl_job.rank ? 0 : -1;
    }
    for (unsigned at = (unsigned)hl_mix64((uint64_t)world) & node.mask; node.slot[at];
         at = (at + 1) & node.mask) {
        if (hl_job.node_world[node.slot[at] - 1] == world) {
            return node.slot[at] - 1;
        }
    }
    return -1;
}

static hl_aptr refusal = {"called before MPI_Init"}; /* NULL: the library is open; atomic */

bool hl_job_is_open(void)
{
    return hl_aptr_load_acquire(&refusal) == NULL; /* acquire: sees what opening set up */
}

int hl_job_refuse(void)
{
    const char *why = hl_aptr_load_acquire(&refusal); /* acquire: no partner, the texts are constant */
    return hl_err_say(HL_ERR_OTHER, "%s",
                      why != NULL ? why : "called while another thread was still opening the library");
}

void hl_job_set_refusal(const char *why)
{
    /* release: everything is open; pairs with the acquire in hl_job_is_open. */
    hl_aptr_store_release(&refusal, (void *)(uintptr_t)why);
}

bool hl_job_node_lives(int node_rank)
{
    return hl_job.node_lives == NULL || hl_job.node_lives(node_rank);
}

_Noreturn void hl_job_abort(int code)
{
    hl_job_exit(code ? code : 1);
}

_Noreturn void hl_job_exit(int code)
{
    if (code && !(code & 0xff)) {
        hl_log(HL_LOG_ERROR, "exit code %d: launchers see its low 8 bits, which are 0; it ends with 1", code);
        code = 1;
    }
    code &= 0xff;
    if (hl_job.end_job != NULL) {
        hl_job.end_job(code);
    }
    _exit(code);
}

const char *hl_job_end_words(void)
{
    return hl_job.end_words != NULL ? hl_job.end_words() : "the job ends";
}

bool hl_job_appnum(int *appnum)
{
    return hl_job.ask_appnum != NULL && hl_job.ask_appnum(appnum);
}
