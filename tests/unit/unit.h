/* The main function of every Check program. */
#ifndef HL_UNIT_H
#define HL_UNIT_H

#include <check.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../sanitized.h"

/* Bytes of this process's own memory that are in use. Memory that is allocated afterwards is not filled by
 * the C library, as MALLOC_PERTURB_ would have it. */
static inline double unit_resident(void)
{
    long all = 0, here = 0, shared = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    ck_assert(f != NULL && fscanf(f, "%ld %ld %ld", &all, &here, &shared) == 3);
    fclose(f);
    mallopt(M_PERTURB, 0);
    return (double)(here - shared) * (double)sysconf(_SC_PAGESIZE);
}

/* Seconds after which a case hangs, where its suite does not say. Check's own 4 are few beside other work. */
static inline void unit_set_time_limits(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "60", 0);
    setenv("CK_TIMEOUT_MULTIPLIER", SANITIZED ? "3" : "1", 0);
}

/* Runs the suite made by `make_suite`; exit code 0 when all cases passed. */
#define UNIT_MAIN(make_suite)                                                                                \
    int main(void)                                                                                           \
    {                                                                                                        \
        unit_set_time_limits();                                                                              \
        SRunner *runner = srunner_create(make_suite());                                                      \
        srunner_run_all(runner, CK_NORMAL);                                                                  \
        int failed = srunner_ntests_failed(runner);                                                          \
        srunner_free(runner);                                                                                \
        return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;                                                    \
    }

#endif
