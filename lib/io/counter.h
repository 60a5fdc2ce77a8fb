/* A number that all ranks of a communicator add to without the attention of the one that keeps it: the shared
 * file pointer. It lies at rank 0: ranks of its node add with the CPU, others by the network's atomics. */
#ifndef HL_IO_COUNTER_H
#define HL_IO_COUNTER_H

#include <stdint.h>

#include "atomic.h"
#include "comm.h"
#include "lock.h"
#include "mem.h"

/* Where the word is. */
struct hl_io_card {
    uint64_t seg_id, seg_len, off; /* at its owner */
    uint64_t addr, key;            /* for the network, when that is open */
};

struct hl_io_counter {
    int owner;             /* world rank */
    struct hl_piece piece; /* at the owner; seg is NULL elsewhere */
    struct hl_io_card card;
    hl_a64 *word;         /* when it is my memory, or mapped. Set once, under lock; atomic */
    struct hl_mutex lock; /* of the first use */
    int near;             /* node rank of the owner where a mapping was made, else -1; under lock */
    uint64_t region;      /* hl_fab_register's id, at the owner; 0: none */
};

/* Makes it, with value 0. Collective; all ranks or none. HL_ERR_NO_MEM. */
int hl_io_counter_open(struct hl_io_counter *c, struct hl_comm *comm);

/* After the last use on all ranks. */
void hl_io_counter_close(struct hl_io_counter *c);

/* Adds `by` and tells the value before. The first call of a rank finds the way. Any thread.
 * HL_ERR_RMA_SHARED: the owner's memory cannot be mapped, and there is no network. */
int hl_io_counter_add(struct hl_io_counter *c, int64_t by, int64_t *before);

/* At the owner. Ordered with the others' additions by a collective operation. */
void hl_io_counter_set(struct hl_io_counter *c, int64_t value);

#endif
