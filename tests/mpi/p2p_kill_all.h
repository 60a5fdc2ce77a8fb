/* Scenes of p2p_kill in which all survivors do the same: collectives, communicators, windows. */
#ifndef P2P_KILL_ALL_H
#define P2P_KILL_ALL_H

static void barrier(void)
{
    judge(MPI_Barrier(MPI_COMM_WORLD));
}

static void bcast(void)
{
    judge(MPI_Bcast(large, 1000, MPI_BYTE, VICTIM, MPI_COMM_WORLD));
}

static void bcast_large(void)
{
    judge(MPI_Bcast(large, LARGE, MPI_BYTE, VICTIM, MPI_COMM_WORLD));
}

static void reduce(void)
{
    int sum;
    judge(MPI_Reduce(&me, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
}

static void allreduce(void)
{
    int sum;
    judge(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static void allreduce_large(void)
{
    judge(MPI_Allreduce(MPI_IN_PLACE, large, LARGE / 4, MPI_INT, MPI_BOR, MPI_COMM_WORLD));
}

static void gather(void)
{
    int all[64];
    judge(MPI_Gather(&me, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD));
}

static void scatter(void)
{
    int all[64] = {0}, mine;
    judge(MPI_Scatter(all, 1, MPI_INT, &mine, 1, MPI_INT, VICTIM, MPI_COMM_WORLD));
}

static void allgather(void)
{
    int all[64];
    judge(MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
}

static void alltoall(void)
{
    static int all[2][64];
    judge(MPI_Alltoall(all[0], 1, MPI_INT, all[1], 1, MPI_INT, MPI_COMM_WORLD));
}

/* By mailboxes that are there already. */
static void alltoall_again(void)
{
    static int all[2][64];
    CHECK_EQ(MPI_Alltoall(all[0], 1, MPI_INT, all[1], 1, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
    judge(MPI_Alltoall(all[0], 1, MPI_INT, all[1], 1, MPI_INT, MPI_COMM_WORLD));
}

static void die_after_alltoall(void)
{
    static int all[2][64];
    MPI_Alltoall(all[0], 1, MPI_INT, all[1], 1, MPI_INT, MPI_COMM_WORLD);
    die(100);
}

static void alltoall_large(void)
{
    char *in = malloc(LARGE);
    judge(MPI_Alltoall(large, LARGE / size, MPI_BYTE, in, LARGE / size, MPI_BYTE, MPI_COMM_WORLD));
    free(in);
}

static void scan(void)
{
    int sum;
    judge(MPI_Scan(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static void ibarrier(void)
{
    MPI_Request req;
    judge(MPI_Ibarrier(MPI_COMM_WORLD, &req));
    wait_for(&req);
}

static void iallreduce(void)
{
    MPI_Request req;
    int sum;
    judge(MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &req));
    wait_for(&req);
}

static void ialltoall(void)
{
    static int all[2][64];
    MPI_Request req;
    judge(MPI_Ialltoall(all[0], 1, MPI_INT, all[1], 1, MPI_INT, MPI_COMM_WORLD, &req));
    wait_for(&req);
}

static void comm_dup(void)
{
    MPI_Comm comm;
    judge(MPI_Comm_dup(MPI_COMM_WORLD, &comm)); /* whoever needs nothing from rank 1 has one */
    if (!told) {
        judge(MPI_Barrier(comm));
    }
}

static void comm_split(void)
{
    MPI_Comm comm;
    judge(MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm));
}

static void make(int flavor)
{
    static char memory[64];
    char *base;
    MPI_Win win;
    judge(flavor == MPI_WIN_FLAVOR_CREATE ? MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win)
          : flavor == MPI_WIN_FLAVOR_ALLOCATE
              ? MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win)
          : flavor == MPI_WIN_FLAVOR_DYNAMIC
              ? MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win)
              : MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
}

static void win_create(void)
{
    make(MPI_WIN_FLAVOR_CREATE);
}

static void win_allocate(void)
{
    make(MPI_WIN_FLAVOR_ALLOCATE);
}

static void win_dynamic(void)
{
    make(MPI_WIN_FLAVOR_DYNAMIC);
}

static void win_shared(void)
{
    make(MPI_WIN_FLAVOR_SHARED);
}

/* Odd ranks against even ones: rank 2 hears of rank 1 from rank 0. */
static MPI_Comm open_inter(void)
{
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 3, &inter);
    MPI_Comm_free(&half);
    return inter;
}

static void inter_barrier(void)
{
    judge(MPI_Barrier(open_inter()));
}

static void inter_allreduce(void)
{
    int sum;
    judge(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, open_inter()));
}

static void die_apart(void)
{
    open_inter();
    die(100);
}

/* One-sided with a request: its error is the window's business. */
static void hear_wrongly(MPI_Comm *comm, int *code, ...)
{
    fprintf(stderr, "rank %d: the wrong handler hears\n", me);
}

static MPI_Win open_window(int *pid)
{
    char *base;
    MPI_Win win;
    *pid = (int)getpid();
    MPI_Bcast(pid, 1, MPI_INT, VICTIM, MPI_COMM_WORLD);
    MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    MPI_Get(large, 1, MPI_BYTE, VICTIM, 0, 1, MPI_BYTE, win); /* the way is made */
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

static void rget(void)
{
    MPI_Errhandler wrong;
    MPI_Request req;
    int pid;
    MPI_Win win = open_window(&pid);
    MPI_Comm_create_errhandler(hear_wrongly, &wrong);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, wrong);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, wrong);
    usleep(50000); /* it has stopped */
    while (!told) {
        int code = MPI_Rget(large, LARGE, MPI_BYTE, VICTIM, 0, LARGE, MPI_BYTE, win, &req);
        judge(code);
        if (!cut) {
            kill(pid, SIGKILL);
        }
        if (code == MPI_SUCCESS) {
            judge(MPI_Wait(&req, MPI_STATUS_IGNORE));
        }
        if (!told) {
            judge(MPI_Win_flush(VICTIM, win)); /* of a node peer the memory is still there */
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static void die_stopped(void)
{
    int pid;
    open_window(&pid);
    if (cut) {
        die(0);
    }
    raise(SIGSTOP);
}

#endif
