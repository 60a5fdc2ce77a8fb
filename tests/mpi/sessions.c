/* Sessions: before MPI_Init, beside it, after MPI_Finalize and without it; many at once from many threads, on
 * some ranks more often than on others, thousands of times without leaks. usage: sessions THREADS REPEATS
 * [alone] */
#include "mpi_test.h"

#include <malloc.h>

static int threads, repeats, handled, last_code;

static MPI_Session start(MPI_Errhandler errh, const char *level)
{
    MPI_Session s = MPI_SESSION_NULL;
    MPI_Info info = MPI_INFO_NULL;

    if (level != NULL) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "thread_level", level);
    }
    CHECK_EQ(MPI_Session_init(info, errh, &s), MPI_SUCCESS);
    CHECK(s != MPI_SESSION_NULL);
    if (level != NULL) {
        MPI_Info_free(&info);
    }
    return s;
}

static void end(MPI_Session *s)
{
    CHECK_EQ(MPI_Session_finalize(s), MPI_SUCCESS);
    CHECK(*s == MPI_SESSION_NULL);
}

static MPI_Comm comm_of(MPI_Session s, const char *pset, const char *tag)
{
    MPI_Group g;
    MPI_Comm c;

    CHECK_EQ(MPI_Group_from_session_pset(s, pset, &g), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c), MPI_SUCCESS);
    MPI_Group_free(&g);
    return c;
}

/* A session's communicator has one predefined attribute; the others tell of the world. */
static void check_attrs(MPI_Comm c)
{
    static const int none[] = {MPI_HOST,          MPI_IO,           MPI_WTIME_IS_GLOBAL,
                               MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE, MPI_APPNUM};
    MPI_Comm copy;
    void *value;
    int flag;

    MPI_Comm_dup(c, &copy);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        CHECK_EQ(MPI_Comm_get_attr(c, none[i], &value, &flag), MPI_SUCCESS);
        CHECK_EQ(flag, 0);
        CHECK_EQ(MPI_Comm_get_attr(copy, none[i], &value, &flag), MPI_SUCCESS);
        CHECK_EQ(flag, 0);
    }
    MPI_Comm_get_attr(copy, MPI_TAG_UB, &value, &flag);
    CHECK(flag && *(int *)value >= 32767);
    MPI_Comm_free(&copy);
}

/* Messages, collectives and puts over a session's communicator. */
static void use(MPI_Comm c)
{
    int n, r, sum, got = -1, *mem;
    MPI_Win win;

    MPI_Comm_size(c, &n);
    MPI_Comm_rank(c, &r);
    MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(sum, n * (n - 1) / 2);
    MPI_Sendrecv(&r, 1, MPI_INT, (r + 1) % n, 1, &got, 1, MPI_INT, (r + n - 1) % n, 1, c, MPI_STATUS_IGNORE);
    CHECK_EQ(got, (r + n - 1) % n);
    MPI_Win_allocate(sizeof *mem, sizeof *mem, MPI_INFO_NULL, c, (void *)&mem, &win);
    *mem = -1;
    MPI_Win_fence(0, win);
    MPI_Put(&r, 1, MPI_INT, (r + 1) % n, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(*mem, (r + n - 1) % n);
    MPI_Win_free(&win);
}

/* ---- What a session tells ---- */

static void check_pset(MPI_Session s, int i)
{
    char name[64], size_text[16], cut[6] = "xxxxx";
    int len = 0, flag, n, rank;
    MPI_Info info;
    MPI_Group g;

    CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, NULL), MPI_SUCCESS);
    int whole = len, little = 4;
    CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, name), MPI_SUCCESS);
    CHECK_EQ(len, whole);
    CHECK_EQ(strlen(name) + 1, whole);
    CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &little, cut), MPI_SUCCESS);
    CHECK_EQ(little, whole);
    CHECK(strncmp(cut, name, 3) == 0 && strlen(cut) == 3);
    CHECK_EQ(MPI_Session_get_pset_info(s, name, &info), MPI_SUCCESS);
    MPI_Info_get(info, "mpi_size", sizeof size_text - 1, size_text, &flag);
    CHECK(flag);
    MPI_Info_free(&info);
    CHECK_EQ(MPI_Group_from_session_pset(s, name, &g), MPI_SUCCESS);
    MPI_Group_size(g, &n);
    MPI_Group_rank(g, &rank);
    CHECK_EQ(n, atoi(size_text));
    CHECK(rank >= 0 && rank < n);
    if (strcmp(name, "mpi://WORLD") == 0) {
        size = n;
        me = rank;
    } else if (strcmp(name, "mpi://SELF") == 0) {
        CHECK_EQ(n, 1);
    }
    MPI_Group_free(&g);
}

static void tell(void)
{
    MPI_Session s = start(MPI_ERRORS_RETURN, "MPI_THREAD_FUNNELED");
    char word[64];
    int n = 0, flag, len = sizeof word;
    MPI_Info info;
    MPI_Group g = MPI_GROUP_EMPTY;

    CHECK_EQ(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n), MPI_SUCCESS);
    CHECK(n >= 2);
    for (int i = 0; i < n; i++) {
        check_pset(s, i);
    }
    CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, n, &len, word), MPI_ERR_ARG);
    CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, -1, &len, word), MPI_ERR_ARG);
    CHECK_EQ(MPI_Session_get_pset_info(s, "mpi://MOON", &info), MPI_ERR_ARG);
    CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://MOON", &g), MPI_ERR_ARG);
    CHECK(g == MPI_GROUP_NULL);
    CHECK_EQ(MPI_Session_get_info(s, &info), MPI_SUCCESS);
    MPI_Info_get(info, "thread_level", sizeof word - 1, word, &flag);
    CHECK(flag && strcmp(word, "MPI_THREAD_FUNNELED") == 0);
    MPI_Info_get(info, "mpi_memory_alloc_kinds", sizeof word - 1, word, &flag);
    CHECK(flag && strcmp(word, "mpi,system") == 0);
    MPI_Info_free(&info);
    CHECK(MPI_Session_fromint(MPI_Session_toint(s)) == s);
    end(&s);
}

/* ---- Error handlers ---- */

static MPI_Session expected;

static void handler(MPI_Session *s, int *code, ...)
{
    CHECK(*s == expected);
    handled++;
    last_code = *code;
}

static void errors(void)
{
    MPI_Errhandler e, got, wrong;
    MPI_Session s, copy;
    MPI_Group g;
    int n;

    handled = 0;
    CHECK_EQ(MPI_Session_create_errhandler(handler, &e), MPI_SUCCESS);
    s = expected = start(e, NULL);
    MPI_Errhandler_free(&e);
    CHECK_EQ(MPI_Group_from_session_pset(s, "nothing", &g), MPI_ERR_ARG);
    CHECK_EQ(handled, 1);
    CHECK_EQ(last_code, MPI_ERR_ARG);
    CHECK_EQ(MPI_Session_call_errhandler(s, MPI_ERR_TAG), MPI_SUCCESS);
    CHECK_EQ(last_code, MPI_ERR_TAG);
    MPI_Session_get_errhandler(s, &got);
    MPI_Session_set_errhandler(s, MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_Group_from_session_pset(s, "nothing", &g), MPI_ERR_ARG);
    CHECK_EQ(handled, 2);
    MPI_Session_set_errhandler(s, got);
    MPI_Errhandler_free(&got);
    MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)(uintptr_t)handler, &wrong);
    CHECK_EQ(MPI_Session_set_errhandler(s, wrong), MPI_ERR_ERRHANDLER);
    CHECK_EQ(handled, 3);
    MPI_Errhandler_free(&wrong);
    MPI_Session_set_errhandler(s, MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_Session_init((MPI_Info)(uintptr_t)77, MPI_ERRORS_RETURN, &copy), MPI_ERR_INFO);
    copy = s;
    end(&s);
    s = start(MPI_ERRORS_RETURN, NULL); /* errors of no session go to the handler of MPI_COMM_SELF */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_Session_get_num_psets(copy, MPI_INFO_NULL, &n), MPI_ERR_SESSION);
    CHECK_EQ(MPI_Session_get_num_psets(MPI_SESSION_NULL, MPI_INFO_NULL, &n), MPI_ERR_SESSION);
    CHECK_EQ(MPI_Session_finalize(&copy), MPI_ERR_SESSION);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    end(&s);
}

/* ---- Many ---- */

/* Each on its own communicators; a rank's number of further sessions is its own business. */
static void *storm(void *number)
{
    char tag[32];

    for (int i = 0; i < 10; i++) {
        MPI_Session s = start(MPI_ERRORS_ARE_FATAL, i % 2 ? "MPI_THREAD_MULTIPLE" : NULL);
        for (int k = 0; k < me; k++) {
            MPI_Session more = start(MPI_ERRORS_ARE_FATAL, NULL);
            end(&more);
        }
        snprintf(tag, sizeof tag, "thread %d", (int)(intptr_t)number);
        MPI_Comm c = comm_of(s, "mpi://WORLD", tag), mine = comm_of(s, "mpi://SELF", tag);
        use(c);
        use(mine);
        MPI_Comm_free(&c);
        MPI_Comm_free(&mine);
        end(&s);
    }
    return NULL;
}

static void once(void)
{
    MPI_Session s = start(MPI_ERRORS_RETURN, NULL);
    MPI_Comm c = comm_of(s, "MPI://self", "leaks");

    MPI_Comm_free(&c);
    end(&s);
}

/* Once everything was used, nothing more is held by the thousandth session than by the tenth. Receive threads
 * take memory once, for the endpoint that they open and the connections of ranks that are through with this;
 * on a busy machine that takes them several turns. A leak shows in every turn. */
static void leaks(void)
{
    bool leaks = true;

    for (int i = 0; i < 10; i++) {
        once();
    }
    for (int turn = 0; leaks && turn < 100; turn++) {
        size_t before = mallinfo2().uordblks;
        for (int i = 0; i < repeats * (1 + me % 2); i++) {
            once();
        }
        leaks = mallinfo2().uordblks >= before + 4096;
    }
    CHECK(!leaks);
}

static void all(void)
{
    tell();
    errors();
    test_threads(threads, storm);
    leaks();
    MPI_Session s = start(MPI_ERRORS_ARE_FATAL, NULL);
    MPI_Comm c = comm_of(s, "mpi://world", "all");
    MPI_Barrier(c);
    check_attrs(c);
    use(c);
    MPI_Comm_free(&c);
    end(&s);
}

static void beside_mpi(void)
{
    int flag, main_thread, level;
    MPI_Session before = start(MPI_ERRORS_ARE_FATAL, NULL), beside;

    MPI_Initialized(&flag);
    CHECK(!flag);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    CHECK_EQ(level, MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&main_thread);
    CHECK(main_thread);
    beside = start(MPI_ERRORS_ARE_FATAL, NULL);
    MPI_Comm c = comm_of(before, "mpi://WORLD", "before"), d = comm_of(beside, "mpi://WORLD", "beside");
    check_attrs(c);
    use(c);
    use(d);
    use(MPI_COMM_WORLD);
    MPI_Comm_free(&d);
    end(&beside);
    MPI_Finalize();
    MPI_Finalized(&flag);
    CHECK(flag);
    use(c);
    beside = start(MPI_ERRORS_ARE_FATAL, NULL);
    d = comm_of(beside, "mpi://WORLD", "after");
    use(d);
    MPI_Comm_free(&d);
    end(&beside);
    MPI_Comm_free(&c);
    end(&before); /* the last user */
}

int main(int argc, char **argv)
{
    MPI_Info info;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int len, major, minor;

    threads = atoi(argv[1]);
    repeats = atoi(argv[2]);
    MPI_Get_library_version(version, &len); /* what may be called before anything is open */
    MPI_Get_version(&major, &minor);
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_ODD");
    MPI_Info_free(&info);
    all();
    if (argc < 4 || strcmp(argv[3], "alone") != 0) {
        beside_mpi();
        all();
    }
    return 0;
}
