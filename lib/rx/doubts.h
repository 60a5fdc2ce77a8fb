/* Inside the module: ranks that somebody waits for, where nothing tells of hosts (doubts.c). On the receive
 * thread, but for hl_rx_doubt. */
#ifndef HL_RX_DOUBTS_H
#define HL_RX_DOUBTS_H

#include <stdbool.h>
#include <stdint.h>

/* Somebody has waited for the rank for long. Any thread. */
void hl_rx_doubt(int rank);

/* Asks; `waiting`: some thread here still waits for long, for whomever. */
void hl_rx_doubts_look(uint64_t now_ns, bool waiting);

/* Its receive thread has answered; its heartbeat, asked for at that time, came (hl_rx_net_read_heartbeat). */
void hl_rx_doubts_heard(int rank);
void hl_rx_doubts_heartbeat(int rank, uint64_t asked_ns);

/* Has its heartbeat been read within HOTLANE_PEER_TIMEOUT? */
bool hl_rx_doubts_lives(int rank);

void hl_rx_doubts_close(void);

#endif
