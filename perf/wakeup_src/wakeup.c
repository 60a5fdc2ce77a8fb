/*
 * usage: wakeup ROUNDS: how long after its cause a rank that sleeps in a blocking call goes on. Rank 1 waits,
 * rank 0 takes the time just before the call that ends the wait. One kind of wait after the other in each
 * round, and among them what the machine itself does between the same processes: futex, eventfd, a byte over
 * TCP. Prints a line for each kind: its name and the nanoseconds of each round. Both ranks on one machine,
 * whose clock they share.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <hotlane.h>
#include <linux/futex.h>
#include <mpi.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Until the cause: the waiter's naps have grown by then. After it: else the next message wakes the waiter. */
enum { NAP_MIN_US = 12000, NAP_MORE_US = 12000, QUIET_US = 3000 };

static int me;
static int64_t round_now;
static MPI_Win win;
static MPI_Group peer;
static uint64_t *memory; /* of the window: a flag and a datum */
static long *word, *datum;
static uint64_t *sig;
static uint32_t *futex; /* shared by both */
static int event = -1, tcp = -1;

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void die(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- The machine itself ---- */

static void futex_wait(void)
{
    /* acquire and release: the round; they pair with each other. */
    while (__atomic_load_n(futex, __ATOMIC_ACQUIRE) != (uint32_t)round_now)
        syscall(SYS_futex, futex, FUTEX_WAIT, (uint32_t)round_now - 1, NULL, NULL, 0);
}

static void futex_wake(void)
{
    __atomic_store_n(futex, (uint32_t)round_now, __ATOMIC_RELEASE);
    syscall(SYS_futex, futex, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void event_wait(void)
{
    uint64_t count;

    if (read(event, &count, sizeof count) != sizeof count)
        die("eventfd");
}

static void event_wake(void)
{
    uint64_t one = 1;

    if (write(event, &one, sizeof one) != sizeof one)
        die("eventfd");
}

static void tcp_wait(void)
{
    char byte;

    if (recv(tcp, &byte, 1, 0) != 1)
        die("TCP");
}

static void tcp_wake(void)
{
    if (send(tcp, "", 1, 0) != 1)
        die("TCP");
}

/* ---- Messages and collectives ---- */

static void receive(void)
{
    int64_t got;

    MPI_Recv(&got, 1, MPI_INT64_T, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void request(void)
{
    int64_t got;
    MPI_Request r;

    MPI_Irecv(&got, 1, MPI_INT64_T, 0, 1, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void send_it(void)
{
    MPI_Send(&round_now, 1, MPI_INT64_T, 1, 1, MPI_COMM_WORLD);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void team_sync(void)
{
    shmem_team_sync(SHMEM_TEAM_WORLD);
}

/* ---- Windows ---- */

static void notify_wait(void)
{
    MPIX_Win_flag_wait(0, MPIX_CMP_EQ, (uint64_t)round_now, NULL, win);
}

static void notify(void)
{
    MPIX_Put_notify(&round_now, 1, MPI_INT64_T, 1, 1, 1, MPI_INT64_T, 0, (uint64_t)round_now, win);
    MPI_Win_flush(1, win);
}

static void exposure_wait(void)
{
    MPI_Win_wait(win);
}

static void exposure_end(void)
{
    MPI_Win_complete(win);
}

static void lock_wait(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
}

static void lock_end(void)
{
    MPI_Win_unlock(0, win);
}

/* ---- OpenSHMEM ---- */

static void signal_wait(void)
{
    shmem_signal_wait_until(sig, SHMEM_CMP_EQ, (uint64_t)round_now);
}

static void put_signal(void)
{
    shmem_putmem_signal(datum, &round_now, sizeof round_now, sig, (uint64_t)round_now, SHMEM_SIGNAL_SET, 1);
    shmem_quiet();
}

static void word_wait(void)
{
    shmem_long_wait_until(word, SHMEM_CMP_EQ, (long)round_now);
}

static void word_put(void)
{
    shmem_long_p(word, (long)round_now, 1);
    shmem_quiet();
}

static const struct kind {
    const char *name;
    void (*wait)(void), (*end)(void);
} kinds[] = {{"futex", futex_wait, futex_wake},
             {"eventfd", event_wait, event_wake},
             {"tcp", tcp_wait, tcp_wake},
             {"MPI_Recv", receive, send_it},
             {"MPI_Wait", request, send_it},
             {"MPI_Barrier", barrier, barrier},
             {"shmem_team_sync", team_sync, team_sync},
             {"MPIX_Win_flag_wait", notify_wait, notify},
             {"MPI_Win_wait", exposure_wait, exposure_end},
             {"MPI_Win_lock", lock_wait, lock_end},
             {"shmem_signal_wait_until", signal_wait, put_signal},
             {"shmem_wait_until", word_wait, word_put}};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- Epochs around them ---- */

static void before(const struct kind *k)
{
    if (k->wait == notify_wait && me == 0)
        MPI_Win_lock_all(MPI_MODE_NOCHECK, win); /* else the lock is fetched with the first operation */
    if (k->wait == exposure_wait && me == 1)
        MPI_Win_post(peer, 0, win);
    if (k->wait == exposure_wait && me == 0)
        MPI_Win_start(peer, 0, win);
    if (k->wait == lock_wait && me == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
}

static void after(const struct kind *k)
{
    if (k->wait == notify_wait && me == 0)
        MPI_Win_unlock_all(win);
    if (k->wait == lock_wait && me == 1)
        MPI_Win_unlock(0, win);
}

/* Rank 1: nanoseconds from the cause to the end of the wait. */
static int64_t measure(const struct kind *k)
{
    int64_t cause = 0, end = 0;

    before(k);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        k->wait();
        end = now();
        after(k);
        MPI_Recv(&cause, 1, MPI_INT64_T, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        usleep((useconds_t)(NAP_MIN_US + rand() % NAP_MORE_US));
        cause = now();
        k->end();
        after(k);
        usleep(QUIET_US);
        MPI_Send(&cause, 1, MPI_INT64_T, 1, 2, MPI_COMM_WORLD);
    }
    return end - cause;
}

/* ---- Opening ---- */

/* Rank 1's event counter, as a descriptor of rank 0. */
static void open_event(void)
{
    int names[2] = {getpid(), -1};

    if (me == 1)
        names[1] = event = eventfd(0, 0);
    MPI_Bcast(names, 2, MPI_INT, 1, MPI_COMM_WORLD);
    if (me == 0) {
        int process = (int)syscall(SYS_pidfd_open, names[0], 0);
        event = (int)syscall(SYS_pidfd_getfd, process, names[1], 0);
        close(process);
    }
    if (event < 0)
        die("the other rank's eventfd");
}

static void open_tcp(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int s = socket(AF_INET, SOCK_STREAM, 0), bad = s < 0;

    if (me == 0)
        bad = bad || bind(s, (struct sockaddr *)&at, len) != 0 || listen(s, 1) != 0 ||
              getsockname(s, (struct sockaddr *)&at, &len) != 0;
    MPI_Bcast(&at, sizeof at, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (me == 1)
        bad = bad || connect(s, (struct sockaddr *)&at, len) != 0;
    tcp = me == 0 && !bad ? accept(s, NULL, NULL) : s;
    if (bad || tcp < 0)
        die("TCP");
}

/* Not memory of the library, which may have been told that the ranks are not near. */
static void open_futex(void)
{
    char name[64];
    int id = getpid();

    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/hotlane-wakeup-%d", id);
    int fd = shm_open(name, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        die(name);
    futex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    shm_unlink(name);
    if (futex == MAP_FAILED)
        die(name);
}

static void open_all(void)
{
    MPI_Group world;
    int other = 1 - me;

    MPI_Win_allocate(2 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, 2 * sizeof *memory);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &peer);
    word = shmem_calloc(1, sizeof *word);
    datum = shmem_calloc(1, sizeof *datum);
    sig = shmem_calloc(1, sizeof *sig);
    open_futex();
    open_event();
    open_tcp();
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100, provided, ranks;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    shmem_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2 || rounds < 1) {
        fprintf(stderr, "usage: mpiexec -n 2 wakeup ROUNDS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    open_all();
    int64_t *took = calloc((size_t)rounds * KINDS, sizeof *took);
    if (!took)
        die("memory");
    for (round_now = 1; round_now <= rounds + 1; round_now++) /* the first one warms up */
        for (int k = 0; k < KINDS; k++) {
            int64_t t = measure(&kinds[k]);
            if (round_now > 1)
                took[k * rounds + round_now - 2] = t;
        }
    for (int k = 0; me == 1 && k < KINDS; k++) {
        printf("%s", kinds[k].name);
        for (int r = 0; r < rounds; r++)
            printf(" %lld", (long long)took[k * rounds + r]);
        printf("\n");
    }
    free(took);
    MPI_Win_free(&win);
    shmem_finalize();
    MPI_Finalize();
    return 0;
}
