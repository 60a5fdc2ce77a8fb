/* Start-up: who am I, how many are we, who shares this node; the key-value space, the fence.
 *
 * One interface over several ways of being started (pmi1, pmix, self; chosen by hl_boot_open). After it,
 * `hl_job` holds the facts (job.h), and hl_job_abort ends the job. Unless said otherwise: functions return 0
 * or a (negative) HL_ERR_* whose cause was recorded by hl_err_say, results go through pointers and are set
 * only on success, and calls that talk to the launcher (put, get, fence, close) may come from any thread but
 * take turns on one lock.
 *
 * Three channels, by growing price: the node board (hl_boot_node_share, plain memory), the node socket
 * (datagrams between proved node peers, descriptors pass along), the launcher's key-value space (two context
 * switches of the launcher for each call: what one rank of a node has fetched lies on the node's shelf for
 * the others, but never get from all ranks on every rank). */
#ifndef HL_BOOT_H
#define HL_BOOT_H

#include "attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the job was started. Written by hl_boot_open, read-only afterwards. What most modules read: job.h. */
struct hl_boot {
    bool stops_told;    /* the launcher says when a signal has stopped this process */
    bool goes_on;       /* the launcher lets the job go on without its dead, and fences end without them */
    uint64_t secret[2]; /* job secret, the same on all ranks, never printed */
    const char *method; /* name of the method chosen: "pmi1", "pmix", "self" */
    const char *reason; /* why it was chosen, one line for hotlane-info */
};
extern struct hl_boot hl_boot;

/* Chooses how this process was started, shakes hands, learns the job secret and proves the node group.
 * Collective over the job (one fence, none when size is 1). Singletons open no descriptor. Calling it again
 * while open, or after hl_boot_close(false), returns 0 at once; after hl_boot_close(true) the launcher is
 * told that this rank takes part again. Errors: HL_ERR_OTHER when the environment says "many" and nobody
 * serves (the text holds the fix), when the launcher refuses or hangs up; HL_ERR_NO_MEM. */
int hl_boot_open(void);

/* Stores `len` bytes (any values, any length, split as the launcher needs) under `key` (letters, digits, '-',
 * '_', at most 24) as mine. Others can get it after the next fence. A key is put once. Self: kept in memory.
 */
int hl_boot_put(const char *key, const void *data, size_t len);

/* Fetches what world rank `rank` put under `key` before a fence that both took part in. *len is the number of
 * bytes. Of a rank's values one at a time is shared with the node peers: another of them may have fetched it.
 * Any thread. Errors: HL_ERR_FOUND_NONE (silent, nothing recorded: absence may be an answer, which PMIx takes
 * up to 20 s for when the rank is of another node), HL_ERR_TRUNCATE when `cap` is too small (*len is then set
 * to the length needed), HL_ERR_OTHER. */
int hl_boot_get(int rank, const char *key, void *data, size_t cap, size_t *len);

/* Waits until every rank of the job has entered as often as this one; makes earlier puts visible. Sleeps on
 * the launcher's socket and drives no other progress: while it waits, receive threads must run if peers need
 * service. Errors: HL_ERR_OTHER; HL_ERR_PROC_ABORTED when ranks died under `mpiexec --keep-going` (the others
 * have still met). */
int hl_boot_fence(void);

/* Is some thread in hl_boot_fence? Any thread. */
bool hl_boot_in_fence(void);

/* For a process that exits with 0 though it has not closed, after all of its exit handlers: a launcher that
 * is not ours may take that for a success. Says that the call is missing and ends the process with 1. Returns
 * when that is nobody's business (no launcher, a forked child) or our launcher's, which says it itself. */
void hl_boot_left(const char *missing);

/* Descriptor that becomes readable, or hangs up, when the launcher has a notice; -1: none will ever come.
 * Poll it; never read it: call hl_boot_watch_take. It may wake without a notice. */
int hl_boot_watch_fd(void);

/* Takes one notice without waiting. Returns 1 and sets *rank (who died) and *code (its exit code); 0 when
 * there is none; HL_ERR_AGAIN when another thread is asking the launcher something: what is there may be its
 * answer; HL_ERR_OTHER when the launcher is gone: the process should then end, its peers are ending
 * too. */
int hl_boot_watch_take(int *rank, int *code);

/* Did a question to the launcher bring a notice, so that the descriptor tells of none? Then
 * hl_boot_watch_take has it. Any thread. */
bool hl_boot_watch_waits(void);

/* Last close of a library generation. `last` false: nothing happens (init may follow). `last` true: tells the
 * launcher that leaving is fine now; sends no fence (fence before it). A second call returns 0. In a forked
 * child it does nothing. */
int hl_boot_close(bool last);

/* True in the process that opened boot, false in its forked children: exit hooks ask this first. */
bool hl_boot_is_mine(void);

/* Node socket: one datagram socket for each rank in a group of two or more, meant for the receive thread.
 * hl_boot_node_fd: my bound socket, for epoll; -1 when the group is one. Do not read or close it. */
int hl_boot_node_fd(void);

/* Does the process of that node rank still hold its socket? A question to the kernel: nobody is woken. Any
 * thread. */
bool hl_boot_socket_lives(int node_rank);

/* Longest message hl_boot_node_send takes. */
#define HL_BOOT_NODE_MSG 1024

/* Sends `len` bytes to `node_rank` (me allowed), with a copy of descriptor `fd` unless it is -1. Any thread.
 * Never blocks: a full receiver is tried for at most about 1 ms.
 * Errors: HL_ERR_AGAIN (receiver full: drain your own socket and try again), HL_ERR_PROC_ABORTED (it has
 * closed or died), HL_ERR_OTHER. */
int hl_boot_node_send(int node_rank, const void *msg, size_t len, int fd);

/* Takes one message without waiting. *fd is a new close-on-exec descriptor that the caller owns, or -1. The
 * sender is proved: same user by SCM_CREDENTIALS, and the job's nonce. Strangers' messages are dropped, by
 * the kernel where it lets us have it so; what comes this far is counted. One thread at a time. Errors:
 * HL_ERR_AGAIN when there is none (silent), HL_ERR_TRUNCATE when `cap` is too small (message lost). */
int hl_boot_node_recv(void *msg, size_t cap, size_t *len, int *from_node_rank, int *fd);

/* One more file for the node group: one of them makes it with `make`, and *fd is each one's descriptor of it,
 * or -1 when it could not be made. Collective over the group, before hl_boot_node_share; none in a group of
 * one. Errors: HL_ERR_OTHER. */
int hl_boot_node_file(int (*make)(int ranks), int *fd);

/* The node board: one zeroed shared memory of `bytes` (the same on all), mapped by every rank of the node
 * group; private memory when the group is one. Collective over the group, once, right after hl_boot_open; the
 * mapping stays until the process ends. One of them, if they are several, makes the file with `make`: a
 * descriptor or an error. Errors: that one, HL_ERR_NO_MEM, HL_ERR_OTHER. */
int hl_boot_node_share(size_t bytes, int (*make)(size_t bytes), void **base);

#endif
