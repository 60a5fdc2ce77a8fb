/* MPI_Rget, MPI_Rput and MPI_Rget_accumulate with a wait for each, from five layouts into five, on windows of
 * each kind; what the first of them got is looked at. Prints a line a kind and call: both words and the
 * seconds that all ranks took. Argument: how often all is done. */
#include "rma.h"
#include "window_kinds.h"

enum call { RGET, RPUT, RGET_ACC, CALLS };
static const char *const call_names[CALLS] = {"MPI_Rget", "MPI_Rput", "MPI_Rget_accumulate"};
enum layout { DENSE, VECTOR, BACKWARDS, STRUCTURE, RESIZED, LAYOUTS };

/* Blocks, doubles of one, doubles from one to the next. */
static const struct shape {
    int blocks, len, stride;
} shapes[] = {{16, 2, 4}, {1000, 1, 2}, {700, 3, 5}, {3000, 7, 9}};
enum { SHAPES = sizeof shapes / sizeof shapes[0], MOST = 3000 * 9 };

static MPI_Datatype types[SHAPES][LAYOUTS];
static MPI_Win win;
static MPI_Aint first; /* displacement of the target's memory */
static double *memory, buffer[MOST], result[MOST];
static int target;

static MPI_Datatype make_layout(enum layout how, const struct shape *s)
{
    static int displs[MOST], lens[MOST];
    static MPI_Aint bytes[MOST];
    static MPI_Datatype items[MOST];
    MPI_Datatype made, plain;

    for (int i = 0; i < s->blocks; i++) {
        displs[i] = (s->blocks - 1 - i) * s->stride;
        lens[i] = s->len;
        bytes[i] = (MPI_Aint)i * s->stride * 8;
        items[i] = MPI_DOUBLE;
    }
    MPI_Type_vector(s->blocks, s->len, s->stride, MPI_DOUBLE, &plain);
    switch (how) {
    case DENSE:
        MPI_Type_contiguous(s->blocks * s->len, MPI_DOUBLE, &made);
        break;
    case VECTOR:
        MPI_Type_dup(plain, &made);
        break;
    case BACKWARDS:
        MPI_Type_create_indexed_block(s->blocks, s->len, displs, MPI_DOUBLE, &made);
        break;
    case STRUCTURE:
        MPI_Type_create_struct(s->blocks, lens, bytes, items, &made);
        break;
    default:
        MPI_Type_create_resized(plain, 0, (MPI_Aint)s->blocks * s->stride * 8, &made);
    }
    MPI_Type_free(&plain);
    MPI_Type_commit(&made);
    return made;
}

static void open_window(enum window_kind kind)
{
    memory = open_kind(kind, MOST * 8, &win, &first);
    for (int i = 0; i < MOST; i++) {
        memory[i] = me * 1e6 + i;
    }
    MPI_Win_lock_all(0, win);
    meet(win);
}

static void move(enum call call, MPI_Datatype mine, MPI_Datatype theirs)
{
    MPI_Request r;

    if (call == RGET) {
        MPI_Rget(buffer, 1, mine, target, first, 1, theirs, win, &r);
    } else if (call == RPUT) {
        MPI_Rput(buffer, 1, mine, target, first, 1, theirs, win, &r);
    } else {
        MPI_Rget_accumulate(buffer, 1, mine, result, 1, mine, target, first, 1, theirs, MPI_SUM, win, &r);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void move_all(enum call call)
{
    for (int s = 0; s < SHAPES; s++) {
        for (int mine = 0; mine < LAYOUTS; mine++) {
            for (int theirs = 0; theirs < LAYOUTS; theirs++) {
                move(call, types[s][mine], types[s][theirs]);
            }
        }
    }
    MPI_Win_flush(target, win);
}

/* A get, before anybody writes. */
static void look(void)
{
    const struct shape *s = &shapes[2];

    move(RGET, types[2][DENSE], types[2][VECTOR]);
    for (int i = 0; i < s->blocks * s->len; i++) {
        double right = target * 1e6 + i / s->len * s->stride + i % s->len;
        CHECK(buffer[i] == right, "element %d is %g, not %g", i, buffer[i], right);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int times = argc > 1 ? atoi(argv[1]) : 1;
    target = (me + 1) % ranks;
    for (int s = 0; s < SHAPES; s++) {
        for (int i = 0; i < LAYOUTS; i++) {
            types[s][i] = make_layout((enum layout)i, &shapes[s]);
        }
    }
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        open_window((enum window_kind)kind);
        look();
        meet(win);
        for (int call = 0; call < CALLS; call++) {
            move_all((enum call)call);
            meet(win);
            double start = MPI_Wtime();
            for (int i = 0; i < times; i++) {
                move_all((enum call)call);
            }
            meet(win);
            if (me == 0) {
                printf("%s %s %.6f\n", window_kinds[kind], call_names[call], MPI_Wtime() - start);
            }
        }
        MPI_Win_unlock_all(win);
        close_kind((enum window_kind)kind, memory, &win);
    }
    for (int s = 0; s < SHAPES; s++) {
        for (int i = 0; i < LAYOUTS; i++) {
            MPI_Type_free(&types[s][i]);
        }
    }
    return finish_checks("rma_derived");
}
