/* Lines to the user: each is one write, and begins with the rank that says it. */
#ifndef HL_LOG_H
#define HL_LOG_H

#include "atomic.h"
#include "attr.h"

enum hl_log_level {
    HL_LOG_ERROR, /* always shown */
    HL_LOG_WARN,  /* a request that is not met: shown unless HOTLANE_LOG=error */
    HL_LOG_INFO,  /* what was chosen, and why */
    HL_LOG_DEBUG, /* for the library's developers */
};

/* Prints "hotlane: rank R (host): text\n" to standard error if `level` is shown; long lines are cut off.
 * Keeps errno. Any thread. */
void hl_log(enum hl_log_level level, const char *fmt, ...) HL_COLD HL_PRINTF(2, 3);

/* hl_log(HL_LOG_WARN, ...), but only the first time that this place is reached in the process. */
#define hl_log_once(...)                                                                                     \
    do {                                                                                                     \
        static hl_a32 said;                                                                                  \
        if (hl_a32_xchg_acquire(&said, 1) == 0) {                                                            \
            hl_log(HL_LOG_WARN, __VA_ARGS__);                                                                \
        }                                                                                                    \
    } while (0)

/* Sets the rank for all lines, in start-up; before that lines begin with "hotlane:" only. `unit` is
 * "rank" or "PE". */
void hl_log_identify(const char *unit, int number);

/* Sets the unit alone, as soon as it is known: before the number is. */
void hl_log_speak(const char *unit);

/* That unit, for words about other ranks; "rank" before start-up. */
const char *hl_log_unit(void);

/* Sets the most talkative level that is shown. */
void hl_log_limit(enum hl_log_level level);

#endif
