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
    static long *word;
    word = shmem_malloc(sizeof *word);
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

int main(int argc, char **argv)
{
    CHECK(argc == 5);
    const char *how = argv[1];
    code = atoi(argv[3]);
    test_start(1);
    printf("PE %d of %d is here\n", me, n_pes); /* not flushed: last words must not be lost */
    shmem_barrier_all();
    if (strcmp(how, "leave") == 0) {
        return leave_early(atoi(argv[2]));
    }
    bool child = strcmp(how, "child") == 0;
    if (child && me == atoi(argv[2])) {
        from_child();
    }
    if (child || me != atoi(argv[2])) {
        long *word = shmem_malloc(sizeof *word); /* waits for all PEs */
        shmem_free(word);
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
    return 0;
}
