/* What puts, gets and accumulates of array sections (hotlane.h) execute, counted exactly
 * (trace.h): 8 doubles in one piece, apart, and in two dimensions, beside the plain call. Prints the lines of
 * steps.c. x86-64 only. Exit code 77: cannot trace here. */
#include <hotlane.h>

#include "window.h"

#define DOUBLES 64

static MPI_Datatype vector; /* 8 doubles, every second */
static double buffer[DOUBLES];

static const MPIX_Section_dim in_one_piece[] = {{1, 8, 8}}, apart[] = {{1, 8, 16}},
                              square[] = {{1, 4, 16}, {1, 2, 128}}, row[] = {{1, 1, 8}, {1, 8, 32}};
static const MPIX_Section plain = {8, 1, in_one_piece}, strided = {8, 1, apart}, plane = {8, 2, square},
                          line = {8, 2, row};

static void put_buffer(void)
{
    MPI_Put(buffer, 8, MPI_DOUBLE, target, 0, 8, MPI_DOUBLE, win);
}

static void put_vector(void)
{
    MPI_Put(buffer, 1, vector, target, 0, 8, MPI_DOUBLE, win);
}

static void put_plain(void)
{
    MPIX_Put_section(buffer, &plain, 8, MPI_DOUBLE, target, 0, NULL, 8, MPI_DOUBLE, win);
}

static void put_strided(void)
{
    MPIX_Put_section(buffer, &strided, 8, MPI_DOUBLE, target, 0, NULL, 8, MPI_DOUBLE, win);
}

static void put_plane(void)
{
    MPIX_Put_section(buffer, &plane, 8, MPI_DOUBLE, target, 0, NULL, 8, MPI_DOUBLE, win);
}

static void put_line(void)
{
    MPIX_Put_section(buffer, &line, 8, MPI_DOUBLE, target, 0, NULL, 8, MPI_DOUBLE, win);
}

static void put_both(void)
{
    MPIX_Put_section(buffer, &strided, 8, MPI_DOUBLE, target, 0, &line, 8, MPI_DOUBLE, win);
}

static void get_strided(void)
{
    MPIX_Get_section(buffer, &strided, 8, MPI_DOUBLE, target, 0, NULL, 8, MPI_DOUBLE, win);
}

static void acc_strided(void)
{
    MPIX_Accumulate_section(buffer, &strided, 8, MPI_DOUBLE, target, 0, NULL, 8, MPI_DOUBLE, MPI_SUM, win);
}

static const struct {
    const char *name;
    void (*call)(void);
} rows[] = {{"put_buffer", put_buffer},   {"put_vector", put_vector},   {"put_plain", put_plain},
            {"put_strided", put_strided}, {"put_plane", put_plane},     {"put_line", put_line},
            {"put_both", put_both},       {"get_strided", get_strided}, {"acc_strided", acc_strided}};

static void measure_all(void)
{
    MPI_Type_vector(8, 1, 2, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        show(rows[i].name, call_flush, rows[i].call);
    }
    MPI_Type_free(&vector);
}

int main(int argc, char **argv)
{
    return count_on_window(argc, argv, sizeof buffer, sizeof(double), measure_all);
}
