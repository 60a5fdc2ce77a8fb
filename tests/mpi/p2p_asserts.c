/* Assertions about a communicator's receives: told by its info, not inherited by duplicates, and who breaks
 * one is told by a line and goes on as if it had not been given, or gets an error that names it.
 * usage: p2p_asserts [error] */
#include "mpi_test.h"

#include <sys/mman.h>

static void must_fail(int code, int class, const char *word)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, got = MPI_SUCCESS;
    MPI_Error_class(code, &got);
    CHECK_EQ(got, class);
    MPI_Error_string(code, text, &len);
    CHECK(strstr(text, word) != NULL);
}

static MPI_Comm asserting(const char *key)
{
    MPI_Info info;
    MPI_Comm comm;
    char value[8];
    int flag, len = sizeof(value);
    MPI_Info_create(&info);
    MPI_Info_set(info, key, "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_string(info, key, &len, value, &flag);
    CHECK(flag && strcmp(value, "true") == 0);
    MPI_Info_free(&info);
    return comm;
}

static void no_any_tag(void)
{
    MPI_Comm comm = asserting("mpi_assert_no_any_tag");
    MPI_Request req;
    int v = me, flag;
    must_fail(MPI_Recv(&v, 1, MPI_INT, 1 - me, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE), MPI_ERR_ARG,
              "mpi_assert_no_any_tag");
    must_fail(MPI_Irecv(&v, 1, MPI_INT, 1 - me, MPI_ANY_TAG, comm, &req), MPI_ERR_ARG,
              "mpi_assert_no_any_tag");
    must_fail(MPI_Iprobe(1 - me, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE), MPI_ERR_ARG,
              "mpi_assert_no_any_tag");
    MPI_Sendrecv_replace(&v, 1, MPI_INT, 1 - me, 3, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE);
    CHECK_EQ(v, 1 - me);
    MPI_Comm_free(&comm);
}

static void no_any_source(void)
{
    MPI_Comm comm = asserting("mpi_assert_no_any_source"), copy;
    MPI_Message message;
    MPI_Request req;
    int v = me;
    MPI_Comm_dup(comm, &copy);
    MPI_Sendrecv_replace(&v, 1, MPI_INT, 1 - me, 3, MPI_ANY_SOURCE, 3, copy, MPI_STATUS_IGNORE);
    CHECK_EQ(v, 1 - me); /* duplicates have no hints */
    v = me;
    must_fail(MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE), MPI_ERR_ARG,
              "mpi_assert_no_any_source");
    must_fail(MPI_Recv_init(&v, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &req), MPI_ERR_ARG,
              "mpi_assert_no_any_source");
    must_fail(MPI_Mprobe(MPI_ANY_SOURCE, 3, comm, &message, MPI_STATUS_IGNORE), MPI_ERR_ARG,
              "mpi_assert_no_any_source");
    MPI_Sendrecv_replace(&v, 1, MPI_INT, 1 - me, 3, 1 - me, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    CHECK_EQ(v, 1 - me);
    MPI_Info info; /* taken back, it is allowed again */
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_source", "false");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    MPI_Sendrecv_replace(&v, 1, MPI_INT, 1 - me, 3, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE);
    CHECK_EQ(v, me);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&copy);
}

/* Messages of the buffer's length, a little less and a little more; there before the receive, and after it.
 */
static void exact_length(void)
{
    static const int lengths[] = {0, 8, 33, 5000, 20000, 100000};
    MPI_Comm comm = asserting("mpi_assert_exact_length");
    unsigned char *buf = malloc(100001);
    for (int i = 0; i < 6 * 3 * 2; i++) {
        int n = lengths[i % 6], more = i / 6 % 3 - 1, early = i / 18, sent = n + more;
        if (sent < 0) {
            continue;
        }
        MPI_Request req;
        if (me == 0) {
            if (!early) {
                MPI_Barrier(MPI_COMM_WORLD);
            }
            MPI_Isend(buf, sent, MPI_BYTE, 1, 1, comm, &req);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
            if (early && sent < 8000) {
                MPI_Barrier(MPI_COMM_WORLD);
            }
            continue;
        }
        int code;
        if (early) {
            if (sent < 8000) {
                MPI_Barrier(MPI_COMM_WORLD);
            }
            code = MPI_Recv(buf, n, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(buf, n, MPI_BYTE, 0, 1, comm, &req);
            MPI_Barrier(MPI_COMM_WORLD);
            code = MPI_Wait(&req, MPI_STATUS_IGNORE);
        }
        if (more == 0) {
            CHECK_EQ(code, MPI_SUCCESS);
        } else {
            must_fail(code, more > 0 ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
                      more > 0 ? "the receive buffer" : "mpi_assert_exact_length");
        }
    }
    free(buf);
    MPI_Comm_free(&comm);
}

static void allow_overtaking(void)
{
    MPI_Comm comm = asserting("mpi_assert_allow_overtaking");
    for (int i = 0; i < 100; i++) { /* allowed, not done */
        int v = i;
        MPI_Sendrecv_replace(&v, 1, MPI_INT, 1 - me, 0, 1 - me, 0, comm, MPI_STATUS_IGNORE);
        CHECK_EQ(v, i);
    }
    MPI_Comm_free(&comm);
}

/* ---- broken, and the program goes on ---- */

static int screen;

/* What the library says from here on, until `said`. */
static int listen(void)
{
    int words = memfd_create("words", 0);
    fflush(stderr);
    screen = dup(2);
    CHECK(words >= 0 && screen >= 0 && dup2(words, 2) == 2);
    return words;
}

/* How many lines have the word. */
static int said(int words, const char *word)
{
    char text[8192];
    int n = 0;
    dup2(screen, 2);
    close(screen);
    ssize_t len = pread(words, text, sizeof text - 1, 0);
    close(words);
    text[len > 0 ? len : 0] = '\0';
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        n++;
    }
    return n;
}

static int is_asserted(MPI_Comm comm, const char *key)
{
    MPI_Info info;
    char value[8];
    int flag, len = sizeof(value);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_string(info, key, &len, value, &flag);
    MPI_Info_free(&info);
    return flag && strcmp(value, "true") == 0;
}

static void goes_on(const char *key, int source, int tag)
{
    MPI_Comm comm = asserting(key);
    int words = listen();
    for (int i = 0; i < 3; i++) {
        int v = me + i, flag = 0;
        MPI_Request req;
        CHECK_EQ(MPI_Irecv(&v, 1, MPI_INT, source, tag, comm, &req), MPI_SUCCESS);
        CHECK_EQ(MPI_Send(&(int){me + i}, 1, MPI_INT, 1 - me, 3, comm), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&req, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(v, 1 - me + i);
        CHECK_EQ(MPI_Iprobe(source, tag, comm, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    CHECK_EQ(said(words, key), 1);
    CHECK(!is_asserted(comm, key));
    MPI_Comm_free(&comm);
}

static void goes_on_when_short(void)
{
    MPI_Comm comm = asserting("mpi_assert_exact_length");
    int words = listen(), n;
    for (int i = 0; i < 3; i++) {
        long in[2] = {0}, out = me;
        MPI_Status st;
        CHECK_EQ(MPI_Sendrecv(&out, 1, MPI_LONG, 1 - me, 0, in, 2, MPI_LONG, 1 - me, 0, comm, &st),
                 MPI_SUCCESS);
        MPI_Get_count(&st, MPI_LONG, &n);
        CHECK(n == 1 && in[0] == 1 - me);
    }
    CHECK_EQ(said(words, "mpi_assert_exact_length"), 1);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    bool errors = argc > 1 && strcmp(argv[1], "error") == 0;
    setenv("HOTLANE_BROKEN_HINTS", errors ? "error" : "warn", 1);
    test_start(2);
    if (size == 2 && !errors) {
        goes_on("mpi_assert_no_any_tag", 1 - me, MPI_ANY_TAG);
        goes_on("mpi_assert_no_any_source", MPI_ANY_SOURCE, 3);
        goes_on_when_short();
    } else if (size == 2) {
        no_any_tag();
        no_any_source();
        exact_length();
        allow_overtaking();
    }
    MPI_Finalize();
    return 0;
}
