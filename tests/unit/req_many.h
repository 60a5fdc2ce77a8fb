/* Thousands of flights under way. Part of test_req.c. */
#ifndef REQ_MANY_H
#define REQ_MANY_H

#include "flight.h"
#include "prog.h"
#include "unit.h"

enum { MANY = 20000, PER_PASS = 64 };

/* Flight k ends when k messages have come. */
struct numbered {
    struct hl_flight flight;
    int number;
};
static struct numbered numbered[MANY];
static int come, landed;
static long steps;

static bool step_numbered(struct hl_flight *f)
{
    steps++;
    return HL_CONTAINER_OF(f, struct numbered, flight)->number <= come;
}

static void land_numbered(struct hl_flight *f)
{
    landed++;
}

/* The flights' numbers are 1 to MANY, turned by `first`: the one started first has number first + 1. */
static void start_many(int first)
{
    come = landed = 0;
    for (int i = 0; i < MANY; i++) {
        int number = (i + first) % MANY + 1;
        numbered[i] = (struct numbered){{.step = step_numbered, .end = land_numbered}, number};
        ck_assert_int_eq(hl_flight_start(&numbered[i].flight), 0);
    }
    steps = 0;
}

/* Each pass brings a few messages, each of which ends one flight: a flight costs a few steps, and not as many
 * as there are flights. */
START_TEST(many_flights_cost_no_square)
{
    enum { BRINGS = 16, STEPS_EACH = 12 };

    for (int first = 0; first < MANY; first += MANY / 3) {
        start_many(first);
        while (landed < MANY) {
            come += come < MANY ? BRINGS : 0;
            hl_prog_poll();
        }
        ck_assert_int_le(steps, (long)STEPS_EACH * MANY);
    }
    hl_flight_close();
}
END_TEST

/* When all have been stepped in vain, a pass says that nothing goes on, and has looked at all; the one flight
 * that can end then does so in the next pass, wherever it stands. */
START_TEST(who_waits_beside_many_flights_may_sleep)
{
    start_many(0);
    int passes = 0;
    while (hl_prog_poll() > 0) {
        passes++;
    }
    ck_assert_int_le(passes, MANY / PER_PASS + 1);
    ck_assert_int_le(steps, 2 * MANY);
    for (int i = 0; i < 3; i++) {
        steps = 0;
        ck_assert_int_eq(hl_prog_poll(), 0);
        ck_assert_int_eq(steps, MANY);
    }
    come = 1;
    ck_assert_int_gt(hl_prog_poll(), 0);
    ck_assert_int_eq(landed, 1);
    while (landed < MANY) {
        come = MANY;
        hl_prog_poll();
    }
    hl_flight_close();
}
END_TEST

#endif
