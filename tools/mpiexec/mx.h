/* mpiexec: what its files share. There is one thread and one epoll, and nothing ever blocks on a rank.
 *
 * A rank's life: it is started (spawn.c) -> speaks PMI-1 on its socket (pmi.c) and writes to two pipes
 * (out.c) -> exits. Its zombie is kept until the job ends, so that no other process gets its process group id
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

/* Order of ranks over the places of their bindings: not given; in full blocks; in turn over NUMA nodes or
 * sockets; over NUMA nodes forth and back. */
enum hl_mx_map { HL_MX_MAP_ANY, HL_MX_MAP_BLOCKS, HL_MX_MAP_NUMA, HL_MX_MAP_SOCKETS, HL_MX_MAP_FOLDED };

/* Assignments NAME=VALUE; later ones override earlier ones. */
struct hl_mx_env {
    char **set;
    int n;
};

/* One part of an MPMD command line: `n` ranks of one program. */
struct hl_mx_part {
    int n;    /* 0: not given */
    int each; /* ranks on each machine, by option each_arg; 0: not given */
    const char *each_arg;
    char **argv;
    struct hl_mx_env env;
    const char *wdir;
};

/* The ranks for which lists and files of hosts have slots. */
struct hl_mx_slots {
    int64_t n;
    bool open; /* an entry has no number: any number more */
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
    bool strict;          /* more ranks than slots are refused */
    bool unasked;         /* nothing gave the number of ranks of a part */
    char *unused;         /* options without effect, as given */
    double timeout_s;     /* 0: none */
    const char *sys_root; /* the folder from which the machine's topology is read, normally "/sys" */
};

/* Bytes waiting for a descriptor that is not ready. data[head .. head+len) is pending. */
struct hl_mx_queue {
    char *data;
    size_t head, len, cap;
};

/* Where output lines go: descriptor 1 or 2 of the launcher; one sink for both when they are the same file. */
struct hl_mx_sink {
    int fd;
    bool own;    /* fd is our own non-blocking description of the file */
    bool socket; /* write with send(MSG_DONTWAIT) */
    bool terminal;
    bool careful; /* a blocking pipe or terminal that could not be opened again: written in small pieces when
                   * poll allows */
    bool watched; /* in the epoll set */
    bool stalled; /* ranks' pipes are not read until it drains */
    bool dead;    /* its reader has gone, or it takes no more */
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
    bool ours;      /* has asked for the job's secret, so it understands notices */
    bool in_barrier;
    bool in_spawn;                /* a request to start processes, which has several lines, has not ended */
    long spawn_part, spawn_parts; /* which of its parts this is, counted from 1; how many there are */
    bool aborted;                 /* has asked for the end of the job; its exit says nothing more */
    bool seen;                    /* found dead, but not handled yet */
    int code;                     /* exit code as a shell reports it, once exited */
    unsigned writes;              /* pieces of output so far */
    struct hl_mx_stream out, err;
    int ctl; /* our end of PMI_FD, -1: closed */
    struct hl_mx_queue in, back;
};

struct hl_mx_job {
    struct hl_mx_opts opt;
    struct hl_mx_rank *rank;
    int size;                                /* ranks */
    int live;                                /* ranks that run or have yet to be started */
    int gone;                                /* ranks that have exited */
    int late_codes;                          /* of these, with a code other than 0 after finalize */
    int streams;                             /* output pipes still open */
    int epoll, signals;                      /* descriptors */
    int code;                                /* first failure, 0 so far */
    bool ending;                             /* ranks were told to end */
    bool hurried;                            /* by the user or timeout: output that nobody reads may be
                                              * lost */
    bool killing;                            /* ranks were sent SIGKILL */
    int64_t kill_at, give_up_at, timeout_at; /* ms of the monotonic clock, 0: not set */
    int in_barrier;
    struct {
        int rank;
        long code;
        int64_t at; /* when it was asked for, ms; 0: it was not */
    } abort;        /* the first abort that was asked for */
    struct hl_mx_sink sink[2];
    struct hl_mx_sink *out, *err;
    int pmi_slot;    /* descriptor number of PMI_FD in every rank; /dev/null in the launcher */
    char name[33];   /* 128-bit random job name, hex: the PMI key-value space's name */
    char secret[33]; /* 128-bit random, hex; never on a command line, never in the environment */
};
extern struct hl_mx_job hl_mx;

/* Set by boot in a rank's environment after PMI init, so that all processes started by the rank have it. */
#define HL_MX_MARK "HL_INSIDE_RANK"
/* The name of the variable that all processes of a job inherit: by it the guardians find processes that have
 * left. A job within a rank adds its name behind that of the outer job. */
#define HL_MX_JOB "HL_JOB"

/* What an epoll event is about: its data have this in the upper half and the rank in the lower. */
enum hl_mx_event {
    HL_MX_EV_SIGNAL,
    HL_MX_EV_OUT,
    HL_MX_EV_ERR,
    HL_MX_EV_CTL,
    HL_MX_EV_SINK,
    HL_MX_EV_TTY,
    HL_MX_EV_STDIN
};

/* help.c: hl_mx_is_shmem: was the launcher called as oshrun? If so, hl_mx_words writes `text`, with PE for
 * rank and cut to `cap` bytes, to `out` and returns it; else it returns `text`. */
bool hl_mx_is_shmem(void);
const char *hl_mx_words(const char *text, char *out, size_t cap);

/* The ending of the noun for `n` things. */
static inline const char *hl_mx_plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* opts.c: reads the command line into *o. Returns -1 to go on, or, after an error message, the exit code. */
int hl_mx_opts_parse(int argc, char **argv, struct hl_mx_opts *o);

/* Should the launcher mention what is legal but often an oversight? Yes with -v, or on a terminal. */
bool hl_mx_opts_chatty(const struct hl_mx_opts *o);

/* The value of environment variable `name` for ranks of part `p`, or NULL. */
const char *hl_mx_env_get(const struct hl_mx_opts *o, const struct hl_mx_part *p, const char *name);

/* help.c: prints the help text; finds the name that is nearest to a mistyped word */
void hl_mx_help(void);
const char *hl_mx_nearest(const char *word, const char *const *names, int n); /* NULL: none */

/* hosts.c: read the hosts that option `arg` names, which must all be this machine, and add up their slots.
 * Return -1 to go on, or, after an error message, the exit code. */
int hl_mx_hosts_list(const char *arg, const char *list, struct hl_mx_slots *slots);
int hl_mx_hosts_file(const char *arg, const char *path, struct hl_mx_slots *slots);

/* cpus.c: hl_mx_cpus_parse turns "0-3,8" into a set and returns what follows, or NULL for no list or a number
 * above `most`. hl_mx_cpus_read reads such a line from a file; false if there is none. hl_mx_cpus_write
 * writes "CPUs 0-3,8" and returns `out`. */
const char *hl_mx_cpus_parse(const char *text, long most, cpu_set_t *set);
bool hl_mx_cpus_read(const char *path, cpu_set_t *set);
char *hl_mx_cpus_write(const cpu_set_t *set, char *out, size_t cap);
#define HL_MX_CPUS_TEXT 4096 /* bytes for any set: at worst every second CPU of 1024 */

/* bind.c: hl_mx_bind_open finds places for o->bind; returns 0, or, after an error message, an exit code.
 * hl_mx_bind_of returns the CPUs of a rank, or NULL for no binding. */
int hl_mx_bind_open(const struct hl_mx_opts *o);
const cpu_set_t *hl_mx_bind_of(int rank);
void hl_mx_bind_report(int rank);

/* guard.c: hl_mx_guard_start starts the guardians; 0, or -1 with errno. hl_mx_guard_look starts those again
 * that have died. hl_mx_guard_knows tells them the process group of a rank. */
int hl_mx_guard_start(int argc, char **argv);
void hl_mx_guard_look(void);
bool hl_mx_guard_is(pid_t pid);
void hl_mx_guard_stop(void);
void hl_mx_guard_knows(int rank, pid_t group);
/* Kills all processes for which `are` is true; it gets the folder /proc and the process's name there. True
 * when there were any. */
bool hl_mx_kill_all_that(bool (*are)(int proc, const char *pid));

/* oom.c: hl_mx_oom_open notes how often the kernel has killed for want of memory in this control group.
 * hl_mx_oom_words returns ", because ..." when it has since done so again, else "". */
void hl_mx_oom_open(void);
const char *hl_mx_oom_words(void);

/* spawn.c: raises the limit of descriptors to the hard limit. Called before any is opened. */
void hl_mx_spawn_raise(void);

/* The highest open descriptor, or -1 when it cannot be found (there is no /proc). */
int hl_mx_spawn_highest(void);

/* Keeps a few descriptor numbers for those that ranks begin with, below those that the launcher opens
 * later. */
void hl_mx_spawn_keep(void);

/* Is "NAME=VALUE" a variable that only a launcher sets? Ranks must not inherit that of an outer launcher. */
bool hl_mx_spawn_owns(const char *pair);

/* library.c: hl_mx_library_folder returns the folder of Hotlane's libraries, or NULL if they are not beside
 * the launcher. hl_mx_library_pair returns LD_LIBRARY_PATH=... with it behind that of `env`, which the caller
 * owns, or NULL when nothing need be added. */
const char *hl_mx_library_folder(void);
char *hl_mx_library_pair(char *const *env, int n);

/* Prepare the start of ranks, and start one. Return 0, or, after an error message, an exit code. */
int hl_mx_spawn_prepare(void);
int hl_mx_spawn(int rank);
char **hl_mx_spawn_env(int part); /* the environment of its last rank */

/* pmi.c: hl_mx_pmi_read serves what `rank` has sent; hl_mx_pmi_write sends what waits for it. */
void hl_mx_pmi_read(int rank);
void hl_mx_pmi_write(int rank);
void hl_mx_pmi_died(int rank);
bool hl_mx_pmi_dies(int but); /* has another rank than `but` closed its socket? It will be found dead. */

/* kvs.c: hl_mx_kvs_put returns false when ranks have put more than is kept for them (16 MiB each). */
bool hl_mx_kvs_put(const char *key, const char *value);
const char *hl_mx_kvs_get(const char *key);

/* foreign.c: hl_mx_foreign_look looks for another MPI's library in a rank that has written output but not
 * spoken PMI. hl_mx_foreign_tell says at the end of the job, in one line for each part of which no rank has
 * spoken, which library was found. */
void hl_mx_foreign_open(void);
void hl_mx_foreign_look(int rank);
void hl_mx_foreign_tell(void);

/* out.c: queues, lines and sinks of output */
void hl_mx_queue_add(struct hl_mx_queue *q, const void *data, size_t len);
void hl_mx_queue_drop(struct hl_mx_queue *q, size_t len);
void hl_mx_out_open(void);
void hl_mx_out_read(int rank, bool err);
void hl_mx_out_flush(struct hl_mx_sink *s);
void hl_mx_out_drain(int rank);
void hl_mx_out_finish(void);
int hl_mx_out_wait_ms(void);
/* Prints one line of the launcher. The word rank in `fmt` becomes PE where hl_mx_words says so. */
void hl_mx_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Which limit a system call has met, for the end of a message; "" for other errors. */
const char *hl_mx_hint(int error);

/* in.c: standard input of rank 0 */
int hl_mx_in_open(void);
void hl_mx_in_start(void);
void hl_mx_in_read(void);
void hl_mx_in_write(void);
int hl_mx_in_wait_ms(void);
bool hl_mx_in_is_typed(void);

/* main.c: gives a new process the signal dispositions with which the launcher was started. */
void hl_mx_signals_restore(void);

/* job.c: the event loop and the end of a job */
int64_t hl_mx_now_ms(void);
void *hl_mx_alloc(size_t bytes); /* zeroed; both end the launcher when there is no memory */
void *hl_mx_realloc(void *old, size_t bytes);
void hl_mx_watch(int fd, uint32_t events, enum hl_mx_event kind, int rank);
void hl_mx_rewatch(int fd, uint32_t events, enum hl_mx_event kind, int rank);
void hl_mx_signal_late(void); /* takes signals while the rest of the output leaves */
void hl_mx_end(int code, int sig, int grace_ms);
void hl_mx_mind_timeout(void); /* ends the job if its time is over */
void hl_mx_serve(bool wait);   /* handles what has come; if that is nothing and `wait`, what comes next */
void hl_mx_run(void);
void hl_mx_cleanup(void);

/* Milliseconds between telling ranks to end and killing them, after a death and after a signal of the
 * user. */
#define HL_MX_GRACE_DEATH 300
#define HL_MX_GRACE_USER 500
/* Milliseconds that an abort waits, since the death that made a rank abort may be seen only after it: when
 * nothing points to such a death; when the abort's code does; when a rank has closed its socket, as a busy
 * machine may take long to clear the rest of it away. */
#define HL_MX_GRACE_ABORT 30
#define HL_MX_GRACE_CAUSE 200
#define HL_MX_GRACE_DYING 2000
/* Milliseconds after which a killed process counts as one that cannot be killed. Freeing much memory, or
 * waiting for a disk, takes time. */
#define HL_MX_GRACE_KILL 5000
/* After a look at all children, which costs a system call for each rank, the next one waits a millisecond for
 * every so many ranks. */
#define HL_MX_LOOK_RANKS 200
/* Milliseconds after which an unfinished line of rank 0 counts as a prompt for the user. */
#define HL_MX_PROMPT 100
/* Milliseconds for which processes that ranks have left may keep output open after all ranks have exited. */
#define HL_MX_GRACE_OUTPUT 200

#endif
