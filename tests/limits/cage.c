/* cage [OPTION]... PROGRAM [ARGUMENT]...: runs a program in surroundings that are poorer than this machine.
 *
 *   --as --nofile --nproc --memlock --stack --fsize N   resource limit, soft and hard
 *   --soft-nofile N        that limit, the soft one only
 *   --deny CALL[:ERRNO]    the kernel refuses this system call (EPERM when no number is given), by seccomp
 *   --tiny FOLDER          a full file system in its place
 *   --no FOLDER            an empty one that cannot be written
 *   --no-shm               /dev without shm
 *   --read-only            nothing can be written anywhere below /
 *   --user N               another user
 *   --group FOLDER         a control group, which must be there
 * In this order, whatever order they are given in: file systems, group, user, limits, calls. Exit code 77 and
 * a line: this machine does not let us. */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 64 };

static struct option {
    const char *name, *value;
} options[MOST];
static int count;

static const struct limit {
    const char *name;
    int resource;
} limits[] = {
    {"--as", RLIMIT_AS},           {"--nofile", RLIMIT_NOFILE}, {"--nproc", RLIMIT_NPROC},
    {"--memlock", RLIMIT_MEMLOCK}, {"--stack", RLIMIT_STACK},   {"--data", RLIMIT_DATA},
    {"--fsize", RLIMIT_FSIZE},
};

static _Noreturn void cannot(const char *what)
{
    printf("this machine does not let us: %s: %s\n", what, strerror(errno));
    exit(77);
}

static void must(int rc, const char *what)
{
    if (rc != 0) {
        cannot(what);
    }
}

static bool is(const struct option *o, const char *name)
{
    return strcmp(o->name, name) == 0;
}

/* ---- file systems ---- */

static void fill(const char *folder)
{
    char path[256];
    static char block[4096];
    snprintf(path, sizeof path, "%s/full", folder);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    while (fd >= 0 && write(fd, block, sizeof block) > 0) {
    }
    close(fd);
}

/* /dev with the usual devices, made of those that are there. */
static void dev_without_shm(void)
{
    static const char *const names[] = {"null", "zero", "full", "random", "urandom", "tty"};
    enum { N = sizeof names / sizeof names[0] };
    int fds[N];
    for (int i = 0; i < N; i++) {
        char path[64];
        snprintf(path, sizeof path, "/dev/%s", names[i]);
        fds[i] = open(path, O_PATH);
    }
    must(mount("none", "/dev", "tmpfs", 0, "size=64k"), "mount /dev");
    for (int i = 0; i < N; i++) {
        char path[64], from[64];
        snprintf(path, sizeof path, "/dev/%s", names[i]);
        snprintf(from, sizeof from, "/proc/self/fd/%d", fds[i]);
        int made = open(path, O_WRONLY | O_CREAT, 0600);
        must(fds[i] >= 0 && made >= 0 ? 0 : -1, path);
        close(made);
        must(mount(from, path, NULL, MS_BIND, NULL), path);
        close(fds[i]);
    }
}

static void change_files(const struct option *o)
{
    if (is(o, "--tiny")) {
        must(mount("none", o->value, "tmpfs", 0, "size=4k,mode=1777"), "mount a small file system");
        fill(o->value);
    } else if (is(o, "--no")) {
        must(mount("none", o->value, "tmpfs", MS_RDONLY, "size=4k"), "mount an empty file system");
    } else if (is(o, "--no-shm")) {
        dev_without_shm();
    } else if (is(o, "--read-only")) {
        struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
        must(mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &attr, sizeof attr), "make / read-only");
    }
}

static void change_all_files(void)
{
    bool any = false;
    for (int i = 0; i < count; i++) {
        any = any || is(&options[i], "--tiny") || is(&options[i], "--no") || is(&options[i], "--no-shm") ||
              is(&options[i], "--read-only");
    }
    if (any) {
        must(unshare(CLONE_NEWNS), "a mount namespace");
        must(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), "a private mount namespace");
        for (int i = 0; i < count; i++) {
            change_files(&options[i]);
        }
    }
}

/* ---- the rest ---- */

static void enter_group(const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/cgroup.procs", folder);
    FILE *f = fopen(path, "we");
    must(f != NULL && fprintf(f, "%d\n", (int)getpid()) > 0 && fclose(f) == 0 ? 0 : -1, path);
}

static void become(uid_t user)
{
    must(setgroups(0, NULL), "drop groups");
    must(setresgid(user, user, user), "another group");
    must(setresuid(user, user, user), "another user");
}

static void limit(const struct option *o)
{
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (is(o, limits[i].name)) {
            rlim_t n = strtoull(o->value, NULL, 10);
            must(setrlimit((__rlimit_resource_t)limits[i].resource, &(struct rlimit){n, n}), o->name);
        }
    }
    if (is(o, "--soft-nofile")) {
        struct rlimit now;
        getrlimit(RLIMIT_NOFILE, &now);
        now.rlim_cur = strtoull(o->value, NULL, 10);
        must(setrlimit(RLIMIT_NOFILE, &now), o->name);
    }
}

/* Adds the instructions that refuse one call. A condition on an argument compares its lower half. */
static int refuse(const char *what, struct sock_filter *out)
{
    char name[64];
    size_t len = strcspn(what, ":");
    int error = what[len] != '\0' ? (int)strtol(what + len + 1, NULL, 10) : EPERM;
    snprintf(name, sizeof name, "%.*s", (int)len, what);
    const struct call *c = calls;
    while (c->name != NULL && strcmp(c->name, name) != 0) {
        c++;
    }
    if (c->name == NULL) {
        fprintf(stderr, "cage: no call is named %s\n", name);
        exit(2);
    }
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)c->number, 0, c->argument >= 0 ? 3 : 1),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(offsetof(struct seccomp_data, args) +
                                                      8 * (size_t)(c->argument > 0 ? c->argument : 0))),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, c->value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
    };
    int n = 0;
    for (size_t i = 0; i < sizeof code / sizeof code[0]; i++) {
        if (c->argument >= 0 || (i != 2 && i != 3)) {
            out[n++] = code[i];
        }
    }
    return n;
}

static void refuse_calls(void)
{
    struct sock_filter code[5 * MOST + 1];
    int n = 0;
    for (int i = 0; i < count; i++) {
        n += is(&options[i], "--deny") ? refuse(options[i].value, &code[n]) : 0;
    }
    if (n > 0) {
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
        must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
        must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "a filter of system calls");
    }
}

int main(int argc, char **argv)
{
    int at = 1;
    for (; at < argc && strncmp(argv[at], "--", 2) == 0 && count < MOST; at++) {
        bool alone = strcmp(argv[at], "--no-shm") == 0 || strcmp(argv[at], "--read-only") == 0;
        options[count++] = (struct option){argv[at], alone ? NULL : argv[at + 1]};
        at += !alone;
    }
    if (at >= argc) {
        fprintf(stderr, "usage: cage [OPTION]... PROGRAM [ARGUMENT]...\n");
        return 2;
    }
    change_all_files();
    for (int i = 0; i < count; i++) {
        if (is(&options[i], "--group")) {
            enter_group(options[i].value);
        }
    }
    for (int i = 0; i < count; i++) {
        if (is(&options[i], "--user")) {
            become((uid_t)strtoul(options[i].value, NULL, 10));
        }
    }
    for (int i = 0; i < count; i++) {
        limit(&options[i]);
    }
    refuse_calls();
    execvp(argv[at], &argv[at]);
    fprintf(stderr, "cage: %s does not run: %s\n", argv[at], strerror(errno));
    return 126;
}
