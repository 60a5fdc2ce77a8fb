/* Start-up: opening, values in pieces that any launcher takes, the end of the job. */
#include "boot.h"
#include "atomic.h"
#include "boot_code.h"
#include "boot_method.h"
#include "boot_node.h"
#include "conf.h"
#include "err.h"
#include "hang.h"
#include "job.h"
#include "log.h"
#include "notices.h"
#include "stat.h"
#include "util.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct hl_boot hl_boot;

static const struct hl_boot_method *method; /* NULL until opened; read-only afterwards */
static struct hl_boot_job job;
static pid_t owner; /* process that opened; 0: not opened */
static bool closed; /* the launcher was told that this rank may leave; guarded by `turn` */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* Notices that came while the ranks of the node met. They are written while the library opens; then only the
 * thread that takes notices uses them. */
static struct hl_notices early;
static hl_a32 n_early; /* atomic: number of early notices */

static hl_a32 fencing; /* atomic: number of threads in hl_boot_fence */

enum { KEY = 64, READ_MS = 200, FLUSH_MS = 500, FLUSH_SECONDS = 1, ABORT_SECONDS = 3 };

/* Under a foreign launcher rank 0 draws the secret and puts it into the key-value space. */
static int agree_secret(void)
{
    char hex[33];
    if (job.has_secret) {
        return 0;
    }
    int rc = hl_random_bytes(job.secret, sizeof job.secret);
    if (rc || job.size == 1) {
        return rc;
    }
    snprintf(hex, sizeof hex, "%016llx%016llx", (unsigned long long)job.secret[0],
             (unsigned long long)job.secret[1]);
    rc = job.rank ? 0 : method->put("hl-secret", hex);
    if (!rc) {
        rc = method->fence(-1, NULL, NULL);
    }
    if (!rc) {
        rc = method->get(0, "hl-secret", hex, sizeof hex, true);
    }
    if (rc) {
        return rc == HL_ERR_FOUND_NONE
                   ? hl_err_say(HL_ERR_OTHER,
                                "the launcher does not give the value of hl-secret, which rank 0 has put")
                   : rc;
    }
    if (hl_boot_code_secret(hex, job.secret)) {
        return hl_err_say(HL_ERR_OTHER, "the launcher changed the value of hl-secret, which rank 0 has put");
    }
    return 0;
}

/* Number of the clique (HOTLANE_CLIQUES) whose ranks this one looks for on its node; -1: none. */
static int find_clique(void)
{
    if (job.size == 1 || !strcmp(hl_conf.near, "0") || !strcmp(hl_conf.near, "none")) {
        return -1;
    }
    return (int)(job.rank % hl_conf.cliques);
}

bool hl_boot_is_mine(void)
{
    return owner && owner == getpid();
}

static const char *end_words(void)
{
    return owner && !hl_boot_is_mine() ? "this process, a forked child, ends; the job goes on"
                                       : "the job ends";
}

static int piece_key(char key[KEY], int rank, const char *name, size_t piece)
{
    int n = snprintf(key, KEY, "hl-%d-%s-%zu", rank, name, piece);
    return n < KEY ? 0 : hl_err_say(HL_ERR_INTERN, "key %s is too long", name);
}

/* Puts `text` in pieces; `piece` is a buffer for one of them. */
static int put_text(const char *key, const char *text, char *piece)
{
    char name[KEY];
    size_t text_len = strlen(text), most = method->value_max;
    int rc = 0;
    for (size_t at = 0, i = 0; !rc && at < text_len; at += most, i++) {
        size_t n = hl_min_size(most, text_len - at);
        memcpy(piece, text + at, n);
        piece[n] = 0;
        rc = piece_key(name, hl_job.rank, key, i);
        if (!rc) {
            rc = method->put(name, piece);
        }
    }
    return rc;
}

int hl_boot_put(const char *key, const void *data, size_t len)
{
    char *text = malloc(hl_boot_code_size(len) + 1), *piece = malloc(method->value_max + 1);
    int rc;
    if (text && piece) {
        hl_boot_code_write(data, len, text);
        rc = put_text(key, text, piece);
    } else {
        rc = hl_err_say(HL_ERR_NO_MEM, "no memory for the value of key %s", key);
    }
    free(piece);
    free(text);
    if (!rc) {
        hl_kvs_cache_put(&hl_boot_kvs, hl_job.rank, key, data, len);
    }
    return rc;
}

/* Gets one piece of a value. */
static int get_piece(int rank, const char *name, char *piece, size_t cap, bool waits)
{
    int rc = method->get(rank, name, piece, cap, waits);
    hl_stat_rank_add(HL_STAT_RANK_launcher_gets, rc != HL_ERR_AGAIN);
    return rc;
}

/* Gets all pieces as *text, which the caller frees; *data_len: bytes of the value, by the first piece. */
static int get_text(int rank, const char *key, char **text, size_t *data_len, bool waits)
{
    char name[KEY];
    size_t most = method->value_max, text_len = 0;
    char *t = malloc(most + 1);
    int rc = t ? piece_key(name, rank, key, 0)
               : hl_err_say(HL_ERR_NO_MEM, "no memory for the value of key %s", key);
    if (!rc) {
        rc = get_piece(rank, name, t, most + 1, waits);
    }
    if (!rc && hl_boot_code_look(t, &text_len, data_len)) {
        rc = hl_err_say(HL_ERR_OTHER, "the value of %s was changed on its way", name);
    }
    if (!rc && text_len > most) {
        char *more = realloc(t, text_len + 1);
        t = more ? more : t;
        rc = more ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory for the value of key %s", key);
    }
    for (size_t at = most, i = 1; !rc && at < text_len; at += most, i++) {
        rc = piece_key(name, rank, key, i);
        if (!rc) {
            rc = get_piece(rank, name, t + at, hl_min_size(most, text_len - at) + 1, waits);
        }
        if (rc == HL_ERR_FOUND_NONE) {
            rc = hl_err_say(HL_ERR_OTHER, "the value of %s is missing", name);
        }
    }
    if (rc) {
        free(t);
        return rc;
    }
    *text = t;
    return 0;
}

/* Gets a value without the cache. `waits`: see boot_method.h. */
static int get_value(int rank, const char *key, void *data, size_t cap, size_t *len, bool waits)
{
    char *text = NULL;
    size_t data_len = 0;
    int rc = get_text(rank, key, &text, &data_len, waits);
    if (rc) {
        return rc;
    }
    if (data_len > cap) {
        rc = hl_err_say(HL_ERR_TRUNCATE, "value of key %s of rank %d: %zu bytes, room for %zu", key, rank,
                        data_len, cap);
    } else if (hl_boot_code_read(text, data, data_len)) {
        rc = hl_err_say(HL_ERR_OTHER, "the value of key %s of rank %d was changed on its way", key, rank);
    }
    if (!rc || rc == HL_ERR_TRUNCATE) {
        *len = data_len;
    }
    free(text);
    return rc;
}

static int ask_launcher(int rank, const char *key, void *data, size_t cap, size_t *len)
{
    return get_value(rank, key, data, cap, len, true);
}

static int ask_free_launcher(int rank, const char *key, void *data, size_t cap, size_t *len)
{
    return get_value(rank, key, data, cap, len, false);
}

int hl_boot_get(int rank, const char *key, void *data, size_t cap, size_t *len)
{
    return hl_kvs_cache_get(&hl_boot_kvs, rank, key, data, cap, len, ask_launcher);
}

int hl_boot_try_get(int rank, const char *key, void *data, size_t cap, size_t *len)
{
    return hl_kvs_cache_try(&hl_boot_kvs, rank, key, data, cap, len, ask_free_launcher);
}

static int enter_fence(int also, void (*serve)(void *), void *arg)
{
    hl_hang_fence();
    /* relaxed, both: callers of hl_boot_in_fence are in a fence themselves, or ask again later. */
    hl_a32_add_relaxed(&fencing, 1);
    int rc = method->fence(also, serve, arg);
    hl_a32_add_relaxed(&fencing, UINT32_MAX);
    return rc;
}

int hl_boot_fence(void)
{
    return enter_fence(-1, NULL, NULL);
}

struct late_call {
    int timer;
    void (*late)(void *);
    void *arg;
};

static void call_late(void *at)
{
    const struct late_call *c = at;
    uint64_t times;
    if (read(c->timer, &times, sizeof times) > 0) {
        c->late(c->arg);
    }
}

int hl_boot_fence_late(int ms, void (*late)(void *), void *arg)
{
    if (hl_job.size == 1) {
        return hl_boot_fence();
    }
    struct itimerspec at = {.it_value = {ms / 1000, ms % 1000 * 1000000L}};
    struct late_call c = {timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), late, arg};
    if (c.timer < 0 || timerfd_settime(c.timer, 0, &at, NULL) != 0) {
        late(arg);
    }
    int rc = enter_fence(c.timer, call_late, &c);
    if (c.timer >= 0) {
        close(c.timer);
    }
    return rc;
}

bool hl_boot_in_fence(void)
{
    return hl_a32_load_relaxed(&fencing) != 0; /* relaxed: only a number; nothing is ordered by it. */
}

/* Flushes a stream unless another thread is inside it: a dying process must not wait for a lock. */
static void flush_if_free(FILE *f)
{
    if (!ftrylockfile(f)) {
        fflush_unlocked(f);
        funlockfile(f);
    }
}

static void *flush_all(void *unused)
{
    fflush(NULL);
    return unused;
}

static hl_a32 last_code; /* atomic: several threads may end the job at once; any one's code is right */

static void leave_now(int unused)
{
    _exit((int)hl_a32_load_acquire(&last_code)); /* acquire: pairs with the release in leave_within. */
}

/* Makes this process leave in `seconds` even if the next step waits for ever; its exit code then tells the
 * launcher. The alarm may come to this thread, so no other thread need run. */
static void leave_within(unsigned seconds, int code)
{
    struct sigaction leave = {.sa_handler = leave_now};
    sigset_t alarms;
    /* release: whichever thread the alarm comes to reads a code; pairs with the acquire in leave_now. */
    hl_a32_store_release(&last_code, (uint32_t)code);
    sigaction(SIGALRM, &leave, NULL);
    alarm(seconds);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
}

/* Flushes the program's files in a thread of its own, since some stream may be locked for ever. (glibc takes
 * the newest files first and the three standard ones, of which stdin may have a reader inside, last.) */
static void flush_for_a_while(void)
{
    pthread_t t;
    struct timespec end;
    bool runs = pthread_create(&t, NULL, flush_all, NULL) == 0; /* no signals are blocked: SIGALRM may come */
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += FLUSH_MS * 1000000L;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    if (runs && pthread_timedjoin_np(t, NULL, &end) != 0) {
        pthread_detach(t);
    }
}

/* Gives the reader of a pipe up to READ_MS before the launcher hears of the end: foreign launchers may end a
 * job without another look at its pipes (Hydra does). Ours does not. */
static void let_be_read(int fd)
{
    struct stat what;
    int unread = 0;
    bool pipe = fstat(fd, &what) == 0 && S_ISFIFO(what.st_mode);
    for (int ms = 0; pipe && ms < READ_MS && ioctl(fd, FIONREAD, &unread) == 0 && unread > 0; ms++) {
        struct timespec t = {0, 1000000};
        nanosleep(&t, NULL);
    }
}

/* Flushes this process's streams and gives their readers time. */
static void say_last(int code)
{
    flush_if_free(stdout);
    flush_if_free(stderr);
    /* In a handler of a signal raised within malloc, pthread_create waits for malloc's lock for ever. */
    leave_within(FLUSH_SECONDS, code);
    flush_for_a_while();
    alarm(0);
    if (!job.has_secret) {
        let_be_read(STDOUT_FILENO);
        let_be_read(STDERR_FILENO);
    }
}

static void end_job(int code)
{
    if (hl_boot_is_mine()) {
        hl_stat_print_none(code);
        say_last(code);
        leave_within(ABORT_SECONDS, code); /* PMIx_Abort waits for its server without limit */
        method->abort(code);
    }
}

void hl_boot_left(const char *missing)
{
    if (hl_boot_is_mine() && !job.has_secret && method != &hl_boot_self) {
        hl_log(HL_LOG_ERROR, "left without %s: its exit code 0 becomes 1; call %s before the program ends",
               missing, missing);
        say_last(1);
        _exit(1);
    }
}

static bool ask_appnum(int *appnum)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    static enum { UNASKED, SAID, UNKNOWN } answer;
    static int said;
    pthread_mutex_lock(&once);
    if (answer == UNASKED && method != NULL && hl_boot_is_mine()) {
        answer = method->appnum != NULL && !method->appnum(&said) && said >= 0 ? SAID : UNKNOWN;
    }
    bool known = answer == SAID;
    *appnum = said;
    pthread_mutex_unlock(&once);
    return known;
}

int hl_boot_watch_fd(void)
{
    return method ? method->watch_fd() : -1;
}

int hl_boot_keep_notice(int rank, int code)
{
    if (!hl_notices_put(&early, rank, code)) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the news that rank %d has died", rank);
    }
    hl_a32_store_relaxed(&n_early, (uint32_t)early.count); /* relaxed: there is no other thread yet. */
    return 0;
}

bool hl_boot_watch_waits(void)
{
    /* relaxed: a hint. */
    return hl_a32_load_relaxed(&n_early) != 0 ||
           (method != NULL && method->watch_waits != NULL && method->watch_waits());
}

int hl_boot_watch_take(int *rank, int *code)
{
    if (!hl_notices_take(&early, rank, code)) {
        return method->watch_take(rank, code);
    }
    hl_a32_store_relaxed(&n_early, (uint32_t)early.count); /* relaxed: a hint; only this thread takes. */
    return 1;
}

static int open_once(void)
{
    static const char *const names[] = {"auto", "pmi1", "pmix", "self"}; /* in the order of lib/conf/vars.h */
    int rc = hl_boot_choose(names[hl_conf.boot], hl_conf_env, &method, &job);
    if (!rc) {
        hl_log_identify(hl_log_unit(), job.rank); /* so early: lines about waiting for other ranks need it */
    }
    if (!rc) {
        rc = agree_secret();
    }
    if (rc) {
        return rc;
    }
    hl_job.rank = job.rank;
    hl_job.size = job.size;
    hl_boot.secret[0] = job.secret[0];
    hl_boot.secret[1] = job.secret[1];
    hl_job.nonce = hl_siphash(job.secret, "hotlane nonce", 13);
    hl_job.end_job = end_job;
    hl_job.end_words = end_words;
    hl_job.node_lives = hl_boot_socket_lives;
    hl_job.ask_appnum = ask_appnum;
    hl_boot.method = method->name;
    hl_boot.reason = job.why;
    hl_boot.goes_on = job.goes_on;
    /* Our launcher waits for the process that it started, a group leader; not for what a script starts. */
    hl_boot.stops_told = job.has_secret && getpgrp() == getpid();
    return hl_boot_node_prove(method, find_clique());
}

int hl_boot_open(void)
{
    int rc = 0;
    pthread_mutex_lock(&turn);
    if (closed) {
        rc = method->again();
        closed = rc != 0;
    } else if (!owner) {
        rc = open_once();
        owner = rc ? 0 : getpid();
    }
    pthread_mutex_unlock(&turn);
    return rc;
}

int hl_boot_close(bool last)
{
    int rc = 0;
    if ((!last && !job.has_secret) || !hl_boot_is_mine()) {
        return 0;
    }
    pthread_mutex_lock(&turn);
    if (!closed) {
        closed = true;
        rc = method->fini();
    }
    pthread_mutex_unlock(&turn);
    return rc;
}
