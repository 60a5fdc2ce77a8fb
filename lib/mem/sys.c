/* The table of kernel calls, filled with the real ones. */
#include "sys.h"

#include <fcntl.h>
#include <numaif.h>
#include <sys/mman.h>
#include <unistd.h>

static int seal_file(int fd, int seals)
{
    return fcntl(fd, F_ADD_SEALS, seals);
}

struct hl_sys hl_sys = {
    .memfd_create = memfd_create,
    .ftruncate = ftruncate,
    .seal = seal_file,
    .fstatfs = fstatfs,
    .fallocate = fallocate,
    .mmap = mmap,
    .munmap = munmap,
    .madvise = madvise,
    .mbind = mbind,
    .set_mempolicy = set_mempolicy,
    .get_mempolicy = get_mempolicy,
    .move_pages = move_pages,
};
