/* Whether AddressSanitizer or ThreadSanitizer is in this build: memory, stacks, times and locks are theirs then, too. */
#ifndef SANITIZED_H
#define SANITIZED_H

#include <stdbool.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) ||     \
    __has_feature(thread_sanitizer)
#define SANITIZED true
#else
#define SANITIZED false
#endif

#endif
