/* Close-on-exec for the provider's sockets: libfabric leaves them open across exec, and the death of a rank
 * would be noticed only when the last program that it started has ended.
 *
 * Sockets are recognized by their port: that of an endpoint of this process (listening and accepted sockets),
 * or of a peer's endpoint (connected ones). */
#include "err.h"
#include "fab_lib.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTION ((size_t)18 << 20) /* address space that a provider may take for its first connection */

/* Bit p: port p is an endpoint's. atomic: any thread adds ports, the receive thread reads them. */
static hl_a64 ports[65536 / 64];
static hl_a32 news; /* atomic; 1: there are new ports, or may be new sockets */

/* Port of an internet address, or 0. */
static unsigned port_of(const void *name, size_t len)
{
    struct sockaddr_storage a = {0};
    if (len < sizeof(struct sockaddr_in) || len > sizeof a) {
        return 0;
    }
    memcpy(&a, name, len);
    if (a.ss_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, &a, sizeof in);
        return ntohs(in.sin_port);
    }
    if (a.ss_family == AF_INET6 && len >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 in6;
        memcpy(&in6, &a, sizeof in6);
        return ntohs(in6.sin6_port);
    }
    return 0;
}

void hl_fab_cloexec_note(const void *name, size_t len)
{
    unsigned port = port_of(name, len);
    hl_a64_or_full(&ports[port / 64], UINT64_C(1) << (port % 64)); /* full: rare; only the bit matters. */
    hl_a32_store_release(&news, 1); /* release: publishes the port; pairs with hl_fab_cloexec_pending. */
}

void hl_fab_cloexec_request(void)
{
    /* relaxed: only a guess whether the store is worth taking the cache line. */
    if (hl_a32_load_relaxed(&news) == 0) {
        hl_a32_store_release(&news, 1); /* release: pairs with the exchange in hl_fab_cloexec_pending. */
    }
}

bool hl_fab_cloexec_pending(void)
{
    /* relaxed: a guess. acquire: the ports are set; pairs with hl_fab_cloexec_note and
     * hl_fab_cloexec_request. */
    return hl_a32_load_relaxed(&news) != 0 && hl_a32_xchg_acquire(&news, 0) != 0;
}

static bool is_own_port(unsigned port)
{
    /* relaxed: the exchange in hl_fab_cloexec_pending orders it. */
    return port != 0 && (hl_a64_load_relaxed(&ports[port / 64]) >> (port % 64) & 1) != 0;
}

/* True when the descriptor is a listener of the provider and a peer waits there to be accepted. */
static bool is_waited_at(int fd)
{
    struct sockaddr_storage a;
    int listens = 0;
    socklen_t len = sizeof listens, size = sizeof a;
    struct pollfd p = {fd, POLLIN, 0};
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 && listens != 0 &&
           getsockname(fd, (struct sockaddr *)&a, &size) == 0 && is_own_port(port_of(&a, size)) &&
           poll(&p, 1, 0) > 0;
}

/* Looks at all numbers of descriptors: without a free one, /proc cannot be listed. */
static bool is_anybody_waiting(void)
{
    struct rlimit files;
    bool found = false;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
        return false;
    }
    for (rlim_t i = 0; i < files.rlim_cur && !found; i++) {
        found = is_waited_at((int)i);
    }
    return found;
}

/* Names the kind of memory of which there is too little for a connection, or NULL. */
static const char *name_lacking_memory(void)
{
    const char *limited = hl_err_is_limited(RLIMIT_AS)     ? "address space (raise ulimit -v)"
                          : hl_err_is_limited(RLIMIT_DATA) ? "private memory (raise ulimit -d)"
                                                           : NULL;
    void *p = limited != NULL ? mmap(NULL, CONNECTION, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                              : NULL;
    if (p != NULL && p != MAP_FAILED) {
        munmap(p, CONNECTION);
    }
    return p == MAP_FAILED ? limited : NULL;
}

const char *hl_fab_lack(int any, bool connecting)
{
    int fd = fcntl(any, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
        return errno == EMFILE && (connecting || is_anybody_waiting())
                   ? "file descriptors (raise ulimit -n, or lower HOTLANE_LANES and HOTLANE_PORTS)"
                   : NULL;
    }
    close(fd);
    return connecting ? name_lacking_memory() : NULL;
}

/* The address of the other end, also while the connection is being made, when getpeername fails. Returns its
 * length, or 0. */
static socklen_t other_end(int fd, struct sockaddr_storage *out)
{
    socklen_t len = sizeof(struct sockaddr_in);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERNAME, out, &len) != 0) {
        return 0;
    }
    if (out->ss_family != AF_INET) {
        len = sizeof(struct sockaddr_in6);
        len = getsockopt(fd, SOL_SOCKET, SO_PEERNAME, out, &len) == 0 ? len : 0;
    }
    return len;
}

/* Fills `out` for a socket of the provider; false: it is not one. */
static bool ends_of(int fd, struct hl_fab_ends *out)
{
    struct sockaddr_storage mine = {0};
    socklen_t len = sizeof mine;
    *out = (struct hl_fab_ends){.fd = fd};
    if (getsockname(fd, (struct sockaddr *)&mine, &len) != 0 || mine.ss_family == AF_UNIX) {
        return false;
    }
    out->my_port = port_of(&mine, len);
    out->peer_len = other_end(fd, &out->peer);
    out->port = out->peer_len > 0 ? port_of(&out->peer, out->peer_len) : 0;
    return is_own_port(out->my_port) || is_own_port(out->port);
}

static bool is_cloexec(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    return flags < 0 || (flags & FD_CLOEXEC) != 0;
}

static void set_cloexec(const struct hl_fab_ends *ends)
{
    if (!is_cloexec(ends->fd)) {
        (void)fcntl(ends->fd, F_SETFD, FD_CLOEXEC);
    }
}

/* Seals all sockets of the provider and calls fn for each; without fn, sealed ones are skipped. */
static void look_at_all(void (*fn)(void *arg, const struct hl_fab_ends *ends), void *arg)
{
    DIR *dir = hl_fab.row->tcp_listens ? opendir("/proc/self/fd") : NULL;
    if (dir == NULL) {
        return;
    }
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        struct hl_fab_ends ends;
        int fd = (int)strtol(e->d_name, NULL, 10);
        if (e->d_name[0] == '.' || (fn == NULL && is_cloexec(fd)) || !ends_of(fd, &ends)) {
            continue;
        }
        set_cloexec(&ends); /* with fn also sockets that were accepted long before their first message */
        if (fn != NULL) {
            fn(arg, &ends);
        }
    }
    closedir(dir);
}

void hl_fab_each_socket(void (*fn)(void *arg, const struct hl_fab_ends *ends), void *arg)
{
    look_at_all(fn, arg);
}

void hl_fab_cloexec(void)
{
    look_at_all(NULL, NULL);
}
