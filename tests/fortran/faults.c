/* For Fortran programs: whether a write ends the program. */
#include <setjmp.h>
#include <signal.h>
#include <string.h>

static sigjmp_buf back;

int faults_(volatile char *at);

static void jump_back(int signal)
{
    siglongjmp(back, 1);
}

/* 1 if writing the byte at `at` is refused by the system, as for memory that is only read. */
int faults_(volatile char *at)
{
    struct sigaction catch, old[2];
    volatile int refused = 1;

    memset(&catch, 0, sizeof catch);
    catch.sa_handler = jump_back;
    sigaction(SIGSEGV, &catch, &old[0]);
    sigaction(SIGBUS, &catch, &old[1]);
    if (sigsetjmp(back, 1) == 0) {
        *at = 1;
        refused = 0;
    }
    sigaction(SIGSEGV, &old[0], NULL);
    sigaction(SIGBUS, &old[1], NULL);
    return refused;
}
