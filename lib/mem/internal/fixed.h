/* Inside the module: small pieces cut through memkind; no other file calls that library. libmemkind is opened
 * with the first piece and never at start-up: it loads a dozen libraries and takes milliseconds.
 *
 * A fixed kind never touches the memory it hands out (its records lie elsewhere), so pages may come
 * and go under its free pieces, and a forked child that ends leaves its parent's memory alone.
 * Callers hold mem's lock. */
#ifndef HL_MEM_FIXED_H
#define HL_MEM_FIXED_H

#include "err.h"
#include "hl_build.h"

#include <stddef.h>

struct hl_memkind;

#if HL_MEMKIND

/* Makes a fixed kind over [base, base + len), which must stay mapped until the process ends. Returns NULL
 * when libmemkind cannot be used (one line in the log says so), has no kind left, or there is no memory. */
struct hl_memkind *hl_memkind_open(char *base, size_t len);
void hl_memkind_close(struct hl_memkind *k);

/* Takes a piece of at least `len` bytes at a multiple of `align` (power of two) and sets *off to its offset
 * from `base`. Returns 0, or HL_ERR_NO_MEM without a text when there is no room. */
int hl_memkind_take(struct hl_memkind *k, size_t len, size_t align, size_t *off);

/* Gives the piece that begins at `off` back; there must be one. */
void hl_memkind_give(struct hl_memkind *k, size_t off);

/* Length of the piece that begins at `off`, or 0 when none does. */
size_t hl_memkind_len_at(const struct hl_memkind *k, size_t off);

#else

static inline struct hl_memkind *hl_memkind_open(char *base, size_t len)
{
    (void)base, (void)len;
    return NULL;
}

static inline void hl_memkind_close(struct hl_memkind *k)
{
    (void)k;
}

static inline int hl_memkind_take(struct hl_memkind *k, size_t len, size_t align, size_t *off)
{
    (void)k, (void)len, (void)align, (void)off;
    return HL_ERR_NO_MEM;
}

static inline void hl_memkind_give(struct hl_memkind *k, size_t off)
{
    (void)k, (void)off;
}

static inline size_t hl_memkind_len_at(const struct hl_memkind *k, size_t off)
{
    (void)k, (void)off;
    return 0;
}

#endif
#endif
