/* A number that all ranks of a communicator add to without the attention of the one that keeps it, as files
 * need for their shared pointer. It lies at rank 0: ranks of its node add with the CPU, others by the
 * network's atomics. */
#ifndef HL_COUNTER_H
#define HL_COUNTER_H

#include <stdint.h>

/* Where the word is. */
struct hl_counter_card {
    uint64_t seg_id, seg_len, off; /* at its owner */
    uint64_t addr, key;            /* for the network, when that is open */
};

struct hl_comm;
struct hl_counter;

/* My part of making it, with value 0; closed also where that fails (*c may be NULL). When no rank has failed,
 * all get rank 0's card. HL_ERR_NO_MEM. */
int hl_counter_make(const struct hl_comm *comm, struct hl_counter **c);
struct hl_counter_card *hl_counter_card(struct hl_counter *c);

/* After the last use on all ranks. */
void hl_counter_close(struct hl_counter *c);

/* Adds `by` and tells the value before. The first call of a rank finds the way. Any thread.
 * HL_ERR_RMA_SHARED: the owner's memory cannot be mapped, and there is no network. */
int hl_counter_add(struct hl_counter *c, int64_t by, int64_t *before);

/* At the owner. Ordered with the others' additions by a collective operation. */
void hl_counter_set(struct hl_counter *c, int64_t value);

#endif
