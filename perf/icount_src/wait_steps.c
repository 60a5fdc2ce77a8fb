/* Instructions of a wait in the routine that all blocking calls wait in, whose condition comes true at the
 * fifth look: with the watchdog and without it (HOTLANE_WATCHDOG). No job is needed. x86-64 only. */
#include "trace.h"

#include "conf.h"
#include "prog.h"

enum { LOOKS = 5, MANY_CPUS = 1024 };

static int looks;

static bool is_fifth(void *unused)
{
    return ++looks == LOOKS;
}

static void begin(void)
{
    looks = 0;
}

static void wait_once(void)
{
    hl_prog_wait(is_fifth, NULL);
}

static void settle(void)
{
}

int main(void)
{
    pid_t child = trace_fork();
    if (hl_conf_load() != 0) {
        return 1;
    }
    hl_prog_crowd(1, MANY_CPUS); /* or it would sleep at once */
    trace_begin(settle);
    show("wait", begin, wait_once);
    trace_end(child);
    return 0;
}
