/* Arithmetic and time that every module needs. */
#ifndef HL_UTIL_H
#define HL_UTIL_H

#include "attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define HL_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define HL_CONTAINER_OF(ptr, type, field) ((type *)(void *)((char *)(ptr)-offsetof(type, field)))

/* True for values that can be an address of the program. Constants of handles, and NULL, are smaller. */
HL_INLINE bool hl_is_address(const void *p)
{
    return (uintptr_t)p >= 4096;
}

HL_INLINE size_t hl_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

HL_INLINE int64_t hl_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

HL_INLINE size_t hl_max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Makes room for one more row of `size` bytes in an array that has `n` of *room. *(void **)rows is the array,
 * from malloc, or NULL; it grows to twice its size, at first to 16 rows. False: no memory, nothing has
 * changed. */
bool hl_grow(void *rows, size_t n, size_t *room, size_t size);

/* The ending of a noun for `n` things: "s" or "". */
HL_INLINE const char *hl_plural(long long n)
{
    return n == 1 ? "" : "s";
}

/* `n` rounded up to a multiple of the power of two `align`. */
HL_INLINE size_t hl_round_up(size_t n, size_t align)
{
    return (n + align - 1) & ~(align - 1);
}

/* A 64-bit finalizer: every input bit changes about half of the output bits. */
HL_INLINE uint64_t hl_mix64(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

/* Nanoseconds of CLOCK_MONOTONIC. */
HL_INLINE uint64_t hl_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Writes a number of bytes in the largest unit that leaves no remainder: "48M", "1G", "1536". Returns
 * `out`. */
#define HL_BYTES_TEXT 24
char *hl_bytes_text(uint64_t bytes, char out[HL_BYTES_TEXT]);

/* Bytes of address space for a table that wants `most`, a power of two. Where the process's address space is
 * limited (ulimit -v), it is at most a sixteenth of the limit, again a power of two. */
size_t hl_address_share(size_t most);

/* Reads the first line of file `path` of the kernel under the folder `root` ("" for the real ones), without
 * the newline. Returns false when there is none. */
bool hl_read_line(const char *root, const char *path, char *out, size_t cap);

/* SipHash-2-4 of `len` bytes under a 128-bit key. */
uint64_t hl_siphash(const uint64_t key[2], const void *data, size_t len);

/* Fills `out` with `len` random bytes from the kernel, by getrandom (which waits for the kernel's pool
 * at boot) or, where that is forbidden, from /dev/urandom. Returns 0, or HL_ERR_OTHER with the text
 * when neither works. */
int hl_random_bytes(void *out, size_t len);

/* Bytes that this process may lock in memory, with what providers that pin have registered: UINT64_MAX
 * without a limit (RLIMIT_MEMLOCK; CAP_IPC_LOCK). */
uint64_t hl_lockable_bytes(void);

#endif
