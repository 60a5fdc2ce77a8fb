/* The scheduler of interleavings. Its threads are contexts of the calling thread (ucontext), so that a switch
 * needs no system call for sleep or wake-up. Each has its own copy of the program's thread-local variables,
 * which is put in their place while it runs. Those of the C library are shared, and functions that run at a
 * thread's exit do not run. */
#include "interleave.h"

#include "atomic.h"
#include "err.h"
#include "util.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define STACK ((size_t)256 << 10)

struct thread {
    ucontext_t context;
    char *locals; /* its thread-local variables while another thread runs */
    char *stack;
    bool alive;
    int index;
};

static struct {
    struct thread *threads;
    struct thread caller;
    int count, alive;
    uint64_t random;
    struct hl_interleave_walk *walk; /* NULL: `random` chooses */
    bool cut;                        /* a run made more choices than fit */
    void (*fn)(void *, int);
    void *arg;
} sched;

/* The program's thread-local variables. */
static struct {
    char *at;          /* where they are in the calling thread */
    const char *fresh; /* their initial values, `filled` bytes; the rest is zero */
    size_t size, filled;
} locals;

static _Thread_local struct thread *self;

static struct thread *alive_after(const struct thread *from, int skip)
{
    int at = from != NULL ? from->index + 1 : 0;
    for (;; at++) {
        struct thread *t = &sched.threads[at % sched.count];
        if (t->alive && skip-- == 0) {
            return t;
        }
    }
}

/* The walk's next choice, from 0 to of - 1. */
static int take_walk_choice(struct hl_interleave_walk *w, int of)
{
    if (of <= 1 || w->depth == HL_INTERLEAVE_CHOICES) {
        sched.cut |= of > 1;
        return 0;
    }
    w->of[w->depth] = (unsigned char)of;
    return w->at[w->depth++];
}

/* The thread that goes on: with `may_stay`, self is the first choice, else it must be another one. */
static struct thread *choose_next(struct hl_interleave_walk *w, bool may_stay)
{
    if (!may_stay) {
        return alive_after(
            self, take_walk_choice(w, sched.alive - (self != NULL && self->alive && sched.alive > 1)));
    }
    int chosen = w->left > 0 ? take_walk_choice(w, sched.alive) : 0;
    w->left -= chosen != 0;
    return chosen == 0 ? self : alive_after(self, chosen - 1);
}

static struct thread *choose_thread(bool may_stay)
{
    if (sched.walk != NULL) {
        return choose_next(sched.walk, may_stay);
    }
    sched.random += 0x9e3779b97f4a7c15ULL;
    return alive_after(NULL, (int)(hl_mix64(sched.random) % (uint64_t)sched.alive));
}

static void go_to(struct thread *from, struct thread *to)
{
    memcpy(from->locals, locals.at, locals.size);
    memcpy(locals.at, to->locals, locals.size);
    swapcontext(&from->context, &to->context);
}

static void hand_baton(bool may_stay)
{
    struct thread *me = self;
    if (me == NULL) {
        return;
    }
    struct thread *next = choose_thread(may_stay);
    if (next != me) {
        go_to(me, next);
    }
}

void hl_interleave_point(void)
{
    hand_baton(true);
}

void hl_interleave_pause(void)
{
    hand_baton(false);
}

static void run_thread(int index)
{
    struct thread *t = &sched.threads[index];
    self = t;
    sched.fn(sched.arg, index);
    t->alive = false;
    go_to(t, --sched.alive == 0 ? &sched.caller : choose_thread(false));
}

/* Called by dl_iterate_phdr, first for the program itself; returning 1 ends the search there. */
static int find_locals(struct dl_phdr_info *object, size_t size, void *arg)
{
    (void)size, (void)arg;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_TLS) {
            locals.at = object->dlpi_tls_data;
            locals.fresh =
                (const char *)(object->dlpi_addr + part->p_vaddr); // NOLINT(performance-no-int-to-ptr)
            locals.size = part->p_memsz;
            locals.filled = part->p_filesz;
        }
    }
    return 1;
}

static bool make_thread(struct thread *t, int index)
{
    t->index = index;
    t->alive = true;
    t->stack = malloc(STACK);
    t->locals = calloc(1, locals.size);
    if (t->stack == NULL || t->locals == NULL) {
        return false;
    }
    memcpy(t->locals, locals.fresh, locals.filled);
    getcontext(&t->context);
    t->context.uc_stack.ss_sp = t->stack;
    t->context.uc_stack.ss_size = STACK;
    makecontext(&t->context, (void (*)(void))run_thread, 1, index);
    return true;
}

static void free_threads(void)
{
    for (int i = 0; i < sched.count; i++) {
        free(sched.threads[i].stack);
        free(sched.threads[i].locals);
    }
    free(sched.threads);
    free(sched.caller.locals);
}

static int run_threads(int threads, void (*fn)(void *arg, int thread), void *arg)
{
    dl_iterate_phdr(find_locals, NULL);
    sched.fn = fn;
    sched.arg = arg;
    sched.caller.locals = malloc(locals.size);
    sched.threads = calloc((size_t)threads, sizeof *sched.threads);
    sched.count = sched.alive = sched.threads != NULL ? threads : 0;
    bool made = sched.threads != NULL && sched.caller.locals != NULL;
    for (int i = 0; made && i < threads; i++) {
        made = make_thread(&sched.threads[i], i);
    }
    if (made) {
        go_to(&sched.caller, choose_thread(false));
    }
    free_threads();
    return made ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory for %d scheduled threads", threads);
}

int hl_interleave_run(uint64_t seed, int threads, void (*fn)(void *arg, int thread), void *arg)
{
    sched.random = seed;
    sched.walk = NULL;
    return run_threads(threads, fn, arg);
}

/* Goes to the next sequence of choices: raises the last choice that can be raised; later ones begin at 0. */
static bool next_sequence(struct hl_interleave_walk *w)
{
    while (w->depth > 0 && w->at[w->depth - 1] + 1 == w->of[w->depth - 1]) {
        w->at[--w->depth] = 0;
    }
    if (w->depth == 0) {
        return false;
    }
    w->at[w->depth - 1]++;
    return true;
}

int hl_interleave_next(struct hl_interleave_walk *walk, int threads, void (*fn)(void *arg, int thread),
                       void *arg, bool *more)
{
    walk->depth = 0;
    walk->left = walk->switches;
    sched.walk = walk;
    sched.cut = false;
    int rc = run_threads(threads, fn, arg);
    sched.walk = NULL;
    *more = rc == 0 && next_sequence(walk);
    return rc == 0 && sched.cut
               ? hl_err_say(HL_ERR_OTHER, "a run makes more than %d choices", HL_INTERLEAVE_CHOICES)
               : rc;
}
