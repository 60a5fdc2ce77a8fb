/* hotlane-info --check: what it finds, a line each. */
#ifndef HL_INFO_CHECK_H
#define HL_INFO_CHECK_H

#include "info.h"

enum level { CHECK_OK, CHECK_BETTER, CHECK_BROKEN, CHECK_LEVELS };

#define CHECK_LINES 64

struct check {
    const struct facts *facts;
    const char *root; /* "" or a folder: the kernel's files lie under it, and the process is not tried out */
    int count;
    struct check_line {
        enum level level;
        const char *topic;
        char text[700], fix[500]; /* fix: commands, one a line; empty: none */
    } lines[CHECK_LINES];
};

/* Adds a line. Lines beyond the last are dropped. */
void check_say(struct check *c, enum level level, const char *topic, const char *fmt, ...) HL_PRINTF(4, 5);

/* Adds a command to the last line. */
void check_fix(struct check *c, const char *fmt, ...) HL_PRINTF(2, 3);

/* Reads the first line of a kernel's file, without its end: false when it cannot be. */
bool check_read(const struct check *c, const char *path, char *out, size_t cap);

/* Is a file or folder there? */
bool check_has(const struct check *c, const char *path);

/* Does this process run in a container of docker or podman, by the file that they leave? */
bool check_is_contained(const struct check *c);

/* How to take back the value of the variable that fills `field` of hl_conf: in the environment, or in its
 * file. */
void check_unset(struct check *c, const void *field);

/* The topics. `ranks`: those of this job on this machine; `cpus`: that they may use, 0: not known. */
void check_start(struct check *c);
void check_cores(struct check *c, int ranks, int cpus);
void check_limits(struct check *c);
void check_kernel(struct check *c);
void check_network(struct check *c);
void check_memory(struct check *c);

/* Examines this machine as `f` and the kernel's files under `root` say; prints. Exit code: 1 when something
 * is broken. Under a launcher every rank calls it, and the first one of each node prints. */
int info_check(const struct facts *f, const char *root, bool json);

#endif
