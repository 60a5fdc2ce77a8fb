/* Planted defects, to see whether the tests find them. Only builds with the option `faults` have them; they
 * show at most one at a time, the one that HOTLANE_FAULT names. In other builds HL_FAULT is the constant
 * false, and none of this is compiled. */
#ifndef HL_FAULT_H
#define HL_FAULT_H

#include "hl_build.h"

#include <stdbool.h>

/* X(name, "what is wrong"). tests/mpi/oracle finds each of them. */
#define HL_FAULT_ROWS(X)                                                                                     \
    X(strided_stride, "regular layouts: every block stands one byte too far")                                \
    X(indexed_last, "irregular layouts: the last block is left out")                                         \
    X(resized_extent, "resized types: the next element follows the data, not the extent")                    \
    X(copy_tail, "copies of more than 64 bytes leave out the last one")                                      \
    X(unit_mine, "displacements are taken in units of the origin's window")                                  \
    X(add_torn, "sums on mapped memory are a load and a store")                                              \
    X(fetch_new, "a sum that fetches brings the value after it")                                             \
    X(cas_half, "compare-and-swap looks at half of the bytes")                                               \
    X(lock_skipped, "elements that need a lock are updated without it")                                      \
    X(rpc_half, "in private memory of node peers only the first element is updated")                         \
    X(exclusive_shared, "an exclusive lock does not wait for readers")                                       \
    X(unlock_open, "an unlock does not complete operations on the network")                                  \
    X(fence_open, "a fence does not complete operations on the network")                                     \
    X(complete_open, "neither does MPI_Win_complete")                                                        \
    X(flush_lane, "a flush does not wait for the first of the lanes that were used")                         \
    X(flush_local_open, "a local flush waits for nothing")                                                   \
    X(chain_last, "the last of several chained operations is dropped")                                       \
    X(chain_answer, "a chained get is answered with a byte too little")

/* Y(name, "what is wrong") for messages. tests/mpi/p2p_faults.py finds each of them, except leave_deaf and
 * ask_once, which only some interleavings show: tests/interleave/test_inbox.c finds those. */
#define HL_FAULT_MATCH_ROWS(Y)                                                                               \
    Y(port_wander, "messages of one pair leave by any port")                                                 \
    Y(poll_one, "who waits looks at one inbox only")                                                         \
    Y(overtake, "a send does not mind that earlier ones have not left")                                      \
    Y(newest_first, "a receive takes the newest message that fits")                                          \
    Y(xoff_ignored, "a throttled source goes on")                                                            \
    Y(isend_waits, "a nonblocking send waits for room")                                                      \
    Y(command_order, "an inbox's owner does what he was asked to in any order")                              \
    Y(deaths_untold, "nobody is told of deaths")                                                             \
    Y(die_claimed, "rank 1 dies with a slot claimed")                                                        \
    Y(leave_deaf, "an inbox's owner leaves without looking what he was asked meanwhile")                     \
    Y(ask_once, "who asks an inbox's owner does not look whether he has left")                               \
    Y(die_helping, "rank 1 dies while it copies to a receiver")                                              \
    Y(help_fails, "a sender cannot write into its receiver's memory")                                        \
    Y(port_full, "two of three times the network has no room for a message")

enum hl_fault {
    HL_FAULT_none,
#define HL_FAULT_ENUM(name, words) HL_FAULT_##name,
    HL_FAULT_ROWS(HL_FAULT_ENUM) HL_FAULT_MATCH_ROWS(HL_FAULT_ENUM)
#undef HL_FAULT_ENUM
};

#if HL_FAULTS
extern enum hl_fault hl_fault_now; /* set once, before threads start */
#define HL_FAULT(name) (hl_fault_now == HL_FAULT_##name)

/* Plants the defect of this name; "": none. Returns 0, or HL_ERR_ARG with the text for an unknown name. */
int hl_fault_plant(const char *name);
#else
#define HL_FAULT(name) false
#endif

#endif
