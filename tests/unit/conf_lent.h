/* Variables that are lent to other libraries. */
#include <pthread.h>
#include <semaphore.h>

static void look(void *arg)
{
    ck_assert_str_eq(getenv("HL_TEST_LENT"), "yes");
    ck_assert_str_eq(getenv("HL_TEST_MINE"), "kept");
}

START_TEST(lent_variables_go_away_again)
{
    static const char *const extra[] = {"HL_TEST_LENT=yes", "HL_TEST_MINE=changed", NULL};
    setenv("HL_TEST_MINE", "kept", 1);
    char **before = environ;
    hl_conf_with_env(extra, look, NULL);
    ck_assert_ptr_eq(environ, before);
    ck_assert_ptr_null(getenv("HL_TEST_LENT"));
    clearenv();
    setenv("HL_TEST_MINE", "kept", 1);
    hl_conf_with_env(extra, look, NULL);
}
END_TEST

static void note_environ(void *at)
{
    *(char ***)at = environ;
}

/* Arrays that readers may have are never freed: so equal ones must be one. */
START_TEST(equal_environments_are_lent_in_one_array)
{
    static const char *const extra[] = {"HL_TEST_LENT=yes", NULL}, *const more[] = {"HL_TEST_MORE=yes", NULL};
    char **first, **other, **again;
    hl_conf_with_env(extra, note_environ, &first);
    hl_conf_with_env(more, note_environ, &other);
    hl_conf_with_env(extra, note_environ, &again);
    ck_assert_ptr_ne(first, other);
    ck_assert_ptr_eq(first, again);
    setenv("HL_TEST_MINE", "another", 1);
    hl_conf_with_env(extra, note_environ, &again);
    ck_assert_ptr_ne(first, again);
}
END_TEST

/* Calls of two threads that overlap. */
struct borrower {
    const char *const *extra;
    const char *name;
    sem_t is_in, may_leave;
};

static void borrow(void *arg)
{
    struct borrower *b = arg;
    ck_assert_str_eq(getenv(b->name), "yes");
    sem_post(&b->is_in);
    sem_wait(&b->may_leave);
    ck_assert_str_eq(getenv(b->name), "yes");
    ck_assert_str_eq(getenv("HL_TEST_MINE"), "kept");
}

static void *lend(void *arg)
{
    hl_conf_with_env(((struct borrower *)arg)->extra, borrow, arg);
    return NULL;
}

/* Whoever leaves first. */
START_TEST(variables_lent_to_two_threads_go_away_again)
{
    static const char *const extras[2][3] = {{"HL_TEST_ONE=yes", "HL_TEST_MINE=changed", NULL},
                                             {"HL_TEST_TWO=yes", NULL}};
    struct borrower b[2] = {{.extra = extras[0], .name = "HL_TEST_ONE"},
                            {.extra = extras[1], .name = "HL_TEST_TWO"}};
    pthread_t t[2];
    setenv("HL_TEST_MINE", "kept", 1);
    char **before = environ;
    for (int i = 0; i < 2; i++) {
        sem_init(&b[i].is_in, 0, 0);
        sem_init(&b[i].may_leave, 0, 0);
        ck_assert_int_eq(pthread_create(&t[i], NULL, lend, &b[i]), 0);
        sem_wait(&b[i].is_in);
    }
    for (int i = 0; i < 2; i++) {
        int leaves = i == 0 ? _i : 1 - _i;
        sem_post(&b[leaves].may_leave);
        pthread_join(t[leaves], NULL);
        ck_assert_ptr_null(getenv(b[leaves].name));
    }
    ck_assert_ptr_eq(environ, before);
}
END_TEST
