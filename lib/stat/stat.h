/* Counters of a rank: what its lanes and its receive side did. Shown by HOTLANE_STATS, the closing tables of
 * programs (hotlane_counter) and MPI_T.
 *
 * A counter of a lane is changed under that lane's lease, so it costs a plain load and store; counters of the
 * rank are changed by anybody with a relaxed addition and belong to cold paths only. */
#ifndef HL_STAT_H
#define HL_STAT_H

#include "atomic.h"
#include "attr.h"

#include <stdbool.h>
#include <stdint.h>

/* X(name, "help"): counters that each lane has; a lane's line is its own. */
#define HL_STAT_LANE_ROWS(X)                                                                                 \
    X(leases, "times a lane was leased")                                                                     \
    X(leases_contended, "leases that did not get the thread's preferred lane at once")                       \
    X(writes, "puts posted")                                                                                 \
    X(reads, "gets posted")                                                                                  \
    X(atomics, "atomic operations posted")                                                                   \
    X(messages, "messages sent to receive threads")                                                          \
    X(chained, "operations that travelled in these messages")                                                \
    X(bytes_chained, "bytes of these messages")                                                              \
    X(bytes_written, "bytes put over the network")                                                           \
    X(bytes_read, "bytes got over the network")                                                              \
    X(again, "posts that the provider could not take at once")                                               \
    X(errors, "operations that ended with an error")                                                         \
    X(stray, "completions without an operation of ours")

/* X(name, "help"): counters of the rank. */
#define HL_STAT_RANK_ROWS(X)                                                                                 \
    X(flush_waits, "flushes that had to wait")                                                               \
    X(lease_waits, "threads that found all lanes taken and queued for one")                                  \
    X(rx_wakes, "wake-ups of the receive thread")                                                            \
    X(rx_messages, "messages received from the network")                                                     \
    X(rx_near, "messages received from node peers")                                                          \
    X(rx_dropped, "messages dropped: malformed, of another job, or for memory that is gone")                 \
    X(rx_queued, "answers that had to wait for the provider")                                                \
    X(near_locks, "accumulates on mapped memory under a lock, in pieces")                                    \
    X(cma_copies, "copies from or to private memory of node peers")                                          \
    X(trays, "operations that node peers' receive threads did in their private memory")

enum hl_stat_lane_row {
#define HL_STAT_ENUM(name, help) HL_STAT_LANE_##name,
    HL_STAT_LANE_ROWS(HL_STAT_ENUM)
#undef HL_STAT_ENUM
        HL_STAT_LANE_COUNT
};

enum hl_stat_rank_row {
#define HL_STAT_ENUM(name, help) HL_STAT_RANK_##name,
    HL_STAT_RANK_ROWS(HL_STAT_ENUM)
#undef HL_STAT_ENUM
        HL_STAT_RANK_COUNT
};

/* Counters of one lane: written under its lease, read by anybody at any time. */
struct hl_stat_lane {
    HL_ALIGNED_LINE hl_a64 at[HL_STAT_LANE_COUNT];
};

/* Adds to a lane's counter. Under that lane's lease. */
HL_INLINE void hl_stat_lane_add(struct hl_stat_lane *s, enum hl_stat_lane_row row, uint64_t by)
{
    /* relaxed: one writer at a time (the leaseholder); readers want no more than a recent value. */
    hl_a64_store_relaxed(&s->at[row], hl_a64_load_relaxed(&s->at[row]) + by);
}

/* Adds to a counter of the rank. Any thread; not for hot paths. */
void hl_stat_rank_add(enum hl_stat_rank_row row, uint64_t by);

/* Makes a lane's counters count into the sums below, at most 64 lanes at a time, until it is retired: its
 * counts stay in the sums. Any thread. */
void hl_stat_lane_enrol(const struct hl_stat_lane *s);
void hl_stat_lane_retire(const struct hl_stat_lane *s);

/* Value of a counter by name: a row above (lanes summed, or "row:number" of one lane), or "lanes" (lanes that
 * were opened). Returns 0, or HL_ERR_ARG (silent) for a name that is none. Any thread. */
int hl_stat_get(const char *name, uint64_t *value);

/* Row `i` of all counters, 0 .. hl_stat_count() - 1: its name and help. */
int hl_stat_count(void);
const char *hl_stat_name(int i);
const char *hl_stat_help(int i);

/* Prints one line with the counters that are not zero, when HOTLANE_STATS is set. At finalize. */
void hl_stat_print(void);

#endif
