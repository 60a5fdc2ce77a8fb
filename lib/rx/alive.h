/* Inside the module: looking after ranks that may have died (alive.c). On the receive thread. */
#ifndef HL_RX_ALIVE_H
#define HL_RX_ALIVE_H

#include <stdint.h>

/* The network is open. */
void hl_rx_alive_open(void);

/* Looks when it is due; returns the nanoseconds until the next time. */
uint64_t hl_rx_alive_look(void);

/* A rank says that this one counts as dead there. */
void hl_rx_told_gone(int rank);

/* The receive thread of a rank has answered a question, whoever asked. */
void hl_rx_alive_heard(int rank);

/* The thread has ended. */
void hl_rx_alive_close(void);

#endif
