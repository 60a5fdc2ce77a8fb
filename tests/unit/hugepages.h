/* Pools of huge pages for a test program: one program of the machine has them at a time, and they are put
 * back when it ends. */
#ifndef HL_HUGEPAGES_H
#define HL_HUGEPAGES_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#define POOL_DIR "/sys/kernel/mm/hugepages"
#define POOL_M ((size_t)1 << 20)

static struct pool_file {
    char path[120];
    char before[32]; /* "" when it is as it was */
} pool_files[4];

static long pool_read(size_t page, const char *what)
{
    char path[120];
    long n = -1;
    snprintf(path, sizeof path, POOL_DIR "/hugepages-%zukB/%s", page / 1024, what);
    FILE *f = fopen(path, "r");
    if (f != NULL) {
        n = fscanf(f, "%ld", &n) == 1 ? n : -1;
        fclose(f);
    }
    return n;
}

static long pool_free(size_t page)
{
    return pool_read(page, "free_hugepages");
}

static bool pool_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;
    close(fd);
    return ok;
}

static void pool_restore(void)
{
    for (size_t i = 0; i < sizeof pool_files / sizeof pool_files[0]; i++) {
        if (pool_files[i].before[0] != '\0') {
            pool_write(pool_files[i].path, pool_files[i].before);
        }
    }
}

static int pool_alive =
    -1; /* writing end of the guardian's pipe: closed when the last test process has ended */
static pid_t pool_guardian;

/* Puts the pools back when the tests have ended, however they did; holds the lock until then. */
static bool pool_guard(int lock)
{
    int ends[2];
    char c;
    if (pipe2(ends, O_CLOEXEC) != 0 || (pool_guardian = fork()) < 0) {
        return false;
    }
    if (pool_guardian == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        close(ends[1]);
        for (int fd = 0; fd < 3; fd++) {
            close(fd);
        }
        while (read(ends[0], &c, 1) != 0) {
        }
        pool_restore();
        _exit(0);
    }
    close(ends[0]);
    close(lock);
    pool_alive = ends[1];
    return true;
}

static void pool_wake(int sig)
{
    (void)sig;
}

/* The lock of all test programs, as a descriptor; -1 when nobody gives it up in time. */
static int pool_lock(void)
{
    struct sigaction wake = {.sa_handler = pool_wake}, before;
    int dir = open(POOL_DIR, O_RDONLY | O_CLOEXEC);
    sigaction(SIGALRM, &wake, &before);
    alarm(40);
    bool ok = dir >= 0 && flock(dir, LOCK_EX) == 0;
    alarm(0);
    sigaction(SIGALRM, &before, NULL);
    return ok ? dir : -1;
}

/* Waits for the pools and remembers them: in main, before tests fork. False, with the reason on standard
 * output, when this process may not change them. */
static bool pool_open(void)
{
    static const char *const names[] = {"hugepages-2048kB/nr_hugepages",
                                        "hugepages-2048kB/nr_overcommit_hugepages",
                                        "hugepages-1048576kB/nr_hugepages"};
    int dir = pool_lock();
    bool ok = dir >= 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && ok; i++) {
        struct pool_file *p = &pool_files[i];
        char before[32] = "";
        snprintf(p->path, sizeof p->path, POOL_DIR "/%s", names[i]);
        FILE *f = fopen(p->path, "r");
        bool there = f != NULL && fgets(before, sizeof before, f) != NULL && pool_write(p->path, before);
        memcpy(p->before, before, sizeof before);
        p->before[0] = there ? before[0] : '\0';
        ok = there || i == 2;
        if (f != NULL) {
            fclose(f);
        }
    }
    if (!ok || !pool_guard(dir)) {
        printf("skipped: huge pages cannot be reserved here: %s\n", strerror(errno));
        return false;
    }
    return true;
}

/* Returns when the pools are as before. At the end of main. */
static void pool_close(void)
{
    if (pool_alive >= 0) {
        close(pool_alive);
        waitpid(pool_guardian, NULL, 0);
    }
}

/* Makes the pool `count` pages large with `more` beyond it; returns the pages that are free then. */
static long pool_set(size_t page, long count, long more)
{
    char path[120], text[32];
    snprintf(path, sizeof path, POOL_DIR "/hugepages-%zukB/nr_hugepages", page / 1024);
    snprintf(text, sizeof text, "%ld\n", count);
    pool_write(path, text);
    snprintf(path, sizeof path, POOL_DIR "/hugepages-%zukB/nr_overcommit_hugepages", page / 1024);
    snprintf(text, sizeof text, "%ld\n", more);
    pool_write(path, text);
    return pool_free(page);
}

#endif
