/* Finds ranks that have died and of which the launcher has not told: their host is silent, or
 * says that they are gone.
 *
 * Once a second the receive thread looks at the provider's connections. The operating system knows for each
 * whether the other host has answered, so a process that computes or is stopped is not taken for a dead one.
 * A host that leaves questions unanswered for HOTLANE_PEER_TIMEOUT seconds is dead with all its ranks: their
 * connections are shut down, so that the provider frees what belongs to them.
 *
 * A rank is probed by connecting to its endpoint: the host says at once when nobody listens there any more.
 * The thread probes ranks of a host with which a connection has ended (one look later: the launcher may tell
 * first), ranks that take nothing, and, once for each long wait of this rank, its neighbours: a probe is also
 * a question to a host with which nobody has a connection.
 *
 * During a long wait the receive threads of the next ranks of other nodes are asked, too. They answer
 * while their programs compute, so a rank that is silent on a host that answers is stopped. Node peers
 * of such a rank would see that by themselves (stops.h); a rank that is alone on its node is the next
 * one of some rank that waits.
 *
 * Where endpoints do not listen on TCP, nothing tells of hosts, and doubts.c does this work. */
#include "alive.h"

#include "doubts.h"
#include "hosts.h"
#include "rx_internal.h"

#include "conf.h"
#include "err.h"
#include "job.h"
#include "log.h"
#include "prog.h"
#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS HL_RX_SECOND_NS
#define LOOK_NS SECOND_NS
#define SOON_NS (SECOND_NS / 5)       /* until the next look when a probe was made */
#define SHARE 500                     /* looks take at most 1/500 of the time */
#define PROBES 32                     /* most probes at a time */
#define ANSWER_NS (3 * SECOND_NS / 2) /* a probe without answer for so long counts as unanswered question */
#define NEIGHBOURS 256                /* most ranks that are probed in a long wait */
#define ROUND_NS (10 * SECOND_NS)     /* from one such round of probes to the next */
#define AT_ONCE 8                     /* most probes of a round in one look */
#define STOPPED_NS (10 * SECOND_NS)   /* no running receive thread takes so long to answer */
#define ASKED 2                       /* ranks whose receive thread is asked: each costs a connection */

struct rank_probe {
    struct hl_fab_tcp_probe tcp;
    int rank;
    uint64_t since_ns;
};

/* What was said about a rank that is stopped. */
struct stop {
    bool said;            /* a line said so, and the rank has not answered since */
    uint64_t answered_ns; /* when it last answered after such a line; 0: never */
};

/* Belongs to the receive thread, but for the atomic fields. */
static struct {
    struct hl_rx_hosts hosts;
    uint64_t next_ns, now_ns;
    struct rank_probe probes[PROBES];
    int n_probes;
    bool probing;         /* a probe was made in this look, or the next look must come soon */
    bool waiting;         /* a thread of this process waits for long */
    int probed;           /* ranks probed in this round */
    uint64_t round_ns;    /* time of the round's first probe */
    bool ends_are_deaths; /* nobody leaves yet: a rank whose endpoint is closed is dead */
    bool unsure;          /* of some rank it was not to be had in this look whether it is on some host */
    int given_up;         /* 1 + a rank that has not answered for too long, 0: none */
    struct stop *stops;   /* [ranks]; NULL: none was stopped */
    uint64_t asked_ns;    /* time of the last look that asked `question`, 0: they are not chosen yet */
    struct hl_rx_question question[ASKED];
    hl_a32 suspect; /* atomic: 1 + a rank that takes nothing, 0: none */
    hl_a32 leaving; /* atomic; 1: peers may close their endpoints */
} alive;

void hl_rx_leave(void)
{
    hl_a32_store_release(&alive.leaving, 1); /* release: pairs with the acquire in hl_rx_alive_look. */
}

/* Whether connections tell of a rank's host. */
enum host_known { HOST_UNKNOWN, HOST_KNOWN, HOST_LATER /* its card is not to be had now */ };

static enum host_known host_of(int rank, struct hl_fab_host *out)
{
    int rc = 0;
    if (rank == hl_job.rank || hl_job_node_of(rank) >= 0 || !hl_fab_is_open() || !hl_fab.row->tcp_listens) {
        return HOST_UNKNOWN; /* without a look at its card, which the launcher may have to be asked for */
    }
    const struct hl_rx_card *card = hl_rx_card_now(rank, &rc);
    if (card == NULL) {
        return rc == HL_ERR_AGAIN ? HOST_LATER : HOST_UNKNOWN;
    }
    return hl_fab_link_host(card->name, card->name_len, out) ? HOST_KNOWN : HOST_UNKNOWN;
}

bool hl_rx_alive_host(int rank, struct hl_fab_host *out)
{
    return host_of(rank, out) == HOST_KNOWN;
}

const char *hl_rx_where(int rank, char text[HL_RX_WHERE])
{
    struct hl_fab_host at;
    char name[64];
    text[0] = '\0';
    if (hl_rx_alive_host(rank, &at)) {
        snprintf(text, HL_RX_WHERE, " at %s", hl_fab_host_text(&at, name));
    }
    return text;
}

static bool is_on(int rank, const struct hl_rx_host *host)
{
    struct hl_fab_host at;
    enum host_known known = host_of(rank, &at);
    alive.unsure |= known == HOST_LATER;
    return known == HOST_KNOWN && memcmp(&at, &host->at, sizeof at) == 0;
}

/* True when the rank's card is not to be had now. */
static bool is_for_later(int rank)
{
    struct hl_fab_host at;
    return host_of(rank, &at) == HOST_LATER;
}

/* ---- hosts ---- */

static bool see_link(void *unused, const struct hl_fab_link *link)
{
    (void)unused;
    return hl_rx_hosts_see(&alive.hosts, link, alive.now_ns);
}

/* Counts all ranks of a host as dead. `why`: words for the cause; NULL: it was silent for too long. */
static void mark_host_dead(struct hl_rx_host *host, const char *why)
{
    char name[64], ranks[200] = "", silent[64];
    size_t at = 0;
    int n = 0;
    for (int r = 0; r < hl_job.size; r++) {
        if (hl_rx_is_dead(r) || !is_on(r, host)) {
            continue;
        }
        if (at < sizeof ranks - 16) {
            at += (size_t)snprintf(ranks + at, sizeof ranks - at, " %d", r);
        }
        n++;
    }
    if (n == 0) {
        return;
    }
    snprintf(silent, sizeof silent, "has not answered for %lld s", (long long)hl_conf.peer_timeout);
    hl_log(HL_LOG_WARN, "host %s %s: its ranks (%d:%s) count as dead", hl_fab_host_text(&host->at, name),
           why != NULL ? why : silent, n, ranks);
    for (int r = 0; r < hl_job.size; r++) {
        if (is_on(r, host)) {
            host->first = r;
            hl_rx_mark_dead(r);
        }
    }
}

/* Tells the ranks of a host that answers again, too late, that they count as dead: they must not wait
 * for this rank. */
static void tell_ranks(struct hl_rx_host *host)
{
    const struct hl_wire_rec gone = {.op = HL_WIRE_GONE};
    for (; host->told_to < hl_job.size; host->told_to++) {
        if (is_for_later(host->told_to) ||
            (is_on(host->told_to, host) && hl_rx_net_send(host->told_to, &gone, NULL) == HL_ERR_AGAIN)) {
            return; /* the next look goes on */
        }
    }
}

void hl_rx_told_gone(int rank)
{
    if (!hl_rx_is_dead(rank)) {
        hl_log(HL_LOG_WARN, "%s %d counts this %s as dead, because it was silent for too long", hl_log_unit(),
               rank, hl_log_unit());
        hl_rx_mark_dead(rank);
    }
}

/* ---- ranks ---- */

static struct hl_fab_tcp_probe tcp_probe(int rank)
{
    int rc;
    const struct hl_rx_card *card = hl_rx_card_now(rank, &rc);
    return card != NULL ? hl_fab_tcp_probe(card->name, card->name_len) : (struct hl_fab_tcp_probe){-1, 0};
}

/* Probes a rank of another node. */
static void start_probe(int rank)
{
    struct hl_fab_tcp_probe k = {-1, 0};
    if (alive.n_probes < PROBES && (k = tcp_probe(rank)).fd >= 0) {
        alive.probes[alive.n_probes++] = (struct rank_probe){k, rank, alive.now_ns};
        alive.probing = true;
    }
}

/* The host of a rank has answered a probe; `listens`: the rank's endpoint is open. */
static void note_answer(struct hl_rx_host *host, int rank, bool listens)
{
    char name[64];
    host->heard = true;
    host->since_ns = 0;
    host->back = host->dead;
    if (!listens && alive.ends_are_deaths && !hl_rx_is_dead(rank)) {
        hl_log(HL_LOG_WARN, "%s %d is gone: its host %s answers, but the process is not there any more",
               hl_log_unit(), rank, hl_fab_host_text(&host->at, name));
        hl_rx_mark_dead(rank);
    }
}

/* There is no route to a host. A host that has answered before may come back, so it is only silent. */
static void note_unreachable(struct hl_rx_host *host, int error)
{
    char why[128];
    host->asked_ns = alive.now_ns;
    if (!host->heard && alive.ends_are_deaths) {
        snprintf(why, sizeof why, "cannot be reached (%s; is the interface up, and is there a route?)",
                 strerror(error));
        host->dead = true;
        host->died_ns = alive.now_ns;
        mark_host_dead(host, why);
    }
}

/* Looks what came of a probe; true: the probe is over. */
static bool check_probe(struct rank_probe *c)
{
    struct hl_fab_host at;
    struct hl_rx_host *host = hl_rx_alive_host(c->rank, &at) ? hl_rx_hosts_get(&alive.hosts, &at) : NULL;
    enum hl_fab_tcp_answer what = hl_fab_tcp_probe_result(&c->tcp);
    if (what == HL_FAB_NOT_YET && (host == NULL || host->dead)) {
        close(c->tcp.fd);
        return true;
    }
    if (host == NULL) {
        return true;
    }
    if (what == HL_FAB_LISTENS || what == HL_FAB_REFUSED) {
        note_answer(host, c->rank, what == HL_FAB_LISTENS);
        return true;
    }
    if (what == HL_FAB_UNREACHABLE) {
        note_unreachable(host, c->tcp.error);
    } else if (what == HL_FAB_IN_VAIN || alive.now_ns - c->since_ns > ANSWER_NS) {
        host->asked_ns = alive.now_ns;
    }
    c->tcp = what == HL_FAB_NOT_YET ? c->tcp : tcp_probe(c->rank);
    return c->tcp.fd < 0;
}

static void check_probes(void)
{
    int kept = 0;
    for (int i = 0; i < alive.n_probes; i++) {
        if (!check_probe(&alive.probes[i])) {
            alive.probes[kept++] = alive.probes[i];
        }
    }
    alive.n_probes = kept;
}

/* Probes the ranks of a host with which a connection has ended. */
static void probe_host(struct hl_rx_host *host)
{
    while (host->check >= 0 && alive.n_probes < PROBES && !is_for_later(host->check)) {
        int r = host->check++;
        host->check = host->check < hl_job.size ? host->check : -1;
        if (!hl_rx_is_dead(r) && is_on(r, host)) {
            start_probe(r);
        }
    }
}

void hl_rx_suspect(int rank)
{
    /* relaxed: a hint; the caller repeats it as long as the rank takes nothing. */
    hl_a32_store_relaxed(&alive.suspect, (uint32_t)rank + 1);
}

/* Probes a rank that takes nothing, and this rank's neighbours during a long wait. */
static void probe_others(void)
{
    struct hl_fab_host at;
    uint32_t suspect = hl_a32_xchg_acquire(&alive.suspect, 0); /* acquire: the weakest exchange there is */
    if (suspect != 0 && !hl_rx_is_dead((int)suspect - 1) && hl_rx_alive_host((int)suspect - 1, &at)) {
        start_probe((int)suspect - 1);
    }
    alive.waiting = hl_prog_waits_for_long(alive.now_ns);
    if (!alive.waiting && alive.now_ns - alive.round_ns > ROUND_NS) {
        alive.probed = 0;
    }
    int all = hl_job.size - 1 < NEIGHBOURS ? hl_job.size - 1 : NEIGHBOURS;
    for (int n = 0; alive.waiting && n < AT_ONCE && alive.probed < all; n++) {
        alive.round_ns = alive.probed == 0 ? alive.now_ns : alive.round_ns;
        int rank = (hl_job.rank + alive.probed + 1) % hl_job.size;
        if (is_for_later(rank)) {
            break;
        }
        alive.probed++;
        if (!hl_rx_is_dead(rank) && hl_rx_alive_host(rank, &at)) {
            start_probe(rank);
        }
    }
}

/* ---- ranks that are stopped ---- */

/* Sets *out to whether the rank's host answers. False: nothing tells of its host. */
static bool get_host_answer(int rank, bool *out)
{
    struct hl_fab_host at;
    if (!hl_rx_alive_host(rank, &at) || !hl_rx_hosts_know(&alive.hosts, &at)) {
        return false;
    }
    *out = hl_rx_hosts_get(&alive.hosts, &at)->since_ns == 0;
    return true;
}

void hl_rx_say_stopped(int rank, uint64_t for_ns, bool host_answers)
{
    struct stop *stop = alive.stops != NULL ? &alive.stops[rank] : NULL;
    if (stop != NULL && stop->answered_ns != 0) { /* another caller may have had an answer since */
        uint64_t since = hl_now_ns() - stop->answered_ns;
        for_ns = for_ns < since ? for_ns : since;
    }
    if (for_ns <= STOPPED_NS || !host_answers || (stop != NULL && stop->said)) {
        return;
    }
    alive.stops = stop != NULL ? alive.stops : calloc((size_t)hl_job.size, sizeof *alive.stops);
    if (alive.stops != NULL) {
        alive.stops[rank].said = true;
        hl_log(HL_LOG_WARN,
               "%s %d has not answered for %lld s, but its host does: is it stopped (a debugger, Ctrl-Z, a "
               "suspended "
               "job)? It is waited for",
               hl_log_unit(), rank, (long long)(for_ns / SECOND_NS));
    }
}

void hl_rx_is_silent(int rank, uint64_t for_ns)
{
    bool host_answers = false, known = get_host_answer(rank, &host_answers);
    hl_rx_say_stopped(rank, for_ns, host_answers);
    if (!known && hl_conf.peer_timeout != 0 && for_ns > (uint64_t)hl_conf.peer_timeout * SECOND_NS) {
        alive.given_up = rank + 1;
    }
}

bool hl_rx_gives_up(int rank, uint64_t waited_ns)
{
    bool host_answers;
    if (waited_ns > SECOND_NS) {
        hl_rx_doubt(rank);
    }
    if (hl_conf.peer_timeout == 0 || waited_ns < (uint64_t)hl_conf.peer_timeout * SECOND_NS ||
        hl_rx_doubts_lives(rank) || !hl_rx_may_ask(rank)) {
        return false;
    }
    hl_rx_is_silent(rank, waited_ns);
    return !get_host_answer(rank, &host_answers);
}

void hl_rx_has_answered(int rank)
{
    if (alive.stops != NULL && alive.stops[rank].said) {
        alive.stops[rank] = (struct stop){false, hl_now_ns()};
        hl_log(HL_LOG_WARN, "%s %d answers again", hl_log_unit(), rank);
    }
}

/* Chooses the ranks to ask: the next ranks of other nodes. False: that must be done later. */
static bool choose_asked(void)
{
    struct hl_fab_host at;
    int n = 0;
    for (int i = 1; i < hl_job.size && n < ASKED; i++) {
        int rank = (hl_job.rank + i) % hl_job.size;
        enum host_known known = host_of(rank, &at);
        if (known == HOST_LATER) {
            return false;
        }
        if (known == HOST_KNOWN) {
            alive.question[n++].rank = rank;
        }
    }
    while (n < ASKED) {
        alive.question[n++].rank = -1;
    }
    return true;
}

void hl_rx_question_ask(struct hl_rx_question *q, uint64_t now_ns)
{
    if (now_ns >= q->again_ns && hl_rx_may_ask(q->rank)) {
        uint64_t begin_ns = hl_now_ns();
        q->since_ns = q->since_ns != 0 ? q->since_ns : now_ns;
        bool left = hl_rx_streams_ask(q->rank);
        q->again_ns =
            now_ns + (left ? now_ns - q->since_ns + ROUND_NS / 2 : HL_RX_REST * (hl_now_ns() - begin_ns));
    }
}

void hl_rx_question_heard(struct hl_rx_question *q, int rank)
{
    if (q->rank == rank && q->since_ns != 0) {
        q->since_ns = 0;
        hl_rx_has_answered(rank);
    }
}

static void ask_others(void)
{
    bool host_answers;
    if (!alive.waiting || (alive.asked_ns == 0 && !choose_asked())) {
        return;
    }
    /* After a long pause this thread did not run: answers may have come that it has not read yet. */
    bool anew = alive.now_ns - alive.asked_ns > HL_RX_PAUSE_NS;
    alive.asked_ns = alive.now_ns;
    for (int i = 0; i < ASKED; i++) {
        struct hl_rx_question *q = &alive.question[i];
        q->since_ns = anew && q->since_ns != 0 ? alive.now_ns : q->since_ns;
        if (q->rank < 0 || hl_rx_is_dead(q->rank)) {
            continue;
        }
        hl_rx_question_ask(q, alive.now_ns);
        if (q->since_ns != 0 && get_host_answer(q->rank, &host_answers)) {
            hl_rx_say_stopped(q->rank, alive.now_ns - q->since_ns, host_answers);
        }
    }
}

void hl_rx_alive_heard(int rank)
{
    for (int i = 0; i < ASKED; i++) {
        hl_rx_question_heard(&alive.question[i], rank);
    }
    hl_rx_doubts_heard(rank);
}

/* ---- the look ---- */

static void look_at_ranks(void)
{
    bool anew = alive.unsure;
    uint64_t timeout_s = (uint64_t)hl_conf.peer_timeout;
    unsigned keep_s = timeout_s == 0 ? 0 : (unsigned)(timeout_s / 8 > 1 ? timeout_s / 8 : 1);
    alive.unsure = false;
    hl_fab_links(keep_s, see_link, NULL);
    check_probes();
    int died = hl_rx_hosts_judge(&alive.hosts, alive.now_ns, timeout_s * SECOND_NS);
    for (size_t i = 0; i < alive.hosts.count; i++) {
        struct hl_rx_host *host = &alive.hosts.host[i];
        if (host->dead && host->back) {
            tell_ranks(host);
        } else if (host->dead && (died > 0 || anew)) {
            mark_host_dead(host, NULL);
        } else if (host->dead && alive.n_probes == 0) {
            start_probe(host->first); /* to see whether the host is back */
        } else if (!host->dead) {
            probe_host(host); /* the last look asked for it: the launcher has had time to tell of the death */
            host->check = host->lost && host->check < 0 ? 0 : host->check;
            alive.probing |= host->check >= 0;
        }
    }
    if (died > 0) {
        hl_fab_links(0, see_link, NULL); /* shuts down the connections with dead hosts */
        alive.hosts.n_now = 0;
    }
    if (alive.ends_are_deaths) {
        probe_others();
        ask_others();
        hl_rx_doubts_look(alive.now_ns, alive.waiting);
        (void)hl_rx_streams_look();
        alive.probing |= hl_rx_watch_look();
    }
}

uint64_t hl_rx_alive_look(void)
{
    uint64_t now = hl_now_ns();
    /* acquire: pairs with the release in hl_rx_leave. */
    alive.ends_are_deaths = hl_a32_load_acquire(&alive.leaving) == 0;
    if (!hl_rx_has_cards()) {
        return LOOK_NS;
    }
    if (alive.given_up != 0) {
        char where[HL_RX_WHERE];
        int rank = alive.given_up - 1;
        alive.given_up = 0;
        hl_log(HL_LOG_WARN, "%s %d%s has answered nothing for %lld s: it counts as dead", hl_log_unit(), rank,
               hl_rx_where(rank, where), (long long)hl_conf.peer_timeout);
        hl_rx_mark_dead(rank);
    }
    if (now >= alive.next_ns) {
        alive.now_ns = now;
        alive.probing = false;
        uint64_t begin = hl_rx_thread_time();
        look_at_ranks();
        uint64_t took = SHARE * (hl_rx_thread_time() - begin), pause = alive.probing ? SOON_NS : LOOK_NS;
        took = took < HL_RX_LATEST_NS ? took : HL_RX_LATEST_NS;
        alive.next_ns = now + (took > pause ? took : pause);
    }
    return alive.next_ns - now;
}

void hl_rx_alive_open(void)
{
    hl_prog_on_long(hl_fab.row->tcp_listens ? NULL : hl_rx_doubt);
}

void hl_rx_alive_close(void)
{
    hl_prog_on_long(NULL);
    for (int i = 0; i < alive.n_probes; i++) {
        close(alive.probes[i].tcp.fd);
    }
    hl_rx_hosts_free(&alive.hosts);
    hl_rx_doubts_close();
    free(alive.stops);
    memset(&alive, 0, sizeof alive);
}
