/* Windows of one process: the epoch's hash, walks over several layouts, elements under a lock. (The lock word:
 * test_lockword.c; calls over several ranks: tests/mpi.) */
#include "providers.h"
#include "unit.h"

#include <hotlane.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "err.h"
#include "kernel_copies.h"
#include "lane_internal.h"
#include "layout.h"
#include "life.h"
#include "rx_internal.h"
#include "win.h"

#include "rma_epochs.h"

/* ---- walks ---- */

START_TEST(layouts_are_walked_side_by_side)
{
    struct hl_type *vector;
    struct hl_layout_iter z;
    const struct hl_type *ints = hl_type_of(MPI_INT);
    int expect[] = {0, 1, 4, 5, 8, 9};
    int seen = 0;

    ck_assert_int_eq(hl_type_make_vector(3, 2, 4, false, ints, &vector), 0);
    ck_assert_int_eq(hl_type_commit(vector), 0);
    struct hl_layout_side sides[] = {{vector, 1, NULL}, {ints, 6, (char *)4096}};
    ck_assert_int_eq(hl_layout_begin(&z, HL_WALK_ELEMENTS, sizeof(int), sides, 2), 0);
    while (hl_layout_next(&z)) {
        for (int64_t i = 0; i < z.n; i++, seen++) {
            ck_assert_int_eq((int)((uintptr_t)z.at[0] / sizeof(int)) + (int)i, expect[seen]);
        }
    }
    hl_layout_end(&z);
    ck_assert_int_eq(seen, 6);
    hl_type_free(vector);
}
END_TEST

/* ---- a window of this process alone ---- */

static void start_alone(long **base, MPI_Win *win)
{
    int provided;
    ck_assert_int_eq(hl_life_open(HL_LIFE_MPI, MPI_THREAD_MULTIPLE, &provided), 0);
    ck_assert_int_eq(
        PMPI_Win_allocate(64 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_SELF, base, win), 0);
    PMPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN);
    memset(*base, 0, 64 * sizeof(long));
}

static void stop_alone(MPI_Win *win)
{
    ck_assert_int_eq(PMPI_Win_free(win), MPI_SUCCESS);
    ck_assert(*win == MPI_WIN_NULL);
    ck_assert_int_eq(hl_life_close(HL_LIFE_MPI), 0);
}

/* ---- a death ---- */

static bool keeps_records;             /* they stay with their sender */
static struct hl_wire_rec kept_record; /* the last of them */

int __real_hl_rx_send(int peer, const struct hl_wire_rec *rec, const void *payload);
int __wrap_hl_rx_send(int peer, const struct hl_wire_rec *rec, const void *payload);

int __wrap_hl_rx_send(int peer, const struct hl_wire_rec *rec, const void *payload)
{
    kept_record = *rec;
    return keeps_records ? 0 : __real_hl_rx_send(peer, rec, payload);
}

static void set_death(enum hl_rx_death how)
{
    hl_a8_store_relaxed(&hl_rx.dead[0], (uint8_t)how); /* relaxed: one thread */
}

static void ignore_grant(const struct hl_lock_ask *ask)
{
    (void)ask;
}

/* Leaves the window's lock as another rank than its target does, while a request is queued: by a record, which
 * does not leave. */
static void release_by_record(struct hl_win *w, MPI_Win win)
{
    struct hl_lock_ask ask = {.exclusive = true, .holder = &hl_win_ctl(w)->holder, .grant = ignore_grant};
    ck_assert_int_eq(PMPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), 0);
    ck_assert_int_eq(hl_lockq_ask(&w->lockq, &ask), 0);
    ck_assert_ptr_nonnull(w->lockq.head);
    keeps_records = true;
    hl_job.rank = 1;
    ck_assert_int_eq(PMPI_Win_unlock(0, win), 0);
    hl_job.rank = 0;
    keeps_records = false;
    ck_assert_int_eq(kept_record.op, HL_WIRE_UNLOCK);
}

/* Then the lock is never left; who waits for it must hear that. */
START_TEST(a_release_that_ended_with_its_rank_is_known)
{
    long *base;
    MPI_Win win;
    start_alone(&base, &win);
    struct hl_win *w = hl_win_of(win);
    release_by_record(w, win);
    set_death(HL_RX_TOLD);
    hl_win_bereave_lock(w, 1); /* whose request it is not */
    set_death(0);
    ck_assert(hl_lockword_is_held(w->lockq.word, true)); /* nobody has left it, */
    ck_assert_ptr_null(w->lockq.head);                   /* and nobody waits */
    ck_assert_int_eq(hl_win_send(0, &kept_record), 0);
    ck_assert(!hl_lockword_is_held(w->lockq.word, true));
    /* A release that has come leaves no trace. */
    release_by_record(w, win);
    ck_assert_int_eq(hl_win_send(0, &kept_record), 0);
    ck_assert_uint_eq(hl_a8_load_relaxed(hl_win_released(w, hl_win_ctl(w), 0)), 0); /* relaxed: one thread */
    ck_assert_ptr_null(w->lockq.head);                                              /* the request has it */
    ck_assert(hl_lockword_leave(w->lockq.word, true));
    stop_alone(&win);
}
END_TEST

/* The number of its process may be another process's by now: here it is this one's. */
START_TEST(the_kernel_reaches_no_memory_of_a_dead_rank)
{
    if (!does_kernel_copy()) {
        return;
    }
    long *base;
    MPI_Win win;
    uint64_t theirs = 1, mine = 0, at = (uint64_t)(uintptr_t)&theirs;
    start_alone(&base, &win);
    ck_assert(hl_cma_probe(0, getpid(), at, 1));
    ck_assert_int_eq(hl_cma_copy(0, HL_GET, &mine, at, sizeof mine), 0);
    ck_assert_uint_eq(mine, 1);
    theirs = 2;
    set_death(HL_RX_TOLD);
    ck_assert_int_eq(hl_cma_copy(0, HL_GET, &mine, at, sizeof mine), HL_ERR_PROC_ABORTED);
    ck_assert_int_eq(hl_cma_copy(0, HL_PUT, &mine, at, sizeof mine), HL_ERR_PROC_ABORTED);
    set_death(0);
    ck_assert(mine == 1 && theirs == 2);
    stop_alone(&win);
}
END_TEST

static MPI_Win one_win;

static void *window_main(void *arg)
{
    long id = (long)(intptr_t)arg;
    for (long i = 0; i < 200; i++) {
        long value = id * 1000 + i, back = -1, one = 1, was;
        PMPI_Put(&value, 1, MPI_LONG, 0, 1 + id, 1, MPI_LONG, one_win);
        PMPI_Win_flush(0, one_win);
        PMPI_Get(&back, 1, MPI_LONG, 0, 1 + id, 1, MPI_LONG, one_win);
        PMPI_Win_flush_local(0, one_win);
        PMPI_Fetch_and_op(&one, &was, MPI_LONG, 0, 0, MPI_SUM, one_win);
        PMPI_Win_flush_all(one_win);
        ck_assert_int_eq(back, value);
    }
    return NULL;
}

START_TEST(many_threads_use_one_window)
{
    static const int counts[] = {1, 2, 8, 32};
    pthread_t threads[32];
    long *base;

    start_alone(&base, &one_win);
    ck_assert_int_eq(PMPI_Win_lock_all(0, one_win), MPI_SUCCESS);
    for (int i = 0; i < counts[_i]; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, window_main, (void *)(intptr_t)i), 0);
    }
    for (int i = 0; i < counts[_i]; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_int_eq(PMPI_Win_unlock_all(one_win), MPI_SUCCESS);
    ck_assert_int_eq(base[0], 200 * counts[_i]);
    stop_alone(&one_win);
}
END_TEST

#include "rma_dynamic.h"

START_TEST(wrong_calls_are_errors)
{
    long *base, value = 1;
    MPI_Win win;

    start_alone(&base, &win);
    ck_assert_int_eq(PMPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    ck_assert_int_eq(PMPI_Win_fence(0, win), MPI_SUCCESS);
    ck_assert_int_eq(PMPI_Put(&value, 1, MPI_LONG, 0, 63, 1, MPI_LONG, win), MPI_SUCCESS);
    ck_assert_int_eq(PMPI_Put(&value, 1, MPI_LONG, 0, 64, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
    ck_assert_int_eq(PMPI_Put(&value, 1, MPI_LONG, 0, INT64_MIN, 1, MPI_LONG, win), MPI_ERR_DISP);
    ck_assert_int_eq(PMPI_Put(&value, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
    ck_assert_int_eq(PMPI_Put(&value, -1, MPI_LONG, 0, 0, -1, MPI_LONG, win), MPI_ERR_COUNT);
    ck_assert_int_eq(PMPI_Put(NULL, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win), MPI_ERR_BUFFER);
    ck_assert_int_eq(PMPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    ck_assert_int_eq(PMPI_Win_fence(MPI_MODE_NOSUCCEED, win), MPI_SUCCESS);
    ck_assert_int_eq(base[63], 1);
    ck_assert_int_eq(PMPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), MPI_SUCCESS);
    ck_assert_int_eq(PMPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    ck_assert_int_eq(PMPI_Put(&value, 1, MPI_LONG, 0, 5, 1, MPI_LONG, win), MPI_SUCCESS);
    ck_assert_int_eq(PMPI_Win_unlock(0, win), MPI_SUCCESS);
    stop_alone(&win);
}
END_TEST

/* ---- flushes with a request ---- */

/* What an operation left is told by the first that ends after it: once, as the flush tells it. */
START_TEST(requests_tell_what_flushes_tell)
{
    long *base;
    MPI_Win win;
    MPI_Request r[3];
    MPI_Status status;

    setenv("HOTLANE_RMA_MODE", "enqueue", 1); /* no flush is just a fence */
    start_alone(&base, &win);
    ck_assert_int_eq(PMPI_Win_lock_all(0, win), MPI_SUCCESS);
    for (int i = 0; i < 4; i++) {
        hl_win_keep_error(hl_win_of(win), 0, HL_ERR_RMA_RANGE);
        int rc = i == 0   ? PMPIX_Win_iflush(0, win, &r[0])
                 : i == 1 ? PMPIX_Win_iflush_all(win, &r[0])
                 : i == 2 ? PMPIX_Win_iflush_local(0, win, &r[0])
                          : PMPIX_Win_iflush_local_all(win, &r[0]);
        ck_assert_int_eq(rc, MPI_SUCCESS); /* the call was right */
        ck_assert_int_eq(PMPI_Win_flush(0, win), MPI_SUCCESS);
        struct hl_req *req = hl_req_of(r[0]);
        hl_req_wait(req);
        ck_assert_int_eq(hl_req_status(req, &status), HL_ERR_RMA_RANGE);
        hl_err_say(HL_ERR_RMA_RANGE, "what was said in between");
        ck_assert_int_eq(hl_req_finish(req, &status), HL_ERR_RMA_RANGE);
        ck_assert_str_eq(hl_err_text(HL_ERR_RMA_RANGE), "an operation on target 0 failed");
    }
    hl_win_keep_error(hl_win_of(win), 0, HL_ERR_RMA_RANGE);
    ck_assert_int_eq(PMPI_Win_flush(0, win), MPI_ERR_RMA_RANGE);
    PMPIX_Win_iflush(0, win, &r[0]);
    hl_win_keep_error(hl_win_of(win), 0, HL_ERR_RMA_RANGE);
    PMPIX_Win_iflush(0, win, &r[1]);
    PMPIX_Win_iflush(0, win, &r[2]);
    for (int i = 2; i >= 0; i--) {
        ck_assert_int_eq(hl_req_finish(hl_req_of(r[i]), &status), i == 1 ? HL_ERR_RMA_RANGE : 0);
    }
    ck_assert_int_eq(PMPI_Win_unlock_all(win), MPI_SUCCESS);
    stop_alone(&win);
}
END_TEST

/* ---- what other ranks cost ---- */

/* What a rank of a large job has in arrays over ranks when it has spoken to nobody. (Matching: test_match.)
 */
START_TEST(a_hundred_thousand_ranks_cost_few_bytes)
{
    enum { MANY = 100000 };
    static struct hl_lane_pool pool;
    struct hl_group *world, *odd;
    hl_fab.row = hl_provider_find("any", 0); /* as the network leaves it that is open */
    double before = unit_resident();
    ck_assert_int_eq(hl_pool_open(&pool, 1, MANY), 0);
    ck_assert_int_eq(hl_group_make_strided(0, 1, MANY, &world), 0);
    ck_assert_int_eq(hl_group_make_strided(1, 2, MANY / 2, &odd), 0);
    double cost = (unit_resident() - before) / MANY;
    printf("%d ranks: %.1f bytes of memory each; a target of a window: %zu\n", MANY, cost,
           sizeof(struct hl_target));
    ck_assert(SANITIZED || cost <= 8);
    ck_assert_uint_le(sizeof(struct hl_target), 16);
    hl_group_unref(odd);
    hl_group_unref(world);
    hl_pool_close(&pool);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("rma");
    TCase *t = tcase_create("rma");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, epochs_follow_each_other_as_the_standard_says);
    tcase_add_test(t, access_and_exposure_go_side_by_side);
    tcase_add_test(t, early_messages_are_kept_and_late_ones_waited_for);
    tcase_add_test(t, who_gives_up_ends_the_wait_of_others);
    tcase_add_test(t, lazy_targets_are_claimed_once);
    tcase_add_test(t, the_hash_holds_what_was_put_in);
    tcase_add_test(t, readers_never_miss_what_stays);
    tcase_add_test(t, layouts_are_walked_side_by_side);
    tcase_add_test(t, a_release_that_ended_with_its_rank_is_known);
    tcase_add_test(t, the_kernel_reaches_no_memory_of_a_dead_rank);
    tcase_add_loop_test(t, many_threads_use_one_window, 0, 4);
    tcase_add_test(t, a_region_that_goes_while_it_is_described_is_not_remembered);
    tcase_add_test(t, wrong_calls_are_errors);
    tcase_add_test(t, requests_tell_what_flushes_tell);
    tcase_add_test(t, a_hundred_thousand_ranks_cost_few_bytes);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(make_suite)
