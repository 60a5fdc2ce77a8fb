/* A step: a peer is lost. Beside each rank a process that is no rank opens an endpoint and memory of its own.
 * The rank puts there, the process is killed, and the rank puts again. The second put must not complete as a
 * success; what tells that the process has died is noted. */
#include "proof.h"

#include "err.h"
#include "fab_lib.h"
#include "links.h"
#include "log.h"
#include "util.h"

#include <errno.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPEN_S 60 /* limit for the process to open a network: seconds of CPU time */
#define LIMIT_NS (UINT64_C(20) * 1000000000) /* limit for what must come */
#define LOST_NS (UINT64_C(5) * 1000000000)   /* limit for what may come: the news of the death */
#define NAP_MS 1

/* What the process must know of the job to have an endpoint as ranks have. */
struct place {
    bool loopback, crowded;
};

/* What ranks need to reach the process. */
struct card {
    char lack[200]; /* why the process cannot be reached, or "" */
    uint8_t name[64];
    size_t name_len;
    uint64_t addr, key;
};

static pid_t victim = -1;
static int victim_fd = -1;

/* ---- the process ---- */

static void open_card(struct card *c, struct hl_fab_ep *ep)
{
    static uint64_t memory[8];
    struct iovec iov = {memory, sizeof memory};
    struct fid_mr *mr;
    int rc = hl_fab_open();
    rc = rc == 0 ? hl_fab_ep_open(HL_FAB_LANE, ep) : rc;
    if (rc != 0) {
        snprintf(c->lack, sizeof c->lack, "%s", hl_err_text(rc));
        return;
    }
    rc = hl_fab_mr_open(ep, &iov, 1, &mr);
    if (rc != 0) {
        snprintf(c->lack, sizeof c->lack, "registering memory: %s", hl_fab_strerror(rc));
        return;
    }
    memcpy(c->name, ep->name, sizeof c->name);
    c->name_len = ep->name_len;
    c->addr = hl_fab.virt_addr ? (uint64_t)(uintptr_t)memory : 0;
    c->key = fi_mr_key(mr);
}

static void nap(void)
{
    struct timespec t = {0, NAP_MS * 1000000L};
    (void)nanosleep(&t, NULL);
}

/* The process: opens its endpoint, sends its card, and polls until it is killed. */
_Noreturn static void be_lost(int fd)
{
    struct card c = {.lack = ""};
    struct hl_fab_ep ep = {.wait_fd = -1};
    struct fi_cq_msg_entry entry;
    struct place place;
    if (read(fd, &place, sizeof place) != sizeof place) {
        _exit(0);
    }
    hl_log_limit(HL_LOG_ERROR); /* the rank prints what has to be printed */
    hl_fab.loopback = place.loopback;
    hl_fab.crowded = place.crowded;
    open_card(&c, &ep);
    if (write(fd, &c, sizeof c) != sizeof c || c.lack[0] != '\0') {
        _exit(0);
    }
    for (;;) {
        (void)fi_cq_read(ep.cq, &entry, 1); /* providers make progress only when they are polled */
        nap();
    }
}

bool proof_lost_start(void)
{
    int ends[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return false;
    }
    victim = fork();
    if (victim == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(0);
        }
        int fd = dup2(ends[1], STDERR_FILENO + 1); /* the process must not have the launcher's socket */
        closefrom(STDERR_FILENO + 2);
        be_lost(fd);
    }
    close(ends[1]);
    victim_fd = ends[0];
    return victim > 0;
}

void proof_lost_end(void)
{
    if (victim > 0) {
        (void)kill(victim, SIGKILL);
        (void)waitpid(victim, NULL, 0);
    }
    victim = -1;
}

/* ---- the ranks ---- */

static void ask_victim(struct card *c)
{
    struct place place = {hl_fab.loopback, hl_fab.crowded};
    struct pollfd p = {victim_fd, POLLIN, 0};
    *c = (struct card){.lack = ""};
    if (write(victim_fd, &place, sizeof place) != sizeof place || poll(&p, 1, OPEN_S * 1000) <= 0 ||
        recv(victim_fd, c, sizeof *c, MSG_WAITALL) != sizeof *c) {
        snprintf(c->lack, sizeof c->lack,
                 "the process that was to be lost has ended early, or did not open the network within %d s",
                 OPEN_S);
    }
}

enum outcome { DONE, ERROR, SILENT };

struct attempt {
    struct hl_fab_ep ep;
    fi_addr_t peer;
    const struct card *card;
    uint64_t word, ns; /* the word to put; how long the last put took */
    int error;         /* libfabric's error */
};

static ssize_t post(struct attempt *a, struct fi_context2 *context)
{
    struct iovec iov = {&a->word, sizeof a->word};
    struct fi_rma_iov rma = {a->card->addr, sizeof a->word, a->card->key};
    struct fi_msg_rma put = {.msg_iov = &iov,
                             .iov_count = 1,
                             .addr = a->peer,
                             .rma_iov = &rma,
                             .rma_iov_count = 1,
                             .context = context};
    return fi_writemsg(a->ep.ep, &put, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

/* Reads the completion queue once. */
static enum outcome look(struct attempt *a)
{
    struct fi_cq_msg_entry entry;
    struct fi_cq_err_entry e = {.op_context = NULL};
    ssize_t n = fi_cq_read(a->ep.cq, &entry, 1);
    if (n == -FI_EAVAIL && fi_cq_readerr(a->ep.cq, &e, 0) > 0) {
        a->error = e.err;
        return ERROR;
    }
    return n > 0 ? DONE : SILENT;
}

/* Puts, and waits for the completion for at most `limit` nanoseconds. */
static enum outcome put(struct attempt *a, uint64_t limit)
{
    static struct fi_context2 context; /* static: a put that never completes may use it later */
    uint64_t begin = hl_now_ns();
    enum outcome came = SILENT;
    bool posted = false;
    while (came == SILENT && hl_now_ns() - begin < limit) {
        ssize_t rc = posted ? 0 : post(a, &context);
        posted |= rc == 0;
        if (rc != 0 && rc != -FI_EAGAIN) {
            a->error = (int)-rc;
            came = ERROR;
        } else {
            came = look(a);
        }
        if (came == SILENT && hl_now_ns() - begin > 10000000) {
            nap();
        }
    }
    a->ns = hl_now_ns() - begin;
    return came;
}

/* Does the host of a TCP endpoint say that it listens no more? */
static bool is_refused(const struct card *c)
{
    struct hl_fab_tcp_probe k = hl_fab_tcp_probe(c->name, c->name_len);
    enum hl_fab_tcp_answer heard;
    uint64_t end = hl_now_ns() + LOST_NS;
    while ((heard = hl_fab_tcp_probe_result(&k)) == HL_FAB_NOT_YET && hl_now_ns() < end) {
        nap();
    }
    return heard == HL_FAB_REFUSED;
}

static void tell_of_death(struct attempt *a, enum outcome came, struct finding *f)
{
    bool listens = hl_fab.row->tcp_listens;
    if (came == DONE) {
        proof_fail(f, "a put to a process that had been killed was reported as delivered after %.1f ms",
                   (double)a->ns / 1e6);
    } else if (listens && !is_refused(a->card)) {
        proof_fail(f,
                   "the host of a process that was killed does not say that nobody listens at its address");
    } else if (came == ERROR) {
        snprintf(f->text, sizeof f->text, "a put to a process that was killed fails after %.1f ms (%s)%s",
                 (double)a->ns / 1e6, hl_fab_strerror(a->error),
                 listens ? ", and its host says so by TCP" : "");
    } else {
        snprintf(f->text, sizeof f->text, "a put to a process that was killed stays open%s",
                 listens ? "; its host says by TCP that it is gone"
                         : ": the launcher or silence tells of deaths");
    }
}

static void try_neighbour(struct attempt *a, struct finding *f)
{
    int rc = hl_fab_ep_insert(&a->ep, a->card->name, a->card->name_len, &a->peer);
    if (rc != 0) {
        proof_fail(f, "%s", hl_err_text(rc));
        return;
    }
    enum outcome came = put(a, LIMIT_NS);
    if (came != DONE) {
        proof_fail(f, "a put to a living process %s",
                   came == ERROR ? hl_fab_strerror(a->error) : "does not complete");
    }
}

/* The step, on all ranks: reaches the neighbour's process, which is then killed, and checks that it is
 * lost. */
void proof_lost(struct proof *p, struct finding *f)
{
    struct card mine, card;
    int to = (p->me + p->ranks - 1) % p->ranks, from = (p->me + 1) % p->ranks;
    ask_victim(&mine);
    MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, to, 5, &card, sizeof card, MPI_BYTE, from, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    struct attempt a = {.card = &card, .word = 1};
    int rc = card.lack[0] == '\0' ? hl_fab_ep_open(HL_FAB_LANE, &a.ep) : 0;
    bool open = card.lack[0] == '\0' && rc == 0;
    if (open) {
        try_neighbour(&a, f);
    } else {
        proof_fail(f, "%s", rc != 0 ? hl_err_text(rc) : card.lack);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    proof_lost_end();
    MPI_Barrier(MPI_COMM_WORLD);
    if (open && !f->failed) {
        tell_of_death(&a, put(&a, LOST_NS), f);
    }
    if (open) {
        hl_fab_ep_close(&a.ep);
    }
}
