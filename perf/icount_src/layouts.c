/* What one-sided calls and packing execute for layouts of BLOCKS blocks of one long, counted exactly
 * (trace.h). Plain MPI, so that the same program runs on any library. Prints the lines of steps.c, for whole
 * calls. x86-64 only. Exit code 77: cannot trace here. */
#include "window.h"

#define BLOCKS 256
#define LONGS 4096 /* of a buffer */

enum layout { DENSE, VECTOR, HVECTOR, PAIRS, SUBARRAY, INDEXED, UNEVEN, LAYOUTS };
static const char *const layout_names[LAYOUTS] = {"dense",    "vector",  "hvector", "pairs",
                                                  "subarray", "indexed", "uneven"};
enum call { PUT, GET, ACC, RPUT, RGET, RGET_ACC, PACK, UNPACK, CALLS };
static const char *const call_names[CALLS] = {"put",  "get",     "acc",  "rput",
                                              "rget", "rgetacc", "pack", "unpack"};

/* What is counted: a call, the origin's layout, the target's. */
static const struct row {
    enum call call;
    enum layout mine, theirs;
} rows[] = {
    {PUT, DENSE, VECTOR},       {PUT, VECTOR, DENSE},         {PUT, VECTOR, VECTOR},
    {PUT, PAIRS, VECTOR},       {PUT, SUBARRAY, SUBARRAY},    {PUT, SUBARRAY, VECTOR},
    {PUT, DENSE, INDEXED},      {PUT, INDEXED, INDEXED},      {PUT, UNEVEN, INDEXED},
    {GET, VECTOR, VECTOR},      {GET, PAIRS, SUBARRAY},       {GET, INDEXED, DENSE},
    {ACC, DENSE, DENSE},        {ACC, DENSE, VECTOR},         {ACC, VECTOR, SUBARRAY},
    {ACC, VECTOR, INDEXED},     {PUT, HVECTOR, DENSE},        {RPUT, VECTOR, VECTOR},
    {RPUT, INDEXED, INDEXED},   {RGET, VECTOR, VECTOR},       {RGET, INDEXED, INDEXED},
    {RGET_ACC, VECTOR, VECTOR}, {RGET_ACC, INDEXED, INDEXED}, {PACK, VECTOR, DENSE},
    {PACK, INDEXED, DENSE},     {UNPACK, VECTOR, DENSE},      {UNPACK, INDEXED, DENSE},
};

static MPI_Datatype types[LAYOUTS];
static long buffer[LONGS], result[LONGS], packed[BLOCKS];
static const struct row *row;

/* With the wait for it. */
static void call_request(MPI_Datatype mine, MPI_Datatype theirs)
{
    MPI_Request request;
    if (row->call == RPUT) {
        MPI_Rput(buffer, 1, mine, target, 0, 1, theirs, win, &request);
    } else if (row->call == RGET) {
        MPI_Rget(buffer, 1, mine, target, 0, 1, theirs, win, &request);
    } else {
        MPI_Rget_accumulate(buffer, 1, mine, result, 1, mine, target, 0, 1, theirs, MPI_SUM, win, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void call_row(void)
{
    MPI_Datatype mine = types[row->mine], theirs = types[row->theirs];
    int at = 0;
    switch (row->call) {
    case PUT:
        MPI_Put(buffer, 1, mine, target, 0, 1, theirs, win);
        break;
    case GET:
        MPI_Get(buffer, 1, mine, target, 0, 1, theirs, win);
        break;
    case ACC:
        MPI_Accumulate(buffer, 1, mine, target, 0, 1, theirs, MPI_SUM, win);
        break;
    case RPUT:
    case RGET:
    case RGET_ACC:
        call_request(mine, theirs);
        break;
    case PACK:
        MPI_Pack(buffer, 1, mine, packed, sizeof packed, &at, MPI_COMM_SELF);
        break;
    default:
        MPI_Unpack(packed, sizeof packed, &at, buffer, 1, mine, MPI_COMM_SELF);
    }
}

/* All have BLOCKS longs; the stride of HVECTOR is no number of longs; PAIRS has blocks of two, UNEVEN of one
 * and three. */
static void make_types(void)
{
    int displs[BLOCKS], lens[BLOCKS], sizes[] = {20, 20, 4}, part[] = {16, 16, 1}, starts[] = {1, 2, 1};
    MPI_Type_contiguous(BLOCKS, MPI_LONG, &types[DENSE]);
    MPI_Type_vector(BLOCKS, 1, 3, MPI_LONG, &types[VECTOR]);
    MPI_Type_create_hvector(BLOCKS, 1, 20, MPI_LONG, &types[HVECTOR]);
    MPI_Type_vector(BLOCKS / 2, 2, 5, MPI_LONG, &types[PAIRS]);
    MPI_Type_create_subarray(3, sizes, part, starts, MPI_ORDER_C, MPI_LONG, &types[SUBARRAY]);
    for (int i = 0; i < BLOCKS; i++) {
        displs[i] = 8 * i + i * i % 7;
        lens[i] = i % 2 != 0 ? 3 : 1;
    }
    MPI_Type_create_indexed_block(BLOCKS, 1, displs, MPI_LONG, &types[INDEXED]);
    MPI_Type_indexed(BLOCKS / 2, lens, displs, MPI_LONG, &types[UNEVEN]);
    for (int i = 0; i < LAYOUTS; i++) {
        MPI_Type_commit(&types[i]);
    }
}

static void measure_all(void)
{
    make_types();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[64];
        row = &rows[i];
        snprintf(name, sizeof name, "%s_%s_%s", call_names[row->call], layout_names[row->mine],
                 layout_names[row->theirs]);
        show(name, call_flush, call_row);
    }
    for (int i = 0; i < LAYOUTS; i++) {
        MPI_Type_free(&types[i]);
    }
}

int main(int argc, char **argv)
{
    return count_on_window(argc, argv, sizeof buffer, sizeof(long), measure_all);
}
