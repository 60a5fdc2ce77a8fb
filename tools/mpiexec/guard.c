/* mpiexec: the guardians, processes that end what is left of the job when the launcher is killed. They wait
 * on a pipe that only the launcher holds open. The ranks themselves have a parent-death signal. A guardian
 * kills their process groups, and processes that have left these but have the job's name in their
 * environment.
 *
 * There are two, in case the launcher and one guardian are killed together, and their names differ from the
 * launcher's, so that `pkill -9 mpiexec` and `pkill -9 -f mpiexec` miss them. A guardian that was killed is
 * started again. */
#include "mx.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GUARDS = 2 };
static const char guard_name[] = "hotlane-guard";
static pid_t guard[GUARDS];
static char *words; /* the launcher's command line, as `ps` shows it */
static size_t words_len;
static int guard_pipe[2] = {-1, -1};
static volatile pid_t *groups; /* shared with the guardians: process group of each rank, 0: none */

/* Was this process started in this job, or in one within it? Its environment at exec tells. */
static bool is_of_job(int proc, const char *pid)
{
    static char env[1 << 18];
    char path[300];
    snprintf(path, sizeof path, "%s/environ", pid);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t got = read(fd, env, sizeof env);
    close(fd);
    return got > 0 && memmem(env, (size_t)got, hl_mx.name, strlen(hl_mx.name));
}

bool hl_mx_kill_all_that(bool (*are)(int proc, const char *pid))
{
    DIR *d = opendir("/proc");
    bool any = false;
    if (!d) {
        return false;
    }
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid > 0 && are(dirfd(d), e->d_name)) {
            kill(pid, SIGKILL);
            any = true;
        }
    }
    closedir(d);
    return any;
}

static _Noreturn void guard_main(void)
{
    sigset_t all;
    char byte;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, guard_name);
    memset(words, 0, words_len);
    memcpy(words, guard_name, words_len < sizeof guard_name ? words_len : sizeof guard_name);
    close(guard_pipe[1]); /* of all descriptors this one must go: the pipe's end is the sign */
    dup2(guard_pipe[0], 0);
    for (int fd = hl_mx_spawn_highest(); fd > 0; fd--) {
        close(fd);
    }
    if (chdir("/")) {
        _exit(1);
    }
    while (read(0, &byte, 1) < 0 && errno == EINTR) {
        ;
    }
    for (int i = 0; i < hl_mx.size; i++) {
        if (groups[i]) {
            kill(-groups[i], SIGKILL);
        }
    }
    int64_t until = hl_mx_now_ms() + HL_MX_GRACE_KILL;
    while (hl_mx_kill_all_that(is_of_job) && hl_mx_now_ms() < until) {
        usleep(2000); /* killed processes need a moment to go, and may have started others */
    }
    _exit(0);
}

static int start_one(int i)
{
    guard[i] = fork();
    if (!guard[i]) {
        guard_main();
    }
    return guard[i] < 0 ? -1 : 0;
}

int hl_mx_guard_start(int argc, char **argv)
{
    void *m = mmap(NULL, sizeof(pid_t) * (size_t)hl_mx.size, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED || pipe2(guard_pipe, O_CLOEXEC)) {
        return -1;
    }
    groups = m;
    words = argv[0]; /* the kernel has put all arguments one behind the other */
    words_len = (size_t)(argv[argc - 1] - words) + strlen(argv[argc - 1]);
    for (int i = 0; i < GUARDS; i++) {
        if (start_one(i)) {
            return -1;
        }
    }
    return 0;
}

void hl_mx_guard_look(void)
{
    for (int i = 0; i < GUARDS; i++) {
        if (guard[i] > 0 && waitpid(guard[i], NULL, WNOHANG) == guard[i] && start_one(i)) {
            hl_mx_say("a guardian process was killed and cannot be started again: %s%s", strerror(errno),
                      hl_mx_hint(errno));
        }
    }
}

void hl_mx_guard_knows(int rank, pid_t group)
{
    groups[rank] = group;
}

bool hl_mx_guard_is(pid_t pid)
{
    for (int i = 0; i < GUARDS; i++) {
        if (guard[i] == pid) {
            return true;
        }
    }
    return false;
}

void hl_mx_guard_stop(void)
{
    for (int i = 0; i < GUARDS; i++) {
        if (guard[i] > 0) {
            kill(guard[i], SIGKILL);
        }
    }
    for (int i = 0; i < GUARDS; i++) {
        if (guard[i] > 0) {
            waitpid(guard[i], NULL, 0);
        }
        guard[i] = 0;
    }
}
