/* mpiexec: finds out whether the memory limit of the control group (of a container or batch job) has killed a
 * rank. The kernel counts its kills there. */
#include "mx.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static char group[400]; /* folder of the control group; "": none is known */
static bool unified;
static uint64_t kills; /* kills that were counted so far */

/* Reads the number behind `word` (or, if that is "", the number alone in its line) from a file of the
 * group. */
static bool number_in(const char *file, const char *word, uint64_t *out)
{
    char path[sizeof group + 40], line[128];
    bool found = false;
    snprintf(path, sizeof path, "%s/%s", group, file);
    FILE *f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        found = !strncmp(line, word, strlen(word)) && sscanf(line + strlen(word), "%" SCNu64, out) == 1;
    }
    if (f) {
        fclose(f);
    }
    return found;
}

static uint64_t count(void)
{
    uint64_t n = 0;
    return group[0] && number_in(unified ? "memory.events" : "memory.oom_control", "oom_kill ", &n) ? n : 0;
}

void hl_mx_oom_open(void)
{
    char line[300];
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f)) { /* "0::/path" or "4:memory:/path" */
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        if (!path) {
            continue;
        }
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        bool old = strstr(names, "memory") != NULL;
        if (old || (names[1] == '\0' && !group[0])) {
            unified = !old;
            snprintf(group, sizeof group, "%s/fs/cgroup%s%s", hl_mx.opt.sys_root, old ? "/memory" : "",
                     strcmp(path, "/") != 0 ? path : "");
        }
    }
    if (f) {
        fclose(f);
    }
    kills = count();
}

const char *hl_mx_oom_words(void)
{
    static char text[160];
    uint64_t now = count(), limit;
    if (now <= kills) {
        return "";
    }
    kills = now;
    if (!number_in(unified ? "memory.max" : "memory.limit_in_bytes", "", &limit)) {
        return ", out of memory";
    }
    snprintf(text, sizeof text,
             ", because its control group has reached the limit of %" PRIu64 " MiB of memory", limit >> 20);
    return text;
}
