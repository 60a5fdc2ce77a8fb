/* The C half of languages.f90. */
#include <mpi.h>
#include <stddef.h>

int c_reads_(const MPI_Fint *comm, const int *keyval, const MPI_Aint *value);
void c_sets_(const MPI_Fint *comm, const int *keyval, MPI_Aint *address);
int c_key_(void);
int c_status_(MPI_Fint *status);
MPI_Fint c_op_(void);

/* C sees the address of Fortran's integer. */
int c_reads_(const MPI_Fint *comm, const int *keyval, const MPI_Aint *value)
{
    MPI_Aint *found = NULL;
    int flag = 0;

    MPI_Comm_get_attr(MPI_Comm_f2c(*comm), *keyval, &found, &flag);
    return flag && *found == *value;
}

void c_sets_(const MPI_Fint *comm, const int *keyval, MPI_Aint *address)
{
    static int anything;

    MPI_Comm_set_attr(MPI_Comm_f2c(*comm), *keyval, &anything);
    *address = (MPI_Aint)&anything;
}

int c_key_(void)
{
    int keyval = MPI_KEYVAL_INVALID;

    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    return keyval;
}

/* The count of integers, if it says that it was cancelled; then it says so no more. -1: it is to be ignored.
 */
int c_status_(MPI_Fint *status)
{
    MPI_Status copy;
    MPI_F08_status again;
    int count = -2, cancelled = 0;

    if (status == MPI_F_STATUS_IGNORE || status == MPI_F_STATUSES_IGNORE) {
        return status == (void *)MPI_F08_STATUS_IGNORE ? -1 : -3;
    }
    MPI_Status_f2c(status, &copy);
    MPI_Get_count(&copy, MPI_INTEGER, &count);
    MPI_Test_cancelled(&copy, &cancelled);
    MPI_Status_set_cancelled(&copy, 0);
    copy.MPI_TAG = 3;
    MPI_Status_c2f08(&copy, &again);
    MPI_Status_f082f(&again, status);
    return cancelled ? count : -2;
}

static void multiply(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    for (int i = 0; i < *len; i++) {
        ((int *)inout)[i] *= ((int *)in)[i];
    }
}

MPI_Fint c_op_(void)
{
    MPI_Op op = MPI_OP_NULL;

    MPI_Op_create(multiply, 1, &op);
    return MPI_Op_c2f(op);
}
