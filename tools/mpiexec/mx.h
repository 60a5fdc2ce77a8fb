/* mpiexec: what its files share. One thread, one epoll; nothing here ever blocks on a rank.
 *
 * A rank's life: started (spawn.c) -> speaks PMI-1 on its socket (pmi.c), writes on two pipes (out.c) ->
 * exits. The zombie is kept until the job ends, so that its process group id cannot be taken by a stranger
 * before the group is killed (job.c). */
#ifndef HL_MX_H
#define HL_MX_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum hl_mx_bind {
    HL_MX_BIND_NONE,
    HL_MX_BIND_CORE,
    HL_MX_BIND_THREAD,
    HL_MX_BIND_NUMA,
    HL_MX_BIND_SOCKET,
    HL_MX_BIND_LIST
};

/* Order of ranks over the places of their bindings: what is not said; full blocks; in turn over NUMA nodes or
 * sockets, the last one forth and back. */
enum hl_mx_map { HL_MX_MAP_ANY, HL_MX_MAP_BLOCKS, HL_MX_MAP_NUMA, HL_MX_MAP_SOCKETS, HL_MX_MAP_FOLDED };

/* Assignments NAME=VALUE, later ones win. */
struct hl_mx_env {
    char **set;
    int n;
};

/* One part of an MPMD command line: `n` ranks of one program. */
struct hl_mx_part {
    int n;    /* 0 while not given */
    int each; /* ranks on each machine, by this option; 0: not given */
    const char *each_arg;
    char **argv;
    struct hl_mx_env env;
    const char *wdir;
};

/* Ranks that lists and files of hosts make room for. */
struct hl_mx_slots {
    int64_t n;
    bool open; /* an entry says no number: any more */
};

struct hl_mx_opts {
    struct hl_mx_part *part;
    int nparts;
    int size; /* ranks in all parts */
    struct hl_mx_env genv;
    struct hl_mx_slots slots;
    enum hl_mx_bind bind;
    const char *bind_list; /* sets of CPUs, for HL_MX_BIND_LIST */
    enum hl_mx_map map;
    bool label, report, keep_going, oversubscribe, verbose, quiet, no_library;
    char *unused;         /* options without effect, as they were given */
    double timeout_s;     /* 0: none */
    const char *sys_root; /* where the machine's topology is read, normally "/sys" */
};

/* Bytes waiting for a descriptor that is not ready. data[head .. head+len) is pending. */
struct hl_mx_queue {
    char *data;
    size_t head, len, cap;
};

/* Where output lines go: descriptor 1 or 2 of the launcher, or one for both when they are the same file. */
struct hl_mx_sink {
    int fd;
    bool own;    /* fd is our own non-blocking description of the file */
    bool socket; /* write with send(MSG_DONTWAIT) */
    bool terminal;
    bool careful; /* a blocking pipe or terminal that could not be opened again: small writes when poll allows
                   */
    bool watched; /* in the epoll set */
    bool stalled; /* ranks' pipes are not read until it drains */
    bool dead;    /* its reader has gone */
    struct hl_mx_queue q;
};

/* One output pipe of a rank; holds the unfinished line. */
struct hl_mx_stream {
    int fd; /* -1: ended */
    struct hl_mx_sink *sink;
    struct hl_mx_queue line;
};

struct hl_mx_rank {
    pid_t pid; /* 0: never started */
    int part;
    bool exited;    /* seen dead; a zombie until the end of the job */
    bool spoke;     /* PMI init received */
    bool finalized; /* PMI finalize received after the last init */
    bool ours;      /* asked for the job secret, so it understands notices */
    bool in_barrier;
    bool aborted;    /* asked for the end of the job, which judges it */
    bool seen;       /* found dead, not yet judged */
    int code;        /* exit code as a shell reports it, once exited */
    unsigned writes; /* pieces of output so far */
    struct hl_mx_stream out, err;
    int ctl; /* our end of PMI_FD, -1: closed */
    struct hl_mx_queue in, back;
};

struct hl_mx_job {
    struct hl_mx_opts opt;
    struct hl_mx_rank *rank;
    int size, live, streams;                 /* ranks; not exited; output pipes still open */
    int gone;                                /* ranks that have exited */
    int epoll, signals;                      /* descriptors */
    int code;                                /* first failure, 0 so far */
    bool ending;                             /* ranks were told to end */
    bool hurried;                            /* by the user or the timeout: output nobody reads may be lost */
    bool killing;                            /* ranks were sent SIGKILL */
    int64_t kill_at, give_up_at, timeout_at; /* ms of the monotonic clock, 0: not set */
    int in_barrier;
    struct {
        int rank;
        long code;
        int64_t at; /* ms; 0: nobody has asked */
    } abort;        /* the first one */
    struct hl_mx_sink sink[2];
    struct hl_mx_sink *out, *err;
    int pmi_slot;    /* descriptor number of PMI_FD in every rank; /dev/null here */
    char name[33];   /* 128-bit random job name, hex: the PMI key-value space's name */
    char secret[33]; /* 128-bit random, hex; never on a command line, never in the environment */
};
extern struct hl_mx_job hl_mx;

/* Set in the environment of everything a rank starts once it has shaken hands: see boot. */
#define HL_MX_MARK "HL_INSIDE_RANK"
/* Name of the variable that everything of a job inherits: the guardians find what has run away by it. A job
 * within a rank adds its name behind that of the outer one. */
#define HL_MX_JOB "HL_JOB"

/* What woke the epoll: kind in the upper half, rank in the lower. */
enum hl_mx_event {
    HL_MX_EV_SIGNAL,
    HL_MX_EV_OUT,
    HL_MX_EV_ERR,
    HL_MX_EV_CTL,
    HL_MX_EV_SINK,
    HL_MX_EV_TTY,
    HL_MX_EV_STDIN
};

/* help.c: was it called as OpenSHMEM's launcher? Then `text` with PE for rank, which is cut to `cap` bytes,
 * in `out`; else `text` itself. */
bool hl_mx_is_shmem(void);
const char *hl_mx_words(const char *text, char *out, size_t cap);

/* What ends the name of things of which there are `n`. */
static inline const char *hl_mx_plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* opts.c: reads the command line into *o. Returns -1 to go on, else the exit code after having said why. */
int hl_mx_opts_parse(int argc, char **argv, struct hl_mx_opts *o);

/* Is what is legal and often an oversight to be said? To who looks on, or asks for it. */
bool hl_mx_opts_chatty(const struct hl_mx_opts *o);

/* What ranks of a part will find as `name`, or NULL. */
const char *hl_mx_env_get(const struct hl_mx_opts *o, const struct hl_mx_part *p, const char *name);

/* help.c */
void hl_mx_help(void);
const char *hl_mx_nearest(const char *word, const char *const *names, int n); /* NULL: none is near */

/* hosts.c: reads what the option `arg` names, where all must be this machine, and adds up its slots. Return
 * -1 to go on, else the exit code after having said why. */
int hl_mx_hosts_list(const char *arg, const char *list, struct hl_mx_slots *slots);
int hl_mx_hosts_file(const char *arg, const char *path, struct hl_mx_slots *slots);

/* cpus.c: "0-3,8" to a set: returns what follows, or NULL for no list or a number above `most`. Reads such a
 * line from a file: false if there is none. Writes "CPUs 0-3,8" and returns `out`. */
const char *hl_mx_cpus_parse(const char *text, long most, cpu_set_t *set);
bool hl_mx_cpus_read(const char *path, cpu_set_t *set);
char *hl_mx_cpus_write(const cpu_set_t *set, char *out, size_t cap);
#define HL_MX_CPUS_TEXT 4096 /* room for any set: at worst every other one of 1024 */

/* bind.c: places for opt.bind, 0 or an exit code after having said why; hl_mx_bind_of returns the CPUs of a
 * rank, or NULL for no binding. */
int hl_mx_bind_open(const struct hl_mx_opts *o);
const cpu_set_t *hl_mx_bind_of(int rank);
void hl_mx_bind_report(int rank);

/* guard.c: starts the guardians, 0 or -1 with errno; looks whether they live and starts them again. */
int hl_mx_guard_start(int argc, char **argv);
void hl_mx_guard_look(void);
bool hl_mx_guard_is(pid_t pid);
void hl_mx_guard_stop(void);
void hl_mx_guard_knows(int rank, pid_t group);
/* Kills all processes that are so, by their folders in `proc`; true when there were any. */
bool hl_mx_kill_all_that(bool (*are)(int proc, const char *pid));

/* oom.c: notes how often the kernel has killed for want of memory in our control group; the words (", because
 * ...") when it has again since, else "". */
void hl_mx_oom_open(void);
const char *hl_mx_oom_words(void);

/* spawn.c: takes all descriptors that the hard limit allows; before anything is opened. */
void hl_mx_spawn_raise(void);

/* Keeps a few descriptor numbers for what ranks begin with, below those that the launcher opens later. */
void hl_mx_spawn_keep(void);

/* Is this "NAME=VALUE" for a launcher to set? An outer one's would mislead our ranks. */
bool hl_mx_spawn_owns(const char *pair);

/* library.c: the folder of Hotlane's libraries, NULL if they are not beside the launcher; the
 * LD_LIBRARY_PATH=... that has it behind that of `env`, which the caller owns, or NULL when nothing is to be
 * added. */
const char *hl_mx_library_folder(void);
char *hl_mx_library_pair(char *const *env, int n);

/* 0, or an exit code after having said why. */
int hl_mx_spawn_prepare(void);
int hl_mx_spawn(int rank);
char **hl_mx_spawn_env(int part); /* of its last rank */

/* pmi.c: serves what `rank` sent. */
void hl_mx_pmi_read(int rank);
void hl_mx_pmi_write(int rank);
void hl_mx_pmi_died(int rank);
bool hl_mx_pmi_dies(int but); /* has a rank but this one hung up, so that it will be seen dead? */

/* kvs.c. False: ranks have put more than is kept for them (16 MiB each). */
bool hl_mx_kvs_put(const char *key, const char *value);
const char *hl_mx_kvs_get(const char *key);

/* foreign.c: looks for another MPI's library in a rank that has written and not spoken; at the end of the job
 * says in one line for each part which was found, if none of its ranks has spoken. */
void hl_mx_foreign_open(void);
void hl_mx_foreign_look(int rank);
void hl_mx_foreign_tell(void);

/* out.c: queues, lines, sinks */
void hl_mx_queue_add(struct hl_mx_queue *q, const void *data, size_t len);
void hl_mx_queue_drop(struct hl_mx_queue *q, size_t len);
void hl_mx_out_open(void);
void hl_mx_out_read(int rank, bool err);
void hl_mx_out_flush(struct hl_mx_sink *s);
void hl_mx_out_drain(int rank);
void hl_mx_out_finish(bool patient);
int hl_mx_out_wait_ms(void);
/* One line; the word rank of `fmt` is in the words of who called: see hl_mx_words. */
void hl_mx_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* What lifts the limit that a system call met; nothing where the error is of no limit. */
const char *hl_mx_hint(int error);

/* in.c: standard input of rank 0 */
int hl_mx_in_open(void);
void hl_mx_in_start(void);
void hl_mx_in_read(void);
void hl_mx_in_write(void);
int hl_mx_in_wait_ms(void);
bool hl_mx_in_is_typed(void);

/* main.c: gives a new process the signal dispositions the launcher was started with. */
void hl_mx_signals_restore(void);

/* job.c */
int64_t hl_mx_now_ms(void);
void *hl_mx_alloc(size_t bytes); /* zeroed; both end the launcher when there is no memory */
void *hl_mx_realloc(void *old, size_t bytes);
void hl_mx_watch(int fd, uint32_t events, enum hl_mx_event kind, int rank);
void hl_mx_rewatch(int fd, uint32_t events, enum hl_mx_event kind, int rank);
bool hl_mx_signal_ends(void);
void hl_mx_end(int code, int sig, int grace_ms);
void hl_mx_run(void);
void hl_mx_cleanup(void);

/* Milliseconds between telling ranks to end and killing them: after a death, after a signal of the user. */
#define HL_MX_GRACE_DEATH 300
#define HL_MX_GRACE_USER 500
/* Milliseconds that an abort waits, since the death that made a rank abort may be seen after the abort: when
 * nothing speaks for such a death, when the abort's code does, and when a rank has closed its socket: what is
 * left of it has still to be cleared away, on a busy machine for long. */
#define HL_MX_GRACE_ABORT 30
#define HL_MX_GRACE_CAUSE 200
#define HL_MX_GRACE_DYING 2000
/* Milliseconds that a killed process may take to go, as one does that has much memory to give back or waits
 * for a disk, before it counts as one that cannot be killed. */
#define HL_MX_GRACE_KILL 5000
/* Milliseconds after which an unfinished line of rank 0 counts as a question to whoever types. */
#define HL_MX_PROMPT 100
/* Milliseconds that leftovers of a rank may keep its output open after all ranks have exited. */
#define HL_MX_GRACE_OUTPUT 200

#endif
