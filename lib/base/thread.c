/* Threads without signals. */
#include "thread.h"

#include <signal.h>

int hl_thread_start(pthread_t *thread, const char *name, size_t stack, void *(*run)(void *), void *arg)
{
    pthread_attr_t attr;
    sigset_t all, before;
    pthread_attr_init(&attr);
    if (stack != 0) {
        pthread_attr_setstacksize(&attr, stack);
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, &attr, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (error == 0) {
        pthread_setname_np(*thread, name);
    }
    return error;
}
