/* life: opened once for many users, closed with the last; a forked child is told so. */
#include "unit.h"

#include "comm.h"
#include "err.h"
#include "life.h"
#include "match.h"

#include <sys/wait.h>
#include <unistd.h>

static int earlies, opens, quiets, closes, children, answer;

static void row_early(enum hl_life_who who)
{
    ck_assert(earlies == opens && who != HL_LIFE_SHMEM);
    ck_assert_ptr_null(hl_comm_of(MPI_COMM_WORLD)); /* before anything is open */
    earlies++;
}
static int row_open(void)
{
    opens++;
    return answer;
}
static void row_quiet(void)
{
    ck_assert(hl_life_is_open());
    quiets++;
}
static void row_close(void)
{
    closes++;
}
static void row_child(void)
{
    children++;
}
static struct hl_life_row row = {"test", row_early, row_open, row_quiet, row_close, row_child, NULL};

static void enrol(void)
{
    hl_life_enrol(&row);
}

static void message_to_myself(void)
{
    int out = 7, in = 0;
    struct hl_type *t = hl_type_of(MPI_INT);
    struct hl_send s = {.ctx = 8, .me = 0, .dest_world = 0, .tag = 1, .buf = &out, .count = 1, .type = t};
    struct hl_recv r = {.ctx = 8, .src = 0, .src_world = 0, .tag = 1, .buf = &in, .count = 1, .type = t};
    ck_assert_int_eq(hl_match_sendrecv(&s, &r, MPI_STATUS_IGNORE), 0);
    ck_assert_int_eq(in, 7);
}

START_TEST(one_user_opens_and_closes)
{
    int provided = -1;
    enrol();
    ck_assert(!hl_life_is_open() && !hl_life_opened(HL_LIFE_MPI));
    ck_assert_int_eq(hl_life_open(HL_LIFE_MPI, MPI_THREAD_MULTIPLE, &provided), 0);
    ck_assert_int_eq(provided, MPI_THREAD_MULTIPLE);
    ck_assert(hl_life_is_open() && hl_life_is_main_thread());
    ck_assert_ptr_nonnull(hl_comm_of(MPI_COMM_WORLD));
    message_to_myself();
    ck_assert_int_eq(hl_life_open(HL_LIFE_MPI, MPI_THREAD_MULTIPLE, &provided), HL_ERR_OTHER);
    ck_assert_int_eq(hl_life_close(HL_LIFE_MPI), 0);
    ck_assert(!hl_life_is_open() && hl_life_closed(HL_LIFE_MPI));
    ck_assert(earlies == 1 && opens == 1 && quiets == 1 && closes == 1);
    ck_assert_ptr_null(hl_comm_of(MPI_COMM_WORLD));
    ck_assert_int_eq(hl_life_open(HL_LIFE_MPI, MPI_THREAD_SINGLE, &provided), HL_ERR_OTHER);
}
END_TEST

START_TEST(the_last_user_closes)
{
    int provided = -1;
    enrol();
    ck_assert_int_eq(hl_life_open(HL_LIFE_SESSION, MPI_THREAD_SINGLE, &provided), 0);
    ck_assert_int_eq(hl_life_open(HL_LIFE_SESSION, MPI_THREAD_MULTIPLE, &provided), 0);
    ck_assert_int_eq(provided, MPI_THREAD_SINGLE); /* the first one decided */
    ck_assert_int_eq(hl_life_close(HL_LIFE_SESSION), 0);
    ck_assert(hl_life_is_open());
    message_to_myself();
    ck_assert_int_eq(hl_life_close(HL_LIFE_SESSION), 0);
    ck_assert(!hl_life_is_open());
    ck_assert_int_eq(hl_life_close(HL_LIFE_SESSION), HL_ERR_OTHER);
    for (int i = 0; i < 20; i++) { /* and again */
        ck_assert_int_eq(hl_life_open(HL_LIFE_SESSION, MPI_THREAD_MULTIPLE, &provided), 0);
        message_to_myself();
        ck_assert_int_eq(hl_life_close(HL_LIFE_SESSION), 0);
    }
    ck_assert_int_eq(opens, 1); /* sessions alone leave it open */
    ck_assert_int_eq(closes, 0);
    ck_assert_int_eq(hl_life_open(HL_LIFE_MPI, MPI_THREAD_MULTIPLE, &provided), 0);
    ck_assert(hl_life_is_main_thread());
    ck_assert_int_eq(hl_life_close(HL_LIFE_MPI), 0);
    ck_assert(opens == 1 && closes == 1);
    for (int i = 0; i < 3; i++) { /* even now */
        ck_assert_int_eq(hl_life_open(HL_LIFE_SESSION, MPI_THREAD_MULTIPLE, &provided), 0);
        message_to_myself();
        ck_assert_int_eq(hl_life_close(HL_LIFE_SESSION), 0);
    }
    ck_assert(opens == 2 && closes == 1);
}
END_TEST

START_TEST(a_failing_row_undoes_the_start)
{
    int provided = -1;
    enrol();
    answer = HL_ERR_NO_MEM;
    ck_assert_int_eq(hl_life_open(HL_LIFE_SESSION, MPI_THREAD_SINGLE, &provided), HL_ERR_NO_MEM);
    ck_assert(!hl_life_is_open());
    answer = 0;
    ck_assert_int_eq(hl_life_open(HL_LIFE_SESSION, MPI_THREAD_SINGLE, &provided), 0);
    message_to_myself();
    ck_assert_int_eq(hl_life_close(HL_LIFE_SESSION), 0);
}
END_TEST

START_TEST(a_forked_child_is_told)
{
    int provided = -1;
    enrol();
    ck_assert_int_eq(hl_life_open(HL_LIFE_MPI, MPI_THREAD_MULTIPLE, &provided), 0);
    pid_t child = fork();
    if (child == 0) {
        bool ok = !hl_life_is_open() && hl_life_is_forked() && children == 1 &&
                  hl_life_open(HL_LIFE_SESSION, MPI_THREAD_SINGLE, &provided) == HL_ERR_OTHER;
        exit(ok ? 0 : 1); /* with exit hooks */
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    message_to_myself();
    ck_assert_int_eq(system("true"), 0);
    ck_assert_int_eq(hl_life_close(HL_LIFE_MPI), 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("life");
    TCase *c = tcase_create("life");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, one_user_opens_and_closes);
    tcase_add_test(c, the_last_user_closes);
    tcase_add_test(c, a_failing_row_undoes_the_start);
    tcase_add_test(c, a_forked_child_is_told);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(make_suite)
