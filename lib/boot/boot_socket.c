/* Datagrams between proved node peers. */
#include "boot.h"
#include "boot_node.h"
#include "err.h"
#include "job.h"
#include "stat.h"
#include "util.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct socket_head {
    uint64_t nonce;
    int32_t from; /* node rank */
    uint32_t len;
};

static int mine = -1; /* this rank's socket; set at open, before other threads use it */

/* Has the kernel drop messages that do not begin with the nonce, so that strangers neither fill the queue nor
 * wake anybody. Where filters are forbidden, take_datagram alone drops them. */
static void keep_strangers_out(int fd)
{
    uint64_t nonce = hl_boot_node_nonce();
    uint32_t word[2];
    memcpy(word, &nonce, sizeof word);
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* messages without a first word are dropped */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(word[0]), 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof word[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(word[1]), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog filter = {HL_COUNT_OF(steps), steps};
    (void)setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

int hl_boot_socket_open(void)
{
    struct sockaddr_un a;
    socklen_t len = hl_boot_node_address(&a, "rank", hl_job.rank);
    int on = 1, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -errno;
    }
    keep_strangers_out(fd);
    if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) || bind(fd, (struct sockaddr *)&a, len)) {
        int e = errno;
        close(fd);
        return -e;
    }
    mine = fd;
    return 0;
}

void hl_boot_socket_close(void)
{
    if (mine >= 0) {
        close(mine);
    }
    mine = -1;
}

bool hl_boot_socket_lives(int node_rank)
{
    struct sockaddr_un a;
    if (node_rank >= hl_job.node_size) {
        return false; /* a word in shared memory that was written over named it */
    }
    socklen_t len = hl_boot_node_address(&a, "rank", hl_job.node_world[node_rank]);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool dead = fd >= 0 && connect(fd, (struct sockaddr *)&a, len) && errno == ECONNREFUSED;
    if (fd >= 0) {
        close(fd);
    }
    return !dead;
}

int hl_boot_node_fd(void)
{
    return mine;
}

/* sendmsg, tried again for about 1 ms while the receiver is full. Returns 0 or -errno. */
static int send_patiently(const struct msghdr *m)
{
    for (int tries = 0;; tries++) {
        if (sendmsg(mine, m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
            return 0;
        }
        if (errno == EINTR) {
            continue;
        }
        if ((errno != EAGAIN && errno != ENOBUFS && errno != ETOOMANYREFS) || tries >= 10) {
            return -errno;
        }
        struct timespec t = {0, 50000};
        nanosleep(&t, NULL);
    }
}

int hl_boot_node_send(int node_rank, const void *msg, size_t len, int fd)
{
    union hl_boot_control c;
    struct sockaddr_un a;
    struct socket_head h = {hl_boot_node_nonce(), hl_job.node_rank, (uint32_t)len};
    struct iovec v[2] = {{&h, sizeof h}, {(void *)(uintptr_t)msg, len}};
    struct msghdr m = {.msg_name = &a, .msg_iov = v, .msg_iovlen = 2};
    if (mine < 0 || node_rank < 0 || node_rank >= hl_job.node_size || len > HL_BOOT_NODE_MSG) {
        return hl_err_say(HL_ERR_INTERN,
                          "a message of %zu bytes was to be sent to node rank %d: there are %d node ranks, "
                          "messages have at most %zu bytes, and the node socket is %s",
                          len, node_rank, hl_job.node_size, (size_t)HL_BOOT_NODE_MSG,
                          mine < 0 ? "closed" : "open");
    }
    m.msg_namelen = hl_boot_node_address(&a, "rank", hl_job.node_world[node_rank]);
    hl_boot_node_attach(&m, &c, fd);
    int e = -send_patiently(&m);
    if (!e) {
        return 0;
    }
    if (e == EAGAIN || e == ENOBUFS || e == ETOOMANYREFS) {
        return HL_ERR_AGAIN;
    }
    return hl_err_say(e == ECONNREFUSED ? HL_ERR_PROC_ABORTED : HL_ERR_OTHER,
                      "a message could not be sent to rank %d on this node: %s", hl_job.node_world[node_rank],
                      strerror(e));
}

/* The first descriptor that a message brought; all further ones are closed, since no rank sends more
 * than one. */
static int first_of(const struct cmsghdr *h)
{
    int fd[4] = {-1};
    size_t bytes = h->cmsg_len - CMSG_LEN(0);
    memcpy(fd, CMSG_DATA(h), hl_min_size(bytes, sizeof fd));
    for (size_t i = 1; i < bytes / sizeof fd[0] && i < HL_COUNT_OF(fd); i++) {
        close(fd[i]);
    }
    return fd[0];
}

/* Reads the control messages: sets *fd to the descriptor or -1; true when the sender is of this user. */
static bool look_at_control(struct msghdr *m, int *fd)
{
    bool same_user = false;
    *fd = -1;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS) {
            *fd = first_of(h);
        } else if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_CREDENTIALS) {
            struct ucred u;
            memcpy(&u, CMSG_DATA(h), sizeof u);
            same_user = u.uid == geteuid();
        }
    }
    return same_user;
}

/* Takes one datagram. Returns 1, 0 when it was dropped, or an error. */
static int take_datagram(void *msg, size_t cap, size_t *len, int *from, int *fd)
{
    union {
        char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } c;
    struct socket_head h;
    struct iovec v[2] = {{&h, sizeof h}, {msg, cap}};
    struct msghdr m = {.msg_iov = v, .msg_iovlen = 2, .msg_control = c.room, .msg_controllen = sizeof c.room};
    int got = -1;
    ssize_t n = recvmsg(mine, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0) {
        return errno == EINTR ? 0
               : errno == EAGAIN
                   ? HL_ERR_AGAIN
                   : hl_err_say(HL_ERR_OTHER, "the node socket could not be read: %s", strerror(errno));
    }
    bool known = look_at_control(&m, &got);
    if (!known || n < (ssize_t)sizeof h || h.nonce != hl_boot_node_nonce() || h.from < 0 ||
        h.from >= hl_job.node_size || ((m.msg_flags & MSG_TRUNC) == 0 && (size_t)n - sizeof h != h.len)) {
        if (got >= 0) {
            close(got);
        }
        hl_stat_rank_add(HL_STAT_RANK_rx_dropped, 1);
        return 0;
    }
    if (m.msg_flags & MSG_TRUNC) {
        if (got >= 0) {
            close(got);
        }
        return hl_err_say(HL_ERR_TRUNCATE,
                          "a message of %u bytes came from rank %d on this node: there is room for %zu",
                          h.len, hl_job.node_world[h.from], cap);
    }
    *len = h.len;
    *from = h.from;
    *fd = got;
    return 1;
}

int hl_boot_node_recv(void *msg, size_t cap, size_t *len, int *from_node_rank, int *fd)
{
    if (mine < 0) {
        return HL_ERR_AGAIN;
    }
    for (int strangers = 0; strangers < 64; strangers++) {
        int rc = take_datagram(msg, cap, len, from_node_rank, fd);
        if (rc) {
            return rc > 0 ? 0 : rc;
        }
    }
    return HL_ERR_AGAIN; /* a flood of strangers: the caller's other work gets its turn */
}
