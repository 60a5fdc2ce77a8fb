/* What prog.c, wait.c, door.c and cs.c share. */
#ifndef HL_PROG_INTERNAL_H
#define HL_PROG_INTERNAL_H

#include <stdint.h>

#include "cs.h"
#include "prog.h"

#define HL_NAP_NS UINT64_C(1000000) /* the longest nap where something may not ring */

/* What a thread waits for, and how it has idled so far. */
struct hl_prog_waits {
    hl_prog_cond *cond;
    void *arg;
    bool rung;       /* a ring of the door goes with the condition's end */
    bool yields;     /* its spins have taken so long that it yields instead */
    bool naps;       /* it has napped, and hardly spins any more */
    uint8_t spins;   /* passes that it may spin */
    uint32_t passes; /* in a row without progress */
    uint64_t ns;     /* when it first napped; before: when two passes were over */
};

/* Sleeps at the process's door for at most `ns`, unless something has come already or the condition holds.
 * True when it found the condition true. */
bool hl_prog_sleep(const struct hl_prog_waits *w, uint64_t ns);

/* ---- keeper.c ---- */

/* What a thread is that is about to sleep. */
enum hl_prog_role {
    HL_PROG_ALONE,  /* the process has no keeper: it sleeps at the door's word, and peers may ring */
    HL_PROG_OTHER,  /* another thread is the keeper: so does this one */
    HL_PROG_KEEPER, /* it sleeps at descriptors */
    HL_PROG_INNER   /* so does this one, in a wait within a keeper's condition */
};

/* Called before a sleeper arms what rings it. hl_prog_keeper_leave ends it. */
enum hl_prog_role hl_prog_keeper_enter(void);

/* Called after the sleep: a keeper has the door ring if other threads sleep, one of which follows it. */
void hl_prog_keeper_leave(enum hl_prog_role role, struct hl_prog_door *d);

/* The keeper's sleep: for `ns`, or until a descriptor speaks; true when the time has passed. */
bool hl_prog_keeper_sleep(uint64_t ns);

/* Wakes the keeper. The caller has raised the door's word by a full read-modify-write. True: no other thread
 * sleeps. */
bool hl_prog_keeper_ring(void);

/* In a forked child. */
void hl_prog_keeper_forget(void);

/* ---- end of keeper.c ---- */

/* Is the calling thread within a pass? */
bool hl_prog_is_polling(void);

/* hl_prog_tells: the calling thread's wait has lasted for long and was not begun within a pass, so before its
 * next sleep hl_prog_describe_awaited passes the ranks that it waits for to hl_prog_on_long's function. */
HL_HIDDEN extern HL_THREAD_LOCAL bool hl_prog_tells;
void hl_prog_describe_awaited(const struct hl_prog_waits *w) HL_COLD;

/* A thread that has waited. */
struct hl_prog_thread {
    hl_a32 waits; /* atomic: how many waits, one within another; written by this thread */
    bool counted; /* among those that ever waited, and listed */
    bool plain;   /* counted, and no watchdog is on: waits need nothing more */
    struct hl_prog_thread *next;
    uint32_t told; /* the last question that it has answered (left.c), */
    char call[40]; /* and its call then */
};
HL_HIDDEN extern HL_THREAD_LOCAL struct hl_prog_thread hl_prog_me;

/* Begins a wait of this thread, or ends it (by -1). */
HL_INLINE void hl_prog_count_wait(uint32_t by)
{
    /* relaxed, both: only this thread writes; waiting_from (left.c) reads. */
    hl_a32_store_relaxed(&hl_prog_me.waits, hl_a32_load_relaxed(&hl_prog_me.waits) + by);
}

/* Lists the calling thread for the one that ends the library, until it ends itself. */
void hl_prog_enlist(void);
void hl_prog_delist(void);

/* Called before each nap while hl_prog_asks is not 0: tells the thread's call to the one that ends the
 * library. */
HL_HIDDEN extern hl_a32 hl_prog_asks;
void hl_prog_answer(void) HL_COLD;

/* In a forked child: only the calling thread is left. */
void hl_prog_left_forget(void);

/* Wakes all sleepers of this process. */
void hl_prog_ring_own(void);

/* Yields the core, and meanwhile the process's two locks. */
void hl_prog_yield(void);

/* Called before a long nap: the next pass polls all sources with `every` up to 64. */
void hl_prog_skip_passes(void);

/* Around idling: hl_cs_give_way leaves the process's two locks if the calling thread is inside,
 * hl_cs_come_back enters them again. Between them the thread must not look at anything (cs.c). */
void hl_cs_give_way(void) HL_NOINLINE;
void hl_cs_come_back(void) HL_NOINLINE;

HL_HIDDEN extern HL_THREAD_LOCAL struct hl_cs_outside hl_cs_depth; /* how deep the thread is inside each */

HL_INLINE bool hl_prog_is_inside(void)
{
    return HL_UNLIKELY((hl_cs_depth.process | hl_cs_depth.progress) != 0);
}

HL_INLINE void hl_prog_give_way(void)
{
    if (hl_prog_is_inside()) {
        hl_cs_give_way();
    }
}

HL_INLINE void hl_prog_come_back(void)
{
    if (hl_prog_is_inside()) {
        hl_cs_come_back();
    }
}

#endif
