/* Limits of control groups, from both hierarchies: the unified one (v2) and those of each controller (v1). */
#include "cgroup.h"

#include "topo.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PATH_ROOM 512
#define FILE_ROOM 64
#define HIGH ((uint64_t)1 << 60) /* numbers from here on mean no limit */

const char *hl_cgroup_mine = "/proc/self/cgroup";

/* Files of one resource in one hierarchy. */
struct files {
    char limit[FILE_ROOM], usage[FILE_ROOM];
    const char *cache[2]; /* lines of memory.stat: part of usage that the kernel can free; NULL: none */
};

static FILE *open_in(const char *dir, const char *file)
{
    char path[PATH_ROOM + FILE_ROOM];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    return fopen(path, "re");
}

/* The number in a file; HIGH for "max" or when it cannot be read. */
static uint64_t read_limit(const char *dir, const char *file)
{
    uint64_t n = HIGH;
    FILE *f = open_in(dir, file);
    if (f != NULL) {
        n = fscanf(f, "%" SCNu64, &n) == 1 ? n : HIGH;
        fclose(f);
    }
    return n;
}

static uint64_t cache_in(const char *dir, const struct files *names)
{
    char line[128], name[FILE_ROOM];
    uint64_t sum = 0, n;
    FILE *f = names->cache[0] != NULL ? open_in(dir, "memory.stat") : NULL;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "%63s %" SCNu64, name, &n) == 2 &&
            (strcmp(name, names->cache[0]) == 0 || strcmp(name, names->cache[1]) == 0)) {
            sum += n;
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return sum;
}

/* The least that the group at `dir` or one above it leaves. The first `root` bytes of `dir` are the mount
 * point of the hierarchy. `dir` is changed. */
static uint64_t least_limit(char *dir, size_t root, const struct files *names)
{
    uint64_t room = HL_CGROUP_UNLIMITED;
    for (;;) {
        uint64_t limit = read_limit(dir, names->limit);
        if (limit < HIGH) {
            uint64_t usage = read_limit(dir, names->usage), cache = cache_in(dir, names);
            usage = usage < HIGH && usage > cache ? usage - cache : 0;
            limit = limit > usage ? limit - usage : 0;
            room = limit < room ? limit : room;
        }
        char *up = strrchr(dir + root, '/');
        if (up == NULL) {
            return room;
        }
        *up = '\0';
    }
}

static void name_files(size_t page, bool unified, struct files *out)
{
    int power = page >= (size_t)1 << 30 ? 30 : page >= (size_t)1 << 20 ? 20 : 10;
    char what[32] = "memory";
    *out = (struct files){.cache = {NULL, NULL}};
    if (page != 0) {
        snprintf(what, sizeof what, "hugetlb.%zu%cB", page >> power,
                 power == 30   ? 'G'
                 : power == 20 ? 'M'
                               : 'K');
    } else {
        out->cache[0] = unified ? "inactive_file" : "total_inactive_file";
        out->cache[1] = unified ? "active_file" : "total_active_file";
    }
    snprintf(out->limit, FILE_ROOM, "%s.%s", what, unified ? "max" : "limit_in_bytes");
    snprintf(out->usage, FILE_ROOM, "%s.%s", what, unified ? "current" : "usage_in_bytes");
}

/* The bytes that the group in a line of /proc/self/cgroup still has to give: "0::/path" names a group of the
 * unified hierarchy, "5:cpu,hugetlb:/path" one of another hierarchy. */
static uint64_t room_of_line(char *line, size_t page)
{
    struct files names;
    char dir[PATH_ROOM];
    const char *controller = page != 0 ? "hugetlb" : "memory";
    char *controllers = strchr(line, ':'), *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (path == NULL) {
        return HL_CGROUP_UNLIMITED;
    }
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    bool unified = controllers[1] == '\0';
    if (!unified && strstr(controllers, controller) == NULL) {
        return HL_CGROUP_UNLIMITED;
    }
    int root = snprintf(dir, sizeof dir, "%s/fs/cgroup%s%s", hl_topo_kernel.sys, unified ? "" : "/",
                        unified ? "" : controller);
    if (root < 0 || (size_t)root >= sizeof dir) {
        return HL_CGROUP_UNLIMITED;
    }
    snprintf(dir + root, sizeof dir - (size_t)root, "%s", path);
    name_files(page, unified, &names);
    return least_limit(dir, (size_t)root, &names);
}

uint64_t hl_cgroup_room(size_t page)
{
    char line[PATH_ROOM];
    uint64_t room = HL_CGROUP_UNLIMITED;
    FILE *f = fopen(hl_cgroup_mine, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        uint64_t here = room_of_line(line, page);
        room = here < room ? here : room;
    }
    if (f != NULL) {
        fclose(f);
    }
    return room;
}
