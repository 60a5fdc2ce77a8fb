/* For buffers.h: the arguments of calls, and what they are about: memory, layouts, windows of each kind,
 * files. */
#ifndef BUFFERS_GIVEN_H
#define BUFFERS_GIVEN_H

#include "../mpi/mpi_test.h"

#include <fcntl.h>
#include <hotlane.h>

#define TAG 7
#define PARTITIONS 2
#define MOST 20000    /* elements of a block */
#define ELEMENT 4     /* ints of data of an element */
#define EXTENT_MAX 32 /* bytes of an element with its holes */
#define BLOCKS_MAX 16 /* a block for each rank or neighbour */
#define AREA_BYTES ((size_t)MOST * EXTENT_MAX)
#define FLAG_AT ((MPI_Aint)AREA_BYTES - 8) /* of a notification, in a window */

/* How a call is made and what else must be called. */
enum kind {
    SEND,
    READY,
    RECV,
    MRECV,
    PSEND,
    PRECV,
    BOTH,
    COLL,
    NEIGHBOR,
    RMA,
    WORD,
    FILES,
    SHARED,
    PACK,
    UNPACK,
    LOCAL
};

enum {
    READS = 1,
    WRITES = 2,
    ONE_TYPE = 4, /* for both its buffers */
    REQUEST = 8,
    AGAIN = 16, /* the request is persistent */
    ROOTED = 32,
    LARGE = 64,
    SEND_STAYS = 128, /* takes MPI_IN_PLACE as sendbuf */
    ROOT_SEND_STAYS = 256,
    ROOT_RECV_STAYS = 512,
};
#define STAYS (SEND_STAYS | ROOT_SEND_STAYS | ROOT_RECV_STAYS)

struct row {
    const char *name;
    int (*call)(void);
    enum kind kind;
    int flags;
};

struct buffer {
    void *buf;
    MPI_Datatype type;
};

/* The arguments. */
static struct {
    struct buffer in, out; /* what is read, what is written */
    MPI_Datatype one, there, in_types[BLOCKS_MAX], out_types[BLOCKS_MAX];
    MPI_Count count, counts_c[BLOCKS_MAX];
    MPI_Aint displs_c[BLOCKS_MAX], bytes_c[BLOCKS_MAX];
    int counts[BLOCKS_MAX], displs[BLOCKS_MAX], bytes[BLOCKS_MAX];
    MPI_Comm comm;
    int root, dest, source, target;
    MPI_Op op;
    MPI_Win win;
    MPI_Aint disp;
    const MPIX_Section *section; /* none, or a contiguous one */
    MPI_File file;
    MPI_Offset offset;
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    int at;
    MPI_Aint at_a;
    MPI_Count at_c;
} given;

/* Which buffers are at absolute addresses, and whether data are in place. */
enum { IN_ABSOLUTE = 1, OUT_ABSOLUTE = 2, STAY = 4, MODES = 8 };

/* Memory whose contents are compared: what is read, what is written, the other side's and packed data. */
enum { IN, OUT, SIDE, AREAS };
static int *area[AREAS];
static void *side_area;
static size_t side_bytes;
static char *was[AREAS + 1]; /* the same after a call with ordinary buffers, and the window's memory */

static int blocks, shape, extent;
static MPI_Datatype layout[2], absolute[2][2]; /* [shape], [shape][IN or OUT] */
static MPI_Comm whole, ring, alone;            /* alone: neighbours are nobody */
static MPI_Comm across;                        /* even ranks and odd ones, as many; null: there are not */
static MPI_Op ops[2];
static const char *now = "the start";

static void must(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;

    if (code != MPI_SUCCESS) {
        MPI_Error_string(code, text, &len);
        fprintf(stderr, "rank %d of %d: %s, %s: %s\n", me, size, now, what, text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* ---- Layouts: four ints, one behind the other or with a hole ---- */

static const int places[2][ELEMENT] = {{0, 1, 2, 3}, {0, 1, 3, 4}};

static MPI_Datatype element_of(int with_holes)
{
    int lens[2] = {2, 2}, at[2] = {places[with_holes][0], places[with_holes][2]};
    MPI_Datatype ints, made;

    MPI_Type_indexed(2, lens, at, MPI_INT, &ints);
    MPI_Type_create_resized(ints, 0, with_holes ? EXTENT_MAX : 4 * ELEMENT, &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&ints);
    return made;
}

static MPI_Datatype at_address(const void *address, MPI_Datatype element)
{
    MPI_Aint at;
    int one = 1;
    MPI_Datatype made;

    MPI_Get_address(address, &at);
    MPI_Type_create_struct(1, &one, &at, &element, &made);
    MPI_Type_commit(&made);
    return made;
}

/* Knows nothing of the elements but where their ints are. */
static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Aint lb, distance, first, data;

    MPI_Type_get_extent(*type, &lb, &distance);
    MPI_Type_get_true_extent(*type, &first, &data);
    for (int i = 0; i < *n; i++) {
        const unsigned *from = (void *)((uintptr_t)in + (uintptr_t)(first + i * distance));
        unsigned *to = (void *)((uintptr_t)inout + (uintptr_t)(first + i * distance));
        int holes = distance == EXTENT_MAX;
        for (int k = 0; k < ELEMENT; k++) {
            to[places[holes][k]] += from[places[holes][k]];
        }
    }
}

static void make_types(void)
{
    for (int i = 0; i < 2; i++) {
        layout[i] = element_of(i);
        absolute[i][IN] = at_address(area[IN], layout[i]);
        absolute[i][OUT] = at_address(area[OUT], layout[i]);
        MPI_Op_create(add, i, &ops[i]);
    }
}

/* ---- Windows of each kind, and files ---- */

enum { ALLOCATED, CREATED, DYNAMIC, NODE, FLAVORS };

static struct {
    MPI_Win win;
    MPI_Comm comm;
    int rank, size;
    int *memory;   /* mine */
    MPI_Aint disp; /* of my right neighbour's */
} windows[FLAVORS];

static void open_window(int flavor)
{
    MPI_Comm comm = whole;
    MPI_Aint mine = 0;
    void *memory = NULL;
    MPI_Win win;

    if (flavor == NODE) {
        MPI_Comm_split_type(whole, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
        must(MPI_Win_allocate_shared((MPI_Aint)AREA_BYTES, 1, MPI_INFO_NULL, comm, &memory, &win), "shared");
    } else if (flavor == ALLOCATED) {
        must(MPI_Win_allocate((MPI_Aint)AREA_BYTES, 1, MPI_INFO_NULL, comm, &memory, &win), "allocate");
    } else {
        CHECK((memory = malloc(AREA_BYTES)) != NULL);
    }
    if (flavor == CREATED) {
        must(MPI_Win_create(memory, (MPI_Aint)AREA_BYTES, 1, MPI_INFO_NULL, comm, &win), "create");
    } else if (flavor == DYNAMIC) {
        must(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win), "dynamic");
        must(MPI_Win_attach(win, memory, (MPI_Aint)AREA_BYTES), "attach");
        MPI_Get_address(memory, &mine);
    }
    MPI_Comm_rank(comm, &windows[flavor].rank);
    MPI_Comm_size(comm, &windows[flavor].size);
    int n = windows[flavor].size, r = windows[flavor].rank;
    MPI_Sendrecv(&mine, 1, MPI_AINT, (r + n - 1) % n, TAG, &windows[flavor].disp, 1, MPI_AINT, (r + 1) % n,
                 TAG, comm, MPI_STATUS_IGNORE);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    windows[flavor].win = win;
    windows[flavor].comm = comm;
    windows[flavor].memory = memory;
}

static void close_window(int flavor)
{
    MPI_Win_unlock_all(windows[flavor].win);
    if (flavor == DYNAMIC) {
        MPI_Barrier(whole);
        MPI_Win_detach(windows[flavor].win, windows[flavor].memory);
    }
    MPI_Win_free(&windows[flavor].win);
    if (flavor == CREATED || flavor == DYNAMIC) {
        free(windows[flavor].memory);
    }
    if (flavor == NODE) {
        MPI_Comm_free(&windows[flavor].comm);
    }
}

static MPI_File files[2]; /* the second converts */
static int file_fd;

static void open_files(void)
{
    const char *folder = getenv("TMPDIR");
    char name[256];

    snprintf(name, sizeof name, "%s/hotlane-buffers-%d", folder != NULL ? folder : "/tmp", (int)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, whole);
    for (int i = 0; i < 2; i++) {
        must(MPI_File_open(whole, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &files[i]),
             "open");
    }
    must(MPI_File_set_view(files[1], 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL), "view");
    CHECK((file_fd = open(name, O_RDWR)) >= 0);
}

/* ---- Contents ---- */

static size_t used(void)
{
    size_t n = (size_t)(blocks > PARTITIONS ? blocks : PARTITIONS) * (size_t)given.count * (size_t)extent;
    return n > (size_t)extent ? n : (size_t)extent;
}

static size_t window_used(void)
{
    return (size_t)given.count * (size_t)extent;
}

static void fill(int *memory, size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes / sizeof(int); i++) {
        memory[i] = (int)((i * 31 + (unsigned)seed * 101 + (unsigned)me * 37) % 9973);
    }
}

static long changes(const int *memory, size_t bytes, int seed)
{
    long n = 0;
    for (size_t i = 0; i < bytes / sizeof(int); i++) {
        n += memory[i] != (int)((i * 31 + (unsigned)seed * 101 + (unsigned)me * 37) % 9973);
    }
    return n;
}

static void keep_or_compare(int which, const void *memory, size_t bytes, bool keep, const char *what)
{
    if (keep) {
        memcpy(was[which], memory, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i++) {
        if (((const char *)memory)[i] != was[which][i]) {
            fprintf(stderr,
                    "rank %d of %d: %s, %s: byte %zu of %zu differs from that with ordinary buffers\n", me,
                    size, now, what, i, bytes);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

#endif
