/* Inside the module: how much memory control groups (containers, batch jobs) leave for this process. */
#ifndef HL_MEM_CGROUP_H
#define HL_MEM_CGROUP_H

#include <stddef.h>
#include <stdint.h>

#define HL_CGROUP_UNLIMITED UINT64_MAX

/* Bytes of base pages (`page` 0), or of huge pages of `page` bytes, that the group of this process and the
 * groups above it still allow; HL_CGROUP_UNLIMITED when none has a limit. Memory of the file cache counts as
 * free. Groups that a container hides are not seen. Any thread. */
uint64_t hl_cgroup_room(size_t page);

/* The file that names the groups of this process; unit tests and `hotlane-info --check --root` replace it. */
extern const char *hl_cgroup_mine;

#endif
