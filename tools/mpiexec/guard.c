/* mpiexec: the guardian, a process that ends what is left of the job when the launcher is killed. It waits on
 * a pipe that only the launcher holds open. The ranks themselves have a parent-death signal; the guardian
 * kills their process groups, and what has left those but still carries the job's name in its environment. */
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

static pid_t guard;
static int guard_pipe[2] = {-1, -1};
static volatile pid_t *groups; /* shared with the guardian: process group of each rank, 0: none */

/* Was this process started in our job? Its environment as it was at exec says so. */
static bool is_of_job(int proc, const char *pid)
{
    static char env[1 << 18];
    char path[300], mark[64];
    int n = snprintf(mark, sizeof mark, HL_MX_JOB "=%s", hl_mx.name);
    snprintf(path, sizeof path, "%s/environ", pid);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, env, sizeof env);
    close(fd);
    return got > 0 && memmem(env, (size_t)got, mark, (size_t)n);
}

/* Kills those that carry the job's name; true when there were any. */
static bool kill_marked(void)
{
    DIR *d = opendir("/proc");
    bool any = false;
    if (!d)
        return false;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid > 0 && is_of_job(dirfd(d), e->d_name)) {
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
    prctl(PR_SET_NAME, "mpiexec-guard");
    dup2(guard_pipe[0], 0);
    close_range(1, ~0u, 0);
    if (chdir("/"))
        _exit(1);
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < hl_mx.size; i++) {
        if (groups[i])
            kill(-groups[i], SIGKILL);
    }
    for (int i = 0; i < 50 && kill_marked(); i++)
        usleep(2000); /* the killed take a moment to go, and may have been starting others */
    _exit(0);
}

int hl_mx_guard_start(void)
{
    if (!groups) {
        void *m = mmap(NULL, sizeof(pid_t) * (size_t)hl_mx.size, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (m == MAP_FAILED || pipe2(guard_pipe, O_CLOEXEC))
            return -1;
        groups = m;
    }
    guard = fork();
    if (!guard)
        guard_main();
    return guard < 0 ? -1 : 0;
}

void hl_mx_guard_knows(int rank, pid_t group)
{
    groups[rank] = group;
}

bool hl_mx_guard_is(pid_t pid)
{
    return pid == guard;
}

void hl_mx_guard_stop(void)
{
    if (guard > 0) {
        kill(guard, SIGKILL);
        waitpid(guard, NULL, 0);
    }
    guard = 0;
}
