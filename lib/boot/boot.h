/* Start-up: this rank's number, the job's size, the ranks of this node; the key-value space, the fence.
 *
 * One interface over several methods of being started (pmi1, pmix, self; hl_boot_open chooses). Afterwards
 * `hl_job` holds the facts (job.h), and hl_job_abort ends the job. Unless said otherwise: functions return 0
 * or a (negative) HL_ERR_* whose cause was recorded by hl_err_say; results go through pointers and are set
 * only on success; calls that talk to the launcher (put, get, fence, close) may come from any thread and take
 * turns on one lock.
 *
 * There are three channels between ranks, by growing price: the node board (hl_boot_node_share, plain
 * memory); the node socket (datagrams between proved node peers, which can carry descriptors); the launcher's
 * key-value space (two context switches of the launcher for each call. A value that one rank of a node has
 * fetched lies in the node's cache for the others; still, no rank should get a value from all ranks). */
#ifndef HL_BOOT_H
#define HL_BOOT_H

#include "attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the job was started. hl_boot_open writes it; nobody changes it afterwards. Facts that most modules need
 * are in job.h. */
struct hl_boot {
    bool stops_told;    /* the launcher tells when a signal has stopped this process */
    bool goes_on;       /* the launcher lets the job go on without dead ranks; fences end without them */
    uint64_t secret[2]; /* job secret, the same on all ranks, never printed */
    const char *method; /* name of the chosen method: "pmi1", "pmix", "self" */
    const char *reason; /* why it was chosen, one line for hotlane-info */
};
extern struct hl_boot hl_boot;

/* Chooses how this process was started, shakes hands with the launcher, learns the job secret and proves
 * the node group. Collective over the job (fences, none when size is 1). Singletons open no descriptor.
 * While open, it returns 0 at once; after an hl_boot_close of which the launcher was told, the
 * launcher is told that this rank takes part again. Errors: HL_ERR_OTHER when the environment says that
 * there are several processes and no launcher serves (the text holds the fix), when the launcher refuses
 * or hangs up; HL_ERR_NO_MEM. */
int hl_boot_open(void);

/* Stores `len` bytes (any values, any length, split as the launcher needs) under `key` (letters, digits, '-',
 * '_', at most 24) for this rank. Other ranks can get it after the next fence. A key is put once. Without a
 * launcher it is kept in memory. */
int hl_boot_put(const char *key, const void *data, size_t len);

/* Fetches the value that world rank `rank` has put under `key` before a fence in which both took part, and
 * sets *len to its bytes. A node peer may have fetched it before: the last value of each rank is shared by
 * the node. Any thread. Errors: HL_ERR_FOUND_NONE without a text (absence may be an answer; for a rank of
 * another node PMIx takes up to 20 s to say so), HL_ERR_TRUNCATE when `cap` is too small (*len is then set to
 * the length needed), HL_ERR_OTHER, HL_ERR_NO_MEM. */
int hl_boot_get(int rank, const char *key, void *data, size_t cap, size_t *len);

/* hl_boot_get for a thread that must not wait: HL_ERR_AGAIN without a text while another thread is in a fence
 * or asks the launcher something, or a node peer is fetching a value of that rank. */
int hl_boot_try_get(int rank, const char *key, void *data, size_t cap, size_t *len);

/* Waits until every rank of the job has entered as often as this one; makes earlier puts visible. It sleeps
 * on the launcher's socket and makes no other progress, so receive threads must run if peers need service.
 * Errors: HL_ERR_OTHER; HL_ERR_PROC_ABORTED when ranks died under `mpiexec --keep-going` (the others have met
 * all the same). Any thread. */
int hl_boot_fence(void);

/* The same; where the fence lasts longer than `ms` milliseconds, this thread calls late(arg) once meanwhile,
 * which must not ask the launcher. Without a descriptor for the timer it is called before. */
int hl_boot_fence_late(int ms, void (*late)(void *), void *arg);

/* True while some thread is in hl_boot_fence. Any thread. */
bool hl_boot_in_fence(void);

/* For a process that exits with 0 without hl_boot_close, after all of its exit handlers: a foreign launcher
 * may take that for a success. Says that the call `missing` is missing and ends the process with 1. Returns
 * when there is no launcher, in a forked child, and under our launcher, which says it itself. */
void hl_boot_left(const char *missing);

/* Descriptor that becomes readable, or hangs up, when the launcher has a notice; -1: none will ever come.
 * Poll it, but never read it: call hl_boot_watch_take. It may become readable without a notice. */
int hl_boot_watch_fd(void);

/* Takes one notice without waiting. Returns 1 and sets *rank (the rank that died) and *code (its exit code);
 * 0 when there is none; HL_ERR_AGAIN when another thread is asking the launcher something (what is readable
 * may be its answer); HL_ERR_OTHER when the launcher is gone: the process should end then, as its peers do.
 * One thread at a time. */
int hl_boot_watch_take(int *rank, int *code);

/* True when a notice came with the answer to a question: the descriptor does not tell of it, but
 * hl_boot_watch_take has it. Any thread. */
bool hl_boot_watch_waits(void);

/* Closes at the end of a library generation: tells the launcher that this rank may leave; the caller has made
 * a fence before. `last` false: an init may follow, so only our launcher, which takes a rank back, is told. A
 * second call returns 0. In a forked child it does nothing. */
int hl_boot_close(bool last);

/* True in the process that opened boot, false in its forked children: exit hooks ask this first. */
bool hl_boot_is_mine(void);

/* The node socket: each rank in a group of two or more has a datagram socket, meant for the receive thread.
 * hl_boot_node_fd returns this rank's, for epoll, or -1 in a group of one. Do not read or close it. */
int hl_boot_node_fd(void);

/* True while the process of that node rank holds its socket. The kernel answers, and no process is woken. Any
 * thread. */
bool hl_boot_socket_lives(int node_rank);

/* Most bytes of a message of hl_boot_node_send. */
#define HL_BOOT_NODE_MSG 1024

/* Sends `len` bytes to `node_rank` (also to this rank), with a copy of descriptor `fd` unless it is -1. Never
 * blocks: it tries at most about 1 ms while the receiver is full. Any thread. Errors: HL_ERR_AGAIN without a
 * text (receiver full: drain your own socket and try again), HL_ERR_PROC_ABORTED (the receiver has closed or
 * died), HL_ERR_OTHER. */
int hl_boot_node_send(int node_rank, const void *msg, size_t len, int fd);

/* Takes one message without waiting. *fd is a new close-on-exec descriptor, which the caller owns, or -1. The
 * sender is proved: it is of this user (SCM_CREDENTIALS) and knows the job's nonce. Strangers' messages are
 * dropped, by the kernel where it allows a filter, else here, where they are counted. One thread at a time.
 * Errors: HL_ERR_AGAIN without a text when there is none, HL_ERR_TRUNCATE when `cap` is too small (the
 * message is lost), HL_ERR_OTHER. */
int hl_boot_node_recv(void *msg, size_t cap, size_t *len, int *from_node_rank, int *fd);

/* Gives the node group one more file: one rank makes it with `make` (a descriptor or an error), and *fd
 * becomes each rank's descriptor of it, or -1 when it could not be made or the group is of one. Collective
 * over the group, before hl_boot_node_share. Errors: HL_ERR_OTHER. */
int hl_boot_node_file(int (*make)(int ranks), int *fd);

/* Maps the node board, one zeroed shared memory of `bytes` (the same on all), in every rank of the node
 * group, and sets *base; in a group of one it is private memory. In a larger group one rank makes the
 * file with `make`, which returns a descriptor or an error. Collective over the group, once, right
 * after hl_boot_open; the mapping stays until the process ends. Errors: that of `make`, HL_ERR_NO_MEM,
 * HL_ERR_OTHER. */
int hl_boot_node_share(size_t bytes, int (*make)(size_t bytes), void **base);

#endif
