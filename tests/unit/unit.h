/* The main function of every Check program. */
#ifndef HL_UNIT_H
#define HL_UNIT_H

#include <check.h>
#include <stdlib.h>

/* Runs the suite made by `make_suite`; exit code 0 when all cases passed. */
#define UNIT_MAIN(make_suite)                                                                                \
    int main(void)                                                                                           \
    {                                                                                                        \
        SRunner *runner = srunner_create(make_suite());                                                      \
        srunner_run_all(runner, CK_NORMAL);                                                                  \
        int failed = srunner_ntests_failed(runner);                                                          \
        srunner_free(runner);                                                                                \
        return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;                                                    \
    }

#endif
