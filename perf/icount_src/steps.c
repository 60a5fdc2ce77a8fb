/* Counts exactly what one call executes: a forked child follows this rank's main thread instruction by
 * instruction (ptrace) between two signals. Plain MPI, so that the same program runs on any library.
 * Prints one line a call: name, instructions, those above libfabric's calls, atomic read-modify-writes,
 * fences, mutex and spin lock acquisitions. x86-64 only. Exit code 77: cannot trace here. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
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

struct counts {
    long total, above, rmw, fences, locks;
};

/* Shared between the rank and its follower. */
static struct shared {
    struct counts counts;
    int alone;           /* the rank's other threads are held meanwhile */
    int ready;           /* the follower could attach: 1, could not: -errno */
    uint64_t lock_at[3]; /* entries of the lock functions */
    uint64_t fabric[2];  /* libfabric's text */
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

static void count_one(struct counts *c, const struct user_regs_struct *r, uint64_t *inside)
{
    uint8_t op[8] = {0};
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
    c->fences += op[0] == 0x0f && op[1] == 0xae && op[2] == 0xf0;
    for (int i = 0; i < 3; i++) {
        c->locks += r->rip == shared->lock_at[i];
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
        } else if (sig == SIGUSR2) {
            break;
        } else if (started && sig == SIGTRAP) {
            ptrace(PTRACE_GETREGS, rank_pid, NULL, &regs);
            count_one(&c, &regs, &inside);
        }
        int step = started && c.total < STEPS_MAX;
        long pass = sig == SIGTRAP || sig == SIGUSR1 ? 0 : sig;
        ptrace(step ? PTRACE_SINGLESTEP : PTRACE_CONT, rank_pid, NULL, pass);
    }
    shared->counts = c;
    ptrace(PTRACE_DETACH, rank_pid, NULL, 0L);
}

/* Stops the rank's other threads, or lets them go: what is followed takes so long that helper threads of a
 * library would change what it meets. */
static void hold_others(int hold)
{
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

static void follower(void)
{
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(go[0], &byte, 1) == 1) {
        shared->ready = ptrace(PTRACE_SEIZE, rank_pid, NULL, 0L) == 0 ? 1 : -errno;
        int alone = shared->ready == 1 && shared->alone;
        if (alone) {
            hold_others(1);
        }
        if (write(answer[1], "r", 1) != 1 || shared->ready != 1) {
            break;
        }
        follow();
        if (alone) {
            hold_others(0);
        }
        if (write(answer[1], "d", 1) != 1) {
            break;
        }
    }
    _exit(0);
}

/* ---- the rank ---- */

static MPI_Win win, unlike; /* targets of one size; of two */
static double value = 3.25, got;
static int target = 1, nobody = MPI_PROC_NULL;
static long one = 1, was, two = 2;
static char block[1024];
static MPI_Request request;

static void call_nothing(void)
{
}
static void call_put(void)
{
    MPI_Put(&value, 1, MPI_DOUBLE, target, 3, 1, MPI_DOUBLE, win);
}
static void call_get(void)
{
    MPI_Get(&got, 1, MPI_DOUBLE, target, 3, 1, MPI_DOUBLE, win);
}
static void call_flush(void)
{
    MPI_Win_flush(target, win);
}
static void call_fetch(void)
{
    MPI_Fetch_and_op(&one, &was, MPI_LONG, target, 5, MPI_SUM, win);
    MPI_Win_flush(target, win);
}
static void call_put_null(void)
{
    MPI_Put(&value, 1, MPI_DOUBLE, nobody, 3, 1, MPI_DOUBLE, win);
}
static void call_put_1k(void)
{
    MPI_Put(block, (int)sizeof block, MPI_BYTE, target, 128, (int)sizeof block, MPI_BYTE, win);
}
static void call_rput_wait(void)
{
    MPI_Rput(&value, 1, MPI_DOUBLE, target, 3, 1, MPI_DOUBLE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void call_cas(void)
{
    MPI_Compare_and_swap(&two, &one, &was, MPI_LONG, target, 7, win);
}
static void call_accumulate(void)
{
    MPI_Accumulate(&one, 1, MPI_LONG, target, 6, 1, MPI_LONG, MPI_SUM, win);
}

static void call_put_unlike(void)
{
    MPI_Put(&value, 1, MPI_DOUBLE, target, 3, 1, MPI_DOUBLE, unlike);
}
static void call_get_unlike(void)
{
    MPI_Get(&got, 1, MPI_DOUBLE, target, 3, 1, MPI_DOUBLE, unlike);
}
static void call_fetch_unlike(void)
{
    MPI_Fetch_and_op(&one, &was, MPI_LONG, target, 5, MPI_SUM, unlike);
    MPI_Win_flush(target, unlike);
}

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
static struct counts measure(void (*before)(void), void (*fn)(void))
{
    struct counts least = {.total = STEPS_MAX * 2};
    for (int i = 0; i < 20; i++) {
        before();
        fn();
    }
    call_flush();
    for (int i = 0; i < 9; i++) {
        struct counts c = measure_once(before, fn);
        if (c.total < least.total) {
            least = c;
        }
        call_flush();
    }
    return least;
}

static void show(const char *name, void (*before)(void), void (*fn)(void), const struct counts *base)
{
    struct counts c = measure(before, fn);
    printf("%s %ld %ld %ld %ld %ld\n", name, c.total - base->total, c.above - base->above, c.rmw - base->rmw,
           c.fences - base->fences, c.locks - base->locks);
    fflush(stdout);
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

static void measure_all(void)
{
    const char *names[3] = {"pthread_mutex_lock", "pthread_spin_lock", "pthread_mutex_trylock"};
    for (int i = 0; i < 3; i++) {
        shared->lock_at[i] = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, names[i]);
    }
    call_put();
    call_flush();
    find_fabric();
    struct counts base = measure(call_nothing, call_nothing);
    show("put", call_nothing, call_put, &base);
    shared->alone = 1; /* else a helper thread may send what the first call began */
    show("put_more", call_put, call_put, &base);
    shared->alone = 0;
    show("put_null", call_nothing, call_put_null, &base);
    show("put_1k", call_nothing, call_put_1k, &base);
    show("get", call_nothing, call_get, &base);
    shared->alone = 1;
    show("get_more", call_get, call_get, &base);
    shared->alone = 0;
    show("accumulate", call_nothing, call_accumulate, &base);
    show("cas", call_nothing, call_cas, &base);
    show("rput_wait", call_nothing, call_rput_wait, &base);
    shared->alone = 1;
    show("rput_more", call_put, call_rput_wait, &base);
    shared->alone = 0;
    show("flush_idle", call_flush, call_flush, &base);
    show("flush_put", call_put, call_flush, &base);
    show("fetch_op_flush", call_nothing, call_fetch, &base);
    show("put_unlike", call_nothing, call_put_unlike, &base);
    show("get_unlike", call_nothing, call_get_unlike, &base);
    show("fetch_unlike", call_nothing, call_fetch_unlike, &base);
    MPI_Win_flush(target, unlike);
}

int main(int argc, char **argv)
{
    int me, provided, fail = pipe(go) | pipe(answer);
    double *base;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fail != 0 || shared == MAP_FAILED) {
        perror("icount");
        return 1;
    }
    rank_pid = getpid();
    pid_t child = fork();
    if (child == 0) {
        follower();
    }
    prctl(PR_SET_PTRACER, child);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4096, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, 4096);
    MPI_Win_allocate(64 * (me + 1), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &unlike);
    memset(base, 0, 64);
    MPI_Win_lock_all(0, win);
    MPI_Win_lock_all(0, unlike);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        measure_all();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(unlike);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&unlike);
    MPI_Win_free(&win);
    MPI_Finalize();
    close(go[1]);
    kill(child, SIGKILL);
    return 0;
}
