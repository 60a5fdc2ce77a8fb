/* The receive side of a rank: its receive endpoint, its near ring, and the thread that sleeps on both.
 *
 * The thread serves records (wire.h) of lanes and of node peers, messages of the node socket (near's
 * mappings) and the launcher's notices, so that a target that computes for ten seconds still answers. It
 * waits in one epoll with 0 CPU. It never waits for a peer, never runs user code, takes no lease.
 *
 * Order of calls: hl_rx_open, hl_rx_handle …, hl_rx_start; hl_rx_network when the network is needed, before
 * or after the start; hl_rx_stop. All return 0 or a negative HL_ERR_* with its text recorded. */
#ifndef HL_RX_H
#define HL_RX_H

#include "attr.h"
#include "wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The receive endpoint's part of a card (HL_FAB_PART_RX). */
struct hl_rx_card {
    uint64_t name_len;
    uint8_t name[HL_WIRE_NAME];
    uint64_t heartbeat_addr; /* 8 bytes that anybody may read to see whether the rank lives */
    uint64_t heartbeat_key;
};

/* A record that arrived. Valid during the handler's call. */
struct hl_rx_msg {
    const struct hl_wire_rec *rec;
    const void *payload; /* rec->len bytes, 8-byte aligned */
    int from;            /* world rank of the sender */
    bool near;           /* came through shared memory: no answer is possible, use hl_rx_send */
    void *answer;        /* rx's own */
};

/* What records do to memory comes before and after this process's own accesses by way of other processes. Who
 * orders these (calls of synchronization) gives and takes this, as the receive thread does
 * (hl_handover_give). */
HL_HIDDEN extern const char hl_rx_order;

/* Handles a record; on the receive thread. Returns 0 or the HL_ERR_* that the acknowledgement carries back.
 * It has checked nothing but the message's form: locate memory with hl_fab_locate. */
typedef int hl_rx_fn(const struct hl_rx_msg *msg);

/* Node-shared memory that the rings of `node_size` ranks take: the same on all of them. */
size_t hl_rx_board_bytes(int node_size);

/* Sets up the near ring in `board` (that many zeroed bytes shared by the node group, which stay mapped). No
 * thread yet. Local. Once; again only after hl_rx_stop. */
int hl_rx_open(void *board);

/* Registers the handler of an op; before hl_rx_start. A second registration of the same function is fine,
 * another one is HL_ERR_INTERN. */
int hl_rx_handle(enum hl_wire_op op, hl_rx_fn *fn);

/* Starts the thread (the first call; later ones return 0): with the first window, heap or network use. Local,
 * any thread. HL_ERR_NO_MEM, HL_ERR_OTHER. */
int hl_rx_start(void);

/* Opens the network for the whole job: provider, receive endpoint, registration of all memory, cards; starts
 * the thread. Collective over the job; later calls return 0 at once. Called at init when the job has several
 * nodes (or pretends to), else by a collective call that needs it. */
int hl_rx_network(void);
bool hl_rx_has_network(void);

/* Stops the thread and closes the receive endpoint. Lanes are closed before; after a fence of the job. */
void hl_rx_stop(void);

/* Answers the record with `len` bytes (at most HL_WIRE_PAYLOAD_MAX(hl_fab.eager)), which travel with its
 * acknowledgement: room for them, that the handler fills before it returns; NULL: no memory. Once a record,
 * only in its handler, not for near records. */
void *hl_rx_reply_room(const struct hl_rx_msg *msg, size_t len);

/* Sends a record, with at most HL_WIRE_NEAR_MAX - sizeof(struct hl_wire_rec) bytes of payload, to the receive
 * thread of `peer` (world rank), near or by the network; nobody acknowledges it. For what comes arbitrarily
 * later than its request: grants, posts. From the receive thread it never waits: what cannot go now is
 * queued. Other threads hand it to the receive thread in the same queue unless the peer is near and its ring
 * has room. Records to one peer from one thread stay in order. HL_ERR_NO_MEM, HL_ERR_PROC_ABORTED. */
int hl_rx_send(int peer, const struct hl_wire_rec *rec, const void *payload);

/* Has `fn` called on the receive thread when `fd` is readable (ports of match). Any thread. */
int hl_rx_watch(int fd, void (*fn)(void *), void *arg);
void hl_rx_unwatch(int fd);

/* Has `fn` called on the receive thread once a second while the network is open and nobody leaves; NULL: no
 * more, and no call runs when this returns. It returns whether it wants to be called again sooner. One
 * function. Any thread. */
void hl_rx_on_look(bool (*fn)(void *), void *arg);

/* A first message to some peer was refused: if that is for want of descriptors or address space, the receive
 * thread ends the job with words. Any thread, cheap. */
void hl_rx_connecting(void);

/* Has `fn` called when a rank of the job was reported dead; on the receive thread. At most 8; before start.
 */
int hl_rx_on_death(void (*fn)(int rank));
bool hl_rx_is_dead(int rank);
bool hl_rx_is_told(int rank); /* dead, as the launcher or its host says */

/* The process of this node peer has ended: counts it as dead, unless it does. True: nobody else has told of
 * that so far. Any thread that waits; the receive thread starts if need be. */
bool hl_rx_lose(int rank);

/* The job's ranks are about to leave: from the fence that follows on, endpoints that close are no deaths. */
void hl_rx_leave(void);

/* A rank has taken nothing from the network for a second or two: does it live? Any thread. */
void hl_rx_suspect(int rank);
#define HL_RX_SUSPECT_NS UINT64_C(2000000000) /* whose process is there takes less to connect */

/* A rank's receive thread, which answers also while its program computes, has been asked by a lane for so
 * long: said in one line when its host answers (then it is stopped), taken for a death when nothing tells of
 * the host and HOTLANE_PEER_TIMEOUT is over. In on_tick. */
void hl_rx_is_silent(int rank, uint64_t for_ns);

/* It has answered. In on_tick. */
void hl_rx_has_answered(int rank);

/* Has `fn` called on the receive thread about every millisecond after hl_rx_tick, until it returned false
 * (nothing is left to look after) several times in a row. It enters each lease once, and returns true when it
 * cannot. One function; before hl_rx_start. */
int hl_rx_on_tick(bool (*fn)(void));

/* Asks for ticks: called under the lease that guards what shall be looked after, or later. Any thread; a
 * system call when they do not run, so better after leaving. */
void hl_rx_tick(void);

/* A lane has connected: has the receive thread mark the provider's new sockets close-on-exec. Any thread; a
 * system call. */
void hl_rx_seal(void);

/* In a forked child: forgets the thread. Async-signal-safe. */
void hl_rx_forget(void);

#endif
