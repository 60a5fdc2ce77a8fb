/* Inside the module: cutting small pieces through memkind, of which nothing else knows. libmemkind is opened
 * with the first piece and never at start-up: it brings a dozen libraries and takes milliseconds.
 *
 * A fixed kind never looks at the memory it hands out (its records stand elsewhere), so pages may come and go
 * under its free pieces, and a forked child that ends leaves its parent's memory alone. Callers hold mem's
 * lock. */
#ifndef HL_MEM_FIXED_H
#define HL_MEM_FIXED_H

#include "err.h"
#include "hl_build.h"

#include <stddef.h>

struct hl_memkind;

#if HL_MEMKIND

/* Cuts pieces from [base, base + len), which must stay mapped until the process ends. NULL: libmemkind cannot
 * be used (said once in the log), or has no kind left. */
struct hl_memkind *hl_memkind_open(char *base, size_t len);
void hl_memkind_close(struct hl_memkind *k);

/* A piece of at least `len` bytes at a multiple of `align` (power of two). HL_ERR_NO_MEM (silent): no room.
 */
int hl_memkind_take(struct hl_memkind *k, size_t len, size_t align, size_t *off);

/* Gives back the piece that begins at `off` (there must be one). */
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
