/* Compiler attributes, in one place. */
#ifndef HL_ATTR_H
#define HL_ATTR_H

#define HL_PUBLIC __attribute__((visibility("default")))
#define HL_HIDDEN __attribute__((visibility("hidden"))) /* on a declaration: no access through the GOT */
#define HL_COLD __attribute__((cold, noinline))
#define HL_NOINLINE __attribute__((noinline))
#define HL_INLINE static inline __attribute__((always_inline))
#define HL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/* For functions that read between objects on purpose. */
#define HL_NO_SANITIZE __attribute__((no_sanitize("address"), no_sanitize("thread")))
#define HL_MUST_USE __attribute__((warn_unused_result))
#define HL_LIKELY(x) __builtin_expect(!!(x), 1)
#define HL_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A thread-local variable that is reached without a call. Keep them few and small: they use the static
 * TLS area. */
#define HL_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

/* Floating point of 16 bytes, IEEE 754 binary128; long double where the compiler has no type of that name. */
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 hl_f128;
#else
typedef long double hl_f128;
#endif

/* Distance of fields that different threads write: two cache lines, because CPUs prefetch lines in pairs. */
#define HL_CACHELINE 128
#define HL_ALIGNED_LINE _Alignas(HL_CACHELINE)

/* clang's thread-safety analysis; other compilers see nothing. */
#ifdef __clang__
#define HL_TSA(x) __attribute__((x))
#else
#define HL_TSA(x)
#endif
#define HL_CAPABILITY(name) HL_TSA(capability(name))
#define HL_GUARDED_BY(x) HL_TSA(guarded_by(x))
/* For a member that another member guards. clang cannot look that up in C, so this is only for the reader;
 * functions that access such members have HL_REQUIRES. */
#define HL_MEMBER_GUARDED_BY(member)
#define HL_ACQUIRE(...) HL_TSA(acquire_capability(__VA_ARGS__))
#define HL_RELEASE(...) HL_TSA(release_capability(__VA_ARGS__))
#define HL_TRY_ACQUIRE(...) HL_TSA(try_acquire_capability(__VA_ARGS__))
#define HL_REQUIRES(...) HL_TSA(requires_capability(__VA_ARGS__))
#define HL_EXCLUDES(...) HL_TSA(locks_excluded(__VA_ARGS__))
#define HL_NO_TSA HL_TSA(no_thread_safety_analysis)

#endif
