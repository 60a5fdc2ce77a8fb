/* Threads without signals. */
#include "thread.h"

#include <link.h>
#include <signal.h>

/* Adds what an object's thread-local data take. */
static int add_tls(struct dl_phdr_info *object, size_t size, void *sum)
{
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type == PT_TLS) {
            *(size_t *)sum += object->dlpi_phdr[i].p_memsz + object->dlpi_phdr[i].p_align;
        }
    }
    return 0;
}

int hl_thread_start(pthread_t *thread, const char *name, size_t stack, void *(*run)(void *), void *arg)
{
    pthread_attr_t attr;
    sigset_t all, before;
    pthread_attr_init(&attr);
    if (stack != 0) {
        dl_iterate_phdr(add_tls, &stack); /* they lie in it */
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
