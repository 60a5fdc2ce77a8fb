/* Linked before the C library: notes every lock that is taken between lockcount_begin and lockcount_end, and
 * by which threads. A lock is an address; it is shared when two threads took it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ROOM 65536

/* A lock by its address. */
struct lock {
    _Atomic(void *) at;
    atomic_int last; /* thread that took it */
};

static struct lock locks[ROOM];
static atomic_bool counting;
static atomic_int threads;
static atomic_long taken, moved, contended;
static __thread int me;

static void note(void *at, bool held)
{
    me = me != 0 ? me : 1 + atomic_fetch_add(&threads, 1);
    for (uintptr_t i = ((uintptr_t)at >> 3) * 2654435761u;; i++) {
        struct lock *l = &locks[i % ROOM];
        void *there = NULL;
        if (atomic_compare_exchange_strong(&l->at, &there, at) || there == at) {
            int last = atomic_exchange(&l->last, me);
            atomic_fetch_add(&taken, 1);
            atomic_fetch_add(&moved, last != 0 && last != me);
            atomic_fetch_add(&contended, held);
            return;
        }
    }
}

typedef int lock_fn(void *);

/* Takes it by `try` first, to see whether it is held. */
static int take(void *at, lock_fn *lock, lock_fn *try)
{
    if (!atomic_load_explicit(&counting, memory_order_relaxed)) {
        return lock(at);
    }
    int rc = try(at);
    bool held = rc != 0;
    rc = held ? lock(at) : 0;
    note(at, held);
    return rc;
}

/* The next definition of a function, looked up once. */
#define NEXT(variable, name)                                                                                 \
    static lock_fn *variable;                                                                                \
    if (variable == NULL) {                                                                                  \
        variable = (lock_fn *)(uintptr_t)dlsym(RTLD_NEXT, name);                                             \
    }

int pthread_mutex_lock(pthread_mutex_t *m)
{
    NEXT(lock, "pthread_mutex_lock")
    NEXT(try, "pthread_mutex_trylock")
    return take(m, lock, try);
}

int pthread_spin_lock(pthread_spinlock_t *s)
{
    NEXT(lock, "pthread_spin_lock")
    NEXT(try, "pthread_spin_trylock")
    return take((void *)(uintptr_t)s, lock, try);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
    NEXT(lock, "pthread_rwlock_wrlock")
    NEXT(try, "pthread_rwlock_trywrlock")
    return take(l, lock, try);
}

int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
    NEXT(lock, "pthread_rwlock_rdlock")
    NEXT(try, "pthread_rwlock_tryrdlock")
    return take(l, lock, try);
}

void lockcount_begin(void);
void lockcount_end(long counts[3]);

void lockcount_begin(void)
{
    memset((void *)locks, 0, sizeof locks);
    taken = moved = contended = 0;
    atomic_store(&counting, 1);
}

/* Locks taken; taken by another thread than the last time; found held. */
void lockcount_end(long counts[3])
{
    atomic_store(&counting, 0);
    counts[0] = taken;
    counts[1] = moved;
    counts[2] = contended;
}
