/* Notes in shared memory under every interleaving a seed can make: each reader sees what was posted in its
 * operation, whoever runs ahead. And the test sees it when a slot is used again too early, or given up early.
 */
#include "../unit/unit.h"

#include "interleave.h"
#include "prog.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

enum { SEEDS = 1500, MEMBERS = 3, OPS = 24 };

/* What goes wrong on purpose. */
enum plant { NONE, NO_WAIT_FOR_SLOT, EARLY_END };

struct story {
    uint64_t seed;
    enum plant plant;
    struct hl_shared *member[MEMBERS];
    int wrong; /* values that came wrong */
};

void __wrap_hl_prog_wait_slow(hl_prog_cond *cond, void *arg);
void __wrap_hl_prog_wait_slow(hl_prog_cond *cond, void *arg)
{
    while (!cond(arg)) {
        hl_pause();
    }
}

static void wake_nobody(const int *node_ranks, int n)
{
    (void)node_ranks;
    (void)n;
}

/* Who posts in an operation: one, or (MEMBERS) everybody. */
static int poster(const struct story *s, int op)
{
    return op % 10 == 0 ? MEMBERS : (int)((s->seed + (uint64_t)op / 10) % MEMBERS);
}

/* Short and long data in turn. */
static uint64_t bytes(int op)
{
    return op % 3 == 0 ? 8 : 64;
}

static uint64_t value(int member, int op)
{
    return (uint64_t)op * 10 + (uint64_t)member;
}

static void post(struct hl_shared *m, int op)
{
    char *room = hl_shared_room(m);
    hl_any64_store_relaxed(room, value(m->me, op));
    hl_any64_store_relaxed(room + bytes(op) - 8, value(m->me, op));
    hl_shared_post(m, HL_CELL_DATA, bytes(op), NULL);
    hl_shared_wake_all(m);
}

static void read_one(struct story *s, struct hl_shared *m, int from, int op)
{
    const struct hl_cell *note = hl_shared_await(m, from);
    if (s->plant == EARLY_END) {
        hl_shared_end(m);
    }
    if (note == NULL) { /* overwritten before it was read */
        s->wrong++;
        return;
    }
    const char *data = note->data;
    uint64_t v = value(from, op);
    s->wrong += note->len != bytes(op) || hl_any64_load_relaxed(data) != v ||
                hl_any64_load_relaxed(data + bytes(op) - 8) != v;
}

static void act(void *arg, int thread)
{
    struct story *s = arg;
    struct hl_shared *m = s->member[thread];

    for (int op = 1; op <= OPS; op++) {
        int who = poster(s, op);
        hl_shared_begin(m);
        if (s->plant == NO_WAIT_FOR_SLOT) {
            m->free = m->op;
        }
        if (who == MEMBERS || who == thread) {
            post(m, op);
        }
        for (int i = 0; i < MEMBERS; i++) {
            if (i != thread && (who == MEMBERS || who == i)) {
                read_one(s, m, i, op);
            }
        }
        hl_shared_end(m);
    }
}

/* Values that came wrong. */
static int tell(uint64_t seed, enum plant plant)
{
    struct hl_shared_area *areas[MEMBERS];
    struct story s = {.seed = seed, .plant = plant};

    for (int i = 0; i < MEMBERS; i++) {
        areas[i] = aligned_alloc(64, sizeof *areas[i]);
        hl_shared_clear(areas[i]);
    }
    for (int i = 0; i < MEMBERS; i++) {
        s.member[i] = hl_shared_make(areas, MEMBERS, i);
        s.member[i]->wake = wake_nobody;
        s.member[i]->slots = 2;
    }
    ck_assert_int_eq(hl_interleave_run(seed, MEMBERS, act, &s), 0);
    for (int i = 0; i < MEMBERS; i++) {
        ck_assert(s.wrong > 0 || s.member[i]->err == 0);
        free(s.member[i]);
        free(areas[i]);
    }
    return s.wrong;
}

START_TEST(readers_see_what_was_posted)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ck_assert_msg(tell(seed, NONE) == 0, "seed %llu", (unsigned long long)seed);
    }
}
END_TEST

/* Of each planted fault some seed shows the harm. */
START_TEST(planted_faults_are_seen)
{
    int wrong = 0;

    for (uint64_t seed = 0; seed < SEEDS && wrong == 0; seed++) {
        wrong = tell(seed, _i);
    }
    ck_assert_int_gt(wrong, 0);
}
END_TEST

static Suite *shared_suite(void)
{
    Suite *s = suite_create("interleaved notes");
    TCase *c = tcase_create("shared");
    tcase_set_timeout(c, 100);
    tcase_add_test(c, readers_see_what_was_posted);
    tcase_add_loop_test(c, planted_faults_are_seen, NO_WAIT_FOR_SLOT, EARLY_END + 1);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(shared_suite)
