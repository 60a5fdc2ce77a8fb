/* hotlane-info --check: its findings, one line each. */
#ifndef HL_INFO_CHECK_H
#define HL_INFO_CHECK_H

#include "info.h"

enum level { CHECK_OK, CHECK_BETTER, CHECK_BROKEN, CHECK_LEVELS };

#define CHECK_LINES 64

struct check {
    const struct facts *facts;
    const char *root; /* "", or a folder with the kernel's files; with a folder nothing is tried on this
                       * process */
    int count;
    struct check_line {
        enum level level;
        const char *topic;
        char text[700], fix[500]; /* fix: commands, one in each line; empty: none */
    } lines[CHECK_LINES];
};

/* Adds a line. Lines beyond CHECK_LINES are dropped. */
void check_say(struct check *c, enum level level, const char *topic, const char *fmt, ...) HL_PRINTF(4, 5);

/* Adds a command to the last line. */
void check_fix(struct check *c, const char *fmt, ...) HL_PRINTF(2, 3);

/* Reads the first line of a kernel's file, without its line end; false when the file cannot be read. */
bool check_read(const struct check *c, const char *path, char *out, size_t cap);

/* Does the file or folder exist? */
bool check_has(const struct check *c, const char *path);

/* Does this process run in a container of docker or podman, by the file that they leave? */
bool check_is_contained(const struct check *c);

/* Adds the command that takes back the value of the variable behind `field` of hl_conf, in the environment or
 * in its file. */
void check_unset(struct check *c, const void *field);

/* The topics, each of which adds its lines. `ranks`: those of this job on this machine; `cpus`: those that
 * they may use, 0: not known. */
void check_start(struct check *c);
void check_cores(struct check *c, int ranks, int cpus);
void check_limits(struct check *c);
void check_kernel(struct check *c);
void check_network(struct check *c);
void check_memory(struct check *c);

/* Examines this machine by `f` and the kernel's files under `root`, and prints. Returns the exit code: 1 when
 * something is broken. Under a launcher every rank calls it, and the first one of each node prints. */
int info_check(const struct facts *f, const char *root, bool json);

#endif
