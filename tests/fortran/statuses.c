/* Statuses between C and Fortran, and Fortran's special variables as C sees them. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    MPI_Status c = {.MPI_SOURCE = 1, .MPI_TAG = 2, .MPI_ERROR = 3, .MPI_internal = {4, 5, 6, 7, 8}}, back;
    MPI_F08_status f08, f08_back;
    MPI_Fint f[MPI_F_STATUS_SIZE] = {0}, f_back[MPI_F_STATUS_SIZE];
    int bad = 0;

    bad += MPI_Status_c2f(&c, f) != MPI_SUCCESS || f[MPI_F_SOURCE] != 1 || f[MPI_F_TAG] != 2 ||
           f[MPI_F_ERROR] != 3;
    bad += MPI_Status_f2c(f, &back) != MPI_SUCCESS || memcmp(&back, &c, sizeof c) != 0;
    bad += MPI_Status_c2f08(&c, &f08) != MPI_SUCCESS || memcmp(&f08, &c, sizeof c) != 0;
    memset(&back, 0, sizeof back);
    bad += MPI_Status_f082c(&f08, &back) != MPI_SUCCESS || memcmp(&back, &c, sizeof c) != 0;
    bad += MPI_Status_f2f08(f, &f08_back) != MPI_SUCCESS || memcmp(&f08_back, &c, sizeof c) != 0;
    bad += MPI_Status_f082f(&f08, f_back) != MPI_SUCCESS || memcmp(f_back, &c, sizeof c) != 0;
    bad += (void *)MPI_F08_STATUS_IGNORE != (void *)MPI_F_STATUS_IGNORE;
    bad += (void *)MPI_F_STATUSES_IGNORE == (void *)MPI_F_STATUS_IGNORE ||
           (void *)MPI_F08_STATUSES_IGNORE != (void *)MPI_F_STATUSES_IGNORE;
    printf("%d conversions are wrong\n", bad);
    return bad != 0;
}
