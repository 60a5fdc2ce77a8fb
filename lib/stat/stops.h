/* Finds node peers that are stopped (a debugger, Ctrl-Z), and those that have ended unnoticed by the
 * launcher, which watches only the script that has started them: otherwise ranks would wait for them without
 * a sign. A thread that has waited for long looks at its node peers, some each second, and one rank of the
 * node tells each stop in one line. A launcher that sees its processes stopped by signals tells that itself;
 * of its ranks only those are told that a debugger holds, since their parent does not hear of that. `ended`
 * is called in each rank that finds an end.
 *
 * The kernel tells by /proc/PID/status, and ends also by the peer's socket, which a child of the peer may
 * still hold. A process number means the peer only in the peer's own PID namespace, so each rank names its
 * namespace. When it is another one, or /proc is missing, belongs to another namespace or hides the peer,
 * only the socket tells. */
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
    bool told;                    /* the launcher tells when a signal has stopped this process */
    bool (*lives)(int node_rank); /* false: the peer's socket is gone */
    /* Is called when the peer's process has ended before hl_stops_close; `first`: of the node's ranks this
     * one is to tell it. On a waiting thread, again with each look at the peer. */
    void (*ended)(int node_rank, unsigned pid, bool first);
};

size_t hl_stops_board_bytes(int node_size);

/* Posts this process, and begins to look; in a node of one rank there is nothing to look at. Without memory
 * for what was seen this rank does not look. hl_stops_close takes the post back: this process may end from
 * then on. Both are called while no other thread waits. */
void hl_stops_open(const struct hl_stops_node *node);
void hl_stops_close(void);

HL_HIDDEN extern bool hl_stops_on;
void hl_stops_look_slow(uint64_t since_ns);

/* Called by a thread that has waited since `since_ns` (hl_now_ns) and is about to sleep. It reads the
 * clock, and looks when the wait is long and the last look was a second ago, which reads some files of
 * /proc. Any thread. */
HL_INLINE void hl_stops_look(uint64_t since_ns)
{
    if (HL_UNLIKELY(hl_stops_on)) {
        hl_stops_look_slow(since_ns);
    }
}

/* Milliseconds that a waiting system call may take until hl_stops_look; -1: for ever. */
int hl_stops_nap_ms(void);

#endif
