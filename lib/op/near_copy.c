/* Copies of mapped memory: by one access where length and alignment allow it. */
#include "near.h"

#include "copy.h"

/* A side that is not aligned is copied byte-wise: it is the caller's buffer, or the window was addressed in a
 * way that promises no atomicity. */
#define WIDTHS(X) X(1, 8) X(2, 16) X(4, 32) X(8, 64)
#define COPY_ONE(bytes, bits)                                                                                \
    static void copy##bytes(void *dst, const void *src)                                                      \
    {                                                                                                        \
        uint##bits##_t v;                                                                                    \
        if ((uintptr_t)src % (bytes) == 0) {                                                                 \
            /* relaxed: a get orders nothing; the flush's fence does. */                                     \
            v = hl_a##bits##_load_relaxed((const hl_a##bits *)src);                                          \
        } else {                                                                                             \
            memcpy(&v, src, (bytes));                                                                        \
        }                                                                                                    \
        if ((uintptr_t)dst % (bytes) == 0) {                                                                 \
            /* relaxed: a put orders nothing; the flush's fence does. */                                     \
            hl_a##bits##_store_relaxed((hl_a##bits *)dst, v);                                                \
        } else {                                                                                             \
            memcpy(dst, &v, (bytes));                                                                        \
        }                                                                                                    \
    }
WIDTHS(COPY_ONE)

void hl_near_copy_any(void *dst, const void *src, size_t len)
{
    switch (len) {
    case 0:
        return; /* the addresses may be NULL */
#define COPY_CASE(bytes, bits)                                                                               \
    case bytes:                                                                                              \
        copy##bytes(dst, src);                                                                               \
        return;
        WIDTHS(COPY_CASE)
    default:
        hl_copy(dst, src, len);
    }
}
