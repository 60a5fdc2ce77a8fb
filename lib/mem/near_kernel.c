/* Memory of node peers that is not mapped here: the kernel copies it (cross-memory attach). */
#include "near_map.h"

#include <sys/uio.h>

size_t hl_near_kernel_copy(pid_t pid, enum hl_near_way way, void *mine, uint64_t theirs, size_t len)
{
    size_t done = 0;
    while (done < len) { /* the kernel copies at most 2 GiB in a call, and stops before a hole */
        struct iovec here = {(char *)mine + done, len - done};
        struct iovec there = {(void *)(uintptr_t)(theirs + done), len - done};
        ssize_t n = way == HL_NEAR_READ ? process_vm_readv(pid, &here, 1, &there, 1, 0)
                                        : process_vm_writev(pid, &here, 1, &there, 1, 0);
        if (n <= 0) {
            break;
        }
        done += (size_t)n;
    }
    return done;
}

size_t hl_near_kernel_pieces(pid_t pid, enum hl_near_way way, const struct iovec *mine, size_t n_mine,
                             const struct iovec *theirs, size_t n_theirs)
{
    ssize_t n = way == HL_NEAR_READ ? process_vm_readv(pid, mine, n_mine, theirs, n_theirs, 0)
                                    : process_vm_writev(pid, mine, n_mine, theirs, n_theirs, 0);
    return n > 0 ? (size_t)n : 0;
}
