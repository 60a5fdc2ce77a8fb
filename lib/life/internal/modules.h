/* The order in which modules open and close. */
#ifndef HL_LIFE_MODULES_H
#define HL_LIFE_MODULES_H

#include <stdbool.h>

/* Reads the configuration and joins the job; lines to the user begin with `unit` ("rank", "PE") and the
 * rank's number. Collective. Returns 0 or the error, with its text. */
int hl_modules_start(const char *unit);

/* HOTLANE_STATS: before the last fence each rank leaves its counters with the launcher, if it has them; after
 * the fence rank 0 prints those of all. It waits for no rank that leaves none. */
void hl_modules_give_counters(void);
void hl_modules_tell_counters(void);

/* Part of hl_modules_open: gives the watchdog what it needs, with its part of the board. HL_ERR_INTERN. */
int hl_modules_watch(void *board, bool threads);

/* Opens all modules below the users, after hl_modules_start. `threads`: several threads may call at once.
 * After an error nothing is open. Collective. */
int hl_modules_open(bool threads);

/* chosen.c: HOTLANE_LOG=info prints the job, the network and the memory as they were found; debug also each
 * rank's place. */
void hl_modules_tell_choices(bool threads);

/* Finishes what peers wait for, while everything still runs. `ends`: the user's buffers are detached, too. */
void hl_modules_quiet(bool ends);

/* Closes all modules, after the last fence; the process may open again unless `last`. */
void hl_modules_close(bool last);

/* In a forked child: forgets what belongs to the parent. */
void hl_modules_forget(void);

#endif
