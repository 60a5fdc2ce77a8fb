/* Build variant "tsan": ThreadSanitizer does not follow fences (gcc refuses them), so each fence is a
 * read-modify-write of one shared word, by which two fences order each other. atomic.h includes this at
 * its end. */
#ifndef HL_ATOMIC_TSAN_H
#define HL_ATOMIC_TSAN_H

#include <sanitizer/tsan_interface.h>

extern hl_a32 hl_tsan_fence_word;

#define hl_handover_give(memory) __tsan_release((void *)(uintptr_t)(memory))
#define hl_handover_take(memory) __tsan_acquire((void *)(uintptr_t)(memory))

#define hl_fence_acquire() ((void)hl_a32_add_full(&hl_tsan_fence_word, 0))
#define hl_fence_release() ((void)hl_a32_add_full(&hl_tsan_fence_word, 0))
#define hl_fence_full() ((void)hl_a32_add_full(&hl_tsan_fence_word, 0))

#endif
