/* A profiler of OpenSHMEM for LD_PRELOAD: counts the program's calls of a few functions, each of which it
 * must see exactly once. */
#include <shmem.h>
#include <stdio.h>

static int inits, copies, values, barriers;

void shmem_init(void)
{
    inits++;
    pshmem_init();
}

void shmem_putmem(void *dest, const void *source, size_t nelems, int pe)
{
    copies++;
    pshmem_putmem(dest, source, nelems, pe);
}

void shmem_long_p(long *dest, long value, int pe)
{
    values++;
    pshmem_long_p(dest, value, pe);
}

void shmem_barrier_all(void)
{
    barriers++;
    pshmem_barrier_all();
}

void shmem_finalize(void)
{
    printf("profiler: init %d, putmem %d, long_p %d, barrier_all %d\n", inits, copies, values, barriers);
    pshmem_finalize();
}
