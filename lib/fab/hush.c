/* A queue that does not wake itself.
 *
 * Under tcp;ofi_rxm lies a queue that tells its own descriptor of each completion, by a byte through a pair
 * of sockets; and since whoever polls asks the same epoll, the next poll finds the byte and takes it. So an
 * empty message cost its receiver and its sender a write and a read each, for nobody: who polls does not
 * sleep.
 *
 * Here the pair is taken out of that epoll. It is then written once after each fi_trywait, which empties it,
 * and no poll looks at it. Sleepers miss nothing: the other parts of the endpoint's descriptor, the sockets
 * and the upper queue's pair, stay, and the upper queue speaks as soon as a poll by anybody has moved
 * something into it; what a poll leaves in the lower one comes with that. Who sleeps asked fi_trywait before,
 * which looks at the queues themselves.
 *
 * The pair is known by its shape, right after opening: an epoll in the endpoint's one that watches one socket
 * of this machine and nothing else (connections come later; the epoll of connection events has the listening
 * one besides). Where it looks otherwise, as with later versions of the provider, nothing is changed. */
#include "fab_lib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define FEW 8

/* Descriptors that an epoll watches, FEW at most; 0: none, or it is no epoll. */
static int watched_by(int epoll, int fds[FEW])
{
    char text[256];
    int n = 0;
    snprintf(text, sizeof text, "/proc/self/fdinfo/%d", epoll);
    FILE *f = fopen(text, "re");
    if (f == NULL) {
        return 0;
    }
    while (n < FEW && fgets(text, sizeof text, f) != NULL) {
        if (strncmp(text, "tfd:", 4) == 0) {
            fds[n++] = (int)strtol(text + 4, NULL, 10);
        }
    }
    fclose(f);
    return n;
}

static bool is_local_socket(int fd)
{
    int domain = 0;
    socklen_t len = sizeof domain;
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX;
}

bool hl_fab_hush(int wait_fd)
{
    int parts[FEW], inside[FEW];
    int n = watched_by(wait_fd, parts), found = -1, hushed = 0;
    for (int i = 0; i < n; i++) {
        if (watched_by(parts[i], inside) == 1 && is_local_socket(inside[0])) {
            hushed = found < 0 ? inside[0] : -1;
            found = parts[i];
        }
    }
    return found >= 0 && hushed >= 0 && epoll_ctl(found, EPOLL_CTL_DEL, hushed, NULL) == 0;
}
