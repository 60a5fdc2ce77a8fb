/* Node peers that are stopped (a debugger, Ctrl-Z), or have ended while the launcher sees the script that has
 * started them, hold up whoever waits for them, without a sign. Who has waited for long looks at its node
 * peers, some each second, and one rank of the node says each stop in one line. A launcher that sees its
 * processes stopped by signals says so itself: of its ranks only those are told that a debugger holds, which
 * their parent does not hear of. Of an end each rank that looks is told (`ended`).
 *
 * The kernel tells by /proc/PID/status, and of ends by the peer's socket, too, which a child may hold. A
 * number of a process means the peer in its own PID namespace only, so both name theirs; where it is another
 * one, or /proc is not there, is another namespace's or hides the peer, the socket alone tells. */
#ifndef HL_STOPS_H
#define HL_STOPS_H

#include "attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hl_stops_node {
    void *board;                  /* hl_stops_board_bytes of the node's memory, zeroed, kept by the caller */
    int me, size;                 /* node rank; ranks of the node */
    const int *world;             /* [size] their world ranks; kept by the caller */
    bool told;                    /* my launcher says when a signal has stopped me */
    bool (*lives)(int node_rank); /* false: its socket is gone; its number may be another process's */
    /* Its process, of that number, has ended before hl_stops_close; `first`: of the node's ranks this one
     * says so. On a thread that waits, again with each look at it. */
    void (*ended)(int node_rank, unsigned pid, bool first);
};

size_t hl_stops_board_bytes(int node_size);

/* Posts my process, and looks from now on; a node of one rank has nothing to look at. Without memory for what
 * was seen nobody looks. Closing takes the post back: this process may end. Both while no other thread
 * waits. */
void hl_stops_open(const struct hl_stops_node *node);
void hl_stops_close(void);

HL_HIDDEN extern bool hl_stops_on;
void hl_stops_look_slow(uint64_t since_ns);

/* By who waits since then (hl_now_ns) and is about to sleep: one clock, and a look when that was long ago and
 * the last one a second. Any thread; it may read some files of /proc. */
HL_INLINE void hl_stops_look(uint64_t since_ns)
{
    if (HL_UNLIKELY(hl_stops_on)) {
        hl_stops_look_slow(since_ns);
    }
}

/* Milliseconds that a waiting system call may take until hl_stops_look; -1: for ever. */
int hl_stops_nap_ms(void);

#endif
