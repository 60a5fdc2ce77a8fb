/* All atomic accesses of the library, as functions that are named by their order. The types prevent
 * plain accesses.
 *
 *   load_relaxed load_acquire, store_relaxed store_release     ordinary loads and stores
 *   xchg_acquire xchg_full, cas_acquire cas_full,              read-modify-writes;
 *   add_relaxed add_full, and_full or_full xor_full            full = sequentially consistent
 *   hl_fence_acquire hl_fence_release hl_fence_full            fences; full costs a bus transaction
 *
 * cas returns true when the value was *expected and is `desired` now; else it sets *expected to the value.
 * A build with -Datomics=X wraps these by atomic_X.h: counting, directory, scheduled, tsan. */
#ifndef HL_ATOMIC_H
#define HL_ATOMIC_H

#include "attr.h"

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#define HL_CPU_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define HL_CPU_PAUSE() __asm__ volatile("yield")
#else
#define HL_CPU_PAUSE() __asm__ volatile("" ::: "memory")
#endif

/* may_alias: user memory in windows is also accessed through these types. */
typedef struct {
    uint8_t v;
} __attribute__((may_alias)) hl_a8;
typedef struct {
    uint16_t v;
} __attribute__((may_alias)) hl_a16;
typedef struct {
    uint32_t v;
} __attribute__((may_alias)) hl_a32;
typedef struct {
    uint64_t v;
} __attribute__((may_alias)) hl_a64;
typedef struct {
    uint64_t v[2];
} __attribute__((may_alias, aligned(16))) hl_a128;
typedef struct {
    void *v;
} __attribute__((may_alias)) hl_aptr;

/* What all words have: hl_a32_load_relaxed(const hl_a32 *p), hl_aptr_xchg_full(hl_aptr *p, void *to), ... */
#define HL_ATOMIC_WORD(word, type)                                                                           \
    HL_INLINE type word##_load_relaxed(const word *p)                                                        \
    {                                                                                                        \
        return __atomic_load_n(&p->v, __ATOMIC_RELAXED);                                                     \
    }                                                                                                        \
    HL_INLINE type word##_load_acquire(const word *p)                                                        \
    {                                                                                                        \
        return __atomic_load_n(&p->v, __ATOMIC_ACQUIRE);                                                     \
    }                                                                                                        \
    HL_INLINE void word##_store_relaxed(word *p, type value)                                                 \
    {                                                                                                        \
        __atomic_store_n(&p->v, value, __ATOMIC_RELAXED);                                                    \
    }                                                                                                        \
    HL_INLINE void word##_store_release(word *p, type value)                                                 \
    {                                                                                                        \
        __atomic_store_n(&p->v, value, __ATOMIC_RELEASE);                                                    \
    }                                                                                                        \
    HL_INLINE type word##_xchg_acquire(word *p, type value)                                                  \
    {                                                                                                        \
        return __atomic_exchange_n(&p->v, value, __ATOMIC_ACQUIRE);                                          \
    }                                                                                                        \
    HL_INLINE type word##_xchg_full(word *p, type value)                                                     \
    {                                                                                                        \
        return __atomic_exchange_n(&p->v, value, __ATOMIC_SEQ_CST);                                          \
    }                                                                                                        \
    HL_INLINE bool word##_cas_acquire(word *p, type *expected, type desired)                                 \
    {                                                                                                        \
        return __atomic_compare_exchange_n(&p->v, expected, desired, false, __ATOMIC_ACQUIRE,                \
                                           __ATOMIC_RELAXED);                                                \
    }                                                                                                        \
    HL_INLINE bool word##_cas_full(word *p, type *expected, type desired)                                    \
    {                                                                                                        \
        return __atomic_compare_exchange_n(&p->v, expected, desired, false, __ATOMIC_SEQ_CST,                \
                                           __ATOMIC_SEQ_CST);                                                \
    }

/* What numbers have beside that: each returns the value from before. */
#define HL_ATOMIC_NUMBER(word, type)                                                                         \
    HL_ATOMIC_WORD(word, type)                                                                               \
    HL_INLINE type word##_add_relaxed(word *p, type by)                                                      \
    {                                                                                                        \
        return __atomic_fetch_add(&p->v, by, __ATOMIC_RELAXED);                                              \
    }                                                                                                        \
    HL_INLINE type word##_add_full(word *p, type by)                                                         \
    {                                                                                                        \
        return __atomic_fetch_add(&p->v, by, __ATOMIC_SEQ_CST);                                              \
    }                                                                                                        \
    HL_INLINE type word##_and_full(word *p, type bits)                                                       \
    {                                                                                                        \
        return __atomic_fetch_and(&p->v, bits, __ATOMIC_SEQ_CST);                                            \
    }                                                                                                        \
    HL_INLINE type word##_or_full(word *p, type bits)                                                        \
    {                                                                                                        \
        return __atomic_fetch_or(&p->v, bits, __ATOMIC_SEQ_CST);                                             \
    }                                                                                                        \
    HL_INLINE type word##_xor_full(word *p, type bits)                                                       \
    {                                                                                                        \
        return __atomic_fetch_xor(&p->v, bits, __ATOMIC_SEQ_CST);                                            \
    }

HL_ATOMIC_NUMBER(hl_a8, uint8_t)
HL_ATOMIC_NUMBER(hl_a16, uint16_t)
HL_ATOMIC_NUMBER(hl_a32, uint32_t)
HL_ATOMIC_NUMBER(hl_a64, uint64_t)
HL_ATOMIC_WORD(hl_aptr, void *)

/* The value of a plain word that another process may change at any time: it is read once, checked and then
 * used, and never read again. */
#define HL_ONCE(word) (*(const volatile __typeof__(word) *)&(word))

/* 8 bytes at any address: one relaxed access where it is aligned, else an access of no certain order or
 * size. On CPUs that can access any address it is one instruction in either case, without a branch;
 * volatile keeps it one. */
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_THREAD__)
typedef uint64_t hl_any64 __attribute__((may_alias, aligned(1)));

HL_INLINE uint64_t hl_any64_load_relaxed(const void *p)
{
    return *(const volatile hl_any64 *)p;
}

HL_INLINE void hl_any64_store_relaxed(void *p, uint64_t value)
{
    *(volatile hl_any64 *)p = value;
}
#else
HL_INLINE uint64_t hl_any64_load_relaxed(const void *p)
{
    uint64_t value;
    if (((uintptr_t)p & 7) == 0) {
        return hl_a64_load_relaxed((const hl_a64 *)p);
    }
    __builtin_memcpy(&value, p, sizeof value);
    return value;
}

HL_INLINE void hl_any64_store_relaxed(void *p, uint64_t value)
{
    if (((uintptr_t)p & 7) == 0) {
        hl_a64_store_relaxed((hl_a64 *)p, value);
    } else {
        __builtin_memcpy(p, &value, sizeof value);
    }
}
#endif

/* hl_a128: two words that some CPUs exchange at once. ThreadSanitizer's hooks, which the directory variant
 * uses, too, do not see the instruction, so builds with them do not have it. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
/* True when the CPU can do it. In a virtual machine this takes microseconds. */
HL_INLINE bool hl_a128_is_there(void)
{
    uint32_t a = 1, b, c = 0, d;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return (c & (1u << 13)) != 0; /* CMPXCHG16B */
}

/* Reads both words, perhaps at different moments: a guess, which a compare-and-swap must prove. */
HL_INLINE void hl_a128_load_relaxed(const hl_a128 *p, uint64_t words[2])
{
    typedef uint64_t both __attribute__((vector_size(16), may_alias));
    both v = *(const volatile both *)p->v;
    __builtin_memcpy(words, &v, sizeof v);
}

HL_INLINE bool hl_a128_cas_acquire(hl_a128 *p, uint64_t expected[2], const uint64_t desired[2])
{
    bool done;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(done), "+m"(*p), "+a"(expected[0]), "+d"(expected[1])
                     : "b"(desired[0]), "c"(desired[1])
                     : "memory");
    return done;
}
#else
HL_INLINE bool hl_a128_is_there(void)
{
    return false;
}

HL_INLINE void hl_a128_load_relaxed(const hl_a128 *p, uint64_t words[2])
{
    words[0] = __atomic_load_n(&p->v[0], __ATOMIC_RELAXED);
    words[1] = __atomic_load_n(&p->v[1], __ATOMIC_RELAXED);
}

HL_INLINE bool hl_a128_cas_acquire(hl_a128 *p, uint64_t expected[2], const uint64_t desired[2])
{
    return false; /* is never called */
}
#endif

#ifndef __SANITIZE_THREAD__
HL_INLINE void hl_fence_acquire(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

HL_INLINE void hl_fence_release(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

HL_INLINE void hl_fence_full(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#endif

/* A full fence right behind a read-modify-write with full order. On x86 that was a fence already, so this
 * costs nothing; elsewhere it orders only accesses around its own word. */
#if defined(__x86_64__) || defined(__i386__)
HL_INLINE void hl_fence_behind_full(void)
{
    __asm__ volatile("" ::: "memory");
}
#else
HL_INLINE void hl_fence_behind_full(void)
{
    hl_fence_full();
}
#endif

/* Tells the core that this thread waits in a loop. */
HL_INLINE void hl_pause(void)
{
    HL_CPU_PAUSE();
}

/* For memory that one thread of this process hands to another one through another process (by a message to it
 * and its answer). That order is real, but ThreadSanitizer sees only one process. Giver and taker name the
 * memory; only the tsan variant does anything. */
HL_INLINE void hl_handover_give(const void *memory)
{
    (void)memory;
}

HL_INLINE void hl_handover_take(const void *memory)
{
    (void)memory;
}

#ifdef HL_ATOMIC_VARIANT
#include HL_ATOMIC_VARIANT
#endif

#endif
