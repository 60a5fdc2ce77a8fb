/* Random one-sided operations against a serial model. Every thread of every rank owns a section of each
 * target's memory, knows what must be in it, and completes its operations before one would conflict with
 * another. usage: rma_random all|each|fence THREADS OPERATIONS   (lock_all, a lock for each target, fence) */
#include "mpi_test.h"

enum { N = 96 }; /* elements of a section */
enum { FREE, PUT, GET, ACC };
enum sync { ALL, EACH, FENCE };

/* A result that is known when the operation has completed. */
struct result {
    struct result *next;
    uint64_t *got;
    int n, stride;
    uint64_t want[N];
};

/* What one thread knows of its section on one target. */
struct section {
    uint64_t model[N];
    int pending[N]; /* FREE, PUT, GET, or ACC + kind of update */
    bool locked;
    struct result *results; /* buffers of operations under way */
};

/* An operation: elements at, at + stride, ... of the target's section. */
struct access {
    struct section *s;
    int target, at, n, stride, origin_stride;
};

static enum sync sync_mode;
static int threads, operations;
static uint64_t seed;
static MPI_Win win;
static int units[64]; /* displacement unit of each rank */
static struct section *sections;

static struct section *section_of(int thread, int target)
{
    return &sections[thread * size + target];
}

static int pick(uint64_t *state, int n)
{
    return (int)(test_random(state) % (uint64_t)n);
}

/* Everything on a target has completed. */
static void settle(struct section *s, int target)
{
    for (struct result *r = s->results; r != NULL; r = s->results) {
        for (int i = 0; i < r->n; i++) {
            if (r->got[i * r->stride] != r->want[i]) {
                fprintf(stderr, "rank %d: element %d of %d from rank %d is %llx instead of %llx\n", me, i,
                        r->n, target, (unsigned long long)r->got[i * r->stride],
                        (unsigned long long)r->want[i]);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        }
        s->results = r->next;
        free(r->got);
        free(r);
    }
    memset(s->pending, 0, sizeof s->pending);
}

static void complete(int thread, int target, uint64_t *state)
{
    if (sync_mode == EACH) {
        MPI_Win_unlock(target, win);
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    } else if (pick(state, 4) == 0) {
        MPI_Win_flush_all(win);
        for (int i = 0; i < size; i++) {
            settle(section_of(thread, i), i);
        }
    } else {
        if (pick(state, 4) == 0) {
            MPI_Win_flush_local(target, win);
        }
        MPI_Win_flush(target, win);
    }
    settle(section_of(thread, target), target);
}

/* A buffer that lives until the operation has completed; its first n strided elements are filled. */
static struct result *keep(const struct access *a, uint64_t *state)
{
    struct result *r = calloc(1, sizeof *r);

    r->got = malloc((size_t)a->n * (size_t)a->origin_stride * 8);
    r->stride = a->origin_stride;
    for (int i = 0; i < a->n; i++) {
        r->got[i * a->origin_stride] = test_random(state);
    }
    r->next = a->s->results;
    a->s->results = r;
    return r;
}

/* The results that an operation must bring: what the model says now. */
static void expect(struct result *r, const struct access *a)
{
    r->n = a->n;
    for (int i = 0; i < a->n; i++) {
        r->want[i] = a->s->model[a->at + i * a->stride];
    }
}

static void mark(const struct access *a, int how)
{
    for (int i = 0; i < a->n; i++) {
        a->s->pending[a->at + i * a->stride] = how;
    }
}

static bool conflicts(const struct access *a, int how)
{
    for (int i = 0; i < a->n; i++) {
        int there = a->s->pending[a->at + i * a->stride];
        if (there != FREE && (there != how || how == PUT)) {
            return true;
        }
    }
    return false;
}

/* n elements of `type`, `stride` apart: *count of the type returned, which the caller frees unless it is
 * `type`. */
static MPI_Datatype spread(int n, int stride, MPI_Datatype type, int per_element, int *count)
{
    MPI_Datatype made;

    if (stride == 1) {
        *count = n * per_element;
        return type;
    }
    *count = 1;
    MPI_Type_vector(n, per_element, stride * per_element, type, &made);
    MPI_Type_commit(&made);
    return made;
}

static MPI_Aint place(const struct access *a, int thread)
{
    return (MPI_Aint)(((me * threads + thread) * N + a->at) * 8 / units[a->target]);
}

static void put_or_get(const struct access *a, int thread, bool put, uint64_t *state)
{
    struct result *r = keep(a, state);
    int on, tn, request = sync_mode != FENCE && pick(state, 4) == 0;
    MPI_Datatype origin = spread(a->n, a->origin_stride, MPI_UINT64_T, 1, &on);
    MPI_Datatype target = spread(a->n, a->stride, MPI_UINT64_T, 1, &tn);
    MPI_Request req;

    if (put) {
        for (int i = 0; i < a->n; i++) {
            a->s->model[a->at + i * a->stride] = r->got[i * a->origin_stride];
        }
    } else {
        expect(r, a);
    }
    MPI_Aint at = place(a, thread);
    if (put && request) {
        MPI_Rput(r->got, on, origin, a->target, at, tn, target, win, &req);
    } else if (put) {
        MPI_Put(r->got, on, origin, a->target, at, tn, target, win);
    } else if (request) {
        MPI_Rget(r->got, on, origin, a->target, at, tn, target, win, &req);
    } else {
        MPI_Get(r->got, on, origin, a->target, at, tn, target, win);
    }
    if (request) {
        MPI_Wait(&req, MPI_STATUS_IGNORE);
    }
    if (origin != MPI_UINT64_T) {
        MPI_Type_free(&origin);
    }
    if (target != MPI_UINT64_T) {
        MPI_Type_free(&target);
    }
    mark(a, put ? PUT : GET);
}

/* Kinds of updates: conflicting ones are kept apart. */
enum { SUM64, SUM32, XOR8, MAX64, REPLACE64, SWAP64, UPDATES };

static uint64_t updated(int kind, uint64_t old, uint64_t by)
{
    switch (kind) {
    case SUM64:
        return old + by;
    case SUM32:
        return (uint32_t)(old + by) | (uint64_t)((uint32_t)(old >> 32) + (uint32_t)(by >> 32)) << 32;
    case XOR8:
        return old ^ by;
    case MAX64:
        return (int64_t)by > (int64_t)old ? by : old;
    default:
        return by;
    }
}

static MPI_Datatype update_type(int kind)
{
    return kind == SUM32 ? MPI_INT32_T : kind == XOR8 ? MPI_BYTE : kind == MAX64 ? MPI_INT64_T : MPI_UINT64_T;
}

static MPI_Op update_op(int kind)
{
    return kind == MAX64 ? MPI_MAX : kind == XOR8 ? MPI_BXOR : kind == REPLACE64 ? MPI_REPLACE : MPI_SUM;
}

static void accumulate(const struct access *a, int thread, int kind, uint64_t *state)
{
    struct result *r = keep(a, state), *old = NULL;
    MPI_Datatype basic = update_type(kind);
    int per = kind == SUM32 ? 2 : kind == XOR8 ? 8 : 1, on, tn, fetched;
    MPI_Datatype origin = spread(a->n, a->origin_stride, basic, per, &on);
    MPI_Datatype target = spread(a->n, a->stride, basic, per, &tn);

    if (pick(state, 2)) {
        old = keep(a, state);
        expect(old, a);
    }
    for (int i = 0; i < a->n; i++) {
        uint64_t *m = &a->s->model[a->at + i * a->stride];
        *m = updated(kind, *m, r->got[i * a->origin_stride]);
    }
    MPI_Aint at = place(a, thread);
    if (old == NULL) {
        MPI_Accumulate(r->got, on, origin, a->target, at, tn, target, update_op(kind), win);
    } else if (a->n == 1 && per == 1) {
        MPI_Fetch_and_op(r->got, old->got, basic, a->target, at, update_op(kind), win);
    } else {
        MPI_Datatype result = spread(a->n, a->origin_stride, basic, per, &fetched);
        MPI_Get_accumulate(r->got, on, origin, old->got, fetched, result, a->target, at, tn, target,
                           update_op(kind), win);
        if (result != basic) {
            MPI_Type_free(&result);
        }
    }
    if (origin != basic) {
        MPI_Type_free(&origin);
    }
    if (target != basic) {
        MPI_Type_free(&target);
    }
    mark(a, ACC + kind);
}

/* Compares with what is there, or with something else. */
static void swap(struct access *a, int thread, uint64_t *state)
{
    a->n = 1;
    struct result *fresh = keep(a, state), *compare = keep(a, state), *old = keep(a, state);
    uint64_t *m = &a->s->model[a->at];

    expect(old, a);
    if (pick(state, 2)) {
        *compare->got = *m;
    }
    if (*compare->got == *m) {
        *m = *fresh->got;
    }
    MPI_Compare_and_swap(fresh->got, compare->got, old->got, MPI_UINT64_T, a->target, place(a, thread), win);
    mark(a, ACC + SWAP64);
}

static void one_operation(int thread, uint64_t *state)
{
    struct access a = {.target = pick(state, size), .at = pick(state, N)};
    int what = pick(state, 3), kind = pick(state, UPDATES),
        how = what == 0   ? PUT
              : what == 1 ? GET
                          : ACC + kind;

    a.s = section_of(thread, a.target);
    a.stride = pick(state, 3) == 0 ? 1 + pick(state, 3) : 1;
    a.origin_stride = pick(state, 3) == 0 ? 1 + pick(state, 3) : 1;
    a.n = pick(state, 2) ? 1 : 1 + pick(state, (N - 1 - a.at) / a.stride + 1);
    if (sync_mode == EACH && !a.s->locked) {
        MPI_Win_lock(MPI_LOCK_SHARED, a.target, 0, win);
        a.s->locked = true;
    }
    if (conflicts(&a, how)) {
        if (sync_mode == FENCE) {
            return;
        }
        complete(thread, a.target, state);
    }
    if (how == PUT || how == GET) {
        put_or_get(&a, thread, how == PUT, state);
    } else if (kind == SWAP64) {
        swap(&a, thread, state);
    } else {
        accumulate(&a, thread, kind, state);
    }
}

static void *work(void *number)
{
    int thread = (int)(intptr_t)number;
    uint64_t state = seed + (uint64_t)(me * 1000 + thread + 1);

    for (int i = 0; i < operations; i++) {
        if (sync_mode == FENCE && i % 20 == 0) {
            MPI_Win_fence(0, win);
            for (int t = 0; t < size; t++) {
                settle(section_of(0, t), t);
            }
        }
        one_operation(thread, &state);
    }
    for (int i = 0; i < size && sync_mode == ALL; i++) {
        MPI_Win_flush(i, win);
        settle(section_of(thread, i), i);
    }
    return NULL;
}

/* All epochs end; every rank compares its memory with what the others say. */
static void verify(const uint64_t *memory)
{
    size_t mine = (size_t)threads * N;
    uint64_t *out = malloc(mine * (size_t)size * 8), *in = malloc(mine * (size_t)size * 8);

    for (int i = 0; i < size; i++) {
        for (int t = 0; t < threads; t++) {
            memcpy(out + ((size_t)(i * threads + t)) * N, section_of(t, i)->model, N * 8);
        }
    }
    MPI_Alltoall(out, (int)mine, MPI_UINT64_T, in, (int)mine, MPI_UINT64_T, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
    for (size_t i = 0; i < mine * (size_t)size; i++) {
        if (memory[i] != in[i]) {
            fprintf(stderr, "rank %d: element %zu of the section of rank %zu is %llx instead of %llx\n", me,
                    i % mine, i / mine, (unsigned long long)memory[i], (unsigned long long)in[i]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_Win_unlock(me, win);
    free(out);
    free(in);
}

static uint64_t *open_window(bool allocate)
{
    MPI_Aint bytes = (MPI_Aint)size * threads * N * 8;
    uint64_t *memory = NULL;

    for (int i = 0; i < size; i++) {
        units[i] = i % 2 ? 1 : 8;
    }
    if (allocate) {
        MPI_Win_allocate(bytes, units[me], MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    } else {
        memory = malloc((size_t)bytes);
        MPI_Win_create(memory, bytes, units[me], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
    memset(memory, 0, (size_t)bytes);
    MPI_Win_unlock(me, win);
    MPI_Barrier(MPI_COMM_WORLD);
    return memory;
}

static void run(bool allocate)
{
    uint64_t *memory = open_window(allocate);

    sections = calloc((size_t)(size * threads), sizeof *sections);
    if (sync_mode == ALL) {
        MPI_Win_lock_all(0, win);
    }
    test_threads(threads, work);
    for (int i = 0; i < size; i++) {
        if (section_of(0, i)->locked) {
            MPI_Win_unlock(i, win);
            settle(section_of(0, i), i);
        }
    }
    if (sync_mode == ALL) {
        MPI_Win_unlock_all(win);
    } else if (sync_mode == FENCE) {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        for (int i = 0; i < size; i++) {
            settle(section_of(0, i), i);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    verify(memory);
    MPI_Win_free(&win);
    free(sections);
    if (!allocate) {
        free(memory);
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "all";

    sync_mode = strcmp(mode, "each") == 0 ? EACH : strcmp(mode, "fence") == 0 ? FENCE : ALL;
    threads = argc > 2 && sync_mode == ALL ? atoi(argv[2]) : 1;
    operations = argc > 3 ? atoi(argv[3]) : 500;
    test_start(1);
    seed = test_seed();
    run(true);
    run(false);
    MPI_Finalize();
    return 0;
}
