/* A ring in node memory under every interleaving with few switches, and under those that seeds make: each entry comes
 * once, whole, in its producer's order; the consumer sleeps through none; holes of the dead are passed over, and no
 * slot that a living producer is about to fill. And the test sees what its consumer's rules are for. */
#include "../unit/unit.h"

#include "interleave.h"
#include "mpsc.h"

#include <string.h>

enum {
    SEEDS = 20000,
    EACH = 3,
    SLOTS = 2,
    MOST = 2,
    LOOKS = 1000
}; /* LOOKS: of a sleeper, before it was missed */

/* What goes wrong on purpose. */
enum plant { NONE, SLEEPS_BRIEFLY_LONG, PUBLISHES_EARLY };

struct story {
    enum plant plant;
    int producers, dies; /* producer 0 dies between claim and stamp of this entry of its own */
    struct hl_mpsc q;
    struct {
        hl_a64 stamp, from, value;
    } slot[SLOTS];
    struct hl_mpsc_place places[MOST][HL_MPSC_PLACES];
    hl_a32 bell, ended, over;
    int got[MOST], wrong, missed, passed;
};

static hl_a32 dead; /* producer 0 */

static bool is_dead(int rank)
{
    return rank == 0 && hl_a32_load_acquire(&dead) != 0; /* acquire: what it said; pairs with produce. */
}

static void produce(struct story *s, int rank)
{
    hl_mpsc_my_place = sizeof(struct hl_mpsc_place);
    hl_mpsc_name(&s->q, 1);
    for (int i = 0; i < EACH; i++) {
        uint64_t claimed;
        while (!hl_mpsc_claim(&s->q, s->places[rank], SLOTS, &claimed)) {
            if (hl_a32_load_relaxed(&s->over) != 0) { /* relaxed: a flag */
                return;
            }
            hl_pause();
        }
        if (rank == 0 && i == s->dies) {
            hl_a32_store_release(&dead, 1);    /* release: all that it did; pairs with is_dead. */
            hl_a32_store_release(&s->bell, 1); /* whoever finds it dead wakes the consumer */
            return;
        }
        /* relaxed, both: the stamp publishes them. */
        hl_a64_store_relaxed(&s->slot[(claimed >> 1) % SLOTS].from, (uint64_t)rank);
        hl_a64_store_relaxed(&s->slot[(claimed >> 1) % SLOTS].value, (uint64_t)i);
        if (hl_mpsc_stamp(&s->slot[(claimed >> 1) % SLOTS].stamp, claimed)) {
            hl_a32_store_release(&s->bell, 1); /* release, for form: a bell orders nothing. */
        }
    }
    hl_a32_add_full(&s->ended, 1); /* full: behind the bell */
}

static bool will_ring(const struct story *s)
{
    int living = s->producers - is_dead(0);
    return (int)hl_a32_load_acquire(&s->ended) < living; /* acquire: pairs with produce. */
}

static void sleep_at_bell(struct story *s, uint64_t next)
{
    for (int looks = 0;; looks++) {
        bool will = will_ring(s) && looks < LOOKS;
        if (hl_a32_xchg_full(&s->bell, 0) != 0) {
            return;
        }
        if (!will) {
            s->missed += hl_mpsc_is_there(&s->slot[next % SLOTS].stamp, next);
            return;
        }
        hl_pause();
    }
}

static void take(struct story *s, uint64_t next)
{
    if (s->plant == PUBLISHES_EARLY) {
        hl_mpsc_publish(&s->q, next + 1);
    }
    /* relaxed, both: the stamp was read with acquire. */
    uint64_t value = hl_a64_load_relaxed(&s->slot[next % SLOTS].value);
    uint64_t from = hl_a64_load_relaxed(&s->slot[next % SLOTS].from);
    s->wrong += from >= MOST || value != (uint64_t)s->got[from % MOST]++;
}

static void consume(struct story *s)
{
    static const int world[MOST] = {0, 1};
    struct hl_mpsc_node node = {s->places[0], sizeof s->places[0], s->producers, world, is_dead};
    uint64_t next = 0, all = (uint64_t)((s->producers - 1) * EACH + (s->dies < EACH ? s->dies + 1 : EACH));
    hl_mpsc_name(&s->q, 1);
    while (next < all && s->missed == 0) {
        const hl_a64 *stamp = &s->slot[next % SLOTS].stamp;
        if (hl_mpsc_is_there(stamp, next)) {
            take(s, next++);
            hl_mpsc_publish(&s->q, next);
        } else if (is_dead(0) && hl_mpsc_is_hole(&s->q, stamp, next, &node)) {
            s->passed++;
            hl_mpsc_publish(&s->q, ++next);
        } else if (hl_mpsc_arm(&s->q) == next ||
                   (s->plant == SLEEPS_BRIEFLY_LONG && !hl_mpsc_is_there(stamp, next))) {
            sleep_at_bell(s, next);
            hl_mpsc_disarm(&s->q);
        } else {
            hl_pause();
        }
    }
    hl_a32_store_relaxed(&s->over, 1); /* relaxed: a flag */
}

static void play(void *arg, int thread)
{
    if (thread == 0) {
        consume(arg);
    } else {
        produce(arg, thread - 1);
    }
}

static void begin(struct story *s, enum plant plant, int producers, int dies)
{
    memset(s, 0, sizeof *s);
    s->plant = plant;
    s->producers = producers;
    s->dies = dies;
    hl_a32_store_relaxed(&dead, 0); /* relaxed: nobody else is here */
}

static bool went_well(const struct story *s)
{
    return s->wrong == 0 && s->missed == 0 && s->got[0] == s->dies &&
           s->got[1] == (s->producers - 1) * EACH && s->passed == (s->dies < EACH);
}

/* Interleavings that went wrong: of all of one producer with at most two switches, then of seeds'. */
static int count_wrong(enum plant plant)
{
    static struct hl_interleave_walk walk;
    static struct story s;
    int wrong = 0, runs = 0;
    for (int dies = 0; dies <= EACH; dies++) {
        bool more = true;
        for (walk = (struct hl_interleave_walk){.switches = 2}; more; runs++) {
            begin(&s, plant, 1, dies);
            ck_assert_int_eq(hl_interleave_next(&walk, 2, play, &s, &more), 0);
            wrong += !went_well(&s);
        }
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++, runs++) {
        begin(&s, plant, MOST, (int)(seed % (EACH + 1)));
        ck_assert_int_eq(hl_interleave_run(seed, MOST + 1, play, &s), 0);
        wrong += !went_well(&s);
    }
    printf("%d of %d interleavings go wrong\n", wrong, runs);
    return wrong;
}

START_TEST(every_entry_comes_and_holes_are_passed_over)
{
    ck_assert_int_eq(count_wrong(NONE), 0);
}
END_TEST

START_TEST(a_rule_left_out_is_seen)
{
    ck_assert_int_gt(count_wrong((enum plant)_i), 0);
}
END_TEST

static Suite *mpsc_suite(void)
{
    Suite *s = suite_create("interleaved ring");
    TCase *c = tcase_create("mpsc");
    tcase_set_timeout(c, 100);
    tcase_add_test(c, every_entry_comes_and_holes_are_passed_over);
    tcase_add_loop_test(c, a_rule_left_out_is_seen, SLEEPS_BRIEFLY_LONG, PUBLISHES_EARLY + 1);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(mpsc_suite)
