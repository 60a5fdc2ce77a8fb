/* Descriptors of modules above, which the receive thread watches in its epoll. */
#include "rx_internal.h"

#include "err.h"

#include <errno.h>
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

void hl_rx_watch_close(void)
{
    hl_mutex_lock(&watch_lock);
    while (watches != NULL) {
        struct fd_watch *w = watches;
        watches = w->next;
        free(w);
    }
    on_look = NULL;
    hl_mutex_unlock(&watch_lock);
}
