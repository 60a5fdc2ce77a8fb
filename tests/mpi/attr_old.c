/* Attributes by the calls of MPI-1: what callbacks are told and may refuse, what duplicates inherit, that
 * keys and values are those of the calls that replaced them, and threads that hang their own on one
 * communicator. usage: attr_old THREADS */
#include "mpi_test.h"

#define TURNS 300

static MPI_Comm comm; /* errors are returned */
static char words[8];
static int copied, deleted, refuse, seen_key;
static void *seen_value, *seen_extra;
static MPI_Comm seen_comm;

static int copy(MPI_Comm old, int key, void *extra, void *in, void *out, int *flag)
{
    copied++;
    seen_comm = old;
    seen_key = key;
    seen_value = in;
    seen_extra = extra;
    *(void **)out = (char *)in + 1;
    *flag = refuse != 2; /* 2: no value, and no error */
    return refuse == 1 ? MPI_ERR_INTERN : MPI_SUCCESS;
}

static int delete (MPI_Comm of, int key, void *value, void *extra)
{
    deleted++;
    seen_comm = of;
    seen_key = key;
    seen_value = value;
    seen_extra = extra;
    return refuse != 0 ? MPI_ERR_INTERN : MPI_SUCCESS;
}

/* The value, or NULL. */
static void *value_of(MPI_Comm of, int key)
{
    void *old = NULL, *new = NULL;
    int flag, other;
    CHECK_EQ(MPI_Attr_get(of, key, &old, &flag), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_get_attr(of, key, &new, &other), MPI_SUCCESS);
    CHECK(flag == other && old == new);
    return flag ? old : NULL;
}

static void was_told(int key, const void *value, const void *extra)
{
    CHECK(seen_comm == comm && seen_key == key && seen_value == value && seen_extra == extra);
}

static void set_replace_delete(void)
{
    int key, was = deleted;
    MPI_Keyval_create(MPI_NULL_COPY_FN, delete, &key, words);
    CHECK(key != MPI_KEYVAL_INVALID && value_of(comm, key) == NULL);
    MPI_Attr_put(comm, key, words + 1);
    CHECK(value_of(comm, key) == words + 1 && deleted == was);
    MPI_Attr_put(comm, key, words + 2);
    CHECK(value_of(comm, key) == words + 2 && deleted == was + 1);
    was_told(key, words + 1, words);
    refuse = 1; /* what is not deleted stays */
    CHECK_EQ(MPI_Attr_put(comm, key, words + 3), MPI_ERR_INTERN);
    CHECK_EQ(MPI_Attr_delete(comm, key), MPI_ERR_INTERN);
    CHECK(value_of(comm, key) == words + 2 && deleted == was + 3);
    refuse = 0;
    MPI_Attr_delete(comm, key);
    CHECK(value_of(comm, key) == NULL && deleted == was + 4);
    was_told(key, words + 2, words);
    MPI_Comm_set_attr(comm, key, words + 4); /* keys of both families are the same */
    MPI_Attr_delete(comm, key);
    CHECK(deleted == was + 5);
    MPI_Keyval_free(&key);
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
}

static void duplicates(void)
{
    int mine, plain, none, was = deleted;
    MPI_Comm twin;
    copied = 0;
    MPI_Keyval_create(copy, delete, &mine, words);
    MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &plain, NULL);
    MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &none, NULL);
    MPI_Attr_put(comm, mine, words + 1);
    MPI_Attr_put(comm, plain, words + 2);
    MPI_Attr_put(comm, none, words + 3);
    MPI_Comm_dup(comm, &twin);
    CHECK_EQ(copied, 1);
    was_told(mine, words + 1, words);
    CHECK(value_of(twin, mine) == words + 2 && value_of(twin, plain) == words + 2);
    CHECK(value_of(twin, none) == NULL);
    MPI_Comm_free(&twin);
    CHECK(deleted == was + 1 && seen_value == words + 2);
    refuse = 2;
    MPI_Comm_dup(comm, &twin);
    CHECK(value_of(twin, mine) == NULL && value_of(twin, plain) == words + 2);
    MPI_Comm_free(&twin);
    refuse = 1;
    twin = comm;
    CHECK_EQ(MPI_Comm_dup(comm, &twin), MPI_ERR_INTERN);
    CHECK(twin == MPI_COMM_NULL && copied == 3 && deleted == was + 1);
    refuse = 0;
    /* A freed key's values stay, are inherited and end with their communicator. */
    int freed = mine;
    MPI_Keyval_free(&mine);
    CHECK(mine == MPI_KEYVAL_INVALID && value_of(comm, freed) == words + 1);
    MPI_Comm_dup(comm, &twin);
    CHECK(value_of(twin, freed) == words + 2);
    CHECK_EQ(MPI_Attr_put(comm, freed, words), MPI_ERR_KEYVAL);
    MPI_Comm_free(&twin);
    MPI_Attr_delete(comm, freed);
    CHECK_EQ(deleted, was + 3);
    MPI_Attr_delete(comm, plain);
    MPI_Attr_delete(comm, none);
    MPI_Keyval_free(&plain);
    MPI_Keyval_free(&none);
}

static void predefined(void)
{
    static const int keys[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int key = keys[i];
        CHECK(value_of(MPI_COMM_WORLD, key) != NULL);
        CHECK_EQ(MPI_Attr_put(comm, key, words), MPI_ERR_KEYVAL);
        CHECK_EQ(MPI_Attr_delete(comm, key), MPI_ERR_KEYVAL);
        CHECK_EQ(MPI_Keyval_free(&key), MPI_ERR_KEYVAL);
        CHECK_EQ(key, keys[i]);
    }
    CHECK(*(int *)value_of(MPI_COMM_WORLD, MPI_TAG_UB) >= 32767);
    CHECK_EQ(*(int *)value_of(MPI_COMM_WORLD, MPI_HOST), MPI_PROC_NULL);
    CHECK_EQ(*(int *)value_of(MPI_COMM_WORLD, MPI_IO), MPI_ANY_SOURCE);
}

static void refusals(void)
{
    int key, other, flag, bad = MPI_KEYVAL_INVALID;
    void *value = words;
    MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &other, NULL);
    CHECK_EQ(MPI_Attr_get(comm, MPI_KEYVAL_INVALID, &value, &flag), MPI_ERR_KEYVAL);
    CHECK_EQ(MPI_Attr_put(comm, other, words), MPI_ERR_KEYVAL); /* of windows */
    CHECK_EQ(MPI_Attr_get(comm, other, &value, &flag), MPI_ERR_KEYVAL);
    CHECK_EQ(MPI_Keyval_free(&other), MPI_ERR_KEYVAL);
    CHECK_EQ(MPI_Keyval_free(&bad), MPI_ERR_KEYVAL);
    CHECK_EQ(MPI_Attr_delete(comm, key), MPI_ERR_KEYVAL); /* nothing is there */
    CHECK_EQ(MPI_Attr_put(MPI_COMM_NULL, key, words), MPI_ERR_COMM);
    CHECK_EQ(MPI_Attr_get(comm, key, &value, NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Attr_get(comm, key, NULL, &flag), MPI_ERR_ARG);
    CHECK_EQ(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, NULL, NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Keyval_free(NULL), MPI_ERR_ARG);
    CHECK(value == words);
    MPI_Win_free_keyval(&other);
    MPI_Keyval_free(&key);
}

static void *own(void *arg)
{
    intptr_t number = (intptr_t)arg;
    for (intptr_t i = 0; i < TURNS; i++) {
        void *value, *first = words + number % 7, *second = (void *)(i + 1);
        int key, flag;
        MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL);
        MPI_Attr_put(comm, key, first);
        CHECK(value_of(comm, key) == first);
        MPI_Attr_put(comm, key, second);
        CHECK(value_of(comm, key) == second);
        MPI_Attr_get(comm, MPI_WTIME_IS_GLOBAL, &value, &flag);
        CHECK(flag && (*(int *)value == 0 || *(int *)value == 1));
        MPI_Attr_delete(comm, key);
        CHECK(value_of(comm, key) == NULL);
        MPI_Keyval_free(&key);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    test_start(1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of calls without a communicator */
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    set_replace_delete();
    duplicates();
    predefined();
    refusals();
    test_threads(threads, own);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
