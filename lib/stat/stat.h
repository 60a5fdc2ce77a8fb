/* Counters of a rank: what its lanes and its receive side have done. HOTLANE_STATS, hotlane_counter and
 * MPI_T show them.
 *
 * A counter of a lane is changed under that lane's lease, so it costs a plain load and store. Any thread
 * changes counters of the rank, by a relaxed addition, so they are for cold paths only. */
#ifndef HL_STAT_H
#define HL_STAT_H

#include "atomic.h"
#include "attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HL_STAT_LANES 64 /* most lanes of a rank that are counted at a time */

/* X(name, "help"): counters that each lane has, on cache lines of its own. */
#define HL_STAT_LANE_ROWS(X)                                                                                 \
    X(leases, "times a lane was leased")                                                                     \
    X(leases_contended, "leases that were not had at the first try")                                         \
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
    X(lease_waits, "times a thread queued for a lane: all, or the one it must use, were taken")              \
    X(rx_wakes, "wake-ups of the receive thread")                                                            \
    X(rx_messages, "messages received from the network")                                                     \
    X(rx_near, "messages received from node peers")                                                          \
    X(rx_dropped, "messages dropped: malformed, of another job, or for memory that is gone")                 \
    X(rx_queued, "answers that had to wait for the provider")                                                \
    X(messages_mapped, "large messages copied out of memory of node peers that is mapped here")              \
    X(messages_copied, "large messages that the kernel copied out of node peers' memory")                    \
    X(pieces_helped, "pieces of such messages that their waiting senders copied to node peers")              \
    X(messages_read, "large messages read over the network out of their senders' memory")                    \
    X(messages_pulled, "large messages that their senders were asked to send in pieces")                     \
    X(near_opened, "segments of node peers that were opened and mapped without a question")                  \
    X(near_asked, "questions to node peers for the descriptor of a segment")                                 \
    X(near_locks, "accumulates on mapped memory under a lock, in pieces")                                    \
    X(cma_copies, "copies from or to private memory of node peers")                                          \
    X(trays, "operations that node peers' receive threads did in their private memory")                      \
    X(shared_calls, "collectives over node-shared memory")                                                   \
    X(boards, "communicators whose members on a node share memory for collectives")                          \
    X(boards_refused, "communicators that got none: no memory, or no node with two members")                 \
    X(chokes, "times a sender was told to keep its messages until they are received")                        \
    X(messages_eager, "messages of node peers that came with their data, at most 32 bytes")                  \
    X(messages_cell, "messages of node peers that came in a shared buffer, at most 8 KiB")                   \
    X(messages_port, "messages that came over the network with their data")                                  \
    X(bytes_port, "bytes of all messages that came over the network's ports, with their heads")              \
    X(bytes_cell, "bytes of messages that came in a shared buffer")                                          \
    X(bytes_mapped, "bytes of large messages copied out of mapped memory")                                   \
    X(bytes_pulled, "bytes of large messages that their senders were asked to send in pieces")               \
    X(bytes_trays, "bytes of operations that node peers' receive threads did")                               \
    X(bytes_cma, "bytes that the kernel copied from or to private memory of node peers")                     \
    X(launcher_gets, "values, or pieces of long ones, that were asked of the launcher")                      \
    X(shelf_gets, "values that a node peer had fetched from the launcher, or put")                           \
    X(pages_base, "pages of the smallest size that were taken before use")                                   \
    X(pages_huge, "larger pages that were taken")                                                            \
    X(naps, "times that a waiting thread slept")                                                             \
    X(late_wakes, "long naps that lasted to their end, since nobody rang for what had come meanwhile")

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

/* Counters of one lane: written under its lease, read by any thread at any time. */
struct hl_stat_lane {
    HL_ALIGNED_LINE hl_a64 at[HL_STAT_LANE_COUNT];
};

/* Adds to a lane's counter. Under that lane's lease. */
HL_INLINE void hl_stat_lane_add(struct hl_stat_lane *s, enum hl_stat_lane_row row, uint64_t by)
{
    /* relaxed: there is one writer at a time (the leaseholder), and readers want only a recent value. */
    hl_a64_store_relaxed(&s->at[row], hl_a64_load_relaxed(&s->at[row]) + by);
}

/* Adds to a counter of the rank. Any thread; not for hot paths. */
void hl_stat_rank_add(enum hl_stat_rank_row row, uint64_t by);

/* Registers `get`, which returns what a module has counted itself for a counter of the rank. It is added to
 * what hl_stat_rank_add has counted. NULL: the module counts no more; what it has counted stays, so that no
 * reader sees the counter fall. `get` is called under a lock, from any thread, and must not wait. */
void hl_stat_keep(enum hl_stat_rank_row row, uint64_t (*get)(void));

/* Adds a lane's counters to the sums, for at most 64 lanes at a time, until it is retired; its counts stay in
 * the sums then. Any thread. */
void hl_stat_lane_enrol(const struct hl_stat_lane *s);
void hl_stat_lane_retire(const struct hl_stat_lane *s);

/* Sets *value to a counter's value. `name`: a row of the tables (lanes summed up; "row:number" of one
 * lane), or "lanes" (lanes that were opened). Returns 0, or HL_ERR_ARG without a text for an unknown
 * name. Any thread. */
int hl_stat_get(const char *name, uint64_t *value);

/* Registers a function for the names of counters that a module above keeps itself: `get` answers as
 * hl_stat_get does, from any thread. One module. */
void hl_stat_ask_too(int (*get)(const char *name, uint64_t *value));

/* Number of all counters; name and help of counter `i`, 0 .. hl_stat_count() - 1. */
int hl_stat_count(void);
const char *hl_stat_name(int i);
const char *hl_stat_help(int i);

/* Writes all counters that are not zero: " name=value name=value", or " all zero". */
void hl_stat_words(char *out, size_t cap);

/* Writes the values of all hl_stat_count() counters. */
void hl_stat_values(uint64_t *out);

/* For HOTLANE_STATS=json, on the rank that prints the job's counters: creates HOTLANE_STATS_FILE if it
 * is not there, and remembers its whole path. Returns 0, or HL_ERR_ARG with the text; there are no
 * statistics then. */
int hl_stat_open(void);

/* For HOTLANE_STATS=2: prints one line with the counters that are not zero. At the very end. */
void hl_stat_print(void);

/* For HOTLANE_STATS: the rank that ends the job with `code` says that there are no counters. */
void hl_stat_print_none(int code);

bool hl_stat_is_of_job(void); /* true for HOTLANE_STATS=1 and json */

/* For HOTLANE_STATS=1 and json: prints the job's counters all[ranks][hl_stat_count()]; here[rank] is false
 * where a rank's counters are not known. On one rank. */
void hl_stat_print_job(const uint64_t *all, const bool *here, int ranks);

#endif
