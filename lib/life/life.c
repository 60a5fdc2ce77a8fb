/* The users of the library, and its states from the first open to the last close.
 *
 *   CLOSED --first hl_life_open--> OPEN --last hl_life_close--> CLOSED --> ...
 *                                  OPEN --of sessions alone--> IDLE --hl_life_open--> OPEN
 *                                                              IDLE --exit--> CLOSED
 * On the way to CLOSED it is CLOSING: calls are refused, and what is open still stands, for a fork, too.
 * A forked child is in none of these states (LIFE_FORKED): its calls are errors that say so, and it can never
 * open. */
#include "life.h"

#include "atomic.h"
#include "boot.h"
#include "conf.h"
#include "cs.h"
#include "err.h"
#include "job.h"
#include "lock.h"
#include "log.h"
#include "meet.h"
#include "mem.h"
#include "modules.h"
#include "prog.h"
#include "req.h"
#include "rx.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>

enum life_state { LIFE_CLOSED, LIFE_IDLE, LIFE_OPEN, LIFE_CLOSING, LIFE_FORKED };

static struct hl_mutex lock = HL_MUTEX_INIT;
static hl_a32 state; /* atomic: enum life_state; changed under lock by set_state, read by anybody */
static int users[HL_LIFE_USERS] HL_GUARDED_BY(lock);
static int n_users HL_GUARDED_BY(lock);
static uint64_t n_opened HL_GUARDED_BY(lock); /* number of opens so far */
static hl_a32 opened, closed;                 /* atomic: one bit for each user; changed under lock */
static bool hooked HL_GUARDED_BY(lock);
static bool mpi_ended HL_GUARDED_BY(lock);
static bool collective_end HL_GUARDED_BY(lock); /* MPI or SHMEM has opened: the end is collective */
static struct hl_life_row *rows;                /* enrolled by constructors, before threads exist */
static bool succeeds;                           /* the process exits with 0; used by the exiting thread */

/* Both are written while the library opens, and read-only while it is open. */
static int level = MPI_THREAD_SINGLE;
static pthread_t main_thread;

void hl_life_enrol(struct hl_life_row *row)
{
    row->next = rows;
    rows = row;
}

/* Why MPI's calls cannot be made while the library is not open. */
static const char *name_refusal(void)
{
    return hl_life_is_forked()               ? "a forked child of a rank cannot use the library"
           : hl_life_closed(HL_LIFE_MPI)     ? "called after MPI_Finalize"
           : hl_life_opened(HL_LIFE_SESSION) ? "called while no session is open"
                                             : "called before MPI_Init";
}

static void set_state(enum life_state to)
{
    hl_a32_store_relaxed(&state, to); /* relaxed: what opening set up goes with the refusal */
    hl_job_set_refusal(to == LIFE_OPEN ? NULL : name_refusal());
}

/* ---- fork and exit ---- */

static void forget_in_child(void)
{
    hl_mem_fork_child();
    uint32_t was = hl_a32_load_relaxed(&state); /* relaxed, both: the child has one thread */
    if (was == LIFE_CLOSED || was == LIFE_FORKED) {
        return;
    }
    set_state(LIFE_FORKED);
    hl_modules_forget();
    for (struct hl_life_row *r = rows; r != NULL; r = r->next) {
        if (r->child != NULL) {
            r->child();
        }
    }
}

static int close_all(void) HL_REQUIRES(lock);

/* Tells the launcher that leaving is fine if the library is closed. Otherwise the launcher's line will say
 * what happened. It does not wait for the lock: the thread that opens or closes may wait for ever, or its
 * signal handler may have called exit. If sessions have left the end to the exit, the end happens here, but
 * not with an exit code other than 0: then it must not wait for the others, since the job is to end. */
static void end_mpi_at_exit(int code, void *unused)
{
    (void)unused;
    succeeds = code == 0;
    if (!hl_boot_is_mine() || !hl_mutex_try(&lock)) {
        return;
    }
    /* relaxed, both: state changes under lock. */
    if (hl_a32_load_relaxed(&state) == LIFE_IDLE && code == 0) {
        close_all();
    }
    if (hl_a32_load_relaxed(&state) == LIFE_CLOSED) {
        hl_boot_close(true);
    }
    hl_mutex_unlock(&lock);
}

/* Under a foreign launcher the process says which finalize call is missing, and ends with 1 (hl_boot_left).
 * This runs at the end of all (first priority), also when the program contains the library: exit handlers
 * registered before the hook, and destructors, may still have called MPI_Finalize. */
__attribute__((destructor(101))) static void at_end(void)
{
    if (succeeds && hl_job_is_open()) {
        bool mpi = hl_life_opened(HL_LIFE_MPI) && !hl_life_closed(HL_LIFE_MPI);
        hl_boot_left(mpi ? "MPI_Finalize" : "MPI_Session_finalize");
    }
}

/* Keeps the library loaded when a user's shared library contains the archive, as libhotlane.so is kept by
 * itself. A dlclose would remove exit handlers and destructors of thread keys, and MPI cannot start twice in
 * a process. */
static void stay_loaded(void)
{
    Dl_info ours;
    struct link_map *map;
    if (dladdr1(&state, &ours, (void **)&map, RTLD_DL_LINKMAP) != 0 && map->l_name[0] != '\0') {
        (void)dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

static void hook_exit(void) HL_REQUIRES(lock)
{
    if (!hooked) {
        hooked = true;
        stay_loaded();
        pthread_atfork(hl_mem_fork_prepare, hl_mem_fork_parent, forget_in_child);
        on_exit(end_mpi_at_exit, NULL);
    }
}

/* ---- open, close ---- */

/* The thread level to grant. HOTLANE_CS=none allows no MPI_THREAD_MULTIPLE, and a variable may lower what MPI
 * gets. */
static int grant_thread_level(enum hl_life_who who, int required)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                 MPI_THREAD_MULTIPLE};
    if (who == HL_LIFE_MPI && required > levels[hl_conf.max_threads]) {
        return levels[hl_conf.max_threads];
    }
    if (hl_conf.cs != HL_CS_NONE || required != MPI_THREAD_MULTIPLE) {
        return required;
    }
    if (hl_job.rank == 0) {
        hl_log(HL_LOG_WARN, "HOTLANE_CS=none: MPI_THREAD_SERIALIZED is granted, not MPI_THREAD_MULTIPLE");
    }
    return MPI_THREAD_SERIALIZED;
}

static int open_library(enum hl_life_who who, int required) HL_REQUIRES(lock)
{
    hook_exit();
    hl_prog_end(false);
    int err = hl_modules_start(who == HL_LIFE_SHMEM ? "PE" : "rank");
    for (struct hl_life_row *r = rows; err == 0 && r != NULL; r = r->next) {
        if (r->early != NULL) {
            r->early(who);
        }
    }
    int granted = err != 0 ? required : grant_thread_level(who, required);
    err = err != 0 ? err : hl_modules_open(granted == MPI_THREAD_MULTIPLE);
    if (err != 0) {
        return err;
    }
    level = granted;
    collective_end = false;
    return 0;
}

static int may_open(enum hl_life_who who) HL_REQUIRES(lock)
{
    static const char *const names[] = {"MPI", "a session", "SHMEM"};
    /* relaxed: it changes under lock. */
    if (hl_a32_load_relaxed(&state) == LIFE_FORKED) {
        return hl_life_refuse();
    }
    if (who != HL_LIFE_SESSION && (hl_a32_load_relaxed(&opened) >> who & 1) != 0) {
        return hl_err_say(HL_ERR_OTHER, "%s was initialized before in this process", names[who]);
    }
    return 0;
}

int hl_life_open(enum hl_life_who who, int required, int *provided)
{
    hl_mutex_lock(&lock);
    int err = may_open(who);
    /* relaxed: it changes under lock. */
    if (err == 0 && hl_a32_load_relaxed(&state) == LIFE_CLOSED) {
        err = open_library(who, required);
    }
    if (err == 0) {
        if (n_users == 0 || who == HL_LIFE_MPI) {
            main_thread = pthread_self();
        }
        set_state(LIFE_OPEN);
        collective_end = collective_end || who != HL_LIFE_SESSION;
        n_users++;
        n_opened++;
        users[who]++;
        hl_a32_or_full(&opened, 1u << who); /* full: pairs with the acquire in hl_life_opened */
        *provided = level;
    }
    hl_mutex_unlock(&lock);
    return err;
}

static int close_all(void)
{
    hl_rx_leave();
    hl_modules_give_counters();
    int err = hl_life_meet();
    hl_modules_tell_counters();
    if (err == HL_ERR_PROC_ABORTED) {
        err = 0; /* the survivors of a job that goes on without its dead have met, and may leave */
    }
    set_state(LIFE_CLOSING); /* before the look at waits: calls that begin behind it are refused */
    hl_prog_end(true);
    set_state(LIFE_CLOSED);
    hl_modules_close(mpi_ended);
    return err;
}

/* Quiet at the end of the last session, without the lock: it may wait for other ranks, and a thread that
 * opens a session meanwhile must not wait. It is repeated if one was opened. */
static void leave_session(void) HL_REQUIRES(lock)
{
    uint64_t before;
    do {
        before = n_opened;
        hl_mutex_unlock(&lock);
        hl_modules_quiet(false);
        hl_req_complete(0); /* no thread will poll for them afterwards */
        hl_mutex_lock(&lock);
    } while (n_users == 1 && n_opened != before);
}

/* While other users stay, their threads may wait on; but OpenSHMEM takes its memory away. */
static int check_left(enum hl_life_who who) HL_REQUIRES(lock)
{
    bool last = n_users == 1 && collective_end;
    char calls[160];
    int n = last                   ? hl_prog_left(false, calls, sizeof calls)
            : who == HL_LIFE_SHMEM ? hl_prog_left(true, calls, sizeof calls)
                                   : 0;
    if (n == 0) {
        return 0;
    }
    return hl_err_say(
        HL_ERR_OTHER,
        "%d other thread%s still in calls (%s), which would never return: all must return before", n,
        n == 1 ? " is" : "s are", calls);
}

int hl_life_may_close(enum hl_life_who who)
{
    hl_mutex_lock(&lock);
    int err = check_left(who);
    hl_mutex_unlock(&lock);
    return err;
}

int hl_life_close(enum hl_life_who who)
{
    hl_mutex_lock(&lock);
    int err = users[who] == 0 ? hl_err_say(HL_ERR_OTHER, "closed more often than opened") : check_left(who);
    if (err == 0) {
        users[who]--;
        /* MPI cannot start again, so its end may tell the launcher that leaving is fine. */
        mpi_ended = mpi_ended || who == HL_LIFE_MPI;
        if (users[who] == 0) {
            hl_a32_or_full(&closed, 1u << who); /* full: pairs with the acquire in hl_life_closed */
        }
        if (n_users == 1 && !collective_end) {
            leave_session();
        }
        if (--n_users == 0) {
            if (collective_end) {
                hl_modules_quiet(true);
                err = close_all();
            } else {
                set_state(LIFE_IDLE);
            }
        }
    }
    hl_mutex_unlock(&lock);
    return err;
}

bool hl_life_opened(enum hl_life_who who)
{
    return (hl_a32_load_acquire(&opened) >> who & 1) != 0; /* acquire: pairs with hl_life_open */
}

bool hl_life_closed(enum hl_life_who who)
{
    return (hl_a32_load_acquire(&closed) >> who & 1) != 0; /* acquire: pairs with hl_life_close */
}

bool hl_life_is_forked(void)
{
    return hl_a32_load_acquire(&state) == LIFE_FORKED; /* acquire: no partner, the child has one thread */
}

int hl_life_refuse(void)
{
    return hl_err_say(HL_ERR_OTHER, "%s", name_refusal());
}

int hl_life_level(void)
{
    return level;
}

bool hl_life_is_main_thread(void)
{
    return pthread_equal(main_thread, pthread_self());
}
