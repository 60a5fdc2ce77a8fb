/* A plain OpenSHMEM program of one PE that defines two functions of the library itself, as profilers that are
 * linked in do: its calls of shmem_long_g and, by the generic form, of shmem_int_p come here. Prints "ok". */
#include <shmem.h>
#include <stdio.h>

static int reads, writes;

long shmem_long_g(const long *source, int pe)
{
    reads++;
    return pshmem_long_g(source, pe);
}

void shmem_int_p(int *dest, int value, int pe)
{
    writes++;
    pshmem_int_p(dest, value, pe);
}

int main(void)
{
    long there = 0, here = 41;
    shmem_init();
    long *a = shmem_malloc(2 * sizeof *a);
    shmem_putmem(&a[0], &here, sizeof here, shmem_my_pe());
    shmem_long_p(&a[1], 42, shmem_my_pe());
    shmem_barrier_all();
    there = shmem_g(&a[1], shmem_my_pe()) - a[0];
    shmem_p((int *)a, 7, shmem_my_pe());
    int right = there == 1 && *(int *)a == 7 && reads == 1 && writes == 1;
    shmem_finalize();
    printf(right ? "ok\n" : "wrong: %ld, %d gets, %d puts\n", there, reads, writes);
    return !right;
}
