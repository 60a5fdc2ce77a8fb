/* Functions of the C library that touch memory, wait, or tell the time, for threads under the directory of
 * cache lines; the linker (--wrap) puts them in place. What the library allocates begins on a line of its own:
 * where malloc would put it depends on the length of a path, and counts by it. */
#include "atomic.h"

#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>

#define PC __builtin_return_address(0)
#define YIELD_NS 500
#define EPOCH_NS 1000000000000000 /* of the threads' clocks: long ago is never before the start */

#define WRAP(result, name, ...)                                                                              \
    result __real_##name(__VA_ARGS__);                                                                       \
    result __wrap_##name(__VA_ARGS__);                                                                       \
    result __wrap_##name(__VA_ARGS__)

WRAP(void *, memcpy, void *to, const void *from, size_t n)
{
    hl_directory_touch(from, n, HL_DIRECTORY_READ, PC);
    hl_directory_touch(to, n, HL_DIRECTORY_WRITE, PC);
    return __real_memcpy(to, from, n);
}

WRAP(void *, memmove, void *to, const void *from, size_t n)
{
    hl_directory_touch(from, n, HL_DIRECTORY_READ, PC);
    hl_directory_touch(to, n, HL_DIRECTORY_WRITE, PC);
    return __real_memmove(to, from, n);
}

WRAP(void *, memset, void *to, int c, size_t n)
{
    hl_directory_touch(to, n, HL_DIRECTORY_WRITE, PC);
    return __real_memset(to, c, n);
}

WRAP(void *, malloc, size_t n)
{
    return memalign(HL_CACHELINE, n);
}

WRAP(void *, calloc, size_t n, size_t size)
{
    void *p = size == 0 || n <= SIZE_MAX / size ? memalign(HL_CACHELINE, n * size) : NULL;
    return p != NULL ? __real_memset(p, 0, n * size) : NULL;
}

WRAP(void *, realloc, void *old, size_t n)
{
    void *p = memalign(HL_CACHELINE, n);
    if (p != NULL && old != NULL) {
        size_t had = malloc_usable_size(old);
        __real_memcpy(p, old, had < n ? had : n);
        free(old);
    }
    return p;
}

WRAP(int, pthread_mutex_trylock, pthread_mutex_t *m)
{
    hl_directory_touch(m, 4, HL_DIRECTORY_RMW, PC);
    return __real_pthread_mutex_trylock(m);
}

WRAP(int, pthread_mutex_lock, pthread_mutex_t *m)
{
    if (!hl_directory_is_on()) {
        return __real_pthread_mutex_lock(m);
    }
    for (;;) {
        hl_directory_look();
        hl_directory_touch(m, 4, HL_DIRECTORY_RMW, PC);
        if (__real_pthread_mutex_trylock(m) != EBUSY) {
            return 0;
        }
        hl_directory_sleep(m, HUGE_VAL);
    }
}

WRAP(int, pthread_mutex_unlock, pthread_mutex_t *m)
{
    hl_directory_look();
    hl_directory_touch(m, 4, HL_DIRECTORY_RMW, PC);
    int rc = __real_pthread_mutex_unlock(m);
    hl_directory_wake(m, 1);
    return rc;
}

WRAP(int, sched_yield, void)
{
    hl_directory_spend(YIELD_NS);
    return hl_directory_is_on() ? 0 : __real_sched_yield();
}

static double ns_of(const struct timespec *t)
{
    return (double)t->tv_sec * 1e9 + (double)t->tv_nsec;
}

WRAP(int, nanosleep, const struct timespec *time, struct timespec *left)
{
    if (!hl_directory_is_on()) {
        return __real_nanosleep(time, left);
    }
    (void)hl_directory_sleep(time, ns_of(time));
    return 0;
}

WRAP(int, clock_gettime, clockid_t clock, struct timespec *time)
{
    if (!hl_directory_is_on() || clock != CLOCK_MONOTONIC) {
        return __real_clock_gettime(clock, time);
    }
    uint64_t ns = EPOCH_NS + (uint64_t)hl_directory_now_ns();
    *time = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return 0;
}

static long futex(uint32_t *word, long what, uint32_t value, const struct timespec *time)
{
    if ((what & FUTEX_CMD_MASK) == FUTEX_WAKE) {
        return hl_directory_wake(word, (int)value);
    }
    if (*word != value) {
        errno = EAGAIN;
        return -1;
    }
    bool woken = hl_directory_sleep(word, time != NULL ? ns_of(time) : HUGE_VAL);
    errno = ETIMEDOUT;
    return woken ? 0 : -1;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(list, long);
    }
    va_end(list);
    if (hl_directory_is_on() && number == SYS_futex) {
        return futex((uint32_t *)a[0], a[1], (uint32_t)a[2], (const struct timespec *)a[3]);
    }
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
