/* A plain program of one or two ranks: starts, passes an int around with every kind of call that the ABI must
 * agree on, ends. Prints "ok". Runs unchanged on every library of the standard ABI. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "wrong: %s\n", what);
        exit(3);
    }
}

static void types(void)
{
    int lens[2] = {1, 3}, size;
    MPI_Aint displs[2] = {0, 8}, lb, extent;
    MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE}, t;

    MPI_Type_create_struct(2, lens, displs, parts, &t);
    MPI_Type_commit(&t);
    MPI_Type_size(t, &size);
    MPI_Type_get_extent(t, &lb, &extent);
    must(size == 28 && lb == 0 && extent == 32, "struct of int and 3 doubles");
    MPI_Type_free(&t);
    must(t == MPI_DATATYPE_NULL, "freed type is null");
}

static void messages(int rank, int size)
{
    int x = 41 + rank, y = -1, count, right = (rank + 1) % size, left = (rank + size - 1) % size, cancelled;
    MPI_Request r;
    MPI_Status s;

    memset(&s, 255, sizeof s);
    MPI_Irecv(&y, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &r);
    MPI_Send(&x, 1, MPI_INT, right, 5, MPI_COMM_WORLD);
    MPI_Wait(&r, &s);
    MPI_Get_count(&s, MPI_INT, &count);
    MPI_Test_cancelled(&s, &cancelled);
    must(y == 41 + left && count == 1 && !cancelled, "message round the ring");
    must(s.MPI_SOURCE == left && s.MPI_TAG == 5, "status of a receive");
    must(r == MPI_REQUEST_NULL, "request is null after wait");
    MPI_Recv(&y, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &s);
    must(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG, "status from nobody");
}

static void collectives(int size)
{
    int one = 1, sum = 0, in_place = 2;

    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &in_place, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    must(sum == size && in_place == 2, "allreduce");
    MPI_Barrier(MPI_COMM_WORLD);
}

static int deletions;

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    deletions++;
    return MPI_SUCCESS;
}

static void objects(void)
{
    MPI_Comm dup;
    MPI_Info info;
    char value[16] = "";
    int key, flag, code, class_, len, *ub;
    char words[MPI_MAX_ERROR_STRING];

    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, on_delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free(&dup);
    must(deletions == 2, "attributes are copied by MPI_COMM_DUP_FN and deleted");
    MPI_Comm_free_keyval(&key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &flag);
    must(flag && *ub >= 32767, "MPI_TAG_UB");
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_get(info, "key", 15, value, &flag);
    MPI_Info_free(&info);
    must(flag && strcmp(value, "value") == 0, "info");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Send(value, -1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    MPI_Error_class(code, &class_);
    MPI_Error_string(code, words, &len);
    must(class_ == MPI_ERR_COUNT && len > 0, "class of an error");
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    types();
    messages(rank, size);
    collectives(size);
    objects();
    MPI_Finalize();
    printf("ok\n");
    return 0;
}
