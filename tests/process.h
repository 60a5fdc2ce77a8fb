/* What the kernel counts of this process, and knows of its threads. */
#ifndef PROCESS_H
#define PROCESS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number behind `name` in a file of lines; 0 when it is not there. */
static inline long number_in(const char *file, const char *name)
{
    char line[256];
    long n = 0;
    FILE *f = fopen(file, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            n = strtol(line + strlen(name), NULL, 10);
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return n;
}

/* Descriptors, those that are links to something that begins with this; "": all. */
static inline long fds_open_to(const char *begin)
{
    long n = 0;
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char to[16];
        ssize_t len = readlinkat(dirfd(d), e->d_name, to, sizeof to);
        n += len >= (ssize_t)strlen(begin) && memcmp(to, begin, strlen(begin)) == 0;
    }
    if (d != NULL) {
        closedir(d);
    }
    return n;
}

static inline long fds_open(void)
{
    return fds_open_to("");
}

/* Of files, memory without a name among them. Those of sockets and events are the connections', which are
 * made when they are first needed, and by other threads: on a busy machine at any time. */
static inline long files_open(void)
{
    return fds_open_to("/");
}

/* The state of a thread, as the kernel names it. 'S': it sleeps, as a thread that waits in a call does at last, on a busy machine later
 * than after any fixed time. 0: it is gone. */
static inline char thread_state(pid_t thread)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *f = fopen(path, "r");
    const char *read = f ? fgets(line, sizeof line, f) : NULL;
    const char *name_end = read ? strrchr(line, ')') : NULL;
    if (f) {
        fclose(f);
    }
    return name_end ? name_end[2] : 0;
}

#endif
