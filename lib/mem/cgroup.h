/* Inside the module: what control groups (containers, batch jobs) leave of a resource for this process. */
#ifndef HL_MEM_CGROUP_H
#define HL_MEM_CGROUP_H

#include <stddef.h>
#include <stdint.h>

#define HL_CGROUP_UNLIMITED UINT64_MAX

/* Bytes of base pages, or of huge pages of `page` bytes when it is not 0, that the group of this process and
 * those above it still leave; HL_CGROUP_UNLIMITED when none has a limit. File cache counts as left. Groups
 * that a container hides are not seen. */
uint64_t hl_cgroup_room(size_t page);

/* Unit tests and `hotlane-info --check --root` put another file here. */
extern const char *hl_cgroup_mine;

#endif
