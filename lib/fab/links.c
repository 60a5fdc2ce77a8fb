/* The provider's connections as the operating system sees them. */
#include "links.h"

#include "fab_lib.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h> /* has fields that netinet/tcp.h lacks */
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Values of tcpi_state. */
enum { ESTABLISHED = 1, SYN_SENT = 2 };

/* Probes of an idle connection before the system ends it: the largest number, since rx decides that. */
#define PROBES 127

/* Reads the host in a socket address. False: it is no internet address. */
static bool read_host(const void *name, size_t len, struct hl_fab_host *out)
{
    struct sockaddr_storage a = {0};
    struct in6_addr in6 = IN6ADDR_ANY_INIT;
    memcpy(&a, name, len < sizeof a ? len : sizeof a);
    if (a.ss_family == AF_INET && len >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in in;
        memcpy(&in, &a, sizeof in);
        in6.s6_addr[10] = in6.s6_addr[11] = 0xff;
        memcpy(&in6.s6_addr[12], &in.sin_addr, 4);
    } else if (a.ss_family == AF_INET6 && len >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 in;
        memcpy(&in, &a, sizeof in);
        in6 = in.sin6_addr;
    } else {
        return false;
    }
    memcpy(out->at, &in6, sizeof out->at);
    return true;
}

bool hl_fab_link_host(const void *name, size_t len, struct hl_fab_host *out)
{
    return hl_fab.row->tcp_listens && read_host(name, len, out);
}

bool hl_fab_host_is_loopback(const struct hl_fab_host *host)
{
    struct in6_addr in6;
    memcpy(&in6, host->at, sizeof in6);
    return IN6_IS_ADDR_LOOPBACK(&in6) || (IN6_IS_ADDR_V4MAPPED(&in6) && in6.s6_addr[12] == 127);
}

const char *hl_fab_host_text(const struct hl_fab_host *host, char text[64])
{
    struct in6_addr in6;
    memcpy(&in6, host->at, sizeof in6);
    bool four = IN6_IS_ADDR_V4MAPPED(&in6);
    const char *made =
        four ? inet_ntop(AF_INET, &in6.s6_addr[12], text, 64) : inet_ntop(AF_INET6, &in6, text, 64);
    return made != NULL ? made : "?";
}

static void keep_asking(int fd, unsigned seconds)
{
    int on = 0;
    socklen_t len = sizeof on;
    if (seconds == 0 || getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, &len) != 0 || on != 0) {
        return;
    }
    int s = (int)seconds, probes = PROBES;
    on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &s, sizeof s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &s, sizeof s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

struct link_look {
    unsigned keep_s;
    hl_fab_link_fn *fn;
    void *arg;
};

static void look_at_link(void *arg, const struct hl_fab_ends *ends)
{
    const struct link_look *l = arg;
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    struct hl_fab_link link = {.port = (uint16_t)ends->port, .my_port = (uint16_t)ends->my_port};
    if (getsockopt(ends->fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0 ||
        (info.tcpi_state != ESTABLISHED && info.tcpi_state != SYN_SENT) ||
        !read_host(&ends->peer, ends->peer_len, &link.host)) {
        return;
    }
    link.connected = info.tcpi_state == ESTABLISHED;
    /* Kernels before 4.1 do not tell how many bytes came. */
    link.used = len < offsetof(struct tcp_info, tcpi_segs_out) || info.tcpi_bytes_received > 0;
    link.asked = info.tcpi_retransmits > 0 || info.tcpi_probes > 0;
    link.heard_ms = info.tcpi_last_ack_recv;
    keep_asking(ends->fd, l->keep_s);
    if (!l->fn(l->arg, &link)) {
        (void)shutdown(ends->fd, SHUT_RDWR);
    }
}

void hl_fab_links(unsigned keep_s, hl_fab_link_fn *fn, void *arg)
{
    struct link_look l = {keep_s, fn, arg};
    hl_fab_each_socket(look_at_link, &l);
}

struct hl_fab_tcp_probe hl_fab_tcp_probe(const void *name, size_t len)
{
    struct hl_fab_tcp_probe k = {-1, 0};
    struct sockaddr_storage a = {0};
    struct hl_fab_host unused;
    if (!hl_fab_link_host(name, len, &unused)) {
        return k;
    }
    memcpy(&a, name, len < sizeof a ? len : sizeof a);
    k.fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    socklen_t size = a.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    /* Only connect tells of this failure: SO_ERROR would be 0, and the socket would be writable. */
    if (k.fd >= 0 && connect(k.fd, (struct sockaddr *)&a, size) != 0 && errno != EINPROGRESS) {
        k.error = errno;
    }
    return k;
}

static enum hl_fab_tcp_answer tcp_answer_of(int error)
{
    switch (error) {
    case 0:
        return HL_FAB_LISTENS;
    case ECONNREFUSED:
        return HL_FAB_REFUSED;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EACCES: /* a route that forbids it, or a filter */
    case EPERM:
        return HL_FAB_UNREACHABLE;
    default:
        return HL_FAB_IN_VAIN;
    }
}

enum hl_fab_tcp_answer hl_fab_tcp_probe_result(struct hl_fab_tcp_probe *k)
{
    struct pollfd p = {k->fd, POLLOUT, 0};
    socklen_t len = sizeof k->error;
    if (k->error == 0 && poll(&p, 1, 0) == 0) {
        return HL_FAB_NOT_YET;
    }
    if (k->error == 0) {
        (void)getsockopt(k->fd, SOL_SOCKET, SO_ERROR, &k->error, &len);
    }
    close(k->fd);
    k->fd = -1;
    return tcp_answer_of(k->error);
}
