/* Facts of the job, and its end: who I am, how many we are, who shares this node. */
#ifndef HL_JOB_H
#define HL_JOB_H

#include "attr.h"

#include <stdbool.h>
#include <stdint.h>

/* Written by who starts the rank (boot) while it opens, read-only afterwards, valid until the process ends.
 * Until then, and in a program that opens nothing: a job of one rank, which ends by itself. */
struct hl_job {
    int rank, size;        /* world rank and size */
    int node_rank;         /* my place in my proved node group: 0 .. node_size - 1 */
    int node_size;         /* ranks in my proved node group, me included */
    const int *node_world; /* [node_size] world ranks of the group, ascending */
    int node_cpus;         /* CPUs that some rank of the group may use; 0: not known */
    uint64_t nonce;        /* job nonce, carried in every message */

    /* What the launcher is asked for; NULL: there is none. */
    void (*end)(int code);          /* ends the job with exit code `code`; returns in a forked child */
    const char *(*end_words)(void); /* hl_job_end_words */
    bool (*appnum)(int *appnum);    /* hl_job_appnum */
};
HL_HIDDEN extern struct hl_job hl_job;

/* Node rank of world rank `world`, or -1 if it is not in my node group. O(1). */
int hl_job_node_of(int world);

/* For boot, when node_size and node_world are known: makes what hl_job_node_of looks into and sets node_rank.
 * Once. 0 or HL_ERR_NO_MEM. */
int hl_job_index_node(void);

/* Ends the whole job with exit code `code` (0 counts as 1; so do others whose low 8 bits are 0, with a line).
 * This process's streams are flushed; those that another thread holds are not waited for longer than half
 * a second. From any thread. In a forked child of the rank only the child ends. */
_Noreturn void hl_job_abort(int code);

/* The same, and 0 is 0: all ranks end, and the job was a success. */
_Noreturn void hl_job_exit(int code);

/* For lines before one of these: what ends. */
const char *hl_job_end_words(void);

/* Which of the programs of the launcher's command this is, counted from 0: true when the launcher says so.
 * Asks it the first time. Any thread. */
bool hl_job_appnum(int *appnum);

#endif
