/* mpiexec: the event loop, deaths and endings. */
#include "mx.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct hl_mx_job hl_mx;

/* MPI_ERR_PROC_ABORTED: the code with which a rank aborts because a peer has died. */
enum { PEER_DIED = 58 };

int64_t hl_mx_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *must_have(void *p)
{
    if (!p) {
        hl_mx_say("out of memory");
        _exit(1);
    }
    return p;
}

void *hl_mx_alloc(size_t bytes)
{
    return must_have(calloc(1, bytes));
}

void *hl_mx_realloc(void *old, size_t bytes)
{
    return must_have(realloc(old, bytes));
}

void hl_mx_watch(int fd, uint32_t events, enum hl_mx_event kind, int rank)
{
    struct epoll_event e = {.events = events, .data.u64 = (uint64_t)kind << 32 | (uint32_t)rank};
    epoll_ctl(hl_mx.epoll, EPOLL_CTL_ADD, fd, &e);
}

void hl_mx_rewatch(int fd, uint32_t events, enum hl_mx_event kind, int rank)
{
    struct epoll_event e = {.events = events, .data.u64 = (uint64_t)kind << 32 | (uint32_t)rank};
    epoll_ctl(hl_mx.epoll, EPOLL_CTL_MOD, fd, &e);
}

/* Sends a signal to the process groups of all ranks, also of those that have exited: their zombies keep the
 * group's number. */
static void signal_all(int sig)
{
    for (int i = 0; i < hl_mx.size; i++) {
        if (hl_mx.rank[i].pid) {
            kill(-hl_mx.rank[i].pid, sig);
        }
    }
}

static void kill_all(void)
{
    hl_mx.killing = true;
    hl_mx.kill_at = 0;
    signal_all(SIGKILL);
    if (!hl_mx.give_up_at) { /* else a second kill would put off the end */
        hl_mx.give_up_at = hl_mx_now_ms() + HL_MX_GRACE_KILL;
    }
}

void hl_mx_end(int code, int sig, int grace_ms)
{
    if (!hl_mx.code) {
        hl_mx.code = code;
    }
    if (hl_mx.ending) {
        return;
    }
    hl_mx.ending = true;
    signal_all(sig ? sig : SIGTERM);
    signal_all(SIGCONT);
    hl_mx.kill_at = hl_mx_now_ms() + grace_ms;
}

static void report_death(int rank, const siginfo_t *si)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    const char *then = hl_mx.opt.keep_going ? "the job goes on" : "ending the job";
    if (si->si_code != CLD_EXITED) {
        hl_mx_say("rank %d (pid %d) was killed by signal %d (%s)%s%s; %s", rank, (int)r->pid, si->si_status,
                  strsignal(si->si_status), si->si_code == CLD_DUMPED ? ", core dumped" : "",
                  si->si_status == SIGKILL ? hl_mx_oom_words() : "", then);
    } else if (r->code && (r->finalized || !r->spoke) && hl_mx.size == 1) {
        return; /* its own words and the exit code say it all */
    } else if (r->code && r->finalized) {
        if (hl_mx.late_codes++ == 0) {
            hl_mx_say("rank %d (pid %d) exited with code %d after finalize", rank, (int)r->pid, r->code);
        }
    } else if (r->code) {
        hl_mx_say("rank %d (pid %d) exited with code %d; %s", rank, (int)r->pid, r->code, then);
    } else {
        hl_mx_say("rank %d (pid %d) exited with code 0 without %s, which every rank must call; %s", rank,
                  (int)r->pid,
                  hl_mx_is_shmem() ? "shmem_finalize" : "MPI_Finalize (OpenSHMEM: shmem_finalize)", then);
    }
}

/* Did the rank exit only because of an abort? A rank that learns of a peer's death by a closed connection may
 * abort before the launcher sees that death. So after an abort a rank that was killed may still be the cause,
 * and after an abort because of a dead peer any rank that died. */
static bool is_consequence(const struct hl_mx_rank *r, const siginfo_t *si)
{
    return r->aborted || (hl_mx.abort.at && hl_mx.abort.code != PEER_DIED && si->si_code == CLD_EXITED);
}

static void judge(int rank, const siginfo_t *si)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    bool deserted = !r->code && r->spoke && !r->finalized;
    if (!hl_mx.ending && (r->code || deserted) && !is_consequence(r, si)) {
        int code = r->code ? r->code : 1;
        report_death(rank, si);
        if (hl_mx.opt.keep_going || (r->finalized && si->si_code == CLD_EXITED)) {
            hl_mx.code = hl_mx.code ? hl_mx.code : code;
        } else {
            hl_mx_end(code, 0, HL_MX_GRACE_DEATH);
        }
    }
    hl_mx_pmi_died(rank);
}

static void rank_exited(int rank, const siginfo_t *si)
{
    struct hl_mx_rank *r = &hl_mx.rank[rank];
    struct pollfd p = {r->ctl, POLLIN, 0};
    while (r->ctl >= 0 && poll(&p, 1, 0) > 0) {
        hl_mx_pmi_read(rank); /* what it sent last counts, such as an abort */
    }
    hl_mx_out_drain(rank);
    r->exited = true;
    r->code = si->si_code == CLD_EXITED ? si->si_status : 128 + si->si_status;
    hl_mx.live--;
    hl_mx.gone++;
    judge(rank, si);
    if (!hl_mx.live && hl_mx.late_codes > 1) {
        hl_mx_say("%d of %d ranks exited with a code other than 0 after finalize", hl_mx.late_codes,
                  hl_mx.size);
    }
    if (!hl_mx.live) {
        hl_mx.give_up_at = hl_mx_now_ms() + HL_MX_GRACE_OUTPUT;
    }
}

/* Prints a line when a rank is stopped (by a debugger or user), since it holds up all that wait for it.
 * waitid returns each stop once, so each is printed once, even if nothing was seen of the rank's running in
 * between. */
static void take_stop(int rank)
{
    const struct hl_mx_rank *r = &hl_mx.rank[rank];
    siginfo_t si = {0};
    bool stopped = !waitid(P_PID, (id_t)r->pid, &si, WSTOPPED | WNOHANG) && si.si_pid != 0;
    if (stopped && !hl_mx.ending) {
        hl_mx_say("rank %d (pid %d) is stopped by signal %d (%s): ranks that wait for it go on waiting", rank,
                  (int)r->pid, si.si_status, strsignal(si.si_status));
    }
}

/* Finds ranks that have died and handles those first that a signal killed, which may be why the others have
 * left. */
static void look_for_dead(void)
{
    for (int i = 0; i < hl_mx.size; i++) {
        struct hl_mx_rank *r = &hl_mx.rank[i];
        siginfo_t si = {0};
        if (!r->pid || r->exited ||
            waitid(P_PID, (id_t)r->pid, &si, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) || !si.si_pid) {
            continue;
        }
        if (si.si_code == CLD_STOPPED) {
            take_stop(i);
            continue;
        }
        r->seen = true;
        if (si.si_code != CLD_EXITED) {
            rank_exited(i, &si);
        }
    }
    for (int i = 0; i < hl_mx.size; i++) {
        struct hl_mx_rank *r = &hl_mx.rank[i];
        siginfo_t si = {0};
        if (r->seen && !r->exited && !waitid(P_PID, (id_t)r->pid, &si, WEXITED | WNOHANG | WNOWAIT)) {
            rank_exited(i, &si);
        }
    }
}

static bool is_rank(pid_t pid)
{
    for (int i = 0; i < hl_mx.size; i++) {
        if (hl_mx.rank[i].pid == pid) {
            return true;
        }
    }
    return false;
}

/* Reaps the zombie of a process that a rank has left behind: the launcher, a subreaper, is its parent. */
static void reap_stray(pid_t pid)
{
    if (pid > 0 && !is_rank(pid) && !hl_mx_guard_is(pid)) {
        waitpid(pid, NULL, WNOHANG);
    }
}

/* Reaps all such zombies. The kernel lists children in the order of their start, so each rank is found
 * without a search. Few kernels lack the list: with them it stays at the child that a signal names. */
static void reap_strays(void)
{
    FILE *f = fopen("/proc/thread-self/children", "re");
    int pid, next = 0;
    while (f && fscanf(f, "%d", &pid) == 1) {
        if (next < hl_mx.size && hl_mx.rank[next].pid == pid) {
            next++;
        } else {
            reap_stray(pid);
        }
    }
    if (f) {
        fclose(f);
    }
}

/* Children have changed, and when to look at them, at the earliest. One SIGCHLD may stand for many deaths and
 * stops. */
static struct {
    bool due;
    int64_t at;
} look;

static void look_at_children(void)
{
    look.due = false;
    hl_mx_guard_look();
    look_for_dead();
    reap_strays();
    look.at = hl_mx_now_ms() + hl_mx.size / HL_MX_LOOK_RANKS;
}

/* When to carry out the abort that a rank has asked for, in ms; 0: none has. */
static int64_t abort_when(void)
{
    if (!hl_mx.abort.at || hl_mx.ending) {
        return 0;
    }
    int grace = hl_mx.code                         ? 0
                : hl_mx_pmi_dies(hl_mx.abort.rank) ? HL_MX_GRACE_DYING
                : hl_mx.abort.code == PEER_DIED    ? HL_MX_GRACE_CAUSE
                                                   : HL_MX_GRACE_ABORT;
    return hl_mx.abort.at + grace;
}

static void carry_out_abort(void)
{
    if (!hl_mx.abort.at || hl_mx.ending) {
        return;
    }
    int code = (int)(hl_mx.abort.code & 0xff); /* what an exit code holds */
    if (hl_mx.abort.code) {                    /* 0: shmem_global_exit ends the job as a success */
        hl_mx_say("rank %d aborted the job with code %ld", hl_mx.abort.rank, hl_mx.abort.code);
        code = code ? code : 1;
    }
    hl_mx_end(code, 0, HL_MX_GRACE_DEATH);
}

/* Ends the job after a signal of the user. `typed`: by Ctrl-C, of which the user need not be told. */
static void end_by_signal(int sig, bool typed)
{
    bool first = !hl_mx.ending;
    hl_mx.hurried = true;
    if (!first) {
        kill_all(); /* the user has asked twice */
    }
    hl_mx_end(128 + sig, sig, HL_MX_GRACE_USER);
    if (first && !typed) {
        hl_mx_say("told to end by signal %d (%s)", sig, strsignal(sig));
    }
}

static void user_signal(const struct signalfd_siginfo *si)
{
    int sig = (int)si->ssi_signo;
    switch (sig) {
    case SIGTSTP:
        signal_all(SIGSTOP);
        raise(SIGSTOP);
        break;
    case SIGCONT:
    case SIGUSR1:
    case SIGUSR2:
        signal_all(sig);
        break;
    default:
        end_by_signal(sig, sig == SIGINT && si->ssi_code == SI_KERNEL);
    }
}

static void take_signals(void)
{
    struct signalfd_siginfo si;
    while (read(hl_mx.signals, &si, sizeof si) == (ssize_t)sizeof si) {
        if (si.ssi_signo == SIGCHLD) {
            look.due = true;
            reap_stray((pid_t)si.ssi_pid);
        } else {
            user_signal(&si);
        }
    }
}

void hl_mx_signal_late(void)
{
    struct signalfd_siginfo si;
    while (read(hl_mx.signals, &si, sizeof si) == (ssize_t)sizeof si) {
        int sig = (int)si.ssi_signo;
        if (sig == SIGTSTP) {
            raise(SIGSTOP);
        } else if (!hl_mx.hurried && (sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT)) {
            hl_mx.hurried = true;
            hl_mx.code = hl_mx.code ? hl_mx.code : 128 + sig;
            if (sig != SIGINT || si.ssi_code != SI_KERNEL) { /* the user knows of a Ctrl-C */
                hl_mx_say("told to end by signal %d (%s) before all output was taken: the rest is left out",
                          sig, strsignal(sig));
            }
        }
    }
}

static void dispatch(const struct epoll_event *e)
{
    int rank = (int)(uint32_t)e->data.u64;
    switch ((enum hl_mx_event)(e->data.u64 >> 32)) {
    case HL_MX_EV_SIGNAL:
        take_signals();
        break;
    case HL_MX_EV_OUT:
    case HL_MX_EV_ERR:
        hl_mx_out_read(rank, (e->data.u64 >> 32) == HL_MX_EV_ERR);
        break;
    case HL_MX_EV_CTL:
        if (e->events & EPOLLOUT) {
            hl_mx_pmi_write(rank);
        }
        hl_mx_pmi_read(rank);
        break;
    case HL_MX_EV_SINK:
        hl_mx_out_flush(&hl_mx.sink[rank]);
        break;
    case HL_MX_EV_TTY:
        hl_mx_in_read();
        break;
    case HL_MX_EV_STDIN:
        hl_mx_in_write();
        break;
    }
}

void hl_mx_mind_timeout(void)
{
    if (!hl_mx.timeout_at || hl_mx_now_ms() < hl_mx.timeout_at) {
        return;
    }
    hl_mx.timeout_at = 0;
    hl_mx.hurried = true;
    hl_mx_say("the job ran longer than %g s; ending it", hl_mx.opt.timeout_s);
    hl_mx_end(124, 0, HL_MX_GRACE_DEATH);
}

/* Does what has become due and returns the milliseconds until the next thing, -1: there is none. */
static int timers(void)
{
    int64_t now = hl_mx_now_ms(), next = -1, abort_at = abort_when();
    if (look.due && ((abort_at && now >= abort_at) || now >= look.at)) {
        look_at_children(); /* an abort's cause may be among the deaths, and its time hangs on them */
        now = hl_mx_now_ms();
        abort_at = abort_when();
    }
    hl_mx_mind_timeout();
    if (abort_at && now >= abort_at) {
        carry_out_abort();
        abort_at = 0;
    }
    if (hl_mx.kill_at && now >= hl_mx.kill_at) {
        kill_all();
    }
    int tty = hl_mx_in_wait_ms(), prompt = hl_mx_out_wait_ms();
    int64_t times[] = {hl_mx.timeout_at,
                       hl_mx.kill_at,
                       hl_mx.give_up_at,
                       abort_at,
                       look.due ? look.at : 0,
                       tty >= 0 ? now + tty : 0,
                       prompt >= 0 ? now + prompt : 0};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (times[i] && (next < 0 || times[i] - now < next)) {
            next = times[i] > now ? times[i] - now : 0;
        }
    }
    return next > 1000000 ? 1000000 : (int)next;
}

void hl_mx_serve(bool wait)
{
    struct epoll_event e[64];
    int ms = timers();
    bool over = !hl_mx.live && !hl_mx.streams; /* a timer may have seen the last rank's end */
    int n = epoll_wait(hl_mx.epoll, e, 64, wait && !over ? ms : 0);
    for (int i = 0; i < n; i++) {
        dispatch(&e[i]);
    }
}

void hl_mx_run(void)
{
    while (hl_mx.live || hl_mx.streams) {
        hl_mx_serve(true);
        if (hl_mx.give_up_at && hl_mx_now_ms() >= hl_mx.give_up_at) {
            break;
        }
    }
    carry_out_abort();
}

/* The parent of a process, 0 if the process has gone. */
static pid_t parent_of(pid_t pid)
{
    char path[40], text[512] = "", *p;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f) {
        return 0;
    }
    p = fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL; /* "PID (NAME) STATE PARENT ..." */
    fclose(f);
    return p && strlen(p) > 4 ? (pid_t)strtol(p + 4, NULL, 10) : 0;
}

/* Is the process one that a rank left behind? The launcher, a subreaper, has become its parent. */
static bool is_stray(int proc, const char *name)
{
    pid_t pid = (pid_t)strtol(name, NULL, 10);
    (void)proc;
    return !hl_mx_guard_is(pid) && parent_of(pid) == getpid();
}

void hl_mx_cleanup(void)
{
    bool left = false; /* a rank is left that should have ended by now */
    signal_all(SIGKILL);
    hl_mx_out_finish();
    for (int i = 0; i < hl_mx.size; i++) {
        if (hl_mx.rank[i].pid && waitpid(hl_mx.rank[i].pid, NULL, hl_mx.rank[i].exited ? 0 : WNOHANG) == 0) {
            hl_mx_say("rank %d (pid %d) has not ended %d s after SIGKILL and is left behind", i,
                      (int)hl_mx.rank[i].pid, HL_MX_GRACE_KILL / 1000);
            left = true;
        }
    }
    hl_mx_guard_stop();
    int64_t until = hl_mx_now_ms() + (left ? 0 : HL_MX_GRACE_KILL);
    do {
        pid_t p;
        while ((p = waitpid(-1, NULL, WNOHANG)) > 0) {
            ;
        }
        if (p < 0 || !hl_mx_kill_all_that(is_stray)) {
            break;
        }
        struct timespec t = {0, 2000000};
        nanosleep(&t, NULL);
    } while (hl_mx_now_ms() < until);
}
