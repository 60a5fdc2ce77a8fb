/* Inside the module: every call that asks the kernel for memory, as one table. Unit tests replace entries by
 * calls that fail or that behave as another kernel, before they start threads; nobody else writes it. Each
 * entry is the call of its name, with its arguments, result and errno. */
#ifndef HL_MEM_SYS_H
#define HL_MEM_SYS_H

#include <stddef.h>
#include <sys/statfs.h>
#include <sys/types.h>

struct hl_sys {
    int (*memfd_create)(const char *name, unsigned flags);
    int (*ftruncate)(int fd, off_t len);
    int (*seal)(int fd, int seals); /* fcntl(fd, F_ADD_SEALS, seals) */
    int (*fstatfs)(int fd, struct statfs *out);
    int (*fallocate)(int fd, int mode, off_t off, off_t len);
    void *(*mmap)(void *addr, size_t len, int prot, int flags, int fd, off_t off);
    int (*munmap)(void *addr, size_t len);
    int (*madvise)(void *addr, size_t len, int advice);
    long (*mbind)(void *addr, unsigned long len, int mode, const unsigned long *mask, unsigned long bits,
                  unsigned flags);
    long (*set_mempolicy)(int mode, const unsigned long *mask, unsigned long bits);
    long (*get_mempolicy)(int *mode, unsigned long *mask, unsigned long bits, void *addr, unsigned flags);
    long (*move_pages)(int pid, unsigned long count, void **pages, const int *nodes, int *status, int flags);
};

extern struct hl_sys hl_sys;

#endif
