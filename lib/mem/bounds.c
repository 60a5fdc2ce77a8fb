/* Limits of machine and process: looked at before a step that would end in a signal, named when the kernel
 * refuses. */
#include "bounds.h"

#include "cgroup.h"
#include "err.h"
#include "mem.h"
#include "topo.h"
#include "util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

/* RAM and swap of the machine. Larger memory can never be used, even if the kernel promises it. */
static uint64_t machine_bytes(void)
{
    struct sysinfo si;
    return sysinfo(&si) == 0 ? ((uint64_t)si.totalram + si.totalswap) * si.mem_unit : UINT64_MAX;
}

uint64_t hl_bounds_available(void)
{
    uint64_t kib = 0, n;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "re");
    if (f == NULL) {
        return UINT64_MAX;
    }
    while (fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "MemAvailable: %" SCNu64, &n) == 1 || sscanf(line, "SwapFree: %" SCNu64, &n) == 1) {
            kib += n;
        }
    }
    fclose(f);
    uint64_t group = hl_cgroup_room(0);
    return group < kib * 1024 ? group : kib * 1024;
}

static uint64_t limit_of(int resource)
{
    struct rlimit r;
    return getrlimit((__rlimit_resource_t)resource, &r) == 0 && r.rlim_cur != RLIM_INFINITY ? r.rlim_cur
                                                                                            : UINT64_MAX;
}

/* Bytes of address space that this process uses. */
static uint64_t mapped_bytes(void)
{
    uint64_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f == NULL || fscanf(f, "%" SCNu64, &pages) != 1) {
        pages = 0;
    }
    if (f != NULL) {
        fclose(f);
    }
    return pages * hl_topo_page();
}

uint64_t hl_mem_fair_size(int sharers)
{
    struct sysinfo si;
    uint64_t ram = sysinfo(&si) == 0 ? (uint64_t)si.totalram * si.mem_unit : 0, group = hl_cgroup_room(0);
    uint64_t fair = (group < ram ? group : ram) / 2 / (uint64_t)sharers, file = limit_of(RLIMIT_FSIZE);
    uint64_t as = limit_of(RLIMIT_AS), used = as != UINT64_MAX ? mapped_bytes() : 0;
    uint64_t left = as > used ? (as - used) / 2 / (uint64_t)sharers : 0;
    fair = fair < left ? fair : left;
    return fair < file ? fair : file;
}

int hl_bounds_file(size_t len)
{
    /* A larger file would get this process SIGXFSZ. */
    if (len > limit_of(RLIMIT_FSIZE)) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: file size is limited to %" PRIu64 " (ulimit -f)", len,
                          limit_of(RLIMIT_FSIZE));
    }
    return 0;
}

int hl_bounds_size(size_t len)
{
    if (len > machine_bytes()) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: more than memory and swap of this machine, %" PRIu64,
                          len, machine_bytes());
    }
    return hl_bounds_file(len);
}

int hl_bounds_refuse_file(size_t len, size_t page)
{
    int e = errno;
    char size[HL_BYTES_TEXT];
    if (e == EMFILE) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: no file descriptor left of %" PRIu64 " (ulimit -n)", len,
                          limit_of(RLIMIT_NOFILE));
    }
    return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: no shared memory (memfd_create) in %s pages: %s%s", len,
                      hl_bytes_text(page, size), strerror(e), hl_err_hint(e));
}

int hl_bounds_refuse_map(size_t len)
{
    int e = errno;
    uint64_t as = limit_of(RLIMIT_AS);
    if (as != UINT64_MAX) {
        return hl_err_say(HL_ERR_NO_MEM,
                          "%zu bytes: cannot be mapped: %s; address space is limited to %" PRIu64
                          " (ulimit -v)",
                          len, strerror(e), as);
    }
    const char *hint = hl_err_hint(e);
    return hl_err_say(HL_ERR_NO_MEM, "%zu bytes: cannot be mapped: %s%s", len, strerror(e),
                      *hint != '\0' ? hint : " (too many mappings? sysctl vm.max_map_count)");
}
