/* Attributes that are set, deleted and copied at the same time, by threads and by their own callbacks, with
 * keys that were freed; numbers of keys; a nonblocking dup whose copy callback refuses. usage: attrs ROUNDS
 */
#include "mpi_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int rounds, key;
static MPI_Comm comm;

/* ---- Every value is deleted once ---- */

static atomic_int *deleted; /* how often, by value */
static atomic_int taken;

static int note(MPI_Comm c, int k, void *value, void *extra)
{
    (void)c, (void)k, (void)extra;
    atomic_fetch_add(&deleted[(intptr_t)value], 1);
    return MPI_SUCCESS;
}

static void *set_all(void *first)
{
    for (intptr_t i = (intptr_t)first; i < 2 * rounds; i += 2) {
        MPI_Comm_set_attr(comm, key, (void *)i);
    }
    return NULL;
}

static void *take(void *unused)
{
    if (MPI_Comm_delete_attr(comm, key) == MPI_SUCCESS) {
        atomic_fetch_add(&taken, 1);
    }
    return unused;
}

static void both(void *(*fn)(void *), void *first, void *second)
{
    pthread_t a, b;
    pthread_create(&a, NULL, fn, first);
    pthread_create(&b, NULL, fn, second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

static void each_value_once(void)
{
    deleted = calloc((size_t)(2 * rounds), sizeof *deleted);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note, &key, NULL);
    both(set_all, (void *)0, (void *)1);
    CHECK_EQ(MPI_Comm_delete_attr(comm, key), MPI_SUCCESS);
    for (int i = 0; i < 2 * rounds; i++) {
        CHECK_EQ(atomic_load(&deleted[i]), 1);
    }
    for (int i = 0; i < rounds / 10; i++) {
        atomic_store(&deleted[0], 0);
        atomic_store(&taken, 0);
        MPI_Comm_set_attr(comm, key, (void *)0);
        both(take, NULL, NULL);
        CHECK_EQ(atomic_load(&taken), 1);
        CHECK_EQ(atomic_load(&deleted[0]), 1);
    }
    MPI_Comm_free_keyval(&key);
    free(deleted);
}

/* ---- Deleted while it is copied ---- */

static int keys[3];
static atomic_int copying, gone;

/* The first is deleted while this runs: by another thread, or here (`extra` set). */
static int copy_and_lose(MPI_Comm c, int k, void *extra, void *in, void *out, int *flag)
{
    if (k == keys[0] && extra != NULL) {
        CHECK_EQ(MPI_Comm_delete_attr(c, k), MPI_SUCCESS);
    } else if (k == keys[0]) {
        atomic_store(&copying, 1);
        while (!atomic_load(&gone)) {
        }
    }
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void *lose(void *unused)
{
    while (!atomic_load(&copying)) {
    }
    CHECK_EQ(MPI_Comm_delete_attr(comm, keys[0]), MPI_SUCCESS);
    atomic_store(&gone, 1);
    return unused;
}

static void lost_while_copied(void *own)
{
    MPI_Comm other;
    pthread_t thread;
    atomic_store(&copying, 0);
    atomic_store(&gone, 0);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_create_keyval(copy_and_lose, MPI_COMM_NULL_DELETE_FN, &keys[i], own);
        MPI_Comm_set_attr(comm, keys[i], &keys[i]);
        int name = keys[i];
        MPI_Comm_free_keyval(&name);
    }
    if (own == NULL) {
        pthread_create(&thread, NULL, lose, NULL);
    }
    MPI_Comm_dup(comm, &other);
    if (own == NULL) {
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < 3; i++) {
        void *value = NULL;
        int flag = 0;
        CHECK_EQ(MPI_Comm_get_attr(other, keys[i], &value, &flag), MPI_SUCCESS);
        CHECK(flag && value == &keys[i]);
    }
    MPI_Comm_free(&other);
    MPI_Comm_delete_attr(comm, keys[1]);
    MPI_Comm_delete_attr(comm, keys[2]);
}

/* ---- A value set by the callback that deletes the old one stays ---- */

static int set_again(MPI_Comm c, int k, void *value, void *extra)
{
    (void)extra;
    return value == &rounds ? MPI_Comm_set_attr(c, k, &comm) : MPI_SUCCESS;
}

static void set_while_deleted(void)
{
    void *value = NULL;
    int flag = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, set_again, &key, NULL);
    MPI_Comm_set_attr(comm, key, &rounds);
    CHECK_EQ(MPI_Comm_delete_attr(comm, key), MPI_SUCCESS);
    MPI_Comm_get_attr(comm, key, &value, &flag);
    CHECK(flag && value == &comm);
    CHECK_EQ(MPI_Comm_delete_attr(comm, key), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_delete_attr(comm, key), MPI_ERR_KEYVAL);
    MPI_Comm_free_keyval(&key);
}

/* ---- Rank 1 refuses, which must not wait for rank 0 ---- */

static int refuse(MPI_Comm c, int k, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)k, (void)extra, (void)in, (void)out;
    *flag = 0;
    return me == 1 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void refused_dup(void)
{
    MPI_Comm other = MPI_COMM_SELF;
    MPI_Request r = MPI_REQUEST_NULL;
    int x = 0;
    MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    if (me == 1) {
        CHECK_EQ(MPI_Comm_idup(comm, &other, &r), MPI_ERR_OTHER);
        CHECK(other == MPI_COMM_NULL && r == MPI_REQUEST_NULL);
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else {
        if (me == 0 && size > 1) {
            MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        CHECK_EQ(MPI_Comm_idup(comm, &other, &r), MPI_SUCCESS);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Comm_free(&other);
    }
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_free_keyval(&key);
}

/* Places of freed keys are taken again, late, and never those of keys that live. */
static void many_keys(void)
{
    enum { ALIVE = 3000, TURNS = 20000 };
    static int alive[ALIVE];
    int one, last = -1, highest = 0, flag;
    void *value;

    for (int i = 0; i < ALIVE; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &alive[i], NULL);
        MPI_Comm_set_attr(comm, alive[i], &alive[i]);
    }
    for (int i = 0; i < TURNS; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &one, NULL);
        CHECK(one != last);
        last = one;
        highest = one > highest ? one : highest;
        CHECK_EQ(MPI_Comm_get_attr(comm, one, &value, &flag), MPI_SUCCESS);
        CHECK(!flag);
        MPI_Comm_free_keyval(&one);
    }
    CHECK(highest - alive[0] < 4 * ALIVE);
    CHECK_EQ(MPI_Comm_get_attr(comm, last, &value, &flag), MPI_ERR_KEYVAL);
    for (int i = 0; i < ALIVE; i++) {
        MPI_Comm_get_attr(comm, alive[i], &value, &flag);
        CHECK(flag && value == &alive[i]);
        MPI_Comm_delete_attr(comm, alive[i]);
        MPI_Comm_free_keyval(&alive[i]);
    }
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atoi(argv[1]) : 1000;
    test_start(1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    each_value_once();
    lost_while_copied(NULL);
    lost_while_copied(&rounds);
    set_while_deleted();
    refused_dup();
    many_keys();
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
