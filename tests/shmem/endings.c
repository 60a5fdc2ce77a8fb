/* Ends in the way that its arguments say, while the other PEs wait or compute; for endings.py.
 *
 * usage: endings HOW PE CODE FILE */
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>

#include "shmem_test.h"

static int code;

static void *leave(void *unused)
{
    shmem_global_exit(code);
    return unused;
}

static void from_thread(void)
{
    static long never;
    pthread_t t;
    CHECK_EQ(pthread_create(&t, NULL, leave, NULL), 0);
    shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
}

static void *wait_for_nobody(void *word)
{
    shmem_long_wait_until(word, SHMEM_CMP_NE, 0);
    return NULL;
}

/* shmem_finalize finds a thread in a call. */
static void leave_thread(void)
{
    static long never;
    pthread_t t;
    CHECK_EQ(pthread_create(&t, NULL, wait_for_nobody, &never), 0);
    usleep(100000);
    shmem_finalize();
    pthread_join(t, NULL);
}

static FILE *locked;

static void *hold(void *held)
{
    flockfile(locked);
    CHECK_EQ(sem_post(held), 0);
    pause();
    return NULL;
}

/* What is in a file's buffer must not be lost, also when another stream is locked for ever. */
static void from_file(const char *path, bool with_locked)
{
    FILE *f = NULL;
    pthread_t t;
    sem_t held;
    if (with_locked) {
        locked = fopen("/dev/null", "w");
        CHECK(locked != NULL && sem_init(&held, 0, 0) == 0);
        CHECK_EQ(pthread_create(&t, NULL, hold, &held), 0);
        CHECK_EQ(sem_wait(&held), 0);
    }
    f = fopen(path, "w");
    CHECK(f != NULL && fprintf(f, "PE %d wrote this\n", me) > 0);
    shmem_global_exit(code);
}

static long *word; /* symmetric */

#define IN_CHILD(X)                                                                                          \
    X(shmem_my_pe())                                                                                         \
    X(shmem_barrier_all())                                                                                   \
    X(shmem_sync_all())                                                                                      \
    X(shmem_team_my_pe(SHMEM_TEAM_WORLD))                                                                    \
    X(shmem_team_n_pes(SHMEM_TEAM_SHARED))                                                                   \
    X(shmem_team_sync(SHMEM_TEAM_WORLD))                                                                     \
    X(shmem_team_sync(SHMEM_TEAM_SHARED))                                                                    \
    X(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, word, word + 1, 1))                                            \
    X(shmem_broadcastmem(SHMEM_TEAM_WORLD, word, word + 1, 8, 0))                                            \
    X(shmem_fcollectmem(SHMEM_TEAM_WORLD, word, word + 1, 1))                                                \
    X(shmem_alltoallmem(SHMEM_TEAM_SHARED, word, word + 1, 1))                                               \
    X(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_SHARED))                                       \
    X(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, (shmem_team_t *)(void *)&word))           \
    X(shmem_team_ptr(SHMEM_TEAM_WORLD, word, 0))                                                             \
    X(shmem_team_sync(own_team))                                                                             \
    X(shmem_ctx_long_p(SHMEM_CTX_DEFAULT, word, 1, 0))                                                       \
    X(shmem_ctx_quiet(SHMEM_CTX_DEFAULT))                                                                    \
    X(shmem_long_p(word, 1, 0))                                                                              \
    X(shmem_long_g(word, 0))                                                                                 \
    X(shmem_long_atomic_inc(word, 0))                                                                        \
    X(shmem_signal_fetch((uint64_t *)(void *)word))                                                          \
    X(shmem_quiet())                                                                                         \
    X(shmem_fence())                                                                                         \
    X(shmem_long_wait_until(word, SHMEM_CMP_NE, *word))                                                      \
    X(shmem_set_lock(word))                                                                                  \
    X(shmem_malloc(8))                                                                                       \
    X(shmem_free(word))                                                                                      \
    X(shmem_barrier(0, 0, 1, word))                                                                          \
    X(shmem_finalize())

/* The calls, each in a child of its own, which ends with the reason. */
static void from_children(void)
{
    int status, calls = 0;
    shmem_team_t own_team;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_SHARED, 0, 1, 1, NULL, 0, &own_team), 0);
    shmem_long_p(word, 0, (me + 1) % n_pes); /* the way of the next one is known */
#define CALL(call)                                                                                           \
    {                                                                                                        \
        pid_t child = fork();                                                                                \
        if (child == 0) {                                                                                    \
            (void)call;                                                                                      \
            _exit(0);                                                                                        \
        }                                                                                                    \
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 1) {         \
            printf("%s in a child: status %#x\n", #call, (unsigned)status);                                  \
        }                                                                                                    \
        calls++;                                                                                             \
    }
    IN_CHILD(CALL)
    printf("%d calls in children\n", calls);
}

static void from_child(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        shmem_global_exit(code);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == code);
}

/* All PEs leave main without shmem_finalize, one long before the others, who still get what it has put. */
static int leave_early(int first)
{
    *word = 0;
    shmem_barrier_all();
    if (me == first) {
        for (int pe = 0; pe < n_pes; pe++) {
            shmem_long_p(word, 42, pe);
        }
        return 0;
    }
    usleep(300000);
    CHECK_EQ(shmem_long_g(word, (first + 1) % n_pes), 42);
    return 0;
}

/* Exit handlers from before the start run after the end of OpenSHMEM at the exit. */
static void finalize_late(void)
{
    shmem_finalize();
}

static void call_late(void)
{
    (void)shmem_my_pe();
}

int main(int argc, char **argv)
{
    CHECK(argc == 5);
    const char *how = argv[1];
    code = atoi(argv[3]);
    if (strcmp(how, "handler") == 0 || strcmp(how, "late") == 0) {
        CHECK_EQ(atexit(how[0] == 'h' ? finalize_late : call_late), 0);
    }
    test_start(1);
    printf("PE %d of %d is here\n", me, n_pes); /* not flushed: last words must not be lost */
    word = shmem_calloc(16, sizeof *word);      /* waits for all PEs */
    if (strcmp(how, "handler") == 0 || strcmp(how, "late") == 0) {
        return 0;
    }
    if (strcmp(how, "leave") == 0) {
        return leave_early(atoi(argv[2]));
    }
    bool child = strcmp(how, "child") == 0, children = strcmp(how, "children") == 0;
    if (child && me == atoi(argv[2])) {
        from_child();
    }
    if (children) {
        from_children();
    }
    if (child || children || me != atoi(argv[2])) {
        shmem_free(word); /* waits for all PEs */
    } else if (strcmp(how, "exit") == 0) {
        shmem_global_exit(code);
    } else if (strcmp(how, "thread") == 0) {
        from_thread();
    } else if (strcmp(how, "waits") == 0) {
        leave_thread();
    } else if (strcmp(how, "file") == 0 || strcmp(how, "locked") == 0) {
        from_file(argv[4], strcmp(how, "locked") == 0);
    } else if (strcmp(how, "kill") == 0) {
        fflush(stdout);
        kill(getpid(), SIGKILL);
    } else if (strcmp(how, "return") == 0) {
        return code;
    }
    shmem_finalize();
    if (strcmp(how, "skips") == 0) {
        fflush(stdout);
        _exit(code);
    }
    return 0;
}
