/* Puts to an address that is not symmetric; for wrong.py. Usage: wrong WHAT [PLUGIN].
 * Compiled with two values of MORE. */
#include "../shmem_test.h"

#include <dlfcn.h>
#include <sys/wait.h>

static const long constant = 1;
static long number, before;
char other[MORE]; /* another program has another size */

/* A child calls, and only the child ends. */
static void call_in_child(int what)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (what == 0) {
            shmem_long_p(&number, 5, n_pes - 1 - me);
        } else if (what == 1) {
            shmem_barrier_all();
        } else {
            shmem_init();
        }
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_EQ(status, 1 << 8);
}

int main(int argc, char **argv)
{
    long local = 0;
    void *where = &number;
    CHECK(argc >= 2);
    test_start(1);
    if (strcmp(argv[1], "stdout") == 0) {
        where = &stdout;
    } else if (strcmp(argv[1], "constant") == 0) {
        where = (void *)(uintptr_t)&constant;
    } else if (strcmp(argv[1], "local") == 0) {
        where = &local;
    } else if (strcmp(argv[1], "late") == 0) {
        void *plugin = dlopen(argv[2], RTLD_NOW);
        CHECK(plugin != NULL);
        where = *(void **)dlsym(plugin, "plugin_data");
    } else if (strcmp(argv[1], "pe") == 0) {
        shmem_long_p(&number, 1, n_pes);
    } else if (strcmp(argv[1], "child") == 0) {
        for (int i = 0; i < 3; i++) {
            call_in_child(i);
        }
    } else {
        CHECK(strcmp(argv[1], "number") == 0);
    }
    shmem_barrier_all();
    for (int i = 0; i < 3; i++) { /* what is right may be remembered */
        shmem_long_p(&before, i, n_pes - 1 - me);
    }
    shmem_long_p(where, 1, n_pes - 1 - me);
    shmem_barrier_all();
    CHECK_EQ(number, where == &number);
    shmem_finalize();
    return 0;
}
