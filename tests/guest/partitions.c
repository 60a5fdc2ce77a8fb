/* Runs inside a guest: takes memory from partitions of the symmetric heap and prints what the kernel says it
 * is.
 *
 * usage: partitions CPU[+CPU...] ID:BYTES...      PEs go to those CPUs first; BYTES in MiB, all of a
 * partition
 *
 *   PE P partition I: page A nodes N:BYTES,...     as given; "none": there is no room
 *   PE P partition I: puts ok                      after a neighbour wrote all of it */
#include <numaif.h>
#include <sched.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 64
#define PAGE 4096
#define MOST ((size_t)16 << 20)

static int me, n_pes;

/* Before PEs know their numbers: the launcher's. */
static void go_to(const char *cpus)
{
    const char *rank = getenv("PMI_RANK");
    char *end;
    long cpu = strtol(cpus, &end, 10);
    for (int i = 0; i < (rank != NULL ? atoi(rank) : 0) && *end == '+'; i++) {
        cpu = strtol(end + 1, &end, 10);
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        perror("sched_setaffinity");
        exit(2);
    }
}

/* The page size of the mapping of `at`, by smaps, in KiB. */
static unsigned long page_of(const char *at)
{
    char line[512];
    unsigned long first, end, kb, page = 0;
    int here = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%lx-%lx ", &first, &end) == 2) {
            here = (uintptr_t)at >= first && (uintptr_t)at < end;
        } else if (here && sscanf(line, "KernelPageSize: %lu kB", &kb) == 1) {
            page = kb;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return page;
}

/* "1:8M,3:4M" of the pages that are there; "-" when none is. */
static const char *nodes_of(char *at, size_t len, char *out, size_t cap)
{
    static void *pages[MOST / PAGE];
    static int status[MOST / PAGE];
    size_t count = len / PAGE, bytes[NODES] = {0}, used = 0;
    for (size_t i = 0; i < count; i++) {
        pages[i] = at + i * PAGE;
        status[i] = -1;
    }
    move_pages(0, count, pages, NULL, status, 0);
    for (size_t i = 0; i < count; i++) {
        if (status[i] >= 0 && status[i] < NODES) {
            bytes[status[i]] += PAGE;
        }
    }
    snprintf(out, cap, "-");
    for (int n = 0; n < NODES; n++) {
        if (bytes[n] != 0) {
            used +=
                (size_t)snprintf(out + used, cap - used, "%s%d:%zuM", used > 0 ? "," : "", n, bytes[n] >> 20);
        }
    }
    return out;
}

static void check_puts(char *p, size_t len, int id)
{
    char *buf = malloc(len);
    int right = (me + 1) % n_pes, left = (me + n_pes - 1) % n_pes;
    size_t wrong = 0;
    memset(buf, 'A' + me, len);
    shmem_putmem(p, buf, len, right);
    shmem_barrier_all();
    for (size_t i = 0; i < len; i++) {
        wrong += p[i] != 'A' + left;
    }
    free(buf);
    printf("PE %d partition %d: puts %s\n", me, id, wrong == 0 ? "ok" : "are wrong");
}

int main(int argc, char **argv)
{
    static char *taken[16];
    static size_t sizes[16];
    static int ids[16];
    char text[256];
    go_to(argv[1]);
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    for (int i = 2; i < argc && i < 16; i++) {
        char *end;
        ids[i] = (int)strtol(argv[i], &end, 10);
        sizes[i] = strtoull(end + 1, NULL, 10) << 20;
        taken[i] = shmem_kind_malloc(sizes[i], ids[i]);
        if (taken[i] == NULL) {
            printf("PE %d partition %d: none\n", me, ids[i]);
            continue;
        }
        printf("PE %d partition %d: page %lu nodes %s\n", me, ids[i], page_of(taken[i]),
               nodes_of(taken[i], sizes[i], text, sizeof text));
    }
    for (int i = 2; i < argc && i < 16; i++) {
        if (taken[i] != NULL) {
            check_puts(taken[i], sizes[i], ids[i]);
            shmem_free(taken[i]);
        }
    }
    shmem_finalize();
    return 0;
}
