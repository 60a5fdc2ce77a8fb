/* A core file of a program that uses little memory is small: what the library has only reserved, or has of
 * other ranks, is not in it. By what the kernel says of each mapping; one that never was touched is left out
 * if it is private, and else only on demand.
 *
 * usage: core_small mpi|shmem MEBIBYTES */
#include <mpi.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mapping {
    unsigned long from, to;
    char mode[5];
    char name[100];
    unsigned long anonymous_kib; /* pages of its own */
};

/* Is it in a core file of the default filter? Of a file it would be the written pages, and those of files
 * without a name. */
static bool is_dumped(const struct mapping *m, const char *flags)
{
    bool shared = m->mode[3] == 's';
    bool memory = m->name[0] == '\0' || m->name[0] == '[' || strstr(m->name, "(deleted)") != NULL;
    return strstr(flags, " dd") == NULL && (shared ? memory : m->anonymous_kib != 0);
}

/* Bytes that a core file would have. */
static unsigned long core_bytes(void)
{
    char line[512];
    unsigned long sum = 0;
    struct mapping m = {0};
    FILE *f = fopen("/proc/self/smaps", "re");
    if (f == NULL) {
        puts("skipped: no /proc/self/smaps here");
        exit(77);
    }
    while (fgets(line, sizeof line, f) != NULL) {
        struct mapping next = {0};
        if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %99[^\n]", &next.from, &next.to, next.mode, next.name) >=
            3) {
            m = next;
        } else if (strncmp(line, "VmFlags:", 8) == 0) {
            sum += is_dumped(&m, line) ? m.to - m.from : 0;
        } else {
            (void)sscanf(line, "Anonymous: %lu", &m.anonymous_kib);
        }
    }
    fclose(f);
    return sum;
}

static void use_mpi(void)
{
    enum { LEN = 1000 };
    MPI_Win win;
    char *base;
    int me, size;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(LEN, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    MPI_Put("x", 1, MPI_CHAR, (me + 1) % size, 0, 1, MPI_CHAR, win);
    MPI_Win_fence(0, win);
}

static void use_shmem(void)
{
    shmem_init();
    char *block = shmem_malloc(1000);
    shmem_char_put(block, "x", 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    unsigned long most = argc == 3 ? strtoul(argv[2], NULL, 10) << 20 : 0;
    bool mpi = most != 0 && strcmp(argv[1], "mpi") == 0;
    (mpi ? use_mpi : use_shmem)();
    unsigned long bytes = core_bytes();
    printf("%lu KiB\n", bytes >> 10);
    if (mpi) {
        MPI_Finalize();
    } else {
        shmem_finalize();
    }
    if (bytes > most) {
        fprintf(stderr, "a core file would have %lu bytes\n", bytes);
    }
    return bytes > most;
}
