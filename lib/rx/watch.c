/* Descriptors of modules above, which the receive thread watches in its epoll, and calls at a time. */
#include "rx_internal.h"

#include "err.h"
#include "util.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

struct fd_watch {
    struct fd_watch *next;
    int fd;
    void (*fn)(void *);
    void *arg;
};

static struct hl_mutex watch_lock = HL_MUTEX_INIT;
static struct fd_watch *watches HL_GUARDED_BY(watch_lock);
static bool (*on_look)(void *) HL_GUARDED_BY(watch_lock);
static void *look_arg HL_GUARDED_BY(watch_lock);
static uint64_t (*on_due)(uint64_t);
static hl_a64 due_ns = {UINT64_MAX}; /* when on_due is to be called; atomic */

int hl_rx_watch(int fd, void (*fn)(void *), void *arg)
{
    struct fd_watch *w = malloc(sizeof *w);
    if (w == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to watch a descriptor");
    }
    hl_mutex_lock(&watch_lock);
    *w = (struct fd_watch){.next = watches, .fd = fd, .fn = fn, .arg = arg};
    watches = w;
    hl_mutex_unlock(&watch_lock);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(hl_rx.epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        int error = errno;
        hl_rx_unwatch(fd);
        return hl_err_say(HL_ERR_OTHER, "descriptor %d cannot be watched: %s", fd, strerror(error));
    }
    return 0;
}

void hl_rx_unwatch(int fd)
{
    (void)epoll_ctl(hl_rx.epoll, EPOLL_CTL_DEL, fd, NULL);
    hl_mutex_lock(&watch_lock); /* waits for a call that runs */
    for (struct fd_watch **at = &watches; *at != NULL; at = &(*at)->next) {
        struct fd_watch *w = *at;
        if (w->fd == fd) {
            *at = w->next;
            free(w);
            break;
        }
    }
    hl_mutex_unlock(&watch_lock);
}

void hl_rx_watch_run(int fd)
{
    hl_mutex_lock(&watch_lock);
    for (struct fd_watch *w = watches; w != NULL; w = w->next) {
        if (w->fd == fd) {
            w->fn(w->arg);
            break;
        }
    }
    hl_mutex_unlock(&watch_lock);
}

void hl_rx_on_look(bool (*fn)(void *), void *arg)
{
    hl_mutex_lock(&watch_lock); /* waits for a call that runs */
    on_look = fn;
    look_arg = arg;
    hl_mutex_unlock(&watch_lock);
}

bool hl_rx_watch_look(void)
{
    hl_mutex_lock(&watch_lock);
    bool soon = on_look != NULL && on_look(look_arg);
    hl_mutex_unlock(&watch_lock);
    return soon;
}

int hl_rx_on_due(uint64_t (*fn)(uint64_t now_ns))
{
    if (on_due != NULL && on_due != fn) {
        return hl_err_say(HL_ERR_INTERN, "two modules ask for calls at a time");
    }
    on_due = fn;
    return 0;
}

void hl_rx_due_by(uint64_t ns)
{
    uint64_t was = hl_a64_load_relaxed(&due_ns); /* relaxed: only the first guess. */
    while (ns < was) {
        /* full: it is rare. What on_due reads is under its module's lock. */
        if (hl_a64_cas_full(&due_ns, &was, ns)) {
            if (!hl_rx_on_thread()) {
                hl_rx_kick();
            }
            return;
        }
    }
}

int hl_rx_watch_due(int ms)
{
    uint64_t at = hl_a64_load_relaxed(&due_ns); /* relaxed: the thread that sets it wakes this one. */
    if (HL_LIKELY(at == UINT64_MAX)) {
        return ms;
    }
    uint64_t now = hl_now_ns();
    if (now >= at) {
        /* full: on_due sees what was done before a time was set. A time that is set from here on is kept. */
        hl_a64_xchg_full(&due_ns, UINT64_MAX);
        hl_rx_due_by(on_due(now));
        at = hl_a64_load_relaxed(&due_ns); /* relaxed: the same. */
    }
    uint64_t left = at == UINT64_MAX ? UINT64_MAX : at > now ? (at - now) / 1000000 + 1 : 1;
    return left < INT_MAX && (ms < 0 || (int)left < ms) ? (int)left : ms;
}

void hl_rx_watch_close(void)
{
    hl_a64_store_relaxed(&due_ns, UINT64_MAX); /* relaxed: the thread is gone. */
    hl_mutex_lock(&watch_lock);
    while (watches != NULL) {
        struct fd_watch *w = watches;
        watches = w->next;
        free(w);
    }
    on_look = NULL;
    hl_mutex_unlock(&watch_lock);
}
