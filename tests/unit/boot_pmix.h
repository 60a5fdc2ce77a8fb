/* PMIx over a library that the test itself serves (fake_pmix.c): included by test_boot.c where PMIx is built.
 */
#include <dlfcn.h>
#include <pmix.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

struct fake_pmix { /* as in fake_pmix.c */
    pmix_status_t init_result, fence_result;
    bool hold, lazy, vague;
    int commits, finalized, aborted, signals_blocked;
    int connection;
    pmix_notification_fn_t handler;
    void (*give)(const char *key, const char *value);
};

/* Loads the fake before the true one can be, and offers PMIx. */
static struct fake_pmix *serve_pmix(void)
{
    static const char *const offer[] = {"PMIX_NAMESPACE=fake", "PMIX_RANK=1", "OMPI_COMM_WORLD_SIZE=3", NULL};
    void *so = dlopen(HL_TEST_FAKE_PMIX, RTLD_NOW);
    ck_assert_msg(so != NULL, "%s", so ? "" : dlerror());
    fake = offer;
    return dlsym(so, "fake_pmix");
}

static const struct hl_boot_method *open_pmix(void)
{
    struct hl_boot_job job;
    const struct hl_boot_method *m = NULL;
    ck_assert_msg(hl_boot_choose("auto", fake_env, &m, &job) == 0, "%s", hl_err_text(HL_ERR_OTHER));
    ck_assert_str_eq(m->name, "pmix");
    ck_assert_int_eq(job.rank, 1);
    ck_assert_int_eq(job.size, 3);
    ck_assert(!job.has_secret);
    return m;
}

static bool rings(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};
    return poll(&p, 1, 0) == 1;
}

/* An event as PMIx's thread would bring it. `rank` -1: about nobody of this job. */
static void tell(const struct fake_pmix *f, pmix_status_t what, int rank, int code)
{
    pmix_proc_t who = {.nspace = "fake", .rank = (pmix_rank_t)rank};
    pmix_info_t info[2] = {
        {.key = PMIX_EVENT_AFFECTED_PROC, .value = {.type = PMIX_PROC, .data = {.proc = &who}}},
        {.key = PMIX_EXIT_CODE, .value = {.type = PMIX_INT, .data = {.integer = code}}}};
    f->handler(0, what, NULL, info, rank < 0 ? 0 : 2, NULL, 0, NULL, NULL);
}

START_TEST(a_pmix_server_is_spoken_to_and_hidden)
{
    char value[16] = "";
    setenv("PMIX_RANK", "1", 1);
    struct fake_pmix *f = serve_pmix();
    const struct hl_boot_method *m = open_pmix();
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    ck_assert(f->signals_blocked && !sigismember(&now, SIGINT));
    ck_assert_int_eq(fcntl(f->connection, F_GETFD), FD_CLOEXEC);
    ck_assert_int_eq(fcntl(m->watch_fd(), F_GETFD), FD_CLOEXEC);
    ck_assert_ptr_null(getenv("PMIX_RANK"));
    ck_assert_ptr_nonnull(getenv(HL_BOOT_MARK));
    ck_assert_int_eq(m->put("key", "value"), 0);
    ck_assert_int_eq(m->fence(-1, NULL, NULL), 0);
    ck_assert_int_eq(m->fence(-1, NULL, NULL), 0);
    ck_assert_int_eq(f->commits, 1);
    ck_assert_int_eq(m->get(2, "key", value, sizeof value, true), 0);
    ck_assert_str_eq(value, "value");
    ck_assert_int_eq(m->get(2, "key", value, 5, true), HL_ERR_OTHER);
    ck_assert_int_eq(m->get(2, "none", value, sizeof value, true), HL_ERR_FOUND_NONE);
    f->lazy = true;
    ck_assert_int_eq(m->get(2, "key", value, sizeof value, true), 0);
    ck_assert_int_eq(m->get(2, "none", value, sizeof value, true), HL_ERR_FOUND_NONE);
    int number = -1;
    ck_assert_int_eq(m->appnum(&number), 0);
    ck_assert_int_eq(number, 5);
    f->vague = true;
    ck_assert_int_eq(m->appnum(&number), HL_ERR_FOUND_NONE);
    m->abort(7);
    ck_assert_int_eq(f->aborted, 7);
    ck_assert_int_eq(m->fini(), 0);
    f->vague = false;
    ck_assert_int_eq(m->appnum(&number), HL_ERR_FOUND_NONE);
    ck_assert_int_eq(f->finalized, 1);
    ck_assert_int_eq(m->watch_fd(), -1);
    ck_assert_int_eq(m->again(), HL_ERR_OTHER);
    ck_assert_int_eq(m->fence(-1, NULL, NULL), HL_ERR_OTHER);
}
END_TEST

START_TEST(deaths_ring_the_descriptor_once_each)
{
    int rank = -1, code = -1;
    struct fake_pmix *f = serve_pmix();
    const struct hl_boot_method *m = open_pmix();
    ck_assert(!rings(m->watch_fd()));
    tell(f, PMIX_ERR_PROC_ABORTED_BY_SIG, 2, 137);
    tell(f, PMIX_ERR_PROC_TERM_WO_SYNC, 0, 3);
    ck_assert(rings(m->watch_fd()));
    ck_assert_int_eq(m->watch_take(&rank, &code), 1);
    ck_assert_int_eq(rank, 2);
    ck_assert_int_eq(code, 137);
    ck_assert_int_eq(m->watch_take(&rank, &code), 1);
    ck_assert_int_eq(rank, 0);
    ck_assert_int_eq(m->watch_take(&rank, &code), 0);
    ck_assert(!rings(m->watch_fd()));
    f->fence_result = PMIX_ERR_PROC_TERM_WO_SYNC;
    ck_assert_int_eq(m->fence(-1, NULL, NULL), HL_ERR_PROC_ABORTED);
    f->fence_result = PMIX_ERROR;
    ck_assert_int_eq(m->fence(-1, NULL, NULL), HL_ERR_OTHER);
    for (int i = 0; i < 100; i++) {
        tell(f, PMIX_ERR_PROC_ABORTED_BY_SIG, i, 1);
    }
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(m->watch_take(&rank, &code), 1);
        ck_assert_int_eq(rank, i);
    }
    ck_assert_int_eq(m->watch_take(&rank, &code), 0);
}
END_TEST

static void *lose_connection(void *f)
{
    usleep(20000); /* the main thread is most likely in its fence; if not, that is tested too */
    tell(f, PMIX_ERR_LOST_CONNECTION, -1, 0);
    return NULL;
}

static void *enter_pmix_fence(void *method)
{
    const struct hl_boot_method *m = method;
    (void)m->fence(-1, NULL, NULL);
    return NULL;
}

START_TEST(a_pmix_value_is_not_waited_for_while_another_thread_is_in_a_fence)
{
    char value[16] = "";
    pthread_t t;
    struct fake_pmix *f = serve_pmix();
    const struct hl_boot_method *m = open_pmix();
    ck_assert_int_eq(m->put("key", "value"), 0);
    ck_assert_int_eq(m->fence(-1, NULL, NULL), 0);
    ck_assert_int_eq(m->get(2, "key", value, sizeof value, false), 0);
    f->hold = true;
    ck_assert_int_eq(pthread_create(&t, NULL, enter_pmix_fence, (void *)(uintptr_t)m), 0);
    while (m->get(2, "key", value, sizeof value, false) == 0) {
        usleep(1000); /* until it is in its fence */
    }
    ck_assert_int_eq(m->get(2, "key", value, sizeof value, false), HL_ERR_AGAIN);
    tell(f, PMIX_ERR_LOST_CONNECTION, -1, 0);
    pthread_join(t, NULL);
}
END_TEST

static int served;

static void serve_nothing(void *fd)
{
    char c;
    served += read(*(int *)fd, &c, 1) == 1;
}

START_TEST(a_lost_server_ends_the_fence_and_rings_for_ever)
{
    int rank, code, also[2];
    pthread_t t;
    struct fake_pmix *f = serve_pmix();
    const struct hl_boot_method *m = open_pmix();
    ck_assert_int_eq(pipe(also), 0);
    ck_assert_int_eq(write(also[1], "x", 1), 1);
    f->hold = true;
    ck_assert_int_eq(pthread_create(&t, NULL, lose_connection, f), 0);
    ck_assert_int_eq(m->fence(also[0], serve_nothing, also), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "launcher has ended"));
    pthread_join(t, NULL);
    ck_assert_int_eq(served, 1);
    for (int i = 0; i < 2; i++) {
        ck_assert(rings(m->watch_fd()));
        ck_assert_int_eq(m->watch_take(&rank, &code), HL_ERR_OTHER);
    }
    ck_assert_int_eq(m->put("key", "value"), HL_ERR_OTHER);
    m->abort(7);
    ck_assert_int_eq(m->fini(), 0);
    ck_assert_int_eq(f->aborted + f->finalized, 0); /* nobody is there to be told */
}
END_TEST

/* What is written to standard error meanwhile, up to now. */
static int listen_to_errors(void)
{
    int p[2];
    ck_assert_int_eq(pipe(p), 0);
    ck_assert_int_eq(dup2(p[1], STDERR_FILENO), STDERR_FILENO);
    close(p[1]);
    return p[0];
}

static void *lose_connection_late(void *f)
{
    usleep(1500000);
    tell(f, PMIX_ERR_LOST_CONNECTION, -1, 0);
    return NULL;
}

START_TEST(the_watchdog_tells_of_a_fence)
{
    char said[4096] = "";
    pthread_t t;
    struct fake_pmix *f = serve_pmix();
    const struct hl_boot_method *m = open_pmix();
    int errors = listen_to_errors();
    hl_conf.watchdog = 1;
    f->hold = true;
    ck_assert_int_eq(pthread_create(&t, NULL, lose_connection_late, f), 0);
    ck_assert_int_eq(m->fence(-1, NULL, NULL), HL_ERR_OTHER);
    pthread_join(t, NULL);
    hl_conf.watchdog = 0;
    ck_assert_int_gt(read(errors, said, sizeof said - 1), 0);
    ck_assert_msg(strstr(said, "has waited 1 s") && strstr(said, "all ranks of the job"), "%s", said);
}
END_TEST

/* Its library waits for a server that hangs. */
START_TEST(an_abort_that_nobody_answers_ends_this_rank)
{
    struct fake_pmix *f = serve_pmix();
    int status = 0;
    char server[32]; /* another one than that of the same test in another build */
    snprintf(server, sizeof server, "fake.%d", (int)getpid());
    setenv("PMIX_SERVER_URI2", server, 1);
    f->give("hl-secret", "00112233445566778899aabbccddeeff"); /* rank 0's */
    unsetenv("PMI_FD");
    setenv("PMIX_NAMESPACE", "fake", 1);
    setenv("PMIX_RANK", "1", 1);
    setenv("HOTLANE_NEAR", "0", 1);
    pid_t child = fork();
    if (!child) {
        if (hl_conf_load() == 0 && hl_boot_open() == 0) {
            f->hold = true;
            hl_job_abort(7);
        }
        _exit(99);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

START_TEST(a_pmix_server_that_cannot_be_right_is_refused)
{
    const char *name;
    struct fake_pmix *f = serve_pmix();
    ENV("PMIX_NAMESPACE=other", "PMIX_RANK=1");
    ck_assert_int_eq(choose("auto", &name), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "PMIX_NAMESPACE=other"));
    ck_assert_int_eq(f->finalized, 1);
    f->vague = true;
    ENV("PMIX_NAMESPACE=fake", "PMIX_RANK=1");
    ck_assert_int_eq(choose("auto", &name), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "size of the job"));
    f->vague = false;
    f->init_result = PMIX_ERR_UNREACH;
    ENV("PMIX_NAMESPACE=fake", "PMIX_RANK=1", "OMPI_COMM_WORLD_SIZE=3");
    ck_assert_int_eq(choose("auto", &name), HL_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(hl_err_text(HL_ERR_OTHER), "UNREACHABLE"));
    ck_assert_int_eq(choose("pmix", &name), HL_ERR_OTHER);
    ENV("PMIX_NAMESPACE=fake", "PMIX_RANK=0", "OMPI_COMM_WORLD_SIZE=1");
    ck_assert_int_eq(choose("auto", &name), 0); /* nobody else is there */
    ck_assert_str_eq(name, "self");
}
END_TEST

static void add_pmix(TCase *tc)
{
    tcase_add_test(tc, a_pmix_server_is_spoken_to_and_hidden);
    tcase_add_test(tc, deaths_ring_the_descriptor_once_each);
    tcase_add_test(tc, a_pmix_value_is_not_waited_for_while_another_thread_is_in_a_fence);
    tcase_add_test(tc, a_lost_server_ends_the_fence_and_rings_for_ever);
    tcase_add_test(tc, the_watchdog_tells_of_a_fence);
    tcase_add_test(tc, an_abort_that_nobody_answers_ends_this_rank);
    tcase_add_test(tc, a_pmix_server_that_cannot_be_right_is_refused);
}
