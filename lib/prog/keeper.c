/* The keeper: of this process's threads that sleep, one does so at descriptors instead of the door's word, so
 * that what comes there wakes it without the help of another thread. Only where no other process rings the
 * door.
 *
 * Every sleeper counts itself in `others` before it tries to be the keeper; the keeper gives its place up
 * before it reads `others`. So of a keeper that leaves and a thread that finds the place taken at least one
 * sees the other, and a thread that is rung by the leaving keeper has read the door's word before. A waker
 * raises that word, then asks for a keeper; a sleeper that becomes one later looks at its condition
 * afterwards. A waker that sees nobody in `others` leaves the futex out: a sleeper that comes later
 * finds the word raised.
 *
 * The descriptors report edges: each is one of a provider's queue, which fi_trywait found empty before the
 * sleep, or the eventfd, which is never read. Some providers allow a sleep while bytes of a connection that
 * are no completion yet are to be read; so each sleep asks again (hl_prog_keeper_again). An edge that was met
 * meanwhile is dropped by the kernel, since the queue has nothing any more. */
#include "prog_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441 /* of Linux 5.11, the same on all machines */
#endif

static hl_a32 place;  /* the epoll's descriptor, plus 1; 0: no thread of this process is a keeper */
static int ringer;    /* eventfd by which this process's threads wake the keeper; written before `place` */
static hl_a32 taken;  /* 1: a thread is the keeper */
static hl_a32 others; /* threads that sleep, or are about to, and are not the keeper */
static HL_THREAD_LOCAL bool keeps; /* the thread is the keeper */

/* Has an epoll report the edges of a descriptor (EPOLL_CTL_ADD), or what it has already once more (_MOD), or
 * nothing more (_DEL). */
static bool watch_edges(int epoll, int how, int fd)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    return epoll >= 0 && epoll_ctl(epoll, how, fd, &event) == 0;
}

/* The keeper's, or -1. */
static int keeper_epoll(void)
{
    return (int)hl_a32_load_acquire(&place) - 1; /* acquire: pairs with hl_prog_keeper_open. */
}

bool hl_prog_keeper_open(void)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    ringer = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (epoll < 0 || ringer < 0 || !watch_edges(epoll, EPOLL_CTL_ADD, ringer)) {
        close(epoll);
        close(ringer);
        return false;
    }
    /* release: publishes the eventfd; pairs with the acquire in hl_prog_keeper_enter. */
    hl_a32_store_release(&place, (uint32_t)epoll + 1);
    return true;
}

void hl_prog_keeper_close(void)
{
    uint32_t known = hl_a32_load_relaxed(&place); /* relaxed: no other thread waits. */
    if (known != 0) {
        hl_a32_store_relaxed(&place, 0);
        close((int)known - 1);
        close(ringer);
    }
}

bool hl_prog_keeper_add(int fd)
{
    return watch_edges(keeper_epoll(), EPOLL_CTL_ADD, fd);
}

void hl_prog_keeper_again(int fd)
{
    (void)watch_edges(keeper_epoll(), EPOLL_CTL_MOD, fd);
}

void hl_prog_keeper_drop(int fd)
{
    (void)watch_edges(keeper_epoll(), EPOLL_CTL_DEL, fd);
}

enum hl_prog_role hl_prog_keeper_enter(void)
{
    uint32_t nobody = 0;
    if (hl_a32_load_acquire(&place) == 0) { /* acquire: pairs with hl_prog_keeper_open. */
        return HL_PROG_ALONE;
    }
    if (keeps) {
        return HL_PROG_INNER;
    }
    /* full, all: counted before the place is asked for, and the place taken before the caller looks at its
     * condition; they pair with hl_prog_keeper_leave and hl_prog_keeper_ring. */
    hl_a32_add_full(&others, 1);
    if (!hl_a32_cas_full(&taken, &nobody, 1)) {
        return HL_PROG_OTHER;
    }
    hl_a32_add_full(&others, (uint32_t)-1);
    keeps = true;
    return HL_PROG_KEEPER;
}

void hl_prog_keeper_leave(enum hl_prog_role role, struct hl_prog_door *d)
{
    if (role == HL_PROG_OTHER) {
        hl_a32_add_full(&others, (uint32_t)-1); /* full: pairs with the load in hl_prog_keeper_ring. */
    } else if (role == HL_PROG_KEEPER) {
        keeps = false;
        hl_a32_xchg_full(&taken, 0); /* full: the place is free before `others` is read. */
        hl_fence_behind_full();
        if (hl_a32_load_relaxed(&others) != 0) {
            hl_prog_ring_sleepers(d); /* one of them takes the place */
        }
    }
}

bool hl_prog_keeper_sleep(uint64_t ns)
{
    enum { EVENTS = 16 };
    struct epoll_event events[EVENTS];
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    int epoll = (int)hl_a32_load_relaxed(&place) - 1; /* relaxed: hl_prog_keeper_enter has read it. */
    long n = syscall(SYS_epoll_pwait2, epoll, events, EVENTS, &t, NULL, 0);
    if (n < 0 && (errno == ENOSYS || errno == EPERM)) { /* an old kernel, or a container's filter */
        n = ppoll(&(struct pollfd){epoll, POLLIN, 0}, 1, &t, NULL);
        n = n > 0 ? 1 + epoll_wait(epoll, events, EVENTS, 0) : n;
    }
    return n == 0;
}

bool hl_prog_keeper_ring(void)
{
    uint64_t one = 1;
    /* relaxed, all: the caller has raised the door's word by a full read-modify-write. A thread that waits
     * beyond the end of communication may still be a keeper, whose descriptors are closed. */
    if (HL_LIKELY(hl_a32_load_relaxed(&taken) == 0 || hl_a32_load_relaxed(&place) == 0)) {
        return false;
    }
    (void)!write(ringer, &one, sizeof one); /* a full counter means that it rings already */
    return hl_a32_load_relaxed(&others) == 0;
}

void hl_prog_keeper_forget(void)
{
    hl_prog_keeper_close();
    keeps = false;
    hl_a32_store_relaxed(&taken, 0); /* relaxed, both: a forked child has one thread. */
    hl_a32_store_relaxed(&others, 0);
}
