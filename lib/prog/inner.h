/* What the files of prog share. */
#ifndef HL_PROG_INNER_H
#define HL_PROG_INNER_H

#include <stdint.h>

#include "cs.h"
#include "prog.h"

#define HL_NAP_NS UINT64_C(1000000) /* the longest where something may not ring */

/* What a thread waits for. */
struct hl_prog_waits {
    hl_prog_cond *cond;
    void *arg;
    bool rung; /* its end rings the door */
};

/* Sleeps at the process's door for at most `ns`, unless something is waiting already or the condition holds.
 * True when that was true. */
bool hl_prog_sleep(const struct hl_prog_waits *w, uint64_t ns);

/* Within a pass, and so within what the calling thread polls for. */
bool hl_prog_is_polling(void);

/* The calling thread's wait has lasted for long, and no pass began it: before it sleeps again it tells whom
 * it is for (hl_prog_on_long). */
HL_HIDDEN extern HL_THREAD_LOCAL bool hl_prog_tells;
void hl_prog_tell_awaited(const struct hl_prog_waits *w) HL_COLD;

/* Lets others have the core for a moment, and the locks of the process. */
void hl_prog_yield(void);

/* Before a long nap: what is polled on every 64th pass, or more often, is polled on the next. */
void hl_prog_skip_passes(void);

/* Around idling, and nothing that looks at anything: lets others into the two locks of the process if the
 * calling thread is inside, and enters again (cs.c). */
void hl_cs_give_way(void) HL_NOINLINE;
void hl_cs_come_back(void) HL_NOINLINE;

HL_HIDDEN extern HL_THREAD_LOCAL struct hl_cs_outside hl_cs_depth; /* enters without a leave */

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
