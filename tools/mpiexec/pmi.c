/* mpiexec: the PMI-1 server. Requests are lines "cmd=NAME key=value ...", answered in the order in which they
 * came; a value may have blanks and comes last. Beyond the common commands there are the key
 * `hotlane_secret`; under --keep-going "hotlane_goes_on=1" in the answer to init, and the notice
 * "cmd=hotlane_died rank=R code=C" to ranks that asked for that key; and "cmd=hotlane_absent", by which a
 * rank in the barrier asks which ranks are not there. */
#include "mx.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINE_MAX_BYTES = 32768,
    BACK_MAX_BYTES = 4 << 20,
    KEY_MAX = 64,
    VALUE_MAX = 1024,
    NAME_MAX_BYTES = 256
};

static void hang_up(int rank)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    if (r->ctl >= 0) {
        close(r->ctl);
    }
    r->ctl = -1;
}

/* Ends the job because a rank broke the protocol, and reads no more from it. Its socket stays open until the
 * launcher ends: a program that found it closed would think that there is no launcher, and run alone until
 * the signal comes. */
static void violation(int rank, const char *what)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    hl_mx_say("rank %d broke the PMI protocol (%s); ending the job", rank, what);
    epoll_ctl(hl_mx.epoll, EPOLL_CTL_DEL, r->ctl, NULL);
    r->ctl = -1;
    hl_mx_end(1, 0, HL_MX_GRACE_DEATH);
}

void hl_mx_pmi_write(int rank)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    while (r->ctl >= 0 && r->back.len) {
        ssize_t n = send(r->ctl, r->back.data + r->back.head, r->back.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            break;
        }
        if (n < 0) {
            n = (ssize_t)r->back.len; /* the rank is ending: its exit will be handled */
        }
        hl_mx_queue_drop(&r->back, (size_t)n);
    }
    if (r->ctl >= 0) {
        hl_mx_rewatch(r->ctl, r->back.len ? EPOLLIN | EPOLLOUT : EPOLLIN, HL_MX_EV_CTL, rank);
    }
}

__attribute__((format(printf, 2, 3))) static void reply(int rank, const char *fmt, ...)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    char line[VALUE_MAX + 512];
    va_list a;
    va_start(a, fmt);
    int n = vsnprintf(line, sizeof line, fmt, a);
    va_end(a);
    if (n < 0 || (size_t)n >= sizeof line || r->ctl < 0) {
        return;
    }
    if (!r->back.len) {
        ssize_t sent = send(r->ctl, line, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent == n || (sent < 0 && errno != EAGAIN && errno != EINTR)) {
            return;
        }
        hl_mx_queue_add(&r->back, line + (sent > 0 ? sent : 0), (size_t)(n - (sent > 0 ? sent : 0)));
    } else {
        hl_mx_queue_add(&r->back, line, (size_t)n);
    }
    if (r->back.len > BACK_MAX_BYTES) {
        violation(rank, "it does not read its answers");
    } else {
        hl_mx_pmi_write(rank);
    }
}

/* The value of `key` in a line, or NULL. A value ends at the next blank, but that of the key `value` at the
 * line's end. */
static char *field(char *line, const char *key)
{
    size_t n = strlen(key);
    for (char *s = line; s && *s; s = strchr(s, ' '), s = s ? s + strspn(s, " ") : NULL) {
        if (!strncmp(s, key, n) && s[n] == '=') {
            return s + n + 1;
        }
        if (!strncmp(s, "value=", 6)) {
            return NULL; /* nothing follows the key `value` */
        }
    }
    return NULL;
}

static void cut(char *field_value)
{
    if (field_value) {
        field_value[strcspn(field_value, " ")] = 0;
    }
}

/* Completes the barrier when all ranks are there that can still come. */
static void check_barrier(void)
{
    int gone = hl_mx.gone, here = 0;
    if (!hl_mx.in_barrier || hl_mx.in_barrier + gone < hl_mx.size || hl_mx.ending || hl_mx.abort.at) {
        return;
    }
    if (gone && !hl_mx.opt.keep_going) {
        for (int i = 0; i < hl_mx.size && !here; i++) {
            here = hl_mx.rank[i].exited ? i + 1 : 0;
        }
        hl_mx_say("rank %d has left, but the others wait for it; ending the job", here - 1);
        hl_mx_end(1, 0, HL_MX_GRACE_DEATH);
        return;
    }
    hl_mx.in_barrier = 0;
    for (int i = 0; i < hl_mx.size; i++) {
        if (!hl_mx.rank[i].in_barrier) {
            continue;
        }
        hl_mx.rank[i].in_barrier = false;
        if (gone) {
            reply(i, "cmd=barrier_out rc=-1 msg=%d_ranks_died\n", gone);
        } else {
            reply(i, "cmd=barrier_out rc=0\n");
        }
    }
}

static void do_put(int rank, const char *key, const char *value)
{
    if (!key || !*key || !value || strlen(key) > KEY_MAX || strlen(value) > VALUE_MAX) {
        reply(rank, "cmd=put_result rc=-1 msg=bad_key_or_value\n");
        return;
    }
    if (hl_mx_kvs_put(key, value)) {
        reply(rank, "cmd=put_result rc=0 msg=success\n");
    } else {
        reply(rank, "cmd=put_result rc=-1 msg=no_room\n");
    }
}

static void do_get(int rank, const char *key)
{
    const char *v = NULL;
    if (key && !strcmp(key, "PMI_process_mapping")) {
        reply(rank, "cmd=get_result rc=0 msg=success value=(vector,(0,1,%d))\n", hl_mx.size);
        return;
    }
    if (key && !strcmp(key, "hotlane_secret")) {
        hl_mx.rank[rank].ours = true;
        v = hl_mx.secret;
    } else if (key) {
        v = hl_mx_kvs_get(key);
    }
    if (v) {
        reply(rank, "cmd=get_result rc=0 msg=success value=%s\n", v);
    } else {
        reply(rank, "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
    }
}

static void do_init(int rank, const char *version)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    if (!version || strcmp(version, "1") != 0) {
        reply(rank, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n");
        return;
    }
    if (r->spoke && !r->finalized) {
        violation(rank,
                  "a second program began on its socket before the first one had finalized; start other "
                  "MPI programs after MPI_Init, or one after the other");
        return;
    }
    r->spoke = true;
    r->finalized = false;
    reply(rank, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0%s\n",
          hl_mx.opt.keep_going ? " hotlane_goes_on=1" : "");
}

bool hl_mx_pmi_dies(int but)
{
    for (int i = 0; i < hl_mx.size; i++) {
        const struct hl_mx_rank *r = &hl_mx.rank[i];
        struct pollfd p = {r->ctl, POLLRDHUP, 0};
        if (i != but && r->spoke && !r->finalized && !r->aborted && !r->exited &&
            (r->ctl < 0 || poll(&p, 1, 0) > 0)) {
            return true;
        }
    }
    return false;
}

/* Notes the first abort; job.c carries it out when deaths that came before it are known. */
static void do_abort(int rank, const char *text)
{
    hl_mx.rank[rank].aborted = true;
    if (hl_mx.ending || hl_mx.abort.at) {
        return;
    }
    char *end = NULL;
    long code = text ? strtol(text, &end, 10) : 1;
    hl_mx.abort.rank = rank;
    hl_mx.abort.code = text && (end == text || *end) ? 1 : code; /* no number is no success */
    hl_mx.abort.at = hl_mx_now_ms();
}

static void do_barrier(int rank)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    if (r->in_barrier) {
        violation(rank, "it entered a barrier twice");
        return;
    }
    r->in_barrier = true;
    hl_mx.in_barrier++;
    check_barrier();
}

/* Answers the watchdog of a rank that waits in the barrier: how many ranks are missing, and the first of
 * them. */
static void do_absent(int rank)
{
    enum { FIRST = 6 };
    char first[FIRST * 24] = "";
    size_t at = 0;
    int n = 0;
    for (int i = 0; i < hl_mx.size; i++) {
        bool absent = !hl_mx.rank[i].in_barrier && !hl_mx.rank[i].exited;
        if (absent && n < FIRST) {
            at += (size_t)snprintf(first + at, sizeof first - at, " rank%d=%d", n, i);
        }
        n += absent;
    }
    reply(rank, "cmd=hotlane_absent count=%d%s\n", n, first);
}

static void refuse_spawn(int rank)
{
    static bool told;
    if (!told) {
        hl_mx_say("rank %d asks for more processes (MPI_Comm_spawn), and this launcher starts none later: "
                  "start all at once, as in mpiexec -n 1 ./first : -n 4 ./others",
                  rank);
    }
    told = true;
    reply(rank, "cmd=spawn_result rc=-1 msg=not_supported\n");
}

/* Takes a line of a request to start processes: "mcmd=spawn", lines key=value, "endcmd", and so for each part
 * of it. The whole request is refused behind its last part. False: the line is none of these. */
static bool take_spawn(int rank, const char *line)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    if (!strcmp(line, "mcmd=spawn")) {
        r->in_spawn = true;
        r->spawn_part = r->spawn_parts = 1;
        return true;
    }
    if (!r->in_spawn || !strncmp(line, "cmd=", 4)) {
        r->in_spawn = false;
        return false;
    }
    if (!strncmp(line, "totspawns=", 10)) {
        r->spawn_parts = strtol(line + 10, NULL, 10);
    } else if (!strncmp(line, "spawnssofar=", 12)) {
        r->spawn_part = strtol(line + 12, NULL, 10);
    } else if (!strcmp(line, "endcmd")) {
        r->in_spawn = false;
        if (r->spawn_part >= r->spawn_parts) {
            refuse_spawn(rank);
        }
    }
    return true;
}

static void serve(int rank, char *line)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    if (take_spawn(rank, line)) {
        return;
    }
    char *cmd = field(line, "cmd"), *key = field(line, "key"), *value = field(line, "value");
    char *version = field(line, "pmi_version"), *code = field(line, "exitcode");
    if (!cmd) {
        violation(rank, "it sent a line without cmd=");
        return;
    }
    cut(cmd);
    cut(key);
    cut(version);
    cut(code);
    if (!strcmp(cmd, "init")) {
        do_init(rank, version);
    } else if (!strcmp(cmd, "get_maxes")) {
        reply(rank, "cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d rc=0\n", NAME_MAX_BYTES, KEY_MAX,
              VALUE_MAX);
    } else if (!strcmp(cmd, "get_my_kvsname")) {
        reply(rank, "cmd=my_kvsname kvsname=hotlane_%s rc=0\n", hl_mx.name);
    } else if (!strcmp(cmd, "get_universe_size")) {
        reply(rank, "cmd=universe_size size=%d rc=0\n", hl_mx.size);
    } else if (!strcmp(cmd, "get_appnum")) {
        reply(rank, "cmd=appnum appnum=%d rc=0\n", r->part);
    } else if (!strcmp(cmd, "put")) {
        do_put(rank, key, value);
    } else if (!strcmp(cmd, "get")) {
        do_get(rank, key);
    } else if (!strcmp(cmd, "barrier_in")) {
        do_barrier(rank);
    } else if (!strcmp(cmd, "hotlane_absent")) {
        do_absent(rank);
    } else if (!strcmp(cmd, "finalize")) {
        r->finalized = true;
        reply(rank, "cmd=finalize_ack rc=0\n");
    } else if (!strcmp(cmd, "abort")) {
        do_abort(rank, code);
    } else {
        reply(rank, "cmd=%.64s_result rc=-1 msg=not_supported\n", cmd);
    }
}

void hl_mx_pmi_read(int rank)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    char buf[16384];
    if (r->ctl < 0) {
        return;
    }
    ssize_t n = recv(r->ctl, buf, sizeof buf, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n <= 0) {
        hang_up(rank);
        return;
    }
    hl_mx_queue_add(&r->in, buf, (size_t)n);
    char *line = r->in.data + r->in.head, *nl;
    while (r->ctl >= 0 && r->in.len && (nl = memchr(line, '\n', r->in.len))) {
        *nl = 0;
        if (strlen(line) != (size_t)(nl - line)) {
            violation(rank, "it sent a zero byte");
            return;
        }
        serve(rank, line);
        hl_mx_queue_drop(&r->in, (size_t)(nl - line) + 1);
        line = r->in.data + r->in.head;
    }
    if (r->in.len > LINE_MAX_BYTES) {
        violation(rank, "it sent a line that is too long");
    }
}

void hl_mx_pmi_died(int rank)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    hang_up(rank);
    if (r->in_barrier) {
        r->in_barrier = false;
        hl_mx.in_barrier--;
    }
    if (hl_mx.opt.keep_going && (r->code || (r->spoke && !r->finalized))) {
        for (int i = 0; i < hl_mx.size; i++) {
            if (hl_mx.rank[i].ours && !hl_mx.rank[i].exited && !hl_mx.rank[i].finalized) {
                reply(i, "cmd=hotlane_died rank=%d code=%d\n", rank, r->code);
            }
        }
    }
    check_barrier();
}
