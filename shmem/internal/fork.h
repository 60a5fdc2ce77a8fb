/* Shared memory in forked children: the stores of a child must not reach its parent or a peer.
 *
 * Memory that is kept here is replaced in the child, at the same addresses, before anything else runs
 * there. */
#ifndef HL_SHMEM_FORK_H
#define HL_SHMEM_FORK_H

#include <stddef.h>

enum hl_fork_how {
    HL_FORK_COPY, /* like private memory: the child has its own copy of the contents at the fork */
    HL_FORK_VIEW, /* large memory, not copied: the child sees the parent's later stores to a page until its
                   * own first store to that page, which is then its own */
    HL_FORK_LOOK  /* a peer's memory: the child may read it; a store ends the child */
};

/* From now on [base, base + len), which maps `fd` from offset `off` on, is replaced in children. `fd` must
 * stay open (HL_FORK_LOOK needs none). Returns 0 or HL_ERR_NO_MEM. Any thread. */
int hl_fork_keep(char *base, size_t len, int fd, size_t off, enum hl_fork_how how);

/* No longer replaces the memory that begins at `base`; does nothing if it was not kept. Any thread. */
void hl_fork_forget(const char *base);

#endif
