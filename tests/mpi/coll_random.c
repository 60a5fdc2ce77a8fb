/* Random collectives against what the standard says, several under way at once: blocking, nonblocking and
 * persistent ones over random communicators, each rank with datatypes of its own and memory that peers
 * map or not. Persistent ones are started in an order that each rank draws alone. usage: coll_random ROUNDS
 *
 * All ranks draw the calls from one generator; how a rank lays out its data, how it waits and what it frees
 * early, it draws alone. */
#include "coll_moves.h"
#include "coll_reduces.h"

static const struct sort sorts[] = {
    {"barrier", make_barrier, nothing, call_barrier, nothing},
    {"bcast", make_bcast, fill_bcast, call_bcast, check_bcast},
    {"gather", make_gather, fill_gather, call_gather, check_gather},
    {"scatter", make_scatter, fill_scatter, call_scatter, check_scatter},
    {"alltoall", make_alltoall, fill_alltoall, call_alltoall, check_alltoall},
    {"reduction", make_reduction, fill_reduction, call_reduction, check_reduction},
};

enum { COMMS = 4, JOBS = 8 };
static MPI_Comm comms[COMMS];
static uint32_t calls;

/* The world, a part of it, its ranks in another order, me alone. */
static void make_comms(void)
{
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, draw(2) ? me % 2 : me < size / 2, me, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, draw(2) ? -me : (me * 7) % size, &comms[2]);
    comms[3] = MPI_COMM_SELF;
}

/* Types of the job's own, of the same layouts. */
static void own_types(struct job *j)
{
    MPI_Type_dup(j->send.type, &j->send.type);
    MPI_Type_dup(j->recv.type, &j->recv.type);
}

/* What the library must keep alive by itself from here on. */
static void free_early(struct job *j)
{
    if (j->op != MPI_OP_NULL && j->alone) {
        MPI_Op_free(&j->op);
        MPI_Type_free(&j->recv.type);
    } else if (j->alone) {
        MPI_Type_free(&j->send.type);
        MPI_Type_free(&j->recv.type);
    }
    if (j->early) {
        MPI_Comm_free(&j->comm);
    }
}

/* Groups differ in size, so that they draw differently often: each call has a generator of its own. */
static void begin(struct job *j, enum form form)
{
    uint64_t next = test_random(&shared);

    *j = (struct job){.no = calls++, .form = form, .op = MPI_OP_NULL, .request = MPI_REQUEST_NULL};
    j->sort = &sorts[draw(16) == 0 ? 0 : 1 + draw((int)(sizeof sorts / sizeof *sorts) - 1)];
    j->comm = comms[draw(COMMS)];
    MPI_Comm_rank(j->comm, &j->me);
    MPI_Comm_size(j->comm, &j->size);
    j->root = draw(32) % j->size;
    j->early = form != ONCE && draw(8) == 0;
    j->large = draw_own(2);
    j->send = layouts[draw_own(LAYOUTS)];
    j->recv = layouts[draw_own(LAYOUTS)];
    j->sort->make(j);
    shared = next;
    j->sort->fill(j);
    if (j->early) {
        MPI_Comm_dup(j->comm, &j->comm);
    }
    if (j->op == MPI_OP_NULL && draw_own(2)) {
        j->alone = true;
        own_types(j);
    }
    j->sort->call(j);
    free_early(j);
}

static void end(struct job *j)
{
    if (j->form == AGAIN) {
        CHECK_EQ(MPI_Request_free(&j->request), MPI_SUCCESS);
    }
    CHECK(j->request == MPI_REQUEST_NULL);
    give_buffer(j->sendbuf, j->send_mapped);
    give_buffer(j->recvbuf, j->recv_mapped);
}

static struct job jobs[JOBS];
static int n_jobs;
static MPI_Request requests[JOBS];

/* Starts the persistent ones, one by one or together, in my order. */
static void start_all(void)
{
    MPI_Request mine[JOBS];
    int who[JOBS], n = 0;

    for (int i = 0; i < n_jobs; i++) {
        if (jobs[i].form == AGAIN) {
            int k = draw_own(n + 1);
            memmove(&who[k + 1], &who[k], (size_t)(n - k) * sizeof *who);
            who[k] = i;
            n++;
        }
    }
    for (int i = 0; i < n; i++) {
        mine[i] = jobs[who[i]].request;
    }
    if (draw_own(2)) {
        CHECK_EQ(MPI_Startall(n, mine), MPI_SUCCESS);
        return;
    }
    for (int i = 0; i < n; i++) {
        CHECK_EQ(MPI_Start(&mine[i]), MPI_SUCCESS);
    }
}

/* Until nothing is active: by one that is done, by some, or by all. */
static void wait_by_turns(int way)
{
    int index = 0, flag, n, some[JOBS];

    while (index != MPI_UNDEFINED) {
        flag = 1;
        if (way == 0) {
            MPI_Waitany(n_jobs, requests, &index, MPI_STATUS_IGNORE);
        } else if (way == 1) {
            MPI_Testany(n_jobs, requests, &index, &flag, MPI_STATUS_IGNORE);
        } else {
            (way == 2 ? MPI_Waitsome : MPI_Testsome)(n_jobs, requests, &n, some, MPI_STATUSES_IGNORE);
            index = n;
        }
        index = flag ? index : 0;
    }
}

static void look_and_wait(MPI_Request *request)
{
    int flag = 0;
    MPI_Status st;

    while (!flag) {
        MPI_Request_get_status(*request, &flag, &st);
    }
    MPI_Test(request, &flag, &st);
    CHECK(flag);
}

static void wait_all(void)
{
    int way = draw_own(8), flag = 0;
    MPI_Status st[JOBS];

    for (int i = 0; i < n_jobs; i++) {
        requests[i] = jobs[i].request;
    }
    if (way < 4) {
        wait_by_turns(way);
    } else if (way == 4) {
        while (!flag) {
            MPI_Testall(n_jobs, requests, &flag, st);
        }
    } else if (way == 5) {
        for (int i = n_jobs - 1; i >= 0; i--) {
            look_and_wait(&requests[i]);
        }
    } else if (way == 6) {
        MPI_Waitall(n_jobs, requests, st);
    } else {
        for (int i = 0; i < n_jobs; i++) {
            MPI_Wait(&requests[(i + (int)calls) % n_jobs], MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < n_jobs; i++) {
        jobs[i].request = requests[i];
        CHECK_EQ(requests[i] == MPI_REQUEST_NULL, jobs[i].form != AGAIN);
    }
}

static void one_round(void)
{
    int repeats = draw(3);

    n_jobs = 1 + draw(JOBS);
    for (int i = 0; i < n_jobs; i++) {
        begin(&jobs[i], (enum form)draw(3));
        if (jobs[i].form == ONCE) {
            jobs[i].sort->check(&jobs[i]);
        }
    }
    start_all();
    wait_all();
    for (int i = 0; i < n_jobs; i++) {
        jobs[i].sort->check(&jobs[i]);
    }
    while (repeats-- > 0) {
        for (int i = 0; i < n_jobs; i++) {
            if (jobs[i].form == AGAIN) {
                jobs[i].no += 1u << 24;
                jobs[i].sort->fill(&jobs[i]);
            }
        }
        start_all();
        wait_all();
        for (int i = 0; i < n_jobs; i++) {
            jobs[i].sort->check(&jobs[i]);
        }
    }
    for (int i = 0; i < n_jobs; i++) {
        end(&jobs[i]);
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;

    test_start(1);
    CHECK(size <= MOST_RANKS);
    shared = test_seed();
    own = shared + (argc > 2 ? 1 : (uint64_t)me + 1);
    make_layouts();
    make_comms();
    for (int i = 0; i < rounds; i++) {
        one_round();
    }
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    free_layouts();
    MPI_Finalize();
    return 0;
}
