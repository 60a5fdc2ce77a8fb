/* Critical sections by name and object: the designs with which this library's own is compared (HOTLANE_CS).
 *
 *                 call  send  inbox  progress  pool  request, comm counts  window
 *   lockfree      -     -     -      -         -     -                     -
 *   none          -     -     -      -         own   plain                 -
 *   global        G     (G)   (G)    (G)       (G)   (G)                   G
 *   brief         -     G     G      G         G     G                     G
 *   object        -     o     o      P         one   o                     o
 *   ... +atomic   -     o     o      P         one   atomic addition       o
 *   ... +tlp      -     o     o      P         own   o                     o
 *   ... +both     -     o     o      P         own   atomic addition       o
 *
 * G is one lock of the process, P one of progress, o one of the object named; (G) is usually held already.
 * All modes but lockfree make a request of every nonblocking send, look at a request inside the section of
 * progress and count references to requests and communicators, as the libraries do that work that way. (The
 * counts stand in 256 places by hash, as the lock is what costs; they decide nothing here.) In these modes an
 * inbox is owned by its section instead of its word. Below MPI_THREAD_MULTIPLE, where no thread has to be
 * excluded, every mode but lockfree is none.
 *
 * Only calls and windows poll inside a section. The locks G and P nest in a thread, and hl_prog_wait leaves
 * them, however deep, while it idles, so that the thread for which it waits gets in. `global` takes its lock
 * around every call that touches an object, files, topologies, attributes, groups and infos too; calls that
 * only read a status, a clock or a version do not. HOTLANE_RMA_MODE of "global" is the same lock, for
 * one-sided calls alone.
 *
 * Source: Balaji et al., Fine-Grained Multithreading Support for Hybrid Threaded MPI Programming, 2010. */
#ifndef HL_CS_H
#define HL_CS_H

#include "attr.h"
#include "lock.h"

#include <stdbool.h>
#include <stdint.h>

enum hl_cs_mode { /* in the order of the words in conf/vars.h */
                  HL_CS_LOCKFREE,
                  HL_CS_NONE,
                  HL_CS_GLOBAL,
                  HL_CS_BRIEF,
                  HL_CS_OBJECT,
                  HL_CS_OBJECT_ATOMIC,
                  HL_CS_TLP,
                  HL_CS_TLP_ATOMIC
};

/* X(name, "what is done inside"). */
#define HL_CS_KIND_ROWS(X)                                                                                   \
    X(call, "a whole call")                                                                                  \
    X(send, "putting a message into a peer's ring")                                                          \
    X(inbox, "posting and matching")                                                                         \
    X(progress, "polling, or looking whether a request is done")                                             \
    X(pool, "taking a request or giving it back")                                                            \
    X(request, "counting references to a request")                                                           \
    X(comm, "counting references to a communicator")                                                         \
    X(window, "a one-sided operation")

enum hl_cs_kind {
#define HL_CS_ENUM(name, help) HL_CS_##name,
    HL_CS_KIND_ROWS(HL_CS_ENUM)
#undef HL_CS_ENUM
        HL_CS_KINDS
};

/* A bit for each kind that has a section in this mode, and HL_CS_ANY in any mode but lockfree. Both variables
 * are written while the library opens, before threads call. */
HL_HIDDEN extern uint32_t hl_cs_on;
#define HL_CS_ANY (UINT32_C(1) << 31)

HL_HIDDEN extern enum hl_cs_mode hl_cs_mode;

/* Is the mode another than lockfree? One comparison. */
HL_INLINE bool hl_cs_any(void)
{
    return hl_cs_on != 0;
}

/* Sets the mode. `threads`: MPI_THREAD_MULTIPLE was granted. `count`: entries, and waits for them, are
 * counted and timed, which hotlane_counter tells (HOTLANE_CS_COUNT). */
void hl_cs_open(enum hl_cs_mode mode, bool threads, bool count);

/* The parts of hl_cs_in, hl_cs_out and hl_cs_try that are not inlined. */
void hl_cs_enter(enum hl_cs_kind kind, struct hl_mutex *object) HL_NOINLINE;
void hl_cs_leave(enum hl_cs_kind kind, struct hl_mutex *object) HL_NOINLINE;
bool hl_cs_enter_if_free(enum hl_cs_kind kind, struct hl_mutex *object) HL_NOINLINE;

/* Enters the section of that kind and object (NULL: of a kind without objects). Sections of objects do not
 * nest, except those of windows. No thread waits for progress inside a section, except inside calls and
 * windows. */
HL_INLINE void hl_cs_in(enum hl_cs_kind kind, struct hl_mutex *object)
{
    if (HL_UNLIKELY((hl_cs_on >> kind & 1) != 0)) {
        hl_cs_enter(kind, object);
    }
}

HL_INLINE void hl_cs_out(enum hl_cs_kind kind, struct hl_mutex *object)
{
    if (HL_UNLIKELY((hl_cs_on >> kind & 1) != 0)) {
        hl_cs_leave(kind, object);
    }
}

/* Enters the section unless another thread is inside: then false. */
HL_INLINE bool hl_cs_try(enum hl_cs_kind kind, struct hl_mutex *object)
{
    return HL_LIKELY((hl_cs_on >> kind & 1) == 0) || hl_cs_enter_if_free(kind, object);
}

/* Around a function of the user: hl_cs_step_out leaves the process's two locks, so that threads for which the
 * function waits can call, and calls of the function enter anew; hl_cs_step_in enters them again. Not within
 * the section of an object. */
struct hl_cs_outside {
    unsigned process, progress; /* how often the thread was inside each of the two */
};
void hl_cs_step_out(struct hl_cs_outside *o);
void hl_cs_step_in(const struct hl_cs_outside *o);

/* Counts a reference to the request or communicator with this name up or down. */
void hl_cs_count(enum hl_cs_kind kind, uint64_t name, int by) HL_NOINLINE;

/* Do threads take requests from one pool? */
HL_INLINE bool hl_cs_has_one_pool(void)
{
    return hl_cs_mode >= HL_CS_GLOBAL && hl_cs_mode <= HL_CS_OBJECT_ATOMIC;
}

/* Has the mode locks? Then threads may sleep that another one must wake. */
HL_INLINE bool hl_cs_has_locks(void)
{
    return hl_cs_mode >= HL_CS_GLOBAL;
}

/* Enter and leave the process's one lock, whatever the mode (HOTLANE_RMA_MODE=global). It nests in a
 * thread. */
void hl_cs_enter_process(enum hl_cs_kind kind);
void hl_cs_leave_process(void);

#endif
