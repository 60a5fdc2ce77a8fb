/* Mailboxes under every interleaving a seed can make: what a rank posts arrives once and whole, with several
 * operations under way, streams and addresses among them. And the test sees it when THE RULE is left out.
 */
#include "../unit/unit.h"

#include "interleave.h"
#include "mailbox.h"

#include <string.h>

enum { SEEDS = 4000, OPS = 8, MOST = 4, RING = 16, WORDS = 5 };

/* What goes wrong on purpose. */
enum plant { NONE, NO_RULE, NO_TURN, NO_QUEUE };

/* One operation of one rank. */
struct op {
    uint64_t epoch;
    bool posted, sent, got;
    uint64_t private; /* what an address means */
    int words_out, words_in;
};

struct story {
    enum plant plant;
    int outstanding; /* operations under way at once */
    int wrong;       /* values that came wrong */
    struct hl_mailbox box[2];
    struct hl_mail_pair pair[2];
    char ring[2][RING];
};

static uint64_t value(int rank, uint64_t epoch)
{
    return epoch * 100 + (uint64_t)rank * 10 + 1;
}

static enum hl_mail_kind kind_of(int rank, uint64_t epoch)
{
    /* Two addresses in one slot, two streams one after the other. */
    static const enum hl_mail_kind kinds[] = {HL_MAIL_ADDR,   HL_MAIL_DATA,   HL_MAIL_ADDR,
                                              HL_MAIL_STREAM, HL_MAIL_STREAM, HL_MAIL_DATA};

    return kinds[(epoch + 3 + (uint64_t)rank) % 6];
}

/* Puts words of its stream into the ring while there is room. */
static void fill(struct story *s, int rank, struct op *o)
{
    struct hl_mail_pair *p = &s->pair[rank];
    /* The first epoch waits for no stream before it. */
    uint64_t turn = s->plant == NO_QUEUE ? HL_MAIL_FIRST : o->epoch;
    char *at;

    while (o->words_out < WORDS && hl_mail_may_fill(p, turn, &at) > 0) {
        hl_any64_store_relaxed(at, value(rank, o->epoch) + (uint64_t)o->words_out++);
        hl_mail_filled(p, 8);
    }
    if (o->words_out == WORDS) {
        hl_mail_settle(p, o->epoch);
        o->sent = true;
    }
}

static void drain(struct story *s, int rank, struct op *o)
{
    struct hl_mail_pair *p = &s->pair[rank];
    const char *at;

    while (o->words_in < WORDS && hl_mail_arrived(p, &at) > 0) {
        s->wrong += hl_any64_load_relaxed(at) != value(1 - rank, o->epoch) + (uint64_t)o->words_in++;
        hl_mail_drained(p, 8);
    }
    if (o->words_in == WORDS) {
        hl_mail_take(p, o->epoch);
        o->got = true;
    }
}

static void post(struct story *s, int rank, struct op *o)
{
    struct hl_mail_pair *p = &s->pair[rank];
    struct hl_mail_slot *slot = hl_mail_slot(p, o->epoch);
    uint64_t v = value(rank, o->epoch);

    /* The data by atomic stores: so that the scheduler can stop between them. */
    o->private = v;
    slot->addr = (uint64_t)(uintptr_t)&o->private;
    hl_any64_store_relaxed(slot->data, v);
    hl_any64_store_relaxed(slot->data + 8, v);
    hl_mail_post(p, o->epoch, kind_of(rank, o->epoch));
    o->posted = true;
    if (kind_of(rank, o->epoch) == HL_MAIL_DATA) {
        hl_mail_settle(p, o->epoch);
        o->sent = true;
    }
}

static void receive(struct story *s, int rank, struct op *o)
{
    struct hl_mail_pair *p = &s->pair[rank];
    const struct hl_mail_slot *slot = hl_mail_found(p, o->epoch);
    uint64_t v = value(1 - rank, o->epoch);

    if (kind_of(1 - rank, o->epoch) == HL_MAIL_STREAM) {
        drain(s, rank, o);
        return;
    }
    if (kind_of(1 - rank, o->epoch) == HL_MAIL_ADDR) {
        s->wrong += hl_any64_load_relaxed((const void *)(uintptr_t)slot->addr) != v;
        hl_mail_ack(p, o->epoch, HL_MAIL_READ);
    } else {
        s->wrong += hl_any64_load_relaxed(slot->data) != v || hl_any64_load_relaxed(slot->data + 8) != v;
    }
    hl_mail_take(p, o->epoch);
    o->got = true;
}

static bool may_post(const struct story *s, int rank, uint64_t epoch)
{
    const struct hl_mail_pair *p = &s->pair[rank];

    if (s->plant == NO_RULE) {
        return hl_a64_load_acquire(&p->settled[epoch & 1]) == epoch - 2;
    }
    return hl_mail_may_post(p, epoch);
}

static bool is_there(const struct story *s, int rank, uint64_t epoch)
{
    const struct hl_mail_pair *p = &s->pair[rank];

    if (s->plant == NO_TURN) {
        return hl_a64_load_acquire(&p->in->slot[epoch & 1].flag) >> 3 == epoch;
    }
    return hl_mail_look(p, epoch) != HL_MAIL_NOTHING;
}

static void step(struct story *s, int rank, struct op *o)
{
    if (!o->posted && may_post(s, rank, o->epoch)) {
        post(s, rank, o);
    }
    if (!o->got && is_there(s, rank, o->epoch)) {
        receive(s, rank, o);
    }
    if (o->posted && !o->sent && kind_of(rank, o->epoch) == HL_MAIL_STREAM) {
        fill(s, rank, o);
    } else if (o->posted && !o->sent && hl_mail_acked(&s->pair[rank], o->epoch) == HL_MAIL_READ) {
        hl_mail_settle(&s->pair[rank], o->epoch);
        o->sent = true;
    }
}

static bool is_over(const struct op *o)
{
    return o->posted && o->sent && o->got;
}

/* A rank is two threads, which carry on every other two operations, some at once, the youngest first. Gives
 * up after a while: a planted fault may also lose one. */
static void play(void *arg, int thread)
{
    struct story *s = arg;
    struct op ops[OPS / 2] = {{0}};
    int rank = thread % 2, first = 0;

    for (int i = 0; i < OPS / 2; i++) {
        ops[i].epoch = HL_MAIL_FIRST + (uint64_t)(i / 2 * 4 + i % 2 + thread / 2 * 2);
    }
    for (int tries = 0; first < OPS / 2 && tries < 400; tries++) {
        int last = first + s->outstanding < OPS / 2 ? first + s->outstanding : OPS / 2;
        for (int i = last - 1; i >= first; i--) {
            if (!is_over(&ops[i])) {
                step(s, rank, &ops[i]);
            }
        }
        while (first < OPS / 2 && is_over(&ops[first])) {
            first++;
        }
        hl_pause();
    }
    s->wrong += first < OPS / 2;
}

static int tell(uint64_t seed, int outstanding, enum plant plant)
{
    struct story *s = aligned_alloc(64, sizeof *s);

    ck_assert_ptr_nonnull(s);
    memset(s, 0, sizeof *s);
    s->plant = plant;
    s->outstanding = outstanding;
    for (int r = 0; r < 2; r++) {
        hl_mail_pair_init(&s->pair[r], &s->box[1 - r], &s->box[r]);
        s->pair[r].out_ring = s->ring[1 - r];
        s->pair[r].in_ring = s->ring[r];
        s->pair[r].ring = RING;
    }
    ck_assert_int_eq(hl_interleave_run(seed, 4, play, s), 0);
    int wrong = s->wrong;
    free(s);
    return wrong;
}

START_TEST(everything_arrives_once_and_whole)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int outstanding = 1 + (int)(seed % MOST);
        ck_assert_msg(tell(seed, outstanding, NONE) == 0, "wrong with seed %llu, %d under way",
                      (unsigned long long)seed, outstanding);
    }
}
END_TEST

/* Of each planted fault some seed shows the harm. */
START_TEST(planted_faults_are_seen)
{
    static const enum plant plants[] = {NO_RULE, NO_TURN, NO_QUEUE};

    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        int seen = 0;
        for (uint64_t seed = 0; seed < SEEDS && seen == 0; seed++) {
            seen = tell(seed, MOST, plants[i]);
        }
        ck_assert_msg(seen > 0, "plant %d was not seen", (int)plants[i]);
    }
}
END_TEST

static Suite *mailbox_suite(void)
{
    Suite *s = suite_create("interleaved mailboxes");
    TCase *c = tcase_create("mailbox");
    tcase_set_timeout(c, 100);
    tcase_add_test(c, everything_arrives_once_and_whole);
    tcase_add_test(c, planted_faults_are_seen);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(mailbox_suite)
