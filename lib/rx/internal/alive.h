/* Inside the module: finding ranks that have died (alive.c). All calls are for the receive thread, but for
 * hl_rx_alive_host. */
#ifndef HL_RX_ALIVE_H
#define HL_RX_ALIVE_H

#include "links.h"

#include <stdbool.h>
#include <stdint.h>

#define HL_RX_SECOND_NS UINT64_C(1000000000)
#define HL_RX_LATEST_NS (4 * HL_RX_SECOND_NS)              /* longest time between two looks */
#define HL_RX_PAUSE_NS (HL_RX_LATEST_NS + HL_RX_SECOND_NS) /* after a longer pause, this thread did not run */

/* Called when the network is open. */
void hl_rx_alive_open(void);

/* Looks at connections and ranks when that is due; returns the nanoseconds until the next look. */
uint64_t hl_rx_alive_look(void);

/* A rank has said that it counts this one as dead. */
void hl_rx_told_gone(int rank);

/* The receive thread of a rank has answered a question, whoever asked. */
void hl_rx_alive_heard(int rank);

/* Called when the thread has ended. */
void hl_rx_alive_close(void);

/* Sets *out to the host of a rank of another node; false where connections do not tell of its host. Any
 * thread. */
bool hl_rx_alive_host(int rank, struct hl_fab_host *out);

/* A question to the receive thread of a rank. */
struct hl_rx_question {
    int rank;                    /* -1: none */
    uint64_t since_ns, again_ns; /* time of the first one without an answer, 0: none; time of the next one */
};

#define HL_RX_REST 4 /* a slow call of the provider is repeated only after so many times its duration */

/* Asks when it is due. A stopped rank cannot even be connected with, so the question may not leave, and the
 * provider may try for seconds. */
void hl_rx_question_ask(struct hl_rx_question *q, uint64_t now_ns);

/* Rank `rank` has answered: ends the question if it is about this rank. */
void hl_rx_question_heard(struct hl_rx_question *q, int rank);

/* Says once in the log that the rank is stopped, if it has been silent for long and its host answers. */
void hl_rx_say_stopped(int rank, uint64_t for_ns, bool host_answers);

#endif
