/* Collective calls that differ between PEs, one a job; coll_misuse.py reads what they say. (What is wrong at
 * one PE alone: misuse.c.) */
#include "shmem_test.h"

static long sync_array[SHMEM_SYNC_SIZE];
static char *room;

static void other_size(void)
{
    shmem_broadcastmem(SHMEM_TEAM_WORLD, room, room + 4096, me == 1 ? 24 : 16, 0);
    shmem_sync_all();
}

static void other_large_size(void)
{
    shmem_broadcastmem(SHMEM_TEAM_WORLD, room, room + 65536, me == 1 ? 5000 : 4000, 0);
}

static void other_call(void)
{
    if (me == 1) {
        shmem_sync_all();
    } else {
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, (long *)room, (long *)room, 3);
    }
}

static void other_op(void)
{
    if (me == 1) {
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, (long *)room, (long *)room, 3);
    } else {
        shmem_long_max_reduce(SHMEM_TEAM_WORLD, (long *)room, (long *)room, 3);
    }
}

static void other_set_size(void)
{
    shmem_fcollect64(room, room + 65536, me == 1 ? 3 : 4, 0, 0, n_pes, sync_array);
}

static void used_psync(void)
{
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++) {
        sync_array[i] = 17;
    }
    shmem_sync_all();
    shmem_barrier(0, 0, n_pes, sync_array);
}

static void other_xrange(void)
{
    shmem_team_t x, y;
    shmem_team_split_2d(SHMEM_TEAM_WORLD, me + 1, NULL, 0, &x, NULL, 0, &y);
    shmem_team_sync(y);
}

static void other_split(void)
{
    shmem_team_t team;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, me, me == 1 ? -1 : 1, 2 - me, NULL, 0, &team);
    shmem_team_sync(team);
}

static void alloc_barrier(void)
{
    if (me == 0) {
        shmem_malloc(8);
    } else {
        shmem_barrier_all();
    }
}

/* No bytes are no collective call. */
static void alloc_nothing(void)
{
    shmem_malloc(me == 0 ? 8 : 0);
    shmem_barrier_all();
}

static void free_sync(void)
{
    if (me == 0) {
        shmem_free(room);
    } else {
        shmem_sync_all();
    }
}

static void end_barrier(void)
{
    if (me == 0) {
        shmem_barrier_all();
    }
    shmem_finalize();
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"other_size", other_size},         {"other_large_size", other_large_size},
             {"other_call", other_call},         {"other_op", other_op},
             {"other_set_size", other_set_size}, {"used_psync", used_psync},
             {"other_xrange", other_xrange},     {"other_split", other_split},
             {"alloc_barrier", alloc_barrier},   {"alloc_nothing", alloc_nothing},
             {"free_sync", free_sync},           {"end_barrier", end_barrier}};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    test_start(2);
    room = shmem_malloc((size_t)1 << 20);
    CHECK(room != NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(name, cases[i].name) == 0) {
            cases[i].run();
        }
    }
    fprintf(stderr, "nothing was wrong\n");
    sleep(5); /* the others may find it */
    return 0;
}
