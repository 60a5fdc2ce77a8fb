/* Build variant "tsan": the word that stands for all fences. */
#include "atomic.h"

hl_a32 hl_tsan_fence_word;
