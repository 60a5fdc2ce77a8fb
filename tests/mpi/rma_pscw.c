/* Post, start, complete and wait in random groups: who waited sees what its origins wrote and nobody else's,
 * who started reads what its targets had before they posted. Ranks run through the rounds at their own speed;
 * every thread has a window of its own, with "split" another thread of it does the accesses.
 * Once a barrier has told that all origins have completed, one test says so.
 * usage: rma_pscw THREADS ROUNDS [split] */
#include "mpi_test.h"

static int rounds;
static bool split;
static uint64_t seed;

/* A thread's window. Its words: one for each origin, what origins read, what they add to. */
struct lane {
    int id, rank;
    MPI_Comm comm;
    MPI_Group all;
    MPI_Win win;
    int64_t *base;
    int64_t last[64];
    pthread_t accessor;
};

static int64_t tag_of(int from, int to, int round)
{
    return (int64_t)from << 48 | (int64_t)to << 32 | round;
}

/* Does `origin` access `target` in this round? The same answer everywhere. */
static bool is_edge(const struct lane *l, int origin, int target, int round)
{
    uint64_t state = seed ^ (uint64_t)l->id << 48 ^ (uint64_t)round << 16;
    uint64_t density = test_random(&state) % 5;
    state ^= (uint64_t)origin << 8 | (uint64_t)target;
    return test_random(&state) % 4 < density;
}

/* My origins (or targets) of a round, in an order of my own. */
static MPI_Group group_of(const struct lane *l, bool origins, int round, int *list, int *n)
{
    MPI_Group group;
    uint64_t state = seed + (uint64_t)round + (uint64_t)l->rank;
    *n = 0;
    for (int i = 0; i < size; i++) {
        if (origins ? is_edge(l, i, l->rank, round) : is_edge(l, l->rank, i, round)) {
            int at = (int)(test_random(&state) % (uint64_t)(*n + 1));
            list[(*n)++] = list[at];
            list[at] = i;
        }
    }
    MPI_Group_incl(l->all, *n, list, &group);
    return group;
}

/* Both ends of a round with this mark say that the posts came first. */
static bool is_unchecked(int round)
{
    return !split && round % 16 == 5;
}

static void expose(struct lane *l, int round)
{
    static const int asserts[] = {0, MPI_MODE_NOSTORE, 0, 0};
    int list[64] = {0}, n;
    MPI_Group group = group_of(l, true, round, list, &n);
    if (n != 0 || round % 3 == 0) {
        l->base[size] = tag_of(l->rank, 0, round);
        l->base[size + 1] = 0;
        MPI_Win_post(group, is_unchecked(round) ? MPI_MODE_NOCHECK : asserts[round % 4], l->win);
    }
    MPI_Group_free(&group);
}

static void conceal(struct lane *l, int round)
{
    int list[64] = {0}, n, flag = 0;
    int64_t sum = 0;
    MPI_Group group = group_of(l, true, round, list, &n);
    MPI_Group_free(&group);
    if (n == 0 && round % 3 != 0) {
        return;
    }
    while (round % 4 == 1 && !flag) {
        MPI_Win_test(l->win, &flag);
    }
    if (!flag) {
        MPI_Win_wait(l->win);
    }
    for (int i = 0; i < n; i++) {
        l->last[list[i]] = tag_of(list[i], l->rank, round);
        sum += list[i] + 1;
    }
    for (int i = 0; i < size; i++) {
        CHECK_EQ(l->base[i], l->last[i]);
    }
    CHECK_EQ(l->base[size + 1], sum);
}

static void reach(struct lane *l, int round)
{
    int list[64] = {0}, n;
    int64_t out[64], in[64], add = l->rank + 1;
    MPI_Group group = group_of(l, false, round, list, &n);
    if (n != 0 || round % 5 == 0) {
        MPI_Win_start(group, is_unchecked(round) ? MPI_MODE_NOCHECK : 0, l->win);
        for (int i = 0; i < n; i++) {
            out[i] = tag_of(l->rank, list[i], round);
            MPI_Put(&out[i], 1, MPI_INT64_T, list[i], l->rank, 1, MPI_INT64_T, l->win);
            MPI_Get(&in[i], 1, MPI_INT64_T, list[i], size, 1, MPI_INT64_T, l->win);
            MPI_Accumulate(&add, 1, MPI_INT64_T, list[i], size + 1, 1, MPI_INT64_T, MPI_SUM, l->win);
        }
        MPI_Win_complete(l->win);
        for (int i = 0; i < n; i++) {
            CHECK_EQ(in[i], tag_of(list[i], 0, round));
        }
    }
    MPI_Group_free(&group);
}

/* Now and then the other kinds of epochs, on the same window. */
static void others(struct lane *l, int round)
{
    int64_t value = tag_of(l->rank, 63, round), next = (l->rank + 1) % size,
            before = (l->rank + size - 1) % size;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, l->win);
    MPI_Put(&value, 1, MPI_INT64_T, (int)next, l->rank, 1, MPI_INT64_T, l->win);
    MPI_Win_fence(round % 2 == 0 ? 0 : MPI_MODE_NOSUCCEED, l->win);
    l->last[before] = tag_of((int)before, 63, round);
    CHECK_EQ(l->base[before], l->last[before]);
    MPI_Win_lock(MPI_LOCK_SHARED, l->rank, 0, l->win);
    MPI_Win_unlock(l->rank, l->win);
    MPI_Barrier(l->comm); /* nobody is exposed before all have unlocked */
}

static void *access_main(void *arg)
{
    for (int round = 1; round <= rounds; round++) {
        reach(arg, round);
    }
    return NULL;
}

/* Everybody's origin is everybody else, each with a word of its own. MPI_Win_complete has returned everywhere
 * when the barrier ends. */
static void told(struct lane *l)
{
    int flag;
    int64_t value = 1;
    for (int target = 0; target < size; target++) {
        MPI_Group others, mine;
        MPI_Group_excl(l->all, 1, &target, &others);
        MPI_Group_incl(l->all, 1, &target, &mine);
        if (l->rank == target) {
            MPI_Win_post(others, 0, l->win);
        } else {
            MPI_Win_start(mine, 0, l->win);
            MPI_Put(&value, 1, MPI_INT64_T, target, l->rank, 1, MPI_INT64_T, l->win);
            MPI_Win_complete(l->win);
        }
        MPI_Barrier(l->comm);
        if (l->rank == target) {
            MPI_Win_test(l->win, &flag);
            CHECK_EQ(flag, 1);
        }
        MPI_Group_free(&others);
        MPI_Group_free(&mine);
    }
}

/* The whole of a round, in orders that the standard allows. */
static void turn(struct lane *l, int round)
{
    expose(l, round);
    if (is_unchecked(round)) {
        MPI_Barrier(l->comm);
    }
    if (!split) {
        reach(l, round);
    }
    conceal(l, round);
    if (!split && round % 16 == 11) {
        others(l, round);
    }
}

static struct lane *lanes;

static void *lane_main(void *arg)
{
    struct lane *l = &lanes[(intptr_t)arg];
    if (split) {
        CHECK_EQ(pthread_create(&l->accessor, NULL, access_main, l), 0);
    }
    for (int round = 1; round <= rounds; round++) {
        turn(l, round);
    }
    if (split) {
        pthread_join(l->accessor, NULL);
    }
    MPI_Barrier(l->comm);
    for (int round = 0; round < rounds / 4; round++) {
        told(l);
    }
    return NULL;
}

/* Every second window counts its ranks backwards, every third is over private memory. */
static void open_lane(struct lane *l, int id)
{
    MPI_Aint bytes = (MPI_Aint)sizeof(int64_t) * (size + 2);
    l->id = id;
    MPI_Comm_split(MPI_COMM_WORLD, 0, id % 2 == 0 ? me : -me, &l->comm);
    MPI_Comm_rank(l->comm, &l->rank);
    MPI_Comm_group(l->comm, &l->all);
    if (id % 3 == 1) {
        l->base = malloc((size_t)bytes);
        MPI_Win_create(l->base, bytes, sizeof(int64_t), MPI_INFO_NULL, l->comm, &l->win);
    } else {
        MPI_Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, l->comm, &l->base, &l->win);
    }
    memset(l->base, 0, (size_t)bytes);
    MPI_Barrier(l->comm);
}

static void close_lane(struct lane *l)
{
    MPI_Win_free(&l->win);
    MPI_Group_free(&l->all);
    MPI_Comm_free(&l->comm);
    if (l->id % 3 == 1) {
        free(l->base);
    }
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 100;
    split = argc > 3;
    test_start(1);
    seed = test_seed();
    lanes = calloc((size_t)threads, sizeof *lanes);
    for (int i = 0; i < threads; i++) {
        open_lane(&lanes[i], i);
    }
    test_threads(threads, lane_main);
    for (int i = 0; i < threads; i++) {
        close_lane(&lanes[i]);
    }
    free(lanes);
    MPI_Finalize();
    return 0;
}
