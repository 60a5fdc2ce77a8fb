/* usage: no_memory SCENE FIRST FILE: a collective call of all ranks, again and again, in which the FIRST-th
 * allocation of one rank fails, then the next one, until it makes fewer. All ranks return, or the job ends with
 * a line; no_memory.py goes on behind that. */
#include "mpi_test.h"

#include "alloc_fails.h"

/* ---- Scenes: each makes something; what was made is freed by `drop` ---- */

static MPI_Comm world, made, half;
static MPI_Win win;
static MPI_File file;
static MPI_Group all;
static void *base;
static long memory[8];

static int dup_comm(void)
{
    return MPI_Comm_dup(world, &made);
}

static int idup(void)
{
    MPI_Request r;
    int code = MPI_Comm_idup(world, &made, &r);
    return code != MPI_SUCCESS ? code : MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static int split(void)
{
    return MPI_Comm_split(world, me % 2, 0, &made);
}

static int split_unguided(void)
{
    return MPI_Comm_split_type(world, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &made);
}

static int create_group(void)
{
    return MPI_Comm_create_group(world, all, 5, &made);
}

static int from_group(void)
{
    return MPI_Comm_create_from_group(all, "no memory", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
}

static int inter(void)
{
    int leads = me < size / 2 ? 0 : size / 2;
    return MPI_Intercomm_create(half, 0, world, size / 2 - leads, 9, &made);
}

static int graph(void)
{
    int next = (me + 1) % size, one = 1;
    return MPI_Dist_graph_create(world, 1, &me, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
}

static void free_comm(void)
{
    if (made != MPI_COMM_NULL) { /* else nothing divides the ranks */
        MPI_Comm_free(&made);
    }
}

static int win_create(void)
{
    return MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, world, &win);
}

static int win_allocate(void)
{
    return MPI_Win_allocate(8 * (me + 1), 1, MPI_INFO_NULL, world, &base, &win);
}

static int win_shared(void)
{
    return MPI_Win_allocate_shared(sizeof memory, 1, MPI_INFO_NULL, world, &base, &win);
}

static int win_dynamic(void)
{
    return MPI_Win_create_dynamic(MPI_INFO_NULL, world, &win);
}

static void free_win(void)
{
    MPI_Win_free(&win);
}

static const char *file_name;

static int file_open(void)
{
    return MPI_File_open(world, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
}

static void close_file(void)
{
    MPI_File_close(&file);
}

/* Memory that the members share comes with the fourth call. */
static int barrier(void)
{
    return MPI_Barrier(made);
}

static void three_barriers(void)
{
    MPI_Comm_dup(world, &made);
    for (int i = 0; i < 3; i++) {
        MPI_Barrier(made);
    }
}

static int alltoall(void)
{
    int out[64] = {0}, in[64];
    return MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, made);
}

static void another(void)
{
    MPI_Comm_dup(world, &made);
}

static const struct {
    const char *name;
    void (*prepare)(void);
    int (*call)(void);
    void (*drop)(void);
    int whole; /* 1: all ranks have it, or none; 2: and a failure stays, so that each is tried by its own job */
} scenes[] = {{"dup", NULL, dup_comm, free_comm, 0},
              {"idup", NULL, idup, free_comm, 0},
              {"split", NULL, split, free_comm, 0},
              {"split_unguided", NULL, split_unguided, free_comm, 0},
              {"create_group", NULL, create_group, free_comm, 0},
              {"from_group", NULL, from_group, free_comm, 0},
              {"inter", NULL, inter, free_comm, 0},
              {"graph", NULL, graph, free_comm, 0},
              {"win_create", NULL, win_create, free_win, 1},
              {"win_allocate", NULL, win_allocate, free_win, 1},
              {"win_network", NULL, win_create, free_win, 2},
              {"win_shared", NULL, win_shared, free_win, 1},
              {"win_dynamic", NULL, win_dynamic, free_win, 1},
              {"file_open", NULL, file_open, close_file, 1},
              {"barrier", three_barriers, barrier, free_comm, 1},
              {"alltoall", another, alltoall, free_comm, 1}};

/* Plays a scene once; *failed: an allocation of the odd rank has failed. */
static void play(size_t i, int odd, long n, int *failed)
{
    int mine, least, most;
    if (me == odd) {
        printf("allocation %ld\n", n);
        fflush(stdout);
    }
    if (scenes[i].prepare != NULL) {
        scenes[i].prepare();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    alloc_left = me == odd ? n : -1;
    int code = scenes[i].call();
    mine = alloc_has_failed();
    alloc_left = -1;
    MPI_Allreduce(&mine, failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    mine = code != MPI_SUCCESS;
    MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(!scenes[i].whole || least == most);
    CHECK(*failed || most == 0);
    if (code == MPI_SUCCESS) {
        scenes[i].drop();
    }
}

int main(int argc, char **argv)
{
    int failed = 1;
    test_start(2);
    CHECK(argc == 4);
    dl_iterate_phdr(alloc_find_library, NULL);
    file_name = argv[3];
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_split(world, me < size / 2, me, &half);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Comm_group(world, &all);
    MPI_Comm_dup(world, &made);
    for (int i = 0; i < 8; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        for (long n = atol(argv[2]); failed && strcmp(scenes[i].name, argv[1]) == 0; n++) {
            play(i, 1, n, &failed);
            if (failed && scenes[i].whole == 2) {
                printf("%s", me == 1 ? "next\n" : "");
                fflush(stdout);
                MPI_Barrier(MPI_COMM_WORLD);
                _exit(0);
            }
        }
    }
    if (me == 1) {
        printf("all have succeeded\n");
    }
    MPI_Finalize();
    return 0;
}
