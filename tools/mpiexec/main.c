/* mpiexec (also mpirun, oshrun): starts the ranks of a parallel program on this machine, serves their
 * start-up exchange (PMI-1), forwards their output, and makes sure that all end together and nothing is left
 * behind. */
#include "mx.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

static sigset_t old_mask;
static struct sigaction old_pipe, old_ttin, old_chld;

/* Should the signal stay ignored? A closing terminal or Ctrl-C does not concern a launcher that was started
 * under nohup, or in the background by a shell without job control. It must not be blocked then: the kernel
 * keeps a blocked signal although it is ignored. */
static bool stays_ignored(int sig)
{
    struct sigaction now;
    return (sig == SIGHUP || sig == SIGINT || sig == SIGQUIT) && !sigaction(sig, NULL, &now) &&
           now.sa_handler == SIG_IGN;
}

/* Opens descriptors 0 to 2 if they are closed, before any other, so that no pipe can take their place. The
 * first free number behind them is kept for the ranks' PMI_FD. False: standard output was closed. */
static bool open_standard(void)
{
    bool out = fcntl(1, F_GETFD) >= 0;
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) {
            _exit(1);
        }
    }
    hl_mx.pmi_slot = open("/dev/null", O_RDWR | O_CLOEXEC);
    return out;
}

/* Ends the launcher with a message unless `have`; used before any rank exists. */
static void must(bool have, const char *what)
{
    if (have) {
        return;
    }
    hl_mx_say("%s: %s%s", what, strerror(errno), hl_mx_hint(errno));
    exit(1);
}

static void open_signals(void)
{
    static const int taken[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, standard = {.sa_handler = SIG_DFL};
    sigset_t mask;
    sigemptyset(&mask);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        if (!stays_ignored(taken[i])) {
            sigaddset(&mask, taken[i]);
        }
    }
    sigprocmask(SIG_BLOCK, &mask, &old_mask);
    sigaction(SIGPIPE, &ignore, &old_pipe);
    sigaction(SIGTTIN, &ignore, &old_ttin);
    sigaction(SIGCHLD, &standard, &old_chld);
    hl_mx.signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    must(hl_mx.signals >= 0, "signalfd");
    hl_mx_watch(hl_mx.signals, EPOLLIN, HL_MX_EV_SIGNAL, 0);
}

void hl_mx_signals_restore(void)
{
    sigaction(SIGPIPE, &old_pipe, NULL);
    sigaction(SIGTTIN, &old_ttin, NULL);
    sigaction(SIGCHLD, &old_chld, NULL);
    sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

static void random_hex(char out[33])
{
    unsigned char raw[16];
    if (getrandom(raw, sizeof raw, 0) != (ssize_t)sizeof raw) { /* few bytes come at once or not at all */
        int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
        must(fd >= 0 && read(fd, raw, sizeof raw) == (ssize_t)sizeof raw,
             "random numbers (getrandom, /dev/urandom)");
        close(fd);
    }
    for (int i = 0; i < 16; i++) {
        snprintf(out + 2 * i, 3, "%02x", raw[i]);
    }
}

static void open_job(void)
{
    int rank = 0;
    hl_mx.size = hl_mx.live = hl_mx.opt.size;
    hl_mx.rank = hl_mx_alloc(sizeof *hl_mx.rank * (size_t)hl_mx.size);
    for (int p = 0; p < hl_mx.opt.nparts; p++) {
        for (int i = 0; i < hl_mx.opt.part[p].n; i++, rank++) {
            hl_mx.rank[rank] =
                (struct hl_mx_rank){.part = p, .ctl = -1, .out = {.fd = -1}, .err = {.fd = -1}};
        }
    }
    random_hex(hl_mx.name);
    random_hex(hl_mx.secret);
    if (hl_mx.opt.timeout_s > 0) {
        hl_mx.timeout_at = hl_mx_now_ms() + (int64_t)(hl_mx.opt.timeout_s * 1000);
    }
}

static void start_ranks(void)
{
    int i = 0, rc = 0;
    for (; i < hl_mx.size && !hl_mx.ending; i++) {
        if (hl_mx.opt.report) {
            hl_mx_bind_report(i);
        }
        rc = hl_mx_spawn(i);
        if (rc) {
            hl_mx_end(rc, SIGKILL, 0);
            break;
        }
        hl_mx_serve(false); /* many ranks take seconds: the user, the timeout or a death may end the job */
    }
    hl_mx.live -= hl_mx.size - i;
    if (!rc) {
        hl_mx_in_start();
    }
}

int main(int argc, char **argv)
{
    hl_mx_spawn_raise();
    bool out = open_standard();
    hl_mx_spawn_keep();
    int rc = hl_mx_opts_parse(argc, argv, &hl_mx.opt);
    if (rc >= 0) {
        return rc;
    }
    if (!out) {
        hl_mx_say("standard output is closed: what the ranks print there is lost");
    }
    hl_mx.epoll = epoll_create1(EPOLL_CLOEXEC);
    must(hl_mx.epoll >= 0, "epoll_create1");
    open_signals();
    open_job();
    hl_mx_out_open();
    rc = hl_mx_bind_open(&hl_mx.opt);
    if (rc) {
        return rc;
    }
    if (hl_mx_guard_start(argc, argv)) {
        hl_mx_say("the guardian processes cannot be started: %s%s", strerror(errno), hl_mx_hint(errno));
        hl_mx_guard_stop();
        return 1;
    }
    if (hl_mx_spawn_prepare()) {
        hl_mx_guard_stop();
        return 1;
    }
    hl_mx_oom_open();
    hl_mx_foreign_open();
    start_ranks();
    hl_mx_run();
    hl_mx_foreign_tell();
    hl_mx_cleanup();
    return hl_mx.code;
}
