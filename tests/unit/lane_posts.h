/* How often a NIC hears of operations and tells of their ends, each operation by itself and in chains: exactly.
 * docs/FIGURES.md has the table. Part of test_lane_models.c. */
#ifndef LANE_POSTS_H
#define LANE_POSTS_H

#include "model_counts.h"

#define MANY 64

static hl_a32 posts_error;
static uint64_t posts_local[MANY];

static struct hl_xfer word_of(int peer, int i)
{
    struct hl_xfer x = transfer(8 * (size_t)i, &posts_local[i], 8, &posts_error);
    x.peer = peer;
    return x;
}

static void put_one(void)
{
    struct hl_xfer x = word_of(1, 0);
    ck_assert_int_eq(hl_lane_write(&x), 0);
}

static void put_two(void)
{
    for (int i = 0; i < 2; i++) {
        struct hl_xfer x = word_of(1, i);
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
}

/* To `peers` ranks in turn. */
static void put_in_turn(int peers)
{
    for (int i = 0; i < MANY; i++) {
        struct hl_xfer x = word_of(i % peers, i);
        ck_assert_int_eq(hl_lane_write(&x), 0);
    }
}

static void put_many(void)
{
    put_in_turn(1);
}

static void put_around(void)
{
    put_in_turn(RANKS);
}

static void put_and_flush_often(void)
{
    for (int i = 0; i < MANY; i++) {
        struct hl_xfer x = word_of(1, i);
        ck_assert_int_eq(hl_lane_write(&x), 0);
        hl_lane_flush(-1, HL_REMOTE);
    }
}

static void put_long(void)
{
    static uint8_t bytes[LARGE];
    struct hl_xfer x = transfer(offsetof(__typeof__(there), large), bytes, LARGE, &posts_error);
    ck_assert_int_eq(hl_lane_write(&x), 0);
}

static void get_many(void)
{
    for (int i = 0; i < MANY; i++) {
        struct hl_xfer x = word_of(1, i);
        ck_assert_int_eq(hl_lane_read(&x), 0);
    }
}

/* No more than messages may be under way: others would join the last of them. */
static void add_often(bool fetches)
{
    static uint64_t one = 1, before[HL_WIRE_CREDITS];
    for (int i = 0; i < HL_WIRE_CREDITS; i++) {
        struct hl_lane_atomic a = {
            .x = transfer(offsetof(__typeof__(there), sum), &one, 8, &posts_error),
            .op = HL_OP_SUM,
            .basic = HL_BASIC_U64,
            .n = 1,
            .result = fetches ? &before[i] : NULL,
            .ordered = true,
        };
        ck_assert_int_eq(hl_lane_atomic(&a), 0);
    }
}

static void accumulate(void)
{
    add_often(false);
}

static void fetch(void)
{
    add_often(true);
}

#define UP_TO(n) (-(n)) /* acknowledgements: one may be for several messages */

/* Each with its flush: by itself, where the provider's atomics are used and where not; and in chains. */
static const struct {
    const char *what;
    void (*run)(void);
    struct model_counts direct, recorded, chained;
} post_rows[] = {
    {"a put", put_one, {1, 1, 0}, {1, 1, 0}, {1, 1, 0}},
    {"64 times a put and its flush", put_and_flush_often, {64, 64, 0}, {64, 64, 0}, {64, 64, 0}},
    {"2 puts", put_two, {2, 2, 0}, {2, 2, 0}, {1, 1, 1}},
    {"64 puts", put_many, {64, 64, 0}, {64, 64, 0}, {1, 1, 1}},
    {"64 puts to 3 ranks in turn", put_around, {64, 64, 0}, {64, 64, 0}, {3, 3, 3}},
    {"64 gets", get_many, {64, 64, 0}, {64, 64, 0}, {1, 1, 1}},
    {"16 accumulates", accumulate, {16, 16, 0}, {16, 16, UP_TO(16)}, {1, 1, 1}},
    {"16 fetching atomics", fetch, {16, 16, 0}, {16, 16, UP_TO(16)}, {1, 1, 1}},
    {"a put of 40 KiB", put_long, {1, 1, 0}, {1, 1, 0}, {1, 1, 0}},
};

static bool is_as_counted(const struct model_counts *n, const struct model_counts *right)
{
    return n->posts == right->posts && n->completions == right->completions &&
           (right->receives < 0 ? n->receives > 0 && n->receives <= -right->receives
                                : n->receives == right->receives);
}

static const struct model_provider *row_named(const char *name)
{
    const struct model_provider *row = model_providers;
    while (strcmp(row->name, name) != 0 || row->refused != NULL) {
        row++;
    }
    return row;
}

static void run_row(size_t i, struct model_counts *n)
{
    post_rows[i].run();
    hl_lane_flush(-1, HL_REMOTE);
    ck_assert_int_eq(hl_lane_error_take(&posts_error), 0);
    ck_assert(model_is_idle()); /* what a flush has not waited for would be told with the next row */
    *n = model_count(n);
}

START_TEST(posts_and_completions_are_counted)
{
    bool chains = _i % 2 != 0, atomics = _i < 2;
    ck_assert_int_eq(open_row(row_named(atomics ? "efa" : "verbs;ofi_rxm")), 0);
    model.any_order = !hl_fab.ordered;
    hl_conf.chain = chains ? 4096 : 0;
    open_pool();
    for (size_t i = 0; i < HL_COUNT_OF(post_rows); i++) {
        struct model_counts n = {0};
        run_row(i, &n); /* messages say HELLO where they are the first */
        n = model_count(&(struct model_counts){0});
        run_row(i, &n);
        const struct model_counts *right = chains    ? &post_rows[i].chained
                                           : atomics ? &post_rows[i].direct
                                                     : &post_rows[i].recorded;
        ck_assert_msg(is_as_counted(&n, right),
                      "%s, chains %d, %s: %d posts, %d completions, %d receives; should be %d, %d, %d",
                      hl_fab.provider, chains, post_rows[i].what, n.posts, n.completions, n.receives,
                      right->posts, right->completions, right->receives);
    }
    close_all();
}
END_TEST

#endif
