/* Bounded memory for unexpected messages: cases of test_match.c. */
#ifndef HL_MATCH_FLOW_H
#define HL_MATCH_FLOW_H

#include "stat.h"

static uint64_t chokes(void)
{
    uint64_t n = 0;
    ck_assert_int_eq(hl_stat_get("chokes", &n), 0);
    return n;
}

/* Above the limit payloads stay with the sender, whose next header comes all the same; at half they come
 * again. */
START_TEST(a_flood_takes_bounded_memory)
{
    enum { N = 4000, BYTES = 4000, LIMIT = 1 << 20 };
    ranks_unex_mem = LIMIT;
    open_ranks(2, _i % 2 == 0 ? 1 : 4, _i >= 2, true);
    static unsigned char out[BYTES], in[BYTES];
    static struct hl_req *req[N];
    fill_message(out, BYTES, 1, 1);
    uint64_t most = 0;
    for (int i = 0; i < N; i++) {
        struct hl_send s = sending(0, 1, i == N - 1, out, BYTES);
        ck_assert_int_eq(hl_match_isend(&ranks[0], &s, &req[i]), 0);
        hl_prog_poll();
        uint64_t held = 0;
        for (unsigned k = 0; k < ranks[1].n_inboxes; k++) {
            held += hl_a64_load_relaxed(&ranks[1].inbox[k].table.kept_bytes); /* relaxed: one thread here */
        }
        most = held > most ? held : most;
    }
    ck_assert(req[0] == hl_req_completed());
    ck_assert(!hl_req_is_done(req[N - 2]));
    ck_assert_uint_eq(chokes(), 1);
    ck_assert_uint_gt(most, LIMIT);
    ck_assert_uint_lt(most, LIMIT + 2 * BYTES + (size_t)N * (sizeof(struct hl_entry) + 72));
    struct hl_recv r = receiving(0, 1, in, BYTES); /* the last one, behind all others */
    ck_assert_int_eq(hl_match_recv(&ranks[1], &r, MPI_STATUS_IGNORE), 0);
    ck_assert_int_eq(memcmp(in, out, BYTES), 0);
    for (int i = 0; i < N - 1; i++) {
        memset(in, 0, BYTES);
        r = receiving(_i % 3 == 0 ? 0 : MPI_ANY_SOURCE, 0, in, BYTES);
        ck_assert_int_eq(hl_match_recv(&ranks[1], &r, MPI_STATUS_IGNORE), 0);
        ck_assert_int_eq(memcmp(in, out, BYTES), 0);
    }
    wait_all(N, req);
    for (int i = 0; i < N; i++) {
        hl_req_finish(req[i], MPI_STATUS_IGNORE);
    }
    struct hl_send s = sending(0, 1, 0, out, BYTES);
    ck_assert_int_eq(hl_match_isend(&ranks[0], &s, &req[0]), 0);
    ck_assert(req[0] == hl_req_completed()); /* let go */
    hl_prog_poll();
    close_ranks();
    ranks_unex_mem = 0;
}
END_TEST

/* The loudest is throttled, the others are not. */
START_TEST(who_sends_little_is_not_throttled)
{
    enum { LOUD = 300, BYTES = 4000 };
    ranks_unex_mem = 1 << 20;
    open_ranks(3, 1, false, true);
    static unsigned char buf[BYTES];
    static struct hl_req *req[LOUD], *one;
    struct hl_send quiet = sending(2, 1, 0, buf, BYTES);
    for (int i = 0; i < LOUD; i++) {
        struct hl_send s = sending(0, 1, 0, buf, BYTES);
        ck_assert_int_eq(hl_match_isend(&ranks[0], &s, &req[i]), 0);
        if (i % 100 == 0) {
            ck_assert_int_eq(hl_match_send(&ranks[2], &quiet), 0);
        }
        hl_prog_poll();
    }
    ck_assert(!hl_req_is_done(req[LOUD - 1]));
    ck_assert_int_eq(hl_match_isend(&ranks[2], &quiet, &one), 0);
    ck_assert(one == hl_req_completed());
    ck_assert_uint_eq(chokes(), 1); /* the loud one, once */
    for (int i = 0; i < LOUD + 4; i++) {
        struct hl_recv r = receiving(MPI_ANY_SOURCE, 0, buf, BYTES);
        ck_assert_int_eq(hl_match_recv(&ranks[1], &r, MPI_STATUS_IGNORE), 0);
    }
    wait_all(LOUD, req);
    for (int i = 0; i < LOUD; i++) {
        hl_req_finish(req[i], MPI_STATUS_IGNORE);
    }
    close_ranks();
    ranks_unex_mem = 0;
}
END_TEST

#endif
