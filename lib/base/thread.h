/* The library's own threads, and the stacks of its callers. */
#ifndef HL_THREAD_H
#define HL_THREAD_H

#include "attr.h"

#include <pthread.h>
#include <stddef.h>

/* Starts a thread with all signals blocked, so that no handler of the program runs there. `name`: the system
 * shows it, at most 15 letters. `stack`: bytes without thread-local data; 0: the system's default. Returns 0
 * or an errno; the caller joins the thread. */
int hl_thread_start(pthread_t *thread, const char *name, size_t stack, void *(*run)(void *), void *arg);

/* Most bytes that one call of the library takes of the caller's stack (tests/lint/stack.py), and bytes that
 * libfabric takes in addition: its tcp provider reads the events of 1,024 sockets into one array. */
#define HL_STACK_OWN 8192
#define HL_STACK_FABRIC 16384

/* Says that calls need `bytes` more than HL_STACK_OWN from now on. The opening of the network calls it. */
void hl_thread_need_stack(size_t bytes);

/* Called when a thread first waits, takes a request or issues an operation. If less of its stack is left than
 * a call may take, a line says so, once in the process. It does not look at the main thread, whose stack
 * grows, nor at stacks that the system does not know. */
void hl_thread_look_at_stack(void) HL_COLD;

#endif
