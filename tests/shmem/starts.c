/* Starts and ends: counted ones, and those of old programs; what can be asked when.
 *
 * usage: starts nested|old */
#include "shmem_test.h"

static int initialized(void)
{
    int flag = -1;
    shmem_query_initialized(&flag);
    return flag;
}

static void ask(void)
{
    int major = -1, minor = -1, level = -1;
    char name[SHMEM_MAX_NAME_LEN];
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    CHECK(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION);
    CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0);
    shmem_query_thread(&level);
    CHECK(level >= SHMEM_THREAD_SINGLE && level <= SHMEM_THREAD_MULTIPLE);
    CHECK(shmem_pe_accessible(n_pes - 1) && !shmem_pe_accessible(n_pes) && !shmem_pe_accessible(-1));
    shmem_pcontrol(1);
    shmem_pcontrol(2, "more", 3);
}

/* One value around the ring shows that all is open. */
static void work(long *word)
{
    shmem_long_p(word, me + 7, (me + 1) % n_pes);
    shmem_barrier_all();
    CHECK_EQ(*word, (me + n_pes - 1) % n_pes + 7);
    shmem_barrier_all();
}

static void nested(void)
{
    int level = -1;
    shmem_init();
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level), 0);
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    CHECK_EQ(level, SHMEM_THREAD_SINGLE); /* what the first start asked for */
    ask();
    long *word = shmem_malloc(sizeof *word);
    work(word);
    shmem_finalize();
    CHECK_EQ(initialized(), 1);
    work(word);
    shmem_finalize();
}

static void old(void)
{
    start_pes(0);
    start_pes(5);
    me = _my_pe();
    n_pes = _num_pes();
    CHECK(me == shmem_my_pe() && n_pes == shmem_n_pes());
    ask();
    long *word = shmalloc(sizeof *word);
    work(word);
    word = shrealloc(word, 1000 * sizeof *word);
    work(word + 999);
    shfree(word);
    word = shmemalign(256, sizeof *word);
    CHECK_EQ((uintptr_t)word % 256, 0);
    work(word);
    shmem_finalize();
}

int main(int argc, char **argv)
{
    CHECK_EQ(initialized(), 0);
    if (argc == 2 && strcmp(argv[1], "old") == 0) {
        old();
    } else {
        nested();
    }
    CHECK_EQ(initialized(), 0);
    return 0;
}
