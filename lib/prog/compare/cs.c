/* Critical sections in the modes that have them (cs.h). In lockfree nothing here is called after the library
 * has opened. */
#include "cs.h"

#include "err.h"
#include "hl_build.h"
#include "prog_internal.h"
#include "stat.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

uint32_t hl_cs_on;
enum hl_cs_mode hl_cs_mode;

static bool counting; /* written while the library opens */
static struct hl_mutex process = HL_MUTEX_INIT, progress = HL_MUTEX_INIT, pool = HL_MUTEX_INIT;
HL_THREAD_LOCAL struct hl_cs_outside hl_cs_depth;

/* ---- Counting: entries, entries that had to wait, and their time ---- */

struct counts {
    hl_a64 taken, contended, wait_ns; /* atomic: written by their thread, read by any */
};

/* The counts of each thread that ever entered a section. They stay, since sums are asked for after threads
 * have ended. */
struct ledger {
    struct ledger *next;
    struct counts of[HL_CS_KINDS];
};

static struct hl_mutex ledgers_lock = HL_MUTEX_INIT;
static struct ledger *ledgers HL_GUARDED_BY(ledgers_lock);
static HL_THREAD_LOCAL struct ledger *mine;

static struct counts *counts_of(enum hl_cs_kind kind)
{
    static struct ledger lost; /* counts of threads without memory for a ledger; nobody reads them */
    if (mine == NULL) {
        struct ledger *l = calloc(1, sizeof(*l));
        if (l == NULL) {
            return &lost.of[kind];
        }
        hl_mutex_lock(&ledgers_lock);
        l->next = ledgers;
        ledgers = l;
        hl_mutex_unlock(&ledgers_lock);
        mine = l;
    }
    return &mine->of[kind];
}

static void add_count(hl_a64 *count, uint64_t by)
{
    /* relaxed: one thread writes; readers want only a recent value. */
    hl_a64_store_relaxed(count, hl_a64_load_relaxed(count) + by);
}

static bool try_lock(struct hl_mutex *l, enum hl_cs_kind kind)
{
    bool got = pthread_mutex_trylock(&l->m) == 0;
    if (got && counting) {
        add_count(&counts_of(kind)->taken, 1);
    }
    return got;
}

static void lock_section(struct hl_mutex *l, enum hl_cs_kind kind) HL_NO_TSA
{
    if (!counting) {
        hl_mutex_lock(l);
    } else if (!try_lock(l, kind)) {
        uint64_t since = hl_now_ns();
        hl_mutex_lock(l);
        struct counts *c = counts_of(kind);
        add_count(&c->taken, 1);
        add_count(&c->contended, 1);
        add_count(&c->wait_ns, hl_now_ns() - since);
    }
}

static void unlock_section(struct hl_mutex *l) HL_NO_TSA
{
    hl_mutex_unlock(l);
}

static const char *const kinds[] = {
#define HL_CS_NAME(name, help) #name,
    HL_CS_KIND_ROWS(HL_CS_NAME)
#undef HL_CS_NAME
};

static uint64_t value_of(const struct ledger *l, int kind, const char *what)
{
    if (l == NULL) {
        return 0;
    }
    const struct counts *c = &l->of[kind];
    /* relaxed: a recent value. */
    return hl_a64_load_relaxed(*what == '\0' ? &c->taken : what[1] == 'c' ? &c->contended : &c->wait_ns);
}

static uint64_t sum_of(int kind, const char *what)
{
    uint64_t sum = 0;
    hl_mutex_lock(&ledgers_lock);
    for (const struct ledger *l = ledgers; l != NULL; l = l->next) {
        sum += value_of(l, kind, what);
    }
    hl_mutex_unlock(&ledgers_lock);
    return sum;
}

/* Reads "cs_KIND", "cs_KIND_contended" or "cs_KIND_wait_ns" of all threads, or, with ":me" behind the name,
 * of the calling thread. HL_ERR_ARG: another name. */
static int get_count(const char *name, uint64_t *value)
{
    char words[64];
    size_t len = strcspn(name, ":");
    bool alone = strcmp(name + len, ":me") == 0;
    if (!counting || strncmp(name, "cs_", 3) != 0 || len >= sizeof(words) || (name[len] != '\0' && !alone)) {
        return HL_ERR_ARG;
    }
    memcpy(words, name, len);
    words[len] = '\0';
    for (int kind = 0; kind < HL_CS_KINDS; kind++) {
        size_t n = strlen(kinds[kind]);
        const char *what = words + 3 + n;
        if (strncmp(words + 3, kinds[kind], n) != 0 ||
            (*what != '\0' && strcmp(what, "_contended") != 0 && strcmp(what, "_wait_ns") != 0)) {
            continue;
        }
        *value = alone ? value_of(mine, kind, what) : sum_of(kind, what);
        return 0;
    }
    return HL_ERR_ARG;
}

/* ---- The two locks of the process ---- */

static void nest_section(struct hl_mutex *l, unsigned *depth, enum hl_cs_kind kind)
{
    if ((*depth)++ == 0) {
        lock_section(l, kind);
    }
}

static bool nest_if_free(struct hl_mutex *l, unsigned *depth, enum hl_cs_kind kind)
{
    if (*depth == 0 && !try_lock(l, kind)) {
        return false;
    }
    ++*depth;
    return true;
}

/* A call that began before the library opened has nothing to leave. */
static void unnest_section(struct hl_mutex *l, unsigned *depth)
{
    if (*depth > 0 && --*depth == 0) {
        unlock_section(l);
    }
}

void hl_cs_enter_process(enum hl_cs_kind kind)
{
    nest_section(&process, &hl_cs_depth.process, kind);
}

void hl_cs_leave_process(void)
{
    unnest_section(&process, &hl_cs_depth.process);
}

void hl_cs_step_out(struct hl_cs_outside *o)
{
    *o = hl_cs_depth;
    hl_prog_give_way();
    hl_cs_depth = (struct hl_cs_outside){0};
}

void hl_cs_step_in(const struct hl_cs_outside *o)
{
    hl_cs_depth = *o;
    hl_prog_come_back();
}

void hl_cs_give_way(void)
{
    if (hl_cs_depth.process != 0) {
        unlock_section(&process);
    }
    if (hl_cs_depth.progress != 0) {
        unlock_section(&progress);
    }
}

void hl_cs_come_back(void)
{
    if (hl_cs_depth.process != 0) {
        lock_section(&process, HL_CS_call);
    }
    if (hl_cs_depth.progress != 0) {
        lock_section(&progress, HL_CS_progress);
    }
}

/* ---- Sections ---- */

/* Which lock each kind takes in the current mode. */
static enum which { NO_LOCK, PROCESS, PROGRESS, OBJECT } which[HL_CS_KINDS];

static enum which choose_lock(enum hl_cs_mode mode, enum hl_cs_kind kind)
{
    if (mode <= HL_CS_NONE) {
        return NO_LOCK;
    }
    if (mode <= HL_CS_BRIEF) {
        return mode == HL_CS_BRIEF && kind == HL_CS_call ? NO_LOCK : PROCESS;
    }
    switch (kind) {
    case HL_CS_call:
        return NO_LOCK;
    case HL_CS_progress:
        return PROGRESS;
    case HL_CS_pool:
        return mode <= HL_CS_OBJECT_ATOMIC ? OBJECT : NO_LOCK;
    default:
        return OBJECT;
    }
}

static struct hl_mutex *lock_of(enum hl_cs_kind kind, struct hl_mutex *object)
{
    return kind == HL_CS_pool ? &pool : object;
}

void hl_cs_enter(enum hl_cs_kind kind, struct hl_mutex *object)
{
    if (which[kind] == PROCESS) {
        nest_section(&process, &hl_cs_depth.process, kind);
    } else if (which[kind] == PROGRESS) {
        nest_section(&progress, &hl_cs_depth.progress, kind);
    } else {
        lock_section(lock_of(kind, object), kind);
    }
}

bool hl_cs_enter_if_free(enum hl_cs_kind kind, struct hl_mutex *object)
{
    if (which[kind] == PROCESS) {
        return nest_if_free(&process, &hl_cs_depth.process, kind);
    }
    if (which[kind] == PROGRESS) {
        return nest_if_free(&progress, &hl_cs_depth.progress, kind);
    }
    return try_lock(lock_of(kind, object), kind);
}

void hl_cs_leave(enum hl_cs_kind kind, struct hl_mutex *object)
{
    if (which[kind] == PROCESS) {
        unnest_section(&process, &hl_cs_depth.process);
    } else if (which[kind] == PROGRESS) {
        unnest_section(&progress, &hl_cs_depth.progress);
    } else {
        unlock_section(lock_of(kind, object));
    }
}

/* ---- References ---- */

#define OBJECTS 256

/* Stands for the reference count of an object and its lock; objects share one by hash. */
struct references {
    HL_ALIGNED_LINE struct hl_mutex lock;
    hl_a32 count; /* under the lock, or by atomic additions in the modes +atomic and +both */
};

static struct references requests[OBJECTS], comms[OBJECTS];

void hl_cs_open(enum hl_cs_mode mode, bool threads, bool count)
{
    counting = count;
    hl_cs_mode = mode > HL_CS_NONE && !threads ? HL_CS_NONE : mode;
    hl_cs_on = hl_cs_mode == HL_CS_LOCKFREE ? 0 : HL_CS_ANY;
    for (int kind = 0; kind < HL_CS_KINDS; kind++) {
        which[kind] = choose_lock(hl_cs_mode, (enum hl_cs_kind)kind);
        hl_cs_on |= (which[kind] != NO_LOCK ? UINT32_C(1) : 0) << kind;
    }
    hl_stat_ask_too(get_count);
    for (int i = 0; i < OBJECTS; i++) {
        requests[i].lock = comms[i].lock = (struct hl_mutex)HL_MUTEX_INIT;
    }
}

void hl_cs_count(enum hl_cs_kind kind, uint64_t name, int by)
{
    struct references *r = &(kind == HL_CS_request ? requests : comms)[hl_mix64(name) % OBJECTS];
    if (hl_cs_mode == HL_CS_OBJECT_ATOMIC || hl_cs_mode == HL_CS_TLP_ATOMIC) {
        /* full: as in a library that frees an object with its last reference. */
        hl_a32_add_full(&r->count, (uint32_t)by);
        return;
    }
    hl_cs_in(kind, &r->lock);
    /* relaxed: the section is held. */
    hl_a32_store_relaxed(&r->count, hl_a32_load_relaxed(&r->count) + (uint32_t)by);
    hl_cs_out(kind, &r->lock);
}
