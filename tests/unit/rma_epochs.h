/* What is open on a window, and with whom: tests of epoch.h and pairs.h. */
#ifndef RMA_EPOCHS_H
#define RMA_EPOCHS_H

#include "unit.h"

#include <pthread.h>
#include <stdlib.h>

#include "epoch.h"
#include "err.h"
#include "pairs.h"

START_TEST(epochs_follow_each_other_as_the_standard_says)
{
    struct hl_epoch e;
    uint32_t how;

    ck_assert_int_eq(hl_epoch_init(&e), 0);
    ck_assert(!hl_epoch_allows(&e, 0));
    ck_assert_int_eq(hl_epoch_fence(&e, true), 0);
    ck_assert(hl_epoch_allows(&e, 7));
    ck_assert(!hl_epoch_is_locked(&e, 7));
    ck_assert_int_eq(hl_epoch_lock(&e, 7, HL_EPOCH_SHARED), 0);
    ck_assert(hl_epoch_allows(&e, 7) && hl_epoch_is_locked(&e, 7));
    ck_assert(!hl_epoch_allows(&e, 8));
    ck_assert_int_eq(hl_epoch_lock(&e, 7, HL_EPOCH_SHARED), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_lock_all(&e, 0), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_fence(&e, true), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_unlock(&e, 8, &how), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_unlock(&e, 7, &how), 0);
    ck_assert_uint_eq(how, HL_EPOCH_SHARED);
    ck_assert(!hl_epoch_allows(&e, 7));
    ck_assert_int_eq(hl_epoch_lock_all(&e, HL_EPOCH_NOCHECK), 0);
    ck_assert(hl_epoch_allows(&e, 12345) && hl_epoch_is_locked(&e, 3));
    ck_assert_int_eq(hl_epoch_lock(&e, 1, HL_EPOCH_SHARED), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_unlock(&e, 1, &how), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_unlock_all(&e, &how), 0);
    ck_assert_uint_eq(how, HL_EPOCH_NOCHECK);
    ck_assert_int_eq(hl_epoch_unlock_all(&e, &how), HL_ERR_RMA_SYNC);
    hl_epoch_fini(&e);
}
END_TEST

START_TEST(access_and_exposure_go_side_by_side)
{
    struct hl_epoch e;
    uint32_t how;
    static const int group[] = {3, 19, 35}; /* one home */

    ck_assert_int_eq(hl_epoch_init(&e), 0);
    ck_assert_int_eq(hl_epoch_complete(&e), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_fence(&e, true), 0);
    ck_assert_int_eq(hl_epoch_start(&e, group, 3), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert(hl_epoch_allows(&e, group[i]) && !hl_epoch_is_locked(&e, group[i]));
    }
    ck_assert(!hl_epoch_allows(&e, 4) && !hl_epoch_allows_at_once(&e, 4));
    ck_assert_int_eq(hl_epoch_start(&e, group, 3), HL_ERR_RMA_SYNC);
    ck_assert(hl_epoch_allows(&e, 35)); /* the second start took nothing away */
    ck_assert_int_eq(hl_epoch_lock(&e, 3, HL_EPOCH_SHARED), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_lock_all(&e, 0), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_fence(&e, true), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_expose(&e, 7), 0);
    ck_assert_int_eq(hl_epoch_expose(&e, 7), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_complete(&e), 0);
    ck_assert(!hl_epoch_allows(&e, 3));
    ck_assert_int_eq(hl_epoch_fence(&e, true), HL_ERR_RMA_SYNC);
    ck_assert_ptr_nonnull(hl_epoch_busy(&e));
    ck_assert_int_eq(hl_epoch_lock(&e, 7, HL_EPOCH_SHARED), HL_ERR_RMA_SYNC); /* my own memory */
    ck_assert_int_eq(hl_epoch_lock_all(&e, 0), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_lock(&e, 8, HL_EPOCH_SHARED), 0);
    ck_assert_int_eq(hl_epoch_start(&e, group, 0), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_unlock(&e, 8, &how), 0);
    hl_epoch_conceal(&e);
    ck_assert_ptr_null(hl_epoch_busy(&e));
    ck_assert_int_eq(hl_epoch_lock(&e, 7, HL_EPOCH_SHARED), 0);
    ck_assert_int_eq(hl_epoch_expose(&e, 7), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_unlock(&e, 7, &how), 0);
    ck_assert_int_eq(hl_epoch_start(&e, NULL, 0), 0);
    ck_assert(!hl_epoch_allows(&e, 0));
    ck_assert_int_eq(hl_epoch_complete(&e), 0);
    hl_epoch_fini(&e);
}
END_TEST

/* ---- post, start, complete, wait as numbers ---- */

static struct hl_pairs *make_pairs(void)
{
    struct hl_pairs *p;
    ck_assert_int_eq(hl_pairs_make(1, &p), 0);
    return p;
}

static int begin_with(struct hl_pairs *p, enum hl_side side, int n, int first, bool wait)
{
    int *members = malloc(sizeof(int) * ((size_t)n + 1));
    for (int i = 0; i < n; i++) {
        members[i] = first + i;
    }
    int rc = hl_pairs_begin(p, side, members, n, wait);
    if (rc != 0) {
        free(members);
    }
    return rc;
}

START_TEST(early_messages_are_kept_and_late_ones_waited_for)
{
    struct hl_pairs *p = make_pairs();
    int failed;

    ck_assert_int_eq(hl_pairs_arrive(p, HL_ACCESS, 40, 1, false), 0); /* nobody waits yet */
    ck_assert_int_eq(begin_with(p, HL_ACCESS, 50, 0, true), 0);
    ck_assert_int_eq(begin_with(p, HL_ACCESS, 1, 0, true), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(begin_with(p, HL_EXPOSURE, 2, 40, true), 0); /* the other side knows nothing of it */
    for (int i = 0; i < 50; i++) {
        ck_assert(!hl_pairs_ready(p, HL_ACCESS));
        if (i != 40) {
            ck_assert_int_eq(hl_pairs_arrive(p, HL_ACCESS, i, 1, false), i == 49);
        }
    }
    ck_assert(hl_pairs_ready(p, HL_ACCESS) && !hl_pairs_ready(p, HL_EXPOSURE));
    ck_assert_uint_eq(hl_pairs_number(p, HL_ACCESS, 40), 1);
    ck_assert_int_eq(hl_pairs_end(p, HL_ACCESS, &failed), 0);
    ck_assert_int_eq(failed, -1);
    ck_assert_int_eq(hl_pairs_end(p, HL_ACCESS, &failed), HL_ERR_RMA_SYNC);
    /* A post counts once: the next start waits for the next one. */
    ck_assert_int_eq(begin_with(p, HL_ACCESS, 1, 40, true), 0);
    ck_assert(!hl_pairs_ready(p, HL_ACCESS));
    ck_assert_int_eq(hl_pairs_arrive(p, HL_ACCESS, 40, 2, false), 1);
    ck_assert_int_eq(hl_pairs_end(p, HL_ACCESS, &failed), 0);
    hl_pairs_free(p);
}
END_TEST

START_TEST(who_gives_up_ends_the_wait_of_others)
{
    struct hl_pairs *p = make_pairs();
    int failed;

    ck_assert_int_eq(hl_pairs_arrive(p, HL_EXPOSURE, 5, 1, true), 0);
    ck_assert_int_eq(begin_with(p, HL_EXPOSURE, 2, 5, true), 0);
    ck_assert_int_eq(hl_pairs_arrive(p, HL_EXPOSURE, 6, 1, false), 1);
    ck_assert_int_eq(hl_pairs_end(p, HL_EXPOSURE, &failed), 0);
    ck_assert_int_eq(failed, 5);
    /* An epoch that was left without a message: it comes late and means nothing to the next one. */
    ck_assert_int_eq(begin_with(p, HL_EXPOSURE, 2, 5, true), 0);
    ck_assert_int_eq(hl_pairs_arrive(p, HL_EXPOSURE, 5, 2, false), 0);
    ck_assert_int_eq(hl_pairs_end(p, HL_EXPOSURE, &failed), 0);
    ck_assert_int_eq(failed, -1);
    ck_assert_int_eq(begin_with(p, HL_EXPOSURE, 1, 6, true), 0);
    ck_assert_int_eq(hl_pairs_arrive(p, HL_EXPOSURE, 6, 2, true), 0);
    ck_assert(!hl_pairs_ready(p, HL_EXPOSURE));
    ck_assert_int_eq(hl_pairs_arrive(p, HL_EXPOSURE, 6, 3, false), 1);
    ck_assert_int_eq(hl_pairs_end(p, HL_EXPOSURE, &failed), 0);
    ck_assert_int_eq(failed, -1);
    /* MPI_MODE_NOCHECK: nothing is waited for, the number still counts. */
    ck_assert_int_eq(begin_with(p, HL_ACCESS, 1, 6, false), 0);
    ck_assert(hl_pairs_ready(p, HL_ACCESS));
    ck_assert_int_eq(hl_pairs_end(p, HL_ACCESS, &failed), 0);
    ck_assert_int_eq(begin_with(p, HL_ACCESS, 1, 6, true), 0);
    ck_assert_int_eq(hl_pairs_arrive(p, HL_ACCESS, 6, 1, false), 0);
    ck_assert_int_eq(hl_pairs_arrive(p, HL_ACCESS, 6, 2, false), 1);
    hl_pairs_free(p);
}
END_TEST

START_TEST(lazy_targets_are_claimed_once)
{
    struct hl_epoch e;
    bool mine;
    uint32_t how;

    ck_assert_int_eq(hl_epoch_init(&e), 0);
    ck_assert_int_eq(hl_epoch_claim(&e, 4, &mine), HL_ERR_RMA_SYNC);
    ck_assert_int_eq(hl_epoch_lock_all(&e, HL_EPOCH_SHARED), 0);
    ck_assert_int_eq(hl_epoch_claim(&e, 4, &mine), 0);
    ck_assert(mine);
    ck_assert_int_eq(hl_epoch_claim(&e, 4, &mine), 0);
    ck_assert(!mine);
    hl_epoch_settle(&e, 4, 0);
    ck_assert((hl_epoch_find(&e, 4) & HL_EPOCH_HELD) != 0);
    ck_assert_int_eq(hl_epoch_drop(&e), 4);
    ck_assert_int_eq(hl_epoch_drop(&e), -1);
    ck_assert_int_eq(hl_epoch_unlock_all(&e, &how), 0);
    hl_epoch_fini(&e);
}
END_TEST

/* Random locks and unlocks against an array, with colliding targets. */
START_TEST(the_hash_holds_what_was_put_in)
{
    enum { TARGETS = 300 };
    struct hl_epoch e;
    bool model[TARGETS] = {false};
    unsigned seed = 42;

    ck_assert_int_eq(hl_epoch_init(&e), 0);
    for (int step = 0; step < 20000; step++) {
        int target = (int)((unsigned)rand_r(&seed) % TARGETS);
        int name = target * 16; /* few homes: long probes */
        uint32_t how;
        if (model[target]) {
            ck_assert_int_eq(hl_epoch_unlock(&e, name, &how), 0);
        } else {
            ck_assert_int_eq(hl_epoch_lock(&e, name, HL_EPOCH_EXCLUSIVE), 0);
        }
        model[target] = !model[target];
        if (step % 500 == 0) {
            for (int i = 0; i < TARGETS; i++) {
                ck_assert_int_eq(hl_epoch_find(&e, i * 16) != 0, model[i]);
            }
        }
    }
    hl_epoch_fini(&e);
}
END_TEST

static struct hl_epoch shared_epoch;
static hl_a32 stop;

/* A target that stays locked is found while others come and go. */
static void *find_main(void *arg)
{
    long looks = 0;
    while (hl_a32_load_relaxed(&stop) == 0) {
        if (hl_epoch_find(&shared_epoch, 32) == 0) {
            return (void *)1;
        }
        looks++;
    }
    return looks >= 0 ? NULL : (void *)1;
}

START_TEST(readers_never_miss_what_stays)
{
    pthread_t reader;
    void *missed;
    uint32_t how;

    ck_assert_int_eq(hl_epoch_init(&shared_epoch), 0);
    hl_a32_store_relaxed(&stop, 0);
    for (int i = 0; i < 3; i++) { /* homes in one place: 32 stands behind 0 and 16 */
        hl_epoch_lock(&shared_epoch, i * 16, HL_EPOCH_SHARED);
    }
    ck_assert_int_eq(pthread_create(&reader, NULL, find_main, NULL), 0);
    for (int i = 0; i < 20000; i++) {
        hl_epoch_unlock(&shared_epoch, 0, &how);
        hl_epoch_unlock(&shared_epoch, 16, &how);
        hl_epoch_lock(&shared_epoch, 16, HL_EPOCH_SHARED);
        hl_epoch_lock(&shared_epoch, 0, HL_EPOCH_SHARED);
    }
    hl_a32_store_relaxed(&stop, 1);
    pthread_join(reader, &missed);
    ck_assert_ptr_null(missed);
    hl_epoch_fini(&shared_epoch);
}
END_TEST

#endif
