/* The near ring: every entry once, in its producer's order, no wake-up lost. The table of senders. */
#include "ring.h"
#include "senders.h"
#include "unit.h"
#include "util.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PRODUCERS 6
#define EACH 20000

static struct hl_rx_ring ring;
static int bell;

static void *produce(void *arg)
{
    uint32_t id = (uint32_t)(uintptr_t)arg;
    for (uint32_t i = 0; i < EACH; i++) {
        uint32_t head[2] = {id, i};
        uint8_t tail[40];
        memset(tail, (int)(id + i), sizeof tail);
        while (!hl_rx_ring_put(&ring, (int)id, head, sizeof head, tail, i % 40)) {
            sched_yield();
        }
        if (hl_rx_ring_must_wake(&ring)) {
            uint64_t one = 1;
            ck_assert_int_eq(write(bell, &one, sizeof one), sizeof one);
        }
    }
    return NULL;
}

START_TEST(entries_arrive_once_and_in_order)
{
    memset(&ring, 0, sizeof ring);
    bell = eventfd(0, EFD_NONBLOCK);
    pthread_t t[PRODUCERS];
    for (uintptr_t i = 0; i < PRODUCERS; i++) {
        pthread_create(&t[i], NULL, produce, (void *)i);
    }
    uint32_t next[PRODUCERS] = {0};
    for (uint32_t got = 0; got < PRODUCERS * EACH;) {
        uint32_t out[HL_WIRE_NEAR_MAX / 4], len;
        int from;
        if (hl_rx_ring_take(&ring, &from, out, &len)) {
            ck_assert_uint_eq(out[0], (uint32_t)from);
            ck_assert_uint_eq(out[1], next[from]);
            ck_assert_uint_eq(len, 8 + out[1] % 40);
            ck_assert(len == 8 || ((uint8_t *)out)[len - 1] == (uint8_t)(out[0] + out[1]));
            next[from]++;
            got++;
        } else if (hl_rx_ring_sleep(&ring)) {
            struct pollfd p = {.fd = bell, .events = POLLIN};
            ck_assert_int_eq(poll(&p, 1, 10000), 1); /* a lost wake-up would last for ever */
            uint64_t count;
            ck_assert_int_eq(read(bell, &count, sizeof count), sizeof count);
            hl_rx_ring_awake(&ring);
        }
    }
    for (int i = 0; i < PRODUCERS; i++) {
        pthread_join(t[i], NULL);
    }
    close(bell);
}
END_TEST

START_TEST(a_full_ring_refuses)
{
    memset(&ring, 0, sizeof ring);
    for (int lap = 0; lap < 3; lap++) {
        for (uint32_t i = 0; i < HL_RX_CELLS; i++) {
            ck_assert(hl_rx_ring_put(&ring, 1, &i, sizeof i, NULL, 0));
        }
        uint32_t more = 0, out[HL_WIRE_NEAR_MAX / 4], len;
        int from;
        ck_assert(!hl_rx_ring_put(&ring, 1, &more, sizeof more, NULL, 0));
        ck_assert(!hl_rx_ring_sleep(&ring));
        for (uint32_t i = 0; i < HL_RX_CELLS; i++) {
            ck_assert(hl_rx_ring_take(&ring, &from, out, &len));
            ck_assert_uint_eq(out[0], i);
        }
        ck_assert(!hl_rx_ring_take(&ring, &from, out, &len));
    }
}
END_TEST

START_TEST(a_lying_length_is_cut)
{
    memset(&ring, 0, sizeof ring);
    uint32_t word = 7, out[HL_WIRE_NEAR_MAX / 4], len;
    int from;
    ck_assert(hl_rx_ring_put(&ring, 1, &word, sizeof word, NULL, 0));
    ring.cells[0].len = 1u << 30;
    ck_assert(hl_rx_ring_take(&ring, &from, out, &len));
    ck_assert_uint_eq(len, HL_WIRE_NEAR_MAX);
}
END_TEST

START_TEST(senders_are_kept_apart)
{
    struct hl_rx_senders s = {0};
    for (int rank = 0; rank < 500; rank++) {
        for (unsigned lane = 0; lane < 4; lane++) {
            struct hl_rx_sender *p = hl_rx_senders_get(&s, rank, lane);
            ck_assert(!p->known);
            p->known = true;
            p->applied = (uint64_t)rank * 4 + lane;
        }
    }
    for (int rank = 0; rank < 500; rank++) {
        for (unsigned lane = 0; lane < 4; lane++) {
            struct hl_rx_sender *p = hl_rx_senders_get(&s, rank, lane);
            ck_assert(p->known);
            ck_assert_uint_eq(p->applied, (uint64_t)rank * 4 + lane);
        }
    }
    hl_rx_senders_free(&s);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("rx");
    TCase *t = tcase_create("rx");
    tcase_set_timeout(t, 100);
    tcase_add_test(t, entries_arrive_once_and_in_order);
    tcase_add_test(t, a_full_ring_refuses);
    tcase_add_test(t, a_lying_length_is_cut);
    tcase_add_test(t, senders_are_kept_apart);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(make_suite)
