/* The lock word of one (window, target) and its queue. */
#include "lockword.h"

#include "err.h"
#include "util.h"

#include <assert.h>
#include <stdlib.h>

static bool is_free(uint64_t w, bool exclusive)
{
    return (w & HL_LOCK_EXCLUSIVE) == 0 && (!exclusive || (w & HL_LOCK_READERS) == 0);
}

bool hl_lockword_try(hl_a64 *word, bool exclusive)
{
    /* relaxed: only the first guess of the compare-and-swap. */
    uint64_t w = hl_a64_load_relaxed(word);
    while ((w & HL_LOCK_WAITERS) == 0 && is_free(w, exclusive)) {
        /* acquire: sees what the last holder did; pairs with the full operations that leave the lock. */
        if (hl_a64_cas_acquire(word, &w, exclusive ? w | HL_LOCK_EXCLUSIVE : w + 1)) {
            return true;
        }
    }
    return false;
}

bool hl_lockword_leave(hl_a64 *word, bool exclusive)
{
    /* relaxed: only the first guess of the compare-and-swap. */
    uint64_t w = hl_a64_load_relaxed(word);
    while ((w & HL_LOCK_WAITERS) == 0) {
        assert(exclusive ? (w & HL_LOCK_EXCLUSIVE) != 0 : (w & HL_LOCK_READERS) != 0);
        /* full: publishes the epoch's accesses to the next holder's acquire in hl_lockword_try. */
        if (hl_a64_cas_full(word, &w, exclusive ? w & ~HL_LOCK_EXCLUSIVE : w - 1)) {
            return true;
        }
    }
    return false;
}

bool hl_lockword_is_held(hl_a64 *word, bool exclusive)
{
    /* relaxed: the holder does not leave it meanwhile. */
    return (hl_a64_load_relaxed(word) & (exclusive ? HL_LOCK_EXCLUSIVE : HL_LOCK_READERS)) != 0;
}

/* Grants the lock if it is free for `ask`. A load and an addition are enough: nobody else changes the word
 * while WAITERS is set. */
static bool grant_one(struct hl_lockq *q, const struct hl_lock_ask *ask)
{
    /* acquire: the grant passes on what the last holder did; pairs with the full operations in hl_lockq_leave
     * and hl_lockword_leave, or with this thread's own fetch-or. */
    if (!is_free(hl_a64_load_acquire(q->word), ask->exclusive)) {
        return false;
    }
    /* full, both: pairs with the compare-and-swap in hl_lockword_leave. */
    if (ask->exclusive) {
        hl_a64_or_full(q->word, HL_LOCK_EXCLUSIVE);
    } else {
        hl_a64_add_full(q->word, 1);
    }
    ask->grant(ask);
    return true;
}

static void open_word(struct hl_lockq *q)
{
    /* full: from here on compare-and-swaps of hl_lockword_try and hl_lockword_leave succeed again. */
    hl_a64_and_full(q->word, ~HL_LOCK_WAITERS);
}

/* The lock has changed, or has a new first request. */
static void note_change(struct hl_lockq *q)
{
    struct hl_lock_ask *first = q->head;
    if (first != NULL && first->exclusive) {
        first->since_ns = hl_now_ns();
        first->pass_ns = first->pass_ns == 0 ? HL_LOCK_PASS_NS : first->pass_ns;
    }
}

int hl_lockq_ask(struct hl_lockq *q, const struct hl_lock_ask *ask)
{
    struct hl_lock_ask *own = malloc(sizeof *own);
    if (own == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to queue a window lock");
    }
    *own = *ask;
    own->next = NULL;
    if (q->head != NULL) {
        q->tail->next = own;
        q->tail = own;
        q->head->readers += !own->exclusive;
        return 0;
    }
    /* full: comes before or after the compare-and-swap of a holder that leaves (proof in lockword.h). */
    hl_a64_or_full(q->word, HL_LOCK_WAITERS);
    if (grant_one(q, own)) {
        open_word(q);
        free(own);
        return 0;
    }
    q->head = q->tail = own;
    own->readers = !own->exclusive;
    note_change(q);
    return 0;
}

static void drop_head(struct hl_lockq *q)
{
    struct hl_lock_ask *done = q->head;
    q->head = done->next;
    if (q->head != NULL) {
        q->head->readers = done->readers - !done->exclusive;
    }
    free(done);
}

static void grant_next(struct hl_lockq *q)
{
    if (q->head == NULL) {
        return;
    }
    while (q->head != NULL && grant_one(q, q->head)) {
        drop_head(q);
    }
    if (q->head == NULL) {
        open_word(q);
    }
    note_change(q);
}

void hl_lockq_leave(struct hl_lockq *q, bool exclusive)
{
    /* full, both: publishes the epoch's accesses; pairs with the acquires in grant_one and
     * hl_lockword_try. */
    if (exclusive) {
        hl_a64_and_full(q->word, ~HL_LOCK_EXCLUSIVE);
    } else {
        hl_a64_add_full(q->word, (uint64_t)-1);
    }
    grant_next(q);
}

/* Removes the requests for which `goes` is true. */
static void remove_asks(struct hl_lockq *q, bool (*goes)(struct hl_lockq *, const struct hl_lock_ask *, int),
                        int arg)
{
    struct hl_lock_ask **at = &q->head;
    uint64_t readers = 0;
    q->tail = NULL;
    while (*at != NULL) {
        struct hl_lock_ask *ask = *at;
        if (goes(q, ask, arg)) {
            *at = ask->next;
            free(ask);
        } else {
            readers += !ask->exclusive;
            q->tail = ask;
            at = &ask->next;
        }
    }
    if (q->head != NULL) {
        q->head->readers = readers;
    }
}

static bool is_ask_of(struct hl_lockq *q, const struct hl_lock_ask *ask, int peer)
{
    (void)q;
    return ask->peer == peer;
}

static bool is_reader_granted(struct hl_lockq *q, const struct hl_lock_ask *ask, int unused)
{
    (void)unused;
    return !ask->exclusive && grant_one(q, ask);
}

uint64_t hl_lockq_due(const struct hl_lockq *q)
{
    const struct hl_lock_ask *first = q->head;
    /* relaxed: nobody else changes the word while requests are queued. */
    return first == NULL || !first->exclusive || first->readers == 0 ||
                   (hl_a64_load_relaxed(q->word) & HL_LOCK_EXCLUSIVE) != 0
               ? HL_LOCK_NEVER
               : first->since_ns + first->pass_ns;
}

void hl_lockq_pass(struct hl_lockq *q, uint64_t now_ns)
{
    if (now_ns >= hl_lockq_due(q)) {
        uint64_t next_ns = 2 * q->head->pass_ns;
        q->head->pass_ns = next_ns < HL_LOCK_PASS_MOST_NS ? next_ns : HL_LOCK_PASS_MOST_NS;
        remove_asks(q, is_reader_granted, 0);
        note_change(q);
    }
}

void hl_lockq_drop_peer(struct hl_lockq *q, int peer)
{
    if (q->head == NULL) {
        return;
    }
    remove_asks(q, is_ask_of, peer);
    if (q->head == NULL) {
        open_word(q);
    }
    grant_next(q);
}

void hl_lockq_refuse(struct hl_lockq *q, void (*refuse)(const struct hl_lock_ask *ask, int holder),
                     int holder)
{
    while (q->head != NULL) {
        refuse(q->head, holder);
        drop_head(q);
        if (q->head == NULL) {
            open_word(q);
        }
        grant_next(q);
    }
}

void hl_lockq_fini(struct hl_lockq *q)
{
    while (q->head != NULL) {
        drop_head(q);
    }
}
