/* System calls that a cage may refuse, by name; with an argument: only when it has that value. */
#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>

struct call {
    const char *name;
    int number, argument; /* -1: whatever its arguments are */
    unsigned value;
};

#define CALL(name)                                                                                           \
    {                                                                                                        \
#name, SYS_##name, -1, 0                                                                             \
    }

static const struct call calls[] = {
    CALL(mbind),
    CALL(set_mempolicy),
    CALL(get_mempolicy),
    CALL(move_pages),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(memfd_create),
    CALL(fallocate),
    CALL(pidfd_open),
    CALL(pidfd_send_signal),
    CALL(pidfd_getfd),
    CALL(userfaultfd),
    CALL(io_uring_setup),
    CALL(close_range),
    CALL(clone3),
    CALL(eventfd2),
    CALL(epoll_create1),
    CALL(signalfd4),
    CALL(getrandom),
    CALL(sched_getaffinity),
    CALL(sched_setaffinity),
    CALL(membarrier),
    CALL(rseq),
    CALL(statx),
    CALL(sysinfo),
    CALL(getcpu),
    CALL(socketpair),
    CALL(bind),
    CALL(socket),
    CALL(accept4),
    CALL(setpgid),
    {"populate", SYS_madvise, 2, 23},               /* MADV_POPULATE_WRITE */
    {"remove", SYS_madvise, 2, 9},                  /* MADV_REMOVE */
    {"seal", SYS_fcntl, 1, 1033},                   /* F_ADD_SEALS */
    {"pdeathsig", SYS_prctl, 0, 1},                 /* PR_SET_PDEATHSIG */
    {"subreaper", SYS_prctl, 0, 36},                /* PR_SET_CHILD_SUBREAPER */
    {"unix", SYS_socket, 0, 1},                     /* AF_UNIX */
    {"fork", SYS_clone, 0, 0x1200011},              /* as fork() calls it */
    {"vfork", SYS_clone, 0, 0x4511},                /* CLONE_VM | CLONE_FILES | CLONE_VFORK | SIGCHLD */
    {"huge_memfd", SYS_memfd_create, 1, 0x5400007}, /* pages of 2M */
    {NULL, 0, 0, 0},
};

#endif
