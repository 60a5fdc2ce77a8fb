/* Ordinary copies, and copies into memory that another core reads next, past the caches where that is
 * faster. */
#include "copy.h"

#include "util.h"

#define PIECE 2032                    /* bytes: too few for the string instruction, and a multiple of 16 */
#define PIECES_MOST ((size_t)4 << 20) /* bytes: more are limited by memory anyhow */
#define PAGE 4096
#define CLOSE 64
#define SLOW_NS 4      /* a slower line is slow: 16 GB/s, half of what memory takes from one core */
#define EVERY 32       /* ordinary copies before one is timed */
#define EVERY_SLOW 512 /* copies past the caches before a trial */
#define TRIAL 16       /* ordinary copies before the timed one: twice the buffers that are used in turn */
#define AHEAD 8192     /* bytes fetched at once: with fewer lines than a core can wait for, time is lost */

#ifdef __SSE2__
#include <immintrin.h>

/* Copies whole lines with the fewest stores: a line that takes more stores leaves the core later. */
__attribute__((target("avx"))) static void stream_halves(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i += HL_COPY_LINE) {
        const __m256i *source = (const __m256i *)(const void *)(from + i);
        __m256i *line = (__m256i *)(void *)(to + i);
        __m256i a = _mm256_loadu_si256(source), b = _mm256_loadu_si256(source + 1);
        _mm256_stream_si256(line, a);
        _mm256_stream_si256(line + 1, b);
    }
}

static void stream_quarters(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i += HL_COPY_LINE) {
        const __m128i *source = (const __m128i *)(const void *)(from + i);
        __m128i *line = (__m128i *)(void *)(to + i);
        __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
        __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
        _mm_stream_si128(line, a);
        _mm_stream_si128(line + 1, b);
        _mm_stream_si128(line + 2, c);
        _mm_stream_si128(line + 3, d);
    }
}

static void copy_streaming(char *to, const char *from, size_t n)
{
    if (__builtin_cpu_supports("avx")) {
        stream_halves(to, from, n);
    } else {
        stream_quarters(to, from, n);
    }
    _mm_sfence(); /* nothing else orders such stores, not even a release store */
}
#else
static void copy_streaming(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

void hl_copy_long(void *to, const void *from, size_t n)
{
    size_t further = ((uintptr_t)to - (uintptr_t)from) % PAGE, at = 0;
    if (further > 0 && further < CLOSE && n <= PIECES_MOST) {
        for (; n - at > PIECE; at += PIECE) {
            memcpy((char *)to + at, (const char *)from + at, PIECE);
        }
    }
    memcpy((char *)to + at, (const char *)from + at, n - at);
}

void hl_copy_past(void *to, const void *from, size_t n)
{
    size_t head = hl_min_size(n, -(uintptr_t)to & (HL_COPY_LINE - 1)),
           lines = (n - head) & ~(HL_COPY_LINE - 1);
    char *at = to;
    const char *source = from;

    memcpy(at, source, head);
    copy_streaming(at + head, source + head, lines);
    memcpy(at + head + lines, source + head + lines, n - head - lines);
}

void hl_copy_judge(struct hl_copy_out *o, size_t n, uint64_t ns)
{
    bool slow = ns * HL_COPY_LINE > n * SLOW_NS;

    o->since = slow && !o->past && !o->doubt ? EVERY : 0; /* perhaps interrupted: time the next copy, too */
    o->past = slow && (o->past || o->doubt);
    o->doubt = slow;
}

void hl_copy_out_long(struct hl_copy_out *o, void *to, const void *from, size_t n)
{
    uint32_t since = o->since++;
    if (o->past && since < EVERY_SLOW) {
        hl_copy_past(to, from, n);
        return;
    }
    if (since < (o->past ? EVERY_SLOW + TRIAL : EVERY)) {
        hl_copy_long(to, from, n);
        return;
    }
    uint64_t start = hl_now_ns();
    hl_copy_long(to, from, n);
    hl_copy_judge(o, n, hl_now_ns() - start);
}

void hl_copy_in_long(void *to, const void *from, size_t n)
{
    for (size_t at = 0; at < n; at += AHEAD) {
        size_t part = hl_min_size(AHEAD, n - at);
        hl_copy_fetch((const char *)from + at, part);
        hl_copy((char *)to + at, (const char *)from + at, part);
    }
}
