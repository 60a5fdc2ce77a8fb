/* The provider's connections to other processes as the operating system sees them. The system knows which
 * host does not answer, whatever the processes there do. Only for providers whose endpoints are TCP sockets;
 * with others there are no links. All calls are for the receive thread. */
#ifndef HL_FAB_LINKS_H
#define HL_FAB_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Address of a host: 16 bytes of IPv6, or IPv4 mapped into them. */
struct hl_fab_host {
    uint64_t at[2];
};

struct hl_fab_link {
    struct hl_fab_host host; /* of the other end */
    uint16_t port, my_port;  /* of the other end and of this end */
    bool connected;          /* false: the connection is being made */
    bool used;               /* bytes came through it, so it is not a mere probe (hl_fab_tcp_probe) */
    bool asked;              /* the system has sent something again and has no answer yet */
    uint64_t heard_ms;       /* milliseconds since the last answer */
};

/* Is called for one connection. Returns false to have it shut down: the provider then finds it lost and frees
 * what belongs to it. */
typedef bool hl_fab_link_fn(void *arg, const struct hl_fab_link *link);

/* Calls fn for all connections: a few system calls for each descriptor of the process. keep_s: seconds after
 * which, and at which distance, the system probes an idle connection (keep-alive); 0: it does not. */
void hl_fab_links(unsigned keep_s, hl_fab_link_fn *fn, void *arg);

/* Sets *out to the host in an endpoint's name. Returns false when the endpoint is no TCP listener, so that a
 * connection would not tell whether the process lives. (Names of other providers may be internet addresses as
 * well: of UDP, of RDMA's connection manager.) */
bool hl_fab_link_host(const void *name, size_t len, struct hl_fab_host *out);

bool hl_fab_host_is_loopback(const struct hl_fab_host *host);

/* Writes the address as words into `text` and returns them. */
const char *hl_fab_host_text(const struct hl_fab_host *host, char text[64]);

/* A connection that is being made to an endpoint, to see whether its process lives. */
struct hl_fab_tcp_probe {
    int fd;    /* -1: there was no descriptor for it */
    int error; /* errno of the failed step; 0: none failed so far */
};

/* Begins such a connection. fd is -1 also for endpoints that are no TCP listeners. */
struct hl_fab_tcp_probe hl_fab_tcp_probe(const void *name, size_t len);

enum hl_fab_tcp_answer {
    HL_FAB_LISTENS,     /* the endpoint accepts connections */
    HL_FAB_REFUSED,     /* its host says that nobody listens there */
    HL_FAB_UNREACHABLE, /* this host or a router says that there is no route: k->error */
    HL_FAB_IN_VAIN,     /* no answer came in time, or another error: k->error */
    HL_FAB_NOT_YET      /* no answer so far */
};

/* What the connection has shown. Closes k->fd, except for HL_FAB_NOT_YET. */
enum hl_fab_tcp_answer hl_fab_tcp_probe_result(struct hl_fab_tcp_probe *k);

#endif
