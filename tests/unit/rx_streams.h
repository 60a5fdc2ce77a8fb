/* Numbers of records between receive endpoints, and the ends of such streams. Part of test_rx.c. */
#ifndef RX_STREAMS_H
#define RX_STREAMS_H

#include "job.h"
#include "rx_internal.h"
#include "tail.h"

#include <check.h>
#include <stdlib.h>

static enum hl_rx_turn record_in(unsigned op, uint64_t seq)
{
    struct {
        struct hl_wire_head head;
        struct hl_wire_rec rec;
    } m = {.head =
               {.seq = seq, .from = 1, .lane = HL_WIRE_RX, .kind = HL_WIRE_DATA, .len = sizeof m, .count = 1},
           .rec.op = (uint8_t)op};
    return hl_rx_streams_take(&m.head);
}

static void open_streams(void)
{
    hl_job.size = 2;
    hl_fab.ordered = true;
    hl_rx.dead = calloc(2, sizeof *hl_rx.dead);
    ck_assert_int_eq(hl_rx_streams_open(), 0);
    ck_assert_int_eq(record_in(HL_WIRE_GRANT, 1), HL_RX_NEXT);
    ck_assert_int_eq(record_in(HL_WIRE_GRANT, 1), HL_RX_OLD);
    ck_assert_int_eq(record_in(HL_WIRE_COUNT, 1), HL_RX_DONE);
    ck_assert_int_eq(record_in(HL_WIRE_COUNT, 0), HL_RX_DONE);
    ck_assert_int_eq(record_in(HL_WIRE_GRANT, 2), HL_RX_NEXT);
}

START_TEST(records_of_the_dead_may_be_missing)
{
    open_streams();
    ck_assert_int_eq(record_in(HL_WIRE_GONE, 4), HL_RX_NEXT); /* says that we count as dead there */
    hl_a8_store_release(&hl_rx.dead[1], 1);
    ck_assert_int_eq(record_in(HL_WIRE_COUNT, 9), HL_RX_DONE);
    ck_assert_int_eq(record_in(HL_WIRE_GRANT, 9), HL_RX_NEXT);
    hl_rx_streams_close();
    free(hl_rx.dead);
    hl_rx.dead = NULL;
}
END_TEST

/* Shown by the next one, or by the number alone. */
START_TEST(a_lost_record_ends_the_job)
{
    open_streams();
    (void)record_in(_i == 0 ? HL_WIRE_GRANT : HL_WIRE_COUNT, _i == 0 ? 4 : 3);
}
END_TEST

START_TEST(the_last_number_is_told_until_it_is_answered)
{
    struct hl_rx_tail t = {0};
    int told = 0, first = 0;
    ck_assert(!hl_rx_tail_is_due(&t, 0));
    for (uint64_t sent = 1; sent < 10; sent++) { /* while it goes on, never */
        ck_assert(!hl_rx_tail_is_due(&t, sent));
    }
    for (int look = 1; look <= 100; look++) {
        if (hl_rx_tail_is_due(&t, 9)) {
            hl_rx_tail_told(&t);
            told++;
            first = first == 0 ? look : first;
        }
    }
    ck_assert_int_eq(first, 1);
    ck_assert_int_ge(told, 7);
    ck_assert_int_le(told, 10);
    hl_rx_tail_answered(&t, 9, 10); /* nobody of ours says that */
    hl_rx_tail_answered(&t, 9, 8);
    hl_rx_tail_told(&t);
    t.left = 0;
    ck_assert(hl_rx_tail_is_due(&t, 9));
    hl_rx_tail_answered(&t, 9, 9);
    ck_assert(!hl_rx_tail_is_due(&t, 9));
    ck_assert(!hl_rx_tail_is_due(&t, 10)); /* and anew */
    ck_assert(hl_rx_tail_is_due(&t, 10));
}
END_TEST

/* Once a second; a look at each rank of a large job would take milliseconds. */
START_TEST(a_look_takes_only_those_spoken_to)
{
    static const int peers[] = {999999, 7, 500000};
    hl_job.size = 1000000;
    ck_assert_int_eq(hl_rx_streams_open(), 0);
    ck_assert_int_eq(hl_rx_streams_look(), 0);
    for (uint64_t number = 1; number <= 2; number++) {
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(hl_rx_streams_spoken_to(peers[i]), number == 2);
            hl_mutex_lock(&hl_rx_numbers);
            hl_rx_streams_left(peers[i], number);
            hl_mutex_unlock(&hl_rx_numbers);
        }
        ck_assert_int_eq(hl_rx_streams_look(), 3);
    }
    ck_assert(!hl_rx_streams_spoken_to(8));
    hl_rx_streams_close();
    ck_assert(!hl_rx_streams_spoken_to(7));
    ck_assert_int_eq(hl_rx_streams_open(), 0);
    ck_assert_int_eq(hl_rx_streams_look(), 0);
    hl_rx_streams_close();
}
END_TEST

static void add_streams(TCase *t)
{
    tcase_add_test(t, a_look_takes_only_those_spoken_to);
    tcase_add_test(t, records_of_the_dead_may_be_missing);
    tcase_add_loop_exit_test(t, a_lost_record_ends_the_job, 1, 0, 2);
    tcase_add_test(t, the_last_number_is_told_until_it_is_answered);
}

#endif
