/* PMIx: Open MPI's orterun and prterun, PRRTE, Slurm's pmix plugin. The library is opened only when the
 * environment offers PMIx, and never closed.
 *
 * It runs a thread of its own, which calls functions of this file for ended fences, deaths and the server's
 * end. These only note what they are told and ring an eventfd, so that a thread in poll (a fence, the receive
 * thread) wakes as it does when PMI_FD hangs up. The PMIx standard fixes the layout of the library's
 * structures. None of its macros are used, because they call functions that older libraries lack. */
#include "boot.h"
#include "boot_method.h"
#include "err.h"
#include "hang.h"
#include "job.h"
#include "notices.h"
#include "util.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pmix.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LOOKED_AT = 256 /* descriptors */,
    TIMEOUT_SECONDS = 20 /* seconds for a value of a rank of another node */
};

static struct {
    pmix_status_t (*init)(pmix_proc_t *, pmix_info_t[], size_t);
    pmix_status_t (*finalize)(const pmix_info_t[], size_t);
    pmix_status_t (*abort)(int, const char[], pmix_proc_t[], size_t);
    pmix_status_t (*put)(pmix_scope_t, const char[], pmix_value_t *);
    pmix_status_t (*commit)(void);
    pmix_status_t (*fence_nb)(const pmix_proc_t[], size_t, const pmix_info_t[], size_t, pmix_op_cbfunc_t,
                              void *);
    pmix_status_t (*get)(const pmix_proc_t *, const char[], const pmix_info_t[], size_t, pmix_value_t **);
    pmix_status_t (*handle)(pmix_status_t[], size_t, pmix_info_t[], size_t, pmix_notification_fn_t,
                            pmix_hdlr_reg_cbfunc_t, void *);
    const char *(*words)(pmix_status_t);
} lib;

static struct {
    pthread_mutex_t turn; /* held for a whole put, get, fence or fini */
    bool dirty;           /* a value was put since the last fence; guarded by turn */
    pmix_proc_t me;       /* written by init */
    int claim;            /* that of hl_boot_claim, from init to fini */
    int bell;             /* eventfd, rung with each notice; init makes it, and it stays */
    int over;             /* eventfd, rung when the fence is over; init makes it, and it stays */
    pthread_mutex_t told; /* guards what PMIx's thread writes: all fields below */
    bool left;            /* fini was called: events are ignored from now on */
    bool gone;            /* the server has ended, or ends the job */
    uintptr_t fences;     /* number of the last fence */
    bool met;             /* the last fence is over, with `status` */
    pmix_status_t status;
    struct hl_notices notices;
} px = {.turn = PTHREAD_MUTEX_INITIALIZER,
        .told = PTHREAD_MUTEX_INITIALIZER,
        .bell = -1,
        .over = -1,
        .claim = -1};

/* An option of a PMIx call: `key` is true. */
static pmix_info_t make_option(const char *key)
{
    pmix_info_t w = {.value = {.type = PMIX_BOOL, .data = {.flag = true}}};
    snprintf(w.key, sizeof w.key, "%s", key);
    return w;
}

static int load_pmix(void)
{
    void *so = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!so) {
        return hl_err_say(
            HL_ERR_OTHER,
            "the launcher speaks PMIx, but its library cannot be loaded: %s. On Debian: apt-get "
            "install libpmix2",
            dlerror());
    }
    static const char *const names[] = {
        "PMIx_Init",        "PMIx_Finalize", "PMIx_Abort", "PMIx_Put",
        "PMIx_Commit",      "PMIx_Fence_nb", "PMIx_Get",   "PMIx_Register_event_handler",
        "PMIx_Error_string"};
    void **const at[] = {(void **)&lib.init, (void **)&lib.finalize, (void **)&lib.abort,
                         (void **)&lib.put,  (void **)&lib.commit,   (void **)&lib.fence_nb,
                         (void **)&lib.get,  (void **)&lib.handle,   (void **)&lib.words};
    for (size_t i = 0; i < HL_COUNT_OF(names); i++) {
        *at[i] = dlsym(so, names[i]);
        if (!*at[i]) {
            return hl_err_say(HL_ERR_OTHER, "libpmix.so.2 has no %s: PMIx 3 or newer is needed", names[i]);
        }
    }
    return 0;
}

static void ring_eventfd(int fd)
{
    uint64_t one = 1;
    (void)!write(fd, &one, sizeof one); /* a full counter means that it rings already */
}

static void silence_eventfd(int fd)
{
    uint64_t count;
    (void)!read(fd, &count, sizeof count); /* it may be empty: nobody has rung */
}

/* ---- functions that PMIx's thread calls ---- */

/* Notes an event. A death names a process of this job; any other event means the end of the job. */
static void note_event(pmix_status_t what, const pmix_info_t *info, size_t count)
{
    int rank = -1, code = 1;
    for (size_t i = 0; i < count; i++) {
        const pmix_value_t *v = &info[i].value;
        if (!strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) && v->type == PMIX_PROC && v->data.proc &&
            !strcmp(v->data.proc->nspace, px.me.nspace) && v->data.proc->rank <= INT_MAX) {
            rank = (int)v->data.proc->rank;
        } else if (!strcmp(info[i].key, PMIX_EXIT_CODE) && v->type == PMIX_INT) {
            code = v->data.integer;
        }
    }
    if (rank < 0 || what == PMIX_ERR_LOST_CONNECTION || !hl_notices_put(&px.notices, rank, code)) {
        px.gone = true;
    }
}

static void pmix_event(size_t id, pmix_status_t what, const pmix_proc_t *source, pmix_info_t info[],
                       size_t count, pmix_info_t results[], size_t results_count,
                       pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    pthread_mutex_lock(&px.told);
    if (!px.left) {
        note_event(what, info, count);
    }
    pthread_mutex_unlock(&px.told);
    ring_eventfd(px.bell);
    ring_eventfd(px.over);
    if (done) {
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
    }
}

/* A fence is over. `number` tells the last fence from one that was given up before. */
static void on_fence(pmix_status_t status, void *number)
{
    pthread_mutex_lock(&px.told);
    if ((uintptr_t)number == px.fences) {
        px.met = true;
        px.status = status;
    }
    pthread_mutex_unlock(&px.told);
    ring_eventfd(px.over);
}

/* ---- init ---- */

static bool pmix_offered(hl_boot_env_fn *env)
{
    return env("PMIX_NAMESPACE") != NULL && env("PMIX_RANK") != NULL;
}

static void look_at_fds(bool open[LOOKED_AT])
{
    for (int fd = 0; fd < LOOKED_AT; fd++) {
        open[fd] = fcntl(fd, F_GETFD) >= 0;
    }
}

/* Makes the connection to the server close-on-exec, which the library forgets: programs that this rank
 * starts must not have it. */
static void set_server_cloexec(const bool before[LOOKED_AT])
{
    struct sockaddr_storage peer;
    for (int fd = 0; fd < LOOKED_AT; fd++) {
        socklen_t len = sizeof peer;
        if (!before[fd] && !getpeername(fd, (struct sockaddr *)&peer, &len)) {
            fcntl(fd, F_SETFD, FD_CLOEXEC);
        }
    }
}

/* Calls PMIx_Init with all signals blocked, so that the thread it starts takes no signals of the program. */
static pmix_status_t start_pmix(void)
{
    bool open[LOOKED_AT];
    sigset_t all, old;
    look_at_fds(open);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pmix_status_t rc = lib.init(&px.me, NULL, 0);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    set_server_cloexec(open);
    return rc;
}

static int listen_to_events(void)
{
    pmix_status_t codes[] = {
        PMIX_ERR_LOST_CONNECTION,    PMIX_ERR_PROC_REQUESTED_ABORT,    PMIX_ERR_PROC_TERM_WO_SYNC,
        PMIX_ERR_PROC_KILLED_BY_CMD, PMIX_ERR_PROC_ABORTED_BY_SIG,     PMIX_ERR_PROC_SENSOR_BOUND_EXCEEDED,
        PMIX_ERR_JOB_ABORTED,        PMIX_ERR_JOB_KILLED_BY_CMD,       PMIX_ERR_JOB_ABORTED_BY_SIG,
        PMIX_ERR_JOB_TERM_WO_SYNC,   PMIX_ERR_JOB_ABORTED_BY_SYS_EVENT};
    px.bell = px.bell < 0 ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : px.bell;
    px.over = px.over < 0 ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : px.over;
    if (px.bell < 0 || px.over < 0) {
        return hl_err_say(HL_ERR_OTHER, "no descriptors for the launcher's events: %s%s", strerror(errno),
                          hl_err_hint(errno));
    }
    pmix_status_t rc = lib.handle(codes, HL_COUNT_OF(codes), NULL, 0, pmix_event, NULL, NULL);
    return rc >= 0 ? 0
                   : hl_err_say(HL_ERR_OTHER, "the launcher does not report events (the deaths of ranks): %s",
                                lib.words(rc));
}

/* Asks the launcher for a number about a process or the job. False: it tells none, and *rc says why. */
static bool learn_number(pmix_rank_t of, const char *key, int *out, pmix_status_t *rc)
{
    pmix_proc_t who = px.me;
    pmix_value_t *v = NULL;
    who.rank = of;
    *rc = lib.get(&who, key, NULL, 0, &v);
    if (*rc != PMIX_SUCCESS || !v) {
        return false;
    }
    bool good = v->type == PMIX_UINT32 && v->data.uint32 <= INT_MAX;
    *rc = good ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    if (good) {
        *out = (int)v->data.uint32;
    }
    if (v->type == PMIX_STRING) {
        free(v->data.string);
    }
    free(v);
    return good;
}

/* Claims the rank: the server would count two programs of one rank as two ranks in a fence. */
static int claim_rank(hl_boot_env_fn *env, struct hl_boot_job *job)
{
    char name[512];
    const char *server = env("PMIX_SERVER_URI2"); /* servers of all versions set this variable */
    snprintf(name, sizeof name, "%s %s %s", env("PMIX_RANK"), env("PMIX_NAMESPACE"), server ? server : "");
    return hl_boot_claim(name, job, &px.claim);
}

static int pmix_init(hl_boot_env_fn *env, struct hl_boot_job *job)
{
    int rc = load_pmix();
    rc = rc ? rc : claim_rank(env, job);
    if (rc) {
        return rc;
    }
    pmix_status_t status = start_pmix();
    if (status != PMIX_SUCCESS) {
        hl_boot_unclaim(&px.claim);
        return hl_err_say(HL_ERR_OTHER,
                          "PMIX_NAMESPACE is set, but the PMIx server of rank %s does not answer: %s",
                          env("PMIX_RANK"), lib.words(status));
    }
    if (strcmp(px.me.nspace, env("PMIX_NAMESPACE")) != 0) {
        rc = hl_err_say(HL_ERR_OTHER, "the PMIx server says %s, the environment PMIX_NAMESPACE=%s",
                        px.me.nspace, env("PMIX_NAMESPACE"));
    }
    if (!rc && !learn_number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &job->size, &status)) {
        rc =
            hl_err_say(HL_ERR_OTHER, "the launcher does not tell the size of the job: %s", lib.words(status));
    }
    if (!rc && px.me.rank >= (pmix_rank_t)job->size) {
        rc = hl_err_say(HL_ERR_OTHER, "the PMIx server says rank %u of %d", px.me.rank, job->size);
    }
    rc = rc ? rc : listen_to_events();
    if (rc) {
        lib.finalize(NULL, 0);
        hl_boot_unclaim(&px.claim);
        return rc;
    }
    job->rank = (int)px.me.rank;
    snprintf(job->why, sizeof job->why, "PMIX_NAMESPACE was set and a PMIx server answered");
    hl_boot_hide_launcher(env);
    return 0;
}

/* ---- key-value space ---- */

static bool is_gone(void)
{
    pthread_mutex_lock(&px.told);
    bool gone = px.gone || px.left;
    pthread_mutex_unlock(&px.told);
    return gone;
}

static int no_launcher(void)
{
    return hl_err_say(HL_ERR_OTHER, "there is no launcher any more");
}

static int pmix_put(const char *key, const char *value)
{
    pmix_value_t v = {.type = PMIX_STRING, .data = {.string = (char *)(uintptr_t)value}}; /* only read */
    if (is_gone()) {
        return no_launcher();
    }
    pthread_mutex_lock(&px.turn);
    pmix_status_t rc = lib.put(PMIX_GLOBAL, key, &v);
    px.dirty = true;
    pthread_mutex_unlock(&px.turn);
    return rc == PMIX_SUCCESS ? 0 : hl_err_say(HL_ERR_OTHER, "the launcher refused a put: %s", lib.words(rc));
}

/* Gets a value. Not every server has the values that a fence collected (PRRTE 3 has none for a client of
 * libpmix 4). So a value of a rank of another node that is not found at once is asked for again, from
 * that rank's server. */
static pmix_status_t fetch_pmix_value(int rank, const char *key, pmix_value_t **v)
{
    pmix_info_t now = make_option(PMIX_IMMEDIATE);
    pmix_info_t soon = {.key = PMIX_TIMEOUT,
                        .value = {.type = PMIX_INT, .data = {.integer = TIMEOUT_SECONDS}}};
    pmix_proc_t who = px.me;
    who.rank = (pmix_rank_t)rank;
    pmix_status_t rc = lib.get(&who, key, &now, 1, v);
    bool near = who.rank == px.me.rank || (hl_boot.method != NULL && hl_job_node_of(rank) >= 0);
    if (rc != PMIX_ERR_NOT_FOUND || near) {
        return rc;
    }
    rc = lib.get(&who, key, &soon, 1, v);
    return rc == PMIX_ERR_TIMEOUT || rc == PMIX_ERROR ? PMIX_ERR_NOT_FOUND
                                                      : rc; /* both mean: no value came */
}

static int pmix_get(int rank, const char *key, char *value, size_t cap, bool waits)
{
    pmix_value_t *v = NULL;
    int result = 0;
    if (is_gone()) {
        return no_launcher();
    }
    if ((waits ? pthread_mutex_lock(&px.turn) : pthread_mutex_trylock(&px.turn)) != 0) {
        return HL_ERR_AGAIN;
    }
    pmix_status_t rc = fetch_pmix_value(rank, key, &v);
    pthread_mutex_unlock(&px.turn);
    if (rc == PMIX_ERR_NOT_FOUND) {
        return HL_ERR_FOUND_NONE;
    }
    if (rc != PMIX_SUCCESS || !v) {
        return hl_err_say(HL_ERR_OTHER, "the launcher does not give the value of %s: %s", key, lib.words(rc));
    }
    if (v->type != PMIX_STRING || !v->data.string || strlen(v->data.string) >= cap) {
        result =
            hl_err_say(HL_ERR_OTHER, "the launcher's value of %s is no text or longer than %zu", key, cap);
    } else {
        strcpy(value, v->data.string);
    }
    if (v->type == PMIX_STRING) {
        free(v->data.string);
    }
    free(v);
    return result;
}

/* Returns 1 when the last fence is over, 0 when it is not, or its error. */
static int fence_result(void)
{
    int rc = 0;
    pthread_mutex_lock(&px.told);
    pmix_status_t status = px.status;
    bool met = px.met, gone = px.gone;
    pthread_mutex_unlock(&px.told);
    if (met && status == PMIX_SUCCESS) {
        rc = 1;
    } else if (met && (status == PMIX_ERR_PROC_TERM_WO_SYNC || status == PMIX_ERR_PROC_ABORTED_BY_SIG)) {
        rc = hl_err_say(HL_ERR_PROC_ABORTED, "ranks of the job have died");
    } else if (met) {
        rc = hl_err_say(HL_ERR_OTHER, "the launcher's fence failed: %s", lib.words(status));
    } else if (gone) {
        rc = hl_err_say(HL_ERR_OTHER, "the launcher has ended");
    }
    return rc;
}

static uintptr_t next_fence(void)
{
    pthread_mutex_lock(&px.told);
    uintptr_t number = ++px.fences;
    px.met = false;
    pthread_mutex_unlock(&px.told);
    silence_eventfd(px.over);
    return number;
}

static int await_fence(int also, void (*serve)(void *), void *arg)
{
    struct pollfd p[2] = {{px.over, POLLIN, 0}, {also, POLLIN, 0}};
    struct hl_hang hang;
    int rc;
    hl_hang_begin(&hang);
    while (!(rc = fence_result())) {
        int n = poll(p, 2, hl_hang_nap_ms());
        if (n > 0 && p[1].revents) {
            serve(arg);
        }
        if (n > 0 && p[0].revents) {
            silence_eventfd(px.over);
        }
        if (n == 0) {
            hl_hang_watch_fence(&hang, NULL);
        }
    }
    hl_hang_end(&hang);
    return rc > 0 ? 0 : rc;
}

static int pmix_fence(int also, void (*serve)(void *), void *arg)
{
    pmix_info_t collect = make_option(PMIX_COLLECT_DATA);
    pmix_proc_t all = px.me;
    int rc = 0;
    if (is_gone()) {
        return no_launcher();
    }
    all.rank = PMIX_RANK_WILDCARD;
    pthread_mutex_lock(&px.turn);
    uintptr_t number = next_fence();
    pmix_status_t status = px.dirty ? lib.commit() : PMIX_SUCCESS;
    px.dirty = false;
    if (status == PMIX_SUCCESS) {
        status = lib.fence_nb(&all, 1, &collect, 1, on_fence, (void *)number);
    }
    if (status != PMIX_SUCCESS) {
        rc = hl_err_say(HL_ERR_OTHER, "the launcher refused a fence: %s", lib.words(status));
    }
    rc = rc ? rc : await_fence(also, serve, arg);
    pthread_mutex_unlock(&px.turn);
    return rc;
}

/* ---- the end ---- */

static void pmix_abort(int code)
{
    if (!is_gone()) {
        lib.abort(code, "", NULL, 0);
    }
}

static int pmix_appnum(int *out)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    pthread_mutex_lock(&px.turn);
    bool told = !is_gone() && learn_number(px.me.rank, PMIX_APPNUM, out, &rc);
    pthread_mutex_unlock(&px.turn);
    return told ? 0 : HL_ERR_FOUND_NONE;
}

static int pmix_watch_fd(void)
{
    pthread_mutex_lock(&px.told);
    bool left = px.left;
    pthread_mutex_unlock(&px.told);
    return left ? -1 : px.bell;
}

static int pmix_watch_take(int *rank, int *code)
{
    int rc = 0;
    pthread_mutex_lock(&px.told);
    if (hl_notices_take(&px.notices, rank, code)) {
        rc = 1;
    } else if (px.gone) {
        rc = HL_ERR_OTHER; /* the bell is not silenced: the caller is to come again */
    } else {
        silence_eventfd(px.bell);
    }
    pthread_mutex_unlock(&px.told);
    return rc;
}

static int pmix_fini(void)
{
    pthread_mutex_lock(&px.told);
    bool gone = px.gone || px.left;
    px.left = true;
    pthread_mutex_unlock(&px.told);
    pthread_mutex_lock(&px.turn);
    pmix_status_t rc = gone ? PMIX_SUCCESS : lib.finalize(NULL, 0);
    hl_boot_unclaim(&px.claim);
    pthread_mutex_unlock(&px.turn);
    return rc == PMIX_SUCCESS ? 0
                              : hl_err_say(HL_ERR_OTHER, "leaving the launcher failed: %s", lib.words(rc));
}

/* Always refuses: libpmix 5.0 corrupts its memory in a second PMIx_Finalize, and Open MPI 4.1's server counts
 * a rank that has left as present, so that fences end too early. */
static int pmix_again(void)
{
    return hl_err_say(HL_ERR_OTHER, "a PMIx launcher does not take back a rank that has left: open the next "
                                    "session before MPI_Finalize");
}

const struct hl_boot_method hl_boot_pmix = {.name = "pmix",
                                            .value_max = 16384,
                                            .offered = pmix_offered,
                                            .init = pmix_init,
                                            .put = pmix_put,
                                            .get = pmix_get,
                                            .fence = pmix_fence,
                                            .abort = pmix_abort,
                                            .appnum = pmix_appnum,
                                            .watch_fd = pmix_watch_fd,
                                            .watch_take = pmix_watch_take,
                                            .fini = pmix_fini,
                                            .again = pmix_again};
