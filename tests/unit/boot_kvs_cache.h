/* The node's cache: one of many asks, a dead one's claim is taken over, and no reader sees half a value. */
#ifndef BOOT_KVS_CACHE_H
#define BOOT_KVS_CACHE_H

#include "boot_kvs.h"
#include "util.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { KVS_RANKS = 4 };

static struct kvs_notes { /* shared with children */
    hl_a32 asked;
} * notes;

static pid_t kvs_child;

static bool child_lives(int node_rank)
{
    return node_rank != 1 || waitpid(kvs_child, NULL, WNOHANG) == 0;
}

static struct hl_kvs_cache new_kvs_cache(int me, uint64_t timeout_ns)
{
    void *room = mmap(NULL, KVS_RANKS * sizeof(struct hl_kvs_slot), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(room != MAP_FAILED && notes != MAP_FAILED);
    return (struct hl_kvs_cache){room, me, child_lives, timeout_ns};
}

/* The launcher: every value is its key, 2000 times or as long as the key says. */
static int answer(int rank, const char *key, void *data, size_t cap, size_t *len)
{
    size_t n = key[0] == 'L' ? HL_KVS_VALUE + 1 : 2000;
    hl_a32_add_full(&notes->asked, 1);
    if (key[0] == '-') {
        return HL_ERR_FOUND_NONE;
    }
    *len = n;
    if (n > cap) {
        return HL_ERR_TRUNCATE;
    }
    memset(data, key[1] + rank, n);
    return 0;
}

static int answer_never(int rank, const char *key, void *data, size_t cap, size_t *len)
{
    hl_a32_store_relaxed(&notes->asked, 100); /* relaxed: a test's */
    for (;;) {
        pause();
    }
    return answer(rank, key, data, cap, len);
}

static void must_get(struct hl_kvs_cache *s, int rank, const char *key)
{
    unsigned char got[4096];
    size_t len = 0;
    ck_assert_int_eq(hl_kvs_cache_get(s, rank, key, got, sizeof got, &len, answer), 0);
    ck_assert_uint_ge(len, 2000);
    size_t same = 0;
    while (same < len && got[same] == (unsigned char)(key[1] + rank)) {
        same++;
    }
    ck_assert_uint_eq(same, len);
}

static uint32_t asked(void)
{
    return hl_a32_load_relaxed(&notes->asked); /* relaxed: a test's */
}

START_TEST(a_value_is_asked_for_once)
{
    struct hl_kvs_cache s = new_kvs_cache(0, 1000000000), none = {.slot = NULL}, peer;
    char got[4096];
    size_t len = 0;
    peer = s;
    peer.me = 1;
    must_get(&s, 2, "ka");
    must_get(&peer, 2, "ka");
    ck_assert_uint_eq(asked(), 1);
    ck_assert_int_eq(hl_kvs_cache_get(&peer, 2, "ka", got, 1999, &len, answer), HL_ERR_TRUNCATE);
    ck_assert_uint_eq(len, 2000);
    must_get(&peer, 2, "kb"); /* takes the place of ka */
    must_get(&s, 2, "kb");
    ck_assert_uint_eq(asked(), 2);
    must_get(&s, 2, "ka");
    ck_assert_uint_eq(asked(), 3);
    for (int i = 0; i < 2; i++) { /* what does not fit, is absent or fails is not kept */
        must_get(&s, 3, "La");
        ck_assert_int_eq(hl_kvs_cache_get(&s, 3, "-", got, sizeof got, &len, answer), HL_ERR_FOUND_NONE);
        ck_assert_int_eq(hl_kvs_cache_get(&s, 3, "kc", got, 10, &len, answer), HL_ERR_TRUNCATE);
    }
    ck_assert_uint_eq(asked(), 9);
    memset(got, 'x' + 1, 2000);
    hl_kvs_cache_put(&peer, 1, "kx", got, 2000);
    hl_kvs_cache_put(&peer, 1, "ky", got, HL_KVS_VALUE + 1);
    must_get(&s, 1, "kx");
    ck_assert_uint_eq(asked(), 9);
    must_get(&none, 1, "kx");
    hl_kvs_cache_put(&none, 1, "kx", got, 2000);
    ck_assert_uint_eq(asked(), 10);
}
END_TEST

/* A child claims the value of rank 2 and stops in the middle of asking; this process is rank 0 from then on. */
static void start_claimer(struct hl_kvs_cache *s)
{
    kvs_child = fork();
    if (!kvs_child) {
        char got[4096];
        size_t len;
        hl_kvs_cache_get(s, 2, "ka", got, sizeof got, &len, answer_never);
        _exit(1);
    }
    while (asked() != 100) {
        usleep(1000);
    }
    s->me = 0;
}

/* A claimer is waited for while it lives, as long as the timeout lasts; when it has died its claim passes
 * on. */
START_TEST(a_dead_claimer_holds_up_nobody)
{
    struct hl_kvs_cache s = new_kvs_cache(1, 100000000);
    struct hl_kvs_cache patient;
    start_claimer(&s);
    uint64_t begin = hl_now_ns();
    must_get(&s, 2, "ka");
    ck_assert_uint_ge(hl_now_ns() - begin, 100000000);
    ck_assert_uint_eq(asked(), 101);
    must_get(&s, 2, "ka"); /* what was asked for past the claimer is not stored */
    ck_assert_uint_eq(asked(), 102);
    patient = s;
    patient.timeout_ns = 100ull * 1000000000;
    kill(kvs_child, SIGKILL);
    must_get(&patient, 2, "ka");
    must_get(&s, 2, "ka");
    ck_assert_uint_eq(asked(), 103);
}
END_TEST

static int busy_answers; /* how often the launcher is busy, from now on */

static int answer_if_free(int rank, const char *key, void *data, size_t cap, size_t *len)
{
    return busy_answers-- > 0 ? HL_ERR_AGAIN : answer(rank, key, data, cap, len);
}

/* Who must not wait is told so at once: a living rank asks, or the launcher is busy. The place stays free for
 * others. */
START_TEST(a_value_is_tried_for_without_waiting)
{
    struct hl_kvs_cache s = new_kvs_cache(1, UINT64_C(100) * 1000000000), none = {.slot = NULL};
    char got[4096];
    size_t len = 0;
    start_claimer(&s);
    uint64_t begin = hl_now_ns();
    ck_assert_int_eq(hl_kvs_cache_try(&s, 2, "ka", got, sizeof got, &len, answer_if_free), HL_ERR_AGAIN);
    ck_assert_uint_lt(hl_now_ns() - begin, UINT64_C(50) * 1000000000);
    kill(kvs_child, SIGKILL);
    while (child_lives(1)) {
        usleep(1000);
    }
    busy_answers = 1;
    ck_assert_int_eq(hl_kvs_cache_try(&s, 2, "ka", got, sizeof got, &len, answer_if_free), HL_ERR_AGAIN);
    ck_assert_int_eq(hl_kvs_cache_try(&s, 2, "ka", got, sizeof got, &len, answer_if_free), 0);
    ck_assert_uint_eq(asked(), 101);
    busy_answers = 1; /* it is there by now */
    ck_assert_int_eq(hl_kvs_cache_try(&s, 2, "ka", got, sizeof got, &len, answer_if_free), 0);
    ck_assert_int_eq(hl_kvs_cache_try(&none, 2, "ka", got, sizeof got, &len, answer_if_free), HL_ERR_AGAIN);
    must_get(&s, 2, "ka");
    ck_assert_uint_eq(asked(), 101);
}
END_TEST

/* Two processes want different values of one rank, over and over: none gets bytes of the other's. */
START_TEST(values_that_take_turns_in_a_slot_do_not_mix)
{
    struct hl_kvs_cache s = new_kvs_cache(0, 1000000000);
    kvs_child = fork();
    s.me = !kvs_child;
    for (int i = 0; i < 2000; i++) {
        must_get(&s, 1, i % 3 == s.me ? "ka" : "kb");
    }
    if (!kvs_child) {
        _exit(0);
    }
    int status = 1;
    ck_assert_int_eq(waitpid(kvs_child, &status, 0), kvs_child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_lt(asked(), 4000);
}
END_TEST

/* Garbage in the slot: a claimer that is none, and a value that is too long. */
START_TEST(a_slot_that_was_written_over_holds_up_nobody)
{
    struct hl_kvs_cache s = new_kvs_cache(0, 1000000000);
    s.lives = hl_boot_socket_lives;
    hl_a64_store_relaxed(&s.slot[2].state, 5000 << 1); /* relaxed: a test's */
    must_get(&s, 2, "ka");
    s.slot[2].len = UINT32_MAX;
    must_get(&s, 2, "ka");
    ck_assert_uint_eq(asked(), 2);
}
END_TEST

static void add_kvs_cache(TCase *tc)
{
    tcase_add_test(tc, a_value_is_asked_for_once);
    tcase_add_test(tc, a_dead_claimer_holds_up_nobody);
    tcase_add_test(tc, a_value_is_tried_for_without_waiting);
    tcase_add_test(tc, a_slot_that_was_written_over_holds_up_nobody);
    tcase_add_test(tc, values_that_take_turns_in_a_slot_do_not_mix);
}

#endif
