/* Intercommunicators of random groups: what they are, messages, probes, collectives, and what is made from
 * them, while idup runs in the background. usage: intercomm ROUNDS */
#include "coll_forms.h"

static int n_mine, n_other, my_rank; /* of the intercommunicator under test */
static bool low;                     /* my group is that of color 0 */

/* The world rank of rank r in a group whose members are w % 2 == color, in the order of `up`. */
static int world_of(int color, int r)
{
    return color + 2 * r;
}

static int other_world(int r)
{
    return world_of(low ? 1 : 0, r);
}

static void check_facts(MPI_Comm inter)
{
    int flag, n, r;
    MPI_Group mine, other, world;

    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag);
    MPI_Comm_size(inter, &n);
    CHECK_EQ(n, n_mine);
    MPI_Comm_remote_size(inter, &n);
    CHECK_EQ(n, n_other);
    MPI_Comm_rank(inter, &r);
    CHECK_EQ(r, my_rank);
    MPI_Comm_group(inter, &mine);
    MPI_Comm_remote_group(inter, &other);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(mine, &n);
    CHECK_EQ(n, n_mine);
    for (int i = 0; i < n_other; i++) {
        MPI_Group_translate_ranks(other, 1, &i, world, &r);
        CHECK_EQ(r, other_world(i));
    }
    MPI_Group_free(&mine);
    MPI_Group_free(&other);
    MPI_Group_free(&world);
}

/* Everybody sends to everybody of the other group. */
static void check_messages(MPI_Comm inter)
{
    MPI_Request reqs[64];
    int out[64], got = -1, n, flag;
    MPI_Status st;
    MPI_Message m;

    MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, inter);
    MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, inter, &st);
    CHECK_EQ(st.MPI_SOURCE, MPI_PROC_NULL);
    for (int i = 0; i < n_other; i++) {
        out[i] = 1000 * me + other_world(i);
        MPI_Isend(&out[i], 1, MPI_INT, i, me, inter, &reqs[i]);
    }
    for (int i = 0; i < n_other; i++) {
        if (i % 3 == 0) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &st);
            MPI_Recv(&got, 1, MPI_INT, st.MPI_SOURCE, st.MPI_TAG, inter, MPI_STATUS_IGNORE);
        } else if (i % 3 == 1) {
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &m, &st);
            MPI_Mrecv(&got, 1, MPI_INT, &m, &st);
        } else {
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &st);
        }
        MPI_Get_count(&st, MPI_INT, &n);
        CHECK_EQ(n, 1);
        CHECK_EQ(st.MPI_TAG, other_world(st.MPI_SOURCE));
        CHECK_EQ(got, 1000 * st.MPI_TAG + me);
    }
    MPI_Waitall(n_other, reqs, MPI_STATUSES_IGNORE);
    MPI_Barrier(inter);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &flag, &st);
    CHECK(!flag);
}

/* The root's group by turns, every member of it. */
static void check_rooted(MPI_Comm inter)
{
    int data[128], all[128], counts[64], displs[64], sum;

    for (int turn = 0; turn < size; turn++) {
        bool here = (turn % 2 == 0) == low;
        int root = !here ? turn / 2 : turn == me ? MPI_ROOT : MPI_PROC_NULL;
        data[0] = 7 * turn;
        data[1] = turn == me ? 3 : -1;
        MPI_Bcast(here && turn != me ? NULL : data, 2, MPI_INT, root, inter);
        CHECK(here || data[1] == 3);
        data[0] = me;
        data[1] = 2;
        MPI_Reduce(here ? NULL : data, turn == me ? all : NULL, 2, MPI_INT, MPI_SUM, root, inter);
        sum = 0;
        for (int i = 0; i < n_other; i++) {
            sum += other_world(i);
            counts[i] = 1 + i % 2;
            displs[i] = 2 * (n_other - 1 - i);
        }
        CHECK(turn != me || (all[0] == sum && all[1] == 2 * n_other));
        MPI_Gather(data, 2, MPI_INT, all, 2, MPI_INT, root, inter);
        for (int i = 0; i < n_other && turn == me; i++) {
            CHECK_EQ(all[2 * i], other_world(i));
        }
        MPI_Gatherv(data, 1 + my_rank % 2, MPI_INT, all, counts, displs, MPI_INT, root, inter);
        for (int i = 0; i < n_other && turn == me; i++) {
            CHECK_EQ(all[displs[i]], other_world(i));
        }
        for (int i = 0; i < 128; i++) {
            all[i] = 100 * me + i;
        }
        MPI_Scatter(all, 1, MPI_INT, data, 1, MPI_INT, root, inter);
        CHECK(here || data[0] == 100 * turn + my_rank);
        MPI_Scatterv(all, counts, displs, MPI_INT, data, 1 + my_rank % 2, MPI_INT, root, inter);
        CHECK(here || data[0] == 100 * turn + 2 * (n_mine - 1 - my_rank));
    }
}

/* Operations in which both groups give and get. */
static void check_symmetric(MPI_Comm inter)
{
    int mine[256], all[256], counts[64], displs[64], from[64], sum = 0;

    for (int i = 0; i < n_other; i++) {
        sum += other_world(i);
        counts[i] = 1 + i % 2;
        displs[i] = 2 * i;
        from[i] = 1 + my_rank % 2;
    }
    mine[0] = me;
    MPI_Allreduce(mine, all, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(all[0], sum);
    MPI_Allgather(mine, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int i = 0; i < n_other; i++) {
        CHECK_EQ(all[i], other_world(i));
    }
    mine[1] = -me;
    MPI_Allgatherv(mine, 1 + my_rank % 2, MPI_INT, all, counts, displs, MPI_INT, inter);
    for (int i = 0; i < n_other; i++) {
        CHECK_EQ(all[2 * i], other_world(i));
        CHECK(i % 2 == 0 || all[2 * i + 1] == -other_world(i));
    }
    for (int i = 0; i < 2 * n_other; i++) {
        mine[i] = 100 * me + i;
    }
    MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int i = 0; i < n_other; i++) {
        CHECK_EQ(all[i], 100 * other_world(i) + my_rank);
    }
    /* as many as the receiver's rank says */
    MPI_Alltoallv(mine, counts, displs, MPI_INT, all, from, displs, MPI_INT, inter);
    for (int i = 0; i < n_other; i++) {
        CHECK_EQ(all[2 * i], 100 * other_world(i) + 2 * my_rank);
    }
    for (int i = 0; i < n_mine * n_other; i++) {
        mine[i] = i;
    }
    MPI_Reduce_scatter_block(mine, all, n_other, MPI_INT, MPI_SUM, inter);
    for (int i = 0; i < n_other; i++) {
        CHECK_EQ(all[i], n_other * (my_rank * n_other + i));
    }
    for (int i = 0; i < n_mine; i++) {
        counts[i] = i == 0 ? n_mine * n_other : 0;
    }
    MPI_Reduce_scatter(mine, all, counts, MPI_INT, MPI_MAX, inter);
    for (int i = 0; i < counts[my_rank]; i++) {
        CHECK_EQ(all[i], i);
    }
}

enum { MANY = 60000 };

/* Digits written one after another: neither commutes nor forgives another order. */
static void append(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const int64_t *a = in;
    int64_t *b = inout;

    for (int i = 0; i < 2 * *len; i += 2) { /* number, factor */
        b[i] = a[i] * b[i + 1] + b[i];
        b[i + 1] *= a[i + 1];
    }
}

/* Messages that do not leave at once, data with gaps, an operation that keeps the order of ranks. */
static void check_large(MPI_Comm inter)
{
    int *mine = malloc(MANY * sizeof *mine), *all = malloc(MANY * sizeof *all);
    int64_t number[4] = {1 + me % 9, 10, 1 + me % 7, 10}, want[2] = {0, 0}, got[4] = {0};
    int n = MANY / 4 / (n_mine > n_other ? n_mine : n_other), root = low ? MPI_PROC_NULL : 0;
    MPI_Datatype gaps, pair;
    MPI_Op op;

    if (low && my_rank == 0) {
        root = MPI_ROOT;
    }
    for (int i = 0; i < MANY; i++) {
        mine[i] = me + i;
    }
    MPI_Bcast(mine, MANY, MPI_INT, root, inter);
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(mine[i], (low ? me : 0) + i);
        mine[i] = me + i;
    }
    MPI_Allreduce(mine, all, MANY, MPI_INT, MPI_MAX, inter);
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(all[i], other_world(n_other - 1) + i);
    }
    MPI_Type_vector(n, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Allgather(mine, 1, gaps, all, n, MPI_INT, inter);
    for (int k = 0; k < n_other; k++) {
        for (int i = 0; i < n; i++) {
            CHECK_EQ(all[k * n + i], other_world(k) + 2 * i);
        }
    }
    MPI_Alltoall(mine, n, MPI_INT, all, n, MPI_INT, inter);
    for (int k = 0; k < n_other; k++) {
        for (int i = 0; i < n; i++) {
            CHECK_EQ(all[k * n + i], other_world(k) + my_rank * n + i);
        }
    }
    MPI_Type_free(&gaps);
    MPI_Type_contiguous(2, MPI_INT64_T, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(append, 0, &op);
    MPI_Allreduce(number, got, 2, pair, op, inter);
    for (int k = 0; k < n_other; k++) {
        want[0] = 10 * want[0] + 1 + other_world(k) % 9;
        want[1] = 10 * want[1] + 1 + other_world(k) % 7;
    }
    CHECK(got[0] == want[0] && got[2] == want[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    free(mine);
    free(all);
}

static void check_children(MPI_Comm inter)
{
    MPI_Comm twin, part, merged;
    MPI_Group group, first;
    int r, n, result, zero = 0;

    MPI_Comm_dup(inter, &twin);
    check_facts(twin);
    check_messages(twin);
    MPI_Comm_compare(inter, twin, &result);
    CHECK_EQ(result, MPI_CONGRUENT);
    MPI_Comm_compare(inter, inter, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Comm_compare(inter, MPI_COMM_WORLD, &result);
    CHECK_EQ(result, MPI_UNEQUAL);
    MPI_Comm_free(&twin);

    MPI_Comm_split(inter, my_rank % 2, -my_rank, &part);
    if (n_other >= 2 || my_rank % 2 == 0) {
        MPI_Comm_size(part, &n);
        CHECK_EQ(n, (n_mine + 1 - my_rank % 2) / 2);
        MPI_Comm_remote_size(part, &n);
        CHECK_EQ(n, (n_other + 1 - my_rank % 2) / 2);
        int mine = me, all[64];
        MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, part);
        CHECK_EQ(all[n - 1], other_world(my_rank % 2));
        MPI_Comm_free(&part);
    } else {
        CHECK(part == MPI_COMM_NULL);
    }

    MPI_Comm_group(inter, &group);
    MPI_Group_incl(group, 1, &zero, &first);
    MPI_Comm_create(inter, first, &part);
    CHECK_EQ(part != MPI_COMM_NULL, my_rank == 0);
    if (my_rank == 0) {
        MPI_Comm_remote_size(part, &n);
        CHECK_EQ(n, 1);
        MPI_Sendrecv(&me, 1, MPI_INT, 0, 1, &r, 1, MPI_INT, 0, 1, part, MPI_STATUS_IGNORE);
        CHECK_EQ(r, other_world(0));
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&first);
    MPI_Group_free(&group);

    MPI_Intercomm_merge(inter, low ? 1 : 0, &merged);
    MPI_Comm_rank(merged, &r);
    CHECK_EQ(r, low ? n_other + my_rank : my_rank);
    MPI_Allreduce(&me, &n, 1, MPI_INT, MPI_SUM, merged);
    CHECK_EQ(n, size * (size - 1) / 2);
    MPI_Comm_free(&merged);
    MPI_Intercomm_merge(inter, 0, &merged); /* both low: any order, but one */
    MPI_Comm_rank(merged, &r);
    MPI_Allreduce(&r, &n, 1, MPI_INT, MPI_SUM, merged);
    CHECK_EQ(n, size * (size - 1) / 2);
    MPI_Comm_free(&merged);
}

static void check_errors(MPI_Comm inter)
{
    MPI_Comm part;
    MPI_Win win;
    char *base;
    int code, n;

    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    code = MPI_Scan(&me, &n, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(code, MPI_ERR_COMM);
    code = MPI_Send(&me, 1, MPI_INT, n_other, 0, inter);
    CHECK_EQ(code, MPI_ERR_RANK);
    code = MPI_Bcast(&me, 1, MPI_INT, n_other, inter);
    CHECK_EQ(code, MPI_ERR_ROOT);
    int root = !low ? 0 : my_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    code = MPI_Reduce(&me, &n, 1, MPI_INT, MPI_OP_NULL, root, inter);
    CHECK_EQ(code, root == MPI_PROC_NULL ? MPI_SUCCESS : MPI_ERR_OP);
    code = MPI_Win_allocate(8, 1, MPI_INFO_NULL, inter, &base, &win);
    CHECK_EQ(code, MPI_ERR_COMM);
    code = MPI_Comm_create_group(inter, MPI_GROUP_EMPTY, 0, &part);
    CHECK_EQ(code, MPI_ERR_COMM);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    code = MPI_Comm_remote_size(MPI_COMM_SELF, &n);
    CHECK_EQ(code, MPI_ERR_COMM);
    code = MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_SELF, 0, 0, &part);
    CHECK_EQ(code, MPI_ERR_COMM); /* both groups are mine */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    MPI_Comm half, inter, twins[5], pair;
    MPI_Request reqs[5];

    test_start(2);
    low = me % 2 == 0;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Comm_rank(half, &my_rank);
    MPI_Comm_size(half, &n_mine);
    n_other = size - n_mine;
    for (int i = 0; i < rounds; i++) {
        int leader = i % (size / 2);
        MPI_Intercomm_create(half, leader, MPI_COMM_WORLD, other_world(leader), 5 + i, &inter);
        check_facts(inter);
        for (int k = 0; k < 5; k++) {
            MPI_Comm_idup(inter, &twins[k], &reqs[k]);
        }
        check_messages(inter);
        for (coll_form = 2; coll_form >= 0; coll_form--) {
            check_rooted(inter);
            check_symmetric(inter);
            check_large(inter);
        }
        coll_form = 0;
        check_children(inter);
        check_errors(inter);
        MPI_Waitall(5, reqs, MPI_STATUSES_IGNORE);
        /* a peer communicator may have two groups itself */
        MPI_Intercomm_create(half, 0, twins[1], 0, 9, &pair);
        MPI_Request under_way;
        int n = 0, sum = 0;
        MPI_Iallreduce(&me, &n, 1, MPI_INT, MPI_SUM, inter, &under_way);
        MPI_Comm_free(&inter);
        MPI_Wait(&under_way, MPI_STATUS_IGNORE);
        for (int k = 0; k < n_other; k++) {
            sum += other_world(k);
        }
        CHECK_EQ(n, sum);
        for (int k = 0; k < 5; k++) {
            check_facts(twins[k]);
            check_messages(twins[k]);
            MPI_Comm_free(&twins[k]);
        }
        check_symmetric(pair);
        MPI_Comm_disconnect(&pair);
    }
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
