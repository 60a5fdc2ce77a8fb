/* mpiexec: standard input goes to rank 0, the others read /dev/null.
 *
 * Rank 0 inherits files, pipes and sockets: it reads what it wants and leaves the rest to later programs. It
 * cannot inherit a terminal: it is in a process group of its own and would be stopped for reading. So the
 * launcher reads the terminal and passes the data on. It holds at most the data of one read, and never waits
 * for rank 0. */
#include "mx.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <termios.h>
#include <unistd.h>

static struct {
    int from, to;     /* the launcher's own description of the terminal; the pipe to rank 0; -1: closed */
    bool watched;     /* `from` is in the epoll set */
    int64_t retry_at; /* when to look again, as the job is in the background; 0: not waiting */
    struct hl_mx_queue q;
} in = {.from = -1, .to = -1};

/* Returns the descriptor that becomes rank 0's standard input; the caller closes it if it is not 0. */
int hl_mx_in_open(void)
{
    int ends[2];
    if (!isatty(0)) {
        return 0;
    }
    int from = open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (from < 0) {
        return 0;
    }
    if (pipe2(ends, O_CLOEXEC)) {
        close(from);
        return 0;
    }
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    in.from = from;
    in.to = ends[1];
    return ends[0];
}

static void watch_terminal(bool on)
{
    if (on == in.watched) {
        return;
    }
    in.watched = on;
    if (on) {
        hl_mx_watch(in.from, EPOLLIN, HL_MX_EV_TTY, 0);
    } else {
        epoll_ctl(hl_mx.epoll, EPOLL_CTL_DEL, in.from, NULL);
    }
}

static void end_input(void)
{
    watch_terminal(false);
    if (in.to >= 0) {
        close(in.to);
    }
    in.to = -1;
    in.retry_at = 0;
}

void hl_mx_in_start(void)
{
    if (in.to >= 0) {
        watch_terminal(true);
    }
}

void hl_mx_in_write(void)
{
    while (in.q.len && in.to >= 0) {
        ssize_t n = write(in.to, in.q.data + in.q.head, in.q.len);
        if (n >= 0) {
            hl_mx_queue_drop(&in.q, (size_t)n);
        } else if (errno == EAGAIN) {
            watch_terminal(false); /* until rank 0 has read */
            epoll_ctl(hl_mx.epoll, EPOLL_CTL_DEL, in.to, NULL);
            hl_mx_watch(in.to, EPOLLOUT, HL_MX_EV_STDIN, 0);
            return;
        } else if (errno != EINTR) {
            end_input();
            return;
        }
    }
    if (in.to >= 0) {
        epoll_ctl(hl_mx.epoll, EPOLL_CTL_DEL, in.to, NULL);
        watch_terminal(true);
    }
}

void hl_mx_in_read(void)
{
    char buf[4096];
    if (in.to < 0) {
        return;
    }
    pid_t front = tcgetpgrp(in.from);
    if (front < 0 && errno == EIO) { /* the terminal has hung up: it says no more */
        end_input();
        return;
    }
    if (front >= 0 && front != getpgrp()) { /* -1: it is not ours, and knows no foreground */
        watch_terminal(false);
        in.retry_at = hl_mx_now_ms() + 300;
        return;
    }
    ssize_t n = read(in.from, buf, sizeof buf);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n <= 0) {
        end_input();
        return;
    }
    hl_mx_queue_add(&in.q, buf, (size_t)n);
    hl_mx_in_write();
}

/* May a user type what rank 0 reads? */
bool hl_mx_in_is_typed(void)
{
    return in.to >= 0;
}

/* Milliseconds until the terminal should be looked at again, or -1; looks when the time has come. */
int hl_mx_in_wait_ms(void)
{
    if (!in.retry_at) {
        return -1;
    }
    int64_t left = in.retry_at - hl_mx_now_ms();
    if (left > 0) {
        return (int)left;
    }
    in.retry_at = 0;
    watch_terminal(true);
    return 0;
}
