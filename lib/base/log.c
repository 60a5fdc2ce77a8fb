/* One line, one write(2): lines of many ranks and threads do not mix. */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Set once at start-up before other threads exist, read-only afterwards. */
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

const char *hl_log_unit(void)
{
    return own_unit;
}

void hl_log_limit(enum hl_log_level level)
{
    hl_a32_store_relaxed(&limit, level); /* relaxed: orders nothing */
}

void hl_log(enum hl_log_level level, const char *fmt, ...)
{
    if (level > hl_a32_load_relaxed(&limit)) { /* relaxed: a recent value */
        return;
    }
    int keep = errno;
    char line[1536];
    int head = snprintf(line, sizeof line, "hotlane:%s ", who);
    va_list args;
    va_start(args, fmt);
    int body = vsnprintf(line + head, sizeof line - (size_t)head - 1, fmt, args);
    va_end(args);
    size_t len = (size_t)head + (size_t)(body < 0 ? 0 : body);
    if (len > sizeof line - 2) {
        len = sizeof line - 2;
    }
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0) {
        /* nobody listens */
    }
    errno = keep;
}
