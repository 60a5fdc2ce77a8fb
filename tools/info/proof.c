/* hotlane-info --prove: runs the steps in a job, which it starts if need be. */
#include "proof.h"

#include "boot.h"
#include "err.h"
#include "fab_lib.h"
#include "job.h"
#include "life.h"
#include "log.h"
#include "prove.h"
#include "util.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LIMIT_S 120 /* seconds of a step, beyond those asked for; after them it counts as hanging */

void proof_fail(struct finding *f, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!f->failed) {
        vsnprintf(f->text, sizeof f->text, fmt, args);
    }
    va_end(args);
    f->failed = true;
}

bool proof_went(struct finding *f, int rc, const char *call)
{
    char words[MPI_MAX_ERROR_STRING];
    int len = 0;
    if (rc != MPI_SUCCESS) {
        MPI_Error_string(rc, words, &len);
        proof_fail(f, "%s: %.*s", call, len, words);
    }
    return rc == MPI_SUCCESS;
}

/* ---- steps that hang ---- */

static struct {
    pthread_mutex_t lock;
    struct proof *p;
    const char *step; /* NULL: no step is running */
    uint64_t begin_ns, limit_s;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Ends the job because a step hangs on this rank; rank 0 prints the report first. */
static void give_up(void)
{
    struct proof *p = watch.p;
    if (p->me == 0) {
        struct proof_step *s = &p->steps[p->count++];
        *s = (struct proof_step){.name = watch.step};
        proof_fail(&s->found, "it does not end: something got lost, or a rank has ended (%llu s)",
                   (unsigned long long)watch.limit_s);
        p->failed++;
        proof_report(p);
        fflush(stdout);
    } else {
        fprintf(stderr, "hotlane-info: rank %d (%s): %s does not end\n", p->me, p->here.name, watch.step);
    }
    hl_job_abort(1);
}

static void *look_at_steps(void *unused)
{
    (void)unused;
    for (;;) {
        sleep(1);
        pthread_mutex_lock(&watch.lock);
        uint64_t limit = watch.limit_s + (watch.p->me == 0 ? 0 : 5);
        if (watch.step != NULL && hl_now_ns() - watch.begin_ns > limit * 1000000000) {
            give_up();
        }
        pthread_mutex_unlock(&watch.lock);
    }
    return NULL;
}

static void watch_step(struct proof *p, const char *step, double seconds)
{
    pthread_t thread;
    pthread_mutex_lock(&watch.lock);
    bool first = watch.p == NULL;
    watch.p = p;
    watch.step = step;
    watch.begin_ns = hl_now_ns();
    watch.limit_s = LIMIT_S + (uint64_t)seconds;
    pthread_mutex_unlock(&watch.lock);
    if (first && pthread_create(&thread, NULL, look_at_steps, NULL) == 0) {
        pthread_detach(thread);
    }
}

/* ---- steps ---- */

/* Gathers a step's results on rank 0: the finding of the first rank that failed, else rank 0's own. All ranks
 * learn how many steps have failed. */
static void gather(struct proof *p, const char *name, const struct finding *f)
{
    struct finding *all = p->me == 0 ? calloc((size_t)p->ranks, sizeof *all) : NULL;
    if (p->me == 0 && all == NULL) {
        hl_log(HL_LOG_ERROR, "no memory for what %d ranks have found", p->ranks);
        hl_job_abort(1);
    }
    MPI_Gather(f, sizeof *f, MPI_BYTE, all, sizeof *f, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (p->me == 0) {
        struct proof_step *s = &p->steps[p->count++];
        *s = (struct proof_step){.name = name, .found = *f};
        int r = 0;
        while (r < p->ranks && !all[r].failed) {
            r++;
        }
        if (r < p->ranks) {
            s->found.failed = true;
            snprintf(s->found.text, sizeof s->found.text, "rank %d (%s): %.300s", r, p->hosts[r].name,
                     all[r].text);
            p->failed++;
        }
    }
    MPI_Bcast(&p->failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(all);
}

static void take_step(struct proof *p, const char *name, double seconds,
                      void (*run)(struct proof *p, struct finding *f))
{
    struct finding f = {.failed = false};
    watch_step(p, name, seconds);
    run(p, &f);
    gather(p, name, &f);
    watch_step(p, NULL, 0);
}

/* Opens the network's endpoints anew on each rank by itself, even if that was tried when the network
 * opened. */
static void try_opening(struct proof *p, struct finding *f)
{
    const char *naps = NULL;
    uint64_t begin = hl_now_ns();
    int rc = hl_fab_prove(&naps);
    (void)p;
    if (rc != 0) {
        proof_fail(f, "%s", hl_err_text(rc));
    } else {
        snprintf(f->text, sizeof f->text,
                 "messages of %zu bytes, a put and, where it has them, an atomic from endpoint to endpoint, "
                 "in %.1f ms; "
                 "sleepers: %s",
                 hl_fab.eager, (double)(hl_now_ns() - begin) / 1e6,
                 naps != NULL ? naps : "woken by the descriptor of a queue");
    }
}

static void look_at_path(struct proof *p, struct finding *f)
{
    if (hl_job.node_size > 1) {
        proof_fail(
            f,
            "%d ranks of this host share memory, as HOTLANE_NEAR=%s says: what they do proves nothing of "
            "the network. Try: unset HOTLANE_NEAR",
            hl_job.node_size, hl_conf.near);
    } else if (!hl_fab_is_open()) {
        proof_fail(f, "the network is not open");
    } else {
        snprintf(f->text, sizeof f->text, "%d ranks, all by the network, on one host too", p->ranks);
    }
}

/* ---- the job ---- */

static void describe_host(struct proof_host *h)
{
    struct utsname u;
    memset(h, 0, sizeof *h);
    if (uname(&u) == 0) {
        snprintf(h->name, sizeof h->name, "%.63s", u.nodename);
        snprintf(h->system, sizeof h->system, "%.20s %.60s %.20s", u.sysname, u.release, u.machine);
    }
    if (hl_fab_is_open()) {
        snprintf(h->provider, sizeof h->provider, "%s", hl_fab.provider);
        h->libfabric = hl_fab.version;
        h->version = hl_fab_info->fabric_attr->prov_version;
        snprintf(h->device, sizeof h->device, "%s", hl_fab_info->domain_attr->name);
        snprintf(h->fabric, sizeof h->fabric, "%s", hl_fab_info->fabric_attr->name);
    }
}

static void meet(struct proof *p)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &p->me);
    MPI_Comm_size(MPI_COMM_WORLD, &p->ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    p->hosts = p->me == 0 ? calloc((size_t)p->ranks, sizeof *p->hosts) : NULL;
    if (p->me == 0 && p->hosts == NULL) {
        hl_log(HL_LOG_ERROR, "no memory for what %d ranks say of their hosts", p->ranks);
        hl_job_abort(1);
    }
    MPI_Gather(&p->here, sizeof p->here, MPI_BYTE, p->hosts, sizeof p->here, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (p->me == 0 && hl_random_bytes(&p->seed, sizeof p->seed) != 0) {
        p->seed = hl_now_ns();
    }
    MPI_Bcast(&p->seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
}

static int run_steps(struct proof *p)
{
    meet(p);
    take_step(p, "path", 0, look_at_path);
    if (p->failed == 0) {
        take_step(p, "opening test", 0, try_opening);
        take_step(p, "random", p->seconds, proof_random);
        take_step(p, "order", 0, proof_order);
        take_step(p, "lost peer", 0, proof_lost);
        take_step(p, "figures", 0, proof_measure);
    }
    if (p->me == 0) {
        proof_report(p);
        fflush(stdout);
    }
    MPI_Finalize();
    free(p->hosts);
    return p->failed > 0;
}

/* Nothing can be tried: prints a report that says why. Only one rank prints. */
static int refuse(struct proof *p, int rc)
{
    struct finding f = {.failed = false};
    proof_fail(&f, "%s", hl_err_text(rc));
    p->me = hl_job.rank;
    describe_host(&p->here);
    if (p->me != 0) {
        fprintf(stderr, "hotlane-info: rank %d (%s) cannot start: %s\n", p->me, p->here.name, f.text);
        return 1;
    }
    p->hosts = &p->here;
    p->ranks = 1;
    p->steps[p->count++] = (struct proof_step){.name = "start", .found = f};
    p->failed++;
    proof_report(p);
    return 1;
}

/* Finds the launcher beside this program, with the same suffix of its name. */
static bool find_launcher(char *out, size_t cap, char *self, size_t self_cap)
{
    static const char name[] = "hotlane-info";
    ssize_t n = readlink("/proc/self/exe", self, self_cap - 1);
    if (n <= 0) {
        return false;
    }
    self[n] = '\0';
    char *last = strrchr(self, '/') + 1;
    const char *suffix = strncmp(last, name, strlen(name)) == 0 ? last + strlen(name) : "";
    snprintf(out, cap, "%.*smpiexec%s", (int)(last - self), self, suffix);
    return access(out, X_OK) == 0;
}

/* Becomes, as a process without a launcher, the launcher of a job of two ranks. */
static int start_pair(struct proof *p, char **argv)
{
    static char launcher[PATH_MAX + 16], self[PATH_MAX], two[] = "2", option[] = "-n";
    size_t n = 0;
    const char *size = getenv("PMI_SIZE");
    if (size != NULL && atoi(size) > 1) {
        return refuse(p, hl_err_say(HL_ERR_OTHER,
                                    "HOTLANE_BOOT=%s keeps the ranks of this job apart. Try: unset "
                                    "HOTLANE_BOOT",
                                    hl_boot.method));
    }
    if (!find_launcher(launcher, sizeof launcher, self, sizeof self)) {
        return refuse(p, hl_err_say(HL_ERR_OTHER,
                                    "a second process is needed, and there is no launcher %s. Try: "
                                    "mpiexec -n 2 hotlane-info --prove, or srun -n 2",
                                    launcher));
    }
    hl_boot_close(true);
    while (argv[n] != NULL) {
        n++;
    }
    char **words = calloc(n + 4, sizeof *words);
    if (words == NULL) {
        return refuse(p, hl_err_say(HL_ERR_NO_MEM, "no memory for a command"));
    }
    words[0] = launcher;
    words[1] = option;
    words[2] = two;
    words[3] = self;
    memcpy(words + 4, argv + 1, (n - 1) * sizeof *words);
    execv(launcher, words);
    free(words);
    return refuse(p, hl_err_say(HL_ERR_OTHER, "%s cannot be started: %s", launcher, strerror(errno)));
}

int info_prove(const struct facts *f, double seconds, bool json, char **argv)
{
    static struct facts mine;
    static struct proof p;
    int level, rc = f->conf_rc != 0 ? f->conf_rc : hl_boot_open();
    mine = *f;
    snprintf(mine.net, sizeof mine.net, "not asked");
    p = (struct proof){.facts = &mine, .seconds = seconds, .json = json};
    if (rc == 0 && hl_job.size == 1) {
        return start_pair(&p, argv);
    }
    if (rc == 0 && !proof_lost_start()) {
        rc = hl_err_say(HL_ERR_OTHER, "a process cannot be started: %s", strerror(errno));
    }
    rc = rc == 0 ? hl_life_open(HL_LIFE_MPI, MPI_THREAD_MULTIPLE, &level) : rc;
    mine.net_rc = rc;
    snprintf(mine.net, sizeof mine.net, "%s", rc == 0 ? hl_fab_why() : hl_err_text(rc));
    if (rc != 0) {
        proof_lost_end();
        return refuse(&p, rc);
    }
    describe_host(&p.here);
    rc = run_steps(&p);
    proof_lost_end();
    return rc;
}
