/* mpiexec: starts the ranks.
 *
 * A rank is started as by vfork, so the launcher learns at once whether the program could be run. A rank dies
 * with the launcher (PR_SET_PDEATHSIG). Processes that the rank starts are in its process group, which
 * guard.c kills.
 *
 * The launcher has three descriptors for each rank. If each new process began with copies of all and closed
 * them one by one, n ranks would cost n * n copies. So a rank begins with the launcher's own table, and
 * copies only what lies below a certain number: descriptors that the launcher inherited, and a few that are
 * kept for the rank. */
#include "mx.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* What a rank's process needs between vfork and exec; it shares the launcher's memory until then. */
struct plan {
    int in, out, err, ctl;
    char **argv, **envp;
    const char *wdir;
    const cpu_set_t *cpus;
    volatile int failed;            /* errno of the step that failed */
    const char *volatile failed_at; /* the step that failed; NULL: exec */
};

/* Descriptor numbers of the rank's ends while it is started; in between they are /dev/null. */
enum { KEPT_IN, KEPT_OUT, KEPT_ERR, KEPT_CTL, KEPT };
static int kept[KEPT];
static unsigned own; /* descriptors from this number on are the launcher's; 0: that is not known */
static char *stack;  /* stack of a new process until its exec */
static size_t stack_len;
static char ***envs; /* environment of each part; its last slots are rewritten for each rank */
static int stdin_fd;
static struct rlimit old_files;
static pid_t self;
enum { SLOTS = 5 };
static char slot[SLOTS][64];
static char job_pair[1024];

bool hl_mx_spawn_owns(const char *pair)
{
    static const char *const prefix[] = {
        "PMI_",         "PMIX_",      "OMPI_COMM_WORLD_", "MPI_LOCALRANKID=", "MPI_LOCALNRANKS=",
        HL_MX_MARK "=", HL_MX_JOB "="};
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++) {
        if (!strncmp(pair, prefix[i], strlen(prefix[i]))) {
            return true;
        }
    }
    return false;
}

char **hl_mx_spawn_env(int part)
{
    return envs[part];
}

static void set_pair(char **e, int *n, char *pair)
{
    size_t name = strcspn(pair, "=") + 1;
    for (int i = 0; i < *n; i++) {
        if (!strncmp(e[i], pair, name)) {
            e[i] = pair;
            return;
        }
    }
    e[(*n)++] = pair;
}

static bool is_pwd_given(const struct hl_mx_env *env)
{
    int i = 0;
    while (i < env->n && strncmp(env->set[i], "PWD=", 4) != 0) {
        i++;
    }
    return i < env->n;
}

/* PWD for a part whose ranks work in another folder than the launcher; NULL: nothing to set. The environment of
 * the ranks keeps it. */
static char *make_pwd_pair(const struct hl_mx_part *p)
{
    if (!p->wdir || is_pwd_given(&hl_mx.opt.genv) || is_pwd_given(&p->env)) {
        return NULL;
    }
    char *path = realpath(p->wdir, NULL);
    if (!path) { /* there is no such folder */
        return NULL;
    }
    size_t cap = strlen(path) + sizeof "PWD=";
    char *pair = hl_mx_alloc(cap);
    snprintf(pair, cap, "PWD=%s", path);
    free(path);
    return pair;
}

static char **make_env(const struct hl_mx_part *p)
{
    int n = 0, k = 0;
    while (environ[n]) {
        n++;
    }
    char **e = hl_mx_alloc(sizeof *e * (size_t)(n + hl_mx.opt.genv.n + p->env.n + SLOTS + 4));
    e[k++] = job_pair; /* first, as the guardians read only the beginning of an environment */
    for (int i = 0; i < n; i++) {
        if (!hl_mx_spawn_owns(environ[i])) {
            e[k++] = environ[i];
        }
    }
    char *pwd = make_pwd_pair(p);
    if (pwd) {
        set_pair(e, &k, pwd);
    }
    for (int i = 0; i < hl_mx.opt.genv.n; i++) {
        set_pair(e, &k, hl_mx.opt.genv.set[i]);
    }
    for (int i = 0; i < p->env.n; i++) {
        set_pair(e, &k, p->env.set[i]);
    }
    char *libraries = hl_mx.opt.no_library ? NULL : hl_mx_library_pair(e, k);
    if (libraries) {
        set_pair(e, &k, libraries);
    }
    for (int i = 0; i < SLOTS; i++) {
        e[k++] = slot[i];
    }
    e[k] = NULL;
    return e;
}

/* A job that a rank starts also ends with that rank's job, so the variable has both names. */
static void make_job_pair(void)
{
    const char *outer = "";
    for (char **e = environ; *e; e++) {
        if (!strncmp(*e, HL_MX_JOB "=", sizeof HL_MX_JOB)) {
            outer = *e + sizeof HL_MX_JOB;
        }
    }
    if (strlen(outer) > sizeof job_pair / 2) {
        outer = ""; /* not a launcher's value: jobs are not nested twenty deep */
    }
    snprintf(job_pair, sizeof job_pair, HL_MX_JOB "=%s%s%s", outer, *outer ? "/" : "", hl_mx.name);
}

void hl_mx_spawn_raise(void)
{
    getrlimit(RLIMIT_NOFILE, &old_files);
    struct rlimit most = {old_files.rlim_max, old_files.rlim_max};
    setrlimit(RLIMIT_NOFILE, &most);
}

int hl_mx_spawn_highest(void)
{
    DIR *d = opendir("/proc/self/fd");
    int most = -1;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        int fd = (int)strtol(e->d_name, NULL, 10);
        most = fd > most && fd != dirfd(d) ? fd : most;
    }
    if (d) {
        closedir(d);
    }
    return most;
}

void hl_mx_spawn_keep(void)
{
    bool have = !close_range(~0u, ~0u, CLOSE_RANGE_UNSHARE); /* since Linux 5.9, if the sandbox allows it */
    for (int i = 0; i < KEPT; i++) {
        kept[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
        have = have && kept[i] >= 0;
    }
    own = have ? (unsigned)(hl_mx_spawn_highest() + 1) : 0;
}

/* Moves a descriptor to the number that is kept for it. */
static void keep(int *fd, int as)
{
    if (own && dup3(*fd, kept[as], O_CLOEXEC) == kept[as]) {
        close(*fd);
        *fd = kept[as];
    }
}

static void leave(int fd)
{
    for (int i = 0; i < KEPT; i++) {
        if (fd == kept[i]) {
            dup3(hl_mx.pmi_slot, fd, O_CLOEXEC);
            return;
        }
    }
    close(fd);
}

/* Makes the stack: as much as execvpe needs for a path and for a script's arguments, which it passes to
 * /bin/sh. */
static void make_stack(void)
{
    size_t most = 0;
    for (int i = 0; i < hl_mx.opt.nparts; i++) {
        size_t n = 0;
        while (hl_mx.opt.part[i].argv[n]) {
            n++;
        }
        most = n > most ? n : most;
    }
    stack_len = ((size_t)128 << 10) + most * sizeof(char *) / 16 * 16;
    stack = aligned_alloc(16, stack_len);
}

int hl_mx_spawn_prepare(void)
{
    self = getpid();
    if (3 * (rlim_t)hl_mx.size + 32 > old_files.rlim_max) {
        hl_mx_say("%d rank%s: %d descriptors are needed and the hard limit is %llu (ulimit -Hn)", hl_mx.size,
                  hl_mx_plural(hl_mx.size), 3 * hl_mx.size + 32, (unsigned long long)old_files.rlim_max);
        return 1;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    make_stack();
    if (!stack) {
        hl_mx_say("out of memory");
        return 1;
    }
    make_job_pair();
    envs = hl_mx_alloc(sizeof *envs * (size_t)hl_mx.opt.nparts);
    for (int i = 0; i < hl_mx.opt.nparts; i++) {
        envs[i] = make_env(&hl_mx.opt.part[i]);
    }
    stdin_fd = hl_mx_in_open();
    if (stdin_fd) {
        keep(&stdin_fd, KEPT_IN);
    }
    snprintf(slot[0], sizeof slot[0], "PMI_FD=%d", hl_mx.pmi_slot);
    snprintf(slot[1], sizeof slot[1], "PMI_SIZE=%d", hl_mx.size);
    snprintf(slot[2], sizeof slot[2], "MPI_LOCALNRANKS=%d", hl_mx.size);
    return 0;
}

static void child_fail(struct plan *p, const char *what)
{
    p->failed_at = what;
    p->failed = errno;
    _exit(127);
}

/* Is the file an ELF program? errno is kept. */
static bool is_binary(const char *path)
{
    char magic[4] = "";
    int why = errno, fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is =
        fd >= 0 && read(fd, magic, sizeof magic) == (ssize_t)sizeof magic && !memcmp(magic, "\177ELF", 4);
    if (fd >= 0) {
        close(fd);
    }
    errno = why;
    return is;
}

/* Like execvpe, which has /bin/sh run what the kernel refuses. A script without its first line is run so, but
 * not a program that is cut off or of another machine. */
static void execute(const struct plan *p)
{
    if (strchr(p->argv[0], '/')) {
        execve(p->argv[0], p->argv, p->envp);
        if (errno != ENOEXEC || is_binary(p->argv[0])) {
            return;
        }
    }
    execvpe(p->argv[0], p->argv, p->envp);
}

/* Runs in the new process; makes system calls only. */
static int run_child(void *plan)
{
    struct plan *p = plan;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) {
        _exit(127);
    }
    setpgid(0, 0);
    if (own && close_range(own, ~0u, CLOSE_RANGE_UNSHARE)) {
        child_fail(p, "descriptors");
    }
    if (dup2(p->in, 0) < 0 || dup2(p->out, 1) < 0 || dup2(p->err, 2) < 0 ||
        dup2(p->ctl, hl_mx.pmi_slot) < 0) {
        child_fail(p, "descriptors");
    }
    setrlimit(RLIMIT_NOFILE, &old_files);
    if (p->cpus && sched_setaffinity(0, sizeof *p->cpus, p->cpus)) {
        child_fail(p, "the binding");
    }
    if (p->wdir && chdir(p->wdir)) {
        child_fail(p, p->wdir);
    }
    hl_mx_signals_restore();
    execute(p);
    child_fail(p, NULL);
    return 0;
}

static int open_channels(struct hl_mx_rank *r, struct plan *p)
{
    int o[2], e[2], c[2];
    if (pipe2(o, O_CLOEXEC)) {
        return -1;
    }
    r->out = (struct hl_mx_stream){.fd = o[0], .sink = hl_mx.out};
    p->out = o[1];
    if (pipe2(e, O_CLOEXEC)) {
        return -1;
    }
    r->err = (struct hl_mx_stream){.fd = e[0], .sink = hl_mx.err};
    p->err = e[1];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c)) {
        return -1;
    }
    r->ctl = c[0];
    p->ctl = c[1];
    fcntl(o[0], F_SETFL, O_NONBLOCK); /* only the launcher's ends: an event may be stale */
    fcntl(e[0], F_SETFL, O_NONBLOCK);
    return 0;
}

/* Starts a process; returns when it has called exec or has ended. -1 with errno: there is no process. */
static pid_t start_process(struct plan *p)
{
    keep(&p->out, KEPT_OUT);
    keep(&p->err, KEPT_ERR);
    keep(&p->ctl, KEPT_CTL);
    return clone(run_child, stack + stack_len, CLONE_VM | CLONE_VFORK | (own ? CLONE_FILES : 0) | SIGCHLD, p);
}

/* `name` in the folder `dir`, which has `len` letters and may be empty: the rank's own. The caller owns it. */
static char *join_path(const struct plan *p, const char *dir, size_t len, const char *name)
{
    bool apart = p->wdir && (len ? *dir : *name) != '/';
    size_t cap = (apart ? strlen(p->wdir) : 0) + len + strlen(name) + sizeof "//";
    char *path = hl_mx_alloc(cap);
    snprintf(path, cap, "%s%s%.*s%s%s", apart ? p->wdir : "", apart ? "/" : "", (int)len, dir, len ? "/" : "",
             name);
    return path;
}

/* The program's file that exec has found, on PATH if the name has no folder; the caller owns it. NULL: there is
 * none. */
static char *find_program(const struct plan *p)
{
    const char *path = getenv("PATH"), *name = p->argv[0];
    if (strchr(name, '/')) {
        path = "";
    } else if (!path) {
        path = "/bin:/usr/bin"; /* that of execvpe */
    }
    for (;; path++) {
        size_t len = strcspn(path, ":");
        char *file = join_path(p, path, len, name);
        if (!access(file, F_OK)) {
            return file;
        }
        free(file);
        path += len;
        if (!*path) {
            return NULL;
        }
    }
}

/* Tells that a file is there, but not what runs it: the kernel says of both the same. */
static void say_interpreter(const struct plan *p, const char *file)
{
    char line[256] = "";
    FILE *f = fopen(file, "re");
    if (f && fgets(line, sizeof line, f) && !strncmp(line, "#!", 2)) {
        char *name = line + 2 + strspn(line + 2, " \t");
        name[strcspn(name, " \t\r\n")] = 0;
        hl_mx_say("cannot run %s: %s is there, but not the interpreter that its first line names: %s",
                  p->argv[0], file, name);
    } else {
        hl_mx_say("cannot run %s: %s is there, but not the loader that its header names", p->argv[0], file);
    }
    if (f) {
        fclose(f);
    }
}

/* Why the file cannot be run, with errno `why` after exec. */
static const char *exec_words(const struct plan *p, int why)
{
    struct stat s;
    int dir = p->wdir ? open(p->wdir, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;
    bool known = why == EACCES && !fstatat(dir, p->argv[0], &s, 0);
    if (dir >= 0) {
        close(dir);
    }
    return known && S_ISDIR(s.st_mode)    ? "it is a folder"
           : known && !(s.st_mode & 0111) ? "it is not executable (chmod +x makes it so)"
                                          : strerror(why);
}

static int say_failure(int rank, const struct plan *p)
{
    int e = p->failed;
    if (p->failed_at && p->failed_at == p->wdir) {
        hl_mx_say("rank %d: cannot work in %s (-wdir): %s", rank, p->wdir, strerror(e));
        return 1;
    }
    if (p->failed_at) {
        hl_mx_say("rank %d: cannot set %s: %s", rank, p->failed_at, strerror(e));
        return 1;
    }
    bool sought = !strchr(p->argv[0], '/');
    char *file = e == ENOENT ? find_program(p) : NULL;
    if (file) {
        say_interpreter(p, file);
        free(file);
    } else if (e == ENOENT && sought) {
        bool there = !p->wdir && !access(p->argv[0], F_OK);
        hl_mx_say("cannot run %s: it is not on PATH%s%s%s", p->argv[0], there ? "; ./" : "",
                  there ? p->argv[0] : "", there ? " is here" : "");
    } else {
        bool in_wdir = p->wdir && !sought && *p->argv[0] != '/';
        hl_mx_say("cannot run %s%s%s%s: %s", p->argv[0], in_wdir ? " in " : "", in_wdir ? p->wdir : "",
                  in_wdir ? " (--wdir)" : "", sought ? strerror(e) : exec_words(p, e));
    }
    return e == ENOENT || e == ENOTDIR ? 127 : 126;
}

static void watch_channels(int rank)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    hl_mx_watch(r->out.fd, hl_mx.out->stalled ? 0 : EPOLLIN, HL_MX_EV_OUT, rank);
    hl_mx_watch(r->err.fd, hl_mx.err->stalled ? 0 : EPOLLIN, HL_MX_EV_ERR, rank);
    hl_mx_watch(r->ctl, EPOLLIN, HL_MX_EV_CTL, rank);
    hl_mx.streams += 2;
}

int hl_mx_spawn(int rank)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    const struct hl_mx_part *part = &hl_mx.opt.part[r->part];
    static struct plan p; /* static: the new process writes to it */
    p = (struct plan){.in = rank ? hl_mx.pmi_slot : stdin_fd,
                      .argv = part->argv,
                      .envp = envs[r->part],
                      .wdir = part->wdir,
                      .cpus = hl_mx_bind_of(rank),
                      .out = -1,
                      .err = -1,
                      .ctl = -1};
    snprintf(slot[3], sizeof slot[3], "PMI_RANK=%d", rank);
    snprintf(slot[4], sizeof slot[4], "MPI_LOCALRANKID=%d", rank);
    if (open_channels(r, &p)) {
        hl_mx_say("rank %d: no pipes and sockets can be made for it: %s%s", rank, strerror(errno),
                  hl_mx_hint(errno));
        return 1;
    }
    pid_t pid = start_process(&p);
    int why = errno;
    leave(p.out);
    leave(p.err);
    leave(p.ctl);
    if (!rank && stdin_fd) {
        leave(stdin_fd);
    }
    if (pid < 0) {
        hl_mx_say("rank %d: its process cannot be started: %s%s", rank, strerror(why), hl_mx_hint(why));
        return 1;
    }
    if (p.failed) {
        waitpid(pid, NULL, 0);
        return say_failure(rank, &p);
    }
    r->pid = pid;
    hl_mx_guard_knows(rank, pid);
    watch_channels(rank);
    return 0;
}
