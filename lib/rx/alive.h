/* Inside the module: looking after ranks that may have died (alive.c). On the receive thread. */
#ifndef HL_RX_ALIVE_H
#define HL_RX_ALIVE_H

#include "links.h"

#include <stdbool.h>
#include <stdint.h>

#define HL_RX_SECOND_NS UINT64_C(1000000000)
#define HL_RX_LATEST_NS (4 * HL_RX_SECOND_NS)              /* a look comes within that time */
#define HL_RX_PAUSE_NS (HL_RX_LATEST_NS + HL_RX_SECOND_NS) /* who has not looked for so long did not run */

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

/* The host of a rank of another node, where connections tell of hosts; any thread. */
bool hl_rx_alive_host(int rank, struct hl_fab_host *out);

/* To a receive thread. */
struct hl_rx_question {
    int rank;                    /* -1: none */
    uint64_t since_ns, again_ns; /* of the first without an answer, 0: none; when the next one is due */
};

#define HL_RX_REST 4 /* a provider's call that has taken long is not made again for so many times as long */

/* Asks when it is due. Who is stopped does not even let itself be connected with, and the question cannot
 * leave; a provider may try for seconds. */
void hl_rx_question_ask(struct hl_rx_question *q, uint64_t now_ns);
void hl_rx_question_heard(struct hl_rx_question *q, int rank);

/* Says once that it is stopped, if it has been silent for long on a host that answers. */
void hl_rx_say_stopped(int rank, uint64_t for_ns, bool host_answers);

#endif
