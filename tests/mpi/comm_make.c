/* Communicators made by some members only, without a parent, and in the background, by many threads at once.
 * usage: comm_make THREADS ROUNDS */
#include "mpi_test.h"

static int rounds, threads;
static int key;
static MPI_Comm parents[64], selves[64];

/* Members of `comm` are world ranks first, first + step, ... */
static void use(MPI_Comm comm, int first, int step, int mark)
{
    int n, r, sum = 0, mine, want = 0;

    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &r);
    CHECK_EQ(first + r * step, me);
    mine = mark + me;
    for (int i = 0; i < n; i++) {
        want += mark + first + i * step;
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(sum, want);
}

static MPI_Group strided(int first, int last, int step)
{
    int range[1][3] = {{first, last, step}};
    MPI_Group world, some;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &some);
    MPI_Group_free(&world);
    return some;
}

/* Overlapping groups on ONE communicator: the thread's tag tells them apart. */
static void create_groups(int thread, int round)
{
    int step = 1 + round % 3, first = (round + thread) % size % step;
    int last = first + (size - 1 - first) / step * step;
    MPI_Group up = strided(first, last, step), down = strided(last, first, -step);
    MPI_Comm made;

    if ((me - first) % step == 0 && me >= first) {
        MPI_Comm_create_group(MPI_COMM_WORLD, up, thread, &made);
        use(made, first, step, thread);
        MPI_Comm_free(&made);
        MPI_Comm_create_group(MPI_COMM_WORLD, down, thread, &made);
        use(made, last, -step, thread);
        MPI_Comm_free(&made);
    }
    MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_EMPTY, thread, &made);
    CHECK(made == MPI_COMM_NULL);
    MPI_Group_free(&up);
    MPI_Group_free(&down);
}

static void without_parent(int thread, int round)
{
    MPI_Group all = strided(0, size - 1, 1);
    MPI_Comm made;
    char name[64];

    snprintf(name, sizeof name, "comm_make/%d", thread);
    MPI_Comm_create_from_group(all, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    use(made, 0, 1, round);
    CHECK_EQ(MPI_Send(&me, 1, MPI_INT, size, 0, made), MPI_ERR_RANK);
    MPI_Comm_free(&made);
    MPI_Group_free(&all);
    if (size < 2) {
        return;
    }
    MPI_Group half[2] = {strided(0, (size - 1) / 2 * 2, 2), strided(1, (size - 2) / 2 * 2 + 1, 2)};
    int n, mine = me, got = -1;
    MPI_Intercomm_create_from_groups(half[me % 2], 0, half[1 - me % 2], 0, name, MPI_INFO_NULL,
                                     MPI_ERRORS_ARE_FATAL, &made);
    MPI_Comm_remote_size(made, &n);
    CHECK_EQ(n, me % 2 ? (size + 1) / 2 : size / 2);
    MPI_Allreduce(&mine, &got, 1, MPI_INT, MPI_MIN, made);
    CHECK_EQ(got, 1 - me % 2);
    MPI_Comm_free(&made);
    MPI_Group_free(&half[0]);
    MPI_Group_free(&half[1]);
}

/* Every rank sees alone that a process would be on both sides: nobody waits. */
static void overlapping(void)
{
    MPI_Group all = strided(0, size - 1, 1), own = strided(me, me, 1);
    MPI_Comm made;

    CHECK_EQ(MPI_Intercomm_create_from_groups(all, 0, all, size - 1, "both", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                              &made),
             MPI_ERR_GROUP);
    CHECK_EQ(MPI_Intercomm_create_from_groups(own, 0, all, 0, "own", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made),
             MPI_ERR_GROUP);
    MPI_Group_free(&all);
    MPI_Group_free(&own);
}

static void of_a_window(MPI_Win *win, int *code, ...)
{
    CHECK(!"called for a communicator");
}

/* A handler of another sort is refused and not called. */
static void wrong_handler(void)
{
    MPI_Group all = strided(0, size - 1, 1), own = strided(me, me, 1);
    MPI_Errhandler errh;
    MPI_Comm made;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Win_create_errhandler(of_a_window, &errh);
    CHECK_EQ(MPI_Comm_create_from_group(all, "window", MPI_INFO_NULL, errh, &made), MPI_ERR_ERRHANDLER);
    CHECK_EQ(MPI_Intercomm_create_from_groups(own, 0, all, 0, "window", MPI_INFO_NULL, errh, &made),
             MPI_ERR_ERRHANDLER);
    MPI_Errhandler_free(&errh);
    MPI_Group_free(&all);
    MPI_Group_free(&own);
}

/* Whatever machine this is: members of one memory, of one instance of a kind, of a divided communicator. */
static void by_hardware(void)
{
    MPI_Comm part, inner;
    MPI_Info info, hw;
    int n, keys, flag, len;
    char name[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];

    MPI_Get_hw_resource_info(&hw);
    MPI_Info_get_nkeys(hw, &keys);
    CHECK(keys > 1);
    for (int i = 0; i < keys; i++) {
        MPI_Info_get_nthkey(hw, i, name);
        len = sizeof value;
        MPI_Info_get_string(hw, name, &len, value, &flag);
        CHECK(flag && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0));
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_hw_resource_type", name);
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &part);
        CHECK_EQ(part != MPI_COMM_NULL, strcmp(value, "true") == 0);
        if (part != MPI_COMM_NULL) {
            MPI_Comm_split_type(part, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &inner);
            MPI_Comm_compare(part, inner, &n);
            CHECK_EQ(n, MPI_CONGRUENT);
            MPI_Comm_free(&inner);
            MPI_Comm_free(&part);
        }
        MPI_Info_free(&info);
    }
    MPI_Info_free(&hw);
    MPI_Info_create(&info);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part);
    if (part != MPI_COMM_NULL) {
        MPI_Comm_size(part, &n);
        MPI_Info_get_valuelen(info, "mpi_hw_resource_type", &len, &flag);
        CHECK(n < size && flag);
        MPI_Comm_free(&part);
    }
    MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://Teapot");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &part);
    CHECK(part == MPI_COMM_NULL);
    MPI_Info_set(info, "mpi_pset_name", "mpi://SELF");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &part);
    MPI_Comm_size(part, &n);
    CHECK_EQ(n, 1);
    MPI_Comm_free(&part);
    MPI_Info_free(&info);
}

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

/* Many at once, on one parent; the copies of attributes are made at the call. */
static void in_background(int thread, int round)
{
    MPI_Comm twins[4];
    MPI_Request reqs[4];
    MPI_Info info, shown;
    char value[16], text[16], *attr;
    int flag, len;

    MPI_Comm_set_attr(parents[thread], key, value);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "unheard_of", "true");
    for (int i = 0; i < 4; i++) {
        if (i % 2) {
            MPI_Comm_idup(parents[thread], &twins[i], &reqs[i]);
        } else {
            MPI_Comm_idup_with_info(parents[thread], info, &twins[i], &reqs[i]);
        }
    }
    MPI_Info_free(&info);
    MPI_Comm_delete_attr(parents[thread], key);
    MPI_Waitall(4, reqs, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++) {
        use(twins[i], 0, 1, round);
        MPI_Comm_get_attr(twins[i], key, &attr, &flag);
        CHECK(flag && attr == value + 1);
        MPI_Comm_get_info(twins[i], &shown);
        len = sizeof text;
        MPI_Info_get_string(shown, "mpi_assert_no_any_tag", &len, text, &flag);
        CHECK(flag && strcmp(text, i % 2 == 0 ? "true" : "false") == 0);
        MPI_Info_get_string(shown, "unheard_of", &len, text, &flag);
        CHECK(!flag);
        MPI_Info_free(&shown);
        MPI_Comm_free(&twins[i]);
    }
}

/* Its tag is the one of another thread's MPI_Comm_create_group between the same ranks: the standard keeps apart only the tags of those. */
static void meet_one(int thread)
{
    MPI_Comm made;
    int partner = me ^ 1, there;

    if (partner < size) {
        int tag = (thread + 1) % threads;
        CHECK_EQ(MPI_Intercomm_create(selves[thread], 0, MPI_COMM_WORLD, partner, tag, &made), MPI_SUCCESS);
        MPI_Comm_remote_size(made, &there);
        CHECK_EQ(there, 1);
        MPI_Comm_free(&made);
    }
}

static void *storm(void *arg)
{
    int thread = (int)(intptr_t)arg;

    for (int i = 0; i < rounds; i++) {
        if (thread % 2 == 0) {
            create_groups(thread, i);
            meet_one(thread);
        } else {
            meet_one(thread);
            create_groups(thread, i);
        }
        without_parent(thread, i);
        in_background(thread, i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : 2;
    rounds = argc > 2 ? atoi(argv[2]) : 5;
    test_start(1);
    overlapping();
    wrong_handler();
    by_hardware();
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    for (int i = 0; i < threads; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
        MPI_Comm_dup(MPI_COMM_SELF, &selves[i]);
    }
    test_threads(threads, storm);
    for (int i = 0; i < threads; i++) {
        MPI_Comm_free(&parents[i]);
        MPI_Comm_free(&selves[i]);
    }
    MPI_Comm_free_keyval(&key);
    MPI_Finalize();
    return 0;
}
