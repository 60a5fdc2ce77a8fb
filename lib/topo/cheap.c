/* What the kernel says without hwloc: CPUs of this process, page sizes, pools of huge pages. */
#include "topo.h"

#include "atomic.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KERNEL_CPUS_MOST 65536
#define PATH_ROOM 512

struct hl_topo_kernel hl_topo_kernel = {"/sys", 0};

static int count_allowed_cpus(void)
{
    /* The kernel refuses a mask smaller than its own, so ours grows until it is taken. */
    for (int cpus = 1024; cpus <= KERNEL_CPUS_MOST; cpus *= 2) {
        cpu_set_t *mask = CPU_ALLOC((size_t)cpus);
        if (mask == NULL) {
            break;
        }
        size_t bytes = CPU_ALLOC_SIZE((size_t)cpus);
        int rc = sched_getaffinity(0, bytes, mask);
        int n = rc == 0 ? CPU_COUNT_S(bytes, mask) : 0;
        CPU_FREE(mask);
        if (rc == 0) {
            return n > 0 ? n : 1;
        }
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int hl_topo_cpu_count(void)
{
    static hl_a32 known;
    /* relaxed: only the number; two threads that count at once store the same. */
    uint32_t n = hl_a32_load_relaxed(&known);
    if (n == 0) {
        n = (uint32_t)count_allowed_cpus();
        /* relaxed: only the number; nothing else is published. */
        hl_a32_store_relaxed(&known, n);
    }
    return (int)n;
}

size_t hl_topo_page(void)
{
    return hl_topo_kernel.page != 0 ? hl_topo_kernel.page : (size_t)sysconf(_SC_PAGESIZE);
}

static int compare_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

size_t hl_topo_pages(size_t *sizes, size_t cap)
{
    size_t count = 0;
    if (cap > 0) {
        sizes[count++] = hl_topo_page();
    }
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/kernel/mm/hugepages", hl_topo_kernel.sys);
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return count;
    }
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL && count < cap) {
        size_t kib;
        if (sscanf(entry->d_name, "hugepages-%zukB", &kib) == 1 && kib * 1024 > sizes[0]) {
            sizes[count++] = kib * 1024;
        }
    }
    closedir(dir);
    qsort(sizes, count, sizeof *sizes, compare_size);
    return count;
}

size_t hl_topo_page_natural(const size_t *sizes, size_t count, size_t asked)
{
    size_t best = sizes[0];
    for (size_t i = 1; i < count; i++) {
        if (sizes[i] <= asked) {
            best = sizes[i];
        }
    }
    return best;
}

static bool read_number(const char *dir, const char *file, uint64_t *out)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    FILE *f = fopen(path, "re");
    if (f == NULL) {
        return false;
    }
    unsigned long long n;
    bool got = fscanf(f, "%llu", &n) == 1;
    fclose(f);
    if (got) {
        *out = n;
    }
    return got;
}

static bool read_pool(const char *dir, struct hl_topo_pool *out)
{
    struct hl_topo_pool pool = {0, 0, 0};
    if (!read_number(dir, "nr_hugepages", &pool.total) || !read_number(dir, "free_hugepages", &pool.unused)) {
        return false;
    }
    if (!read_number(dir, "nr_overcommit_hugepages", &pool.overcommit)) {
        pool.overcommit = 0;
    }
    *out = pool;
    return true;
}

bool hl_topo_page_pool(size_t size, struct hl_topo_pool *out)
{
    char dir[PATH_ROOM / 2];
    snprintf(dir, sizeof dir, "%s/kernel/mm/hugepages/hugepages-%zukB", hl_topo_kernel.sys, size / 1024);
    return read_pool(dir, out);
}

bool hl_topo_page_pool_on(int node, size_t size, struct hl_topo_pool *out)
{
    char dir[PATH_ROOM / 2];
    snprintf(dir, sizeof dir, "%s/devices/system/node/node%d/hugepages/hugepages-%zukB", hl_topo_kernel.sys,
             node, size / 1024);
    return read_pool(dir, out);
}
