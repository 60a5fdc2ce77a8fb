/* A libpmix.so.2 whose server is the test itself: rank 1 of 3 of the job "fake". What others would put is put
 * by this process with rank 2's voice; fences end on a thread of their own, or not at all. */
#include <pmix.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The test's knobs and views, found by dlsym. */
struct fake_pmix {
    pmix_status_t init_result, fence_result;
    bool hold;  /* fences and aborts do not end */
    bool lazy;  /* nothing is at hand at once */
    bool vague; /* numbers are none */
    int commits, finalized, aborted, signals_blocked;
    int connection; /* descriptor, open on exec as that of the true library is */
    pmix_notification_fn_t handler;
    void (*give)(const char *key, const char *value); /* what another rank has put and committed */
};
static void give(const char *key, const char *value);
PMIX_EXPORT struct fake_pmix fake_pmix = {.connection = -1, .give = give};

static struct pair {
    char key[64], *value;
} pairs[64];
static int count, shown; /* pairs put, and those that a commit has shown */

PMIX_EXPORT pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo)
{
    int s[2];
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    fake_pmix.signals_blocked = sigismember(&now, SIGINT) && sigismember(&now, SIGCHLD);
    if (fake_pmix.init_result != PMIX_SUCCESS) {
        return fake_pmix.init_result;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s)) {
        return PMIX_ERROR;
    }
    fake_pmix.connection = s[0];
    *proc = (pmix_proc_t){.nspace = "fake", .rank = 1};
    return PMIX_SUCCESS;
}

PMIX_EXPORT pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo)
{
    fake_pmix.finalized++;
    return PMIX_SUCCESS;
}

PMIX_EXPORT pmix_status_t PMIx_Abort(int status, const char msg[], pmix_proc_t procs[], size_t nprocs)
{
    fake_pmix.aborted = status;
    while (fake_pmix.hold) {
        pause();
    }
    return PMIX_SUCCESS;
}

PMIX_EXPORT pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[], pmix_value_t *val)
{
    snprintf(pairs[count].key, sizeof pairs[count].key, "%s", key);
    pairs[count++].value = strdup(val->data.string);
    return PMIX_SUCCESS;
}

PMIX_EXPORT pmix_status_t PMIx_Commit(void)
{
    fake_pmix.commits++;
    shown = count;
    return PMIX_SUCCESS;
}

static void give(const char *key, const char *value)
{
    pmix_value_t v = {.type = PMIX_STRING, .data = {.string = (char *)(uintptr_t)value}};
    PMIx_Put(PMIX_GLOBAL, key, &v);
    shown = count;
}

struct ending {
    pmix_op_cbfunc_t done;
    void *arg;
};

static void *end_fence(void *p)
{
    struct ending e = *(struct ending *)p;
    free(p);
    e.done(fake_pmix.fence_result, e.arg);
    return NULL;
}

PMIX_EXPORT pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                        size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    pthread_t t;
    struct ending *e = malloc(sizeof *e);
    if (fake_pmix.hold || nprocs != 1 || procs[0].rank != PMIX_RANK_WILDCARD) {
        free(e);
        return fake_pmix.hold ? PMIX_SUCCESS : PMIX_ERROR;
    }
    *e = (struct ending){cbfunc, cbdata};
    pthread_create(&t, NULL, end_fence, e);
    pthread_detach(t);
    return PMIX_SUCCESS;
}

PMIX_EXPORT pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[], const pmix_info_t info[],
                                   size_t ninfo, pmix_value_t **val)
{
    pmix_value_t *v = calloc(1, sizeof *v);
    if (!strcmp(key, PMIX_JOB_SIZE) || !strcmp(key, PMIX_APPNUM)) {
        v->type = fake_pmix.vague ? PMIX_BOOL : PMIX_UINT32;
        v->data.uint32 = proc->rank == PMIX_RANK_WILDCARD ? 3 : 5;
        *val = v;
        return PMIX_SUCCESS;
    }
    bool now = ninfo == 1 && !strcmp(info[0].key, PMIX_IMMEDIATE);
    for (int i = 0; i < shown && !(now && fake_pmix.lazy); i++) {
        if (proc->rank <= 2 && !strcmp(pairs[i].key, key)) {
            v->type = PMIX_STRING;
            v->data.string = strdup(pairs[i].value);
            *val = v;
            return PMIX_SUCCESS;
        }
    }
    free(v);
    return now ? PMIX_ERR_NOT_FOUND : PMIX_ERR_TIMEOUT;
}

PMIX_EXPORT pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes,
                                                      pmix_info_t info[], size_t ninfo,
                                                      pmix_notification_fn_t evhdlr,
                                                      pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata)
{
    fake_pmix.handler = evhdlr;
    return PMIX_SUCCESS;
}

PMIX_EXPORT const char *PMIx_Error_string(pmix_status_t status)
{
    return status == PMIX_ERR_UNREACH ? "UNREACHABLE" : "some error";
}
