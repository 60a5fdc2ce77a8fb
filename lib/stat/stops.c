/* Finds node peers that are stopped, or have ended.
 *
 * A stop has a number: how often its process has gone to sleep so far. It stays the same as long as the
 * process is stopped, and is another one at the next stop. A peer that two looks, a second apart, find in the
 * same stop is stopped. (One look is not enough: when a whole job is continued, its ranks wake one after the
 * other.) The rank that puts the number into the peer's place writes the line.
 *
 * A process that has ended is dead if its post is still there, since it takes the post back before it
 * may end. Only the second look tells of that, too: a launcher that knows of the end tells first, or
 * ends the job. */
#include "stops.h"

#include "atomic.h"
#include "lock.h"
#include "log.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_NS UINT64_C(1000000000) /* a longer wait is long; also the time between two looks */
#define LATE_NS (3 * LOOK_NS)        /* after a longer pause the last look does not count */
#define AT_ONCE 8                    /* most peers in a look */
#define STATUS_BYTES 16384           /* room for /proc/PID/status, with all CPUs of a large machine */
#define ENDED UINT64_MAX             /* stands in place of a stop's number */

/* A rank's part of the board. */
struct stops_place {
    HL_ALIGNED_LINE hl_a32
        pid;        /* atomic; 0: not posted, or taken back; set with release after the next two */
    uint32_t told;  /* 1: the rank's launcher tells of signals that stop it */
    uint64_t space; /* the rank's PID namespace, 0: not known */
    hl_a64 said;    /* atomic: number of the last stop for which a line was written */
};

/* What this process has seen of a peer. */
struct sight {
    uint64_t stop, at_ns; /* number of the stop, ENDED, or 0: it runs; time of the look */
};

bool hl_stops_on;

static hl_a64 due_ns; /* atomic: when the next look is due */
static struct hl_flag busy;
static struct hl_stops_node node;                /* written while opening */
static struct stops_place *places;               /* written while opening */
static struct sight *sights HL_GUARDED_BY(busy); /* [node.size] */
static uint64_t last_ns HL_GUARDED_BY(busy);     /* time of the last look */
static uint64_t unbroken_ns HL_GUARDED_BY(busy); /* since then all looks came in time */
static int next HL_GUARDED_BY(busy);             /* node rank of the next peer to look at */
static char status[STATUS_BYTES] HL_GUARDED_BY(busy);

size_t hl_stops_board_bytes(int node_size)
{
    return (size_t)node_size * sizeof(struct stops_place);
}

/* The number of this process's PID namespace; 0: there is no /proc, or it shows another namespace, so that
 * process numbers of this namespace cannot be looked up there. */
static uint64_t own_space(void)
{
    char self[24] = "";
    struct stat ns;
    bool mine = readlink("/proc/self", self, sizeof self - 1) > 0 && atol(self) == (long)getpid();
    return mine && stat("/proc/self/ns/pid", &ns) == 0 ? (uint64_t)ns.st_ino : 0;
}

void hl_stops_open(const struct hl_stops_node *n) HL_NO_TSA
{
    node = *n;
    places = n->board;
    struct stops_place *mine = &places[n->me];
    if (n->size == 1) {
        return;
    }
    mine->space = own_space();
    mine->told = n->told;
    /* release: publishes these two; pairs with the acquire in look_at_peer. */
    hl_a32_store_release(&mine->pid, (uint32_t)getpid());
    sights = calloc((size_t)n->size, sizeof *sights);
    last_ns = 0;
    next = (n->me + 1) % n->size;
    hl_stops_on = sights != NULL;
}

void hl_stops_close(void) HL_NO_TSA
{
    hl_stops_on = false;
    if (places != NULL) {
        /* release: a rank that finds this process gone sees it; pairs with the acquire in stop_of_peer. */
        hl_a32_store_release(&places[node.me].pid, 0);
    }
    free(sights);
    sights = NULL;
}

/* The number behind `name` in `status`; 0: it is not there. */
static uint64_t status_number(const char *name) HL_REQUIRES(busy)
{
    const char *at = strstr(status, name);
    return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* The number of the stop in which a process is, by a debugger (t) or a signal (T; not if the launcher has
 * `told`); ENDED, also for a zombie; 0: it runs, or that is not known. */
static uint64_t stop_of(uint32_t pid, bool told) HL_REQUIRES(busy)
{
    static const char state[] = "\nState:\t";
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) { /* asked first: /proc may hide living processes */
        return ENDED;
    }
    char path[32];
    snprintf(path, sizeof path, "/proc/%u/status", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, status, sizeof status - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    status[n > 0 ? n : 0] = '\0';
    const char *is = strstr(status, state);
    char letter = is != NULL ? is[sizeof state - 1] : '\0';
    if (letter == 'Z') {
        return status_number("\nThreads:\t") <= 1 ? ENDED : 0; /* 0: main has ended, other threads run */
    }
    return letter == 't' || (letter == 'T' && !told) ? 1 + status_number("\nvoluntary_ctxt_switches:\t") : 0;
}

/* The number of the stop in which a peer with a post is; ENDED; or 0: it runs, or that is not known. */
static uint64_t stop_of_peer(int who, uint32_t pid) HL_REQUIRES(busy)
{
    struct stops_place *p = &places[who];
    bool known = p->space != 0 && p->space == places[node.me].space;
    bool gone = !node.lives(who) && node.lives(node.me); /* own socket too: the network may have changed */
    uint64_t stop = gone ? ENDED : known ? stop_of(pid, p->told != 0) : 0;
    /* acquire: its end was seen, so its last stores are seen; pairs with hl_stops_close. */
    return stop == ENDED && hl_a32_load_acquire(&p->pid) == 0 ? 0 : stop;
}

/* Looks at a peer; true: it seems to be stopped or gone, and the next look decides. */
static bool look_at_peer(int who, uint64_t now) HL_REQUIRES(busy)
{
    struct stops_place *p = &places[who];
    struct sight *s = &sights[who];
    uint32_t pid = hl_a32_load_acquire(&p->pid); /* acquire: its post; pairs with hl_stops_open. */
    uint64_t stop = pid != 0 ? stop_of_peer(who, pid) : 0,
             said = hl_a64_load_relaxed(&p->said); /* relaxed: the exchange below decides. */
    bool still = stop != 0 && stop == s->stop && s->at_ns >= unbroken_ns;
    *s = (struct sight){stop, now};
    if (!still) {
        return stop == ENDED || (stop != 0 && stop != said);
    }
    /* full: it is rare; one rank of the node writes the line. */
    bool first = stop != said && hl_a64_cas_full(&p->said, &said, stop);
    if (stop == ENDED) {
        node.ended(who, pid, first);
    } else if (first) {
        hl_log(HL_LOG_WARN,
               "%s %d (pid %u) on this node is stopped (a debugger, Ctrl-Z, a suspended job): ranks that "
               "wait for it go on waiting",
               hl_log_unit(), node.world[who], pid);
    }
    return false;
}

/* Looks at some peers. The next look goes on with others, or begins with the first that seemed to be
 * stopped. */
static void look_at_peers(uint64_t now) HL_REQUIRES(busy)
{
    int suspect = -1;
    unbroken_ns = last_ns == 0 || now - last_ns > LATE_NS ? now : unbroken_ns;
    last_ns = now;
    for (int i = 0; i < AT_ONCE && i < node.size; i++) {
        bool seems = next != node.me && look_at_peer(next, now);
        suspect = seems && suspect < 0 ? next : suspect;
        next = (next + 1) % node.size;
    }
    next = suspect >= 0 ? suspect : next;
}

void hl_stops_look_slow(uint64_t since_ns)
{
    uint64_t now = hl_now_ns();
    /* relaxed: a hint; only the owner of the flag looks. */
    if (now - since_ns < LOOK_NS || now < hl_a64_load_relaxed(&due_ns) || !hl_flag_try(&busy)) {
        return;
    }
    int error = errno;
    hl_a64_store_relaxed(&due_ns, now + LOOK_NS); /* relaxed: a hint; only the owner of the flag looks. */
    look_at_peers(now);
    errno = error;
    hl_flag_leave(&busy);
}

int hl_stops_nap_ms(void)
{
    return hl_stops_on ? (int)(LOOK_NS / 1000000) : -1;
}
