/* Every one-sided call does what the standard says, on windows of every kind. Any number of ranks. */
#include "rma.h"

#define N 64

enum kind { ALLOCATE, CREATE_PRIVATE, CREATE_ALLOC_MEM, SHARED, KINDS };
static const char *const kind_names[] = {"allocate", "create private", "create Alloc_mem", "allocate_shared"};

struct win {
    MPI_Win win;
    long *base;
    void *owned;
};

static int make(enum kind kind, MPI_Aint elements, int unit, struct win *w)
{
    MPI_Aint bytes = elements * (MPI_Aint)sizeof(long);
    w->owned = NULL;
    switch (kind) {
    case ALLOCATE:
        return MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &w->base, &w->win);
    case SHARED:
        return MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &w->base, &w->win);
    case CREATE_PRIVATE:
        w->base = w->owned = malloc((size_t)bytes + 1);
        break;
    default:
        MPI_Alloc_mem(bytes + 1, MPI_INFO_NULL, &w->base);
        break;
    }
    return MPI_Win_create(w->base, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &w->win);
}

static void destroy(enum kind kind, struct win *w)
{
    MPI_Win_free(&w->win);
    CHECK(w->win == MPI_WIN_NULL, "handle after free");
    if (kind == CREATE_ALLOC_MEM) {
        MPI_Free_mem(w->base);
    }
    free(w->owned);
}

static void clear(struct win *w)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        w->base[i] = -1;
    }
    meet_outside(w->win);
}

static void by_fence(struct win *w)
{
    int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    long out[N], in[N];

    clear(w);
    for (int i = 0; i < N; i++) {
        out[i] = me * 1000L + i;
        in[i] = -7;
    }
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win);
    MPI_Put(out, N, MPI_LONG, right, 0, N, MPI_LONG, w->win);
    MPI_Win_fence(0, w->win);
    for (int i = 0; i < N; i++) {
        CHECK(w->base[i] == left * 1000L + i, "[%d] = %ld", i, w->base[i]);
    }
    MPI_Get(in, N, MPI_LONG, right, 0, N, MPI_LONG, w->win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    CHECK(memcmp(in, out, sizeof in) == 0, "what was put comes back, [0] = %ld", in[0]);
}

static void by_lock(struct win *w)
{
    clear(w);
    for (int t = 0; t < ranks; t++) {
        long value = me * 100L + t, got = -2;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w->win);
        MPI_Put(&value, 1, MPI_LONG, t, me % N, 1, MPI_LONG, w->win);
        MPI_Win_flush(t, w->win);
        MPI_Get(&got, 1, MPI_LONG, t, me % N, 1, MPI_LONG, w->win);
        MPI_Win_unlock(t, w->win);
        CHECK(got == value, "target %d: %ld", t, got);
    }
    meet_outside(w->win);
    for (int i = 0; i < ranks && i < N; i++) {
        CHECK(w->base[i] == i * 100L + me, "[%d] = %ld", i, w->base[i]);
    }
}

static void by_lock_all(struct win *w)
{
    long mine = me, got[N], one = 1;
    MPI_Request requests[2];

    clear(w);
    MPI_Win_lock_all(0, w->win);
    for (int t = 0; t < ranks; t++) {
        MPI_Put(&mine, 1, MPI_LONG, t, me % 32, 1, MPI_LONG, w->win);
    }
    MPI_Win_flush_local_all(w->win);
    MPI_Win_flush_all(w->win);
    meet(w->win);
    for (int t = 0; t < ranks; t++) {
        memset(got, 0, sizeof got);
        MPI_Get(got, ranks < 32 ? ranks : 32, MPI_LONG, t, 0, ranks < 32 ? ranks : 32, MPI_LONG, w->win);
        MPI_Win_flush_local(t, w->win);
        for (int i = 0; i < ranks && i < 32; i++) {
            CHECK(got[i] == i, "target %d [%d] = %ld", t, i, got[i]);
        }
    }
    int t = (me + 1) % ranks;
    long value = 4711 + me, back = 0;
    MPI_Rput(&value, 1, MPI_LONG, t, 40, 1, MPI_LONG, w->win, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(requests[0] == MPI_REQUEST_NULL, "request after wait");
    MPI_Win_flush(t, w->win);
    MPI_Rget(&back, 1, MPI_LONG, t, 40, 1, MPI_LONG, w->win, &requests[0]);
    MPI_Raccumulate(&one, 1, MPI_LONG, t, 41, 1, MPI_LONG, MPI_SUM, w->win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(back == value, "rget gave %ld", back);
    MPI_Win_flush(t, w->win);
    MPI_Rget_accumulate(&one, 1, MPI_LONG, &back, 1, MPI_LONG, t, 41, 1, MPI_LONG, MPI_SUM, w->win,
                        &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(back == 0, "was -1 + 1, fetched %ld", back);
    MPI_Win_unlock_all(w->win);
    meet_outside(w->win);
    CHECK(w->base[41] == 1, "[41] = %ld", w->base[41]);
}

/* After its wait the origin of an Rput is the caller's again, whatever carries the data: alone, behind
 * others, of every small size, of a large one. Nothing else was asked for: the value is there after a flush.
 */
static void reused_origins(struct win *w)
{
    int t = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
    long out[8], before = 5;
    clear(w);
    MPI_Win_lock_all(0, w->win);
    for (int i = 0; i + 8 <= N; i += 8) {
        int n = 1 + i / 8;
        MPI_Request request;
        if (i % 16 == 0) {
            MPI_Put(&before, 1, MPI_LONG, t, i + 7, 1, MPI_LONG, w->win); /* somebody to travel with */
        }
        for (int k = 0; k < 8; k++) {
            out[k] = 1000L * me + i + k;
        }
        MPI_Rput(out, n, MPI_LONG, t, i, n, MPI_LONG, w->win, &request);
        int done = 0;
        while (!done) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        memset(out, 0x55, sizeof out);
        if (n < 7) { /* as one byte less */
            MPI_Rput(&me, (int)sizeof me - 1, MPI_BYTE, t, i + 6, (int)sizeof me - 1, MPI_BYTE, w->win,
                     &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Win_flush(t, w->win);
    }
    MPI_Win_unlock_all(w->win);
    meet_outside(w->win);
    for (int i = 0; i + 8 <= N; i += 8) {
        for (int k = 0; k < 1 + i / 8; k++) {
            CHECK(w->base[i + k] == 1000L * from + i + k, "[%d] = %ld", i + k, w->base[i + k]);
        }
        CHECK(i % 16 != 0 || w->base[i + 7] == 5, "[%d] = %ld", i + 7, w->base[i + 7]);
        CHECK(i >= 48 || (w->base[i + 6] & 0xffffff) == from, "[%d] = %lx", i + 6, w->base[i + 6]);
    }
}

static void by_atomics(struct win *w)
{
    long one = 1, was, sum = 0;
    const int rounds = 200;

    clear(w);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win);
    for (int i = 0; i < rounds; i++) {
        MPI_Fetch_and_op(&one, &was, MPI_LONG, i % ranks, 3, MPI_SUM, w->win);
        MPI_Win_flush(i % ranks, w->win);
        CHECK(was >= -1 && was < (long)rounds * ranks, "fetched %ld", was);
    }
    /* A spin lock by compare and swap, around a value that only its holder changes. */
    for (int i = 0; i < 20; i++) {
        long unlocked = -1, locked = me;
        do {
            MPI_Compare_and_swap(&locked, &unlocked, &was, MPI_LONG, 0, 5, w->win);
            MPI_Win_flush(0, w->win);
        } while (was != unlocked);
        MPI_Get(&was, 1, MPI_LONG, 0, 6, 1, MPI_LONG, w->win);
        MPI_Win_flush(0, w->win);
        was++;
        MPI_Put(&was, 1, MPI_LONG, 0, 6, 1, MPI_LONG, w->win);
        MPI_Win_flush(0, w->win);
        MPI_Accumulate(&unlocked, 1, MPI_LONG, 0, 5, 1, MPI_LONG, MPI_REPLACE, w->win);
        MPI_Win_flush(0, w->win);
    }
    meet(w->win);
    for (int t = 0; t < ranks; t++) {
        MPI_Fetch_and_op(NULL, &was, MPI_LONG, t, 3, MPI_NO_OP, w->win);
        MPI_Win_flush(t, w->win);
        sum += was + 1;
    }
    CHECK(sum == (long)rounds * ranks, "sum %ld", sum);
    MPI_Get(&was, 1, MPI_LONG, 0, 6, 1, MPI_LONG, w->win);
    MPI_Win_flush(0, w->win);
    CHECK(was == 20L * ranks - 1, "guarded counter %ld", was);
    MPI_Win_unlock_all(w->win);
}

/* A block of many pieces, by every transfer. */
static void by_size(void)
{
    static const size_t sizes[] = {0, 1, 3, 7, 8, 100, 511, 512, 4096, 70000, 3 << 20};
    char *base, *out = malloc(4 << 20), *in = malloc(4 << 20);
    MPI_Win win;
    int t = (me + 1) % ranks;

    MPI_Win_allocate(4 << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        for (size_t i = 0; i < sizes[k]; i++) {
            out[i] = (char)(i * 7 + k + (size_t)me);
        }
        memset(in, 0, sizes[k]);
        MPI_Put(out, (int)sizes[k], MPI_CHAR, t, 13, (int)sizes[k], MPI_BYTE, win);
        MPI_Win_flush(t, win);
        MPI_Get_c(in, (MPI_Count)sizes[k], MPI_BYTE, t, 13, (MPI_Count)sizes[k], MPI_BYTE, win);
        MPI_Win_flush(t, win);
        CHECK(memcmp(in, out, sizes[k]) == 0, "%zu bytes", sizes[k]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(out);
    free(in);
}

static void objects(void)
{
    struct win w;
    void *value;
    int flag, len;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Group group, world;
    MPI_Info info;

    make(ALLOCATE, 16, (int)sizeof(long), &w);
    MPI_Win_get_attr(w.win, MPI_WIN_BASE, &value, &flag);
    CHECK(flag && value == w.base, "base");
    MPI_Win_get_attr(w.win, MPI_WIN_SIZE, &value, &flag);
    CHECK(flag && *(MPI_Aint *)value == 16 * (MPI_Aint)sizeof(long), "size");
    MPI_Win_get_attr(w.win, MPI_WIN_DISP_UNIT, &value, &flag);
    CHECK(flag && *(int *)value == (int)sizeof(long), "unit");
    MPI_Win_get_attr(w.win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    CHECK(flag && *(int *)value == MPI_WIN_FLAVOR_ALLOCATE, "flavor");
    MPI_Win_get_attr(w.win, MPI_WIN_MODEL, &value, &flag);
    CHECK(flag && *(int *)value == MPI_WIN_UNIFIED, "model");
    MPI_Win_get_name(w.win, name, &len);
    MPI_Win_set_name(w.win, "halo");
    MPI_Win_get_name(w.win, name, &len);
    CHECK(len == 4 && strcmp(name, "halo") == 0, "name %s", name);
    MPI_Win_get_group(w.win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &flag);
    CHECK(flag == MPI_IDENT, "group");
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Win_get_info(w.win, &info);
    MPI_Info_get_nkeys(info, &len);
    CHECK(len > 0, "%d keys", len);
    MPI_Info_free(&info);
    MPI_Win_free(&w.win);
}

static void shared(void)
{
    struct win w;
    make(SHARED, 4, (int)sizeof(long), &w);
    w.base[0] = 100 + me;
    meet_outside(w.win);
    for (int t = 0; t < ranks; t++) {
        MPI_Aint size;
        int unit;
        long *base;
        MPI_Win_shared_query(w.win, t, &size, &unit, &base);
        CHECK(size == 4 * (MPI_Aint)sizeof(long) && unit == (int)sizeof(long), "size %ld", (long)size);
        CHECK(base[0] == 100 + t, "rank %d has %ld", t, base[0]);
        CHECK(t != me || base == w.base, "mine");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&w.win);
}

/* Sizes and units that differ between ranks, also nothing at all. */
static void uneven(void)
{
    int *base;
    MPI_Win win;
    MPI_Win_allocate(me % 2 == 0 ? 4 * (me + 1) : 0, me % 3 + 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (me % 2 == 0) {
        memset(base, 0, 4 * (size_t)(me + 1));
    }
    MPI_Win_fence(0, win);
    for (int t = 0; t < ranks; t += 2) {
        int unit = t % 3 + 1, value = 5 + t;
        if (me == (t + 1) % ranks && 4 * t % unit == 0) {
            MPI_Put(&value, 1, MPI_INT, t, 4 * t / unit, 1, MPI_INT, win);
        }
    }
    MPI_Win_fence(0, win);
    if (me % 2 == 0 && 4 * me % (me % 3 + 1) == 0) {
        CHECK(base[me] == 5 + me, "%d", base[me]);
    }
    MPI_Win_free(&win);
}

static int node_is_one(void)
{
    MPI_Comm node;
    int size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    return size == ranks;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int one_node = node_is_one();
    for (int kind = 0; kind < KINDS; kind++) {
        struct win w;
        if (kind == SHARED && !one_node) {
            continue;
        }
        int rc = make((enum kind)kind, N, (int)sizeof(long), &w);
        CHECK(rc == MPI_SUCCESS, "%s", kind_names[kind]);
        by_fence(&w);
        by_lock(&w);
        by_lock_all(&w);
        reused_origins(&w);
        by_atomics(&w);
        destroy((enum kind)kind, &w);
    }
    by_size();
    objects();
    uneven();
    if (one_node) {
        shared();
    }
    return finish_checks("rma_calls");
}
