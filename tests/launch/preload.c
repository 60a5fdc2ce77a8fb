/* Preloaded into the launcher: it may use CPUs 0 to 7, whatever there is. With LAUNCH_COUNT in its environment
 * it says at its end how often it has called waitid for the process for which it did so first, and within how
 * many milliseconds it has called it at all. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static id_t whose;
static long calls, first, last;

__attribute__((visibility("default"))) int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    (void)pid;
    memset(set, 0, bytes);
    for (int i = 0; i < 8; i++) {
        CPU_SET_S(i, bytes, set);
    }
    return 0;
}

__attribute__((visibility("default"))) int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *set)
{
    (void)pid;
    (void)bytes;
    (void)set;
    return 0;
}

__attribute__((visibility("default"))) int waitid(idtype_t type, id_t id, siginfo_t *si, int options)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    last = t.tv_sec * 1000 + t.tv_nsec / 1000000;
    first = first ? first : last;
    whose = whose ? whose : id;
    calls += id == whose;
    return (int)syscall(SYS_waitid, type, id, si, options, NULL);
}

__attribute__((destructor)) static void tell(void)
{
    if (calls && getenv("LAUNCH_COUNT")) {
        dprintf(2, "%ld calls of waitid for one process in %ld ms\n", calls, last - first);
    }
}
