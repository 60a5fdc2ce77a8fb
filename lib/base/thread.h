/* Threads of the library's own. */
#ifndef HL_THREAD_H
#define HL_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* Starts one with all signals blocked, so that no handler of the program runs there. `name`: as the system
 * shows it, at most 15 letters; `stack` bytes beside thread-local data, 0: the system's default. Returns 0 or
 * an errno; the caller joins it. */
int hl_thread_start(pthread_t *thread, const char *name, size_t stack, void *(*run)(void *), void *arg);

#endif
