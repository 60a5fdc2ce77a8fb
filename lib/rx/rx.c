/* The receive thread: one epoll over the near bell, the network's queue, the node socket, the launcher's
 * notices and the descriptors of modules above. */
#include "alive.h"
#include "rx_internal.h"
#include "sends.h"

#include "boot.h"
#include "err.h"
#include "job.h"
#include "log.h"
#include "prog.h"
#include "stat.h"
#include "thread.h"
#include "util.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define DEATH_MAX 8
#define STACK ((size_t)512 << 10)
#define LOOK_EVERY 256 /* polls of a waiting thread between two looks at the launcher */
#define EMPTY_WAKES_MAX 10000
#define EMPTY_WAKES_NS UINT64_C(100000000)
#define CLOEXEC_LOOKS 4
#define CLOEXEC_MS 25
#define CLOEXEC_NS (CLOEXEC_MS * MS_NS)
#define CLOEXEC_SHARE 100 /* looks at sockets take at most this part of the time */
#define LOOK_MS 1000      /* between looks at the limits of this process */
#define STARVED_LOOKS 3   /* looks without success before the job ends: a program may need all for a moment */
#define TICK_MS 1         /* where each rank has a CPU; else a tick of each would take all CPUs */
#define TICK_MAX_MS 20
#define MS_NS UINT64_C(1000000)
#define NEWS_MS 20
#define NAPS_ARMED 16 /* sleeps in a row after which the provider is polled all the same */
#define QUIET_TICKS 2 /* ticks without work before they end: starting them again costs a system call */

struct hl_rx hl_rx = {.bell = -1, .epoll = -1, .timer = -1};

static struct hl_mutex start_lock = HL_MUTEX_INIT;
static int network_result = 1; /* 1: not tried; written by the collective callers, one at a time */
static void (*on_death[DEATH_MAX])(int);
static hl_a32 on_death_count; /* atomic: may grow while the receive thread tells of a death */
static bool (*tick_fn)(void);
static hl_a32 connecting; /* atomic; 1: a first message to a peer was refused since the last look */
static hl_a32 watched;    /* atomic; 1: the thread watches the launcher, or there is none */
static hl_a32 ticking;    /* atomic; 1: ticks run or are about to (run_tick) */
static _Thread_local bool on_thread;

/* State of the receive thread's loop. Many wakes without work (`empty`) mean that a descriptor stays
 * readable for ever. */
struct wakes {
    uint64_t since_ns;
    int empty;
    bool storm;          /* the network's descriptor is not watched any more: poll every millisecond */
    uint64_t cloexec_ns; /* when the next look of `cloexec_looks` is due */
    uint64_t tick_ns;    /* time of the last tick */
    int quiet;           /* ticks in a row without work */
    int cloexec_looks;   /* looks at new sockets still due: a connection comes some time after its news */
    bool news;           /* the launcher may have news, but another thread was asking it something */
    int look_ms;         /* until the next look of alive.c or call of hl_rx_on_due; -1: never */
    uint64_t limits_ns;  /* time of the last look at limits */
    int starved;         /* looks in a row that found a limit met */
    bool armed;          /* fi_trywait allowed to sleep, and the provider was not called since */
    int naps;            /* sleeps since then that brought nothing */
    bool slept;          /* the last pass came after a sleep, so its message came alone, as a rule */
    struct hl_rx_pace pace;
};

size_t hl_rx_board_bytes(int node_size)
{
    return (size_t)node_size * sizeof(struct hl_rx_ring);
}

bool hl_rx_on_thread(void)
{
    return on_thread;
}

bool hl_rx_has_network(void)
{
    /* acquire: the endpoint is open; pairs with the release in open_receive_endpoint. */
    return hl_a32_load_acquire(&hl_rx.has_network) != 0;
}

bool hl_rx_has_cards(void)
{
    return hl_a32_load_acquire(&hl_rx.has_cards) != 0; /* acquire: pairs with hl_rx_network. */
}

void hl_rx_kick(void)
{
    uint64_t one = 1;
    (void)!write(hl_rx.bell, &one, sizeof one); /* a full counter means that it rings already */
}

void hl_rx_cloexec(void)
{
    hl_fab_cloexec_request();
    hl_rx_kick();
}

static int add_fd(int fd, uint32_t more)
{
    struct epoll_event event = {.events = EPOLLIN | more, .data.fd = fd};
    if (fd >= 0 && epoll_ctl(hl_rx.epoll, EPOLL_CTL_ADD, fd, &event) != 0 && errno != EEXIST) {
        return hl_err_say(HL_ERR_OTHER, "the receive thread cannot watch a descriptor: %s", strerror(errno));
    }
    return 0;
}

/* Waiting threads poll it: it looks whether the launcher has news, and starts the receive thread then. It is
 * needed while that thread does not run, and when news came with an answer to another thread's question. */
static int look_at_launcher(void *unused)
{
    struct pollfd p = {hl_boot_watch_fd(), POLLIN, 0};
    if (HL_UNLIKELY(hl_boot_watch_waits())) {
        hl_rx_kick();
        return hl_rx_start() == 0;
    }
    if (HL_LIKELY(hl_a32_load_relaxed(&watched) != 0) || poll(&p, 1, 0) <= 0) { /* relaxed: a hint */
        return 0;
    }
    return hl_rx_start() == 0;
}

/* Gives back what hl_rx_open made, all of it or a part. */
static void close_what_opened(void)
{
    for (int i = 0; hl_rx.bells != NULL && i < hl_job.node_size; i++) {
        uint32_t known = hl_a32_load_relaxed(&hl_rx.bells[i]); /* relaxed: no thread is there. */
        if (known != 0) {
            close((int)known - 1);
        }
    }
    close(hl_rx.bell);
    close(hl_rx.epoll);
    if (hl_rx.timer >= 0) {
        close(hl_rx.timer);
    }
    /* A late kick would write into whatever gets the number next. */
    hl_rx.bell = hl_rx.epoll = hl_rx.timer = -1;
    free(hl_rx.bells);
    free(hl_rx.dead);
    hl_rx.bells = NULL;
    hl_rx.dead = NULL;
}

int hl_rx_open(void *board)
{
    /* relaxed, all: no thread yet. */
    hl_a32_store_relaxed(&hl_rx.stop, 0);
    hl_a32_store_relaxed(&ticking, 0);
    hl_a32_store_relaxed(&hl_rx.lost, 0);
    network_result = 1;
    hl_rx.rings = board;
    hl_rx.mine = &hl_rx.rings[hl_job.node_rank];
    hl_rx.bells = calloc((size_t)hl_job.node_size, sizeof *hl_rx.bells);
    hl_rx.dead = calloc((size_t)hl_job.size, sizeof *hl_rx.dead);
    hl_rx.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    hl_rx.epoll = hl_rx.bell < 0 ? -1 : epoll_create1(EPOLL_CLOEXEC);
    int rc = hl_rx.epoll < 0 ? hl_err_say(HL_ERR_OTHER, "no descriptors for the receive thread: %s%s",
                                          strerror(errno), hl_err_hint(errno))
             : hl_rx.bells == NULL || hl_rx.dead == NULL
                 ? hl_err_say(HL_ERR_NO_MEM, "no memory for the receive side")
                 : add_fd(hl_rx.bell, 0);
    rc = rc == 0 ? add_fd(hl_boot_node_fd(), 0) : rc;
    /* Edge-triggered: an answer for another thread makes it readable, too, and must wake this one once. */
    rc = rc == 0 ? add_fd(hl_boot_watch_fd(), EPOLLET) : rc;
    hl_a32_store_relaxed(&watched, hl_boot_watch_fd() < 0); /* relaxed: nobody looks yet. */
    rc = rc == 0 ? hl_prog_register(look_at_launcher, NULL, LOOK_EVERY) : rc;
    if (rc != 0) {
        close_what_opened();
    }
    return rc;
}

int hl_rx_handle(enum hl_wire_op op, hl_rx_fn *fn)
{
    if (hl_rx.handlers[op] != NULL && hl_rx.handlers[op] != fn) {
        return hl_err_say(HL_ERR_INTERN, "two handlers for record kind %d", op);
    }
    hl_rx.handlers[op] = fn;
    return 0;
}

const char hl_rx_order;

int hl_rx_run(const struct hl_rx_msg *msg)
{
    hl_rx_fn *fn = hl_rx.handlers[msg->rec->op];
    if (msg->rec->op == HL_WIRE_GREET) {
        return 0;
    }
    if (msg->rec->op == HL_WIRE_GONE) {
        hl_rx_told_gone(msg->from);
        return 0;
    }
    hl_handover_take(&hl_rx_order);
    int rc = fn != NULL ? fn(msg) : HL_ERR_UNSUPPORTED_OPERATION;
    hl_handover_give(&hl_rx_order);
    return rc;
}

int hl_rx_on_death(void (*fn)(int rank))
{
    uint32_t n = hl_a32_load_relaxed(&on_death_count); /* relaxed: modules come one after the other. */
    for (uint32_t i = 0; i < n; i++) {
        if (on_death[i] == fn) {
            return 0;
        }
    }
    if (n == DEATH_MAX) {
        return hl_err_say(HL_ERR_INTERN, "too many modules ask for deaths");
    }
    on_death[n] = fn;
    /* release: publishes the entry; pairs with the acquire in tell_death. */
    hl_a32_store_release(&on_death_count, n + 1);
    return 0;
}

int hl_rx_on_tick(bool (*fn)(void))
{
    if (tick_fn != NULL && tick_fn != fn) {
        return hl_err_say(HL_ERR_INTERN, "two modules ask for ticks");
    }
    tick_fn = fn;
    return 0;
}

static int tick_ms(void)
{
    unsigned ms = TICK_MS * hl_prog_ranks_per_cpu();
    return ms < TICK_MAX_MS ? (int)ms : TICK_MAX_MS;
}

void hl_rx_want_ticks(void)
{
    /* relaxed: leases order it (run_tick). full: it picks the one thread that sets the timer. */
    if (hl_a32_load_relaxed(&ticking) != 0 || hl_a32_xchg_full(&ticking, 1) != 0) {
        return;
    }
    /* The thread is woken only when the first tick is due: by then a flush may have done all work. */
    struct itimerspec first = {.it_value.tv_nsec = tick_ms() * (long)MS_NS};
    if (hl_rx.timer < 0 || timerfd_settime(hl_rx.timer, 0, &first, NULL) != 0) {
        hl_rx_kick();
    }
}

/* Runs a tick when it is due. The last one runs after `ticking` was cleared: tick_fn takes every lease, so it
 * sees the work of all earlier holders, and later holders see the cleared word and ask for ticks again. */
static void run_tick(struct wakes *w)
{
    if (hl_a32_load_relaxed(&ticking) == 0) { /* relaxed: the thread that sets it also wakes this one. */
        return;
    }
    uint64_t now = hl_now_ns();
    if (now - w->tick_ns < (uint64_t)tick_ms() * MS_NS) {
        return;
    }
    w->tick_ns = now;
    if (tick_fn()) {
        w->quiet = 0;
    } else if (++w->quiet >= QUIET_TICKS) {
        w->quiet = 0;
        hl_a32_store_relaxed(&ticking, 0); /* relaxed: the leases that tick_fn takes order it. */
        if (tick_fn()) {
            hl_a32_store_relaxed(&ticking, 1); /* relaxed: only this thread acts on it. */
        }
    }
}

bool hl_rx_is_dead(int rank)
{
    /* acquire: what happened before the mark; pairs with the release in hl_rx_mark_dead. */
    return hl_rx.dead != NULL && hl_a8_load_acquire(&hl_rx.dead[rank]) != 0;
}

bool hl_rx_is_told(int rank)
{
    /* acquire: what happened before the mark; pairs with the release in hl_rx_mark_dead. */
    return hl_rx.dead != NULL && hl_a8_load_acquire(&hl_rx.dead[rank]) == HL_RX_TOLD;
}

static void tell_death(int rank)
{
    uint32_t n = hl_a32_load_acquire(&on_death_count); /* acquire: pairs with hl_rx_on_death. */
    hl_rx.deaths = true;
    /* What a rank of the node had sent comes first: it may have left a lock, for instance. */
    (void)(hl_job_node_of(rank) >= 0 ? hl_rx_near_poll() : 0);
    for (uint32_t i = 0; i < n; i++) {
        on_death[i](rank);
    }
}

void hl_rx_mark_dead(int rank)
{
    hl_a8_store_release(&hl_rx.dead[rank], HL_RX_TOLD); /* release: pairs with hl_rx_is_dead. */
    tell_death(rank);
}

bool hl_rx_lose(int rank)
{
    uint8_t was = 0;
    /* full: it is rare; only one caller marks the rank. */
    if (hl_a8_cas_full(&hl_rx.dead[rank], &was, HL_RX_LOST)) {
        hl_a32_store_release(&hl_rx.lost, 1); /* release: publishes the mark; pairs with tell_lost_ranks. */
        hl_rx_kick();
        (void)hl_rx_start(); /* if it fails, its text says why, and waits for the dead rank go on */
        was = HL_RX_LOST;
    }
    return was == HL_RX_LOST;
}

static void tell_lost_ranks(void)
{
    /* relaxed: a hint; the setter wakes this thread. acquire: the marks; pairs with hl_rx_lose. */
    if (hl_a32_load_relaxed(&hl_rx.lost) == 0 || hl_a32_xchg_acquire(&hl_rx.lost, 0) == 0) {
        return;
    }
    for (int i = 0; i < hl_job.node_size; i++) {
        int rank = hl_job.node_world[i];
        /* acquire: pairs with hl_rx_lose. A rank that was told before is told again. */
        if (hl_a8_load_acquire(&hl_rx.dead[rank]) == HL_RX_LOST) {
            tell_death(rank);
        }
    }
}

/* Takes the launcher's notices. False: another thread is asking the launcher something just now. */
static bool launcher_notice(void)
{
    int rank = -1, code = 0, rc;
    while ((rc = hl_boot_watch_take(&rank, &code)) == 1) {
        hl_log(HL_LOG_INFO, "rank %d has ended with code %d", rank, code);
        if (rank >= 0 && rank < hl_job.size) {
            hl_rx_mark_dead(rank);
        }
    }
    if (rc == HL_ERR_AGAIN) {
        return false;
    }
    if (rc < 0 && hl_a32_load_acquire(&hl_rx.stop) == 0) { /* acquire: pairs with hl_rx_stop. */
        hl_log(HL_LOG_ERROR, "the launcher has ended or closed its connection: this rank ends too");
        hl_job_abort(1);
    }
    return true;
}

static void serve_fd(struct wakes *w, int fd)
{
    if (fd == hl_rx.bell || fd == hl_rx.timer) {
        uint64_t count;
        (void)!read(fd, &count, sizeof count); /* it may be empty: one read takes all rings */
    } else if (fd == hl_boot_node_fd()) {
        hl_rx_node_socket();
    } else if (fd == hl_boot_watch_fd()) {
        w->news = true;
    } else if (!hl_rx_has_network() || fd != hl_rx_net_fd()) {
        hl_rx_watch_run(fd);
    }
}

/* One pass over all sources. The network is left out while its descriptor will tell (w->armed). */
static int poll_sources(struct wakes *w)
{
    int moved = hl_rx_near_poll() + hl_rx_out_poll();
    if (hl_rx_has_network() && (!w->armed || moved > 0 || hl_rx_net_waits())) {
        w->armed = false;
        moved += hl_rx_net_poll();
    }
    return moved;
}

/* Milliseconds that the thread may sleep; -1: for ever, 0: not at all. */
static int sleep_limit(struct wakes *w)
{
    if (hl_rx_has_network() && !w->storm && !w->armed) {
        if (!hl_rx_net_may_sleep()) {
            return 0;
        }
        w->armed = true;
        w->naps = 0;
    }
    bool waits = hl_rx_out_waits() || (hl_rx_has_network() && hl_rx_net_waits());
    bool ticks = hl_a32_load_relaxed(&ticking) != 0; /* relaxed: the thread that sets it sets the timer. */
    int limit = waits || w->storm      ? 1
                : ticks                ? tick_ms()
                : w->news              ? NEWS_MS
                : w->cloexec_looks > 0 ? CLOEXEC_MS
                                       : w->look_ms;
    if (hl_rx_has_network() && (limit < 0 || limit > LOOK_MS)) {
        limit = LOOK_MS;
    }
    return w->look_ms >= 0 && w->look_ms < limit ? w->look_ms : limit;
}

static void set_cloexec_due(struct wakes *w)
{
    if (hl_fab_is_open() && hl_fab_cloexec_pending()) {
        w->cloexec_ns = w->cloexec_looks > 0 ? w->cloexec_ns : hl_now_ns() + CLOEXEC_NS;
        w->cloexec_looks = CLOEXEC_LOOKS;
    }
    if (w->cloexec_looks > 0 && hl_now_ns() >= w->cloexec_ns) {
        uint64_t begin = hl_rx_thread_time();
        w->cloexec_looks--;
        hl_fab_cloexec();
        uint64_t took = CLOEXEC_SHARE * (hl_rx_thread_time() - begin);
        w->cloexec_ns = hl_now_ns() + (took > CLOEXEC_NS ? took : CLOEXEC_NS);
    }
}

static void note_wake(struct wakes *w, bool empty)
{
    hl_stat_rank_add(HL_STAT_RANK_rx_wakes, 1);
    if (!empty || w->storm) {
        w->empty = 0;
        return;
    }
    uint64_t now = hl_now_ns();
    if (w->empty++ == 0 || now - w->since_ns > EMPTY_WAKES_NS) {
        w->since_ns = now;
        w->empty = 1;
    } else if (w->empty > EMPTY_WAKES_MAX) {
        w->storm = true;
        w->armed = false;
        (void)epoll_ctl(hl_rx.epoll, EPOLL_CTL_DEL, hl_rx_net_fd(), NULL);
        hl_log(HL_LOG_WARN,
               "the network wakes the receive thread without work (out of file descriptors? raise "
               "ulimit -n): looking every millisecond instead");
    }
}

void hl_rx_connecting(void)
{
    hl_a32_store_relaxed(&connecting, 1); /* relaxed: a hint for the next look. */
}

/* Ends the job when connections cannot be made for lack of descriptors or address space: providers do not say
 * so, and a wait for such a connection would never end. */
static void look_at_limits(struct wakes *w)
{
    uint64_t now = hl_now_ns();
    if (!hl_rx_has_network() || now - w->limits_ns < LOOK_MS * MS_NS) {
        return;
    }
    w->limits_ns = now;
    bool waits = hl_rx_out_waits() || hl_rx_sends_wait() ||
                 hl_a32_load_relaxed(&connecting) != 0; /* relaxed: a hint that callers repeat. */
    hl_a32_store_relaxed(&connecting, 0);               /* relaxed: a hint that callers repeat. */
    const char *lack = hl_fab_lack(hl_rx.bell, waits);
    w->starved = lack != NULL ? w->starved + 1 : 0;
    if (w->starved > STARVED_LOOKS) {
        hl_log(HL_LOG_ERROR, "connections cannot be made, because this process has no more %s; the job ends",
               lack);
        hl_job_abort(1);
    }
}

/* One sleep and the pass after it; returns how much the pass moved. */
static int sleep_once(struct wakes *w)
{
    struct epoll_event events[16];
    enum hl_rx_sleep how = hl_rx_ring_sleep(hl_rx.mine);
    if (how == HL_RX_SLEEP_NOT) {
        return poll_sources(w);
    }
    int limit = hl_rx_near_limit(how, sleep_limit(w));
    int n = epoll_wait(hl_rx.epoll, events, (int)HL_COUNT_OF(events), limit);
    hl_rx_ring_awake(hl_rx.mine);
    int network = 0;
    for (int i = 0; i < n; i++) {
        network += hl_rx_has_network() && events[i].data.fd == hl_rx_net_fd();
        serve_fd(w, events[i].data.fd);
    }
    if (w->news || hl_boot_watch_waits()) {
        w->news = !launcher_notice();
    }
    tell_lost_ranks();
    w->slept = limit != 0;
    w->armed = w->armed && network == 0 && ++w->naps < NAPS_ARMED;
    int moved = poll_sources(w);
    if (n > 0) {
        note_wake(w, network == n && moved == 0);
    }
    set_cloexec_due(w);
    look_at_limits(w);
    return moved;
}

/* True: poll again without sleep. Never where that takes a CPU from the program. */
static bool looks_on(struct wakes *w, int moved)
{
    if (!hl_prog_has_spare_cpus() || !hl_rx_pace_is_quick(&w->pace, moved > 0, hl_now_ns())) {
        return false;
    }
    if (moved == 0) {
        hl_pause();
    }
    return true;
}

static void *receive_thread(void *unused)
{
    on_thread = true;
    struct wakes wakes = {.look_ms = -1};
    int moved = poll_sources(&wakes);
    while (hl_a32_load_acquire(&hl_rx.stop) == 0) { /* acquire: pairs with the release in hl_rx_stop. */
        bool stream = looks_on(&wakes, moved) || (moved > 0 && !wakes.slept);
        wakes.slept = false;
        moved = stream ? poll_sources(&wakes) : sleep_once(&wakes);
        run_tick(&wakes);
        int look_ms = hl_rx_has_network() ? (int)(hl_rx_alive_look() / 1000000) + 1 : -1;
        wakes.look_ms = hl_rx_watch_due(look_ms);
    }
    return unused;
}

static int start_thread(void)
{
    int error = hl_thread_start(&hl_rx.thread, "hotlane-rx", STACK, receive_thread, NULL);
    return error == 0 ? 0
                      : hl_err_say(HL_ERR_OTHER, "the receive thread does not start: %s%s", strerror(error),
                                   hl_err_hint(error));
}

int hl_rx_start(void)
{
    int rc = 0;
    hl_mutex_lock(&start_lock);
    if (!hl_rx.started) {
        rc = start_thread();
        hl_rx.started = rc == 0;
        hl_a32_store_relaxed(&watched, 1); /* relaxed: one look more is harmless. */
    }
    hl_mutex_unlock(&start_lock);
    return rc;
}

/* What a rank does alone before all ranks exchange their cards. */
static int open_receive_endpoint(int rc)
{
    rc = rc == 0 ? hl_rx_net_open() : rc;
    if (rc != 0) {
        return rc;
    }
    /* release: publishes the endpoint, which is the thread's from now on; pairs with hl_rx_has_network. */
    hl_a32_store_release(&hl_rx.has_network, 1);
    hl_rx.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); /* -1: the bell is used */
    rc = add_fd(hl_rx_net_fd(), 0);
    rc = rc == 0 ? add_fd(hl_rx.timer, 0) : rc;
    rc = rc == 0 ? hl_rx_start() : rc;
    hl_rx_kick();
    return rc == 0 ? hl_fab_run_on_open() : rc;
}

int hl_rx_network(void)
{
    if (network_result == 1) {
        network_result = hl_fab_cards_exchange(open_receive_endpoint(hl_fab_survey()));
        /* release: publishes the cards; pairs with the acquire in hl_rx_has_cards. */
        hl_a32_store_release(&hl_rx.has_cards, network_result == 0);
        if (network_result == 0) {
            hl_rx_alive_open();
        }
    }
    return network_result;
}

void hl_rx_stop(void)
{
    hl_prog_unregister(look_at_launcher, NULL);
    hl_a32_store_release(&hl_rx.stop, 1); /* release: pairs with the acquire in receive_thread. */
    if (hl_rx.started) {
        hl_rx_kick();
        pthread_join(hl_rx.thread, NULL);
        hl_rx.started = false;
    }
    if (hl_rx_has_network()) {
        hl_a32_store_relaxed(&hl_rx.has_network, 0); /* relaxed, both: the thread is gone. */
        hl_a32_store_relaxed(&hl_rx.has_cards, 0);
        hl_rx_alive_close();
        hl_rx_net_close();
        hl_fab_close();
    }
    hl_rx_out_close();
    hl_rx_watch_close();
    close_what_opened();
}

void hl_rx_forget(void)
{
    hl_rx.started = false;
    hl_a32_store_relaxed(&hl_rx.has_network, 0); /* relaxed: a forked child has one thread. */
}
