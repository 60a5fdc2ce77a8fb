/* The library's opening, in a process that starts it, without memory: once for each allocation that it makes,
 * which fails. The call returns an error or works without; after an error the next one opens, and what is
 * allocated and open then is what it is without a failure: nothing was lost. */
#include "alloc_fails.h"

#include <mpi.h>
#include <stdio.h>
#include <sys/wait.h>

struct found {
    int fired, failed, again, fds;
    long blocks;
};

static int open_fds(void)
{
    int n = 0;
    for (int fd = 0; fd < 1000; fd++) {
        n += dup2(fd, fd) == fd;
    }
    return n;
}

/* In a child: opens with the n-th allocation failing, and again if that fails. */
static void open_once(long n, struct found *f)
{
    MPI_Session s;
    long before = __atomic_load_n(&alloc_live, __ATOMIC_RELAXED);
    alloc_left = n;
    f->failed = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s) != MPI_SUCCESS;
    f->fired = alloc_has_failed();
    alloc_left = -1;
    f->again = f->failed ? MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s) == MPI_SUCCESS : 1;
    f->blocks = __atomic_load_n(&alloc_live, __ATOMIC_RELAXED) - before;
    f->fds = open_fds();
    if (f->again) {
        MPI_Session_finalize(&s);
    }
}

/* The signal that has ended the child, or 0. */
static int in_child(long n, struct found *f)
{
    int status = 0;
    struct found *shared = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        open_once(n, shared);
        _exit(0);
    }
    waitpid(child, &status, 0);
    *f = *shared;
    munmap(shared, sizeof *f);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int main(void)
{
    struct found whole, f = {.fired = 1};
    int wrong = 0;
    long n = 0;
    dl_iterate_phdr(alloc_find_library, NULL);
    in_child(-1, &whole);
    for (; f.fired; n++) {
        int sig = in_child(n, &f);
        int same = f.blocks == whole.blocks && f.fds == whole.fds;
        f.fired = f.fired || sig != 0;
        if (sig != 0 || !f.again || !same) {
            printf("allocation %ld: signal %d, %s, then %s; %ld blocks instead of %ld, %d descriptors "
                   "instead of %d\n",
                   n, sig, f.failed ? "an error" : "opened", f.again ? "opened" : "an error", f.blocks,
                   whole.blocks, f.fds, whole.fds);
            wrong++;
        }
    }
    printf("%ld allocations, %d went wrong\n", n - 1, wrong);
    return wrong != 0;
}
