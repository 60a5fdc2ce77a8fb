/* One line, one write(2): lines of many ranks and threads do not mix. */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Both names are set once at start-up before other threads exist, and read-only afterwards. */
static char who[96];
static const char *own_unit = "rank";
static hl_a32 limit = {HL_LOG_WARN}; /* atomic: may change at any time */

void hl_log_identify(const char *unit, int number)
{
    char host[64] = "?";
    gethostname(host, sizeof host - 1);
    own_unit = unit;
    snprintf(who, sizeof who, " %s %d (%s):", unit, number, host);
}

void hl_log_speak(const char *unit)
{
    own_unit = unit;
}

const char *hl_log_unit(void)
{
    return own_unit;
}

void hl_log_limit(enum hl_log_level level)
{
    hl_a32_store_relaxed(&limit, level); /* relaxed: it orders nothing. */
}

/* Buffer for a line, since stacks may be small. A thread that finds it taken allocates one, and so does a
 * child that was forked while it was taken. */
static char room[1536];
static hl_a32 busy; /* atomic; 1: the buffer is taken */

void hl_log(enum hl_log_level level, const char *fmt, ...)
{
    if (level > hl_a32_load_relaxed(&limit)) { /* relaxed: a recent value is enough. */
        return;
    }
    int keep = errno;
    bool taken = hl_a32_xchg_acquire(&busy, 1) == 0; /* acquire: the last line is written; see the release. */
    char *line = taken ? room : malloc(sizeof room);
    size_t cap = sizeof room;
    if (line == NULL) {
        errno = keep;
        return;
    }
    int head = snprintf(line, cap, "hotlane:%s ", who);
    va_list args;
    va_start(args, fmt);
    int body = vsnprintf(line + head, cap - (size_t)head - 1, fmt, args);
    va_end(args);
    size_t len = (size_t)head + (size_t)(body < 0 ? 0 : body);
    if (len > cap - 2) {
        len = cap - 2;
    }
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0) {
        /* standard error is closed: there is nothing to do */
    }
    if (taken) {
        hl_a32_store_release(&busy, 0); /* release: frees the buffer; pairs with the exchange's acquire. */
    } else {
        free(line);
    }
    errno = keep;
}
