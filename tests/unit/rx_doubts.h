/* Ranks that somebody waits for, where nothing tells of hosts. Part of test_rx.c. */
#ifndef RX_DOUBTS_H
#define RX_DOUBTS_H

#include "alive.h"
#include "conf.h"
#include "doubts.h"
#include "fab_lib.h"
#include "model.h"
#include "rx_internal.h"
#include "util.h"

#include <check.h>

#define TIMEOUT_S 20

static void open_doubts(void)
{
    ck_assert_int_eq(hl_conf_load(), 0);
    hl_conf.peer_timeout = TIMEOUT_S;
    hl_job.size = 20;
    hl_rx.dead = calloc((size_t)hl_job.size, sizeof *hl_rx.dead);
    ck_assert_int_eq(hl_rx_streams_open(), 0);
}

static void close_doubts(void)
{
    hl_rx_doubts_close();
    hl_rx_streams_close();
    free(hl_rx.dead);
    hl_rx.dead = NULL;
}

/* Nothing leaves here: all are silent. */
START_TEST(who_has_a_heartbeat_is_not_given_up)
{
    uint64_t now = hl_now_ns(), ago = (TIMEOUT_S + 1) * HL_RX_SECOND_NS;
    open_doubts();
    ck_assert(!hl_rx_gives_up(1, ago / 2));
    hl_rx_doubts_look(now, true);
    ck_assert(hl_rx_gives_up(1, ago));
    hl_rx_doubts_heartbeat(1, now - ago / 2);
    ck_assert(!hl_rx_gives_up(1, 9 * ago));
    hl_rx_doubts_heartbeat(2, now); /* another one's */
    hl_rx_doubts_heartbeat(1, now - ago);
    ck_assert(hl_rx_gives_up(1, ago));
    close_doubts();
}
END_TEST

/* A doubt of which nobody speaks any more stays while its question has no answer and somebody waits for
 * something: others may have taken its turn. */
START_TEST(a_doubt_lasts_until_it_is_answered)
{
    uint64_t now = hl_now_ns();
    for (int answered = 0; answered <= 1; answered++) {
        for (int waiting = 0; waiting <= 1; waiting++) {
            open_doubts();
            hl_rx_doubt(7);
            for (uint64_t second = 0; second < 12; second += 2) {
                hl_rx_doubts_look(now + second * HL_RX_SECOND_NS, waiting);
                answered ? hl_rx_doubts_heard(7) : (void)0;
            }
            hl_rx_doubts_heartbeat(7, now);
            ck_assert_int_eq(hl_rx_doubts_lives(7), waiting && !answered);
            close_doubts();
        }
    }
}
END_TEST

/* As many as are asked at a time; the others come when those have answered. */
START_TEST(all_are_asked_in_turn)
{
    uint64_t now = hl_now_ns();
    bool asked[20] = {false};
    open_doubts();
    for (uint64_t second = 0; second < 100; second += 2) {
        for (int rank = 1; rank < 20; rank++) {
            hl_rx_doubt(1 + (rank + (int)second) % 19);
        }
        hl_rx_doubts_look(now + second * HL_RX_SECOND_NS, true);
        for (int rank = 1; rank < 20; rank++) {
            hl_rx_doubts_heartbeat(rank, now);
            asked[rank] |= hl_rx_doubts_lives(rank);
            hl_rx_doubts_heard(rank);
        }
    }
    for (int rank = 1; rank < 20; rank++) {
        ck_assert_msg(asked[rank], "rank %d was never asked", rank);
    }
    close_doubts();
}
END_TEST

START_TEST(a_heartbeat_is_read)
{
    struct hl_fab_ep ep;
    uint64_t heartbeat = 77, word = 0;
    int context;
    ck_assert_int_eq(hl_conf_load(), 0);
    hl_conf.provider = "model";
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    ck_assert_int_eq(hl_fab_open(), 0);
    ck_assert_int_eq(hl_fab_ep_open(HL_FAB_RX, &ep), 0);
    struct iovec to = {&word, sizeof word};
    ck_assert_int_eq(hl_fab_ep_read(&ep, 1, (uint64_t)(uintptr_t)&heartbeat, 0, to, &context), 0);
    struct fi_cq_msg_entry entry = {.op_context = NULL};
    while (fi_cq_read(ep.cq, &entry, 1) != 1) {
    }
    ck_assert_ptr_eq(entry.op_context, &context);
    ck_assert_uint_eq(word, 77);
    hl_fab_ep_close(&ep);
}
END_TEST

static void add_doubts(TCase *t)
{
    tcase_add_test(t, who_has_a_heartbeat_is_not_given_up);
    tcase_add_test(t, a_doubt_lasts_until_it_is_answered);
    tcase_add_test(t, all_are_asked_in_turn);
    tcase_add_test(t, a_heartbeat_is_read);
}

#endif
