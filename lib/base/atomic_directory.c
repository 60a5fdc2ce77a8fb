/* Build variant "directory": the directory of cache lines, and its scheduler. Its threads are real
 * ones, of which the one with the baton runs, so that thread-local variables, keys and bounds of stacks
 * are as usual. */
#include "atomic.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Costs that the numbers of a machine do not include. They are guesses; counts do not depend on them. */
#define SYSCALL_NS 500
#define WAKE_NS 5000
#define PAUSE_NS 20
#define MANY_ATOMICS 2000 /* by turns: after so many in one operation a thread surely waits for another */

enum state { RUNS, SLEEPS, MEETS, ENDED };

struct baton_thread {
    sem_t turn;
    pthread_t id;
    int index, cache;
    enum state state;
    bool woken, uncounted;
    const void *on;         /* the address on which it sleeps, perhaps until `clock`; NULL: none */
    double clock, lay_down; /* its time; when it went to sleep; nanoseconds */
    unsigned long atomics;  /* since its operation began */
    struct hl_directory_counts counts;
};

static struct {
    struct hl_directory_machine m;
    struct baton_thread *threads;
    sem_t over;
    int meeting;
    double begun, horizon; /* when counting began; by time: no other thread's clock is below the horizon */
    void (*fn)(void *, int);
    void *arg;
} run;

static __thread struct baton_thread *self __attribute__((tls_model("initial-exec")));

/* ---- two tables: one of lines, one of pairs of a line and a place in the code ---- */

struct keyed_row {
    uint64_t a, b; /* the key; a is never 0 */
};

static struct table {
    char *rows;
    size_t stride, room, used; /* room: a power of two */
} lines, places;

struct counted_line {
    struct keyed_row key;
    int owner;       /* the one cache that holds it and may change it, -1: none or several */
    int holders;     /* number of caches that hold it */
    double busy;     /* it is under way until then */
    uint64_t held[]; /* bit i: cache i holds it */
};

struct place {
    struct keyed_row key;
    uint64_t n[2]; /* reads, writes */
};

/* Memory that does not come from malloc, so that the program's own memory lies as without counting. */
static void *map_pages(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        perror("directory of cache lines: no memory");
        abort();
    }
    return p;
}

static struct keyed_row *find_row(const struct table *t, uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ b * 0xc2b2ae3d27d4eb4fULL) * 0x9e3779b97f4a7c15ULL;
    for (size_t i = hash >> 20;; i++) {
        struct keyed_row *row = (struct keyed_row *)(t->rows + (i & (t->room - 1)) * t->stride);
        if (row->a == 0 || (row->a == a && row->b == b)) {
            return row;
        }
    }
}

static void make_rows(struct table *t, size_t stride, size_t room)
{
    *t = (struct table){map_pages(stride * room), stride, room, 0};
}

static void unmap_table(struct table *t)
{
    if (t->rows != NULL) {
        munmap(t->rows, t->stride * t->room);
    }
    t->rows = NULL;
}

static struct keyed_row *row_of(struct table *t, uint64_t a, uint64_t b)
{
    struct keyed_row *row = find_row(t, a, b);
    if (row->a != 0) {
        return row;
    }
    if (t->used > t->room / 2) {
        struct table old = *t;
        make_rows(t, old.stride, old.room * 2);
        t->used = old.used;
        for (size_t i = 0; i < old.room; i++) {
            const struct keyed_row *from = (const struct keyed_row *)(old.rows + i * old.stride);
            if (from->a != 0) {
                __builtin_memcpy(find_row(t, from->a, from->b), from, old.stride);
            }
        }
        unmap_table(&old);
        row = find_row(t, a, b);
    }
    t->used++;
    row->a = a;
    row->b = b;
    return row;
}

/* ---- the scheduler ---- */

/* The runnable thread, other than `but`, with the smallest clock; of equal ones that with the lowest
 * number. */
static struct baton_thread *find_earliest(const struct baton_thread *but)
{
    struct baton_thread *found = NULL;
    for (int i = 0; i < run.m.threads; i++) {
        struct baton_thread *t = &run.threads[i];
        if (t != but && t->state == RUNS && (found == NULL || t->clock < found->clock)) {
            found = t;
        }
    }
    return found;
}

static struct baton_thread *find_next_in_turn(const struct baton_thread *me)
{
    for (int k = 1; k <= run.m.threads; k++) {
        struct baton_thread *t = &run.threads[(me->index + k) % run.m.threads];
        if (t->state == RUNS) {
            return t;
        }
    }
    return NULL;
}

static void await_turn(sem_t *turn)
{
    while (sem_wait(turn) != 0) {
    }
}

/* Chooses the next thread, which may be this one, and gives it the baton. NULL: no thread can run. */
static struct baton_thread *pass_on(const struct baton_thread *me)
{
    struct baton_thread *next = run.m.by_time ? find_earliest(NULL) : find_next_in_turn(me);
    if (next != NULL && run.m.by_time) {
        const struct baton_thread *second = find_earliest(next);
        run.horizon = second != NULL ? second->clock : HUGE_VAL;
    }
    if (next != NULL && next != me) {
        sem_post(&next->turn);
    }
    return next;
}

static void give_baton(struct baton_thread *me)
{
    struct baton_thread *next = pass_on(me);
    if (next == NULL) {
        fprintf(stderr, "directory of cache lines: all threads sleep, and nobody is left to wake them\n");
        abort();
    }
    if (next != me) {
        await_turn(&me->turn);
    }
}

/* A place where another thread may go on. */
static void look_at_clocks(struct baton_thread *me)
{
    if (run.m.by_time ? me->clock > run.horizon : ++me->atomics % MANY_ATOMICS == 0) {
        give_baton(me);
    }
}

/* ---- accesses ---- */

/* Moves a line to `cache`, `alone` to change it. True when the line must be transferred. */
static bool move_line(struct counted_line *l, int cache, bool alone)
{
    uint64_t bit = UINT64_C(1) << (cache & 63), *held = &l->held[cache >> 6];
    bool has = (*held & bit) != 0, others = l->holders > has;
    if (!alone) {
        l->owner = l->holders == 0 ? cache : has ? l->owner : -1;
        l->holders += !has;
        *held |= bit;
        return !has && others;
    }
    if (l->owner != cache) {
        size_t words = (lines.stride - sizeof *l) / 8;
        for (size_t i = 0; i < words; i++) {
            l->held[i] = 0;
        }
        *held = bit;
        l->owner = cache;
        l->holders = 1;
        return others;
    }
    return false;
}

static void touch_line(struct baton_thread *t, uint64_t number, enum hl_directory_access how, const void *pc)
{
    struct counted_line *l = (struct counted_line *)row_of(&lines, number + 1, 0);
    bool alone = how != HL_DIRECTORY_READ, waits = alone || l->owner >= 0;
    if (!move_line(l, t->cache, alone)) {
        return;
    }
    /* Copies for readers travel side by side; transfers from or to a cache that changes the line queue up. */
    double start = waits && l->busy > t->clock ? l->busy : t->clock;
    t->clock = start + run.m.transfer_ns;
    if (waits) {
        l->busy = t->clock;
    }
    if (t->uncounted) {
        return;
    }
    *(alone ? &t->counts.writes : &t->counts.reads) += 1;
    ((struct place *)row_of(&places, number + 1, (uint64_t)(uintptr_t)pc))->n[alone]++;
}

void hl_directory_touch(const void *p, size_t n, enum hl_directory_access how, const void *pc)
{
    struct baton_thread *t = self;
    if (t == NULL || n == 0) {
        return;
    }
    self = NULL;
    if (how == HL_DIRECTORY_RMW) {
        t->counts.rmws += !t->uncounted;
        t->clock += run.m.rmw_ns;
    }
    for (uint64_t at = (uintptr_t)p / 64; at <= ((uintptr_t)p + n - 1) / 64; at++) {
        touch_line(t, at, how, pc);
    }
    self = t;
}

void hl_directory_look(void)
{
    struct baton_thread *t = self;
    if (t != NULL) {
        self = NULL;
        look_at_clocks(t);
        self = t;
    }
}

static void atomic_access(const volatile void *p, size_t n, enum hl_directory_access how, const void *pc)
{
    hl_directory_look();
    hl_directory_touch((const void *)p, n, how, pc);
}

/* ---- waiting ---- */

bool hl_directory_is_on(void)
{
    return self != NULL;
}

void hl_directory_spend(double ns)
{
    struct baton_thread *t = self;
    if (t != NULL) {
        self = NULL;
        t->clock += ns;
        give_baton(t);
        self = t;
    }
}

void hl_directory_pause(void)
{
    hl_directory_spend(PAUSE_NS);
}

bool hl_directory_sleep(const void *on, double most_ns)
{
    struct baton_thread *t = self;
    if (t == NULL) {
        return true;
    }
    self = NULL;
    t->counts.sleeps += !t->uncounted;
    t->on = on;
    t->woken = false;
    t->lay_down = t->clock + SYSCALL_NS;
    t->state = most_ns == HUGE_VAL ? SLEEPS : RUNS;
    t->clock = most_ns == HUGE_VAL ? t->lay_down : t->lay_down + most_ns;
    give_baton(t);
    t->on = NULL;
    self = t;
    return t->woken;
}

int hl_directory_wake(const void *on, int most)
{
    struct baton_thread *t = self;
    int n = 0;
    for (int i = 0; t != NULL && i < run.m.threads && n < most; i++) {
        struct baton_thread *w = &run.threads[(t->index + i) % run.m.threads];
        if (w->on == on && !w->woken) {
            w->woken = true;
            w->state = RUNS;
            w->clock = (w->lay_down > t->clock ? w->lay_down : t->clock) + WAKE_NS;
            n++;
        }
    }
    if (n > 0) {
        t->clock += SYSCALL_NS;
        run.horizon = 0; /* not known any more: look at once */
    }
    return n;
}

double hl_directory_now_ns(void)
{
    return self != NULL ? self->clock : 0;
}

/* ---- a run ---- */

void hl_directory_step(void)
{
    struct baton_thread *t = self;
    self = NULL;
    t->counts.operations++;
    t->atomics = 0;
    if (!run.m.by_time) {
        give_baton(t);
    }
    self = t;
}

void hl_directory_count(bool counts)
{
    self->uncounted = !counts;
}

void hl_directory_begin(void)
{
    struct baton_thread *t = self;
    self = NULL;
    t->state = MEETS;
    if (++run.meeting == run.m.threads) {
        double latest = 0;
        for (int i = 0; i < run.m.threads; i++) {
            latest = fmax(latest, run.threads[i].clock);
        }
        for (int i = 0; i < run.m.threads; i++) {
            run.threads[i].state = RUNS;
            run.threads[i].clock = latest;
            run.threads[i].counts = (struct hl_directory_counts){0};
        }
        unmap_table(&places);
        make_rows(&places, sizeof(struct place), 1 << 12);
        run.meeting = 0;
        run.begun = latest;
    }
    give_baton(t);
    self = t;
}

static void *await_and_run(void *arg)
{
    struct baton_thread *t = arg;
    await_turn(&t->turn);
    self = t;
    run.fn(run.arg, t->index);
    self = NULL;
    t->state = ENDED;
    if (pass_on(t) == NULL) {
        sem_post(&run.over);
    }
    return NULL;
}

/* Starts a thread on the calling thread's CPU: all threads share it, since they run in turn. */
static int start_in_turn(struct baton_thread *t)
{
    pthread_attr_t attr;
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    pthread_attr_init(&attr);
    pthread_attr_setaffinity_np(&attr, sizeof here, &here);
    int rc = pthread_create(&t->id, &attr, await_and_run, t);
    pthread_attr_destroy(&attr);
    return rc;
}

static void forget_run(void)
{
    if (run.threads != NULL) {
        munmap(run.threads, (size_t)run.m.threads * sizeof *run.threads);
    }
    unmap_table(&lines);
    unmap_table(&places);
    run.threads = NULL;
}

int hl_directory_run(const struct hl_directory_machine *machine, void (*fn)(void *arg, int thread), void *arg)
{
    if (machine->threads < 1 || machine->per_core < 1) {
        return EINVAL;
    }
    forget_run();
    run.m = *machine;
    run.m.block_ns *= machine->per_core > 2 ? machine->per_core / 2.0 : 1; /* two threads fill a core */
    run.fn = fn;
    run.arg = arg;
    run.threads = map_pages((size_t)machine->threads * sizeof *run.threads);
    int caches = (machine->threads + machine->per_core - 1) / machine->per_core, rc = 0;
    make_rows(&lines, sizeof(struct counted_line) + (size_t)(caches + 63) / 64 * 8, 1 << 14);
    make_rows(&places, sizeof(struct place), 1 << 12);
    sem_init(&run.over, 0, 0);
    for (int i = 0; i < machine->threads; i++) {
        struct baton_thread *t = &run.threads[i];
        *t = (struct baton_thread){.index = i, .cache = i / machine->per_core};
        sem_init(&t->turn, 0, 0);
        rc = start_in_turn(t);
        if (rc != 0) {
            return rc; /* threads already started wait for ever: the program must end */
        }
    }
    run.horizon = 0;
    sem_post(&run.threads[0].turn);
    await_turn(&run.over);
    for (int i = 0; i < machine->threads; i++) {
        pthread_join(run.threads[i].id, NULL);
    }
    return 0;
}

struct hl_directory_counts hl_directory_sum(void)
{
    struct hl_directory_counts sum = {0};
    for (int i = 0; i < run.m.threads; i++) {
        const struct baton_thread *t = &run.threads[i];
        sum.operations += t->counts.operations;
        sum.reads += t->counts.reads;
        sum.writes += t->counts.writes;
        sum.rmws += t->counts.rmws;
        sum.fences += t->counts.fences;
        sum.blocks += t->counts.blocks;
        sum.sleeps += t->counts.sleeps;
        sum.ns = fmax(sum.ns, t->clock - run.begun);
    }
    return sum;
}

void hl_directory_each(void (*fn)(const struct hl_directory_place *place))
{
    for (size_t i = 0; i < places.room; i++) {
        const struct place *p = (const struct place *)(places.rows + i * places.stride);
        if (p->key.a != 0) {
            fn(&(struct hl_directory_place){(p->key.a - 1) * 64, p->key.b, p->n[0], p->n[1]});
        }
    }
}

/* ---- the compiler's hooks ---- */

#define PC __builtin_return_address(0)

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(const void *caller);
void __tsan_func_entry(const void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    struct baton_thread *t = self;
    if (t != NULL) {
        t->counts.blocks += !t->uncounted;
        t->clock += run.m.block_ns;
    }
}

#define HOOK(name, bytes, how)                                                                               \
    void __tsan_##name(void *p);                                                                             \
    void __tsan_##name(void *p)                                                                              \
    {                                                                                                        \
        hl_directory_touch(p, bytes, how, PC);                                                               \
    }
#define HOOKS(bytes)                                                                                         \
    HOOK(read##bytes, bytes, HL_DIRECTORY_READ)                                                              \
    HOOK(write##bytes, bytes, HL_DIRECTORY_WRITE)                                                            \
    HOOK(unaligned_read##bytes, bytes, HL_DIRECTORY_READ)                                                    \
    HOOK(unaligned_write##bytes, bytes, HL_DIRECTORY_WRITE)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

#define RANGE(name, how)                                                                                     \
    void __tsan_##name##_range(void *p, size_t n);                                                           \
    void __tsan_##name##_range(void *p, size_t n)                                                            \
    {                                                                                                        \
        hl_directory_touch(p, n, how, PC);                                                                   \
    }
RANGE(read, HL_DIRECTORY_READ)
RANGE(write, HL_DIRECTORY_WRITE)

/* The order of an access is ignored: only one thread runs at a time, and on x86 only stores with full order
 * would cost more, which the library does not use. */
#define LOAD_STORE(bits)                                                                                     \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int order);                  \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int order)                   \
    {                                                                                                        \
        atomic_access(p, bits / 8, HL_DIRECTORY_READ, PC);                                                   \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                         \
    }                                                                                                        \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t value, int order);           \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t value, int order)            \
    {                                                                                                        \
        atomic_access(p, bits / 8, HL_DIRECTORY_WRITE, PC);                                                  \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                        \
    }
#define UPDATE(bits, name, builtin)                                                                          \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *p, uint##bits##_t v, int order);    \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *p, uint##bits##_t v, int order)     \
    {                                                                                                        \
        atomic_access(p, bits / 8, HL_DIRECTORY_RMW, PC);                                                    \
        return builtin(p, v, __ATOMIC_SEQ_CST);                                                              \
    }
#define CAS(bits, name)                                                                                      \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t *p, uint##bits##_t *expected,  \
                                                      uint##bits##_t v, int order, int failed);              \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t *p, uint##bits##_t *expected,  \
                                                      uint##bits##_t v, int order, int failed)               \
    {                                                                                                        \
        atomic_access(p, bits / 8, HL_DIRECTORY_RMW, PC);                                                    \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    }
#define ATOMICS(bits)                                                                                        \
    LOAD_STORE(bits)                                                                                         \
    UPDATE(bits, exchange, __atomic_exchange_n)                                                              \
    UPDATE(bits, fetch_add, __atomic_fetch_add)                                                              \
    UPDATE(bits, fetch_sub, __atomic_fetch_sub)                                                              \
    UPDATE(bits, fetch_and, __atomic_fetch_and)                                                              \
    UPDATE(bits, fetch_or, __atomic_fetch_or)                                                                \
    UPDATE(bits, fetch_xor, __atomic_fetch_xor)                                                              \
    CAS(bits, strong)                                                                                        \
    CAS(bits, weak)
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    struct baton_thread *t = self;
    if (t != NULL && order == __ATOMIC_SEQ_CST) {
        t->counts.fences += !t->uncounted;
        t->clock += run.m.rmw_ns;
        hl_directory_look();
    }
}
