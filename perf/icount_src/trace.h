/* Counts exactly what one call executes: a forked child follows this rank's main thread instruction by
 * instruction (ptrace) between two signals. Included once by each program that counts; x86-64 only. */
#ifndef ICOUNT_TRACE_H
#define ICOUNT_TRACE_H

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS_MAX 3000000L /* a wait that spins is cut off here */
#define ALONE_MAX 100000L  /* so long without an end: a thread that is held has what the rank waits for */

struct counts {
    long total, above, rmw, fences, locks;
    long tests; /* instructions that test the word at `watch`: where it is compared, 2, where it is loaded, 3
                 */
};

/* Shared between the rank and its follower. */
static struct shared {
    struct counts counts;
    int alone;           /* the rank's other threads are held meanwhile */
    int ready;           /* the follower could attach: 1, could not: -errno */
    uint64_t lock_at[3]; /* entries of the lock functions */
    uint64_t fabric[2];  /* libfabric's text */
    uint64_t watch;      /* address of a static word, or 0 */
} * shared;
static int go[2], answer[2];
static pid_t rank_pid;

/* ---- the follower ---- */

static int is_rmw(const uint8_t *op)
{
    for (int i = 0; i < 4; i++, op++) {
        if (*op == 0xf0) {
            return 1;
        }
        if (*op != 0x66 && *op != 0xf2 && *op != 0xf3 && (*op & 0xf0) != 0x40) {
            break;
        }
    }
    return (*op == 0x86 || *op == 0x87) && (op[1] & 0xc0) != 0xc0; /* xchg with memory locks by itself */
}

/* What it takes to test the watched word, if the instruction at `at` reads it relative to its own address. */
static int tests_of(const uint8_t *op, uint64_t at)
{
    const uint8_t *p = op + ((*op & 0xf0) == 0x40);
    int immediate = p[0] == 0x80 || p[0] == 0x83 || p[0] == 0xf6 ? 1 : p[0] == 0x81 || p[0] == 0xf7 ? 4 : 0;
    int32_t offset;
    if ((p[1] & 0xc7) != 0x05) {
        return 0;
    }
    memcpy(&offset, p + 2, sizeof offset);
    uint64_t next = at + (uint64_t)(p - op) + 6 + (uint64_t)immediate;
    if (next + (uint64_t)(int64_t)offset - shared->watch >= sizeof(int32_t)) {
        return 0;
    }
    return immediate != 0 ? 2 : 3;
}

static void count_one(struct counts *c, const struct user_regs_struct *r, uint64_t *inside)
{
    uint8_t op[12] = {0};
    struct iovec local = {op, sizeof op}, remote = {(void *)(uintptr_t)r->rip, sizeof op};
    process_vm_readv(rank_pid, &local, 1, &remote, 1, 0);
    int in_fabric = r->rip >= shared->fabric[0] && r->rip < shared->fabric[1];
    /* From a call into libfabric until its return: the stack is above the call's frame again. */
    if (*inside == 0 && in_fabric) {
        *inside = r->rsp;
    } else if (*inside != 0 && r->rsp > *inside) {
        *inside = in_fabric ? r->rsp : 0;
    }
    c->total++;
    c->above += *inside == 0;
    c->rmw += is_rmw(op);
    c->tests += tests_of(op, r->rip);
    c->fences += op[0] == 0x0f && op[1] == 0xae && op[2] == 0xf0;
    for (int i = 0; i < 3; i++) {
        c->locks += r->rip == shared->lock_at[i];
    }
}

static int held; /* the rank's other threads are stopped */

/* Stops them, or lets them go: what is followed takes so long that helper threads of a library would change
 * what it meets. */
static void hold_others(int hold)
{
    held = hold;
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/task", (int)rank_pid);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;) {
        pid_t tid = atoi(e->d_name);
        if (tid == 0 || tid == rank_pid) {
            continue;
        }
        if (!hold) {
            ptrace(PTRACE_DETACH, tid, NULL, 0L);
        } else if (ptrace(PTRACE_SEIZE, tid, NULL, 0L) == 0 &&
                   ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0) {
            waitpid(tid, NULL, __WALL);
        }
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
}

/* From the rank's first signal to its second. */
static void follow(void)
{
    struct user_regs_struct regs;
    struct counts c = {0};
    uint64_t inside = 0;
    int status, started = 0;

    while (waitpid(rank_pid, &status, 0) == rank_pid && WIFSTOPPED(status)) {
        int sig = WSTOPSIG(status);
        if (sig == SIGUSR1) {
            started = 1;
            if (shared->alone) {
                hold_others(1); /* not earlier: the rank may have to wait for what one of them has */
            }
        } else if (sig == SIGUSR2) {
            break;
        } else if (started && sig == SIGTRAP) {
            ptrace(PTRACE_GETREGS, rank_pid, NULL, &regs);
            count_one(&c, &regs, &inside);
        }
        if (held && c.total >= ALONE_MAX) {
            hold_others(0);
        }
        int step = started && c.total < STEPS_MAX;
        long pass = sig == SIGTRAP || sig == SIGUSR1 ? 0 : sig;
        ptrace(step ? PTRACE_SINGLESTEP : PTRACE_CONT, rank_pid, NULL, pass);
    }
    shared->counts = c;
    ptrace(PTRACE_DETACH, rank_pid, NULL, 0L);
}

static void follower(void)
{
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(go[0], &byte, 1) == 1) {
        shared->ready = ptrace(PTRACE_SEIZE, rank_pid, NULL, 0L) == 0 ? 1 : -errno;
        if (write(answer[1], "r", 1) != 1 || shared->ready != 1) {
            break;
        }
        follow();
        if (held) {
            hold_others(0);
        }
        if (write(answer[1], "d", 1) != 1) {
            break;
        }
    }
    _exit(0);
}

/* ---- the rank ---- */

static void wait_for(char want)
{
    char byte = 0;
    if (read(answer[0], &byte, 1) != 1 || byte != want) {
        exit(1);
    }
}

static struct counts measure_once(void (*before)(void), void (*fn)(void))
{
    if (write(go[1], "g", 1) != 1) {
        exit(1);
    }
    wait_for('r');
    if (shared->ready != 1) {
        printf("cannot trace: %s\n", strerror(-shared->ready));
        fflush(stdout);
        _exit(77);
    }
    before(); /* now: what it opens (a chain) must still be open when the steps begin */
    syscall(SYS_tgkill, rank_pid, rank_pid, SIGUSR1);
    fn();
    syscall(SYS_tgkill, rank_pid, rank_pid, SIGUSR2);
    wait_for('d');
    return shared->counts;
}

/* The cheapest of several runs is the steady state. */
static __attribute__((unused)) struct counts measure(void (*before)(void), void (*fn)(void),
                                                     void (*settle)(void))
{
    struct counts least = {.total = STEPS_MAX * 2};
    for (int i = 0; i < 20; i++) {
        before();
        fn();
    }
    settle();
    for (int i = 0; i < 9; i++) {
        struct counts c = measure_once(before, fn);
        if (c.total < least.total) {
            least = c;
        }
        settle();
    }
    return least;
}

/* What an empty call costs, and how everything is completed; set by trace_begin. */
static struct counts trace_base;
static void (*trace_settle)(void);

static void call_nothing(void)
{
}

/* Prints one line: name, instructions, those above libfabric's calls, atomic read-modify-writes, fences,
 * mutex and spin lock acquisitions of `fn`, called after `before`. */
static __attribute__((unused)) void show(const char *name, void (*before)(void), void (*fn)(void))
{
    const struct counts *base = &trace_base;
    struct counts c = measure(before, fn, trace_settle);
    printf("%s %ld %ld %ld %ld %ld\n", name, c.total - base->total, c.above - base->above, c.rmw - base->rmw,
           c.fences - base->fences, c.locks - base->locks);
    fflush(stdout);
}

/* The same with the rank's other threads held: else a helper thread may send what `before` began. */
static __attribute__((unused)) void show_alone(const char *name, void (*before)(void), void (*fn)(void))
{
    shared->alone = 1;
    show(name, before, fn);
    shared->alone = 0;
}

/* Where libfabric's text is, if it is loaded. */
static void find_fabric(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to;
        char rights[8];
        if (strstr(line, "libfabric") != NULL && sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 &&
            strchr(rights, 'x') != NULL) {
            shared->fabric[0] = from;
            shared->fabric[1] = to;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
}

/* Starts the follower; before the library's start, which may make threads. */
static pid_t trace_fork(void)
{
    int fail = pipe(go) | pipe(answer);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fail != 0 || shared == MAP_FAILED) {
        perror("icount");
        exit(1);
    }
    rank_pid = getpid();
    pid_t child = fork();
    if (child == 0) {
        follower();
    }
    prctl(PR_SET_PTRACER, child);
    return child;
}

/* Before the first `show`; everything that is loaded when needed was needed once. */
static __attribute__((unused)) void trace_begin(void (*settle)(void))
{
    const char *names[3] = {"pthread_mutex_lock", "pthread_spin_lock", "pthread_mutex_trylock"};
    for (int i = 0; i < 3; i++) {
        shared->lock_at[i] = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, names[i]);
    }
    find_fabric();
    trace_settle = settle;
    trace_base = measure(call_nothing, call_nothing, settle);
}

static void trace_end(pid_t child)
{
    close(go[1]);
    kill(child, SIGKILL);
}

#endif
