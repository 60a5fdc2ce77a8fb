/* Copies into memory that another core reads next, and that its cache still holds from the last time.
 *
 * A store to such a line first has to take it from that cache. Between cores that share a cache this costs
 * little; between others, several times as much as the copy: then it is faster to store past all caches and
 * to let the reader fetch from memory. Which of the two is the case nobody tells reliably (virtual CPUs move,
 * too), so it is measured: now and then an ordinary copy is timed, and when two in a row were slower than
 * memory is, copies go past the caches. These take the lines out of the other cache, so a trial is as many
 * ordinary copies as bring them back, and the last is timed. The reader need not know, but asks for many
 * lines at once (hl_copy_in): each comes from afar. */
#ifndef HL_COPY_H
#define HL_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "attr.h"

#define HL_COPY_LINE ((size_t)64)
#define HL_COPY_LEAST 4096 /* bytes from which it makes a difference */

/* What a writer knows of its readers. Zero at first; one thread at a time. */
struct hl_copy_out {
    uint32_t since; /* copies since the last trial */
    bool past;      /* go past the caches */
    bool doubt;     /* the last timed copy was slow */
};

/* Takes `ns` for an ordinary copy of `n` bytes into account. */
void hl_copy_judge(struct hl_copy_out *o, size_t n, uint64_t ns);

/* Stores past the caches, if the CPU can. Done, as seen by other threads, when it returns. */
void hl_copy_past(void *to, const void *from, size_t n);

void hl_copy_out_long(struct hl_copy_out *o, void *to, const void *from, size_t n);

/* Asks for what another core has written, before it is read. */
HL_INLINE void hl_copy_fetch(const void *from, size_t n)
{
    for (size_t i = 0; i < n; i += HL_COPY_LINE) {
        __builtin_prefetch((const char *)from + i, 0, 2);
    }
}

void hl_copy_in_long(void *to, const void *from, size_t n);

/* Copies `n` bytes that another core has written, and that do not overlap. */
HL_INLINE void hl_copy_in(void *to, const void *from, size_t n)
{
    if (n < HL_COPY_LEAST) {
        memcpy(to, from, n);
    } else {
        hl_copy_in_long(to, from, n);
    }
}

/* Copies `n` bytes that do not overlap; a release store behind it publishes them. */
HL_INLINE void hl_copy_out(struct hl_copy_out *o, void *to, const void *from, size_t n)
{
    if (n < HL_COPY_LEAST) {
        memcpy(to, from, n);
    } else {
        hl_copy_out_long(o, to, from, n);
    }
}

#endif
