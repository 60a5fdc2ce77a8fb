/* Large messages, and those that both ends copy: cases of test_match.c. */
#ifndef HL_MATCH_SPLIT_H
#define HL_MATCH_SPLIT_H

#include "match_death.h"
#include "stat.h"

#define BOTH_BYTES (4 << 20)
#define BOTH_CPUS 1024 /* so many that nobody is in anybody's way */

static uint64_t helped(void)
{
    uint64_t n = 0;
    ck_assert_int_eq(hl_stat_get("pieces_helped", &n), 0);
    return n;
}

struct both {
    unsigned char *out, *in;
    int result;
    hl_a32 over;
};

static void *send_both(void *arg)
{
    struct both *b = arg;
    struct hl_send s = sending(1, 0, 0, b->out, BOTH_BYTES);
    ck_assert_int_eq(hl_match_send(&ranks[1], &s), 0);
    return NULL;
}

static void *receive_both(void *arg)
{
    struct both *b = arg;
    struct hl_recv r = receiving(1, 0, b->in, BOTH_BYTES);
    b->result = hl_match_recv(&ranks[0], &r, MPI_STATUS_IGNORE);
    hl_a32_store_release(&b->over, 1); /* release: pairs with the acquire of who waits for it */
    return NULL;
}

static void take_both(struct both *b)
{
    b->out = malloc(BOTH_BYTES);
    b->in = malloc(BOTH_BYTES);
    hl_a32_store_relaxed(&b->over, 0); /* relaxed: nobody else is here */
    fill_message(b->out, BOTH_BYTES, 3, 1);
    memset(b->in, 0, BOTH_BYTES);
}

static void drop_both(struct both *b)
{
    free(b->out);
    free(b->in);
}

START_TEST(senders_that_wait_help_to_copy)
{
    struct both b;
    pthread_t thread;
    hl_prog_crowd(1, BOTH_CPUS);
    open_ranks(2, _i == 0 ? 1 : 4, true, true);
    uint64_t before = helped();
    take_both(&b);
    do {
        memset(b.in, 0, BOTH_BYTES);
        ck_assert_int_eq(pthread_create(&thread, NULL, send_both, &b), 0);
        receive_both(&b);
        pthread_join(thread, NULL);
        ck_assert_int_eq(b.result, 0);
        ck_assert_int_eq(memcmp(b.in, b.out, BOTH_BYTES), 0);
    } while (helped() == before);
    while (hl_prog_poll() > 0) { /* what came late */
    }
    drop_both(&b);
    close_ranks();
    hl_prog_crowd(1, 0); /* as it was */
}
END_TEST

START_TEST(receivers_do_without_senders_and_these_come_late)
{
    struct both b;
    struct hl_req *req;
    hl_prog_crowd(1, BOTH_CPUS);
    open_ranks(2, 1, true, true);
    take_both(&b);
    struct hl_send s = sending(1, 0, 0, b.out, BOTH_BYTES);
    struct hl_send self = sending(0, 0, 0, b.out, BOTH_BYTES);
    hl_prog_unregister(hl_matcher_poll, &ranks[1]);
    ck_assert_int_eq(hl_match_isend(&ranks[1], &s, &req), 0);
    receive_both(&b);
    ck_assert_int_eq(b.result, 0);
    ck_assert_int_eq(memcmp(b.in, b.out, BOTH_BYTES), 0);
    memset(b.in, 0, BOTH_BYTES); /* the user's again: nobody may write there */
    ck_assert(!hl_req_is_done(req));
    ck_assert_int_eq(hl_prog_register(hl_matcher_poll, &ranks[1], 1), 0);
    uint64_t before = helped();
    hl_req_wait(req);
    ck_assert_int_eq(hl_req_finish(req, MPI_STATUS_IGNORE), 0);
    while (hl_prog_poll() > 0) {
    }
    ck_assert_uint_eq(helped(), before);
    ck_assert(b.in[0] == 0 && b.in[BOTH_BYTES - 1] == 0);
    ck_assert_uint_eq(hl_a64_load_relaxed(&hl_match_part_of(&ranks[0], 0)->splits_taken),
                      0); /* relaxed: alone */
    ck_assert_int_eq(hl_match_isend(&ranks[0], &self, &req), 0);
    struct hl_recv r = receiving(0, 0, b.in, BOTH_BYTES);
    ck_assert_int_eq(hl_match_recv(&ranks[0], &r, MPI_STATUS_IGNORE), 0);
    ck_assert_int_eq(memcmp(b.in, b.out, BOTH_BYTES), 0);
    hl_req_wait(req);
    hl_req_finish(req, MPI_STATUS_IGNORE);
    drop_both(&b);
    close_ranks();
    hl_prog_crowd(1, 0); /* as it was */
}
END_TEST

/* Claims the last page of the first split copy in the sender's place. False: it is too late. */
static bool claim_and_keep(struct both *b)
{
    struct hl_split *j = &hl_match_part_of(&ranks[0], 0)->splits[0];
    while (hl_a32_load_acquire(&b->over) == 0) {       /* acquire: as said in receive_both */
        uint64_t word = hl_a64_load_relaxed(&j->left); /* relaxed: the CAS checks it */
        if ((word >> 12 & 0xfff) > (word & 0xfff) && hl_a64_cas_full(&j->left, &word, word - (1 << 12))) {
            return true;
        }
    }
    return false;
}

START_TEST(a_sender_that_dies_while_it_copies_is_named)
{
    struct both b;
    struct hl_req *req;
    pthread_t thread;
    bool claimed = false;
    hl_prog_crowd(1, BOTH_CPUS);
    open_mortals(1, true);
    hl_prog_unregister(hl_matcher_poll, &ranks[1]);
    take_both(&b);
    while (!claimed) {
        struct hl_send s = sending(1, 0, 0, b.out, BOTH_BYTES);
        hl_a32_store_relaxed(&b.over, 0); /* relaxed: nobody else is here */
        ck_assert_int_eq(hl_match_isend(&ranks[1], &s, &req), 0);
        ck_assert_int_eq(pthread_create(&thread, NULL, receive_both, &b), 0);
        claimed = claim_and_keep(&b);
        if (claimed) {
            kill_rank_1();
        }
        pthread_join(thread, NULL);
        ck_assert_int_eq(b.result, claimed ? HL_ERR_PROC_ABORTED : 0);
        ck_assert_int_eq(hl_prog_register(hl_matcher_poll, &ranks[1], 1), 0);
        while (hl_prog_poll() > 0) {
        }
        ck_assert(hl_req_is_done(req) != claimed);
        if (!claimed) {
            hl_req_finish(req, MPI_STATUS_IGNORE);
            hl_prog_unregister(hl_matcher_poll, &ranks[1]);
        }
    }
    ck_assert_uint_eq(hl_a64_load_relaxed(&hl_match_part_of(&ranks[0], 0)->splits_taken),
                      0); /* relaxed: alone */
    drop_both(&b);
    close_ranks();
    hl_prog_crowd(1, 0); /* as it was */
}
END_TEST

START_TEST(long_messages_are_cut_and_say_so)
{
    const int64_t n[] = {8, 5000, 100000};
    open_ranks(1, 1, false, _i % 2 == 0);
    unsigned char *out = malloc(100000), *in = calloc(1, 100000);
    for (size_t k = 0; k < HL_COUNT_OF(n); k++) {
        fill_message(out, n[k], 1, 1);
        struct hl_send s = sending(0, 0, 1, out, n[k]);
        struct hl_req *req;
        ck_assert_int_eq(hl_match_isend(&ranks[0], &s, &req), 0);
        struct hl_recv r = receiving(0, 1, in, n[k] / 2);
        MPI_Status st = {0};
        ck_assert_int_eq(hl_match_recv(&ranks[0], &r, &st), HL_ERR_TRUNCATE);
        ck_assert_int_eq(hl_req_status_bytes(&st), n[k] / 2);
        ck_assert_int_eq(memcmp(in, out, (size_t)n[k] / 2), 0);
        ck_assert_int_eq(in[n[k] / 2], 0);
        hl_req_wait(req);
        ck_assert_int_eq(hl_req_finish(req, MPI_STATUS_IGNORE), 0);
        memset(in, 0, 100000);
    }
    free(in);
    free(out);
    close_ranks();
}
END_TEST

#endif
