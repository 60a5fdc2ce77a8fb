/* The provider's connections to other processes as the operating system sees them: it knows which host has
 * not answered although it was asked, whatever the processes there do. Only for providers whose endpoints are
 * TCP sockets; with others there are no links. All of this is for the receive thread. */
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
    uint16_t port, my_port;
    bool connected;    /* else it is being made */
    bool used;         /* something came through it: it is no probe (hl_fab_tcp_probe) */
    bool asked;        /* something was sent again and has no answer yet */
    uint64_t heard_ms; /* since the last answer */
};

/* One connection; false: it shall be ended. The provider then finds it lost and gives back what it holds. */
typedef bool hl_fab_link_fn(void *arg, const struct hl_fab_link *link);

/* Looks at all connections: a few system calls for each descriptor of the process. keep_s: seconds after
 * which the system asks on an idle one, again and again; 0: it does not. */
void hl_fab_links(unsigned keep_s, hl_fab_link_fn *fn, void *arg);

/* The host of an endpoint's name; false: it is none at which a connection by TCP would say who lives. (Names
 * of other providers may be internet addresses as well: of UDP, of RDMA's connection manager.) */
bool hl_fab_link_host(const void *name, size_t len, struct hl_fab_host *out);

bool hl_fab_host_is_loopback(const struct hl_fab_host *host);

/* Words for it, in `text`. */
const char *hl_fab_host_text(const struct hl_fab_host *host, char text[64]);

/* A connection that is being made to an endpoint, to see whether its process lives. */
struct hl_fab_tcp_probe {
    int fd;    /* -1: no descriptor was to be had */
    int error; /* errno's value of what failed, 0: nothing yet */
};

/* fd -1 also for endpoints that are no TCP listeners. */
struct hl_fab_tcp_probe hl_fab_tcp_probe(const void *name, size_t len);

enum hl_fab_tcp_answer {
    HL_FAB_LISTENS,     /* somebody does */
    HL_FAB_REFUSED,     /* nobody listens there: its host says so */
    HL_FAB_UNREACHABLE, /* this host or a router says that there is no way: k->error */
    HL_FAB_IN_VAIN,     /* no answer ever came, or something else: k->error */
    HL_FAB_NOT_YET
};

/* What came of it; k->fd is closed but for NOT_YET. */
enum hl_fab_tcp_answer hl_fab_tcp_probe_result(struct hl_fab_tcp_probe *k);

#endif
