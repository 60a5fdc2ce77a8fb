/* Checks what the kernel allows this process: limits of resources, and system calls that some sandboxes
 * forbid. */
#include "check.h"

#include "err.h"
#include "fab.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)

/* What a rank needs at least, and what is enough for it. */
static const struct limit {
    const char *name, *option, *conf, *why;
    int resource;
    uint64_t unit; /* bytes of one unit of ulimit */
    uint64_t least, enough;
} limits[] = {
    {"open files", "-n", "nofile", "a rank needs a few for each lane and each peer on the network",
     RLIMIT_NOFILE, 1, 64, 1024},
    {"address space", "-v", "as", "windows, buffers and peers' memory are mapped", RLIMIT_AS, 1024, 512 * MIB,
     16384 * MIB},
    {"private memory", "-d", "data", "the program's heap, buffers and what the network's library takes",
     RLIMIT_DATA, 1024, 512 * MIB, 16384 * MIB},
    {"file size", "-f", "fsize", "shared memory counts as a file", RLIMIT_FSIZE, 1024, 64 * MIB, 65536 * MIB},
    {"processes", "-u", "nproc", "each rank starts threads of its own", RLIMIT_NPROC, 1, 16, 256},
    {"stack", "-s", "stack", "the program's, not the library's", RLIMIT_STACK, 1024, MIB / 4, MIB},
};

static bool is_pinning(void)
{
    return hl_fab_is_open() && hl_fab.pins;
}

static void check_limit(struct check *c, const struct limit *l)
{
    struct rlimit r;
    char number[32], best[32] = "unlimited";
    if (getrlimit((__rlimit_resource_t)l->resource, &r) != 0) {
        return;
    }
    /* The library itself raises the soft limit of open files to the hard one. */
    rlim_t have = l->resource == RLIMIT_NOFILE ? r.rlim_max : r.rlim_cur;
    if (have == RLIM_INFINITY || have >= l->enough) {
        snprintf(number, sizeof number, "%" PRIu64, (uint64_t)have / l->unit);
        check_say(c, CHECK_OK, l->name, "%s (ulimit %s)", have == RLIM_INFINITY ? "unlimited" : number,
                  l->option);
        return;
    }
    check_say(c, have < l->least ? CHECK_BROKEN : CHECK_BETTER, l->name,
              "limited to %" PRIu64 " (ulimit %s), %" PRIu64 " and more are good: %s",
              (uint64_t)have / l->unit, l->option, l->enough / l->unit, l->why);
    bool mine = r.rlim_max == RLIM_INFINITY || r.rlim_max >= l->enough;
    uint64_t good = l->enough / l->unit;
    if (r.rlim_max != RLIM_INFINITY || l->resource == RLIMIT_NOFILE) {
        snprintf(best, sizeof best, "%" PRIu64, l->enough / l->unit);
    }
    if (mine) {
        check_fix(c, "ulimit -S%s %s    # in the job script", l->option + 1, best);
    } else if (check_is_contained(c)) {
        check_fix(c, "docker run --ulimit %s=%" PRIu64, l->conf,
                  l->resource == RLIMIT_NOFILE ? good : l->enough);
    } else {
        check_fix(c,
                  "echo '* - %s %" PRIu64
                  "' | sudo tee -a /etc/security/limits.d/hotlane.conf    # log in again",
                  l->conf, good);
    }
}

/* May this process lock memory without limit? */
static bool may_lock(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0}};
    return syscall(SYS_capget, &head, data) == 0 && (data[0].effective & 1u << CAP_IPC_LOCK) != 0;
}

static void check_memlock(struct check *c)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_MEMLOCK, &r) != 0) {
        return;
    }
    if (r.rlim_cur == RLIM_INFINITY) {
        check_say(c, CHECK_OK, "locked memory", "unlimited (ulimit -l)");
    } else if (!is_pinning()) {
        check_say(c, CHECK_OK, "locked memory",
                  "%" PRIu64 " KiB (ulimit -l); the network used here locks none",
                  (uint64_t)r.rlim_cur / 1024);
    } else if (may_lock()) {
        check_say(c, CHECK_OK, "locked memory", "unlimited, whatever ulimit -l says: CAP_IPC_LOCK");
    } else {
        check_say(c, CHECK_BROKEN, "locked memory",
                  "limited to %" PRIu64 " KiB (ulimit -l): the network card locks the memory it reaches",
                  (uint64_t)r.rlim_cur / 1024);
        check_fix(
            c,
            "printf '* soft memlock unlimited\\n* hard memlock unlimited\\n' | sudo tee "
            "/etc/security/limits.d/hotlane.conf    # log in again; Slurm: LimitMEMLOCK=infinity for slurmd");
    }
}

static void *no_work(void *arg)
{
    return arg;
}

static void check_thread(struct check *c)
{
    pthread_t t;
    int e = pthread_create(&t, NULL, no_work, NULL);
    if (e == 0) {
        pthread_join(t, NULL);
        return;
    }
    check_say(c, CHECK_BROKEN, "threads", "no thread can be started: %s", strerror(e));
    check_fix(c, "ulimit -u; cat /sys/fs/cgroup/pids.max    # what limits them");
}

void check_limits(struct check *c)
{
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        check_limit(c, &limits[i]);
    }
    check_memlock(c);
    check_thread(c);
}

/* ---- calls that sandboxes forbid ---- */

static bool is_refusal(int e)
{
    return e == EPERM || e == EACCES || e == ENOSYS;
}

/* Has a filter of system calls been set on this process? */
static bool is_filtered(void)
{
    int mode = prctl(PR_GET_SECCOMP);
    return mode == 2 || (mode < 0 && errno != EINVAL); /* or the filter refuses this call, too */
}

static const char *by_filter(int e)
{
    return !is_refusal(e)  ? ""
           : is_filtered() ? " (system calls are filtered: seccomp)"
                           : " (no filter of system calls is set)";
}

/* What to do about a system call that failed with `e`; `filter`: the advice if a filter may have refused
 * it. */
static const char *refusal_fix(int e, const char *filter)
{
    return is_refusal(e) && is_filtered() ? filter
           : e == ENOSYS                  ? "uname -r    # this kernel does not have the call"
           : is_refusal(e)                ? "dmesg    # what refuses it: a security module, user namespaces"
                                          : "ulimit -a    # which limit it is";
}

static void check_shared(struct check *c)
{
    int fd = memfd_create("hotlane-check", MFD_CLOEXEC);
    bool sized = fd >= 0 && ftruncate(fd, 4096) == 0;
    void *at = sized ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (at != MAP_FAILED) {
        check_say(c, CHECK_OK, "shared memory", "by memfd: /dev/shm is not used, whatever its size");
        munmap(at, 4096);
    } else {
        int e = errno;
        check_say(c, CHECK_BROKEN, "shared memory", "memfd_create, ftruncate and mmap are needed: %s%s%s",
                  strerror(e), is_refusal(e) ? "" : hl_err_hint(e), by_filter(e));
        check_fix(c, "%s",
                  refusal_fix(
                      e, "docker run --security-opt seccomp=unconfined    # or a profile that allows them"));
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* Has a child read its parent's memory. A restricted ptrace forbids that as it does between ranks. 0 or
 * errno. */
static int read_other(void)
{
    uint64_t word = 42, copy = 0;
    pid_t parent = getpid(), child = fork();
    int status = 0;
    if (child == 0) {
        struct iovec mine = {&copy, sizeof copy}, theirs = {&word, sizeof word};
        _exit(process_vm_readv(parent, &mine, 1, &theirs, 1, 0) == (ssize_t)sizeof copy ? 0 : errno & 0xff);
    }
    return child < 0                                                       ? errno
           : waitpid(child, &status, 0) == child && WIFEXITED(status) != 0 ? WEXITSTATUS(status)
                                                                           : ECHILD;
}

static void check_cma(struct check *c)
{
    char scope[16] = "0";
    bool yama = check_read(c, "/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope) && scope[0] != '0';
    int e = c->root[0] != '\0' ? (yama ? EPERM : 0) : read_other();
    if (hl_conf.cma == 0) {
        check_say(c, CHECK_OK, "peers' memory",
                  "is not read (HOTLANE_CMA=0): large messages are copied twice");
    } else if (e == 0) {
        check_say(c, CHECK_OK, "peers' memory", "can be read: large messages are copied once");
    } else {
        check_say(c, CHECK_BETTER, "peers' memory",
                  "cannot be read (process_vm_readv: %s%s%s): large messages are copied twice", strerror(e),
                  yama ? "; kernel.yama.ptrace_scope is " : "", yama ? scope : "");
        check_fix(c, "%s",
                  !yama ? refusal_fix(e, "docker run --cap-add=SYS_PTRACE    # or a profile that allows it")
                  : scope[0] == '3' ? "echo kernel.yama.ptrace_scope=0 | sudo tee "
                                      "/etc/sysctl.d/99-hotlane.conf    # 3 stays until the next boot"
                                    : "sudo sysctl kernel.yama.ptrace_scope=0");
    }
}

static void check_maps(struct check *c)
{
    char text[32];
    uint64_t most =
        check_read(c, "/proc/sys/vm/max_map_count", text, sizeof text) ? strtoull(text, NULL, 10) : 0;
    if (most == 0 && check_has(c, "/proc/self/status")) {
        check_say(c, CHECK_OK, "mappings", "not told by this kernel (vm.max_map_count)");
    } else if (most == 0) {
        check_say(c, CHECK_BETTER, "/proc", "cannot be read: free memory and peers' networks are not known");
        check_fix(c, "mount -t proc proc /proc");
    } else if (most < 65530) {
        check_say(c, CHECK_BETTER, "mappings", "at most %" PRIu64 " for a process: many windows need more",
                  most);
        check_fix(c, "sudo sysctl vm.max_map_count=65530");
    } else {
        check_say(c, CHECK_OK, "mappings", "%" PRIu64 " for a process (vm.max_map_count)", most);
    }
}

void check_kernel(struct check *c)
{
    check_shared(c);
    check_cma(c);
    check_maps(c);
}
