/* Finds dead ranks where nothing tells of hosts.
 *
 * A thread that waits for long names the ranks for which it waits (as it tells the watchdog),
 * some each second. Their receive threads are asked, and a rank that is silent for
 * HOTLANE_PEER_TIMEOUT seconds is dead.
 *
 * A rank with a heartbeat is not: a network card reads memory without the process, so the heartbeat of a
 * stopped process can be read, and that of a dead one cannot. Where the provider needs the process for that,
 * a stopped process is taken for a dead one. */
#include "doubts.h"

#include "alive.h"
#include "rx_internal.h"
#include "sends.h"

#include "conf.h"
#include "job.h"
#include "util.h"

#include <string.h>

#define DOUBTS 8 /* most ranks that are in doubt at a time, and most reads of heartbeats */

struct doubt {
    struct hl_rx_question ask;
    uint64_t said_ns;      /* when a thread last said that it waits for the rank; 0: the place is free */
    uint64_t next_read_ns; /* when its heartbeat is to be read again */
    uint64_t heartbeat_ns; /* when the last read of its heartbeat that came back was posted; 0: none */
};

/* Reads of heartbeats that are under way. */
static struct heartbeat_read {
    struct hl_rx_op op;
    int rank;
    uint64_t word, posted_ns; /* where it is read to; when it was posted, 0: the place is free */
} heartbeat_reads[DOUBTS];

static struct doubt doubts[DOUBTS];
static hl_a32 doubted[DOUBTS]; /* atomic: 1 + a rank for which a thread waits, 0: none */
static uint64_t looked_ns;

void hl_rx_doubt(int rank)
{
    struct hl_fab_host at;
    uint32_t free = 0, word = (uint32_t)rank + 1;
    if (rank == hl_job.rank || hl_job_node_of(rank) >= 0 || hl_rx_alive_host(rank, &at) ||
        hl_rx_is_dead(rank) || !hl_rx_may_ask(rank)) {
        return;
    }
    /* relaxed: a hint; nothing is read after it. */
    for (int i = 0; i < DOUBTS; i++) {
        if (hl_a32_load_relaxed(&doubted[i]) == word) {
            return;
        }
    }
    for (int i = 0; i < DOUBTS && !hl_a32_cas_full(&doubted[i], &free, word); i++) { /* full: it is rare. */
        free = 0;
    }
}

/* The doubt about that rank, else a free place; NULL: there is neither. */
static struct doubt *doubt_about(int rank)
{
    struct doubt *d = NULL;
    for (int i = 0; i < DOUBTS && (d == NULL || d->said_ns == 0 || d->ask.rank != rank); i++) {
        struct doubt *other = &doubts[i];
        d = other->said_ns == 0 || other->ask.rank == rank ? other : d;
    }
    return d;
}

/* The doubt about that rank; NULL: there is none. */
static struct doubt *open_doubt(int rank)
{
    struct doubt *d = doubt_about(rank);
    return d != NULL && d->said_ns != 0 ? d : NULL;
}

void hl_rx_doubts_heard(int rank)
{
    struct doubt *d = open_doubt(rank);
    if (d != NULL) {
        hl_rx_question_heard(&d->ask, rank);
    }
}

void hl_rx_doubts_heartbeat(int rank, uint64_t asked_ns)
{
    struct doubt *d = open_doubt(rank);
    if (d != NULL) {
        d->heartbeat_ns = asked_ns;
    }
}

void hl_rx_doubts_read(struct hl_rx_op *op, bool well)
{
    struct heartbeat_read *f = HL_CONTAINER_OF(op, struct heartbeat_read, op);
    if (well) {
        hl_rx_doubts_heartbeat(f->rank, f->posted_ns);
    }
    f->posted_ns = 0;
}

/* Reads the rank's heartbeat, unless that is under way, or all places are taken. */
static void read_heartbeat(int rank)
{
    struct heartbeat_read *unused = NULL;
    for (int i = 0; i < DOUBTS; i++) {
        if (heartbeat_reads[i].posted_ns != 0 && heartbeat_reads[i].rank == rank) {
            return;
        }
        unused = heartbeat_reads[i].posted_ns == 0 ? &heartbeat_reads[i] : unused;
    }
    if (unused != NULL && hl_rx_net_read_heartbeat(rank, &unused->word, &unused->op)) {
        unused->rank = rank;
        unused->posted_ns = hl_now_ns();
    }
}

bool hl_rx_doubts_lives(int rank)
{
    const struct doubt *d = open_doubt(rank);
    uint64_t timeout_ns = (uint64_t)hl_conf.peer_timeout * HL_RX_SECOND_NS;
    return d != NULL && d->heartbeat_ns != 0 && hl_now_ns() - d->heartbeat_ns < timeout_ns;
}

static void take_doubts(uint64_t now_ns)
{
    for (int i = 0; i < DOUBTS; i++) {
        uint32_t word = hl_a32_xchg_acquire(&doubted[i], 0); /* acquire: the weakest exchange there is. */
        struct doubt *d = word != 0 ? doubt_about((int)word - 1) : NULL;
        if (d == NULL) {
            continue;
        }
        if (d->said_ns == 0) {
            *d = (struct doubt){.ask.rank = (int)word - 1};
        }
        d->said_ns = now_ns;
    }
}

/* When this thread did not run, an answer may have come that it has not read yet. So of the time between
 * two looks at most half the timeout counts as silence. Some of it does count, since a provider may take
 * seconds for each call. */
static void forgive_pause(uint64_t now_ns)
{
    uint64_t most = (uint64_t)hl_conf.peer_timeout * HL_RX_SECOND_NS / 2, pause = now_ns - looked_ns;
    for (int i = 0; pause > most && i < DOUBTS; i++) {
        struct hl_rx_question *q = &doubts[i].ask;
        q->since_ns += q->since_ns != 0 ? pause - most : 0;
        doubts[i].heartbeat_ns += doubts[i].heartbeat_ns != 0 ? pause - most : 0;
    }
}

/* True when a doubt ends: the rank is dead, or no thread has named it lately and it has answered, or nobody
 * waits for long any more. (A thread that still waits names it again.) */
static bool is_doubt_over(const struct doubt *d, uint64_t now_ns, bool waiting)
{
    bool told = now_ns - d->said_ns <= HL_RX_PAUSE_NS;
    return hl_rx_is_dead(d->ask.rank) || (!told && (!waiting || d->ask.since_ns == 0));
}

/* Asks the rank, judges its silence and reads its heartbeat. */
static void press_doubt(struct doubt *d, uint64_t now_ns)
{
    struct hl_rx_question *q = &d->ask;
    hl_rx_question_ask(q, now_ns);
    if (q->since_ns == 0 || now_ns == q->since_ns) {
        return;
    }
    uint64_t signs_ns = d->heartbeat_ns > q->since_ns ? d->heartbeat_ns : q->since_ns;
    if (signs_ns != q->since_ns) {
        hl_rx_say_stopped(q->rank, now_ns - q->since_ns, true);
    }
    hl_rx_is_silent(q->rank, now_ns > signs_ns ? now_ns - signs_ns : 0);
    if (now_ns >= d->next_read_ns) {
        uint64_t begin_ns = hl_now_ns();
        read_heartbeat(q->rank);
        d->next_read_ns = now_ns + HL_RX_REST * (hl_now_ns() - begin_ns);
    }
}

void hl_rx_doubts_look(uint64_t now_ns, bool waiting)
{
    forgive_pause(now_ns);
    take_doubts(now_ns);
    for (int i = 0; i < DOUBTS; i++) {
        struct doubt *d = &doubts[i];
        if (d->said_ns != 0 && is_doubt_over(d, now_ns, waiting)) {
            d->said_ns = 0;
        } else if (d->said_ns != 0) {
            press_doubt(d, now_ns);
        }
    }
    looked_ns = now_ns;
}

void hl_rx_doubts_close(void)
{
    memset(heartbeat_reads, 0, sizeof heartbeat_reads);
    memset(doubts, 0, sizeof doubts);
    memset(doubted, 0, sizeof doubted);
    looked_ns = 0;
}
