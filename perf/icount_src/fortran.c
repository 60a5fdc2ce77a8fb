/* What puts of a Fortran program with mpi_f08 execute, counted exactly (trace.h), with what their caller
 * needs to call: the calls stand in fortran_calls.f90. Prints the lines of steps.c. x86-64 only. Exit code
 * 77: cannot trace here. */
#include "window.h"

/* fortran_calls.f90 */
void fort_begin(MPI_Fint window, int rank);
void fort_put(void);
void fort_put_section(void);
void fort_put_row(void);
void fort_put_flush(void);

static const struct {
    const char *name;
    void (*call)(void);
} rows[] = {{"fort_put", fort_put},
            {"fort_put_section", fort_put_section},
            {"fort_put_row", fort_put_row},
            {"fort_put_flush", fort_put_flush}};

static void measure_all(void)
{
    fort_begin(MPI_Win_c2f(win), target);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        show(rows[i].name, call_flush, rows[i].call);
    }
}

int main(int argc, char **argv)
{
    return count_on_window(argc, argv, 64 * sizeof(double), sizeof(double), measure_all);
}
