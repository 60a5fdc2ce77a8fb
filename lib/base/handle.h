/* User handles: addresses of objects in one reserved range of type-stable slabs (never unmapped), so that
 * garbage, freed and wrong-kind handles are told from good ones in a few instructions and without touching
 * unmapped memory. */
#ifndef HL_HANDLE_H
#define HL_HANDLE_H

#include "atomic.h"
#include "attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hl_kind {
    HL_KIND_FREE = 0, /* the word of a freed or never used object */
    HL_KIND_COMM,
    HL_KIND_GROUP,
    HL_KIND_TYPE,
    HL_KIND_OP,
    HL_KIND_ERRH,
    HL_KIND_INFO,
    HL_KIND_WIN,
    HL_KIND_REQ,
    HL_KIND_MESSAGE,
    HL_KIND_SESSION,
    HL_KIND_CTX,
    HL_KIND_TEAM,
    HL_KIND_QUIET,
    HL_KIND_CVAR,
    HL_KIND_PVAR,
    HL_KIND_PVAR_SESSION,
    HL_KIND_FILE,
};

/* First member of every object that a user can hold. */
struct hl_handle {
    uint32_t kind;       /* enum hl_kind; HL_KIND_FREE while free */
    uint32_t generation; /* counts reuses of this place */
    struct hl_handle *next_free;
};

#define HL_HANDLE_SIZE 512 /* bytes of one object's place; larger parts hang on pointers */

/* Takes a place for an object of `kind`: zeroed but for its struct hl_handle. The place freed longest ago is
 * reused first. Returns NULL when the range is exhausted. Any thread (a lock; not for hot paths). */
void *hl_handle_new(enum hl_kind kind);

/* Gives the place back; the handle is invalid from here on. */
void hl_handle_free(void *object);

/* The handle is invalid from here on; the place stays the object's. It waits for who is in hl_handle_find. */
void hl_handle_end(void *object);

/* In a forked child: no handle of the parent's is good any more. */
void hl_handle_forget(void);

/* The first living object of `kind` that `is` accepts, or NULL. Cold: looks at all places ever used, under
 * the lock (which `is` must not need): meanwhile no handle ends. */
void *hl_handle_find(enum hl_kind kind, bool (*is)(const void *object, const void *arg), const void *arg);

/* The handles of one object that the user has: one more, and one less; false: all are back already. */
HL_INLINE void hl_handles_give(hl_a32 *handles)
{
    hl_a32_add_relaxed(handles, 1); /* relaxed: counted only. */
}

HL_INLINE bool hl_handles_take_back(hl_a32 *handles)
{
    uint32_t had = hl_a32_load_relaxed(handles);                   /* relaxed: a guess for the exchange */
    while (had != 0 && !hl_a32_cas_full(handles, &had, had - 1)) { /* full: rare. */
    }
    return had != 0;
}

/* The range, reserved on first use at a multiple of its size; before that base is odd and mask 0, so that
 * every handle is judged bad. */
extern char *hl_handle_base;
extern size_t hl_handle_range;   /* its bytes */
extern uintptr_t hl_handle_mask; /* bits that all places have in common */

/* The object behind a user's handle if it is a living one of `kind`, else NULL. Accepts any bit pattern. */
HL_INLINE void *hl_handle_get(const void *handle, enum hl_kind kind)
{
    if (HL_UNLIKELY(((uintptr_t)handle & hl_handle_mask) != (uintptr_t)hl_handle_base)) {
        return NULL;
    }
    struct hl_handle *h = (struct hl_handle *)(uintptr_t)handle;
    __asm__("" : "+r"(h)); /* the compiler must not conclude anything from a handle that it knows to be bad */
    return HL_LIKELY(h->kind == (uint32_t)kind) ? h : NULL;
}

#endif
