/* Blocking collectives over node-shared memory where the kernel copies nothing between processes, or not all:
 * they give the same results as where it does.
 * usage: coll_refused copies|rights|memory
 *   copies  this program stands before the kernel, and refuses some copies or all
 *   rights  the ranks change their user, or forbid to be read
 *   memory  the buffers are memory that other processes cannot read (memfd_secret) */
#include "mpi_test.h"

#include <hotlane.h>

#include <errno.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define NOBODY 65534
#define SECRET_CALL 447 /* memfd_secret; older headers do not name it */

/* Elements of 8 bytes: of a broadcast and of reductions; of a block; of a short block, for the v-forms. */
enum { WHOLE = 600000, BLOCK = 40000, SHORT = 2000, GAP = 2 };

/* ---- What stands before the kernel ---- */

enum refusal { NONE, READS, WRITES, OF_ONE, AT_RANDOM, REFUSALS_THAT_PASS, FOR_EVER = REFUSALS_THAT_PASS };

static enum refusal refusal;
static bool in_place; /* the reduction under way */
static long refused;
static uint64_t random_state;
static pid_t first; /* rank 0 */

static bool is_refused(pid_t pid, bool read)
{
    switch (refusal) {
    case READS:
        return read;
    case WRITES:
        return !read;
    case OF_ONE:
        return pid == first;
    case AT_RANDOM: /* rank 0 folds in the user's buffer, and can go back at the beginning only */
        return !(in_place && me == 0) && test_random(&random_state) % 4 == 0;
    case FOR_EVER:
        return true;
    default:
        return false;
    }
}

static ssize_t copy_or_refuse(long call, pid_t pid, const struct iovec *mine, unsigned long n_mine,
                              const struct iovec *theirs, unsigned long n_theirs, unsigned long flags)
{
    if (is_refused(pid, call == SYS_process_vm_readv)) {
        refused++;
        errno = refusal == FOR_EVER ? EPERM : EFAULT;
        return -1;
    }
    return syscall(call, pid, mine, n_mine, theirs, n_theirs, flags);
}

__attribute__((visibility("default"))) ssize_t process_vm_readv(pid_t pid, const struct iovec *mine,
                                                                unsigned long n_mine,
                                                                const struct iovec *theirs,
                                                                unsigned long n_theirs, unsigned long flags)
{
    return copy_or_refuse(SYS_process_vm_readv, pid, mine, n_mine, theirs, n_theirs, flags);
}

__attribute__((visibility("default"))) ssize_t process_vm_writev(pid_t pid, const struct iovec *mine,
                                                                 unsigned long n_mine,
                                                                 const struct iovec *theirs,
                                                                 unsigned long n_theirs, unsigned long flags)
{
    return copy_or_refuse(SYS_process_vm_writev, pid, mine, n_mine, theirs, n_theirs, flags);
}

/* ---- The calls ---- */

static MPI_Comm comm;
static MPI_Datatype types[2]; /* elements one behind the other, and with gaps */
static MPI_Op sum;
static uint64_t *in, *out;
static int counts[64], displs[64];

static uint64_t word(int rank, int i)
{
    return (uint64_t)rank * 1000003 + (uint64_t)i * 7919 + 1;
}

static int step_of(int type)
{
    return type == 0 ? 1 : GAP;
}

static void fill(uint64_t *to, int type, int rank, int from, int n)
{
    for (int i = 0; i < n; i++) {
        to[i * step_of(type)] = word(rank, from + i);
    }
}

static void expect(const uint64_t *at, int type, int rank, int from, int n)
{
    for (int i = 0; i < n; i++) {
        CHECK_EQ(at[i * step_of(type)], word(rank, from + i));
    }
}

static void expect_sum(const uint64_t *at, int type)
{
    for (int i = 0; i < WHOLE; i++) {
        uint64_t all = 0;
        for (int r = 0; r < size; r++) {
            all += word(r, i);
        }
        CHECK_EQ(at[i * step_of(type)], all);
    }
}

static void add(void *left, void *into, int *n, MPI_Datatype *type)
{
    int step = *type == types[0] ? 1 : GAP;
    for (int i = 0; i < *n; i++) {
        ((uint64_t *)into)[i * step] += ((uint64_t *)left)[i * step];
    }
}

static void broadcast(int root, int type)
{
    memset(out, 0, sizeof *out * WHOLE);
    if (me == root) {
        fill(out, type, root, 0, WHOLE);
    }
    CHECK_EQ(MPI_Bcast(out, WHOLE, types[type], root, comm), MPI_SUCCESS);
    expect(out, type, root, 0, WHOLE);
}

/* `n` elements of each rank. Ranks have different layouts. */
static void gather(int root, int n, int type, bool with_counts)
{
    size_t part = (size_t)n * (size_t)step_of(type);
    fill(in, 1 - type, me, 0, n);
    if (with_counts) {
        CHECK_EQ(MPI_Gatherv(in, n, types[1 - type], out, counts, displs, types[type], root, comm), 0);
    } else {
        CHECK_EQ(MPI_Gather(in, n, types[1 - type], out, n, types[type], root, comm), 0);
    }
    for (int i = 0; me == root && i < size; i++) {
        expect(out + (size_t)i * part, type, i, 0, n);
    }
}

static void scatter(int root, int n, int type, bool with_counts)
{
    size_t part = (size_t)n * (size_t)step_of(type);
    for (int i = 0; me == root && i < size; i++) {
        fill(in + (size_t)i * part, type, root, i, n);
    }
    if (with_counts) {
        CHECK_EQ(MPI_Scatterv(in, counts, displs, types[type], out, n, types[1 - type], root, comm), 0);
    } else {
        CHECK_EQ(MPI_Scatter(in, n, types[type], out, n, types[1 - type], root, comm), 0);
    }
    expect(out, 1 - type, root, me, n);
}

static void allgather(int n, int type, bool keep)
{
    size_t part = (size_t)n * (size_t)step_of(type);
    fill(in, 0, me, 0, n);
    fill(out + (size_t)me * part, type, me, 0, n);
    CHECK_EQ(MPI_Allgather(keep ? MPI_IN_PLACE : in, n, types[0], out, n, types[type], comm), 0);
    for (int i = 0; i < size; i++) {
        expect(out + (size_t)i * part, type, i, 0, n);
    }
}

static void allreduce(int type, bool keep)
{
    fill(keep ? out : in, type, me, 0, WHOLE);
    in_place = keep;
    CHECK_EQ(
        MPI_Allreduce(keep ? MPI_IN_PLACE : in, out, WHOLE, types[type], type == 0 ? MPI_SUM : sum, comm), 0);
    in_place = false;
    expect_sum(out, type);
}

static void reduce(int root, int type, bool keep)
{
    keep = keep && me == root;
    fill(keep ? out : in, type, me, 0, WHOLE);
    in_place = keep;
    CHECK_EQ(
        MPI_Reduce(keep ? MPI_IN_PLACE : in, out, WHOLE, types[type], type == 0 ? MPI_SUM : sum, root, comm),
        0);
    in_place = false;
    if (me == root) {
        expect_sum(out, type);
    }
}

static void call_all(void)
{
    long long before, after;

    CHECK_EQ(hotlane_counter("shared_calls", &before), 0);
    for (int i = 0; i < size; i++) {
        counts[i] = SHORT;
        displs[i] = i * SHORT;
    }
    for (int type = 0; type < 2; type++) {
        int root = type == 0 ? 0 : size - 1;
        broadcast(root, type);
        gather(root, BLOCK, type, false);
        gather(root, SHORT, type, true);
        scatter(root, BLOCK, type, false);
        scatter(root, SHORT, type, true);
        for (int keep = 0; keep < 2; keep++) {
            allgather(BLOCK, type, keep);
            allreduce(type, keep);
            reduce(root, type, keep);
        }
    }
    CHECK_EQ(hotlane_counter("shared_calls", &after), 0);
    CHECK(after > before);
}

/* ---- Ways to be refused ---- */

static bool all_agree(bool mine)
{
    int say = mine, all;
    MPI_Allreduce(&say, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all != 0;
}

/* Several times, so that all communicators have their shared memory. */
static void warm_up(void)
{
    for (int i = 0; i < 6; i++) {
        MPI_Barrier(comm);
    }
}

static void refuse_copies(void)
{
    for (refusal = NONE; refusal < REFUSALS_THAT_PASS; refusal++) {
        call_all();
        long mine = refused, all;
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK((refusal == NONE) == (all == 0));
        refused = 0;
    }
    refusal = FOR_EVER;
    call_all();
}

/* False: copies are allowed all the same. */
static bool give_up_rights(void)
{
    static uint64_t mine;
    uint64_t there = 0;
    struct card {
        pid_t pid;
        uint64_t *at;
    } card = {getpid(), &mine}, *cards = calloc((size_t)size, sizeof card);

    if (geteuid() == 0) {
        if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0) {
            perror("setuid");
        }
    } else {
        prctl(PR_SET_DUMPABLE, 0);
    }
    MPI_Allgather(&card, sizeof card, MPI_BYTE, cards, sizeof card, MPI_BYTE, MPI_COMM_WORLD);
    struct card *next = &cards[(me + 1) % size];
    struct iovec to = {&there, sizeof there}, from = {next->at, sizeof there};
    bool refuses = syscall(SYS_process_vm_readv, next->pid, &to, 1UL, &from, 1UL, 0UL) < 0;
    free(cards);
    return all_agree(refuses);
}

static void *ordinary_memory(size_t n)
{
    return malloc(n);
}

static void *secret_memory(size_t n)
{
    int fd = (int)syscall(SECRET_CALL, 0);
    void *at = fd >= 0 && ftruncate(fd, (off_t)n) == 0
                   ? mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                   : MAP_FAILED;
    return at != MAP_FAILED ? at : NULL;
}

static void skip(const char *why)
{
    if (me == 0) {
        printf("%s\n", why);
    }
    MPI_Finalize();
    exit(77);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "copies";
    bool secret = strcmp(way, "memory") == 0;
    void *(*take)(size_t) = secret ? secret_memory : ordinary_memory;

    test_start(2);
    random_state = test_seed() + (uint64_t)me;
    size_t most = WHOLE > BLOCK * size ? WHOLE : (size_t)BLOCK * (size_t)size;
    in = take(most * GAP * sizeof *in);
    out = take(most * GAP * sizeof *out);
    if (!all_agree(in != NULL && out != NULL)) {
        skip("there is no memory that other processes cannot read");
    }
    memset(in, 0, most * GAP * sizeof *in);
    memset(out, 0, most * GAP * sizeof *out);
    first = getpid();
    MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
    types[0] = MPI_UINT64_T;
    MPI_Type_create_resized(MPI_UINT64_T, 0, GAP * sizeof *in, &types[1]);
    MPI_Type_commit(&types[1]);
    MPI_Op_create(add, 0, &sum);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    warm_up();
    if (strcmp(way, "rights") == 0 && !give_up_rights()) {
        skip("a process cannot forbid that others read its memory");
    }
    if (strcmp(way, "copies") == 0) {
        refuse_copies();
    } else {
        call_all();
    }
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* its members may agree now that they read nothing */
    warm_up();
    call_all();
    MPI_Comm_free(&comm);
    MPI_Op_free(&sum);
    MPI_Type_free(&types[1]);
    MPI_Finalize();
    return 0;
}
