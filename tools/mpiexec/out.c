/* mpiexec: forwards the ranks' output by whole lines; the launcher's own lines never cut into one.
 *
 * Pipe of a rank -> its unfinished line -> sink (queue of whole lines) -> descriptor 1 or 2. While a sink's
 * reader is slow, the pipes that feed it are not read; the launcher itself never stops. */
#include "mx.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    READ_BYTES = 65536,
    LINE_BYTES = 1 << 20,    /* a longer line goes out in pieces */
    SINK_HIGH = 1 << 20,     /* reading stops above it */
    SINK_LOW = SINK_HIGH / 4 /* and goes on below */
};

void hl_mx_queue_add(struct hl_mx_queue *q, const void *data, size_t len)
{
    if (!len) {
        return;
    }
    if (q->head + q->len + len > q->cap) {
        if (q->len) {
            memmove(q->data, q->data + q->head, q->len);
        }
        q->head = 0;
    }
    if (q->len + len > q->cap) {
        size_t cap = (q->len + len) * 2;
        char *data_new = realloc(q->data, cap);
        if (!data_new) {
            _exit(1); /* the guardians kill the ranks */
        }
        q->data = data_new;
        q->cap = cap;
    }
    memcpy(q->data + q->head + q->len, data, len);
    q->len += len;
}

void hl_mx_queue_drop(struct hl_mx_queue *q, size_t len)
{
    q->head += len;
    q->len -= len;
    if (!q->len) {
        q->head = 0;
    }
}

/* Opens a sink. A pipe or terminal is opened again, so that O_NONBLOCK holds for the launcher alone and not
 * for the user's shell. */
static void open_sink(struct hl_mx_sink *s, int fd, const struct stat *st)
{
    char path[32];
    *s = (struct hl_mx_sink){.fd = fd, .socket = S_ISSOCK(st->st_mode), .terminal = isatty(fd)};
    if (S_ISFIFO(st->st_mode) || S_ISCHR(st->st_mode)) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        int own = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        s->fd = own >= 0 ? own : fd;
        s->own = own >= 0;
        s->careful = own < 0;
    }
}

void hl_mx_out_open(void)
{
    struct stat one = {0}, two = {0};
    if (fstat(1, &one) || fstat(2, &two)) {
        _exit(1); /* cannot happen: both were opened at the start */
    }
    open_sink(&hl_mx.sink[0], 1, &one);
    hl_mx.out = hl_mx.err = &hl_mx.sink[0];
    if (one.st_dev != two.st_dev || one.st_ino != two.st_ino) {
        open_sink(&hl_mx.sink[1], 2, &two);
        hl_mx.err = &hl_mx.sink[1];
    }
}

/* Writes some bytes without waiting; -1 with EAGAIN if it would wait. */
static ssize_t write_some(struct hl_mx_sink *s)
{
    const char *p = s->q.data + s->q.head;
    if (s->socket) {
        return send(s->fd, p, s->q.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    struct pollfd ready = {s->fd, POLLOUT, 0};
    if (s->careful && poll(&ready, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(s->fd, p, s->careful && s->q.len > 4096 ? 4096 : s->q.len);
}

/* Gives a sink up: its reader has left, or it takes no more for another reason, such as a full disk. */
static void give_up(struct hl_mx_sink *s, int why)
{
    bool left = why == EPIPE || why == ECONNRESET;
    s->dead = true;
    hl_mx_queue_drop(&s->q, s->q.len);
    if (s == hl_mx.out) {
        hl_mx_end(left ? 128 + SIGPIPE : 1, 0, HL_MX_GRACE_DEATH); /* as a shell reports SIGPIPE */
        if (!left) {
            hl_mx_say("cannot write standard output: %s; ending the job", strerror(why));
        }
    }
}

static void stall(struct hl_mx_sink *s, bool on)
{
    if (s->stalled == on) {
        return;
    }
    s->stalled = on;
    for (int i = 0; i < hl_mx.size; i++) {
        struct hl_mx_rank *r = &hl_mx.rank[i];
        if (r->out.sink == s && r->out.fd >= 0) {
            hl_mx_rewatch(r->out.fd, on ? 0 : EPOLLIN, HL_MX_EV_OUT, i);
        }
        if (r->err.sink == s && r->err.fd >= 0) {
            hl_mx_rewatch(r->err.fd, on ? 0 : EPOLLIN, HL_MX_EV_ERR, i);
        }
    }
}

void hl_mx_out_flush(struct hl_mx_sink *s)
{
    while (s->q.len && !s->dead) {
        ssize_t n = write_some(s);
        if (n >= 0) {
            hl_mx_queue_drop(&s->q, (size_t)n);
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            give_up(s, errno);
        }
    }
    int which = (int)(s - hl_mx.sink);
    if (s->q.len && !s->watched && hl_mx.epoll > 0) {
        hl_mx_watch(s->fd, EPOLLOUT, HL_MX_EV_SINK, which);
        s->watched = true;
    } else if (!s->q.len && s->watched) {
        epoll_ctl(hl_mx.epoll, EPOLL_CTL_DEL, s->fd, NULL);
        s->watched = false;
    }
    if (s->q.len > SINK_HIGH) {
        stall(s, true);
    } else if (s->q.len < SINK_LOW) {
        stall(s, false);
    }
}

/* Puts whole lines, or the unfinished rest of a stream, into the stream's sink. */
static void emit(int rank, struct hl_mx_stream *st, const char *p, size_t len)
{
    struct hl_mx_queue *q = &st->sink->q;
    char tag[24];
    if (st->sink->dead) {
        return;
    }
    if (!hl_mx.opt.label) {
        hl_mx_queue_add(q, p, len);
        return;
    }
    int t = snprintf(tag, sizeof tag, "[%d] ", rank);
    while (len) {
        const char *nl = memchr(p, '\n', len);
        size_t n = nl ? (size_t)(nl - p) + 1 : len;
        hl_mx_queue_add(q, tag, (size_t)t);
        hl_mx_queue_add(q, p, n);
        p += n;
        len -= n;
    }
}

/* Puts out the rest of a stream that ended within a line; with several ranks it adds the line's end. */
static void emit_rest(int rank, struct hl_mx_stream *st)
{
    if (st->line.len) {
        emit(rank, st, st->line.data + st->line.head, st->line.len);
        if ((hl_mx.size > 1 || hl_mx.opt.label) && !st->sink->dead) {
            hl_mx_queue_add(&st->sink->q, "\n", 1);
        }
        hl_mx_queue_drop(&st->line, st->line.len);
    }
}

/* Passes on `len` new bytes. A single rank's output is not held back until lines are whole. */
static void pass(int rank, struct hl_mx_stream *st, const char *buf, size_t len)
{
    const char *last = memrchr(buf, '\n', len);
    size_t whole = last ? (size_t)(last - buf) + 1 : 0;
    if (hl_mx.size == 1 && !hl_mx.opt.label) {
        whole = len;
    }
    if (whole) {
        if (st->line.len) {
            size_t first = hl_mx.opt.label ? (size_t)((const char *)memchr(buf, '\n', len) - buf) + 1 : whole;
            hl_mx_queue_add(&st->line, buf, first);
            emit(rank, st, st->line.data + st->line.head, st->line.len);
            hl_mx_queue_drop(&st->line, st->line.len);
            emit(rank, st, buf + first, whole - first);
        } else {
            emit(rank, st, buf, whole);
        }
    }
    hl_mx_queue_add(&st->line, buf + whole, len - whole);
    if (st->line.len >= LINE_BYTES) {
        emit(rank, st, st->line.data + st->line.head, st->line.len);
        hl_mx_queue_drop(&st->line, st->line.len);
    }
}

static int64_t prompt_at; /* when rank 0's unfinished lines go to the terminal; 0: there are none */

static void pass_prompt(struct hl_mx_stream *st)
{
    if (st->line.len && st->sink->terminal) {
        emit(0, st, st->line.data + st->line.head, st->line.len);
        hl_mx_queue_drop(&st->line, st->line.len);
        hl_mx_out_flush(st->sink);
    }
}

/* Milliseconds until rank 0's unfinished lines are due, or -1; passes them on when the time has come. */
int hl_mx_out_wait_ms(void)
{
    int64_t left = prompt_at - hl_mx_now_ms();
    if (prompt_at && left > 0) {
        return (int)left;
    }
    if (prompt_at) {
        prompt_at = 0;
        pass_prompt(&hl_mx.rank[0].out);
        pass_prompt(&hl_mx.rank[0].err);
    }
    return -1;
}

void hl_mx_out_read(int rank, bool err)
{
    static char buf[READ_BYTES];
    struct hl_mx_stream *st = err ? &hl_mx.rank[rank].err : &hl_mx.rank[rank].out;
    if (st->fd < 0) {
        return;
    }
    ssize_t n = read(st->fd, buf, sizeof buf);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return;
    }
    if (n <= 0) {
        emit_rest(rank, st);
        close(st->fd);
        st->fd = -1;
        hl_mx.streams--;
    } else {
        hl_mx_foreign_look(rank);
        pass(rank, st, buf, (size_t)n);
        if (rank == 0 && st->line.len && st->sink->terminal && hl_mx_in_is_typed()) {
            prompt_at = hl_mx_now_ms() + HL_MX_PROMPT;
        }
    }
    hl_mx_out_flush(st->sink);
}

/* Reads what is in a pipe now; processes may still have it open for writing. */
static void drain(int rank, bool err)
{
    struct hl_mx_stream *st = err ? &hl_mx.rank[rank].err : &hl_mx.rank[rank].out;
    struct pollfd p = {st->fd, POLLIN, 0};
    for (int i = 0; i < 32 && st->fd >= 0 && poll(&p, 1, 0) > 0; i++) {
        hl_mx_out_read(rank, err);
    }
}

void hl_mx_out_drain(int rank)
{
    if (!hl_mx.out->stalled) {
        drain(rank, false);
    }
    if (!hl_mx.err->stalled) {
        drain(rank, true);
    }
}

static void finish_stream(int rank, bool err)
{
    struct hl_mx_stream *st = err ? &hl_mx.rank[rank].err : &hl_mx.rank[rank].out;
    drain(rank, err);
    if (st->fd >= 0) {
        emit_rest(rank, st);
        close(st->fd);
        st->fd = -1;
    }
}

void hl_mx_out_finish(void)
{
    for (int i = 0; i < hl_mx.size; i++) {
        if (!hl_mx.rank[i].pid) {
            continue;
        }
        finish_stream(i, false);
        finish_stream(i, true);
    }
    for (int i = 0; i < 2; i++) {
        struct hl_mx_sink *s = &hl_mx.sink[i];
        int64_t until = hl_mx_now_ms() + 200;
        hl_mx_out_flush(s);
        while (s->q.len && !s->dead && (!hl_mx.hurried || hl_mx_now_ms() < until)) {
            struct pollfd p[2] = {{s->fd, POLLOUT, 0}, {hl_mx.signals, POLLIN, 0}};
            poll(p, 2, 50);
            if (p[1].revents) {
                hl_mx_signal_late();
            }
            hl_mx_mind_timeout();
            hl_mx_out_flush(s);
        }
    }
}

/* Writes a line to standard error, by its sink once that is open. */
static void say_line(const char *line, size_t len)
{
    if (!hl_mx.err) {
        if (write(2, line, len) < 0) {
            return;
        }
        return;
    }
    if (!hl_mx.err->dead) {
        hl_mx_queue_add(&hl_mx.err->q, line, len);
        hl_mx_out_flush(hl_mx.err);
    }
}

void hl_mx_say(const char *fmt, ...)
{
    char few[1024], shown[1024], *line = few;
    size_t at = (size_t)snprintf(few, sizeof few, "%s: ", program_invocation_short_name), cap = sizeof few;
    va_list a, again;
    fmt = hl_mx_words(fmt, shown, sizeof shown);
    va_start(a, fmt);
    va_copy(again, a);
    int n = vsnprintf(few + at, cap - at, fmt, a);
    char *all = n >= 0 && at + (size_t)n + 2 > cap ? malloc(at + (size_t)n + 2) : NULL;
    if (all) { /* without memory the line is cut */
        cap = at + (size_t)n + 2;
        line = memcpy(all, few, at);
        vsnprintf(line + at, cap - at, fmt, again);
    }
    va_end(again);
    va_end(a);
    if (n >= 0) {
        at = at + (size_t)n > cap - 2 ? cap - 2 : at + (size_t)n;
        line[at++] = '\n';
        say_line(line, at);
    }
    free(all);
}

const char *hl_mx_hint(int error)
{
    switch (error) {
    case EAGAIN:
        return " (the limit of processes: ulimit -u, or pids.max of the control group)";
    case EMFILE:
        return " (the limit of open files: ulimit -Hn)";
    case EPERM:
    case EACCES:
    case ENOSYS:
        return " (a sandbox's seccomp profile forbids the call)";
    default:
        return "";
    }
}
