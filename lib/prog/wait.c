/* The waiting routine. All waits go through here, so how a thread waits is decided in one place. */
#include "prog_internal.h"

#include "hang.h"
#include "stops.h"
#include "thread.h"
#include "util.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define SPINS 100
#define SPIN_NS UINT64_C(5000) /* the most: passes over a network take microseconds each */
#define YIELDS 50
#define LOOKS 32 /* looks in vain before a yield; a power of two */
#define NAP_MIN_NS UINT64_C(20000)
#define NAP_DOUBLINGS 9 /* 10 ms */
#define NAP_MAX_NS (NAP_MIN_NS << NAP_DOUBLINGS)
#define LONG_NS UINT64_C(1000000000)

static hl_a32 ranks_here; /* hl_prog_crowd; 0: not called yet */
static hl_a32 cpus_here;
static hl_a32 expected; /* sum of hl_prog_expect */
static hl_a64 long_ns;  /* when a thread was last seen in a wait that had slept for LONG_NS; 0: never */
static hl_aptr on_long; /* the function of hl_prog_on_long */
static hl_a32 waiters;  /* living threads of this process that ever waited: an estimate of its active ones */

static pthread_key_t leave_key; /* its destructor takes the ending thread out of `waiters` */
/* false: ended threads stay counted, waits spin less, and the end of the library asks nobody */
static bool has_key;
static pthread_once_t leave_once = PTHREAD_ONCE_INIT;

static void leave_waiters(void *unused)
{
    /* relaxed: a hint about speed. */
    hl_a32_add_relaxed(&waiters, (uint32_t)-1);
    hl_prog_delist();
}

static void make_thread_key(void)
{
    has_key = pthread_key_create(&leave_key, leave_waiters) == 0;
}

/* Counts the calling thread at its first wait. */
static HL_COLD void count_me(void)
{
    hl_prog_me.counted = true;
    hl_prog_count_wait(1); /* already now, for one that ends the library meanwhile */
    pthread_once(&leave_once, make_thread_key);
    if (has_key && pthread_setspecific(leave_key, &waiters) == 0) {
        hl_prog_enlist();
    }
    hl_a32_add_relaxed(&waiters, 1); /* relaxed: a hint about speed */
    hl_thread_look_at_stack();
    hl_prog_count_wait((uint32_t)-1);
}

void hl_prog_crowd(int ranks, int cpus)
{
    /* relaxed, both: a hint about speed. */
    hl_a32_store_relaxed(&ranks_here, (uint32_t)ranks);
    hl_a32_store_relaxed(&cpus_here, (uint32_t)cpus);
}

static uint32_t known_cpus(void)
{
    /* relaxed: a hint about speed. */
    uint32_t cpus = hl_a32_load_relaxed(&cpus_here);
    if (HL_UNLIKELY(cpus == 0)) {
        hl_prog_crowd(1, (int)sysconf(_SC_NPROCESSORS_ONLN));
        cpus = hl_a32_load_relaxed(&cpus_here);
    }
    return cpus;
}

unsigned hl_prog_ranks_per_cpu(void)
{
    uint32_t cpus = known_cpus(), ranks = hl_a32_load_relaxed(&ranks_here); /* relaxed: a hint about speed. */
    return ranks > cpus ? (ranks + cpus - 1) / cpus : 1;
}

/* Do threads exceed CPUs, with `more` threads in each rank? */
static bool is_crowded(uint32_t more)
{
    /* relaxed: a hint about speed. */
    uint32_t cpus = known_cpus();
    uint32_t threads = hl_a32_load_relaxed(&waiters);
    return hl_a32_load_relaxed(&ranks_here) * ((threads > 0 ? threads : 1) + more) > cpus;
}

bool hl_prog_crowded(void)
{
    return is_crowded(0);
}

bool hl_prog_has_spare_cpus(void)
{
    return !is_crowded(1);
}

void hl_prog_expect(int by)
{
    hl_a32_add_relaxed(&expected, (uint32_t)by); /* relaxed: a hint; naps are bounded anyway */
}

bool hl_prog_waits_for_long(uint64_t now_ns)
{
    uint64_t seen_ns = hl_a64_load_relaxed(&long_ns); /* relaxed: a hint */
    return seen_ns != 0 && now_ns < seen_ns + LONG_NS;
}

void hl_prog_on_long(void (*fn)(int world))
{
    /* release: pairs with the acquire in hl_prog_describe_awaited. */
    hl_aptr_store_release(&on_long, (void *)(uintptr_t)fn);
}

/* A wait at which the watchdog looks, too. */
struct watched {
    hl_prog_cond *cond;
    void *arg;
    struct hl_hang hang;
};

static bool look_and_ask(void *arg)
{
    struct watched *w = arg;
    if (w->cond(w->arg)) {
        return true;
    }
    hl_hang_look(&w->hang, w->cond, NULL, w->arg);
    return false;
}

HL_THREAD_LOCAL bool hl_prog_tells;

void hl_prog_describe_awaited(const struct hl_prog_waits *w)
{
    static HL_THREAD_LOCAL uint64_t told_ns;
    static HL_THREAD_LOCAL int32_t first; /* of many ranks, tells the next ones each time */
    uint64_t now = hl_now_ns();
    /* acquire: pairs with the release in hl_prog_on_long. */
    void (*fn)(int world) = (void (*)(int))(uintptr_t)hl_aptr_load_acquire(&on_long);
    const struct watched *watched = w->cond == look_and_ask ? w->arg : NULL;
    struct hl_wait_desc t = {.first = first};
    hl_prog_tells = false;
    if (fn == NULL || now - told_ns < LONG_NS) {
        return;
    }
    told_ns = now;
    hl_hang_words(watched != NULL ? watched->cond : w->cond, watched != NULL ? watched->arg : w->arg, &t);
    for (int i = 0; i < hl_desc_ranks(&t); i++) {
        fn(t.ranks[i]);
    }
    first = t.n >= first + HL_HANG_RANKS ? first + HL_HANG_RANKS : 0;
    if (t.asked != 0) {
        fn(t.asked - 1);
    }
}

/* Called before a nap. `since_ns`: when the wait first napped; 0: this is its first nap. Returns that. */
static uint64_t look_around(uint64_t since_ns)
{
    uint64_t now = hl_now_ns();
    if (HL_UNLIKELY(hl_a32_load_relaxed(&hl_prog_asks) != 0)) { /* relaxed: hl_prog_answer reads it again */
        hl_prog_answer();
    }
    if (since_ns == 0) {
        return now;
    }
    if (now - since_ns > LONG_NS) {
        hl_a64_store_relaxed(&long_ns, now);   /* relaxed: a hint */
        hl_prog_tells = !hl_prog_is_polling(); /* telling takes stack: not in a wait within a pass */
    }
    hl_stops_look(since_ns);
    return since_ns;
}

void hl_prog_yield(void)
{
    hl_prog_give_way();
    sched_yield();
    hl_prog_come_back();
}

static HL_COLD void looked_in_vain(void)
{
    if (!hl_prog_me.counted) {
        count_me();
    }
    if (hl_prog_crowded()) {
        hl_prog_yield();
    }
}

void hl_prog_look(void)
{
    static HL_THREAD_LOCAL unsigned vain;
    if (hl_prog_poll() == 0 && HL_UNLIKELY(++vain % LOOKS == 0)) {
        looked_in_vain();
    }
}

void hl_prog_stand_back(unsigned pauses)
{
    for (unsigned i = 0; i < pauses && !hl_prog_crowded(); i++) {
        hl_pause();
    }
}

static void spin_once(void)
{
    if (hl_prog_is_inside()) {
        hl_cs_give_way();
        hl_pause();
        hl_cs_come_back();
    } else {
        hl_pause();
    }
}

/* True while the thread keeps its CPU. */
static bool may_spin(struct hl_prog_waits *w)
{
    if (w->passes > w->spins) {
        return false;
    }
    /* The clock is read after 2, 4, 8 ... passes: a pass on the node takes little longer than that. */
    if (w->passes > 1 && (w->passes & (w->passes - 1)) == 0) {
        uint64_t now = hl_now_ns();
        w->ns = w->passes == 2 && !w->naps ? now : w->ns;
        w->yields = now - w->ns > SPIN_NS;
    }
    return !w->yields;
}

/* One step of idling after a pass without progress; true when it found the condition true. */
static bool idle_step(struct hl_prog_waits *w)
{
    if (may_spin(w)) {
        spin_once();
        return false;
    }
    /* Where ranks share a CPU, others take their turns meanwhile: fewer yields, each of which comes with a
     * look at everything, and longer naps. */
    unsigned share = hl_prog_ranks_per_cpu(), yields = share < YIELDS ? YIELDS / share : 1;
    if (w->passes <= w->spins + yields) {
        hl_prog_yield();
        return false;
    }
    w->ns = look_around(w->naps ? w->ns : 0);
    w->naps = true;
    /* relaxed: a hint about speed. */
    unsigned doublings = hl_a32_load_relaxed(&expected) != 0 ? 0 : w->passes - w->spins - yields - 1;
    uint64_t ns = share * NAP_MIN_NS << (doublings < NAP_DOUBLINGS ? doublings : NAP_DOUBLINGS);
    ns = ns < NAP_MAX_NS ? ns : NAP_MAX_NS;
    if (ns > HL_NAP_NS) {
        hl_prog_skip_passes();
    }
    return hl_prog_sleep(w, ns);
}

static void wait_until(hl_prog_cond *cond, void *arg, bool rung)
{
    struct hl_prog_waits w = {cond, arg, rung, .spins = hl_prog_crowded() ? 0 : SPINS};
    hl_prog_count_wait(1);
    for (bool done = cond(arg); !done; done = done || cond(arg)) {
        if (hl_prog_poll() > 0) {
            w.passes = 0;
            w.yields = false;
            hl_prog_give_way(); /* what moved may be for other threads */
            hl_prog_come_back();
        } else {
            w.passes++;
            done = cond(arg) || idle_step(&w);
        }
    }
    hl_prog_count_wait((uint32_t)-1);
}

/* Does a thread's first wait, and all its waits while there is a watchdog. True: the wait is over; false: the
 * caller waits. */
static HL_COLD bool wait_specially(hl_prog_cond *cond, void *arg, bool rung)
{
    if (!hl_prog_me.counted) {
        count_me();
    }
    hl_prog_me.plain = !hl_hang_is_on();
    if (hl_prog_me.plain) {
        return false;
    }
    struct watched w = {.cond = cond, .arg = arg};
    hl_hang_begin(&w.hang);
    wait_until(look_and_ask, &w, rung);
    hl_hang_end(&w.hang);
    return true;
}

void hl_prog_wait_slow(hl_prog_cond *cond, void *arg, bool rung)
{
    if (HL_LIKELY(hl_prog_me.plain) || !wait_specially(cond, arg, rung)) {
        wait_until(cond, arg, rung);
    }
}
