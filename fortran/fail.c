/* Errors that the Fortran interface itself finds. */
#include "fail.h"

#include <mpi.h>
#include <stdio.h>

int hl_fort_fail(const char *func, int class, const char *why)
{
    char text[MPI_MAX_ERROR_STRING];
    int code = class, begun = 0, ended = 0;

    snprintf(text, sizeof text, "%s: %s", func, why);
    PMPI_Initialized(&begun);
    PMPI_Finalized(&ended);
    if (!begun || ended || PMPI_Add_error_code(class, &code) != MPI_SUCCESS ||
        PMPI_Add_error_string(code, text) != MPI_SUCCESS) {
        fprintf(stderr, "%s\n", text);
        return class;
    }
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
    return code;
}
