/* Threads that take no signals, and a look at the stacks of callers. */
#include "thread.h"

#include "atomic.h"
#include "log.h"
#include "util.h"

#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static hl_a64 beside; /* atomic: the bytes of hl_thread_need_stack */

/* Adds the bytes of an object's thread-local data. */
static int add_tls(struct dl_phdr_info *object, size_t size, void *sum)
{
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type == PT_TLS) {
            *(size_t *)sum += object->dlpi_phdr[i].p_memsz + object->dlpi_phdr[i].p_align;
        }
    }
    return 0;
}

int hl_thread_start(pthread_t *thread, const char *name, size_t stack, void *(*run)(void *), void *arg)
{
    pthread_attr_t attr;
    sigset_t all, before;
    pthread_attr_init(&attr);
    if (stack != 0) {
        dl_iterate_phdr(add_tls, &stack); /* thread-local data lie in the stack's memory */
        pthread_attr_setstacksize(&attr, stack);
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, &attr, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (error == 0) {
        pthread_setname_np(*thread, name);
    }
    return error;
}

void hl_thread_need_stack(size_t bytes)
{
    hl_a64_store_relaxed(&beside, bytes); /* relaxed: only for a line in the log. */
}

/* Bytes that are left of the calling thread's stack; SIZE_MAX: not known. */
static size_t stack_left(void)
{
    pthread_attr_t attr;
    void *base;
    size_t size;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), left = SIZE_MAX;
    if (syscall(SYS_gettid) == getpid() || pthread_getattr_np(pthread_self(), &attr) != 0) {
        return SIZE_MAX;
    }
    if (pthread_attr_getstack(&attr, &base, &size) == 0 && here > (uintptr_t)base &&
        here - (uintptr_t)base < size) {
        left = here - (uintptr_t)base;
    }
    pthread_attr_destroy(&attr);
    return left;
}

void hl_thread_look_at_stack(void)
{
    static HL_THREAD_LOCAL bool looked;
    size_t needed = HL_STACK_OWN + (size_t)hl_a64_load_relaxed(&beside); /* relaxed: only for the line. */
    if (looked) {
        return;
    }
    looked = true;
    size_t left = stack_left();
    if (left < needed) {
        hl_log_once(
            "a thread has %zu bytes of stack left, and a call may take %zu%s: give threads %zu KiB or more "
            "(pthread_attr_setstacksize, OMP_STACKSIZE)",
            left, needed, needed > HL_STACK_OWN ? ", as libfabric needs much" : "",
            (needed + HL_STACK_OWN) / 1024);
    }
}
