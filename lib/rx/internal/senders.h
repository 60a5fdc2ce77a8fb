/* Inside the module: the lanes that send to this rank, by (rank, lane), in a hash table that grows. One
 * thread. */
#ifndef HL_RX_SENDERS_H
#define HL_RX_SENDERS_H

#include <rdma/fabric.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hl_rx_sender {
    uint64_t key;     /* 0: the place is free */
    fi_addr_t addr;   /* where its acknowledgements go; valid when known */
    uint64_t applied; /* number of the last message that was handled */
    /* not 0: the answer to the message of this number is lost, and the lane may not know it (answers.c) */
    uint64_t unanswered;
    bool ack_due; /* a message came since the last acknowledgement */
    bool known;   /* HELLO was seen; false again while an answer of an ordered stream is lost */
};

/* All zero: empty. */
struct hl_rx_senders {
    struct hl_rx_sender *places;
    size_t room, count; /* room is 0 or a power of two */
};

/* The sender's place, made if it is new; valid until the next call. NULL: no memory for a new one. */
struct hl_rx_sender *hl_rx_senders_get(struct hl_rx_senders *s, int rank, unsigned lane);

/* The sender's place, or NULL: it has none. Other places stay valid. */
struct hl_rx_sender *hl_rx_senders_find(const struct hl_rx_senders *s, int rank, unsigned lane);

void hl_rx_senders_free(struct hl_rx_senders *s);

#endif
