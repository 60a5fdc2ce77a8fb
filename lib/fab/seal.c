/* Close-on-exec for the provider's sockets: libfabric leaves them open across exec, and a killed rank is then
 * noticed only when the last program it started has ended.
 *
 * Sockets are known by their port: one of my endpoints' (listening and accepted ones) or of a peer's endpoint
 * (connected ones). */
#include "fab_lib.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Bit p: port p is an endpoint's. atomic: ports are added by any thread, read by the receive thread. */
static hl_a64 ports[65536 / 64];
static hl_a32 news;

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

void hl_fab_seal_note(const void *name, size_t len)
{
    unsigned port = port_of(name, len);
    hl_a64_or_full(&ports[port / 64], UINT64_C(1) << (port % 64)); /* full: cold; the port before the news. */
    hl_a32_store_release(&news, 1); /* release: the port; pairs with the exchange in hl_fab_seal_pending. */
}

void hl_fab_seal_request(void)
{
    /* relaxed: only a guess whether the store is worth its line. */
    if (hl_a32_load_relaxed(&news) == 0) {
        hl_a32_store_release(&news, 1); /* release: as above. */
    }
}

bool hl_fab_seal_pending(void)
{
    /* acquire: the ports; pairs with the releases above. */
    return hl_a32_load_relaxed(&news) != 0 && hl_a32_xchg_acquire(&news, 0) != 0;
}

static bool ours(unsigned port)
{
    /* relaxed: ordered by the exchange in hl_fab_seal_pending. */
    return port != 0 && (hl_a64_load_relaxed(&ports[port / 64]) >> (port % 64) & 1) != 0;
}

static void seal_one(int fd)
{
    struct sockaddr_storage a;
    socklen_t len = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &len) != 0) {
        return;
    }
    bool mine = ours(port_of(&a, len));
    len = sizeof a;
    if (!mine && getpeername(fd, (struct sockaddr *)&a, &len) == 0) {
        mine = ours(port_of(&a, len));
    }
    int flags = mine ? fcntl(fd, F_GETFD) : -1;
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) {
        (void)fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
    }
}

void hl_fab_seal(void)
{
    DIR *dir = opendir("/proc/self/fd");
    if (dir == NULL) {
        return;
    }
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        if (e->d_name[0] != '.') {
            seal_one((int)strtol(e->d_name, NULL, 10));
        }
    }
    closedir(dir);
}
