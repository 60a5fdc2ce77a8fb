/* Counters sum over lanes, count from many threads, and are found by name. */
#include "stat.h"
#include "unit.h"
#include "util.h"

#include <hotlane.h>
#include <pthread.h>
#include <string.h>

static struct hl_stat_lane counted[3];

START_TEST(lanes_are_summed)
{
    for (int i = 0; i < 3; i++) {
        hl_stat_lane_enrol(&counted[i]);
        hl_stat_lane_enrol(&counted[i]); /* a second time changes nothing */
        hl_stat_lane_add(&counted[i], HL_STAT_LANE_leases, (uint64_t)i + 1);
    }
    uint64_t value;
    ck_assert_int_eq(hl_stat_get("leases", &value), 0);
    ck_assert_uint_eq(value, 6);
    ck_assert_int_eq(hl_stat_get("lanes", &value), 0);
    ck_assert_uint_eq(value, 3);
    hl_stat_lane_retire(&counted[1]);
    hl_stat_lane_retire(&counted[1]);
    hl_stat_lane_add(&counted[1], HL_STAT_LANE_leases, 100); /* no more */
    ck_assert_int_eq(hl_stat_get("leases", &value), 0);
    ck_assert_uint_eq(value, 6);
}
END_TEST

static void *count(void *unused)
{
    for (int i = 0; i < 10000; i++) {
        hl_stat_rank_add(HL_STAT_RANK_flush_waits, 1);
    }
    return unused;
}

START_TEST(threads_count_together)
{
    pthread_t t[8];
    for (int i = 0; i < 8; i++) {
        pthread_create(&t[i], NULL, count, NULL);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(t[i], NULL);
    }
    long long value;
    ck_assert_int_eq(hotlane_counter("flush_waits", &value), 0);
    ck_assert_int_eq(value, 80000);
}
END_TEST

START_TEST(lanes_are_counted_one_by_one)
{
    static struct hl_stat_lane one, two;
    static const char *const wrong[] = {"leases:2",  "leases:", "leases:x", "leases:1x",
                                        "leases:-1", ":1",      "lease:0",  "flush_waits:0"};
    long long value;
    hl_stat_lane_enrol(&one);
    hl_stat_lane_enrol(&two);
    hl_stat_lane_add(&one, HL_STAT_LANE_leases, 3);
    hl_stat_lane_add(&two, HL_STAT_LANE_leases, 4);
    ck_assert_int_eq(hotlane_counter("leases:0", &value), 0);
    ck_assert_int_eq(value, 3);
    ck_assert_int_eq(hotlane_counter("leases:1", &value), 0);
    ck_assert_int_eq(value, 4);
    ck_assert_int_eq(hotlane_counter("leases", &value), 0);
    ck_assert_int_eq(value, 7);
    for (size_t i = 0; i < HL_COUNT_OF(wrong); i++) {
        ck_assert_msg(hotlane_counter(wrong[i], &value) == -1, "%s", wrong[i]);
    }
    hl_stat_lane_retire(&one);
    hl_stat_lane_retire(&two);
}
END_TEST

START_TEST(every_row_has_name_and_help)
{
    ck_assert_int_eq(hl_stat_count(), 1 + HL_STAT_LANE_COUNT + HL_STAT_RANK_COUNT);
    for (int i = 0; i < hl_stat_count(); i++) {
        uint64_t value;
        ck_assert_int_eq(hl_stat_get(hl_stat_name(i), &value), 0);
        ck_assert_uint_gt(strlen(hl_stat_help(i)), 8);
    }
    long long value;
    ck_assert_int_eq(hotlane_counter("no such counter", &value), -1);
    ck_assert_int_eq(hotlane_counter(NULL, &value), -1);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("stat");
    TCase *t = tcase_create("stat");
    tcase_add_test(t, lanes_are_summed);
    tcase_add_test(t, threads_count_together);
    tcase_add_test(t, lanes_are_counted_one_by_one);
    tcase_add_test(t, every_row_has_name_and_help);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(make_suite)
