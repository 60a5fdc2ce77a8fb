/* life: opened once for many users, closed with the last; a forked child is told so. */
#include "unit.h"

#include "boot.h"
#include "comm.h"
#include "conf.h"
#include "err.h"
#include "fab_lib.h"
#include "job.h"
#include "life.h"
#include "match.h"
#include "model.h"
#include "prog.h"
#include "type.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static int earlies, children;

static void row_early(enum hl_life_who who)
{
    ck_assert_int_ne(who, HL_LIFE_SHMEM);
    ck_assert_ptr_null(hl_comm_of(MPI_COMM_WORLD)); /* before anything is open */
    earlies++;
}
static void row_child(void)
{
    children++;
}
static struct hl_life_row row = {row_early, row_child, NULL};

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
    ck_assert_int_eq(hl_match_sendrecv(&hl_match_self, &s, &r, MPI_STATUS_IGNORE), 0);
    ck_assert_int_eq(in, 7);
}

START_TEST(one_user_opens_and_closes)
{
    int provided = -1;
    enrol();
    ck_assert(!hl_job_is_open() && !hl_life_opened(HL_LIFE_MPI));
    ck_assert_int_eq(hl_life_open(HL_LIFE_MPI, MPI_THREAD_MULTIPLE, &provided), 0);
    ck_assert_int_eq(provided, MPI_THREAD_MULTIPLE);
    ck_assert(hl_job_is_open() && hl_life_is_main_thread());
    ck_assert_ptr_nonnull(hl_comm_of(MPI_COMM_WORLD));
    message_to_myself();
    ck_assert_int_eq(hl_life_open(HL_LIFE_MPI, MPI_THREAD_MULTIPLE, &provided), HL_ERR_OTHER);
    ck_assert_int_eq(hl_life_close(HL_LIFE_MPI), 0);
    ck_assert(!hl_job_is_open() && hl_life_closed(HL_LIFE_MPI));
    ck_assert_int_eq(earlies, 1);
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
    ck_assert(hl_job_is_open());
    message_to_myself();
    ck_assert_int_eq(hl_life_close(HL_LIFE_SESSION), 0);
    ck_assert(!hl_job_is_open());
    ck_assert_int_eq(hl_life_close(HL_LIFE_SESSION), HL_ERR_OTHER);
    for (int i = 0; i < 20; i++) { /* and again */
        ck_assert_int_eq(hl_life_open(HL_LIFE_SESSION, MPI_THREAD_MULTIPLE, &provided), 0);
        message_to_myself();
        ck_assert_int_eq(hl_life_close(HL_LIFE_SESSION), 0);
    }
    ck_assert_int_eq(earlies, 1); /* sessions alone leave it open */
    ck_assert_int_eq(hl_life_open(HL_LIFE_MPI, MPI_THREAD_MULTIPLE, &provided), 0);
    ck_assert(hl_life_is_main_thread());
    ck_assert_int_eq(hl_life_close(HL_LIFE_MPI), 0);
    ck_assert_int_eq(earlies, 1);
    for (int i = 0; i < 3; i++) { /* even now */
        ck_assert_int_eq(hl_life_open(HL_LIFE_SESSION, MPI_THREAD_MULTIPLE, &provided), 0);
        message_to_myself();
        ck_assert_int_eq(hl_life_close(HL_LIFE_SESSION), 0);
    }
    ck_assert_int_eq(earlies, 2);
}
END_TEST

/* Everything is open when the other rank's card is missed. */
START_TEST(a_network_that_fails_late_is_closed_in_order)
{
    uint64_t machine = 0;
    int provided = -1;
    hl_fab_lib = (struct hl_fab_lib)MODEL_LIB;
    setenv("HOTLANE_PROVIDER", "model", 1);
    ck_assert_int_eq(hl_conf_load(), 0);
    ck_assert_int_eq(hl_boot_open(), 0);
    hl_job.rank = 1; /* which says that it is on another machine, and then no more */
    ck_assert_int_eq(hl_boot_put("hl-machine-1", &machine, sizeof machine), 0);
    hl_job.rank = 0;
    hl_job.size = 2;
    ck_assert_int_eq(hl_life_open(HL_LIFE_MPI, MPI_THREAD_SINGLE, &provided), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "rank 1 has published no network address"));
    ck_assert_uint_gt(model_numbers, MODEL_NAMES + 1); /* ports were open, too */
    ck_assert_int_eq(model.objects, 0);
    ck_assert_int_eq(model.busy, 0);
}
END_TEST

START_TEST(a_forked_child_is_told)
{
    int provided = -1;
    enrol();
    ck_assert_int_eq(hl_life_open(HL_LIFE_MPI, MPI_THREAD_MULTIPLE, &provided), 0);
    pid_t child = fork();
    if (child == 0) {
        bool ok = !hl_job_is_open() && hl_life_is_forked() && children == 1 &&
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

static hl_a32 asked, over;

static bool second_look(void *looks)
{
    return ++*(int *)looks == 2;
}

/* A thread that has waited, and lives on. */
static void *wait_once(void *unused)
{
    int looks = 0;
    hl_prog_wait(second_look, &looks);
    hl_a32_add_full(&asked, 1);
    while (hl_a32_load_acquire(&over) == 0) {
        sched_yield();
    }
    return unused;
}

/* Not those of the machine: a batch system, a container or taskset leave some of them. */
START_TEST(two_threads_on_the_one_cpu_they_may_use_are_a_crowd)
{
    cpu_set_t all, one;
    pthread_t t[2];
    int provided = -1, cpu = 0;
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(cpu, &all)) {
        cpu++;
    }
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    enrol();
    ck_assert_int_eq(hl_life_open(HL_LIFE_MPI, MPI_THREAD_MULTIPLE, &provided), 0);
    ck_assert(!hl_prog_crowded());
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_create(&t[i], NULL, wait_once, NULL), 0);
    }
    while (hl_a32_load_acquire(&asked) != 2) {
        sched_yield();
    }
    ck_assert(hl_prog_crowded());
    hl_a32_store_release(&over, 1);
    for (int i = 0; i < 2; i++) {
        pthread_join(t[i], NULL);
    }
    ck_assert(!hl_prog_crowded());
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
    tcase_add_test(c, a_network_that_fails_late_is_closed_in_order);
    tcase_add_test(c, a_forked_child_is_told);
    tcase_add_test(c, two_threads_on_the_one_cpu_they_may_use_are_a_crowd);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(make_suite)
