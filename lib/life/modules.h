/* The order in which modules open and close. */
#ifndef HL_LIFE_MODULES_H
#define HL_LIFE_MODULES_H

#include <stdbool.h>

/* Reads the configuration, meets the job; lines to the user begin with `unit` ("rank", "PE") and number.
 * Collective. */
int hl_modules_start(const char *unit);

/* HOTLANE_STATS: before the last fence each rank leaves its counters with the launcher, where there is
 * somebody to print them; after it rank 0 does. Nobody waits for ranks that leave none. */
void hl_modules_give_counters(void);
void hl_modules_tell_counters(void);

/* Part of it: what the watchdog needs, with its part of the board. HL_ERR_INTERN. */
int hl_modules_watch(void *board, bool threads);

/* Then opens everything below the users, for `threads` callers at once or one; undone on error. Collective.
 */
int hl_modules_open(bool threads);

/* chosen.c, HOTLANE_LOG=info: the job, the network and the memory as they were found; debug: each rank's
 * place. */
void hl_modules_tell_choices(bool threads);

/* Finishes what peers wait for, while everything still runs. */
void hl_modules_quiet(void);

/* Closes all, after the last fence; the process may open again unless `last`. */
void hl_modules_close(bool last);

/* In a forked child. */
void hl_modules_forget(void);

#endif
