/* Build variant "counting": counts every read-modify-write and every fence by the place in the source that
 * made it. atomic.h includes this at its end. Ordinary loads and stores cost nothing shared and are not
 * counted. */
#ifndef HL_ATOMIC_COUNTING_H
#define HL_ATOMIC_COUNTING_H

/* One place in the source. Its first access links it into a list. */
struct hl_atomic_site {
    const char *file;
    int line;
    const char *what;
    uint64_t hits;   /* atomic: accesses since start */
    uint64_t before; /* hits at the last reset */
    struct hl_atomic_site *next;
};

/* Counts one access. Any thread. */
void hl_atomic_hit(struct hl_atomic_site *site);

/* Sum of all sites since start or the last reset; any thread. The library exports it for the programs under
 * perf/. */
HL_PUBLIC uint64_t hotlane_atomic_total(void);
/* Counted accesses of the calling thread since its start: they show what one call costs while other
 * threads work. */
HL_PUBLIC uint64_t hotlane_atomic_mine(void);
HL_PUBLIC void hotlane_atomic_reset(void);
/* Prints "hits file:line what" for every site that was accessed since the last reset to a file descriptor. */
HL_PUBLIC void hotlane_atomic_report(int fd);

#define HL_SITE_NAME2(line) hl_site_##line
#define HL_SITE_NAME(line) HL_SITE_NAME2(line)
#define HL_COUNTED(what, call)                                                                               \
    __extension__({                                                                                          \
        static struct hl_atomic_site HL_SITE_NAME(__LINE__) = {__FILE__, __LINE__, what, 0, 0, 0};           \
        hl_atomic_hit(&HL_SITE_NAME(__LINE__));                                                              \
        call;                                                                                                \
    })

#define hl_a8_xchg_acquire(p, v) HL_COUNTED("hl_a8_xchg_acquire", (hl_a8_xchg_acquire)(p, v))
#define hl_a8_xchg_full(p, v) HL_COUNTED("hl_a8_xchg_full", (hl_a8_xchg_full)(p, v))
#define hl_a8_cas_acquire(p, e, v) HL_COUNTED("hl_a8_cas_acquire", (hl_a8_cas_acquire)(p, e, v))
#define hl_a8_cas_full(p, e, v) HL_COUNTED("hl_a8_cas_full", (hl_a8_cas_full)(p, e, v))
#define hl_a8_add_relaxed(p, v) HL_COUNTED("hl_a8_add_relaxed", (hl_a8_add_relaxed)(p, v))
#define hl_a8_and_full(p, v) HL_COUNTED("hl_a8_and_full", (hl_a8_and_full)(p, v))
#define hl_a8_or_full(p, v) HL_COUNTED("hl_a8_or_full", (hl_a8_or_full)(p, v))
#define hl_a8_xor_full(p, v) HL_COUNTED("hl_a8_xor_full", (hl_a8_xor_full)(p, v))
#define hl_a16_xchg_acquire(p, v) HL_COUNTED("hl_a16_xchg_acquire", (hl_a16_xchg_acquire)(p, v))
#define hl_a16_cas_acquire(p, e, v) HL_COUNTED("hl_a16_cas_acquire", (hl_a16_cas_acquire)(p, e, v))
#define hl_a16_add_relaxed(p, v) HL_COUNTED("hl_a16_add_relaxed", (hl_a16_add_relaxed)(p, v))
#define hl_a16_and_full(p, v) HL_COUNTED("hl_a16_and_full", (hl_a16_and_full)(p, v))
#define hl_a16_or_full(p, v) HL_COUNTED("hl_a16_or_full", (hl_a16_or_full)(p, v))
#define hl_a16_xor_full(p, v) HL_COUNTED("hl_a16_xor_full", (hl_a16_xor_full)(p, v))
#define hl_a32_xchg_acquire(p, v) HL_COUNTED("hl_a32_xchg_acquire", (hl_a32_xchg_acquire)(p, v))
#define hl_a32_xchg_full(p, v) HL_COUNTED("hl_a32_xchg_full", (hl_a32_xchg_full)(p, v))
#define hl_a32_cas_acquire(p, e, v) HL_COUNTED("hl_a32_cas_acquire", (hl_a32_cas_acquire)(p, e, v))
#define hl_a32_cas_full(p, e, v) HL_COUNTED("hl_a32_cas_full", (hl_a32_cas_full)(p, e, v))
#define hl_a32_add_relaxed(p, v) HL_COUNTED("hl_a32_add_relaxed", (hl_a32_add_relaxed)(p, v))
#define hl_a32_add_full(p, v) HL_COUNTED("hl_a32_add_full", (hl_a32_add_full)(p, v))
#define hl_a32_and_full(p, v) HL_COUNTED("hl_a32_and_full", (hl_a32_and_full)(p, v))
#define hl_a32_or_full(p, v) HL_COUNTED("hl_a32_or_full", (hl_a32_or_full)(p, v))
#define hl_a32_xor_full(p, v) HL_COUNTED("hl_a32_xor_full", (hl_a32_xor_full)(p, v))
#define hl_a64_xchg_acquire(p, v) HL_COUNTED("hl_a64_xchg_acquire", (hl_a64_xchg_acquire)(p, v))
#define hl_a64_xchg_full(p, v) HL_COUNTED("hl_a64_xchg_full", (hl_a64_xchg_full)(p, v))
#define hl_a64_cas_acquire(p, e, v) HL_COUNTED("hl_a64_cas_acquire", (hl_a64_cas_acquire)(p, e, v))
#define hl_a64_cas_full(p, e, v) HL_COUNTED("hl_a64_cas_full", (hl_a64_cas_full)(p, e, v))
#define hl_a64_add_relaxed(p, v) HL_COUNTED("hl_a64_add_relaxed", (hl_a64_add_relaxed)(p, v))
#define hl_a64_add_full(p, v) HL_COUNTED("hl_a64_add_full", (hl_a64_add_full)(p, v))
#define hl_a64_and_full(p, v) HL_COUNTED("hl_a64_and_full", (hl_a64_and_full)(p, v))
#define hl_a64_or_full(p, v) HL_COUNTED("hl_a64_or_full", (hl_a64_or_full)(p, v))
#define hl_a64_xor_full(p, v) HL_COUNTED("hl_a64_xor_full", (hl_a64_xor_full)(p, v))
#define hl_a128_cas_acquire(p, e, v) HL_COUNTED("hl_a128_cas_acquire", (hl_a128_cas_acquire)(p, e, v))
#define hl_aptr_xchg_acquire(p, v) HL_COUNTED("hl_aptr_xchg_acquire", (hl_aptr_xchg_acquire)(p, v))
#define hl_aptr_xchg_full(p, v) HL_COUNTED("hl_aptr_xchg_full", (hl_aptr_xchg_full)(p, v))
#define hl_aptr_cas_full(p, e, v) HL_COUNTED("hl_aptr_cas_full", (hl_aptr_cas_full)(p, e, v))
#define hl_fence_full() HL_COUNTED("hl_fence_full", (hl_fence_full)())

#endif
