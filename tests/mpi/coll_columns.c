/* Reductions by a user's operation of types whose elements lie within each other (columns of a matrix), and of a
 * type whose data begin behind the start of its element: operands are whole, and aligned as in an array. */
#include "mpi_test.h"

enum { ROWS = 100, COLUMNS = 100, BLOCK = 16 };

static double matrix[ROWS][COLUMNS], result[ROWS][COLUMNS];

/* Both add; each element of `type` is a column. */
static void add_columns(void *in, void *sum, int *n, MPI_Datatype *type)
{
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < *n; i++) {
            ((double *)sum)[row * COLUMNS + i] += ((double *)in)[row * COLUMNS + i];
        }
    }
}

static void fill(void)
{
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < COLUMNS; i++) {
            matrix[row][i] = 1000.0 * row + i + 0.25 * me;
            result[row][i] = -1;
        }
    }
}

/* Columns from `first` on have been reduced into the first `n` of `at`; no other one there is changed. */
static void check(const double (*at)[COLUMNS], int first, int n, bool in_place)
{
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < COLUMNS; i++) {
            double sum = size * (1000.0 * row + i + first) + 0.25 * (size * (size - 1) / 2);
            double before = in_place ? 1000.0 * row + i + 0.25 * me : -1;
            CHECK(at[row][i] == (i < n ? sum : before));
        }
    }
}

static void scatter_columns(MPI_Datatype column, int commutes)
{
    int counts[64], first = 0;
    MPI_Op add;
    MPI_Request r;
    MPI_Op_create(add_columns, commutes, &add);
    for (int i = 0; i < size; i++) {
        counts[i] = i == 0 ? COLUMNS - BLOCK * (size - 1) : BLOCK;
        first += i < me ? counts[i] : 0;
    }
    for (int way = 0; way < 3; way++) {
        fill();
        if (way == 0) {
            MPI_Reduce_scatter(matrix, result, counts, column, add, MPI_COMM_WORLD);
        } else if (way == 1) {
            MPI_Reduce_scatter(MPI_IN_PLACE, matrix, counts, column, add, MPI_COMM_WORLD);
        } else {
            MPI_Ireduce_scatter(matrix, result, counts, column, add, MPI_COMM_WORLD, &r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
        check((const double(*)[COLUMNS])(way == 1 ? matrix : result), first, counts[me], way == 1);
    }
    fill();
    MPI_Allreduce(matrix, result, COLUMNS, column, add, MPI_COMM_WORLD);
    check((const double(*)[COLUMNS])result, 0, COLUMNS, false);
    MPI_Op_free(&add);
}

struct late {
    long unused;
    int n;
    _Alignas(16) double v[2];
};

static void add_late(void *in, void *sum, int *n, MPI_Datatype *type)
{
    CHECK_EQ((uintptr_t)in % _Alignof(struct late), 0);
    CHECK_EQ((uintptr_t)sum % _Alignof(struct late), 0);
    for (int i = 0; i < *n; i++) {
        ((struct late *)sum)[i].n += ((struct late *)in)[i].n;
        ((struct late *)sum)[i].v[1] += ((struct late *)in)[i].v[1];
    }
}

static void reduce_late(void)
{
    struct late mine[3] = {{0, 1, {2, 3}}, {0, 4, {5, 6}}, {0, 7, {8, 9}}}, sum[3];
    MPI_Datatype block, type;
    MPI_Op add;
    MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){offsetof(struct late, n), offsetof(struct late, v)},
                           (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &block);
    MPI_Type_create_resized(block, 0, sizeof(struct late), &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_late, 0, &add);
    for (int turn = 0; turn < 8; turn++) { /* the first ones go by messages */
        MPI_Allreduce(mine, sum, 3, type, add, MPI_COMM_WORLD);
        CHECK(sum[2].n == 7 * size && sum[2].v[1] == 9.0 * size && sum[2].v[0] == 8);
        MPI_Scan(mine, sum, 3, type, add, MPI_COMM_WORLD);
        CHECK(sum[1].n == 4 * (me + 1));
    }
    MPI_Op_free(&add);
    MPI_Type_free(&block);
    MPI_Type_free(&type);
}

int main(void)
{
    MPI_Datatype vector, column;
    test_start(1);
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &vector);
    MPI_Type_create_resized(vector, 0, sizeof(double), &column);
    MPI_Type_commit(&column);
    scatter_columns(column, 0);
    scatter_columns(column, 1);
    MPI_Type_free(&vector);
    MPI_Type_free(&column);
    reduce_late();
    MPI_Finalize();
    return 0;
}
