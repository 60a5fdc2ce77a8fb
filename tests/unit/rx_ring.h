/* The near ring: every entry once, in its producer's order, no wake-up lost; what the dead have claimed. Part
 * of test_rx.c. */
#ifndef RX_RING_H
#define RX_RING_H

#include "ring.h"
#include "unit.h"
#include "util.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PRODUCERS 6
#define RECORDS_EACH 20000

static struct hl_rx_ring ring;
static int bell;

static void *produce(void *arg)
{
    uint32_t id = (uint32_t)(uintptr_t)arg;
    for (uint32_t i = 0; i < RECORDS_EACH; i++) {
        uint32_t head[2] = {id, i};
        uint8_t tail[40];
        memset(tail, (int)(id + i), sizeof tail);
        enum hl_rx_put put;
        while ((put = hl_rx_ring_put(&ring, &ring, (int)id, head, sizeof head, tail, i % 40)) ==
               HL_RX_PUT_FULL) {
            sched_yield();
        }
        if (put == HL_RX_PUT_WAKE) {
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
    for (uint32_t got = 0; got < PRODUCERS * RECORDS_EACH;) {
        uint32_t out[HL_WIRE_NEAR_MAX / 4], len;
        int from;
        if (hl_rx_ring_take(&ring, &from, out, &len)) {
            ck_assert_uint_eq(out[0], (uint32_t)from);
            ck_assert_uint_eq(out[1], next[from]);
            ck_assert_uint_eq(len, 8 + out[1] % 40);
            ck_assert(len == 8 || ((uint8_t *)out)[len - 1] == (uint8_t)(out[0] + out[1]));
            next[from]++;
            got++;
        } else if (hl_rx_ring_sleep(&ring) == HL_RX_SLEEP_LONG) {
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
        for (uint32_t i = 0; i < HL_RX_SLOTS; i++) {
            ck_assert_int_eq(hl_rx_ring_put(&ring, &ring, 1, &i, sizeof i, NULL, 0), HL_RX_PUT_DONE);
        }
        uint32_t more = 0, out[HL_WIRE_NEAR_MAX / 4], len;
        int from;
        ck_assert_int_eq(hl_rx_ring_put(&ring, &ring, 1, &more, sizeof more, NULL, 0), HL_RX_PUT_FULL);
        ck_assert_int_eq(hl_rx_ring_sleep(&ring), HL_RX_SLEEP_NOT);
        for (uint32_t i = 0; i < HL_RX_SLOTS; i++) {
            ck_assert(hl_rx_ring_take(&ring, &from, out, &len));
            ck_assert_uint_eq(out[0], i);
        }
        ck_assert(!hl_rx_ring_take(&ring, &from, out, &len));
    }
}
END_TEST

#define DYING 300

static bool killed[DYING + 1]; /* the last one lives */

static bool is_killed(int rank)
{
    return killed[rank];
}

/* Each is killed somewhere, often enough between its claim of a slot and the end of its filling it. */
START_TEST(slots_of_killed_producers_are_passed_over)
{
    static int world[DYING + 1];
    size_t bytes = sizeof(struct hl_rx_ring) * (DYING + 1);
    struct hl_rx_ring *r = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(r, MAP_FAILED);
    struct hl_mpsc_node node = {r->places, sizeof *r, DYING + 1, world, is_killed};
    hl_mpsc_name(&r->q, 1);
    hl_mpsc_enrol();
    uint32_t out[HL_WIRE_NEAR_MAX / 4], len, skipped = 0;
    for (int id = 0; id <= DYING; id++) {
        world[id] = id;
    }
    for (int id = 0; id < DYING; id++) {
        int from = -1, got = 0;
        pid_t child = fork();
        while (child == 0) {
            hl_rx_ring_put(r, &r[id], id, &id, sizeof id, NULL, 0);
        }
        while (got < 100 + id % 64) {
            got += hl_rx_ring_take(r, &from, out, &len);
        }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        ck_assert(!hl_rx_ring_skip(r, &node)); /* it may live, for all that is known */
        killed[id] = true;
        for (bool more = true; more;) {
            bool skips = hl_rx_ring_skip(r, &node);
            more = skips || hl_rx_ring_take(r, &from, out, &len);
            skipped += skips;
        }
        uint64_t claimed; /* one that it had claimed, for certain */
        ck_assert(hl_mpsc_claim(&r->q, r[id].places, HL_RX_SLOTS, &claimed));
        ck_assert_int_ne(hl_rx_ring_put(r, &r[DYING], DYING, &id, sizeof id, NULL, 0), HL_RX_PUT_FULL);
        ck_assert(!hl_rx_ring_take(r, &from, out, &len) && hl_rx_ring_skip(r, &node));
        ck_assert(!hl_rx_ring_skip(r, &node));
        ck_assert_msg(hl_rx_ring_take(r, &from, out, &len), "the ring is stuck after %d", id);
        ck_assert_int_eq(from, DYING);
    }
    printf("%u more claims without an entry\n", skipped);
    munmap(r, bytes);
}
END_TEST

#define LAPS 50

static struct hl_rx_ring *shared;
static hl_a32 putter; /* atomic: the thread that puts next */

/* Relaxed words tell ThreadSanitizer of no order between the two threads. */
static void *put_a_lap(void *arg)
{
    uint32_t me = (uint32_t)(uintptr_t)arg;
    for (uint32_t lap = me; lap < LAPS; lap += 2) {
        while (hl_a32_load_relaxed(&putter) != lap) {
            sched_yield();
        }
        for (uint32_t i = 0; i < HL_RX_SLOTS + 1; i++) {
            while (hl_rx_ring_put(shared, shared, (int)me, &i, sizeof i, NULL, 0) == HL_RX_PUT_FULL) {
                sched_yield();
            }
        }
        hl_a32_store_relaxed(&putter, lap + 1);
    }
    return NULL;
}

/* The last slot that one thread fills is the last one that the other fills in its lap: what orders them is
 * the consumer, of which ThreadSanitizer sees nothing (hl_handover_give). */
START_TEST(a_slot_goes_to_another_thread_by_way_of_another_process)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        uint32_t out[HL_WIRE_NEAR_MAX / 4], len;
        int from;
        for (uint32_t got = 0; got < LAPS * (HL_RX_SLOTS + 1);) {
            bool there = hl_rx_ring_take(shared, &from, out, &len);
            got += there;
            if (!there) {
                sched_yield();
            } else if (out[0] != (got - 1) % (HL_RX_SLOTS + 1)) {
                _exit(1);
            }
        }
        _exit(0);
    }
    pthread_t t[2];
    for (uintptr_t i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_create(&t[i], NULL, put_a_lap, (void *)i), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(t[i], NULL);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    munmap(shared, sizeof *shared);
}
END_TEST

START_TEST(a_lying_length_is_cut)
{
    memset(&ring, 0, sizeof ring);
    uint32_t word = 7, out[HL_WIRE_NEAR_MAX / 4], len;
    int from;
    ck_assert_int_eq(hl_rx_ring_put(&ring, &ring, 1, &word, sizeof word, NULL, 0), HL_RX_PUT_DONE);
    ring.slots[0].len = 1u << 30;
    ck_assert(hl_rx_ring_take(&ring, &from, out, &len));
    ck_assert_uint_eq(len, HL_WIRE_NEAR_MAX);
}
END_TEST

#endif
