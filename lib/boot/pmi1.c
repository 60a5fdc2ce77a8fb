/* PMI-1 over the stream socket PMI_FD: our launcher, MPICH's and Intel's Hydra, Slurm's pmi2 plugin.
 *
 * One question is asked at a time, under `turn`. Before its answer may come notices of our launcher
 * ("cmd=hotlane_died rank=R code=C"), which are queued for watch_take, and, when the watchdog has asked, the
 * names of ranks that have not entered the fence ("cmd=hotlane_absent count=N rank0=R ..."). */
#include "pmi1.h"
#include "atomic.h"
#include "boot_code.h"
#include "boot_method.h"
#include "err.h"
#include "hang.h"
#include "notices.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 2048 };

int hl_pmi1_wait_ms = 20000;

static struct {
    pthread_mutex_t turn; /* held for a question and its answer; guards all below but fd */
    int fd;               /* set by init; -1 between fini and again */
    int left;             /* keeps fd between fini and again: the launcher opened the socket and closes it */
    int claim;            /* that of hl_boot_claim, from init to fini */
    char kvs[256];        /* name of the key-value space */
    struct hl_pmi1_lines in;
    char question[LINE], answer[LINE]; /* the last ones; not on the stack, which may be small */
    char late[32];                     /* cmd of an answer that was not waited for any longer; "": of none */
    bool gone;                         /* the launcher hung up */
    struct hl_notices notices;
    struct hl_wait_desc absent; /* ranks that are absent from the fence that waits; n 0: not told */
    hl_a32 waits;               /* atomic; 1: there may be notices */
} pmi = {.turn = PTHREAD_MUTEX_INITIALIZER, .fd = -1, .left = -1, .claim = -1};

int hl_pmi1_take(struct hl_pmi1_lines *in, char *line, size_t cap)
{
    char *nl = memchr(in->data, '\n', in->have);
    if (!nl) {
        return in->have == sizeof in->data ? -1 : 0;
    }
    size_t n = (size_t)(nl - in->data);
    if (n >= cap || memchr(in->data, 0, n)) {
        return -1;
    }
    memcpy(line, in->data, n);
    line[n] = 0;
    in->have -= n + 1;
    memmove(in->data, nl + 1, in->have);
    return 1;
}

int hl_pmi1_field(const char *line, const char *key, char *out, size_t cap)
{
    size_t k = strlen(key);
    bool last = !strcmp(key, "value");
    while (*line) {
        line += strspn(line, " ");
        size_t word = strcspn(line, " ");
        if (!strncmp(line, key, k) && line[k] == '=') {
            size_t n = last ? strlen(line + k + 1) : word - k - 1;
            if (n >= cap) {
                return -1;
            }
            memcpy(out, line + k + 1, n);
            out[n] = 0;
            return (int)n;
        }
        if (!strncmp(line, "value=", 6)) {
            return -1; /* "value=" is the last field, and its text may hold anything */
        }
        line += word;
    }
    return -1;
}

bool hl_pmi1_number(const char *line, const char *key, int *out)
{
    char text[24], *end;
    if (hl_pmi1_field(line, key, text, sizeof text) <= 0) {
        return false;
    }
    errno = 0;
    long v = strtol(text, &end, 10);
    if (errno || *end || v < INT_MIN || v > INT_MAX) {
        return false;
    }
    *out = (int)v;
    return true;
}

static int hung_up(void)
{
    pmi.gone = true;
    return hl_err_say(HL_ERR_OTHER, "the launcher has hung up");
}

/* Reads from the socket, waiting at most `wait_ms` (0: not at all). Returns 1 when bytes came, 0 when none
 * came, or the error. */
static int read_socket(int wait_ms)
{
    struct pollfd p = {pmi.fd, POLLIN, 0};
    int n = poll(&p, 1, wait_ms);
    if (n <= 0) {
        return n == 0 || errno == EINTR ? 0 : hung_up();
    }
    ssize_t got = recv(pmi.fd, pmi.in.data + pmi.in.have, sizeof pmi.in.data - pmi.in.have, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
        return 0;
    }
    if (got <= 0) {
        return hung_up();
    }
    pmi.in.have += (size_t)got;
    return 1;
}

static bool is_ours(void)
{
    return strncmp(pmi.kvs, "hotlane_", 8) == 0;
}

static void keep_absent(const char *line)
{
    char key[16];
    pmi.absent.n = 0;
    hl_pmi1_number(line, "count", &pmi.absent.n);
    for (int i = 0; i < pmi.absent.n && i < HL_HANG_RANKS; i++) {
        snprintf(key, sizeof key, "rank%d", i);
        if (!hl_pmi1_number(line, key, &pmi.absent.ranks[i])) {
            pmi.absent.n = i;
        }
    }
}

static bool keep_notice(const char *line)
{
    int rank, code;
    if (strncmp(line, "cmd=hotlane_absent ", 19) == 0) {
        keep_absent(line);
        return true;
    }
    if (strncmp(line, "cmd=hotlane_died ", 17) != 0) {
        return false;
    }
    if (hl_pmi1_number(line, "rank", &rank) && hl_pmi1_number(line, "code", &code)) {
        pmi.gone |= !hl_notices_put(&pmi.notices, rank, code);
        hl_a32_store_release(&pmi.waits, 1); /* release: only a hint; the thread that takes locks `turn`. */
    }
    return true;
}

/* True when pmi.answer is the answer that came too late for its question: it comes before those to later
 * ones, or never. */
static bool is_late_answer(void)
{
    char cmd[sizeof pmi.late];
    bool late =
        pmi.late[0] && hl_pmi1_field(pmi.answer, "cmd", cmd, sizeof cmd) > 0 && strcmp(cmd, pmi.late) == 0;
    pmi.late[0] = late ? 0 : pmi.late[0];
    return late;
}

/* Copies the next line that is not a notice to pmi.answer. Returns 1, 0 when there is none yet, or the
 * error. */
static int next_answer(void)
{
    for (;;) {
        int rc = hl_pmi1_take(&pmi.in, pmi.answer, sizeof pmi.answer);
        if (rc < 0) {
            pmi.gone = true;
            return hl_err_say(HL_ERR_OTHER, "the launcher's answer is not a line of PMI-1");
        }
        if (!rc || (!keep_notice(pmi.answer) && !is_late_answer())) {
            return rc;
        }
    }
}

static int send_line(const char *line, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = send(pmi.fd, line + at, len - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return hung_up();
        }
        at += (size_t)n;
    }
    return 0;
}

/* Tells the watchdog of the fence, and asks our launcher who is absent; the answer comes during the fence. */
static int watch_fence(struct hl_hang *hang)
{
    static const char line[] = "cmd=hotlane_absent\n";
    hl_hang_watch_fence(hang, &pmi.absent);
    return hl_hang_is_on() && is_ours() ? send_line(line, sizeof line - 1) : 0;
}

/* Waits for the answer `want`, at most `wait_ms` (-1: without limit), and leaves it in pmi.answer. Calls
 * serve(arg) whenever descriptor `also` (unless -1) is readable meanwhile. */
static int await_answer(const char *want, int wait_ms, int also, void (*serve)(void *), void *arg)
{
    uint64_t until = wait_ms < 0 ? UINT64_MAX : hl_now_ns() + (uint64_t)wait_ms * 1000000u;
    char cmd[64];
    struct hl_hang hang;
    int rc;
    pmi.absent.n = 0;
    hl_hang_begin(&hang);
    while ((rc = next_answer()) == 0) {
        if (also >= 0) {
            struct pollfd p[2] = {{pmi.fd, POLLIN, 0}, {also, POLLIN, 0}};
            if (poll(p, 2, hl_hang_nap_ms()) > 0 && p[1].revents) {
                serve(arg);
            }
        }
        rc = read_socket(also >= 0 ? 0 : wait_ms < 0 ? hl_hang_nap_ms() : wait_ms);
        if (!rc && wait_ms < 0) {
            rc = watch_fence(&hang);
        }
        if (!rc && hl_now_ns() > until) {
            snprintf(pmi.late, sizeof pmi.late, "%s", want);
            rc = hl_err_say(HL_ERR_OTHER, "no answer from the launcher within %d s", wait_ms / 1000);
        }
        if (rc < 0) {
            break;
        }
    }
    hl_hang_end(&hang);
    if (rc < 0) {
        return rc;
    }
    if (pmi.in.have > 0) { /* a notice was read with the answer, so the descriptor will not tell of it */
        hl_a32_store_release(&pmi.waits, 1); /* release: only a hint; the thread that takes locks `turn`. */
    }
    if (hl_pmi1_field(pmi.answer, "cmd", cmd, sizeof cmd) < 0 || strcmp(cmd, want) != 0) {
        return hl_err_say(HL_ERR_OTHER, "the launcher answered \"%.80s\" instead of %s", pmi.answer, want);
    }
    return 0;
}

/* Asks one question; its answer is then in pmi.answer. The caller looks at the answer's rc=. */
HL_PRINTF(3, 4) static int ask_pmi1(const char *want, int wait_ms, const char *fmt, ...)
{
    va_list a;
    va_start(a, fmt);
    int n = vsnprintf(pmi.question, sizeof pmi.question, fmt, a);
    va_end(a);
    if (n < 0 || (size_t)n >= sizeof pmi.question) {
        return hl_err_say(HL_ERR_INTERN, "PMI-1 question of %d characters", n);
    }
    if (pmi.fd < 0 || pmi.gone) {
        return hl_err_say(HL_ERR_OTHER, "there is no launcher any more");
    }
    int rc = send_line(pmi.question, (size_t)n);
    return rc ? rc : await_answer(want, wait_ms, -1, NULL, NULL);
}

static bool pmi1_offered(hl_boot_env_fn *env)
{
    return env("PMI_FD") != NULL;
}

static bool is_refused(void)
{
    int status;
    return hl_pmi1_number(pmi.answer, "rc", &status) && status;
}

static int say_pmi_refused(const char *what)
{
    char msg[128] = "";
    hl_pmi1_field(pmi.answer, "msg", msg, sizeof msg);
    return hl_err_say(HL_ERR_OTHER, "the launcher refused %s%s%s", what, *msg ? ": " : "", msg);
}

/* Sends init, then asks for the name of the key-value space and, if the launcher is ours, for the secret. */
static int shake_hands(struct hl_boot_job *job)
{
    const char *a = pmi.answer;
    char hex[40];
    int rc = ask_pmi1("response_to_init", hl_pmi1_wait_ms, "cmd=init pmi_version=1 pmi_subversion=1\n"),
        on = 0;
    if (rc) {
        return rc;
    }
    if (is_refused()) {
        return say_pmi_refused("init");
    }
    job->goes_on = hl_pmi1_number(a, "hotlane_goes_on", &on) && on != 0;
    rc = ask_pmi1("my_kvsname", hl_pmi1_wait_ms, "cmd=get_my_kvsname\n");
    if (rc) {
        return rc;
    }
    if (hl_pmi1_field(a, "kvsname", pmi.kvs, sizeof pmi.kvs) <= 0) {
        return say_pmi_refused("the name of its key-value space");
    }
    if (!is_ours()) {
        return 0;
    }
    rc = ask_pmi1("get_result", hl_pmi1_wait_ms, "cmd=get kvsname=%s key=hotlane_secret\n", pmi.kvs);
    if (rc) {
        return rc;
    }
    job->has_secret =
        hl_pmi1_field(a, "value", hex, sizeof hex) > 0 && !hl_boot_code_secret(hex, job->secret);
    return 0;
}

static bool env_number(hl_boot_env_fn *env, const char *name, int min, int *out)
{
    const char *v = env(name);
    char *end;
    long n = v ? strtol(v, &end, 10) : -1;
    if (!v || end == v || *end || n < min || n > INT_MAX) {
        return false;
    }
    *out = (int)n;
    return true;
}

/* Claims the socket: a second program on it would read answers to the first one's questions. */
static int claim_socket(int fd, struct hl_boot_job *job)
{
    struct stat st;
    char name[64];
    if (fstat(fd, &st)) {
        return 0;
    }
    snprintf(name, sizeof name, "socket:[%ju]", (uintmax_t)st.st_ino);
    return hl_boot_claim(name, job, &pmi.claim);
}

static int pmi1_init(hl_boot_env_fn *env, struct hl_boot_job *job)
{
    int fd, type = 0;
    socklen_t len = sizeof type;
    if (!env_number(env, "PMI_FD", 0, &fd) || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) ||
        type != SOCK_STREAM) {
        return hl_err_say(HL_ERR_OTHER, "PMI_FD=%s is not an open stream socket", env("PMI_FD"));
    }
    if (!env_number(env, "PMI_RANK", 0, &job->rank) || !env_number(env, "PMI_SIZE", 1, &job->size) ||
        job->rank >= job->size) {
        return hl_err_say(HL_ERR_OTHER, "PMI_FD is set, but PMI_RANK=%s and PMI_SIZE=%s make no sense",
                          env("PMI_RANK") ? env("PMI_RANK") : "", env("PMI_SIZE") ? env("PMI_SIZE") : "");
    }
    pthread_mutex_lock(&pmi.turn);
    pmi.fd = fd;
    pmi.in.have = 0;
    pmi.late[0] = 0;
    pmi.gone = false;
    int rc = claim_socket(fd, job);
    rc = rc ? rc : shake_hands(job);
    job->taken |= pmi.gone && pmi.in.have == 0; /* it hung up without a word: it has served another program */
    if (rc) {
        pmi.fd = -1; /* the socket is not ours, so it stays open */
        hl_boot_unclaim(&pmi.claim);
    }
    pthread_mutex_unlock(&pmi.turn);
    if (rc) {
        return rc;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    hl_boot_hide_launcher(env);
    snprintf(job->why, sizeof job->why, "PMI_FD was a socket and %s answered",
             job->has_secret ? "Hotlane's launcher" : "a launcher");
    return 0;
}

static int pmi1_put(const char *key, const char *value)
{
    pthread_mutex_lock(&pmi.turn);
    int rc = ask_pmi1("put_result", -1, "cmd=put kvsname=%s key=%s value=%s\n", pmi.kvs, key, value);
    if (!rc && is_refused()) {
        rc = say_pmi_refused("a put");
    }
    pthread_mutex_unlock(&pmi.turn);
    return rc;
}

static int pmi1_get(int rank, const char *key, char *value, size_t cap, bool waits)
{
    (void)rank;
    int rc = waits ? pthread_mutex_lock(&pmi.turn) : pthread_mutex_trylock(&pmi.turn);
    if (rc) {
        return HL_ERR_AGAIN;
    }
    rc = ask_pmi1("get_result", -1, "cmd=get kvsname=%s key=%s\n", pmi.kvs, key);
    if (!rc && is_refused()) {
        rc = HL_ERR_FOUND_NONE;
    } else if (!rc && hl_pmi1_field(pmi.answer, "value", value, cap) < 0) {
        rc = hl_err_say(HL_ERR_OTHER, "the launcher's value of %s is missing or longer than %zu", key, cap);
    }
    pthread_mutex_unlock(&pmi.turn);
    return rc;
}

static int pmi1_fence(int also, void (*serve)(void *), void *arg)
{
    static const char line[] = "cmd=barrier_in\n";
    int rc = 0;
    pthread_mutex_lock(&pmi.turn);
    if (pmi.fd < 0 || pmi.gone) {
        rc = hl_err_say(HL_ERR_OTHER, "there is no launcher any more");
    }
    if (!rc) {
        rc = send_line(line, sizeof line - 1);
    }
    if (!rc) {
        rc = await_answer("barrier_out", -1, also, serve, arg);
    }
    if (!rc && is_refused()) {
        rc = hl_err_say(HL_ERR_PROC_ABORTED, "ranks of the job have died");
    }
    pthread_mutex_unlock(&pmi.turn);
    return rc;
}

static void pmi1_abort(int code)
{
    char line[64];
    int n = snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", code);
    if (pmi.fd >= 0 && send(pmi.fd, line, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        return; /* the launcher is gone, so the other ranks end as well */
    }
}

static int pmi1_appnum(int *out)
{
    pthread_mutex_lock(&pmi.turn);
    int rc = pmi.fd >= 0 && !pmi.gone ? ask_pmi1("appnum", hl_pmi1_wait_ms, "cmd=get_appnum\n")
                                      : HL_ERR_FOUND_NONE;
    rc = rc || hl_pmi1_number(pmi.answer, "appnum", out) ? rc : HL_ERR_FOUND_NONE;
    pthread_mutex_unlock(&pmi.turn);
    return rc;
}

static int pmi1_watch_fd(void)
{
    return pmi.fd;
}

static bool pmi1_watch_waits(void)
{
    return hl_a32_load_relaxed(&pmi.waits) != 0; /* relaxed: a hint; the thread that takes locks `turn`. */
}

static int pmi1_watch_take(int *rank, int *code)
{
    int rc = 0;
    if (pthread_mutex_trylock(&pmi.turn)) {
        return HL_ERR_AGAIN; /* the thread that asks now queues the notices */
    }
    if (pmi.fd >= 0 && !pmi.gone) {
        rc = read_socket(0);
    }
    if (rc >= 0 && pmi.in.have && next_answer() == 1) {
        rc = hl_err_say(HL_ERR_OTHER, "the launcher said \"%.80s\" unasked", pmi.answer);
    }
    if (hl_notices_take(&pmi.notices, rank, code)) {
        rc = 1;
    } else if (rc >= 0) {
        rc = pmi.gone ? HL_ERR_OTHER : 0;
    }
    hl_a32_store_relaxed(&pmi.waits, pmi.notices.count > 0); /* relaxed: `turn` is held. */
    pthread_mutex_unlock(&pmi.turn);
    return rc;
}

static int pmi1_fini(void)
{
    pthread_mutex_lock(&pmi.turn);
    int rc = pmi.fd >= 0 ? ask_pmi1("finalize_ack", -1, "cmd=finalize\n") : 0;
    pmi.left = pmi.fd >= 0 ? pmi.fd : pmi.left;
    pmi.fd = -1;
    hl_boot_unclaim(&pmi.claim);
    pthread_mutex_unlock(&pmi.turn);
    return rc;
}

/* Takes part again. A launcher that hangs up on a rank that had left refuses by that. */
static int pmi1_again(void)
{
    struct hl_boot_job job;
    pthread_mutex_lock(&pmi.turn);
    pmi.fd = pmi.left;
    int rc = claim_socket(pmi.fd, &job);
    rc = rc ? rc : ask_pmi1("response_to_init", hl_pmi1_wait_ms, "cmd=init pmi_version=1 pmi_subversion=1\n");
    if (!rc && is_refused()) {
        rc = say_pmi_refused("a rank that had left");
    }
    if (rc) {
        pmi.fd = -1;
        hl_boot_unclaim(&pmi.claim);
    }
    pthread_mutex_unlock(&pmi.turn);
    return rc;
}

const struct hl_boot_method hl_boot_pmi1 = {.name = "pmi1",
                                            .value_max = 768,
                                            .offered = pmi1_offered,
                                            .init = pmi1_init,
                                            .put = pmi1_put,
                                            .get = pmi1_get,
                                            .fence = pmi1_fence,
                                            .abort = pmi1_abort,
                                            .appnum = pmi1_appnum,
                                            .watch_fd = pmi1_watch_fd,
                                            .watch_take = pmi1_watch_take,
                                            .watch_waits = pmi1_watch_waits,
                                            .fini = pmi1_fini,
                                            .again = pmi1_again};
