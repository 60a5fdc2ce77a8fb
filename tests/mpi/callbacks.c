/* A function of the user waits for a thread that calls MPI: no section is held meanwhile. All sorts of
 * functions, on two ranks or more. */
#include "mpi_test.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OTHERS_CALLS 3

static atomic_int wanted, served; /* rounds of the helper: asked for by a function, done */
static atomic_int calls;          /* of functions in this scene */
static MPI_Comm comm;

/* Functions of reductions, which must not communicate themselves (MPI 4.1 section 6.9.5). */
static void wait_for_helper(void)
{
    int round = atomic_fetch_add(&wanted, 1) + 1;
    atomic_fetch_add(&calls, 1);
    while (atomic_load(&served) < round) {
    }
}

/* All others. */
static void wait_and_call(void)
{
    int in = 0, out = 42;
    wait_for_helper();
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK_EQ(in, 42);
}

static void *help(void *unused)
{
    for (int round = 1;; round++) {
        int last;
        while ((last = atomic_load(&wanted)) < round) {
        }
        if (last == INT_MAX) {
            return unused;
        }
        for (int i = 1; i <= OTHERS_CALLS; i++) {
            MPI_Request r;
            int in = 0;
            MPI_Irecv(&in, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &r);
            MPI_Send(&i, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            CHECK_EQ(in, i);
        }
        atomic_store(&served, round);
    }
}

static int copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra;
    wait_and_call();
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int drop(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value, (void)extra;
    wait_and_call();
    return MPI_SUCCESS;
}

static void handle(MPI_Comm *c, int *code, ...)
{
    (void)c, (void)code;
    wait_and_call();
}

static int query(void *extra, MPI_Status *st)
{
    (void)extra;
    wait_and_call();
    MPI_Status_set_elements(st, MPI_BYTE, 0);
    MPI_Status_set_cancelled(st, 0);
    return MPI_SUCCESS;
}

static int end(void *extra)
{
    (void)extra;
    wait_and_call();
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    wait_and_call();
    return MPI_SUCCESS;
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    wait_for_helper();
    for (int i = 0; i < *n; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

static void attributes(void)
{
    MPI_Comm other;
    MPI_Request r;
    int key;
    MPI_Comm_create_keyval(copy, drop, &key, NULL);
    MPI_Comm_set_attr(comm, key, &key);
    MPI_Comm_set_attr(comm, key, &other); /* deletes */
    MPI_Comm_dup(comm, &other);
    MPI_Comm_delete_attr(other, key);
    MPI_Comm_free(&other);
    MPI_Comm_idup(comm, &other, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Comm_free(&other);
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_free_keyval(&key);
    CHECK_EQ(atomic_load(&calls), 6);
}

static void forgive(MPI_Comm *c, int *code, ...)
{
    (void)c;
    *code = MPI_SUCCESS;
}

/* A call returns the code that its handler left there. */
static void forgiven(void)
{
    MPI_Errhandler h;
    int x = 0;
    MPI_Comm_create_errhandler(forgive, &h);
    MPI_Comm_set_errhandler(comm, h);
    CHECK_EQ(MPI_Send(&x, 1, MPI_INT, 0, -5, comm), MPI_SUCCESS);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&h);
}

static void errors(void)
{
    MPI_Errhandler h;
    int x = 0;
    MPI_Comm_create_errhandler(handle, &h);
    MPI_Comm_set_errhandler(comm, h);
    MPI_Comm_call_errhandler(comm, MPI_ERR_ARG);
    MPI_Send(&x, 1, MPI_INT, 0, -5, comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&h);
    CHECK_EQ(atomic_load(&calls), 2);
    forgiven();
}

static void generalized(void)
{
    MPI_Request r;
    int flag;
    for (int way = 0; way < 3; way++) {
        MPI_Grequest_start(query, end, cancel, NULL, &r);
        MPI_Cancel(&r);
        MPI_Grequest_complete(r);
        if (way == 0) {
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        } else if (way == 1) {
            MPI_Testall(1, &r, &flag, MPI_STATUSES_IGNORE);
            CHECK(flag);
        } else {
            MPI_Request_free(&r);
        }
    }
    CHECK_EQ(atomic_load(&calls), 8);
}

static void reductions(void)
{
    int out[2] = {me, 1}, in[2] = {0, 0}, sum = size * (size - 1) / 2;
    MPI_Op op;
    MPI_Request r;
    MPI_Op_create(add, 1, &op);
    MPI_Reduce_local(out, in, 2, MPI_INT, op);
    CHECK_EQ(in[0], me);
    MPI_Allreduce(out, in, 2, MPI_INT, op, comm);
    CHECK_EQ(in[0], sum);
    MPI_Iallreduce(out, in, 2, MPI_INT, op, comm, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(in[0], sum);
    CHECK_EQ(in[1], size);
    MPI_Op_free(&op);
    CHECK(atomic_load(&calls) > 0);
}

static int convert(void *memory, MPI_Datatype type, int count, void *file, MPI_Offset at, void *extra)
{
    int bytes;
    (void)at, (void)extra;
    wait_and_call();
    MPI_Type_size(type, &bytes);
    memcpy(file, memory, (size_t)count * (size_t)bytes);
    return MPI_SUCCESS;
}

static int extent_in_file(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    int bytes;
    (void)extra;
    wait_and_call();
    MPI_Type_size(type, &bytes);
    *extent = bytes;
    return MPI_SUCCESS;
}

static void files(void)
{
    char name[] = "callbacks-XXXXXX";
    int x[4] = {1, 2, 3, 4}, fd = mkstemp(name);
    MPI_File f;
    CHECK(fd >= 0);
    close(fd);
    MPI_Register_datarep("callbacks", MPI_CONVERSION_FN_NULL, convert, extent_in_file, NULL);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    CHECK_EQ(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "callbacks", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_EQ(MPI_File_write(f, x, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_File_close(&f);
    CHECK(atomic_load(&calls) > 0);
}

int main(void)
{
    static void (*const scenes[])(void) = {attributes, errors, generalized, reductions, files};
    pthread_t helper;
    test_start(1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pthread_create(&helper, NULL, help, NULL);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        atomic_store(&calls, 0);
        scenes[i]();
    }
    atomic_store(&wanted, INT_MAX);
    pthread_join(helper, NULL);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
