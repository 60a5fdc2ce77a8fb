/* Facts of the job (this rank's number, the job's size, the ranks of this node, whether calls may be made),
 * and the end of the job. */
#ifndef HL_JOB_H
#define HL_JOB_H

#include "attr.h"

#include <stdbool.h>
#include <stdint.h>

/* Boot writes it while it opens; it is read-only afterwards and valid until the process ends. Before that,
 * and in a program that opens nothing, it describes a job of one rank without a launcher. */
struct hl_job {
    int rank, size;        /* world rank and size */
    int node_rank;         /* this rank's place in its proved node group: 0 .. node_size - 1 */
    int node_size;         /* ranks in the proved node group, this one included */
    const int *node_world; /* [node_size] world ranks of the group, ascending */
    int node_cpus;         /* number of CPUs that at least one rank of the group may use; 0: not known */
    uint64_t nonce;        /* job nonce, carried in every message */

    /* Calls that ask the launcher; NULL: there is none. */
    void (*end_job)(int code);       /* ends the job with exit code `code`; returns in a forked child */
    const char *(*end_words)(void);  /* hl_job_end_words */
    bool (*ask_appnum)(int *appnum); /* hl_job_appnum */

    bool (*node_lives)(int node_rank); /* hl_job_node_lives; NULL: all live */
};
HL_HIDDEN extern struct hl_job hl_job;

/* Node rank of world rank `world`, or -1 if it is not in this rank's node group. O(1). Any thread. */
int hl_job_node_of(int world);

/* Makes the index for hl_job_node_of and sets node_rank. Boot calls it once, when node_size and node_world
 * are set. Returns 0, or HL_ERR_NO_MEM with the text. */
int hl_job_index_node(void);

/* False: the process of this node rank has ended. It asks the kernel (three system calls). Any thread. */
bool hl_job_node_lives(int node_rank);

/* Is the library open, so that communication calls may be made? One load. Any thread. */
bool hl_job_is_open(void);

/* Returns HL_ERR_OTHER with the reason why no call can be made. Any thread. */
int hl_job_refuse(void) HL_COLD;

/* Sets that reason, or NULL: the library is open, and what the caller did before is seen by whoever finds it
 * open. The module life calls it. */
void hl_job_set_refusal(const char *why);

/* Ends the whole job with exit code `code` (0 counts as 1; so does any other whose low 8 bits are 0, with a
 * line). Under a launcher it flushes this process's streams, but waits for streams that another thread holds
 * at most half a second. Any thread. In a forked child of the rank only the child ends. */
_Noreturn void hl_job_abort(int code);

/* hl_job_abort, but 0 stays 0: all ranks end, and the job was a success. */
_Noreturn void hl_job_exit(int code);

/* Words for a line before hl_job_abort or hl_job_exit: they say what ends. */
const char *hl_job_end_words(void);

/* Sets *appnum to which of the programs of the launcher's command this is, counted from 0. False: the
 * launcher does not say. The first call asks it. Any thread. */
bool hl_job_appnum(int *appnum);

#endif
