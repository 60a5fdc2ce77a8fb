/* Several ranks in one process: their matchers on one board, and short forms of what tests send. */
#ifndef HL_MATCH_RANKS_H
#define HL_MATCH_RANKS_H

#include "../seed.h"
#include "match_internal.h"
#include "slots.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define RANKS_MAX 4

static struct hl_matcher ranks[RANKS_MAX];
static int n_ranks;
static void *board;
static const int worlds[RANKS_MAX] = {0, 1, 2, 3};

/* Of ranks opened from here on; 0: as usual. */
static uint32_t ranks_ring;
static uint64_t ranks_unex_mem;

static void open_rank(int i, unsigned inboxes, bool threads, bool cma)
{
    struct hl_matcher_setup s = {.world_rank = i,
                                 .world_size = n_ranks,
                                 .node_rank = i,
                                 .node_size = n_ranks,
                                 .node_world = worlds,
                                 .board = board,
                                 .inboxes = inboxes,
                                 .threads = threads,
                                 .cma = cma,
                                 .ring = ranks_ring,
                                 .unex_mem = ranks_unex_mem};
    ck_assert_int_eq(hl_matcher_open(&ranks[i], &s), 0);
    ck_assert_int_eq(hl_prog_register(hl_matcher_poll, &ranks[i], 1), 0);
}

static void close_rank(int i)
{
    ck_assert(hl_matcher_idle(&ranks[i]));
    hl_prog_unregister(hl_matcher_poll, &ranks[i]);
    hl_matcher_close(&ranks[i]);
}

static void open_ranks(int n, unsigned inboxes, bool threads, bool cma)
{
    n_ranks = n;
    board = mmap(NULL, hl_match_board_bytes(n), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(board, MAP_FAILED);
    ck_assert_int_eq(hl_req_open(), 0);
    hl_mpsc_enrol();
    for (int i = 0; i < n; i++) {
        open_rank(i, inboxes, threads, cma);
    }
}

static void close_ranks(void)
{
    for (int i = 0; i < n_ranks; i++) {
        close_rank(i);
    }
    hl_req_close();
    munmap(board, hl_match_board_bytes(n_ranks));
}

static struct hl_type *bytes(void)
{
    return hl_type_of(MPI_BYTE);
}

static struct hl_send sending(int me, int dest, int tag, const void *buf, int64_t n)
{
    return (struct hl_send){
        .ctx = 8, .me = me, .dest_world = dest, .tag = tag, .buf = buf, .count = n, .type = bytes()};
}

static struct hl_recv receiving(int src, int tag, void *buf, int64_t n)
{
    return (struct hl_recv){
        .ctx = 8, .src = src, .src_world = src, .tag = tag, .buf = buf, .count = n, .type = bytes()};
}

static inline uint64_t random_next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ULL;
    return hl_mix64(*state);
}

static inline uint64_t seed_now(const char *what)
{
    uint64_t seed = seed_of_run();
    printf("%s: TEST_SEED=%llu\n", what, (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

#endif
