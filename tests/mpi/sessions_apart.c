/* A thread whose last session waits for a message to be received does not hold up another thread that opens a
 * session, even when the receiver first waits for that one; and it leaves the buffer alone that this thread has
 * attached. */
#include "mpi_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { LARGE = 1 << 20 };

static long word = 5;
static char large[LARGE], process_buffer[LARGE + MPI_BSEND_OVERHEAD], session_buffer[1000];
static atomic_bool has_left;

static MPI_Session open_session(void)
{
    MPI_Session s;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &s);
    MPI_Info_free(&info);
    return s;
}

static MPI_Comm comm_of(MPI_Session s, const char *tag)
{
    MPI_Group all;
    MPI_Comm comm;
    MPI_Group_from_session_pset(s, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&all);
    return comm;
}

/* Its messages are received last. */
static void *leave_first(void *session)
{
    MPI_Comm comm = comm_of(*(MPI_Session *)session, "first");
    MPI_Request req;
    MPI_Issend(&word, 1, MPI_LONG, 1, 0, comm, &req);
    MPI_Request_free(&req);
    MPI_Buffer_attach(process_buffer, sizeof process_buffer);
    MPI_Bsend(large, LARGE, MPI_CHAR, 1, 1, comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(session);
    atomic_store(&has_left, true);
    return NULL;
}

static void *come_later(void *unused)
{
    usleep(200000); /* the other thread is in MPI_Session_finalize */
    MPI_Session s = open_session();
    MPI_Comm comm = comm_of(s, "second");
    void *base;
    int bytes;
    CHECK_EQ(MPI_Session_attach_buffer(s, session_buffer, sizeof session_buffer), MPI_SUCCESS);
    MPI_Send(&word, 1, MPI_LONG, 1, 0, comm);
    while (!atomic_load(&has_left)) {
        usleep(1000);
    }
    MPI_Bsend(&word, 1, MPI_LONG, 1, 2, comm);
    MPI_Session_detach_buffer(s, &base, &bytes);
    CHECK(base == session_buffer);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&s);
    return unused;
}

static void receive_both(MPI_Session *s)
{
    long got = 0;
    MPI_Comm first = comm_of(*s, "first"), second = comm_of(*s, "second");
    MPI_Recv(&got, 1, MPI_LONG, 0, 0, second, MPI_STATUS_IGNORE);
    MPI_Recv(&got, 1, MPI_LONG, 0, 0, first, MPI_STATUS_IGNORE);
    CHECK_EQ(got, word);
    MPI_Recv(large, LARGE, MPI_CHAR, 0, 1, first, MPI_STATUS_IGNORE);
    MPI_Recv(&got, 1, MPI_LONG, 0, 2, second, MPI_STATUS_IGNORE);
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    MPI_Session_finalize(s);
}

int main(void)
{
    pthread_t thread[2];
    MPI_Session s = open_session();
    MPI_Group all;
    MPI_Group_from_session_pset(s, "mpi://WORLD", &all);
    MPI_Group_rank(all, &me);
    MPI_Group_size(all, &size);
    MPI_Group_free(&all);
    if (me == 0) {
        pthread_create(&thread[0], NULL, leave_first, &s);
        pthread_create(&thread[1], NULL, come_later, NULL);
        pthread_join(thread[0], NULL);
        pthread_join(thread[1], NULL);
    } else {
        receive_both(&s);
    }
    return 0;
}
