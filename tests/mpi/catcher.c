/* A library of a provider, which catches signals when it is loaded (handler.c). */
#include <signal.h>

static void caught(int signal_number)
{
    (void)signal_number;
}

__attribute__((constructor)) static void catch_signals(void)
{
    signal(SIGTERM, caught);
    signal(SIGUSR2, caught);
}
