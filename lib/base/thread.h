/* Threads of the library's own. */
#ifndef HL_THREAD_H
#define HL_THREAD_H

#include "attr.h"

#include <pthread.h>
#include <stddef.h>

/* Starts one with all signals blocked, so that no handler of the program runs there. `name`: as the system
 * shows it, at most 15 letters; `stack` bytes beside thread-local data, 0: the system's default. Returns 0 or
 * an errno; the caller joins it. */
int hl_thread_start(pthread_t *thread, const char *name, size_t stack, void *(*run)(void *), void *arg);

/* What one call of the library takes of the caller's stack at most (tests/lint/stack.py), and what libfabric
 * takes beside it: its tcp provider reads the events of 1,024 sockets into one array. */
#define HL_STACK_OWN 8192
#define HL_STACK_FABRIC 16384

/* From now on calls need `bytes` more than HL_STACK_OWN: said when the network opens. */
void hl_thread_need_stack(size_t bytes);

/* When a thread first waits, asks for a request or issues: says once in the process when what is left of its
 * stack is less than a call may take. Nothing about the main thread, whose stack grows, and about stacks
 * that the system does not know of. */
void hl_thread_look_at_stack(void) HL_COLD;

#endif
