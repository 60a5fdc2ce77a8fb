/* Copies: ordinary ones (hl_copy), and copies for another core.
 *
 * Copies into memory that another core reads next, and that its cache still holds from the last time.
 *
 * A store to such a line must first take it from that cache. Between cores that share a cache this costs
 * little; between others it costs several times as much as the copy, and then it is faster to store past all
 * caches and let the reader fetch from memory. No interface tells reliably which case holds (virtual CPUs
 * move, too), so it is measured: at intervals an ordinary copy is timed, and when two in a row were slower
 * than memory, copies go past the caches. Those remove the lines from the other cache; so a trial is as many
 * ordinary copies as bring them back, of which the last is timed. The reader need not know which copy was
 * used, but should fetch many lines at once (hl_copy_in), since each comes from afar. */
#ifndef HL_COPY_H
#define HL_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "attr.h"

#define HL_COPY_LINE ((size_t)64)
#define HL_COPY_LEAST 4096  /* shorter copies, in bytes, are always ordinary ones */
#define HL_COPY_STRING 2048 /* from so many bytes on memcpy may be one string instruction */

/* hl_copy of HL_COPY_STRING bytes or more. */
void hl_copy_long(void *to, const void *from, size_t n);

/* memcpy for data of users, without its slow case: the string instruction by which glibc before 2.39 copies 2
 * to 512 KiB is 20 to 30 times slower on AMD's Zen 3 where the destination lies 1 to 31 bytes further in its
 * page than the source in its own. So lies memory of malloc behind that of a window. */
HL_INLINE void hl_copy(void *to, const void *from, size_t n)
{
    if (n < HL_COPY_STRING) {
        memcpy(to, from, n);
    } else {
        hl_copy_long(to, from, n);
    }
}

/* What a writer has measured. All zero at first; one thread at a time. */
struct hl_copy_out {
    uint32_t since; /* copies since the last trial */
    bool past;      /* copies go past the caches */
    bool doubt;     /* the last timed copy was slow */
};

/* Notes that an ordinary copy of `n` bytes took `ns`. */
void hl_copy_judge(struct hl_copy_out *o, size_t n, uint64_t ns);

/* Copies past the caches, if the CPU can. Other threads see the copy as done when it returns. */
void hl_copy_past(void *to, const void *from, size_t n);

/* hl_copy_out of HL_COPY_LEAST bytes or more. */
void hl_copy_out_long(struct hl_copy_out *o, void *to, const void *from, size_t n);

/* Prefetches memory that another core has written. */
HL_INLINE void hl_copy_fetch(const void *from, size_t n)
{
    for (size_t i = 0; i < n; i += HL_COPY_LINE) {
        __builtin_prefetch((const char *)from + i, 0, 2);
    }
}

/* hl_copy_in of HL_COPY_LEAST bytes or more. */
void hl_copy_in_long(void *to, const void *from, size_t n);

/* Copies `n` bytes that another core has written; the ranges must not overlap. */
HL_INLINE void hl_copy_in(void *to, const void *from, size_t n)
{
    if (n < HL_COPY_LEAST) {
        hl_copy(to, from, n);
    } else {
        hl_copy_in_long(to, from, n);
    }
}

/* Copies `n` bytes for another core; the ranges must not overlap. A release store behind it publishes
 * them. */
HL_INLINE void hl_copy_out(struct hl_copy_out *o, void *to, const void *from, size_t n)
{
    if (n < HL_COPY_LEAST) {
        hl_copy(to, from, n);
    } else {
        hl_copy_out_long(o, to, from, n);
    }
}

#endif
