/* The seed of a random test: TEST_SEED, or a new one. Programs print it, so that a run can be repeated. */
#ifndef HL_TEST_SEED_H
#define HL_TEST_SEED_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t seed_of_run(void)
{
    const char *given = getenv("TEST_SEED");
    return given != NULL ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
}

#endif
