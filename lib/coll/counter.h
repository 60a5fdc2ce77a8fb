/* A number that all ranks of a communicator add to; the rank that keeps it need do nothing for that. Files
 * need one for their shared pointer. It is in rank 0's memory: ranks of its node add by the CPU, others by
 * network atomics. */
#ifndef HL_COUNTER_H
#define HL_COUNTER_H

#include <stdint.h>

/* Where the word is. */
struct hl_counter_card {
    uint64_t seg_id, seg_len, off; /* segment of the owner, and offset in it */
    uint64_t addr, key;            /* for the network, if that is open */
};

struct hl_comm;
struct hl_counter;

/* This rank's part of making a counter with value 0. It must be closed even if this fails (*c may be NULL).
 * When no rank has failed, all must get rank 0's card. HL_ERR_NO_MEM. */
int hl_counter_make(const struct hl_comm *comm, struct hl_counter **c);
struct hl_counter_card *hl_counter_card(struct hl_counter *c);

/* Frees it; called after the last use on all ranks. NULL is fine. */
void hl_counter_close(struct hl_counter *c);

/* Adds `by`; *before is the value before. The first call of a rank finds out how to reach the number. Any
 * thread. HL_ERR_RMA_SHARED: the owner's memory cannot be mapped, and there is no network; errors of
 * lanes. */
int hl_counter_add(struct hl_counter *c, int64_t by, int64_t *before);

/* Sets the number; only at the owner. A collective operation must order it with the others' additions. */
void hl_counter_set(struct hl_counter *c, int64_t value);

#endif
