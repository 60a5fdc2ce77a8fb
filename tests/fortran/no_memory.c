/* Lists of handles that are too long for the stack, and no memory for them: the call says so, and what it was
 * given stays as it was. */
#define ALLOC_LIBRARY "libmpifort_abi.so"
#include "../mpi/alloc_fails.h"

#include <mpi.h>
#include <stdio.h>

enum { N = 40 };

void mpi_waitall_(const int *count, int *requests, MPI_Status *statuses, int *ierror);
void mpi_testall_(const int *count, int *requests, int *flag, MPI_Status *statuses, int *ierror);
void mpi_testsome_(const int *count, int *requests, int *outcount, int *indices, MPI_Status *statuses,
                   int *ierror);
void mpi_startall_(const int *count, int *requests, int *ierror);

static int requests[N], bad;

static void begin(void)
{
    for (int i = 0; i < N; i++) {
        requests[i] = PMPI_Request_toint(MPI_REQUEST_NULL);
    }
    alloc_left = 0;
}

static void end(const char *call, int code)
{
    int failed = alloc_has_failed(), class = MPI_SUCCESS, same = 1;

    alloc_left = -1;
    MPI_Error_class(code, &class);
    for (int i = 0; i < N; i++) {
        same = same && requests[i] == PMPI_Request_toint(MPI_REQUEST_NULL);
    }
    if (!failed || class != MPI_ERR_NO_MEM || !same) {
        printf("%s: an allocation has %s, error class %d, requests %s\n", call,
               failed ? "failed" : "not failed", class, same ? "stay" : "changed");
        bad++;
    }
}

int main(void)
{
    static MPI_Status statuses[N];
    static int indices[N];
    int n = N, ierror = 0, outcount = -5, flag = 1;

    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    dl_iterate_phdr(alloc_find_library, NULL);
    begin();
    mpi_waitall_(&n, requests, statuses, &ierror);
    end("MPI_Waitall", ierror);
    begin();
    mpi_testall_(&n, requests, &flag, statuses, &ierror);
    end("MPI_Testall", ierror);
    begin();
    mpi_testsome_(&n, requests, &outcount, indices, statuses, &ierror);
    end("MPI_Testsome", ierror);
    bad += outcount != 0;
    begin();
    mpi_startall_(&n, requests, &ierror);
    end("MPI_Startall", ierror);
    MPI_Finalize();
    return bad != 0;
}
