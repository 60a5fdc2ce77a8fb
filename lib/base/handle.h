/* User handles: addresses of objects in one reserved range that is never unmapped, so that invalid, freed and
 * wrong-kind handles are told from good ones in a few instructions, without access to unmapped memory. */
#ifndef HL_HANDLE_H
#define HL_HANDLE_H

#include "atomic.h"
#include "attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hl_kind {
    HL_KIND_FREE = 0, /* a freed or never used object */
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

#define HL_HANDLE_SIZE 512 /* bytes of one object's place; larger data are reached through pointers */

/* Takes a place for an object of `kind`, zeroed but for its struct hl_handle. The place that was freed
 * longest ago is reused first. Returns NULL when the range is exhausted. Any thread; it takes a lock,
 * so not for hot paths. */
void *hl_handle_new(enum hl_kind kind);

/* Gives the place back; the handle is invalid from now on. Any thread. */
void hl_handle_free(void *object);

/* Makes the handle invalid; the object keeps its place. It waits until no thread is in hl_handle_find. Any
 * thread. */
void hl_handle_end(void *object);

/* Makes all handles of the parent invalid, in a forked child. */
void hl_handle_forget(void);

/* The first living object of `kind` that `is` accepts, or NULL. It looks at all places ever used, under the
 * lock, which `is` must not take; no handle ends meanwhile. Any thread; not for hot paths. */
void *hl_handle_find(enum hl_kind kind, bool (*is)(const void *object, const void *arg), const void *arg);

/* Count the references to an object that threads share. It begins with one. */
HL_INLINE void hl_refs_begin(hl_a32 *refs)
{
    hl_a32_store_relaxed(refs, 1); /* relaxed: no other thread knows the object yet. */
}

HL_INLINE void hl_refs_add(hl_a32 *refs)
{
    hl_a32_add_relaxed(refs, 1); /* relaxed: the caller has a reference, a handle, or a lock around one. */
}

/* True: it was the last one, and the caller frees the object. */
HL_INLINE bool hl_refs_drop(hl_a32 *refs)
{
    /* full: the last user sees the others' use before it frees; pairs with itself in other threads. */
    return hl_a32_add_full(refs, UINT32_MAX) == 1;
}

/* Count the handles of one object that the user has: one more, or one less (false: the user has none). */
HL_INLINE void hl_handles_give(hl_a32 *handles)
{
    hl_a32_add_relaxed(handles, 1); /* relaxed: only a count. */
}

HL_INLINE bool hl_handles_take_back(hl_a32 *handles)
{
    uint32_t had = hl_a32_load_relaxed(handles);                   /* relaxed: a guess for the exchange. */
    while (had != 0 && !hl_a32_cas_full(handles, &had, had - 1)) { /* full: it is rare. */
    }
    return had != 0;
}

/* An object's name: *slot is from malloc, or NULL, and the owner frees it. hl_handle_name_set puts a copy of
 * at most cap - 1 bytes there; HL_ERR_NO_MEM. hl_handle_name_get writes it, or `otherwise` (NULL: ""), to
 * out[cap]. One lock guards all slots. */
int hl_handle_name_set(char **slot, const char *name, size_t cap);
void hl_handle_name_get(char *const *slot, const char *otherwise, char *out, size_t cap);

/* The range, reserved with the first use at a multiple of its size. Before that the base is 1 and the mask 0,
 * so that no handle is good. */
extern char *hl_handle_base;
extern size_t hl_handle_range;   /* bytes of the range */
extern uintptr_t hl_handle_mask; /* bits that are equal in the addresses of all places */

/* The object behind a user's handle if it is a living one of `kind`, else NULL. Accepts any value. */
HL_INLINE void *hl_handle_get(const void *handle, enum hl_kind kind)
{
    if (HL_UNLIKELY(((uintptr_t)handle & hl_handle_mask) != (uintptr_t)hl_handle_base)) {
        return NULL;
    }
    struct hl_handle *h = (struct hl_handle *)(uintptr_t)handle;
    __asm__("" : "+r"(h)); /* the compiler must not conclude anything from a constant bad handle */
    return HL_LIKELY(h->kind == (uint32_t)kind) ? h : NULL;
}

#endif
