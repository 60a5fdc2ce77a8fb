/* The order in which modules open and close. */
#ifndef HL_LIFE_MODULES_H
#define HL_LIFE_MODULES_H

#include <stdbool.h>

/* Opens everything below the users, for `threads` callers at once or one; undone on error. Collective. */
int hl_modules_open(bool threads);

/* Finishes what peers wait for, while everything still runs. */
void hl_modules_quiet(void);

/* Closes all, after the last fence; the process may open again unless `last`. */
void hl_modules_close(bool last);

/* In a forked child. */
void hl_modules_forget(void);

#endif
