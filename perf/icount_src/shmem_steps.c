/* What one call of OpenSHMEM executes, counted exactly (trace.h). Plain OpenSHMEM, default context,
 * THREAD_MULTIPLE. Prints the lines of steps.c. x86-64 only. Exit code 77: cannot trace here. */
#include <shmem.h>

#include "trace.h"

static long *words; /* symmetric */
static long got;
static int pe = 1;
static shmem_ctx_t own; /* a private context */

static void call_p(void)
{
    shmem_long_p(&words[1], 7, pe);
}
static void call_ctx_p(void)
{
    shmem_ctx_long_p(own, &words[1], 7, pe);
}
static void call_g(void)
{
    got = shmem_long_g(&words[2], pe);
}
static void call_putmem(void)
{
    shmem_putmem(&words[16], &words[300], 64, pe);
}
static void call_add(void)
{
    shmem_long_atomic_add(&words[3], 1, pe);
}
static void call_fetch_add(void)
{
    got = shmem_long_atomic_fetch_add(&words[3], 1, pe);
}
static void call_signal(void)
{
    shmem_putmem_signal((char *)(words + 16), words + 300, 64, (uint64_t *)(void *)&words[4], 1,
                        SHMEM_SIGNAL_SET, pe);
}
static void call_quiet(void)
{
    shmem_quiet();
}
static void call_fence(void)
{
    shmem_fence();
}
static void settle(void)
{
    shmem_quiet();
    shmem_ctx_quiet(own);
}

static void measure_all(void)
{
    call_p();
    settle();
    trace_begin(settle);
    show("p", call_nothing, call_p);
    show_alone("p_more", call_p, call_p);
    show("ctx_p", call_nothing, call_ctx_p);
    show_alone("ctx_p_more", call_ctx_p, call_ctx_p);
    show("g", call_nothing, call_g);
    show("putmem", call_nothing, call_putmem);
    show_alone("putmem_more", call_putmem, call_putmem);
    show("add", call_nothing, call_add);
    show_alone("add_more", call_add, call_add);
    show("fetch_add", call_nothing, call_fetch_add);
    show("put_signal", call_nothing, call_signal);
    show("quiet", call_quiet, call_quiet);
    show("fence", call_quiet, call_fence);
}

int main(void)
{
    int provided;
    pid_t child = trace_fork();
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    words = shmem_calloc(512, sizeof *words);
    if (words == NULL || shmem_ctx_create(SHMEM_CTX_PRIVATE, &own) != 0) {
        shmem_global_exit(1);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        measure_all();
    }
    shmem_barrier_all();
    shmem_ctx_destroy(own);
    shmem_free(words);
    shmem_finalize();
    trace_end(child);
    return 0;
}
