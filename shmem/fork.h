/* Shared memory in forked children: a child's stores must not reach its parent or a peer.
 *
 * What is kept here is replaced in the child, before anything else runs there, at the same addresses. */
#ifndef HL_SHMEM_FORK_H
#define HL_SHMEM_FORK_H

#include <stddef.h>

enum hl_fork_how {
    HL_FORK_COPY, /* as fork leaves private memory: what it held at the fork, the child's own */
    HL_FORK_VIEW, /* not copied (large): the child sees the parent's later stores until its own first store to
                     that page, which is its own */
    HL_FORK_LOOK  /* a peer's: the child may read it, a store ends the child */
};

/* Has [base, base + len), which maps `fd` from `off` on, replaced in children. `fd` must stay open
 * (HL_FORK_LOOK needs none). Returns 0 or HL_ERR_NO_MEM. Any thread. */
int hl_fork_keep(char *base, size_t len, int fd, size_t off, enum hl_fork_how how);

/* Ends it for what begins at `base`; nothing when it was not kept. Any thread. */
void hl_fork_forget(const char *base);

#endif
