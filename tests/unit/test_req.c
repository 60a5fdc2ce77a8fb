/* req: requests are recycled, complete once, and survive the thread that made them. */
#include "unit.h"

#include "err.h"
#include "flight.h"
#include "prog.h"
#include "req.h"
#include "util.h"

#include <pthread.h>

static void setup(void)
{
    ck_assert_int_eq(hl_req_open(), 0);
}

START_TEST(handles_are_checked)
{
    setup();
    struct hl_req *r = hl_req_new(HL_REQ_RECV);
    ck_assert_ptr_nonnull(r);
    ck_assert_ptr_eq(hl_req_of(hl_req_handle(r)), r);
    volatile MPI_Request null = MPI_REQUEST_NULL;
    ck_assert_ptr_null(hl_req_of(null));
    ck_assert_ptr_null(hl_req_of((MPI_Request)(void *)((char *)r + 8)));
    ck_assert_ptr_null(hl_req_of((MPI_Request)(uintptr_t)0x1234567800));
    hl_req_free(r);
    ck_assert_ptr_null(hl_req_of(hl_req_handle(r)));
    ck_assert_ptr_eq(hl_req_of(hl_req_handle(hl_req_completed())), hl_req_completed());
}
END_TEST

START_TEST(shared_ones_are_never_freed)
{
    setup();
    MPI_Status st = {0};
    for (int i = 0; i < 3; i++) {
        ck_assert(hl_req_is_done(hl_req_completed()));
        ck_assert_int_eq(hl_req_finish(hl_req_completed(), &st), 0);
        ck_assert_int_eq(st.MPI_SOURCE, MPI_ANY_SOURCE);
        ck_assert_int_eq(hl_req_finish(hl_req_proc_null(), &st), 0);
        ck_assert_int_eq(st.MPI_SOURCE, MPI_PROC_NULL);
    }
}
END_TEST

static int looks, ends;
static int unpack(struct hl_req *r, MPI_Status *status, bool end)
{
    looks++;
    ends += end;
    hl_req_fail_long(r, 1000);
    return hl_req_results(r, status);
}
static const struct hl_req_more unpacking = {.results = unpack};

START_TEST(results_and_errors_arrive)
{
    setup();
    struct hl_req *r = hl_req_new(HL_REQ_RMA);
    r->source = 3;
    r->tag = 9;
    r->bytes = INT64_C(1) << 40;
    r->more = &unpacking;
    hl_req_add_parts(r, 3);
    ck_assert(!hl_req_part_done(r, 0));
    ck_assert(!hl_req_part_done(r, 0));
    ck_assert(!hl_req_is_done(r));
    ck_assert(hl_req_part_done(r, 0));
    ck_assert(hl_req_is_done(r));
    MPI_Status st = {0};
    ck_assert_int_eq(hl_req_status(r, &st), HL_ERR_TRUNCATE);
    ck_assert_int_eq(hl_req_finish(r, &st), HL_ERR_TRUNCATE);
    ck_assert_str_eq(
        hl_err_text(HL_ERR_TRUNCATE),
        "the message of rank 3 with tag 9 has 1099511628776 bytes, the receive buffer 1099511627776");
    ck_assert(looks == 2 && ends == 1);
    ck_assert_int_eq(st.MPI_SOURCE, 3);
    ck_assert_int_eq(st.MPI_TAG, 9);
    ck_assert_int_eq(hl_req_status_bytes(&st), INT64_C(1) << 40);
    ck_assert(!hl_req_status_cancelled(&st));
}
END_TEST

START_TEST(the_first_error_stays)
{
    setup();
    struct hl_req r;
    hl_req_init(&r, HL_REQ_RMA);
    hl_req_add_parts(&r, 2);
    hl_req_part_done(&r, HL_ERR_RANK);
    hl_req_part_done(&r, HL_ERR_OTHER);
    ck_assert_int_eq(hl_req_finish(&r, MPI_STATUS_IGNORE), HL_ERR_RANK);
}
END_TEST

static int started, dropped;

static int start_it(struct hl_req *r)
{
    (void)r;
    return ++started > 0 ? 0 : HL_ERR_NO_MEM;
}

static void drop_it(struct hl_req *r)
{
    (void)r;
    dropped++;
}

static const struct hl_req_more again = {.start = start_it, .drop = drop_it};

START_TEST(persistent_ones_become_inactive)
{
    setup();
    struct hl_req *r = hl_req_new(HL_REQ_RECV);
    started = dropped = 0;
    hl_req_set_again(r, &again);
    ck_assert(!hl_req_is_active(r));
    for (int i = 1; i <= 3; i++) {
        ck_assert_int_eq(hl_req_start(r), 0);
        ck_assert(hl_req_is_active(r) && !hl_req_is_done(r));
        hl_req_fail(r, HL_ERR_OTHER);
        hl_req_done(r);
        ck_assert_int_eq(hl_req_finish(r, MPI_STATUS_IGNORE), HL_ERR_OTHER);
        ck_assert_ptr_eq(hl_req_of(hl_req_handle(r)), r);
        ck_assert(!hl_req_is_active(r));
        ck_assert_int_eq(started, i);
    }
    started = -100; /* refuses */
    ck_assert_int_eq(hl_req_start(r), HL_ERR_NO_MEM);
    ck_assert(!hl_req_is_active(r));
    MPI_Status st = {0};
    hl_req_status(r, &st);
    ck_assert_int_eq(st.MPI_SOURCE, MPI_ANY_SOURCE);
    hl_req_orphan(r);
    ck_assert_ptr_null(hl_req_of(hl_req_handle(r)));
    ck_assert_int_eq(dropped, 1);
    r = hl_req_new(HL_REQ_RECV);
    hl_req_set_again(r, &again);
    started = 0;
    ck_assert_int_eq(hl_req_start(r), 0);
    hl_req_orphan(r); /* under way: what hangs on it goes with the sweep */
    ck_assert_int_eq(dropped, 1);
    hl_req_done(r);
    ck_assert_int_eq(hl_req_sweep(NULL), 1);
    ck_assert_int_eq(dropped, 2);
    ck_assert_ptr_null(hl_req_of(hl_req_handle(r)));
}
END_TEST

START_TEST(orphans_are_swept)
{
    setup();
    struct hl_req *r[200];
    for (int i = 0; i < 200; i++) {
        r[i] = hl_req_new(HL_REQ_RECV);
        hl_req_orphan(r[i]);
    }
    ck_assert_int_eq(hl_req_sweep(NULL), 0);
    for (int i = 0; i < 200; i += 2) {
        hl_req_done(r[i]);
    }
    ck_assert_int_eq(hl_req_sweep(NULL), 100);
    for (int i = 1; i < 200; i += 2) {
        hl_req_done(r[i]);
    }
    hl_req_close();
}
END_TEST

/* Threads make requests, hand them to the next thread, which completes and finishes them; makers exit. */
#define EACH 5000
struct lane {
    hl_aptr slot[EACH];
};
static struct lane lanes[32];
static unsigned n_threads;

static void *make_and_finish(void *arg)
{
    size_t me = (size_t)arg;
    struct lane *mine = &lanes[me], *next = &lanes[(me + 1) % n_threads];
    for (int i = 0; i < EACH; i++) {
        struct hl_req *r = hl_req_new(HL_REQ_SEND);
        ck_assert_ptr_nonnull(r);
        r->bytes = i;
        hl_aptr_store_release(&next->slot[i], r);
        while ((r = hl_aptr_load_acquire(&mine->slot[i])) == NULL) {
            hl_prog_poll();
            sched_yield();
        }
        ck_assert_int_eq(r->bytes, i);
        hl_req_done(r);
        hl_req_wait(r);
        hl_req_finish(r, MPI_STATUS_IGNORE);
    }
    return NULL;
}

START_TEST(requests_outlive_their_threads)
{
    setup();
    const unsigned counts[] = {1, 2, 8, 32};
    n_threads = counts[_i];
    pthread_t t[32];
    for (size_t i = 0; i < n_threads; i++) {
        ck_assert_int_eq(pthread_create(&t[i], NULL, make_and_finish, (void *)i), 0);
    }
    for (size_t i = 0; i < n_threads; i++) {
        pthread_join(t[i], NULL);
    }
    /* All places are back: the same number again takes no fresh memory beyond what is pooled. */
    struct hl_req *r[64];
    for (int i = 0; i < 64; i++) {
        r[i] = hl_req_new(HL_REQ_SEND);
        ck_assert_uint_lt((size_t)((char *)r[i] - hl_req_base),
                          (size_t)(64 * 34 * 32) * sizeof(struct hl_req));
    }
    for (int i = 0; i < 64; i++) {
        hl_req_free(r[i]);
    }
}
END_TEST

/* A flight that takes a number of steps. */
struct walk {
    struct hl_flight flight;
    struct hl_req *req;
    int left;
};

static bool walk_on(struct hl_flight *f)
{
    return --HL_CONTAINER_OF(f, struct walk, flight)->left == 0;
}

static void arrive(struct hl_flight *f)
{
    struct walk *w = HL_CONTAINER_OF(f, struct walk, flight);
    struct hl_req *r = w->req;

    hl_req_fail(r, -w->left - 100);
    free(w);
    hl_req_done(r);
}

static void *fly(void *arg)
{
    struct hl_req *r[50];

    for (int i = 0; i < 50; i++) {
        struct walk *w = malloc(sizeof *w);
        r[i] = hl_req_new(HL_REQ_COLL);
        *w = (struct walk){{.step = walk_on, .end = arrive}, r[i], 1 + (i * 7 + (int)(intptr_t)arg) % 20};
        ck_assert_int_eq(hl_flight_start(&w->flight), 0);
    }
    for (int i = 0; i < 50; i++) {
        hl_req_wait(r[i]);
        ck_assert_int_eq(hl_req_finish(r[i], MPI_STATUS_IGNORE), -100);
    }
    return NULL;
}

START_TEST(flights_land_once)
{
    pthread_t t[8];

    setup();
    for (int i = 0; i < 8; i++) {
        pthread_create(&t[i], NULL, fly, (void *)(intptr_t)i);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(t[i], NULL);
    }
    hl_flight_close();
}
END_TEST

#include "req_many.h"

static Suite *make_suite(void)
{
    Suite *s = suite_create("req");
    TCase *c = tcase_create("req");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, handles_are_checked);
    tcase_add_test(c, shared_ones_are_never_freed);
    tcase_add_test(c, results_and_errors_arrive);
    tcase_add_test(c, the_first_error_stays);
    tcase_add_test(c, persistent_ones_become_inactive);
    tcase_add_test(c, orphans_are_swept);
    tcase_add_loop_test(c, requests_outlive_their_threads, 0, 4);
    tcase_add_test(c, flights_land_once);
    tcase_add_test(c, many_flights_cost_no_square);
    tcase_add_test(c, who_waits_beside_many_flights_may_sleep);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(make_suite)
