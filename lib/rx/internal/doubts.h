/* Inside the module: finding dead ranks where nothing tells of hosts (doubts.c). A doubt is about a rank for
 * which a thread of this process waits for long. On the receive thread, but for hl_rx_doubt. */
#ifndef HL_RX_DOUBTS_H
#define HL_RX_DOUBTS_H

#include <stdbool.h>
#include <stdint.h>

/* Says that a thread has waited for the rank for long. It does nothing for ranks of this node, dead ranks,
 * and where connections tell of the rank's host. Any thread. */
void hl_rx_doubt(int rank);

/* Asks ranks that are in doubt; `waiting`: some thread of this process still waits for long, for any rank. */
void hl_rx_doubts_look(uint64_t now_ns, bool waiting);

/* The rank's receive thread has answered. */
void hl_rx_doubts_heard(int rank);

/* The rank's heartbeat was read; the read was posted at `asked_ns`. */
void hl_rx_doubts_heartbeat(int rank, uint64_t asked_ns);

/* A read of a heartbeat (hl_rx_net_read_heartbeat) has ended, with an error unless `well`. */
struct hl_rx_op;
void hl_rx_doubts_read(struct hl_rx_op *op, bool well);

/* True when the rank's heartbeat was read within HOTLANE_PEER_TIMEOUT. */
bool hl_rx_doubts_lives(int rank);

/* Forgets all, at the end. */
void hl_rx_doubts_close(void);

#endif
