/* The receive side of a rank: its receive endpoint, its near ring, and the thread that serves both.
 *
 * The receive thread handles records (wire.h) from lanes and from node peers, messages of the node socket
 * (near's mappings) and the launcher's notices, so that a target that computes for ten seconds still answers.
 * It sleeps in one epoll and takes no CPU then. It never waits for a peer or for a lease (a tick, the call of
 * hl_rx_on_tick's function about each millisecond while there is work, tries each lease once), and runs no
 * user code.
 *
 * Order of calls: hl_rx_open, hl_rx_handle ..., hl_rx_start; hl_rx_network when the network is needed, before
 * or after the start; hl_rx_stop. Calls return 0 or a negative HL_ERR_* with its text recorded, where nothing
 * else is said. */
#ifndef HL_RX_H
#define HL_RX_H

#include "attr.h"
#include "wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hl_fab_ep;

/* The receive endpoint's part of a card (HL_FAB_PART_RX). */
struct hl_rx_card {
    uint64_t name_len;
    uint8_t name[HL_WIRE_NAME];
    uint64_t heartbeat_addr; /* 8 bytes that peers read to see whether the rank lives */
    uint64_t heartbeat_key;
};

/* Posts `count` receives at an endpoint, in memory of mem's buffers (hl_fab_ep_listen). Returns 0 or the
 * provider's error. A thread that may use the endpoint. */
int hl_rx_listen(struct hl_fab_ep *ep, size_t count);

/* Says why hl_rx_listen has failed with `rc`: HL_ERR_NO_MEM or HL_ERR_OTHER. */
int hl_rx_listen_fail(const struct hl_fab_ep *ep, int rc);

/* Closes the endpoint and gives that memory back. False: the endpoint stays open, and the memory is leaked,
 * as the caller must leak what it has lent to the provider there. */
bool hl_rx_close_ep(struct hl_fab_ep *ep);

/* Checks a message that came in a receive. Returns NULL, or words for what is wrong. */
const char *hl_rx_check(const void *bytes, size_t len);

/* A rank's card, which stays as long as the network is open. It may have to be fetched: call it without a
 * lease. NULL: *rc is HL_ERR_OTHER with a text, or an error of boot. Any thread. */
const struct hl_rx_card *hl_rx_card_of(int rank, int *rc);

/* A record that arrived. It is valid during the handler's call. */
struct hl_rx_msg {
    const struct hl_wire_rec *rec;
    const void *payload; /* rec->len bytes, 8-byte aligned */
    int from;            /* world rank of the sender */
    bool near;           /* it came through shared memory: it cannot be answered, use hl_rx_send */
    void *answer;        /* rx's own */
};

/* Stands for all memory that records change, for ThreadSanitizer (hl_handover_give). Other processes order
 * those changes with this process's own accesses, which the tool does not see. So the receive thread gives
 * and takes this around each message, and synchronizing calls do, too. */
HL_HIDDEN extern const char hl_rx_order;

/* Handles a record, on the receive thread. Returns 0 or the HL_ERR_* that the acknowledgement carries back.
 * Only the message's form was checked before: the handler checks what its words say of memory. */
typedef int hl_rx_fn(const struct hl_rx_msg *msg);

/* Bytes of node-shared memory that the rings of `node_size` ranks take; the same on all of them. */
size_t hl_rx_board_bytes(int node_size);

/* Sets up the near ring in `board` (that many zeroed bytes, shared by the ranks of the node, which stay
 * mapped). Starts no thread. Local. It is called once, and again only after hl_rx_stop. */
int hl_rx_open(void *board);

/* Registers the handler of an op, before hl_rx_start. Registering the same function again is fine; another
 * one is HL_ERR_INTERN. */
int hl_rx_handle(enum hl_wire_op op, hl_rx_fn *fn);

/* Starts the thread with the first call; later ones return 0. The first window, heap or collective call that
 * needs the thread calls it. Local, any thread. HL_ERR_OTHER. */
int hl_rx_start(void);

/* Opens the network for the whole job: provider, receive endpoint, registration of all memory, cards; starts
 * the thread. Collective over the job; later calls return the first one's result at once. Start-up calls it
 * when the job has several nodes (or pretends to), else the first collective call that needs the network. */
int hl_rx_network(void);
bool hl_rx_has_network(void);

/* The provider that the network goes by; "" before it opens. */
const char *hl_rx_provider(void);

/* True: the network is open, and messages may come without a word from its provider's descriptor, so that
 * somebody has to look for them. */
bool hl_rx_may_be_silent(void);

/* Stops the thread and closes the receive endpoint. The caller has closed the lanes, and the job has met in a
 * fence. */
void hl_rx_stop(void);

/* Returns room for an answer of `len` bytes (at most HL_WIRE_PAYLOAD_MAX(hl_fab.eager)), which travels with
 * the record's acknowledgement; the handler fills it before it returns. NULL: there is no room. Once for a
 * record, only in its handler, not for near records. */
void *hl_rx_reply_room(const struct hl_rx_msg *msg, size_t len);

/* Sends a record, with at most HL_WIRE_NEAR_MAX - sizeof(struct hl_wire_rec) bytes of payload, to the receive
 * thread of `peer` (world rank), through shared memory or by the network; nobody acknowledges it. It is for
 * records that may come long after their request: grants, posts. It never waits: a record that cannot leave
 * now is queued. Threads other than the receive thread send only to a near peer whose ring has room; all else
 * they queue for the receive thread. Records to one peer from one thread stay in order. HL_ERR_NO_MEM,
 * HL_ERR_PROC_ABORTED, HL_ERR_INTERN (too long). */
int hl_rx_send(int peer, const struct hl_wire_rec *rec, const void *payload);

/* Calls `fn` on the receive thread whenever `fd` is readable (ports of match), until hl_rx_unwatch, after
 * which no call runs any more. HL_ERR_NO_MEM, HL_ERR_OTHER. Any thread. */
int hl_rx_watch(int fd, void (*fn)(void *), void *arg);
void hl_rx_unwatch(int fd);

/* Calls `fn` on the receive thread once a second while the network is open and the job is not ending; `fn`
 * returns true to be called again sooner. NULL: no more calls, and none runs when this returns. One
 * function. Any thread. */
void hl_rx_on_look(bool (*fn)(void *), void *arg);

/* Registers `fn`, which the receive thread calls when a time given to hl_rx_due_by is over; it gets the time
 * and returns the next such time, UINT64_MAX: there is none. One function; before hl_rx_start. HL_ERR_INTERN:
 * there is another one. */
int hl_rx_on_due(uint64_t (*fn)(uint64_t now_ns));

/* Has the receive thread, which runs, call the function of hl_rx_on_due at `ns` of hl_now_ns, or a little
 * later; UINT64_MAX: not. Any thread. */
void hl_rx_due_by(uint64_t ns);

/* Says that a first message to some peer was refused. If the cause is a lack of descriptors or address space,
 * the receive thread ends the job with a text. Any thread; cheap. */
void hl_rx_connecting(void);

/* Calls `fn` on the receive thread when a rank of the job was reported dead. At most 8 functions
 * (HL_ERR_INTERN); one thread registers at a time. */
int hl_rx_on_death(void (*fn)(int rank));
bool hl_rx_is_dead(int rank);
bool hl_rx_is_told(int rank); /* dead because the launcher or the rank's host says so */

/* Counts a node peer as dead whose process has ended. Returns false when its death was told before. Any
 * thread that waits; starts the receive thread if necessary. */
bool hl_rx_lose(int rank);

/* Says that the job's ranks are about to leave: from the next fence on, an endpoint that closes is no
 * death. */
void hl_rx_leave(void);

/* Says that a rank has taken nothing from the network for HL_RX_SUSPECT_NS, so that the receive thread probes
 * whether it lives. Any thread. */
void hl_rx_suspect(int rank);
#define HL_RX_SUSPECT_NS UINT64_C(2000000000) /* a living process connects in less time */

/* Says that the rank's receive thread, which answers while its program computes, has not answered a lane for
 * `for_ns`. If its host answers, the rank is stopped, and one line says so. If nothing tells of the host and
 * HOTLANE_PEER_TIMEOUT is over, the rank counts as dead. It is called in a tick. */
void hl_rx_is_silent(int rank, uint64_t for_ns);

/* Says that the rank's receive thread has answered. It is called in a tick. */
void hl_rx_has_answered(int rank);

/* Registers `fn`, which the receive thread calls about every millisecond after hl_rx_want_ticks, until it has
 * returned false (there is no work left) several times in a row. It must try each lease once, and return true
 * when it could not take one. One function (HL_ERR_INTERN); before hl_rx_start. */
int hl_rx_on_tick(bool (*fn)(void));

/* Asks for ticks. The caller holds the lease that guards the work, or better has left it: the call is a
 * system call when no ticks run. Any thread. */
void hl_rx_want_ticks(void);

/* Has the receive thread mark the provider's new sockets close-on-exec: a lane has connected. Any thread; a
 * system call. */
void hl_rx_cloexec(void);

/* Forgets the thread, in a forked child. Async-signal-safe. */
void hl_rx_forget(void);

#endif
