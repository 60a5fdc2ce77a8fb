/* The ranks that share this node, proved by an abstract socket, and the node's board of shared memory. */
#include "boot_node.h"
#include "boot.h"
#include "err.h"
#include "job.h"
#include "log.h"
#include "util.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MEET_SECONDS = 20, CLAIM_SECONDS = 5, CPU_WORDS = 128 /* 8192 CPUs, the most that Linux counts */ };

/* The first message on a connection, in both directions. */
struct node_hello {
    uint64_t nonce;
    int32_t rank;             /* world rank of the sender */
    int32_t members;          /* leader to member: how many world ranks follow */
    uint64_t cpus[CPU_WORDS]; /* bit i: the sender (from the leader: any rank of the group) may use CPU i */
};

struct member {
    int rank, fd;
};

static struct {
    const struct hl_boot_method *method;
    int meet;              /* the leader's listener, or a member's connection to the leader; -1: none */
    bool leads;            /* this rank is the leader */
    struct member *member; /* leader: the ranks that have connected */
    int members;
    size_t room;
    uint64_t cpus[CPU_WORDS]; /* bit i: this process (in the leader: or a member) may use CPU i */
    int *world;               /* hl_job.node_world */
} node = {.meet = -1};

static int me_world;

struct hl_kvs_cache hl_boot_kvs;

unsigned hl_boot_node_address(struct sockaddr_un *a, const char *what, int number)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%s/%d", what, number);
    uint64_t hash = hl_siphash(hl_boot.secret, text, (size_t)len);
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "hotlane/%016llx/%s", (unsigned long long)hash,
                     text);
    return (unsigned)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

uint64_t hl_boot_node_nonce(void)
{
    return hl_siphash(hl_boot.secret, "hotlane node nonce", 18);
}

static bool is_same_user(int fd)
{
    struct ucred u;
    socklen_t len = sizeof u;
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &u, &len) && u.uid == geteuid();
}

/* Keeps a connection; the rank at its other end is read after the fence. */
static void take_member(int fd)
{
    if (!is_same_user(fd)) {
        close(fd);
        return;
    }
    if (!hl_grow(&node.member, (size_t)node.members, &node.room, sizeof *node.member)) {
        close(fd); /* that rank becomes a group of one, and logs it */
        return;
    }
    node.member[node.members++] = (struct member){-1, fd};
}

/* Reads which CPUs this process may use, by its binding, its control group and the step of a batch system. */
static void read_cpus(void)
{
    memset(node.cpus, 0, sizeof node.cpus);
    (void)sched_getaffinity(0, sizeof node.cpus,
                            (cpu_set_t *)(void *)node.cpus); /* refused: none are known */
}

static void add_cpus(const uint64_t more[CPU_WORDS])
{
    for (int i = 0; i < CPU_WORDS; i++) {
        node.cpus[i] |= more[i];
    }
}

static int count_node_cpus(const uint64_t cpus[CPU_WORDS])
{
    int n = 0;
    for (int i = 0; i < CPU_WORDS; i++) {
        n += __builtin_popcountll(cpus[i]);
    }
    return n;
}

/* Reads the ranks of the members. Each sends its own before it enters the fence, so this needs no waiting. */
static void ask_members(void)
{
    struct node_hello h;
    int known = 0;
    for (int i = 0; i < node.members; i++) {
        int fd = node.member[i].fd;
        if (recv(fd, &h, sizeof h, MSG_DONTWAIT) == (ssize_t)sizeof h && h.nonce == hl_boot_node_nonce() &&
            h.rank >= 0 && h.rank < hl_job.size) {
            node.member[known++] = (struct member){h.rank, fd};
            add_cpus(h.cpus);
        } else {
            close(fd);
        }
    }
    node.members = known;
}

/* Accepts all waiting connections. It is called while the fence waits, since ranks that find the backlog full
 * could not enter the fence. */
static void take_members(void *unused)
{
    (void)unused;
    for (;;) {
        int fd = accept4(node.meet, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 && errno != EINTR) {
            return;
        }
        if (fd >= 0) {
            take_member(fd);
        }
    }
}

static void nap_us(long us)
{
    struct timespec t = {0, us * 1000};
    nanosleep(&t, NULL);
}

/* Binds the meeting socket, or connects to the rank that has bound it. Returns 0, or -errno when this
 * rank must stay alone. */
static int meet_clique(int clique)
{
    struct sockaddr_un a;
    socklen_t len = hl_boot_node_address(&a, "meet", clique);
    uint64_t until = hl_now_ns() + MEET_SECONDS * 1000000000ull;
    long us = 20;
    node.meet = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (node.meet < 0) {
        return -errno;
    }
    for (;;) {
        if (!bind(node.meet, (struct sockaddr *)&a, len)) {
            node.leads = true;
            return listen(node.meet, 4096) ? -errno : 0;
        }
        if (errno != EADDRINUSE) {
            return -errno;
        }
        if (!connect(node.meet, (struct sockaddr *)&a, len)) {
            return is_same_user(node.meet) ? 0 : -EPERM;
        }
        /* These mean: it does not listen yet, its backlog is full, or its leader has left in between. */
        if (errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR) {
            return -errno;
        }
        if (hl_now_ns() > until) {
            return -ETIMEDOUT;
        }
        nap_us(us);
        us = us < 1000 ? us * 2 : us;
    }
}

/* Closes what hl_boot_node_prove left open for hl_boot_node_share. */
static void close_members(void)
{
    for (int i = 0; i < node.members; i++) {
        close(node.member[i].fd);
    }
    free(node.member);
    node.member = NULL;
    node.members = 0;
    node.room = 0;
    node.leads = false;
    if (node.meet >= 0) {
        close(node.meet);
    }
    node.meet = -1;
}

static void be_alone(void)
{
    close_members();
    hl_boot_socket_close();
    me_world = hl_job.rank;
    hl_job.node_rank = 0;
    hl_job.node_size = 1;
    hl_job.node_cpus = count_node_cpus(node.cpus);
    hl_job.node_world = &me_world;
}

static int compare_ranks(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int tell_members(void)
{
    size_t list = sizeof(int) * (size_t)hl_job.node_size;
    struct node_hello h = {hl_boot_node_nonce(), hl_job.rank, hl_job.node_size, {0}};
    memcpy(h.cpus, node.cpus, sizeof h.cpus);
    struct iovec v[2] = {{&h, sizeof h}, {node.world, list}};
    struct msghdr msg = {.msg_iov = v, .msg_iovlen = 2};
    for (int i = 0; i < node.members; i++) {
        if (sendmsg(node.member[i].fd, &msg, MSG_NOSIGNAL) != (ssize_t)(sizeof h + list)) {
            return hl_err_say(HL_ERR_OTHER, "rank %d on this node does not take the list of its %d ranks: %s",
                              node.member[i].rank, hl_job.node_size, strerror(errno));
        }
    }
    return 0;
}

/* The leader's part after the fence. */
static int lead_node(void)
{
    take_members(NULL);
    ask_members();
    hl_job.node_cpus = count_node_cpus(node.cpus);
    close(node.meet);
    node.meet = -1;
    hl_job.node_size = node.members + 1;
    node.world = malloc(sizeof *node.world * (size_t)hl_job.node_size);
    if (!node.world) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the ranks of the node");
    }
    for (int i = 0; i < node.members; i++) {
        node.world[i] = node.member[i].rank;
    }
    node.world[node.members] = hl_job.rank;
    qsort(node.world, (size_t)hl_job.node_size, sizeof *node.world, compare_ranks);
    hl_job.node_world = node.world;
    for (int i = 1; i < hl_job.node_size; i++) {
        if (node.world[i] == node.world[i - 1]) {
            return hl_err_say(HL_ERR_OTHER, "two processes of this node say they are rank %d", node.world[i]);
        }
    }
    return tell_members();
}

/* Waits until there is something to read from the leader. The launcher's hang-up is an error. */
static int await_leader(void)
{
    struct pollfd p[2] = {{node.meet, POLLIN, 0}, {node.method->watch_fd(), POLLIN, 0}};
    int rank, code, rc, kept = 0;
    while (!p[0].revents && !kept) {
        if (poll(p, 2, -1) < 0 && errno != EINTR) {
            return hl_err_say(HL_ERR_OTHER, "waiting for the node's leader: %s", strerror(errno));
        }
        rc = !p[0].revents && p[1].revents ? node.method->watch_take(&rank, &code) : 0;
        if (rc == 1) {
            kept = hl_boot_keep_notice(rank, code);
        }
        if (rc < 0 && rc != HL_ERR_AGAIN) {
            return hl_err_say(HL_ERR_OTHER, "the launcher has hung up");
        }
    }
    return kept;
}

/* Is this what a leader sends: ranks of the job in ascending order, this one among them? */
static bool is_sound_list(const int *world, int n)
{
    bool found = false;
    for (int i = 0; i < n; i++) {
        if (world[i] < 0 || world[i] >= hl_job.size || (i > 0 && world[i] <= world[i - 1])) {
            return false;
        }
        found = found || world[i] == hl_job.rank;
    }
    return found;
}

/* A member's part after the fence. Returns 1 when the leader has refused this rank. */
static int follow_leader(void)
{
    int rc = await_leader();
    size_t cap = sizeof(int) * (size_t)hl_job.size;
    struct node_hello h;
    int *world = malloc(cap);
    struct iovec v[2] = {{&h, sizeof h}, {world, cap}};
    struct msghdr msg = {.msg_iov = v, .msg_iovlen = 2};
    if (rc || !world) {
        free(world);
        return rc ? rc : hl_err_say(HL_ERR_NO_MEM, "no memory for the ranks of the node");
    }
    ssize_t n = recvmsg(node.meet, &msg, MSG_DONTWAIT);
    if (n < (ssize_t)sizeof h || h.nonce != hl_boot_node_nonce() || h.members < 2 ||
        (size_t)n != sizeof h + sizeof(int) * (size_t)h.members) {
        free(world);
        return 1;
    }
    node.world = realloc(world, sizeof(int) * (size_t)h.members);
    node.world = node.world ? node.world : world;
    if (!is_sound_list(node.world, h.members)) {
        return hl_err_say(HL_ERR_OTHER,
                          "the rank that leads this node has sent a list of %d ranks that makes no sense",
                          h.members);
    }
    hl_job.node_size = h.members;
    hl_job.node_world = node.world;
    hl_job.node_cpus = count_node_cpus(h.cpus);
    return 0;
}

int hl_boot_node_prove(const struct hl_boot_method *m, int clique)
{
    struct node_hello h = {hl_boot_node_nonce(), hl_job.rank, 0, {0}};
    node.method = m;
    read_cpus();
    memcpy(h.cpus, node.cpus, sizeof h.cpus);
    be_alone();
    if (clique < 0) {
        return 0;
    }
    int alone = hl_boot_socket_open();
    if (!alone) {
        alone = meet_clique(clique);
    }
    if (!alone && !node.leads && send(node.meet, &h, sizeof h, MSG_NOSIGNAL) != (ssize_t)sizeof h) {
        alone = -errno;
    }
    int rc = m->fence(!alone && node.leads ? node.meet : -1, take_members, NULL);
    if (rc) {
        return rc;
    }
    if (!alone) {
        rc = node.leads ? lead_node() : follow_leader();
    }
    if (rc < 0) {
        return rc;
    }
    if (alone || rc || hl_job.node_size == 1) {
        if (alone || rc) {
            hl_log(HL_LOG_WARN,
                   "cannot prove who shares this node (%s): using the network to reach all ranks",
                   alone ? strerror(-alone) : "refused by the rank that leads");
        }
        be_alone();
        return 0;
    }
    return hl_job_index_node();
}

void hl_boot_node_attach(struct msghdr *m, union hl_boot_control *c, int fd)
{
    if (fd >= 0) {
        memset(c, 0, sizeof *c);
        m->msg_control = c->room;
        m->msg_controllen = sizeof c->room;
        struct cmsghdr *h = CMSG_FIRSTHDR(m);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(h), &fd, sizeof fd);
    }
}

/* Sends a member the board's size, with the descriptor unless it is -1. */
static int pass_board(int to, size_t bytes, int fd)
{
    union hl_boot_control c;
    uint64_t words[2] = {hl_boot_node_nonce(), bytes};
    struct iovec v = {words, sizeof words};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    hl_boot_node_attach(&m, &c, fd);
    return sendmsg(to, &m, MSG_NOSIGNAL) == (ssize_t)sizeof words ? 0 : -1;
}

/* Receives the descriptor from the leader; *fd is -1 when the message came without one. */
static int receive_fd(size_t bytes, int *fd)
{
    union hl_boot_control c;
    uint64_t words[2];
    struct iovec v = {words, sizeof words};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = c.room, .msg_controllen = sizeof c.room};
    int rc = await_leader();
    *fd = -1;
    if (rc) {
        return rc;
    }
    ssize_t n = recvmsg(node.meet, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *h = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS &&
        h->cmsg_len == CMSG_LEN(sizeof *fd)) {
        memcpy(fd, CMSG_DATA(h), sizeof *fd);
    }
    if (n != (ssize_t)sizeof words || words[0] != hl_boot_node_nonce()) {
        return hl_err_say(HL_ERR_OTHER, "the node's leader has gone before it shared its memory");
    }
    if (words[1] == bytes) {
        return 0;
    }
    if (*fd >= 0) {
        close(*fd);
    }
    return hl_err_say(HL_ERR_INTERN,
                      "memory that the node's ranks share: %zu bytes here, %llu at the rank that leads: do "
                      "all ranks load the same version of Hotlane?",
                      bytes, (unsigned long long)words[1]);
}

/* The leader sends its descriptor, which may be -1, to all members; each member receives it. On failure
 * *fd is closed. */
static int share_file(size_t bytes, const char *what, int *fd)
{
    int rc = node.leads ? 0 : receive_fd(bytes, fd);
    for (int i = 0; rc == 0 && i < node.members; i++) {
        if (pass_board(node.member[i].fd, bytes, *fd)) {
            rc = hl_err_say(HL_ERR_OTHER, "rank %d on this node does not take %s: %s", node.member[i].rank,
                            what, strerror(errno));
        }
    }
    if (rc != 0 && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return rc;
}

int hl_boot_node_file(int (*make)(int ranks), int *fd)
{
    *fd = -1;
    if (hl_job.node_size == 1) {
        return 0;
    }
    int made = node.leads ? make(hl_job.node_size) : -1;
    *fd = made >= 0 ? made : -1;
    return share_file(0, "the node's file", fd);
}

/* Bytes of the cache behind the board; 0 when all ranks of the job share one node, since they need none. */
static size_t kvs_cache_bytes(void)
{
    bool useful = hl_job.node_size > 1 && hl_job.node_size < hl_job.size;
    return useful ? (size_t)hl_job.size * sizeof(struct hl_kvs_slot) : 0;
}

int hl_boot_node_share(size_t bytes, int (*make)(size_t), void **base)
{
    size_t cache_at = hl_round_up(bytes, sizeof(struct hl_kvs_slot));
    int fd = -1, flags = MAP_SHARED;
    bytes = cache_at + kvs_cache_bytes();
    if (hl_job.node_size == 1) {
        flags = MAP_PRIVATE | MAP_ANONYMOUS;
    } else {
        fd = node.leads ? make(bytes) : -1;
        int rc = node.leads && fd < 0 ? fd : share_file(bytes, "the node board", &fd);
        if (rc == 0 && fd < 0) {
            rc = hl_err_say(HL_ERR_OTHER, "the node's leader has gone before it shared its memory");
        }
        if (rc != 0) {
            return rc;
        }
        close_members();
    }
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    int e = errno;
    if (fd >= 0) {
        close(fd);
    }
    if (p == MAP_FAILED) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes that the node's ranks share cannot be mapped: %s%s",
                          bytes, strerror(e), hl_err_hint(e));
    }
    if (bytes > cache_at) {
        hl_boot_kvs =
            (struct hl_kvs_cache){(struct hl_kvs_slot *)(void *)((char *)p + cache_at), hl_job.node_rank,
                                  hl_boot_socket_lives, CLAIM_SECONDS * 1000000000ull};
    }
    *base = p;
    return 0;
}
