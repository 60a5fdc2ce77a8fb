/* The last rank has died: collectives of the others end with an error that says so, one after the other.
 * Success is for ranks alone whose part needs nothing of it. usage: mpiexec --keep-going -n RANKS coll_after
 * OPERATION BARRIERS, so many before the death; each survivor prints "over". */
#include "death.h"

enum { CALLS = 3, MOST = 8 };

static int end(int code, MPI_Request *r)
{
    return code != MPI_SUCCESS ? code : MPI_Wait(r, MPI_STATUS_IGNORE);
}

/* What takes no part of the dead rank may succeed. */
static bool may_succeed(const char *what)
{
    return strcmp(what, "idup") == 0 ||
           (me != 0 && (strcmp(what, "reduce") == 0 || strcmp(what, "gather") == 0));
}

static int copied, deleted;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    *(void **)out = in;
    *flag = 1;
    copied++;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
    deleted++;
    return MPI_SUCCESS;
}

/* What a call that failed leaves is freed as any other communicator, with its attributes. */
static int duplicate(void)
{
    static int keyval = MPI_KEYVAL_INVALID;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request r;
    if (keyval == MPI_KEYVAL_INVALID) {
        MPI_Comm_create_keyval(copy, delete, &keyval, NULL);
        MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &copied);
    }
    int code = end(MPI_Comm_idup(MPI_COMM_WORLD, &made, &r), &r);
    if (made != MPI_COMM_NULL) {
        MPI_Comm_free(&made);
    }
    CHECK_EQ(copied, deleted);
    return code;
}

static int call_all(const char *what)
{
    static int in[MOST], out[MOST];
    MPI_Request r;
    if (strcmp(what, "barrier") == 0) {
        return MPI_Barrier(MPI_COMM_WORLD);
    }
    if (strcmp(what, "alltoall") == 0) {
        return MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    }
    if (strcmp(what, "ialltoall") == 0) {
        return end(MPI_Ialltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD, &r), &r);
    }
    if (strcmp(what, "allgather") == 0) {
        return MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    }
    if (strcmp(what, "allreduce") == 0) {
        return MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (strcmp(what, "iallreduce") == 0) {
        return end(MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r), &r);
    }
    return MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static int call(const char *what)
{
    static int in[MOST], out[MOST];
    if (strcmp(what, "reduce") == 0) {
        return MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    if (strcmp(what, "gather") == 0) {
        return MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (strcmp(what, "bcast") == 0) {
        return MPI_Bcast(in, MOST, MPI_INT, size - 1, MPI_COMM_WORLD);
    }
    if (strcmp(what, "idup") == 0) {
        return duplicate();
    }
    return call_all(what);
}

int main(int argc, char **argv)
{
    int class;
    test_start(3);
    CHECK(argc == 3 && size <= MOST);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < atoi(argv[2]); i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (me == size - 1) {
        _exit(1);
    }
    for (int i = 0; i < CALLS; i++) {
        MPI_Error_class(call(argv[1]), &class);
        CHECK(class == MPI_ERR_PROC_ABORTED || (class == MPI_SUCCESS && may_succeed(argv[1])));
    }
    meet(1, size - 2);
    printf("over\n");
    fflush(stdout);
    _exit(0);
}
