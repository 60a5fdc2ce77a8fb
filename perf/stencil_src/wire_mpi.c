/*
 * The stencil's communication over MPI: one window, one lock_all epoch for the whole run.
 */
#include "gate.h"
#include "wire.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hotlane's put with notification and flush with a request (hotlane.h); other MPIs do not have it, and the
 * addresses are NULL. */
int MPIX_Put_notify(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                    int count, MPI_Datatype type, MPI_Aint flag, uint64_t value, MPI_Win win)
    __attribute__((weak));
int MPIX_Win_flag_wait(MPI_Aint flag, int compare, uint64_t value, uint64_t *seen, MPI_Win win)
    __attribute__((weak));
int MPIX_Win_iflush(int rank, MPI_Win win, MPI_Request *request) __attribute__((weak));
enum { EQUAL = 0 }; /* MPIX_CMP_EQ */

enum { MESSAGE = 1 << 30 }; /* bytes; longer ones are sent in pieces */

static struct world world;
static MPI_Win win;
static double *base; /* of this rank's window */

static bool has(enum signal_by by)
{
    if (by == SIGNAL_NOTIFY)
        return MPIX_Put_notify && MPIX_Win_flag_wait;
    return by == SIGNAL_PUT || by == SIGNAL_ACCUMULATE || by == SIGNAL_FETCH_OP;
}

static struct world start(void)
{
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
    world.any_thread = provided == MPI_THREAD_MULTIPLE;
    return world;
}

static void finish(void)
{
    MPI_Finalize();
}

static void die(void)
{
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static double reduce(double mine, MPI_Op op)
{
    double all;

    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    return all;
}

static double max(double mine)
{
    return reduce(mine, MPI_MAX);
}

static double sum(double mine)
{
    return reduce(mine, MPI_SUM);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Moves bytes from a rank to rank 0. */
static void carry(int from, char *bytes, size_t count)
{
    for (size_t done = 0; done < count; done += MESSAGE) {
        int piece = (int)(count - done < MESSAGE ? count - done : MESSAGE);

        if (world.rank == 0)
            MPI_Recv(bytes + done, piece, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(bytes + done, piece, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

static int gather(const void *mine, size_t bytes, void **all, size_t *all_bytes)
{
    int64_t count = (int64_t)bytes, *counts = calloc((size_t)world.ranks, sizeof *counts);
    char *at = NULL;

    if (!counts)
        die();
    MPI_Gather(&count, 1, MPI_INT64_T, counts, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    *all_bytes = 0;
    for (int r = 0; r < world.ranks; r++)
        *all_bytes += (size_t)counts[r];
    *all = at = world.rank == 0 ? malloc(*all_bytes + 1) : NULL;
    bool ok = max(world.rank == 0 && !at) <= 0.0;
    if (ok && world.rank > 0)
        carry(world.rank, (char *)mine, bytes);
    if (ok && world.rank == 0)
        memcpy(at, mine, bytes);
    for (int r = 1; ok && world.rank == 0 && r < world.ranks; r++) {
        at += counts[r - 1];
        carry(r, at, (size_t)counts[r]);
    }
    free(counts);
    return ok ? 0 : -1;
}

/* Whether all ranks have succeeded; words of the first failure that a rank knows, here or from others. */
static bool store_ok(int code, char *error)
{
    int length;
    char words[MPI_MAX_ERROR_STRING];

    if (code != MPI_SUCCESS && !*error) {
        MPI_Error_string(code, words, &length);
        snprintf(error, STORE_ERROR, "%.*s", STORE_ERROR - 1, words);
    }
    return max(code != MPI_SUCCESS) <= 0.0;
}

static bool store_head(MPI_File f, struct store *s, bool write, char *error)
{
    double head[STORE_HEAD] = {0.0};
    int code = write ? MPI_File_write_at_all(f, 0, s->head, world.rank == 0 ? STORE_HEAD : 0, MPI_DOUBLE,
                                             MPI_STATUS_IGNORE)
                     : MPI_File_read_at_all(f, 0, head, STORE_HEAD, MPI_DOUBLE, MPI_STATUS_IGNORE);

    if (!store_ok(code, error) || write)
        return code == MPI_SUCCESS;
    if (memcmp(head, s->head, STORE_TIME * sizeof *head) != 0) {
        snprintf(error, STORE_ERROR, "holds no state of %g,%g,%g zones", s->head[2], s->head[3], s->head[4]);
        return false;
    }
    memcpy(s->head, head, sizeof head);
    return true;
}

/* One block by a view of its place; p past the last: only takes part. */
static bool store_block(MPI_File f, struct store *s, int p, bool write, char *error)
{
    MPI_Datatype part;
    MPI_Status status;
    int count = p < s->count ? (int)s->block : 0, moved = count;
    double *block = s->blocks + (p < s->count ? p : 0) * s->block;

    MPI_Type_create_subarray(4, s->whole, s->part, s->at[p < s->count ? p : 0], MPI_ORDER_C, MPI_DOUBLE,
                             &part);
    MPI_Type_commit(&part);
    int code = MPI_File_set_view(f, sizeof s->head, MPI_DOUBLE, part, "native", MPI_INFO_NULL);
    MPI_Type_free(&part);
    if (!store_ok(code, error))
        return false;
    code = write ? MPI_File_write_at_all(f, 0, block, count, MPI_DOUBLE, &status)
                 : MPI_File_read_at_all(f, 0, block, count, MPI_DOUBLE, &status);
    if (!store_ok(code, error))
        return false;
    MPI_Get_count(&status, MPI_DOUBLE, &moved);
    if (max(moved != count) <= 0.0)
        return true;
    snprintf(error, STORE_ERROR, "ends too early");
    return false;
}

static int store(const char *file, struct store *s, bool write, char *error)
{
    MPI_File f;
    int rounds = (int)max(s->count);

    *error = '\0';
    int code = MPI_File_open(MPI_COMM_WORLD, file,
                             write ? MPI_MODE_WRONLY | MPI_MODE_CREATE : MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
    if (!store_ok(code, error))
        return -1;
    bool ok = store_head(f, s, write, error);
    for (int p = 0; ok && p < rounds; p++)
        ok = store_block(f, s, p, write, error);
    return store_ok(MPI_File_close(&f), error) && ok ? 0 : -1;
}

static double *window_open(long words)
{
    MPI_Win_allocate((MPI_Aint)sizeof(double) * words, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                     &win);
    memset(base, 0, sizeof(double) * (size_t)words);
    MPI_Win_lock_all(0, win);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    return base;
}

static void window_close(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static void info_read(MPI_Info info, const char *key, char *text, int room)
{
    int there = 0;

    MPI_Info_get(info, key, room - 1, text, &there);
    if (!there)
        *text = '\0';
}

static struct dwelling dwelling(void)
{
    struct dwelling d;
    MPI_Info info;

    memset(&d, 0, sizeof d);
    MPI_Win_get_info(win, &info);
    info_read(info, "hotlane_page_size", d.page, sizeof d.page);
    info_read(info, "hotlane_nodes", d.nodes, sizeof d.nodes);
    MPI_Info_free(&info);
    return d;
}

static void put(struct block b)
{
    MPI_Put(b.here, (int)b.count, MPI_DOUBLE, b.rank, b.at, (int)b.count, MPI_DOUBLE, win);
}

static void put_flag(struct block b, struct flag f)
{
    MPIX_Put_notify(b.here, (int)b.count, MPI_DOUBLE, b.rank, b.at, (int)b.count, MPI_DOUBLE, f.at, *f.value,
                    win);
}

static void get(struct block b)
{
    MPI_Get(b.here, (int)b.count, MPI_DOUBLE, b.rank, b.at, (int)b.count, MPI_DOUBLE, win);
}

static void signal_write(struct flag f)
{
    switch (f.by) {
    case SIGNAL_ACCUMULATE:
        MPI_Accumulate(f.value, 1, MPI_UINT64_T, f.rank, f.at, 1, MPI_UINT64_T, MPI_REPLACE, win);
        break;
    case SIGNAL_FETCH_OP:
        MPI_Fetch_and_op(f.value, f.old, MPI_UINT64_T, f.rank, f.at, MPI_REPLACE, win);
        break;
    case SIGNAL_NOTIFY:
        put_flag((struct block){.rank = f.rank}, f);
        break;
    default:
        MPI_Put(f.value, 1, MPI_UINT64_T, f.rank, f.at, 1, MPI_UINT64_T, win);
    }
}

static void flush(const int *ranks, int count)
{
    if (count < 0)
        MPI_Win_flush_all(win);
    for (int t = 0; t < count; t++)
        MPI_Win_flush(ranks[t], win);
}

static bool can_begin(void)
{
    return MPIX_Win_iflush;
}

/* A flush that was begun. */
struct begun {
    int count;
    MPI_Request requests[];
};

static void *flush_begin(const int *ranks, int count)
{
    struct begun *b = malloc(sizeof *b + (size_t)count * sizeof *b->requests);

    if (!b)
        die();
    b->count = count;
    for (int t = 0; t < count; t++)
        MPIX_Win_iflush(ranks[t], win, &b->requests[t]);
    return b;
}

static bool flush_ended(void *begun, bool wait)
{
    struct begun *b = begun;
    int done = 1;

    if (wait)
        MPI_Waitall(b->count, b->requests, MPI_STATUSES_IGNORE);
    else
        MPI_Testall(b->count, b->requests, &done, MPI_STATUSES_IGNORE);
    if (done)
        free(b);
    return done;
}

static void publish(void)
{
    MPI_Win_sync(win);
}

/* Spins, then yields, then naps. */
static void flag_wait(enum signal_by by, long at, uint64_t value)
{
    const uint64_t *flag = (const uint64_t *)(const void *)(base + at);

    if (by == SIGNAL_NOTIFY) {
        MPIX_Win_flag_wait(at, EQUAL, value, NULL, win);
        return;
    }
    for (long looks = 0;; looks++) {
        uint64_t seen;

        MPI_Win_sync(win);
        /* acquire: pairs with the origin's flag, written after its blocks. */
#pragma omp atomic read acquire
        seen = *flag;
        if (seen == value)
            break;
        /* Some MPIs move other ranks' data only inside a call that completes something. */
        if (patience(looks))
            MPI_Win_flush(world.rank, win);
    }
    MPI_Win_sync(win);
}

const struct wire *wire_mpi(void)
{
    static const struct wire mpi = {.has = has,
                                    .start = start,
                                    .finish = finish,
                                    .die = die,
                                    .max = max,
                                    .sum = sum,
                                    .barrier = barrier,
                                    .gather = gather,
                                    .store = store,
                                    .open = window_open,
                                    .close = window_close,
                                    .dwelling = dwelling,
                                    .put = put,
                                    .put_flag = put_flag,
                                    .get = get,
                                    .signal = signal_write,
                                    .flush = flush,
                                    .can_begin = can_begin,
                                    .flush_begin = flush_begin,
                                    .flush_ended = flush_ended,
                                    .publish = publish,
                                    .wait = flag_wait};
    return &mpi;
}
