/* Static data is symmetric memory: of the executable, of its libraries, of what was loaded by dlopen before
 * shmem_init; with initial values, zeroed and huge; beside stdio, the environment and children.
 *
 *     statics [mpi] [threads] [PLUGIN]
 *
 * mpi: MPI_Init and a window come first. threads: a thread runs already, so that nothing can be shared and
 * all goes over the network. */
#include "../shmem_test.h"

#include "library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <mpi.h>
#include <semaphore.h>
#include <sys/wait.h>

#ifdef __SANITIZE_THREAD__
#define TSAN true
#else
#define TSAN false
#endif
#define HUGE_WORDS ((size_t)1 << 27)

int number = 7;
static double table[4] = {1.5, 2.5, 3.5};
static long zeroed[100000];
static long huge[HUGE_WORDS]; /* 1 GiB */
static const long constant[2] = {1, 2};
static char name[16] = "name";

static bool shared; /* among node peers */

static long *heap;

static bool is_near(int pe)
{
    return shmem_ptr(heap, pe) != NULL && (shared || pe == me);
}

/* Puts my number into the right PE's word, and gets the left one's out of it. */
static void ring(long *word)
{
    int right = (me + 1) % n_pes, left = (me + n_pes - 1) % n_pes;
    CHECK_EQ(shmem_addr_accessible(word, right), 1);
    CHECK_EQ(shmem_ptr(word, right) != NULL, is_near(right));
    shmem_barrier_all();
    shmem_long_p(word, 1000 + me, right);
    shmem_barrier_all();
    CHECK_EQ(*(volatile long *)word, 1000 + left);
    CHECK_EQ(shmem_long_g(word, right), 1000 + me);
    shmem_barrier_all();
    if (shmem_ptr(word, right) != NULL) {
        *(volatile long *)shmem_ptr(word, right) = 2000 + me;
        shmem_quiet();
    } else {
        shmem_long_p(word, 2000 + me, right);
    }
    shmem_barrier_all();
    CHECK_EQ(*(volatile long *)word, 2000 + left);
}

static void initial_values(void)
{
    int right = (me + 1) % n_pes;
    double there[4];
    char text[16];
    shmem_getmem(there, table, sizeof table, right);
    shmem_getmem(text, name, sizeof name, right);
    CHECK(there[0] == 1.5 && there[1] == 2.5 && there[2] == 3.5 && there[3] == 0);
    CHECK(strcmp(text, "name") == 0 && number == 7 && zeroed[5] == 0);
    shmem_barrier_all();
    there[3] = me;
    shmem_putmem(&table[3], &there[3], sizeof there[3], right);
    shmem_barrier_all();
    CHECK(*(volatile double *)&table[3] == (me + n_pes - 1) % n_pes);
    CHECK(table[2] == 3.5);
}

/* Pages of this process, in MiB. */
static long resident(void)
{
    long all, here = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f != NULL && fscanf(f, "%ld %ld", &all, &here) == 2);
    fclose(f);
    return here * sysconf(_SC_PAGESIZE) >> 20;
}

static void huge_array(void)
{
    ring(&huge[0]);
    ring(&huge[HUGE_WORDS / 2]);
    ring(&huge[HUGE_WORDS - 1]);
    CHECK_EQ(shmem_long_g(&huge[12345678], (me + 1) % n_pes), 0);
    CHECK(resident() < 700);
}

static void not_symmetric(void)
{
    int right = (me + 1) % n_pes, local = 0;
    CHECK(shmem_ptr(&stdout, right) == NULL && shmem_ptr(&environ, right) == NULL);
    CHECK(shmem_ptr(&constant[1], right) == NULL && shmem_ptr(&local, right) == NULL);
    CHECK_EQ(shmem_addr_accessible(&stdout, right), 0);
    CHECK_EQ(shmem_addr_accessible(stdout, right), 0); /* the C library's own data */
    CHECK_EQ(shmem_addr_accessible(&constant[1], right), 0);
    CHECK_EQ(shmem_addr_accessible(&number, n_pes), 0);
    CHECK_EQ(shmem_addr_accessible(&number, me), 1);
    CHECK_EQ(shmem_pe_accessible(right), 1);
    CHECK_EQ(shmem_pe_accessible(n_pes), 0);
    CHECK_EQ(shmem_pe_accessible(-1), 0);
    CHECK_EQ(shmem_team_ptr(SHMEM_TEAM_WORLD, &number, me) != NULL, shmem_ptr(&number, me) != NULL);
    CHECK(shmem_ptr(&number, me) == NULL || shmem_ptr(&number, me) == &number);
}

#define ADDS 3000
static long sums[2];
static MPI_Win window; /* on sums, when the program is an MPI one too */

/* Both words of PE 0 count, by OpenSHMEM's atomics and MPI's. */
static void *add(void *as_mpi)
{
    const long one = 1;
    for (int i = 0; i < ADDS; i++) {
        if (as_mpi != NULL) {
            MPI_Accumulate(&one, 1, MPI_LONG, 0, i % 2, 1, MPI_LONG, MPI_SUM, window);
        } else if (i % 3 == 0) {
            shmem_long_atomic_add(&sums[i % 2], 1, 0);
        } else {
            CHECK(shmem_long_atomic_fetch_inc(&sums[i % 2], 0) >= 0);
        }
    }
    return NULL;
}

static void atomics(bool mpi)
{
    pthread_t threads[2];
    if (mpi) {
        MPI_Win_create(sums, sizeof sums, sizeof sums[0], MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_lock_all(0, window);
    }
    shmem_barrier_all();
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, add, mpi && i == 1 ? &window : NULL) == 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    if (mpi) {
        MPI_Win_unlock_all(window);
        MPI_Win_free(&window);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&sums[0], 0), n_pes * ADDS);
    CHECK_EQ(shmem_long_g(&sums[1], 0), n_pes * ADDS);
    shmem_barrier_all();
}

/* Two ends for "go" and "done". */
static int to_child[2], to_parent[2];

static void child(void)
{
    char go;
    if (read(to_child[0], &go, 1) != 1 || number != 7 || zeroed[9] != 0) {
        _exit(3); /* it sees its parent's later stores */
    }
    number = 100;
    zeroed[10] = 100;
    huge[77] = 100;
    heap[1] = 100;
    setenv("HL_CHILD", "1", 1);
    _exit(write(to_parent[1], "d", 1) == 1 && number == 100 && huge[77] == 100 && heap[0] == 5 ? 0 : 4);
}

static void children(void)
{
    char done;
    int status;
    CHECK(pipe(to_child) == 0 && pipe(to_parent) == 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        child();
    }
    *(volatile int *)&number = 8;
    zeroed[9] = 9;
    CHECK(write(to_child[1], "g", 1) == 1 && read(to_parent[0], &done, 1) == 1);
    CHECK(number == 8 && zeroed[10] == 0 && huge[77] == 0 && heap[1] == 0 && getenv("HL_CHILD") == NULL);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(system("exit 3") >> 8, 3);
    FILE *p = popen("echo word", "r");
    char word[16] = "";
    CHECK(p != NULL && fgets(word, sizeof word, p) != NULL && strcmp(word, "word\n") == 0);
    CHECK_EQ(pclose(p), 0);
    number = 7;
    shmem_barrier_all();
    CHECK_EQ(shmem_int_g(&number, (me + 1) % n_pes), 7);
}

static void plugin(void *handle)
{
    long *(*words)(void);
    void (*put)(int, long);
    *(void **)&words = dlsym(handle, "plugin_words");
    *(void **)&put = dlsym(handle, "plugin_put");
    CHECK(words != NULL && put != NULL && words()[1] == 52);
    ring(&words()[2]);
    put((me + 1) % n_pes, 7 + me);
    shmem_barrier_all();
    CHECK_EQ(*(volatile long *)&words()[3], 7 + (me + n_pes - 1) % n_pes);
    dlclose(handle);
    CHECK_EQ(shmem_long_g(&words()[1], (me + 1) % n_pes), 52); /* it stays loaded */
}

static sem_t end;

static void *wait_for_end(void *arg)
{
    while (sem_wait(&end) != 0) {
    }
    return arg;
}

/* ThreadSanitizer may have one of its own. */
static int count_threads(void)
{
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    while (readdir(tasks) != NULL) {
        n++;
    }
    closedir(tasks);
    return n - 2;
}

/* A window, so that the receive thread runs. */
static void start_mpi(void)
{
    MPI_Win win;
    long *mine;
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&mine, &win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    void *handle = NULL;
    pthread_t thread;
    bool mpi = false, threads = false;
    printf("before\n");
    zeroed[3] = 3;
    setenv("HL_BEFORE", "1", 1);
    for (int i = 1; i < argc; i++) {
        mpi = mpi || strcmp(argv[i], "mpi") == 0;
        threads = threads || strcmp(argv[i], "threads") == 0;
        handle = argv[i][0] == '/' ? dlopen(argv[i], RTLD_NOW) : handle;
        CHECK(argv[i][0] != '/' || handle != NULL);
    }
    if (threads) {
        CHECK(sem_init(&end, 0, 0) == 0 && pthread_create(&thread, NULL, wait_for_end, NULL) == 0);
    }
    shared = count_threads() == 1;
    CHECK(shared == !threads || TSAN);
    if (mpi) {
        start_mpi();
    }
    test_start(1);
    CHECK(zeroed[3] == 3 && strcmp(getenv("HL_BEFORE"), "1") == 0);
    printf("after\n");
    setenv("HL_AFTER", "1", 1);
    heap = shmem_calloc(2, sizeof *heap);
    heap[0] = 5;
    not_symmetric();
    initial_values();
    ring(&zeroed[50000]);
    CHECK_EQ(shmem_long_g(library_hidden() + 1, (me + 1) % n_pes), 42);
    ring(library_hidden() + 5);
    CHECK_EQ(library_first, 31);
    ring(&library_first);
    ring(&library_zeroed[500]);
    huge_array();
    atomics(mpi);
    children();
    if (handle != NULL) {
        plugin(handle);
    }
    shmem_free(heap);
    shmem_finalize();
    CHECK(strcmp(getenv("HL_AFTER"), "1") == 0);
    if (threads) {
        sem_post(&end);
        pthread_join(thread, NULL);
    }
    if (mpi) {
        MPI_Finalize();
    }
    return 0;
}
