/* match: ranks that leave and open again, each at its own pace. Ranks are threads of one process here. */
#include "unit.h"

#include "match_ranks.h"

/* All have met and close; rank 0 is back, with more inboxes, before rank 1 has begun. What it sends waits for
 * rank 1's next opening instead of lying in an inbox of the last one. */
START_TEST(who_opens_again_first_is_not_lost)
{
    open_ranks(2, 1, true, false);
    for (int i = 0; i < 2; i++) {
        struct hl_send s = sending(i, 1 - i, 1, &i, 4);
        int got = -1;
        struct hl_recv r = receiving(i, 1, &got, 4);
        ck_assert_int_eq(hl_match_send(&ranks[i], &s), 0);
        ck_assert_int_eq(hl_match_recv(&ranks[1 - i], &r, MPI_STATUS_IGNORE), 0);
        ck_assert_int_eq(got, i);
    }
    hl_matcher_leave(&ranks[0]);
    close_rank(0);
    open_rank(0, 4, true, false);

    struct hl_req *sent[16], *req;
    int value[16], got;
    for (int i = 0; i < 16; i++) {
        value[i] = 100 + i;
        struct hl_send s = sending(0, 1, i, &value[i], 4);
        s.ctx = 8 * (uint64_t)(i + 1); /* inboxes of all numbers */
        ck_assert_int_eq(hl_match_isend(&ranks[0], &s, &sent[i]), 0);
        ck_assert(!hl_req_is_done(sent[i]));
    }
    hl_matcher_leave(&ranks[1]);
    while (hl_prog_poll() > 0) {
    }
    hl_prog_unregister(hl_matcher_poll, &ranks[1]);
    hl_matcher_close(&ranks[1]);
    open_rank(1, 4, true, false);
    for (int i = 0; i < 16; i++) {
        struct hl_recv r = receiving(0, i, &got, 4);
        r.ctx = 8 * (uint64_t)(i + 1);
        ck_assert_int_eq(hl_match_irecv(&ranks[1], &r, &req), 0);
        for (int turn = 0; turn < 1000 && !hl_req_is_done(req); turn++) {
            hl_prog_poll();
        }
        ck_assert(hl_req_is_done(req));
        hl_req_finish(req, MPI_STATUS_IGNORE);
        ck_assert_int_eq(got, value[i]);
        hl_req_wait(sent[i]);
        hl_req_finish(sent[i], MPI_STATUS_IGNORE);
    }
    close_ranks();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("match_again");
    TCase *c = tcase_create("match_again");
    tcase_add_test(c, who_opens_again_first_is_not_lost);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(make_suite)
