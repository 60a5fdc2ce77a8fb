/* Counts the locks of the C library that the calling thread takes: stands in front of it. Libraries whose
 * locks are their own atomics show less than they take. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

#include "locks.h"

static __thread long taken;

long locks_taken(void)
{
    return taken;
}

typedef int lock_fn(void *);

#define PASS_ON(name, at)                                                                                    \
    do {                                                                                                     \
        static lock_fn *next;                                                                                \
        if (next == NULL) {                                                                                  \
            next = (lock_fn *)(uintptr_t)dlsym(RTLD_NEXT, name);                                             \
        }                                                                                                    \
        taken++;                                                                                             \
        return next((void *)(uintptr_t)(at));                                                                \
    } while (0)

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *m)
{
    PASS_ON("pthread_mutex_lock", m);
}

__attribute__((visibility("default"))) int pthread_mutex_trylock(pthread_mutex_t *m)
{
    PASS_ON("pthread_mutex_trylock", m);
}

__attribute__((visibility("default"))) int pthread_spin_lock(pthread_spinlock_t *s)
{
    PASS_ON("pthread_spin_lock", s);
}
